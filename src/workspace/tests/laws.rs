//! Property tests: invariants of plans over any sequence of them.

use super::place::{Place, Step, WRITTEN};
use super::reading::{fresh, provider};
use super::sessions::{STATE, odd, small};
use super::*;
use crate::engine;
use crate::fsio::RealDisk;
use crate::model::{Level, MarkKind, OperationId, OperationKind, RowKind, Session};
use crate::testing::medium::{compress, shrink_all};
use crate::testing::{fixtures, law, sample};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

/// A user action; numbers are taken modulo the number of candidates.
#[derive(Clone, Debug)]
enum Act {
    Shorten { first: u32, count: u32, level: usize },
    Note,
    Mark { block: u32, focus: bool, value: Option<&'static str> },
    Undo,
    UndoAny(usize),
    Redo,
    RedoAny(usize),
    Restore(usize),
    Original,
    Fold(u32),
    Uncut,
    ShrinkFile,
    DigestFold,
    Budget(u64),
    Archive(u32),
    Grow,
    Talk,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..64u32, 1..12u32, 0..5usize).prop_map(|(first, count, level)| Act::Shorten { first, count, level }),
        1 => Just(Act::Note),
        2 => (0..64u32, any::<bool>(), prop::sample::select(vec![None, Some("here"), Some("top")]))
            .prop_map(|(block, focus, value)| Act::Mark { block, focus, value }),
        2 => Just(Act::Undo),
        2 => (0..8usize).prop_map(Act::UndoAny),
        2 => Just(Act::Redo),
        1 => (0..8usize).prop_map(Act::RedoAny),
        1 => (0..8usize).prop_map(Act::Restore),
        1 => Just(Act::Original),
        2 => (1..4u32).prop_map(Act::Fold),
        1 => Just(Act::Uncut),
        1 => Just(Act::ShrinkFile),
        1 => Just(Act::DigestFold),
        1 => (1..8u64).prop_map(Act::Budget),
        1 => (1..60u32).prop_map(Act::Archive),
        1 => Just(Act::Grow),
        1 => Just(Act::Talk),
    ]
}

/// Returns the properties of a session that depend only on its bytes.
fn essence(session: &Session) -> Vec<String> {
    let rows = session.rows.iter().map(|row| {
        // A partly written row is no longer the last one when a row is added.
        let event = row.event.as_deref().filter(|_| row.kind != RowKind::Broken);
        format!(
            "{:?} {:?} {:?} {:?} {} {} {:?} {event:?}",
            row.kind, row.id, row.parent, row.message, row.blocks, row.length, row.usage
        )
    });
    let blocks = session.blocks.iter().map(|block| {
        format!(
            "{} {} {} {:?} {:?} {:?} {} {:?} {:?} {} {:?}",
            block.number,
            block.row,
            block.index,
            block.kind,
            block.role,
            block.hash,
            block.bytes,
            block.counts,
            block.call,
            block.label,
            // A copy of a shortened block contains the marker of that block.
            block.marker.filter(|marker| marker.number == block.number)
        )
    });
    rows.chain(blocks).collect()
}

/// Returns the lines of a file that are not blank.
fn rows(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect()
}

fn inverted(history: &History, act: &Act) -> (OperationKind, Option<OperationId>) {
    let undone = |id: &OperationId| history.undone_by(*id).is_none();
    match act {
        Act::Undo => (OperationKind::Undo, history.undoable()),
        Act::UndoAny(which) => {
            let open: Vec<_> = history.operations.iter().map(|operation| operation.id).filter(undone).collect();
            (OperationKind::Undo, (!open.is_empty()).then(|| open[which % open.len()]))
        }
        Act::RedoAny(which) => {
            let undos = history.operations.iter().filter(|operation| operation.kind == OperationKind::Undo);
            let open: Vec<_> = undos.map(|operation| operation.id).filter(undone).collect();
            (OperationKind::Redo, (!open.is_empty()).then(|| open[which % open.len()]))
        }
        Act::Redo => (OperationKind::Redo, history.redoable()),
        _ => (OperationKind::Change, None),
    }
}

/// Plans an act; `inverts` is the operation that it inverts.
fn plan(draft: &mut Draft<'_>, history: &History, act: &Act, inverts: Option<OperationId>) -> Result<(), PlanError> {
    let blocks = draft.reading().session.blocks.len() as u32;
    match act {
        Act::Shorten { first, count, level } => {
            let range = first % blocks + 1..=(first % blocks + count).min(blocks);
            let wanted: BTreeMap<_, _> = range.map(|number| (number, Level::ALL[*level])).collect();
            shorten(draft, &wanted, "why", None)?;
        }
        Act::Note => draft.note(NOTE, "a note"),
        Act::Mark { block, focus, value } => {
            let number = block % blocks + 1;
            let kind = if *focus { MarkKind::Focus } else { MarkKind::Pin };
            match draft.mark(number, kind, value.map(str::to_owned)) {
                Ok(()) | Err(PlanError::Immutable(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Act::Original => draft.restore_to(0).map(drop)?,
        Act::Restore(which) => draft.restore_to((which % (history.operations.len() + 1)) as u32).map(drop)?,
        Act::Fold(turn) => draft.fold(*turn..=*turn, "a summary")?,
        Act::Uncut => draft.uncut()?,
        Act::ShrinkFile => drop(draft.shrink_file()?),
        Act::DigestFold => compress(draft, engine::preset("handoff").unwrap())?,
        Act::Budget(tenths) => {
            let budget = draft.reading().price.total.value as u64 * tenths / 10;
            match shrink_all(draft, Aim::Tokens(budget)) {
                Ok(()) | Err(PlanError::Budget { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Act::Archive(last) => drop(archive(draft, &(2..=(*last).min(blocks)).collect::<Vec<_>>(), "done")?),
        _ => {
            if let Some(id) = inverts {
                draft.toggle(history.operation(id).unwrap())?;
            }
        }
    }
    Ok(())
}

/// Performs an act, and checks that the file becomes what the plan predicted.
fn perform(place: &Place, act: &Act) -> anyhow::Result<()> {
    let history = place.history();
    let (kind, inverts) = inverted(&history, act);
    let old = place.bytes();
    let mut predicted = None;
    place.change_then(
        &RealDisk,
        kind,
        inverts,
        |draft| plan(draft, &history, act, inverts),
        |drafted| {
            let revision = &drafted.revision;
            let kept: Vec<(usize, usize)> = revision
                .was
                .iter()
                .enumerate()
                .filter(|(row, _)| !revision.edited.contains_key(&(*row as u32)))
                .filter_map(|(row, was)| Some((row, (*was)? as usize)))
                .collect();
            predicted = Some((essence(&revision.session), drafted.window.clone(), kept));
        },
    )?;
    let new = place.bytes();
    let (session, window, kept) = predicted.unwrap();
    let read = fresh(&place.path);
    let read = essence(&read);
    for (now, then) in read.iter().zip(&session) {
        assert_eq!(now, then, "{act:?}: the prediction");
    }
    assert_eq!(read.len(), session.len(), "{act:?}: the prediction");
    let now = place.open(&RealDisk)?.reading.window.clone();
    assert_eq!((&now.rows, &now.blocks), (&window.rows, &window.blocks), "{act:?}: the window");
    let (old, new) = (rows(&old), rows(&new));
    for (row, was) in kept {
        assert!(old[was] == new[row], "{act:?}: row {was} was not to be changed");
    }
    Ok(())
}

fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            PlanError::ChangedLater { .. }
                | PlanError::RemovedLater { .. }
                | PlanError::ChangedElsewhere(_)
                | PlanError::Gone
                | PlanError::NoTurns
                | PlanError::LastTurn
                | PlanError::Held(..)
                | PlanError::NotCompacted
                | PlanError::CutAway
                | PlanError::NoBranches
                | PlanError::NoWay
                | PlanError::Tangled(_)
        )
    )
}

/// Returns the changes in force: while nothing is appended, equal changes in force imply equal bytes.
fn in_force(history: &History) -> Vec<OperationId> {
    let changes = history.operations.iter().filter(|operation| operation.kind == OperationKind::Change);
    changes.map(|operation| operation.id).filter(|id| history.undone_by(*id).is_none()).collect()
}

/// Checks that each number names the turn that it named before, if any: by the time of the turn, which no change touches.
fn check_turns(place: &Place, named: &mut BTreeMap<u32, Option<i64>>, context: &str) {
    let place = place.open(&RealDisk).unwrap();
    let turns = &place.reading.turns;
    let numbers: BTreeSet<u32> = turns.iter().map(|turn| turn.number).collect();
    assert_eq!(numbers.len(), turns.len(), "{context}: a number names two turns");
    for turn in turns {
        let time = *named.entry(turn.number).or_insert(turn.timestamp);
        assert_eq!(turn.timestamp, time, "{context}: turn {}", turn.number);
    }
}

/// Checks that any sequence of actions can be undone: each earlier state is restored byte for byte, and so is the original.
fn check(name: &str, bytes: &[u8], acts: &[Act]) {
    let place = Place::new(bytes);
    let mut expected = bytes.to_vec();
    let mut states: BTreeMap<Vec<OperationId>, Vec<u8>> = BTreeMap::from([(Vec::new(), bytes.to_vec())]);
    let (mut grown, mut talked, mut turns) = (false, 0, BTreeMap::new());
    for act in acts {
        check_turns(&place, &mut turns, &format!("{name}: {acts:?}: before {act:?}"));
        if matches!(act, Act::Grow | Act::Talk) {
            if name.contains("half") {
                continue;
            }
            let row = match act {
                Act::Talk => {
                    talked += 1;
                    let leaf = place.open(&RealDisk).unwrap();
                    let Some(leaf) = leaf.reading.window.chain.last() else { continue };
                    talk(&place.bytes(), *leaf, &fresh(&place.path), talked)
                }
                _ => STATE.to_owned(),
            };
            place.append(&row);
            if !expected.ends_with(b"\n") {
                expected.push(b'\n');
            }
            expected.extend_from_slice(format!("{row}\n").as_bytes());
            grown = true;
            continue;
        }
        if let Err(error) = perform(&place, act) {
            assert!(is_refusal(&error), "{name}: {acts:?}: {act:?}: {error:#}");
        }
        if !grown {
            let modified = fs::metadata(&place.path).unwrap().modified().unwrap();
            assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(WRITTEN), "{name}: {acts:?}: {act:?}");
            let now = place.bytes();
            let then = states.entry(in_force(&place.history())).or_insert_with(|| now.clone());
            assert!(*then == now, "{name}: {acts:?}: {act:?}: another file than with the same changes before");
        }
    }
    if let Err(error) = place.undo_all() {
        // Without branches, a restored digest would hide the rows written since.
        let hides = talked > 0 && !provider(bytes).branches() && matches!(error.downcast_ref(), Some(PlanError::Tangled(_)));
        assert!(hides, "{name}: {acts:?}: undo of everything: {error:#}");
        return;
    }
    check_turns(&place, &mut turns, &format!("{name}: {acts:?}"));
    assert_eq!(place.history().marks, [], "{name}: {acts:?}: marks");
    let now = place.bytes();
    let in_place = provider(bytes).keeps_offsets(&fresh(&place.path));
    if talked == 0 && grown && in_place {
        // Appended rows keep their offset: blank lines replace the rows removed before them.
        assert!(now.starts_with(bytes), "{name}: {acts:?}: not the original before what was appended");
        assert_eq!(rows(&now), rows(&expected), "{name}: {acts:?}: other rows");
    } else if talked == 0 {
        let at = now.iter().zip(&expected).position(|(now, then)| now != then).unwrap_or(now.len().min(expected.len()));
        let excerpt =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[at.saturating_sub(80)..(at + 80).min(bytes.len())]).into_owned();
        assert!(now == expected, "{name}: {acts:?}: byte {at} differs:\n{}\n{}", excerpt(&now), excerpt(&expected));
    } else {
        // Appended rows are linked to the remaining rows, and their thinking may be excluded.
        assert!(now.starts_with(bytes), "{name}: {acts:?}: not the original before what was appended");
        let said = String::from_utf8_lossy(&now).matches("\"talk ").count();
        assert_eq!(said, talked, "{name}: {acts:?}: what was appended");
    }
    assert_eq!(place.settled().len(), place.history().operations.len());
}

/// Returns a row with which the client continues from another row.
fn talk(bytes: &[u8], leaf: u32, session: &Session, count: usize) -> String {
    let row = &session.rows[leaf as usize];
    let line = String::from_utf8_lossy(&bytes[row.offset as usize..][..row.length as usize]).into_owned();
    match line.contains("\"payload\"") {
        true => format!(
            r#"{{"timestamp":"2026-06-01T10:00:{:02}.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"talk {count}"}}]}}}}"#,
            count % 60
        ),
        false => {
            let id = provider(bytes).identity(line.as_bytes()).unwrap_or_else(|| b"null".to_vec());
            format!(
                r#"{{"parentUuid":{},"isSidechain":{},"type":"user","message":{{"role":"user","content":"talk {count}"}},"uuid":"talk{count}","timestamp":"2026-06-01T10:00:{:02}.000Z","userType":"external","cwd":"/w","sessionId":"s","version":"2.1.330"}}"#,
                String::from_utf8_lossy(&id),
                line.contains(r#""isSidechain":true"#),
                count % 60
            )
        }
    }
}

/// Returns sessions of every generation of clients, and malformed ones, by name.
fn sessions() -> Vec<(String, Vec<u8>)> {
    let fixtures = fixtures().into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap()));
    // Small sessions first, so that most sequences are fast.
    let mut fixtures: Vec<_> = fixtures.filter(|(_, bytes)| bytes.len() < 200_000).collect();
    fixtures.sort_by_key(|(_, bytes)| bytes.len());
    let odd = odd().into_iter().map(|(name, bytes)| (name.to_owned(), bytes));
    let generations = ["1.0.89", "2.0.60", "2.1.90", "2.1.226", "2.1.330"];
    odd.chain(generations.map(|version| (version.to_owned(), small(version).into_bytes()))).chain(fixtures).collect()
}

proptest! {
    #![proptest_config(law(12))]

    #[test]
    fn any_sequence_of_plans_is_undone(which in 0..64usize, acts in prop::collection::vec(act(), 1..9)) {
        let sessions = sessions();
        let (name, bytes) = &sessions[which % sessions.len()];
        check(name, bytes, &acts);
    }
}

/// Returns the bytes of the first session whose name contains `name`.
fn session_named(name: &str) -> Vec<u8> {
    sessions().into_iter().find(|(known, _)| known.contains(name)).unwrap().1
}

#[test]
fn figures_of_the_client_are_not_adjusted_again() {
    let acts = [Act::Shorten { first: 29, count: 6, level: 2 }, Act::Undo, Act::DigestFold, Act::RedoAny(0), Act::Grow];
    check("codex-recorded-tools", &session_named("codex-recorded-tools"), &acts);
}

#[test]
fn half_a_row_is_half_a_row_again_when_the_row_behind_it_goes() {
    let acts = [Act::Shorten { first: 5, count: 2, level: 1 }, Act::Shorten { first: 22, count: 7, level: 0 }];
    check("a half row at the end", &session_named("a half row at the end"), &acts);
}

#[test]
fn an_operation_whose_rows_are_gone_is_undone_in_the_log() {
    let bytes = session_named("codex-recorded-tools");
    let place = Place::new(&bytes);
    let perform = |act: &Act| perform(&place, act).unwrap_or_else(|error| panic!("{act:?}: {error:#}"));
    perform(&Act::Mark { block: 3, focus: false, value: Some("here") });
    perform(&Act::DigestFold);
    // All of the window is in the row of the digest.
    place.step(&RealDisk, Step::Shorten(Level::Archived)).unwrap().unwrap();
    perform(&Act::UndoAny(1));
    let changed = place.bytes();
    assert_eq!(place.history().in_force(), BTreeSet::from([1, 3]));
    place.step(&RealDisk, Step::Undo).unwrap().unwrap();
    assert!(place.bytes() == changed);
    assert_eq!((place.history().in_force(), place.history().removed_by(3)), (BTreeSet::from([1]), Some(4)));
    place.undo_all().unwrap();
    assert!(place.bytes() == bytes);
}

#[test]
fn rows_removed_by_a_restore_return_after_other_rows() {
    check("codex-recorded-tools", &session_named("codex-recorded-tools"), &[Act::DigestFold, Act::Restore(0), Act::Grow]);
}

/// A digest restored at the end of the file would hide the rows written since.
#[test]
fn a_redo_hides_nothing_that_was_said_since() {
    let bytes = session_named("codex-recorded-tools");
    let place = Place::new(&bytes);
    perform(&place, &Act::DigestFold).unwrap();
    perform(&place, &Act::Undo).unwrap();
    let leaf = *place.open(&RealDisk).unwrap().reading.window.chain.last().unwrap();
    place.append(&talk(&place.bytes(), leaf, &fresh(&place.path), 1));
    let said = place.bytes();
    let refused = perform(&place, &Act::Redo).unwrap_err();
    assert!(matches!(refused.downcast_ref(), Some(PlanError::Tangled(_))), "{refused:#}");
    assert!(place.bytes() == said);
}

/// Undo and redo alternate, and the client appends a row between any two of them.
#[test]
fn each_redo_gives_the_bytes_of_the_one_before() {
    let bytes = session_named("api-errors-and-compaction");
    let change = Act::Shorten { first: 2, count: 9, level: 1 };
    for (changes, talks) in [(vec![Act::Note], 0..3), (vec![Act::Note, change], 0..5), (vec![Act::Fold(2), Act::Note], 1..4)] {
        let (place, mut talked) = (Place::new(&bytes), 0);
        let folds = changes.iter().any(|act| matches!(act, Act::Fold(_)));
        for act in &changes {
            perform(&place, act).unwrap();
        }
        let mut states: BTreeMap<Vec<OperationId>, Vec<u8>> = BTreeMap::new();
        let undo = std::iter::repeat_n(Act::Undo, changes.len()).chain(std::iter::repeat_n(Act::Redo, changes.len()));
        for (step, act) in undo.cycle().take(changes.len() * 8).enumerate() {
            let case = format!("{changes:?}, talks {talks:?}, step {step}: {act:?}");
            perform(&place, &act).unwrap();
            let now = place.bytes();
            let then = states.entry(in_force(&place.history())).or_insert_with(|| now.clone());
            assert!(*then == now, "{case}: another file than with the same changes before");
            let rows = fresh(&place.path).rows;
            for (at, row) in rows.iter().enumerate().filter(|_| !folds) {
                let parent = row.parent.and_then(|parent| rows.iter().position(|row| row.id == Some(parent)));
                assert!(parent.is_none_or(|parent| parent < at), "{case}: row {at} is before its parent");
            }
            if talks.contains(&step) {
                talked += 1;
                let leaf = *place.open(&RealDisk).unwrap().reading.window.chain.last().unwrap();
                place.append(&talk(&place.bytes(), leaf, &fresh(&place.path), talked));
                states.clear();
            }
        }
    }
}

#[test]
fn a_link_that_stays_does_not_count_as_deleted() {
    let acts = [Act::Uncut, Act::Shorten { first: 0, count: 2, level: 1 }, Act::Fold(2), Act::UndoAny(0)];
    check("api-errors-and-compaction", &session_named("api-errors-and-compaction"), &acts);
}

#[test]
fn a_note_of_a_fold_can_be_gone_before_what_linked_it() {
    let acts =
        [Act::Fold(3), Act::Uncut, Act::Note, Act::Shorten { first: 30, count: 10, level: 2 }, Act::Fold(2), Act::UndoAny(0)];
    check("2.0.60", &small("2.0.60").into_bytes(), &acts);
}

/// The pin was undone before; the restore had cleared it, too.
#[test]
fn marks_are_those_of_the_changes_in_force() {
    let mark = Act::Mark { block: 0, focus: false, value: Some("here") };
    check("hooks", &session_named("claude-code/hooks"), &[mark, Act::Restore(0), Act::Undo, Act::Undo, Act::RedoAny(2)]);
}

/// After a compaction the client continues from messages only; a note is a child of one.
#[test]
fn turns_behind_a_compaction_and_before_a_note_are_folded() {
    for turn in 2..5 {
        let place = Place::new(&session_named("api-errors-and-compaction"));
        for act in [Act::Note, Act::Fold(turn)] {
            perform(&place, &act).unwrap();
        }
        place.undo_all().unwrap();
    }
}

#[test]
fn edits_undone_with_another_operation_are_not_searched() {
    let acts = [
        Act::Shorten { first: 13, count: 1, level: 1 },
        Act::Shorten { first: 28, count: 8, level: 0 },
        Act::Shorten { first: 0, count: 2, level: 1 },
    ];
    for (name, bytes) in odd() {
        check(name, &bytes, &acts);
    }
}

#[test]
fn plans_on_fixtures_are_undone() {
    let acts = [
        Act::Shorten { first: 2, count: 9, level: 4 },
        Act::Mark { block: 7, focus: false, value: Some("top") },
        Act::Shorten { first: 5, count: 12, level: 1 },
        Act::Note,
        Act::UndoAny(0),
        Act::Redo,
        Act::Shorten { first: 1, count: 40, level: 3 },
    ];
    for fixture in sample(fixtures(), 7) {
        check(&fixture.display().to_string(), &fs::read(&fixture).unwrap(), &acts);
    }
}
