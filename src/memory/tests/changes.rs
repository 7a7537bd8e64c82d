#![expect(clippy::disallowed_methods, reason = "tests change files")]

use super::*;
use crate::engine::memory::{ChangeKind, FORGOTTEN_FILE};
use crate::model::{Memory, MemoryState};

#[test]
fn a_tree_is_made_by_its_first_memory_and_is_private() {
    let place = Place::new();
    let updated = place.learn(&[prefs(1, "use tabs"), candidate(2, "`rg` is missing", MemoryFile::Gotchas)]);
    assert_eq!(updated.operation, Some(1));
    assert_eq!(
        updated.changes.iter().map(|change| (change.kind, change.memory.id)).collect::<Vec<_>>(),
        [(ChangeKind::Added, 2), (ChangeKind::Added, 1)]
    );
    assert_eq!(place.texts(), ["`rg` is missing", "use tabs"]);
    assert_eq!(place.learn(&[prefs(1, "use tabs")]).operation, None, "nothing changed");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = place.path(&MemoryFile::UserPrefs);
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        let shared = Place::in_project();
        shared.learn(&[prefs(1, "use tabs")]);
        let file = shared.path(&MemoryFile::UserPrefs);
        assert_eq!(mode(&file) & 0o400, 0o400);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
        shared.learn(&[prefs(2, "write tests")]);
        assert_eq!(mode(&file), 0o664);
    }
}

#[test]
fn hand_edits_are_kept_and_hand_deletions_stay_deleted() {
    let place = Place::new();
    let all = [prefs(1, "use tabs"), prefs(2, "write short commit messages"), prefs(3, "ask before a release")];
    place.learn(&all);
    let path = place.path(&MemoryFile::UserPrefs);
    let text = fs::read_to_string(&path).unwrap();
    let without: String = text.split("\n- ").filter(|part| !part.starts_with("write short")).collect::<Vec<_>>().join("\n- ");
    fs::write(&path, without.replace("use tabs", "use tabs, width 4") + "- mine\n").unwrap();
    place.learn(&all);
    assert_eq!(place.texts(), ["use tabs, width 4", "ask before a release", "mine"]);
    assert_eq!(place.read().forgotten(), [2]);
    // Also without the store, as in a clone.
    let clone = Place::new();
    fs::create_dir_all(clone.tree.directory.join("factual")).unwrap();
    fs::copy(&path, clone.path(&MemoryFile::UserPrefs)).unwrap();
    fs::copy(place.tree.directory.join(FORGOTTEN_FILE), clone.tree.directory.join(FORGOTTEN_FILE)).unwrap();
    clone.learn(&all);
    assert_eq!(clone.texts(), ["use tabs, width 4", "ask before a release", "mine"]);
    // A number is not used again.
    let updated = place.learn(&[prefs(9, "never push to main")]);
    assert_eq!(updated.changes[0].memory.id, 4);
    // A deleted file is a deletion of its entries.
    fs::remove_file(&path).unwrap();
    place.learn(&[candidate(20, "`rg` is missing", MemoryFile::Gotchas)]);
    place.learn(&all);
    assert_eq!(place.texts(), ["`rg` is missing"]);
}

#[test]
fn another_branch_in_git_deletes_nothing() {
    let place = Place::in_project();
    place.learn(&[prefs(1, "use tabs")]);
    let path = place.path(&MemoryFile::UserPrefs);
    let old = fs::read(&path).unwrap();
    place.learn(&[prefs(1, "use tabs"), prefs(2, "write short commit messages"), candidate(3, "x fails", MemoryFile::Gotchas)]);
    fs::write(&path, old).unwrap();
    fs::remove_file(place.path(&MemoryFile::Gotchas)).unwrap();
    place.learn(&[prefs(4, "ask before a release")]);
    assert_eq!(place.read().forgotten(), [0; 0]);
    place.learn(&[prefs(2, "write short commit messages"), candidate(3, "x fails", MemoryFile::Gotchas)]);
    assert_eq!(place.texts(), ["x fails", "use tabs", "ask before a release", "write short commit messages"]);
}

#[test]
fn files_of_others_and_other_files_stay() {
    let place = Place::new();
    let mine = place.tree.directory.join("operational/notes.md");
    fs::create_dir_all(mine.parent().unwrap()).unwrap();
    fs::write(&mine, "- mine\n").unwrap();
    let theirs = "# Theirs\r\n\r\n* one\r\n\r\nprose\r\n";
    fs::write(place.path(&MemoryFile::Gotchas), theirs).unwrap();
    place.learn(&[candidate(1, "`rg` is missing\nuse `grep`", MemoryFile::Gotchas)]);
    let text = fs::read_to_string(place.path(&MemoryFile::Gotchas)).unwrap();
    assert!(text.starts_with("# Theirs\r\n\r\n* one\r\n- `rg` is missing\r\n  use `grep`\r\n  <!-- memory-1 active"), "{text}");
    assert!(text.ends_with("-->\r\n\r\nprose\r\n") && !text.replace("\r\n", "").contains('\n'));
    assert_eq!(fs::read_to_string(mine).unwrap(), "- mine\n");
}

#[test]
fn files_that_cannot_be_changed_are_reported_and_the_others_are_used() {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs"), candidate(2, "x fails", MemoryFile::Gotchas)]);
    let path = place.path(&MemoryFile::Gotchas);
    let clean = fs::read_to_string(&path).unwrap();
    let conflict = format!("{clean}<<<<<<< HEAD\n- a\n  <!-- memory-7 active · fact -->\n=======\n- b\n>>>>>>> x\n");
    let long = "- a\n".repeat(3 << 20);
    for (bytes, reason) in [
        (conflict.as_bytes(), "it has a merge conflict"),
        (long.as_bytes(), "it has 12582912 bytes, and a memory file has at most 1048576"),
        (&[0xff, 0xfe, 0x00][..], "it is not UTF-8 text"),
    ] {
        fs::write(&path, bytes).unwrap();
        let tree = place.read();
        assert_eq!(tree.problems.iter().map(|problem| &*problem.reason).collect::<Vec<_>>(), [reason]);
        let candidates = [prefs(3, "ask first"), candidate(4, "y fails", MemoryFile::Gotchas)];
        place.learn(&candidates);
        assert_eq!(fs::read(&path).unwrap(), bytes, "unchanged");
        let id = place.read().memories().find(|memory| memory.text == "ask first").unwrap().id;
        assert!(id > if reason.contains("conflict") { 7 } else { 0 });
        let error = place.change(&mut |tree| tree.add("z", MemoryKind::Fact, MemoryFile::Gotchas, NOW).map(drop)).unwrap_err();
        assert_eq!(error.to_string(), format!("{} cannot be changed: {reason}", path.display()));
        assert_eq!(place.read().forgotten(), [0; 0]);
        place.undo(None).unwrap();
    }
    // Resolved: the entries are known again.
    fs::write(&path, &clean).unwrap();
    assert_eq!(place.learn(&[candidate(2, "x fails", MemoryFile::Gotchas)]).operation, None);
}

#[test]
fn numbers_that_two_branches_gave_are_told_apart() {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs")]);
    let path = place.path(&MemoryFile::UserPrefs);
    let text = fs::read_to_string(&path).unwrap();
    let entry = &text[text.find("- use").unwrap()..];
    fs::write(
        &path,
        format!("{text}{}", entry.replace("use tabs", "theirs").replace("key 0000000000000001", "key 0000000000000002")),
    )
    .unwrap();
    let ids = |tree: &Tree| tree.memories().map(|memory| (memory.id, memory.text.clone())).collect::<Vec<_>>();
    let expected = [(1, "use tabs".to_owned()), (2, "theirs".to_owned())];
    assert_eq!(ids(&place.read()), expected);
    place.change(&mut |tree| tree.set(Memory { helpful: 1, ..tree.find(2).unwrap().clone() }).map(drop)).unwrap();
    assert_eq!(ids(&place.read()), expected);
    assert!(fs::read_to_string(&path).unwrap().contains("memory-2 active"));
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_tree_are_not_followed() {
    let place = Place::in_project();
    place.learn(&[prefs(1, "use tabs")]);
    let target = place.root.path().join("profile");
    fs::write(&target, "- a\n").unwrap();
    let path = place.path(&MemoryFile::Gotchas);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    place.learn(&[candidate(2, "x fails", MemoryFile::Gotchas)]);
    assert_eq!(fs::read_to_string(&target).unwrap(), "- a\n");
    assert_eq!(place.read().problems[0].reason, "it is a link to a file outside");
}

#[test]
fn a_statement_is_added_once_and_is_the_persons() {
    let place = Place::new();
    let add = |text: &str| {
        let mut id = 0;
        place
            .change(&mut |tree| {
                id = tree.add(text, MemoryKind::Preference, MemoryFile::UserPrefs, NOW)?.id;
                Ok(())
            })
            .unwrap();
        id
    };
    assert_eq!((add("Use tabs."), add("use tabs"), add("Ask first.")), (1, 1, 2));
    place.change(&mut |tree| tree.forget(1, NOW).map(drop)).unwrap();
    assert_eq!((place.texts(), place.read().forgotten().len()), (vec!["Ask first.".to_owned()], 1));
    assert_eq!((add("Use tabs."), place.read().forgotten().len()), (3, 0));
    let error = place.change(&mut |tree| tree.forget(1, NOW).map(drop)).unwrap_err();
    assert_eq!(error.to_string(), "there is no memory 'memory-1'");
    let memory = place.read().find(3).unwrap().clone();
    assert!(memory.is_edited && memory.state == MemoryState::Active);
}
