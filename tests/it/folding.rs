//! Tests of changes that fold whole turns: budgets, and archives of ranges.

use crate::bulk::bytes;
use crate::forks::fork;
use crate::rows::{Rows, rows_of};
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const SESSION: &str = "abababab-1111-4222-8333-444444444444";

/// Adds a prompt, a call with its result, and an answer.
fn add_turn(rows: &mut Rows, prompt: &str, result: &str, answer: &str) {
    let say = |rows: &mut Rows, content: Value| {
        let number = rows.rows.len();
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 15_000 + 20 * number, "output_tokens": 3});
        rows.model("claude-opus-4-8", &format!("msg_{number}"), json!([content]), usage);
    };
    let call = format!("toolu_{}", rows.rows.len());
    rows.user(json!(prompt));
    say(rows, json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make check"}}));
    rows.user(json!([{"type": "tool_result", "tool_use_id": call, "content": result}]));
    say(rows, json!({"type": "text", "text": answer}));
}

/// A sandbox with a session of `turns` short turns, and its file.
fn short_turns(turns: usize) -> (Sandbox, PathBuf) {
    let mut rows = Rows::new(SESSION, "/w").from("2026-11-21T20:00:00Z");
    for turn in 1..=turns {
        let result = format!("part{turn} ok: 41 soundings, 3 of them twice, none missing");
        let answer = format!("Part {turn} is sound: each depth of the chart was measured.");
        add_turn(&mut rows, &format!("check part{turn} of the harbour map"), &result, &answer);
    }
    let sandbox = Sandbox::new();
    let path = sandbox.session(SESSION, rows.text(), 1);
    (sandbox, path)
}

/// The size of the window in tokens.
fn used(sandbox: &Sandbox) -> f64 {
    let report = sandbox.json(&["compress", "all", "--level", "minimal", "-n"], "aperture.change/2");
    report["tokens_before"]["value"].as_f64().unwrap()
}

#[test]
fn a_budget_folds_the_oldest_turns_before_it_is_refused() {
    for (fixture, budget) in [("tools-and-spill", 16_200), ("codex-tools", 6_800)] {
        let sandbox = Sandbox::of(fixture);
        let before = bytes(&sandbox);
        let text = sandbox.done(&format!("compress --budget {budget}"));
        assert!(text.contains("folded into one digest"), "{fixture}: {text}");
        let size = used(&sandbox);
        assert!((0.95..=1.0).contains(&(size / f64::from(budget))), "{fixture}: {size}");
        let again = sandbox.done(&format!("compress --budget {budget}"));
        assert!(again.contains("within its budget"), "{fixture}: {again}");
        sandbox.done("undo");
        assert!(bytes(&sandbox) == before, "{fixture}");
        // The smallest budget that a refusal names is possible.
        let refused = sandbox.enter("compress --budget 1k");
        let least = refused.stderr.split("aperture compress --budget ").nth(1).unwrap_or_default();
        let least = least.split_whitespace().next().unwrap_or_default();
        assert!(refused.code == 1 && least.parse::<u32>().is_ok_and(|least| least < budget), "{fixture}: {}", refused.stderr);
        sandbox.done(&format!("compress --budget {least}"));
        sandbox.done("undo");
        assert!(bytes(&sandbox) == before, "{fixture}");
    }
}

#[test]
fn a_budget_keeps_the_newest_turns_and_the_words_of_the_user() {
    let (sandbox, _) = short_turns(40);
    let size = used(&sandbox);
    sandbox.done(&format!("compress --budget {}", (size - 600.0) as u32));
    let text = sandbox.text(&["transcript", "--raw", SESSION]);
    for turn in 1..=40 {
        assert!(text.contains(&format!("check part{turn} of")), "turn {turn}: {text}");
    }
    for turn in 38..=40 {
        assert!(text.contains(&format!("part{turn} ok")), "turn {turn}: {text}");
    }
    assert!(used(&sandbox) <= size - 600.0);
}

#[test]
fn a_range_of_short_turns_is_archived_found_and_restored() {
    let (sandbox, path) = short_turns(12);
    let (before, size) = (fs::read(&path).unwrap(), used(&sandbox));
    // Each turn has four blocks; the first prompt and the last turn stay.
    let text = sandbox.done("archive 2..48 --reason 'the map is done'");
    assert!(text.starts_with("43 blocks archived") && !text.contains("43 blocks (already as short"), "{text}");
    assert!(used(&sandbox) < size - 300.0, "{text}");
    let window = sandbox.text(&["transcript", "--raw", SESSION]);
    assert!(window.contains("archived: the map is done") && window.contains("check part7 of the harbour map"), "{window}");
    assert!(!window.contains("Part 7 is sound"), "{window}");
    assert!(sandbox.done("recall 'Part 7 is sound'").contains("Part 7 is sound"));
    assert!(sandbox.done("search 'depth of part7'").contains("part7"));
    let restored = sandbox.done("expand 28");
    assert!(restored.contains("operation 1"), "{restored}");
    assert!(fs::read(&path).unwrap() == before);
    sandbox.done("redo");
    assert!(fs::read(&path).unwrap() != before);
    sandbox.done("undo");
    assert!(fs::read(&path).unwrap() == before);
    // Turns of which only some blocks are selected, or one is pinned, stay.
    sandbox.done("pin 14");
    let text = sandbox.done("archive 6..30 --dry-run");
    assert!(text.starts_with("16 blocks would be archived"), "{text}");
}

#[test]
fn a_fork_of_a_folded_session_has_the_note_and_the_turns_before_it() {
    let (sandbox, _) = short_turns(12);
    sandbox.done("compact 3");
    let source = sandbox.text(&["transcript", "--raw", SESSION]);
    for (at, turns) in [(&["--at", "turn(8)"][..], 8), (&["-s", SESSION], 12)] {
        let (id, path, _) = fork(&sandbox, at);
        let forked = sandbox.text(&["transcript", "--raw", "-s", &id]);
        assert!(source.starts_with(&forked) && forked.contains(&format!("Part {turns} is sound")), "{at:?}: {forked}");
        let rows = rows_of(&path);
        fs::remove_file(&path).unwrap();
        let has = |parent: &Value| parent.is_null() || rows.iter().any(|row| row["uuid"] == *parent);
        assert!(rows.iter().all(|row| has(&row["parentUuid"])), "{rows:?}");
    }
}
