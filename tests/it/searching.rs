//! `aperture search`: what it finds, what it says about it, and what it does with bad input.

use crate::sandbox::Sandbox;
use expect_test::expect;
use serde_json::{Value, json};

pub fn row(id: &str, number: u32, role: &str, content: Value, directory: &std::path::Path) -> String {
    let uuid = |number: u32| format!("{id}-{number}");
    let message = json!({"role": role, "content": content, "id": format!("m{number}"), "model": "claude-opus-4-8"});
    let parent = if number > 1 { Some(uuid(number - 1)) } else { None };
    let row = json!({"type": role, "uuid": uuid(number), "parentUuid": parent, "sessionId": id, "cwd": directory,
        "timestamp": format!("2026-11-{:02}T10:00:{:02}.000Z", 10 + number / 60, number % 60), "message": message});
    format!("{row}\n")
}

/// Adds a session of prompts and answers, by turns.
pub fn session(sandbox: &Sandbox, id: &str, texts: &[&str]) -> std::path::PathBuf {
    let mut content = String::new();
    for (number, text) in (1..).zip(texts) {
        let role = if number % 2 == 1 { "user" } else { "assistant" };
        let text = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
        content.push_str(&row(id, number, role, text, &sandbox.project));
    }
    sandbox.session(id, content, 0)
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let fixed = "The race is in the setup.\nI fixed the flaky login test by waiting for the server, which needs a second to bind its port on a busy machine, before it asks.\nAll tests pass.";
    session(&sandbox, "aaaa1111", &["fix the flaky login test", fixed, "now update the changelog", "Done."]);
    session(&sandbox, "bbbb2222", &["which retry limit has parse_rows?", "It retries 3 times: see RETRY_LIMIT in rows.rs."]);
    session(&sandbox, "cccc3333", &["add a login page", "The login page has a form."]);
    sandbox
}

#[test]
fn the_best_session_is_first_with_its_lines_at_80_and_140_columns() {
    let sandbox = sandbox();
    expect![[r#"
        aaaa1111  11 d  project  fix the flaky login test
          #1 user
            fix the flaky login test
          claude --resume aaaa1111

        cccc3333  11 d  project  add a login page
          #1 user  not in it: flaky
            add a login page
          claude --resume cccc3333

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s aaaa1111
    "#]]
    .assert_eq(&sandbox.text(&["search", "flaky", "login"]));
    for (columns, expected) in [
        (
            80,
            expect![[r#"
        aaaa1111  11 d  project  fix the flaky login test
          #1 agent
            The race is in the setup.
            I fixed the flaky login test by waiting for the server, which needs a secon…
            All tests pass.
          claude --resume aaaa1111

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s aaaa1111
    "#]],
        ),
        (
            140,
            expect![[r#"
        aaaa1111  11 d  project  fix the flaky login test
          #1 agent
            The race is in the setup.
            I fixed the flaky login test by waiting for the server, which needs a second to bind its port on a busy machine, before it asks.
            All tests pass.
          claude --resume aaaa1111

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s aaaa1111
    "#]],
        ),
    ] {
        expected.assert_eq(&sandbox.columns_text(&["search", "waiting", "machine"], columns));
    }
    expect![[r#"
        no turn has all words; the best ones lack: flaky

        bbbb2222  11 d  project  which retry limit has parse_rows?
          #1 agent
            It retries 3 times: see RETRY_LIMIT in rows.rs.
          claude --resume bbbb2222

        aaaa1111  11 d  project  fix the flaky login test
          #1 user  not in it: retry
            fix the flaky login test
          claude --resume aaaa1111

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s bbbb2222
    "#]]
    .assert_eq(&sandbox.text(&["search", "flaky retry"]));
    expect![[r#"
        no session has 'permision'

        cccc3333  11 d  project  add a login page
          #1 user
            add a login page
          claude --resume cccc3333

        aaaa1111  11 d  project  fix the flaky login test
          #1 user
            fix the flaky login test
          claude --resume aaaa1111

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s cccc3333
    "#]]
    .assert_eq(&sandbox.text(&["search", "permision login"]));
    expect![[r#"
        bbbb2222  11 d  project  which retry limit has parse_rows?
          #1 agent
            It retries 3 times: see RETRY_LIMIT in rows.rs.
          claude --resume bbbb2222

        searched 3 sessions
        to read one: aperture show 'turn(1)' -s bbbb2222
    "#]]
    .assert_eq(&sandbox.text(&["search", "--literal", "RETRY_LIMIT in"]));
}

/// The sessions that are found, and the exit code.
fn found(sandbox: &Sandbox, arguments: &[&str]) -> (String, i32) {
    let outcome = sandbox.run(&[&["search", "--json"], arguments].concat());
    let report: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", outcome.stderr));
    let sessions = report["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    (sessions.iter().map(|session| &session["session"].as_str().unwrap()[..1]).collect(), outcome.code)
}

#[test]
fn options_and_fields_select_sessions_and_turns() {
    let sandbox = sandbox();
    for (arguments, expected) in [
        (&["login"][..], "ac"),
        (&["login", "--role", "agent"], "ac"),
        (&["login", "role:tool"], ""),
        (&["login", "-flaky"], "c"),
        (&["\"login test\""], "a"),
        (&["parse rows"], "b"),
        (&["RETRY_LIMIT"], "b"),
        (&["login", "--client", "codex"], ""),
        (&["login", "--since", "2026-11-12"], ""),
        (&["login", "until:2026-11-10"], "ac"),
        (&["login", "--project", "/nowhere"], ""),
        (&["flaky login", "--limit", "1"], "a"),
        (&["login", "-s", "cccc"], "c"),
        (&["login", "-s", "cccc", "--blocks", "1"], "c"),
        (&["form", "-s", "cccc", "--blocks", "1"], ""),
        (&["form", "-s", "cccc", "--blocks", "2"], "c"),
        (&["--literal", "login test"], "a"),
        (&["--literal", "LOGIN TEST"], ""),
        (&["--literal", "-i", "LOGIN TEST"], "a"),
        (&["--regex", r"retries \d times"], "b"),
        (&["--literal", "login", "--role", "agent"], "ac"),
        (&["--literal", "login", "--since", "2026-11-12"], ""),
        (&["--literal", "login", "--tool", "Bash"], ""),
        (&["form", "kind:answer"], "c"),
        (&["in the"], "a"),
    ] {
        let (mut sessions, code) = found(&sandbox, arguments);
        if !arguments.contains(&"--limit") {
            let mut letters: Vec<char> = sessions.chars().collect();
            letters.sort_unstable();
            sessions = letters.into_iter().collect();
        }
        assert_eq!((sessions.as_str(), code), (expected, i32::from(expected.is_empty())), "{arguments:?}");
    }
}

#[test]
fn bad_queries_are_told_apart() {
    let sandbox = sandbox();
    for (arguments, code, message) in [
        (&[""][..], 2, "the query has no words"),
        (&["-login"], 2, "only words to leave out"),
        (&["to be or not"], 1, "no match for 'to be or not'"),
        (&["login", "role:nobody"], 2, "the roles are user, agent and tool"),
        (&["login", "since:soon"], 2, "write a day as"),
        (&["login", "--blocks", "1"], 2, "selectors name blocks of one"),
        (&["--regex", "("], 2, "unclosed group"),
        (&["--regex", "(a{1000}){1000}"], 2, "too large"),
        (&["--regex", "x*"], 2, "every text has it"),
        (&["--literal", ""], 2, "every text has it"),
        (&["login", "--client", "nobody"], 2, "unknown client"),
        (&["zebra"], 1, "no match for 'zebra' in 3 sessions"),
        (&["缓存失效"], 1, "no match"),
    ] {
        let outcome = sandbox.run(&[&["search"], arguments].concat());
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    }
    let many = (0..10_000).map(|number| format!("zebra{number} ")).collect::<String>();
    let outcome = sandbox.run(&["search", "login", &many]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stdout.contains("9970 words after the first ones not searched"), "{}", outcome.stdout);
    assert_eq!(Sandbox::new().run(&["search", "login"]).code, 1);
}

#[test]
fn a_damaged_or_unwritable_index_changes_no_answer() {
    let sandbox = sandbox();
    let expected = found(&sandbox, &["flaky"]);
    let index = sandbox.home.join(".aperture/cache/search.db");
    assert!(index.exists(), "{index:?}");
    for damage in ["not a database, but long enough to look like one", ""] {
        std::fs::write(&index, damage).unwrap();
        assert_eq!(found(&sandbox, &["flaky"]), expected);
    }
    let other = rusqlite::Connection::open(&index).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    session(&sandbox, "dddd4444", &["the flaky upload"]);
    let locked = found(&sandbox, &["upload"]);
    assert_eq!(locked, ("d".to_owned(), 0), "another process writes the index");
    drop(other);
    std::fs::remove_file(sandbox.home.join(format!(".claude/projects/{}/dddd4444.jsonl", sandbox.slug()))).unwrap();
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(found(&sandbox, &["flaky"]), expected);
}

#[test]
fn the_prompts_of_deleted_sessions_are_found() {
    let sandbox = sandbox();
    let prompt = |session: &str, text: &str| {
        format!(
            "{}\n",
            json!({"display": text, "pastedContents": {}, "timestamp": 1_763_000_000_000i64, "project": "/w", "sessionId": session})
        )
    };
    let lines = [prompt("dddd4444", "migrate the zebra table"), prompt("aaaa1111", "fix the flaky login test")].concat();
    std::fs::write(sandbox.home.join(".claude/history.jsonl"), lines).unwrap();
    expect![[r#"
        dddd4444  deleted  
          #0 user
            migrate the zebra table

        searched 3 sessions
    "#]]
    .assert_eq(&sandbox.text(&["search", "zebra"]));
    assert_eq!(found(&sandbox, &["flaky"]).0, "a");
    // A session that exists has its prompts in its own file.
    assert_eq!(found(&sandbox, &["--literal", "flaky login test"]).0, "a");
    assert_eq!(found(&sandbox, &["--literal", "zebra table"]).0, "d");
}

#[test]
fn the_asking_session_and_copies_of_a_turn_are_left_out() {
    let sandbox = sandbox();
    let asked = |current: &[&str]| {
        let mut command = sandbox.command(&[&["search", "login", "--json"], current].concat());
        let output = command.env("CLAUDE_CODE_SESSION_ID", "aaaa1111").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["sessions"].as_array().unwrap().len()
    };
    assert_eq!((asked(&[]), asked(&["--current"])), (1, 2));
    // A fork repeats the turns of the session that it continues.
    session(&sandbox, "ffff6666", &["add a login page", "The login page has a form.", "and a button", "It has one now."]);
    assert_eq!(found(&sandbox, &["login page form"]).0.replace('a', "").len(), 1);
    assert_eq!(found(&sandbox, &["button"]).0, "f");
}

#[test]
fn archived_content_is_found() {
    let sandbox = sandbox();
    let totals = || {
        [&["--literal", "the"][..], &["--regex", "[a-z]+g"], &["login test"]].map(|query| {
            let outcome = sandbox.run(&[&["search", "--json"], query].concat());
            serde_json::from_str::<Value>(&outcome.stdout).unwrap()["total"].clone()
        })
    };
    let before = totals();
    let changed = sandbox.run(&["archive", "2", "-s", "aaaa"]);
    assert_eq!(changed.code, 0, "{}", changed.stderr);
    assert_eq!(totals(), before);
    assert_eq!(found(&sandbox, &["race setup"]).0, "a");
    assert_eq!(found(&sandbox, &["--literal", "race is in the setup"]).0, "a");
}

#[test]
fn a_credential_is_neither_printed_nor_indexed() {
    let sandbox = sandbox();
    let key = ["sk-ant-", "api03-", &"Zq8".repeat(30), "AA"].concat();
    session(&sandbox, "eeee5555", &[&format!("the export uses {key} today"), "ok"]);
    let outcome = sandbox.run(&["search", "export today"]);
    assert!(outcome.code == 0 && !outcome.stdout.contains(&key), "{}", outcome.stdout);
    let bytes = std::fs::read(sandbox.home.join(".aperture/cache/search.db")).unwrap();
    for part in [key.as_str(), &key.to_lowercase(), "zq8zq8"] {
        assert!(memchr::memmem::find(&bytes, part.as_bytes()).is_none(), "{part}");
    }
}

#[test]
fn a_credential_that_a_redacted_block_named_is_neither_printed_nor_indexed() {
    let value = "kq7Zt9wLm2Rx4Vb8";
    for steps in [&[&["redact", "--whole-file"][..]][..], &[&["redact", "5"]], &[&["redact", "--whole-file"], &["undo"]]] {
        let sandbox = sandbox();
        let login = format!("run ./login {value} now");
        session(
            &sandbox,
            "eeee5555",
            &[&login, &format!("It ran with {value}."), "go on", "ok", &format!("DB_PASSWORD={value}")],
        );
        sandbox.text(&["search", "login"]);
        for step in steps {
            sandbox.text(&[step, &["-s", "eeee"][..]].concat());
        }
        for search in [&["login run"][..], &["--literal", "./login"], &["--regex", "./login"], &["DB_PASSWORD"], &[value]] {
            let outcome = sandbox.run(&[&["search"], search].concat());
            assert!(!outcome.stdout.contains(value), "{steps:?} {search:?}: {}", outcome.stdout);
        }
        assert_eq!(found(&sandbox, &["--literal", "./login"]).0, "e");
        let bytes = std::fs::read(sandbox.home.join(".aperture/cache/search.db")).unwrap();
        assert!(memchr::memmem::find(&bytes, value.to_lowercase().as_bytes()).is_none(), "{steps:?}");
    }
}

#[test]
fn content_is_restored_in_its_row_when_the_numbers_of_blocks_moved() {
    let sandbox = sandbox();
    let path = session(&sandbox, "eeee5555", &["look at it", "Done."]);
    sandbox.text(&["create", "a note", "-s", "eeee"]);
    let long = |word: &str| format!("{word}\n{}", "A line of the answer that says little.\n".repeat(80));
    let texts = ["and now the two", &long("firstanswer"), "prompt after it", &long("secondanswer")];
    let mut content = std::fs::read_to_string(&path).unwrap();
    for (number, text) in (3..).zip(texts) {
        let role = if number % 2 == 1 { "user" } else { "assistant" };
        content.push_str(&row("eeee5555", number, role, json!([{"type": "text", "text": text}]), &sandbox.project));
    }
    std::fs::write(&path, content).unwrap();
    sandbox.text(&["compress", "5", "--force", "-s", "eeee"]);
    sandbox.text(&["undo", "1", "-s", "eeee"]);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("a note"));
    let hits = |arguments: &[&str]| {
        let outcome = sandbox.run(&[&["search", "--json"], arguments].concat());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let turns: Vec<&Value> = report["sessions"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|session| session["turns"].as_array().unwrap())
            .collect();
        turns
            .iter()
            .map(|turn| format!("{}: {}", turn["role"].as_str().unwrap(), turn["line"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(hits(&["--literal", "firstanswer"]), ["agent: firstanswer"]);
    assert_eq!(hits(&["--role", "user", "firstanswer"]), [""; 0]);
    assert_eq!(hits(&["--literal", "prompt after"]), ["user: prompt after it"]);
}

#[test]
fn a_damaged_log_entry_leaves_the_current_content() {
    let sandbox = sandbox();
    sandbox.text(&["archive", "2", "-s", "aaaa"]);
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    store.execute("UPDATE operations SET command = CAST(x'ff' AS TEXT)", []).unwrap();
    let outcome = sandbox.run(&["search", "changelog"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("now update the changelog"), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("only the current content of"), "{}", outcome.stderr);
}

#[test]
fn only_the_logs_of_sessions_that_are_found_are_read() {
    let sandbox = sandbox();
    session(&sandbox, "dddd4444", &["why is the build slow?", &"The linker reads each object twice. ".repeat(9)]);
    for id in ["aaaa", "dddd"] {
        sandbox.text(&["archive", "2", "-s", id]);
    }
    let before = sandbox.text(&["search", "changelog"]);
    let store = rusqlite::Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    assert_eq!(store.execute("UPDATE operations SET command = CAST(x'ff' AS TEXT)", []).unwrap(), 2);
    for (query, read) in [("changelog", [true, false]), ("linker", [false, true]), ("retry", [false; 2])] {
        let outcome = sandbox.run(&["search", query]);
        assert_eq!(["aaaa1111.jsonl is", "dddd4444.jsonl is"].map(|note| outcome.stderr.contains(note)), read, "{query}");
    }
    store.execute("UPDATE operations SET command = ''", []).unwrap();
    assert_eq!(sandbox.text(&["search", "changelog"]), before);
}

#[test]
fn an_index_finds_after_each_change_what_a_new_one_finds() {
    let sandbox = sandbox();
    let text = sandbox.home.join("text");
    std::fs::write(&text, "race\n").unwrap();
    let text = format!("@{}", text.display());
    let answers = || ["race setup", "login", "archive"].map(|query| sandbox.run(&["search", "--json", query]).stdout);
    answers();
    for step in [&["archive", "2"][..], &["undo"], &["redo"], &["restore", "original"], &["redact", "--text", &text]] {
        sandbox.text(&[step, &["-s", "aaaa"]].concat());
        let found = answers();
        std::fs::remove_dir_all(sandbox.home.join(".aperture/cache")).unwrap();
        assert_eq!(answers(), found, "{step:?}");
    }
}

#[test]
fn a_budget_leaves_whole_turns() {
    let sandbox = sandbox();
    let all = sandbox.text(&["search", "login"]);
    let few = sandbox.text(&["search", "login", "--max-tokens", "90"]);
    assert!(aperture::engine::tokens::count(&few) <= 90, "{few}");
    assert!(few.len() < all.len() && all.starts_with(few.lines().next().unwrap()), "{few}");
}
