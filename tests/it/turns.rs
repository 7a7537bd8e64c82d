//! Requests for turns, by the user and by the model.

use crate::mcp::Server;
use crate::obeying::{sandbox, say};
use crate::rows::Rows;
use crate::sandbox::Sandbox;
use crate::shrink::{compacted, sandbox_of};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

/// Returns a session with four turns.
fn four_turns() -> Sandbox {
    let sandbox = sandbox();
    for text in ["The retry limit is 3.", "The parser keeps comments.", "Is the cache warm?"] {
        say(&sandbox, text);
    }
    sandbox
}

#[test]
fn turns_are_printed_in_their_forms() {
    let sandbox = four_turns();
    let screen = |arguments: &[&str]| {
        let outcome = sandbox.run(&[&["recall", "--turns"], arguments].concat());
        format!("{}{}", outcome.stdout, outcome.stderr)
    };
    expect![[r#"
        turn 1  do the big job ALPHA · edited 2 files  #1..#47
        turn 2  23:50 go on · answered  #48..#49
        turn 3  23:50 go on · answered  #50..#51
        turn 4  23:50 go on · asks  #52..#53
    "#]]
    .assert_eq(&screen(&["1..", "--as", "header"]));
    expect![[r#"
        turn 2  23:50 go on · answered  #48..#49
          asked: go on
          said: The retry limit is 3.

        turn 4  23:50 go on · asks  #52..#53
          asked: go on
          said: Is the cache warm?
          open: Is the cache warm?

    "#]]
    .assert_eq(&screen(&["2,4", "--as", "summary"]));
    expect![[r#"
        turn 2  23:50 go on · answered  #48..#49
        [#48 user]
        go on
        [#49 assistant]
        The retry limit is 3.

        turn 3  23:50 go on · answered  #50..#51
        [#50 user]
        go on
        [#51 assistant]
        The parser keeps comments.

        turn 4  23:50 go on · asks  #52..#53
        [#52 user]
        go on
        [#53 assistant]
        Is the cache warm?

        [no turn 5..9; the session has turns 1..4]
    "#]]
    .assert_eq(&screen(&["2..9", "--as", "full"]));
    expect![[r#"
        turn 1  do the big job ALPHA · edited 2 files  #1..#47
          asked: Please do the big job ALPHA
          changed: src/small.py, src/new.py
          said: The answer is 42.

        turn 2  23:50 go on · answered  #48..#49
        [#48 user]
        go on
        [#49 assistant]
        The retry limit is 3.

        turn 3  23:50 go on · answered  #50..#51
        [#50 user]
        go on
        [#51 assistant]
        The parser keeps comments.

        turn 4  23:50 go on · asks  #52..#53
        [#52 user]
        go on
        [#53 assistant]
        Is the cache warm?

    "#]]
    .assert_eq(&screen(&["1..", "parser", "--max-tokens", "220"]));
    expect![[r#"
        error: no turn 7, 9; the session has turns 1..4
        hint: to list the latest turns: aperture summary -s 11111111
    "#]]
    .assert_eq(&screen(&["7,9"]));
}

#[test]
fn turns_are_recalled_from_originals() {
    let sandbox = four_turns();
    let before = sandbox.text(&["recall", "--turns", "1", "--as", "full", "--max-tokens", "100k"]);
    sandbox.text(&["archive", "16", "19"]);
    assert_eq!(sandbox.text(&["recall", "--turns", "1", "--as", "full", "--max-tokens", "100k"]), before);
}

/// Returns the answers that the next prompt brings.
fn answers(sandbox: &Sandbox) -> String {
    sandbox.text(&["obey"]);
    sandbox.text(&["obey", "--tell"])
}

#[test]
fn a_model_asks_for_turns() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    say(&sandbox, "@recall(turns 2, 3, summary)");
    expect![[r#"
        aperture: @recall(turns 2, 3, summary): Recalled from earlier in this session, as it was then:
        turn 2  23:50 go on · answered  #48..#49
          asked: go on
          said: The retry limit is 3.

        turn 3  23:50 go on · answered  #50..#51
          asked: go on
          said: The parser keeps comments.
    "#]]
    .assert_eq(&answers(&sandbox));
    // A failed request says what exists, and so does one with a wrong word.
    say(&sandbox, "@recall(turns 40..42)\n@recall(turns 3, sumary)");
    expect![[r#"
        aperture: @recall(turns 40..42) was not executed: no turn 40..42; the session has turns 1..6
        aperture: @recall(turns 3, sumary) was not executed: 'sumary' is not a form of turns: header, summary, full or mixed; example: @recall(turns 3..5, summary)
    "#]].assert_eq(&answers(&sandbox));
}

#[test]
fn an_answer_has_room_in_a_prompt() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    say(&sandbox, &format!("{}\n\n@recall(turns 1..5, full)", "A long answer about widgets. ".repeat(2_000)));
    let told = answers(&sandbox);
    assert!(told.len() < 6_200 && told.contains("only the summary of turn"), "{} {told}", told.len());
    assert!(!told.contains("truncated"), "{told}");
}

#[test]
fn beyond_the_quota_turns_are_headers() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    sandbox.settings("[model]\nrecalls_per_turn = 2\n");
    say(&sandbox, "@recall(turns 2, full)\n@recall(turns 3, full)\n@recall(turns 2, full)");
    let told = answers(&sandbox);
    assert_eq!(told.matches("[#").count(), 4, "{told}");
    assert_eq!(told.matches("the quota of recalls in this turn is used").count(), 1, "{told}");
    // A new turn has a new quota, also in tokens.
    sandbox.settings("[model]\nrecalled_tokens_per_turn = 180\n");
    say(&sandbox, "@recall(turns 2, full)\n@recall(turns 3, full)");
    let told = answers(&sandbox);
    assert!(told.contains("[#") && told.contains("the quota of recalls"), "{told}");
}

#[test]
fn the_quota_holds_for_tool_calls() {
    let sandbox = four_turns();
    sandbox.settings("[model]\nrecalls_per_turn = 2\n");
    let mut server = Server::new(&sandbox, &[]);
    let call = json!({"turns": "2,3", "as": "summary"});
    for _ in 0..2 {
        assert!(server.text("recall", call.clone()).contains("said: The retry limit is 3."));
    }
    let text = server.text("recall", call.clone());
    assert!(!text.contains("said:") && text.contains("the quota of recalls in this turn is used"), "{text}");
    say(&sandbox, "On.");
    assert!(server.text("recall", call).contains("said:"), "a new turn");
    assert!(server.error("recall", json!({"turns": "70"})).contains("the session has turns 1..5"));
    assert!(sandbox.first_session().exists());
    assert_eq!(server.end(), 0);
}

/// Returns the turns of a session: their ids and the first words of each.
fn ids(sandbox: &Sandbox) -> Vec<(u64, String)> {
    let summary = sandbox.json(&["summary", "--turns", "1.."], "aperture.summary/2");
    let id = |turn: &Value| (turn["turn_id"].as_u64().unwrap(), turn["summary"]["text"].as_str().unwrap().to_owned());
    summary["turns"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn a_turn_keeps_its_number_when_turns_are_removed_and_restored() {
    let (sandbox, path) = sandbox_of(&compacted());
    let (bytes, before) = (fs::read(&path).unwrap(), ids(&sandbox));
    assert_eq!(before.len(), 13);
    sandbox.text(&["shrink"]);
    assert_eq!(ids(&sandbox).iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
    // Another program removes the prompts that stayed, and their answers.
    let whole = fs::read_to_string(&path).unwrap();
    let is_left =
        |line: &&str| !(1..12).any(|turn| ["prompt", "answer"].iter().any(|word| line.contains(&format!("{word} {turn}\""))));
    let left: String = whole.lines().filter(is_left).map(|line| format!("{line}\n")).collect();
    fs::write(&path, left).unwrap();
    let left = ids(&sandbox);
    assert_eq!(left.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 13]);
    assert_eq!(left.last(), before.last());
    for form in [&["search", "answer 12"][..], &["search", "--literal", "answer 12"]] {
        let found = sandbox.json(form, "aperture.search/1");
        assert_eq!(found["sessions"][0]["turns"][0]["turn"], 13, "{found}");
    }
    // Marks and selectors use the same numbers.
    sandbox.text(&["focus", "turn(13)"]);
    assert!(sandbox.text(&["blocks", "focused & turn(13)"]).contains("user"));
    let gone = sandbox.run(&["recall", "--turns", "5"]);
    assert!(gone.stderr.contains("no turn 5; the session has turns 1, 13"), "{}", gone.stderr);
    assert!(sandbox.text(&["recall", "--turns", "5,13", "--as", "header"]).contains("[no turn 5;"));
    sandbox.text(&["undo"]);
    fs::write(&path, whole).unwrap();
    sandbox.text(&["undo"]);
    assert_eq!(ids(&sandbox), before);
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn a_turn_behind_a_fold_keeps_its_number_when_the_fold_is_undone() {
    let sandbox = four_turns();
    sandbox.text(&["compact", "2..3"]);
    say(&sandbox, "A later answer.");
    let last = ids(&sandbox).pop().unwrap();
    sandbox.text(&["undo"]);
    assert_eq!(ids(&sandbox).pop().unwrap(), last);
    assert_eq!(sandbox.run(&["verify"]).code, 0);
}

/// Returns a text of the model with a block of housekeeping.
fn with_block(text: &str, block: &Value) -> String {
    format!("{text}\n\n```aperture\n{block}\n```")
}

fn header(sandbox: &Sandbox, turn: &str) -> String {
    let summary = sandbox.json(&["summary", "--turns", turn], "aperture.summary/2");
    summary["turns"][0]["header"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_header_of_the_model_replaces_that_of_its_turn() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    let words =
        json!({"housekeeping": {"response_header": "lexer skips blanks", "key_decisions": ["blanks are skipped"], "mood": 3}});
    let text = "The lexer now skips blanks in src/lexer.rs.";
    say(&sandbox, &with_block(text, &words));
    // Off is the default.
    assert!(answers(&sandbox).contains("the user's settings deny @housekeeping"));
    sandbox.settings("[model]\nhousekeeping = \"on\"\n");
    let before = header(&sandbox, "5");
    say(&sandbox, &with_block(text, &words));
    assert_eq!(answers(&sandbox), "", "it needs no answer");
    assert_eq!(header(&sandbox, "6"), "23:50 lexer skips blanks · answered");
    assert_eq!(header(&sandbox, "5"), before);
    assert!(sandbox.text(&["recall", "--turns", "6", "--as", "header"]).contains("lexer skips blanks"));
    assert!(sandbox.text(&["log"]).contains("Claude recorded 1 header"), "{}", sandbox.text(&["log"]));
    // The actions of the model are operations.
    sandbox.text(&["undo"]);
    assert!(!header(&sandbox, "6").contains("lexer skips"), "{}", header(&sandbox, "6"));
    sandbox.text(&["redo"]);
    assert_eq!(header(&sandbox, "6"), "23:50 lexer skips blanks · answered");
}

#[test]
fn words_that_the_turn_does_not_show_are_claimed() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    sandbox.settings("[model]\nhousekeeping = \"on\"\n");
    let words = json!({"housekeeping": {"response_header": "blanks skipped, 99 tests pass", "code_changes": ["src/other.rs"]}});
    say(&sandbox, &with_block("The lexer now skips blanks.", &words));
    let told = answers(&sandbox);
    assert!(told.contains("recorded as claimed: the turn does not support 'blanks skipped, 99 tests pass'"), "{told}");
    assert!(!header(&sandbox, "5").contains("99"));
    let summary = sandbox.json(&["summary", "--turns", "5"], "aperture.summary/2");
    assert_eq!(summary["turns"][0]["housekeeping"]["claimed"], true);
    assert!(sandbox.text(&["summary", "--turns", "5"]).contains("claimed   blanks skipped, 99 tests pass"));
    // A block that cannot be used is refused with its reason.
    for (block, expected) in
        [("{".repeat(1_000), "is not JSON"), ("[".repeat(1_000), "recursion limit"), ("x".repeat(20_000), "the maximum is 16384")]
    {
        say(&sandbox, &format!("```aperture\n{block}\n```"));
        let told = answers(&sandbox);
        assert!(told.len() < 300 && told.contains(expected), "{told}");
    }
}

#[test]
fn a_header_of_the_model_hides_no_failure() {
    let sandbox = Sandbox::new();
    let id = "22222222-2222-4222-8222-222222222222";
    let mut rows = Rows::new(id, &sandbox.project).from("2026-11-21T23:50:00Z");
    rows.prompt("Fix the parser so that it keeps comments in all tests");
    rows.failed_call("Bash", json!({"command": "cargo test"}), "test result: FAILED. 3 passed; 2 failed");
    rows.answer("The parser keeps comments in front of the words, but 2 tests fail.");
    sandbox.session(id, rows.text(), 1);
    let recorded = |header: &str| {
        let words = json!({"response_header": header}).to_string();
        let said = sandbox.text(&["housekeeping", &words]);
        (said.contains("recorded as claimed"), self::header(&sandbox, "1"))
    };
    let found = header(&sandbox, "1");
    assert!(found.contains("2 failed of 5"), "{found}");
    for claim in ["2 tests passed, comments kept", "all tests pass", "tests do not fail"] {
        assert_eq!(recorded(claim), (true, found.clone()));
    }
    assert_eq!(recorded("parser keeps comments"), (false, "parser keeps comments · 2 failed of 5".to_owned()));
    let (is_claimed, cut) = recorded("the parser keeps comments in front of all words");
    assert!(!is_claimed && cut.starts_with("the parser keeps comments") && cut.ends_with("… · 2 failed of 5"), "{cut}");
}

#[test]
fn housekeeping_waits_for_the_user_if_it_is_asked_for() {
    let sandbox = four_turns();
    sandbox.settings("[model]\nhousekeeping = \"ask\"\n");
    sandbox.text(&["obey"]);
    say(&sandbox, &with_block("The lexer skips blanks.", &json!({"housekeeping": {"response_header": "lexer skips blanks"}})));
    sandbox.text(&["obey"]);
    say(&sandbox, "A later turn.");
    assert!(!header(&sandbox, "5").contains("lexer skips blanks"));
    sandbox.text(&["approve", "1"]);
    assert!(header(&sandbox, "5").contains("lexer skips blanks"), "of the turn that it was written in");
    assert!(!header(&sandbox, "6").contains("lexer"));
}

#[test]
fn a_block_requests_turns() {
    let sandbox = four_turns();
    sandbox.open_in_client();
    sandbox.text(&["obey"]);
    let requests = json!({"context_requests": [{"turns": "2", "as": "summary"}, {"turns": [70]}]});
    say(&sandbox, &with_block("I need more.", &requests));
    let told = answers(&sandbox);
    assert!(told.contains("said: The retry limit is 3.") && told.contains("no turn 70; the session has turns 1..5"), "{told}");
}

#[test]
fn the_output_of_a_program_in_the_background_is_that_of_its_command() {
    let mut rows = Rows::default();
    rows.prompt("Run the tests of the shop in the background");
    let started = "Command running in background with ID: b1f2. Output is being written to: /tmp/b1f2.output";
    rows.call("Bash", json!({"command": "npm test", "run_in_background": true}), started);
    rows.call("TaskOutput", json!({"task_id": "b1f2", "block": true}), "Tests  3 passed, 1 failed (4)");
    rows.answer("One of them fails.");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let summary = sandbox.json(&["summary", "abc1"], "aperture.summary/2");
    assert_eq!(summary["turns"][0]["outcomes"][0], json!({"kind": "tests", "passed": 3, "failed": 1}));
    let labels = sandbox.text(&["blocks", "tool(TaskOutput)", "-s", "abc1"]);
    assert_eq!(labels.matches("TaskOutput npm test").count(), 2, "{labels}");
}

#[test]
fn a_turn_is_told_by_what_came_of_it() {
    let mut rows = Rows::default();
    rows.prompt("Plan the shop in three steps");
    rows.call("TodoWrite", json!({"todos": [{"content": "Draw the door", "status": "pending"}]}), "noted");
    rows.answer("The plan is made.");
    rows.prompt("Commit what is done");
    rows.call("Bash", json!({"command": "git -C /w/shop commit -qam 'Round once'"}), "");
    rows.answer("Done.");
    rows.prompt("Is there a command to move a worktree?");
    let trial = "cd /tmp && git init t && cd t && git commit --allow-empty -m init";
    rows.call("Bash", json!({"command": trial}), "[main (root-commit) 1a2b3c4] init");
    rows.answer("There is one.");
    rows.prompt("Thank you, that is all for the shop today");
    rows.answer("Goodbye then.");
    rows.prompt("<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let summary = sandbox.json(&["summary", "abc1"], "aperture.summary/2");
    let outcomes = summary["turns"].as_array().unwrap().iter().map(|turn| turn["outcomes"][0]["kind"].as_str().unwrap());
    assert_eq!(outcomes.take(4).collect::<Vec<_>>(), ["answered", "committed", "answered", "answered"]);
    let text = summary["current"]["text"].as_str().unwrap();
    // The plan was left behind.
    assert!(text.contains("state: last turn: answered") && !text.contains("Draw the door"), "{text}");
    assert!(text.contains("Round once") && !text.contains("init"), "{text}");
}
