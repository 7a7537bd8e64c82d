//! Lists of sessions: filters, titles, ages, and `aperture` without a command.

use crate::sandbox::{Sandbox, homes};
use expect_test::expect;
use serde_json::{Value, json};

/// A session of a prompt and an answer.
fn session(sandbox: &Sandbox, id: &str, prompts: &[&str], day: &str, model: &str) {
    let mut text = String::new();
    for (number, prompt) in prompts.iter().enumerate() {
        let row = json!({"type": "user", "uuid": format!("p{number}"), "parentUuid": null, "sessionId": id, "cwd": sandbox.project,
            "timestamp": format!("{day}T10:00:00.000Z"), "message": {"role": "user", "content": prompt}});
        text.push_str(&format!("{row}\n"));
    }
    let answer = json!({"type": "assistant", "uuid": "a", "parentUuid": "p0", "sessionId": id, "timestamp": format!("{day}T11:00:00.000Z"),
        "message": {"id": "m", "role": "assistant", "model": model, "content": [{"type": "text", "text": "done"}],
        "usage": {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 100_000, "cache_creation_input_tokens": 0}}});
    text.push_str(&format!("{answer}\n"));
    sandbox.session(id, text, 0);
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let caveat = "<local-command-caveat>Caveat: the messages below are of commands</local-command-caveat>";
    session(&sandbox, "aaaa1111", &["count the carts"], "2026-11-21", "claude-opus-4-5");
    session(&sandbox, "bbbb2222", &[caveat, "find the flaky test"], "2026-11-10", "claude-opus-4-8");
    session(
        &sandbox,
        "cccc3333",
        &["<ide_opened_file>cart.rs</ide_opened_file>\nWhy is it slow?"],
        "2026-09-01",
        "claude-haiku-4-5",
    );
    sandbox
}

fn ids(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let listed = sandbox.json(&[&["sessions"], arguments].concat(), "aperture.sessions/2");
    listed["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap()[..1].to_owned()).collect()
}

#[test]
fn the_list_at_80_and_140_columns() {
    let sandbox = sandbox();
    expect![[r#"
        AGE   ID       CLIENT PROJECT FULL TURNS TITLE
         13 h aaaa1111 claude project 50 %     1 count the carts
         11 d bbbb2222 claude project 10 %     1 find the flaky test
         2 mo cccc3333 claude project 50 %     1 Why is it slow?
    "#]]
    .assert_eq(&sandbox.columns_text(&["sessions"], 80));
    expect![[r#"
        AGE   ID       CLIENT PROJECT WINDOW FULL TURNS  SIZE MODEL     TITLE
         13 h aaaa1111 claude project   100k 50 %     1 524 B opus-4-5  count the carts
         11 d bbbb2222 claude project   100k 10 %     1 794 B opus-4-8  find the flaky test
         2 mo cccc3333 claude project   100k 50 %     1 569 B haiku-4-5 Why is it slow?
    "#]]
    .assert_eq(&sandbox.columns_text(&["sessions"], 140));
}

#[test]
fn filters() {
    let sandbox = sandbox();
    for (arguments, expected) in [
        (&["FLAKY"][..], "b"),
        (&["aaaa"], "a"),
        (&["caveat"], ""),
        (&["--client", "codex"], ""),
        (&["--client", "claude-code"], "abc"),
        (&["--newer", "2w"], "ab"),
        (&["--older", "24h"], "bc"),
        (&["--newer", "2w", "--older", "24h"], "b"),
        (&["--fuller", "50"], "ac"),
        (&["--larger", "1M"], ""),
        (&["--larger", "100"], "abc"),
        (&["--model", "haiku"], "c"),
    ] {
        assert_eq!(ids(&sandbox, arguments).concat(), expected, "{arguments:?}");
    }
    assert_eq!(sandbox.run(&["sessions", "--client", "nobody"]).code, 2);
}

#[test]
fn the_age_the_turns_and_the_title_of_a_session_are_those_of_its_status() {
    for home in homes() {
        let sandbox = Sandbox::of(&home);
        let listed = sandbox.json(&["sessions", "--subagents"], "aperture.sessions/2");
        for session in listed["sessions"].as_array().unwrap() {
            let status = sandbox.json(&["status", session["id"].as_str().unwrap()], "aperture.status/2");
            for key in ["last_written_time", "turns"] {
                assert_eq!(session[key], status[key], "{key} in {home}: {}", session["id"]);
            }
            let (title, prompt) = [session, &status].map(|report| report["title"].as_str().unwrap()).into();
            assert!(prompt.replace('\n', " ").starts_with(title), "{home}: {title}, not {prompt}");
        }
    }
    let sandbox = sandbox();
    for (id, title) in [("aaaa", "count the carts"), ("bbbb", "find the flaky test"), ("cccc", "Why is it slow?")] {
        assert_eq!(sandbox.json(&["status", id], "aperture.status/2")["title"], title);
        assert!(sandbox.text(&["sessions", id]).contains(title));
    }
}

#[test]
fn a_change_by_aperture_makes_no_session_younger() {
    for home in ["tools-and-spill", "older-model", "codex-tools"] {
        for command in [&["compress", "--preset", "handoff"][..], &["create", "a note"]] {
            let sandbox = Sandbox::of(home);
            let times = || {
                let listed = sandbox.json(&["sessions"], "aperture.sessions/2");
                let status = sandbox.json(&["status"], "aperture.status/2");
                let of_listed = ["id", "last_written_time", "modified_time"].map(|key| listed["sessions"][0][key].clone());
                (of_listed, status["last_written_time"].clone())
            };
            let before = times();
            sandbox.text(command);
            assert_eq!(times(), before, "{home}, {command:?}");
            assert_eq!(before.0[1], before.1);
        }
    }
}

#[test]
fn after_a_rewind_to_the_start_the_title_is_the_next_first_prompt() {
    let says = |number: u32, parent: u32, text: &str| {
        let id = |number: u32| (number > 0).then(|| format!("{number:08}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"));
        let message = json!({"role": "user", "content": text});
        format!(
            "{}\n",
            json!({"type": "user", "uuid": id(number), "parentUuid": id(parent), "sessionId": "s", "cwd": "/w", "message": message})
        )
    };
    let item = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let row = |kind: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}))
    };
    let prompt = |text: &str| row("response_item", item(text));
    let back = |turns: u32| row("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns}));
    let codex = "019a0000-0000-7000-8000-000000000001";
    let head = row("session_meta", json!({"id": codex, "cwd": "/w", "cli_version": "0.144.2"}));
    let cases = [
        (says(1, 0, "one") + &says(2, 1, "two") + &says(3, 1, "three"), "one"),
        (says(1, 0, "one") + &says(2, 1, "two") + &says(3, 0, "three") + &says(4, 3, "four"), "three"),
        (head.clone() + &prompt("one") + &prompt("two") + &back(1) + &prompt("three"), "one"),
        (head.clone() + &prompt("one") + &prompt("two") + &back(2) + &prompt("three") + &prompt("four"), "three"),
        // Until there is another prompt, the old one names the session.
        (head + &prompt("one") + &back(1), "one"),
    ];
    for (text, title) in cases {
        let sandbox = Sandbox::new();
        let path = if text.contains("session_meta") {
            let path = sandbox.home.join(format!(".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{codex}.jsonl"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        } else {
            sandbox.session(codex, "", 0)
        };
        std::fs::write(path, &text).unwrap();
        assert_eq!(sandbox.json(&["status", codex], "aperture.status/2")["title"], title);
        assert_eq!(sandbox.json(&["sessions", codex, "--all"], "aperture.sessions/2")["sessions"][0]["title"], title);
    }
}

#[test]
fn outside_a_project_the_recent_sessions_are_listed() {
    let sandbox = sandbox();
    assert!(sandbox.text(&[]).contains("by position"), "{}", sandbox.text(&[]));
    let elsewhere = sandbox.home.to_string_lossy().into_owned();
    expect![[r#"
        AGE   ID       CLIENT PROJECT FULL TURNS TITLE
         13 h aaaa1111 claude project 50 %     1 count the carts
         11 d bbbb2222 claude project 10 %     1 find the flaky test
         2 mo cccc3333 claude project 50 %     1 Why is it slow?
        no session belongs to this directory; to see one of these: aperture status ID
    "#]]
    .assert_eq(&sandbox.text(&["-C", &elsewhere]));
    for number in 0..10 {
        session(&sandbox, &format!("dddd{number}"), &["again"], "2026-11-20", "claude-opus-4-8");
    }
    let text = sandbox.text(&["-C", &elsewhere]);
    assert_eq!(text.lines().count(), 1 + 8 + 2, "{text}");
    assert!(text.contains("and 5 more; to list all: aperture sessions"), "{text}");
}

/// The list and `status` know the window of a session by the same figures of its file.
#[test]
fn the_window_of_a_listed_session_is_that_of_its_status() {
    for home in homes() {
        let sandbox = Sandbox::of(&home);
        for session in sandbox.json(&["sessions", "--limit", "0"], "aperture.sessions/2")["sessions"].as_array().unwrap() {
            let status = sandbox.json(&["status", "-s", session["id"].as_str().unwrap()], "aperture.status/2");
            assert_eq!(session["capacity_tokens"], status["capacity_tokens"], "{home}: {}", session["id"]);
        }
    }
}
