//! Tests of the commands that change a session: their output, and their common properties.

use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, contents_below, directory_in, files_ending, homes, sample, snapshot, words};
use aperture::engine::{self, marker};
use expect_test::expect;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

/// Runs a command line with `--json` and returns its object, whose schema is `aperture.<name>/1`.
pub fn json(sandbox: &Sandbox, line: &str, name: &str) -> serde_json::Value {
    let words = words(line);
    let contracts = aperture::commands::contracts();
    let schema = contracts.iter().find(|contract| contract.name.starts_with(&format!("aperture.{name}/"))).unwrap().name;
    sandbox.json(&words.iter().map(String::as_str).collect::<Vec<_>>(), schema)
}

pub fn bytes(sandbox: &Sandbox) -> Vec<u8> {
    fs::read(sandbox.first_session()).unwrap()
}

/// Every file below a directory but the cache, with its bytes.
fn everything(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let cache = directory.join(".aperture/cache");
    contents_below(directory).into_iter().filter(|(path, _)| !path.starts_with(&cache)).collect()
}

/// Commands that change a session, each with something to do on one of which block 16 is shortened, 14 pinned and 22 selected.
const CHANGING: &[&str] = &[
    "compress 19", "compress --budget 18k", "expand 16", "archive 24 --reason done", "recall 16 --restore",
    "recall NEEDLE7 --inject", "pin 20", "unpin 14", "focus 20", "unfocus", "update 24 'nothing found'", "create 'a note'",
];

#[test]
fn shortening() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "compress 'kind(tool_result)' --level trimmed --dry-run",
        "compress 'kind(tool_result)' --level trimmed",
        "compress 'kind(tool_result)' --level trimmed",
        "compress 16 --level minimal",
        "expand 16 --level summarized --dry-run",
        "expand compressed",
        "expand compressed",
        "compress --stale",
        "compress --over-budget",
        "compress --budget 20k",
        "archive 19|24 --reason 'listing is done' --dry-run",
        "archive 19|24 --reason 'listing is done'",
        "archive 19",
        "archive 13",
        "manifest",
        "manifest --tier summary",
        "compress",
        "compress 999",
        "compress 1",
        "compress 13",
        "compress 45",
        "compress cold",
        "compress 16 --level original",
        "compress --preset heavy",
        "compress nonsense",
        "compress 16 --keep-from 10",
    ];
    sandbox.snapshot("changing-shortening", &lines);
}

#[test]
fn all_sessions_are_searched_and_each_match_says_where_it_is() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.add("codex-tools");
    sandbox.add("older-model");
    let elsewhere = sandbox.home.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let run = |line: &str| {
        let words = words(line);
        let output = sandbox.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).current_dir(&elsewhere).output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = run("recall echo --all");
    assert!(code == Some(0) && text.contains("\nsearched 3 sessions\n"), "{text}");
    let (_, report) = run("recall echo --all --json");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let sessions = report["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &report["covered"]["searched"]), (1, &3.into()), "{report}");
    let (_, subagents) = run("search NEEDLE7 --json");
    assert!(subagents.contains("/subagents/agent-"), "{subagents}");
    for session in sessions {
        for turn in session["turns"].as_array().unwrap().iter().filter(|turn| turn["turn"] != 0) {
            let (code, shown) = run(&format!("show 'turn({})' -s {}", turn["turn"], session["session"].as_str().unwrap()));
            assert!(code == Some(0) && shown.contains(turn["line"].as_str().unwrap().trim()), "{turn}: {shown}");
        }
    }
    let (code, text) = run("recall setting_nowhere_14 --all");
    assert!(code == Some(1) && text.contains("no match for 'setting_nowhere_14' in 3 sessions"), "{text}");
    // Archived content is found by its original.
    sandbox.done("archive 19 -s 11111111");
    let (_, text) =
        run("recall 'long output' --project PROJECT".replace("PROJECT", &sandbox.project.display().to_string()).as_str());
    assert!(text.contains("11111111"), "{text}");
}

#[test]
fn recalling() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "recall 19",
        "recall nothing-at-all",
        "archive 19|38 --reason done",
        "recall 38",
        "recall 'lorem ipsum' --max-tokens 40",
        "recall 'mcp line 7' --inject --dry-run",
        "recall 'mcp line 7' --inject",
        "recall 38 --restore",
        "recall 38 --restore",
        "recall 'no such words anywhere'",
        "recall 'no such words anywhere' --restore",
        "recall 1..3 --restore --inject",
    ];
    sandbox.snapshot("changing-recalling", &lines);
    Sandbox::of("interactive-compact").snapshot("changing-recalling-hidden", &["recall 14|23", "recall 14 --restore"]);
}

#[test]
fn marking() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "pin 16|19 --dry-run",
        "pin 16|19",
        "pin 16",
        "pin 24 --top",
        "pin 24 --bottom",
        "compress 16",
        "archive 16",
        "update 19 'by name, a pinned block may be changed'",
        "unpin 14",
        "focus 38",
        "focus 33|34",
        "compress 33",
        "focus 38 --add",
        "manifest",
        "blocks pinned",
        "blocks focused",
        "unfocus 33",
        "unfocus",
        "unfocus",
        "unpin pinned",
        "pin 999",
    ];
    sandbox.snapshot("changing-marking", &lines);
}

#[test]
fn writing() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "update 24 'nothing was found' --dry-run",
        "update 24 'nothing was found'",
        "update 24 'nothing was found'",
        "update 24 ''",
        "update 24 ' '",
        "update 24|38 'for both'",
        "update 999 x",
        "update 1 'another task'",
        "update 13 'other thoughts'",
        "update 15 'no object'",
        "update 21 '{\"command\":\"grep\"}'",
        "create 'the tests need a database' --dry-run",
        "create 'the tests need a database'",
        "create ''",
        "diff --stat",
    ];
    sandbox.snapshot("changing-writing", &lines);
}

#[test]
fn turns() {
    let lines = [
        "compact 2..4 --dry-run",
        "compact 2",
        "undo",
        "compact 2..4 --summary 'the tax is computed'",
        "manifest --since 2",
        "compact 5",
        "compact 9",
        "compact 4..2",
        "compact x",
        "pin 15",
        "undo 3",
        "compact 2",
        "uncompact",
    ];
    Sandbox::of("rewind").snapshot("changing-turns", &lines);
    let lines = ["uncompact --dry-run", "uncompact", "uncompact", "status", "undo", "status"];
    Sandbox::of("interactive-compact").snapshot("changing-uncompact", &lines);
}

#[test]
fn the_log_and_the_way_back() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = [
        "log",
        "snapshot list",
        "diff",
        "undo",
        "redo",
        "restore original",
        "compress 16|19 --level minimal",
        "snapshot save cleaned",
        "archive 16 --reason 'read elsewhere'",
        "create 'a note'",
        "log",
        "diff --stat",
        "diff cleaned --stat",
        "diff 1 2",
        "diff 2 1",
        "diff nowhere",
        "undo 1",
        "undo 99",
        "undo",
        "undo 3",
        "redo",
        "redo",
        "log",
        "snapshot save cleaned",
        "snapshot save 3",
        "snapshot save original",
        "snapshot list",
        "snapshot show cleaned",
        "snapshot show nowhere",
        "snapshot delete nowhere",
        "restore cleaned --dry-run",
        "restore cleaned",
        "restore cleaned",
        "restore nowhere",
        "snapshot save cleaned --force",
        "undo 3",
        "restore original",
        "diff",
        "snapshot delete cleaned",
        "log",
    ];
    sandbox.snapshot("changing-log", &lines);
}

#[test]
fn settings_and_presets() {
    let sandbox = Sandbox::of("subagents-and-tasks");
    let set = |text: &str| drop(sandbox.write("aperture.toml", text));
    let lines = ["preset list", "preset show", "preset show light", "preset show heavy", "preset use heavy"];
    sandbox.snapshot("changing-presets", &lines);
    sandbox.done("preset use aggressive");
    assert_eq!(json(&sandbox, "preset show", "presets")["presets"][0]["name"], "aggressive");
    let mut text = String::new();
    for (settings, line) in [
        ("", "compress --budget 26k --dry-run"),
        ("[protect]\ntools = ['bash', 'agent']\n", "compress --budget 26k --dry-run"),
        ("[protect]\npaths = ['**/big.py']\npatterns = ['line 17']\n", "compress --budget 26k --dry-run"),
        ("[protect]\ntools = ['bash']\n", "compress 20 --level minimal --dry-run"),
        ("[protect]\npaths = ['a[']\n", "compress --stale --dry-run"),
        ("[levels]\ntrimmed = 5\nminimal = 70\nsuperseded = 'archived'\n", "preset show"),
        ("[levels]\nsuperseded = 'gone'\n", "preset show"),
        ("[budget]\ntokens = 26000\n", "compress --over-budget --dry-run"),
        ("[budget]\npercent = 13\n", "compress --over-budget --dry-run"),
        ("[budget]\npercent = 90\n", "compress --over-budget --dry-run"),
        ("preset = 'heavy'\n", "compress --stale --dry-run"),
    ] {
        set(settings);
        text.push_str(&format!("{settings}$ aperture {line}\n{}\n", sandbox.enter(line).all()));
    }
    snapshot("changing-settings", &text);
}

#[test]
fn a_selection_holds_for_some_turns() {
    let sandbox = Sandbox::of("rewind");
    let focused = || json(&sandbox, "blocks focused", "blocks")["blocks"].as_array().unwrap().len();
    sandbox.write("aperture.toml", "[focus]\nturns = 1\n");
    sandbox.done("focus 14");
    assert_eq!(focused(), 1);
    let last = "\n{\"type\":\"user\",\"uuid\":\"11111111-2222-4333-8444-555555555555\",\"parentUuid\":PARENT,\"sessionId\":\"88888888-8888-4888-8888-888888888888\",\"timestamp\":\"2026-11-21T23:50:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"go on\"}}\n";
    let rows = String::from_utf8(bytes(&sandbox)).unwrap();
    let linked = rows.lines().rev().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let parent = linked.filter(|row| row["type"] == "assistant").map(|row| row["uuid"].to_string()).next().unwrap();
    let again = last.replace("PARENT", &parent);
    let more = again.replace("11111111-", "11111112-").replace(&parent, "\"11111111-2222-4333-8444-555555555555\"");
    fs::write(sandbox.first_session(), format!("{}{}{}", rows.trim_end(), again, more.trim_start())).unwrap();
    assert_eq!(focused(), 0, "it is let go after one turn");
    sandbox.write("aperture.toml", "[focus]\nturns = 9\n");
    assert_eq!(focused(), 1);
}

#[test]
fn a_session_that_is_open() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.open_in_client();
    let lines = ["compress 16", "compress 16 --dry-run --level minimal", "snapshot save here", "pin 16", "compress 19 --live"];
    sandbox.snapshot("changing-live", &lines);
}

#[test]
fn wide_and_narrow() {
    let lines = [
        "compress 16|19|24|38 --level trimmed --dry-run",
        "archive 'kind(tool_result)' --reason 'the whole listing was read, and nothing of it is needed any more'",
        "create 'a note'",
        "undo",
        "log",
        "diff --stat",
        "manifest",
    ];
    Sandbox::of("tools-and-spill").columns(140).snapshot("changing-columns-140", &lines);
    Sandbox::of("tools-and-spill").columns(60).snapshot("changing-columns-60", &lines);
}

#[test]
fn no_screen_is_wider_than_the_terminal() {
    for columns in [60, 80, 140] {
        let sandbox = Sandbox::of("tools-and-spill").columns(columns);
        for line in [
            "archive all",
            "undo",
            "log",
            "compress all --level trimmed --dry-run",
            "pin 1..20",
            "snapshot save a-rather-long-name-for-a-snapshot",
            "log",
            "preset list",
        ] {
            let text = sandbox.done(line);
            let wide = text.lines().find(|text| text.width() > columns.max(80));
            assert_eq!(wide, None, "{line} at {columns} columns");
        }
    }
}

#[test]
fn help_fits_the_terminal() {
    let sandbox = Sandbox::new();
    for name in [
        "compress", "expand", "archive", "recall", "pin", "unpin", "focus", "unfocus", "update", "create", "compact",
        "housekeeping", "uncompact", "diff", "log", "snapshot", "restore", "preset", "undo", "redo",
    ] {
        let text = sandbox.done(&format!("help {name}"));
        let wide = text.lines().find(|text| text.width() > 80);
        assert_eq!(wide, None, "help {name}");
    }
}

/// The level and the marks of each block.
fn levels(sandbox: &Sandbox) -> Vec<String> {
    let blocks = json(sandbox, "blocks all", "blocks");
    let blocks = blocks["blocks"].as_array().unwrap().iter();
    blocks.map(|block| format!("{} {} {} {}", block["number"], block["level"], block["pin"], block["focused"])).collect()
}

/// Checks the properties of a command that changes a session and has something to do: JSON of one schema, a dry run that writes
/// nothing and prints the same, refusal of an open session, and an undo and redo that are exact to the byte.
fn laws(sandbox: &Sandbox, line: &str) {
    let before = everything(&sandbox.home);
    let rows = bytes(sandbox);
    let planned = json(sandbox, &format!("{line} --dry-run"), "change");
    assert_eq!((&planned["dry_run"], &planned["operation"]), (&true.into(), &serde_json::Value::Null), "{line}");
    assert!(everything(&sandbox.home) == before, "{line} --dry-run wrote something");
    // Marks are the store's alone: a client need not read them.
    if planned["edits"] != 0 {
        let registry = sandbox.open_in_client();
        let outcome = sandbox.enter(line);
        fs::remove_dir_all(registry).unwrap();
        assert_eq!((outcome.code, &*outcome.stdout), (3, ""), "{line}");
        assert!(outcome.stderr.contains("use --live"), "{line}: {}", outcome.stderr);
        assert!(everything(&sandbox.home) == before, "{line} changed a session that is open");
    }
    let report = json(sandbox, line, "change");
    assert!(report["operation"].as_u64() > Some(0), "{line}: {report}");
    for member in ["verb", "kind", "changes", "marks", "unmarked", "edits", "tokens_before", "tokens_after"] {
        assert_eq!(planned[member], report[member], "{member} of {line}");
    }
    let after = levels(sandbox);
    let (back, forth) = if line.starts_with("undo") { ("redo", line) } else { ("undo", "redo") };
    let text = sandbox.done(back);
    let reverts = if back == "undo" { "redo" } else { "undo" };
    let session = &report["session"].as_str().unwrap()[..8];
    assert!(
        text.ends_with(&format!("; to revert: aperture {reverts} -s {session}\n")) && !text.contains('\u{1b}'),
        "{line}, {back}: {text}"
    );
    assert!(bytes(sandbox) == rows, "{line} and {back}");
    sandbox.done(forth);
    // After other changes, bills are estimated again, and thinking that matches again is sent again.
    assert_eq!(levels(sandbox), after, "{line}, {back} and {forth}");
}

#[test]
fn every_change_keeps_the_laws() {
    let sandbox = Sandbox::of("tools-and-spill");
    for line in ["compress 16 --level minimal", "pin 14", "focus 22"] {
        sandbox.done(line);
    }
    for line in sample(CHANGING, 2) {
        laws(&sandbox, line);
        sandbox.done("undo");
    }
    laws(&sandbox, "undo 1");
    sandbox.done("redo");
    sandbox.done("create old");
    for line in ["undo", "redo", "restore original"] {
        laws(&sandbox, line);
    }
    assert!(bytes(&sandbox) == bytes(&Sandbox::of("tools-and-spill")), "every byte is back");
    for (fixture, line) in [("rewind", "compact 2"), ("interactive-compact", "uncompact")] {
        let sandbox = Sandbox::of(fixture);
        laws(&sandbox, line);
        sandbox.done("restore original");
        assert!(bytes(&sandbox) == bytes(&Sandbox::of(fixture)), "{line}");
    }
}

/// A text of some kilobytes of which hardly a line will be needed.
fn long_text() -> String {
    (0..60).map(|line| format!("\\nStep {line} went well, and nothing of it was unusual.")).collect()
}

/// A marker has the number that its block had before a note before it was taken out.
#[test]
fn a_block_is_found_by_the_number_in_its_marker() {
    let sandbox = crate::obeying::sandbox();
    let shown = |selector: &str| -> Vec<u64> {
        let shown = sandbox.json(&["show", selector], "aperture.show/2");
        shown["blocks"].as_array().unwrap().iter().map(|block| block["number"].as_u64().unwrap()).collect()
    };
    sandbox.done("create 'a note'");
    let text: String = (0..60).map(|line| format!("Step {line} went well.\n")).collect();
    crate::obeying::say(&sandbox, &text);
    let number = *shown("all").last().unwrap();
    sandbox.done(&format!("compress {number} --level minimal"));
    sandbox.done("undo 1");
    assert_eq!(shown(&number.to_string()), [number - 1]);
    assert!(sandbox.done(&format!("recall {number}")).contains("Step 31 went well."));
    crate::obeying::say(&sandbox, "Done.");
    assert_eq!(shown(&number.to_string()), [number - 1, number], "the number is of another block now");
    assert_eq!(shown(&format!("{}", number - 1)), [number - 1]);
    sandbox.done(&format!("expand {number}"));
    assert!(sandbox.done(&format!("show {}", number - 1)).contains("Step 31 went well."));
    assert_eq!(shown(&number.to_string()), [number], "the marker is gone");
}

#[test]
fn instructions_in_force_never_become_stale() {
    for (fixture, short) in [
        ("interactive-compact", "MOCK-SUMMARY of the conversation."),
        ("codex-compaction", "<permissions instructions>"),
        ("codex-compaction", "rename the module basket to cart"),
        ("codex-tools", "<permissions instructions>"),
    ] {
        let sandbox = Sandbox::of(fixture);
        let file = if fixture.starts_with("codex") { sandbox.rollouts().remove(0) } else { sandbox.first_session() };
        let rows = fs::read_to_string(&file).unwrap();
        assert!(rows.contains(short), "{fixture}");
        fs::write(&file, rows.replace(short, &format!("{short}{}", long_text()))).unwrap();
        let file = file.display();
        let blocks = json(&sandbox, &format!("blocks 'larger(200) & (kind(text) | kind(attachment))' -s '{file}'"), "blocks");
        // The environment is the state of a machine: not an instruction, and in the fixtures mostly filler.
        let ground = blocks["blocks"].as_array().unwrap().iter().filter(|block| block["label"] != "environment");
        let numbers: Vec<_> = ground.map(|block| &block["number"]).collect();
        assert!(!numbers.is_empty(), "{fixture}");
        for aim in ["--preset aggressive", "--stale --level minimal"] {
            let planned = json(&sandbox, &format!("compress {aim} --dry-run -s '{file}'"), "change");
            let shortened = planned["differences"].as_array().unwrap().iter().map(|block| &block["number"]);
            assert!(shortened.into_iter().all(|number| !numbers.contains(&number)), "{aim} of {fixture}");
        }
    }
}

#[test]
fn a_look_ahead_makes_no_store() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.done("compress 16 --dry-run --no-cache");
    assert!(!sandbox.home.join(".aperture").exists());
}

#[test]
fn every_report_is_json() {
    let sandbox = Sandbox::of("tools-and-spill");
    for (line, name) in [
        ("compress 16 --level minimal", "change"),
        ("compress 16 --level minimal", "change"),
        ("log", "log"),
        ("diff", "diff"),
        ("manifest --since 1", "diff"),
        ("manifest --since turn:1", "diff"),
        ("snapshot save a", "snapshots"),
        ("snapshot list", "snapshots"),
        ("snapshot show a", "diff"),
        ("preset list", "presets"),
        ("recall 16", "recall"),
    ] {
        json(&sandbox, line, name);
    }
}

#[test]
fn a_query_without_a_match_is_reported_in_text_and_json() {
    let sandbox = Sandbox::of("tools-and-spill");
    let (said, reported) = (sandbox.run(&["recall", "nosuchword"]), sandbox.run(&["recall", "nosuchword", "--json"]));
    assert_eq!((said.code, &*said.stdout), (1, ""));
    assert!(said.stderr.starts_with("error: no archived, shortened or compacted content matches"), "{}", said.stderr);
    assert_eq!((reported.code, &*reported.stderr), (1, ""));
    let report: serde_json::Value = serde_json::from_str(&reported.stdout).unwrap();
    assert_eq!((&report["schema"], &report["blocks"]), (&"aperture.recall/1".into(), &serde_json::json!([])));
}

#[test]
fn an_identifier_with_underscores_is_a_query() {
    let sandbox = Sandbox::of("tools-and-spill");
    let outcome = sandbox.enter("recall setting_2_14");
    assert!(outcome.stderr.contains("matches 'setting_2_14'"), "{}", outcome.all());
    let outcome = sandbox.enter("recall NEEDLE");
    assert!(outcome.stderr.contains("is not in removed content"), "{}", outcome.all());
    assert!(outcome.stderr.contains("hint: to read the best: aperture show "), "{}", outcome.all());
}

#[test]
fn an_error_is_json_if_json_is_requested() {
    let sandbox = Sandbox::of("tools-and-spill");
    for (line, code) in [("show 9999 --json", 1), ("compress --json", 2), ("grep words --json", 2), ("blocks --nosuch --json", 2)]
    {
        let outcome = sandbox.enter(line);
        let error: serde_json::Value = serde_json::from_str(&outcome.stderr).unwrap_or_else(|_| panic!("{}", outcome.all()));
        assert_eq!((&error["schema"], &error["exit_code"]), (&"aperture.error/1".into(), &code.into()), "{line}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty() && !text.starts_with("error:")), "{line}: {error}");
    }
}

#[test]
fn a_hit_in_another_session_says_which() {
    let sandbox = Sandbox::of("tools-and-spill");
    let first = "11111111-1111-4111-8111-111111111111";
    sandbox.text(&["archive", "16|19", "-s", first]);
    let rows = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"hello"}}"#;
    sandbox.session("22222222-2222-4222-8222-222222222222", rows, 1_900_000_000);
    let words = sandbox.text(&["show", "16", "--raw", "-s", first]);
    let recalled = sandbox.text(&["recall", "16", "-s", first]);
    let word = recalled.split_whitespace().rfind(|word| word.len() > 5).unwrap();
    assert!(!words.is_empty());
    let text = sandbox.text(&["recall", word, "--all"]);
    assert!(text.starts_with("11111111  "), "{text}");
    let text = sandbox.text(&["recall", word, "--all", "--inject", "--dry-run"]);
    assert!(text.contains("Recalled from earlier sessions") && text.contains("11111111  "), "{text}");
}

#[test]
fn a_budget_is_met_where_it_can_be() {
    let sandbox = Sandbox::of("subagents-and-tasks");
    let text = sandbox.done("compress --budget 26050");
    assert!(!text.contains("over the budget"), "{text}");
    // Of a window of a million tokens.
    let sandbox = Sandbox::of("tools-and-spill");
    let half = sandbox.done("compress --budget 1.8% --dry-run");
    assert_eq!(half, sandbox.done("compress --budget 18k --dry-run"));
    for wrong in ["0%", "101%", "x%", "0"] {
        assert_eq!(sandbox.enter(&format!("compress --budget {wrong}")).code, 2, "{wrong}");
    }
    let impossible = sandbox.enter("compress --budget 1k");
    assert!(
        impossible.code == 1 && impossible.stderr.contains("smallest possible: aperture compress --budget"),
        "{}",
        impossible.stderr
    );
}

#[test]
fn the_same_twice_is_the_same_once() {
    for line in [
        "compress 16|19|24 --level trimmed",
        "compress 16|19 --level minimal",
        "archive 16|24 --reason done",
        "archive 38",
        "compress --budget 18k",
    ] {
        let sandbox = Sandbox::of("tools-and-spill");
        sandbox.done(line);
        let once = bytes(&sandbox);
        let text = sandbox.done(line);
        assert!(text.starts_with("nothing to do"), "{line}: {text}");
        assert!(bytes(&sandbox) == once, "{line}");
    }
}

#[test]
fn every_way_to_a_level_ends_the_same() {
    let levels = ["original", "trimmed", "summarized", "minimal"];
    let go = |sandbox: &Sandbox, level: &str| match level {
        "original" => sandbox.done("expand 16|19|38"),
        level => sandbox.done(&format!("compress 16|19|38 --level {level}")),
    };
    let content = |sandbox: &Sandbox| sandbox.done("show 16|19|38 --raw");
    let direct: BTreeMap<&str, String> = levels
        .iter()
        .map(|level| {
            let sandbox = Sandbox::of("tools-and-spill");
            go(&sandbox, level);
            (*level, content(&sandbox))
        })
        .collect();
    let original = bytes(&Sandbox::of("tools-and-spill"));
    let sandbox = Sandbox::of("tools-and-spill");
    // `compress` never makes a block longer, so the way to a higher level is `expand`.
    let mut now = "original";
    for level in ["trimmed", "minimal", "summarized", "trimmed", "summarized", "original", "minimal", "trimmed", "original"] {
        if levels.iter().position(|known| *known == level) < levels.iter().position(|known| *known == now) && level != "original"
        {
            let text = sandbox.done(&format!("compress 16|19|38 --level {level}"));
            assert!(text.starts_with("nothing to do"), "{level}: {text}");
            assert_eq!(content(&sandbox), direct[now], "{level}");
            sandbox.done(&format!("expand 16|19|38 --level {level}"));
        } else {
            go(&sandbox, level);
        }
        now = level;
        assert_eq!(content(&sandbox), direct[level], "{level}");
    }
    sandbox.done("restore original");
    assert!(bytes(&sandbox) == original);
}

/// Lines of some length that begin with a word.
fn lines_of(word: &str, lines: usize) -> String {
    (0..lines).map(|line| format!("{word} line {line} of the output of a build that says nothing\n")).collect()
}

#[test]
fn the_text_that_a_block_was_given_is_the_one_that_gets_shorter_and_comes_back() {
    let sandbox = Sandbox::of("tools-and-spill");
    let file = sandbox.first_session();
    let given = lines_of("error: GIVEN", 60);
    sandbox.given(&["update", "16", "-"], &given);
    let updated = bytes(&sandbox);
    sandbox.done("compress 16 --level trimmed");
    assert!(sandbox.done("show 16").contains("GIVEN"));
    sandbox.done("expand 16");
    assert!(bytes(&sandbox) == updated);
    sandbox.done("compress 16 --level minimal");
    sandbox.done("undo");
    // Another program changes the text afterwards.
    let changed = fs::read_to_string(&file).unwrap().replace("GIVEN", "OTHER");
    fs::write(&file, &changed).unwrap();
    sandbox.done("compress 16 --level trimmed");
    assert!(sandbox.done("show 16").contains("OTHER") && !fs::read_to_string(&file).unwrap().contains("GIVEN"));
    sandbox.done("expand 16");
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    // A restore brings a shortened form back, and with it the same original.
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.given(&["update", "16", "-"], &given);
    let updated = bytes(&sandbox);
    for line in ["compress 16", "snapshot save short", "undo", "restore short", "expand 16"] {
        sandbox.done(line);
    }
    assert!(bytes(&sandbox) == updated);
    // An undone change of the text takes the earlier one back, also as the original of the shortened form.
    let sandbox = Sandbox::of("tools-and-spill");
    let original = bytes(&sandbox);
    for line in ["compress 16 --level trimmed", "update 16 short", "compress 16", "undo", "undo", "expand 16"] {
        sandbox.enter(line);
    }
    assert!(bytes(&sandbox) == original);
}

#[test]
fn a_call_whose_texts_are_nested_is_known_as_shortened() {
    let sandbox = Sandbox::new();
    let mut rows = Rows::new("5a000000-0000-4000-8000-000000000001", "/home/dev/shop").each_minute();
    rows.prompt("change the prices");
    let todo = |word: &str| json!({"content": lines_of(word, 9), "activeForm": lines_of(word, 9), "status": "pending"});
    rows.call("TodoWrite", json!({"todos": [todo("first"), todo("second")]}), "ok");
    let edit = |word: &str| json!({"old_string": lines_of(word, 20), "new_string": lines_of(word, 30)});
    rows.call("MultiEdit", json!({"file_path": "/home/dev/shop/a.rs", "edits": [edit("one"), edit("two")]}), "ok");
    rows.call("mcp__notes__put", json!({"notes": {"list": [{"text": lines_of("note", 40)}]}}), "ok");
    rows.answer("done");
    let file = sandbox.session("5a000000-0000-4000-8000-000000000001", rows.text(), 60);
    let original = fs::read(&file).unwrap();
    for number in [2, 4, 6] {
        for line in [format!("compress {number} --level minimal"), format!("archive {number}")] {
            sandbox.done(&line);
            let blocks = json(&sandbox, &format!("blocks {number}"), "blocks");
            assert_ne!(blocks["blocks"][0]["level"], "original", "{line}");
            assert!(sandbox.done(&line).contains("nothing to do"), "{line}");
            sandbox.done(&format!("expand {number}"));
            assert!(fs::read(&file).unwrap() == original, "{line}");
        }
    }
}

#[test]
fn a_plan_that_the_client_does_not_send_stays() {
    let sandbox = Sandbox::new();
    let mut rows = Rows::new("5a000000-0000-4000-8000-000000000001", "/home/dev/shop").each_minute();
    rows.prompt("change the prices");
    rows.call("ExitPlanMode", json!({"plan": lines_of("step", 60), "planFilePath": "/home/dev/plan.md"}), "ok");
    rows.answer("done");
    sandbox.session("5a000000-0000-4000-8000-000000000001", rows.text(), 60);
    let compressed = sandbox.done("compress 2");
    assert!(compressed.contains("nothing to do") && compressed.contains("already as short as possible"), "{compressed}");
}

#[test]
fn turns_fold_and_unfold_as_often_as_one_likes() {
    let sandbox = Sandbox::of("rewind");
    let original = bytes(&sandbox);
    sandbox.done("compact 2");
    let (folded, shown) = (bytes(&sandbox), sandbox.done("blocks"));
    for _ in 0..2 {
        sandbox.done("undo");
        assert!(bytes(&sandbox) == original);
        sandbox.done("redo");
        assert_eq!(sandbox.done("blocks"), shown);
        assert!(bytes(&sandbox) == folded);
    }
}

/// A client that splits a message writes the branch after it again: the response belongs to two turns, and is removed with either.
#[test]
fn a_response_on_two_branches_is_folded_once() {
    let sandbox = Sandbox::of("older-model");
    let rows = [
        (1, None, "user", "first"),
        (2, Some(1), "m1", "one"),
        (3, None, "user", "first"),
        (4, Some(3), "m1", "one"),
        (5, Some(4), "user", "second"),
        (6, Some(5), "m2", "two"),
        (7, Some(6), "user", "third"),
        (8, Some(7), "m3", "three"),
    ];
    let uuid = |id: u32| format!("00000000-0000-4000-8000-{id:012}");
    let row = |&(id, parent, who, text): &(u32, Option<u32>, &str, &str)| {
        let content = serde_json::json!([{ "type": "text", "text": text }]);
        let (kind, message) = match who {
            "user" => ("user", serde_json::json!({ "role": "user", "content": content })),
            _ => (
                "assistant",
                serde_json::json!({ "role": "assistant", "id": who, "model": "claude-opus-4-5", "content": content }),
            ),
        };
        let row = serde_json::json!({
            "parentUuid": parent.map(uuid), "isSidechain": false, "type": kind, "message": message, "uuid": uuid(id),
            "timestamp": format!("2026-01-01T00:00:{id:02}.000Z"), "sessionId": "s", "version": "2.1.29", "cwd": "/home/dev/shop",
        });
        format!("{row}\n")
    };
    let original: String = rows.iter().map(row).collect();
    fs::write(sandbox.first_session(), &original).unwrap();
    sandbox.done("compact 2..3");
    sandbox.done("undo");
    assert!(bytes(&sandbox) == original.as_bytes());
    // Content that is only on the other branch would be lost without being folded.
    let other = row(&(9, Some(2), "m1", "said on the other branch alone")).replace("00:00:09", "00:00:02");
    let two = original.match_indices('\n').nth(1).unwrap().0 + 1;
    let alone = format!("{}{other}{}", &original[..two], &original[two..]);
    fs::write(sandbox.first_session(), &alone).unwrap();
    let refused = sandbox.enter("compact 2..3").all();
    assert!(refused.contains("would no longer be sent"), "{refused}");
    assert!(bytes(&sandbox) == alone.as_bytes());
}

/// The client would immediately compact the restored messages again.
#[test]
fn uncompact_tells_when_the_client_compacts_again() {
    for (window, told) in [("60k", true), ("200k", false)] {
        let said = Sandbox::of("interactive-compact").done(&format!("uncompact --window {window}"));
        assert_eq!(said.contains("the client compacts automatically above about 27k"), told, "{said}");
    }
}

#[test]
fn one_digest_takes_the_place_of_all_that_is_old() {
    for fixture in ["tools-and-spill", "older-model", "subagents-and-tasks"] {
        let sandbox = Sandbox::of(fixture);
        let original = bytes(&sandbox);
        let before = sandbox.done("transcript --raw");
        let said = sandbox.done("compress --preset handoff");
        assert!(said.contains("folded into one digest"), "{fixture}: {said}");
        let after = sandbox.done("transcript --raw");
        assert!(after.len() * 10 < before.len() * 9, "{fixture}");
        assert_eq!(after.matches("[digest of ").count(), 1, "{fixture}");
        // The newest calls are kept, with the messages since.
        let newest = |text: &str| -> Vec<String> {
            text.lines().rev().filter(|line| !line.is_empty()).take(4).map(str::to_owned).collect()
        };
        assert_eq!(newest(&after), newest(&before), "{fixture}");
        // A second time there is nothing left to fold.
        assert!(sandbox.done("compress --preset handoff --dry-run").contains("nothing to do"), "{fixture}");
        sandbox.done("undo");
        assert!(bytes(&sandbox) == original, "{fixture}");
    }
}

/// Counts the rows of a session file that record the system prompt and the tools and that the client finds by searching from the
/// end.
fn frozen_prompts(file: &[u8]) -> usize {
    let rows: Vec<serde_json::Value> = file.split(|byte| *byte == b'\n').flat_map(serde_json::from_slice).collect();
    let mut next = rows.iter().rev().find_map(|row| row["leafUuid"].as_str());
    let mut found = 0;
    while let Some(row) = next.and_then(|id| rows.iter().find(|row| row["uuid"] == id)) {
        found += usize::from(row["attachment"]["type"] == "prompt_snapshot");
        next = row["parentUuid"].as_str();
    }
    found
}

/// Otherwise the client would rebuild system prompt and tools: the cache and the thinking before the fold would become invalid.
#[test]
fn folded_turns_leave_the_system_prompt_as_sent() {
    for (fixture, line) in [
        ("api-errors-and-compaction", "compact 2..3"),
        ("tools-and-spill", "compress --preset handoff"),
        ("older-model", "compress --preset handoff"),
    ] {
        let sandbox = Sandbox::of(fixture);
        let original = bytes(&sandbox);
        let before = frozen_prompts(&original);
        assert!(before > 0, "{fixture}");
        sandbox.done(line);
        assert!(bytes(&sandbox) != original, "{fixture}");
        assert_eq!(frozen_prompts(&bytes(&sandbox)), before, "{fixture}");
        sandbox.done("undo");
        assert!(bytes(&sandbox) == original, "{fixture}");
    }
}

/// Appends rows to the live chain of a session: prompts with answers, and other rows of the client.
fn go_on(sandbox: &Sandbox, more: &[serde_json::Value]) {
    let mut rows = String::from_utf8(bytes(sandbox)).unwrap();
    let known: Vec<serde_json::Value> = rows.lines().flat_map(serde_json::from_str).collect();
    let like = known.iter().rfind(|row| row["type"] == "assistant").unwrap();
    let linked = |row: &&serde_json::Value| row.get("parentUuid").is_some();
    let mut parent = known.iter().rfind(linked).unwrap()["uuid"].clone();
    for (number, rest) in more.iter().enumerate() {
        let mut row = like.as_object().unwrap().clone();
        row.remove("message");
        row.extend(rest.as_object().unwrap().clone());
        row.insert("parentUuid".to_owned(), parent);
        parent = format!("{:08}-aaaa-4aaa-8aaa-{number:012}", known.len()).into();
        row.insert("uuid".to_owned(), parent.clone());
        rows = format!("{}\n{}\n", rows.trim_end(), serde_json::Value::from(row));
    }
    fs::write(sandbox.first_session(), rows).unwrap();
}

fn more_turns(texts: &[&str]) -> Vec<serde_json::Value> {
    let turn = |text: &&str| {
        let content = serde_json::json!([{ "type": "text", "text": format!("done: {text}") }]);
        [
            serde_json::json!({ "type": "user", "message": { "role": "user", "content": text } }),
            serde_json::json!({ "type": "assistant", "message": { "id": text, "role": "assistant", "content": content } }),
        ]
    };
    texts.iter().flat_map(turn).collect()
}

/// Thinking that the client itself no longer sends, by a row that is folded, must not come back: it would be refused.
#[test]
fn folded_turns_bring_no_thinking_back() {
    let sandbox = Sandbox::of("tools-and-spill");
    let strips = serde_json::json!({ "type": "attachment", "attachment": { "type": "thinking_stripped", "scope": "all" } });
    go_on(&sandbox, &[more_turns(&["two"]), vec![strips], more_turns(&["three"])].concat());
    let thinking = || json(&sandbox, "blocks 'kind(thinking) ~ cold'", "blocks")["blocks"].as_array().unwrap().len();
    assert_eq!(thinking(), 0);
    sandbox.done("compact 2");
    assert_eq!(thinking(), 0);
}

/// The row with which a change stops thinking from being sent is among the folded rows, and the change is undone first.
#[test]
fn folds_over_a_change_are_undone_in_any_order() {
    for undos in [["undo 1", "undo 2"], ["undo", "undo"]] {
        let sandbox = Sandbox::of("tools-and-spill");
        go_on(&sandbox, &more_turns(&["two", "three"]));
        sandbox.done("compress 'tool(Read) & kind(tool_result)' --level minimal");
        go_on(&sandbox, &more_turns(&["four", "five", "six"]));
        let before = bytes(&sandbox);
        let thinking = || json(&sandbox, "blocks 'kind(thinking) ~ cold'", "blocks")["blocks"].clone();
        let sent = thinking();
        sandbox.done("compact 2..4");
        assert_eq!(thinking().as_array().map(Vec::len), sent.as_array().map(Vec::len));
        for undo in undos {
            sandbox.done(undo);
        }
        // The appended row follows a row of the change, which no longer exists.
        let texts = |rows: &[u8]| String::from_utf8_lossy(rows).matches("done: ").count();
        assert_eq!(texts(&bytes(&sandbox)), texts(&before));
        sandbox.done("verify");
        assert!(!sandbox.done("transcript --raw").contains("folded"), "{undos:?}");
    }
}

/// Of a session whose beginning is gone: a result without its call is not sent, nor is a note that follows it.
#[test]
fn a_digest_does_not_follow_what_is_not_sent() {
    let sandbox = Sandbox::of("tools-and-spill");
    let whole = String::from_utf8(bytes(&sandbox)).unwrap();
    let result = whole.lines().position(|line| line.contains(r#""tool_result""#)).unwrap();
    let linked = |line: &&str| line.contains(r#""parentUuid""#);
    let rest: Vec<&str> =
        whole.lines().enumerate().filter(|(at, line)| *at >= result || !linked(line)).map(|(_, line)| line).collect();
    let original = format!("{}\n", rest.join("\n"));
    fs::write(sandbox.first_session(), &original).unwrap();
    sandbox.done("compress --preset handoff");
    assert_eq!(sandbox.done("transcript --raw").matches("[digest of ").count(), 1);
    sandbox.done("undo");
    assert!(bytes(&sandbox) == original.as_bytes());
}

#[test]
fn pinned_blocks_are_in_a_digest_verbatim() {
    let sandbox = Sandbox::of("tools-and-spill");
    let result = json(&sandbox, "blocks 'tool(Read) & larger(500)'", "blocks")["blocks"][0]["number"].as_u64().unwrap();
    let content = sandbox.done(&format!("show {result} --raw"));
    sandbox.done(&format!("pin {result}"));
    sandbox.done("compress --preset handoff");
    assert!(sandbox.done("transcript --raw").contains(content.trim()));
}

#[test]
fn several_notes_are_taken_out_at_once() {
    let sandbox = Sandbox::of("older-model");
    let original = bytes(&sandbox);
    for text in ["one", "two", "three"] {
        sandbox.done(&format!("create {text}"));
    }
    sandbox.done("restore 1");
    assert_eq!(sandbox.done("transcript").matches("three").count(), 0);
    sandbox.done("undo");
    assert_eq!(sandbox.done("transcript").matches("three").count(), 1);
    let text = sandbox.done("restore original");
    assert!(text.starts_with("the session as of 'original' restored"), "{text}");
    assert!(bytes(&sandbox) == original);
    let outcome = sandbox.enter("undo 1");
    assert_eq!(outcome.code, 1, "{}", outcome.all());
    assert!(outcome.stderr.contains("operation 1 was already reverted by operation 6"), "{}", outcome.stderr);
}

#[test]
fn an_operation_that_a_restore_reverted_is_not_undone_again() {
    let sandbox = Sandbox::of("tools-and-spill");
    let original = bytes(&sandbox);
    for line in ["compress 16 --level minimal", "create a", "pin 19"] {
        sandbox.done(line);
    }
    let changed = bytes(&sandbox);
    sandbox.done("restore original");
    assert!(sandbox.done("verify").contains("4 operations, 1 in force"));
    for operation in 1..=3 {
        let outcome = sandbox.enter(&format!("undo {operation}"));
        assert_eq!(outcome.code, 1, "{}", outcome.all());
        let reason = format!("operation {operation} was already reverted by operation 4");
        assert!(outcome.stderr.contains(&reason), "{}", outcome.stderr);
    }
    // Without the restore they are in force again.
    sandbox.done("undo");
    assert!(bytes(&sandbox) == changed);
    assert!(sandbox.done("verify").contains("3 in force"));
    for _ in 0..3 {
        sandbox.done("undo");
    }
    assert!(bytes(&sandbox) == original);
    assert!(sandbox.done("verify").contains("nothing is in force"));
}

#[test]
fn a_snapshot_survives_what_follows() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.done("compress 16 --level minimal");
    sandbox.done("snapshot save point");
    let then = bytes(&sandbox);
    for line in ["archive 19", "update 24 gone", "undo", "restore original", "undo", "expand 16"] {
        sandbox.done(line);
    }
    sandbox.done("restore point");
    assert!(bytes(&sandbox) == then);
    assert_eq!(json(&sandbox, "snapshot list", "snapshots")["snapshots"][0]["name"], "point");
}

#[test]
fn pins_and_selections_protect() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.done("pin 16");
    sandbox.done("focus 19");
    let before = bytes(&sandbox);
    for line in ["compress 16|19", "archive 16|19", "compress 16|19 --level minimal"] {
        let report = json(&sandbox, line, "change");
        let skipped = report["skipped"].as_array().unwrap().iter();
        let reasons: Vec<&str> = skipped.filter_map(|skipped| skipped["reason"].as_str()).collect();
        assert_eq!(reasons, ["pinned", "focused"], "{line}");
    }
    assert!(bytes(&sandbox) == before);
    sandbox.done("compress --budget 27100 --force");
    let blocks = json(&sandbox, "blocks 16|19", "blocks");
    assert!(blocks["blocks"].as_array().unwrap().iter().all(|block| block["level"] == "original"), "{blocks}");
    let manifest = sandbox.done("manifest --tier full");
    assert!(manifest.contains("[pinned]") && manifest.contains("User-selected blocks: #19"), "{manifest}");
}

#[test]
fn the_exit_code_says_whether_something_is_different() {
    let sandbox = Sandbox::of("tools-and-spill");
    assert_eq!(sandbox.enter("diff --exit-code").code, 0);
    sandbox.done("compress 16");
    let outcome = sandbox.enter("diff --exit-code --stat");
    assert_eq!((outcome.code, &*outcome.stderr), (1, ""));
    assert_eq!(sandbox.enter("diff 1 --exit-code").code, 0);
    sandbox.done("undo");
    assert_eq!(sandbox.enter("diff --exit-code").code, 0);
}

#[test]
fn lines_that_stay_are_short_and_say_what_was_there() {
    let mut tokens = [Vec::new(), Vec::new()];
    for home in sample(homes().into_iter().skip(all_or(0, 2)), 3) {
        let sandbox = Sandbox::of(&home);
        let blocks = json(&sandbox, "blocks all", "blocks");
        let is_result = |number: u64| {
            let mut blocks = blocks["blocks"].as_array().unwrap().iter();
            blocks.any(|block| block["number"] == number && block["kind"] == "tool_result")
        };
        for (place, line) in ["archive all --dry-run", "compress all --level minimal --dry-run"].into_iter().enumerate() {
            let report = json(&sandbox, line, "change");
            for block in report["differences"].as_array().unwrap() {
                let after = block["after"].as_str().unwrap();
                let Some(stands) = after.lines().find_map(|text| text.find("[@").map(|at| &text[at..])) else { continue };
                let (marker, _) = marker::parse(stands).unwrap_or_else(|| panic!("{home}: {stands}"));
                let number = block["number"].as_u64().unwrap();
                let label = block["label"].as_str().unwrap();
                let tool: String = label.split_whitespace().next().unwrap().replace(['[', ']'], "");
                // The lines of a file say that it was read.
                let lines = label.rsplit('/').next().filter(|_| label.contains(':')).unwrap_or(label);
                assert_eq!(u64::from(marker.number), number, "{stands}");
                assert_eq!(marker.level.name(), ["archived", "minimal"][place], "{stands}");
                assert!(marker.tokens > 0.0 && stands.contains(" from "), "{stands}");
                // The input of a tool remains in the call, and messages are identified by their own words.
                assert!(stands.contains(&tool) || stands.contains(lines) || !is_result(number), "{stands}");
                assert!(stands.starts_with(&format!("[@{number} | ")), "{stands}");
                tokens[place].push(f64::from(engine::o200k(stands)));
            }
        }
    }
    for (tokens, level) in tokens.iter().zip(["archived", "minimal"]) {
        let average = tokens.iter().sum::<f64>() / tokens.len() as f64;
        eprintln!("{} lines that are {level}: {average:.1} o200k tokens on average", tokens.len());
        assert!(tokens.len() > all_or(20, 5) && average < 30.0, "{level}: {average}");
    }
}

#[test]
fn a_plan_that_is_known_is_the_same_plan() {
    let sandbox = Sandbox::of("tools-and-spill");
    let lines = ["compress --preset balanced --dry-run", "compress --preset light --dry-run", "compress --budget 24k --dry-run"];
    let plans = || lines.map(|line| json(&sandbox, line, "change")["differences"].clone());
    let first = plans();
    assert!(first.iter().all(|differences| !differences.as_array().unwrap().is_empty()));
    let cache = rusqlite::Connection::open(sandbox.home.join(".aperture/cache/cache.db")).unwrap();
    let known = |sql: &str| cache.execute(sql, []).unwrap();
    assert_eq!(known("UPDATE plans SET key = key"), lines.len());
    assert_eq!(plans(), first);
    // A damaged plan is not used.
    for plan in sample(["x'0102'", "x''", "substr(plan, 1, length(plan) / 2)", "plan || x'00'"], 2) {
        known(&format!("UPDATE plans SET plan = CAST({plan} AS BLOB)"));
        assert_eq!(plans(), first, "{plan}");
    }
}

/// Run manually: compresses and archives every session under `APERTURE_CORPUS`, and undoes each change to the byte.
#[test]
fn every_session_of_the_corpus_is_restored() {
    let Some(corpus) = directory_in("APERTURE_CORPUS") else { return };
    let files = files_ending(&corpus, "jsonl");
    let (mut changed, mut refused, mut faults) = (0, 0, Vec::new());
    for file in &files {
        let sandbox = Sandbox::new();
        let original = fs::read(file).unwrap();
        let copy = sandbox.session("5e551011-0000-4000-8000-000000000000", &original, 0);
        if sandbox.run(&["status"]).code != 0 {
            refused += 1;
            continue;
        }
        for line in ["compress --stale", "compress --preset balanced", "compress middle --level minimal", "archive middle"] {
            sandbox.done(line);
            if fs::read(&copy).unwrap() != original {
                changed += 1;
                sandbox.done("undo");
            }
            if fs::read(&copy).unwrap() != original {
                faults.push(format!("{line}: {}", file.display()));
            }
        }
    }
    eprintln!("{changed} changes of {} files taken back, {refused} files are no session", files.len());
    assert!(changed > 0, "no session of the corpus was changed");
    assert!(faults.is_empty(), "not as before:\n{}", faults.join("\n"));
}

/// Sequences of operations, each of which once led elsewhere: every state that was there before comes back byte for byte.
#[test]
fn sequences_are_undone_to_the_byte() {
    let check = |fixture: &str, newline: bool, lines: &[&str]| {
        let sandbox = Sandbox::of(fixture);
        if !newline {
            let rows = bytes(&sandbox);
            fs::write(sandbox.first_session(), rows.trim_ascii_end()).unwrap();
        }
        let original = bytes(&sandbox);
        let mut states: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for line in lines {
            match line.split_once(' ') {
                Some(("keep", name)) => drop(states.insert(name, bytes(&sandbox))),
                Some(("same", name)) => assert!(bytes(&sandbox) == states[name], "{fixture}: {lines:?}: state {name}"),
                None if *line == "all" => while sandbox.enter("undo").code == 0 {},
                _ => {
                    let outcome = sandbox.enter(line);
                    assert!(outcome.code < 2, "{fixture}: {line}: {}", outcome.all());
                }
            }
        }
        assert!(bytes(&sandbox) == original, "{fixture}: {lines:?}: the original");
        assert!(sandbox.done("verify").contains("nothing is in force"), "{fixture}: {lines:?}");
    };
    let compress = "compress --preset aggressive";
    for fixture in sample(["tools-and-spill", "older-model", "subagents-and-tasks", "rewind"], 2) {
        check(fixture, true, &["compress --preset light --force", "compact 1..2", compress, "all"]);
        check(fixture, true, &["compress 3..15 --level minimal", "recall 16 --inject", "archive 20", "all"]);
        check(fixture, true, &["create a", "undo", "create b", "undo 2", "undo", "undo", "restore original"]);
        check(fixture, false, &["create a", "create b", "undo 1", "undo"]);
        check(fixture, true, &["create a", "keep a", "create b", "undo 1", "undo", "redo", "redo", "undo", "same a", "undo"]);
    }
    let sandbox = Sandbox::of("rewind");
    let original = bytes(&sandbox);
    for line in ["compact 2", compress, "restore original"] {
        sandbox.done(line);
    }
    assert!(bytes(&sandbox) == original);
}

/// A new change discards the redoable operations: `redo` is rejected, and prints the command that plans the change again.
#[test]
fn a_change_drops_what_could_be_redone() {
    let sandbox = Sandbox::of("tools-and-spill");
    for line in ["create a", "undo", "create b"] {
        sandbox.done(line);
    }
    let outcome = sandbox.enter("redo");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("undone before the last change: aperture redo 2"), "{}", outcome.stderr);
    assert!(sandbox.done("redo 2").contains("planned from logged values, not byte for byte"));
    sandbox.done("restore original");
    assert!(bytes(&sandbox) == bytes(&Sandbox::of("tools-and-spill")));
}

#[test]
fn a_dry_run_of_many_blocks_is_a_table_unless_more_is_requested() {
    let sandbox = Sandbox::of("tools-and-spill");
    let line = "archive all --dry-run";
    let table = sandbox.done(line);
    expect![[r#"
        8 blocks would be archived
          #16  Read shop/big.py                           original → archived  9.8k → 57
          #19  Bash for i in $(seq 1 9000); do echo "li…  original → archived   721 → 63
          #24  Bash grep -n NEEDLE big.py | head -50      original → archived   720 → 54
          #27  Edit src/small.py                          original → archived    90 → 68
          #28  Write src/new.py                           original → archived   120 → 61
          #33  Agent look for x                           original → archived   336 → 68
          #38  mcp__lab__lab_big 60                       original → archived   566 → 67
          #41  "Agent "look for x" finished: SUBAGENT R…  original → archived   369 → 46
          skipped #13, #17, #25, #46 (thinking is signed and stays whole)
          skipped #1 (the first prompt stays as it is)
          skipped #45 (the client needs it as it is)
          skipped 21 blocks (already as short as possible)
          skipped 12 blocks (instructions: only by number)
        −12k tokens (29k → 17k)
        the cache has expired (idle 2 h): saves ~$0.032 a turn, costs nothing now
        3 thinking blocks (40 tokens) are no longer sent:
          the model binds thinking to everything before it
        nothing was written: this is a dry run
        each block: --stat; the whole difference: --full
    "#]]
    .assert_eq(&table);
    assert!(table.lines().count() <= 30, "{table}");
    expect![[r#"
        8 blocks would be archived
          skipped #13, #17, #25, #46 (thinking is signed and stays whole)
          skipped #1 (the first prompt stays as it is)
          skipped #45 (the client needs it as it is)
          skipped 21 blocks (already as short as possible)
          skipped 12 blocks (instructions: only by number)
        −12k tokens (29k → 17k)
        the cache has expired (idle 2 h): saves ~$0.032 a turn, costs nothing now
        3 thinking blocks (40 tokens) are no longer sent:
          the model binds thinking to everything before it
        nothing was written: this is a dry run

        #16 Read shop/big.py                            | 9.8k → 57 ████████████████████
        #24 Bash grep -n NEEDLE big.py | head -50       |  720 → 54 █▍
        #19 Bash for i in $(seq 1 9000); do echo "line… |  721 → 63 █▍
        #38 mcp__lab__lab_big 60                        |  566 → 67 █
        #41 "Agent "look for x" finished: SUBAGENT REP… |  369 → 46 ▋
        #33 Agent look for x                            |  336 → 68 ▌
        #28 Write src/new.py                            |  120 → 61 ▏
        #27 Edit src/small.py                           |   90 → 68
        8 blocks changed, 29k → 17k tokens (−12k)
    "#]]
    .assert_eq(&sandbox.done(&format!("{line} --stat")));
    let full = sandbox.done(&format!("{line} --full"));
    assert!(full.contains("+++ after this change") && full.lines().count() > 300, "{full}");
    let [with, without] = [" --stat", ""].map(|option| json(&sandbox, &format!("{line}{option}"), "change"));
    assert_eq!(with, without, "the options concern the text alone");
    let groups = without["groups"].as_array().unwrap();
    let blocks: u64 = groups.iter().map(|group| group["blocks"].as_u64().unwrap()).sum();
    assert_eq!(blocks as usize, without["changes"].as_array().unwrap().len());
    assert_eq!(sandbox.enter("archive all --stat").code, 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_change_whose_report_cannot_be_written_is_reported_as_made() {
    let sandbox = Sandbox::of("tools-and-spill");
    let full = |arguments: &[&str]| {
        let output = fs::File::options().write(true).open("/dev/full").unwrap();
        let told = sandbox.command(arguments).stdout(output).stderr(std::process::Stdio::piped()).output().unwrap();
        (told.status.code(), String::from_utf8(told.stderr).unwrap())
    };
    let (code, told) = full(&["archive", "8..10"]);
    assert_eq!(code, Some(1));
    assert!(told.starts_with("error: operation 1 was made, but the report cannot be written\n"), "{told}");
    assert!(told.contains("hint: to see it: aperture log -s ") && !told.contains("try again"), "{told}");
    let (_, told) = full(&["archive", "11", "--dry-run"]);
    assert!(told.starts_with("error: cannot write the output\n"), "{told}");
    let (_, told) = full(&["memory", "add", "Use pnpm."]);
    assert!(told.starts_with("error: the command was executed, but the report cannot be written\n"), "{told}");
    let (_, told) = full(&["compress", "all", "--all"]);
    assert!(told.contains("the command was executed"), "{told}");
}

#[test]
fn a_row_beside_an_added_one_stays_there_when_that_is_added_again() {
    let sandbox = Sandbox::new();
    let path = crate::searching::session(&sandbox, "abc1", &["look at it", "Done."]);
    sandbox.done("create note");
    // A client that has not read the note continues from the row before it.
    let beside = crate::searching::row("abc1", 3, "user", "and the next one".into(), &sandbox.project);
    fs::write(&path, fs::read_to_string(&path).unwrap() + &beside).unwrap();
    let noted = fs::read_to_string(&path).unwrap();
    sandbox.done("undo");
    let without = fs::read_to_string(&path).unwrap();
    assert!(without.ends_with(&beside) && !without.contains("note"), "{without}");
    for (command, expected) in [("redo", &noted), ("undo", &without), ("restore 1", &noted)] {
        sandbox.done(command);
        assert_eq!(&fs::read_to_string(&path).unwrap(), expected, "{command}");
    }
    // A row that came after the undo follows the note.
    sandbox.done("undo");
    let later = crate::searching::row("abc1", 4, "assistant", "It is done.".into(), &sandbox.project).replace("abc1-3", "abc1-2");
    fs::write(&path, without + &later).unwrap();
    sandbox.done("redo");
    let all = fs::read_to_string(&path).unwrap();
    assert!(all.contains(&beside) && !all.contains(&later), "{all}");
}
