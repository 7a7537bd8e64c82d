//! `aperture shrink`: a session file becomes smaller, what the client sends stays the same, and every byte can be restored.

use crate::sandbox::{Sandbox, all_or, homes, sample};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The session of these tests.
const ID: &str = "5c000000-0000-4000-8000-000000000001";
/// The number of compactions of the session.
const COMPACTIONS: usize = 12;

fn identity(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Returns a session of several compactions, each after a turn with a long result, and with one short turn after the last of them.
pub fn compacted() -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    let mut number = 0;
    let mut add = |rows: &mut Vec<Value>, root: bool, mut row: Value| {
        number += 1;
        let time = format!("2026-11-20T09:{:02}:{:02}.000Z", number * 10 / 60 % 60, number * 10 % 60);
        let shared = json!({
            "parentUuid": if root { Value::Null } else { json!(identity(number - 1)) }, "isSidechain": false, "uuid": identity(number),
            "timestamp": time, "cwd": "/home/dev/shop", "sessionId": ID, "version": "2.1.330", "userType": "external",
        });
        if root && number > 1 {
            row["logicalParentUuid"] = json!(identity(number - 1));
        }
        row.as_object_mut().unwrap().extend(shared.as_object().unwrap().clone());
        rows.push(row);
        number
    };
    let text = |kind: &str, text: &str| json!({"type": kind, "message": {"role": kind, "content": text}});
    let answer = |turn: usize, name: &str, content: Value| {
        let usage = json!({"input_tokens": 5000, "output_tokens": 50});
        json!({"type": "assistant", "requestId": format!("req_{turn}_{name}"), "message": {
            "id": format!("msg_{turn}_{name}"), "role": "assistant", "model": "claude-opus-5", "content": content, "usage": usage,
        }})
    };
    for turn in 0..=COMPACTIONS {
        let prompt = add(&mut rows, turn == 0, text("user", &format!("prompt {turn}")));
        let snapshot = json!({"messageId": identity(prompt), "trackedFileBackups": {}, "timestamp": "2026-11-20T09:00:00.000Z"});
        rows.push(json!({"type": "file-history-snapshot", "messageId": identity(prompt), "snapshot": snapshot, "isSnapshotUpdate": false}));
        rows.push(json!({"type": "api-request", "sessionId": ID, "id": format!("request {turn}"), "keep": 0, "tail": []}));
        let call = format!("toolu_{turn}");
        add(
            &mut rows,
            false,
            answer(turn, "a", json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make"}}])),
        );
        let output = format!("line {turn}\n").repeat(if turn == COMPACTIONS { 100 } else { 2_000 });
        add(
            &mut rows,
            false,
            json!({
                "type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]},
                "toolUseResult": {"stdout": output, "stderr": "", "interrupted": false},
            }),
        );
        add(&mut rows, false, answer(turn, "b", json!([{"type": "text", "text": format!("answer {turn}")}])));
        rows.push(json!({"type": "last-prompt", "lastPrompt": format!("prompt {turn}"), "sessionId": ID}));
        if turn < COMPACTIONS {
            let boundary = json!({
                "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "level": "info",
                "compactMetadata": {"trigger": "manual", "preTokens": 20000},
            });
            add(&mut rows, true, boundary);
            let mut summary = text("user", &format!("The summary of the parts before {turn}"));
            summary["isCompactSummary"] = json!(true);
            add(&mut rows, false, summary);
        }
    }
    rows
}

fn bytes_of(rows: &[Value]) -> Vec<u8> {
    rows.iter().map(|row| format!("{row}\n")).collect::<String>().into_bytes()
}

pub fn sandbox_of(rows: &[Value]) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let path = sandbox.session(ID, bytes_of(rows), 0);
    (sandbox, path)
}

/// Returns what the model receives, and what was billed.
fn sent_and_billed(sandbox: &Sandbox, path: &Path) -> (String, Value) {
    let path = path.to_str().unwrap();
    let mut usage = sandbox.json(&["usage"], "aperture.usage/1");
    // Nothing is saved on the requests.
    usage["total"]["saved_tokens"].take();
    (sandbox.text(&["transcript", "--raw", "-s", path]), usage["total"].take())
}

/// Returns the damage of a session, without its places in the file.
fn found(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(&sandbox.run(&["check", name, "--no-damage", "--format", "json"]).stdout).unwrap();
    let findings = report["sessions"][0]["findings"].as_array().unwrap().clone();
    findings.into_iter().map(|mut finding| finding["message"].take()).collect()
}

#[test]
fn the_window_and_the_bills_of_every_session_stay_the_same() {
    let mut shrunk = 0;
    for home in sample(homes(), 3) {
        let sandbox = Sandbox::of(&home);
        for path in sandbox.sessions() {
            let (bytes, before, name) = (fs::read(&path).unwrap(), sent_and_billed(&sandbox, &path), path.to_str().unwrap());
            let damage = found(&sandbox, name);
            let report = sandbox.json(&["shrink", name], "aperture.change/2");
            let gone: u64 = report["removed"].as_object().unwrap().values().map(|amount| amount["bytes"].as_u64().unwrap()).sum();
            let after = fs::read(&path).unwrap();
            assert_eq!(bytes.len() as u64 - gone, after.len() as u64, "{home}");
            assert_eq!(sent_and_billed(&sandbox, &path), before, "{home}");
            assert_eq!(sandbox.text(&["shrink", name]), "nothing to do\n", "{home}");
            if gone == 0 {
                continue;
            }
            shrunk += 1;
            assert_eq!(report["price"], Value::Null);
            assert_eq!(found(&sandbox, name), damage, "{home}");
            let verified = sandbox.run(&["verify", "-s", name]);
            assert_eq!(verified.code, 0, "{home}: {}", verified.all());
            for command in ["undo", "redo", "undo"] {
                sandbox.text(&[command, "-s", name]);
                let expected = if command == "undo" { &bytes } else { &after };
                assert!(fs::read(&path).unwrap() == *expected, "{home}: {command}");
                assert_eq!(sent_and_billed(&sandbox, &path), before, "{home}: {command}");
            }
        }
    }
    assert!(shrunk >= all_or(5, 1), "{shrunk}");
}

#[test]
fn the_turns_of_a_session_stay_told_with_their_prompts_and_outcomes() {
    let (sandbox, _) = sandbox_of(&compacted());
    let turns = || {
        let turns = sandbox.json(&["summary", "-s", ID], "aperture.summary/2")["turns"].take();
        let told = |turn: &Value| (turn["number"].clone(), turn["header"].clone(), turn["outcomes"].clone());
        turns.as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    let before = turns();
    assert_eq!(before.len(), COMPACTIONS + 1);
    sandbox.text(&["shrink", ID]);
    assert_eq!(turns(), before);
}

#[test]
fn a_file_of_many_compactions_keeps_what_is_sent_and_the_story() {
    let rows = compacted();
    let (sandbox, path) = sandbox_of(&rows);
    let (bytes, before) = (fs::read(&path).unwrap(), sent_and_billed(&sandbox, &path));
    let planned = sandbox.text(&["shrink", ID, "--dry-run"]);
    for expected in
        ["before the last compaction", "records of requests", "file snapshots", "copies of results", "dry run", "uncompact"]
    {
        assert!(planned.contains(expected), "{expected}: {planned}");
    }
    assert!(fs::read(&path).unwrap() == bytes);
    let report = sandbox.json(&["shrink", ID], "aperture.change/2");
    let count = |kind: &str| report["removed"][kind]["count"].as_u64().unwrap() as usize;
    // Of each turn, the call, its result, and the compaction before it with its summary.
    assert_eq!(count("compacted_rows"), COMPACTIONS * 4 - 2);
    assert_eq!([count("display_copies"), count("file_snapshots"), count("request_records")], [1, COMPACTIONS, COMPACTIONS]);
    let after = fs::read(&path).unwrap();
    assert!(bytes.len() > 400_000 && after.len() < 16_000, "{} {}", bytes.len(), after.len());
    assert_eq!(sent_and_billed(&sandbox, &path), before);
    // Rows without an identity stay in their order.
    let lines: Vec<String> = rows.iter().filter(|row| row["type"] == "last-prompt").map(Value::to_string).collect();
    let text = String::from_utf8(after).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("last-prompt")).collect::<Vec<_>>(), lines);
    let titles = sandbox.json(&["sessions"], "aperture.sessions/2");
    assert_eq!(titles["sessions"][0]["title"], "prompt 0");
    // The store keeps what left the file, in less space.
    let store = fs::metadata(sandbox.home.join(".aperture/store.db")).unwrap().len();
    assert!(store < 400_000, "{store}");
    let outcome = sandbox.run(&["uncompact", "-s", ID]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("aperture undo"), "{}", outcome.stderr);
    sandbox.text(&["undo", "-s", ID]);
    assert!(fs::read(&path).unwrap() == bytes);
    sandbox.text(&["uncompact", "-s", ID]);
}

#[test]
fn rows_that_the_client_appends_meanwhile_stay_behind_what_an_undo_restores() {
    let (sandbox, path) = sandbox_of(&compacted());
    let bytes = fs::read(&path).unwrap();
    // An operation on a row that leaves the file.
    sandbox.text(&["uncompact", "-s", ID]);
    sandbox.text(&["archive", "kind(tool_result)", "-s", ID]);
    sandbox.text(&["undo", "-s", ID]);
    sandbox.text(&["undo", "-s", ID]);
    assert!(fs::read(&path).unwrap() == bytes);
    sandbox.text(&["shrink", ID]);
    let row = json!({
        "parentUuid": identity(6 * COMPACTIONS + 4), "isSidechain": false, "uuid": identity(900), "type": "user", "sessionId": ID,
        "message": {"role": "user", "content": "one more"}, "timestamp": "2026-11-20T11:00:00.000Z", "version": "2.1.330",
    });
    let appended = format!("{row}\n").into_bytes();
    fs::write(&path, [fs::read(&path).unwrap(), appended.clone()].concat()).unwrap();
    let sent = sandbox.text(&["transcript", "--raw", "-s", ID]);
    assert!(sent.contains("one more") && sent.contains("answer 12"), "{sent}");
    // A later change, so that the undo is planned from the log.
    let number = sandbox.json(&["blocks", "kind(tool_result)", "-s", ID], "aperture.blocks/2")["blocks"][0]["number"].to_string();
    sandbox.text(&["archive", &number, "-s", ID]);
    let changed = fs::read(&path).unwrap();
    let operations = sandbox.json(&["log", "-s", ID], "aperture.log/2")["operations"].as_array().unwrap().len();
    sandbox.text(&["undo", &(operations - 1).to_string(), "-s", ID]);
    let restored = fs::read(&path).unwrap();
    assert!(restored.len() > changed.len() && restored.len() > bytes.len() / 2);
    assert_eq!(sandbox.run(&["verify", "-s", ID]).code, 0);
    sandbox.text(&["restore", "0", "-s", ID]);
    assert!(fs::read(&path).unwrap() == [bytes, appended].concat());
}

#[test]
fn a_file_is_shrunk_again_after_further_compactions() {
    let rows = compacted();
    let (sandbox, path) = sandbox_of(&rows[..rows.len() / 2]);
    sandbox.text(&["shrink", ID]);
    let rest = bytes_of(&rows[rows.len() / 2..]);
    fs::write(&path, [fs::read(&path).unwrap(), rest].concat()).unwrap();
    let (grown, before) = (fs::read(&path).unwrap(), sent_and_billed(&sandbox, &path));
    sandbox.text(&["shrink", ID]);
    let after = fs::read(&path).unwrap();
    assert!(after.len() < 16_000, "{}", after.len());
    assert_eq!(sent_and_billed(&sandbox, &path), before);
    for (command, expected) in [("undo", &grown), ("undo", &bytes_of(&rows)), ("redo", &grown), ("redo", &after)] {
        sandbox.text(&[command, "-s", ID]);
        assert!(fs::read(&path).unwrap() == *expected, "{command}");
        assert_eq!(sent_and_billed(&sandbox, &path), before, "{command}");
        assert_eq!(sandbox.run(&["verify", "-s", ID]).code, 0);
    }
    // The rows that stayed hold what the first operation removed, whatever the second one removed since.
    sandbox.text(&["undo", "1", "-s", ID]);
    assert_eq!(sent_and_billed(&sandbox, &path), before);
    assert_eq!(sandbox.run(&["verify", "-s", ID]).code, 0);
    sandbox.text(&["redo", "-s", ID]);
    assert!(fs::read(&path).unwrap() == after);
}

/// Appends a text of the model to a session.
fn say(path: &Path, text: &str) {
    let file = fs::read_to_string(path).unwrap();
    let rows = || file.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = rows().rfind(|row| row["uuid"].is_string()).unwrap();
    let row = json!({
        "parentUuid": last["uuid"], "isSidechain": false, "uuid": identity(1_000 + rows().count()), "type": "assistant",
        "sessionId": ID, "timestamp": "2026-11-20T12:00:00.000Z", "version": "2.1.330", "cwd": "/home/dev/shop",
        "message": {"id": format!("msg_said_{}", rows().count()), "role": "assistant", "model": "claude-opus-5",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 5000, "output_tokens": 50}},
    });
    fs::write(path, format!("{file}{row}\n")).unwrap();
}

/// Returns the status of each new command of the model, and its answer.
fn obeyed(sandbox: &Sandbox) -> Vec<(String, String)> {
    let report = sandbox.json(&["obey", "-s", ID], "aperture.obey/2");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["commands"].as_array().unwrap().iter().map(|command| (text(&command["status"]), text(&command["answer"]))).collect()
}

/// Returns the number of the only block of a selector.
fn number_of(sandbox: &Sandbox, selector: &str) -> u64 {
    let report = sandbox.json(&["blocks", selector, "-s", ID], "aperture.blocks/2");
    let [block] = report["blocks"].as_array().unwrap().as_slice() else { panic!("{report}") };
    block["number"].as_u64().unwrap()
}

#[test]
fn commands_of_the_model_are_about_the_blocks_that_it_named() {
    let (sandbox, path) = sandbox_of(&compacted());
    let result = "kind(tool_result) & window";
    let (before, call) = (number_of(&sandbox, result), number_of(&sandbox, "kind(tool_use) & window"));
    say(&path, &format!("@archive({before})\n@pin({call})"));
    assert_eq!(obeyed(&sandbox).into_iter().map(|(status, _)| status).collect::<Vec<_>>(), ["waiting", "done"]);
    // Written, but not read yet.
    say(&path, &format!("@pin({before})\n@pin(kind(tool_result))"));
    sandbox.text(&["shrink", ID]);
    let after = number_of(&sandbox, result);
    assert!(after < before);
    let inbox = sandbox.json(&["inbox", "-s", ID], "aperture.inbox/2");
    assert_eq!(inbox["proposals"][0]["change"]["changes"][0]["number"], after, "{inbox}");
    let said = obeyed(&sandbox);
    assert_eq!((said[0].0.as_str(), said[1].0.as_str()), ("refused", "done"), "{said:?}");
    assert!(said[0].1.contains("numbered differently"), "{said:?}");
    sandbox.text(&["undo", "-s", ID]);
    sandbox.text(&["approve", "--pending", "-s", ID]);
    assert_eq!((number_of(&sandbox, "archived"), number_of(&sandbox, "pinned")), (after, after - 1));
    say(&path, &format!("@unpin({})", after - 1));
    assert_eq!(obeyed(&sandbox)[0].0, "done", "the model pinned it");
}

#[test]
fn a_command_of_the_model_about_a_block_that_is_gone_is_refused() {
    let (sandbox, path) = sandbox_of(&compacted());
    say(&path, &format!("@archive({})", number_of(&sandbox, "kind(tool_result) & window")));
    assert_eq!(obeyed(&sandbox)[0].0, "waiting");
    let text = fs::read_to_string(&path).unwrap();
    let rest: String =
        text.lines().filter(|line| !line.contains(r#""type":"tool_result""#)).map(|line| format!("{line}\n")).collect();
    fs::write(&path, rest).unwrap();
    let outcome = sandbox.run(&["approve", "--pending", "-s", ID]);
    assert!(outcome.stdout.contains("a block that it names is no longer in the session"), "{}", outcome.all());
}

#[test]
fn the_pin_of_the_user_stays_the_user_s_with_another_number() {
    let (sandbox, path) = sandbox_of(&compacted());
    let (result, call) = ("kind(tool_result) & window", "kind(tool_use) & window");
    let pinned = number_of(&sandbox, result);
    sandbox.text(&["pin", &pinned.to_string(), "-s", ID]);
    say(&path, &format!("@pin({})", number_of(&sandbox, call)));
    // The number that the block of the user has after the shrink.
    let planned = {
        let (other, path) = sandbox_of(&compacted());
        say(&path, "done");
        other.text(&["shrink", ID]);
        number_of(&other, result)
    };
    say(&path, &format!("@pin({planned})"));
    assert_eq!(obeyed(&sandbox).into_iter().map(|(status, _)| status).collect::<Vec<_>>(), ["done", "done"]);
    sandbox.text(&["shrink", ID]);
    assert_eq!(number_of(&sandbox, result), planned);
    say(&path, &format!("@unpin({planned}) @unpin({})", planned - 1));
    let said = obeyed(&sandbox);
    assert_eq!((said[0].0.as_str(), said[1].0.as_str()), ("refused", "done"), "{said:?}");
    assert!(said[0].1.contains("pinned by the user"), "{said:?}");
}

#[test]
fn a_session_whose_rows_are_all_sent_in_order_is_refused() {
    let sandbox = Sandbox::of("codex-compaction");
    let path = sandbox.rollouts().remove(0);
    let bytes = fs::read(&path).unwrap();
    let outcome = sandbox.run(&["shrink", path.to_str().unwrap()]);
    assert_eq!(outcome.code, 1, "{}", outcome.all());
    assert!(fs::read(&path).unwrap() == bytes);
}
