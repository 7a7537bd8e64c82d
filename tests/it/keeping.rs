//! Tests of store maintenance: verify, gc, export and import.

use crate::changing::json;
use crate::sandbox::Sandbox;
use expect_test::expect;
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

/// The session of the fixture.
const ID: &str = "11111111-1111-4111-8111-111111111111";
/// A row as the client appends it.
const APPENDED: &str = concat!(
    r#"{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"informational","content":"later","level":"info","#,
    r#""uuid":"99999999-0000-4000-8000-000000000000","timestamp":"2026-11-21T23:00:00.000Z","sessionId":"S"}"#,
    "\n"
);

/// A home with one session in which a few blocks were archived.
fn archived() -> Sandbox {
    let sandbox = untouched();
    sandbox.text(&["archive", "8..10"]);
    sandbox
}

fn untouched() -> Sandbox {
    let sandbox = Sandbox::of("tools-and-spill").columns(100);
    let session = sandbox.session_file(ID);
    // Only the session itself: which one is the newest must not depend on the copy.
    fs::remove_dir_all(session.with_extension("")).unwrap();
    sandbox
}

fn store(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home.join(".aperture/store.db")).unwrap()
}

/// A session of which three blocks are archived.
fn archived_three() -> Sandbox {
    let sandbox = untouched();
    sandbox.text(&["archive", "8..10"]);
    sandbox
}

#[test]
fn verify_holds_the_log_against_the_file() {
    let sandbox = untouched();
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
        no session was changed: nothing to verify
        exit code 0
    "#]],
    );
    sandbox.text(&["archive", "8..10"]);
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
        store       ok  1 session, 9 originals (N kB), N kB on the disk
        11111111    ok  1 operation, 1 in force; undoing everything restores the original, byte for byte
        exit code 0
    "#]],
    );
    sandbox.check_without_sizes(
        &["verify", "agent"],
        expect![[r#"
            error: no session id starts with 'agent', and no such file exists
            hint: to list all sessions: aperture sessions
            exit code 1
        "#]],
    );
    let file = sandbox.session_file(ID);
    let left = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{left}{APPENDED}")).unwrap();
    sandbox.check_without_sizes(
        &["verify", "1111"],
        expect![[r#"
        store       ok  1 session, 9 originals (N kB), N kB on the disk
        11111111    ok  1 operation, 1 in force; undoing everything restores the original, byte for byte
        exit code 0
    "#]],
    );
}

#[test]
fn verify_lists_what_another_program_changed() {
    let sandbox = archived_three();
    let file = sandbox.session_file(ID);
    let left = fs::read_to_string(&file).unwrap();
    let place = left.find("archived").unwrap();
    fs::write(&file, format!("{}ARCHIVED{}", &left[..place], &left[place + 8..])).unwrap();
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
        store       ok  1 session, 9 originals (N kB), N kB on the disk
        11111111    bad 1 operation, 1 in force; undoing everything would be refused
                    bad #8 auto mode: another program changed it after operation 1
        error: 1 problem was found
        hint: to restore values from an export: aperture import FILE; undo skips values that another program changed
        exit code 1
    "#]],
    );
    let whole: Vec<&str> = left.split_inclusive('\n').filter(|line| !line.contains("archived")).collect();
    fs::write(&file, whole.concat()).unwrap();
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
            store       ok  1 session, 9 originals (N kB), N kB on the disk
            11111111    bad 1 operation, 1 in force; undoing everything would be refused
                        bad #8 auto mode: its row is missing since operation 1
                        bad #9 instructions: its row is missing since operation 1
                        bad #10 session context: its row is missing since operation 1
            error: 3 problems were found
            hint: to restore values from an export: aperture import FILE; undo skips values that another program changed
            exit code 1
        "#]],
    );
}

#[test]
fn verify_reports_a_missing_file() {
    let sandbox = archived_three();
    sandbox.text(&["undo"]);
    sandbox.check_without_sizes(
        &["verify", "--all"],
        expect![[r#"
            store       ok  1 session, 9 originals (N kB), N kB on the disk
            11111111    ok  2 operations; nothing is in force
            exit code 0
        "#]],
    );
    fs::remove_file(sandbox.session_file(ID)).unwrap();
    sandbox.check_without_sizes(
        &["verify", "--all"],
        expect![[r#"
            store       ok  1 session, 9 originals (N kB), N kB on the disk
            11111111    ok  2 operations; the result of an undo is unknown
                        ok  the session file no longer exists; the originals are kept
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["verify", "1111"],
        expect![[r#"
            store       ok  1 session, 9 originals (N kB), N kB on the disk
            11111111    ok  2 operations; the result of an undo is unknown
                        ok  the session file no longer exists; the originals are kept
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(&["verify", "2222"],
        expect![[r#"
            error: no sessions were found in HOME/.claude/projects, HOME/.codex/sessions, HOME/.codex/archived_sessions, HOME/.local/share/opencode/opencode.db, HOME/.gemini/tmp
            hint: run one of the clients once (aperture help clients), or name a file: aperture status FILE.jsonl
            exit code 1
        "#]],
    );
}

#[test]
fn verify_proves_that_undo_gives_back_the_original() {
    let sandbox = untouched();
    let original = fs::read(sandbox.session_file(ID)).unwrap();
    for blocks in ["16", "19", "24..38"] {
        sandbox.text(&["archive", blocks]);
        let report = sandbox.json(&["verify"], "aperture.verify/1");
        assert_eq!(report["sessions"][0]["way_back"], "exact", "{report}");
    }
    for _ in 0..3 {
        sandbox.text(&["undo"]);
    }
    assert!(fs::read(sandbox.session_file(ID)).unwrap() == original);
    let report = sandbox.json(&["verify"], "aperture.verify/1");
    assert_eq!(report["sessions"][0]["way_back"], "nothing");
}

#[test]
fn verify_writes_nothing() {
    let sandbox = archived();
    store(&sandbox).execute("UPDATE operations SET state = 'prepared'", []).unwrap();
    let all = |sandbox: &Sandbox| {
        let store = store(sandbox);
        store.query_row("SELECT group_concat(state) FROM operations", [], |row| row.get::<_, String>(0)).unwrap()
    };
    let before = (all(&sandbox), fs::read(sandbox.session_file(ID)).unwrap());
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
        store       ok  1 session, 9 originals (N kB), N kB on the disk
        11111111    ok  1 operation, 1 in force; undoing everything restores the original, byte for byte
                    ok  operation 1 was interrupted: it was done; the next command settles it
        exit code 0
    "#]],
    );
    assert!((all(&sandbox), fs::read(sandbox.session_file(ID)).unwrap()) == before);
}

#[test]
fn verify_finds_what_is_wrong_in_the_store() {
    let sandbox = archived();
    store(&sandbox)
        .execute("DELETE FROM originals WHERE address = (SELECT before FROM edits WHERE slot = 'content:0' LIMIT 1)", [])
        .unwrap();
    sandbox.check_without_sizes(
        &["verify"],
        expect![[r#"
            store       ok  1 session, 8 originals (N kB), N kB on the disk
            11111111    bad 1 operation, 1 in force; undoing everything would be refused
                        bad operation 1 cannot be undone: the store lacks 1 of its values
            error: 1 problem was found
            hint: to restore values from an export: aperture import FILE; undo skips values that another program changed
            exit code 1
        "#]],
    );
    let sandbox = archived();
    let sql = "UPDATE originals SET content = (SELECT content FROM originals ORDER BY bytes DESC LIMIT 1)
               WHERE address = (SELECT before FROM edits WHERE slot = 'content:0' LIMIT 1)";
    store(&sandbox).execute(sql, []).unwrap();
    let report = sandbox.run(&["verify"]);
    assert!(report.stdout.contains("is damaged: its hash does not match"), "{}", report.stdout);
    assert_eq!(report.code, 1);
    let sandbox = archived();
    let path = sandbox.home.join(".aperture/store.db");
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() / 2 / 4096 * 4096;
    bytes[page..page + 64].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let report = sandbox.run(&["verify"]);
    assert_eq!(report.code, 1, "{}", report.all());
    assert!(!report.stderr.contains("panicked"), "{}", report.all());
}

#[test]
fn gc_lists_and_deletes_only_with_yes() {
    let sandbox = archived();
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--gone"],
        expect![[r#"
            nothing to delete
            exit code 0
        "#]],
    );
    sandbox.text(&["undo"]);
    sandbox.check_without_sizes(
        &["gc"],
        expect![[r#"
            nothing to delete
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d"],
        expect![[r#"
            11111111    now    2 operations: everything was undone
            would delete 1 session, 9 originals (N kB): undo and recall would no longer be possible
            nothing was deleted: this is a dry run; to delete: --yes
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--dry-run"],
        expect![[r#"
            11111111    now    2 operations: everything was undone
            would delete 1 session, 9 originals (N kB): undo and recall would no longer be possible
            nothing was deleted: this is a dry run; to delete: --yes
            exit code 0
        "#]],
    );
    sandbox.text(&["verify", "--all"]);
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--yes"],
        expect![[r#"
            11111111    now    2 operations: everything was undone
            deleted 1 session, 9 originals (N kB); N kB freed
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["verify", "--all"],
        expect![[r#"
        no session was changed: nothing to verify
        exit code 0
    "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--older-than", "soon"],
        expect![[r#"
            error: invalid value 'soon' for '--older-than <TIME>': write an age as 12h, 90d or 8w
            hint: for help: aperture gc --help
            exit code 2
        "#]],
    );
}

#[test]
fn gc_keeps_a_session_without_a_file_by_default() {
    let sandbox = archived();
    fs::remove_file(sandbox.session_file(ID)).unwrap();
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--yes"],
        expect![[r#"
            nothing to delete
            kept: 1 session without a file; to delete these too: --gone
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--gone"],
        expect![[r#"
            nothing to delete
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--gone"],
        expect![[r#"
            11111111    now    1 operation: its file no longer exists
            would delete 1 session, 9 originals (N kB): undo and recall would no longer be possible
            nothing was deleted: this is a dry run; to delete: --yes
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--gone", "--yes"],
        expect![[r#"
            11111111    now    1 operation: its file no longer exists
            deleted 1 session, 9 originals (N kB); N kB freed
            exit code 0
        "#]],
    );
}

#[test]
fn gc_does_not_take_a_session_that_was_moved_for_one_that_is_gone() {
    let sandbox = archived();
    let elsewhere = sandbox.home.join(".claude/projects/-elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(sandbox.session_file(ID), elsewhere.join(format!("{ID}.jsonl"))).unwrap();
    sandbox.check_without_sizes(
        &["gc", "--older-than", "0d", "--gone"],
        expect![[r#"
            nothing to delete
            exit code 0
        "#]],
    );
}

#[test]
fn an_export_replaces_a_file_only_if_forced() {
    let here = untouched();
    here.text(&["archive", "8..20"]);
    here.check_without_sizes(
        &["export", "-o", "e"],
        expect![[r#"
            exported 1 operation and 15 values of 11111111-1111-4111-8111-111111111111 to PROJECT/e (N kB)
            it contains the archived originals, secrets included; to read it: aperture import FILE
            exit code 0
        "#]],
    );
    here.check_without_sizes(
        &["export", "-o", "e"],
        expect![[r#"
        error: PROJECT/e exists
        hint: to replace it: --force
        exit code 1
    "#]],
    );
    here.text(&["export", "-o", "e", "--force"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(here.project.join("e")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn an_export_makes_undo_work_on_another_machine() {
    let here = untouched();
    let original = fs::read(here.session_file(ID)).unwrap();
    here.text(&["archive", "8..20"]);
    here.text(&["export", "-o", "e"]);
    let there = untouched();
    there.write("e", fs::read(here.project.join("e")).unwrap());
    let changed = fs::read(here.session_file(ID)).unwrap();
    drop(here);
    there.check_without_sizes(
        &["import", "e"],
        expect![[r#"
            error: cannot import PROJECT/e
            because: 7 of 9 values of its log are missing from the session 11111111
            hint: it belongs to another state of the session; to import it nevertheless: --force
            exit code 1
        "#]],
    );
    fs::write(there.session_file(ID), changed).unwrap();
    there.check_without_sizes(
        &["undo"],
        expect![[r#"
            error: nothing to undo: aperture has not changed 11111111
            hint: to list the changed sessions: aperture verify --all
            exit code 1
        "#]],
    );
    there.check_without_sizes(
        &["import", "e"],
        expect![[r#"
            imported 1 operation and 15 values for HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl
            its operations can be undone: aperture undo -s 11111111
            exit code 0
        "#]],
    );
    there.check_without_sizes(&["import", "e"],
        expect![[r#"
            the store already has the log of HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl: 1 operation and 15 values, all complete
            its operations can be undone: aperture undo -s 11111111
            exit code 0
        "#]],
    );
    there.check_without_sizes(
        &["verify"],
        expect![[r#"
            store       ok  1 session, 15 originals (N kB), N kB on the disk
            11111111    ok  1 operation, 1 in force; undoing everything restores the original, byte for byte
            exit code 0
        "#]],
    );
    there.text(&["undo"]);
    assert!(fs::read(there.session_file(ID)).unwrap() == original);
    there.check_without_sizes(&["import", "e"],
        expect![[r#"
            the store has a newer log of HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl and keeps it: 2 operations and 15 values, all complete
            all of its operations are undone
            exit code 0
        "#]],
    );
}

#[test]
fn an_import_mends_a_store() {
    let sandbox = archived();
    let original = untouched();
    sandbox.text(&["export", "-o", "e"]);
    store(&sandbox).execute("UPDATE originals SET content = x'00'", []).unwrap();
    assert_eq!(sandbox.run(&["verify"]).code, 1);
    sandbox.check_without_sizes(&["import", "e"],
        expect![[r#"
            the store already has the log of HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl: 1 operation and 9 values, all complete
            its operations can be undone: aperture undo -s 11111111
            exit code 0
        "#]],
    );
    sandbox.text(&["verify"]);
    sandbox.text(&["undo"]);
    assert!(fs::read(sandbox.session_file(ID)).unwrap() == fs::read(original.session_file(ID)).unwrap());
}

#[test]
fn another_log_is_only_replaced_by_force() {
    let here = archived();
    here.text(&["export", "-o", "e"]);
    let there = untouched();
    there.write("e", fs::read(here.project.join("e")).unwrap());
    drop(here);
    there.text(&["archive", "14"]);
    there.check_without_sizes(
        &["import", "e"],
        expect![[r#"
            error: cannot import PROJECT/e
            because: 4 of 6 values of its log are missing from the session 11111111
            hint: it belongs to another state of the session; to import it nevertheless: --force
            exit code 1
        "#]],
    );
    there.check_without_sizes(
        &["import", "e", "--force"],
        expect![[r#"
            imported 1 operation and 9 values for HOME/.claude/projects/SLUG/11111111-1111-4111-8111-111111111111.jsonl
            the session file does not contain 4 values of it; to list them: aperture verify -s 11111111
            exit code 0
        "#]],
    );
}

/// A session with an archived block and no log, and the export of its log.
fn exported() -> (Sandbox, Vec<u8>) {
    let here = archived();
    here.text(&["export", "-o", "e"]);
    let there = untouched();
    fs::write(there.session_file(ID), fs::read(here.session_file(ID)).unwrap()).unwrap();
    (there, fs::read(here.project.join("e")).unwrap())
}

#[test]
fn a_file_that_cannot_be_imported_changes_nothing() {
    let (sandbox, whole) = exported();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    sandbox.write("flipped", &flipped);
    sandbox.write("newer", [b"aperture export 9\n", &whole[18..]].concat());
    sandbox.write("short", &whole[..200]);
    sandbox.write("foreign", "hello");
    sandbox.check_without_sizes(
        &["import", "flipped"],
        expect![[r#"
        error: cannot import PROJECT/flipped
        because: it is damaged: checksum mismatch
        hint: nothing was changed; copy the export again
        exit code 1
    "#]],
    );
    sandbox.check_without_sizes(
        &["import", "newer"],
        expect![[r#"
        error: cannot import PROJECT/newer
        because: it was written by a newer aperture (format 9, this version reads up to 1)
        hint: update aperture
        exit code 1
    "#]],
    );
    sandbox.check_without_sizes(
        &["import", "foreign"],
        expect![[r#"
            error: cannot import PROJECT/foreign
            because: it is not an aperture export
            hint: give a file that the command export wrote; one that is encrypted is decrypted first: age -d
            exit code 1
        "#]],
    );
    sandbox.check_without_sizes(
        &["import", "missing"],
        expect![[r#"
            error: cannot import PROJECT/missing
            because: No such file or directory (os error 2)
            hint: give the path of a file that the command export wrote
            exit code 1
        "#]],
    );
    let short = sandbox.run(&["import", "short"]);
    assert!(short.stderr.contains("it is truncated ("), "{}", short.stderr);
    assert!(!sandbox.home.join(".aperture/store.db").exists());
}

#[test]
fn an_import_finds_the_session_by_its_file() {
    let (sandbox, whole) = exported();
    sandbox.write("whole", &whole);
    let away = sandbox.home.join("away.jsonl");
    fs::rename(sandbox.session_file(ID), &away).unwrap();
    sandbox.session("other", "{}\n", 0);
    sandbox.check_without_sizes(
        &["import", "whole"],
        expect![[r#"
        error: cannot import PROJECT/whole
        because: the session 11111111-1111-4111-8111-111111111111 is not on this machine
        hint: copy its file here and name it: --session FILE
        exit code 1
    "#]],
    );
    let away = away.to_string_lossy().into_owned();
    sandbox.check_without_sizes(
        &["import", "whole", "--session", &away],
        expect![[r#"
            imported 1 operation and 9 values for HOME/away.jsonl
            its operations can be undone: aperture undo -s HOME/away.jsonl
            exit code 0
        "#]],
    );
    sandbox.check_without_sizes(
        &["verify", "-s", &away],
        expect![[r#"
            store       ok  1 session, 9 originals (N kB), N kB on the disk
            away        ok  1 operation, 1 in force; undoing everything restores the original, byte for byte
            exit code 0
        "#]],
    );
}

#[test]
fn each_report_has_its_schema() {
    let sandbox = archived();
    sandbox.json(&["verify", "--all"], "aperture.verify/1");
    sandbox.json(&["gc"], "aperture.gc/2");
    sandbox.json(&["export", "-o", "e"], "aperture.export/1");
    sandbox.json(&["import", "e"], "aperture.import/1");
}

/// A session in which a tool read a PDF of 20 pages, and a result has another one beside a text.
pub fn session_with_documents(sandbox: &Sandbox) -> PathBuf {
    use base64::Engine;
    let file = format!("%PDF-1.4\n<</Type /Pages /Count 20>>\n{}", "% nothing\n".repeat(3000));
    let data = base64::engine::general_purpose::STANDARD.encode(file);
    let document =
        format!(r#"{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}}}}"#);
    let directory = sandbox.project.display();
    let id = |row: u32| format!("0000000{row}-0000-4000-8000-000000000001");
    let mut rows = Vec::new();
    let mut add = |role: &str, message: String| {
        let row = rows.len() as u32 + 1;
        let parent = if row == 1 { "null".to_owned() } else { format!("\"{}\"", id(row - 1)) };
        rows.push(format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","message":{{"role":"{role}",{message}}},"uuid":"{}","timestamp":"2026-05-04T09:00:0{row}.000Z","cwd":"{directory}","sessionId":"5b000000-0000-4000-8000-000000000001","version":"2.1.330"}}"#,
            id(row)
        ));
    };
    let said = |number: u32, content: &str, billed: u32| {
        format!(
            r#""id":"msg_{number}","type":"message","model":"claude-opus-5","content":[{content}],"usage":{{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":{billed},"output_tokens":30}}"#
        )
    };
    let read = |number: u32, name: &str| {
        format!(r#"{{"type":"tool_use","id":"toolu_{number}","name":"Read","input":{{"file_path":"/w/{name}"}}}}"#)
    };
    add("user", r#""content":"compare the two leases""#.to_owned());
    add("assistant", said(1, &read(1, "lease.pdf"), 9000));
    add(
        "user",
        r#""content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"PDF file read: /w/lease.pdf"}]"#.to_owned(),
    );
    add("user", format!(r#""content":[{document}]"#));
    add("assistant", said(2, &read(2, "other.pdf"), 39_000));
    let both = format!(r#"[{{"type":"text","text":"the other lease"}},{document}]"#);
    add("user", format!(r#""content":[{{"tool_use_id":"toolu_2","type":"tool_result","content":{both}}}]"#));
    add("assistant", said(3, r#"{"type":"text","text":"They are equal."}"#, 69_000));
    add("user", r#""content":"thanks""#.to_owned());
    add("assistant", said(4, r#"{"type":"text","text":"You are welcome."}"#, 69_100));
    sandbox.session("5b000000-0000-4000-8000-000000000001", rows.join("\n") + "\n", 90)
}

#[test]
fn a_session_of_an_unknown_provider_is_refused() {
    let sandbox = Sandbox::of("tools-and-spill");
    sandbox.text(&["archive", "16"]);
    let store = Connection::open(sandbox.home.join(".aperture/store.db")).unwrap();
    assert_eq!(store.execute("UPDATE sessions SET provider = 'a-later-client'", []).unwrap(), 1);
    drop(store);
    let refused = sandbox.run(&["verify"]).all();
    assert!(refused.contains("as one of 'a-later-client', which this version of aperture does not know"), "{refused}");
    assert!(refused.contains("exit code 1"), "{refused}");
}

#[test]
fn a_document_is_priced_taken_out_and_put_back() {
    let sandbox = Sandbox::new();
    let path = session_with_documents(&sandbox);
    let original = fs::read(&path).unwrap();
    let blocks = json(&sandbox, "blocks 4,6", "blocks");
    let blocks = blocks["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 2);
    for (block, name) in blocks.iter().zip(["lease.pdf", "other.pdf"]) {
        let tokens = block["tokens"]["value"].as_f64().unwrap();
        assert!((29_000.0..31_500.0).contains(&tokens), "{block}");
        let document = &block["documents"][0];
        assert_eq!((document["pages"].as_u64(), document["name"].as_str()), (Some(20), Some(&*format!("/w/{name}"))));
        assert!(!block.to_string().contains("JVBERi"), "base64 is no text");
    }
    let shown = sandbox.done("show 4,6");
    assert!(shown.contains("document lease.pdf, 20 pages, 30 kB") && shown.contains("the other lease"), "{shown}");
    assert!(!shown.contains("JVBERi"));

    sandbox.done("archive 4");
    let archived = fs::read_to_string(&path).unwrap();
    assert_eq!(archived.matches("JVBERi").count(), 1);
    assert!(archived.contains(r#"{"type":"text","text":"[@4 | archived from "#), "{}", &archived[..2000]);
    sandbox.done("recall 4 --restore");
    let rows = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().nth(3).map(str::to_owned);
    assert_eq!(rows(&fs::read(&path).unwrap()), rows(&original));
    for _ in 0..2 {
        sandbox.done("undo");
    }
    assert_eq!(fs::read(&path).unwrap(), original);

    sandbox.done("compress 4 6 --level trimmed");
    let trimmed = sandbox.done("show 6");
    assert!(trimmed.contains("the other lease") && !trimmed.contains("[document]"), "{trimmed}");
    sandbox.done("undo");
    assert_eq!(fs::read(&path).unwrap(), original);

    sandbox.done("compress --budget 20k");
    assert!(!fs::read_to_string(&path).unwrap().contains("JVBERi"));
    sandbox.done("undo");
    assert_eq!(fs::read(&path).unwrap(), original);
}
