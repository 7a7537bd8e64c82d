//! Computes the window that the client would send if it resumed the session now: all rows since the last compaction, except
//! those that were rolled back.

use super::messages;
use crate::model::{Event, Hidden, RowKind, Session, Window};

/// Returns the window that would be sent.
pub(in crate::provider) fn window(session: &Session) -> Window {
    let (live, left) = live(session);
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
        if left.binary_search(&block.row).is_ok() {
            window.hidden.branched += 1;
        } else {
            *count(&mut window.hidden, block.row < from) += 1;
        }
    }
    window.left = left;
    window
}

fn count(hidden: &mut Hidden, before: bool) -> &mut u32 {
    if before { &mut hidden.compacted } else { &mut hidden.dropped }
}

/// The rows that are sent since a compaction, or since the beginning.
#[derive(Default)]
struct Live {
    boundary: Option<u32>,
    /// The rows with content since then that were not rolled back, in order.
    rows: Vec<u32>,
}

/// Returns the rows that are sent, and those that the user rolled back, in order.
fn live(session: &Session) -> (Live, Vec<u32>) {
    let (mut live, mut left) = (Live::default(), Vec::new());
    // The rows before each compaction: a rollback of more turns than followed it undoes it too.
    let mut earlier: Vec<Live> = Vec::new();
    for (place, row) in (0u32..).zip(&session.rows) {
        match (row.kind, row.event.as_deref()) {
            (RowKind::Boundary, _) => {
                earlier.push(std::mem::replace(&mut live, Live { boundary: Some(place), rows: vec![place] }));
            }
            (_, Some(Event::RolledBack(turns @ 1..))) => {
                let prompts = |live: &Live| -> Vec<usize> {
                    (0..live.rows.len()).filter(|at| session.rows[live.rows[*at] as usize].prompt).collect()
                };
                let (mut turns, mut places) = (*turns as usize, prompts(&live));
                while let Some(before) = (places.len() < turns).then(|| earlier.pop()).flatten() {
                    turns -= places.len();
                    live = before;
                    places = prompts(&live);
                }
                // If there are fewer turns, all of them are rolled back.
                if let Some(first) = places.iter().rev().take(turns).next_back().and_then(|at| live.rows.drain(*at..).next()) {
                    left.truncate(left.partition_point(|row| *row < first));
                    left.extend(first..=place);
                }
            }
            (RowKind::User | RowKind::Assistant | RowKind::Attachment, _) if row.blocks > 0 => live.rows.push(place),
            _ => {}
        }
    }
    (live, left)
}

#[cfg(test)]
mod tests {
    use crate::provider::{by_name, laws};
    use serde_json::{Value, json};

    /// Checks the texts of the window of rows, and which rows were rolled back.
    fn check(rows: &[Value], expected: &[&str], left: &[u32]) {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        let codex = by_name("codex").unwrap();
        let session = laws::session(codex, lines.join("\n").as_bytes());
        let texts: Vec<String> =
            lines.iter().flat_map(|line| codex.parse(line.as_bytes()).blocks).map(|block| block.content.into_owned()).collect();
        let window = super::window(&session);
        let sent: Vec<&str> = window.blocks.iter().map(|number| &*texts[*number as usize - 1]).collect();
        assert_eq!((&*sent, &*window.left), (expected, left));
        assert_eq!(window.blocks.len() as u32 + window.hidden.total(), session.blocks.len() as u32);
    }

    fn item(role: &str, text: &str) -> Value {
        let sort = if role == "user" { "input_text" } else { "output_text" };
        json!({"type": "message", "role": role, "content": [{"type": sort, "text": text}]})
    }

    fn row(kind: &str, payload: Value) -> Value {
        json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload})
    }

    #[test]
    fn a_rollback_of_more_turns_than_followed_a_compaction_undoes_it() {
        let turn = |prompt: &str| {
            [row("response_item", item("user", prompt)), row("response_item", item("assistant", &format!("re {prompt}")))]
        };
        let compacted =
            row("compacted", json!({"message": "m", "replacement_history": [item("user", "one"), item("user", "sum")]}));
        let back = |turns: u32| row("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns}));
        let rows = |turns: u32| {
            [&turn("one")[..], &turn("two"), std::slice::from_ref(&compacted), &turn("three"), &[back(turns)], &turn("four")]
                .concat()
        };
        check(&rows(1), &["one", "sum", "four", "re four"], &[5, 6, 7]);
        check(&rows(2), &["one", "re one", "four", "re four"], &[2, 3, 4, 5, 6, 7]);
        check(&rows(9), &["four", "re four"], &[0, 1, 2, 3, 4, 5, 6, 7]);
        let again = [&turn("one")[..], &turn("two"), &[back(1)], &turn("three"), &[back(2)], &turn("four")].concat();
        check(&again, &["four", "re four"], &[0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
