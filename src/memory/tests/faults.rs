//! A change of a tree while each call of the disk fails in turn: the tree is as before or after, and the log agrees.

use super::*;
use crate::engine::memory::Feedback;
use crate::testing::{Fault, all_or, catch};
use std::sync::atomic::Ordering;

fn prepared() -> Place {
    let place = Place::new();
    place.learn(&[prefs(1, "use tabs"), candidate(2, "x fails", MemoryFile::Gotchas)]);
    place
}

/// Changes two files, deletes an entry, and makes two new files.
fn change(tree: &mut Tree) -> Result<(), MemoryError> {
    let new = [
        prefs(3, "ask first"),
        candidate(4, "y fails", MemoryFile::Gotchas),
        candidate(5, "tag, push", MemoryFile::workflow("release")),
    ];
    tree.merge(&new, &Feedback::default(), NOW)?;
    tree.forget(1, NOW).map(drop)
}

fn check(step: &dyn Fn(&Place, &dyn Disk) -> Result<(), MemoryError>, before: &dyn Fn() -> Place) {
    let (old, new) = {
        let place = before();
        let old = place.files();
        step(&place, &RealDisk).unwrap();
        (contents(&old), contents(&place.files()))
    };
    assert_ne!(old, new);
    let stride = all_or(1, 3);
    for (offset, fault) in [Fault::Once, Fault::Lasting, Fault::Killed].into_iter().enumerate() {
        let mut faults = offset % stride;
        // Each round ends with the state in which it began.
        let place = before();
        loop {
            let known = place.log().len();
            let disk = fault.disk(faults);
            let outcome = catch(|| step(&place, &disk));
            let case = format!("call {faults} {fault:?}: {outcome:?}");
            // Settling may fail too, any number of times.
            for call in 0..6 {
                let disk = fault.disk(call);
                let _ = catch(|| place.settle(&disk));
            }
            place.settle(&RealDisk).unwrap();
            let now = contents(&place.files());
            assert!(now == old || now == new, "{case}: {:?}", now.keys());
            assert_eq!(place.log().len() > known, now == new, "{case}: the log does not agree with the tree");
            if matches!(outcome, Some(Ok(()))) {
                assert!(now == new, "{case}");
            }
            if now == new {
                place.undo(place.log().last().copied()).unwrap();
                assert_eq!(contents(&place.files()), old, "{case}: undo");
            }
            if disk.calls.load(Ordering::SeqCst) <= faults {
                break;
            }
            faults += stride;
        }
        assert!(faults > 30, "only {faults} calls");
    }
}

/// The files by their names: each run has another directory.
fn contents(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(path, bytes)| (path.file_name().unwrap().to_string_lossy().into_owned(), bytes.clone())).collect()
}

#[test]
fn a_fault_at_any_call_leaves_the_tree_before_or_after_the_change() {
    check(&|place, disk| place.change_on(disk, &mut change).map(drop), &prepared);
}

#[test]
fn a_fault_at_any_call_of_an_undo_leaves_the_tree_before_or_after_it() {
    let undo_it = |place: &Place, disk: &dyn Disk| {
        place.on(disk, |machine| undo(machine, &place.store, &place.tree, None, &logged("undo"))).map(drop)
    };
    let changed = || {
        let place = prepared();
        place.change(&mut change).unwrap();
        place
    };
    check(&undo_it, &changed);
}

#[test]
fn a_store_that_cannot_be_written_leaves_the_tree_unchanged() {
    let place = prepared();
    let old = place.files();
    let other = rusqlite::Connection::open(place.root.path().join("data").join(crate::store::STORE_FILE)).unwrap();
    for trigger in ["BEFORE INSERT ON memory_operations", "BEFORE INSERT ON memory_changes", "BEFORE INSERT ON memory_contents"] {
        other.execute_batch(&format!("CREATE TRIGGER fault {trigger} BEGIN SELECT RAISE(ABORT, 'full'); END")).unwrap();
        assert!(matches!(place.change(&mut change), Err(MemoryError::Store(_))), "{trigger}");
        assert_eq!(place.files(), old, "{trigger}");
        other.execute_batch("DROP TRIGGER fault").unwrap();
    }
    // Only the commit fails: the next opening settles it.
    other
        .execute_batch("CREATE TRIGGER fault BEFORE UPDATE ON memory_operations BEGIN SELECT RAISE(ABORT, 'full'); END")
        .unwrap();
    assert!(place.change(&mut change).is_err());
    other.execute_batch("DROP TRIGGER fault").unwrap();
    assert_eq!(place.log().len(), 1);
    place.settle(&RealDisk).unwrap();
    assert_eq!(place.log().len(), 2);
}
