use super::*;
use crate::model::{Key, QueueChange, Row, Usage};

/// A session of two turns: thinking of 200 tokens with an answer of 100, then a prompt of 50. Bills that hold the old thinking
/// exceed those that do not by 200.
fn turns(model: &str, vocabulary: Vocabulary, sent: u64) -> Session {
    let mut session = Session { vocabulary, ..Session::default() };
    let mut add = |kind: RowKind, role: Role, block: BlockKind, tokens: u32, usage: Option<Usage>| {
        let mut row = Row::new(kind);
        let number = session.rows.len() as u128;
        (row.id, row.parent) = (Some(Key(number + 1)), (number > 0).then_some(Key(number)));
        (row.usage, row.finished, row.blocks) = (usage, usage.is_some(), 1);
        row.message = usage.map(|usage| Key(u128::from(usage.input)));
        row.model = usage.map(|_| model.into());
        let mut block = Block::new(block, role);
        (block.counts.o200k, block.row) = (tokens, number as u32);
        session.rows.push(row);
        session.blocks.push(block);
    };
    let bill = |input, output| Some(Usage { input, output, ..Usage::default() });
    add(RowKind::User, Role::User, BlockKind::Text, 500, None);
    add(RowKind::Assistant, Role::Thinking, BlockKind::Thinking, 200, bill(10_000, 304));
    add(RowKind::Assistant, Role::Assistant, BlockKind::Text, 100, bill(10_000, 304));
    add(RowKind::User, Role::User, BlockKind::Text, 50, None);
    add(RowKind::Assistant, Role::Assistant, BlockKind::Text, 10, bill(sent, 10));
    session
}

#[test]
fn a_response_without_a_bill_counts_by_its_text() {
    let mut session = turns("claude-opus-4-5", Vocabulary::Claude, 10_400);
    session.rows.iter_mut().for_each(|row| row.usage = None);
    let costs = bills(&session, "claude-opus-4-5").costs;
    assert!(costs[2].value >= 50.0 && costs[2].basis == Basis::Estimated, "{costs:?}");
}

#[test]
fn a_client_that_records_changes_of_its_lists_alone_hides_its_reminders() {
    for (labels, expected) in [
        (&[][..], false),
        (&["deferred_tools_delta", "mcp_instructions_delta"], false),
        (&["deferred_tools_delta", "task_reminder"], true),
        (&["skill_listing"], true),
    ] {
        let mut session = Session::default();
        for label in labels {
            let (mut row, mut block) = (Row::new(RowKind::User), Block::new(BlockKind::Attachment, Role::User));
            (row.flags, row.blocks, block.row) = (Flags::ATTACHMENT, 1, session.rows.len() as u32);
            block.label = (*label).into();
            session.rows.push(row);
            session.blocks.push(block);
        }
        assert_eq!(records_attachments(&session), expected, "{labels:?}");
    }
}

#[test]
fn a_reminder_in_a_step_that_is_not_compared_counts() {
    let mut session = Session::default();
    let mut sent = 10_000;
    for step in 1..=21_u128 {
        let (id, parent) = (Key(2 * step), (step > 1).then_some(Key(2 * step - 1)));
        let mut answer =
            Row { id: Some(id), parent, message: Some(id), finished: true, blocks: 1, ..Row::new(RowKind::Assistant) };
        (answer.usage, answer.model) =
            (Some(Usage { input: sent, output: 50, ..Usage::default() }), Some("claude-opus-4-5".into()));
        let result = Row { id: Some(Key(2 * step + 1)), parent: Some(id), blocks: 1, ..Row::new(RowKind::User) };
        session.rows.extend([answer, result]);
        session
            .blocks
            .extend([Block::new(BlockKind::Text, Role::Assistant), Block::new(BlockKind::ToolResult, Role::ToolResult)]);
        // 50 tokens of output, less 22 around it, and 53 for a result without content.
        sent = match step {
            10 => sent - 5000,
            20 => sent + 81 + 105,
            _ => sent + 81,
        };
    }
    for (place, block) in session.blocks.iter_mut().enumerate() {
        block.row = place as u32;
    }
    let errors = &bills(&session, "claude-opus-4-5").accuracy.step_errors["claude-opus-4-5"];
    assert!(errors.len() == 19 && errors.iter().all(|error| *error < 0.01), "{errors:?}");
}

/// Returns the errors of the steps of a session, given as the events before each answer, whether it thinks, and the billed growth:
/// 250 tokens of output, less 22 around it, and 25 around the prompt.
fn errors(steps: &[(&[QueueChange], bool, u64)]) -> Vec<f64> {
    let mut session = Session::default();
    let mut sent = 10_000;
    let mut add = |mut row: Row, block: Option<Block>| {
        let id = session.rows.len() as u128 + 1;
        (row.id, row.parent) = (Some(Key(id)), (id > 1).then_some(Key(id - 1)));
        row.blocks = u32::from(block.is_some());
        session.blocks.extend(block.map(|block| Block { row: id as u32 - 1, ..block }));
        session.rows.push(row);
    };
    for (place, (changes, thinks, growth)) in steps.iter().enumerate() {
        sent += growth;
        for change in *changes {
            add(Row { event: Some(Box::new(Event::Queue(change.clone()))), ..Row::new(RowKind::State) }, None);
        }
        add(Row::new(RowKind::User), Some(Block::new(BlockKind::Text, Role::User)));
        let usage = Some(Usage { input: sent, output: 250, ..Usage::default() });
        let message = Some(Key(1000 + place as u128));
        let answer =
            Row { message, usage, finished: true, model: Some("claude-opus-4-5".into()), ..Row::new(RowKind::Assistant) };
        if *thinks {
            add(answer.clone(), Some(Block::new(BlockKind::Thinking, Role::Thinking)));
        }
        add(answer, Some(Block::new(BlockKind::Text, Role::Assistant)));
    }
    bills(&session, "claude-opus-4-5").accuracy.step_errors["claude-opus-4-5"].clone()
}

#[test]
fn a_request_with_thinking_has_more_tokens_than_one_without() {
    let errors = errors(&[(&[], true, 0), (&[], true, 253), (&[], false, 253 - 163), (&[], false, 253), (&[], true, 253 + 163)]);
    assert!(errors.len() == 4 && errors.iter().all(|error| *error < 0.01), "{errors:?}");
}

#[test]
fn a_prompt_that_was_sent_beside_results_counts() {
    use QueueChange::{Emptied, Prompted, Sent};
    let prompt = |characters: usize| QueueChange::Added("é".repeat(characters).into());
    let errors = errors(&[
        (&[], true, 0),
        (&[prompt(100), Sent], true, 253 + 74),
        // A notice has a row of its own, as a prompt that became the next one; a prompt that the user took back is not sent.
        (&[prompt(0), Sent, prompt(100), Prompted, prompt(100), Emptied, Sent], true, 253),
        (&[prompt(100), prompt(200), Sent, Sent], true, 253 + 172),
    ]);
    assert!(errors.len() == 3 && errors.iter().all(|error| *error < 0.01), "{errors:?}");
}

#[test]
fn old_thinking_counts_where_it_is_billed() {
    use Vocabulary::{Claude, O200k};
    for (model, vocabulary, kept) in [
        ("gpt-5-codex", O200k, false),
        ("gpt-5.4", O200k, false),
        ("gpt-5.6-sol", O200k, true),
        ("claude-sonnet-4-5-20250929", Claude, false),
        ("claude-haiku-4-5-20251001", Claude, false),
        ("claude-opus-4-5-20251101", Claude, true),
        ("claude-sonnet-4-6", Claude, true),
    ] {
        let tokens = bills(&turns(model, vocabulary, if kept { 10_360 } else { 10_160 }), model);
        let errors = &tokens.accuracy.step_errors[model];
        let limit = if vocabulary == O200k { 0.01 } else { 0.6 };
        assert!(errors.len() == 1 && errors[0] < limit, "{model}: {errors:?}");
        assert_eq!(tokens.costs[1].value > 100.0, kept, "{model}: {:?}", tokens.costs);
    }
}

#[test]
fn a_bill_that_no_content_explains_is_outside_the_file() {
    // A result of 500 tokens in o200k is estimated at 280 and 39 around it.
    for (growth, cost) in [(250.0, 250.0), (319.0, 319.0), (400.0, 400.0), (430.0, 319.0), (900.0, 319.0)] {
        let mut session = Session::default();
        let mut add = |kind: RowKind, block: BlockKind, role: Role, sent: u64| {
            let id = session.rows.len() as u128 + 1;
            let usage = (sent > 0).then_some(Usage { input: sent, output: 122, ..Usage::default() });
            let message = usage.map(|_| Key(id));
            let row = Row { id: Some(Key(id)), parent: (id > 1).then_some(Key(id - 1)), message, blocks: 1, ..Row::new(kind) };
            session.rows.push(Row { usage, finished: true, model: message.map(|_| "claude-opus-4-5".into()), ..row });
            let mut block = Block { row: id as u32 - 1, ..Block::new(block, role) };
            block.counts.o200k = 500;
            session.blocks.push(block);
        };
        add(RowKind::Assistant, BlockKind::ToolUse, Role::ToolUse, 10_000);
        add(RowKind::User, BlockKind::ToolResult, Role::ToolResult, 0);
        add(RowKind::Assistant, BlockKind::Text, Role::Assistant, 10_100 + growth as u64);
        let costs = bills(&session, "claude-opus-4-5").costs;
        assert!((costs[1].value - cost).abs() < 1.0, "{growth}: {:?}", costs[1]);
    }
}
