//! Checks the invariants of a session before its file is replaced. Each invariant holds by construction; the checks guard against
//! bugs in aperture, and against conversations whose rows are linked in an unusual order ([`PlanError::Tangled`]).

use super::PlanError;
use super::draft::{Draft, Folded, PlanSource};
use super::revision::Revision;
use crate::model::{Block, BlockKind, BlockNumber, Edit, Key, Level, Role, RowKind, Session, Slot, Window};
use crate::provider::Framing;
use rustc_hash::FxHashSet;

/// Rejects a revision that the client could not resume, or that has a change without an edit.
pub fn check(draft: &Draft<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let source = &draft.source;
    rows(draft, revision)?;
    pairs(source, revision, window)?;
    if draft.keeps_window {
        return same(source, revision, window);
    }
    if draft.repairs.is_some() {
        return check_contents_stay(draft, revision, window);
    }
    if draft.folded.is_none()
        && draft.all_edits().all(|edit| !matches!(edit.slot, Slot::Parent | Slot::Subtype | Slot::Line) || edit.before.is_none())
    {
        order(source, revision, window)?;
    }
    if let Some(folded) = &draft.folded {
        others(draft, revision, window, folded)?;
    }
    notes(draft, revision, window)
}

fn refuse(what: String) -> PlanError {
    PlanError::Unsafe(what)
}

/// Checks that edited rows keep their links, pairs and signatures, and that their other blocks are unchanged.
fn rows(draft: &Draft<'_>, revision: &Revision) -> Result<(), PlanError> {
    let session = &draft.source.reading.session;
    let edited =
        |slot: Slot| -> FxHashSet<Key> { draft.all_edits().filter(|edit| edit.slot == slot).map(|edit| edit.row.id).collect() };
    let (relinked, uncut, emptied) = (edited(Slot::Parent), edited(Slot::Subtype), edited(Slot::Message));
    let original = |edit: &&Edit| edit.change.as_ref().is_some_and(|change| change.level_after == Level::Original);
    let restored: FxHashSet<(Key, u32)> =
        draft.all_edits().filter(original).filter_map(|edit| Some((edit.row.id, edit.slot.index()?))).collect();
    let changed: FxHashSet<(Key, u32)> = draft.all_edits().filter_map(|edit| Some((edit.row.id, edit.slot.index()?))).collect();
    // A redacted string outside the blocks can be the source of a block that the client derives.
    let restrung: FxHashSet<u32> =
        draft.edits.keys().filter(|(.., slot)| matches!(slot, Slot::String { .. })).map(|(row, ..)| *row).collect();
    for (row, stub) in &revision.edited {
        let Some(was) = revision.was[*row as usize] else { continue };
        let number = was + 1;
        let before = match draft.source.provider.stub(&draft.line(was)?) {
            Some(before) => before,
            // A broken last row, whose line feed was removed with the row after it.
            None if session.rows[was as usize].kind == RowKind::Broken && stub.is_none() => continue,
            None => return Err(PlanError::Moved),
        };
        let mut after = stub.clone().ok_or_else(|| refuse(format!("row {number} would be unreadable")))?;
        // Use the id from the session: the id of a row can depend on more than its line.
        let id = session.rows[was as usize].id.unwrap_or(Key(0));
        if relinked.contains(&id) {
            after.parent = before.parent;
        }
        if uncut.contains(&id) {
            after.kind = before.kind;
        }
        if emptied.contains(&id) {
            after.thinking.clone_from(&before.thinking);
        }
        if before != after {
            return Err(refuse(format!("row {number} would change its identity")));
        }
        let old = session.blocks_of(was);
        let new = revision.session.blocks_of(*row);
        if old.len() != new.len() {
            return Err(refuse(format!("row {number} would hold {} blocks instead of {}", new.len(), old.len())));
        }
        for (old, new) in old.iter().zip(new) {
            if draft.repairs.as_ref().is_some_and(|repaired| repaired.contains(&old.number)) {
                continue;
            }
            let named = changed.contains(&(id, old.index)) || emptied.contains(&id) || restrung.contains(&was);
            if !named && (old.hash, old.kind, old.call) != (new.hash, new.kind, new.call) {
                return Err(refuse(format!("block {} would change without a request", old.number)));
            }
            if named && old.call != new.call {
                return Err(refuse(format!("block {} would lose its tool call", old.number)));
            }
            // A restored original may be empty.
            if named
                && new.preview.is_empty()
                && !old.preview.is_empty()
                && !emptied.contains(&id)
                && !restored.contains(&(id, old.index))
            {
                return Err(refuse(format!("block {} would be empty", old.number)));
            }
        }
    }
    Ok(())
}

/// Checks that no tool use loses its result and no result loses its use.
fn pairs(source: &PlanSource<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let single = |session: &Session, window: &Window| -> FxHashSet<Key> {
        let calls = |kind: BlockKind| {
            let blocks = window.blocks_in(session).filter(move |block| block.kind == kind);
            blocks.filter_map(|block| block.call).collect::<FxHashSet<Key>>()
        };
        calls(BlockKind::ToolUse).symmetric_difference(&calls(BlockKind::ToolResult)).copied().collect()
    };
    let before = single(&source.reading.session, &source.reading.window);
    let after = single(&revision.session, window);
    match after.difference(&before).count() {
        0 => Ok(()),
        count => Err(PlanError::Tangled(format!("{count} of its tool calls would be sent without a result, or the reverse"))),
    }
}

/// Checks that the same rows are sent in the same order, except rows that hold only thinking.
fn order(source: &PlanSource<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let session = &source.reading.session;
    // The client drops the block that removed thinking leaves.
    let thought = |block: &Block| block.kind == BlockKind::Thinking || block.role == Role::Thinking;
    let speaks = |row: &u32| !session.blocks_of(*row).iter().all(thought);
    let before = source.reading.window.rows.iter().copied().filter(speaks);
    let after = window.rows.iter().filter_map(|row| revision.was[*row as usize]).filter(speaks);
    if before.eq(after) { Ok(()) } else { Err(PlanError::Tangled("the client would send different rows".to_owned())) }
}

/// Checks that only folded blocks and thinking leave the window.
fn others(draft: &Draft<'_>, revision: &Revision, window: &Window, folded: &Folded) -> Result<(), PlanError> {
    let source = &draft.source;
    let blocks = || window.blocks.iter().map(|number| *number as usize - 1);
    let sent: FxHashSet<u32> = blocks().filter_map(|block| revision.block_was[block]).collect();
    let again: FxHashSet<Key> = blocks().map(|block| revision.session.blocks[block].hash).collect();
    let is_folded = |block: &Block| match folded {
        Folded::Turns(turns) => turns.contains(&block.position.turn),
        Folded::Blocks(blocks) => blocks.contains(&block.number) || again.contains(&block.hash),
        Folded::Until(row) => block.row <= *row || draft.added(block.row) || again.contains(&block.hash),
    };
    // A response that is on two branches is sent from both, by its message id, while one of them is live; its blocks have equal
    // hashes.
    let said = |block: &Block| Some((source.reading.session.rows[block.row as usize].message?, block.hash));
    let gone: FxHashSet<(Key, Key)> = source.reading.in_window().filter(|block| is_folded(block)).filter_map(&said).collect();
    let lost = source.reading.in_window().find(|block| {
        block.kind != BlockKind::Thinking
            && !is_folded(block)
            && !sent.contains(&(block.number - 1))
            && !said(block).is_some_and(|said| gone.contains(&said))
    });
    match lost {
        None => Ok(()),
        Some(block) => {
            let (number, turn) = (block.number, block.position.turn);
            Err(PlanError::Tangled(format!("block {number} of turn {turn} must stay but would no longer be sent")))
        }
    }
}

/// Checks that a repair takes no content out of the window but the blocks that it replaces.
fn check_contents_stay(draft: &Draft<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let blocks = || window.blocks.iter().map(|number| *number as usize - 1);
    let sent: FxHashSet<u32> = blocks().filter_map(|block| revision.block_was[block]).collect();
    let again: FxHashSet<Key> = blocks().map(|block| revision.session.blocks[block].hash).collect();
    let is_kept = |block: &Block| sent.contains(&(block.number - 1)) || again.contains(&block.hash);
    match draft.source.reading.in_window().find(|block| block.kind != BlockKind::Thinking && !is_kept(block)) {
        None => Ok(()),
        Some(block) => Err(PlanError::Tangled(format!("block {} would no longer be sent", block.number))),
    }
}

/// Checks that the client sends the same contents in the same order.
fn same(source: &PlanSource<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let (old, new) = (&source.reading.window, window);
    let rows = |rows: &[u32]| rows.iter().map(|row| revision.was[*row as usize]).collect::<Vec<_>>();
    let is_same_row = |old: &[u32], new: &[u32]| old.iter().map(|row| Some(*row)).eq(rows(new));
    let contents = |session: &Session, window: &Window| -> Vec<_> {
        window.blocks_in(session).map(|block| (block.hash, block.kind, block.call)).collect()
    };
    let is_same = is_same_row(&old.rows, &new.rows)
        && is_same_row(&old.chain, &new.chain)
        && contents(&source.reading.session, old) == contents(&revision.session, new);
    if is_same { Ok(()) } else { Err(PlanError::Tangled("the client would send other messages".to_owned())) }
}

fn notes(draft: &Draft<'_>, revision: &Revision, window: &Window) -> Result<(), PlanError> {
    let sent: FxHashSet<BlockNumber> = window.blocks.iter().copied().collect();
    // Rows that return together were not sent before they left either.
    let returned = draft.edits.values().filter(|edit| edit.slot == Slot::Ahead).filter_map(|edit| edit.after.as_deref());
    let returned: FxHashSet<Key> = returned
        .flat_map(|lines| Framing::Lines.rows(lines).into_iter().map(move |line| &lines[line]))
        .filter_map(|line| draft.source.provider.parse(line).row.id)
        .collect();
    let has_returned = |block: &Block| revision.session.rows[block.row as usize].id.is_some_and(|id| returned.contains(&id));
    let lost = revision
        .session
        .blocks
        .iter()
        .zip(&revision.block_was)
        .filter(|(block, was)| was.is_none() && revision.was[block.row as usize].is_none() && !sent.contains(&block.number))
        .filter(|(block, _)| !has_returned(block));
    match lost.count() {
        0 => Ok(()),
        _ => Err(PlanError::Tangled("the client would not send the added text".to_owned())),
    }
}
