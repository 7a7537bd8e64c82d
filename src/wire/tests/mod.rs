//! Requests of a session, one after the other, as a client sends them.

mod windows;

use super::settings::Setting;
use super::stages::STAGES;
use super::*;
use crate::model::{BlockEdit, Key, Level, OperationId, OperationKind, OperationState, Plan, ReplyPart, WithheldReply};
use crate::provider::{KnownHashes, PromptElements};
use crate::store::{Seal, SessionKey};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A store in a directory, with the log of one session.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// Returns a new wire, as after a restart. It does not wait for others that use the store.
    fn wire(&self) -> Wire {
        Wire::new(PipelineSettings::default(), self.open())
    }

    fn open(&self) -> OpenStore {
        let path = self.path();
        Box::new(move |create| {
            let opened = match create {
                true => Store::open_within(&path, Duration::ZERO, &Seal::default()).map(Some),
                false => Store::open_existing_within(&path, Duration::ZERO, &Seal::default()),
            };
            opened.map_err(|error| error.to_string())
        })
    }

    fn operation(&self, edits: &[(&str, &str)]) -> OperationId {
        self.edits(edits.iter().map(|(content, text)| edit(content, text)).collect())
    }

    fn edits(&self, block_edits: Vec<BlockEdit>) -> OperationId {
        self.log("claude-code", &Plan { block_edits, ..Plan::default() }).1
    }

    /// Logs a plan; returns the key of its session and its number.
    fn log(&self, provider: &str, plan: &Plan) -> (SessionKey, OperationId) {
        let store = self.store();
        let key = store.register(provider, "s", Path::new("/s.jsonl"), "p").unwrap();
        let id = store.prepare(key, plan, 0, std::iter::empty(), None, None).unwrap();
        store.settle(key, id, OperationState::Committed).unwrap();
        (key, id)
    }
}

fn edit(content: &str, text: &str) -> BlockEdit {
    let content = Key::from_bytes(content.as_bytes());
    BlockEdit { content, text: text.to_owned(), level: Level::Trimmed, ..BlockEdit::default() }
}

fn head() -> RequestHead {
    let headers = vec![("x-claude-code-session-id".to_owned(), "s".to_owned())];
    RequestHead { method: "POST".to_owned(), target: "/v1/messages?beta=true".to_owned(), headers }
}

/// The body of a request of a model that binds its thinking: each message is a role and its content blocks.
fn body(messages: &[&str]) -> String {
    let tools = r#"[{"name":"Read"}]"#;
    format!(r#"{{"model":"claude-opus-5-5","tools":{tools},"messages":[{}],"x":1e400}}"#, messages.join(","))
}

const ASK: &str = r#"{"role":"user","content":"ask"}"#;
const CALL: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"A"},{"type":"tool_use","id":"t1","name":"Read","input":{}}]}"#;
const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"long result"}]}"#;
const ANSWER: &str =
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"B"},{"type":"text","text":"done"}]}"#;
const NEXT: &str = r#"{"role":"user","content":[{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}"#;
const LATER: &str =
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"C"},{"type":"text","text":"more"}]}"#;

/// Returns a place whose log has the result shortened, its wire, and a request with the result.
fn shortened() -> (Place, Wire, String) {
    let place = Place::new();
    place.operation(&[("long result", "short")]);
    let wire = place.wire();
    (place, wire, body(&[ASK, CALL, RESULT]))
}

fn prepared(kind: TextKind, is_top: bool, text: &str) -> PreparedText {
    PreparedText { is_top, ..PreparedText::new(kind, text.to_owned()) }
}

fn sent(wire: &Wire, body: &str) -> String {
    let outgoing = wire.request(&head(), body.as_bytes(), 1);
    assert_eq!(outgoing.facts.problem, None);
    let bytes = outgoing.body.map_or_else(|| body.as_bytes().to_vec(), |edited| edited.bytes(body.as_bytes()));
    assert_eq!(outgoing.facts.sent_bytes, bytes.len() as u64);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn an_operation_holds_from_the_next_request_on_and_an_undo_too() {
    let place = Place::new();
    let wire = place.wire();
    let request = body(&[ASK, CALL, RESULT, ANSWER, NEXT]);
    assert_eq!(sent(&wire, &request), request);
    place.operation(&[("long result", "short")]);
    let short = RESULT.replace("long result", "short");
    let without = ANSWER.replace(r#"{"type":"thinking","thinking":"","signature":"B"},"#, "");
    let expected = body(&[ASK, CALL, &short, &without, NEXT]);
    assert_eq!(sent(&wire, &request), expected, "thinking after the change is left out, that before it stays");
    // Thinking that was signed after the change has this prefix.
    let later = body(&[ASK, CALL, RESULT, ANSWER, NEXT, LATER]);
    assert_eq!(sent(&wire, &later), body(&[ASK, CALL, &short, &without, NEXT, LATER]));
    // A client that read the short form again sends it.
    assert_eq!(sent(&wire, &body(&[ASK, CALL, &short, ANSWER, NEXT, LATER])), body(&[ASK, CALL, &short, &without, NEXT, LATER]));
    place.operation(&[("short", "long result")]);
    let last = LATER.replace(r#"{"type":"thinking","thinking":"","signature":"C"},"#, "");
    assert_eq!(sent(&wire, &later), body(&[ASK, CALL, RESULT, &without, NEXT, &last]));
}

#[test]
fn thinking_that_the_log_leaves_out_is_not_sent() {
    let place = Place::new();
    let wire = place.wire();
    let request = body(&[ASK, CALL, RESULT, ANSWER, NEXT]).replace("opus-5-5", "opus-5");
    let thinking = r#"{"type":"thinking","thinking":"","signature":"A"}"#;
    place.edits(vec![BlockEdit { level: Level::Archived, ..edit(thinking, "") }]);
    assert_eq!(sent(&wire, &request), request.replace(&format!("{thinking},"), ""));
    place.edits(vec![BlockEdit { level: Level::Original, ..edit(thinking, thinking) }]);
    assert_eq!(sent(&wire, &request), request);
}

#[test]
fn a_change_that_the_client_sends_itself_is_of_the_log() {
    let place = Place::new();
    let wire = place.wire();
    let logged = |messages: &[&str]| wire.request(&head(), body(messages).as_bytes(), 1).facts.logged;
    let short = RESULT.replace("long result", "short");
    let before = logged(&[ASK, CALL, RESULT, ANSWER, NEXT]);
    let prompt = |messages: &[&str]| {
        PromptElements::parse(RequestApi::Messages, body(messages).as_bytes(), &mut KnownHashes::default()).unwrap()
    };
    place.operation(&[("long result", "short")]);
    let reread = [ASK, CALL, &short, ANSWER, NEXT];
    let at = prompt(&reread).difference(&prompt(&[ASK, CALL, RESULT, ANSWER, NEXT])).unwrap();
    let after = logged(&reread);
    assert!(after.changed(&before, at), "the client read the changed file again");
    let kept = logged(&[ASK, CALL, RESULT, ANSWER, NEXT]);
    assert!(after.changed(&kept, at) && kept.changed(&after, at), "both directions, as after an undo");
    assert!(!after.changed(&before, at - 1) && !after.changed(&after, at), "another change is of the client");
}

#[test]
fn an_operation_while_no_proxy_ran_is_a_change_too() {
    let place = Place::new();
    place.operation(&[("long result", "short")]);
    let first = sent(&place.wire(), &body(&[ASK, CALL, RESULT, ANSWER, NEXT]));
    assert!(first.contains("\"A\"") && !first.contains("\"B\""), "{first}");
}

#[test]
fn requests_beside_the_conversation_stay() {
    let place = Place::new();
    place.operation(&[("long result", "short")]);
    place.store().stage("s", "note", 1).unwrap();
    let wire = place.wire();
    let title = body(&[ASK, CALL, RESULT]).replace(r#""tools":[{"name":"Read"}],"#, "");
    assert_eq!(sent(&wire, &title), title);
    let request = body(&[ASK, CALL, RESULT]);
    let agent =
        RequestHead { headers: [head().headers, vec![("x-claude-code-agent-id".to_owned(), "a".to_owned())]].concat(), ..head() };
    assert_eq!(wire.request(&agent, request.as_bytes(), 1).body, None, "a subagent has a log of its own");
    let count = RequestHead { target: "/v1/messages/count_tokens".to_owned(), ..head() };
    assert_eq!(wire.request(&count, request.as_bytes(), 1).body, None);
}

#[test]
fn after_a_refusal_a_line_is_no_longer_changed() {
    let (place, wire, request) = shortened();
    let facts = wire.request(&head(), request.as_bytes(), 1).facts;
    assert!(wire.refused(&facts, &refusal(RefusalCause::Content)).unwrap());
    assert!(!wire.refused(&facts, &refusal(RefusalCause::Content)).unwrap(), "reported once");
    assert_eq!(sent(&wire, &request), request);
    let again = place.wire().request(&head(), request.as_bytes(), 1);
    assert_eq!(again.body, None);
    assert_eq!(notes(&again, "parse")[1..], ["not changed: the API refused it"]);
}

#[test]
fn a_refusal_that_the_client_repairs_counts_from_the_second_one_in_a_row_on() {
    let (place, wire, request) = shortened();
    let facts = wire.request(&head(), request.as_bytes(), 1).facts;
    let thinking = refusal(RefusalCause::Thinking);
    for repaired in [thinking, refusal(RefusalCause::Other)] {
        assert!(!wire.refused(&facts, &repaired).unwrap());
        wire.accepted(&facts);
    }
    assert!(!wire.refused(&facts, &thinking).unwrap());
    // The original request would be as long.
    assert!(!wire.refused(&facts, &refusal(RefusalCause::Length)).unwrap());
    assert_ne!(sent(&wire, &request), request);
    // Another process changes the store.
    place.operation(&[("other", "o")]);
    assert_ne!(sent(&wire, &request), request);
    assert!(wire.refused(&facts, &Refusal { is_longer: true, ..refusal(RefusalCause::Length) }).unwrap());
    assert_eq!(sent(&wire, &request), request);
}

#[test]
fn a_line_is_changed_again_if_the_original_request_is_refused_too() {
    let (_place, wire, request) = shortened();
    let facts = wire.request(&head(), request.as_bytes(), 1).facts;
    let original = |cause| Refusal { is_changed: false, ..refusal(cause) };
    assert!(wire.refused(&facts, &refusal(RefusalCause::Content)).unwrap());
    assert!(!wire.refused(&facts, &original(RefusalCause::Thinking)).unwrap());
    assert_eq!(sent(&wire, &request), request, "its thinking was signed behind the changes");
    assert!(!wire.refused(&facts, &original(RefusalCause::Content)).unwrap());
    assert_ne!(sent(&wire, &request), request);
    assert!(!wire.refused(&facts, &refusal(RefusalCause::Content)).unwrap(), "the client has no valid request");
    wire.accepted(&facts);
    assert!(wire.refused(&facts, &refusal(RefusalCause::Content)).unwrap());
}

fn refusal(cause: RefusalCause) -> Refusal<'static> {
    Refusal { is_changed: true, is_longer: false, cause, reason: "the API refused it" }
}

#[test]
fn a_failure_sends_the_original_and_says_why() {
    let open = |_| Err("broken".to_owned());
    let wire = Wire::new(PipelineSettings::default(), Box::new(open));
    let outgoing = wire.request(&head(), body(&[ASK]).as_bytes(), 1);
    assert_eq!(outgoing.body, None);
    let stages = outgoing.facts.stages.iter().map(|stage| &*stage.stage);
    assert!(stages.eq(["ingest", "emit"]), "nothing else was done: {:?}", outgoing.facts.stages);
    assert_eq!(outgoing.facts.problem.unwrap(), "the store is not available: broken");
    let outgoing = wire.request(&head(), b"{\"messages\":[", 1);
    assert_eq!((outgoing.body, outgoing.facts.problem.as_deref()), (None, Some("the body is not a JSON object")));
}

#[test]
fn a_body_with_a_broken_message_is_sent_as_it_is() {
    let place = Place::new();
    let wire = place.wire();
    wire.prepare("s", vec![prepared(TextKind::Manifest, false, "manifest")]);
    for broken in [r#"{"role":"user","content":[{"type":"text","text":"a"}}]"#, r#"{"role":"user" "content":"a"}"#, "nul"] {
        let outgoing = wire.request(&head(), body(&[ASK, CALL, RESULT, broken, NEXT]).as_bytes(), 1);
        let problem = outgoing.facts.problem.as_deref();
        assert!(outgoing.body.is_none() && problem.is_some_and(|problem| problem.contains("JSON")), "{broken}: {problem:?}");
    }
    assert!(sent(&wire, &body(&[ASK, CALL, RESULT, ANSWER, NEXT])).contains("manifest"));
}

#[test]
fn texts_of_the_top_follow_the_first_message_of_a_new_window() {
    let place = Place::new();
    let wire = place.wire();
    wire.prepare("s", vec![prepared(TextKind::Manifest, false, "manifest")]);
    assert!(sent(&wire, &body(&[ASK, CALL, RESULT, ANSWER, NEXT])).contains("manifest"));
    wire.prepare("s", vec![prepared(TextKind::Headers, false, "headers"), prepared(TextKind::Pinned, true, "pinned")]);
    let after = |message: &str, text: &str| message.replace("}]}", &format!(r#"}},{{"type":"text","text":"{text}"}}]}}"#));
    let summary = r#"{"role":"user","content":[{"type":"text","text":"the summary"}]}"#;
    let request = body(&[summary, ANSWER, NEXT.replace("go on", "new").as_str()]);
    let prompt = NEXT.replace("go on", "new").replace("\"}}]", "\"}},{\"type\":\"text\",\"text\":\"headers\"}]");
    let expected = body(&[&after(summary, "pinned"), ANSWER, &prompt]);
    assert_eq!(sent(&wire, &request), expected);
    assert_eq!(sent(&place.wire(), &request), expected, "a restart changes no byte");
    // In a window that the API knows, a text at the top would cost the prompt cache.
    wire.prepare("s", vec![prepared(TextKind::Pinned, true, "later")]);
    let last = ASK.replace("ask", "last");
    let sent = sent(&wire, &body(&[summary, ANSWER, NEXT.replace("go on", "new").as_str(), LATER, &last]));
    assert!(sent.starts_with(expected.split("],\"x\"").next().unwrap()), "{sent}");
    assert!(sent.contains(r#"{"type":"text","text":"last"},{"type":"text","text":"later"}"#), "{sent}");
}

#[test]
fn a_conversation_that_begins_as_another_one_has_no_text_about_that_one() {
    let place = Place::new();
    let wire = place.wire();
    let sent = |body: &str| {
        let outgoing = wire.request(&RequestHead { headers: Vec::new(), ..head() }, body.as_bytes(), 1);
        let bytes = outgoing.body.map_or_else(|| body.as_bytes().to_vec(), |edited| edited.bytes(body.as_bytes()));
        (outgoing.facts.session, String::from_utf8(bytes).unwrap())
    };
    let first = body(&[ASK]);
    let (session, _) = sent(&first);
    wire.prepare(&session, vec![prepared(TextKind::Manifest, false, "manifest")]);
    assert_eq!(sent(&first), (session.clone(), first), "it may be another one");
    let (same, next) = sent(&body(&[ASK, ANSWER, NEXT]));
    assert!(same == session && next.contains("manifest"), "{next}");
}

#[test]
fn a_stage_can_be_switched_off() {
    let place = Place::new();
    place.operation(&[("long result", "short")]);
    place.store().stage("s", "note", 1).unwrap();
    let request = body(&[ASK, CALL, RESULT]);
    let with = |settings| {
        let wire = Wire { settings, ..place.wire() };
        let outgoing = wire.request(&head(), request.as_bytes(), 1);
        (outgoing.body.clone().map(|body| String::from_utf8(body.bytes(request.as_bytes())).unwrap()), outgoing)
    };
    for switch in [&parse::PARSE, &emit::EMIT] {
        assert_eq!(with(off(switch)).0, None);
    }
    let (edited, outgoing) = with(off(&injection::INJECTION));
    assert_eq!(edited.unwrap(), request.replace("long result", "short"));
    assert_eq!(notes(&outgoing, "injection"), ["switched off in the settings"]);
    let (edited, outgoing) = with(off(&condensation::EDITS));
    assert_eq!((edited, &notes(&outgoing, "condensation")[..]), (None, &["switched off in the settings"][..]));
}

fn off(switch: &Setting) -> PipelineSettings {
    PipelineSettings::default().with(switch, false)
}

fn notes<'o>(outgoing: &'o Outgoing, stage: &str) -> Vec<&'o str> {
    outgoing.facts.stages.iter().filter(|note| note.stage == stage).map(|note| &*note.note).collect()
}

#[test]
fn each_stage_has_its_notes_in_the_order_of_execution() {
    let (_place, wire, _) = shortened();
    wire.prepare("s", vec![prepared(TextKind::Manifest, false, "manifest")]);
    wire.set_note("s", "budget", "within its budget");
    wire.set_note("s", "condensation", "waits");
    let request = body(&[ASK, CALL, RESULT, ANSWER, NEXT]);
    let beside = request.replace(r#""tools":[{"name":"Read"}],"#, "");
    let [changed, beside] = [request, beside].map(|body| wire.request(&head(), body.as_bytes(), 1));
    for outgoing in [&changed, &beside] {
        let mut stages: Vec<&str> = outgoing.facts.stages.iter().map(|note| &*note.stage).collect();
        stages.dedup();
        assert!(stages.iter().copied().eq(STAGES.iter().map(|stage| stage.name)), "{stages:?}");
    }
    assert_eq!(notes(&changed, "budget"), ["within its budget"]);
    let expected = ["waits", "1 content as operation 1 of the log has it", "1 thinking block left out"];
    assert_eq!(notes(&changed, "condensation"), expected);
    assert_eq!(notes(&beside, "parse"), ["a request without tools is not changed"]);
}

#[test]
fn a_request_for_a_summary_has_no_new_text() {
    let place = Place::new();
    let wire = place.wire();
    wire.prepare("s", vec![prepared(TextKind::Manifest, false, "manifest")]);
    let compact = r#"{"role":"user","content":"write <analysis> and <summary>"}"#;
    let request = body(&[ASK, CALL, RESULT, ANSWER, compact]);
    assert_eq!(sent(&wire, &request), request);
    assert!(wire.request(&head(), request.as_bytes(), 1).facts.asks_for_summary);
    assert!(sent(&wire, &body(&[ASK, CALL, RESULT, ANSWER, NEXT])).contains("manifest"), "the text waits for the prompt");
}

#[test]
fn the_tool_is_in_all_requests_of_a_conversation_or_in_none() {
    let place = Place::new();
    let with_schema = |messages: &[&str]| body(messages).replace(r#"{"name":"Read"}"#, r#"{"name":"Read","input_schema":{}}"#);
    let own = format!(",{}]", TOOL.json(RequestApi::Messages));
    let with_tool = |messages: &[&str]| with_schema(messages).replacen("}}]", &format!("}}}}{own}"), 1);
    assert_eq!(sent(&place.wire(), &with_schema(&[ASK])), with_tool(&[ASK]));
    assert_eq!(sent(&place.wire(), &with_schema(&[ASK, CALL, RESULT])), with_tool(&[ASK, CALL, RESULT]), "after a restart");
    let off = Wire::new(off(&tool::OFFERED), place.open());
    assert_eq!(sent(&off, &with_schema(&[ASK, CALL, RESULT])), with_schema(&[ASK, CALL, RESULT]));
    let agent =
        RequestHead { headers: [head().headers, vec![("x-claude-code-agent-id".to_owned(), "a".to_owned())]].concat(), ..head() };
    assert_eq!(place.wire().request(&agent, with_schema(&[ASK]).as_bytes(), 1).body, None);
    let later = Place::new();
    assert_eq!(sent(&later.wire(), &with_schema(&[ASK, CALL, RESULT])), with_schema(&[ASK, CALL, RESULT]));
    assert_eq!(sent(&later.wire(), &with_schema(&[ASK])), with_schema(&[ASK]), "it began without the tool");
}

#[test]
fn other_changes_apply_to_the_conversation_with_its_calls() {
    let (place, wire, _) = shortened();
    let facts = wire.request(&head(), body(&[ASK]).as_bytes(), 1).facts;
    let (own, result) =
        (r#"{"type":"tool_use","id":"o1","name":"aperture","input":{}}"#, r#"{"type":"tool_result","tool_use_id":"o1"}"#);
    let reply = WithheldReply {
        parts: vec![ReplyPart::Passed(Key::from_bytes(b"tool_use:t1")), ReplyPart::Withheld(own.to_owned())],
        results: vec![result.to_owned()],
        next: None,
    };
    wire.add_replies(&facts, vec![reply], 1).unwrap();
    let called = CALL.replace("}]}", &format!("}},{own}]}}"));
    let answered = RESULT.replace("long result", "short").replace("}]}", &format!("}},{result}]}}"));
    for wire in [wire, place.wire()] {
        assert_eq!(sent(&wire, &body(&[ASK, CALL, RESULT])), body(&[ASK, &called, &answered]));
    }
}

#[test]
fn after_a_panic_the_next_request_reads_the_store_again() {
    let place = Place::new();
    place.operation(&[("long result", "short")]);
    let (panics, path) = (AtomicBool::new(true), place.path());
    let open = move |_| {
        if panics.swap(false, Ordering::Relaxed) {
            resume_unwind(Box::new("a fault"));
        }
        Store::open_existing(&path).map_err(|error| error.to_string())
    };
    let wire = Wire::new(PipelineSettings::default(), Box::new(open));
    let request = body(&[ASK, CALL, RESULT]);
    assert!(catch_unwind(AssertUnwindSafe(|| wire.request(&head(), request.as_bytes(), 1))).is_err());
    assert!(sent(&wire, &request).contains("short"));
}
