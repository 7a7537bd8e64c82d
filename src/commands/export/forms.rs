//! The forms of an export for other programs.

use super::trace::{Answer, Call, Step};
use crate::engine::Analysis;
use crate::model::BlockNumber;
use crate::text::cut::{cut, one_line};
use serde_json::{Value, json};

/// The version of the format for trajectories of agents that is written. Source: its specification (Harbor, RFC 0001).
const ATIF: &str = "ATIF-v1.4";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const NANOSECONDS: i64 = 1_000_000;
/// Length of the target in the heading of a call.
const TARGET_CHARACTERS: usize = 100;

pub(super) struct Exported<'a> {
    pub reading: &'a Analysis,
    /// Name of the client, such as `claude-code`.
    pub client: &'static str,
    pub title: String,
    pub steps: Vec<Step>,
}

fn timestamp(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_string()).unwrap_or_default()
}

impl Exported<'_> {
    fn version(&self) -> &str {
        self.reading.session.latest_origin().map_or("", |origin| &origin.version)
    }

    fn directory(&self) -> &str {
        self.reading.session.latest_origin().map_or("", |origin| &origin.directory)
    }

    fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.steps.iter().filter_map(|step| match step {
            Step::Answer(answer) => Some(&**answer),
            Step::Prompt { .. } => None,
        })
    }

    /// Returns the conversation as Markdown: a heading for each turn, and calls of tools folded.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title.replace('\n', " "));
        let session = &self.reading.session.id;
        text.push_str(&format!("{} {} · session `{session}` · `{}`\n", self.client, self.version(), self.directory()));
        let mut last = 0;
        for step in &self.steps {
            let (turn, time) = match step {
                Step::Prompt { turn, time, .. } => (*turn, *time),
                Step::Answer(answer) => (answer.request.turn, Some(answer.request.time)),
            };
            if turn != last {
                last = turn;
                let time = time.map_or_else(String::new, |time| format!(" · {}", timestamp(time)));
                text.push_str(&format!("\n## Turn {turn}{time}\n"));
            }
            match step {
                Step::Prompt { text: words, .. } => text.push_str(&format!("\n**User**\n\n{}\n", words.trim_end())),
                Step::Answer(answer) => self.markdown_answer(&mut text, answer),
            }
        }
        text
    }

    fn markdown_answer(&self, text: &mut String, answer: &Answer) {
        if !answer.text.is_empty() {
            text.push_str(&format!("\n**{}**\n\n{}\n", answer.request.model, answer.text));
        }
        for call in &answer.calls {
            let target = cut(&one_line(&call.target), TARGET_CHARACTERS);
            let failed = match call.is_declined {
                true => " (declined)",
                false if call.is_error => " (failed)",
                false => "",
            };
            let name = html(format!("{} {target}", call.name).trim_end());
            text.push_str(&format!("\n<details><summary>{name}{failed}</summary>\n\n{}", fenced(&call.input)));
            if let Some(result) = &call.result {
                text.push_str(&format!("\n{}", fenced(result)));
            }
            text.push_str("\n</details>\n");
        }
    }

    /// Returns the session as a trajectory: each prompt and each request is a step.
    pub(super) fn atif(&self) -> Value {
        let steps: Vec<Value> = self.steps.iter().enumerate().map(|(place, step)| atif_step(place + 1, step)).collect();
        let sum = |of: &dyn Fn(&Answer) -> u64| self.answers().map(of).sum::<u64>();
        let dollars: f64 = self.answers().filter_map(|answer| answer.request.dollars).sum();
        json!({
            "schema_version": ATIF,
            "session_id": self.reading.session.id,
            "agent": {"name": self.client, "version": self.version(), "model_name": self.reading.model},
            "final_metrics": {
                "total_prompt_tokens": sum(&|answer| answer.request.sent_tokens.unwrap_or_default()),
                "total_completion_tokens": sum(&|answer| answer.request.output_tokens.round()),
                "total_cached_tokens": sum(&|answer| answer.request.cache_read_tokens),
                "total_cost_usd": dollars,
                "total_steps": steps.len(),
            },
            "steps": steps,
            "notes": format!("exported by aperture {VERSION}; costs are list prices, credentials are masked"),
        })
    }

    /// Returns the session as one trace of spans, without any text: the session, its turns, its requests, its calls.
    pub(super) fn otlp(&self) -> Value {
        let hash = blake3::hash(self.reading.session.id.as_bytes()).to_hex();
        let (trace, root) = (&hash[..32], &hash[32..48]);
        let span_id = |kind: &str, number: u64| {
            blake3::hash(format!("{} {kind} {number}", self.reading.session.id).as_bytes()).to_hex()[..16].to_owned()
        };
        let span = |id: &str,
                    parent: &str,
                    name: String,
                    kind: u8,
                    (start, end): (i64, i64),
                    attributes: Vec<Value>,
                    failed: bool| {
            let mut span = json!({"traceId": trace, "spanId": id, "name": name, "kind": kind,
                "startTimeUnixNano": (start * NANOSECONDS).to_string(), "endTimeUnixNano": (end.max(start) * NANOSECONDS).to_string(),
                "attributes": attributes, "status": {"code": if failed { 2 } else { 0 }}});
            if !parent.is_empty() {
                span["parentSpanId"] = json!(parent);
            }
            span
        };
        let mut spans = Vec::new();
        let mut turns: Vec<(u32, i64, i64)> = Vec::new();
        for (place, answer) in self.answers().enumerate() {
            let request = &answer.request;
            let end = answer.calls.iter().map(|call| call.end).max().unwrap_or(request.time).max(request.time);
            match turns.last_mut().filter(|(turn, ..)| *turn == request.turn) {
                Some((.., last)) => *last = end.max(*last),
                None => turns.push((request.turn, answer.start, end)),
            }
            let turn = span_id("turn", u64::from(request.turn));
            let name = format!("chat {}", request.model);
            spans.push(span(
                &span_id("request", place as u64),
                &turn,
                name,
                3,
                (answer.start, request.time),
                self.of_request(answer),
                false,
            ));
            for call in &answer.calls {
                let attributes = vec![
                    text("gen_ai.operation.name", "execute_tool"),
                    text("gen_ai.tool.name", &call.name),
                    text("gen_ai.tool.call.id", &call_id(call.block)),
                ];
                let name = format!("execute_tool {}", call.name);
                let id = span_id("call", u64::from(call.block));
                spans.push(span(&id, &turn, name, 1, (call.start, call.end), attributes, call.is_error));
            }
        }
        let whole = (turns.first().map_or(0, |(_, start, _)| *start), turns.iter().map(|(.., end)| *end).max().unwrap_or(0));
        for (turn, start, end) in &turns {
            let attributes = vec![number("aperture.turn", u64::from(*turn))];
            spans.push(span(
                &span_id("turn", u64::from(*turn)),
                root,
                format!("turn {turn}"),
                1,
                (*start, *end),
                attributes,
                false,
            ));
        }
        let attributes = vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", self.client),
            text("gen_ai.conversation.id", &self.reading.session.id),
        ];
        spans.push(span(root, "", format!("invoke_agent {}", self.client), 1, whole, attributes, false));
        let resource = vec![text("service.name", self.client), text("service.version", self.version())];
        json!({"resourceSpans": [{"resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "aperture", "version": VERSION}, "spans": spans}]}]})
    }

    fn of_request(&self, answer: &Answer) -> Vec<Value> {
        let request = &answer.request;
        let mut attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", &request.model),
            text("gen_ai.conversation.id", &self.reading.session.id),
            number("gen_ai.usage.output_tokens", request.output_tokens.round()),
            number("gen_ai.usage.cache_read.input_tokens", request.cache_read_tokens),
            number("gen_ai.usage.cache_creation.input_tokens", request.cache_write_tokens),
        ];
        attributes.extend(request.sent_tokens.map(|tokens| number("gen_ai.usage.input_tokens", tokens)));
        if let Some(dollars) = request.dollars {
            attributes.push(json!({"key": "aperture.cost_usd", "value": {"doubleValue": dollars}}));
        }
        attributes
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Returns an attribute with a number, which the protocol writes as a string.
fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn call_id(block: BlockNumber) -> String {
    format!("call_{block}")
}

fn atif_step(number: usize, step: &Step) -> Value {
    let answer = match step {
        Step::Prompt { time, text, .. } => {
            return json!({"step_id": number, "timestamp": time.map(timestamp), "source": "user", "message": text});
        }
        Step::Answer(answer) => answer,
    };
    let request = &answer.request;
    let mut value = json!({
        "step_id": number,
        "timestamp": timestamp(request.time),
        "source": "agent",
        "model_name": request.model,
        "message": answer.text,
        "metrics": {"prompt_tokens": request.sent_tokens, "completion_tokens": request.output_tokens.round(),
            "cached_tokens": request.cache_read_tokens, "cost_usd": request.dollars},
    });
    if !answer.thinking.is_empty() {
        value["reasoning_content"] = json!(answer.thinking);
    }
    if !answer.calls.is_empty() {
        value["tool_calls"] = answer.calls.iter().map(atif_call).collect();
        let result = |call: &Call| Some(json!({"source_call_id": call_id(call.block), "content": call.result.as_ref()?}));
        value["observation"] = json!({"results": answer.calls.iter().filter_map(result).collect::<Vec<_>>()});
    }
    value
}

fn atif_call(call: &Call) -> Value {
    let input = serde_json::from_str::<Value>(&call.input).ok().filter(Value::is_object);
    let arguments = input.unwrap_or_else(|| json!({"input": call.input}));
    json!({"tool_call_id": call_id(call.block), "function_name": call.name, "arguments": arguments})
}

/// Returns a text as a block of code, with a fence that is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_in_the_text() {
        assert_eq!(fenced("a\n"), "```\na\n```\n");
        assert_eq!(fenced("x ``` y"), "````\nx ``` y\n````\n");
        assert!(fenced("`````").starts_with("``````\n"));
    }
}
