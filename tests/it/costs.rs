//! The cost of a change: every report gives the same figure.

use crate::changing::{bytes, json};
use crate::rows::Rows;
use crate::sandbox::{Sandbox, sample};
use serde_json::{Value, json};
use std::fs;

/// A model that binds thinking to its prefix, one that does not, and an unknown one.
const BINDS: &str = "claude-opus-5-5";
const OLDER: &str = "claude-sonnet-4-6";
const UNHEARD_OF: &str = "claude-epic-9";

/// A session of one turn a model: thinking, a call with a long result, thinking, an answer.
fn thinking_session(models: &[&str], version: &str) -> String {
    let mut rows = Rows::new("s", "/w").version(version);
    let mut sent = 12_000;
    for (turn, model) in models.iter().enumerate() {
        let lines = |word: &str, count: usize| -> String {
            (0..count).map(|line| format!("{word} {turn} line {line}: nothing of note in part_{turn}_{line}\n")).collect()
        };
        let respond = |rows: &mut Rows, id: String, content: Value, sent: u64, grown: u64| {
            let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": grown, "cache_read_input_tokens": sent, "output_tokens": 300 });
            rows.model(model, &id, json!([content]), usage);
        };
        let thought = |word: &str| json!({ "type": "thinking", "thinking": lines(word, 8), "signature": "c2ln".repeat(60) });
        rows.user(format!("please look at part {turn}").into());
        let call = json!({ "type": "tool_use", "id": format!("toolu_{turn}"), "name": "Bash", "input": { "command": format!("cat part_{turn}.log") } });
        respond(&mut rows, format!("msg_{turn}a"), thought("first"), sent, 900);
        respond(&mut rows, format!("msg_{turn}a"), call, sent, 900);
        let result = json!([{ "type": "tool_result", "tool_use_id": format!("toolu_{turn}"), "content": lines("log", 120) }]);
        rows.user(result);
        sent += 3_000;
        respond(&mut rows, format!("msg_{turn}b"), thought("second"), sent, 2_500);
        respond(
            &mut rows,
            format!("msg_{turn}b"),
            json!({ "type": "text", "text": format!("part {turn} is fine") }),
            sent,
            2_500,
        );
        sent += 800;
    }
    rows.text()
}

fn sandbox_of(models: &[&str], version: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.session("6b1f0000-0000-4000-8000-000000000001", thinking_session(models, version), 0);
    sandbox
}

/// The numbers of the thinking blocks that would be sent.
fn thinking(sandbox: &Sandbox) -> Vec<u64> {
    let blocks = json(sandbox, "blocks 'kind(thinking) ~ cold'", "blocks");
    blocks["blocks"].as_array().unwrap().iter().map(|block| block["number"].as_u64().unwrap()).collect()
}

/// The first result, a long one.
const RESULT: &str = "4";

#[test]
fn only_models_that_bind_their_thinking_lose_it() {
    for version in ["2.1.330", "2.1.200"] {
        for (models, dropped) in [
            ([OLDER, OLDER, OLDER], 0),
            ([BINDS, BINDS, BINDS], 5),
            ([UNHEARD_OF, UNHEARD_OF, UNHEARD_OF], 5),
            ([BINDS, OLDER, BINDS], 3),
        ] {
            let sandbox = sandbox_of(&models, version);
            let before = thinking(&sandbox);
            let change = json(&sandbox, &format!("compress {RESULT} --level minimal"), "change");
            assert_eq!(change["thinking_dropped"], dropped, "{models:?} {version}");
            assert_eq!(change["thinking_dropped_tokens"]["value"].as_f64().unwrap() > 0.0, dropped > 0, "{models:?} {version}");
            assert_eq!(before.len() - thinking(&sandbox).len(), dropped, "{models:?} {version}");
            sandbox.done("undo");
            assert_eq!(thinking(&sandbox), before, "{models:?} {version}");
        }
    }
}

#[test]
fn thinking_is_kept_on_request_unless_its_model_binds_it() {
    let line = format!("compress {RESULT} --level minimal --keep-thinking");
    for models in [[OLDER; 3], [UNHEARD_OF; 3]] {
        let sandbox = sandbox_of(&models, "2.1.330");
        let before = thinking(&sandbox);
        assert_eq!(json(&sandbox, &line, "change")["thinking_dropped"], 0, "{models:?}");
        assert_eq!(thinking(&sandbox), before);
    }
    let sandbox = sandbox_of(&[BINDS; 3], "2.1.330");
    let before = bytes(&sandbox);
    let outcome = sandbox.enter(&line);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("claude-opus-5-5 binds its thinking to everything before it"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("5 thinking blocks"), "{}", outcome.stderr);
    assert!(bytes(&sandbox) == before);
    // No thinking follows the last result but one.
    let last = json(&sandbox, "blocks 'kind(text) & role(assistant) ~ cold'", "blocks");
    let last = last["blocks"].as_array().unwrap().last().unwrap()["number"].clone();
    sandbox.done(&format!("update {last} 'done' --keep-thinking"));
    assert_eq!(thinking(&sandbox).len(), 6);
}

#[test]
fn expand_sends_the_thinking_again_that_its_compress_dropped() {
    for version in ["2.1.330", "2.1.200"] {
        let sandbox = sandbox_of(&[BINDS; 3], version);
        let before = thinking(&sandbox);
        let later = json(&sandbox, "blocks 'kind(tool_result)'", "blocks")["blocks"][1]["number"].clone();
        let dropped = json(&sandbox, &format!("compress {RESULT}|{later} --level minimal"), "change");
        assert_eq!(dropped["thinking_dropped"], 5, "{version}");
        // Up to the second change everything is as it was.
        let change = json(&sandbox, &format!("expand {RESULT}"), "change");
        assert_eq!((&change["thinking_restored"], &change["thinking_dropped"]), (&json!(2), &json!(0)), "{version}");
        assert!(change["thinking_restored_tokens"]["value"].as_f64().unwrap() > 0.0);
        assert_eq!(thinking(&sandbox), before[..3], "{version}");
        let text = sandbox.done(&format!("expand {later}"));
        assert!(text.contains("3 thinking blocks (") && text.contains(" are sent again\n"), "{text}");
        assert_eq!(thinking(&sandbox), before, "{version}");
        let rows = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(rows(&bytes(&sandbox)), 18, "{version}");
    }
}

/// Thinking that was signed after the shortened block would be lost instead.
#[test]
fn expand_sends_no_thinking_again_for_which_newer_thinking_would_go() {
    let sandbox = sandbox_of(&[BINDS; 2], "2.1.330");
    sandbox.done(&format!("compress {RESULT} --level minimal"));
    let all = thinking_session(&[BINDS; 3], "2.1.330");
    let more: String = all.lines().skip(12).map(|row| format!("{row}\n")).collect();
    let last = bytes(&sandbox);
    let last: Value = serde_json::from_slice(last.split(|byte| *byte == b'\n').rfind(|row| !row.is_empty()).unwrap()).unwrap();
    let more = more.replace("\"s-11\"", &last["uuid"].to_string());
    fs::write(sandbox.first_session(), [&bytes(&sandbox), more.as_bytes()].concat()).unwrap();
    let sent = thinking(&sandbox);
    assert_eq!(sent.len(), 3);
    let change = json(&sandbox, &format!("expand {RESULT} --dry-run"), "change");
    assert_eq!(change["thinking_restored"], 0);
    sandbox.done(&format!("expand {RESULT}"));
    assert!(thinking(&sandbox).iter().all(|number| sent.contains(number)));
}

/// The tokens of the window.
fn window(sandbox: &Sandbox) -> f64 {
    json(sandbox, "status", "status")["tokens"]["value"].as_f64().unwrap()
}

/// A budget is met with the thinking that its change drops.
#[test]
fn a_budget_counts_the_thinking_that_its_change_drops() {
    for models in [[BINDS; 8], [OLDER; 8]] {
        let sandbox = sandbox_of(&models, "2.1.330");
        let total = window(&sandbox);
        for share in sample([0.97, 0.9, 0.8, 0.7, 0.6, 0.5], 3) {
            let budget = (total * share).floor();
            let line = format!("compress --budget {budget} --dry-run");
            let outcome = sandbox.enter(&line);
            if outcome.code == 0 {
                let after = json(&sandbox, &line, "change")["tokens_after"]["value"].as_f64().unwrap();
                assert!(after <= budget && after >= budget * 0.95, "{models:?} {share}: {after} of {budget}");
                continue;
            }
            // An unreachable budget is rejected with the smallest reachable one.
            let smallest = outcome.stderr.split("--budget ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
            let least: f64 = smallest.parse().unwrap();
            assert!(least > budget, "{}", outcome.stderr);
            let after = json(&sandbox, &format!("compress --budget {smallest} --dry-run"), "change");
            assert!((after["tokens_after"]["value"].as_f64().unwrap() - least).abs() <= 1.0, "{after}");
            assert_eq!(sandbox.enter(&format!("compress --budget {} --dry-run", least - 2.0)).code, 1);
        }
    }
}

#[test]
fn compress_stale_reaches_rest_in_one_run() {
    for (models, preset) in
        [([BINDS; 14], "balanced"), ([OLDER; 14], "light"), ([OLDER; 14], "aggressive"), ([OLDER; 14], "lossless")]
    {
        let sandbox = sandbox_of(&models, "2.1.330");
        let line = format!("compress --preset {preset}");
        let changes = json(&sandbox, &line, "change")["changes"].as_array().unwrap().len();
        assert!(changes > 0 || ["light", "lossless"].contains(&preset), "{preset}");
        assert_eq!(json(&sandbox, &line, "change")["edits"], 0, "{preset}");
        if preset == "balanced" {
            let status = sandbox.done("status --window 80k");
            assert!(!status.contains("compress --preset"), "{status}");
        }
    }
}

#[test]
fn status_and_compress_tell_stale_from_aging_blocks() {
    let sandbox = sandbox_of(&[OLDER; 24], "2.1.330");
    let status = json(&sandbox, "status", "status");
    for name in ["stale", "aging"] {
        let blocks = json(&sandbox, &format!("blocks {name}"), "blocks")["blocks"].as_array().unwrap().len();
        assert_eq!(status[name]["blocks"].as_u64().unwrap() as usize, blocks, "{name}");
        assert!(blocks > 0, "{name}");
    }
    assert_eq!(json(&sandbox, "blocks 'stale & aging'", "blocks")["blocks"].as_array().unwrap().len(), 0);
    let report = sandbox.done("compress --preset aggressive --dry-run");
    assert!(report.contains(" came from stale blocks, ") && report.contains(" from older blocks in use"), "{report}");
    let older = sandbox_of(&[OLDER; 4], "2.1.330").done("compress --preset aggressive --keep-turns 0 --dry-run");
    assert!(older.contains("nothing was stale; ") && older.contains(" came from older blocks in use"), "{older}");
}

/// The advice, the dry run, the summary, the next status and the undo give one figure.
#[test]
fn every_report_gives_the_same_figure() {
    for models in [[BINDS; 14], [OLDER; 14]] {
        for preset in sample(["lossless", "light", "balanced", "aggressive", "layers", "handoff"], 2) {
            let sandbox = sandbox_of(&models, "2.1.330");
            let line = format!("compress --preset {preset}");
            let saved = |change: &Value| {
                change["tokens_before"]["value"].as_f64().unwrap() - change["tokens_after"]["value"].as_f64().unwrap()
            };
            let before = window(&sandbox);
            let size = (before / 0.55) as u64;
            let advice = json(&sandbox, &format!("status --window {size}"), "status");
            let advice = advice["suggestions"].as_array().unwrap().iter().find(|offer| offer["kind"] == "preset").cloned();
            let advice = advice.unwrap_or_default();
            let planned = saved(&json(&sandbox, &format!("{line} --dry-run"), "change"));
            if preset == "balanced" {
                // The newest part of a window depends on its size.
                assert_eq!(advice["command"], format!("aperture compress --preset balanced -s 6b1f0000 --window={size}"));
                assert!((advice["saved_tokens"]["value"].as_f64().unwrap() - planned).abs() <= 1.0, "{advice} {planned}");
            }
            let change = json(&sandbox, &line, "change");
            let (done, seen) = (saved(&change), before - window(&sandbox));
            if change["edits"] == 0 {
                assert_eq!((planned, seen), (0.0, 0.0), "{preset}");
                continue;
            }
            let back = -saved(&json(&sandbox, "undo", "change"));
            for (what, figure) in [("summary", done), ("status", seen), ("undo", back)] {
                assert!((figure - planned).abs() <= 2.0, "{what} with {preset} on {}: {figure}, not {planned}", models[0]);
            }
        }
    }
}

/// Returns the billed figures of the responses, as programs that add them up read them.
fn bills(sandbox: &Sandbox) -> Vec<[u64; 3]> {
    let file = bytes(sandbox);
    let rows = file.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
    let rows = rows.map(|row| serde_json::from_slice::<Value>(row).unwrap()).filter(|row| row["type"] == "assistant");
    let figure = |row: &Value, name: &str| row["message"]["usage"][name].as_u64().unwrap();
    rows.map(|row| ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(|name| figure(&row, name)))
        .collect()
}

/// A client that reads its context gauge elsewhere keeps the bills; the report shows if they change.
#[test]
fn bills_stay_where_the_client_allows_it() {
    for (version, changed) in [("2.1.330", false), ("2.1.200", true)] {
        let sandbox = sandbox_of(&[OLDER; 3], version);
        let (before, full) = (bills(&sandbox), window(&sandbox));
        let line = format!("compress {RESULT} --level minimal");
        assert_eq!(sandbox.enter(&format!("{line} --dry-run")).stdout.contains("add up bills"), changed, "{version}");
        assert_eq!(json(&sandbox, &line, "change")["bills_changed"], changed, "{version}");
        assert_eq!(bills(&sandbox) != before, changed, "{version}");
        assert!(window(&sandbox) < full - 500.0, "{version}");
        // Totals are read by another way.
        let listed = json(&sandbox, "sessions", "sessions")["sessions"][0]["tokens"]["value"].as_f64().unwrap();
        assert!((listed - window(&sandbox)).abs() <= 1.0, "{version}: {listed}");
        sandbox.done("undo");
        assert_eq!(bills(&sandbox), before, "{version}");
    }
}

#[test]
fn only_what_was_billed_is_called_billed() {
    for version in ["2.1.330", "2.1.200"] {
        let sandbox = sandbox_of(&[OLDER; 3], version);
        let billed = json(&sandbox, "status", "status");
        assert_eq!((&billed["tokens"]["basis"], &billed["changed_since_bill"]), (&json!("measured"), &json!(false)));
        let measured = billed["billed_tokens"]["value"].as_u64().unwrap();
        sandbox.done(&format!("compress {RESULT} --level minimal"));
        let status = json(&sandbox, "status", "status");
        assert_eq!((&status["billed_tokens"], &status["changed_since_bill"]), (&Value::Null, &json!(true)), "{version}");
        assert_eq!(status["tokens"]["basis"], "estimated", "{version}");
        let text = sandbox.done("status");
        assert!(text.contains("billed    nothing since the window was changed") && text.contains("  ~"), "{text}");
        sandbox.done("undo");
        assert_eq!(json(&sandbox, "status", "status")["billed_tokens"]["value"], measured, "{version}");
        sandbox.done("redo");
        assert_eq!(json(&sandbox, "status", "status")["billed_tokens"], Value::Null, "{version}");
        // The next response is billed again.
        let rows = bytes(&sandbox);
        let last: Value =
            serde_json::from_slice(rows.split(|byte| *byte == b'\n').rfind(|row| !row.is_empty()).unwrap()).unwrap();
        let mut next = last.clone();
        next["parentUuid"] = last["uuid"].clone();
        next["uuid"] = "00000099-aaaa-4aaa-8aaa-aaaaaaaaaaaa".into();
        next["requestId"] = "req_next".into();
        next["message"]["id"] = "msg_next".into();
        next["message"]["usage"] = json!({ "input_tokens": 10, "cache_read_input_tokens": 14_000, "cache_creation_input_tokens": 0, "output_tokens": 20 });
        fs::write(sandbox.first_session(), [rows.as_slice(), format!("{next}\n").as_bytes()].concat()).unwrap();
        let status = json(&sandbox, "status", "status");
        assert_eq!(
            (&status["billed_tokens"]["value"], &status["tokens"]["basis"]),
            (&json!(14_010), &json!("measured")),
            "{version}"
        );
    }
}

/// The summary of a change and the next report give the same figure for each block.
#[test]
fn each_block_has_the_same_figure_in_every_report() {
    let fixtures = ["tools-and-spill", "older-model"].map(Sandbox::of);
    let sessions = fixtures.into_iter().chain([sandbox_of(&[BINDS; 8], "2.1.330"), sandbox_of(&[OLDER; 8], "2.1.200")]);
    for (place, sandbox) in sessions.enumerate() {
        let figures = |change: &Value, name: &str| -> Vec<(u64, f64)> {
            let changes = change["changes"].as_array().unwrap().iter();
            changes.map(|change| (change["number"].as_u64().unwrap(), change[name]["value"].as_f64().unwrap())).collect()
        };
        let same = |what: &str, found: &[(u64, f64)], expected: &[(u64, f64)]| {
            assert_eq!(found.len(), expected.len(), "{what} {place}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    found.0 == expected.0 && (found.1 - expected.1).abs() <= 1.0,
                    "{what} {place}: {found:?}, not {expected:?}"
                );
            }
        };
        let line = if place == 1 { "compress 3..60 --level summarized" } else { "compress --preset aggressive" };
        let before = figures(&json(&sandbox, &format!("{line} --dry-run"), "change"), "tokens_before");
        let change = json(&sandbox, line, "change");
        let after = figures(&change, "tokens_after");
        assert!(after.len() > 2, "{place}");
        same("before", &figures(&change, "tokens_before"), &before);
        let blocks = json(&sandbox, "blocks all", "blocks");
        let blocks = blocks["blocks"].as_array().unwrap().iter();
        let of = |block: &Value| (block["number"].as_u64().unwrap(), block["tokens"]["value"].as_f64().unwrap());
        let shown: Vec<(u64, f64)> =
            blocks.map(of).filter(|(number, _)| after.iter().any(|(other, _)| other == number)).collect();
        same("blocks", &shown, &after);
        let back = json(&sandbox, "undo", "change");
        same("undo from", &figures(&back, "tokens_before"), &after);
        same("undo to", &figures(&back, "tokens_after"), &before);
    }
}

/// The cost after a change follows from the cost before, also where the bills are far below or above the estimates.
#[test]
fn a_shortened_block_is_never_reported_larger() {
    for percent in sample([30, 60, 100, 250], 3) {
        for model in [BINDS, OLDER] {
            let text = thinking_session(&[model; 8], "2.1.330");
            let rows = text.lines().map(|row| {
                let mut row: Value = serde_json::from_str(row).unwrap();
                if let Some(usage) = row["message"]["usage"].as_object_mut() {
                    for figure in usage.values_mut() {
                        *figure = (figure.as_u64().unwrap() * percent / 100).into();
                    }
                }
                format!("{row}\n")
            });
            let sandbox = Sandbox::new();
            sandbox.session("6b1f0000-0000-4000-8000-000000000001", rows.collect::<String>(), 0);
            for how in ["trimmed", "summarized", "minimal"] {
                let change = json(&sandbox, &format!("compress kind(tool_result) --level {how} --dry-run"), "change");
                let changes = change["changes"].as_array().unwrap();
                assert!(changes.len() > 2, "{percent} {model} {how}");
                let figure = |of: &Value, name: &str| of[name]["value"].as_f64().unwrap();
                for of in changes.iter().chain([&change]) {
                    let (before, after) = (figure(of, "tokens_before"), figure(of, "tokens_after"));
                    assert!(after < before, "{percent} {model} {how}: {before} to {after} of {of}");
                }
            }
        }
    }
}

/// Output of a command that the client ran is not a prompt, shortened or not.
#[test]
fn a_shortened_row_becomes_no_turn() {
    let output: String = (0..90).map(|line| format!("line {line} of the output of nothing in particular\n")).collect();
    for (open, close) in
        [("<local-command-stdout>", "</local-command-stdout>"), ("<bash-stdout>", "</bash-stdout><bash-stderr></bash-stderr>")]
    {
        let text = thinking_session(&[OLDER; 2], "2.1.330").replacen(
            "\"please look at part 1\"",
            &serde_json::to_string(&format!("{open}{output}{close}")).unwrap(),
            1,
        );
        let sandbox = Sandbox::new();
        sandbox.session("6b1f0000-0000-4000-8000-000000000001", text, 0);
        let turns = || json(&sandbox, "status", "status")["turns"].clone();
        assert_eq!(turns(), 1);
        let number = json(&sandbox, "blocks 'role(user) & larger(400)'", "blocks")["blocks"][0]["number"].clone();
        for level in ["trimmed", "summarized", "minimal"] {
            sandbox.done(&format!("compress {number} --level {level}"));
            assert_eq!(turns(), 1, "{open} {level}");
            let block = json(&sandbox, &format!("blocks {number}"), "blocks");
            assert_eq!(block["blocks"][0]["level"], level);
        }
        sandbox.done(&format!("expand {number}"));
        assert!(String::from_utf8(bytes(&sandbox)).unwrap().contains("line 89 of the output"));
    }
}
