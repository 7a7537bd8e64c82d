//! The fill level: every report gives the figure of the next bill.

use crate::rows::Rows;
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::path::Path;

const SESSION: &str = "6b1f0000-0000-4000-8000-000000000001";

fn answers(rows: &mut Rows, model: &str, text: &str, sent: u64) -> String {
    responds(rows, model, json!({"type": "text", "text": text}), sent)
}

fn responds(rows: &mut Rows, model: &str, content: Value, sent: u64) -> String {
    let usage = json!({"input_tokens": 2, "cache_read_input_tokens": sent - 2, "output_tokens": 40});
    rows.model(model, &format!("msg_{}", rows.rows.len()), json!([content]), usage)
}

/// A compaction by the client itself, with what it kept.
fn compacts(rows: &mut Rows, metadata: Value) {
    rows.parent = Value::Null;
    rows.add("system", json!({"subtype": "compact_boundary", "content": "compacted", "compactMetadata": metadata}));
    rows.add("user", json!({"isCompactSummary": true, "message": {"role": "user", "content": lines("summary", 20)}}));
}

fn lines(word: &str, count: usize) -> String {
    (0..count).map(|line| format!("{word} line {line}: nothing of note in part_{line}\n")).collect()
}

/// Returns the tokens of the window according to the manifest, the status and the status line, which the client gives its own figure.
fn figures(sandbox: &Sandbox, path: &Path, said: u64) -> [u64; 3] {
    let tokens = |value: &Value| value["value"].as_u64().unwrap_or_else(|| panic!("{value}"));
    let manifest = sandbox.json(&["manifest"], "aperture.manifest/2");
    let status = sandbox.json(&["status"], "aperture.status/2");
    let payload =
        json!({"transcript_path": path, "context_window": {"total_input_tokens": said, "context_window_size": 1_000_000}});
    let line = sandbox.given(&["statusline", "--json"], &payload.to_string()).stdout;
    let line: Value = serde_json::from_str(&line).unwrap();
    [tokens(&manifest["tokens"]), tokens(&status["tokens"]), tokens(&line["tokens"])]
}

fn assert_near(figures: [u64; 3], bill: u64) {
    assert!(figures.iter().all(|figure| figure.abs_diff(bill) * 10 <= bill), "{figures:?}, billed {bill}");
    assert_eq!(figures, [figures[0]; 3]);
}

const MODEL: &str = "claude-opus-5-5";

#[test]
fn after_a_compaction_that_keeps_rows_the_bill_before_it_is_void() {
    let sandbox = Sandbox::new();
    let mut rows = Rows::new("s", "/w");
    rows.user(json!("please look at it"));
    answers(&mut rows, MODEL, "it is fine", 20_000);
    rows.user(json!(lines("log", 4_000)));
    answers(&mut rows, MODEL, "this is fine too", 166_000);
    let head = rows.user(json!("and this"));
    let tail = answers(&mut rows, MODEL, &lines("answer", 10), 166_100);
    let segment = json!({"headUuid": head, "anchorUuid": rows.id(rows.rows.len() + 1), "tailUuid": tail});
    compacts(&mut rows, json!({"trigger": "auto", "preTokens": 167_000, "preservedSegment": segment}));
    let path = sandbox.session(SESSION, rows.text(), 0);
    let shown = figures(&sandbox, &path, 166_100);
    assert!(shown.iter().all(|figure| (18_000..24_000).contains(figure)), "{shown:?}");
    assert_eq!(shown, [shown[0]; 3]);
    // The client compacts by itself only when its window is full: it is not that of a million.
    let status = sandbox.json(&["status"], "aperture.status/2");
    assert_eq!((&status["capacity_tokens"], &status["capacity_source"]), (&json!(200_000), &json!("compacted")));
}

/// In a long session, too: the status line counts it itself.
#[test]
fn after_a_rewind_the_bill_of_the_other_branch_is_void() {
    for other_bytes in [0, 13 << 20] {
        let sandbox = Sandbox::new();
        let mut rows = Rows::new("s", "/w");
        rows.add("file-history-snapshot", json!({"snapshot": "x".repeat(other_bytes)}));
        rows.user(json!("please look at it"));
        let back = answers(&mut rows, MODEL, "it is fine", 20_000);
        rows.user(json!(lines("log", 2_000)));
        answers(&mut rows, MODEL, "this is fine too", 60_000);
        rows.parent = back.into();
        rows.user(json!("no, at the other one"));
        let path = sandbox.session(SESSION, rows.text(), 0);
        assert_near(figures(&sandbox, &path, 60_000), 20_050);
    }
}

/// The rest of each request follows from the bill before it: the estimate is that of the next bill.
#[test]
fn in_the_course_of_the_work_what_is_new_adds_to_the_last_bill() {
    let sandbox = Sandbox::new();
    let mut rows = Rows::new("s", "/w");
    rows.user(json!("please look at it"));
    answers(&mut rows, MODEL, "it is fine", 20_000);
    rows.user(json!(lines("log", 400)));
    let path = sandbox.session(SESSION, rows.text(), 0);
    assert_near(figures(&sandbox, &path, 20_000), 28_600);
}

#[test]
fn after_a_change_of_the_model_the_bill_is_converted() {
    let sandbox = Sandbox::new();
    let mut rows = Rows::new("s", "/w");
    rows.user(json!(lines("log", 1_000)));
    // The newer model takes 1.5 times the tokens of the older one for the same texts.
    answers(&mut rows, "claude-opus-4-6", "it is fine", 14_000);
    rows.user(json!("and now?"));
    answers(&mut rows, MODEL, "still fine", 21_500);
    rows.user(json!("thank you"));
    let path = sandbox.session(SESSION, rows.text(), 0);
    assert_near(figures(&sandbox, &path, 21_500), 21_560);
}

/// A client before 2.1.90 sends the files again that it used last, and does not record them.
#[test]
fn after_a_compaction_by_an_old_client_the_files_that_it_sends_again_count() {
    let sandbox = Sandbox::new();
    let model = "claude-opus-4-5-20251101";
    let figure = |again: bool| {
        let mut rows = Rows::new("s", "/w").version("2.1.14");
        rows.user(json!("please look at it"));
        answers(&mut rows, model, "it is fine", 20_000);
        if again {
            let content = lines("file", 250);
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/w/a.rs"}});
            responds(&mut rows, model, call, 20_100);
            let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": content});
            let shown = json!({"type": "text", "file": {"content": content, "numLines": 250, "totalLines": 250}});
            rows.add("user", json!({"message": {"role": "user", "content": [result]}, "toolUseResult": shown}));
            answers(&mut rows, model, "read", 24_500);
        }
        compacts(&mut rows, json!({"trigger": "manual", "preTokens": 24_000}));
        let path = sandbox.session(SESSION, rows.text(), 0);
        figures(&sandbox, &path, 20_000)
    };
    let (without, with) = (figure(false), figure(true));
    assert_near(without, 20_350);
    assert_near(with, 24_500);
    assert!(with[0] > without[0] + 3_000, "{with:?} {without:?}");
}

/// A rollout of Codex whose last bill is the given one.
fn rollout(bill: u64) -> String {
    let row = |second: u32, kind: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": format!("2026-11-20T09:00:{second:02}.000Z"), "type": kind, "payload": payload}))
    };
    let id = "019a0000-0000-7000-8000-000000000001";
    let meta = json!({"id": id, "timestamp": "2026-11-20T09:00:00.000Z", "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.144.2"});
    let mut text = row(0, "session_meta", meta) + &row(1, "turn_context", json!({"cwd": "/w", "model": "gpt-5.5"}));
    let mut total = 0;
    for (turn, sent) in [9_000, 9_400, bill].into_iter().enumerate() {
        let second = 10 + 10 * turn as u32;
        total += sent;
        let usage = |input: u64| json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 60, "total_tokens": input + 60});
        let info = json!({"total_token_usage": usage(total), "last_token_usage": usage(sent), "model_context_window": 570_000});
        text += &row(
            second,
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": lines("part", 20)}]}),
        );
        text += &row(
            second + 1,
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}),
        );
        text += &row(second + 2, "event_msg", json!({"type": "token_count", "info": info}));
    }
    text
}

/// A command that helps plans for the window that the check was asked about.
#[test]
fn the_hint_of_a_check_has_the_window_of_the_check() {
    let sandbox = Sandbox::of("tools-and-spill");
    let outcome = sandbox.run(&["check", "--window", "3k", "--max-percent", "100"]);
    let hint = outcome.stdout.lines().find_map(|line| line.trim().strip_prefix("aperture ")).unwrap();
    assert!(outcome.code == 1 && hint.starts_with("compress ") && hint.contains(" --window=3000"), "{}", outcome.all());
    let done = sandbox.run(&hint.split(' ').collect::<Vec<_>>());
    assert!(!done.all().contains("nothing to do"), "{}", done.all());
}

#[test]
fn a_bill_above_the_stated_window_is_estimated_instead() {
    let sandbox = Sandbox::new();
    for (bill, impossible) in [(9_800, false), (4_279_000, true)] {
        let path = sandbox.write("rollout-2026-11-20T09-00-00-019a0000-0000-7000-8000-000000000001.jsonl", rollout(bill));
        let file = path.to_str().unwrap();
        let status = sandbox.json(&["status", "-s", file], "aperture.status/2");
        let tokens = status["tokens"]["value"].as_u64().unwrap();
        assert!((9_400..10_800).contains(&tokens), "{tokens}");
        let text = sandbox.text(&["status", "-s", file]);
        assert_eq!(text.contains("1 bill larger than the window, estimated instead"), impossible, "{text}");
        assert_eq!(sandbox.run(&["check", "-s", file, "--max-percent", "100"]).code, 0);
    }
}

/// A session of turns with a long result each, which fill the window.
fn long_turns() -> (Rows, Vec<String>) {
    let (mut rows, mut ends) = (Rows::new("s", "/w"), Vec::new());
    for turn in 0..6 {
        rows.user(json!(format!("please look at part {turn}")));
        let id = format!("toolu_{turn}");
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("cat part{turn}.log")}});
        responds(&mut rows, MODEL, call, 14_000 + turn * 9_000);
        let content = lines(&format!("log {turn}"), 500);
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        rows.add("user", json!({"message": {"role": "user", "content": [result]}, "toolUseResult": content}));
        ends.push(answers(&mut rows, MODEL, &format!("part {turn} is fine"), 23_000 + turn * 9_000));
    }
    (rows, ends)
}

#[test]
fn a_bill_from_before_a_change_is_no_measure_of_what_is_left_after_a_rewind_or_in_a_fork() {
    for version in ["2.1.330", "2.1.14"] {
        let sandbox = Sandbox::new();
        let (mut rows, ends) = long_turns();
        rows.rows.iter_mut().for_each(|row| row["version"] = json!(version));
        let path = sandbox.session(SESSION, rows.text(), 0);
        let status = |session: &str| {
            let status = sandbox.json(&["status", "-s", session], "aperture.status/2");
            (status["tokens"]["value"].as_u64().unwrap(), status["tokens"]["basis"].as_str().unwrap().to_owned(), status)
        };
        let compressed = sandbox.json(&["compress", "larger(500)", "--level", "minimal"], "aperture.change/2");
        let after = compressed["tokens_after"]["value"].as_u64().unwrap();
        assert!(after < 25_000, "{compressed}");
        let fork = sandbox.json(&["fork", "--at", "turn(4)"], "aperture.fork/1");
        let (tokens, basis, report) = status(fork["session"].as_str().unwrap());
        assert!((14_000..after).contains(&tokens), "{version}: {report}");
        // An old client has no place for an estimate beside the bill.
        assert_eq!(basis == "estimated", version == "2.1.330", "{report}");
        rows.parent = json!(ends[3]);
        rows.user(json!("please look at it in another way"));
        let rewound = rows.text().lines().last().unwrap().replace(r#""version":"2.1.330""#, &format!(r#""version":"{version}""#));
        let file = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{file}{rewound}\n")).unwrap();
        let (tokens, basis, report) = status(SESSION);
        assert!((14_000..after).contains(&tokens) && basis == "estimated", "{version}: {report}");
        assert_eq!(report["changed_since_bill"], true, "{report}");
        // The next change writes the size of what is left.
        sandbox.json(&["pin", "turn(1)"], "aperture.change/2");
        sandbox.json(&["archive", "turn(2) & kind(tool_result)"], "aperture.change/2");
        let (tokens, _, report) = status(SESSION);
        assert!((14_000..after).contains(&tokens), "{version}: {report}");
        sandbox.text(&["restore", "0"]);
        assert!(status(SESSION).0 > 50_000, "{version}: {}", status(SESSION).2);
    }
}
