//! Reports say what is true of a session, and their hints run.

use crate::sandbox::Sandbox;
use crate::searching::session;
use serde_json::json;

#[test]
fn a_recall_of_what_is_in_the_window_says_so_with_a_command_that_runs() {
    let sandbox = Sandbox::of("tools-and-spill");
    let outcome = sandbox.run(&["recall", "16"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.starts_with("error: #16 is in the window as it was: nothing to recall\n"), "{}", outcome.stderr);
    let command = outcome.stderr.split("aperture ").nth(1).unwrap().trim().replace('\'', "");
    assert_eq!(sandbox.run(&command.split(' ').collect::<Vec<_>>()).code, 0, "{command}");
}

#[test]
fn a_phrase_that_nothing_has_is_offered_as_words() {
    let sandbox = Sandbox::new();
    session(&sandbox, "aaaa1111", &["why is the cart empty?", "The session ends at night."]);
    let outcome = sandbox.run(&["search", "\"cart session\""]);
    assert!(outcome.stderr.ends_with("hint: to search for its words: aperture search 'cart session'\n"), "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["search", "cart session"]).code, 0);
}

#[test]
fn a_name_that_is_no_field_of_a_query_is_told() {
    let sandbox = Sandbox::new();
    session(&sandbox, "aaaa1111", &["rename push.rs", "The file push.rs is renamed."]);
    let text = sandbox.text(&["search", "file:push.rs"]);
    let note = "unknown field 'file', searched as words; the fields are role, tool, path, project, client, kind, since, until";
    assert!(text.starts_with(note), "{text}");
    let nothing = sandbox.run(&["search", "author:ann"]).stderr;
    assert!(nothing.contains("hint: unknown field 'author', searched as words"), "{nothing}");
    assert!(!sandbox.text(&["search", "std::push http://push.rs 12:30"]).contains("unknown field"));
}

#[test]
fn a_word_with_a_hyphen_is_one_word_beside_others() {
    let sandbox = Sandbox::new();
    session(
        &sandbox,
        "aaaa1111",
        &["which ticket is it, of 12 in the web list?", "The web ticket is the 12th of the linear list."],
    );
    session(&sandbox, "bbbb2222", &["where are we with WEB-12?", "WEB-12 is a linear one: its form is done."]);
    session(&sandbox, "cccc3333", &["close the ticket of the clerk", "The ticket is closed."]);
    session(&sandbox, "dddd4444", &["open a ticket for the cart", "The ticket is open."]);
    let found = sandbox.json(&["search", "linear ticket WEB-12"], "aperture.search/1");
    assert_eq!(found["sessions"][0]["session"], "bbbb2222", "{found}");
    let other = &found["sessions"][1]["turns"][0];
    assert_eq!((&other["tier"], &other["missing_words"]), (&json!("fewer_words"), &json!(["web-12"])), "{other}");
}

#[test]
fn an_export_without_operations_is_refused() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["snapshot", "save", "start"]);
    let outcome = sandbox.run(&["export", "--output", "out.aperture"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("to share the conversation: aperture export --format html"), "{}", outcome.stderr);
    assert!(!sandbox.project.join("out.aperture").exists());
}

#[test]
fn a_block_before_a_compaction_is_explained_so() {
    let sandbox = Sandbox::of("interactive-compact");
    let blocks = sandbox.json(&["blocks", "all"], "aperture.blocks/2");
    let outside = blocks["blocks"].as_array().unwrap().iter().find(|block| block["zone"] == "cold").unwrap();
    let text = sandbox.text(&["explain", &outside["number"].to_string()]);
    assert!(text.contains("not in the window") && text.contains("why it is not sent"), "{text}");
    assert!(text.contains("before a compaction") && !text.contains("evicted") && !text.contains("cold"), "{text}");
    let manifest = sandbox.text(&["manifest"]);
    let line = manifest.lines().find(|line| line.starts_with("OUTSIDE THE WINDOW")).unwrap();
    assert!(line.ends_with("blocks before a compaction)"), "{line}");
}

#[test]
fn a_manifest_counts_the_words_of_a_person() {
    let sandbox = Sandbox::new();
    let notice = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
    let texts = ["count the carts", "There are 3.", notice, "The task is done.", "now count the clerks", "There are 2."];
    session(&sandbox, "aaaa1111", &texts);
    let text = sandbox.text(&["manifest"]);
    assert!(text.contains("MESSAGES: user 2, agent 3, tools 0"), "{text}");
}

#[test]
fn errors_of_the_command_line_have_the_form_of_all_others() {
    let sandbox = Sandbox::new();
    let said = |arguments: &[&str]| {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}");
        outcome.stderr
    };
    let day = "error: invalid value '99x' for '--since <DAY>': write a day as 2026-11-30, today, yesterday, 7d or 2w\n";
    assert!(said(&["usage", "--since", "99x"]).starts_with(day));
    for arguments in
        [&["usage", "--since", "99x"][..], &["sessions", "--format", "json"], &["statsu"], &["usage", "--by", "year"]]
    {
        let text = said(arguments);
        let is_form = |(at, line): (usize, &str)| line.starts_with(if at == 0 { "error: " } else { "hint: " });
        assert!(text.lines().enumerate().all(is_form) && text.lines().count() > 1, "{text}");
    }
}
