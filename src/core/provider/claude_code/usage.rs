//! Collects the bills of a session file from the rows that have figures.

use super::write::last_iteration;
use crate::model::{BilledTokens, FileUsage, OutputRule, ResponseUsage, Written, most_tokens_sent};
use crate::provider::json::{self, elements, equals, is_true, number, skimmed, text_of, time_of};
use crate::provider::usage::{Bills, response_key};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::sync::LazyLock;
use twox_hash::XxHash3_64;

/// The kinds of iterations whose tokens are not in the sum of the response: those of an adviser, which another model gives, and of
/// a compaction by the API.
const APART: [&str; 2] = ["advisor_message", "compaction"];
static APART_KINDS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| APART.map(Finder::new));

/// The model of rows that the client writes in the place of a response.
pub(super) const SYNTHETIC: &str = "<synthetic>";

skimmed! {
    BilledRow {
        kind = "type",
        subtype = "subtype",
        sidechain = "isSidechain",
        api_error = "isApiErrorMessage",
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
        source = "forkedFrom",
        data: Progress = "data",
    }
}

skimmed! {
    BilledMessage {
        id = "id",
        model = "model",
        usage = "usage",
        content = "content",
    }
}

skimmed! {
    /// The keys of the data of a row about the progress of a subagent: it holds a row of the subagent.
    Progress {
        message: ProgressRow = "message",
    }
}

skimmed! {
    /// The keys of a subagent's row that is held by another row.
    ProgressRow {
        message: BilledMessage = "message",
        request = "requestId",
        time = "timestamp",
        cost = "costUSD",
    }
}

skimmed! {
    /// The token figures of a response, or of one of its `iterations`, which have a kind and a model too. Those of iterations are in the
    /// sum, except for those of [`APART`].
    Figures {
        input = "input_tokens",
        output = "output_tokens",
        creation = "cache_creation_input_tokens",
        lifetimes: Lifetimes = "cache_creation",
        read = "cache_read_input_tokens",
        details: OutputDetails = "output_tokens_details",
        iterations = "iterations",
        tools: ServerTools = "server_tool_use",
        speed = "speed",
        kind = "type",
        model = "model",
    }
}

skimmed! {
    /// Written tokens by the life of the cache.
    Lifetimes {
        short = "ephemeral_5m_input_tokens",
        long = "ephemeral_1h_input_tokens",
    }
}

skimmed! {
    OutputDetails {
        thinking = "thinking_tokens",
    }
}

skimmed! {
    /// The calls of tools that the API runs itself.
    ServerTools {
        searches = "web_search_requests",
    }
}

skimmed! {
    /// The values of a block that the model wrote.
    WrittenBlock {
        kind = "type",
        text = "text",
        thinking = "thinking",
        signature = "signature",
        input = "input",
    }
}

impl BilledRow<'_> {
    pub(super) fn is_response(&self) -> bool {
        !is_true(self.api_error) && equals(self.kind, "assistant")
    }
}

impl<'a> BilledMessage<'a> {
    pub(super) fn figures(&self) -> Option<Figures<'a>> {
        json::skim(self.usage?.as_bytes())
    }
}

#[derive(Default)]
pub(super) struct UsageScan {
    bills: Bills,
    /// The content of each response, by its place in the bills.
    answers: Vec<Answer>,
    /// The place of the last response.
    last: usize,
    /// The size of the rows so far.
    pub bytes: u64,
}

/// The content of a response.
#[derive(Clone, Default)]
struct Answer {
    written: Written,
    /// The hashes of the contents that are counted: a file can have a row twice.
    contents: Vec<u64>,
    /// True if its rows are those of a subagent; `None` if it has no row of its own.
    sidechain: Option<bool>,
}

impl UsageScan {
    /// Takes the next row with figures, those of its message, or the next boundary. Returns true if the message has an identity, so that
    /// a row with equal values adds nothing.
    pub(super) fn row(&mut self, row: &BilledRow<'_>, figures: Option<&Figures<'_>>) -> bool {
        let Some(time) = time_of(row.time) else { return false };
        self.bills.usage.is_fork |= row.source.is_some();
        let kind = text_of(row.kind).unwrap_or_default();
        if kind == "system" && equals(row.subtype, "compact_boundary") {
            self.bills.usage.compactions.push(time);
        } else if let (Some(message), Some(figures)) = (&row.message, figures) {
            if let Some(place) = self.add(time, message, figures, row.request, row.cost) {
                self.last = place;
                self.repeated(row);
                return self.bills.usage.responses[place].key.is_some();
            }
        } else if let Some(held) = row.data.and_then(|data| data.message)
            && let Some((message, figures)) = held.message.and_then(|message| Some((message, message.figures()?)))
        {
            self.add(time_of(held.time).unwrap_or(time), &message, &figures, held.request, held.cost);
        }
        false
    }

    /// Takes the content of a row of the last response.
    pub(super) fn repeated(&mut self, row: &BilledRow<'_>) {
        let content = row.message.and_then(|message| message.content).unwrap_or_default();
        let Some(response) = self.bills.usage.responses.get(self.last).filter(|_| row.is_response()) else { return };
        if self.answers.len() <= self.last {
            self.answers.resize(self.bills.usage.responses.len(), Answer::default());
        }
        let answer = &mut self.answers[self.last];
        answer.sidechain = Some(is_true(row.sidechain));
        let hash = XxHash3_64::oneshot(content.as_bytes());
        if response.key.is_none() || !answer.contents.contains(&hash) {
            answer.contents.push(hash);
            add_written(&mut answer.written, content);
        }
    }

    /// Returns the bills, and the output of the responses of the main conversation and of subagents: its tokens, and true if some are
    /// estimated.
    pub(super) fn finish(self, rule: OutputRule) -> (FileUsage, [(u64, bool); 2]) {
        let (mut usage, mut outputs) = (self.bills.usage, [(0, false); 2]);
        for (response, answer) in usage.responses.iter_mut().zip(&self.answers) {
            let model = usage.models.get(response.model as usize).map_or("", String::as_str);
            response.written_tokens = rule(&answer.written, model, response.tokens.output).unwrap_or_default();
            let Some(sidechain) = answer.sidechain else { continue };
            let (sum, is_estimated) = &mut outputs[usize::from(sidechain)];
            let (tokens, estimated) = response.settled();
            *sum += tokens.output;
            *is_estimated |= estimated;
        }
        (usage, outputs)
    }

    /// Adds a bill; returns its place, or `None` if the client wrote the row in the place of a response.
    fn add(
        &mut self,
        time: i64,
        message: &BilledMessage<'_>,
        figures: &Figures<'_>,
        request: Option<&str>,
        cost: Option<&str>,
    ) -> Option<usize> {
        let model = text_of(message.model).unwrap_or_default();
        if model == SYNTHETIC {
            return None;
        }
        let id = text_of(message.id).filter(|id| !id.is_empty());
        // Some endpoints and subagents give no request id: the message id alone is the identity then.
        let request = text_of(request).unwrap_or_default();
        let place = self.bills.usage.model(&model);
        let response = ResponseUsage {
            key: id.as_ref().map(|id| response_key(&[id, &request])),
            dollars: cost.and_then(|cost| cost.parse().ok()).filter(|cost: &f64| cost.is_finite() && *cost >= 0.0),
            ..self.bill(figures, time, (place, &model))
        };
        // A stated cost is that of the whole request.
        let apart = if response.dollars.is_none() { apart(figures) } else { Vec::new() };
        let added = self.bills.add(response);
        for (place, figures) in apart.into_iter().enumerate() {
            let model = text_of(figures.model).unwrap_or(model.clone());
            let key = id.as_ref().map(|id| response_key(&[id, &request, &place.to_string()]));
            let place = self.bills.usage.model(&model);
            self.bills.add(ResponseUsage { key, ..self.bill(&figures, time, (place, &model)) });
        }
        Some(added)
    }

    /// Returns the bill of figures, without its identity and a stated cost.
    fn bill(&self, figures: &Figures<'_>, time: i64, (model, name): (u32, &str)) -> ResponseUsage {
        let tokens = billed(figures);
        ResponseUsage {
            time,
            model,
            tokens,
            searches: number(figures.tools.and_then(|tools| tools.searches)).unwrap_or_default(),
            fast: equals(figures.speed, "fast"),
            is_impossible: tokens.is_impossible(most_tokens_sent(None, name, self.bytes)),
            ..ResponseUsage::default()
        }
    }
}

/// Adds the sizes of the content of a row.
fn add_written(written: &mut Written, content: &str) {
    let length = |value: Option<&str>| text_of(value).map_or(0, |text| text.len() as u64);
    let blocks = json::Scanner::new(content.as_bytes()).list([b'[', b']'], json::Scanner::object::<WrittenBlock<'_>>);
    let Some(blocks) = blocks else {
        written.text += length(Some(content));
        return;
    };
    for block in blocks.into_iter().flatten() {
        match text_of(block.kind).as_deref() {
            Some("text") => written.text += length(block.text),
            Some("thinking") => {
                written.thinking += length(block.thinking);
                written.signature += length(block.signature);
            }
            Some("tool_use") => {
                written.calls += 1;
                written.input += block.input.unwrap_or_default().len() as u64;
            }
            _ => {}
        }
    }
}

/// Returns the figures of the iterations whose tokens are not in the sum, in their order.
fn apart<'a>(figures: &Figures<'a>) -> Vec<Figures<'a>> {
    let holds = |list: &&str| APART_KINDS.iter().any(|kind| kind.find(list.as_bytes()).is_some());
    let Some(list) = figures.iterations.filter(holds) else { return Vec::new() };
    let read = |entry: &'a RawValue| {
        let iteration: Figures<'a> = json::skim(entry.get().as_bytes())?;
        Some(iteration).filter(is_apart)
    };
    elements(list).into_iter().filter_map(read).collect()
}

/// Returns the bill of the last iteration, with the output of the whole response: the size of the window.
pub(super) fn window_bill(usage: &Figures<'_>) -> BilledTokens {
    let last = last_iteration(usage);
    BilledTokens { output: number(usage.output).unwrap_or_default(), ..billed(last.as_ref().map_or(usage, |(_, last)| last)) }
}

/// Returns true if the last iteration is an estimate that was written beside the bill: iterations of the API add up to it.
pub(super) fn is_estimate(usage: &Figures<'_>) -> bool {
    let Some(list) = usage.iterations.filter(|_| last_iteration(usage).is_some()) else { return false };
    let entries = elements(list).into_iter().filter_map(|entry| json::skim::<Figures<'_>>(entry.get().as_bytes()));
    let sent: u64 = entries.filter(|entry| !is_apart(entry)).map(|entry| billed(&entry).sent()).fold(0, u64::saturating_add);
    sent != billed(usage).sent()
}

/// Returns true if the tokens of an iteration are not in the sum.
pub(super) fn is_apart(iteration: &Figures<'_>) -> bool {
    text_of(iteration.kind).is_some_and(|kind| APART.contains(&&*kind))
}

/// Returns the tokens of a bill; cache writes without a lifetime are those for five minutes.
pub(super) fn billed(figures: &Figures<'_>) -> BilledTokens {
    let count = |value: Option<&str>| number(value).unwrap_or_default();
    let lifetimes = figures.lifetimes.unwrap_or_default();
    let written = figures.creation.map_or_else(|| count(lifetimes.short) + count(lifetimes.long), |all| count(Some(all)));
    let long = count(lifetimes.long).min(written);
    BilledTokens {
        input: count(figures.input),
        output: count(figures.output),
        cache_write_5m: written - long,
        cache_write_1h: long,
        cache_read: count(figures.read),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scan;
    use super::*;
    use crate::provider::Scanner;

    /// Collects the bills of rows given as JSON with `'` for `"`.
    fn scan(rows: &[String]) -> FileUsage {
        let mut scan = Box::new(Scan::default());
        rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").as_bytes()));
        scan.finish(|_, _, _| None).1
    }

    fn usage(output: u64) -> String {
        format!(
            "'usage': {{'input_tokens': 3, 'output_tokens': {output}, 'cache_read_input_tokens': 40, 'cache_creation_input_tokens': 20,
            'cache_creation': {{'ephemeral_5m_input_tokens': 12, 'ephemeral_1h_input_tokens': 8}}}}"
        )
        .replace('\n', "")
    }

    fn row(id: &str, more: &str, output: u64) -> String {
        let usage = usage(output);
        format!(
            "{{'type': 'assistant', 'timestamp': '2026-11-21T10:00:00Z', {more} 'message': {{'id': '{id}', 'role': 'assistant',
            'model': 'claude-opus-4-8', {usage}}}}}"
        )
        .replace('\n', "")
    }

    fn outputs(usage: &FileUsage) -> Vec<u64> {
        usage.responses.iter().map(|response| response.tokens.output).collect()
    }

    #[test]
    fn rows_of_a_response_count_once_with_the_final_output() {
        let request = "'requestId': 'r1',";
        let found = scan(&[row("m1", request, 1), row("m1", request, 90), row("m1", request, 7), row("m2", request, 5)]);
        assert_eq!(outputs(&found), [90, 5]);
        let tokens = BilledTokens { input: 3, output: 90, cache_write_5m: 12, cache_write_1h: 8, cache_read: 40 };
        assert_eq!((found.responses[0].tokens, &*found.models[found.responses[0].model as usize]), (tokens, "claude-opus-4-8"));
    }

    #[test]
    fn the_content_of_all_rows_of_a_response_is_measured_once() {
        let content = |block: &str| row("m1", "", 2).replace("'role'", &format!("'content': [{block}], 'role'"));
        let thinking = content("{'type': 'thinking', 'thinking': 'abc', 'signature': 'sig1'}");
        let text = content("{'type': 'text', 'text': 'a\\nb'}");
        let call = content("{'type': 'tool_use', 'id': 't', 'name': 'Read', 'input': {'a':1}}");
        let held = format!("{{'type': 'progress', 'timestamp': '2026-11-21T10:00:01Z', 'data': {{'message': {call}}}}}");
        let mut scan = Box::new(Scan::default());
        let rows = [thinking, text.clone(), held, call, text, row("m2", "", 2)];
        rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").as_bytes()));
        let rule = |written: &Written, model: &str, recorded: u64| {
            assert_eq!((model, recorded), ("claude-opus-4-8", 2));
            let all = Written { text: 3, thinking: 3, signature: 4, calls: 1, input: 7 };
            (*written == all).then_some(70)
        };
        let (totals, usage) = scan.finish(rule);
        assert_eq!(usage.responses.iter().map(|one| one.settled().1).collect::<Vec<_>>(), [true, false]);
        assert_eq!((totals.output_tokens, totals.output_estimated), (72, true));
    }

    #[test]
    fn a_row_that_repeats_a_response_follows_the_rows_before_it() {
        let totals = |rows: &[String]| {
            let mut scan = Box::new(Scan::default());
            rows.iter().for_each(|row| scan.line(row.replace('\'', "\"").replace("\": ", "\":").as_bytes()));
            let (totals, usage) = scan.finish(|_, _, _| None);
            (totals.moved_on, totals.steps, usage.responses.len())
        };
        let response = row("m1", "'requestId': 'r1',", 9);
        let timeless = response.replace("2026-11-21T10:00:00Z", "");
        let result =
            "{'type': 'user', 'message': {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't'}]}}".to_owned();
        let rows = [timeless, response.clone(), result, response, row("", "", 9), row("", "", 9)];
        let expected = [(false, 1, 0), (false, 1, 1), (true, 1, 1), (false, 1, 1), (false, 2, 2), (false, 2, 3)];
        assert_eq!([1, 2, 3, 4, 5, 6].map(|count| totals(&rows[..count])), expected);
    }

    #[test]
    fn the_last_row_behind_a_gateway_has_the_output_and_the_input_figures_that_count() {
        let row = |input: u64, read: u64, output: u64| {
            format!(
                "{{'type': 'assistant', 'timestamp': '2026-11-21T10:00:00Z', 'message': {{'id': 'm1', 'model': 'claude-opus-4-8',
                'usage': {{'input_tokens': {input}, 'cache_read_input_tokens': {read}, 'output_tokens': {output}}}}}}}"
            )
            .replace('\n', "")
        };
        let tokens = |rows: &[String]| {
            let found = scan(rows);
            let [one] = found.responses[..] else { panic!("{} responses", found.responses.len()) };
            (one.tokens.input, one.tokens.cache_read, one.tokens.output)
        };
        assert_eq!(tokens(&[row(25_000, 0, 1), row(25_000, 0, 1), row(0, 0, 700)]), (25_000, 0, 700), "no input in the last row");
        assert_eq!(tokens(&[row(25_000, 0, 1), row(900, 24_000, 90)]), (900, 24_000, 90), "an estimate in the first row");
        assert_eq!(tokens(&[row(25_000, 0, 900), row(3, 0, 7)]), (3, 0, 900), "output never shrinks");
    }

    #[test]
    fn an_adviser_is_billed_apart_at_its_own_model() {
        let part = |kind: &str, more: &str, input: u64, output: u64| {
            format!("{{'type': '{kind}', {more} 'input_tokens': {input}, 'output_tokens': {output}}}")
        };
        let (adviser, own) = (part("advisor_message", "'model': 'claude-opus-5',", 800, 60), part("message", "", 3, 9));
        let compaction = part("compaction", "", 5000, 400);
        let with = |iterations: &[&str]| {
            let row = row("m1", "'requestId': 'r1',", 9);
            row.replace("'input_tokens'", &format!("'iterations': [{}], 'input_tokens'", iterations.join(", ")))
        };
        let rows =
            [with(&[&own]), with(&[&own, &adviser]), with(&[&own, &adviser, &compaction]), with(&[&own, &adviser, &compaction])];
        let found = scan(&rows);
        let bills = |place: usize| {
            let response = &found.responses[place];
            (&*found.models[response.model as usize], response.tokens.sent(), response.tokens.output)
        };
        assert_eq!(found.responses.len(), 3);
        assert_eq!(bills(0), ("claude-opus-4-8", 63, 9));
        assert_eq!(bills(1), ("claude-opus-5", 800, 60));
        assert_eq!(bills(2), ("claude-opus-4-8", 5000, 400), "a compaction by the API has the model of the response");
        let stated = with(&[&adviser]).replace("'requestId'", "'costUSD': 0.5, 'requestId'");
        assert_eq!(scan(&[stated]).responses.len(), 1, "a stated cost is that of the whole request");
    }

    #[test]
    fn searches_and_the_fast_mode_are_part_of_the_bill() {
        let with = |more: &str| row("m1", "", 9).replace("'input_tokens'", &format!("{more} 'input_tokens'"));
        let found = scan(&[
            with("'server_tool_use': {'web_search_requests': 1}, 'speed': 'standard',"),
            with("'server_tool_use': {'web_search_requests': 3, 'web_fetch_requests': 2}, 'speed': 'fast',"),
        ]);
        assert_eq!(found.responses.iter().map(|one| (one.searches, one.fast)).collect::<Vec<_>>(), [(3, true)]);
        let found = scan(&[with("'server_tool_use': null, 'speed': null,")]);
        assert_eq!((found.responses[0].searches, found.responses[0].fast), (0, false));
    }

    #[test]
    fn the_message_and_the_request_are_the_identity_in_all_files() {
        assert_eq!(outputs(&scan(&[row("m1", "", 1), row("m1", "", 9), row("m2", "", 2)])), [9, 2]);
        let requests = [row("m1", "'requestId': 'r1',", 1), row("m1", "'requestId': 'r2',", 2)];
        assert_eq!(outputs(&scan(&requests)), [1, 2], "two requests");
        assert_eq!(outputs(&scan(&[row("", "", 1), row("", "", 1)])), [1, 1], "no identity at all");
        let key = |rows: &[String]| scan(rows).responses[0].key;
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        assert_eq!(key(&[row("m1", "'requestId': 'r1',", 1)]), key(&[row("m0", "", 1), sidechain.clone()][1..]));
        assert_ne!(key(&[sidechain]), key(&[row("m1", "", 1)]));
        let sidechain = row("m1", "'requestId': 'r1', 'isSidechain': true,", 4);
        let held = format!("{{'type': 'progress', 'timestamp': '2026-11-21T10:00:01Z', 'data': {{'message': {sidechain}}}}}");
        assert_eq!(outputs(&scan(&[sidechain, held.clone()])), [4]);
        assert_eq!(outputs(&scan(&[held])), [4]);
    }

    #[test]
    fn boundaries_and_texts_of_the_client_have_no_bill_and_a_stated_cost_is_kept() {
        let synthetic = row("m1", "", 1).replace("claude-opus-4-8", SYNTHETIC);
        let found =
            scan(&[synthetic, row("m2", "'costUSD': 0.5,", 1), "{'usage': ".to_owned(), row("m3", "'costUSD': null,", 1)]);
        assert_eq!(found.responses.iter().map(|response| response.dollars).collect::<Vec<_>>(), [Some(0.5), None]);
        let boundary = "{'type': 'system', 'subtype': 'compact_boundary', 'timestamp': '1970-01-01T00:00:02Z'}";
        assert_eq!(scan(&[boundary.to_owned()]).compactions, [2000]);
    }
}
