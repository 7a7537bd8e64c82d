use super::*;
use crate::model::{BilledTokens, Counts, Key, QueueChange, Row};

/// Adds a row behind the row before it, with a block.
fn add(session: &mut Session, row: Row, block: Option<Block>) {
    let id = session.rows.len() as u128 + 1;
    session.add(Row { id: Some(Key(id)), parent: (id > 1).then_some(Key(id - 1)), ..row }, block);
}

fn block(kind: BlockKind, role: Role, o200k: u32) -> Option<Block> {
    let counts = Counts { o200k, ..Counts::default() };
    Some(Block { counts, ..Block::new(kind, role) })
}

/// Returns a row of the response with this bill.
fn answer(input: u64, output: u64) -> Row {
    let (message, usage) = (Some(Key(input.into())), Some(BilledTokens { input, output, ..BilledTokens::default() }));
    Row { message, usage, finished: true, model: Some("claude-opus-4-5".into()), ..Row::new(RowKind::Assistant) }
}

/// A session of two turns: thinking of 200 tokens with an answer of 100, then a prompt of 50. Bills that hold the old thinking
/// exceed those that do not by 200.
fn turns(model: &str, vocabulary: Vocabulary, sent: u64) -> Session {
    let mut session = Session { vocabulary, ..Session::default() };
    let answer = |input, output| Row { model: Some(model.into()), ..answer(input, output) };
    let prompt = |tokens| block(BlockKind::Text, Role::User, tokens);
    add(&mut session, Row::new(RowKind::User), prompt(500));
    add(&mut session, answer(10_000, 304), block(BlockKind::Thinking, Role::Thinking, 200));
    add(&mut session, answer(10_000, 304), block(BlockKind::Text, Role::Assistant, 100));
    add(&mut session, Row::new(RowKind::User), prompt(50));
    add(&mut session, answer(sent, 10), block(BlockKind::Text, Role::Assistant, 10));
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
            let block = Block { label: (*label).into(), ..Block::new(BlockKind::Attachment, Role::User) };
            session.add(Row { flags: Flags::ATTACHMENT, ..Row::new(RowKind::User) }, [block]);
        }
        assert_eq!(records_attachments(&session), expected, "{labels:?}");
    }
}

#[test]
fn a_reminder_in_a_step_that_is_not_compared_counts() {
    let mut session = Session::default();
    let mut sent = 10_000;
    for step in 1..=21 {
        add(&mut session, answer(sent, 50), block(BlockKind::Text, Role::Assistant, 0));
        add(&mut session, Row::new(RowKind::User), block(BlockKind::ToolResult, Role::ToolResult, 0));
        // 50 tokens of output, less 22 around it, and 53 for a result without content.
        sent = match step {
            10 => sent - 5000,
            20 => sent + 81 + 105,
            _ => sent + 81,
        };
    }
    let errors = &bills(&session, "claude-opus-4-5").accuracy.step_errors["claude-opus-4-5"];
    assert!(errors.len() == 19 && errors.iter().all(|error| *error < 0.01), "{errors:?}");
}

/// Returns the errors of the steps of a session, given as the events before each answer, whether it thinks, and the billed growth:
/// 250 tokens of output, less 22 around it, and 25 around the prompt.
fn errors(steps: &[(&[QueueChange], bool, u64)]) -> Vec<f64> {
    let mut session = Session::default();
    let mut sent = 10_000;
    for (place, (changes, thinks, growth)) in steps.iter().enumerate() {
        sent += growth;
        for change in *changes {
            let event = Some(Box::new(Event::Queue(change.clone())));
            add(&mut session, Row { event, ..Row::new(RowKind::State) }, None);
        }
        add(&mut session, Row::new(RowKind::User), block(BlockKind::Text, Role::User, 0));
        let answer = Row { message: Some(Key(1000 + place as u128)), ..answer(sent, 250) };
        if *thinks {
            add(&mut session, answer.clone(), block(BlockKind::Thinking, Role::Thinking, 0));
        }
        add(&mut session, answer, block(BlockKind::Text, Role::Assistant, 0));
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
        add(&mut session, answer(10_000, 122), block(BlockKind::ToolUse, Role::ToolUse, 500));
        add(&mut session, Row::new(RowKind::User), block(BlockKind::ToolResult, Role::ToolResult, 500));
        add(&mut session, answer(10_100 + growth as u64, 122), block(BlockKind::Text, Role::Assistant, 500));
        let costs = bills(&session, "claude-opus-4-5").costs;
        assert!((costs[1].value - cost).abs() < 1.0, "{growth}: {:?}", costs[1]);
    }
}

#[test]
fn a_bill_that_no_request_can_have_is_taken_out_for_any_client() {
    for (model, stated, [input, output], impossible) in [
        ("claude-opus-4-5", None, [1_000_000, 9], false),
        ("claude-opus-4-5", None, [1_000_001, 9], true),
        ("claude-opus-4-5", None, [9_000, 9_000_000], true),
        ("gpt-5.5", Some(258_400), [250_000, 100_000], false),
        ("gpt-5.5", Some(258_400), [258_401, 9], true),
        ("gpt-5.5", Some(0), [300_000, 9], false),
        ("gpt-5.5", None, [4_300_000, 9], true),
        ("gemini-2.5-pro", None, [5_000_000, 32], true),
        ("qwen3:8b", None, [4_000_000, 9], true),
        // The window of such a model is assumed: a bill above it is a better witness.
        ("qwen3:8b", None, [300_000, 9], false),
    ] {
        let mut session = Session::default();
        add(&mut session, Row::new(RowKind::User), block(BlockKind::Text, Role::User, 9));
        let model = Some(model.into());
        add(&mut session, Row { model, ..answer(input, output) }, block(BlockKind::Text, Role::Assistant, 9));
        let event = stated.map(|tokens| Box::new(Event::Capacity(tokens)));
        add(&mut session, Row { event, ..Row::new(RowKind::State) }, None);
        let bill = session.rows[1].usage;
        let voided = void_impossible(&mut session);
        assert_eq!((voided.len(), session.rows[1].usage.is_none()), (usize::from(impossible), impossible), "{bill:?}");
        assert!(voided.iter().all(|(row, usage)| *row == 1 && Some(*usage) == bill), "{bill:?}");
    }
}

#[test]
fn a_bill_far_below_the_texts_before_it_is_no_measure_of_the_window() {
    for (kind, bill, is_measured) in [
        (BlockKind::Text, 3, false),
        (BlockKind::Text, 9_000, false),
        (BlockKind::Text, 11_000, true),
        // A client can leave out the results of tools.
        (BlockKind::ToolResult, 9_000, true),
    ] {
        let mut session = Session::default();
        let role = if kind == BlockKind::Text { Role::User } else { Role::ToolResult };
        add(&mut session, Row::new(RowKind::User), block(kind, role, 40_000));
        add(&mut session, answer(bill, 9), block(BlockKind::Text, Role::Assistant, 9));
        let window = Window { rows: vec![0, 1], blocks: vec![1, 2], chain: vec![0, 1], ..Window::default() };
        let bills = bills(&session, "claude-opus-4-5");
        let price = count_window(&mut session, &window, bills);
        assert_eq!(price.measured, is_measured.then_some(bill), "{kind:?} {bill}");
        assert_eq!(price.total.value > 15_000.0, !is_measured, "{:?}", price.total);
    }
}
