//! Block edits mean the same for a session file and for the body of the request that resumes the session.

use crate::engine::{PRESETS, Preset};
use crate::model::{Block, BlockEdit, BlockNumber, OperationKind, Plan, Slot};
use crate::planning::*;
use crate::testing::bodies::{body, chat_body};
use crate::testing::medium::{Medium, compress, fixtures};
use crate::testing::sample;

impl Medium {
    /// Plans `compress --preset`; `None` if the provider cannot fold this session.
    fn compress(&self, preset: &Preset) -> Option<Plan> {
        let mut draft = self.draft();
        match compress(&mut draft, preset) {
            Err(PlanError::NoWay) if preset.folds => None,
            done => {
                done.unwrap();
                Some(finish(draft).plan)
            }
        }
    }

    /// Returns the edits that are possible here, and the plan that they lead to.
    fn lower(&self, edits: &[BlockEdit]) -> (Vec<BlockEdit>, Plan) {
        let mut draft = self.draft();
        let impossible = draft.lower(edits).unwrap();
        let possible = (0..edits.len()).filter(|place| !impossible.contains(place)).map(|place| edits[place].clone()).collect();
        (possible, finish(draft).plan)
    }

    /// Returns the content of a block, parsed from the bytes.
    fn content(&self, number: BlockNumber) -> String {
        self.draft().content(number).unwrap()
    }

    fn can_change(&self, block: &Block) -> bool {
        let row = &self.reading.session.rows[block.row as usize];
        self.provider.slot(&self.bytes[row.offset as usize..][..row.length as usize], block.index).is_some()
    }

    /// Returns the bytes without the values of these slots.
    fn without(&self, slots: &[(u32, Slot)]) -> Vec<u8> {
        let mut rest = self.bytes.clone();
        for (row, slot) in slots.iter().rev() {
            let row = &self.reading.session.rows[*row as usize];
            let start = row.offset as usize;
            let range = self.provider.locate_slot(&self.bytes[start..start + row.length as usize], *slot).unwrap();
            rest.drain(start + range.start..start + range.end);
        }
        rest
    }
}

fn finish(draft: Draft<'_>) -> Drafted {
    draft.finish(OperationKind::Change, "", None, &|_| None, false).unwrap()
}

/// Checks that a plan leads to the texts of its block edits, and changes nothing else of a body.
fn check_body(body: &Medium, plan: &Plan, name: &str) {
    let after = body.after(plan);
    serde_json::from_slice::<&serde_json::value::RawValue>(&after.bytes).unwrap();
    assert_eq!(after.reading.session.blocks.len(), body.reading.session.blocks.len(), "{name}");
    let addresses = Addresses::new(&body.reading.session);
    let mut slots: Vec<(u32, Slot)> = plan.edits.iter().map(|edit| (addresses.row(edit.row).unwrap(), edit.slot)).collect();
    slots.sort_by_key(|(row, slot)| (*row, slot.index()));
    assert_eq!(slots.len(), plan.block_edits.len(), "{name}: only contents change");
    assert!(body.without(&slots) == after.without(&slots), "{name}: other bytes changed");
    check_texts(&after, plan, name);
    // The same edits change nothing in a body that already has their texts.
    let mut again = after.draft();
    assert_eq!(again.lower(&plan.block_edits).unwrap(), [0; 0], "{name}");
    assert!(again.is_empty(), "{name}: not idempotent");
}

fn check_texts(after: &Medium, plan: &Plan, name: &str) {
    let changes = plan.edits.iter().filter_map(|edit| edit.change.as_ref());
    for (change, edit) in changes.zip(&plan.block_edits) {
        assert_eq!(after.content(change.number), edit.text, "{name}: block {}", change.number);
    }
}

fn sorted(mut edits: Vec<BlockEdit>) -> Vec<BlockEdit> {
    edits.sort_by_key(|edit| (edit.content.0, edit.occurrence));
    edits
}

/// Checks that block edits mean the same in another medium. Returns how many of them are possible there.
fn check_lowered(medium: &Medium, edits: &[BlockEdit], is_chat: bool, name: &str) -> usize {
    let (possible, lowered) = medium.lower(edits);
    let count = possible.len();
    for edit in edits.iter().filter(|edit| !possible.contains(edit)) {
        // Each client has texts of its own that cannot be changed; a Chat Completions request has none.
        let is_fixed = |block: &Block| is_chat && !medium.can_change(block);
        let is_equal = |block: &&Block| block.hash == edit.content && !is_fixed(block);
        let equal = medium.reading.session.blocks.iter().filter(is_equal).count();
        assert!(equal <= edit.occurrence as usize, "{name}: an edit was possible");
    }
    assert!(sorted(possible) == sorted(lowered.block_edits.clone()), "{name}: other texts");
    check_texts(&medium.after(&lowered), &lowered, name);
    if medium.provider.framing() != crate::provider::Framing::Lines {
        check_body(medium, &lowered, name);
    }
    count
}

#[test]
fn block_edits_mean_the_same_for_a_file_and_for_a_request() {
    for (provider, body) in [("claude-code", body as fn(&_, &_) -> _), ("claude-code", chat_body), ("codex", body)] {
        let (mut to_file, mut to_body, mut planned) = (0, 0, (0, 0));
        for (path, file) in fixtures().into_iter().filter(|(_, file)| file.provider.name() == provider) {
            let (format, bytes) = body(&file.reading.session, &file.bytes);
            let is_chat = format.name() == "openai-chat";
            let body = Medium::new(format, bytes);
            for preset in sample(PRESETS, 5) {
                let name = format!("{} {}", preset.name, path.display());
                if let Some(plan) = body.compress(preset) {
                    check_body(&body, &plan, &name);
                    to_file += check_lowered(&file, &plan.block_edits, is_chat, &name);
                    planned.0 += plan.block_edits.len();
                }
                let plan = file.compress(preset).unwrap();
                to_body += check_lowered(&body, &plan.block_edits, is_chat, &name);
                // A request is rewritten without the thinking by the wire.
                planned.1 += plan.block_edits.iter().filter(|edit| !edit.is_of_thinking()).count();
            }
        }
        // The client joins some blocks of its file in a request.
        assert!(to_file * 10 > planned.0 * 9 && to_body * 10 > planned.1 * 9, "{provider}");
    }
}
