//! Tests plans and their effects.

use super::place::{Place, Step, shorten_all};
use super::sessions::{odd, small};
use super::*;
use crate::fsio::RealDisk;
use crate::model::{BlockKind, Level, OperationKind};
use crate::planning::{Addresses, MemoryRows, SpliceError, splice};
use std::fs;

#[test]
fn several_added_rows_are_undone_together() {
    for (name, bytes) in odd() {
        let place = Place::new(&bytes);
        place
            .change(&RealDisk, OperationKind::Change, None, |draft| {
                draft.note(NOTE, "one");
                draft.note(NOTE, "two");
                shorten_all(draft, Level::Archived).map(drop)
            })
            .unwrap();
        place.step(&RealDisk, Step::Undo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}");
        place.step(&RealDisk, Step::Redo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        place.step(&RealDisk, Step::Undo).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}");
    }
}

#[test]
fn the_way_to_the_original_gives_back_every_byte() {
    for (name, bytes) in odd() {
        let place = Place::new(&bytes);
        for step in [Step::Both, Step::Note, Step::Shorten(Level::Original), Step::Shorten(Level::Minimal), Step::Original] {
            place.step(&RealDisk, step).unwrap_or_else(|error| panic!("{name}: {step:?}: {error:#}"));
        }
        assert!(place.bytes() == bytes, "{name}");
        place.undo_all().unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(place.bytes() == bytes, "{name}: undo");
    }
}

#[test]
fn an_empty_session_is_refused_a_note() {
    for bytes in ["", "\n", "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n"] {
        let place = Place::new(bytes.as_bytes());
        assert!(place.step(&RealDisk, Step::Note).is_err());
        assert!(place.bytes() == bytes.as_bytes());
    }
}

fn is_temporary(entry: &io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "aperture"))
}

#[test]
fn a_value_that_changes_before_it_is_copied_is_not_lost() {
    let bytes = small("2.1.330");
    let place = Place::new(bytes.as_bytes());
    let workspace = place.open(&RealDisk).unwrap();
    let mut draft = workspace.draft(Some(&place.store), 1).unwrap();
    shorten_all(&mut draft, Level::Archived).unwrap();
    let plan = draft.finish(OperationKind::Change, "test", None, &|_| None, false).unwrap().into_plan();
    let session = &workspace.reading.session;
    let base = MemoryRows(bytes.as_bytes());
    let splice = splice(workspace.provider, session, &Addresses::new(session), &base, plan.base_bytes, &plan.edits, &[]).unwrap();
    let run = |bytes: &str| {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let outcome = splice.run(&mut bytes.as_bytes(), &mut |bytes| old.extend_from_slice(bytes), &mut |bytes| {
            new.extend_from_slice(bytes);
            Ok(())
        });
        outcome.map(|()| (old == bytes.as_bytes(), new.len() < old.len()))
    };
    assert_eq!(run(&bytes).unwrap(), (true, true));
    let other = bytes.replacen("result line 3", "RESULT line 3", 1);
    assert_ne!(other, bytes);
    assert!(matches!(run(&other), Err(SpliceError::Mismatch)));
    assert!(matches!(run(&bytes[..bytes.len() - 1]), Err(SpliceError::Mismatch)));
}

#[test]
fn a_plan_is_for_one_state_of_the_file() {
    let bytes = small("2.1.330");
    let place = Place::new(bytes.as_bytes());
    let other = bytes.replacen("prompt line 3", "PROMPT line 3", 1);
    let outcome = place.step_then(&RealDisk, Step::Both, |_| fs::write(&place.path, &other).unwrap());
    assert!(matches!(outcome.unwrap_err().downcast_ref(), Some(ApplyError::Changed)));
    assert!(place.bytes() == other.as_bytes());
    assert_eq!(fs::read_dir(place.path.parent().unwrap()).unwrap().filter(is_temporary).count(), 0);
    assert_eq!(place.settled(), []);
}

#[test]
fn the_key_of_a_plan_is_another_one_after_each_change_of_its_inputs() {
    let place = Place::new(small("2.1.330").as_bytes());
    let key = |aim: u32| place.open(&RealDisk).unwrap().plan_key(&aim).unwrap();
    let mut keys = vec![key(1), key(2)];
    assert_eq!(key(1), keys[0]);
    place.step(&RealDisk, Step::Shorten(Level::Archived)).unwrap();
    keys.push(key(1));
    place.step(&RealDisk, Step::Undo).unwrap();
    keys.push(key(1));
    place.append("{}");
    keys.push(key(1));
    let mut marked = place.open(&RealDisk).unwrap();
    let number = marked.reading.window.blocks[0];
    marked.reading.session.blocks[number as usize - 1].focused = true;
    keys.push(marked.plan_key(&1_u32).unwrap());
    let different: std::collections::BTreeSet<u128> = keys.iter().map(|key| key.0).collect();
    assert_eq!(different.len(), keys.len());
}

#[test]
fn a_change_that_is_reverted_within_its_plan_does_not_count() {
    let place = Place::new(small("2.1.330").as_bytes());
    let number = {
        let workspace = place.open(&RealDisk).unwrap();
        workspace
            .reading
            .in_window()
            .filter(|block| block.kind == BlockKind::ToolResult)
            .map(|block| block.number)
            .next()
            .unwrap()
    };
    let outcome = place.change(&RealDisk, OperationKind::Change, None, |draft| {
        let content = draft.content(number)?;
        draft.replace(number, Level::Archived, "gone", "")?;
        draft.replace(number, Level::Original, &content, "")
    });
    assert_eq!(outcome.unwrap(), None);
}
