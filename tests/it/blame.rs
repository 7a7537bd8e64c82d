//! Tests of `aperture blame`: which edits are those of a line, and which are not.

use crate::rows;
use crate::sandbox::{Outcome, Sandbox, succeed};
use aperture::provider::claude_code::slug;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const SESSION: &str = "66666666-0000-4000-8000-000000000000";
const OTHER: &str = "77777777-0000-4000-8000-000000000000";

/// The file that the sessions write.
const CART: &str = "fn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n}\n";

/// A session of Claude Code.
struct Rows(rows::Rows);

impl Rows {
    fn new(id: &str, directory: &Path) -> Rows {
        Rows(rows::Rows::new(id, directory).each_minute()).at(0)
    }

    /// The same from a minute on, on 2026-11-20 from 10:00.
    fn at(self, minute: usize) -> Rows {
        Rows(self.0.from(&format!("2026-11-20T{}:{:02}:00Z", 10 + minute / 60, minute % 60)))
    }

    fn prompt(mut self, text: &str) -> Rows {
        self.0.prompt(text);
        self
    }

    fn answer(mut self, text: &str) -> Rows {
        self.0.answer(text);
        self
    }

    fn call(mut self, tool: &str, input: Value, result: &str, error: bool) -> Rows {
        match error {
            true => self.0.failed_call(tool, input, result),
            false => self.0.call(tool, input, result),
        }
        self
    }

    fn directory(&self) -> &str {
        self.0.shared["cwd"].as_str().unwrap()
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory())
    }

    fn create(self, name: &str, text: &str) -> Rows {
        let path = self.path(name);
        let result = format!("File created successfully at: {path}");
        self.call("Write", json!({"file_path": path, "content": text}), &result, false)
    }

    fn overwrite(self, name: &str, text: &str) -> Rows {
        let path = self.path(name);
        let result = format!("The file {path} has been updated.");
        self.call("Write", json!({"file_path": path, "content": text}), &result, false)
    }

    fn read(self, name: &str, text: &str) -> Rows {
        let path = self.path(name);
        let lines: Vec<String> = text.lines().zip(1..).map(|(line, number)| format!("{number:>6}→{line}")).collect();
        self.call("Read", json!({"file_path": path}), &lines.join("\n"), false)
    }

    fn edit(self, name: &str, before: &str, after: &str) -> Rows {
        let path = self.path(name);
        let result = format!("The file {path} has been updated.");
        self.call("Edit", json!({"file_path": path, "old_string": before, "new_string": after}), &result, false)
    }

    /// Writes the session into the home, of the project in its directory.
    fn save(&self, sandbox: &Sandbox) {
        let folder = sandbox.home.join(".claude/projects").join(slug(self.directory()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{}.jsonl", self.0.shared["sessionId"].as_str().unwrap())), self.0.text()).unwrap();
    }
}

/// A project with a repository.
struct Repository(Sandbox);

impl Repository {
    fn new() -> Option<Repository> {
        Sandbox::with_repository().map(Repository)
    }

    /// Runs git at a minute on 2026-11-20 from 10:00.
    fn git(&self, minute: usize, arguments: &[&str]) -> String {
        let time = format!("2026-11-20T{}:{:02}:30Z", 10 + minute / 60, minute % 60);
        let mut command = self.0.git_command(arguments);
        succeed(command.env("GIT_AUTHOR_DATE", &time).env("GIT_COMMITTER_DATE", &time))
    }

    /// Writes a file and commits it.
    fn commit(&self, minute: usize, name: &str, text: &str) {
        self.0.write(name, text);
        self.git(minute, &["add", "-A"]);
        self.git(minute, &["commit", "-q", "-m", name]);
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        run(&self.0, arguments)
    }

    fn check(&self, arguments: &[&str], expected: &Expect) {
        expected.assert_eq(&self.run(arguments).all());
    }

    /// Returns the session and the turn of each line; empty if they are unknown.
    fn lines(&self, arguments: &[&str]) -> Vec<String> {
        lines(&self.0, arguments)
    }
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    sandbox.run_with_git(&[&["blame"], arguments].concat())
}

fn lines(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let outcome = run(sandbox, &[arguments, &["--json"]].concat());
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{arguments:?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["schema"], "aperture.blame/1");
    let mut found = Vec::new();
    for run in report["runs"].as_array().unwrap() {
        let edit = run["edit"].as_u64().map(|at| &report["edits"][usize::try_from(at).unwrap()]);
        let writer = edit.map_or(String::new(), |edit| format!("{}#{}", &edit["session"].as_str().unwrap()[..1], edit["turn"]));
        found.extend(run["lines"].as_array().unwrap().iter().map(|_| writer.clone()));
    }
    found
}

/// Returns the JSON that each command line prints about a file that a session wrote and a person committed; none without git.
pub fn reports(lines: &[&[&str]]) -> Vec<String> {
    let Some(repository) = Repository::new() else { return Vec::new() };
    let rows = Rows::new(SESSION, &repository.0.project).prompt("add up the cart").answer("I add a function.");
    rows.create("src/cart.rs", CART).save(&repository.0);
    repository.commit(30, "src/cart.rs", CART);
    lines.iter().map(|line| repository.run(&[line, &["--json"][..]].concat()).stdout).collect()
}

#[test]
fn a_line_is_that_of_the_edit_that_wrote_it() {
    let Some(repository) = Repository::new() else { return };
    let cart = CART.replace("items.iter().sum()", "items.iter().copied().sum::<u32>() + shipping(items)");
    Rows::new(SESSION, &repository.0.project)
        .prompt("add up the cart")
        .answer("I will look first.\n\nThe cart has no total yet. I add one as a plain function.")
        .create("src/cart.rs", CART)
        .prompt("shipping is missing: with password=blueKite93")
        .answer("Shipping belongs to the total.")
        .edit("src/cart.rs", "items.iter().sum()", "items.iter().copied().sum::<u32>() + shipping(items)")
        .save(&repository.0);
    repository.commit(30, "src/cart.rs", &cart);
    repository.0.write("src/cart.rs", format!("{cart}\n// typed by a person, who knows why\n"));
    let tidy = |text: &str| {
        let hash = repository.git(0, &["rev-parse", "--short=8", "HEAD"]);
        text.replace(hash.trim(), "COMMIT00")
    };
    let check = |arguments: &[&str], expected: Expect| expected.assert_eq(&tidy(&repository.run(arguments).all()));
    check(
        &["src/cart.rs"],
        expect![[r#"
            src/cart.rs: 3 of 5 lines attributed
            lines session   age turn commit   text
                1 66666666 37 h #1   COMMIT00 fn total(items: &[u32]) -> u32 {
                2 66666666 37 h #2   COMMIT00 items.iter().copied().sum::<u32>() + shipping…
                3 66666666 37 h #1   COMMIT00 }
              4-5 unknown                     // typed by a person, who knows why
            searched 1 session
            exit code 0
        "#]],
    );
    check(
        &["src/cart.rs:2"],
        expect![[r#"
        src/cart.rs: 1 of 1 line attributed

            2      items.iter().copied().sum::<u32>() + shipping(items)
        session  66666666 (Claude), turn 2, 37 h ago
        edit     Edit, block 7, 2026-11-20 10:07:00; commit COMMIT00
        prompt   shipping is missing: with password=[secret:password]
        reason   Shipping belongs to the total.
        show     aperture show 7 -s 66666666
        continue cd PROJECT && claude --resume 66666666-0000-4000-8000-000000000000
        searched 1 session
        exit code 0
    "#]],
    );
    check(
        &["src/cart.rs", "-L", "3,4"],
        expect![[r#"
            src/cart.rs: 1 of 2 lines attributed

                3  }
            session  66666666 (Claude), turn 1, 37 h ago
            edit     Write, block 3, 2026-11-20 10:03:00; commit COMMIT00
            prompt   add up the cart
            reason   I add one as a plain function.
            show     aperture show 3 -s 66666666
            continue cd PROJECT && claude --resume 66666666-0000-4000-8000-000000000000

                4  
            unknown  no edit of a session is known to have written this text (not committed)
            searched 1 session
            exit code 0
        "#]],
    );
    check(
        &["src/cart.rs", "--rev", "HEAD"],
        expect![[r#"
            src/cart.rs in COMMIT00: 3 of 3 lines attributed
            lines session   age turn commit   text
                1 66666666 37 h #1   COMMIT00 fn total(items: &[u32]) -> u32 {
                2 66666666 37 h #2   COMMIT00 items.iter().copied().sum::<u32>() + shipping…
                3 66666666 37 h #1   COMMIT00 }
            searched 1 session
            exit code 0
        "#]],
    );
    check(
        &["src/cart.rs", "--note", "--dry-run"],
        expect![[r#"
            src/cart.rs: 3 of 5 lines attributed
            lines session   age turn commit   text
                1 66666666 37 h #1   COMMIT00 fn total(items: &[u32]) -> u32 {
                2 66666666 37 h #2   COMMIT00 items.iter().copied().sum::<u32>() + shipping…
                3 66666666 37 h #1   COMMIT00 }
              4-5 unknown                     // typed by a person, who knows why
            searched 1 session
            would add to the note of COMMIT00:
              src/cart.rs: 1 line 66666666-0000-4000-8000-000000000000 turn 1: fn total(ite…
              src/cart.rs: 1 line 66666666-0000-4000-8000-000000000000 turn 2: items.iter()…
              src/cart.rs: 1 line 66666666-0000-4000-8000-000000000000 turn 1: }
            exit code 0
        "#]],
    );
    let notes =
        || Command::new("git").args(["notes", "--ref=aperture", "show"]).current_dir(&repository.0.project).output().unwrap();
    assert!(!notes().status.success());
    check(
        &["src/cart.rs", "--note", "-L", "1,1"],
        expect![[r#"
            src/cart.rs: 1 of 1 line attributed

                1  fn total(items: &[u32]) -> u32 {
            session  66666666 (Claude), turn 1, 37 h ago
            edit     Write, block 3, 2026-11-20 10:03:00; commit COMMIT00
            prompt   add up the cart
            reason   I add one as a plain function.
            show     aperture show 3 -s 66666666
            continue cd PROJECT && claude --resume 66666666-0000-4000-8000-000000000000
            searched 1 session
            added to the note of COMMIT00:
              src/cart.rs: 1 line 66666666-0000-4000-8000-000000000000 turn 1: fn total(ite…
            exit code 0
        "#]],
    );
    let note = String::from_utf8(notes().stdout).unwrap();
    expect![[r#"
        src/cart.rs: 1 line 66666666-0000-4000-8000-000000000000 turn 1: fn total(items: &[u32]) -> u32 {
    "#]]
    .assert_eq(&note);
    assert_eq!(repository.run(&["src/cart.rs", "--note", "-L", "1,1"]).code, 0);
    assert_eq!(String::from_utf8(notes().stdout).unwrap(), note);
    // The hook replaces only what it wrote itself.
    for _ in 0..2 {
        let hook = repository.0.command(&["git-hook", "post-commit"]).env("PATH", std::env::var_os("PATH").unwrap()).output();
        assert!(hook.unwrap().status.success());
        let both = String::from_utf8(notes().stdout).unwrap();
        assert!(both.starts_with("Session: 66666666-") && both.ends_with(&format!("\n\n{note}")), "{both}");
        assert_eq!(both.matches("Session: ").count(), 1, "{both}");
    }
    // From a directory below the repository, and from outside.
    let below = repository
        .0
        .command(&["-C", "src", "blame", "cart.rs", "--json"])
        .env("PATH", std::env::var_os("PATH").unwrap())
        .output();
    assert!(String::from_utf8(below.unwrap().stdout).unwrap().contains("\"attributed\": 3"));
}

#[test]
fn a_reason_is_about_the_file_and_a_choice_is_named() {
    let Some(repository) = Repository::new() else { return };
    let offer = "1. Add them up in a loop.\n2. Sum them up.\n\nWhich one?";
    Rows::new(SESSION, &repository.0.project)
        .prompt("add up the cart")
        .answer(offer)
        .prompt("first fix the name, please")
        .answer("Now the test in `src/cart_test.rs`.")
        .create("src/cart.rs", CART)
        .answer(offer)
        .prompt("the second one")
        .answer("I write `src/bill.rs` now.")
        .create("src/bill.rs", CART)
        .save(&repository.0);
    repository.commit(30, "src/cart.rs", CART);
    repository.commit(31, "src/bill.rs", CART);
    let facts = |file: &str| {
        let report: Value = serde_json::from_str(&repository.run(&[file, "--json"]).stdout).unwrap();
        ["chosen", "reason"].map(|name| report["edits"][0][name].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(facts("src/cart.rs"), ["", ""]);
    assert_eq!(facts("src/bill.rs"), ["2. Sum them up.", "I write `src/bill.rs` now."]);
}

#[test]
fn an_edit_that_did_not_take_place_wrote_nothing() {
    let Some(repository) = Repository::new() else { return };
    let path = repository.0.project.join("a.rs").to_string_lossy().into_owned();
    let input = |text: &str| json!({"file_path": path, "content": text});
    let declined = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    Rows::new(SESSION, &repository.0.project)
        .prompt("write it")
        .call("Write", input("let rejected_by_the_user = 1;\n"), declined, true)
        .call(
            "Write",
            input("let failed_with_an_error = 1;\n"),
            "<tool_use_error>File has not been read yet.</tool_use_error>",
            true,
        )
        .call("Bash", json!({"command": "echo 'let written_by_a_command = 1;' > a.rs"}), "", false)
        .save(&repository.0);
    let text = "let rejected_by_the_user = 1;\nlet failed_with_an_error = 1;\nlet written_by_a_command = 1;\n";
    repository.commit(30, "a.rs", text);
    assert_eq!(repository.lines(&["a.rs"]), ["", "", ""]);
}

#[test]
fn a_turn_that_the_user_left_wrote_nothing() {
    let Some(repository) = Repository::new() else { return };
    let mut rows = Rows::new(SESSION, &repository.0.project).prompt("begin").answer("Ready.");
    let fork = rows.0.rows.len() - 1;
    rows = rows.prompt("write it badly").create("a.rs", "let first_attempt_of_the_agent = 1;\n").prompt("write it well");
    let parent = rows.0.rows[fork]["uuid"].clone();
    rows.0.rows.last_mut().unwrap()["parentUuid"] = parent;
    rows.create("b.rs", "let second_attempt_of_the_agent = 1;\n").save(&repository.0);
    repository.commit(29, "a.rs", "let first_attempt_of_the_agent = 1;\n");
    repository.commit(30, "b.rs", "let second_attempt_of_the_agent = 1;\n");
    assert_eq!((repository.lines(&["a.rs"]), repository.lines(&["b.rs"])), (vec![String::new()], vec!["6#3".to_owned()]));
}

#[test]
fn a_line_that_was_there_before_is_of_nobody() {
    let Some(repository) = Repository::new() else { return };
    let old = "fn discount(price: u32) -> u32 {\n    price / 10\n}\n";
    repository.commit(0, "a.rs", old);
    let new = format!("{old}\nfn shipping(weight: u32) -> u32 {{\n    weight * 2\n}}\n");
    // Either of the braces can be the old one. As context of an edit, as lines that were read, and in a file that was written without a
    // look at it.
    let rows = || Rows::new(SESSION, &repository.0.project).at(10).prompt("add shipping");
    let with_context = new.replace("price / 10", "price / 20");
    let edited = rows().edit("a.rs", old, &with_context);
    let overwritten = rows().read("a.rs", old).overwrite("a.rs", &new);
    let blind = rows().overwrite("a.rs", &new);
    for (rows, text, expected) in [
        (edited, with_context.as_str(), ["", "6#1", "", "6#1", "6#1", "6#1", ""]),
        (overwritten, &new, ["", "", "", "6#1", "6#1", "6#1", ""]),
        (blind, &new, [""; 7]),
    ] {
        rows.save(&repository.0);
        repository.0.write("a.rs", text);
        assert_eq!(repository.lines(&["a.rs"]), expected, "{text}");
    }
}

#[test]
fn lines_of_people_and_of_formatters_are_unknown() {
    let Some(repository) = Repository::new() else { return };
    Rows::new(SESSION, &repository.0.project).prompt("add up the cart").create("a.rs", CART).save(&repository.0);
    repository.commit(30, "a.rs", CART);
    let typed = CART.replace("}\n", "    // typed between the lines\n    }\n}\n");
    repository.commit(31, "a.rs", &typed);
    assert_eq!(repository.lines(&["a.rs"]), ["6#1", "6#1", "", "", ""]);
    let formatted = typed.replace("    items", "\titems");
    repository.commit(32, "a.rs", &formatted);
    assert_eq!(repository.lines(&["a.rs"]), ["6#1", "", "", "", ""]);
    // The very same lines, typed again after a commit without them.
    repository.commit(33, "a.rs", "// nothing is left\n");
    repository.commit(34, "a.rs", CART);
    assert_eq!(repository.lines(&["a.rs"]), ["", "", ""]);
    assert_eq!(repository.lines(&["a.rs", "--rev", "HEAD~4"]), ["6#1", "6#1", "6#1"]);
}

#[test]
fn the_last_edit_before_the_commit_wins() {
    let Some(repository) = Repository::new() else { return };
    let line = "let shipping_costs = weight * price_per_kilogram;\n";
    Rows::new(SESSION, &repository.0.project).prompt("write").create("a.rs", line).save(&repository.0);
    let later = Rows::new(OTHER, &repository.0.project).at(20).prompt("drop it").edit("a.rs", line, "let nothing_remains = 0;\n");
    later.prompt("restore it").edit("a.rs", "let nothing_remains = 0;\n", line).save(&repository.0);
    repository.commit(59, "a.rs", line);
    assert_eq!(repository.lines(&["a.rs"]), ["7#2"]);
    // An edit after the commit did not write it.
    Rows::new(OTHER, &repository.0.project).at(90).prompt("write it too").create("a.rs", line).save(&repository.0);
    assert_eq!(repository.lines(&["a.rs"]), [""]);
}

#[test]
fn a_rebase_and_a_new_name_keep_the_writers() {
    let Some(repository) = Repository::new() else { return };
    repository.commit(0, "base.txt", "base\n");
    Rows::new(SESSION, &repository.0.project).at(5).prompt("add up the cart").create("cart.rs", CART).save(&repository.0);
    repository.git(20, &["checkout", "-q", "-b", "topic"]);
    repository.commit(30, "cart.rs", CART);
    repository.git(31, &["checkout", "-q", "main"]);
    repository.commit(32, "other.txt", "other\n");
    repository.git(33, &["checkout", "-q", "topic"]);
    repository.git(34, &["rebase", "-q", "main"]);
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1", "6#1", "6#1"]);
    repository.git(35, &["mv", "cart.rs", "basket.rs"]);
    repository.git(36, &["commit", "-q", "-m", "rename"]);
    assert_eq!(repository.lines(&["basket.rs"]), ["6#1", "6#1", "6#1"]);
}

#[test]
fn an_earlier_name_counts_until_the_file_was_renamed() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.0.project;
    Rows::new(SESSION, project).prompt("add up the cart").create("cart.rs", CART).save(&repository.0);
    repository.commit(30, "cart.rs", CART);
    repository.git(35, &["mv", "cart.rs", "basket.rs"]);
    repository.git(36, &["commit", "-q", "-m", "rename"]);
    // Another file with the old name.
    let line = "let shipping_costs = weight * price_per_kilogram;\n";
    Rows::new(OTHER, project).at(40).prompt("ship").create("cart.rs", line).save(&repository.0);
    repository.commit(50, "cart.rs", line);
    repository.commit(60, "basket.rs", &format!("{CART}{line}"));
    assert_eq!(repository.lines(&["basket.rs"]), ["6#1", "6#1", "6#1", ""]);
    assert_eq!(repository.lines(&["cart.rs"]), ["7#1"]);
}

#[test]
fn a_path_that_ends_with_another_is_another_file() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.0.project;
    let (one, two) = ("fn shipping(weight: u32) -> u32 {\n", "fn returns(weight: u32) -> u32 {\n");
    let command = format!("cat > tests/src/a.rs <<'EOF'\n{one}EOF\ncat > ./src/a.rs <<'EOF'\n{two}EOF\n");
    let rows = Rows::new(SESSION, project).prompt("write").call("Bash", json!({ "command": command }), "", false);
    rows.save(&repository.0);
    // The second line of the first file is a copy by hand.
    repository.commit(30, "tests/src/a.rs", &format!("{one}{two}"));
    repository.commit(31, "src/a.rs", two);
    assert_eq!(
        (repository.lines(&["tests/src/a.rs"]), repository.lines(&["src/a.rs"])),
        (vec!["6#1".into(), String::new()], vec!["6#1".into()])
    );
    // Two files of which a name can be either.
    let command = format!("cd tests && cat > src/a.rs <<'EOF'\n{one}EOF\ncd ../more && cat > src/a.rs <<'EOF'\n{two}EOF\n");
    let rows = Rows::new(SESSION, project).prompt("write").call("Bash", json!({ "command": command }), "", false);
    rows.save(&repository.0);
    assert_eq!(repository.lines(&["tests/src/a.rs"]), ["", ""]);
}

#[test]
fn sessions_of_other_places_of_the_project_count() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.0.project;
    repository.commit(0, "base.txt", "base\n");
    let tree = project.parent().unwrap().join("tree");
    repository.git(1, &["worktree", "add", "-q", "-b", "topic", &tree.to_string_lossy()]);
    Rows::new(SESSION, &tree).at(5).prompt("add up the cart").create("src/cart.rs", CART).save(&repository.0);
    // A subagent, and a session in the directory above.
    let lines = |name: &str| format!("let written_by_{name} = count(items);\n");
    let agent = Rows::new(OTHER, project).at(5).prompt("write the file").create("src/agent.rs", &lines("a_subagent"));
    let folder = repository.0.home.join(".claude/projects").join(repository.0.slug()).join(SESSION).join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let rows = agent
        .0
        .text()
        .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1b2c3d4e5f6a7b8c\"")
        .replace("\"sessionId\":\"7", "\"sessionId\":\"6");
    fs::write(folder.join("agent-a1b2c3d4e5f6a7b8c.jsonl"), rows.replace(&OTHER[1..], &SESSION[1..])).unwrap();
    let above = Rows::new(OTHER, project.parent().unwrap()).at(5).prompt("write it");
    above.create("project/src/above.rs", &lines("a_session_above")).save(&repository.0);
    repository.0.write("src/cart.rs", CART);
    repository.0.write("src/agent.rs", lines("a_subagent"));
    repository.commit(30, "src/above.rs", &lines("a_session_above"));
    assert_eq!(repository.lines(&["src/cart.rs"]), ["6#1", "6#1", "6#1"]);
    assert_eq!(repository.lines(&["src/agent.rs"]), ["a#1"]);
    assert_eq!(repository.lines(&["src/above.rs"]), ["7#1"]);
    // The same name in a directory of another project.
    let stranger = project.parent().unwrap().join("stranger");
    Rows::new(OTHER, &stranger).at(6).prompt("write it").create("src/above.rs", &lines("a_session_above")).save(&repository.0);
    assert_eq!(repository.lines(&["src/above.rs"]), ["7#1"]);
}

#[test]
fn without_git_the_file_is_enough() {
    let sandbox = Sandbox::new();
    Rows::new(SESSION, &sandbox.project).prompt("add up the cart").create("src/cart.rs", CART).save(&sandbox);
    sandbox.write("src/cart.rs", format!("// typed\n{CART}").replace('\n', "\r\n"));
    assert_eq!(lines(&sandbox, &["src/cart.rs"]), ["", "6#1", "6#1", "6#1"]);
    let check = |arguments: &[&str], expected: Expect| expected.assert_eq(&run(&sandbox, arguments).all());
    check(
        &["src/cart.rs", "--rev", "HEAD"],
        expect![[r#"
        error: PROJECT/src/cart.rs is not in a git repository
        hint: leave out --rev
        exit code 1
    "#]],
    );
    check(
        &["src/cart.rs", "--note"],
        expect![[r#"
        error: PROJECT/src/cart.rs is not in a git repository
        hint: leave out --note
        exit code 1
    "#]],
    );
}

#[test]
fn a_patch_of_codex_is_read_by_its_lines() {
    let sandbox = Sandbox::new();
    let patch =
        "*** Begin Patch\n*** Add File: cart.rs\n+fn total(items: &[u32]) -> u32 {\n+    items.iter().sum()\n+}\n*** End Patch";
    let fix = "*** Begin Patch\n*** Update File: cart.rs\n@@ fn total(items: &[u32]) -> u32 {\n-    items.iter().sum()\n+    items.iter().copied().sum()\n }\n*** End Patch";
    let script = format!("const patch = {};\ntext(await tools.apply_patch(patch));\n", json!(fix));
    let mut rows = vec![
        json!({"type": "session_meta", "payload": {"id": OTHER, "timestamp": "2026-11-20T10:00:00Z", "cwd": sandbox.project,
            "originator": "codex_cli_rs", "cli_version": "0.144.0"}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "add up the cart"}]}}),
    ];
    for (number, (tool, input)) in [("apply_patch", patch), ("exec", &script)].into_iter().enumerate() {
        let call = format!("call_{number}");
        rows.push(
            json!({"type": "response_item", "payload": {"type": "custom_tool_call", "status": "completed", "call_id": call,
            "name": tool, "input": input}}),
        );
        rows.push(json!({"type": "response_item", "payload": {"type": "custom_tool_call_output", "call_id": call,
            "output": "{\"output\":\"Success. Updated the following files:\\nA cart.rs\\n\",\"metadata\":{\"exit_code\":0}}"}}));
    }
    let text: String = rows
        .into_iter()
        .enumerate()
        .map(|(minute, mut row)| {
            row["timestamp"] = json!(format!("2026-11-20T10:{minute:02}:00.000Z"));
            format!("{row}\n")
        })
        .collect();
    let folder = sandbox.home.join(".codex/sessions/2026/11/20");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("rollout-2026-11-20T10-00-00-{OTHER}.jsonl")), text).unwrap();
    sandbox.write("cart.rs", CART.replace("iter()", "iter().copied()"));
    assert_eq!(lines(&sandbox, &["cart.rs"]), ["7#1", "7#1", "7#1"]);
    expect![[r#"
        cart.rs: 3 of 3 lines attributed
        lines session   age turn commit text
            1 77777777 37 h #1          fn total(items: &[u32]) -> u32 {
            2 77777777 37 h #1          items.iter().copied().sum()
            3 77777777 37 h #1          }
        searched 1 session
        exit code 0
    "#]]
    .assert_eq(&run(&sandbox, &["cart.rs"]).all());
}

#[test]
fn only_the_lines_of_the_session_with_s() {
    let Some(repository) = Repository::new() else { return };
    let (cart, more) = (CART, "fn shipping(weight: u32) -> u32 {\n    weight * 2\n}\n");
    Rows::new(SESSION, &repository.0.project).prompt("add up").create("cart.rs", cart).save(&repository.0);
    let other = Rows::new(OTHER, &repository.0.project).at(10).prompt("ship");
    other.read("cart.rs", cart).edit("cart.rs", "}\n", &format!("}}\n{more}")).save(&repository.0);
    repository.commit(30, "cart.rs", &format!("{cart}{more}"));
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1", "6#1", "", "7#1", "7#1", ""]);
    assert_eq!(repository.lines(&["cart.rs", "-s", "7777"]), ["", "", "", "7#1", "7#1", ""]);
}

#[test]
fn a_here_document_writes_a_file() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.0.project;
    let write = |rows: Rows, command: &str| rows.call("Bash", json!({ "command": command }), "", false);
    let document = format!("cat > cart.rs <<'EOF'\n{CART}EOF\n");
    write(Rows::new(SESSION, project).prompt("add up"), &document).save(&repository.0);
    repository.commit(30, "cart.rs", CART);
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1"; 3]);
    // An agent that has seen the file can have copied its lines.
    let seen = write(Rows::new(SESSION, project).prompt("add up"), "cat cart.rs");
    write(seen, &document).save(&repository.0);
    assert_eq!(repository.lines(&["cart.rs"]), [""; 3]);
    // A text that the shell changes, another file, and a command that failed.
    for command in ["cat > cart.rs <<EOF\n$(date)\nEOF", "cd /tmp && cat > cart.rs <<'EOF'\nfn total\nEOF"] {
        let command = command.replace("fn total\n", CART).replace("$(date)\n", &format!("{CART}$(date)\n"));
        write(Rows::new(SESSION, project).prompt("add up"), &command).save(&repository.0);
        assert_eq!(repository.lines(&["cart.rs"]), [""; 3], "{command}");
    }
    let failed = Rows::new(SESSION, project).prompt("add up").call("Bash", json!({ "command": document }), "denied", true);
    failed.save(&repository.0);
    assert_eq!(repository.lines(&["cart.rs"]), [""; 3]);
    // Lines that are added to the end are always of the command.
    let appended = write(Rows::new(SESSION, project).prompt("add up"), "cat cart.rs");
    write(appended, "cat >> cart.rs <<'EOF'\nfn shipping(weight: u32) -> u32 {\nEOF\n").save(&repository.0);
    repository.commit(40, "cart.rs", &format!("{CART}fn shipping(weight: u32) -> u32 {{\n"));
    assert_eq!(repository.lines(&["cart.rs"]), ["", "", "", "6#1"]);
}

/// A client records the file before an edit: lines that a formatter or a person wrote between two edits are in it.
#[test]
fn lines_before_an_edit_are_not_of_it() {
    let Some(repository) = Repository::new() else { return };
    let more = "fn shipping(weight: u32) -> u32 {\n    weight * 2\n}\n";
    let typed = format!("{CART}// typed by a person: rounding\n");
    let mut rows = Rows::new(SESSION, &repository.0.project).prompt("add up").create("cart.rs", CART).prompt("ship");
    rows = rows.overwrite("cart.rs", &format!("{typed}{more}"));
    rows.0.rows.last_mut().unwrap()["toolUseResult"] = json!({"filePath": "cart.rs", "originalFile": typed});
    rows.save(&repository.0);
    repository.commit(30, "cart.rs", &format!("{typed}{more}"));
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1", "6#1", "6#1", "", "6#2", "6#2", "6#2"]);
}

#[test]
fn a_line_that_a_later_commit_repeats_is_unknown() {
    let Some(repository) = Repository::new() else { return };
    let text = |inner: &str, outer: &str| {
        let line = "let total = sum(items, rates);";
        format!("fn first() {{\n    if items {{\n{inner}{line}\n    }}\n}}\nfn second() {{\n{outer}{line}\n}}\n")
    };
    let (written, formatted) = (text("        ", "    "), text("            ", "        "));
    Rows::new(SESSION, &repository.0.project).prompt("add up").create("cart.rs", &written).save(&repository.0);
    repository.commit(30, "cart.rs", &written);
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1"; 8]);
    // A formatter gives the second line the text that the first one had.
    repository.commit(40, "cart.rs", &formatted);
    let lines = repository.lines(&["cart.rs"]);
    assert_eq!([0, 2, 6].map(|at| &*lines[at]), ["6#1", "", ""], "{lines:?}");
}

#[test]
fn a_kept_copy_of_a_deleted_session_counts() {
    let Some(repository) = Repository::new() else { return };
    Rows::new(SESSION, &repository.0.project).prompt("add up").create("cart.rs", CART).save(&repository.0);
    repository.commit(30, "cart.rs", CART);
    assert_eq!(repository.0.run(&["keep", "--all"]).code, 0);
    fs::remove_dir_all(repository.0.home.join(".claude/projects")).unwrap();
    assert_eq!(repository.lines(&["cart.rs"]), ["6#1"; 3]);
}

#[test]
fn input_that_names_no_lines_is_refused() {
    let Some(repository) = Repository::new() else { return };
    repository.commit(0, "a.rs", "one\n");
    repository.0.write("image.png", b"\x89PNG\0\0");
    repository.0.write("empty.rs", "");
    repository.0.write("name:7", "let a_file_with_a_colon = 1;\n");
    for (arguments, expected) in [
        (
            &["a.rs:2"] as &[&str],
            expect![[r#"
            error: a.rs has 1 line, not 2
            hint: for all of it: aperture blame a.rs
            exit code 1
        "#]],
        ),
        (
            &["a.rs:0"],
            expect![[r#"
            error: lines are counted from 1
            exit code 2
        "#]],
        ),
        (
            &["a.rs", "-L", "3,2"],
            expect![[r#"
                error: invalid value '3,2' for '--lines <FROM,TO>': expected two line numbers, such as 30,60
                hint: for help: aperture blame --help
                exit code 2
            "#]],
        ),
        (
            &["nosuch.rs"],
            expect![[r#"
            error: there is no file PROJECT/nosuch.rs
            exit code 1
        "#]],
        ),
        (
            &["nosuch.rs:3"],
            expect![[r#"
            error: there is no file PROJECT/nosuch.rs
            exit code 1
        "#]],
        ),
        (
            &["."],
            expect![[r#"
            error: PROJECT/. is a directory
            hint: name one of its files
            exit code 1
        "#]],
        ),
        (
            &["image.png"],
            expect![[r#"
            error: image.png is not a text file
            exit code 1
        "#]],
        ),
        (
            &["empty.rs"],
            expect![[r#"
            empty.rs: 0 of 0 lines attributed
            lines session age turn commit text
            searched 0 sessions
            exit code 0
        "#]],
        ),
        (
            &["name:7"],
            expect![[r#"
            name:7: 0 of 1 line attributed
            lines session age turn commit text
                1 unknown                 let a_file_with_a_colon = 1;
            searched 0 sessions
            exit code 0
        "#]],
        ),
        (
            &["a.rs", "--rev", "nosuch"],
            expect![[r#"
            error: there is no commit 'nosuch' in PROJECT
            hint: to list the commits: git log --oneline
            exit code 1
        "#]],
        ),
        (
            &["image.png", "--rev", "HEAD"],
            expect![[r#"
            error: there is no file image.png in HEAD
            hint: to list its files: git ls-tree -r --name-only COMMIT
            exit code 1
        "#]],
        ),
        (
            &["a.rs", "--dry-run"],
            expect![[r#"
            error: blame needs --note
            hint: examples: aperture help blame
            exit code 2
        "#]],
        ),
    ] {
        repository.check(arguments, &expected);
    }
}
