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

#[test]
fn a_kept_copy_is_read_after_the_client_deleted_the_session() {
    let sandbox = Sandbox::of("opencode-tools");
    let id = ids(&sandbox).into_iter().next().unwrap();
    let manifest = sandbox.run(&["manifest", &id]).stdout;
    assert_eq!(sandbox.run(&["keep"]).code, 0);
    fs::remove_file(sandbox.database()).unwrap();
    assert_eq!(sandbox.run(&["manifest", &id]).stdout, manifest);
    let refused = sandbox.run(&["keep", "restore", &id]);
    assert!(refused.code == 1 && refused.stderr.contains("--to FILE"), "{}", refused.all());
    assert_eq!(sandbox.run(&["keep", "restore", &id, "--to", "copy.jsonl"]).code, 0);
    assert!(sandbox.run(&["manifest", "copy.jsonl"]).stdout.starts_with("[CONTEXT MANIFEST"));
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
