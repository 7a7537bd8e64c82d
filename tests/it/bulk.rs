//! Tests of commands that run on many sessions at once: their tables, their exit codes, and the independence of the sessions.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, reason = "locks and interrupts are tested on Unix"))]

use crate::sandbox::{Outcome, Sandbox, contents_below, wait_for};
use aperture::fsio::{Disk, RealDisk};
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A home with sessions of both providers.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::of("tools-and-spill");
    for fixture in ["older-model", "interactive-compact", "codex-tools", "codex-compaction"] {
        sandbox.add(fixture);
    }
    sandbox
}

/// The bytes of each session file of the home.
pub fn bytes(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    [".claude/projects", ".codex/sessions"].iter().flat_map(|directory| contents_below(&sandbox.home.join(directory))).collect()
}

fn report(outcome: &Outcome) -> Value {
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.all()));
    assert_eq!(report["schema"], "aperture.bulk/1");
    report
}

/// The ids of the sessions with an outcome.
fn ids(report: &Value, outcome: &str) -> Vec<String> {
    let rows = report["sessions"].as_array().unwrap().iter().filter(|row| row["outcome"] == outcome);
    rows.map(|row| row["session"].as_str().unwrap().to_owned()).collect()
}

/// Runs the commands that the rows of a report have for their undo.
fn undo(sandbox: &Sandbox, report: &Value) {
    for row in report["sessions"].as_array().unwrap().iter().filter(|row| row["outcome"] == "changed") {
        let line = row["undo"].as_str().unwrap().strip_prefix("aperture ").unwrap();
        assert_eq!(sandbox.enter(line).code, 0, "{line}");
    }
}

#[test]
fn a_dry_run_shows_the_table_of_the_change_and_writes_nothing() {
    let sandbox = sandbox();
    let before = bytes(&sandbox);
    for line in ["compress --stale --all", "archive 'larger(500)' --project", "redact --whole-file --all"] {
        let planned = report(&sandbox.enter(&format!("{line} --dry-run --json")));
        assert_eq!(bytes(&sandbox), before, "{line}");
        assert!(!sandbox.home.join(".aperture/store.db").exists(), "{line}");
        assert_eq!(planned["dry_run"], true);
        assert!(planned["sessions"].as_array().unwrap().iter().all(|row| row["operation"].is_null()));
    }
    let line = "compress --preset aggressive --all --json";
    let (planned, done) = (report(&sandbox.enter(&format!("{line} --dry-run"))), report(&sandbox.enter(line)));
    assert_eq!(planned["totals"], done["totals"]);
    assert_eq!(ids(&planned, "changed"), ids(&done, "changed"));
    assert!(ids(&done, "changed").len() > 2, "{done:#}");
    assert_ne!(bytes(&sandbox), before);
}

#[test]
fn each_session_has_an_operation_that_restores_its_bytes() {
    let sandbox = sandbox();
    let before = bytes(&sandbox);
    for line in ["compress --preset aggressive --all", "archive 'kind(tool_result) & larger(100)' --all"] {
        let done = report(&sandbox.enter(&format!("{line} --json")));
        let again = report(&sandbox.enter(&format!("{line} --json")));
        assert!(done["totals"]["changed"].as_u64().unwrap() > 2, "{line}");
        assert_eq!(again["totals"]["changed"], 0, "{line}: {again:#}");
        undo(&sandbox, &done);
        assert_eq!(bytes(&sandbox), before, "{line}");
    }
}

#[test]
fn undo_of_all_sessions_undoes_the_last_run_and_nothing_else() {
    let sandbox = sandbox();
    let nothing = sandbox.enter("undo --all");
    assert!(nothing.code == 1 && nothing.stderr.contains("nothing to undo"), "{}", nothing.all());
    assert_eq!(sandbox.enter("archive 24 -s 11111111").code, 0);
    let one = bytes(&sandbox);
    assert!(ids(&report(&sandbox.enter("archive 'larger(500)' --all --json")), "changed").len() > 2);
    let after_first = bytes(&sandbox);
    let second = ids(&report(&sandbox.enter("compress --stale --preset aggressive --all --json")), "changed");
    assert!(!second.is_empty());
    let preview = report(&sandbox.enter("undo --all --dry-run --json"));
    assert_eq!(ids(&preview, "changed").len(), second.len());
    let undone = sandbox.enter("undo --all");
    assert!(undone.code == 0 && undone.stdout.contains(" undone\n"), "{}", undone.all());
    assert_eq!(bytes(&sandbox), after_first);
    assert_eq!(sandbox.enter("undo --all").code, 0);
    assert_eq!(bytes(&sandbox), one, "the change of one session stays");
    assert_eq!(sandbox.enter("undo --all").code, 1);
}

#[test]
fn the_earlier_options_of_a_redaction_never_mean_more_than_before() {
    let sandbox = sandbox();
    let before = bytes(&sandbox);
    let one = sandbox.enter("redact --all --dry-run");
    assert!(one.code == 0 && one.stdout.contains("only this session is meant"), "{}", one.all());
    let every = sandbox.enter("redact --all --all-sessions --dry-run");
    assert_eq!(every.stdout, sandbox.enter("redact --whole-file --all --dry-run").stdout);
    assert_eq!(bytes(&sandbox), before);
}

#[test]
fn tables_of_changes() {
    sandbox().columns(80).snapshot(
        "bulk-changes",
        &[
            "archive 'kind(tool_result) & larger(100)' --all --dry-run",
            "archive 'kind(tool_result) & larger(100)' --project",
            "archive 'kind(tool_result) & larger(100)' --all",
            "compress 45 --project",
            "compress 45 --project",
            "redact --whole-file --all",
            "export --all -o kept",
            "export --all -o kept",
            "archive 12 -s 11111111",
            "export --project -o kept",
            "export --project -o kept --force",
            "verify --project",
            "check --all --max-tokens 10k --no-secrets",
        ],
    );
}

#[test]
fn arguments_of_many_sessions() {
    let sandbox = Sandbox::new();
    sandbox.snapshot("bulk-without-sessions", &["compress --stale --all", "check --all --allow-empty", "verify --all"]);
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.snapshot(
        "bulk-arguments",
        &[
            "check --project nowhere",
            "compress --stale --project -s 11111111",
            "compress --stale --project --all",
            "compress --project stale",
            "archive 'nonsense(' --all",
            "verify 11111111 --all",
        ],
    );
    fs::create_dir(sandbox.project.join("empty")).unwrap();
    sandbox.snapshot(
        "bulk-empty-project",
        &[
            "check --project empty",
            "check --project empty --allow-empty",
            "compress --stale --project empty",
            "compress --stale --project=empty --allow-empty",
            "verify --project empty",
            "export --project empty -o kept",
            "export --project empty -o kept --allow-empty",
        ],
    );
}

#[test]
fn credentials_are_redacted_in_every_session() {
    let sandbox = sandbox();
    // In two parts, so that no scanner finds one here.
    let key = format!("AKIA{}", "Q7RZ2MWK9TXB4LNV");
    let row = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "a", "timestamp": "2026-11-21T21:00:00.000Z",
        "message": {"role": "user", "content": format!("deploy with {key}")}});
    for id in ["aaaaaaaa", "bbbbbbbb"] {
        sandbox.session(id, format!("{row}\n"), 60);
    }
    let before = bytes(&sandbox);
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&key);
    for line in ["redact --whole-file --all --json", "redact --project --json", "redact 1 --project --json"] {
        let done = report(&sandbox.enter(line));
        assert_eq!(ids(&done, "changed"), ["aaaaaaaa", "bbbbbbbb"], "{line}");
        assert_eq!(done["sessions"][0]["what"], "1 credential");
        assert!(!bytes(&sandbox).values().any(|bytes| holds(bytes)), "{line}");
        undo(&sandbox, &done);
        assert_eq!(bytes(&sandbox), before, "{line}");
    }
    sandbox.enter("redact --whole-file --all");
    let forgotten = report(&sandbox.enter("redact --whole-file --all --forget --yes --json"));
    assert_eq!(ids(&forgotten, "changed"), ["aaaaaaaa", "bbbbbbbb"], "only stored originals are rewritten: {forgotten:#}");
    assert!(forgotten["sessions"][0]["undo"].is_null());
}

/// Takes the lock of aperture on a session, as another command would.
fn lock(sandbox: &Sandbox, session: &Path) -> Box<dyn Send> {
    let name = blake3::hash(session.as_os_str().as_encoded_bytes()).to_hex();
    RealDisk.lock(&sandbox.home.join(".aperture/locks").join(&name.as_str()[..32])).unwrap().unwrap()
}

/// Writes sessions of the project with the content of the fixture's session. Each has something to archive, and another id.
fn copies(sandbox: &Sandbox, ids: &[&str]) -> Vec<PathBuf> {
    let content = fs::read_to_string(sandbox.first_session()).unwrap();
    ids.iter().map(|id| sandbox.session(id, &content, 60)).collect()
}

#[cfg(unix)]
#[test]
fn open_locked_and_broken_sessions_do_not_stop_the_others() {
    let sandbox = Sandbox::of("tools-and-spill");
    let registry = sandbox.open_in_client();
    let paths = copies(&sandbox, &["aaaaaaaa", "bbbbbbbb"]);
    let before = bytes(&sandbox);
    let link = paths[0].with_file_name("cccccccc.jsonl");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    let held = lock(&sandbox, &paths[0]);
    let failed = sandbox.enter("archive 16 --all");
    expect![[r#"
        1 of 5 sessions archived
        SESSION   TITLE                        BEFORE  AFTER  SAVED  CHANGE
        bbbbbbbb  Please do the big job ALPHA     29k    19k  −9.8k  1 block
        aaaaaaaa  Please do the big job ALPHA                        skipped
        11111111  Please do the big job ALPHA                        skipped
        cccccccc                                                     failed
        aaaaaaaa skipped: another aperture process is changing the session aaaaaaaa
        11111111 skipped: a client has the session 11111111-1111-4111-8111-111111111111 open and does not read it again automatically
        cccccccc failed: cannot read HOME/.claude/projects/SLUG/cccccccc.jsonl: Too many levels of symbolic links (os error 40)
        1 session: nothing to do
        to undo: aperture undo -s bbbbbbbb
        error: 1 session of 5 failed
        exit code 1
    "#]]
    .assert_eq(&failed.all());
    let changed: Vec<PathBuf> =
        before.iter().filter(|(path, old)| fs::read(path).unwrap() != **old).map(|(path, _)| path.clone()).collect();
    assert_eq!(changed, [paths[1].clone()]);
    fs::remove_file(link).unwrap();
    let skipped = sandbox.enter("archive 16 --all --live --json");
    assert_eq!(skipped.code, 3, "{}", skipped.all());
    assert_eq!(ids(&report(&skipped), "skipped"), ["aaaaaaaa"]);
    drop(held);
    fs::remove_dir_all(registry).unwrap();
    let rest = sandbox.enter("archive 16 --all --json");
    assert_eq!((rest.code, ids(&report(&rest), "changed")), (0, vec!["aaaaaaaa".to_owned()]));
}

#[cfg(unix)]
#[test]
fn a_session_that_cannot_be_checked_is_reported_and_the_others_are_checked() {
    let sandbox = Sandbox::of("older-model");
    let link = sandbox.first_session().with_file_name("cccccccc.jsonl");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    sandbox.snapshot(
        "bulk-check",
        &[
            "check --project --no-damage",
            "check --project --no-damage --format junit",
            "check --project --no-damage --format github",
        ],
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let sandbox = Sandbox::of("tools-and-spill");
    let paths = copies(&sandbox, &["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"]);
    let before = fs::read(&paths[0]).unwrap();
    // The run waits for each locked session, so the interrupt reaches it before the end.
    let held: Vec<Box<dyn Send>> = paths[1..].iter().map(|path| lock(&sandbox, path)).collect();
    let child = sandbox.command(&["archive", "16", "--all", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    wait_for("the first session is changed", || (fs::read(&paths[0]).ok()? != before).then_some(()));
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let interrupted: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((ids(&interrupted, "changed"), &interrupted["interrupted"]), (vec!["aaaaaaaa".to_owned()], &true.into()));
    assert!(ids(&interrupted, "not_started").contains(&"eeeeeeee".to_owned()), "{interrupted:#}");
    drop(held);
    let rest = report(&sandbox.enter("archive 16 --all --json"));
    assert!(ids(&rest, "unchanged").contains(&"aaaaaaaa".to_owned()), "{rest:#}");
    assert_eq!(rest["totals"]["changed"], 5, "{rest:#}");
}
