//! Tests that a change is safe if the disk, the store or the program itself fails.

use super::place::{Place, Step};
use super::sessions::{sized, small};
use super::*;
use crate::fsio::RealDisk;
use crate::fsio::failing::FailingDisk;
use crate::model::{Level, OperationState};
use crate::testing::{Fault, all_or, catch, each_fault};
use std::sync::atomic::Ordering;

/// Lets each disk call of a step fail in turn, and checks the resulting state.
fn check_faults(name: &str, bytes: &[u8], before: &[Step], step: Step, ways: &[Fault]) {
    let prepared = || {
        let place = Place::new(bytes);
        for step in before {
            place.step(&RealDisk, *step).unwrap();
        }
        place
    };
    let (old, new) = {
        let place = prepared();
        let old = place.bytes();
        assert!(place.step(&RealDisk, step).unwrap().is_some(), "{name}: nothing to do");
        (old, place.bytes())
    };
    assert_ne!(old, new, "{name}");
    let calls = each_fault(ways, all_or(1, 6), |fault, disk, case| {
        let place = prepared();
        let known = place.history().operations.len();
        let outcome = catch(|| place.step(disk, step));
        let case = format!("{name}: {before:?} {step:?}, {case}: {outcome:?}");
        let now = place.bytes();
        assert!(now == old || now == new, "{case}");
        if matches!(outcome, Some(Ok(_))) {
            assert!(now == new, "{case}");
        }
        // Settling may fail too, any number of times.
        for call in 0..6 {
            let disk = fault.disk(call);
            catch(|| settle(&disk, &place.store, &place.path).map_err(anyhow::Error::from));
        }
        let operations = place.settled();
        assert_eq!(operations.len() > known, now == new, "{case}: the log does not agree with the file");
        assert!(operations.iter().all(|operation| operation.state == OperationState::Committed), "{case}");
        if now == new && step != Step::Undo {
            place.step(&RealDisk, Step::Undo).unwrap();
            assert!(place.bytes() == old, "{case}: undo");
        }
        place.undo_all().unwrap();
        assert!(place.bytes() == bytes, "{case}: undo of everything");
        assert_eq!(place.store.check().unwrap(), Vec::<String>::new());
        matches!(outcome, Some(Ok(_)))
    });
    assert!(calls > 10, "{name}: only {calls} calls");
}

#[test]
fn a_fault_at_any_call_leaves_the_old_or_the_new_file_and_a_log_that_agrees() {
    let plain = sized("2.1.330", 6);
    let all = [Fault::Once, Fault::Lasting, Fault::Killed];
    check_faults("plain", plain.as_bytes(), &[], Step::Both, &all);
    check_faults("plain", plain.as_bytes(), &[Step::Both], Step::Undo, &all);
    check_faults("plain", plain.as_bytes(), &[Step::Shorten(Level::Minimal), Step::Undo], Step::Redo, &[Fault::Killed]);
    let unended = plain.trim_end();
    check_faults("no final line feed", unended.as_bytes(), &[], Step::Both, &[Fault::Killed]);
    check_faults("no final line feed", unended.as_bytes(), &[Step::Both], Step::Undo, &[Fault::Killed]);
}

#[test]
fn undo_of_a_note_is_settled_although_the_prefix_of_the_file_is_ambiguous() {
    let plain = sized("2.1.330", 6);
    for (name, bytes) in [("plain", plain.as_bytes()), ("no final line feed", plain.trim_end().as_bytes())] {
        check_faults(name, bytes, &[Step::Note], Step::Undo, &[Fault::Killed]);
    }
}

#[test]
fn a_store_that_cannot_be_written_leaves_the_session_unchanged() {
    let bytes = small("2.1.330").into_bytes();
    let place = Place::new(&bytes);
    place.step(&RealDisk, Step::Note).unwrap();
    let old = place.bytes();
    let other = rusqlite::Connection::open(place.directory.path().join(crate::store::STORE_FILE)).unwrap();
    // Each trigger makes a different statement of the log fail.
    for trigger in ["BEFORE INSERT ON originals", "BEFORE INSERT ON operations", "BEFORE INSERT ON edits"] {
        other.execute_batch(&format!("CREATE TRIGGER fault {trigger} BEGIN SELECT RAISE(ABORT, 'full'); END")).unwrap();
        let error = place.step(&RealDisk, Step::Both).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(ApplyError::Store(_))), "{trigger}: {error:#}");
        assert!(place.bytes() == old, "{trigger}");
        other.execute_batch("DROP TRIGGER fault").unwrap();
        assert_eq!(place.settled().len(), 1, "{trigger}");
    }
    // The operation is logged and the file replaced; only the commit in the log is missing.
    other.execute_batch("CREATE TRIGGER fault BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'full'); END").unwrap();
    assert!(place.step(&RealDisk, Step::Both).is_err());
    assert!(place.bytes() != old);
    assert!(settle(&RealDisk, &place.store, &place.path).is_err());
    other.execute_batch("DROP TRIGGER fault").unwrap();
    assert_eq!(place.settled().len(), 2);
    // Both the rename and the log fail: the prepared operation was never done.
    let now = place.bytes();
    let calls = {
        let place = Place::new(&bytes);
        let disk = FailingDisk::new(usize::MAX, false);
        place.step(&disk, Step::Undo).ok();
        disk.calls.load(Ordering::SeqCst)
    };
    for fault in 0..calls + 20 {
        other.execute_batch("CREATE TRIGGER fault BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'full'); END").unwrap();
        let outcome = place.step(&FailingDisk::new(fault, true), Step::Undo);
        other.execute_batch("DROP TRIGGER fault").unwrap();
        let known = place.settled().len();
        if place.bytes() == now {
            assert_eq!(known, 2, "call {fault}: {outcome:?}");
        } else {
            assert_eq!(known, 3, "call {fault}: {outcome:?}");
            break;
        }
    }
    place.undo_all().unwrap();
    assert!(place.bytes() == bytes);
    assert_eq!(place.store.check().unwrap(), Vec::<String>::new());
}
