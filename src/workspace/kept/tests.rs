#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::*;
use crate::fsio::{OpenFile, RealDisk};
use crate::testing::{Fault, all_or, catch, each_fault, files_below};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// A home of Claude Code with one session, and a data directory.
struct Home {
    directory: TempDir,
    places: Places,
}

impl Home {
    fn new(session: &[u8]) -> Home {
        let directory = tempfile::tempdir().unwrap();
        let places = Places { home: directory.path().join("home"), ..Places::default() };
        let home = Home { directory, places };
        home.write(&format!("{ID}.jsonl"), session);
        home
    }

    fn project(&self) -> PathBuf {
        self.places.home.join(".claude/projects/-p")
    }

    /// Writes a file of the client; each write has a later time.
    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let seconds =
            fs::metadata(&path).map_or(1000, |old| old.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_secs() + 1);
        fs::write(&path, bytes).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    /// Writes the files beside the session.
    fn write_companions(&self) {
        self.write(&format!("{ID}/subagents/agent-0a.jsonl"), b"{}\n");
        self.write(&format!("{ID}/tool-results/toolu_1.txt"), b"an output");
        self.write(&format!("{ID}/tool-results/odd.zst"), b"not compressed");
        self.write("memory/MEMORY.md", b"a memory");
    }

    fn session(&self) -> Found {
        let path = self.project().join(format!("{ID}.jsonl"));
        Found::announced(&path).unwrap()
    }

    fn copies<'a>(&'a self, disk: &'a dyn Disk) -> KeptCopies<'a> {
        KeptCopies::new(disk, &self.places, self.directory.path())
    }

    fn keep(&self) -> CopyOutcome {
        let outcome = self.copies(&RealDisk).keep(&self.session()).unwrap();
        assert!(outcome.failed.is_empty(), "{outcome:?}");
        outcome
    }

    fn copy(&self) -> Found {
        let all = self.copies(&RealDisk).all();
        all.into_iter().map(|(found, _)| found).find(|found| found.location.id == ID).unwrap()
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.project())
    }

    /// Returns the contents of all copies, unpacked. A temporary file is left out.
    fn kept(&self) -> Vec<Vec<u8>> {
        let copies = files_below(&self.directory.path().join(FOLDER)).into_iter();
        let unpacked = copies
            .filter(|(path, _)| !is_temporary(path))
            .map(|(path, bytes)| zstd::decode_all(&*bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        unpacked.collect()
    }

    fn delete(&self) {
        fs::remove_dir_all(self.project()).unwrap();
    }
}

/// Restores a session from its copies, and returns the states of its files.
fn restore(
    home: &Home,
    disk: &dyn Disk,
    copy: &Found,
    older: Option<usize>,
    force: bool,
) -> Result<Vec<RestoredState>, KeepError> {
    let copies = home.copies(disk);
    let restoration = copies.restoration(copy, older, force)?;
    copies.restore(&restoration)?;
    Ok(restoration.files().map(|file| file.state).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_session_is_restored_byte_for_byte(
        session in prop::collection::vec(any::<u8>(), 0..3000),
        output in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let home = Home::new(&session);
        home.write_companions();
        home.write(&format!("{ID}/tool-results/any.bin"), &output);
        let before = home.files();
        prop_assert_eq!(home.keep().copied, 6);
        prop_assert_eq!(home.keep().copied, 0);
        home.delete();
        let restored = restore(&home, &RealDisk, &home.copy(), None, false).unwrap();
        prop_assert!(restored.iter().all(|state| *state == RestoredState::Written));
        prop_assert_eq!(home.files(), before);
    }
}

#[test]
fn a_copy_follows_its_session_and_loses_nothing() {
    let home = Home::new(b"one\n");
    home.keep();
    home.write(&format!("{ID}.jsonl"), b"one\ntwo\n");
    home.keep();
    assert_eq!(home.kept(), [b"one\ntwo\n"], "the session grew");
    home.write(&format!("{ID}.jsonl"), b"one\n");
    home.keep();
    assert_eq!(home.kept(), [&b"one\n"[..], b"one\ntwo\n"], "the session was cut");
    home.write(&format!("{ID}.jsonl"), b"other\n");
    home.keep();
    let copies = home.copies(&RealDisk);
    let older = copies.older(&home.copy().path);
    let read = |path: &PathBuf| zstd::decode_all(&*fs::read(path).unwrap()).unwrap();
    assert_eq!(older.iter().map(read).collect::<Vec<_>>(), [&b"one\n"[..], b"one\ntwo\n"], "newest first");
    assert_eq!(copies.all().len(), 1, "older copies are not sessions");
    home.delete();
    restore(&home, &RealDisk, &home.copy(), Some(2), false).unwrap();
    assert_eq!(fs::read(home.session().path).unwrap(), b"one\ntwo\n");
    let missing = restore(&home, &RealDisk, &home.copy(), Some(3), false);
    assert!(matches!(missing, Err(KeepError::NoSuchCopy(2))), "{missing:?}");
    assert_eq!(copies.forget(&home.copy()).unwrap(), 3);
    assert!(home.kept().is_empty());
}

#[test]
fn a_change_that_keeps_the_time_is_copied() {
    let home = Home::new(b"one\n");
    home.keep();
    let path = home.session().path;
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::write(&path, b"two\n").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let state = || home.copies(&RealDisk).state(&home.session(), &RealDisk.identify(&path).unwrap());
    assert_eq!(state(), if cfg!(unix) { CopyState::Outdated } else { CopyState::Current });
    #[cfg(unix)]
    {
        home.keep();
        assert_eq!(home.kept().len(), 2);
        assert_eq!(state(), CopyState::Current);
    }
}

#[test]
fn an_existing_file_is_replaced_only_by_force_and_then_kept() {
    let home = Home::new(b"one\n");
    home.write_companions();
    home.keep();
    home.write(&format!("{ID}.jsonl"), b"another\n");
    home.write("memory/MEMORY.md", b"a newer memory");
    let before = home.files();
    let refused = restore(&home, &RealDisk, &home.copy(), None, false);
    assert!(matches!(refused, Err(KeepError::Exists(_))), "{refused:?}");
    home.copies(&RealDisk).restoration(&home.copy(), None, true).unwrap();
    assert_eq!(home.files(), before, "nothing is written yet");
    let restored = restore(&home, &RealDisk, &home.copy(), None, true).unwrap();
    let with = |wanted| restored.iter().filter(|state| **state == wanted).count();
    assert_eq!((with(RestoredState::Replaced), with(RestoredState::Newer), with(RestoredState::Same)), (1, 1, 3));
    assert_eq!(fs::read(home.session().path).unwrap(), b"one\n");
    assert_eq!(fs::read(home.project().join("memory/MEMORY.md")).unwrap(), b"a newer memory");
    let kept = home.kept();
    assert!(kept.contains(&b"one\n".to_vec()) && kept.contains(&b"another\n".to_vec()));
}

/// The real disk; notes the files that are opened for reading.
#[derive(Default)]
struct NotingDisk(Mutex<Vec<PathBuf>>);

impl Disk for NotingDisk {
    fn below(&self) -> &dyn Disk {
        &RealDisk
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        self.0.lock().unwrap().push(path.to_owned());
        RealDisk.open(path, offset)
    }
}

#[test]
fn a_restoration_reads_each_copy_once() {
    let home = Home::new(b"one\n");
    home.write_companions();
    home.keep();
    for state in [RestoredState::Same, RestoredState::Written] {
        let disk = NotingDisk::default();
        assert_eq!(restore(&home, &disk, &home.copy(), None, true).unwrap(), [state; 5]);
        let mut opened = disk.0.into_inner().unwrap();
        opened.retain(|path| path.starts_with(home.directory.path().join(FOLDER)));
        let all: HashSet<&PathBuf> = opened.iter().collect();
        assert_eq!((opened.len(), all.len()), (5, 5), "{state:?}: {opened:?}");
        home.delete();
    }
}

#[test]
fn codex_sessions_are_kept_under_any_name() {
    let home = Home::new(b"");
    let uuid = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
    let name = format!("rollout-2026-04-11T14-53-51-{uuid}.jsonl");
    let codex = home.places.home.join(".codex");
    let packed = codex.join(format!("sessions/2026/04/11/{name}.zst"));
    fs::create_dir_all(packed.parent().unwrap()).unwrap();
    fs::write(&packed, zstd::encode_all(&b"a rollout\n"[..], 3).unwrap()).unwrap();
    let provider = crate::provider::by_name("codex").unwrap();
    let found = Found { provider, location: provider.locate(&packed).unwrap(), path: packed.clone() };
    let copies = home.copies(&RealDisk);
    assert_eq!(copies.keep(&found).unwrap().copied, 1);
    assert_eq!(copies.orphans().len(), 0);
    let archived = codex.join(format!("archived_sessions/{name}.zst"));
    fs::create_dir_all(archived.parent().unwrap()).unwrap();
    fs::rename(&packed, &archived).unwrap();
    assert_eq!(copies.orphans().len(), 0, "it was moved");
    fs::remove_file(&archived).unwrap();
    let orphans = copies.orphans();
    assert_eq!(orphans.len(), 1);
    restore(&home, &RealDisk, &orphans[0].0, None, false).unwrap();
    assert_eq!(fs::read(packed.with_extension("")).unwrap(), b"a rollout\n");
    assert_eq!(copies.retention_days(provider), None);
}

#[test]
fn a_session_elsewhere_is_refused() {
    let home = Home::new(b"{}\n");
    let path = home.directory.path().join("s.jsonl");
    fs::write(&path, b"{}\n").unwrap();
    let found = Found { path, ..home.session() };
    assert!(matches!(home.copies(&RealDisk).keep(&found), Err(KeepError::Elsewhere(_))));
}

#[test]
fn the_settings_of_the_client_decide_when_a_session_is_deleted() {
    let home = Home::new(b"{}\n");
    let days = |settings: &str| {
        fs::write(home.places.home.join(".claude/settings.json"), settings).unwrap();
        home.copies(&RealDisk).retention_days(home.session().provider)
    };
    assert_eq!(home.copies(&RealDisk).retention_days(home.session().provider), Some(30));
    assert_eq!(days(r#"{"cleanupPeriodDays": 90}"#), Some(90));
    assert_eq!(days(r#"{"cleanupPeriodDays": 0}"#), Some(0));
    assert_eq!(days(r#"{"cleanupPeriodDays": -1}"#), Some(30));
    assert_eq!(days("{"), Some(30));
    let left = |age: i64| days_left(1_000_000_000_000_000_000, 30, 1_000_000_000_000 + age);
    assert_eq!(
        [
            left(0),
            left(1),
            left(DAY_MILLISECONDS),
            left(29 * DAY_MILLISECONDS + 1),
            left(30 * DAY_MILLISECONDS),
            left(99 * DAY_MILLISECONDS)
        ],
        [30, 30, 29, 1, 0, 0]
    );
}

/// Makes each call of a sample of those of the disk fail, or kills the program there, until the run succeeds.
fn with_each_fault(make: impl Fn() -> Home, run: impl Fn(&Home, &dyn Disk) -> bool, check: impl Fn(&Home, &str)) {
    each_fault(&[Fault::Once, Fault::Killed], all_or(1, 3), |_, disk, case| {
        let home = make();
        let done = catch(|| run(&home, disk));
        check(&home, &format!("{case}, {done:?}"));
        done == Some(true)
    });
}

#[test]
fn a_fault_while_a_session_is_copied_loses_nothing() {
    let make = |old: &'static [u8]| {
        move || {
            let home = Home::new(old);
            home.write_companions();
            home.keep();
            home.write(&format!("{ID}.jsonl"), b"new\n");
            home
        }
    };
    for old in [&b"new"[..], b"an old one\n"] {
        with_each_fault(
            make(old),
            |home, disk| home.copies(disk).keep(&home.session()).is_ok_and(|outcome| outcome.failed.is_empty()),
            |home, what| {
                let (kept, new) = (home.kept(), b"new\n".to_vec());
                assert!(kept.contains(&old.to_vec()) || kept.iter().any(|copy| *copy == new && copy.starts_with(old)), "{what}");
                assert_eq!(fs::read(home.session().path).unwrap(), new, "{what}");
                home.copies(&RealDisk).clean();
                home.keep();
                assert!(home.kept().contains(&new), "{what}");
            },
        );
    }
}

#[test]
fn a_fault_while_a_session_is_restored_loses_nothing() {
    let deleted = || {
        let home = Home::new(b"one\n");
        home.write_companions();
        home.keep();
        home.delete();
        home
    };
    let replaced = || {
        let home = deleted();
        home.write(&format!("{ID}.jsonl"), b"another\n");
        home
    };
    let run = |home: &Home, disk: &dyn Disk| restore(home, disk, &home.copy(), None, true).is_ok();
    with_each_fault(deleted, run, |home, what| {
        let session = fs::read(home.session().path).ok();
        assert!(session.is_none_or(|bytes| bytes == b"one\n" && home.files().len() >= 5), "{what}");
        restore(home, &RealDisk, &home.copy(), None, false).unwrap();
        assert_eq!(fs::read(home.session().path).unwrap(), b"one\n", "{what}");
    });
    with_each_fault(replaced, run, |home, what| {
        let now = fs::read(home.session().path).unwrap();
        let kept = home.kept();
        let is_there = |bytes: &[u8]| now == bytes || kept.iter().any(|copy| copy == bytes);
        assert!(is_there(b"one\n") && is_there(b"another\n"), "{what}: {now:?}");
    });
}
