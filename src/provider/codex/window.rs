//! Computes the window that the client would send if it resumed the session now: all rows since the last compaction, except
//! those that were rolled back.

use super::messages;
use crate::model::{Event, Hidden, RowKind, Session, Window};

/// Returns the window that would be sent.
pub(super) fn window(session: &Session) -> Window {
    let live = live(session);
    let mut window = Window { compacted: live.boundary.is_some(), ..Window::default() };
    let from = live.boundary.unwrap_or_default();
    window.chain = (from..session.rows.len() as u32).filter(|row| session.rows[*row as usize].id.is_some()).collect();
    window.rows.clone_from(&live.rows);
    let mut sent = vec![false; session.blocks.len()];
    for message in messages::messages(session, &window) {
        for block in message.parts.iter().flat_map(|part| part.blocks()) {
            sent[block as usize - 1] = true;
            window.blocks.push(block);
        }
    }
    let mut rows: Vec<u32> = window.blocks.iter().map(|number| session.blocks[*number as usize - 1].row).collect();
    rows.dedup();
    window.rows = rows;
    for (block, _) in session.blocks.iter().zip(sent).filter(|(_, sent)| !sent) {
        if live.rolled_back.binary_search(&block.row).is_ok() {
            window.hidden.branched += 1;
        } else {
            *count(&mut window.hidden, block.row < from) += 1;
        }
    }
    window
}

fn count(hidden: &mut Hidden, before: bool) -> &mut u32 {
    if before { &mut hidden.compacted } else { &mut hidden.dropped }
}

/// The rows that are sent.
#[derive(Default)]
struct Live {
    /// The last compaction.
    boundary: Option<u32>,
    /// The rows with content since then that were not rolled back, in order.
    rows: Vec<u32>,
    /// The rows since then that the user rolled back, in order.
    rolled_back: Vec<u32>,
}

fn live(session: &Session) -> Live {
    let mut live = Live::default();
    for (place, row) in (0u32..).zip(&session.rows) {
        match (row.kind, row.event.as_deref()) {
            (RowKind::Boundary, _) => live = Live { boundary: Some(place), rows: vec![place], rolled_back: Vec::new() },
            (_, Some(Event::RolledBack(turns @ 1..))) => {
                let prompt = |row: &u32| session.rows[*row as usize].prompt;
                let prompts: Vec<usize> = (0..live.rows.len()).filter(|place| prompt(&live.rows[*place])).collect();
                if let Some(at) = prompts.iter().rev().take(*turns as usize).next_back() {
                    live.rolled_back.extend(live.rows.drain(*at..));
                    live.rolled_back.sort_unstable();
                }
            }
            (RowKind::User | RowKind::Assistant | RowKind::Attachment, _) if row.blocks > 0 => live.rows.push(place),
            _ => {}
        }
    }
    live
}
