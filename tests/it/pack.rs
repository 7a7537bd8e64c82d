//! Laws of the packer, over all fixtures.

use crate::commands::ids;
use crate::rows::Rows;
use crate::sandbox::{Sandbox, all_or, homes, sample};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const BUDGETS: [&str; 6] = ["150", "300", "301", "700", "2k", "1M"];

fn pack(sandbox: &Sandbox, id: &str, budget: &str) -> Option<Value> {
    let outcome = sandbox.run(&["pack", id, "--budget", budget, "--json"]);
    (outcome.code == 0).then(|| serde_json::from_str(&outcome.stdout).unwrap())
}

/// Returns the units of a pack, each with its section.
fn units(pack: &Value) -> BTreeSet<String> {
    let sections = pack["sections"].as_array().unwrap().iter();
    let units = sections.flat_map(|section| {
        section["units"].as_array().unwrap().iter().map(|unit| format!("{} {unit}", section["section"])).collect::<Vec<_>>()
    });
    units.collect()
}

#[test]
fn a_pack_observes_its_budget_grows_with_it_and_counts_the_rest() {
    let mut packs = 0;
    for home in sample(homes(), 2) {
        let sandbox = Sandbox::of(&home);
        for id in ids(&sandbox) {
            let all = pack(&sandbox, &id, "10M").map(|all| units(&all)).unwrap_or_default();
            let mut before = BTreeSet::new();
            for budget in sample(BUDGETS, 3) {
                let Some(packed) = pack(&sandbox, &id, budget) else {
                    assert!(before.is_empty(), "{home} {id}: {budget} is too small, a smaller budget was not");
                    continue;
                };
                assert_eq!(Some(&packed), pack(&sandbox, &id, budget).as_ref(), "{home} {id}");
                let text = packed["text"].as_str().unwrap();
                assert_eq!(sandbox.run(&["pack", &id, "--budget", budget]).stdout, text, "{home} {id}");
                let tokens = aperture::engine::tokens::of_model(text, packed["model"].as_str().unwrap());
                assert!(tokens <= packed["budget"].as_f64().unwrap(), "{home} {id}: {tokens} tokens of {budget}");
                let now = units(&packed);
                assert!(before.is_subset(&now) && now.is_subset(&all), "{home} {id}: {budget}");
                let left = packed["sections"].as_array().unwrap().iter().map(|section| section["left_out"]["lines"].as_u64());
                assert_eq!(left.flatten().sum::<u64>() as usize, all.len() - now.len(), "{home} {id}: {budget}");
                before = now;
                packs += 1;
            }
        }
    }
    assert!(packs > all_or(50, 8), "{packs}");
}

/// Every text is made from originals.
#[test]
fn a_pack_of_a_shortened_session_equals_that_of_the_session_before() {
    let sandbox = Sandbox::of("tools-and-spill");
    let text = || {
        let id = ids(&sandbox).swap_remove(0);
        pack(&sandbox, &id, "3k").map(|pack| pack["text"].as_str().unwrap().to_owned())
    };
    let before = text();
    assert!(before.is_some());
    for line in ["compress 4|16 --level minimal", "compress --preset aggressive", "archive 19"] {
        let arguments: Vec<&str> = line.split(' ').collect();
        assert_eq!(sandbox.run(&arguments).code, 0, "{line}");
        assert_eq!(before, text(), "{line}");
    }
}

/// The branches are the text, and the seed decides only the order of equals.
#[test]
fn a_pack_has_its_text_in_three_branches_and_is_deterministic() {
    for home in ["tools-and-spill", "plain"].iter().filter(|home| homes().iter().any(|known| known == *home)) {
        let sandbox = Sandbox::of(home);
        let id = ids(&sandbox).swap_remove(0);
        let run = |arguments: &[&str]| {
            let outcome = sandbox.run(&[&["pack", &id, "--budget", "2k"], arguments].concat());
            assert_eq!(outcome.code, 0, "{home}: {}", outcome.all());
            outcome.stdout
        };
        let report: Value = serde_json::from_str(&run(&["--json"])).unwrap();
        let branch = |name: &str| report["branches"][name].as_str().unwrap();
        let whole = format!("{}{}{}", branch("system_prompt"), branch("user_input"), branch("context_prompt"));
        assert_eq!(whole, report["text"].as_str().unwrap());
        let messages: Value = serde_json::from_str(&run(&["--format", "messages"])).unwrap();
        let roles: Vec<&str> = messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "user"], "{home}");
        assert_eq!(run(&["--seed", "7"]), run(&["--seed", "7"]));
        assert_eq!(run(&["--no-cache"]), run(&[]));
        assert_eq!(run(&["--across"]), run(&["--across", "--no-cache"]));
        for form in ["header", "summary", "full"] {
            assert!(run(&["--turns", "1", "--as", form]).contains("Requested turns:\nturn 1: "), "{home} {form}");
        }
    }
}

/// Five packs of a session that grows: each has all facts of the user so far, with their newest values.
#[test]
fn facts_survive_five_packs_of_a_growing_session() {
    let sandbox = Sandbox::new();
    let id = "00000000-0000-4000-8000-000000000001";
    let mut rows = Rows::new(id, "/home/dev/shop").from("2026-11-21T00:00:00Z").each_minute();
    let fact = |round: usize, at: usize, value: usize| match at {
        0 => format!("The deploy code of service {round} is KX-{value}, and needed twice."),
        1 => format!("Never spend more than ${value} on cluster number-{round} without asking me."),
        _ => format!("Base the branch of topic t{round} on commit 1a2b{value}, it is the last good one."),
    };
    rows.prompt("Help me to clean up the modules of the shop, one part after the other");
    rows.answer("Which part comes first?");
    for round in 1..=5 {
        for at in 0..3 {
            rows.prompt(&fact(round, at, 100 * round + at));
            rows.answer(&format!("Noted fact {at} of round {round}."));
            for step in 0..4 {
                rows.prompt(&format!("Look at part {step} of module {at} in round {round}"));
                let lines = (0..12).map(|line| {
                    format!("Part {step}.{line} of module {at}.{round} reads its input and returns a sum of {line} cells.")
                });
                rows.answer(&lines.collect::<Vec<_>>().join("\n"));
            }
        }
        // The deploy code of service 1 changes in each round.
        rows.prompt(&fact(1, 0, 7000 + round));
        rows.answer("The code is noted.");
        sandbox.session(id, rows.text(), 1_795_290_000 + round as u64);
        let budget = (aperture::engine::tokens::of_model(&rows.text(), "claude-opus-4-5") / 5.0) as u64;
        let text = pack(&sandbox, id, &budget.to_string()).unwrap()["text"].as_str().unwrap().to_owned();
        for (round_of, at) in (1..=round).flat_map(|round| (0..3).map(move |at| (round, at))).filter(|fact| *fact != (1, 0)) {
            assert!(text.contains(&fact(round_of, at, 100 * round_of + at)), "round {round}: {round_of} {at}\n{text}");
        }
        assert!(text.contains(&fact(1, 0, 7000 + round)), "round {round}\n{text}");
        let stale = (1..round).map(|round| 7000 + round).chain([100]);
        stale.for_each(|value| assert!(!text.contains(&format!("KX-{value},")), "round {round}: KX-{value}\n{text}"));
    }
}

#[test]
fn statements_of_the_user_precede_other_words_in_a_small_pack() {
    let mut rows = Rows::default();
    rows.prompt("Clean up the shop");
    rows.prompt("ON CALL: the pager of the shop has number 41");
    rows.prompt("HOUSE RULE: pages stay free of pictures");
    (0..40).for_each(|shelf| rows.prompt(&format!("Look at the widgets of shelf {shelf} in the back room")));
    rows.prompt("ON CALL: the pager of the shop has number 42");
    rows.prompt("Look at the door");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let text = pack(&sandbox, "abc1", "300").unwrap()["text"].as_str().unwrap().to_owned();
    for (line, is_told) in [("HOUSE RULE", true), ("number 42", true), ("back room", true), ("number 41", false)] {
        assert_eq!(text.contains(line), is_told, "{line}\n{text}");
    }
}

#[test]
fn a_pack_names_a_directory_and_an_error_once() {
    let mut rows = Rows::default();
    rows.prompt("Build the shop");
    ["all", "docs"].iter().for_each(|goal| rows.call("Bash", json!({"command": format!("cd /w/shop && make {goal}")}), "done"));
    for page in 1..=5 {
        let input = json!({"command": format!("cd /w/shop && glow {page}.md")});
        rows.failed_call("Bash", input, "Exit code 127\n/bin/bash: line 1: glow: command not found");
    }
    let rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the \
        new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
    ["rm a", "rm b"].iter().for_each(|command| rows.failed_call("Bash", json!({"command": command}), rejected));
    let tests = "Exit code 1\n?   \tshop/a\t[no test files]\n--- FAIL: TestSum (0.01s)\n    sum_test.go:7: got 3\nFAIL";
    rows.failed_call("Bash", json!({"command": "go test ./..."}), tests);
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let text = pack(&sandbox, "abc1", "2k").unwrap()["text"].as_str().unwrap().to_owned();
    for lines in [
        "`cd /w/shop`, then:\n- `make docs` #5\n- `make all` #3\n",
        "- `glow 5.md`, `glow 4.md`, `glow 3.md` and 2 other calls: Exit code 127 · /bin/bash: line 1: glow: command not found #15\n",
        "- `rm b`, `rm a`: The user doesn't want to proceed with this tool use. The tool use was rejected #19\n",
        "- `go test ./...`: Exit code 1 · --- FAIL: TestSum (0.01s) #21\n",
    ] {
        assert!(text.contains(lines), "{lines}\n{text}");
    }
}

#[test]
fn a_pack_states_what_calls_did() {
    let mut rows = Rows::default();
    let run = |rows: &mut Rows, command: &str, output: &str| rows.call("Bash", json!({"command": command}), output);
    rows.prompt("Sort the shelves of the shop");
    run(&mut rows, "grep -n shelf src/shelf.rs | grep -v \"push.go\"", "src/shelf.rs:3: shelf");
    run(&mut rows, "gh run list --workflow=cleanup.yml | head", "1");
    run(&mut rows, "go test ./shelf 2>&1 | tail -5", "--- FAIL: TestSort (0.01s)\nFAIL");
    run(&mut rows, "git push origin HEAD 2>&1 | tail -2", " ! [rejected] a -> a\nerror: failed to push some refs");
    run(&mut rows, "git diff main..shelf | head", "fatal: ambiguous argument 'main..shelf'");
    rows.failed_call("Bash", json!({"command": "rg -n shelf src/no.rs"}), "Exit code 2\nrg: src/no.rs: No such file");
    run(&mut rows, "git commit -q -F - <<'EOF'\nSort (all) shelves\n\nThey were mixed.\nEOF", "");
    rows.answer("The shelves are sorted. Shall I sort the drawers too?");
    rows.prompt("Yes");
    (0..80).for_each(|step| run(&mut rows, &format!("make drawer-{step} | tail -1"), "done"));
    run(&mut rows, "make sums", "   Compiling sums v0.1.0\nok  \tshop/sums\t0.1s\nThe sums differ by 3 cents");
    rows.answer("1. The left drawers first.\n2. The right drawers first.\n\nWhich?");
    rows.prompt("option 2.");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let text = pack(&sandbox, "abc1", "1M").unwrap()["text"].as_str().unwrap().to_owned();
    for (part, is_told) in [
        ("src/shelf.rs #", true),
        ("push.go #", false),
        ("cleanup.yml #", false),
        ("`go test ./shelf 2>&1 | tail -5` #", false),
        ("`git push origin HEAD 2>&1 | tail -2` #", false),
        ("`git diff main..shelf | head` #", false),
        ("src/no.rs #", false),
        ("differ by 3 cents", true),
        ("Compiling sums", false),
        ("`make drawer-7 | tail -1` #", true),
        (" agent: Shall I sort the drawers too?\n", true),
        (" agent: 2. The right drawers first.\n", true),
        ("Sort (all) shelves", true),
        ("a commit", false),
    ] {
        assert_eq!(text.contains(part), is_told, "{part}\n{text}");
    }
}

/// Headers are made once, and tell the same of a turn everywhere.
#[test]
fn headers_of_a_pack_are_those_of_the_summary() {
    let mut headers = 0;
    for home in sample(homes(), 4) {
        let sandbox = Sandbox::of(&home);
        for id in ids(&sandbox) {
            let Some(packed) = pack(&sandbox, &id, "10M") else { continue };
            let summary: Value = serde_json::from_str(&sandbox.run(&["summary", &id, "--json"]).stdout).unwrap();
            let turns = packed["sections"].as_array().unwrap().iter().filter(|section| section["section"] == "turns");
            for unit in turns.flat_map(|section| section["units"].as_array().unwrap()) {
                let Some((number, header)) =
                    unit["text"].as_str().unwrap().strip_prefix("- turn ").and_then(|line| line.split_once(": "))
                else {
                    continue;
                };
                let turn = summary["turns"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|turn| turn["number"].as_u64() == number.parse().ok())
                    .unwrap();
                assert_eq!(turn["header"]["text"], header, "{home} {id}");
                headers += 1;
            }
        }
    }
    assert!(headers > 10, "{headers}");
}

#[test]
fn a_failed_call_has_its_error_and_a_search_without_hits_is_none() {
    let mut rows = Rows::default();
    rows.prompt("Build the shop");
    rows.failed_call("Bash", json!({"command": "grep -n error src/a.rs | head"}), "Exit code 1");
    rows.failed_call(
        "Bash",
        json!({"command": "rg -n fail src; ls lib"}),
        "Exit code 2\nsrc/a.rs:3: fail\nls: lib: No such file",
    );
    rows.failed_call("Bash", json!({"command": "make"}), "Exit code 1\n\u{1b}[31merror: no rule\u{1b}[0m");
    rows.failed_call("Ask", json!({"questions": [{"question": "Now?"}]}), "Nobody answered");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let text = pack(&sandbox, "abc1", "2k").unwrap()["text"].as_str().unwrap().to_owned();
    let listed = "Failed or rejected calls:\n- `Ask Now?`: Nobody answered #9\n- `make`: Exit code 1 · error: no rule #7\n\
        - `rg -n fail src; ls lib`: Exit code 2 · ls: lib: No such file #5\n\n";
    assert!(text.contains(listed), "{text}");
}

#[test]
fn packing() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.snapshot(
        "pack",
        &[
            "pack --budget 700",
            "pack --budget 400 --query echo",
            "pack --budget 700 --explain",
            "pack --budget 5",
            "pack --budget 400 --query=-x",
            "pack --budget 300 --turns 99",
        ],
    );
}
