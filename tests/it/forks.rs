//! Tests of `aperture fork`.

use crate::rows::rows_of;
use crate::sandbox::Sandbox;
use expect_test::expect;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Forks a session and returns the id and the file of the fork.
pub fn fork(sandbox: &Sandbox, arguments: &[&str]) -> (String, String, Value) {
    let report = sandbox.json(&[&["fork"], arguments].concat(), "aperture.fork/1");
    let (session, path) = (report["session"].as_str().unwrap(), report["path"].as_str().unwrap());
    let path = path.replace("HOME", &sandbox.home.to_string_lossy()).replace("SLUG", &sandbox.slug());
    (session.to_owned(), path, report.clone())
}

#[test]
fn a_fork_of_claude_code_is_a_session_of_its_own() {
    let sandbox = Sandbox::of("older-model");
    let before = sandbox.text(&["sessions", "--json"]);
    sandbox.check(
        &["fork", "--at", "turn(99)"],
        expect![[r#"
            error: there is no turn 99: the session has turns 1 to 1
            hint: to list the turns: aperture blocks --tree -s 77777777
            exit code 1
        "#]],
    );
    sandbox.check(
        &["pin"],
        expect![[r#"
            no pinned blocks
            exit code 0
        "#]],
    );
    let dry = sandbox.json(&["fork", "--at", "turn(1)", "--dry-run"], "aperture.fork/1");
    assert!(!Path::new(dry["path"].as_str().unwrap()).exists());
    assert_eq!(sandbox.text(&["sessions", "--json"]), before);
    let source = sandbox.text(&["transcript", "--raw"]);
    let (id, path, report) = fork(&sandbox, &["--at", "turn(1)"]);
    assert_eq!(report["resume"], format!("claude --resume {id}"));
    assert!(path.ends_with(&format!("{id}.jsonl")));
    for row in rows_of(&path) {
        assert!(row["sessionId"].is_null() || row["sessionId"] == *id, "{row}");
        assert!(!row["type"].as_str().unwrap().starts_with("api-request"), "{row}");
    }
    let forked = sandbox.text(&["transcript", "--raw", "-s", &id]);
    assert!(source.starts_with(&forked) && forked.len() > 100, "{forked}");
    let listed = sandbox.json(&["sessions"], "aperture.sessions/2");
    assert!(listed["sessions"].as_array().unwrap().iter().any(|session| session["id"] == *id));
    assert_eq!(sandbox.text(&["transcript", "--raw", "-s", report["source"].as_str().unwrap()]), source);
    fs::remove_file(&path).unwrap();
    let again = sandbox.run(&["fork", "--at", "turn(1)"]);
    assert!(again.stdout.contains("claude --resume") && again.stdout.contains("to remove the fork: rm "), "{}", again.all());
}

#[test]
fn a_fork_of_codex_names_its_source() {
    let sandbox = Sandbox::of("codex-tools");
    let source = fs::read(&sandbox.rollouts()[0]).unwrap();
    let (id, path, report) = fork(&sandbox, &["--at", "turn(1)"]);
    assert_eq!(report["resume"], format!("codex resume {id}"));
    let rows = rows_of(&path);
    assert_eq!(rows[0]["payload"]["id"], *id);
    assert_eq!(rows[0]["payload"]["forked_from_id"], report["source"]);
    assert_eq!(rows.last().unwrap()["payload"]["type"], "task_complete");
    let file = fs::read(&path).unwrap();
    // Only the first row differs.
    let rest = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').map(|at| bytes[at..].to_vec()).unwrap();
    assert!(rest(&source).starts_with(&rest(&file)));
    assert!(sandbox.rollouts().len() > 1);
    sandbox.text(&["show", "3", "-s", &id]);
}

#[test]
fn a_tool_use_is_forked_with_its_result() {
    let sandbox = Sandbox::of("older-model");
    let blocks = sandbox.json(&["blocks", "kind(tool_use)"], "aperture.blocks/2");
    let call = blocks["blocks"][0]["number"].as_u64().unwrap();
    let (id, _, report) = fork(&sandbox, &["--at", &call.to_string()]);
    assert!(report["last_block"].as_u64().unwrap() > call);
    let counts = |kind: &str| sandbox.json(&["blocks", kind, "-s", &id], "aperture.blocks/2")["blocks"].as_array().unwrap().len();
    assert_eq!(counts("kind(tool_use)"), counts("kind(tool_result)"));
}

#[test]
fn inherited_blocks_are_forked_in_their_session() {
    let sandbox = Sandbox::of("codex-fork");
    let sessions = sandbox.json(&["sessions"], "aperture.sessions/2");
    assert!(!sessions["sessions"].as_array().unwrap().is_empty());
    let (_, path, _) = fork(&sandbox, &[]);
    assert!(rows_of(&path).len() > 3);
}

#[test]
fn marks_are_listed_without_arguments() {
    let sandbox = Sandbox::of("older-model");
    sandbox.text(&["pin", "9", "13"]);
    sandbox.text(&["focus", "16"]);
    for (command, selector) in [("pin", "pinned"), ("focus", "focused")] {
        assert_eq!(sandbox.text(&[command]), sandbox.text(&["blocks", selector]));
        assert_eq!(sandbox.text(&[command, "--json"]), sandbox.text(&["blocks", selector, "--json"]));
    }
    for command in ["snapshot", "preset"] {
        assert_eq!(sandbox.text(&[command]), sandbox.text(&[command, "list"]));
    }
    assert_eq!(sandbox.run(&["pin", "--top"]).code, 2);
}

#[test]
fn the_last_turns_are_kept() {
    let sandbox = Sandbox::of("codex-tools");
    let turns = sandbox.json(&["blocks", "all"], "aperture.blocks/2");
    let last = turns["blocks"].as_array().unwrap().iter().filter_map(|block| block["turn"].as_u64()).max().unwrap();
    let changed = |arguments: &[&str]| {
        let report = sandbox.json(&[&["compress", "--dry-run"], arguments].concat(), "aperture.change/2");
        let numbers = report["changes"].as_array().unwrap().iter().filter_map(|change| change["number"].as_u64());
        numbers.collect::<Vec<_>>()
    };
    let all = changed(&["all", "--level", "minimal"]);
    assert!(!all.is_empty());
    assert!(changed(&["all", "--level", "minimal", "--keep-turns", &last.to_string()]).is_empty());
    assert_eq!(changed(&["all", "--level", "minimal", "--keep-turns", "0"]), all);
    let stale = changed(&["--preset", "aggressive"]);
    sandbox.write("aperture.toml", format!("[protect]\nturns = {last}\n"));
    assert!(changed(&["--preset", "aggressive"]).is_empty());
    assert_eq!(changed(&["--preset", "aggressive", "--keep-turns", "0"]), stale);
    assert_eq!(changed(&["all", "--level", "minimal"]), all);
}

#[test]
fn words_are_completed() {
    let sandbox = Sandbox::of("older-model");
    let complete = |words: &[&str]| sandbox.text(&[&["complete", "--"], words].concat());
    assert!(complete(&["-s", ""]).starts_with("77777777-7777-4777-8777-777777777777\t"));
    assert!(complete(&["blocks", "3,tool(G"]).starts_with("3,tool(Glob)\ttool of the session\n3,tool(Grep)\t"));
    assert!(complete(&["archive", "sta"]).starts_with("stale\t"));
    assert!(complete(&["fork", "--at", ""]).starts_with("turn(1)\t"));
    assert!(complete(&["help", "sel"]).starts_with("selectors\t"));
    assert_eq!(complete(&["-s", "nosuch", "blocks", "tool("]), "");
    assert_eq!(complete(&["compress", "--lev"]), "");
    assert_eq!(complete(&[]), "");
}
