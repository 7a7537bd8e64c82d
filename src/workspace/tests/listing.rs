//! Tests that the list of all sessions is correct, whatever is cached.

use super::list::{Listed, list, read_titles};
use super::*;
use crate::fsio::{Identity, RealDisk};
use crate::provider::{PROVIDERS, Places, Totals};
use crate::store::{Seal, TOTALS_FILE, TotalsCache, directory_and_name};
use crate::testing::{Fault, each_fault, fixtures};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A home with three sessions in two projects, and a cache.
struct Home {
    directory: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Home {
    fn new() -> Home {
        let directory = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = ["-one/a.jsonl", "-one/b.jsonl", "-two/c.jsonl"]
            .iter()
            .map(|name| directory.path().join(".claude/projects").join(name))
            .collect();
        for (file, fixture) in files.iter().zip(fixtures()) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::copy(fixture, file).unwrap();
        }
        // Another project than that of the others: the directory that each records decides.
        let text = fs::read_to_string(&files[2]).unwrap();
        fs::write(&files[2], text.replace("\"cwd\":\"", "\"cwd\":\"/two")).unwrap();
        fs::write(directory.path().join(TOTALS_FILE), "").unwrap();
        Home { directory, files }
    }

    fn cache(&self) -> TotalsCache {
        TotalsCache::at(self.directory.path(), &Seal::default())
    }

    fn list(&self, disk: &dyn Disk, cache: &TotalsCache, project: Option<&Project>) -> Option<BTreeMap<PathBuf, Totals>> {
        let places = Places { home: self.directory.path().to_owned(), ..Places::default() };
        let listed = list(disk, cache, &places, project, true, &mut |_, _| {}).ok()?;
        Some(listed.into_iter().flatten().map(|Listed { found, totals, .. }| (found.path, totals)).collect())
    }

    /// Returns the list without the cache.
    fn truth(&self) -> BTreeMap<PathBuf, Totals> {
        self.list(&RealDisk, &TotalsCache::default(), None).unwrap()
    }

    /// Returns true if the cache has the totals of a file in a state.
    fn knows(&self, file: &Path, identity: &Identity) -> bool {
        let (directory, name) = directory_and_name(file).unwrap();
        self.cache().read(&RealDisk).of_directory(directory).take(name, identity).is_some()
    }

    /// Appends a copy of the last row to a file.
    fn grow(&self, file: &Path) {
        let bytes = fs::read(file).unwrap();
        let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        fs::write(file, [&bytes[..], &bytes[last..]].concat()).unwrap();
    }
}

#[test]
fn a_title_that_could_hold_a_credential_is_read_once_it_is_wanted_and_never_kept_unmasked() {
    let home = Home::new();
    let row = |id: u32, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{id}\",\"sessionId\":\"s\",\"timestamp\":\"2026-11-21T10:00:0{id}Z\",\"message\":{{\"role\":\"user\",\
             \"content\":\"{text}\"}}}}\n"
        )
    };
    fs::write(&home.files[0], row(1, "log in with hunter2x7yz") + &row(2, "password: hunter2x7yz")).unwrap();
    let truth = home.truth();
    assert_eq!(truth[&home.files[0]].title, "log in with [secret:password]");
    let places = Places { home: home.directory.path().to_owned(), ..Places::default() };
    let list = |titles| {
        let listed = list(&RealDisk, &home.cache(), &places, None, titles, &mut |_, _| {}).unwrap();
        listed.into_iter().flatten().collect::<Vec<Listed>>()
    };
    for _ in 0..2 {
        let listed = list(false);
        let first = listed.iter().find(|listed| listed.found.path == home.files[0]).unwrap();
        assert!(first.totals.untitled && first.totals.title.is_empty());
        assert!(memchr::memmem::find(&fs::read(home.directory.path().join(TOTALS_FILE)).unwrap(), b"hunter2").is_none());
    }
    let mut listed = list(false);
    read_titles(&RealDisk, &home.cache(), &mut listed.iter_mut().collect::<Vec<_>>());
    let read =
        |listed: Vec<Listed>| listed.into_iter().map(|listed| (listed.found.path, listed.totals)).collect::<BTreeMap<_, _>>();
    assert_eq!(read(listed), truth);
    assert_eq!(read(list(false)), truth, "the cache has the title now");
    fs::write(home.directory.path().join(TOTALS_FILE), "").unwrap();
    list(false);
    assert_eq!(read(list(true)), truth, "an untitled session is read again where titles are wanted");
}

#[test]
fn a_list_of_all_sessions_forgets_deleted_ones() {
    let home = Home::new();
    let identities: Vec<Identity> = home.files.iter().map(|file| RealDisk.identify(file).unwrap()).collect();
    let known = || home.files.iter().zip(&identities).map(|(file, identity)| home.knows(file, identity)).collect::<Vec<_>>();
    home.list(&RealDisk, &home.cache(), None).unwrap();
    assert_eq!(known(), [true, true, true]);
    fs::remove_file(&home.files[0]).unwrap();
    home.grow(&home.files[2]);
    // A list of one project does not include the others.
    let found =
        Found { provider: PROVIDERS[0], path: home.files[2].clone(), location: PROVIDERS[0].locate(&home.files[2]).unwrap() };
    let project = Project::of_session(&RealDisk, &found);
    assert_eq!(home.list(&RealDisk, &home.cache(), Some(&project)).unwrap().len(), 1);
    assert_eq!(known(), [true, true, false]);
    home.grow(&home.files[2]);
    assert_eq!(home.list(&RealDisk, &home.cache(), None).unwrap().len(), 2);
    assert_eq!(known(), [false, true, false]);
}

#[test]
fn a_list_of_one_home_leaves_what_is_known_of_another() {
    let (home, other) = (Home::new(), Home::new());
    let identity = RealDisk.identify(&home.files[0]).unwrap();
    home.list(&RealDisk, &home.cache(), None).unwrap();
    assert_eq!(other.list(&RealDisk, &home.cache(), None).unwrap(), other.truth());
    assert!(home.knows(&home.files[0], &identity));
    assert!(home.knows(&other.files[0], &RealDisk.identify(&other.files[0]).unwrap()));
}

#[test]
fn a_fault_at_any_call_of_the_disk_never_gives_a_wrong_list() {
    let calls = each_fault(&[Fault::Once, Fault::Lasting], 1, |_, disk, case| {
        let home = Home::new();
        home.list(&RealDisk, &home.cache(), None).unwrap();
        home.grow(&home.files[0]);
        let truth = home.truth();
        let listed = home.list(disk, &home.cache(), None);
        for (path, totals) in listed.iter().flatten() {
            assert_eq!(*totals, truth[path], "{case}");
        }
        assert_eq!(home.list(&RealDisk, &home.cache(), None).unwrap(), truth, "after {case}");
        listed.is_some()
    });
    assert!(calls >= 12, "only {calls} calls");
}
