//! Tests of kept sessions: copied, listed, read, restored and deleted.

use crate::sandbox::{Sandbox, contents_below, wait_for};
use expect_test::expect;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// A home with a session that has files beside it. Claude deletes sessions after `days`.
fn sandbox(days: u32) -> Sandbox {
    let sandbox = Sandbox::of("tools-and-spill").columns(100);
    fs::write(sandbox.home.join(".claude/settings.json"), json!({ "cleanupPeriodDays": days }).to_string()).unwrap();
    sandbox
}

fn set(sandbox: &Sandbox, keep: &str) {
    sandbox.settings(&format!("[sessions]\nkeep = \"{keep}\"\n"));
}

fn copy(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".aperture/kept/claude-code/projects").join(sandbox.slug()).join(format!("{ID}.jsonl.zst"))
}

#[test]
fn a_session_is_copied_deleted_read_and_restored() {
    let sandbox = sandbox(1);
    sandbox.check_words(
        &["keep", "--all", "--dry-run"],
        expect![[r#"
            would copy 1 of 1 session (N kB); nothing was written: this is a dry run
            exit code 0
        "#]],
    );
    sandbox.check_words(
        &["keep", "status"],
        expect![[r#"
            Claude deletes sessions 1 day after their last change
            DELETED IN SESSIONS NOT KEPT SIZE
            1 day 1 1 N kB
             1 d 11111111 missing N kB Please do the big job ALPHA
            kept: 0 sessions in N B
            keep is ask: nothing is copied by itself; to change it: aperture help settings
            to copy every session now: aperture keep --all
            exit code 0
        "#]],
    );
    sandbox.check_words(
        &["sessions"],
        expect![[r#"
        AGE ID CLIENT PROJECT WINDOW FULL TURNS MODEL TITLE
         2 h 11111111 claude shop ~29k N % 1 opus-5-5 [1 d left] Please do the big job ALPHA
        exit code 0
    "#]],
    );
    assert!(sandbox.text(&["status"]).contains("here within 7 days: aperture keep --project\n"));
    let before = contents_below(&sandbox.session_folder());
    sandbox.check_words(
        &["keep", "--all"],
        expect![[r#"
            copied 4 files of 1 changed session; kept: 1 session in N kB, N % of their size
            exit code 0
        "#]],
    );
    sandbox.check_words(
        &["keep", "--all"],
        expect![[r#"
        copied 0 files of 0 changed sessions; kept: 1 session in N kB, N % of their size
        exit code 0
    "#]],
    );
    assert!(!sandbox.text(&["status"]).contains("deletion"));
    sandbox.check_words(
        &["keep", "status"],
        expect![[r#"
            Claude deletes sessions 1 day after their last change
            DELETED IN SESSIONS NOT KEPT SIZE
            1 day 1 0 N kB
            kept: 1 session in N kB
            keep is ask: nothing is copied by itself; to change it: aperture help settings
            exit code 0
        "#]],
    );
    sandbox.check_words(
        &["keep", "list"],
        expect![[r#"
        AGE ID CLIENT STATE KEPT TITLE
        2 h 11111111 claude current N kB Please do the big job ALPHA
        exit code 0
    "#]],
    );
    fs::remove_dir_all(sandbox.session_folder()).unwrap();
    sandbox.check_words(
        &["sessions"],
        expect![[r#"
        AGE ID CLIENT PROJECT WINDOW FULL TURNS MODEL TITLE
         2 h 11111111 claude shop ~29k N % 1 opus-5-5 [kept] Please do the big job ALPHA
        exit code 0
    "#]],
    );
    sandbox.check_words(
        &["keep", "status"],
        expect![[r#"
        kept: 1 session in N kB; the client has deleted 1 of them
        keep is ask: nothing is copied by itself; to change it: aperture help settings
        exit code 0
    "#]],
    );
    sandbox.check_words(
        &["keep", "list"],
        expect![[r#"
        AGE ID CLIENT STATE KEPT TITLE
        2 h 11111111 claude only N kB Please do the big job ALPHA
        only: the client has deleted it; to restore it: aperture keep restore 11111111
        exit code 0
    "#]],
    );
    assert!(sandbox.text(&["status", "1111"]).contains("by position"));
    let found = sandbox.json(&["search", "big job"], "aperture.search/1");
    let command = found["sessions"][0]["command"].as_str().unwrap();
    assert!(command.starts_with("aperture keep restore 11111111 && "), "{command}");
    sandbox.check_words(
        &["archive", "8..10", "-s", "1111"],
        expect![[r#"
        error: cannot change the session 11111111
        because: the client has deleted the session, and its kept copy is only read
        hint: restore it first: aperture keep restore 11111111-1111-4111-8111-111111111111
        exit code 1
    "#]],
    );
    sandbox.check_words(
        &["keep", "restore", "1111", "--dry-run"],
        expect![[r#"
        would restore 11111111-1111-4111-8111-111111111111: 4 files
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/tool-results/be2w9eqwf.txt
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/subagents/agent-a4c80ccb372d846bd.meta.json
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/subagents/agent-a4c80ccb372d846bd.jsonl
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl
        exit code 0
    "#]],
    );
    sandbox.check_words(
        &["keep", "forget", "1111"],
        expect![[r#"
            would delete 4 files of 11111111-1111-4111-8111-111111111111 (N kB)
            the client has deleted the session: these are its only files
            nothing was deleted: this is a dry run; to delete: --yes
            exit code 0
        "#]],
    );
    sandbox.check_words(
        &["keep", "restore", "1111"],
        expect![[r#"
        restored 11111111-1111-4111-8111-111111111111: 4 files
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/tool-results/be2w9eqwf.txt
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/subagents/agent-a4c80ccb372d846bd.meta.json
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111/subagents/agent-a4c80ccb372d846bd.jsonl
        written HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl
        to continue it: claude --resume 11111111-1111-4111-8111-111111111111
        exit code 0
    "#]],
    );
    assert!(contents_below(&sandbox.session_folder()) == before);
    assert!(fs::metadata(sandbox.session_file(ID)).unwrap().modified().unwrap().elapsed().unwrap().as_secs() < 60);
    sandbox.check_words(
        &["keep", "restore", "1111"],
        expect![[r#"
        restored 11111111-1111-4111-8111-111111111111: 0 files, 4 unchanged
        to continue it: claude --resume 11111111-1111-4111-8111-111111111111
        exit code 0
    "#]],
    );
    fs::write(sandbox.session_file(ID), "other\n").unwrap();
    sandbox.check_words(
        &["keep", "restore", "1111"],
        expect![[r#"
        error: HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl exists with another content
        hint: to replace it after it is copied: aperture keep restore 1111 --force; to write another file: --to FILE
        exit code 1
    "#]],
    );
    sandbox.check_words(
        &["keep", "restore", "1111", "--to", "old.jsonl"],
        expect![[r#"
        restored 11111111-1111-4111-8111-111111111111: 1 file
        written PROJECT/old.jsonl
        exit code 0
    "#]],
    );
    assert_eq!(fs::read(sandbox.project.join("old.jsonl")).unwrap(), before[&sandbox.session_file(ID)]);
    sandbox.check_words(
        &["keep", "restore", "1111", "--force"],
        expect![[r#"
        restored 11111111-1111-4111-8111-111111111111: 0 files, 1 replaced, 3 unchanged
        replaced HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl
        to continue it: claude --resume 11111111-1111-4111-8111-111111111111
        exit code 0
    "#]],
    );
    assert!(contents_below(&sandbox.session_folder()) == before);
    sandbox.check_words(
        &["keep", "restore", "1111", "--older", "9"],
        expect![[r#"
            error: the number of older copies is 1
            hint: to list the copies: aperture keep list
            exit code 2
        "#]],
    );
    sandbox.check_words(
        &["keep", "forget", "1111", "--yes"],
        expect![[r#"
            deleted 5 files of 11111111-1111-4111-8111-111111111111 (N kB)
            exit code 0
        "#]],
    );
    assert!(!copy(&sandbox).exists() && sandbox.session_file(ID).exists());
    sandbox.check_words(
        &["keep", "restore", "1111"],
        expect![[r#"
        error: no session id starts with '1111', and no such file exists
        hint: to list all sessions: aperture sessions
        exit code 1
    "#]],
    );
}

#[cfg(unix)]
#[test]
fn copies_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox(30);
    sandbox.text(&["keep"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&copy(&sandbox)), 0o600);
    for directory in copy(&sandbox).ancestors().skip(1).take_while(|path| path.starts_with(sandbox.home.join(".aperture"))) {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
}

/// Answers an event of the client.
fn hook(sandbox: &Sandbox, event: &str) {
    let payload =
        json!({"transcript_path": sandbox.session_file(ID), "session_id": ID, "cwd": sandbox.project, "source": "startup"});
    assert_eq!(sandbox.given(&["hook", event], &payload.to_string()).code, 0);
}

#[test]
fn hooks_copy_sessions_if_the_user_wants_it() {
    for event in ["SessionStart", "SessionEnd"] {
        let sandbox = sandbox(30);
        for setting in ["ask", "off"] {
            set(&sandbox, setting);
            hook(&sandbox, event);
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!copy(&sandbox).exists(), "{event}");
        set(&sandbox, "on");
        hook(&sandbox, event);
        wait_for("the hook copies the session", || copy(&sandbox).exists().then_some(()));
        // The process in the background ends before its home is deleted.
        wait_for("the copies are complete", || {
            let list = sandbox.json(&["keep", "list"], "aperture.keep-list/1");
            (list["copies"].as_array()?.iter().all(|copy| copy["state"] == "current")).then_some(())
        });
        sandbox.text(&["keep", "--all"]);
    }
}

#[test]
fn a_decision_against_copies_is_not_questioned() {
    let sandbox = sandbox(1);
    set(&sandbox, "off");
    assert!(!sandbox.text(&["status"]).contains("deletion"));
    set(&sandbox, "perhaps");
    assert_eq!(sandbox.run(&["status"]).code, 2);
}

#[test]
fn hints_of_a_restoration_restore_the_same() {
    let sandbox = sandbox(30);
    sandbox.text(&["keep", "--all"]);
    let (file, original) = (sandbox.session_file(ID), fs::read(sandbox.session_file(ID)).unwrap());
    let other = sandbox.write("my other.txt", "mine");
    for arguments in [&["--to", "my other.txt"][..], &["--to", "new.txt", "--older", "9"]] {
        let [refused, dry] =
            [&[][..], &["-n"]].map(|more| sandbox.run(&[&["keep", "restore", "1111"], arguments, more].concat()));
        assert_eq!((dry.code > 0, dry.code, dry.stderr), (true, refused.code, refused.stderr), "{arguments:?}");
    }
    let refused = sandbox.run(&["keep", "restore", "1111", "--to", "my other.txt"]);
    assert!(
        refused.stderr.contains("to replace it: aperture keep restore 1111 --to 'my other.txt' --force; "),
        "{}",
        refused.stderr
    );
    sandbox.text(&["keep", "restore", "1111", "--to", "my other.txt", "--force"]);
    assert!(fs::read(&other).unwrap() == original);
    // What was restored is the current copy.
    fs::write(&file, "{}\n").unwrap();
    sandbox.text(&["keep", "--all"]);
    let refused = sandbox.run(&["keep", "restore", "1111", "--older", "1"]);
    assert!(refused.stderr.contains("after it is copied: aperture keep restore 1111 --older 1 --force; "), "{}", refused.stderr);
    sandbox.text(&["keep", "restore", "1111", "--older", "1", "--force"]);
    assert!(fs::read(&file).unwrap() == original);
    sandbox.text(&["keep", "restore", "1111"]);
    fs::remove_file(&file).unwrap();
    sandbox.text(&["keep", "restore", "1111"]);
    assert!(fs::read(&file).unwrap() == original);
    if std::env::var_os("APERTURE_SEALED").is_none() {
        let path = copy(&sandbox);
        fs::write(&path, "damaged").unwrap();
        let refused = sandbox.run(&["keep", "restore", "1111"]);
        let is_told = refused.stderr.starts_with("error: the copy HOME/.aperture/kept/") && refused.stderr.contains("hint: ");
        assert!(is_told, "{}", refused.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_session_that_was_not_copied_is_not_counted() {
    let sandbox = sandbox(30);
    sandbox.text(&["keep", "--all"]);
    let directory = copy(&sandbox);
    fs::remove_dir_all(directory.parent().unwrap()).unwrap();
    fs::write(directory.parent().unwrap(), "not a directory").unwrap();
    let outcome = sandbox.run(&["keep", "1111"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains("kept: 0 sessions in 0 B\nnot copied: "), "{}", outcome.stdout);
}

#[test]
fn a_copy_without_the_changes_in_force_replaces_no_session() {
    let sandbox = sandbox(30);
    sandbox.text(&["keep", "--all"]);
    let original = fs::read(sandbox.session_file(ID)).unwrap();
    sandbox.text(&["create", "a note", "-s", "1111"]);
    let changed = fs::read(sandbox.session_file(ID)).unwrap();
    let refused = |hint: &str| {
        let [said, dry] = [&[][..], &["-n"]].map(|more| sandbox.run(&[&["keep", "restore", "1111", "--force"], more].concat()));
        let expected = "error: the copy does not have the changes in the log of the session\n";
        let to_file = "hint: to write it to a file: aperture keep restore 1111 --to FILE\n";
        assert_eq!((said.code, &*said.stderr), (1, &*format!("{expected}{hint}{to_file}")));
        assert_eq!(dry.stderr, said.stderr);
    };
    let hint = "hint: to bring the session to the state of the copy: aperture restore";
    refused(&format!("{hint} original -s 11111111-1111-4111-8111-111111111111\n"));
    assert_eq!(fs::read(sandbox.session_file(ID)).unwrap(), changed);
    // A copy that has them.
    sandbox.text(&["keep", "--all"]);
    fs::write(sandbox.session_file(ID), "other\n").unwrap();
    sandbox.text(&["keep", "restore", "1111", "--force"]);
    assert_eq!((fs::read(sandbox.session_file(ID)).unwrap(), sandbox.run(&["verify", "1111"]).code), (changed, 0));
    sandbox.text(&["restore", "original", "-s", "1111"]);
    assert_eq!(fs::read(sandbox.session_file(ID)).unwrap(), original);
}
