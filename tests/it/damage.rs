//! Damage of sessions: it is found, its effect on the next request is named, and what is certain is repaired and can be undone.

use crate::sandbox::{Sandbox, sample};
use base64::Engine;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The session of these tests.
const ID: &str = "da000000-0000-4000-8000-000000000001";

/// Rows of a conversation, each a child of the one before it and ten seconds younger.
#[derive(Clone)]
struct Rows(Vec<Value>);

fn identity(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn time(number: usize) -> String {
    format!("2026-11-20T09:{:02}:{:02}.000Z", number * 10 / 60, number * 10 % 60)
}

impl Rows {
    /// A conversation of turns with a prompt, a text, a tool use, its result and an answer.
    fn turns(turns: usize) -> Rows {
        let mut rows = Rows(Vec::new());
        for turn in 0..turns {
            let (call, message) = (format!("toolu_{turn}"), format!("msg_{turn}"));
            rows.add("user", "", json!(format!("prompt {turn}")));
            rows.add("assistant", &message, json!([{"type": "text", "text": format!("I look at the file {turn}")}]));
            let input = json!({"command": format!("cat file{turn}")});
            rows.add("assistant", &message, json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]));
            rows.add("user", "", json!([{"type": "tool_result", "tool_use_id": call, "content": format!("content {turn}")}]));
            rows.add("assistant", &format!("{message}b"), json!([{"type": "text", "text": format!("answer {turn}")}]));
        }
        rows
    }

    fn add(&mut self, kind: &str, message: &str, content: Value) {
        let number = self.0.len() + 1;
        let parent = if number > 1 { json!(identity(number - 1)) } else { Value::Null };
        let mut row = json!({
            "parentUuid": parent, "isSidechain": false, "cwd": "/home/dev/shop", "sessionId": ID, "version": "2.1.330",
            "type": kind, "message": {"role": kind, "content": content}, "uuid": identity(number), "timestamp": time(number),
        });
        if kind == "assistant" {
            row["message"]["id"] = json!(message);
            row["message"]["model"] = json!("claude-opus-5");
            row["message"]["usage"] = json!({"input_tokens": 5000, "output_tokens": 5});
        }
        self.0.push(row);
    }

    fn lines(&self) -> Vec<String> {
        self.0.iter().map(Value::to_string).collect()
    }

    /// Replaces an id in all tool uses and results.
    fn rename(&mut self, from: &str, to: &str) {
        for row in &mut self.0 {
            for block in row["message"]["content"].as_array_mut().into_iter().flatten() {
                for name in ["id", "tool_use_id"] {
                    if block[name] == from {
                        block[name] = json!(to);
                    }
                }
            }
        }
    }
}

/// A sandbox with one damaged session.
struct Damaged {
    sandbox: Sandbox,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Damaged {
    fn new(bytes: impl Into<Vec<u8>>) -> Damaged {
        let (sandbox, bytes) = (Sandbox::new(), bytes.into());
        let path = sandbox.session(ID, &bytes, 0);
        Damaged { sandbox, path, bytes }
    }

    fn of(lines: &[String]) -> Damaged {
        Damaged::new(lines.join("\n") + "\n")
    }

    /// Returns the findings: line, block, message and effect, and whether a repair is offered.
    fn findings(&self) -> Vec<(u64, u64, String, String, bool)> {
        let outcome = self.sandbox.run(&["check", ID, "--no-damage", "--format", "json"]);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let findings = report["sessions"][0]["findings"].as_array().unwrap().clone();
        assert_eq!(outcome.code, i32::from(!findings.is_empty()));
        let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        let number = |finding: &Value, name: &str| finding[name].as_u64().unwrap_or_default();
        let found = findings.iter().map(|finding| {
            let repaired = text(finding, "hint").starts_with("aperture repair -s ");
            let place = (number(finding, "line"), number(finding, "block"));
            (place.0, place.1, text(finding, "message"), text(finding, "effect"), repaired)
        });
        found.collect()
    }

    /// Returns the texts of the window.
    fn window(&self) -> Vec<String> {
        let report = self.sandbox.json(&["blocks", "all", "-s", ID], "aperture.blocks/2");
        let blocks = report["blocks"].as_array().unwrap().iter().filter(|block| block["zone"] != "cold");
        blocks.map(|block| block["preview"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Repairs, and returns the report.
    fn repair(&self) -> String {
        let before = std::fs::read(&self.path).unwrap();
        let planned = self.sandbox.text(&["repair", ID, "--dry-run"]);
        assert!(planned.contains("nothing was written: this is a dry run"), "{planned}");
        assert_eq!(std::fs::read(&self.path).unwrap(), before);
        self.sandbox.text(&["repair", ID])
    }

    /// Undoes the repair: every byte is as before.
    fn undo(&self) {
        let verified = self.sandbox.run(&["verify", "-s", ID]);
        assert_eq!(verified.code, 0, "{}", verified.stdout);
        self.sandbox.text(&["undo", "-s", ID]);
        assert_eq!(std::fs::read(&self.path).unwrap(), self.bytes);
        self.sandbox.text(&["redo", "-s", ID]);
        self.sandbox.text(&["undo", "-s", ID]);
        assert_eq!(std::fs::read(&self.path).unwrap(), self.bytes);
    }
}

/// A conversation of four turns, of which the third has a prompt whose parent was never written, a minute later.
fn cut() -> Rows {
    let mut rows = Rows::turns(4);
    rows.0[10]["parentUuid"] = json!(identity(999));
    for (place, row) in rows.0.iter_mut().enumerate().skip(10) {
        row["timestamp"] = json!(time(place + 7));
    }
    rows
}

#[test]
fn a_history_that_the_client_loses_is_found_and_linked_again() {
    let session = Damaged::of(&cut().lines());
    let [(line, _, message, effect, repaired)] = &session.findings()[..] else { panic!("{:?}", session.findings()) };
    assert_eq!((*line, &**effect, *repaired), (11, "the next request begins here", true));
    assert!(message.starts_with("the link to the rows before is broken: 10 blocks (~"), "{message}");
    let status = session.sandbox.json(&["status", ID], "aperture.status/2");
    assert_eq!((&status["hidden"]["cut"], &status["hidden"]["branched"]), (&json!(10), &json!(0)));
    assert_eq!(session.window().len(), 10);
    let report = session.repair();
    assert!(report.contains("line 11") && report.contains("linked to the row before it: 10 blocks are sent again"), "{report}");
    assert_eq!(session.window().len(), 20);
    assert_eq!(session.findings(), []);
    session.undo();
}

#[test]
fn the_printed_commands_select_a_file_that_the_client_does_not_have() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.join("a copy.jsonl");
    std::fs::write(&path, cut().lines().join("\n") + "\n").unwrap();
    let file = path.to_str().unwrap();
    for asked in [&["check", file, "--no-damage"][..], &["status", file]] {
        let printed = sandbox.run(asked).all();
        let commands: Vec<&str> = printed.lines().filter_map(|line| line.trim().strip_prefix("aperture repair ")).collect();
        let [command] = &commands[..] else { panic!("{printed}") };
        let name = command.split(',').next().unwrap().trim_end_matches(" --dry-run").trim_start_matches("-s ").trim_matches('\'');
        let repaired = sandbox.run(&["repair", "--dry-run", "-s", &name.replace("HOME", sandbox.home.to_str().unwrap())]);
        assert!(repaired.code == 0 && repaired.stdout.contains("linked"), "{command}: {}", repaired.all());
    }
}

#[test]
fn every_session_of_the_machine_is_repaired_at_once() {
    let session = Damaged::of(&cut().lines());
    let other = "da000000-0000-4000-8000-000000000002";
    let healthy = Rows::turns(2).lines().join("\n") + "\n";
    let healthy = session.sandbox.session(other, healthy.replace(ID, other).as_bytes(), 0);
    let before = std::fs::read(&healthy).unwrap();
    let planned = session.sandbox.text(&["repair", "--all", "--dry-run"]);
    assert!(planned.contains("1 fault"), "{planned}");
    assert_eq!(std::fs::read(&session.path).unwrap(), session.bytes);
    session.sandbox.text(&["repair", "--all"]);
    assert_eq!((session.window().len(), std::fs::read(&healthy).unwrap()), (20, before));
    assert_eq!(session.sandbox.run(&["repair", ID, "--all"]).code, 2);
    session.undo();
}

#[test]
fn several_cuts_are_linked_at_once() {
    let mut rows = cut();
    rows.0[5]["parentUuid"] = json!(identity(998));
    rows.0[15]["parentUuid"] = json!(identity(997));
    let session = Damaged::of(&rows.lines());
    let found: Vec<(u64, String)> = session.findings().into_iter().map(|(line, _, _, effect, _)| (line, effect)).collect();
    let older = "still lost once the newer cut is mended".to_owned();
    assert_eq!(found, [(6, older.clone()), (11, older), (16, "the next request begins here".to_owned())]);
    session.repair();
    assert_eq!((session.window().len(), session.findings().len()), (20, 0));
    session.undo();
}

#[test]
fn a_rewind_a_headless_file_and_a_bridged_row_are_no_damage() {
    let mut rewound = Rows::turns(3);
    rewound.0[10]["parentUuid"] = json!(identity(5));
    let mut restarted = Rows::turns(3);
    restarted.0[10]["parentUuid"] = Value::Null;
    let mut headless = Rows::turns(2);
    headless.0[0]["parentUuid"] = json!(identity(999));
    let mut bridged = cut();
    bridged.0[10]["timestamp"] = bridged.0[9]["timestamp"].clone();
    for rows in [Rows::turns(2), rewound, restarted, headless, bridged] {
        assert_eq!(Damaged::of(&rows.lines()).findings(), []);
    }
}

#[test]
fn a_link_that_is_not_certain_is_only_named() {
    let mut other = cut();
    for row in &mut other.0[..10] {
        row["sessionId"] = json!("da000000-0000-4000-8000-000000000002");
    }
    let mut newer = cut();
    newer.0[9]["timestamp"] = json!("2026-11-21T00:00:00.000Z");
    for rows in [other, newer] {
        let session = Damaged::of(&rows.lines());
        let findings = session.findings();
        assert_eq!(findings.iter().map(|(line, .., repaired)| (*line, *repaired)).collect::<Vec<_>>(), [(11, false)]);
        let report = session.sandbox.text(&["repair", ID]);
        assert!(report.starts_with("nothing to do") && report.contains("not repaired: the next request begins here"), "{report}");
        assert_eq!(std::fs::read(&session.path).unwrap(), session.bytes);
    }
}

#[test]
fn a_lost_row_in_the_middle_cuts_the_history() {
    let mut lines = cut().lines();
    lines[10] = Rows::turns(4).lines()[10].replace(&time(11), &time(18));
    lines[9].truncate(100);
    let session = Damaged::of(&lines);
    let found = session.findings();
    assert_eq!((found[0].0, &*found[0].2, &*found[0].3), (10, "not JSON", "the client skips the line; its content is lost"));
    assert_eq!((found[1].0, found[1].4), (11, true));
    let report = session.repair();
    assert!(report.contains("not repaired: the client skips the line; its content is lost"), "{report}");
    assert_eq!(session.window().len(), 19);
    session.undo();
}

/// A change of the tenth line, given with the one after it.
type Change = fn(&[u8], &[u8]) -> Vec<u8>;

/// Joins the lines of a session. The tenth is changed; with `takes_next`, it takes the place of the next one too.
fn with_line(change: Change, takes_next: bool) -> Vec<u8> {
    let lines = Rows::turns(4).lines();
    let mut changed: Vec<Vec<u8>> = lines.iter().map(|line| line.clone().into_bytes()).collect();
    changed[9] = change(lines[9].as_bytes(), lines[10].as_bytes());
    if takes_next {
        changed.remove(10);
    }
    [changed.join(&b'\n'), b"\n".to_vec()].concat()
}

#[test]
fn bytes_after_a_row_are_no_damage_and_stay() {
    let changes: [Change; 4] = [
        |row, _| [row, &[0; 64]].concat(),
        |row, _| [row, b"xyz"].concat(),
        |row, _| [row, b","].concat(),
        |row, _| [row, &row[..100]].concat(),
    ];
    for change in changes {
        let session = Damaged::new(with_line(change, false));
        assert_eq!(session.findings(), []);
        assert_eq!(session.window().len(), 20);
        // The row itself is changed, and all other bytes of its line stay.
        session.sandbox.text(&["update", "10", "another answer", "-s", ID]);
        let changed = std::fs::read(&session.path).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let expected = text(&session.bytes).replacen("answer 1", "another answer", 1);
        let line = |text: &str| text.lines().nth(9).unwrap_or_default().to_owned();
        assert_eq!(line(&text(&changed)), line(&expected));
        session.sandbox.text(&["undo", "-s", ID]);
        assert_eq!(std::fs::read(&session.path).unwrap(), session.bytes);
    }
}

#[test]
fn rows_that_the_client_does_not_read_get_lines_of_their_own() {
    // The first is a row behind the zero bytes of a crash; the others hold more than one row.
    let changes: [(Change, bool, &str); 6] = [
        (|row, _| [&[0; 64], row].concat(), true, "whole rows beside bytes that are not a row"),
        (|row, _| [b"\0\0 \0", row].concat(), true, "whole rows beside bytes that are not a row"),
        (|row, _| [&row[..100], row].concat(), true, "whole rows beside bytes that are not a row"),
        (|row, next| [row, next].concat(), false, "several rows on one line"),
        (|row, next| [row, b"\0\0\0", next].concat(), false, "several rows on one line"),
        (|row, next| [row, b",", next].concat(), false, "several rows on one line"),
    ];
    for (change, is_skipped, message) in changes {
        let session = Damaged::new(with_line(change, !is_skipped));
        let findings = session.findings();
        let effect = if is_skipped { "the client skips the line" } else { "the client reads only the first of them" };
        assert_eq!((findings[0].0, &*findings[0].2, &*findings[0].3, findings[0].4), (10, message, effect, true));
        assert!(session.window().len() < 20);
        let report = session.repair();
        assert!(report.contains("1 row gets a line of its own"), "{report}");
        assert_eq!(session.window().len(), 20, "{report}");
        session.undo();
    }
}

#[test]
fn an_id_that_the_api_refuses_is_replaced_in_the_call_and_its_result() {
    for (id, message) in
        [("", "the id of the tool use is empty"), ("call:1 x", "the id of the tool use has characters that ids may not have")]
    {
        let mut rows = Rows::turns(4);
        rows.rename("toolu_1", id);
        let session = Damaged::of(&rows.lines());
        let findings = session.findings();
        let expected = |line, block| (line, block, message.to_owned(), "every request is refused".to_owned(), true);
        assert_eq!(findings, [expected(8, 8), expected(9, 9)]);
        let report = session.repair();
        assert!(report.contains("blocks 8 and 9 have a new id"), "{report}");
        assert_eq!((session.window().len(), session.findings().len()), (20, 0));
        session.undo();
    }
    // Without a member for the id, a text stays in the place of each.
    let mut rows = Rows::turns(4);
    for (row, name) in [(7, "id"), (8, "tool_use_id")] {
        rows.0[row]["message"]["content"][0].as_object_mut().unwrap().remove(name);
    }
    let session = Damaged::of(&rows.lines());
    session.repair();
    assert_eq!(session.findings(), []);
    assert!(session.window().concat().contains("[call of the tool Bash, without an id"));
    session.undo();
}

#[test]
fn a_tool_use_id_that_is_not_unique_is_replaced() {
    let mut rows = Rows::turns(4);
    rows.rename("toolu_2", "toolu_1");
    let session = Damaged::of(&rows.lines());
    let effect = "the client leaves out this tool use and its result".to_owned();
    let message = "a tool use with the id of that in block 8".to_owned();
    assert_eq!(session.findings(), [(13, 13, message, effect, true)]);
    assert_eq!(session.window().len(), 18);
    session.repair();
    assert_eq!((session.window().len(), session.findings().len()), (20, 0));
    session.undo();
}

#[test]
fn repeated_rows_are_named_and_exact_copies_are_removed() {
    let lines = Rows::turns(2).lines();
    let session = Damaged::of(&[&lines[..], &lines[..]].concat());
    let none = "no effect: the client sends it once".to_owned();
    assert_eq!(session.findings(), [(11, 0, "10 rows with the identities of rows from 1 on".to_owned(), none, true)]);
    let report = session.repair();
    assert!(report.contains("10 copies removed"), "{report}");
    assert_eq!(std::fs::read(&session.path).unwrap(), (lines.join("\n") + "\n").as_bytes());
    session.undo();
    let mut rows = Rows::turns(2);
    rows.0.insert(5, rows.0[4].clone());
    rows.0[5]["message"]["content"][0]["text"] = json!("another answer");
    let session = Damaged::of(&rows.lines());
    let effect = "the client sends the later row in place of the earlier one".to_owned();
    assert_eq!(session.findings(), [(6, 0, "a row with the identity of row 5".to_owned(), effect, false)]);
    assert!(session.window().contains(&"another answer".to_owned()));
    let mut rows = Rows::turns(4);
    rows.0[11]["message"]["id"] = json!("msg_0");
    let session = Damaged::of(&rows.lines());
    let message = "a response with the id of that in row 2".to_owned();
    let found = session.findings().into_iter().map(|(line, _, message, ..)| (line, message)).collect::<Vec<_>>();
    assert_eq!(found, [(12, message)]);
}

/// A PNG header of this size, followed by zero bytes.
fn png(width: u32, height: u32, bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes().into_iter().chain(height.to_be_bytes()).chain([8, 2, 0, 0, 0, 0, 0, 0, 0]));
    png.resize(png.len().max(bytes), 0);
    encoded(&png)
}

fn encoded(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn image(data: String) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn pdf(pages: u32) -> Value {
    let data = encoded(format!("%PDF-1.4\n<</Type/Pages/Count {pages}/Kids[]>>").as_bytes());
    json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}})
}

#[test]
fn images_and_documents_over_the_limits_of_the_api_are_replaced_by_texts() {
    let text = json!({"type": "text", "text": "seen"});
    let many = |count: usize, width| vec![image(png(width, 4, 0)); count];
    let cases = [
        (vec![image(png(10, 10, 4 << 20))], "an image with 5.4 MB of base64; the API accepts 5 MB", 1),
        (vec![image(png(9000, 10, 0))], "an image with 9000×10 pixels; the API accepts 8000×8000", 1),
        (vec![pdf(601), image(png(8, 8, 0))], "a document with 601 pages; the API accepts 600", 1),
        (many(21, 2001), "21 images that the API refuses, the first with 2001×4 pixels; the API accepts 2000×2000", 21),
        (many(20, 2001), "", 0),
        (vec![image(png(8000, 8000, 3 << 20)), pdf(600)], "", 0),
    ];
    for (media, message, removed) in sample(cases, 2) {
        // In a result, and in a prompt.
        for row in sample([8, 10], 2) {
            let mut rows = Rows::turns(4);
            let content = [vec![text.clone()], media.clone()].concat();
            if row == 8 {
                rows.0[row]["message"]["content"][0]["content"] = json!(content);
            } else {
                rows.0[row]["message"]["content"] = json!(content);
            }
            let session = Damaged::of(&rows.lines());
            let findings = session.findings();
            if message.is_empty() {
                assert_eq!(findings, []);
                continue;
            }
            let found: Vec<_> = findings.iter().filter(|(_, _, _, effect, _)| effect == "every request is refused").collect();
            assert!(!found.is_empty() && found.iter().all(|(line, ..)| *line == row as u64 + 1), "{findings:?}");
            assert!(row != 8 || found[0].2 == message, "{findings:?}");
            session.repair();
            assert_eq!(session.findings(), [], "{message}");
            let file = std::fs::read_to_string(&session.path).unwrap();
            assert_eq!(file.matches("removed: it has").count(), removed, "{message}");
            session.undo();
        }
    }
}

#[test]
fn a_document_of_the_first_prompt_is_archived_and_restored() {
    let mut rows = Rows::turns(4);
    rows.0[0]["message"]["content"] = json!([{"type": "text", "text": "read it"}, pdf(40)]);
    let session = Damaged::of(&rows.lines());
    let has_document = || std::fs::read_to_string(&session.path).unwrap().contains("application/pdf");
    for (arguments, expected) in
        [(&["archive", "2", "-s", ID] as &[&str], false), (&["recall", "2", "--restore", "-s", ID], true)]
    {
        session.sandbox.text(arguments);
        assert_eq!(has_document(), expected, "{arguments:?}");
    }
    assert!(session.sandbox.text(&["archive", "1", "-s", ID]).contains("the first prompt stays"));
}

#[test]
fn data_that_is_not_of_its_media_type_is_replaced_or_named_rightly() {
    let source = |kind: &str, media_type: &str, data: String| json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}});
    let text = json!({"type": "text", "text": "seen"});
    let jpeg = encoded(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01");
    for (element, message, after) in [
        (source("image", "image/jpeg", png(8, 8, 0)), "an image with data of another media type: image/png", "\"image/png\""),
        (source("image", "image/jpg", jpeg), "an image with data of another media type: image/jpeg", "\"image/jpeg\""),
        (
            source("image", "image/png", encoded(b"a text is not an image")),
            "an image with data that is not of its media type",
            "removed",
        ),
        (
            source("image", "image/svg+xml", encoded(b"<svg xmlns=''></svg>")),
            "an image with a media type that the API does not accept",
            "removed",
        ),
        (source("image", "image/png", String::new()), "an image with no data", "removed"),
        (source("image", "image/png", "(left out)".to_owned()), "an image with data that is not base64", "removed"),
        (
            source("document", "application/pdf", encoded(b"a text is not a PDF")),
            "a document with data that is not of its media type",
            "removed",
        ),
        (
            source("document", "application/zip", encoded(b"PK")),
            "a document with a media type that the API does not accept",
            "removed",
        ),
    ] {
        for row in sample([8, 10], 2) {
            let mut rows = Rows::turns(4);
            let content = json!([text, image(png(8, 8, 0)), element]);
            if row == 8 {
                rows.0[row]["message"]["content"][0]["content"] = content;
            } else {
                rows.0[row]["message"]["content"] = content;
            }
            let session = Damaged::of(&rows.lines());
            let found: Vec<_> =
                session.findings().into_iter().map(|(line, _, message, _, repaired)| (line, message, repaired)).collect();
            assert_eq!(found, [(row as u64 + 1, message.to_owned(), true)]);
            session.repair();
            assert_eq!(session.findings(), [], "{message}");
            assert!(std::fs::read_to_string(&session.path).unwrap().contains(after), "{message}");
            session.undo();
        }
    }
    // A document by its URL or its text, and a PDF after other bytes.
    let mut rows = Rows::turns(4);
    rows.0[10]["message"]["content"] = json!([
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        source("document", "application/pdf", encoded(b"\n\n%PDF-1.4 ")),
    ]);
    assert_eq!(Damaged::of(&rows.lines()).findings(), []);
}

/// A change of a row.
type RowChange = fn(&mut Value);

#[test]
fn contents_that_the_api_refuses_are_replaced() {
    let changes: [(usize, RowChange, &str, &str); 11] = [
        (
            10,
            |row| row["message"]["content"] = json!([{"type": "tool_use", "id": "a", "name": "Bash", "input": {}}]),
            "a tool use in a message of the user",
            r#"[{"type":"text","text":"{\"type\":\"tool_use\","#,
        ),
        (10, |row| row["message"]["content"] = json!(""), "an empty text", "[empty]"),
        (10, |row| row["message"]["content"] = json!(" \n"), "an empty text", "[empty]"),
        (
            8,
            |row| row["message"]["content"][0]["content"] = json!([{"type": "text", "text": ""}, {"type": "text", "text": "x"}]),
            "an empty text",
            r#"[{"type":"text","text":"[empty]"},{"type":"text","text":"x"}]"#,
        ),
        (
            8,
            |row| row["message"]["content"][0]["content"] = json!([{"type": "chart", "rows": 3}]),
            "content of a kind that the API does not know",
            r#"[{"type":"text","text":"{\"type\":\"chart\",\"rows\":3}"}]"#,
        ),
        (
            10,
            |row| row["message"]["content"] = json!([{"type": "chart", "rows": 3}]),
            "content of a kind that the API does not know",
            r#"[{"type":"text","text":"{\"type\":\"chart\",\"rows\":3}"}]"#,
        ),
        (
            7,
            |row| row["message"]["content"][0]["name"] = json!(""),
            "a tool use without the name of a tool",
            r#""name":"unnamed_tool""#,
        ),
        (
            7,
            |row| drop(row["message"]["content"][0].as_object_mut().unwrap().remove("name")),
            "a tool use without the name of a tool",
            r#""name":"unnamed_tool""#,
        ),
        (
            7,
            |row| row["message"]["content"][0]["input"] = json!("{\"command\":\"ls -l\"}"),
            "a tool use whose input is not an object",
            r#""input":{"command":"ls -l"}"#,
        ),
        (
            7,
            |row| row["message"]["content"][0]["input"] = json!(null),
            "a tool use whose input is not an object",
            r#""input":{}"#,
        ),
        (
            7,
            |row| row["message"]["content"][0]["input"] = json!([1]),
            "a tool use whose input is not an object",
            r#""input":{"input":[1]}"#,
        ),
    ];
    for (row, change, message, after) in changes {
        let mut rows = Rows::turns(4);
        change(&mut rows.0[row]);
        let session = Damaged::of(&rows.lines());
        let refused = "every request is refused".to_owned();
        assert_eq!(session.findings(), [(row as u64 + 1, row as u64 + 1, message.to_owned(), refused, true)]);
        session.repair();
        assert_eq!(session.findings(), [], "{message}");
        let file = std::fs::read_to_string(&session.path).unwrap();
        assert!(file.contains(after), "{message}: {file}");
        session.undo();
    }
    // The client leaves these out, or the API knows them.
    let left_out: [(usize, RowChange); 6] = [
        (9, |row| row["message"]["content"] = json!([{"type": "text", "text": ""}])),
        (10, |row| row["message"]["content"] = json!([{"type": "text", "text": " "}, {"type": "text", "text": "x"}])),
        (10, |row| row["message"]["content"] = json!([])),
        (8, |row| row["message"]["content"][0]["content"] = json!("")),
        (8, |row| row["message"]["content"][0]["content"] = json!([{"type": "tool_reference", "tool_name": "Read"}])),
        (9, |row| {
            row["message"]["content"] = json!([{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]);
        }),
    ];
    for (row, change) in left_out {
        let mut rows = Rows::turns(4);
        change(&mut rows.0[row]);
        assert_eq!(Damaged::of(&rows.lines()).findings(), [], "{}", rows.0[row]);
    }
}

#[test]
fn a_parent_that_is_not_an_identity_cuts_the_history() {
    for parent in [json!(""), json!(7)] {
        // The client does not look for a row that is near in time.
        let mut rows = Rows::turns(4);
        rows.0[10]["parentUuid"] = parent.clone();
        rows.0[10]["timestamp"] = rows.0[9]["timestamp"].clone();
        let session = Damaged::of(&rows.lines());
        let found: Vec<_> =
            session.findings().into_iter().map(|(line, _, _, effect, repaired)| (line, effect, repaired)).collect();
        assert_eq!(found, [(11, "the next request begins here".to_owned(), true)]);
        assert_eq!(session.window().len(), 10);
        session.repair();
        assert_eq!((session.window().len(), session.findings().len()), (20, 0), "{parent}");
        session.undo();
    }
}

#[test]
fn neighboring_lines_that_cannot_be_read_are_one_finding() {
    let mut lines = Rows::turns(2).lines();
    lines.splice(5..5, ["{\"a\":".to_owned(), "x".to_owned(), "{".to_owned(), "[]".to_owned()]);
    let found: Vec<_> = Damaged::of(&lines).findings().into_iter().map(|(line, _, message, ..)| (line, message)).collect();
    assert_eq!(found, [(6, "this line and the next 2: not JSON".to_owned()), (9, "JSON, but not an object".to_owned())]);
}

#[test]
fn more_images_than_a_request_may_have_are_named() {
    let mut rows = Rows::turns(2);
    rows.0[3]["message"]["content"][0]["content"] = json!(vec![image(png(8, 8, 0)); 601]);
    let session = Damaged::of(&rows.lines());
    let (_, _, message, effect, repaired) = &session.findings()[0];
    assert_eq!((&**message, *repaired), ("the window has 601 images; the API accepts 600", false));
    assert!(effect.starts_with("the client leaves out the 1 oldest images"), "{effect}");
}

#[test]
fn lines_of_codex_that_the_client_ignores_are_divided() {
    let row = |time: u32, kind: &str, payload: Value| {
        json!({"timestamp": format!("2026-11-20T09:00:{time:02}.000Z"), "type": kind, "payload": payload}).to_string()
    };
    let said =
        |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let lines = [
        row(0, "session_meta", json!({"id": ID, "timestamp": "2026-11-20T09:00:00.000Z", "cwd": "/home/dev/shop"})),
        row(1, "response_item", said("user", "input_text", "prompt 0")),
        row(2, "response_item", said("assistant", "output_text", "answer 0")),
        row(3, "response_item", said("user", "input_text", "prompt 1")),
    ];
    let glued = format!("{}\n{}{}\n\0\0\0{}\n", lines[0], lines[1], lines[2], lines[3]);
    let sandbox = Sandbox::new();
    let path = sandbox.home.join(format!(".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{ID}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, &glued).unwrap();
    let session = Damaged { sandbox, path, bytes: glued.into_bytes() };
    let found: Vec<_> = session.findings().into_iter().map(|(line, _, _, effect, repaired)| (line, effect, repaired)).collect();
    let skipped = "the client skips the line".to_owned();
    assert_eq!(found, [(2, skipped.clone(), true), (3, skipped, true)]);
    session.repair();
    assert_eq!(session.window(), ["prompt 0", "answer 0", "prompt 1"]);
    session.undo();
}
