//! Sessions that are only read: those of OpenCode, in a database, and of Gemini CLI.

use crate::commands::ids;
use crate::sandbox::{Sandbox, contents_below, homes_only_read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The commands that change a session, each with arguments with which it would have something to change.
const CHANGES: &[&str] = &[
    "archive 1",
    "compact 1",
    "compress --stale",
    "compress --preset balanced --dry-run",
    "expand 1",
    "focus 1",
    "unfocus",
    "pin 1",
    "unpin 1",
    "update 1 shorter",
    "create note",
    "redact 1",
    "repair",
    "shrink",
    "restore 1",
    "undo",
    "redo",
    "fork",
    "recall total --restore",
];

/// The files of the clients in a home, with their contents.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    [".local", ".gemini"].iter().flat_map(|directory| contents_below(&sandbox.home.join(directory))).collect()
}

#[test]
fn every_change_is_refused_with_the_reason() {
    for home in homes_only_read() {
        let sandbox = Sandbox::of(&home);
        let before = files(&sandbox);
        assert!(!before.is_empty());
        for line in CHANGES {
            let arguments: Vec<&str> = line.split(' ').collect();
            let outcome = sandbox.run(&arguments);
            assert_eq!(outcome.code, 1, "{line}\n{}", outcome.all());
            assert!(outcome.stderr.contains("are only read: "), "{line}\n{}", outcome.all());
            assert!(outcome.stdout.is_empty(), "{line}\n{}", outcome.all());
        }
        let all = sandbox.run(&["compress", "--stale", "--all", "--json"]);
        assert!(all.code == 0 && all.stdout.contains("are only read"), "{}", all.all());
        assert!(files(&sandbox) == before, "{home}");
    }
}

/// A database with a log of writes, as the client leaves it, is read without the files that SQLite makes for that.
#[test]
fn nothing_is_written_beside_a_database() {
    let sandbox = Sandbox::of("opencode-tools");
    let database = files(&sandbox).into_keys().find(|path| path.extension().is_some_and(|end| end == "db"));
    let connection = rusqlite::Connection::open(database.unwrap()).unwrap();
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    drop(connection);
    let before = files(&sandbox);
    for line in ["sessions", "manifest", "search quantities", "usage", "check"] {
        assert_eq!(sandbox.run(&line.split(' ').collect::<Vec<_>>()).code, 0, "{line}");
        assert!(files(&sandbox) == before, "{line}");
    }
}

#[test]
fn sessions_are_found_searched_and_added_up() {
    for home in homes_only_read() {
        let sandbox = Sandbox::of(&home);
        let found = ids(&sandbox);
        assert!(!found.is_empty());
        for line in [
            "manifest", "show 3", "transcript", "summary", "timeline", "search quantities", "recall quantities", "topics",
            "pack --budget 2k", "check", "explain 3", "diff", "log", "memory learn --dry-run", "report --html page.html", "keep",
        ] {
            let arguments: Vec<&str> = line.split(' ').collect();
            let outcome = sandbox.run(&arguments);
            assert!(outcome.code == 0, "{home}: {line}\n{}", outcome.all());
        }
        let usage = sandbox.json(&["usage"], "aperture.usage/1");
        assert!(usage["total"]["output_tokens"]["value"].as_u64().is_some_and(|tokens| tokens > 0), "{usage}");
        let client = sandbox.json(&["sessions"], "aperture.sessions/2")["sessions"][0]["provider"].as_str().unwrap().to_owned();
        assert_eq!(sandbox.run(&["usage", "--client", &client]).code, 0);
    }
}

/// The window of a session before its last answer is the last request of the real client, in which its own prose is replaced as in the
/// session.
#[test]
fn the_window_is_what_the_client_sent() {
    for home in homes_only_read() {
        let sandbox = Sandbox::of(&home);
        let sent: Vec<(String, Value)> = serde_json::from_slice(&fs::read(sandbox.home.join("sent.json")).unwrap()).unwrap();
        let window = sandbox.json(&["show", "window", "-s", &ids(&sandbox)[0]], "aperture.show/2");
        let block = |block: &Value| {
            let is_of_model = ["assistant", "tool_use"].contains(&block["role"].as_str().unwrap());
            let content = block["content"].as_str().unwrap();
            let input = Some(content).filter(|_| block["kind"] == "tool_use").and_then(|input| serde_json::from_str(input).ok());
            (if is_of_model { "assistant" } else { "user" }.to_owned(), input.unwrap_or_else(|| content.into()))
        };
        let blocks: Vec<(String, Value)> = window["blocks"].as_array().unwrap().iter().map(block).collect();
        assert_eq!(blocks[..blocks.len() - 1], sent, "{home}");
    }
}

/// The session of Gemini CLI in its home.
fn gemini(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".gemini/tmp/shop/chats/session-2026-11-21T21-48-d59be4cd.jsonl")
}

#[test]
fn a_kept_copy_is_read_after_the_client_deleted_the_session() {
    for home in homes_only_read() {
        let sandbox = Sandbox::of(&home);
        let id = ids(&sandbox).into_iter().next().unwrap();
        let manifest = sandbox.run(&["manifest", &id]).stdout;
        let transcript = sandbox.text(&["transcript", "-s", &id]);
        assert_eq!(sandbox.run(&["keep"]).code, 0);
        let path = if home.starts_with("gemini") { gemini(&sandbox) } else { sandbox.database() };
        let written = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(sandbox.run(&["manifest", &id]).stdout, manifest, "{home}");
        let refused = sandbox.run(&["keep", "restore", &id]);
        assert!(refused.code == 1 && refused.stderr.contains("--to FILE"), "{}", refused.all());
        let list = sandbox.run(&["keep", "list"]).stdout;
        assert!(list.contains(" --to FILE\n"), "{list}");
        let found = sandbox.run(&["search", "quantities"]).stdout;
        assert!(found.contains(" --to FILE\n") && !found.contains("&&"), "{found}");
        assert_eq!(sandbox.run(&["keep", "restore", &id, "--to", "copy.jsonl"]).code, 0);
        assert!(sandbox.run(&["manifest", "copy.jsonl"]).stdout.starts_with("[CONTEXT MANIFEST"), "{home}");
        if home.starts_with("opencode") {
            assert_eq!(sandbox.text(&["transcript", "-s", "copy.jsonl"]), transcript);
        } else {
            assert!(fs::read(sandbox.project.join("copy.jsonl")).unwrap() == written, "each byte of the client is kept");
        }
    }
}

#[test]
fn a_second_copy_continues_the_first_one() {
    let sandbox = Sandbox::of("gemini-tools");
    let path = gemini(&sandbox);
    assert_eq!(sandbox.run(&["keep", "--all"]).code, 0);
    let appended = [fs::read(&path).unwrap(), b"{\"$set\":{\"lastUpdated\":\"2026-11-21T21:48:47.000Z\"}}\n".to_vec()].concat();
    fs::write(&path, &appended).unwrap();
    assert_eq!(sandbox.run(&["keep", "--all"]).code, 0);
    let copies = sandbox.json(&["keep", "list"], "aperture.keep-list/1");
    assert_eq!((&copies["copies"][0]["older"], &copies["copies"][0]["state"]), (&0.into(), &"current".into()), "{copies}");
}

/// What the client wrote and no request contains any longer is searched too, and a line is that of its file.
#[test]
fn credentials_are_found_in_all_that_the_client_wrote() {
    let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6");
    let sandbox = Sandbox::of("gemini-tools");
    let path = gemini(&sandbox);
    let lines = fs::read_to_string(&path).unwrap();
    let (first, shown) = (lines.replacen("quantity", &format!("token={key}"), 1), r#"{"$set":{"messages":[]}}"#);
    let replaced = lines.lines().find(|line| line.contains(r#""$set":{"messages""#)).unwrap();
    fs::write(&path, format!("{first}{shown}\n{}\n", replaced.replace("words", &format!("words token={key}")))).unwrap();
    let check = |sandbox: &Sandbox| -> Value {
        let outcome = sandbox.run(&["check", "--no-secrets", "--all", "--json"]);
        assert_eq!(outcome.code, 1, "{}", outcome.all());
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let report = check(&sandbox);
    let found = report["sessions"][0]["findings"].as_array().unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let expected = written.lines().enumerate().filter(|(_, line)| line.contains(&key)).map(|(at, _)| at as u64 + 1);
    let expected: Vec<u64> = expected.collect();
    let mut lines: Vec<u64> = found.iter().map(|finding| finding["line"].as_u64().unwrap()).collect();
    lines.dedup();
    assert!(lines == expected && lines.len() > 1, "{report}");
    assert!(found.iter().all(|finding| finding["hint"] == ""), "a session that is only read: {report}");

    let sandbox = Sandbox::of("opencode-tools");
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    let sql = "UPDATE part SET data = json_set(data, '$.state.metadata.preview', ?1) WHERE json_extract(data, '$.type') = 'tool'";
    let rows = connection.execute(sql, [format!("token={key}")]).unwrap();
    drop(connection);
    let report = check(&sandbox);
    assert!(rows > 0 && report["findings"] == rows, "{report}");
    assert!(report["sessions"][0]["findings"][0]["line"].is_null(), "a database has no lines: {report}");
}

#[test]
fn the_size_in_the_status_is_that_of_the_file() {
    let sandbox = Sandbox::of("gemini-tools");
    let content = fs::read_to_string(gemini(&sandbox)).unwrap();
    let status = sandbox.json(&["status"], "aperture.status/2");
    assert_eq!((&status["bytes"], &status["rows"]), (&content.len().into(), &content.lines().count().into()));
}

/// Messages that the client kept in a compression are listed again behind it, and their requests were sent before it.
#[test]
fn the_mark_of_a_compaction_is_at_the_first_request_that_was_sent_after_it() {
    let sandbox = Sandbox::of("gemini-tools");
    let timeline = sandbox.json(&["timeline"], "aperture.timeline/1");
    let content = fs::read_to_string(gemini(&sandbox)).unwrap();
    let time = |line: Value| line["$set"]["lastUpdated"].as_str().map(str::to_owned);
    let lines = content.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cuts: Vec<String> = lines.filter(|line| line.to_string().contains("state_snapshot")).filter_map(time).collect();
    let requests = timeline["requests"].as_array().unwrap().iter();
    let requests: Vec<(&str, bool)> =
        requests.map(|request| (request["time"]["rfc3339"].as_str().unwrap(), request["after_compaction"] == true)).collect();
    let first = |cut: &String| requests.iter().map(|(time, _)| *time).find(|time| *time > &**cut).unwrap();
    let expected: Vec<&str> = cuts.iter().map(first).collect();
    let marked: Vec<&str> = requests.iter().filter(|(_, is_marked)| *is_marked).map(|(time, _)| *time).collect();
    assert!(marked == expected && marked.len() == 2, "{cuts:?}: {requests:?}");
}

#[test]
fn a_session_in_a_database_is_converted() {
    for home in homes_only_read() {
        let sandbox = Sandbox::of(&home);
        for client in ["claude-code", "codex"] {
            let converted = sandbox.json(&["convert", "--to", client, "-s", &ids(&sandbox)[0]], "aperture.convert/1");
            let made = sandbox.run(&["manifest", converted["session"].as_str().unwrap()]);
            assert!(made.code == 0, "{home}: {client}\n{}", made.all());
        }
    }
}

#[test]
fn the_days_after_which_gemini_deletes_a_session_are_those_of_its_settings() {
    let sandbox = Sandbox::of("gemini-tools");
    let says = |text: &str| assert!(sandbox.run(&["keep", "status"]).stdout.starts_with(&format!("Gemini CLI deletes {text}")));
    says("sessions 30 days after");
    fs::write(sandbox.home.join(".gemini/settings.json"), r#"{"general":{"sessionRetention":{"maxAge":"2w"}}}"#).unwrap();
    says("sessions 14 days after");
    fs::write(sandbox.home.join(".gemini/settings.json"), r#"{"general":{"sessionRetention":{"enabled":false}}}"#).unwrap();
    says("no sessions");
}

#[test]
fn a_damaged_database_is_reported() {
    let sandbox = Sandbox::of("opencode-tools");
    for content in ["", "no database", "SQLite format 3\0"] {
        fs::write(sandbox.database(), content).unwrap();
        let outcome = sandbox.run(&["sessions"]);
        assert!(outcome.code != 70 && !outcome.stderr.contains("panicked"), "{content:?}\n{}", outcome.all());
    }
}
