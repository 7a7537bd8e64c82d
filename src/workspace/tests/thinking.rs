//! Checks that the thinking of earlier turns is left out where each request is billed for it, and comes back byte for byte.

use super::place::{Place, Step, shorten_all};
use super::sessions::small;
use super::*;
use crate::engine::preset;
use crate::fsio::RealDisk;
use crate::model::{BlockEdit, BlockKind, Edit, Level, OperationKind, Slot};
use crate::testing::medium::{compress, shrink_all};

/// Returns a session of a model that accepts its thinking after any prefix. Its thinking is withheld and long.
fn free() -> Place {
    let signature = format!(r#""signature":"{}"#, "x".repeat(900));
    let session = small("2.1.330").replace("claude-opus-5-5", "claude-opus-5").replace(r#""signature":""#, &signature);
    Place::new(session.as_bytes())
}

/// Returns the number of thinking blocks in the window, and its tokens.
fn thinking(place: &Place) -> (usize, f64) {
    let workspace = place.open(&RealDisk).unwrap();
    let reading = &workspace.reading;
    (reading.in_window().filter(|block| block.kind == BlockKind::Thinking).count(), reading.price.total.value)
}

fn balanced(draft: &mut Draft<'_>) -> Result<(), PlanError> {
    compress(draft, preset("balanced").unwrap())
}

fn change(place: &Place, plan: impl FnOnce(&mut Draft<'_>) -> Result<(), PlanError>) {
    assert!(place.change(&RealDisk, OperationKind::Change, None, plan).unwrap().is_some());
}

#[test]
fn a_preset_leaves_out_old_thinking_and_its_undo_restores_it() {
    let place = free();
    let before = place.bytes();
    assert_eq!(thinking(&place).0, 6);
    change(&place, balanced);
    assert_eq!(thinking(&place).0, 0, "the turn at work has none");
    // A restored content says nothing about thinking that was left out for its size.
    change(&place, |draft| shorten_all(draft, Level::Original).map(drop));
    assert_eq!(thinking(&place).0, 0);
    for _ in 0..2 {
        place.step(&RealDisk, Step::Undo).unwrap();
    }
    assert!(place.bytes() == before);
    place.step(&RealDisk, Step::Redo).unwrap();
    assert_eq!(thinking(&place).0, 0);
}

#[test]
fn thinking_stays_where_it_is_bound_or_kept_or_of_a_mild_preset() {
    let left = |place: &Place, plan: &dyn Fn(&mut Draft<'_>) -> Result<(), PlanError>| {
        change(place, plan);
        thinking(place).0
    };
    let kept = |draft: &mut Draft<'_>| {
        draft.keeps_thinking = true;
        balanced(draft)
    };
    assert_eq!(left(&free(), &kept), 6);
    assert_eq!(left(&free(), &|draft| compress(draft, preset("light").unwrap())), 6);
    // A model that binds it loses what follows the first change, and nothing before.
    let bound = Place::new(small("2.1.330").as_bytes());
    let number = bound.open(&RealDisk).unwrap().reading.in_window().last().unwrap().number;
    let plan = |draft: &mut Draft<'_>| draft.leave_out_thinking(0..number, f64::INFINITY).map(drop);
    assert!(bound.change(&RealDisk, OperationKind::Change, None, plan).unwrap().is_none());
}

#[test]
fn a_budget_leaves_out_the_oldest_thinking_first() {
    let place = free();
    let (blocks, tokens) = thinking(&place);
    change(&place, |draft| shrink_all(draft, Aim::Tokens(tokens as u64 - 1)));
    assert_eq!(thinking(&place).0, blocks - 1);
    let window = place.open(&RealDisk).unwrap();
    let shortened = window.reading.in_window().filter(|block| block.level != Level::Original).count();
    assert_eq!(shortened, 0, "nothing else is needed");
}

#[test]
fn thinking_of_folded_turns_is_counted_apart() {
    let place = free();
    let mut dropped = None;
    let fold = |draft: &mut Draft<'_>| {
        let last = draft.reading().in_window().map(|block| block.position.turn).max().unwrap();
        draft.fold(1..=last - 1, "a summary")
    };
    let count = |drafted: &Drafted| dropped = Some(drafted.thinking_dropped);
    place.change_then(&RealDisk, OperationKind::Change, None, fold, count).unwrap();
    let dropped = dropped.unwrap();
    assert!(dropped.blocks > 0 && dropped.folded == dropped.blocks, "{dropped:?}");
}

#[test]
fn thinking_that_is_left_out_is_addressed_by_its_content() {
    let place = free();
    let mut planned = None;
    place
        .change_then(&RealDisk, OperationKind::Change, None, balanced, |drafted| {
            planned = Some((drafted.plan.edits.clone(), drafted.plan.block_edits.clone()));
        })
        .unwrap();
    let (edits, block_edits) = planned.unwrap();
    let of_thinking = |edit: &&BlockEdit| edit.is_of_thinking();
    assert_eq!(block_edits.iter().filter(of_thinking).count(), 6);
    // In the same session they lead to the same edits, and in the changed one to none.
    let again = free();
    let workspace = again.open(&RealDisk).unwrap();
    let mut draft = workspace.draft(None, 1).unwrap();
    assert_eq!(draft.lower(&block_edits).unwrap(), [0; 0]);
    let lowered = draft.finish(OperationKind::Change, "", None, &|_| None, false).unwrap().plan.edits;
    let slots = |edits: &[Edit]| edits.iter().map(|edit| (edit.row, edit.slot)).collect::<Vec<_>>();
    assert_eq!(slots(&lowered), slots(&edits));
    assert!(lowered == edits);
    let changed = place.open(&RealDisk).unwrap();
    let mut draft = changed.draft(Some(&place.store), 9).unwrap();
    let left: Vec<_> = block_edits.iter().filter(of_thinking).cloned().collect();
    assert_eq!(draft.lower(&left).unwrap(), [0; 0]);
    assert!(draft.is_empty());
    let mut restored = left.clone();
    for (edit, original) in restored.iter_mut().zip(edits.iter().filter(|edit| edit.slot == Slot::Message)) {
        edit.text = String::from_utf8(original.before.clone().unwrap()).unwrap().trim_matches(['[', ']']).to_owned();
        edit.level = Level::Original;
    }
    assert_eq!(draft.lower(&restored).unwrap(), [0; 0]);
    let back = draft.finish(OperationKind::Change, "", None, &|_| None, false).unwrap();
    assert_eq!(back.thinking_restored.blocks, 6);
}
