//! The commands of the model: execution, approval, and that each is counted once.

use crate::hooks;
use crate::sandbox::{Sandbox, all_or, directory_in, files_ending, start_with};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

pub const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Returns a home with one session, without its subagents.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::of("tools-and-spill");
    fs::remove_dir_all(sandbox.session_file(ID).with_extension("")).unwrap();
    sandbox
}

/// Appends a turn with a text of the model.
pub fn say(sandbox: &Sandbox, text: &str) {
    let [user, assistant] = turn(sandbox, text);
    append(&sandbox.session_file(ID), &[user, assistant]);
}

/// Returns the rows of a turn with a text of the model, as the client writes them later.
fn turn(sandbox: &Sandbox, text: &str) -> [Value; 2] {
    turn_behind(sandbox, &[], text)
}

/// Returns such a turn after rows that the client has to write first.
fn turn_behind(sandbox: &Sandbox, queued: &[Value], text: &str) -> [Value; 2] {
    let rows = fs::read_to_string(sandbox.session_file(ID)).unwrap();
    let mut rows: Vec<Value> = rows.lines().filter_map(|row| serde_json::from_str(row).ok()).collect();
    rows.extend_from_slice(queued);
    let last = rows.iter().rev().find(|row| row["type"] == "assistant" && row["isSidechain"] == false).unwrap();
    let (number, parent) = (rows.len(), &last["uuid"]);
    let [prompt, answer] = ["aaaaaaaa", "bbbbbbbb"].map(|start| format!("{start}-0000-4000-8000-{number:012}"));
    let common = |kind: &str, id: &str, parent: &Value, second: u32| {
        json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": id, "sessionId": ID,
            "cwd": "/home/dev/shop", "version": "2.1.330", "timestamp": format!("2026-11-21T23:50:{second:02}.000Z"),
        })
    };
    let mut user = common("user", &prompt, parent, 0);
    user["message"] = json!({"role": "user", "content": "go on"});
    let mut assistant = common("assistant", &answer, &json!(prompt), 5);
    assistant["message"] = last["message"].clone();
    assistant["message"]["id"] = json!(format!("msg_{number}"));
    assistant["message"]["content"] = json!([{"type": "text", "text": text}]);
    [user, assistant]
}

fn append(path: &Path, rows: &[Value]) {
    let mut text = fs::read_to_string(path).unwrap();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    rows.iter().for_each(|row| text.push_str(&format!("{row}\n")));
    fs::write(path, text).unwrap();
}

/// Returns the status of each command and the answer to the model.
fn obeyed(sandbox: &Sandbox) -> Vec<(String, String)> {
    let report = sandbox.json(&["obey"], "aperture.obey/2");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["commands"].as_array().unwrap().iter().map(|command| (text(&command["status"]), text(&command["answer"]))).collect()
}

fn statuses(sandbox: &Sandbox) -> Vec<String> {
    obeyed(sandbox).into_iter().map(|(status, _)| status).collect()
}

/// The commands in the log, the newest first, each with who gave it.
fn log(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.json(&["log"], "aperture.log/2");
    let operations = log["operations"].as_array().unwrap().iter();
    operations.map(|row| format!("{} {}", row["actor"].as_str().unwrap(), row["command"].as_str().unwrap())).collect()
}

#[test]
fn screens_of_the_model_commands() {
    let sandbox = sandbox();
    let before = fs::read(sandbox.session_file(ID)).unwrap();
    say(
        &sandbox,
        "I tidy up, not by @pin(1):\n@archive(16|19, reason: read) @compress(24, minimal)\n\n- @pin(38) @pin(20)\n- @expand(412), \
         @achive(3)\n\n> @pin(2)\n\n@recall(nothing at all)\n@create(\"the tests need make db\")",
    );
    let lines = [
        "obey --dry-run",
        "log",
        "inbox",
        "obey",
        "obey",
        "inbox",
        "approve 1 --dry-run",
        "approve 1",
        "approve 1",
        "approve 99",
        "approve",
        "deny 2 --reason 'still needed'",
        "inbox --all",
        "log",
        "obey --tell",
        "obey --tell",
        "undo",
        "log",
        "obey",
    ];
    sandbox.snapshot("obeying-screens", &lines);
    sandbox.done("restore original");
    assert!(fs::read(sandbox.session_file(ID)).unwrap().starts_with(&before), "all of it can be taken back");
}

#[test]
fn reports_are_json() {
    let sandbox = sandbox();
    say(&sandbox, "@archive(16) @pin(19)");
    let looked = sandbox.json(&["obey", "--dry-run"], "aperture.obey/2");
    assert_eq!(
        (&looked["agent"], &looked["dry_run"], &looked["commands"][0]["number"]),
        (&"Claude".into(), &true.into(), &Value::Null)
    );
    let report = sandbox.json(&["obey"], "aperture.obey/2");
    assert_eq!(report["commands"][1]["change"]["marks"], json!([19]));
    let inbox = sandbox.json(&["inbox"], "aperture.inbox/2");
    assert_eq!((&inbox["proposals"][0]["number"], &inbox["proposals"][0]["change"]["dry_run"]), (&1.into(), &true.into()));
    assert_eq!(sandbox.json(&["approve", "1"], "aperture.obey/2")["commands"][0]["status"], "done");
    let log = sandbox.json(&["log"], "aperture.log/2");
    assert_eq!(log["turns"][0]["text"], "Claude archived 1 block and pinned 1");
    let told = sandbox.json(&["obey", "--tell"], "aperture.tell/1");
    assert!(told["text"].as_str().unwrap().starts_with("aperture: @archive(16): 1 block archived, −"), "{told}");
}

#[test]
fn each_command_counts_once() {
    let sandbox = sandbox();
    say(&sandbox, "@pin(16) @create(\"one\") @pin(19)");
    let runs: Vec<_> = (0..4).map(|_| sandbox.command(&["obey"]).spawn().unwrap()).collect();
    for run in runs {
        assert!(run.wait_with_output().unwrap().status.success());
    }
    let once = ["model @pin(19)", "model @create(\"one\")", "model @pin(16)"];
    assert_eq!(log(&sandbox), once);
    assert_eq!(statuses(&sandbox), [""; 0]);
    // A fork keeps the identities of the rows.
    let fork = sandbox.session("22222222-2222-4222-8222-222222222222", fs::read(sandbox.session_file(ID)).unwrap(), 9);
    let report = sandbox.json(&["obey", "-s", "2222"], "aperture.obey/2");
    assert_eq!((&report["session"], &report["commands"]), (&"22222222-2222-4222-8222-222222222222".into(), &json!([])));
    assert_eq!(sandbox.done("log -s 2222"), "no operations on this session\n");
    fs::remove_file(fork).unwrap();
    // An undone command is not executed again.
    sandbox.done("undo");
    assert_eq!(statuses(&sandbox), [""; 0]);
    say(&sandbox, "@pin(19)");
    assert_eq!(statuses(&sandbox), ["done"]);
}

#[test]
fn commands_written_before_the_install_do_not_count() {
    let sandbox = sandbox();
    say(&sandbox, "@pin(16)");
    say(&sandbox, "@pin(19)");
    sandbox.done("obey");
    assert_eq!(log(&sandbox), ["model @pin(19)"]);
    // From then on every turn counts, also one without a check.
    say(&sandbox, "@pin(20)");
    say(&sandbox, "@pin(22)");
    sandbox.done("obey");
    assert_eq!(log(&sandbox)[..2], ["model @pin(22)", "model @pin(20)"]);
}

#[test]
fn only_the_model_itself_counts() {
    let sandbox = sandbox();
    say(&sandbox, "nothing");
    let path = sandbox.session_file(ID);
    let rows = fs::read_to_string(&path).unwrap();
    let last: Value = serde_json::from_str(rows.lines().next_back().unwrap()).unwrap();
    let id = "cccccccc-0000-4000-8000-000000000001";
    let mut subagent = last.clone();
    subagent["isSidechain"] = json!(true);
    subagent["uuid"] = json!(id);
    subagent["message"]["id"] = json!("msg_sub");
    subagent["message"]["content"][0]["text"] = json!("@pin(16)");
    let mut user = last;
    user["type"] = json!("user");
    user["uuid"] = json!("cccccccc-0000-4000-8000-000000000002");
    user["message"] = json!({"role": "user", "content": "@pin(16)"});
    append(&path, &[subagent, user]);
    assert_eq!(statuses(&sandbox), [""; 0]);
    assert!(!sandbox.home.join(".aperture/store.db").exists(), "nothing was asked for, so nothing is kept");
}

#[test]
fn a_text_that_was_changed_is_not_what_the_model_wrote() {
    let sandbox = sandbox();
    say(&sandbox, "nothing");
    let blocks = sandbox.json(&["blocks", "all"], "aperture.blocks/2");
    let last = blocks["blocks"].as_array().unwrap().len().to_string();
    sandbox.done(&format!("update {last} '@pin(16)'"));
    assert_eq!(statuses(&sandbox), [""; 0]);
}

#[test]
fn blocks_marked_by_the_user_are_not_dropped() {
    let sandbox = sandbox();
    sandbox.settings("[model]\narchive = 'auto'\ncompress = 'auto'\nupdate = 'auto'\n");
    sandbox.done("pin 16");
    sandbox.done("focus 19");
    say(
        &sandbox,
        "@unpin(16) @archive(16) @compress(19, minimal) @update(16, \"x\") @update(19, \"x\") @focus(24) @archive(19|20..23)",
    );
    let before = fs::read(sandbox.session_file(ID)).unwrap();
    let answers = obeyed(&sandbox);
    let expected = [
        ("refused", "block 16 was pinned by the user; only the user can unpin it"),
        ("refused", "nothing to do; skipped #16 (pinned)"),
        ("refused", "nothing to do; skipped #19 (focused)"),
        ("refused", "block 16 is pinned"),
        ("refused", "block 19 is focused by the user"),
        ("done", "1 block focused"),
    ];
    for ((status, answer), expected) in answers.iter().zip(expected) {
        assert_eq!((status.as_str(), answer.as_str()), expected);
    }
    assert!(answers[6].1.contains("skipped #19 (focused)"), "{answers:?}");
    sandbox.done("undo");
    sandbox.done("undo");
    assert!(fs::read(sandbox.session_file(ID)).unwrap() == before);
    // The model may release only its own pins and marks.
    sandbox.done("focus 19");
    say(&sandbox, "@pin(24) @focus(20)");
    say(&sandbox, "@unpin(24) @archive(24) @unfocus(focused)");
    assert_eq!(statuses(&sandbox), ["done"; 5]);
    say(&sandbox, "@pin(16, top) @unpin(16) @focus(19) @unfocus(19)");
    assert_eq!(statuses(&sandbox), ["done", "refused", "done", "refused"]);
    // A block that the user unpinned, and that the model pins again, is the model's own.
    sandbox.done("unpin 16");
    say(&sandbox, "@pin(16) @unpin(16)");
    assert_eq!(statuses(&sandbox), ["done", "done"]);
}

#[test]
fn the_settings_say_what_it_may_do() {
    let sandbox = sandbox();
    sandbox.settings("[model]\ncommands_per_turn = 2\npin = 'deny'\narchive = 'auto'\n");
    say(&sandbox, "@pin(16) @focus(16) @archive(19) @focus(24) @focus(20)");
    assert_eq!(statuses(&sandbox), ["denied", "done", "done", "waiting", "waiting"]);
    let told = sandbox.done("obey --tell");
    assert!(told.contains("@pin(16) is denied: the user's settings deny @pin"), "{told}");
    assert!(told.contains("@focus(24) needs the user's approval: more than 2 commands in one turn"), "{told}");
    // The model can write in the project.
    sandbox.write("aperture.toml", "[model]\npin = 'auto'\nupdate = 'auto'\nfocus = 'approve'\ncommands_per_turn = 99\n");
    say(&sandbox, "@pin(16) @update(24, \"x\") @focus(38)");
    assert_eq!(statuses(&sandbox), ["denied", "waiting", "waiting"]);
    sandbox.write("aperture.toml", "[model]\npin = 'perhaps'\n");
    assert_eq!(sandbox.enter("obey").code, 2);
    // From another directory, the settings of the session's own project hold too.
    fs::remove_file(sandbox.project.join("aperture.toml")).unwrap();
    let own = sandbox.write("own/aperture.toml", "[model]\nfocus = 'deny'\n");
    let rows = fs::read_to_string(sandbox.session_file(ID)).unwrap();
    fs::write(sandbox.session_file(ID), rows.replace("/home/dev/shop", &own.parent().unwrap().to_string_lossy())).unwrap();
    say(&sandbox, "@focus(16)\n@create(\"a note\")");
    assert_eq!(statuses(&sandbox), ["denied", "done"]);
}

#[test]
fn an_approval_in_an_open_session_needs_live() {
    let sandbox = sandbox();
    sandbox.write("aperture.toml", "[model]\narchive = 'approve'\npin = 'approve'\n");
    say(&sandbox, "@archive(16) @pin(24)");
    sandbox.open_in_client();
    assert_eq!(statuses(&sandbox), ["waiting"; 2]);
    assert!(sandbox.done("inbox").contains("aperture approve 1 --live"));
    let before = fs::read(sandbox.session_file(ID)).unwrap();
    expect![[r#"
        error: cannot approve 1
        because: a client has the session 11111111-1111-4111-8111-111111111111 open and does not read it again automatically
        hint: close the client, or use --live and then type /resume 11111111-1111-4111-8111-111111111111 in it
        exit code 3
    "#]]
    .assert_eq(&sandbox.enter("approve 2 1").all());
    assert_eq!(fs::read(sandbox.session_file(ID)).unwrap(), before);
    let waiting = || sandbox.json(&["inbox"], "aperture.inbox/2")["proposals"].as_array().unwrap().len();
    assert_eq!(waiting(), 2, "none of them is executed");
    sandbox.done("approve 2");
    let said = sandbox.done("approve 1 --live");
    assert!(said.contains("takes effect after /resume 11111111-1111-4111-8111-111111111111"), "{said}");
    assert_eq!(waiting(), 0);
}

#[test]
fn an_answer_is_pending_only_until_the_client_reads_the_file() {
    let sandbox = sandbox();
    sandbox.write("aperture.toml", "[model]\narchive = 'approve'\n");
    say(&sandbox, "@archive(16) @archive(19)");
    sandbox.open_in_client();
    assert_eq!(statuses(&sandbox), ["waiting"; 2]);
    assert!(!sandbox.done("inbox").contains("until then you"), "the inbox is for the user");
    sandbox.done("obey --tell");
    let pending =
        "(takes effect after /resume 11111111-1111-4111-8111-111111111111; until then you still receive the content as before)";
    assert!(!sandbox.done("approve 1 --live").contains("until then you"), "the report is for the user");
    let told = sandbox.done("obey --tell");
    assert!(told.contains("1 block archived") && told.contains(pending), "{told}");
    // The client reads the file before the next prompt.
    sandbox.done("approve 2 --live");
    start(&sandbox, "resume");
    let told = sandbox.done("obey --tell");
    assert!(told.contains("@archive(19): 1 block archived") && !told.contains("/resume"), "{told}");
}

#[test]
fn a_running_client_receives_the_results_instead() {
    let sandbox = sandbox();
    sandbox.done("archive 16");
    sandbox.done("compress 19 --level minimal");
    say(&sandbox, "@recall(16) @expand(19) @create(\"make db first\") @pin(24)");
    sandbox.open_in_client();
    assert_eq!(statuses(&sandbox), ["done"; 4]);
    assert_eq!(log(&sandbox)[..2], ["model @pin(24)", "model @expand(19)"]);
    // Text beyond the limit is sent with the prompt after the next one.
    let told = [sandbox.done("obey --tell"), sandbox.done("obey --tell")];
    assert!(told.iter().all(|told| (1..9_000).contains(&told.len())));
    let told = told.concat();
    let expected = [
        "Recalled from earlier in this session",
        "[#16 Read",
        "NEEDLE",
        "[#19 Bash",
        "make db first",
        "takes effect after /resume",
    ];
    for words in expected {
        assert!(told.contains(words), "{words}: {told}");
    }
    for line in ["create --live 'x'", "recall --inject --live 16"] {
        let said = sandbox.done(line);
        assert!(said.contains("a prompt before the next /resume drops the note"), "{said}");
        sandbox.done("undo --live");
    }
    let text = sandbox.done("log");
    assert!(text.ends_with("Claude recalled 1 block, expanded 1, created 1 note and pinned 1\n"), "{text}");
}

/// The fold of the user is stronger than a command of the model, which is answered; a fold of the model's own is not.
#[test]
fn only_the_user_can_restore_turns_that_the_user_folded() {
    let sandbox = sandbox();
    say(&sandbox, "The harbour map is done.");
    say(&sandbox, "The tide table is done.");
    sandbox.done("compact 2");
    let folded = fs::read(sandbox.session_file(ID)).unwrap();
    let blocks = sandbox.json(&["blocks", "cold & \"harbour\""], "aperture.blocks/2");
    let number = blocks["blocks"].as_array().unwrap().last().unwrap()["number"].as_u64().unwrap();
    say(&sandbox, &format!("@expand({number}) @recall({number})"));
    let answers = obeyed(&sandbox);
    let (status, answer) = &answers[0];
    assert_eq!(status, "refused");
    assert!(answer.contains("the user folded these blocks") && answer.contains(&format!("@recall({number})")), "{answer}");
    assert_eq!(answers[1].0, "done", "{answers:?}");
    assert!(fs::read(sandbox.session_file(ID)).unwrap().starts_with(&folded[..folded.len() / 2]));
    // The user can.
    assert!(sandbox.done(&format!("expand {number}")).contains("operation 1"));
}

#[test]
fn blocks_of_a_closed_session_are_restored_in_the_file() {
    let sandbox = sandbox();
    sandbox.done("archive 16|19");
    // Two hours after the last answer the cache has expired; in the file's last minute it is warm.
    say(&sandbox, "@recall(16)");
    let look = |now: &str| {
        let output = sandbox.command(&["obey", "--dry-run"]).env("APERTURE_NOW", now).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(look("2026-11-22T02:00:00Z").contains("1 block restored"));
    assert!(look("2026-11-21T23:50:30Z").contains("a note with 1 block added"));
}

#[test]
fn every_answer_reaches_the_model() {
    let sandbox = sandbox();
    let commands: Vec<String> =
        (1..95).map(|number| format!("@pin({number}, nonsense words of {number} that are nowhere at all in here)")).collect();
    say(&sandbox, &commands.join(" "));
    assert_eq!(statuses(&sandbox).len(), 94);
    let payload = json!({"transcript_path": sandbox.session_file(ID)});
    let mut told = 0;
    for _ in 0..9 {
        let answer = hooks::told(&sandbox, "UserPromptSubmit", &payload);
        assert!(!answer.contains("cut here"), "{answer}");
        told += answer.matches("aperture: @pin").count();
    }
    assert_eq!(told, 94);
}

#[test]
fn an_empty_inbox_is_reported_the_same_with_and_without_a_store() {
    let sandbox = sandbox();
    let outcome =
        || ["approve --pending", "deny --pending"].map(|line| sandbox.enter(line)).map(|outcome| (outcome.code, outcome.stderr));
    let without = outcome();
    assert!(without[0].1.contains("no pending commands"), "{without:?}");
    sandbox.done("pin 16");
    assert_eq!(outcome(), without);
}

#[test]
fn commands_about_deleted_blocks_are_answered() {
    let sandbox = sandbox();
    say(&sandbox, "@archive(16) @update(24, \"other\") @archive(19)");
    assert_eq!(statuses(&sandbox), ["waiting"; 3]);
    sandbox.done("archive 16");
    sandbox.done("pin 24");
    let outcome = sandbox.enter("approve 1");
    assert_eq!((outcome.code, outcome.stdout.contains("nothing to do: #16 is already archived")), (1, true), "{}", outcome.all());
    assert!(sandbox.done("obey --tell").contains("@archive(16) was not executed"));
    let rows = fs::read_to_string(sandbox.session_file(ID)).unwrap();
    fs::remove_file(sandbox.session_file(ID)).unwrap();
    let outcome = sandbox.enter("approve 3");
    assert_eq!((outcome.code, outcome.stdout.contains("refused")), (1, true), "{}", outcome.all());
    fs::write(sandbox.session_file(ID), rows).unwrap();
    assert_eq!(sandbox.enter("approve 3").code, 1, "it was refused");
}

#[test]
fn credentials_are_not_said() {
    let key = format!("sk-ant-api03-{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    let text = [
        format!("@create(\"the key is {key}\")"),
        format!("@pin(12, {key})"),
        format!("@archive({key})"),
        format!("@update(16, \"now {key}\")"),
        format!("@archive(16, reason: {key})"),
        format!("@compress(16, {key}, minimal)"),
        format!("@compress(path(\"{key}\") & )"),
    ];
    for live in [false, true] {
        let sandbox = sandbox();
        say(&sandbox, &text.join("\n\n"));
        if live {
            sandbox.open_in_client();
        }
        for line in
            ["obey --dry-run", "obey --dry-run --json", "obey --json", "inbox", "log", "obey --tell", "deny 4 --reason KEY"]
        {
            let said = sandbox.enter(&line.replace("KEY", &key)).all();
            assert!(!said.contains(&key), "{line}: {said}");
        }
        assert!(!sandbox.done("obey --tell").contains(&key));
    }
}

#[test]
fn an_interrupted_command_waits_for_the_user() {
    let sandbox = sandbox();
    say(&sandbox, "@create(\"one\")");
    sandbox.done("obey");
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    store.execute("UPDATE proposals SET status = 'begun'", []).unwrap();
    drop(store);
    assert_eq!(statuses(&sandbox), [""; 0]);
    let inbox = sandbox.done("inbox");
    assert!(inbox.contains("pending: aperture was interrupted"), "{inbox}");
    assert_eq!(log(&sandbox).len(), 1);
}

#[test]
fn without_a_store_nothing_is_done() {
    let sandbox = sandbox();
    sandbox.done("pin 20");
    say(&sandbox, "@pin(16) @create(\"one\")");
    let before = fs::read(sandbox.session_file(ID)).unwrap();
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    let refuse =
        "CREATE TRIGGER t BEFORE INSERT ON proposals BEGIN SELECT RAISE(ABORT, 'attempt to write a readonly database'); END";
    store.execute(refuse, []).unwrap();
    let outcome = sandbox.enter("obey");
    assert_eq!((outcome.code, &*outcome.stdout), (1, ""));
    assert!(outcome.stderr.contains("readonly"), "{}", outcome.stderr);
    assert!(fs::read(sandbox.session_file(ID)).unwrap() == before);
    assert_eq!(log(&sandbox), ["user pin 20"]);
    store.execute("DROP TRIGGER t", []).unwrap();
    assert_eq!(statuses(&sandbox), ["done", "done"], "it was not lost");
}

#[test]
fn an_older_store_is_brought_up_to_date() {
    let sandbox = sandbox();
    sandbox.done("pin 20");
    sandbox.done("archive 19");
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    for column in ["base_bytes", "base_hash", "point", "deferred"] {
        store.execute_batch(&format!("ALTER TABLE operations DROP COLUMN {column}")).unwrap();
    }
    for table in [
        "block_edits", "companions", "window_changes", "hunks", "proposals", "messages", "obeyed", "manifests",
        "live_operations", "wire_lines", "wire_insertions", "wire_sessions", "staged_texts", "wire_tools", "wire_calls",
        "memory_changes", "memory_contents", "memory_operations", "memory_reads", "turn_numbers", "held_prompts",
    ] {
        store.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    store.execute_batch("PRAGMA user_version = 1").unwrap();
    drop(store);
    assert_eq!(log(&sandbox), ["user archive 19", "user pin 20"]);
    // Its operations have no delta: they can be undone, and it is reported that this is not byte for byte.
    assert!(sandbox.done("verify").contains("operation 2 has no delta"));
    assert!(sandbox.done("undo").contains("planned from logged values, not byte for byte: operation 2 has no delta"));
    assert!(sandbox.done("redo").contains("redone"));
    sandbox.done("undo");
    say(&sandbox, "@pin(16)");
    assert_eq!(statuses(&sandbox), ["done"]);
}

/// The client reports the end of a turn and, if it does, its last message.
fn stop(sandbox: &Sandbox, message: &str) {
    let payload = json!({"transcript_path": sandbox.session_file(ID), "last_assistant_message": message});
    assert_eq!(hooks::told(sandbox, "Stop", &payload), "");
}

fn start(sandbox: &Sandbox, source: &str) {
    hooks::told(sandbox, "SessionStart", &json!({"transcript_path": sandbox.session_file(ID), "source": source}));
}

/// Every command that the store knows, with its status, the oldest first.
fn known(sandbox: &Sandbox) -> Vec<String> {
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    let mut statement = store.prepare("SELECT command || ' ' || status FROM proposals ORDER BY number").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_reported_message_is_obeyed_before_its_row_is_written() {
    for registered in [false, true] {
        let sandbox = sandbox();
        if registered {
            start(&sandbox, "resume");
        }
        let [prompt, answer] = turn(&sandbox, "  Done.\n\n@pin(16)\n\n@archive(19, reason: read)\n");
        append(&sandbox.session_file(ID), &[prompt]);
        stop(&sandbox, "Done.\n\n@pin(16)\n\n@archive(19, reason: read)");
        assert_eq!(log(&sandbox), ["model @pin(16)"]);
        let inbox = sandbox.done("inbox");
        assert!(inbox.contains("@archive(19, reason: read)"), "{inbox}");
        // Nothing comes twice, with the row or without it.
        assert_eq!(statuses(&sandbox), [""; 0]);
        append(&sandbox.session_file(ID), &[answer]);
        assert!(sandbox.done("obey --dry-run").contains("no commands found"));
        assert_eq!(statuses(&sandbox), [""; 0]);
        stop(&sandbox, "Done.\n\n@pin(16)\n\n@archive(19, reason: read)");
        assert_eq!(known(&sandbox), ["@pin(16) done", "@archive(19, reason: read) waiting"]);
        assert!(sandbox.done("approve 2").contains("1 block archived"));
        assert_eq!(log(&sandbox), ["model @archive(19, reason: read)", "model @pin(16)"]);
        let log = sandbox.done("log");
        assert!(log.contains("Claude pinned 1 block and archived 1"), "{log}");
    }
}

#[test]
fn a_reported_command_can_be_denied() {
    let sandbox = sandbox();
    let [prompt, answer] = turn(&sandbox, "@archive(19)");
    append(&sandbox.session_file(ID), &[prompt]);
    stop(&sandbox, "@archive(19)");
    sandbox.done("deny 1 --reason 'still needed'");
    append(&sandbox.session_file(ID), &[answer]);
    assert_eq!(statuses(&sandbox), [""; 0]);
    let told = hooks::told(&sandbox, "UserPromptSubmit", &json!({"transcript_path": sandbox.session_file(ID)}));
    assert!(told.contains("aperture: @archive(19) is denied: still needed"), "{told}");
    assert_eq!(known(&sandbox), ["@archive(19) denied"]);
}

#[test]
fn the_same_text_in_two_messages_is_obeyed_twice() {
    let one = "@create(\"one\")";
    for looked in [false, true] {
        let sandbox = sandbox();
        sandbox.open_in_client();
        let [prompt, answer] = turn(&sandbox, one);
        append(&sandbox.session_file(ID), &[prompt]);
        stop(&sandbox, one);
        append(&sandbox.session_file(ID), &[answer]);
        if looked {
            sandbox.done("obey");
        }
        let [prompt, answer] = turn(&sandbox, one);
        append(&sandbox.session_file(ID), &[prompt]);
        stop(&sandbox, one);
        assert_eq!(known(&sandbox).len(), 2, "{looked}");
        append(&sandbox.session_file(ID), std::slice::from_ref(&answer));
        // Another hook made the model continue in the same turn.
        let mut more = answer.clone();
        more["type"] = json!("user");
        more["isMeta"] = json!(true);
        more["uuid"] = json!("cccccccc-0000-4000-8000-000000000001");
        more["parentUuid"] = answer["uuid"].clone();
        more["message"] = json!({"role": "user", "content": "Stop hook feedback: not yet"});
        let mut last = answer;
        last["uuid"] = json!("cccccccc-0000-4000-8000-000000000002");
        last["parentUuid"] = more["uuid"].clone();
        last["message"]["id"] = json!("msg_last");
        append(&sandbox.session_file(ID), &[more]);
        stop(&sandbox, one);
        assert_eq!(known(&sandbox).len(), 3, "{looked}");
        append(&sandbox.session_file(ID), &[last]);
        sandbox.done("obey");
        assert_eq!(known(&sandbox), [format!("{one} done"), format!("{one} done"), format!("{one} done")], "{looked}");
    }
}

#[test]
fn one_message_reported_twice_is_obeyed_once() {
    let sandbox = sandbox();
    sandbox.open_in_client();
    let [prompt, answer] = turn(&sandbox, "@create(\"one\")");
    append(&sandbox.session_file(ID), &[prompt]);
    let payload = json!({"transcript_path": sandbox.session_file(ID), "last_assistant_message": "@create(\"one\")"}).to_string();
    let hook = || start_with(&mut sandbox.command(&["hook", "Stop"]), &payload);
    let mut hooks = [hook(), hook(), hook()];
    // The row comes while they wait for it, or later.
    std::thread::sleep(std::time::Duration::from_millis(100));
    append(&sandbox.session_file(ID), &[answer]);
    hooks.iter_mut().for_each(|hook| assert!(hook.wait().unwrap().success()));
    sandbox.done("obey");
    assert_eq!(known(&sandbox), ["@create(\"one\") done"]);
    // A fork has the row as well.
    sandbox.session("22222222-2222-4222-8222-222222222222", fs::read(sandbox.session_file(ID)).unwrap(), 9);
    assert_eq!(sandbox.json(&["obey", "-s", "2222"], "aperture.obey/2")["commands"], json!([]));
}

#[test]
fn a_fork_does_not_repeat_a_reported_message() {
    let sandbox = sandbox();
    sandbox.open_in_client();
    let [prompt, answer] = turn(&sandbox, "@create(\"one\")");
    append(&sandbox.session_file(ID), &[prompt]);
    stop(&sandbox, "@create(\"one\")");
    append(&sandbox.session_file(ID), &[answer]);
    sandbox.session("22222222-2222-4222-8222-222222222222", fs::read(sandbox.session_file(ID)).unwrap(), 9);
    assert_eq!(sandbox.json(&["obey", "-s", "2222"], "aperture.obey/2")["commands"], json!([]));
    sandbox.done("obey");
    assert_eq!(known(&sandbox), ["@create(\"one\") done"]);
}

#[test]
fn commands_recorded_before_a_crash_are_executed_once() {
    for has_row in [false, true] {
        let sandbox = sandbox();
        sandbox.open_in_client();
        start(&sandbox, "resume");
        let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
        store
            .execute(
                "CREATE TRIGGER t BEFORE UPDATE OF status ON proposals WHEN new.command = '@create(\"two\")'
                 BEGIN SELECT RAISE(ABORT, 'attempt to write a readonly database'); END",
                [],
            )
            .unwrap();
        let text = "@create(\"one\") @create(\"two\")";
        let [prompt, answer] = turn(&sandbox, text);
        append(&sandbox.session_file(ID), &[prompt]);
        let payload = json!({"transcript_path": sandbox.session_file(ID), "last_assistant_message": text});
        let outcome = sandbox.given(&["hook", "Stop"], &payload.to_string());
        assert!(outcome.stderr.contains("readonly"), "{}", outcome.stderr);
        assert_eq!(known(&sandbox), ["@create(\"one\") done", "@create(\"two\") recorded"]);
        store.execute("DROP TRIGGER t", []).unwrap();
        if has_row {
            append(&sandbox.session_file(ID), std::slice::from_ref(&answer));
        }
        let told = hooks::told(&sandbox, "UserPromptSubmit", &payload);
        assert!(told.contains("@create(\"one\")") && told.contains("@create(\"two\")"), "{told}");
        if !has_row {
            append(&sandbox.session_file(ID), &[answer]);
        }
        sandbox.done("obey");
        assert_eq!(known(&sandbox), ["@create(\"one\") done", "@create(\"two\") done"]);
        // A command that was interrupted during its execution needs the user's decision, and is not found a second time in its row.
        store.execute("UPDATE proposals SET status = 'begun' WHERE number = 1", []).unwrap();
        assert_eq!(statuses(&sandbox), [""; 0]);
        assert_eq!(known(&sandbox), ["@create(\"one\") waiting", "@create(\"two\") done"]);
    }
}

#[test]
fn a_session_without_a_file_is_known() {
    let sandbox = sandbox();
    let directory = sandbox.session_file(ID).parent().unwrap().to_owned();
    let [mut prompt, answer] = turn(&sandbox, "@create(\"one\")");
    prompt["parentUuid"] = Value::Null;
    fs::remove_dir_all(&directory).unwrap();
    start(&sandbox, "startup");
    assert_eq!(sandbox.enter("verify --all").code, 0, "nothing was done to it that could be missing");
    stop(&sandbox, "@create(\"one\")");
    assert_eq!(known(&sandbox), ["@create(\"one\") recorded"]);
    fs::create_dir_all(&directory).unwrap();
    fs::write(sandbox.session_file(ID), "").unwrap();
    append(&sandbox.session_file(ID), &[prompt]);
    sandbox.open_in_client();
    sandbox.done("obey");
    append(&sandbox.session_file(ID), &[answer]);
    sandbox.done("obey");
    assert_eq!(known(&sandbox), ["@create(\"one\") done"]);
}

#[test]
fn every_turn_counts_from_the_start_of_a_session_on() {
    let sandbox = sandbox();
    say(&sandbox, "@create(\"before\")");
    start(&sandbox, "resume");
    assert_eq!(sandbox.json(&["gc"], "aperture.gc/2")["sessions"], json!([]), "it is only registered");
    sandbox.open_in_client();
    sandbox.done("obey");
    // Two turns of which no hook heard.
    say(&sandbox, "@create(\"one\")");
    say(&sandbox, "@create(\"two\")");
    sandbox.done("obey");
    assert_eq!(known(&sandbox), ["@create(\"one\") done", "@create(\"two\") done"]);
}

/// Any order in which a client writes rows and calls hooks, with hooks that never run: each command is carried out once.
#[test]
fn each_command_of_any_talk_is_obeyed_once() {
    let seeds = std::env::var("APERTURE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(all_or(12, 2));
    for seed in 1..=seeds {
        let sandbox = sandbox();
        sandbox.open_in_client();
        start(&sandbox, "resume");
        let mut state = u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15);
        let mut chance = |of: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % of
        };
        let (mut queue, mut expected) = (std::collections::VecDeque::new(), Vec::new());
        for _ in 0..6 {
            let texts = ["@create(\"one\")", "@create(\"one\") @create(\"two\")", "nothing"];
            let text = texts[chance(3) as usize];
            expected
                .extend(text.split_inclusive(')').filter(|part| part.contains('@')).map(|part| format!("{} done", part.trim())));
            let turn = turn_behind(&sandbox, &queue.iter().cloned().collect::<Vec<_>>(), text);
            queue.extend(turn);
            let write = |rows: usize, queue: &mut std::collections::VecDeque<Value>| {
                let rows: Vec<Value> = queue.drain(..rows.min(queue.len())).collect();
                append(&sandbox.session_file(ID), &rows);
            };
            // All but the last row, mostly.
            let rows = queue.len() - 1 - (chance(4) == 0) as usize;
            write(rows, &mut queue);
            if chance(5) > 0 {
                stop(&sandbox, text);
            }
            let rows = if chance(4) == 0 { 0 } else { queue.len() };
            write(rows, &mut queue);
            match chance(3) {
                0 => drop(hooks::told(&sandbox, "UserPromptSubmit", &json!({"transcript_path": sandbox.session_file(ID)}))),
                1 => drop(sandbox.done("obey")),
                _ => {}
            }
        }
        append(&sandbox.session_file(ID), &queue.into_iter().collect::<Vec<_>>());
        sandbox.done("obey");
        let mut known = known(&sandbox);
        known.sort();
        expected.sort();
        assert_eq!(known, expected, "{seed}");
    }
}

/// Run manually: checks that texts of models in real sessions are not parsed as commands.
#[test]
fn real_sessions_ask_for_nothing() {
    let Some(corpus) = directory_in("APERTURE_CORPUS") else { return };
    let (mut texts, mut found) = (0, Vec::new());
    for file in files_ending(&corpus, "jsonl") {
        for row in fs::read(file).unwrap().split(|byte| *byte == b'\n') {
            for provider in aperture::provider::PROVIDERS {
                for block in provider.parse(row).blocks {
                    let own = block.block.role == aperture::model::Role::Assistant;
                    if own && block.block.kind == aperture::model::BlockKind::Text {
                        texts += 1;
                        let said = aperture::engine::model_commands::find(&block.content);
                        found.extend(said.into_iter().map(|said| block.content[said.place].to_owned()));
                    }
                }
            }
        }
    }
    eprintln!("{texts} texts, {} commands: {found:?}", found.len());
    assert!(texts > 0 && found.len() * 10_000 <= texts, "{found:?}");
}
