//! `aperture watch`: the events reported for all kinds of file changes.

use crate::rows::append;
use crate::sandbox::{PATIENCE, Sandbox, skipped};
use expect_test::{Expect, expect};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

/// A running watch, and its output so far.
pub struct Watching {
    child: Child,
    lines: Receiver<String>,
    told: Vec<String>,
}

impl Watching {
    pub fn new(sandbox: &Sandbox, arguments: &[&str]) -> Watching {
        let mut command = sandbox.command(&[&["watch"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (told, lines) = channel();
        pass_on(child.stdout.take().unwrap(), told.clone());
        pass_on(child.stderr.take().unwrap(), told);
        Watching { child, lines, told: Vec::new() }
    }

    /// Waits for a line with this in it, and returns it.
    pub fn until(&mut self, part: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.told.push(line.clone());
                    if line.contains(part) {
                        return line;
                    }
                }
                Err(_) => panic!("nothing with '{part}':\n{}", self.told.join("\n")),
            }
        }
    }

    /// Waits until the output contains a text, unless it already did.
    fn until_told(&mut self, part: &str) {
        if !self.told.iter().any(|line| line.contains(part)) {
            self.until(part);
        }
    }

    /// Pins a block of a session and unpins it, waits until both are reported, and returns the lines until then. The watch has then
    /// looked at the session, and applied its rules, at least once.
    fn until_looked_at(&mut self, sandbox: &Sandbox, session: &str) -> Vec<String> {
        let before = self.told.len();
        for (command, event) in [("pin", "pinned "), ("unpin", "unpinned ")] {
            sandbox.text(&[command, "1", "-s", session]);
            self.until(event);
        }
        self.told[before..].to_vec()
    }

    /// Returns the whole output.
    pub fn text(&mut self) -> String {
        self.told.extend(self.lines.try_iter());
        self.told.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pass_on(stream: impl Read + Send + 'static, told: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = told.send(line);
        }
    });
}

/// A prompt of the user that follows another row.
fn prompt(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"S\",\
         \"timestamp\":\"2026-11-21T21:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// A session of one prompt, and its file.
fn one(sandbox: &Sandbox) -> PathBuf {
    sandbox.session("abc1", prompt("a", "", "the first prompt"), 0)
}

fn check(watching: &mut Watching, expected: Expect) {
    expected.assert_eq(&watching.text());
}

#[test]
fn events_of_client_user_and_aperture_are_reported() {
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let mut watching = Watching::new(&sandbox, &["abc1"]);
    watching.until("watching");
    append(&file, &prompt("b", "a", "and now the shipping costs, password=hunter2hunter2"));
    watching.until("window");
    sandbox.text(&["pin", "1"]);
    watching.until("pinned");
    sandbox.text(&["focus", "2"]);
    watching.until("focused");
    sandbox.text(&["create", "a note that stays"]);
    watching.until("came in");
    watching.until("window");
    sandbox.text(&["undo"]);
    watching.until("removed");
    watching.until("window");
    // The file changes before the log is written; the order of their detection is random.
    watching.until_told("operation 4");
    watching.told.sort();
    check(
        &mut watching,
        expect![[r#"
            00:00:00 came in       #2 user   "and now the shipping costs, passwor…    ~13
            00:00:00 came in       #3 user   aperture note                            ~30
            00:00:00 command   create 'a note that stays'  operation 3  +30
            00:00:00 command   focus 2  operation 2
            00:00:00 command   pin 1  operation 1
            00:00:00 command   undo  operation 4  −30
            00:00:00 focused   #2
            00:00:00 pinned    #1
            00:00:00 removed   1 block at the end of the file
            00:00:00 turn      2: "and now the shipping costs, password=[secret:password]"
            00:00:00 watching  ~3 of 200k tokens, 0 % · 1 turn · the first prompt
            00:00:00 window    ~16 of 200k tokens, 0 % (+13)
            00:00:00 window    ~16 of 200k tokens, 0 % (−30)
            00:00:00 window    ~45 of 200k tokens, 0 % (+30)
        "#]],
    );
}

#[test]
fn every_event_is_one_object_on_one_line() {
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let mut watching = Watching::new(&sandbox, &["--json"]);
    watching.until("session_opened");
    append(&file, &prompt("b", "a", "the second, with key sk-ant-api03-abcdefghijklmnop"));
    watching.until("token_count_changed");
    sandbox.text(&["pin", "1"]);
    watching.until("selection_changed");
    fs::remove_file(&file).unwrap();
    watching.until("session_unavailable");
    let mut events = Vec::new();
    for line in &watching.told {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["schema"], "aperture.watch/2");
        assert_eq!((&event["session"], event["time"]["epoch_milliseconds"].is_i64()), (&"abc1".into(), true), "{line}");
        assert!(!line.contains("abcdefghijklmnop"), "{line}");
        events.push(event["event"].as_str().unwrap().to_owned());
    }
    let expected = [
        "session_opened", "turn_started", "blocks_updated", "token_count_changed", "command_executed", "selection_changed",
        "session_unavailable",
    ];
    assert_eq!(events, expected);
}

#[test]
fn an_incomplete_row_is_not_reported() {
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let mut watching = Watching::new(&sandbox, &["abc1"]);
    watching.until("watching");
    let second = prompt("b", "a", "the second prompt");
    let (begin, end) = second.split_at(60);
    append(&file, begin);
    watching.until_looked_at(&sandbox, "abc1");
    append(&file, end);
    watching.until("#2");
    watching.until("window");
    check(
        &mut watching,
        expect![[r#"
            00:00:00 watching  ~3 of 200k tokens, 0 % · 1 turn · the first prompt
            00:00:00 command   pin 1 -s abc1  operation 1
            00:00:00 pinned    #1
            00:00:00 command   unpin 1 -s abc1  operation 2
            00:00:00 unpinned  #1
            00:00:00 turn      2: "the second prompt"
            00:00:00 came in       #2 user   "the second prompt"                       ~3
            00:00:00 window    ~6 of 200k tokens, 0 % (+3)
        "#]],
    );
}

#[test]
fn a_file_that_is_cut_replaced_or_rewritten_is_followed() {
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let mut watching = Watching::new(&sandbox, &["abc1"]);
    watching.until("watching");
    let second = prompt("b", "a", "the second prompt");
    append(&file, &second);
    watching.until("#2");
    // Cut back to its first row.
    let first = prompt("a", "", "the first prompt");
    OpenOptions::new().write(true).open(&file).unwrap().set_len(first.len() as u64).unwrap();
    watching.until("removed");
    watching.until("window");
    // Replaced in one step, by itself with more, and then by another conversation.
    let put = |text: &str| {
        let temporary = file.with_extension("new");
        fs::write(&temporary, text).unwrap();
        fs::rename(&temporary, &file).unwrap();
    };
    put(&format!("{first}{}", prompt("c", "a", "the third prompt")));
    watching.until("#2");
    watching.until("window");
    put(&prompt("x", "", "another conversation"));
    watching.until("replaced");
    // The file is truncated, and rewritten.
    fs::write(&file, "").unwrap();
    watching.until("replaced");
    fs::write(&file, &first).unwrap();
    watching.until("#1");
    watching.until("window");
    check(
        &mut watching,
        expect![[r#"
            00:00:00 watching  ~3 of 200k tokens, 0 % · 1 turn · the first prompt
            00:00:00 turn      2: "the second prompt"
            00:00:00 came in       #2 user   "the second prompt"                       ~3
            00:00:00 window    ~6 of 200k tokens, 0 % (+3)
            00:00:00 removed   1 block at the end of the file
            00:00:00 window    ~3 of 200k tokens, 0 % (−3)
            00:00:00 turn      2: "the third prompt"
            00:00:00 came in       #2 user   "the third prompt"                        ~3
            00:00:00 window    ~6 of 200k tokens, 0 % (+3)
            00:00:00 replaced  ~3 of 200k tokens, 0 % · 1 turn · another conversation
            00:00:00 replaced  ~0 of 200k tokens, 0 % · 0 turns · (no prompt yet)
            00:00:00 turn      1: "the first prompt"
            00:00:00 came in       #1 user   "the first prompt"                        ~3
            00:00:00 window    ~3 of 200k tokens, 0 % (+3)
        "#]],
    );
}

#[test]
fn a_file_that_is_deleted_is_waited_for() {
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let (first, second) = (prompt("a", "", "the first prompt"), prompt("b", "a", "the second prompt"));
    let mut watching = Watching::new(&sandbox, &["abc1"]);
    watching.until("watching");
    fs::remove_file(&file).unwrap();
    watching.until("waiting");
    fs::write(&file, &first).unwrap();
    watching.until("watching");
    // With all that is around it.
    let directory = file.parent().unwrap();
    fs::remove_dir_all(directory).unwrap();
    watching.until("waiting");
    fs::create_dir_all(directory).unwrap();
    fs::write(&file, format!("{first}{second}")).unwrap();
    watching.until("#2");
    watching.until("window");
    append(&file, &prompt("d", "b", "the last prompt"));
    watching.until("the last prompt");
    watching.until("#3");
    watching.until("window");
    check(
        &mut watching,
        expect![[r#"
            00:00:00 watching  ~3 of 200k tokens, 0 % · 1 turn · the first prompt
            00:00:00 waiting   abc1.jsonl does not exist
            00:00:00 watching  ~3 of 200k tokens, 0 % · 1 turn · the first prompt
            00:00:00 waiting   abc1.jsonl does not exist
            00:00:00 watching  ~6 of 200k tokens, 0 % · 2 turns · the first prompt
            00:00:00 turn      2: "the second prompt"
            00:00:00 came in       #2 user   "the second prompt"                       ~3
            00:00:00 window    ~6 of 200k tokens, 0 % (+3)
            00:00:00 turn      3: "the last prompt"
            00:00:00 came in       #3 user   "the last prompt"                         ~3
            00:00:00 window    ~8 of 200k tokens, 0 % (+3)
        "#]],
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let file = one(&sandbox);
    let mode = |mode: u32| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    let mut watching = Watching::new(&sandbox, &["abc1", "--no-cache"]);
    watching.until("watching");
    mode(0o000);
    if fs::read(&file).is_ok() {
        return skipped("this user can read every file");
    }
    watching.until("cannot be read");
    mode(0o600);
    watching.until("watching");
}

#[test]
fn a_session_that_is_not_there_yet_is_waited_for() {
    let sandbox = Sandbox::new();
    let mut watching = Watching::new(&sandbox, &[]);
    watching.until("waiting for a session");
    let file = sandbox.session("abc1", "", 0);
    append(&file, &prompt("a", "", "the first prompt"));
    watching.until("watching");
    let mut watching = Watching::new(&sandbox, &["later.jsonl"]);
    watching.until("waiting for a session");
    fs::write(sandbox.project.join("later.jsonl"), prompt("a", "", "another prompt")).unwrap();
    watching.until("another prompt");
    let refused = sandbox.run(&["watch", "abc2"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("no session id starts with 'abc2'"), "{}", refused.stderr);
}

#[test]
fn the_newest_session_is_followed() {
    let sandbox = Sandbox::new();
    one(&sandbox);
    sandbox.session("abc0", prompt("z", "", "an older session"), 0);
    one(&sandbox);
    sandbox.session("abc1", prompt("a", "", "the first prompt"), 10);
    let mut watching = Watching::new(&sandbox, &["--project"]);
    watching.until("the first prompt");
    watching.until("an older session");
    sandbox.session("def2", prompt("b", "", "a new session"), 60);
    assert!(watching.until("a new session").contains("watching"));
    watching.until("the first prompt");
    // Of two that are at work, the one that is shown stays.
    let file = sandbox.session("abc1", prompt("a", "", "the first prompt"), 20);
    append(&sandbox.session_folder().join("def2.jsonl"), &prompt("c", "b", "goes on"));
    watching.until("#2");
    append(&file, &prompt("d", "a", "goes on elsewhere"));
    assert!(watching.until("the first prompt").contains("session"));
}

#[test]
fn three_thousand_sessions_do_not_hide_one() {
    let sandbox = Sandbox::new();
    for number in 0..3000 {
        sandbox.session(&format!("old{number}"), prompt("a", "", "an old session"), 0);
    }
    let file = sandbox.session("abc1", prompt("a", "", "the first prompt"), 60);
    let mut watching = Watching::new(&sandbox, &["--project"]);
    watching.until("watching");
    append(&file, &prompt("b", "a", "the second prompt"));
    watching.until("#2");
}

/// The commands of [`Watching::until_looked_at`] in the log.
const PIN: &str = "pin 1 -s 11111111";
const UNPIN: &str = "unpin 1 -s 11111111";

/// The commands in the log, the oldest first.
fn log(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.json(&["log", "11111111"], "aperture.log/2");
    let mut commands: Vec<String> =
        log["operations"].as_array().unwrap().iter().map(|operation| operation["command"].as_str().unwrap().to_owned()).collect();
    commands.reverse();
    commands
}

#[test]
fn rules_act_once_while_the_session_is_idle() {
    let sandbox = crate::instructions::sandbox();
    let original = fs::read(sandbox.first_session()).unwrap();
    let by_rule = "compress --stale (watch --apply-policy)";
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy", "--window", "140k"]);
    watching.until(by_rule);
    watching.until("window");
    assert_eq!(log(&sandbox), [by_rule]);
    // An undone change is not repeated, neither by this watch nor by the next one.
    sandbox.text(&["undo", "-s", "11111111"]);
    watching.until("undo");
    watching.until_looked_at(&sandbox, "11111111");
    drop(watching);
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy", "--window", "140k"]);
    watching.until("watching");
    watching.until_looked_at(&sandbox, "11111111");
    let expected = [by_rule, "undo -s 11111111", PIN, UNPIN, PIN, UNPIN];
    assert_eq!(log(&sandbox), expected);
    assert!(fs::read(sandbox.first_session()).unwrap() == original);
}

#[test]
fn rules_keep_to_the_budget_and_wait_for_quiet() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.write("aperture.toml", "[budget]\ntokens = 24000\n[watch]\nidle_seconds = 100000000\n");
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy"]);
    watching.until("watching");
    watching.until_looked_at(&sandbox, "11111111");
    assert_eq!(log(&sandbox), [PIN, UNPIN]);
    drop(watching);
    sandbox.write("aperture.toml", "[budget]\ntokens = 24000\n[watch]\nidle_seconds = 7000\n");
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy"]);
    watching.until("compress --over-budget (watch --apply-policy)");
    let status = sandbox.json(&["status", "11111111"], "aperture.status/2");
    assert!(status["tokens"]["value"].as_f64().unwrap() <= 24_000.0, "{}", status["tokens"]);
}

#[cfg(unix)]
#[test]
fn rules_leave_a_session_alone_that_a_client_has_open() {
    let sandbox = crate::instructions::sandbox();
    sandbox.open_in_client();
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy", "--window", "140k"]);
    watching.until("a client has the session open");
    let lines = watching.until_looked_at(&sandbox, "11111111");
    assert!(lines.iter().all(|line| !line.contains("a client has the session open")), "{lines:?}");
    assert_eq!(log(&sandbox), [PIN, UNPIN]);
    drop(watching);
    let mut watching = Watching::new(&sandbox, &["11111111", "--apply-policy", "--window", "140k", "--live"]);
    watching.until("compress --stale");
    assert_eq!(log(&sandbox).len(), 3);
}

#[test]
fn it_ends_after_the_given_time() {
    let sandbox = Sandbox::new();
    one(&sandbox);
    for (arguments, code) in [
        (&["watch", "--for", "0"][..], 0),
        (&["watch", "--for", "0.3"], 0),
        (&["watch", "--until-idle", "0.3"], 0),
        (&["watch", "--for", "x"], 2),
        (&["watch", "--for", "-1"], 2),
        (&["watch", "--live"], 2),
        (&["watch", "abc1", "-s", "other"], 2),
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.all());
    }
    sandbox.write("notes.md", "# Notes\n");
    assert_eq!(sandbox.run(&["watch", "notes.md"]).code, 1);
}
