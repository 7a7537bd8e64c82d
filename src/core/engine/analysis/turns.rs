//! Turns and steps: which prompt and which response of the model a row belongs to.

use crate::model::{BlockNumber, Flags, Key, PromptSpeaker, RowKind, Session, Turn, TurnOpenings, Window};
use rustc_hash::FxHashSet;

/// Sets turn and step of every block and returns the turns, and the last step.
///
/// A *turn* starts with a prompt. A *step* is one response of the model; content of the user side belongs to the step that it is
/// first sent with, so a tool result has the step after that of its tool use. Rows of subagents belong to the surrounding turn and
/// step.
pub fn number(session: &mut Session) -> (Vec<Turn>, u32) {
    let mut turns: Vec<Turn> = Vec::new();
    let mut step = 0;
    let mut opening: Option<PromptSpeaker> = None;
    let mut message: Option<Key> = None;
    let mut next = 0usize;
    let opens = openings(session);
    for (place, row) in session.rows.iter().enumerate() {
        let blocks = next..next + row.blocks as usize;
        next = blocks.end;
        if opens.contains(&place) {
            turns.push(Turn { number: turns.len() as u32 + 1, timestamp: row.timestamp, ..Turn::default() });
            opening = None;
        }
        let assistant = row.kind == RowKind::Assistant && !row.sidechain && !row.flags.any(Flags::SYNTHETIC);
        if assistant && (row.message.is_none() || row.message != message) {
            message = row.message;
            step += 1;
            if let Some(turn) = turns.last_mut() {
                turn.steps += 1;
            }
        }
        for block in &mut session.blocks[blocks] {
            block.position.turn = turns.len() as u32;
            block.position.step = if assistant { step } else { step + 1 };
            if row.sidechain {
                continue;
            }
            if let Some(turn) = turns.last_mut() {
                let speaker = PromptSpeaker::of(block, &block.preview);
                if speaker.is_some_and(|found| found.precedes(opening, turn.steps > 0)) {
                    (opening, turn.opening) = (speaker, Some(block.number));
                    turn.prompt = block.preview.to_string();
                }
                turn.blocks.push(block.number);
            }
        }
    }
    (turns, step)
}

/// Sorts the blocks of turns by the branch that the prompt is on: those that the user left leave a turn that was not, and the others of a
/// turn that was left, which follow a rewind without a prompt, belong to the turn before it that was not; else to the next one.
pub fn divide(turns: &mut [Turn], session: &Session, window: &Window) {
    let is_left = |number: &BlockNumber| window.is_left(session.blocks[*number as usize - 1].row);
    let (mut last, mut waiting): (Option<usize>, Vec<BlockNumber>) = (None, Vec::new());
    for at in 0..turns.len() {
        let blocks = std::mem::take(&mut turns[at].blocks);
        let (left, live): (Vec<BlockNumber>, Vec<BlockNumber>) = blocks.into_iter().partition(is_left);
        if !turns[at].opening.as_ref().is_some_and(is_left) && !live.is_empty() {
            waiting.extend(live);
            turns[at].blocks = std::mem::take(&mut waiting);
            last = Some(at);
        } else {
            turns[at].blocks = left;
            last.map_or(&mut waiting, |last| &mut turns[last].blocks).extend(live);
        }
    }
}

fn openings(session: &Session) -> FxHashSet<usize> {
    let mut openings = TurnOpenings::default();
    let mut blocks = session.blocks.iter();
    let rows = session.rows.iter().enumerate().filter_map(|(place, row)| {
        let has_words = blocks.by_ref().take(row.blocks as usize).fold(false, |found, block| found | !block.words.is_empty());
        if row.sidechain { None } else { openings.read(row, has_words, place) }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, BlockKind, Role, Row};

    /// One letter per row: `p` prompt, `c` command, `g` command with words, `o` their output, `m` text by the client, `r` tool result,
    /// `a` and `b` rows of responses.
    fn session(rows: &str) -> Session {
        let mut session = Session::default();
        for letter in rows.chars() {
            let (kind, role) =
                if matches!(letter, 'a' | 'b') { (RowKind::Assistant, Role::Assistant) } else { (RowKind::User, Role::User) };
            let mut row = Row::new(kind);
            row.prompt = letter == 'p';
            row.message = (kind == RowKind::Assistant).then(|| Key::from_text(&letter.to_string()));
            row.answers = (letter == 'r').then_some(Key(1));
            row.flags.set(Flags::COMMAND_NAME, "cg".contains(letter));
            row.flags.set(Flags::META, letter == 'm');
            row.flags.set(Flags::COMMAND_OUTPUT, letter == 'o');
            let words = if letter == 'g' { vec![(0, 1)].into() } else { Default::default() };
            session.add(row, [Block { words, ..Block::new(BlockKind::Text, role) }]);
        }
        session
    }

    fn check(rows: &str, expected_turns: &[u32], expected_steps: &[u32]) {
        let mut session = session(rows);
        number(&mut session);
        let turns: Vec<u32> = session.blocks.iter().map(|block| block.position.turn).collect();
        let steps: Vec<u32> = session.blocks.iter().map(|block| block.position.step).collect();
        assert_eq!((turns.as_slice(), steps.as_slice()), (expected_turns, expected_steps), "{rows}");
    }

    #[test]
    fn a_turn_has_the_blocks_of_the_branch_of_its_prompt() {
        // The rows that were left, the numbers of the blocks of each turn.
        for (rows, left, expected) in [
            ("papa", &[][..], &[&[1, 2][..], &[3, 4]][..]),
            ("papa", &[2, 3], &[&[1, 2], &[3, 4]]),
            ("papaoopa", &[2, 3], &[&[1, 2, 5, 6], &[3, 4], &[7, 8]]),
            ("paoopa", &[0, 1], &[&[1, 2], &[3, 4, 5, 6]]),
            ("paraapa", &[3, 4], &[&[1, 2, 3], &[6, 7]]),
        ] {
            let mut session = session(rows);
            let (mut turns, _) = number(&mut session);
            turns.iter_mut().for_each(|turn| turn.opening = turn.blocks.first().copied());
            divide(&mut turns, &session, &Window { left: left.to_vec(), ..Window::default() });
            let blocks: Vec<&[u32]> = turns.iter().map(|turn| &*turn.blocks).collect();
            assert_eq!(blocks, expected, "{rows} {left:?}");
        }
    }

    #[test]
    fn prompts_open_turns_and_responses_are_steps() {
        // A prompt opens a turn and a response is a step.
        check("parbp", &[1, 1, 1, 1, 2], &[1, 1, 2, 2, 3]);
        // Rows of one response are one step.
        check("paar", &[1, 1, 1, 1], &[1, 1, 1, 2]);
        // A command that the model answers opens a turn.
        check("pacmb", &[1, 1, 2, 2, 2], &[1, 1, 2, 2, 2]);
        check("pacob", &[1, 1, 1, 1, 1], &[1, 1, 2, 2, 2]);
        // After the output of a command with words, the client can have the model answer it; other texts of it are not about it.
        check("pagomb", &[1, 1, 2, 2, 2, 2], &[1, 1, 2, 2, 2, 2]);
        check("pagob", &[1, 1, 1, 1, 1], &[1, 1, 2, 2, 2]);
        check("pacomb", &[1, 1, 1, 1, 1, 1], &[1, 1, 2, 2, 2, 2]);
        check("pagobma", &[1, 1, 1, 1, 1, 1, 1], &[1, 1, 2, 2, 2, 3, 3]);
        check("pagocomb", &[1, 1, 1, 1, 1, 1, 1, 1], &[1, 1, 2, 2, 2, 2, 2, 2]);
        // A session without a prompt begins with its first words.
        check("coma", &[1, 1, 1, 1], &[1, 1, 1, 1]);
    }
}
