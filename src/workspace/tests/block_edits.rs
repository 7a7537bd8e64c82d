//! Checks that block edits, which are addressed by content, give the same texts as the slot edits that they come from.

use super::place::{Place, shorten_all};
use super::sessions::small;
use super::*;
use crate::engine::PRESETS;
use crate::fsio::RealDisk;
use crate::model::{BlockEdit, BlockKind, Key, Level, OperationKind, Slot};
use crate::testing::medium::compress;
use crate::testing::{fixtures, sample};
use std::fs;

/// Returns the contents after a plan of all blocks except added ones and thinking, which depends on the other changes of a plan.
fn contents_after(drafted: &Drafted) -> Vec<(u32, Key)> {
    let revision = &drafted.revision;
    let blocks = revision.session.blocks.iter().zip(&revision.block_was);
    let blocks = blocks.filter(|(block, _)| block.kind != BlockKind::Thinking);
    blocks.filter_map(|(block, was)| Some(((*was)?, block.hash))).collect()
}

fn finish(draft: Draft<'_>) -> Drafted {
    draft.finish(OperationKind::Change, "", None, &|_| None, false).unwrap()
}

/// Returns the block edits of a plan after a round trip through JSON.
fn written(drafted: &Drafted) -> Vec<BlockEdit> {
    serde_json::from_str(&serde_json::to_string(&drafted.plan.block_edits).unwrap()).unwrap()
}

#[test]
fn block_edits_lead_to_the_texts_of_the_plan() {
    for preset in sample(PRESETS, 2) {
        let mut edited = 0;
        for path in sample(fixtures(), 4) {
            let place = Place::new(&fs::read(&path).unwrap());
            let workspace = place.open(&RealDisk).unwrap();
            let mut draft = workspace.draft(None, 1).unwrap();
            compress(&mut draft, preset).unwrap();
            let planned = finish(draft);
            let edits = written(&planned);
            let changes = planned.plan.edits.iter().filter(|edit| edit.change.is_some() || edit.slot == Slot::Message).count();
            assert_eq!(edits.len(), changes, "{} {}", preset.name, path.display());
            let mut draft = workspace.draft(None, 1).unwrap();
            assert_eq!(draft.lower(&edits).unwrap(), [0; 0], "{} {}", preset.name, path.display());
            let lowered = finish(draft);
            assert!(contents_after(&lowered) == contents_after(&planned), "{} {}", preset.name, path.display());
            if !preset.folds {
                assert!(lowered.plan.edits == planned.plan.edits, "{} {}", preset.name, path.display());
            }
            edited += edits.len();
        }
        assert!(edited > 0 || preset.folds, "{}", preset.name);
    }
}

#[test]
fn block_edits_restore_originals_byte_for_byte() {
    for path in sample(fixtures(), 3) {
        let place = Place::new(&fs::read(&path).unwrap());
        let shortened =
            place.change(&RealDisk, OperationKind::Change, None, |draft| shorten_all(draft, Level::Minimal).map(drop));
        if !matches!(shortened, Ok(Some(_))) {
            continue;
        }
        let workspace = place.open(&RealDisk).unwrap();
        let mut draft = workspace.draft(Some(&place.store), 9).unwrap();
        shorten_all(&mut draft, Level::Original).unwrap();
        let planned = finish(draft);
        let mut draft = workspace.draft(Some(&place.store), 9).unwrap();
        assert_eq!(draft.lower(&written(&planned)).unwrap(), [0; 0], "{}", path.display());
        assert!(finish(draft).plan.edits == planned.plan.edits, "{}", path.display());
    }
}

#[test]
fn block_edits_of_other_contents_are_not_possible() {
    let place = Place::new(small("2.1.330").as_bytes());
    let workspace = place.open(&RealDisk).unwrap();
    let result = workspace.reading.session.blocks.iter().find(|block| block.kind == BlockKind::ToolResult).unwrap();
    let thinking = workspace.reading.session.blocks.iter().find(|block| block.kind == BlockKind::Thinking).unwrap();
    let edit = |content, occurrence| BlockEdit {
        content,
        occurrence,
        text: "less".to_owned(),
        level: Level::Trimmed,
        ..BlockEdit::default()
    };
    let edits = [edit(Key(1), 0), edit(result.hash, 0), edit(result.hash, u32::MAX), edit(thinking.hash, 0)];
    let mut draft = workspace.draft(None, 1).unwrap();
    assert_eq!(draft.lower(&edits).unwrap(), [0, 2, 3]);
    assert_eq!(finish(draft).plan.block_edits, edits[1..2]);
}
