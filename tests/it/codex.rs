//! Tests of Codex sessions.

use crate::rows::rows_of;
use crate::sandbox::Sandbox;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns everything that is sent to the model, parsed as by another program, without fields that only aperture uses.
fn sent(rollout: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for row in rollout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if row["type"] == "compacted" {
            texts.clear();
        }
        let item = &row["payload"];
        if row["type"] != "response_item" {
            continue;
        }
        for name in ["content", "output", "arguments", "input"] {
            match &item[name] {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(parts) => texts.extend(parts.iter().filter_map(|part| Some(part["text"].as_str()?.to_owned()))),
                _ => {}
            }
        }
    }
    texts
}

#[test]
fn a_transcript_is_what_the_model_sees() {
    for home in ["codex-tools", "codex-fork"] {
        let sandbox = Sandbox::of(home);
        let texts = sent(&fs::read_to_string(&sandbox.rollouts()[0]).unwrap());
        let transcript = sandbox.text(&["transcript", "--raw", "--client-texts"]);
        for text in &texts {
            assert!(transcript.contains(text.as_str()), "{home}: {text}");
        }
        let length: usize = texts.iter().map(|text| text.len() + 1).sum();
        assert!(transcript.len() < length + length / 20, "{home}: {} of {length}", transcript.len());
    }
}

#[test]
fn shortened_blocks_are_restored() {
    let mut checked_arguments = 0;
    for home in ["codex-tools", "codex-fork", "codex-compaction"] {
        let sandbox = Sandbox::of(home);
        let path = &sandbox.rollouts()[0];
        let state = || (fs::read(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
        let original = state();
        for command in [&["archive", "all"][..], &["compress", "all", "--level", "minimal"], &["create", "a note"]] {
            sandbox.text(command);
            assert!(state().0 != original.0, "{home}: {command:?}");
            assert!(sandbox.text(&["verify"]).contains("restores the original, byte for byte"), "{home}: {command:?}");
            for line in fs::read_to_string(path).unwrap().lines().filter(|line| !line.contains("}{")) {
                let row: Value = serde_json::from_str(line).unwrap();
                if let Some(arguments) = row["payload"]["arguments"].as_str() {
                    assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{home}: {arguments}");
                    checked_arguments += 1;
                }
            }
            sandbox.text(&["undo"]);
            assert!(state() == original, "{home}: {command:?}");
            sandbox.text(&["redo"]);
            sandbox.text(&["undo"]);
            assert!(state() == original, "{home}: {command:?} again");
        }
    }
    assert!(checked_arguments > 0);
}

#[test]
fn a_digest_is_a_compaction_of_the_client() {
    let sandbox = Sandbox::of("codex-tools");
    let path = &sandbox.rollouts()[0];
    let original = fs::read_to_string(path).unwrap();
    sandbox.text(&["compress", "--preset", "handoff"]);
    let folded = fs::read_to_string(path).unwrap();
    let row: Value = serde_json::from_str(folded.lines().last().unwrap()).unwrap();
    assert_eq!(row["type"], "compacted");
    let history = row["payload"]["replacement_history"].as_array().unwrap();
    let digest = |item: &Value| item["content"][0]["text"].as_str().is_some_and(|text| text.contains("[digest of "));
    assert_eq!(history.iter().filter(|item| digest(item)).count(), 1);
    // Every call that stays has its output, and all of both is as it was.
    let calls = |name: &str| history.iter().filter(|item| item[name].is_string() || !item[name].is_null()).count();
    assert_eq!(calls("call_id"), 2 * calls("output"));
    for item in history.iter().filter(|item| !digest(item)) {
        assert!(original.contains(&item.to_string()), "{item}");
    }
    assert!(sandbox.text(&["compress", "--preset", "handoff"]).contains("nothing to do"));
    for (command, state) in [("undo", &original), ("redo", &folded), ("undo", &original)] {
        sandbox.text(&[command]);
        assert!(fs::read_to_string(path).unwrap() == **state, "{command}");
    }
}

/// Of an earlier compaction the instructions of the client stay, and only these.
#[test]
fn a_digest_after_a_compaction_keeps_what_is_the_clients() {
    let sandbox = Sandbox::of("codex-tools");
    let path = &sandbox.rollouts()[0];
    let says = |role: &str, text: &str| {
        let content = serde_json::json!([{"type": "input_text", "text": text}]);
        serde_json::json!({"type": "message", "role": role, "content": content})
    };
    let instructions = says("developer", "Ask before you delete.");
    let kept = [instructions.clone(), says("user", "What was summed up. ".repeat(200).trim())];
    let compacted = serde_json::json!({"timestamp": "2026-01-01T10:00:00.000Z", "type": "compacted",
        "payload": {"message": "", "replacement_history": kept}});
    let rows = fs::read_to_string(path).unwrap();
    let (meta, rest) = rows.split_once('\n').unwrap();
    let original = format!("{meta}\n{compacted}\n{rest}");
    fs::write(path, &original).unwrap();
    sandbox.text(&["compress", "--preset", "handoff"]);
    let folded = fs::read_to_string(path).unwrap();
    let row: Value = serde_json::from_str(folded.lines().last().unwrap()).unwrap();
    let history = row["payload"]["replacement_history"].as_array().unwrap();
    assert_eq!(history[0], instructions);
    assert!(!history.contains(&kept[1]));
    sandbox.text(&["undo"]);
    assert_eq!(fs::read_to_string(path).unwrap(), original);
}

#[test]
fn a_call_is_kept_with_all_that_follows_it() {
    let sandbox = Sandbox::of("codex-tools");
    let original = sandbox.text(&["transcript", "--raw", "--client-texts"]);
    sandbox.text(&["compress", "all", "--level", "minimal", "--keep-from", "call_a6"]);
    let transcript = sandbox.text(&["transcript", "--raw", "--client-texts"]);
    assert!(transcript.len() < original.len() / 2);
    let tail = |text: &str| text[text.find("*** Update File: tests/discount.rs").unwrap()..].to_owned();
    assert_eq!(tail(&transcript), tail(&original));
}

#[test]
fn the_last_bill_says_what_is_sent_now() {
    let sandbox = Sandbox::of("codex-tools");
    let bill = || {
        let text = fs::read_to_string(&sandbox.rollouts()[0]).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let usage = rows.rev().find_map(|row| Some(row["payload"]["info"]["last_token_usage"].as_object()?.clone())).unwrap();
        ["input_tokens", "output_tokens", "total_tokens"].map(|name| usage[name].as_u64().unwrap())
    };
    let [sent, output, total] = bill();
    assert_eq!(total, sent + output);
    sandbox.text(&["archive", "tool(exec_command)"]);
    let [less, same, total] = bill();
    assert!(less + 2000 < sent, "{less} of {sent}");
    assert_eq!((same, total), (output, less + output));
    let status = sandbox.json(&["status"], "aperture.status/2");
    assert_eq!(status["tokens"]["value"].as_f64().unwrap().round() as u64, total);
}

#[test]
fn changes_as_the_user_sees_them() {
    let sandbox = Sandbox::of("codex-tools");
    let lines = [
        "archive 15|18", "show 15", "recall NEEDLE_LARGE", "pin 11", "compress 8..13", "update 7 shorter", "diff", "log",
        "expand 18", "recall 15 --inject", "blocks kind(attachment)", "compact 1", "uncompact", "undo", "status",
    ];
    sandbox.snapshot("codex-changing", &lines);
    Sandbox::of("codex-compaction").snapshot("codex-hidden", &["transcript", "recall 9", "compact 2", "uncompact"]);
}

#[test]
fn a_rollout_belongs_to_the_project_that_it_names() {
    let sandbox = Sandbox::of("codex-fork");
    let other = crate::mcp::foreign_rollout(&sandbox);
    let other = other.to_string_lossy();
    sandbox.text(&["archive", "kind(tool_result)", "-s", &other]);
    let hits = |place: &str| {
        let outcome = sandbox.run(&["recall", "orders", place, "--json"]);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let of_other = |session: &&Value| other.contains(session["session"].as_str().unwrap());
        report["sessions"].as_array().unwrap().iter().filter(of_other).count()
    };
    assert!(hits("--all") > 0);
    assert_eq!(hits("--project"), 0);
    let listed = sandbox.json(&["sessions", "--project"], "aperture.sessions/2");
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let checked = |arguments: &[&str]| sandbox.json(arguments, "aperture.check/1")["sessions"].as_array().unwrap().len();
    assert_eq!(checked(&["check", "--no-damage", "--project"]), 1);
    assert_eq!(checked(&["check", "--no-damage", "--all"]), 2);
}

#[test]
fn a_session_is_found_by_its_id_and_by_its_project() {
    let sandbox = Sandbox::of("codex-fork");
    let id = |arguments: &[&str]| sandbox.json(arguments, "aperture.status/2")["session"].as_str().unwrap().to_owned();
    let own = "88888888-0000-7000-8000-000000000001";
    assert_eq!(id(&["status"]), own);
    assert_eq!(id(&["status", "8888"]), own);
    let listed = sandbox.json(&["sessions", "--project"], "aperture.sessions/2");
    let session = &listed["sessions"][0];
    assert_eq!(
        (&session["id"], &session["provider"], &session["title"]),
        (&own.into(), &"codex".into(), &"counting things".into())
    );
    assert_eq!(session["capacity_tokens"], 258_400);
    // The client's own directory can be elsewhere.
    let elsewhere = sandbox.project.join("elsewhere");
    fs::rename(sandbox.home.join(".codex"), &elsewhere).unwrap();
    let output = sandbox.command(&["status", "8888"]).env("CODEX_HOME", &elsewhere).output().unwrap();
    assert!(output.status.success());
    let outcome = sandbox.run(&["status", "8888"]);
    assert_eq!(outcome.code, 1);
    expect![[r#"
        error: no sessions were found in HOME/.claude/projects, HOME/.codex/sessions, HOME/.codex/archived_sessions, HOME/.local/share/opencode/opencode.db, HOME/.gemini/tmp
        hint: run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl
    "#]]
    .assert_eq(&outcome.stderr);
}

const THREAD: &str = "01a20619-060a-7033-b44c-af4433e490dd";
const FORK: &str = "01a20619-0b25-7a11-b9ba-b4d34d88e17c";

/// Returns the path of the rollout of a thread.
fn rollout(sandbox: &Sandbox, thread: &str) -> PathBuf {
    sandbox.home.join(format!(".codex/sessions/2026/11/23/rollout-2026-11-23T01-50-32-{thread}.jsonl"))
}

/// Writes rows, each with the next ordinal where `first` is the one of the first row.
fn write_rows(path: &Path, first: Option<u64>, rows: &[(&str, Value)]) {
    let mut text = String::new();
    for (place, (kind, payload)) in (0u64..).zip(rows) {
        let ordinal = first.map(|first| format!(r#""ordinal":{},"#, first + place)).unwrap_or_default();
        let time = format!("2026-11-23T01:{:02}:{:02}.000Z", place / 60, place % 60);
        text.push_str(&format!("{{\"timestamp\":\"{time}\",{ordinal}\"type\":\"{kind}\",\"payload\":{payload}}}\n"));
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn message(role: &str, text: &str) -> (&'static str, Value) {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    ("response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

fn call(id: &str, command: &str, output: &str) -> [(&'static str, Value); 2] {
    let arguments = json!({"cmd": command}).to_string();
    [
        ("response_item", json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id})),
        ("response_item", json!({"type": "function_call_output", "call_id": id, "output": output})),
    ]
}

/// Returns distinct lines.
fn lines(what: &str, count: u32) -> String {
    (0..count).map(|line| format!("{what} {line} is {} of the report\n", line * line % 97)).collect()
}

/// A conversation of two turns and five calls.
fn conversation(sandbox: &Sandbox, thread: &str, mode: &str) -> Vec<(&'static str, Value)> {
    let cwd = sandbox.project.to_str().unwrap();
    let billed = json!({"input_tokens": 9000, "cached_input_tokens": 0, "output_tokens": 40, "total_tokens": 9040});
    let bill = json!({"type": "token_count", "info": {"last_token_usage": billed, "model_context_window": 258_400}});
    let mut rows = vec![
        ("session_meta", json!({"id": thread, "cwd": cwd, "cli_version": "0.169.0", "history_mode": mode})),
        message("developer", "<permissions instructions>\nAsk first."),
        message("user", "# AGENTS.md instructions for the shop\n\nBe brief."),
        ("world_state", json!({"full": true, "state": {"cwd": cwd}})),
        ("turn_context", json!({"cwd": cwd, "model": "gpt-5.5-codex"})),
        message("user", "Find the widgets."),
    ];
    rows.extend(call("call_1", "make report", &lines("widget", 300)));
    rows.extend(call("call_2", "make list", &lines("gadget", 200)));
    rows.push(("event_msg", bill.clone()));
    rows.push(message("assistant", "The widgets are found."));
    rows.push(("world_state", json!({"full": false, "state": {"date": "2026-11-23"}})));
    rows.push(message("user", "Count them."));
    rows.extend(call("call_3", "make count", &lines("count", 40)));
    rows.extend(call("call_4", "make sum", "sum 7"));
    rows.extend(call("call_5", "make check", "check 8"));
    rows.push(message("assistant", "There are seven."));
    rows.push(("event_msg", bill));
    rows
}

/// The session of a client that numbers its rows.
fn numbered(sandbox: &Sandbox) -> PathBuf {
    let path = rollout(sandbox, THREAD);
    write_rows(&path, Some(0), &conversation(sandbox, THREAD, "paginated"));
    path
}

/// The client keeps byte offsets of rows elsewhere.
#[test]
fn no_row_of_a_numbered_session_moves() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    let lengths = || -> Vec<usize> { fs::read_to_string(path).unwrap().lines().map(str::len).collect() };
    let before = lengths();
    let window = sandbox.text(&["transcript", "--raw", "--client-texts"]);
    for command in [&["compress", "tool(exec_command)", "--level", "minimal"][..], &["archive", "tool(exec_command)"]] {
        sandbox.text(command);
        assert_eq!(lengths(), before, "{command:?}");
        assert!(fs::read_to_string(path).unwrap().contains("}   "));
        assert!(sandbox.text(&["transcript", "--raw", "--client-texts"]).len() < window.len() / 2);
    }
    sandbox.text(&["expand", "tool(exec_command)"]);
    assert!(fs::read(path).unwrap() == original);
    for _ in 0..3 {
        sandbox.text(&["undo"]);
        assert_eq!(lengths(), before);
    }
    assert!(fs::read(path).unwrap() == original);
    // Without numbers, no offsets are stored.
    let legacy = rollout(&sandbox, FORK);
    write_rows(&legacy, None, &conversation(&sandbox, FORK, "legacy"));
    sandbox.text(&["archive", "tool(exec_command)", "-s", FORK]);
    assert!(!fs::read_to_string(&legacy).unwrap().contains("} "));
}

#[test]
fn a_text_that_is_longer_than_its_row_is_refused() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    let text = "x".repeat(500);
    let outcome = sandbox.run(&["update", "13", &text]);
    assert_eq!(outcome.code, 1, "{}", outcome.all());
    assert!(outcome.stderr.contains("no row of this session may grow"), "{}", outcome.stderr);
    assert!(fs::read(path).unwrap() == original);
    sandbox.text(&["update", "5", &text]);
    sandbox.text(&["update", "5", &"y".repeat(900)]);
    sandbox.text(&["undo"]);
    sandbox.text(&["undo"]);
    assert!(fs::read(path).unwrap() == original);
}

/// Else the client could never resume the session again.
#[test]
fn a_row_that_is_added_to_a_numbered_session_has_the_next_number() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    let next = rows_of(path).len() as u64;
    sandbox.text(&["create", "one"]);
    sandbox.text(&["create", "two"]);
    let ordinals: Vec<Option<u64>> = rows_of(path)[next as usize..].iter().map(|row| row["ordinal"].as_u64()).collect();
    assert_eq!(ordinals, [Some(next), Some(next + 1)]);
    sandbox.text(&["undo"]);
    sandbox.text(&["undo"]);
    assert!(fs::read(path).unwrap() == original);
    let legacy = rollout(&sandbox, FORK);
    write_rows(&legacy, None, &conversation(&sandbox, FORK, "legacy"));
    sandbox.text(&["create", "one", "-s", FORK]);
    assert!(rows_of(&legacy).iter().all(|row| row["ordinal"].is_null()));
}

/// Else the client would send all of its context again.
#[test]
fn a_digest_in_a_numbered_session_repeats_what_the_client_knows_of_its_context() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    let next = rows_of(path).len();
    sandbox.text(&["compress", "--preset", "handoff"]);
    let added = rows_of(path).split_off(next);
    let kinds: Vec<&str> = added.iter().map(|row| row["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["compacted", "world_state", "world_state", "turn_context"]);
    assert!(added.iter().zip(next..).all(|(row, ordinal)| row["ordinal"] == ordinal), "{added:?}");
    assert_eq!(added[1]["payload"]["full"], true);
    assert_eq!(added[2]["payload"]["state"]["date"], "2026-11-23");
    let kept = added[0]["payload"]["replacement_history"].to_string();
    assert!(kept.contains("Ask first.") && kept.contains("AGENTS.md"), "{kept}");
    sandbox.text(&["undo"]);
    assert!(fs::read(path).unwrap() == original);
}

#[test]
fn a_session_that_a_client_has_locked_is_not_changed() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    let locks = sandbox.home.join(".codex/thread-writer-locks");
    fs::create_dir(&locks).unwrap();
    let file = locks.join(format!("{THREAD}.lock"));
    let client = fs::File::create(&file).unwrap();
    client.lock().unwrap();
    for command in [&["archive", "7"][..], &["archive", "7", "--live"], &["create", "a note"]] {
        let outcome = sandbox.run(command);
        assert_eq!(outcome.code, 3, "{command:?}: {}", outcome.all());
        assert!(outcome.stderr.contains("has the session") && outcome.stderr.contains("close the client"), "{}", outcome.stderr);
    }
    sandbox.text(&["archive", "7", "--dry-run"]);
    sandbox.text(&["pin", "7"]);
    assert!(fs::read(path).unwrap() == original);
    drop(client);
    sandbox.text(&["archive", "8"]);
    assert!(!file.exists());
}

/// Holds the lock of the client, and records that the requests of the session pass a proxy.
fn held(sandbox: &Sandbox) -> fs::File {
    let locks = sandbox.home.join(".codex/thread-writer-locks");
    fs::create_dir(&locks).unwrap();
    let client = fs::File::create(locks.join(format!("{THREAD}.lock"))).unwrap();
    client.lock().unwrap();
    sandbox.text(&["pin", "3"]);
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    store.execute("INSERT INTO wire_sessions VALUES (?1, ?2)", rusqlite::params![THREAD, std::process::id()]).unwrap();
    client
}

/// Appends a turn to a session, as the client does.
fn go_on(path: &Path) -> Vec<u8> {
    let first = rows_of(path).len() as u64;
    let turn = [message("user", "And now the garden."), message("assistant", "The garden is done.")];
    let (mut file, rows) = (fs::read(path).unwrap(), path.with_extension("later"));
    write_rows(&rows, Some(first), &turn);
    let later = fs::read(&rows).unwrap();
    fs::remove_file(rows).unwrap();
    file.extend_from_slice(&later);
    fs::write(path, file).unwrap();
    later
}

#[test]
fn a_change_of_a_locked_session_is_written_when_its_client_closes_it() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read(path).unwrap();
    sandbox.text(&["archive", "7"]);
    let expected = fs::read(path).unwrap();
    sandbox.text(&["undo"]);
    let client = held(&sandbox);
    let archived = sandbox.text(&["archive", "7"]);
    assert!(archived.contains("written to the file when Codex closes the session"), "{archived}");
    let again = sandbox.run(&["archive", "7"]);
    assert!(again.code == 3 && again.stderr.contains("operation 4 is not yet in the file"), "{}", again.all());
    sandbox.text(&["archive", "kind(tool_result) & ~7"]);
    let status = sandbox.text(&["status"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("2 operations are written to the file when Codex closes the session"), "{status}");
    let undone = sandbox.text(&["undo"]);
    assert!(undone.contains("operation 5"), "{undone}");
    assert_eq!(sandbox.json(&["status"], "aperture.status/2")["deferred_operations"], 1);
    assert_eq!(sandbox.run(&["undo", "5"]).code, 1);
    sandbox.text(&["verify"]);
    let later = go_on(path);
    assert!(fs::read(path).unwrap() == [&original[..], &later].concat(), "nothing is written");
    drop(client);
    sandbox.text(&["unpin", "3"]);
    assert_eq!(sandbox.json(&["status"], "aperture.status/2")["deferred_operations"], 0);
    assert!(fs::read(path).unwrap() == [&expected[..], &later].concat(), "exactly the same change");
    sandbox.text(&["verify"]);
    sandbox.text(&["undo", "4"]);
    assert!(fs::read(path).unwrap() == [&original[..], &later].concat());
}

#[test]
fn a_deferred_digest_keeps_the_turns_since() {
    for command in [&["compress", "--preset", "handoff"][..], &["create", "a note"]] {
        let sandbox = Sandbox::new();
        let path = &numbered(&sandbox);
        let original = fs::read(path).unwrap();
        let client = held(&sandbox);
        let deferred = sandbox.text(command);
        assert!(deferred.contains("written to the file when Codex closes the session"), "{deferred}");
        let later = go_on(path);
        let before = rows_of(path).len();
        drop(client);
        sandbox.text(&["unpin", "3"]);
        let changed = fs::read(path).unwrap();
        assert!(rows_of(path).len() > before, "{command:?}");
        assert!(changed != [&original[..], &later].concat(), "{command:?}");
        let sent = sandbox.text(&["transcript", "--raw"]);
        assert!(sent.contains("The garden is done."), "{sent}");
        sandbox.text(&["undo", "2"]);
        assert!(fs::read(path).unwrap() == [&original[..], &later].concat(), "{command:?}");
    }
}

#[test]
fn a_deferred_change_of_a_content_that_is_gone_is_dropped() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let client = held(&sandbox);
    sandbox.text(&["archive", "7"]);
    let rows = fs::read_to_string(path).unwrap();
    let cut: String = rows.split_inclusive('\n').take(5).collect();
    fs::write(path, &cut).unwrap();
    drop(client);
    let outcome = sandbox.run(&["create", "a note"]);
    assert!(outcome.stderr.contains("operation 2 was not written"), "{}", outcome.all());
    assert_eq!(sandbox.json(&["status"], "aperture.status/2")["deferred_operations"], 0);
    assert!(fs::read_to_string(path).unwrap().starts_with(&cut));
}

const FORK_OF_FORK: &str = "01a20619-1c36-7b22-8a00-c5d45e99f28d";

/// Writes a fork that continues from the first `bytes` of another session.
fn fork(sandbox: &Sandbox, thread: &str, parent: &str, bytes: usize, first: u64, rows: &[(&'static str, Value)]) -> PathBuf {
    let path = rollout(sandbox, thread);
    let base = json!({"thread_id": parent, "end_ordinal_exclusive": first, "end_byte_offset": bytes});
    let head = json!({"id": thread, "forked_from_id": parent, "cwd": sandbox.project.to_str().unwrap(),
        "cli_version": "0.169.0", "history_mode": "paginated", "history_base": base});
    write_rows(&path, Some(first), &[&[("session_meta", head)], rows].concat());
    path
}

/// A session, and a fork of it from before its second prompt.
fn forked(sandbox: &Sandbox) -> (PathBuf, PathBuf) {
    let parent = numbered(sandbox);
    let text = fs::read_to_string(&parent).unwrap();
    let bytes = text.split_inclusive('\n').take(12).map(str::len).sum();
    let own = [
        &[message("user", "Paint them.")][..],
        &call("call_9", "make paint", &lines("paint", 100)),
        &[message("assistant", "Painted.")],
    ];
    (parent, fork(sandbox, FORK, THREAD, bytes, 12, &own.concat()))
}

#[test]
fn a_fork_continues_from_the_rows_of_its_parent() {
    let sandbox = Sandbox::new();
    forked(&sandbox);
    let raw = |thread: &str| sandbox.text(&["transcript", "--raw", "--client-texts", "-s", thread]);
    let (parent, own) = (raw(THREAD), raw(FORK));
    let common = parent.split("Count them.").next().unwrap();
    assert!(own.starts_with(common), "{own}");
    assert!(own.contains("Paint them.") && own.contains("paint 99") && !own.contains("Count them."));
    let blocks =
        |thread: &str| sandbox.json(&["blocks", "-s", thread], "aperture.blocks/2")["blocks"].as_array().unwrap().clone();
    assert_eq!(blocks(FORK).len(), 12);
    // A fork of the fork, from all of it.
    let bytes = fs::metadata(rollout(&sandbox, FORK)).unwrap().len() as usize;
    fork(&sandbox, FORK_OF_FORK, FORK, bytes, 17, &[message("user", "Sell them.")]);
    let last = raw(FORK_OF_FORK);
    assert!(last.starts_with(own.trim_end()) && last.contains("Sell them."), "{last}");
}

/// The client refuses both.
#[test]
fn a_session_that_cannot_be_resumed_is_damaged() {
    let sandbox = Sandbox::new();
    let (parent, own) = forked(&sandbox);
    let damage = |thread: &str| sandbox.run(&["check", "--no-damage", "-s", thread]);
    assert_eq!((damage(THREAD).code, damage(FORK).code), (0, 0));
    let (whole, rows) = (fs::read_to_string(&parent).unwrap(), fs::read_to_string(&own).unwrap());
    fs::write(&parent, whole.split_inclusive('\n').take(11).collect::<String>()).unwrap();
    let told = |thread: &str| damage(thread).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = told(FORK);
    assert!(short.contains("it was forked from ends before the fork; the client cannot resume the session"), "{short}");
    assert!(sandbox.text(&["status", "-s", FORK]).contains("parent session too short"));
    fs::write(&parent, &whole).unwrap();
    let last = rows.lines().last().unwrap();
    for (row, expected) in
        [(last.replace("\"ordinal\":16,", ""), 1), (format!("{}\n{last}", last.replace("\"ordinal\":16,", "")), 0)]
    {
        fs::write(&own, format!("{}{row}\n", &rows[..rows.len() - last.len() - 1])).unwrap();
        let checked = told(FORK);
        assert_eq!(damage(FORK).code, expected, "{checked}");
        let is_told = checked.contains("the last row has no ordinal; the client cannot resume the session");
        assert_eq!(is_told, expected == 1, "{checked}");
    }
}

#[test]
fn the_subagents_of_a_session_are_checked_and_redacted_with_it() {
    let sandbox = Sandbox::new();
    numbered(&sandbox);
    let token = format!("ghp_{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    let started = |thread: &str, by: &str, output: &str| {
        let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": by, "depth": 1}}});
        let head = json!({"id": thread, "cwd": sandbox.project.to_str().unwrap(), "cli_version": "0.144.2", "source": source});
        let path = rollout(&sandbox, thread);
        write_rows(&path, None, &[&[("session_meta", head)], &call("call_1", "printenv", output)[..]].concat());
        path
    };
    let of_session = started(FORK, THREAD, "nothing");
    let below = started(FORK_OF_FORK, FORK, &format!("GITHUB_TOKEN={token}"));
    let checked = sandbox.run(&["check", "--no-secrets", "-s", THREAD]);
    assert!(checked.code == 1 && checked.stdout.contains(FORK_OF_FORK), "{}", checked.stdout);
    let before = fs::read(&of_session).unwrap();
    let redacted = sandbox.text(&["redact", "--whole-file", "-s", THREAD]);
    assert!(redacted.contains(&format!("subagent {FORK_OF_FORK}")), "{redacted}");
    assert!(!fs::read_to_string(&below).unwrap().contains(&token) && fs::read(&of_session).unwrap() == before);
    assert_eq!(sandbox.run(&["check", "--no-secrets", "-s", THREAD]).code, 0);
}

#[test]
fn a_pack_names_its_session_by_a_part_that_sessions_of_the_same_minute_do_not_have() {
    let sandbox = Sandbox::new();
    numbered(&sandbox);
    let other = THREAD.replacen(&THREAD[9..13], "ffff", 1);
    write_rows(&rollout(&sandbox, &other), None, &conversation(&sandbox, &other, "legacy"));
    let pack = sandbox.text(&["pack", "--budget", "4k", "-s", THREAD]);
    let name = pack.split("aperture show N -s ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(sandbox.text(&["status", "-s", name]).contains(&THREAD[..8]), "{name}");
}

#[test]
fn inherited_blocks_are_changed_in_the_parent() {
    let sandbox = Sandbox::new();
    let (parent, own) = forked(&sandbox);
    let (before, own_before) = (fs::read(&parent).unwrap(), fs::read(&own).unwrap());
    for command in [&["archive", "5", "-s", FORK][..], &["update", "5", "short", "-s", FORK]] {
        let outcome = sandbox.run(command);
        assert_eq!(outcome.code, 1, "{}", outcome.all());
        assert!(outcome.stderr.contains(&format!("block 5 is inherited from the session {THREAD}")), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("-s {THREAD}")), "{}", outcome.stderr);
    }
    assert!(fs::read(&parent).unwrap() == before && fs::read(&own).unwrap() == own_before);
    let mixed = sandbox.text(&["archive", "tool(exec_command)", "-s", FORK]);
    assert!(mixed.contains("4 blocks are inherited"), "{mixed}");
    assert!(fs::read(&parent).unwrap() == before);
    let length = |path: &Path| fs::metadata(path).unwrap().len() as usize;
    assert_eq!(length(&own), own_before.len());
    sandbox.text(&["create", "a note", "-s", FORK]);
    assert_eq!(rows_of(&own).last().unwrap()["ordinal"], 17);
    sandbox.text(&["undo", "-s", FORK]);
    sandbox.text(&["undo", "-s", FORK]);
    assert!(fs::read(&own).unwrap() == own_before);
    // In the parent it is changed for the fork as well.
    let length_sent = || sandbox.text(&["transcript", "--raw", "-s", FORK]).len();
    let all = length_sent();
    sandbox.text(&["archive", "5", "-s", THREAD]);
    assert_eq!(length(&parent), before.len());
    assert!(length_sent() < all - 1000);
    assert!(sandbox.text(&["transcript", "--raw", "-s", FORK]).contains("[@5 | archived from "));
    assert!(fs::read(&own).unwrap() == own_before);
}

#[test]
fn a_fork_is_read_without_its_parent() {
    let sandbox = Sandbox::new();
    let (parent, _) = forked(&sandbox);
    fs::remove_file(parent).unwrap();
    let outcome = sandbox.run(&["transcript", "--raw", "-s", FORK]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stdout.contains("Paint them.") && !outcome.stdout.contains("widgets"));
    assert!(outcome.stderr.contains(&format!("a fork of {THREAD}, which was not found")), "{}", outcome.stderr);
    // A ring of forks ends.
    fork(&sandbox, THREAD, FORK, 100_000, 1, &[message("user", "Round and round.")]);
    assert_eq!(sandbox.run(&["status", "-s", FORK]).code, 0);
}

#[test]
fn a_digest_of_a_fork_holds_what_it_inherits() {
    let sandbox = Sandbox::new();
    let (parent, own) = forked(&sandbox);
    let (before, own_before) = (fs::read(&parent).unwrap(), fs::read(&own).unwrap());
    sandbox.text(&["compress", "--preset", "handoff", "--keep-from", "call_9", "-s", FORK]);
    let history = rows_of(&own)[5]["payload"]["replacement_history"].to_string();
    assert!(history.contains("Ask first.") && history.contains("Find the widgets") && history.contains("call_9"), "{history}");
    assert!(fs::read(&parent).unwrap() == before);
    sandbox.text(&["undo", "-s", FORK]);
    assert!(fs::read(&own).unwrap() == own_before);
}

/// A current client cuts the middle out of long outputs when it resumes, by its model. Older ones sent them whole: so their bills say.
#[test]
fn an_output_is_shown_as_it_is_sent_and_counts_as_it_was_billed() {
    let sandbox = Sandbox::new();
    let long = lines("widget", 2000);
    let with = |thread: &str, model: &str, mode: &str| {
        let mut rows = conversation(&sandbox, thread, mode);
        rows[4].1["model"] = json!(model);
        rows[7].1["output"] = json!(long);
        let path = rollout(&sandbox, thread);
        write_rows(&path, (mode == "paginated").then_some(0), &rows);
        path
    };
    let sent = |thread: &str| {
        let transcript = sandbox.json(&["transcript", "--raw", "--client-texts", "-s", thread], "aperture.transcript/2");
        let parts = transcript["messages"].as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
        let part = parts.clone().find(|part| part["block"] == 5).unwrap();
        (part["content"].as_str().unwrap().to_owned(), part["tokens"].clone())
    };
    assert!(long.len() > 50_000);
    let old = with(THREAD, "gpt-5.4", "legacy");
    let (content, few) = sent(THREAD);
    assert!(content.len() < 12_050 && content.contains(" chars truncated…"), "{}", content.len());
    assert!(content.starts_with(&long[..6000]) && content.ends_with(&long[long.len() - 6000..]));
    with(FORK, "gpt-5.5-codex", "paginated");
    let (content, more) = sent(FORK);
    assert!(content.len() < 48_050 && content.contains(" tokens truncated…"), "{}", content.len());
    let value = |tokens: &Value| tokens["value"].as_f64().unwrap();
    assert!(value(&more) > 3.0 * value(&few), "{more} {few}");
    // The content of the file is shown, and restored.
    assert_eq!(sandbox.text(&["show", "5", "--raw", "-s", THREAD]).trim(), long.trim());
    let whole = value(&sandbox.json(&["show", "5", "-s", THREAD], "aperture.show/2")["blocks"][0]["tokens"]);
    let original = fs::read(&old).unwrap();
    let report = sandbox.json(&["archive", "5", "-s", THREAD], "aperture.change/2");
    let saved = report["tokens_before"]["value"].as_f64().unwrap() - report["tokens_after"]["value"].as_f64().unwrap();
    assert!(saved > 3.0 * value(&few) && saved <= whole, "{saved} of {whole}");
    sandbox.text(&["undo", "-s", THREAD]);
    assert!(fs::read(&old).unwrap() == original);
}

/// A digest leaves no bill in the window; an output that the client cuts was billed whole.
#[test]
fn a_change_costs_what_the_next_report_says() {
    let window = |sandbox: &Sandbox| sandbox.json(&["status"], "aperture.status/2")["tokens"]["value"].as_f64().unwrap();
    let check = |sandbox: &Sandbox, line: &str| {
        let saved = |words: &[&str]| {
            let change = sandbox.json(words, "aperture.change/2");
            change["tokens_before"]["value"].as_f64().unwrap() - change["tokens_after"]["value"].as_f64().unwrap()
        };
        let before = window(sandbox);
        let said = saved(&line.split(' ').collect::<Vec<_>>());
        let seen = before - window(sandbox);
        assert!(said.abs() > 20.0 && (said - seen).abs() <= 2.0, "{line}: {said}, then {seen} of {before}");
        let back = -saved(&["undo"]);
        assert!((said - back).abs() <= 2.0 && (window(sandbox) - before).abs() < 0.5, "{line}: {said}, {back} back");
    };
    for home in ["codex-recorded-tools", "codex-tools"] {
        let sandbox = Sandbox::of(home);
        check(&sandbox, "compress --preset handoff");
        check(&sandbox, "archive larger(100)");
    }
    let sandbox = Sandbox::new();
    let mut rows = conversation(&sandbox, THREAD, "legacy");
    rows[4].1["model"] = json!("gpt-5.4");
    rows[7].1["output"] = json!(lines("widget", 2000));
    for (_, bill) in rows.iter_mut().filter(|(kind, _)| *kind == "event_msg") {
        bill["info"]["last_token_usage"]["input_tokens"] = json!(40_000);
    }
    write_rows(&rollout(&sandbox, THREAD), None, &rows);
    check(&sandbox, "compress 5 --level minimal");
}

/// A placeholder can be longer than the text it replaces.
#[test]
fn a_short_credential_is_taken_out_of_a_row_that_cannot_grow() {
    let sandbox = Sandbox::new();
    let mut rows = conversation(&sandbox, THREAD, "paginated");
    rows[7].1["output"] = json!("postgres://app:s3cr3tpw@db.internal:5432/x");
    let path = &rollout(&sandbox, THREAD);
    write_rows(path, Some(0), &rows);
    let before = fs::read_to_string(path).unwrap();
    sandbox.text(&["redact", "5"]);
    let after = fs::read_to_string(path).unwrap();
    assert!(after.contains("postgres://app:********@db.internal"), "{after}");
    assert_eq!(after.len(), before.len());
    assert!(sandbox.text(&["redact", "5"]).contains("nothing to do"));
    sandbox.text(&["undo"]);
    assert_eq!(fs::read_to_string(path).unwrap(), before);
}

/// The client records the offsets of rows that it appended after a note.
#[test]
fn a_note_in_front_of_rows_of_the_client_leaves_their_places() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read_to_string(path).unwrap();
    sandbox.text(&["create", "a note"]);
    let noted = fs::read_to_string(path).unwrap();
    let next = noted.lines().count() as u64;
    let (kind, payload) = message("user", "Go on.");
    let row = |ordinal: u64| {
        format!(
            "{{\"timestamp\":\"2026-11-23T03:00:00.000Z\",\"ordinal\":{ordinal},\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    fs::write(path, format!("{noted}{}", row(next))).unwrap();
    let undone = sandbox.text(&["undo"]);
    assert!(undone.contains("the client stores the offsets"), "{undone}");
    let now = fs::read_to_string(path).unwrap();
    let blank = format!("{:1$}\n", "", noted.len() - original.len() - 1);
    assert_eq!(now, format!("{original}{blank}{}", row(next)));
    assert!(!sandbox.text(&["transcript", "--raw"]).contains("a note"));
    assert_eq!(sandbox.run(&["verify"]).code, 0);
    sandbox.text(&["redo"]);
    assert_eq!(fs::read_to_string(path).unwrap(), format!("{noted}{}", row(next)));
    // A row that is added again after new rows has a new number.
    fs::write(path, &original).unwrap();
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    sandbox.text(&["create", "a note"]);
    sandbox.text(&["undo"]);
    let original = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{original}{}", row(next - 1))).unwrap();
    sandbox.text(&["redo"]);
    let rows = rows_of(path);
    let ordinals: Vec<u64> = rows.iter().map(|row| row["ordinal"].as_u64().unwrap()).collect();
    assert_eq!(ordinals, (0..rows.len() as u64).collect::<Vec<_>>());
    assert!(rows.last().unwrap().to_string().contains("a note"));
}

#[test]
fn a_note_that_a_fork_inherits_leaves_its_place() {
    let sandbox = Sandbox::new();
    let path = &numbered(&sandbox);
    let original = fs::read_to_string(path).unwrap();
    sandbox.text(&["create", "a note"]);
    let bytes = fs::metadata(path).unwrap().len() as usize;
    fork(&sandbox, FORK, THREAD, bytes, original.lines().count() as u64 + 1, &[message("user", "Go on.")]);
    sandbox.text(&["undo", "-s", THREAD]);
    let now = fs::read_to_string(path).unwrap();
    assert_eq!((now.len(), now.trim_end()), (bytes, original.trim_end()));
    assert!(!sandbox.text(&["transcript", "--raw", "-s", FORK]).contains("a note"));
    sandbox.text(&["redo", "-s", THREAD]);
    assert!(sandbox.text(&["transcript", "--raw", "-s", FORK]).contains("a note"));
}

#[test]
fn a_rollout_that_the_client_has_compressed_is_read_and_not_changed() {
    let homes = crate::sandbox::repository().join("fixtures/codex");
    let mut names: Vec<PathBuf> = fs::read_dir(homes).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.is_dir());
    names.sort();
    for name in crate::sandbox::sample(names, 2) {
        let sandbox = Sandbox::of(name.file_name().unwrap().to_str().unwrap());
        let commands: Vec<Vec<String>> = sandbox
            .rollouts()
            .iter()
            .flat_map(|path| {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let id = &stem[stem.len() - 36..];
                ["blocks", "transcript", "status", "log"].map(|command| vec![command.to_owned(), "-s".to_owned(), id.to_owned()])
            })
            .chain([vec!["usage".to_owned()], vec!["memory".to_owned(), "learn".to_owned(), "--dry-run".to_owned()]])
            .collect();
        let run = |sandbox: &Sandbox| -> Vec<String> {
            commands.iter().map(|line| sandbox.run(&line.iter().map(String::as_str).collect::<Vec<_>>()).all()).collect()
        };
        let plain = run(&sandbox);
        let paths = sandbox.rollouts();
        for path in &paths {
            let bytes = fs::read(path).unwrap();
            // As the client writes it: without the length of the content.
            let packed = zstd::stream::encode_all(&bytes[..], 3).unwrap();
            let to = path.with_extension("jsonl.zst");
            fs::write(&to, packed).unwrap();
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            fs::File::options().append(true).open(&to).unwrap().set_modified(modified).unwrap();
            fs::remove_file(path).unwrap();
        }
        for (now, before) in run(&sandbox).iter().zip(&plain) {
            assert_eq!(now.replace(".zst", ""), *before);
        }
        // A second time from the cache.
        for (now, before) in run(&sandbox).iter().zip(&plain) {
            assert_eq!(now.replace(".zst", ""), *before);
        }
        let file = paths[0].with_extension("jsonl.zst");
        let bytes = fs::read(&file).unwrap();
        for arguments in [&["archive", "all"][..], &["archive", "all", "--dry-run"], &["redact", "all"]] {
            let outcome = sandbox.run(&[arguments, &["-s", file.to_str().unwrap()]].concat());
            assert_eq!(outcome.code, 1, "{}", outcome.all());
            assert!(outcome.stderr.contains("compressed") && outcome.stderr.contains("hint: "), "{}", outcome.stderr);
        }
        let all = sandbox.run(&["archive", "all", "--all"]);
        assert!(all.code == 0 && all.stdout.contains("nothing to do"), "{}", all.all());
        assert!(fs::read(&file).unwrap() == bytes);
        // The client unpacks it to continue it: only that file counts then.
        fs::write(&paths[0], zstd::stream::decode_all(&bytes[..]).unwrap()).unwrap();
        let listed = sandbox.json(&["sessions"], "aperture.sessions/2");
        let listed = listed["sessions"].as_array().unwrap().clone();
        assert_eq!(listed.len(), paths.len(), "{listed:?}");
        // A damaged one is named, and stops no other.
        fs::remove_file(&paths[0]).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let outcome = sandbox.run(&["blocks", "-s", file.to_str().unwrap()]);
        assert!(outcome.code == 1 && outcome.stderr.contains("compressed content cannot be read"), "{}", outcome.all());
    }
}

#[test]
fn the_output_of_a_command_that_runs_on_is_that_of_the_command() {
    let sandbox = Sandbox::new();
    let poll = |id: &str, output: &str| {
        let arguments = json!({"session_id": 7, "chars": ""}).to_string();
        let started = json!({"type": "function_call", "name": "write_stdin", "arguments": arguments, "call_id": id});
        let result = json!({"type": "function_call_output", "call_id": id, "output": output});
        [("response_item", started), ("response_item", result)]
    };
    let runs = "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n   Compiling shop\n";
    let failed = "Wall time: 9.0 seconds\nProcess exited with code 101\nOutput:\ntest result: FAILED. 3 passed; 1 failed\n";
    let cwd = sandbox.project.to_str().unwrap();
    let mut rows = vec![("session_meta", json!({"id": THREAD, "cwd": cwd})), message("user", "Do the tests of the shop pass?")];
    rows.extend(call("call_1", "cargo test -p shop", runs));
    rows.extend(poll("call_2", runs));
    rows.extend(poll("call_3", failed));
    rows.push(message("assistant", "One of them fails."));
    rows.push(message("user", "Thanks, run them once more in the background."));
    // A command that runs on has not succeeded.
    rows.extend(call("call_4", "cargo test -p shop", runs));
    rows.push(message("assistant", "They run."));
    write_rows(&rollout(&sandbox, THREAD), None, &rows);
    let labels = sandbox.text(&["blocks", "tool(write_stdin)"]);
    assert_eq!(labels.matches("cargo test -p shop").count(), 4, "{labels}");
    let summary = sandbox.json(&["summary"], "aperture.summary/2");
    let outcomes = |turn: usize| summary["turns"][turn]["outcomes"].clone();
    assert_eq!(outcomes(0)[0], json!({"kind": "tests", "passed": 3, "failed": 1}), "{}", outcomes(0));
    assert_eq!(outcomes(1)[0]["kind"], "answered", "{}", outcomes(1));
    assert!(!sandbox.text(&["blocks", "--json"]).contains("succeeded"), "the failed run is no success yet");
}

/// A compaction keeps the prompts before it: they are not said again.
#[test]
fn prompts_that_a_compaction_repeats_are_said_once() {
    let sandbox = Sandbox::new();
    let mut rows = conversation(&sandbox, THREAD, "legacy");
    let item = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let kept =
        json!({"message": "Widgets were counted.", "replacement_history": [item("Find the widgets."), item("Count them.")]});
    rows.extend([message("user", "Paint the first widget blue."), ("compacted", kept)]);
    rows.extend(call("call_6", "make paint", "painted"));
    rows.push(message("assistant", "The widget is blue."));
    write_rows(&rollout(&sandbox, THREAD), None, &rows);
    let summary: Value = serde_json::from_str(&sandbox.run(&["summary", THREAD, "--json"]).stdout).unwrap();
    let points = summary["turns"].as_array().unwrap().iter().flat_map(|turn| turn["summary"]["points"].as_array().unwrap());
    assert_eq!(points.filter(|point| point["kind"] == "replied").count(), 0, "{summary}");
    let pack = sandbox.run(&["pack", THREAD, "--budget", "2k"]).stdout;
    let first = pack.lines().find(|line| line.contains("Find the widgets.")).unwrap();
    assert!(first.starts_with("#3 ") && pack.matches("Count them.").count() == 1, "{pack}");
}

/// The client knows its own texts by their tags.
#[test]
fn the_report_of_a_subagent_is_shortened_between_its_tags() {
    let sandbox = Sandbox::new();
    let path = &rollout(&sandbox, THREAD);
    let mut rows = conversation(&sandbox, THREAD, "legacy");
    let report = json!({"agent_path": "a1", "status": {"completed": lines("finding", 200)}});
    let texts = [
        format!("<subagent_notification>\n{report}\n</subagent_notification>"),
        format!(
            "<user_shell_command>\n<command>\nmake all\n</command>\n<result>\n{}</result>\n</user_shell_command>",
            lines("step", 200)
        ),
    ];
    let first = rows.len();
    rows.extend(texts.iter().map(|text| message("user", text)));
    rows.extend([message("assistant", "Both are read."), message("user", "Go on."), message("assistant", "Done.")]);
    write_rows(path, None, &rows);
    let original = fs::read(path).unwrap();
    sandbox.text(&["compress", "--preset", "aggressive", "--keep-turns", "1"]);
    let after = rows_of(path);
    for (place, text) in texts.iter().enumerate() {
        let left = after[first + place]["payload"]["content"][0]["text"].as_str().unwrap();
        let (tag, _) = text.split_once('\n').unwrap();
        assert!(left.starts_with(&format!("{tag}\n[@")) && left.ends_with(&tag.replace('<', "</")), "{left}");
        assert!(left.len() * 2 < text.len() && !left.contains("\\n"), "{left}");
    }
    assert!(sandbox.text(&["compress", "--preset", "aggressive", "--keep-turns", "1"]).contains("nothing to do"));
    sandbox.text(&["undo"]);
    assert!(fs::read(path).unwrap() == original);
}
