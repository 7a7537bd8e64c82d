//! Tests of `aperture convert` and of the exports for other programs.

use crate::rows::Rows;
use crate::sandbox::{Sandbox, files_ending, homes, sample};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

fn check(sandbox: &Sandbox, arguments: &[&str], expected: Expect) {
    let text = sandbox.run(arguments).all();
    let lines =
        text.lines().filter(|line| !line.contains("new session") && !line.contains("continue it") && !line.contains("remove it"));
    expected.assert_eq(&lines.map(|line| format!("{line}\n")).collect::<String>());
}

/// Returns the words of the user in the window of a session, by its transcript. The texts of clients in fixtures have the word filler.
fn prompts(sandbox: &Sandbox, session: &str) -> BTreeSet<String> {
    let report = sandbox.json(&["transcript", session], "aperture.transcript/2");
    let parts = report["messages"].as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
    let said = parts.filter(|part| part["role"] == "user" && part["kind"] == "text" && !part["block"].is_null());
    said.map(|part| part["content"].as_str().unwrap().trim().to_owned())
        .filter(|text| !text.starts_with('<') && !text.contains("filler"))
        .collect()
}

fn sessions(sandbox: &Sandbox) -> Vec<(String, String)> {
    let report = sandbox.json(&["sessions"], "aperture.sessions/2");
    let row = |session: &Value| (session["id"].as_str().unwrap().to_owned(), session["provider"].as_str().unwrap().to_owned());
    report["sessions"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_session_of_claude_code_becomes_one_of_codex() {
    let sandbox = Sandbox::of("tools-and-spill").columns(100);
    let before = sandbox.text(&["transcript", "--raw"]);
    check(
        &sandbox,
        &["convert", "--to", "claude"],
        expect![[r#"
            error: 11111111 is a session of Claude already
            hint: to copy it within the client: aperture fork -s 11111111
            exit code 1
        "#]],
    );
    check(
        &sandbox,
        &["convert", "--to", "codex", "-n"],
        expect![[r#"
            would convert 11111111 for codex: 1 prompt, 3 answers, 26 records of tools as text
            left out: images and documents (1)
            exit code 0
        "#]],
    );
    assert!(sandbox.rollouts().is_empty(), "a dry run writes nothing");
    check(
        &sandbox,
        &["convert", "--to", "codex"],
        expect![[r#"
            converted 11111111 for codex: 1 prompt, 3 answers, 26 records of tools as text
            left out: images and documents (1)
            exit code 0
        "#]],
    );
    let rows = fs::read_to_string(&sandbox.rollouts()[0]).unwrap();
    let first: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((&first["type"], &first["payload"]["cwd"]), (&Value::from("session_meta"), &Value::from("/home/dev/shop")));
    assert_eq!(sandbox.text(&["transcript", "--raw", "11111111"]), before);
}

/// The words of the user are all there, and no other text counts as theirs; there and back again.
#[test]
fn the_words_of_the_user_are_the_same_in_the_other_client() {
    for home in sample(homes(), 3) {
        let sandbox = Sandbox::of(&home);
        let texts = files_ending(&sandbox.home.join(".claude"), "jsonl");
        let sources: String = texts.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
        for (id, provider) in sessions(&sandbox) {
            let others = |provider: &str| if provider == "codex" { "claude-code" } else { "codex" };
            let said = prompts(&sandbox, &id);
            let converted = sandbox.run(&["convert", &id, "--to", others(&provider), "--json"]);
            if converted.code != 0 {
                assert!(converted.stderr.contains("has no conversation in its window"), "{home} {id}: {}", converted.all());
                continue;
            }
            let report: Value = serde_json::from_str(&converted.stdout).unwrap();
            let new = report["session"].as_str().unwrap();
            let again = prompts(&sandbox, new);
            assert!(again.is_superset(&said), "{home} {id}: {again:?} without some of {said:?}");
            // The words typed after a command of the client are in an element there, and those typed during the work in a row of their own.
            let all = sandbox.text(&["transcript", "--raw", "--client-texts", &id]);
            let queued = |words: &str| sources.contains(&format!("\"prompt\":{}", Value::from(words)));
            let arguments = |words: &str| words.split_once(' ').map_or(String::new(), |(_, arguments)| arguments.to_owned());
            let is_typed =
                |words: &&String| all.contains(&format!("-args>{}</", arguments(words.as_str()))) || queued(words.as_str());
            assert!(again.difference(&said).all(|words| is_typed(&words)), "{home} {id}: {again:?}");
            let checked = sandbox.run(&["check", new, "--no-damage"]);
            assert_eq!(checked.code, 0, "{home} {id}: {}", checked.all());
            let back = sandbox.json(&["convert", new, "--to", &provider], "aperture.convert/1");
            assert_eq!(prompts(&sandbox, back["session"].as_str().unwrap()), again, "{home} {id}, back");
            // The records of the first conversion are there, as often.
            let records = |session: &Value| {
                let text = sandbox.text(&["transcript", "--raw", "--client-texts", session.as_str().unwrap()]);
                [text.matches("Call of ").count(), text.matches("Result of ").count()]
            };
            assert_eq!(records(&back["session"]), records(&report["session"]), "{home} {id}");
        }
    }
}

/// A prompt that was typed while the agent worked is one in the new session and in an export.
#[test]
fn words_typed_during_the_work_are_kept() {
    let sandbox = Sandbox::of("unrecorded-words");
    let (mut queued, mut converted) = (0, String::new());
    for (id, _) in sessions(&sandbox) {
        let path = sandbox.session_file(&id);
        let rows = fs::read_to_string(path).unwrap();
        let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
        let attachments = rows.map(|row| row["attachment"].clone()).filter(|attachment| attachment["type"] == "queued_command");
        let said: Vec<String> = attachments.filter_map(|attachment| Some(attachment["prompt"].as_str()?.to_owned())).collect();
        let report = sandbox.json(&["convert", &id, "--to", "codex"], "aperture.convert/1");
        let path = report["path"].as_str().unwrap().replace("HOME", &sandbox.home.to_string_lossy());
        converted.push_str(&fs::read_to_string(path).unwrap());
        let markdown = exported(&sandbox, &id, "markdown");
        for words in said.iter().filter(|words| !words.starts_with('<')) {
            queued += 1;
            assert!(converted.contains(&format!("\"message\":{}", Value::from(words.as_str()))), "{id}: {words}");
            assert!(markdown.contains(words.as_str()), "{id}: {words}");
        }
    }
    assert!(queued > 0);
}

/// Exports the session of a sandbox and returns the text.
fn exported(sandbox: &Sandbox, id: &str, format: &str) -> String {
    sandbox.text(&["export", id, "--format", format, "-o", "out", "--force"]);
    fs::read_to_string(sandbox.project.join("out")).unwrap()
}

/// An editor writes the conversation again when it resumes one, in rows of other identities.
#[test]
fn rows_that_the_client_wrote_again_are_exported_once() {
    let sandbox = Sandbox::new();
    let row = |number: u32, parent: Option<u32>, kind: &str, content: Value| {
        let mut row = json!({"type": kind, "uuid": format!("u{number}"), "parentUuid": parent.map(|parent| format!("u{parent}")),
            "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "sessionId": "abc1", "version": "2.1.22",
            "message": {"role": kind, "content": content}});
        if kind == "assistant" {
            row["message"]["id"] = json!("m1");
            row["message"]["usage"] = json!({"input_tokens": 9, "output_tokens": 9});
        }
        row.to_string()
    };
    let answer = || json!([{"type": "text", "text": "It is a robot."}]);
    let rows = [
        row(
            1,
            None,
            "user",
            json!([{"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"}, {"type": "text", "text": "Why?"}]),
        ),
        row(2, Some(1), "assistant", answer()),
        row(3, None, "user", json!([{"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"}])),
        row(4, Some(3), "user", json!([{"type": "text", "text": "Why?"}])),
        row(5, Some(4), "assistant", answer()),
    ];
    sandbox.session("abc1", rows.join("\n") + "\n", 0);
    let text = exported(&sandbox, "abc1", "markdown");
    assert_eq!((text.matches("**User**").count(), text.matches("It is a robot.").count()), (1, 1), "{text}");
}

/// A client writes sentences around the words of a person, and records a command in tags.
#[test]
fn only_what_the_user_typed_is_exported_as_the_words_of_the_user() {
    // Later clients record beside a result if the user rejected its call.
    let mut rows = Rows::default().version("2.1.200");
    rows.prompt(
        "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>the shop</command-args>",
    );
    let rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the \
        new_string was NOT written to the file).";
    let commands = ["rm a", &format!("rm b && echo {}", "word ".repeat(30))];
    let without = format!("{rejected} STOP what you are doing and wait for the user to tell you how to proceed.");
    let reason = format!("{rejected} To tell you how to proceed, the user said:\nuse git rm");
    for (command, result) in commands.iter().zip([without, reason]) {
        rows.failed_call("Bash", json!({"command": command}), &result);
    }
    let sandbox = Sandbox::new();
    sandbox.session("abc1", rows.text(), 0);
    let text = exported(&sandbox, "abc1", "markdown");
    let said: Vec<&str> = text.split("**User**\n\n").skip(1).filter_map(|words| words.lines().next()).collect();
    assert_eq!(said, ["/ship the shop", "use git rm"], "{text}");
    assert_eq!((text.matches("(declined)").count(), text.matches("(failed)").count()), (2, 0), "{text}");
    assert!(text.contains("word… (declined)</summary>"), "{text}");
    let atif: Value = serde_json::from_str(&exported(&sandbox, "abc1", "atif")).unwrap();
    let said: Vec<&Value> = atif["steps"].as_array().unwrap().iter().filter(|step| step["source"] == "user").collect();
    assert_eq!(said.iter().map(|step| &step["message"]).collect::<Vec<_>>(), ["/ship the shop", "use git rm"]);
    let pack = sandbox.text(&["pack", "abc1", "--budget", "2k"]);
    assert!(pack.contains("/ship the shop"), "{pack}");
}

#[test]
fn a_conversation_is_exported_as_markdown() {
    let sandbox = Sandbox::of("older-model");
    check(
        &sandbox,
        &["export", "--format", "markdown", "-o", "out.md"],
        expect![[r#"
            exported 77777777 as markdown to PROJECT/out.md (7 kB)
            credentials are masked
            exit code 0
        "#]],
    );
    check(
        &sandbox,
        &["export", "--format", "markdown", "-o", "out.md"],
        expect![[r#"
            error: PROJECT/out.md exists
            hint: to replace it: --force
            exit code 1
        "#]],
    );
    check(
        &sandbox,
        &["export", "--all", "--format", "atif", "-o", "out"],
        expect![[r#"
            error: --format atif writes one session
            hint: name it by its id: aperture sessions
            exit code 2
        "#]],
    );
    let text = fs::read_to_string(sandbox.project.join("out.md")).unwrap();
    expect![[r##"
        # grep session

        claude-code 2.1.330 · session `77777777-7777-4777-8777-777777777777` · `/home/dev/shop`

        ## Turn 1 · 2026-11-21T21:07:01.407Z

        **User**

        grep session

        <details><summary>Grep NEEDLE1\d</summary>

        ```
        {"pattern":"NEEDLE1\\d","path":"/home/dev/shop","output_mode":"content"}
        ```

        ```
        big.py:42:    # NEEDLE10 comment line about widget 10
        big.py:46:    # NEEDLE11 comment line about widget 11
        big.py:50:    # NEEDLE12 comment line about widget 12
        big.py:54:    # NEEDLE13 comment line about widget 13
        big.py:58:    # NEEDLE14 comment line about widget 14
        big.py:62:    # NEEDLE15 comment line about widget 15
        big.py:66:    # NEEDLE16 comment line about widget 16
    "##]]
    .assert_eq(&text.lines().take(24).map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn trajectories_and_traces_of_all_fixtures_follow_their_formats() {
    for home in sample(homes(), 3) {
        let sandbox = Sandbox::of(&home);
        for (id, _) in sessions(&sandbox) {
            let timeline = sandbox.json(&["timeline", &id, "--limit", "0"], "aperture.timeline/1");
            let requests = timeline["requests"].as_array().unwrap();
            // A request without a bill, such as that of a compaction of Codex, has no figure.
            let sum = |name: &str| requests.iter().filter_map(|request| request[name]["value"].as_u64()).sum::<u64>();
            let text = exported(&sandbox, &id, "atif");
            let atif: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(atif["final_metrics"]["total_prompt_tokens"], sum("sent_tokens"), "{home}");
            assert_eq!(atif["final_metrics"]["total_completion_tokens"], sum("output_tokens"), "{home}");
            for (place, step) in atif["steps"].as_array().unwrap().iter().enumerate() {
                assert_eq!(step["step_id"], place + 1);
                let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
                let calls: Vec<Value> = list(&step["tool_calls"]).iter().map(|call| call["tool_call_id"].clone()).collect();
                for result in list(&step["observation"]["results"]) {
                    assert!(calls.contains(&result["source_call_id"]), "{home}: {result}");
                }
                assert!(list(&step["tool_calls"]).iter().all(|call| call["arguments"].is_object()));
            }
            let text = exported(&sandbox, &id, "otlp-json");
            for said in prompts(&sandbox, &id).iter().filter(|said| said.len() > 20) {
                assert!(!text.contains(&**said), "a trace has no text: {said}");
            }
            let otlp: Value = serde_json::from_str(&text).unwrap();
            let spans = otlp["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
            let ids: BTreeSet<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
            assert_eq!(ids.len(), spans.len(), "{home}: span ids are unique");
            for span in spans {
                let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
                assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
                assert!(span["parentSpanId"].as_str().is_none_or(|parent| ids.contains(parent)), "{span}");
            }
            let page = exported(&sandbox, &id, "html");
            assert!(page.starts_with("<!") && page.contains("Content-Security-Policy"));
        }
    }
}

#[test]
fn an_export_has_no_credential() {
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let sandbox = Sandbox::new();
    let row = |kind: &str, id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:00Z","cwd":"/w","sessionId":"abc1","version":"2.1.0","message":{{"role":"{kind}","content":{content}}}}}"#
        )
    };
    let text = [
        row("user", "u1", "null", &format!("\"use the key {key} please\"")),
        row("assistant", "a1", "\"u1\"", &format!(r#"[{{"type":"text","text":"I use {key} now."}}]"#)),
    ];
    sandbox.session("abc1", text.join("\n") + "\n", 0);
    for format in ["markdown", "html", "atif", "otlp-json"] {
        let text = exported(&sandbox, "abc1", format);
        assert!(!text.contains("abcdefghijklmnop"), "{format}: {text}");
    }
}
