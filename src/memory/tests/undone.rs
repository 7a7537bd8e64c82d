#![expect(clippy::disallowed_methods, reason = "tests change files")]

use super::*;
use crate::model::Memory;

fn edit(place: &Place, id: u32, text: &str) -> u32 {
    let change = &mut |tree: &mut Tree| tree.set(Memory { text: text.to_owned(), ..tree.find(id).unwrap().clone() }).map(drop);
    place.change(change).unwrap().operation.unwrap()
}

#[test]
fn undo_restores_exact_bytes_and_can_be_undone() {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs")]);
    let first = place.files();
    place.learn(&[prefs(2, "ask first"), candidate(3, "x fails", MemoryFile::Gotchas)]);
    let second = place.files();
    place.change(&mut |tree| tree.forget(1, NOW).map(drop)).unwrap();
    let third = place.files();
    for (number, files) in [(3, &second), (2, &first)] {
        assert_eq!((place.undo(None).unwrap(), &place.files()), (number, files));
    }
    assert_eq!(place.undo(None).unwrap(), 1);
    assert_eq!(place.files().len(), 0);
    assert!(matches!(place.undo(None), Err(MemoryError::NothingToUndo)));
    assert!(matches!(place.undo(Some(2)), Err(MemoryError::AlreadyUndone { operation: 2, by: 5 })));
    assert!(matches!(place.undo(Some(99)), Err(MemoryError::NoOperation(99))));
    for (undo, files) in [(6, &first), (5, &second), (4, &third)] {
        place.undo(Some(undo)).unwrap();
        assert_eq!(&place.files(), files);
    }
    assert_eq!(place.undo(None).unwrap(), 3, "in force again");
}

#[test]
fn undo_of_an_older_operation_reverts_its_entries() {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs"), prefs(2, "ask first")]);
    place.learn(&[prefs(3, "write tests")]);
    let path = place.path(&MemoryFile::UserPrefs);
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\nmy own words\n").unwrap();
    place.undo(Some(1)).unwrap();
    assert_eq!(place.texts(), ["write tests"]);
    assert!(fs::read_to_string(&path).unwrap().ends_with("\nmy own words\n"));
    place.undo(Some(3)).unwrap();
    let mut texts = place.texts();
    texts.sort();
    assert_eq!(texts, ["ask first", "use tabs", "write tests"]);
}

#[test]
fn undo_refuses_what_was_changed_since_and_names_it() {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs"), prefs(2, "ask first")]);
    let later = edit(&place, 1, "use spaces");
    place.learn(&[prefs(3, "write tests")]);
    let error = place.undo(Some(1)).unwrap_err();
    assert_eq!(error.to_string(), format!("operation {later} changed memory-1 after operation 1"));
    assert!(error.is_conflict());
    let files = place.files();
    let path = place.path(&MemoryFile::UserPrefs);
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("use spaces", "use both")).unwrap();
    let error = place.undo(Some(later)).unwrap_err();
    assert_eq!(error.to_string(), format!("memory-1 was edited by hand after operation {later}"));
    assert_eq!(place.texts()[0], "use both");
    fs::write(&path, &files[&path]).unwrap();
    place.undo(Some(later)).unwrap();
    assert_eq!(place.texts(), ["use tabs", "ask first", "write tests"]);
    place.undo(Some(1)).unwrap();
    assert_eq!(place.texts(), ["write tests"]);
}
