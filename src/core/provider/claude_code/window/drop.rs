use super::view::{View, is_result, is_use};
use crate::model::{Block, BlockKind, BlockNumber, Flags, Key};
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Item {
    Row(u32),
    /// An answer that the client generates for a turn without one.
    NoResponse,
    /// A result that the client generates for a tool use of the last response.
    Interrupted(BlockNumber),
}

/// Removes broken tool pairs, thinking without an answer and blank answers, and adds the items that the client generates.
pub(super) fn repair(view: &View<'_>, rows: Vec<u32>) -> Vec<Item> {
    let answered: FxHashSet<Key> = calls(view, &rows, is_result).collect();
    let open: FxHashSet<Key> = calls(view, &rows, is_use).filter(|call| !answered.contains(call)).collect();
    let mut kept = settle(view, unresolved(view, &rows, &open));
    let mut added = Vec::new();
    if !open.is_empty() {
        let start = turn_start(view, &rows);
        let recent: FxHashSet<Key> =
            rows[start..].iter().flat_map(|row| view.uses(*row)).filter(|call| open.contains(call)).collect();
        let interrupted = if recent.is_empty() { recent } else { of_last_response(view, &rows, &recent) };
        if !interrupted.is_empty() {
            let lost: FxHashSet<Key> = open.difference(&interrupted).copied().collect();
            kept = settle(view, unresolved(view, &rows, &lost));
            let uses = kept.iter().filter(|row| view.is_assistant(**row)).flat_map(|row| view.all_blocks(*row));
            added.extend(
                uses.filter(|block| is_use(block) && block.call.is_some_and(|call| interrupted.contains(&call)))
                    .map(|block| Item::Interrupted(block.number)),
            );
        }
    }
    close(view, kept, added)
}

/// Appends the generated results, and adds an answer after a turn that ends without one.
fn close(view: &View<'_>, rows: Vec<u32>, added: Vec<Item>) -> Vec<Item> {
    let last = rows.iter().rposition(|row| !view.is_system(*row));
    let after_attachment = |row: u32| view.is_attachment(row) && is_interrupted(view, &rows);
    let unanswered = last
        .is_some_and(|last| (view.is_user(rows[last]) || after_attachment(rows[last])) && !ends_local_command(view, &rows, last));
    let mut items: Vec<Item> = rows.iter().map(|row| Item::Row(*row)).collect();
    if !added.is_empty() {
        items.extend(added);
        items.push(Item::NoResponse);
    } else if let Some(last) = last.filter(|_| unanswered) {
        items.insert(last + 1, Item::NoResponse);
    }
    items
}

/// Returns the call ids of the blocks for which `pick` is true, over user and assistant rows.
fn calls<'a>(view: &'a View<'_>, rows: &'a [u32], pick: fn(&Block) -> bool) -> impl Iterator<Item = Key> + 'a {
    let speaking = rows.iter().filter(|row| view.speaks(**row));
    speaking.flat_map(|row| view.all_blocks(*row)).filter(move |block| pick(block)).filter_map(|block| block.call)
}

/// Returns the rows except those whose tool uses are all lost.
fn unresolved(view: &View<'_>, rows: &[u32], lost: &FxHashSet<Key>) -> Vec<u32> {
    let keep = |row: u32| lost.is_empty() || !view.has_use(row) || view.uses(row).any(|call| !lost.contains(&call));
    rows.iter().copied().filter(|row| keep(*row)).collect()
}

/// Removes thinking without an answer and blank answers, until nothing changes.
fn settle(view: &View<'_>, mut rows: Vec<u32>) -> Vec<u32> {
    loop {
        let before = rows.len();
        drop_lone_thinking(view, &mut rows);
        drop_blank(view, &mut rows);
        if rows.len() == before {
            return rows;
        }
    }
}

fn drop_lone_thinking(view: &View<'_>, rows: &mut Vec<u32>) {
    let speaks = |row: &&u32| view.is_assistant(**row) && view.blocks(**row).any(|block| block.kind != BlockKind::Thinking);
    let answered: FxHashSet<Key> = rows.iter().filter(speaks).filter_map(|row| view.response(*row)).collect();
    rows.retain(|row| {
        let mut blocks = view.blocks(*row).peekable();
        !view.is_assistant(*row)
            || blocks.peek().is_none()
            || blocks.any(|block| block.kind != BlockKind::Thinking)
            || view.response(*row).is_some_and(|response| answered.contains(&response))
    });
}

fn drop_blank(view: &View<'_>, rows: &mut Vec<u32>) {
    let shows = |row: &&u32| {
        view.is_assistant(**row) && view.blocks(**row).any(|block| block.kind != BlockKind::Thinking && !is_hollow(block))
    };
    let visible: FxHashSet<Key> = rows.iter().filter(shows).filter_map(|row| view.response(*row)).collect();
    rows.retain(|row| {
        !view.is_assistant(*row)
            || view.response(*row).is_some_and(|response| visible.contains(&response))
            || !only_blank(view.blocks(*row))
    });
}

/// Returns true if there is only thinking followed by at least one blank text, or only blank texts.
fn only_blank<'a>(blocks: impl Iterator<Item = &'a Block>) -> bool {
    let mut blocks = blocks.skip_while(|block| block.kind == BlockKind::Thinking).peekable();
    blocks.peek().is_some() && blocks.all(is_hollow)
}

/// Returns true if a block is a blank text or a placeholder for one.
pub(in super::super) fn is_hollow(block: &Block) -> bool {
    block.kind == BlockKind::Text && matches!(&*block.preview, "" | "(no content)" | "[Empty text removed]")
}

/// Returns the position after the last user row that opens a turn.
fn turn_start(view: &View<'_>, rows: &[u32]) -> usize {
    let mut answered = false;
    for (place, row) in rows.iter().enumerate().rev() {
        answered |= view.is_assistant(*row);
        if !view.is_user(*row) || view.has_result(*row) {
            continue;
        }
        let flags = view.flags(*row);
        if !flags.any(Flags::SHUTDOWN) && (answered || !flags.any(Flags::COMPANION)) {
            return place + 1;
        }
    }
    0
}

/// Returns the tool uses of the last API response that are in `open`.
fn of_last_response(view: &View<'_>, rows: &[u32], open: &FxHashSet<Key>) -> FxHashSet<Key> {
    let mut known: FxHashSet<Option<Key>> = FxHashSet::default();
    let mut current = None;
    let mut uses: FxHashSet<Key> = FxHashSet::default();
    // State since the last response: `None` if no row followed; else true for tool results, and true once it was counted.
    let mut since = Some((false, false));
    for row in settle(view, rows.to_vec()) {
        let flags = view.flags(row);
        if flags.any(Flags::API_ERROR) {
            current = None;
            uses.clear();
        } else if view.is_assistant(row) && !flags.any(Flags::VIRTUAL) {
            if let Some((results, counted)) = &mut since
                && !*counted
            {
                if !*results {
                    known.clear();
                }
                *counted = true;
            }
            let response = view.response(row);
            let own = view.uses(row).filter(|call| open.contains(call));
            if known.insert(response) {
                current = Some(response);
                uses = own.collect();
                since = None;
            } else if current == Some(response) {
                uses.extend(own);
            }
        } else if view.is_user(row) && !flags.any(Flags::VIRTUAL) || flags.any(Flags::COMMAND) {
            since.get_or_insert((false, false)).0 |= view.has_result(row);
        }
    }
    uses
}

/// Returns true if the rows up to `end` end with a local command: its record and its output, preceded by the client's caveat.
fn ends_local_command(view: &View<'_>, rows: &[u32], end: usize) -> bool {
    const RECORD: Flags = Flags(Flags::COMMAND_NAME.0 | Flags::TYPED_COMMAND.0);
    const ANY: Flags = Flags(RECORD.0 | Flags::CAVEAT.0 | Flags::COMMAND_OUTPUT.0);
    if !view.is_user(rows[end]) || !view.flags(rows[end]).any(ANY) {
        return false;
    }
    let (mut recorded, mut typed, mut meta) = (false, None, true);
    for row in rows[..=end].iter().rev().filter(|row| !view.is_system(**row) && !view.is_attachment(**row)) {
        let flags = view.flags(*row);
        if view.is_user(*row) && flags.any(Flags::CAVEAT) {
            return typed.is_none_or(|typed| view.row(*row).timestamp.unwrap_or_default() >= typed);
        }
        if !view.is_user(*row) || !flags.any(ANY) || recorded {
            break;
        }
        recorded = flags.any(RECORD);
        if flags.any(Flags::TYPED_COMMAND) {
            typed = view.row(*row).timestamp;
        }
        meta &= flags.any(Flags::META);
    }
    meta
}

/// Returns true if the rows end in the middle of a turn.
fn is_interrupted(view: &View<'_>, rows: &[u32]) -> bool {
    let mut attached = false;
    for (place, row) in rows.iter().enumerate().rev() {
        let flags = view.flags(*row);
        if view.is_system(*row) || flags.any(Flags::API_ERROR) {
            continue;
        }
        if view.is_attachment(*row) {
            attached = true;
            continue;
        }
        let compacted = matches!(view.row(*row).event.as_deref(), Some(crate::model::Event::CompactSummary));
        if !view.is_user(*row) || compacted || ends_local_command(view, rows, place) {
            return false;
        }
        return attached || !flags.any(Flags::META | Flags::INTERRUPTION) && view.has_result(*row);
    }
    false
}
