//! The manifest reports what the model needs next: files in work, rules of the user, forgotten topics.

use crate::rows::Rows;
use crate::sandbox::Sandbox;
use expect_test::{Expect, expect};
use serde_json::json;

fn work() -> Sandbox {
    let mut rows = Rows::default();
    rows.prompt("Never commit without running the tests. Round the sales tax in the invoice total.");
    rows.call("Read", json!({"file_path": "/home/dev/shop/src/billing/tax.rs"}), "fn tax() {}");
    rows.call("Bash", json!({"command": "cd src/billing && rg -n total invoice.rs | head"}), "invoice.rs:4: total");
    rows.prompt("I never understood why. Add a discount code to the checkout page.");
    let edit = json!({"file_path": "/home/dev/shop/src/billing/tax.rs", "old_string": "{}", "new_string": "{ 1 }"});
    rows.call("Edit", edit, "done");
    rows.call("Read", json!({"file_path": "/home/dev/shop/README.md"}), "Shop");
    rows.call("Bash", json!({"command": "cat <<'EOF' > /tmp/notes.md\nsee hidden.rs\nEOF"}), "");
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    sandbox
}

fn check(arguments: &[&str], expected: &Expect) {
    expected.assert_eq(&work().text(arguments));
}

#[test]
fn the_full_manifest_has_a_line_for_each_file_and_no_empty_title() {
    let text = work().text(&["manifest", "--tier", "full"]);
    let (_, files) = text.split_once("FILES IN WORK (* edited, #block):\n").unwrap();
    let files: Vec<&str> = files.lines().take_while(|line| !line.is_empty()).collect();
    assert!(files.contains(&"  * src/billing/tax.rs  #7") && files.len() > 3, "{text}");
    for (title, next) in text.lines().zip(text.lines().skip(1)) {
        assert!(!title.ends_with("):") || !next.is_empty(), "{text}");
    }
}

#[test]
fn the_manifest_names_the_files_in_work_and_the_rules_of_the_user() {
    check(
        &["manifest"],
        &expect![[r#"
            [CONTEXT MANIFEST — 12 blocks, ~577/200k tokens, 0% capacity]
            MESSAGES: user 2, agent 5, tools 5

            RULES OF THE USER:
              - #1 "Never commit without running the tests."

            FILES IN WORK (* edited, #block):
                README.md  #10
              * src/billing/tax.rs  #7
                src/billing/invoice.rs  #5
                /tmp/notes.md  #12

            BEGINNING (1 block, ~16 tokens):
              - #1 "Never commit without running the tests. Round … (~16)

            MIDDLE (6 blocks, ~313 tokens):
              - Topics: Add a discount code to the checkout page, Round the sales tax in the invoice total

            NEWEST (5 blocks, ~248 tokens):
              - Current task: "I never understood why. Add a discount code to the checkout page."
              - #11 Bash cat <<'EOF' > /tmp/notes.md see hidden.rs … (~62)
              - #9 Read shop/README.md (~53)
              - #12 Bash cat <<'EOF' > /tmp/notes.md see hidden.rs … (~53)
              - #10 Read shop/README.md (~40)

            States: 5 fresh, 7 active
            BUDGET: 166k tokens remaining — nothing is stale
        "#]],
    );
}

/// Returns the text of the manifest of a session.
fn text(rows: Rows) -> String {
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    sandbox.text(&["manifest"])
}

#[test]
fn the_files_without_a_block_number_have_an_unambiguous_name() {
    let mut rows = Rows::default();
    rows.prompt("Read all of them.");
    for number in 0..16 {
        let directory = ["billing", "checkout"][number % 2];
        rows.call("Read", json!({"file_path": format!("/home/dev/shop/{directory}/v{}/part.rs", number / 2)}), "fn part() {}");
    }
    let manifest = text(rows);
    for number in 0..16 {
        let directory = ["billing", "checkout"][number % 2];
        let rest = format!("v{}/part.rs", number / 2);
        let group = manifest.split(&format!("{directory}/")).skip(1).any(|group| group.contains(&rest));
        assert!(group, "{directory}/{rest} is missing in:\n{manifest}");
    }
}

#[test]
fn the_current_task_is_of_a_person() {
    let mut rows = Rows::default();
    rows.prompt("Round the sales tax.");
    rows.call("Bash", json!({"command": "make"}), "ok");
    rows.prompt("<task-notification>\n<task-id>b1</task-id>\n<summary>Tests ended</summary>\n</task-notification>");
    rows.call("Bash", json!({"command": "make test"}), "ok");
    rows.prompt("<local-command-caveat>Caveat: x</local-command-caveat>");
    rows.call("Bash", json!({"command": "make all"}), "ok");
    rows.prompt("yes, go ahead");
    rows.call("Bash", json!({"command": "make install"}), "ok");
    let manifest = text(rows);
    assert!(manifest.contains("Current task: \"Round the sales tax.\""), "{manifest}");
    assert!(!manifest.contains("<task"), "{manifest}");
}

#[test]
fn a_turn_that_the_user_left_is_not_reported() {
    let left = |rows: &mut Rows| {
        rows.prompt("Always use yarn for the packages.");
        rows.call("Edit", json!({"file_path": "/home/dev/shop/yarn.rs", "old_string": "a", "new_string": "b"}), "ok");
    };
    let check = |is_answered: bool| {
        let mut rows = Rows::default();
        rows.prompt("Build the parser.");
        rows.call("Read", json!({"file_path": "/home/dev/shop/parser.rs"}), "fn parse() {}");
        left(&mut rows);
        rows.rewind(2);
        if is_answered {
            rows.prompt("Build the lexer.");
            rows.call("Bash", json!({"command": "make"}), "ok");
        }
        let sandbox = Sandbox::new();
        sandbox.session("abc1", rows.text(), 0);
        for arguments in [&["manifest"] as &[&str], &["manifest", "--json"], &["pack", "abc1", "--budget", "4k"]] {
            let text = sandbox.text(arguments);
            assert!(text.contains("parser") && !text.contains("yarn"), "{arguments:?}\n{text}");
        }
    };
    check(true);
    check(false);
}

#[test]
fn the_short_manifest_names_the_most_important_files() {
    check(
        &["manifest", "--tier", "summary"],
        &expect![[r#"
            [CONTEXT MANIFEST — 12 blocks, ~577/200k tokens, 0% capacity]
            BEGINNING 1, ~16 | MIDDLE 6, ~313 | NEWEST 5, ~248
            Current task: "I never understood why. Add a discount code to the checkout…"
            Files (* edited): notes.md #12, README.md #10, tax.rs #7*, invoice.rs #5
            User rule: #1 "Never commit without running the tests."
            Topics: Add a discount code to the checkout page, Round the sales tax in the invoice total
            BUDGET: 166k tokens remaining — nothing is stale
        "#]],
    );
}
