//! The lines of a session, from the texts in the database.

use super::parse;
use crate::provider::json::{equals, is_true, member, members, text_of};
use crate::provider::recorded::push;
use serde_json::value::RawValue;

/// A message and its parts, each as it is stored.
struct Stored<'a> {
    id: String,
    info: &'a RawValue,
    parts: Vec<&'a RawValue>,
    /// True if a summary replaces the messages before it.
    compacts: bool,
}

impl Stored<'_> {
    fn is_of(&self, role: &str) -> bool {
        equals(member(self.info, "role"), role)
    }

    fn compaction(&self) -> Option<&RawValue> {
        let is_user = self.is_of("user");
        self.parts.iter().copied().find(|part| is_user && kind(part) == "compaction")
    }
}

fn kind(part: &RawValue) -> String {
    text_of(member(part, "type")).unwrap_or_default().into_owned()
}

/// Returns the lines of a session: the session, its messages, and the number of turns that the user left, if any.
pub(super) fn assemble(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut session = None;
    let mut stored: Vec<Stored<'_>> = Vec::new();
    for part in parts {
        match serde_json::from_slice::<&RawValue>(part) {
            Ok(value) if member(value, "role").is_some() => {
                let id = text_of(member(value, "id")).unwrap_or_default().into_owned();
                stored.push(Stored { id, info: value, parts: Vec::new(), compacts: false });
            }
            Ok(value) if member(value, "type").is_some() => {
                stored.iter_mut().last().into_iter().for_each(|last| last.parts.push(value));
            }
            Ok(value) => {
                session = Some(value);
                push(&mut lines, value.get());
            }
            Err(_) => push(&mut lines, &String::from_utf8_lossy(part)),
        }
    }
    let revert = session.and_then(|session| text_of(member(member(session, "revert")?, "messageID")));
    let left: Vec<String> =
        stored.iter().map(|message| message.id.clone()).skip_while(|id| Some(&**id) != revert.as_deref()).collect();
    compact(&mut stored);
    let mut turns = 0;
    for message in &stored {
        for line in lines_of(message) {
            turns += usize::from(left.contains(&message.id) && parse::parse(line.as_bytes()).row.prompt);
            push(&mut lines, &line);
        }
    }
    if turns > 0 {
        push(&mut lines, &format!(r#"{{"left":{turns}}}"#));
    }
    lines
}

/// Marks the requests for compactions that have a summary, and moves each with its summary before the messages that it keeps: the client
/// sends them in this order.
fn compact(stored: &mut [Stored<'_>]) {
    for at in 0..stored.len() {
        let Some(request) = stored[at].compaction() else { continue };
        let tail = text_of(member(request, "tail_start_id")).map(|tail| tail.into_owned());
        let is_summary = |message: &Stored<'_>| {
            let has = |name| member(message.info, name).filter(|value| value.get() != "null").is_some();
            let answers = text_of(member(message.info, "parentID")).is_some_and(|parent| parent == stored[at].id);
            answers && is_true(member(message.info, "summary")) && has("finish") && !has("error")
        };
        let Some(summary) = stored[at..].iter().position(is_summary).map(|place| at + place) else { continue };
        stored[at].compacts = true;
        if let Some(start) = stored[..at].iter().position(|message| Some(&message.id) == tail.as_ref()) {
            stored[start..=summary].rotate_left(at - start);
        }
    }
}

/// Returns the lines of a message. Each request to the API ends with a part that says so, and the results of its tools follow.
fn lines_of(message: &Stored<'_>) -> Vec<String> {
    let id = |end: String| serde_json::Value::from(format!("{}{end}", message.id)).to_string();
    let line = |id: String, info: &str, parts: &[String]| {
        let compacts = if message.compacts { r#""compacts":true,"# } else { "" };
        format!(r#"{{"id":{id},{compacts}"info":{info},"parts":[{}]}}"#, parts.join(","))
    };
    if !message.is_of("assistant") {
        let parts: Vec<String> = message.parts.iter().map(|part| part.get().to_owned()).collect();
        return vec![line(id(String::new()), message.info.get(), &parts)];
    }
    let (mut lines, mut step) = (Vec::new(), 0);
    let (mut own, mut results, mut time) = (Vec::new(), Vec::new(), String::new());
    for (at, part) in message.parts.iter().enumerate() {
        match (&*kind(part), member(part, "state")) {
            ("tool", Some(state)) => {
                let raw = |value: Option<&RawValue>| value.map_or("null", RawValue::get).to_owned();
                let (tool, call) = (raw(member(part, "tool")), raw(member(part, "callID")));
                let input = raw(member(state, "input"));
                own.push(format!(r#"{{"type":"tool","tool":{tool},"callID":{call},"input":{input}}}"#));
                let exit = raw(member(state, "metadata").and_then(|metadata| member(metadata, "exit")));
                let outcome = members(state).into_iter().filter(|(name, _)| !matches!(&**name, "input" | "metadata" | "title"));
                let outcome: String = outcome.map(|(name, value)| format!(",\"{name}\":{}", value.get())).collect();
                results.push(format!(r#"{{"type":"result","callID":{call},"exit":{exit}{outcome}}}"#));
                time = raw(member(state, "time").and_then(|time| member(time, "end"))).replace("null", &time);
            }
            _ => own.push(part.get().to_owned()),
        }
        let is_last = at + 1 == message.parts.len();
        if is_last || kind(part) == "step-finish" && message.parts[at + 1..].iter().any(|part| kind(part) == "step-start") {
            let end = if step == 0 { String::new() } else { format!("/{step}") };
            lines.push(line(id(end.clone()), message.info.get(), &std::mem::take(&mut own)));
            if !results.is_empty() {
                let time = if time.is_empty() { "null" } else { &*time };
                let info = format!(r#"{{"role":"tool","time":{{"created":{time}}}}}"#);
                lines.push(line(id(format!("{end}/results")), &info, &std::mem::take(&mut results)));
            }
            step += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ids(parts: &[Value]) -> Vec<String> {
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_string().into_bytes()).collect();
        let lines = String::from_utf8(assemble(&parts)).unwrap();
        let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let id = |line: Value| line["id"].as_str().map_or(line.to_string(), str::to_owned);
        lines.lines().map(|line| id(value(line))).collect()
    }

    fn user(id: &str, part: Value) -> [Value; 2] {
        [json!({"id": id, "role": "user"}), part]
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn answer(id: &str, parent: &str, is_summary: bool) -> [Value; 2] {
        [json!({"id": id, "role": "assistant", "parentID": parent, "summary": is_summary, "finish": "stop"}), text("yes")]
    }

    #[test]
    fn the_results_of_a_step_follow_its_calls() {
        let tool = |call: &str| json!({"type": "tool", "tool": "read", "callID": call, "state": {"status": "completed"}});
        let [start, finish] = ["step-start", "step-finish"].map(|kind| json!({"type": kind}));
        let info = json!({"id": "m", "role": "assistant"});
        let parts = [info, start.clone(), tool("a"), finish.clone(), start, tool("b"), finish, json!({"type": "patch"})];
        assert_eq!(ids(&parts), ["m", "m/results", "m/1", "m/1/results"]);
    }

    #[test]
    fn a_compaction_precedes_the_messages_that_it_keeps() {
        let request = |tail: Value| user("c", json!({"type": "compaction", "auto": false, "tail_start_id": tail}));
        let talk = [user("a", text("one")), answer("b", "a", false), user("k", text("two")), answer("l", "k", false)].concat();
        let rest = [answer("s", "c", true), user("z", text("three"))].concat();
        let order = |tail: Value| ids(&[&talk[..], &request(tail), &rest].concat()).join("");
        assert_eq!(order(json!("k")), "abcsklz");
        assert_eq!(order(Value::Null), "abklcsz");
        assert_eq!(order(json!("unknown")), "abklcsz");
    }

    #[test]
    fn turns_that_the_user_left_are_counted() {
        let session = json!({"id": "ses_1", "directory": "/w", "revert": {"messageID": "k"}});
        let talk = [user("a", text("one")), answer("b", "a", false), user("k", text("two")), answer("l", "k", false)].concat();
        assert_eq!(ids(&[&[session][..], &talk].concat()), ["ses_1", "a", "b", "k", "l", r#"{"left":1}"#]);
    }

    #[test]
    fn any_bytes_give_lines() {
        assert_eq!(assemble(&[b"{\n".to_vec(), b"\xff".to_vec(), b"[]".to_vec()]), "{ \n\u{fffd}\n[]\n".as_bytes());
    }
}
