//! A request gets the contents that the changed session file makes the client send.

use super::*;
use crate::engine::preset;
use crate::model::{BlockKind, NewContent, Role};
use crate::planning::*;
use crate::provider::{EditedBytes, KnownElements, ProviderAdapter, RequestBody, by_name};
use crate::testing::bodies::body;
use crate::testing::medium::{Medium, compress, fixtures, shrink_all};
use crate::testing::sample;

/// A change of a session; `Err` if it is impossible there.
type Change<'c> = &'c dyn Fn(&mut Draft<'_>) -> Result<(), PlanError>;

impl Medium {
    /// Returns the plan of a change; `None` if it is impossible or changes nothing.
    fn plan(&self, change: Change<'_>) -> Option<Plan> {
        let mut draft = self.draft();
        change(&mut draft).ok()?;
        if draft.is_empty() {
            return None;
        }
        Some(draft.finish(OperationKind::Change, "", None, &|_| None, false).ok()?.into_plan())
    }

    /// Returns the body of the request that resumes the session.
    fn request(&self) -> Vec<u8> {
        body(&self.reading.session, &self.bytes).1
    }
}

fn api(provider: &dyn ProviderAdapter) -> RequestApi {
    if provider.name() == "codex" { RequestApi::Responses } else { RequestApi::Messages }
}

/// Returns the role and the text of each content of the conversation, without thinking.
fn contents(provider: &dyn ProviderAdapter, bytes: &[u8]) -> Vec<(Role, BlockKind, String)> {
    let body = RequestBody::parse_owned(api(provider), bytes.to_vec(), &mut KnownElements::default()).unwrap();
    let content = |piece: crate::provider::Piece| {
        let (element, content) = piece.place.unwrap();
        let (kind, key) = body.elements[element].contents[content];
        (piece.role, kind, body.text(element, content).unwrap_or_else(|| format!("{key:?}")))
    };
    body.pieces().into_iter().map(content).collect()
}

impl Place {
    fn sent(&self, provider: &dyn ProviderAdapter, request: &[u8]) -> Vec<u8> {
        let (target, header) = match api(provider) {
            RequestApi::Responses => ("/v1/responses", "session-id"),
            _ => ("/v1/messages", "x-claude-code-session-id"),
        };
        let headers = vec![(header.to_owned(), "s".to_owned())];
        let head = RequestHead { method: "POST".to_owned(), target: target.to_owned(), headers };
        let outgoing = self.wire().request(&head, request, 1);
        assert_eq!(outgoing.facts.problem, None);
        outgoing.body.map_or_else(|| request.to_vec(), |edited| edited.bytes(request))
    }
}

/// Brings the window to the smallest budget that is possible.
fn fold_to_budget(draft: &mut Draft<'_>) -> Result<(), PlanError> {
    match shrink_all(draft, Aim::Tokens(1)) {
        Err(PlanError::Budget { smallest, .. }) => shrink_all(draft, Aim::Tokens(smallest)),
        done => done,
    }
}

/// Returns the contents of a request that a plan removes from the window and that a running client does not send again.
fn announced(plan: &Plan, request: &[(Role, BlockKind, String)]) -> Vec<(Role, BlockKind, String)> {
    let hunks = plan.window.iter().flat_map(|window| &window.hunks);
    let keys: Vec<Key> = hunks.flat_map(|hunk| &hunk.announced).map(|content| content.sent).collect();
    request.iter().filter(|(_, _, text)| keys.contains(&Key::from_bytes(text.as_bytes()))).cloned().collect()
}

fn without(contents: &mut Vec<(Role, BlockKind, String)>, removed: &[(Role, BlockKind, String)], name: &str) {
    for content in removed {
        // A text that is written again is a text, whatever it was.
        let place = contents.iter().position(|(role, _, text)| (role, text) == (&content.0, &content.2));
        contents.remove(place.unwrap_or_else(|| panic!("{name}: {content:?} is gone")));
    }
}

fn check_equal(contents: &[(Role, BlockKind, String)], expected: &[(Role, BlockKind, String)], name: &str) {
    let first = (0..contents.len().max(expected.len())).find(|place| contents.get(*place) != expected.get(*place));
    let [found, wanted] = [contents, expected].map(|all| first.and_then(|place| all.get(place)));
    assert!(first.is_none(), "{name}: content {first:?}\nfound {found:?}\nnot {wanted:?}");
}

/// Checks that a client gets the same contents after some changes, whichever of them it has read. Returns the number of changes.
fn check(name: &str, file: Medium, changes: &[Change<'_>]) -> usize {
    let (place, provider) = (Place::new(), file.provider);
    let mut files = vec![file];
    // The lists that requests keep of a client that has read the session after a number of changes.
    let mut lists: Vec<Vec<(Role, BlockKind, String)>> = vec![Vec::new()];
    for change in changes {
        let last = files.last().unwrap();
        let Some(plan) = last.plan(change) else { continue };
        place.log(provider.name(), &plan);
        let next = last.after(&plan);
        let more = announced(&plan, &contents(provider, &last.request()));
        lists.iter_mut().for_each(|lists| lists.extend(more.iter().cloned()));
        lists.push(Vec::new());
        files.push(next);
        let expected = contents(provider, &files.last().unwrap().request());
        for (read, file) in files.iter().enumerate() {
            let request = file.request();
            let sent = place.sent(provider, &request);
            let name = format!("{name}: change {} of a client that has read {read}", files.len() - 1);
            for (request, name) in [(place.sent(provider, &sent), format!("{name}: again")), (sent, name)] {
                let mut found = contents(provider, &request);
                without(&mut found, &lists[read], &name);
                check_equal(&found, &expected, &name);
            }
        }
    }
    // All of it is undone: a client that has read none of the changes sends the original again.
    if files.len() > 1 {
        let undo = Plan {
            block_edits: Vec::new(),
            window: None,
            ..files[0]
                .plan(&|draft| {
                    draft.note("n", "x");
                    Ok(())
                })
                .unwrap()
        };
        let reversal = crate::model::Reversal { point: 0, ..crate::model::Reversal::default() };
        place.log(provider.name(), &Plan { reversal: Some(reversal), ..undo });
        let request = files[0].request();
        check_equal(
            &contents(provider, &place.sent(provider, &request)),
            &contents(provider, &request),
            &format!("{name}: undone"),
        );
    }
    files.len() - 1
}

#[test]
fn a_request_gets_the_contents_of_the_changed_file() {
    let balanced: Change<'_> = &|draft| compress(draft, preset("balanced").unwrap());
    let handoff: Change<'_> = &|draft| compress(draft, preset("handoff").unwrap());
    let compact: Change<'_> = &|draft| draft.fold(1..=1, "A summary of the first turn.");
    let second: Change<'_> = &|draft| draft.fold(2..=2, "A summary of the second turn.");
    let note: Change<'_> = &|draft| {
        draft.note(NOTE, "Remember \"the milk\".");
        Ok(())
    };
    let budget: Change<'_> = &|draft| fold_to_budget(draft);
    let sequences: [&[Change<'_>]; 4] =
        [&[balanced, handoff], &[handoff, note, compact], &[compact, balanced, second, note], &[budget, note]];
    let mut counts = [0; 4];
    for (path, file) in sample(fixtures(), 5) {
        let messages = file.provider.messages(&file.reading.session, &file.reading.window);
        let mut parts = messages.iter().flat_map(|message| &message.parts);
        // The samples of such sessions have no results for their open calls.
        if file.provider.name() == "codex" && parts.any(|part| matches!(part.source, crate::provider::Source::Result { .. })) {
            continue;
        }
        for (place, changes) in sequences.iter().enumerate() {
            let file = Medium::new(file.provider, file.bytes.clone());
            counts[place] += check(&format!("{} {place}", path.display()), file, changes);
        }
    }
    assert!(counts.iter().all(|count| *count > 1), "{counts:?}");
}

/// Returns a body in which each content that the client renders has other words, and the number of these contents.
fn in_other_words(provider: &dyn ProviderAdapter, bytes: &[u8]) -> (Vec<u8>, usize) {
    let body = RequestBody::parse_owned(api(provider), bytes.to_vec(), &mut KnownElements::default()).unwrap();
    let places: Vec<(usize, usize)> = body.pieces().into_iter().filter_map(|piece| piece.place).collect();
    let edit = |(element, content): (usize, usize)| {
        let kind = body.elements[element].contents[content].0;
        body.replace(element, content, &other_words(kind, &body.text(element, content)?)?, false)
    };
    let edits: Vec<_> = places.into_iter().filter_map(edit).collect();
    let count = edits.len();
    (EditedBytes::new(bytes.len()).with(edits).bytes(bytes), count)
}

/// Words that a client adds to a reminder in a result.
const ADDED_WORDS: &str = "In the words of the client:\n";

/// Returns a content of the client in other words; `None` if its words are recorded.
fn other_words(kind: BlockKind, text: &str) -> Option<String> {
    let note = "added by the client, not recorded";
    let is_rendered = text.contains(note) || kind == BlockKind::ToolResult && text.ends_with("</system-reminder>");
    is_rendered.then(|| match text.contains(note) {
        true => text.replace(note, "in the words of the client"),
        false => text.replace("<system-reminder>\n", &format!("<system-reminder>\n{ADDED_WORDS}")),
    })
}

#[test]
fn contents_that_the_client_renders_in_other_words_are_recognized() {
    let handoff: Change<'_> = &|draft| compress(draft, preset("handoff").unwrap());
    let compact: Change<'_> = &|draft| draft.fold(1..=1, "A summary of the first turn.");
    let mut counts = [0; 2];
    for (path, file) in fixtures() {
        let provider = file.provider;
        let (request, rendered) = in_other_words(provider, &file.request());
        for (place, change) in [handoff, compact].into_iter().enumerate() {
            let Some(plan) = file.plan(change).filter(|plan| plan.window.is_some() && rendered > 0) else { continue };
            let log = Place::new();
            log.log(provider.name(), &plan);
            // Texts that the plan adds have the words of the file, all others those of the client.
            let after = plan.window.iter().flat_map(|window| &window.hunks).flat_map(|hunk| &hunk.after);
            let text = |content: &NewContent| match content {
                NewContent::Text(_, text) => Some(text.clone()),
                NewContent::Changed(..) | NewContent::Moved(..) | NewContent::Kept(_) => None,
            };
            let written: Vec<String> = after.filter_map(text).collect();
            let mut expected = contents(provider, &file.after(&plan).request());
            for (_, kind, text) in expected.iter_mut().filter(|(_, _, text)| !written.contains(text)) {
                *text = other_words(*kind, text).unwrap_or_else(|| text.clone());
            }
            let mut sent = contents(provider, &log.sent(provider, &request));
            let mut lists = announced(&plan, &contents(provider, &file.request()));
            for (_, kind, text) in &mut lists {
                *text = other_words(*kind, text).unwrap_or_else(|| text.clone());
            }
            without(&mut sent, &lists, &path.display().to_string());
            // A reminder that leaves a result has the words that were added to it there.
            for (_, _, text) in sent.iter_mut().chain(&mut expected) {
                *text = text.replace(ADDED_WORDS, "");
            }
            check_equal(&sent, &expected, &format!("{} {place}", path.display()));
            counts[place] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 1), "{counts:?}");
}

#[test]
fn lists_that_a_client_sends_once_stay_through_a_fold() {
    let tools = r#"{"type":"deferred_tools_delta","addedNames":["WebFetch"],"addedLines":["WebFetch"],"removedNames":[]}"#;
    let second: Change<'_> = &|draft| draft.fold(2..=2, "A summary of the second turn.");
    let third: Change<'_> = &|draft| draft.fold(3..=3, "A summary of the third turn.");
    let file = || with_attachments(&talk(4), &[(2, tools.to_owned())]);
    assert_eq!(check("lists", file(), &[second, third]), 2);
    let plan = file().plan(second).unwrap();
    let lists = announced(&plan, &contents(file().provider, &file().request()));
    assert!(lists.len() == 1 && lists[0].2.contains("WebFetch"), "{lists:?}");
}

/// The client words some of the texts that it joins without tags; a fold takes others out of them and joins later ones.
#[test]
fn joined_texts_keep_the_words_of_the_client_when_others_leave_them() {
    let hook = |text: &str| {
        let event = r#""hookEvent":"SessionStart","hookName":"SessionStart:resume""#;
        format!(r#"{{"type":"hook_success",{event},"toolUseID":"h","content":"{text}"}}"#)
    };
    let tools = r#"{"type":"deferred_tools_delta","addedNames":["WebFetch"],"addedLines":["WebFetch"],"removedNames":[]}"#;
    let servers = r###"{"type":"mcp_instructions_delta","addedNames":["maps"],"addedBlocks":["## maps"],"removedNames":[]}"###;
    let names = names();
    let mut rows = vec![("user", r#"{"role":"user","content":"find the modules"}"#.to_owned())];
    for id in ["t1", "t2", "t3", "t4", "t5"] {
        rows.extend([("assistant", used("Grep", id)), ("user", result(id, &format!("\"{names}\"")))]);
    }
    let texts = [hook("rules of the house"), hook(&names), tools.to_owned(), hook("and its end"), servers.to_owned()];
    let rules = (2..=10).step_by(2).map(|row| (row, hook(&format!("rule {row}"))));
    let added: Vec<(usize, String)> = texts.into_iter().map(|text| (0, text)).chain(rules).collect();
    // A model whose client sends such texts as one text of the system.
    let file = with_attachments(&talk_after(&rows, 6), &added);
    let bytes =
        String::from_utf8(file.bytes).unwrap().replace("claude-sonnet-4-5", "claude-opus-5").replace("opus-4-6", "opus-5");
    let file = Medium::new(file.provider, bytes.into_bytes());
    let plan = file.plan(&|draft| compress(draft, preset("handoff").unwrap())).unwrap();
    let place = Place::new();
    place.log(file.provider.name(), &plan);
    let note = "added by the client, not recorded";
    let in_its_words = |text: &str| text.replace(note, "in the words of the client");
    let request = String::from_utf8(file.request()).unwrap();
    let mut expected = contents(file.provider, &file.after(&plan).request());
    expected.iter_mut().for_each(|(_, _, text)| *text = in_its_words(text));
    let is_joined = |text: &str| text.contains("rules of the house") && text.matches("the words of the client").count() == 2;
    assert!(expected.iter().any(|(_, _, text)| is_joined(text)));
    let sent = contents(file.provider, &place.sent(file.provider, in_its_words(&request).as_bytes()));
    check_equal(&sent, &expected, "joined texts");
}

#[test]
fn a_reminder_that_the_client_joined_to_a_result_that_goes_stays() {
    let references = r#"[{"type":"tool_reference","tool_name":"WebFetch"}]"#;
    let mut rows = vec![("user", r#"{"role":"user","content":"find the modules"}"#.to_owned())];
    rows.extend([("assistant", used("ToolSearch", "t")), ("user", result("t", references))]);
    for id in ["t1", "t2", "t3", "t4", "t5"] {
        rows.extend([("assistant", used("Grep", id)), ("user", result(id, &format!("\"{}\"", names())))]);
    }
    // The reminder follows the result that loads a tool.
    let reminder = r#"{"type":"task_reminder","content":[],"itemCount":0}"#;
    let file = with_attachments(&talk_after(&rows, 6), &[(2, reminder.to_owned())]);
    let plan = file.plan(&|draft| compress(draft, preset("handoff").unwrap())).unwrap();
    let place = Place::new();
    place.log(file.provider.name(), &plan);
    // The client that resumes has not loaded the tool.
    let text = r#"{"type":"text","text":"[no tool]\n"}"#;
    let request = String::from_utf8(file.request()).unwrap();
    let made = r#"]}, {"type":"text","text":"Tool loaded."}, "#;
    let (before, after) = request.split_once(made).unwrap();
    let (note, after) = after.split_once("]}").unwrap();
    let joined =
        [&before.replace(r#"{"type":"tool_reference","tool_name":"WebFetch"}"#, text), ",", note, "]}]}", after].concat();
    let expected = contents(file.provider, &file.after(&plan).request());
    for request in [request, joined] {
        let sent = contents(file.provider, &place.sent(file.provider, request.as_bytes()));
        check_equal(&sent, &expected, "the reminder");
    }
}

/// Returns a long text of names.
fn names() -> String {
    (0..400).map(|number| format!("/w/src/module{number}.rs ")).collect()
}

/// Returns a message of the model with a tool use.
fn used(name: &str, id: &str) -> String {
    format!(
        r#"{{"id":"m{id}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"query":"x"}}}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    )
}

/// Returns a message of the user with the result of a tool use.
fn result(id: &str, content: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]}}"#)
}

/// Returns a session with attachments, each after the row with a number.
fn with_attachments(file: &Medium, added: &[(usize, String)]) -> Medium {
    let mut lines: Vec<String> = std::str::from_utf8(&file.bytes).unwrap().lines().map(str::to_owned).collect();
    for (number, (after, content)) in added.iter().enumerate().rev() {
        let row = format!(
            r#"{{"parentUuid":"r{after}","isSidechain":false,"type":"attachment","uuid":"a{number}","sessionId":"s","version":"2.1.330","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","attachment":{content}}}"#
        );
        let [old, new] = [format!("r{after}"), format!("a{number}")].map(|uuid| format!(r#""parentUuid":"{uuid}""#));
        let follows = lines[after + 1].replace(&old, &new);
        lines.splice(after + 1..after + 2, [row, follows]);
    }
    Medium::new(file.provider, (lines.join("\n") + "\n").into_bytes())
}

/// Returns a session with a number of turns.
fn talk(turns: usize) -> Medium {
    talk_after(&[], turns)
}

/// Returns a session with messages, each with its role, before a number of turns.
fn talk_after(first: &[(&str, String)], turns: usize) -> Medium {
    let row = |number: usize, kind: &str, message: String| {
        let parent = if number == 0 { "null".to_owned() } else { format!("\"r{}\"", number - 1) };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"r{number}","sessionId":"s","version":"2.1.330","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","message":{message}}}"#
        ) + "\n"
    };
    let turn = |turn: usize| {
        let ask = format!(r#"{{"role":"user","content":"question {turn}"}}"#);
        let answer = format!(
            r#"{{"id":"m{turn}","type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[{{"type":"text","text":"answer {turn}"}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        );
        let at = first.len() + 2 * turn;
        row(at, "user", ask) + &row(at + 1, "assistant", answer)
    };
    let before = first.iter().enumerate().map(|(at, (role, message))| row(at, role, message.clone()));
    let rows: String = before.chain((0..turns).map(turn)).collect();
    Medium::new(by_name("claude-code").unwrap(), rows.into_bytes())
}

fn with_messages(request: &[u8], messages: &[&str]) -> Vec<u8> {
    let document = RequestDocument::new(request).unwrap();
    let list = document.member("messages").unwrap().get();
    let longer = format!("{},{}]", list.strip_suffix(']').unwrap(), messages.join(","));
    String::from_utf8(request.to_vec()).unwrap().replace(list, &longer).into_bytes()
}

#[test]
fn a_reminder_that_counts_folded_answers_is_left_out() {
    const REMINDER: &str = "<system-reminder>\nIt is Monday.\n</system-reminder>";
    // As many characters of each class as in the words of the client.
    let words = format!("aB aB C C C C C C C {}", ". ".repeat(12));
    let words = format!("{words}{}\n", "x".repeat(420 - words.len()));
    let reminder = format!("<system-reminder>\n{words}\n</system-reminder>");
    let prompt = |texts: &[&str]| {
        let parts: Vec<serde_json::Value> = texts.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        serde_json::json!({"role": "user", "content": parts}).to_string()
    };
    let (reminded, plain) = (prompt(&[&reminder, "go on"]), prompt(&["go on"]));
    let (answer, later) = (r#"{"role":"assistant","content":[{"type":"text","text":"fine"}]}"#, prompt(&[&reminder, "again"]));
    let most: Change<'_> = &|draft| draft.fold(1..=11, "A summary.");
    let first: Change<'_> = &|draft| draft.fold(1..=1, "A summary.");
    // The text that replaces the turns is joined to the result before them.
    let called = [("assistant", used("Read", "t0")), ("user", result("t0", "\"read\""))];
    for (file, change, is_left_out) in [(talk(12), most, true), (talk(12), first, false), (talk_after(&called, 12), most, true)] {
        let place = Place::new();
        let plan = file.plan(change).unwrap();
        let sent =
            |messages: &[&str]| contents(file.provider, &place.sent(file.provider, &with_messages(&file.request(), messages)));
        let has_reminder =
            |contents: &[(Role, BlockKind, String)]| contents.iter().filter(|(_, _, text)| *text == reminder).count();
        assert_eq!(has_reminder(&sent(&[&reminded])), 1, "without a fold it stays");
        place.log(file.provider.name(), &plan);
        let prompt = if is_left_out { &plain } else { &reminded };
        let expected = |messages: &[&str]| contents(file.provider, &with_messages(&file.after(&plan).request(), messages));
        for _ in 0..2 {
            check_equal(&sent(&[&reminded]), &expected(&[prompt]), "the prompt");
        }
        // The client joins it to a result, as all reminders there.
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}"#;
        let result = |end: &str| {
            let result =
                serde_json::json!({"type": "tool_result", "tool_use_id": "t1", "content": format!("read{end}\n\n{REMINDER}")});
            serde_json::json!({"role": "user", "content": [result, {"type": "text", "text": "go on with it"}]}).to_string()
        };
        let joined = result(&format!("\n\n{reminder}"));
        let kept = if is_left_out { result("") } else { joined.clone() };
        check_equal(&sent(&[call, &joined]), &expected(&[call, &kept]), "a result");
        // A later one counts the answers since.
        let after: Vec<&str> = [answer, &later].repeat(10);
        let found: Vec<&str> = [&*reminded].into_iter().chain(after.iter().copied()).collect();
        let wanted: Vec<&str> = [&**prompt].into_iter().chain(after.iter().copied()).collect();
        check_equal(&sent(&found), &expected(&wanted), "later prompts");
    }
}
