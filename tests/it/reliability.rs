//! Tests that a session is never lost, whatever happens to the program and its environment.
//!
//! APERTURE_KILLS and APERTURE_ROWS extend the long tests.

use crate::rows::append;
use crate::sandbox::{Outcome, Sandbox, skipped};
use aperture::store::Store;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A pseudo-random number generator with a fixed seed.
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn run(sandbox: &Sandbox, file: &Path, arguments: &[&str]) -> Outcome {
    sandbox.run(&[arguments, &["-s", file.to_str().unwrap()]].concat())
}

/// Runs a command that must succeed.
fn done(sandbox: &Sandbox, file: &Path, arguments: &[&str]) {
    let outcome = run(sandbox, file, arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.all());
}

/// Takes everything back.
pub fn undo_all(sandbox: &Sandbox, file: &Path) {
    for _ in 0..1_000 {
        let outcome = run(sandbox, file, &["undo"]);
        if outcome.code == 1 {
            assert!(outcome.stderr.contains("nothing to undo"), "{}", outcome.all());
            return;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.all());
    }
    panic!("there is always something to undo");
}

/// The store is sound, and nothing is left in the directory of a session that was not there.
fn check_all(sandbox: &Sandbox, file: &Path) {
    let store = Store::open(&sandbox.home.join(".aperture")).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    for known in store.sessions().unwrap() {
        assert_eq!(store.prepared(known.key).unwrap(), []);
    }
    for address in store.addresses().unwrap() {
        store.original(&address).unwrap();
    }
    let left = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(left.filter(|path| path.extension().is_some_and(|end| end == "aperture")).count(), 0);
}

#[cfg(unix)]
#[test]
fn killed_at_any_moment_it_leaves_the_old_or_the_new_file() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    done(&sandbox, &file, &["archive", "all"]);
    let archived = fs::read(&file).unwrap();
    let started = Instant::now();
    done(&sandbox, &file, &["undo"]);
    let mut length = started.elapsed().as_micros() as u64;
    assert!(original != archived && fs::read(&file).unwrap() == original);
    let mut random = Random(7);
    let (mut killed, mut kept) = (0, 0);
    for round in 0..number("APERTURE_KILLS", 25) {
        let before = fs::read(&file).unwrap();
        let arguments: &[&str] = if before == original { &["archive", "all"] } else { &["undo"] };
        let mut command = sandbox.command(&[arguments, &["-s", file.to_str().unwrap()]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(random.below(length)));
        child.kill().unwrap();
        let in_time = child.wait().unwrap().code().is_none();
        killed += usize::from(in_time);
        // The duration of a run is estimated during the test, independent of the load of the machine.
        length = if in_time { length + length / 40 } else { length - length / 10 };
        let after = fs::read(&file).unwrap();
        assert!(after == original || after == archived, "round {round}: neither the old nor the new file");
        kept += usize::from(after == before);
    }
    eprintln!("{killed} were killed in time; {kept} times the file stayed as it was");
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == original);
    check_all(&sandbox, &file);
}

#[test]
fn commands_with_two_stores_lose_no_change_of_each_other() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    let command = |store: &str, arguments: &[&str]| {
        let mut command = sandbox.command(&[arguments, &["-s", file.to_str().unwrap()]].concat());
        command.env("APERTURE_HOME", sandbox.home.join(store));
        command
    };
    for round in 0..number("APERTURE_KILLS", 6) {
        let changes: [(&str, &[&str]); 2] = [("one", &["archive", "all"]), ("two", &["create", "a note"])];
        let started = changes
            .map(|(store, arguments)| command(store, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let ended = started.map(|child| child.wait_with_output().unwrap());
        for output in &ended {
            assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let changed = fs::read_to_string(&file).unwrap();
        assert!(changed.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "round {round}");
        assert!(changed.contains("a note") && changed.len() < original.len(), "round {round}");
        // The later one is undone first. If that is the other one, its undo is refused, and repeated.
        for store in ["one", "two", "one", "two"] {
            command(store, &["undo"]).output().unwrap();
        }
        assert!(fs::read(&file).unwrap() == original, "round {round}");
    }
}

/// Changes a session and undoes the change while a client appends to it, and checks the result. Rows of the conversation refer to
/// the row before; rows of state do not.
fn check_writer(rows: usize, chained: bool, pause: u64) {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read_to_string(&file).unwrap();
    let parent = original.lines().rev().find_map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(row.get("uuid")?.as_str()?.to_owned())
    });
    let row = |number: usize| {
        if !chained {
            return format!(r#"{{"type":"mode","mode":"row-{number}","sessionId":"s"}}"#);
        }
        let parent = if number == 0 { parent.clone().unwrap() } else { format!("row-{}", number - 1) };
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"attachment","attachment":{{"type":"date"}},"rendered":[{{"content":"x"}}],"renderedRole":"user","uuid":"row-{number}","timestamp":"2026-11-21T23:00:00.000Z","sessionId":"s","version":"2.1.330"}}"#
        )
    };
    let over = AtomicBool::new(false);
    let (mut changes, mut refusals) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(11);
            for number in 0..rows {
                append(&file, &(row(number) + "\n"));
                if pause > 0 {
                    thread::sleep(Duration::from_micros(random.below(2 * pause)));
                }
            }
            over.store(true, Ordering::SeqCst);
        });
        let mut round = 0;
        while !over.load(Ordering::SeqCst) {
            // Of the first only contents change; the second also adds and removes a row.
            let change = if round % 2 == 0 { "kind(tool_result)" } else { "all" };
            for arguments in [&["archive", "--live", change][..], &["undo", "--live"]] {
                let outcome = run(&sandbox, &file, arguments);
                assert!(matches!(outcome.code, 0 | 1 | 3), "{}", outcome.all());
                changes += usize::from(outcome.code == 0);
                refusals += usize::from(outcome.code == 3);
            }
            round += 1;
        }
    });
    undo_all(&sandbox, &file);
    let now = fs::read_to_string(&file).unwrap();
    let tail = now.strip_prefix(&original).unwrap_or_else(|| panic!("the rest of the file is not what it was"));
    let disorder = check_appended(tail, rows, chained, &row);
    eprintln!("{rows} rows, chained {chained}: {changes} changes, {refusals} refused, {disorder} out of order");
    // At full speed, all rows can be written before the first change.
    assert!(changes > 0 || chained || pause == 0, "nothing was changed meanwhile");
    check_all(&sandbox, &file);
}

/// Checks that the rows after the original are the appended ones, each once. Returns the number of rows that are out of order.
fn check_appended(tail: &str, rows: usize, chained: bool, row: &dyn Fn(usize) -> String) -> usize {
    let name = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("torn: {error}: {line}"));
        row[if chained { "uuid" } else { "mode" }].as_str().unwrap().to_owned()
    };
    let names: Vec<String> = tail.lines().map(name).collect();
    let mut sorted = names.clone();
    let number = |name: &String| name.trim_start_matches("row-").parse::<usize>().unwrap();
    sorted.sort_by_key(number);
    let expected: Vec<String> = (0..rows).map(|number| format!("row-{number}")).collect();
    assert_eq!(sorted, expected, "rows were lost or doubled");
    if chained {
        let written: Vec<&str> = tail.lines().collect();
        for line in written {
            let now: serde_json::Value = serde_json::from_str(line).unwrap();
            let number: usize = now["uuid"].as_str().unwrap().trim_start_matches("row-").parse().unwrap();
            assert_eq!(line, row(number), "a row is not as it was written");
        }
    }
    names.windows(2).filter(|pair| number(&pair[0]) > number(&pair[1])).count()
}

#[cfg(target_os = "linux")]
#[test]
fn rows_that_a_client_appends_as_fast_as_it_can_are_all_kept() {
    check_writer(number("APERTURE_ROWS", 1_000), false, 0);
    check_writer(number("APERTURE_ROWS", 1_000), false, 2_000);
}

#[cfg(target_os = "linux")]
#[test]
fn rows_of_the_conversation_that_a_client_appends_are_all_kept() {
    // At full speed, each appended row invalidates every plan that adds or removes a row; with pauses, some plans succeed.
    check_writer(number("APERTURE_ROWS", 1_000) / 2, true, 1_000);
    check_writer(number("APERTURE_ROWS", 1_000) / 25, true, 100_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_a_program_keeps_open_is_not_changed() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let mut handle = OpenOptions::new().append(true).open(&file).unwrap();
    let original = fs::read(&file).unwrap();
    let outcome = run(&sandbox, &file, &["archive", "--live", "all"]);
    assert_eq!(outcome.code, 3, "{}", outcome.all());
    assert!(outcome.stderr.contains(&format!("process {} has it open for writing", std::process::id())), "{}", outcome.stderr);
    handle.write_all(b"{\"type\":\"mode\",\"mode\":\"x\",\"sessionId\":\"s\"}\n").unwrap();
    drop(handle);
    let now = fs::read(&file).unwrap();
    assert!(now.starts_with(&original) && now.len() > original.len());
    done(&sandbox, &file, &["archive", "--live", "all"]);
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == now);
    check_all(&sandbox, &file);
}

#[test]
fn two_at_once_on_one_session_wait_for_each_other() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    thread::scope(|scope| {
        for selector in ["kind(tool_result)", "kind(attachment)"] {
            let (sandbox, file) = (&sandbox, &file);
            scope.spawn(move || {
                for round in 0..6 {
                    let arguments: &[&str] = if round % 2 == 0 { &["archive", selector] } else { &["undo"] };
                    let outcome = run(sandbox, file, arguments);
                    assert!(matches!(outcome.code, 0 | 1 | 3), "{}", outcome.all());
                    assert!(!outcome.stderr.contains("bug"), "{}", outcome.stderr);
                }
            });
        }
    });
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == original);
    check_all(&sandbox, &file);
}

#[test]
fn two_at_once_on_two_sessions_do_not_disturb_each_other() {
    let sandbox = Sandbox::of("older-model");
    let first = sandbox.first_session();
    let original = fs::read(&first).unwrap();
    let second = sandbox.session("12121212-1212-4212-8212-121212121212", &original, 0);
    thread::scope(|scope| {
        for file in [&first, &second] {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for _ in 0..4 {
                    done(sandbox, file, &["archive", "all"]);
                    done(sandbox, file, &["undo"]);
                }
            });
        }
    });
    for file in [first, second] {
        assert!(fs::read(&file).unwrap() == original);
        check_all(&sandbox, &file);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_session_stays_one() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    let target = sandbox.project.join("elsewhere.jsonl");
    fs::rename(&file, &target).unwrap();
    std::os::unix::fs::symlink(&target, &file).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let state = || fs::metadata(&target).map(|target| (target.permissions().mode() & 0o777, target.modified().unwrap())).unwrap();
    let before = state();
    done(&sandbox, &file, &["archive", "all"]);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read(&target).unwrap() != original);
    assert_eq!((state(), before.0), (before, 0o640));
    undo_all(&sandbox, &target);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read(&target).unwrap() == original);
    check_all(&sandbox, &target);
}

/// Runs the program as a user whose rights count: as nobody if the tests run as the superuser. `None` if that is not possible.
#[cfg(target_os = "linux")]
fn run_as_nobody(sandbox: &Sandbox, arguments: &[&str]) -> Option<std::process::Output> {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let mut command = sandbox.command(arguments);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().ok()
}

/// Waits for a program that must not wait for anything itself.
fn finish(mut command: std::process::Command) -> Option<std::process::Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Some(child.wait_with_output().unwrap())
}

/// The commands whose answer is in the store.
const OF_THE_STORE: [&[&str]; 9] = [
    &["verify"],
    &["verify", "--all"],
    &["log"],
    &["undo", "--dry-run"],
    &["undo"],
    &["gc"],
    &["inbox"],
    &["memory", "log"],
    &["archive", "all", "--dry-run"],
];

#[cfg(target_os = "linux")]
#[test]
fn a_store_that_cannot_be_read_is_an_error_and_not_an_absence() {
    use std::os::unix::fs::PermissionsExt;
    type Spoil = fn(&Path);
    let remove = |path: &Path| {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", path.display()));
        }
    };
    let directory: Spoil = |path| fs::create_dir(path).unwrap();
    let pipe: Spoil = |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let garbage: Spoil = |path| fs::write(path, vec![b'x'; 9_000]).unwrap();
    let file_above: Spoil = |path| {
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.parent().unwrap(), "x").unwrap();
    };
    for (spoil, said) in
        [(directory, "is a directory"), (pipe, "not a regular file"), (garbage, "is damaged"), (file_above, "Not a directory")]
    {
        let sandbox = Sandbox::of("older-model");
        done(&sandbox, &sandbox.first_session(), &["archive", "kind(tool_result)"]);
        let store = sandbox.home.join(".aperture/store.db");
        remove(&store);
        spoil(&store);
        for arguments in OF_THE_STORE {
            let output = finish(sandbox.command(arguments)).unwrap_or_else(|| panic!("{said}: {arguments:?} waits"));
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
            assert!(text.contains(said) && text.contains("hint: "), "{arguments:?}: {text}");
        }
        let output = finish(sandbox.command(&["status"])).unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("the log are not available"), "{text}");
    }
    // The right to read the file, and to search its directory.
    for is_of_directory in [false, true] {
        let sandbox = Sandbox::of("older-model");
        done(&sandbox, &sandbox.first_session(), &["archive", "kind(tool_result)"]);
        fs::set_permissions(sandbox.home.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        let home = sandbox.home.join(".aperture");
        let denied = if is_of_directory { home.clone() } else { home.join("store.db") };
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&denied, fs::Permissions::from_mode(0o000)).unwrap();
        for arguments in OF_THE_STORE {
            let Some(output) = run_as_nobody(&sandbox, arguments) else { return skipped("another user cannot run it") };
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
            // Without the right to search the directory, the settings in it are the first that cannot be read.
            assert!(text.contains("Permission denied") && (is_of_directory || text.contains("hint: ")), "{arguments:?}: {text}");
        }
        fs::set_permissions(&denied, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn nothing_waits_for_a_pipe_among_the_sessions() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let folder = file.parent().unwrap().to_owned();
    let strange = sandbox.home.join("strange");
    fs::create_dir(&strange).unwrap();
    for place in [&folder, &strange] {
        let pipe = place.join("0pipe.jsonl");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, place.join("1link.jsonl")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", place.join("2zero.jsonl")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(place.join("3.jsonl")).unwrap());
        fs::create_dir(place.join("4directory.jsonl")).unwrap();
    }
    fs::copy(&file, strange.join("s.jsonl")).unwrap();
    let strange = strange.to_str().unwrap();
    for arguments in [
        &["sessions"][..],
        &["usage"],
        &["status"],
        &["memory", "learn", "--dry-run"],
        &["memory", "learn", "--all", "--dry-run"],
        &["memory", "learn", "--dry-run", "--project", strange],
    ] {
        let output = finish(sandbox.command(arguments)).unwrap_or_else(|| panic!("{arguments:?} waits"));
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let pipe = folder.join("0pipe.jsonl");
    let output = finish(sandbox.command(&["status", "-s", pipe.to_str().unwrap()])).unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"), "{output:?}");
}

#[cfg(unix)]
#[test]
fn a_file_with_several_names_is_not_replaced() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    let other = sandbox.home.join("other.jsonl");
    fs::hard_link(&file, &other).unwrap();
    let outcome = run(&sandbox, &file, &["archive", "all"]);
    assert_eq!(outcome.code, 1, "{}", outcome.all());
    assert!(outcome.stderr.contains("2 names (hard links)") && outcome.stderr.contains("hint: to make it a file of its own"));
    assert!(fs::read(&file).unwrap() == original && fs::read(&other).unwrap() == original);
    fs::remove_file(other).unwrap();
    done(&sandbox, &file, &["archive", "all"]);
    undo_all(&sandbox, &file);
    assert!(fs::read(&file).unwrap() == original);
}

#[cfg(unix)]
#[test]
fn a_project_folder_that_is_a_link_has_sessions() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let (folder, original) = (file.parent().unwrap(), fs::read(&file).unwrap());
    let listed = sandbox.text(&["sessions"]);
    let elsewhere = sandbox.home.join("elsewhere");
    fs::rename(folder, &elsewhere).unwrap();
    symlink(&elsewhere, folder).unwrap();
    // Neither a loop nor a second name shows them twice.
    symlink("..", folder.with_file_name("-loop")).unwrap();
    symlink("../..", folder.with_file_name("-loop-of-home")).unwrap();
    symlink(&elsewhere, folder.with_file_name("-zz-second")).unwrap();
    assert_eq!(sandbox.text(&["sessions"]), listed);
    sandbox.run(&["archive", "all"]);
    assert!(fs::read(&file).unwrap() != original);
    assert!(sandbox.run(&["log"]).stdout.contains("archive all"));
    assert_eq!(sandbox.run(&["undo"]).code, 0);
    assert!(fs::read(&file).unwrap() == original && fs::symlink_metadata(folder).unwrap().is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_that_is_not_utf_8_has_its_sessions_and_their_log() {
    use std::os::unix::ffi::OsStrExt;
    let mut sandbox = Sandbox::of("older-model");
    let homes = [&b"home\xff"[..], b"home\xfe"].map(|name| sandbox.home.with_file_name(std::ffi::OsStr::from_bytes(name)));
    let name = sandbox.first_session().strip_prefix(&sandbox.home).unwrap().to_owned();
    for home in &homes {
        let copied = std::process::Command::new("cp").arg("-r").args([&sandbox.home, home]).status();
        if !copied.unwrap().success() {
            return skipped("the file system has only names in UTF-8");
        }
    }
    let store = sandbox.home.join(".aperture");
    let original = fs::read(homes[0].join(&name)).unwrap();
    let mut run = |home: &Path, arguments: &[&str]| {
        sandbox.home = home.to_owned();
        let output = sandbox.command(arguments).env("APERTURE_HOME", &store).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments:?}: {text}");
        text
    };
    run(&homes[0], &["archive", "all"]);
    assert!(fs::read(homes[0].join(&name)).unwrap() != original);
    // The file of the other home is another session.
    assert!(run(&homes[1], &["log"]).contains("no operations"));
    assert!(run(&homes[0], &["log"]).contains("archive all"));
    assert!(run(&homes[0], &["verify", "--all"]).contains("byte for byte"));
    run(&homes[0], &["undo"]);
    assert!(fs::read(homes[0].join(&name)).unwrap() == original);
}

#[test]
fn an_unusable_store_is_reported_and_nothing_is_written() {
    let newer = |path: &Path| {
        let store = rusqlite::Connection::open(path).unwrap();
        store.pragma_update(None, "user_version", 99).unwrap();
    };
    let garbage = |path: &Path| {
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", path.display()));
        }
        fs::write(path, vec![b'x'; 9_000]).unwrap();
    };
    for (spoil, said) in [(newer as fn(&Path), "newer aperture"), (garbage, "store")] {
        let sandbox = Sandbox::of("older-model");
        let file = sandbox.first_session();
        done(&sandbox, &file, &["archive", "kind(tool_result)"]);
        let changed = fs::read(&file).unwrap();
        let store = sandbox.home.join(".aperture/store.db");
        spoil(&store);
        let spoiled = fs::read(&store).unwrap();
        for arguments in [&["archive", "all"][..], &["undo"]] {
            let outcome = run(&sandbox, &file, arguments);
            assert_eq!(outcome.code, 1, "{}", outcome.all());
            assert!(outcome.stderr.contains(said) && outcome.stderr.contains("hint: "), "{}", outcome.stderr);
        }
        // Reading still works.
        assert_eq!(run(&sandbox, &file, &["status"]).code, 0);
        assert!(fs::read(&file).unwrap() == changed && fs::read(&store).unwrap() == spoiled);
    }
}

#[test]
fn a_block_that_another_program_rewrote_is_not_undone() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    done(&sandbox, &file, &["archive", "all"]);
    let text = fs::read_to_string(&file).unwrap();
    let other = text.replace(" | archived from", " | ARCHIVED from");
    assert_ne!(text, other);
    fs::write(&file, &other).unwrap();
    let outcome = run(&sandbox, &file, &["undo"]);
    assert_eq!(outcome.code, 3, "{}", outcome.all());
    assert!(outcome.stderr.contains("another program changed block 10"), "{}", outcome.stderr);
    assert!(fs::read_to_string(&file).unwrap() == other);
    fs::write(&file, &text).unwrap();
    undo_all(&sandbox, &file);
    check_all(&sandbox, &file);
}

/// Returns true if the tests run as the superuser, who may mount file systems and change users.
#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_directory_is_reported() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    let directory = file.parent().unwrap();
    if is_root() {
        // The superuser may write everywhere, so another user has to try.
        fs::set_permissions(sandbox.home.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(sandbox.home.join(".aperture")).unwrap();
        chown(sandbox.home.join(".aperture"), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = sandbox.command(&["archive", "all", "-s", file.to_str().unwrap()]);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("denied") && said.contains("hint: the session is unchanged"), "{said}");
        }
        Err(error) => skipped(&format!("the program cannot run as another user: {error}")),
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(fs::read(&file).unwrap() == original);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_session_as_it_was() {
    use std::process::Command;
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let original = fs::read(&file).unwrap();
    // Room for the session and half of another one; then for a store that cannot grow.
    for (place, kilobytes) in [(file.parent().unwrap().to_owned(), 104), (sandbox.home.join(".aperture"), 64)] {
        fs::create_dir_all(&place).unwrap();
        let size = format!("size={kilobytes}k,mode=755");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(&place).output();
        if !mount.is_ok_and(|mount| mount.status.success()) {
            return skipped("a small file system cannot be mounted");
        }
        if !file.exists() {
            fs::write(&file, &original).unwrap();
        }
        let outcome = run(&sandbox, &file, &["archive", "all", "--no-cache"]);
        let now = fs::read(&file).unwrap();
        let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
        let unmounted = Command::new("umount").arg(&place).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
        assert_eq!(outcome.code, 1, "{}", outcome.all());
        assert!(now == original, "{}", outcome.all());
        assert!(left >= 1, "{left}");
        assert!(outcome.stderr.contains("space left") || outcome.stderr.contains("full"), "{}", outcome.stderr);
    }
}

/// Stands in for the locks of the C library: every lock fails, as on a file system without them.
#[cfg(target_os = "linux")]
const WITHOUT_LOCKS: &str = r"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int flock(int file, int operation) { (void)file; (void)operation; errno = ENOLCK; return -1; }
static int without_locks(int file, int command, long argument) {
    if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) { errno = ENOLCK; return -1; }
    return syscall(SYS_fcntl, file, command, argument);
}
#define ARGUMENT va_list list; va_start(list, command); long argument = va_arg(list, long); va_end(list)
int fcntl(int file, int command, ...) { ARGUMENT; return without_locks(file, command, argument); }
int fcntl64(int file, int command, ...) { ARGUMENT; return without_locks(file, command, argument); }
";

#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_locks_is_named_and_nobody_waits_for_it() {
    let sandbox = Sandbox::of("older-model");
    let file = sandbox.first_session();
    let source = sandbox.write("locks.c", WITHOUT_LOCKS);
    let library = source.with_extension("so");
    let compiled = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
    if !compiled.is_ok_and(|compiled| compiled.status.success()) {
        return skipped("there is no C compiler");
    }
    for has_store in [false, true] {
        let original = fs::read(&file).unwrap();
        for arguments in [&["archive", "kind(tool_result)"][..], &["log"], &["undo"], &["verify"], &["status"], &["usage"]] {
            let mut command = sandbox.command(arguments);
            command.env("LD_PRELOAD", &library);
            let output = finish(command).unwrap_or_else(|| panic!("{arguments:?} waits"));
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(text.contains("files cannot be locked there"), "{arguments:?}: {text}");
            if !matches!(arguments[0], "status" | "usage") {
                assert_eq!(output.status.code(), Some(1), "{arguments:?}");
                assert!(text.contains("hint: set APERTURE_HOME to a directory on a local disk"), "{arguments:?}: {text}");
            }
        }
        assert!(fs::read(&file).unwrap() == original);
        if !has_store {
            done(&sandbox, &file, &["archive", "kind(tool_result)"]);
        }
    }
}
