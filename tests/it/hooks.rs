//! Tests of aperture inside a client: installation, hook answers, the status line.

use crate::rows::{append, rows_of};
use crate::sandbox::{Sandbox, files_below, start_with};
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the context that the model receives for an event; empty if there is none.
pub fn told(sandbox: &Sandbox, event: &str, payload: &Value) -> String {
    let outcome = sandbox.given(&["hook", event], &payload.to_string());
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{event}");
    assert!(outcome.stdout.encode_utf16().count() < 12_000, "{event}");
    match serde_json::from_str::<Value>(&outcome.stdout) {
        Ok(answer) => {
            assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
            answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
        }
        Err(_) => outcome.stdout,
    }
}

/// Every file below a directory with its bytes.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(tree(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn install_shows_what_it_writes_and_uninstall_takes_it_back() {
    for scope in ["user", "project", "local"] {
        let sandbox = Sandbox::new();
        let settings = "{\n\t\"env\": {\"KEY\": \"sk-ant-api03-abcdefghijklmnopqrstuvwxyz\"},\n\t\"hooks\": {}\n}";
        for path in [sandbox.home.join(".claude/settings.json"), sandbox.project.join(".claude/settings.json")] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, settings).unwrap();
        }
        let before = (tree(&sandbox.home), tree(&sandbox.project));
        let look = sandbox.text(&["install", "claude-code", "--scope", scope, "--dry-run"]);
        assert_eq!((tree(&sandbox.home), tree(&sandbox.project)), before, "a dry run writes nothing");
        assert!(!look.contains("abcdefghijklm"), "{look}");
        assert_eq!(sandbox.run(&["install", "claude-code", "--scope", scope, "--check"]).code, 1);
        let files = sandbox.json(&["install", "claude-code", "--scope", scope, "--dry-run"], "aperture.install/1");
        assert_eq!(files["files"][0]["action"], if scope == "local" { "create" } else { "change" });
        let done = sandbox.text(&["install", "claude-code", "--scope", scope]);
        assert!(look.contains("@@") && !done.contains("@@") && done.contains(" hooks, status line\n"), "{look}{done}");
        let after = (tree(&sandbox.home), tree(&sandbox.project));
        assert_ne!(after, before);
        assert_eq!(sandbox.text(&["install", "claude-code", "--scope", scope]), "already installed\n");
        sandbox.text(&["install", "claude-code", "--scope", scope, "--check"]);
        assert_eq!((tree(&sandbox.home), tree(&sandbox.project)), after, "twice is once");
        sandbox.text(&["uninstall", "claude-code", "--scope", scope]);
        assert_eq!((tree(&sandbox.home), tree(&sandbox.project)), before, "{scope}");
        assert_eq!(sandbox.text(&["uninstall", "claude-code", "--scope", scope]), "nothing to remove\n");
    }
}

#[test]
fn uninstall_reports_what_it_removed() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}\n").unwrap();
    sandbox.text(&["install", "claude-code"]);
    let removed = sandbox.text(&["uninstall", "claude-code"]);
    assert!(removed.contains("settings.json: ") && !removed.contains("status line"), "{removed}");
}

#[test]
fn uninstall_leaves_what_was_there_before() {
    for scope in ["user", "project", "local"] {
        let sandbox = Sandbox::new();
        for directory in [".claude/skills/aperture/commands", ".claude/commands"] {
            fs::create_dir_all(sandbox.home.join(directory)).unwrap();
            fs::create_dir_all(sandbox.project.join(directory)).unwrap();
        }
        for file in [".claude/settings.json", ".claude/settings.local.json"] {
            fs::write(sandbox.home.join(file), "{}\n").unwrap();
            fs::write(sandbox.project.join(file), "{}\n").unwrap();
        }
        let before = (tree(&sandbox.home), tree(&sandbox.project));
        for _ in 0..2 {
            sandbox.text(&["install", "claude-code", "--scope", scope]);
            sandbox.text(&["install", "claude-code", "--scope", scope]);
            sandbox.text(&["uninstall", "claude-code", "--scope", scope]);
            assert_eq!((tree(&sandbox.home), tree(&sandbox.project)), before, "{scope}");
        }
        // An entry installed by an earlier version is in no list.
        sandbox.text(&["install", "claude-code", "--scope", scope]);
        fs::remove_file(sandbox.home.join(".aperture/installed.json")).unwrap();
        sandbox.text(&["uninstall", "claude-code", "--scope", scope]);
        assert!(sandbox.home.join(".claude/commands").is_dir() && sandbox.project.join(".claude/commands").is_dir());
    }
}

#[test]
fn other_files_of_the_client_are_unchanged() {
    let sandbox = Sandbox::new();
    let place = sandbox.project.join("client");
    fs::create_dir_all(&place).unwrap();
    let run = |verb: &str| {
        let output = sandbox.command(&[verb, "claude-code"]).env("CLAUDE_CONFIG_DIR", &place).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run("install");
    assert!(place.join("skills/aperture/commands/tidy.md").is_file());
    run("uninstall");
    assert_eq!((tree(&place).len(), place.is_dir()), (0, true));
}

#[test]
fn a_program_of_another_name_adds_nothing() {
    let sandbox = Sandbox::new();
    let program = sandbox.project.join("ap");
    fs::copy(env!("CARGO_BIN_EXE_aperture"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args(["install", "claude-code"]).env("HOME", &sandbox.home).env("APERTURE_HOME", sandbox.home.join("aperture"));
    let output = command.env_remove("CLAUDE_CONFIG_DIR").current_dir(&sandbox.project).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("rename it to aperture"));
    assert!(!sandbox.home.join(".claude").exists());
}

#[test]
fn install_in_a_project() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join(".mcp.json"), "{\"mcpServers\": {\"aperture\": {\"command\": \"camera\"}}}\n").unwrap();
    fs::create_dir_all(sandbox.project.join(".claude")).unwrap();
    fs::write(sandbox.project.join(".claude/settings.json"), "{\"statusLine\": {\"command\": \"mine\"}}\n").unwrap();
    sandbox.text(&["install", "claude-code", "--scope", "project"]);
    fs::remove_file(sandbox.project.join(".claude/commands/aperture/recall.md")).unwrap();
    let tidy = sandbox.project.join(".claude/commands/aperture/tidy.md");
    fs::write(&tidy, fs::read_to_string(&tidy).unwrap() + "mine\n").unwrap();
    expect![[r#"
        there     PROJECT/.claude/settings.json
        there     PROJECT/.mcp.json
        there     PROJECT/.claude/commands/aperture/manifest.md
        missing   PROJECT/.claude/commands/aperture/recall.md
        there     PROJECT/.claude/commands/aperture/tidy.md
        skipped: statusLine in PROJECT/.claude/settings.json was not written by aperture
        skipped: aperture in PROJECT/.mcp.json was not written by aperture
        skipped: the file in PROJECT/.claude/commands/aperture/tidy.md was not written by aperture
        some parts are missing; to add them: aperture install claude-code --scope project
        exit code 1
    "#]]
    .assert_eq(&sandbox.run(&["install", "claude-code", "--scope", "project", "--check"]).all());
    sandbox.text(&["uninstall", "claude-code", "--scope", "project"]);
    let left: Vec<PathBuf> = tree(&sandbox.project).into_keys().filter(|path| path.is_file()).collect();
    assert_eq!(
        left,
        [".claude/commands/aperture/tidy.md", ".claude/settings.json", ".mcp.json"].map(|name| sandbox.project.join(name))
    );
}

#[test]
fn invalid_settings_are_not_changed() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project.join(".claude")).unwrap();
    let path = sandbox.project.join(".claude/settings.json");
    for (settings, because) in [
        ("{\n  \"a\": 1,\n}", "because: line 3, column 1: key must be a string\n"),
        (
            "// mine\n{}",
            "because: it has comments, and such a file is not changed\nhint: nothing was written; to add by hand: { \"hooks\": ",
        ),
        ("{\"hooks\": []}", "because: 'hooks' has an unexpected type\n"),
        ("[]", "because: 'the document' has an unexpected type\n"),
    ] {
        fs::write(&path, settings).unwrap();
        let outcome = sandbox.run(&["install", "claude-code", "--scope", "project"]);
        assert_eq!(outcome.code, 1);
        assert!(outcome.stderr.contains(because) && outcome.stderr.contains("nothing was written"), "{}", outcome.stderr);
        assert_eq!(tree(&sandbox.project).len(), 2, "nothing else was written");
        assert_eq!(fs::read_to_string(&path).unwrap(), settings);
    }
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert_eq!(sandbox.run(&["install", "claude-code", "--scope", "project"]).code, 1);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_mode_stays() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    let real = sandbox.write("dotfiles/settings.json", "{}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = sandbox.home.join(".claude/settings.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    sandbox.text(&["install", "claude-code"]);
    assert!(link.is_symlink() && fs::read_to_string(&real).unwrap().contains("hook Stop"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    sandbox.text(&["uninstall", "claude-code"]);
    assert!(link.is_symlink() && fs::read_to_string(&real).unwrap() == "{}\n");
    fs::remove_file(&real).unwrap();
    let outcome = sandbox.run(&["install", "claude-code"]);
    assert_eq!(outcome.code, 1, "a link to nothing is not replaced");
    assert!(link.is_symlink());
    // One that the user put in the place of a file of `install` is not removed with it.
    sandbox.text(&["install", "cursor"]);
    let list = sandbox.home.join(".cursor/mcp.json");
    fs::rename(&list, &real).unwrap();
    symlink(&real, &list).unwrap();
    sandbox.text(&["uninstall", "cursor"]);
    assert!(list.is_symlink() && fs::read_to_string(&real).unwrap() == "\n");
}

#[test]
fn a_resumed_session_gets_the_manifest() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let text = told(&sandbox, "SessionStart", &json!({"source": "resume", "transcript_path": path}));
    assert!(text.starts_with("[CONTEXT MANIFEST — 47 blocks, 29k/1M tokens, 3% capacity]"), "{text}");
    assert!(text.contains("\naperture keeps the memory of this session."), "{text}");
}

/// Returns the last row of the model.
fn last_answer(path: &Path) -> Value {
    rows_of(path).into_iter().rfind(|row| row["type"] == "assistant").unwrap()
}

/// Returns a client row with the context added for an event.
fn noted(number: u32, parent: &str, event: &str, text: &str) -> Value {
    let content = format!("<system-reminder>\n{event} hook additional context: {text}\n</system-reminder>");
    json!({
        "type": "attachment", "uuid": format!("cccccccc-0000-4000-8000-{number:012}"), "parentUuid": parent, "isSidechain": false,
        "attachment": {"type": "hook_additional_context", "content": [text], "hookName": event, "hookEvent": event},
        "rendered": [{"content": content}], "renderedRole": "system", "timestamp": "2026-11-21T23:51:00.000Z",
    })
}

/// A row of the client with an answer of the model.
fn said(number: u32, parent: &str, text: &str) -> Value {
    let message = json!({"id": format!("m{number}"), "type": "message", "role": "assistant", "model": "claude-opus-4-8",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"});
    json!({"type": "assistant", "uuid": format!("cccccccc-0000-4000-8000-{number:012}"), "parentUuid": parent,
        "isSidechain": false, "message": message, "timestamp": "2026-11-21T23:52:00.000Z"})
}

#[test]
fn the_manifest_is_sent_once() {
    for first in ["SessionStart", "UserPromptSubmit"] {
        let sandbox = Sandbox::of("tools-and-spill");
        let path = sandbox.first_session();
        let last = last_answer(&path)["uuid"].as_str().unwrap().to_owned();
        let append = |row: Value| {
            append(&path, &format!("{row}\n"));
            row["uuid"].as_str().unwrap().to_owned()
        };
        // The answer to the model's commands is part of the same context.
        let last = append(said(1, &last, "@pin(12)"));
        told(&sandbox, "Stop", &json!({"transcript_path": path}));
        let payload = json!({"source": "resume", "transcript_path": path});
        let begin = told(&sandbox, first, &payload);
        assert!(begin.contains("[CONTEXT MANIFEST"), "{first}: {begin}");
        let last = append(noted(2, &last, first, &begin));
        append(said(3, &last, "well"));
        let then = told(&sandbox, "UserPromptSubmit", &payload);
        assert!(!then.contains("[CONTEXT MANIFEST"), "{first}: {then}");
    }
}

#[test]
fn the_words_of_a_manifest_in_a_prompt_are_a_prompt() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let text = fs::read_to_string(&path).unwrap();
    let last: Value =
        text.lines().rev().map(|row| serde_json::from_str(row).unwrap()).find(|row: &Value| row["type"] == "assistant").unwrap();
    let mut prompt = said(1, last["uuid"].as_str().unwrap(), "");
    prompt["type"] = json!("user");
    prompt["message"] = json!({"role": "user", "content": "What does [CONTEXT MANIFEST — 47 blocks] mean?"});
    let answer = said(2, prompt["uuid"].as_str().unwrap(), "It is a list.");
    fs::write(&path, format!("{text}{prompt}\n{answer}\n")).unwrap();
    let payload = json!({"transcript_path": path, "prompt": "[CONTEXT MANIFEST"});
    assert!(told(&sandbox, "UserPromptSubmit", &payload).starts_with("[CONTEXT MANIFEST"));
    assert_eq!(told(&sandbox, "UserPromptSubmit", &payload), "", "it is told once, whether or not the client wrote it already");
    // A client that dropped it by a compaction receives it again.
    let mut boundary = said(3, answer["uuid"].as_str().unwrap(), "");
    boundary["type"] = json!("system");
    boundary["subtype"] = json!("compact_boundary");
    boundary["parentUuid"] = Value::Null;
    boundary["logicalParentUuid"] = answer["uuid"].clone();
    boundary["compactMetadata"] = json!({"trigger": "manual", "preTokens": 9});
    let mut summary = said(4, boundary["uuid"].as_str().unwrap(), "");
    summary["type"] = json!("user");
    summary["isCompactSummary"] = json!(true);
    summary["message"] = json!({"role": "user", "content": "A summary with a [CONTEXT MANIFEST in it."});
    let answer = said(5, summary["uuid"].as_str().unwrap(), "Well.");
    fs::write(&path, format!("{text}{prompt}\n{answer}\n{boundary}\n{summary}\n{answer}\n")).unwrap();
    assert!(told(&sandbox, "UserPromptSubmit", &payload).starts_with("[CONTEXT MANIFEST"));
}

#[test]
fn a_new_session_receives_a_summary_of_the_last_one_if_enabled() {
    let sandbox = Sandbox::of("tools-and-spill");
    let new = sandbox.first_session().with_file_name("99999999-0000-4000-8000-000000000000.jsonl");
    let payload = json!({"source": "startup", "transcript_path": new});
    assert!(!told(&sandbox, "SessionStart", &payload).contains("The last session here"));
    sandbox.write("aperture.toml", "[hooks]\nhandoff = true\n");
    let text = told(&sandbox, "SessionStart", &payload);
    assert!(text.contains("The last session here (11111111-1111-4111-8111-111111111111):"), "{text}");
    assert!(text.contains("goal      Please do the big job ALPHA"), "{text}");
    assert_eq!(told(&sandbox, "UserPromptSubmit", &payload), "");
    assert_eq!(told(&sandbox, "PreCompact", &payload), "");
}

#[test]
fn a_prompt_brings_what_the_user_changed() {
    let sandbox = Sandbox::of("tools-and-spill");
    let payload = json!({"prompt": "go on", "transcript_path": sandbox.first_session()});
    let first = told(&sandbox, "UserPromptSubmit", &payload);
    assert!(first.starts_with("[CONTEXT MANIFEST") && !first.contains("User has"), "{first}");
    assert!(first.contains("Current task: \"go on\""), "{first}");
    sandbox.text(&["focus", "16"]);
    sandbox.text(&["compress", "19", "--level", "minimal"]);
    sandbox.text(&["pin", "24"]);
    let second = told(&sandbox, "UserPromptSubmit", &payload);
    expect![[r#"

        User has highlighted the following blocks as relevant: #16 (Read shop/big.py)

        Since your last turn, the user changed your memory of this session:
        - reduced to a line #19 Bash for i in $(seq 1 9000); do echo "line $i of long output"; done (saves ~688)
        - pinned #24
    "#]]
    .assert_eq(&format!("\n{second}\n"));
    // What was undone changed nothing.
    let changes = || told(&sandbox, "UserPromptSubmit", &payload).lines().filter(|line| line.starts_with("- ")).count();
    sandbox.text(&["undo"]);
    assert_eq!(changes(), 1);
    sandbox.text(&["undo"]);
    assert_eq!(changes(), 0);
    sandbox.text(&["redo"]);
    assert_eq!(changes(), 1);
}

#[test]
fn a_live_change_is_told_as_pending_until_the_client_reads_the_file() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let payload = json!({"prompt": "go on", "transcript_path": path});
    let prompt = || told(&sandbox, "UserPromptSubmit", &payload);
    let line = || sandbox.given(&["statusline"], &payload.to_string()).all();
    assert!(prompt().starts_with("[CONTEXT MANIFEST"));
    let status = || sandbox.text(&["status", "--window", "50k"]);
    let next = "aperture compress --preset balanced -s 11111111 --window=50000";
    assert!(status().contains(&format!("{next}\n")));
    sandbox.open_in_client();
    let status = status();
    assert!(status.contains(&format!("{next} --live\n")), "refused without it: {status}");
    let said = sandbox.text(&["compress", "16", "--level", "minimal", "--live"]);
    assert!(said.contains("takes effect after /resume 11111111-1111-4111-8111-111111111111"), "{said}");
    expect![[r#"
        The user changed the file of this session. This takes effect after /resume 11111111-1111-4111-8111-111111111111; until then you still receive the content as before:
        - reduced to a line #16 Read shop/big.py (saves ~9.8k)"#]]
    .assert_eq(&prompt());
    expect![[r#"
        ▓░░░░░░░ 19k/1M 2 % · 948k free · /resume: −9.8k
        exit code 0
    "#]]
    .assert_eq(&line());
    let status = sandbox.text(&["status"]);
    assert!(status.contains("\npending   −9.8k: takes effect after /resume 11111111-"), "{status}");
    let status = sandbox.json(&["status"], "aperture.status/2");
    assert_eq!(status["pending"]["operations"], json!([1]));
    // A compaction does not read the file.
    told(&sandbox, "SessionStart", &json!({"source": "compact", "transcript_path": path}));
    assert!(line().contains("/resume: −9.8k"), "{}", line());
    told(&sandbox, "SessionStart", &json!({"source": "resume", "transcript_path": path}));
    expect![[r#"
        These changes of your memory of this session are now in effect:
        - reduced to a line #16 Read shop/big.py (saves ~9.8k)"#]]
    .assert_eq(&prompt());
    assert!(!line().contains("/resume"), "{}", line());
    assert_eq!(sandbox.json(&["status"], "aperture.status/2")["pending"], Value::Null);
    // Once the model has answered, it is not told again, also not after the next resume.
    let text = fs::read_to_string(&path).unwrap();
    let last = last_answer(&path);
    let mut asks = said_at(8, last["uuid"].as_str().unwrap(), "2026-11-22T00:00:00.001Z");
    asks["type"] = json!("user");
    asks["message"] = json!({"role": "user", "content": "go on"});
    let answer = said_at(9, asks["uuid"].as_str().unwrap(), "2026-11-22T00:00:00.002Z");
    fs::write(&path, format!("{text}{asks}\n{answer}\n")).unwrap();
    told(&sandbox, "SessionStart", &json!({"source": "resume", "transcript_path": path}));
    assert_eq!(prompt(), "");
}

/// A row of the client with an answer of the model at a time.
fn said_at(number: u32, parent: &str, time: &str) -> Value {
    let mut row = said(number, parent, "well");
    row["timestamp"] = json!(time);
    row
}

#[test]
fn a_change_is_loaded_by_a_new_process_and_an_undo_of_it_is_pending_too() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let payload = json!({"prompt": "go on", "transcript_path": path});
    let prompt = || told(&sandbox, "UserPromptSubmit", &payload);
    prompt();
    sandbox.open_in_client();
    sandbox.text(&["compress", "16", "--level", "minimal", "--live"]);
    sandbox.text(&["undo", "--live"]);
    assert_eq!(prompt(), "", "both together change nothing");
    assert_eq!(sandbox.json(&["status"], "aperture.status/2")["pending"], Value::Null);
    sandbox.text(&["redo", "--live"]);
    assert!(prompt().contains("takes effect after /resume"), "{}", prompt());
    // The client was restarted; its hooks did not run.
    fs::remove_dir_all(sandbox.open_in_client()).unwrap();
    sandbox.open_in(1);
    assert!(prompt().starts_with("These changes of your memory of this session are now in effect:"), "{}", prompt());
    sandbox.text(&["undo", "--live"]);
    let told = prompt();
    assert!(told.contains("takes effect after /resume") && told.contains("- restored #16"), "{told}");
    let line = sandbox.given(&["statusline"], &payload.to_string()).stdout;
    assert!(line.contains("/resume: +9.8k"), "{line}");
    fs::remove_dir_all(sandbox.open_in(1)).unwrap();
    let line = sandbox.given(&["statusline"], &payload.to_string()).stdout;
    assert!(!line.contains("/resume"), "{line}");
}

#[test]
fn a_compaction_is_asked_for_names_and_not_for_texts() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    sandbox.text(&["pin", "16"]);
    sandbox.text(&["pin", "24"]);
    expect![[r#"
        The user pinned these blocks. Mention in the summary what they are for, but do not repeat their text: aperture sends it again after the compaction.
        - #24 Bash grep -n NEEDLE big.py | head -50
        - #16 Read shop/big.py
    "#]]
    .assert_eq(&told(&sandbox, "PreCompact", &json!({"trigger": "auto", "transcript_path": path})));
    // The client has compacted, and kept block 24 in a file that it read again.
    let text = fs::read_to_string(&path).unwrap();
    let last = last_answer(&path);
    let last = last["uuid"].as_str().unwrap().to_owned();
    let mut boundary = said_at(20, &last, "2026-11-21T23:53:00.000Z");
    boundary["type"] = json!("system");
    boundary["subtype"] = json!("compact_boundary");
    boundary["parentUuid"] = Value::Null;
    boundary["compactMetadata"] = json!({"trigger": "manual", "preTokens": 9});
    let mut summary = said_at(21, boundary["uuid"].as_str().unwrap(), "2026-11-21T23:53:01.000Z");
    summary["type"] = json!("user");
    summary["isCompactSummary"] = json!(true);
    let kept = sandbox.text(&["show", "24", "--raw"]);
    summary["message"] = json!({"role": "user", "content": format!("A summary. Its results:\n{kept}")});
    let compacted = format!("{text}{boundary}\n{summary}\n");
    fs::write(&path, &compacted).unwrap();
    // Before the client has written the compaction, the results of the last files that were read are left out: it reads them again.
    fs::write(&path, &text).unwrap();
    let early = told(&sandbox, "SessionStart", &json!({"source": "compact", "transcript_path": path}));
    assert!(early.contains("#24 Bash grep") && !early.contains("#16 Read"), "{early}");
    fs::write(&path, &compacted).unwrap();
    let after = told(&sandbox, "SessionStart", &json!({"source": "compact", "transcript_path": path}));
    assert!(after.contains("as they were before the compaction:\n\n#16 Read shop/big.py:\n"), "{after}");
    assert!(!after.contains("#24 Bash grep -n NEEDLE big.py | head -50:\n"), "{after}");
    // The next prompt does not send again what the start of the session sent.
    let note = noted(22, summary["uuid"].as_str().unwrap(), "SessionStart", &after);
    fs::write(&path, format!("{compacted}{note}\n")).unwrap();
    let prompt = told(&sandbox, "UserPromptSubmit", &json!({"transcript_path": path}));
    assert!(!prompt.contains("as they were before the compaction"), "{prompt}");
    fs::write(&path, &compacted).unwrap();
    let prompt = told(&sandbox, "UserPromptSubmit", &json!({"transcript_path": path}));
    assert!(prompt.contains("as they were before the compaction:\n\n#16 Read"), "{prompt}");
}

#[test]
fn pinned_blocks_outlive_a_compaction() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    sandbox.text(&["pin", "24"]);
    let before = told(&sandbox, "PreCompact", &json!({"trigger": "auto", "transcript_path": path}));
    assert!(before.starts_with("The user pinned these blocks.") && before.contains("- #24 Bash grep -n NEEDLE"), "{before}");
    assert!(sandbox.text(&["snapshot", "list"]).contains("before-compaction-2026-11-22-000000"));
    let after = told(&sandbox, "SessionStart", &json!({"source": "compact", "transcript_path": path}));
    assert!(after.contains("as they were before the compaction:\n\n#24 Bash grep"), "{after}");
    assert!(!after.contains("[CONTEXT MANIFEST"), "the client asks before it has written the compaction");
}

#[test]
fn an_answer_is_cut_where_the_client_would_cut_it() {
    let sandbox = Sandbox::of("tools-and-spill");
    // The result of a tool that the client does not call again by itself.
    let path = sandbox.first_session();
    let text = fs::read_to_string(&path).unwrap().replace("\"name\":\"Read\"", "\"name\":\"Fetch\"");
    fs::write(&path, text).unwrap();
    sandbox.text(&["pin", "16"]);
    let payload = json!({"source": "compact", "transcript_path": path});
    let text = told(&sandbox, "SessionStart", &payload);
    assert!(text.encode_utf16().count() < 10_000, "{}", text.len());
    assert!(text.ends_with("for the rest: aperture manifest, aperture show]"), "{text}");
}

#[test]
fn a_long_result_is_trimmed_where_that_is_wanted() {
    let sandbox = Sandbox::new();
    let long: String = (0..3000).map(|line| format!("{line}: nothing of note in item_{line}\n")).collect();
    let bash = json!({"session_id": "9999aaaa-1", "tool_name": "Bash", "tool_use_id": "toolu_1/../x", "tool_response": {"stdout": long, "stderr": "", "interrupted": false}});
    assert_eq!(sandbox.given(&["hook", "PostToolUse"], &bash.to_string()).stdout, "", "off by default");
    sandbox.write("aperture.toml", "[hooks]\nreduce_results = true\n[protect]\ntools = ['mcp__keep__*']\n");
    let answer = |payload: &Value| {
        let outcome = sandbox.given(&["hook", "PostToolUse"], &payload.to_string());
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
        serde_json::from_str::<Value>(&outcome.stdout)
            .ok()
            .map(|answer| answer["hookSpecificOutput"]["updatedToolOutput"].clone())
    };
    let shortened = answer(&bash).unwrap();
    let text = shortened["stdout"].as_str().unwrap();
    assert!(text.len() < long.len() / 2 && shortened["interrupted"] == false, "{text}");
    let path = text.split_once("full text: ").unwrap().1.split_once(']').unwrap().0;
    assert_eq!(fs::read_to_string(path).unwrap(), long, "the whole is kept");
    let secret = format!("{long}export KEY=sk-ant-api03-{}\n", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    answer(&json!({"tool_name": "Bash", "tool_use_id": "toolu_4", "tool_response": {"stdout": secret}})).unwrap();
    let kept = fs::read_to_string(sandbox.home.join(".aperture/results/toolu_4-0.txt")).unwrap();
    assert_eq!(kept.strip_prefix(&long), Some("export KEY=[secret:anthropic-key]\n"), "but no credential");
    assert!(Path::new(path).starts_with(sandbox.home.join(".aperture")), "{path}");
    let long_id = "toolu_".repeat(20);
    let texts = json!([{"type": "text", "text": long}, {"type": "text", "text": format!("{long}other")}]);
    answer(&json!({"session_id": "9999aaaa-1", "tool_name": "mcp__a__b", "tool_use_id": long_id, "tool_response": texts}))
        .unwrap();
    let results = || {
        let mut names: Vec<String> = fs::read_dir(sandbox.home.join(".aperture/results/9999aaaa"))
            .into_iter()
            .flatten()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(results().len(), 3, "each text has a file of its own: {:?}", results());
    // The session never existed.
    for file in files_below(&sandbox.home.join(".aperture/results")) {
        fs::File::options().append(true).open(file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let left = sandbox.text(&["gc", "--older-than", "0d", "--yes"]);
    assert!(left.contains("kept: 4 whole results without a file") && results().len() == 3, "{left}");
    let deleted = sandbox.text(&["gc", "--older-than", "0d", "--gone", "--yes"]);
    assert!(deleted.contains(", 4 whole results (") && results().is_empty(), "{deleted}");
    let mcp =
        |tool: &str| json!({"tool_name": tool, "tool_use_id": "toolu_2", "tool_response": [{"type": "text", "text": long}]});
    assert!(answer(&mcp("mcp__a__b")).unwrap()[0]["text"].as_str().unwrap().contains("trimmed from"));
    assert_eq!(answer(&mcp("mcp__keep__b")), None, "what is protected stays");
    let read =
        json!({"tool_name": "Read", "tool_use_id": "toolu_3", "tool_response": {"type": "text", "file": {"content": long}}});
    assert_eq!(answer(&read), None, "the client numbers the lines of a file");
}

#[test]
fn no_hook_ever_fails() {
    let sandbox = Sandbox::of("tools-and-spill");
    let huge = format!("{{\"prompt\": \"{}\"}}", "x".repeat(17 << 20));
    let missing = json!({"transcript_path": sandbox.home.join("none.jsonl")}).to_string();
    let foreign = json!({"transcript_path": sandbox.write("notes.txt", "no session\n")}).to_string();
    let inputs = ["", "{}", "[]", "null", "no json", "{\"transcript_path\": 7}", &huge, &missing, &foreign];
    let events = [
        "SessionStart", "UserPromptSubmit", "PreCompact", "PostToolUse", "PostCompact", "Stop", "SessionEnd", "Nonsense",
        "--what",
    ];
    for event in events {
        for input in inputs {
            let outcome = sandbox.given(&["hook", event], input);
            assert_eq!(outcome.code, 0, "{event} {}", &input[..input.len().min(40)]);
            assert!(outcome.stderr.lines().count() <= 1, "{event}: {}", outcome.stderr);
        }
    }
    assert_eq!(sandbox.given(&["hook"], "").code, 0);
    assert_eq!(sandbox.given(&["statusline", "too much"], "").code, 0);
    // Neither invalid settings nor a store that cannot be created cause a failure.
    let resumed = json!({"source": "resume", "transcript_path": sandbox.first_session()}).to_string();
    fs::write(sandbox.home.join("taken"), "").unwrap();
    let mut command = sandbox.command(&["hook", "PreCompact"]);
    let mut child = start_with(command.env("APERTURE_HOME", sandbox.home.join("taken")), &resumed);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    sandbox.write("aperture.toml", "nonsense = [");
    assert_eq!(sandbox.given(&["--json", "hook", "SessionStart"], &resumed).code, 0);
}

/// JavaScript writes half an emoji as an escape that is no text; neither that nor a value of another type is the end of an event.
#[test]
fn an_event_with_half_an_emoji_is_handled() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    sandbox.write("aperture.toml", "[model]\narchive = 'approve'\n");
    let text = fs::read_to_string(&path).unwrap();
    let last = last_answer(&path);
    let asks = said(1, last["uuid"].as_str().unwrap(), "@archive(16)\nHALF").to_string().replace("HALF", r"\ud83d");
    fs::write(&path, format!("{text}{asks}\n")).unwrap();
    let handled = |event: &str, more: &str| {
        let payload = format!(r#"{{"transcript_path":{},"source":7,"\udc00":["\ud83d"]{more}}}"#, json!(path));
        let outcome = sandbox.given(&["hook", event], &payload);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{event} {more}");
    };
    for _ in 0..2 {
        handled("Stop", r#","last_assistant_message":"@archive(16)\n\ud83d""#);
    }
    assert_eq!(sandbox.json(&["inbox"], "aperture.inbox/2")["proposals"].as_array().unwrap().len(), 1);
    handled("SessionEnd", "");
    let payload = format!(
        r#"{{"context_window":{{"context_window_size":200000,"total_input_tokens":"\ud83d"}},"model":[],"transcript_path":{}}}"#,
        json!(path)
    );
    let line = sandbox.given(&["statusline"], &payload).stdout;
    assert!(line.contains("/200k") && line.contains("1 waiting"), "{line}");
}

#[test]
fn the_status_line() {
    let sandbox = Sandbox::of("tools-and-spill");
    let path = sandbox.first_session();
    let line = |payload: &Value| sandbox.given(&["statusline"], &payload.to_string()).all();
    let window = json!({"total_input_tokens": 142_000, "context_window_size": 200_000});
    expect![[r#"
        ▓▓░░░░░░ 29k/200k 14 % · 138k free
        exit code 0
    "#]]
    .assert_eq(&line(&json!({"context_window": window, "transcript_path": path})));
    expect![[r#"
        ▓░░░░░░░ 29k/1M 3 % · 938k free
        exit code 0
    "#]]
    .assert_eq(&line(&json!({"transcript_path": path})));
    expect!["░░░░░░░░ 0/200k 0 %\nexit code 0\n"].assert_eq(&line(&json!({"context_window": {"context_window_size": 200_000}})));
    expect!["exit code 0\n"].assert_eq(&line(&json!(null)));
    // The status line of the client may have colours, although it is not a terminal.
    let mut command = sandbox.command(&["statusline"]);
    let child = start_with(command.env_remove("NO_COLOR"), &json!({"context_window": window}).to_string());
    let colored = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(colored.starts_with("\u{1b}[") && colored.contains("142k/200k"), "{colored:?}");
    // Pending commands are counted in the longest session too.
    sandbox.write("aperture.toml", "[model]\narchive = 'approve'\n");
    let text = fs::read_to_string(&path).unwrap();
    let last = last_answer(&path);
    let asks = said(1, last["uuid"].as_str().unwrap(), "@archive(16)");
    fs::write(&path, format!("{text}{asks}\n")).unwrap();
    told(&sandbox, "Stop", &json!({"transcript_path": path}));
    let progress = json!({"type": "progress", "data": "x".repeat(65 << 20)});
    fs::write(&path, format!("{text}{asks}\n{progress}\n")).unwrap();
    expect![[r#"
        ▓▓▓▓▓▓░░ 142k/200k 71 % · 25k free · 1 waiting
        exit code 0
    "#]]
    .assert_eq(&line(&json!({"context_window": window, "transcript_path": path})));
}

/// The first prompt after the cache expired has a price, which is told once, and with `[resume] ask` the prompt is held once.
#[test]
fn a_cold_resume_has_a_price() {
    let sandbox = Sandbox::of("older-model");
    let path = sandbox.first_session();
    // A window of 180k tokens, answered long ago.
    let text = fs::read_to_string(&path).unwrap();
    let bill = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if row["message"]["usage"].is_object() {
            row["message"]["usage"]["cache_read_input_tokens"] = json!(150_000);
        }
        format!("{row}\n")
    };
    fs::write(&path, text.lines().map(bill).collect::<String>()).unwrap();
    let ask = |event: &str, source: &str| {
        let payload = json!({"source": source, "transcript_path": path, "prompt": "go on"});
        let outcome = sandbox.given(&["hook", event], &payload.to_string());
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{event}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap_or_default()
    };
    let told = ask("SessionStart", "resume")["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.starts_with("The prompt cache expired ") && told.contains(": the next prompt costs ~$"), "{told}");
    assert_eq!(ask("SessionStart", "startup")["systemMessage"], Value::Null);
    assert_eq!(ask("UserPromptSubmit", "")["decision"], Value::Null, "nothing is held by default");
    sandbox.run(&["config", "set", "resume.ask", "true"]);
    assert_eq!(ask("SessionStart", "resume")["systemMessage"], Value::Null, "it is told once");
    let held = ask("UserPromptSubmit", "");
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().unwrap().ends_with("To continue as it is, send the prompt again."), "{held}");
    assert_eq!(ask("UserPromptSubmit", "")["decision"], Value::Null, "the second one passes");
}

/// Codex has the hooks of Claude Code in a file of its own, with other entries beside them.
#[test]
fn codex_gets_hooks_and_the_server_and_loses_exactly_these() {
    let sandbox = Sandbox::of("codex-tools");
    let hooks = sandbox.home.join(".codex/hooks.json");
    let own = "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n";
    fs::write(&hooks, own).unwrap();
    fs::write(sandbox.home.join(".codex/config.toml"), "model = \"gpt-5.5\"\n").unwrap();
    let before = tree(&sandbox.home.join(".codex"));
    expect![[r#"
        changed ~/.codex/config.toml: MCP server
        changed ~/.codex/hooks.json: 4 hooks
        active in new sessions; to remove: aperture uninstall codex
        codex runs the hooks once you trust them there: /hooks
    "#]]
    .assert_eq(&sandbox.text(&["install", "codex"]).replace("HOME", "~"));
    let settings: Value = serde_json::from_str(&fs::read_to_string(&hooks).unwrap()).unwrap();
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["Stop", "SessionStart", "UserPromptSubmit", "SessionEnd"]);
    assert_eq!(settings["hooks"]["Stop"].as_array().unwrap().len(), 2, "the other hook stays");
    assert_eq!(sandbox.run(&["install", "codex", "--check"]).code, 0);
    assert_eq!(sandbox.run(&["doctor"]).stdout.matches("codex: installed").count(), 1);
    // The payload and the answers are those of Claude Code.
    let rollout = &sandbox.rollouts().into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let payload =
        json!({"session_id": "s", "transcript_path": rollout, "cwd": sandbox.project, "source": "resume", "model": "m"});
    assert!(told(&sandbox, "SessionStart", &payload).contains("CONTEXT MANIFEST"));
    // Before the first prompt the file has texts of the client already, and the session is new all the same.
    let rows = fs::read_to_string(rollout).unwrap();
    let head: String = rows.lines().take(3).map(|row| format!("{row}\n")).collect();
    let new = sandbox.write("rollout-2026-11-23T01-50-24-01a20618-e4ce-7ee0-a638-442533742866.jsonl", head);
    let payload = json!({"session_id": "s", "transcript_path": new, "cwd": sandbox.project, "source": "startup", "model": "m"});
    let started = told(&sandbox, "SessionStart", &payload);
    assert!(started.contains("aperture keeps the memory of this session") && !started.contains("MANIFEST"), "{started}");
    sandbox.text(&["uninstall", "codex"]);
    assert_eq!(tree(&sandbox.home.join(".codex")), before);
    // A list that takes no entry of its own.
    fs::write(sandbox.home.join(".codex/config.toml"), "mcp_servers = {}\n").unwrap();
    let before = tree(&sandbox.home.join(".codex"));
    let refused = sandbox.run(&["install", "codex"]);
    let hint = "hint: nothing was written; give each entry a header of its own, such as [mcp_servers.NAME], then try again\n";
    assert!(refused.code == 1 && refused.stderr.ends_with(hint), "{}", refused.stderr);
    assert_eq!(tree(&sandbox.home.join(".codex")), before);
}
