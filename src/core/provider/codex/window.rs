//! Computes the window that the client would send if it resumed the session now: all rows since the last compaction, except
//! those that were rolled back.

use super::{content, messages};
use crate::model::{Block, BlockKind, Event, Flags, Role, RowKind, Session, Window};

pub(in crate::provider) fn window(session: &Session) -> Window {
    let boundary = boundary(session);
    let (live, left) = live(session, boundary);
    let mut window = Window { compacted: boundary.is_some(), rows: live, ..Window::default() };
    let from = boundary.unwrap_or_default();
    window.chain = (from..session.rows.len() as u32).filter(|row| session.rows[*row as usize].id.is_some()).collect();
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
        let count = match left.binary_search(&block.row) {
            Ok(_) => &mut window.hidden.branched,
            Err(_) if block.row < from => &mut window.hidden.compacted,
            Err(_) => &mut window.hidden.dropped,
        };
        *count += 1;
    }
    window.left = left;
    window
}

/// Returns the rows with content that are sent after the compaction of the window, and those that the user rolled back, in order.
fn live(session: &Session, boundary: Option<u32>) -> (Vec<u32>, Vec<u32>) {
    let (mut live, mut left) = (Vec::new(), Vec::new());
    let row = |place: u32| &session.rows[place as usize];
    let is_context =
        |place: u32| row(place).kind != RowKind::Boundary && session.blocks_of(place).iter().any(content::is_context);
    for (place, facts) in (0u32..).zip(&session.rows) {
        match (facts.kind, facts.event.as_deref()) {
            (RowKind::Boundary, _) if boundary.is_none_or(|boundary| place > boundary) => left.push(place),
            (_, Some(Event::RolledBack(prompts @ 1..))) => {
                let turns: Vec<usize> = (0..live.len()).filter(|at| begins_turn(session, live[*at])).collect();
                // If there are fewer prompts, all of them are rolled back.
                let Some(mut first) = turns.get(turns.len().saturating_sub(*prompts as usize)).copied() else { continue };
                let oldest = live[..first].iter().position(|place| row(*place).kind == RowKind::Boundary);
                let oldest = oldest.unwrap_or(first).min(turns[0]);
                while first > oldest && is_context(live[first - 1]) {
                    first -= 1;
                }
                let first = live.drain(first..).next().unwrap_or(place);
                left.truncate(left.partition_point(|row| *row < first));
                left.extend(first..=place);
            }
            (RowKind::Boundary, _) => live.push(place),
            (RowKind::User | RowKind::Assistant | RowKind::Attachment, _) if facts.blocks > 0 => live.push(place),
            _ => {}
        }
    }
    live.drain(..live.partition_point(|row| boundary.is_some_and(|boundary| *row < boundary)));
    (live, left)
}

/// Returns true if the client counts a row as the begin of a turn: any message in the user's name, also one in tags, but none of its own.
fn begins_turn(session: &Session, place: u32) -> bool {
    let (row, blocks) = (&session.rows[place as usize], session.blocks_of(place));
    let is_message = |block: &Block| block.role == Role::User && block.kind != BlockKind::Other;
    row.kind == RowKind::User && row.answers.is_none() && blocks.iter().any(is_message) && !blocks.iter().any(content::is_context)
}

/// Returns the last compaction that no rollback undoes. A rollback names prompts, and undoes the compactions in as many of the last turns
/// that have a prompt, and between these. All rows of a client that did not record the begin of a turn are one turn.
fn boundary(session: &Session) -> Option<u32> {
    let (mut undone, mut prompted, mut boundary) = (0u32, false, None);
    for (place, row) in session.rows.iter().enumerate().rev().map(|(place, row)| (place as u32, row)) {
        match row.event.as_deref() {
            Some(Event::RolledBack(turns)) => undone = undone.saturating_add(*turns),
            _ if row.kind == RowKind::Boundary => boundary = boundary.or(Some(place)),
            _ => prompted |= begins_turn(session, place),
        }
        if place == 0 || row.flags.any(Flags::TURN_START) {
            if undone == 0 && boundary.is_some() {
                return boundary;
            }
            undone -= u32::from(undone > 0 && prompted);
            (prompted, boundary) = (false, None);
        }
    }
    None
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
        let start = || row("event_msg", json!({"type": "task_started"}));
        let compacted =
            row("compacted", json!({"message": "m", "replacement_history": [item("user", "one"), item("user", "sum")]}));
        let back = |turns: u32| row("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns}));
        let started = |prompt: &str| [vec![start()], turn(prompt).to_vec()].concat();
        let rows = |turns: u32| {
            [started("one"), started("two"), vec![compacted.clone()], started("three"), vec![back(turns)], started("four")]
                .concat()
        };
        check(&rows(1), &["one", "sum", "four", "re four"], &[8, 9, 10]);
        check(&rows(2), &["one", "re one", "four", "re four"], &[4, 5, 6, 7, 8, 9, 10]);
        check(&rows(9), &["four", "re four"], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        // A digest of aperture has this form too, and begins no turn.
        let mut digested = rows(1);
        digested[6]["aperture"] = "id".into();
        check(&digested, &["one", "sum", "four", "re four"], &[8, 9, 10]);
        // Without the begins of turns, all rows are one turn.
        let bare = |turns: u32| {
            [&turn("one")[..], &turn("two"), std::slice::from_ref(&compacted), &turn("three"), &[back(turns)], &turn("four")]
                .concat()
        };
        check(&bare(1), &["one", "re one", "two", "re two", "four", "re four"], &[4, 5, 6, 7]);
        check(&bare(2), &["one", "re one", "four", "re four"], &[2, 3, 4, 5, 6, 7]);
        // The client begins a turn, and takes a further prompt during it.
        let turns = |texts: &[&str]| -> Vec<Value> {
            let parts = texts.iter().flat_map(|text| match *text {
                "sum" => vec![compacted.clone()],
                text => turn(text).to_vec(),
            });
            [start()].into_iter().chain(parts).collect()
        };
        let resumed = |rows: &[Vec<Value>], expected: &[&str], left: &[u32]| check(&rows.concat(), expected, left);
        let busy = |turns_back| [turns(&["zero"]), turns(&["one", "busy"]), vec![back(turns_back)], turns(&["four"])];
        resumed(&busy(1), &["zero", "re zero", "one", "re one", "four", "re four"], &[6, 7, 8]);
        resumed(&busy(2), &["zero", "re zero", "four", "re four"], &[4, 5, 6, 7, 8]);
        // A compaction in a turn or before it is undone with the turn, not with the last prompt of it.
        let inside = |texts: &[&str]| [turns(&["zero"]), turns(texts), vec![back(1)], turns(&["four"])];
        resumed(&inside(&["sum", "one"]), &["zero", "re zero", "four", "re four"], &[4, 5, 6, 7]);
        resumed(&inside(&["one", "sum", "busy"]), &["zero", "re zero", "one", "re one", "four", "re four"], &[6, 7, 8, 9]);
        let between =
            |turns_back| [turns(&["zero"]), turns(&["sum"]), turns(&["one", "busy"]), vec![back(turns_back)], turns(&["four"])];
        resumed(&between(1), &["one", "sum", "one", "re one", "four", "re four"], &[8, 9, 10]);
        resumed(&between(2), &["zero", "re zero", "four", "re four"], &[4, 6, 7, 8, 9, 10]);
        let again = [&turn("one")[..], &turn("two"), &[back(1)], &turn("three"), &[back(2)], &turn("four")].concat();
        check(&again, &["four", "re four"], &[0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_rollback_counts_messages_in_tags_and_removes_the_context_of_a_prompt() {
        let rows = |texts: &[(&str, &str)], turns: u32| -> Vec<Value> {
            let mut rows: Vec<Value> = texts.iter().map(|(role, text)| row("response_item", item(role, text))).collect();
            rows.push(row("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns})));
            rows
        };
        let (one, two, re) = (("user", "one"), ("user", "two"), ("assistant", "re"));
        for tagged in ["<task>\nfix it\n</task>", "<br>", "<user_action>review</user_action>"] {
            check(&rows(&[one, re, ("user", tagged), re, two, re], 2), &["one", "re"], &[2, 3, 4, 5, 6]);
        }
        for (role, context) in [
            ("user", "<environment_context>\n</environment_context>"),
            ("user", "<skill>\n</skill>"),
            ("user", "Warning: apply_patch was requested via exec_command."),
            ("developer", "<permissions instructions>never</permissions instructions>"),
        ] {
            check(&rows(&[one, re, (role, context), two, re], 1), &["one", "re"], &[2, 3, 4, 5]);
            // It makes no turn, and is kept before the first one.
            check(&rows(&[(role, context), one, re, two, (role, context), re], 2), &[context], &[1, 2, 3, 4, 5, 6]);
        }
        let note = ("developer", "Use tabs.");
        check(&rows(&[one, re, note, two, re], 1), &["one", "re", "Use tabs."], &[3, 4, 5]);
    }
}
