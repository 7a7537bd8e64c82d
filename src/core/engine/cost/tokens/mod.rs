//! Token counts that agree with the bill.
//!
//! Claude's tokenizer is not public. The tokens of a text are estimated by a linear form over its exact o200k count and six classes
//! of characters, by model family. The coefficients were fitted on 7,930 steps of 74 sessions against the API's own `usage`, with
//! the predicted session left out: the growth of the input between two calls is the cost of the blocks between them. Each session
//! then corrects the form by its own steps, and each billed step is scaled to its bill, so that the blocks and the content outside
//! the file add up to the last measured total.
//!
//! Findings of the fit: a response becomes input with exactly its output tokens; so does thinking, and its length follows from its
//! signature if the text is withheld; Sonnet 4.5, Haiku 4.5 and GPT-5 up to 5.5 drop the thinking of a turn at the next prompt; the
//! name of a model does not always identify its tokenizer.

mod calls;
pub(in crate::engine) use calls::calls as requests_of;
mod correction;
mod cuts;
mod family;
mod output;
mod reminder;
mod resent;

pub use cuts::{Cut, CutKind, cuts};
pub use family::{estimate, most_tokens, of_model};
pub(in crate::engine) use output::output_of;
pub use output::unrecorded_output;

use crate::engine::o200k;
use crate::model::{
    Basis, BilledTokens, Block, BlockKind, Event, Flags, Level, PlanChange, Role, Row, RowKind, Session, TokenCount, ToolVerb,
    Vocabulary, Window, most_tokens_sent,
};
use calls::{Call, calls};
use correction::Correction;
use family::{Family, forgets, thinking_switch};
use reminder::Reminder;
use resent::resent;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Returns the tokens of a text in a budget: those of o200k, as the model that will read it is often not known.
pub fn count(text: &str) -> usize {
    o200k(text) as usize
}

/// Returns how many parts, at most `most`, fit a number of tokens by [`count`]. `print` returns the text of the first parts: of more
/// parts it has more tokens.
pub fn most_within(budget: usize, most: usize, print: impl Fn(usize) -> String) -> usize {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if count(&print(middle)) <= budget { low = middle } else { high = middle - 1 }
    }
    low
}

/// Approximate bytes per token, for content that is not counted.
pub const BYTES_PER_TOKEN: usize = 4;

/// Token cost of the window and its accuracy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowTokens {
    /// The window as it would be sent now, with the last response.
    pub total: TokenCount,
    /// Tokens that are sent but are not in the file: system prompt, tool definitions, reminders of older clients.
    pub outside: TokenCount,
    /// Input tokens of the last call in the window, as billed; `None` if a change of the window wrote an estimate in its place.
    pub measured: Option<u64>,
    /// True if a change of the window wrote an estimate in place of the last bill.
    pub changed_since_bill: bool,
    /// The errors of the estimates for this session, relative to the billed tokens.
    pub accuracy: Accuracy,
    /// The family whose figures the estimates rest on.
    family: &'static Family,
}

impl WindowTokens {
    /// The same, where the figure of the last response is an estimate: a change of the window wrote it there.
    pub fn without_bill(&mut self) {
        self.measured = None;
        self.changed_since_bill = true;
        self.total.basis = Basis::Estimated;
    }

    /// Returns the tokens of a block as a current client sends it on resume: it removes the middle of long outputs. The client that
    /// recorded them sent them whole, and its bills include all of it.
    pub fn as_resumed(&self, block: &Block) -> TokenCount {
        let (whole, left) = (self.family.block(block), self.family.block(&block.as_sent()));
        if left >= whole {
            return block.tokens;
        }
        TokenCount { value: block.tokens.value * left / whole, basis: block.tokens.basis.max(Basis::Calibrated) }
    }

    /// Returns the cost of a block with another content, scaled from its current cost.
    pub fn revised(&self, before: &Block, after: &Block) -> TokenCount {
        let family = self.family;
        let (was, is) = (family.block(before), family.block(after));
        let scale = if was > 0.0 && before.tokens.value > 0.0 { before.tokens.value / was } else { 1.0 };
        TokenCount { value: is * scale, basis: before.tokens.basis.max(Basis::Calibrated) }
    }
}

/// Relative errors of token estimates, from 0; null if there is nothing to compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Accuracy {
    /// Number of steps that could be compared.
    pub steps: u32,
    /// Median error of a step.
    #[schemars(extend("unit" = "ratio"))]
    pub step_median: Option<f64>,
    /// 90th percentile of the errors of steps.
    #[schemars(extend("unit" = "ratio"))]
    pub step_p90: Option<f64>,
    /// Median error of a turn.
    #[schemars(extend("unit" = "ratio"))]
    pub turn_median: Option<f64>,
    /// 90th percentile of the errors of turns.
    #[schemars(extend("unit" = "ratio"))]
    pub turn_p90: Option<f64>,
    /// Error of the sum over the blocks of the window, compared with the last bill.
    #[schemars(extend("unit" = "ratio"))]
    pub window_error: Option<f64>,
    /// The error of each step from one call to the next, in file order, by model.
    #[serde(skip)]
    pub step_errors: BTreeMap<String, Vec<f64>>,
    /// The error of each turn: its steps summed.
    #[serde(skip)]
    pub turn_errors: Vec<f64>,
}

/// Results of the bills of a session: the cost of each block, in file order, and the accuracy of the estimate.
#[derive(Debug)]
pub struct Bills {
    costs: Vec<TokenCount>,
    accuracy: Accuracy,
    family: &'static Family,
    model: String,
}

impl Bills {
    /// Returns the bills with the costs of some blocks, by their indexes, in the place of estimates.
    pub fn with_known(mut self, costs: &FxHashMap<usize, f64>) -> Bills {
        for (place, cost) in costs {
            if let Some(known) = self.costs.get_mut(*place) {
                *known = TokenCount { value: *cost, basis: known.basis.max(Basis::Calibrated) };
            }
        }
        self
    }
}

/// Holds the estimates of all blocks against the bills of the session.
///
/// A block that was sent with a billed call gets a calibrated figure, one of a response with known output a calibrated
/// share of it, everything else an estimate. `model` is the model of the last response.
pub fn bills(session: &Session, model: &str) -> Bills {
    let mut costs = vec![TokenCount::ZERO; session.blocks.len()];
    let mut calls = calls(session);
    let mut correction = Correction::new(model, session.vocabulary);
    let mut accuracy = Accuracy::default();
    let mut turns: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
    let mut thinking_of_turn = 0.0;
    let mut responses_of_turn: Vec<usize> = Vec::new();
    // The state of the thinking in this turn.
    let mut thinks: Option<bool> = None;
    let early = session.origins.iter().any(|origin| origin.version.starts_with(EARLY_VERSIONS));
    let recorded = records_attachments(session);
    let mut reminder = Reminder::new(recorded, early);
    let tail = calls.pop().unwrap_or_default();
    for index in 0..calls.len() {
        let (done, rest) = calls.split_at(index);
        let call = &rest[0];
        let previous = done.last().filter(|_| call.continues);
        if call.compacted {
            reminder.restart();
        } else {
            for block in done.last().iter().flat_map(|last| &last.response).map(|place| &session.blocks[*place]) {
                reminder.responded(block, plan_change(&session.rows[block.row as usize], block));
            }
            (0..call.stand_ins).for_each(|_| reminder.wrote());
        }
        if previous.is_none() {
            thinking_of_turn = 0.0;
            responses_of_turn.clear();
        }
        let prompted = begins_turn(session, call);
        let forgotten = if prompted && forgets(&call.model) { thinking_of_turn } else { 0.0 };
        let queued = call.queued.iter().filter(|_| !recorded).map(|characters| QUEUED.0 + QUEUED.1 * f64::from(*characters));
        let unrecorded = switched(session, call, prompted, &mut thinks) + queued.sum::<f64>();
        let guesses = correction.families.map(|family| {
            previous.map_or(0.0, |previous| response(session, previous, family)) + sent_with(session, call, family) - forgotten
        });
        let growth = previous.and_then(|previous| billed_growth(session, previous, call));
        let mut hidden = reminder.take(correction.family().hidden_reminder);
        if let Some(growth) = growth.filter(|growth| *growth > 0.0) {
            let estimate = correction.predict(guesses) + unrecorded;
            let guess = estimate + hidden.filter(|_| reminder.is_shown()).unwrap_or_default();
            hidden = hidden.filter(|size| reminder.billed(*size, growth, growth - estimate));
            let error = (guess - growth).abs() / growth;
            accuracy.step_errors.entry(call.model.clone()).or_default().push(error);
            let turn = turns.entry(call.turn).or_default();
            *turn = (turn.0 + guess, turn.1 + growth);
        }
        let growth = growth.map(|growth| growth - hidden.unwrap_or_default() - unrecorded);
        assign(session, &mut costs, done.last(), call, growth.map(|growth| growth + forgotten), &correction);
        if let Some(growth) = growth {
            correction.learn(guesses, growth);
        }
        if prompted {
            if forgets(&call.model) {
                drop_thinking(session, &mut costs, responses_of_turn.iter().map(|turn| &calls[*turn]));
            }
            thinking_of_turn = 0.0;
            responses_of_turn.clear();
        }
        thinking_of_turn += thinking(session, call, correction.family());
        responses_of_turn.push(index);
    }
    assign(session, &mut costs, calls.last(), &tail, None, &correction);
    accuracy.turn_errors =
        turns.values().filter(|(_, growth)| *growth > 0.0).map(|(guess, growth)| (guess - growth).abs() / growth).collect();
    Bills { costs, accuracy, family: correction.family(), model: model.to_owned() }
}

/// The versions of the oldest client whose sessions are read, whose reminders have rules of their own.
const EARLY_VERSIONS: &str = "2.0.";

/// Tokens around a prompt that was typed while the agent worked, and of a character of it, in 20 calls of clients that do not record
/// that they send it.
const QUEUED: (f64, f64) = (50.0, 0.24);

/// Returns the tokens that a call has more than the one before because its model thinks again, or fewer because it stops thinking.
/// `thinks` is its state in the turn, and is updated.
fn switched(session: &Session, call: &Call, prompted: bool, thinks: &mut Option<bool>) -> f64 {
    let now = call.response.iter().any(|place| session.blocks[*place].kind == BlockKind::Thinking);
    if !prompted && !now {
        return 0.0;
    }
    match thinks.replace(now) {
        Some(before) if prompted && before != now => thinking_switch(&call.model) * if now { 1.0 } else { -1.0 },
        _ => 0.0,
    }
}

fn plan_change(row: &Row, block: &Block) -> Option<PlanChange> {
    match row.event.as_deref() {
        Some(Event::Plan(change)) if block.has_verb(ToolVerb::Plan) => Some(*change),
        _ => None,
    }
}

/// Returns the tokens by which the bill of a call exceeds that of the previous one; `None` if one of them is missing or counted by
/// another family of models, or if a block between them was shortened since: it was billed with its original size.
fn billed_growth(session: &Session, previous: &Call, call: &Call) -> Option<f64> {
    if !std::ptr::eq(Family::for_model(&previous.model), Family::for_model(&call.model)) {
        return None;
    }
    let (before, after) = (previous.usage.sent(), call.usage.sent());
    let altered = call.before.iter().chain(&previous.response).any(|place| is_altered(&session.blocks[*place]));
    (before > 0 && after > 0 && !altered).then_some(after as f64 - before as f64)
}

/// Returns true if a call sends a new prompt. To OpenAI's models a prompt beside the results of tools belongs to the same turn.
fn begins_turn(session: &Session, call: &Call) -> bool {
    let mut blocks = call.before.iter().map(|place| &session.blocks[*place]);
    let steers = session.vocabulary != Vocabulary::Claude && blocks.clone().any(|block| block.kind == BlockKind::ToolResult);
    !steers && blocks.any(|block| block.role == Role::User)
}

/// Tokens that OpenAI's models write around each item of a response.
const AROUND_ITEM: f64 = 4.0;

/// Returns the estimated tokens of the thinking in a response.
fn thinking(session: &Session, call: &Call, family: &Family) -> f64 {
    let blocks = call.response.iter().map(|place| &session.blocks[*place]);
    let (thoughts, others): (Vec<&Block>, Vec<&Block>) = blocks.partition(|block| block.kind == BlockKind::Thinking);
    match known_output(session, call, family).filter(|_| family.is_exact() && !thoughts.is_empty()) {
        Some(output) => (output - others.iter().map(|block| family.block(block) + AROUND_ITEM).sum::<f64>()).max(0.0),
        None => thoughts.iter().map(|block| family.block(block)).sum(),
    }
}

/// Sets the cost of thinking that the API no longer sends to the model.
fn drop_thinking<'a>(session: &Session, costs: &mut [TokenCount], responses: impl Iterator<Item = &'a Call>) {
    for place in responses.flat_map(|call| &call.response).filter(|place| session.blocks[**place].kind == BlockKind::Thinking) {
        costs[*place] = TokenCount { value: 0.0, basis: Basis::Calibrated };
    }
}

/// Sets the tokens of every block of the session; returns the tokens of the window.
pub fn count_window(session: &mut Session, window: &Window, bills: Bills) -> WindowTokens {
    for (block, cost) in session.blocks.iter_mut().zip(&bills.costs) {
        block.tokens = *cost;
    }
    WindowTokens { family: bills.family, ..finish(session, window, &bills) }
}

/// Returns true if a block was changed since it was billed: shortened, or removed thinking.
fn is_altered(block: &Block) -> bool {
    block.level != Level::Original || (block.role == Role::Thinking && block.kind == BlockKind::Other)
}

/// Returns the cost of a response when it is sent back as input.
fn response(session: &Session, call: &Call, family: &Family) -> f64 {
    let counted: f64 = call.response.iter().map(|place| family.block(&session.blocks[*place])).sum();
    known_output(session, call, family).map_or(counted + family.response[1], |known| known + family.response[0])
}

/// The output tokens of a call, unless there is no bill, or they are a figure from the middle of the stream.
fn known_output(session: &Session, call: &Call, family: &Family) -> Option<f64> {
    let output = call.usage.output as f64;
    let visible: f64 = call
        .response
        .iter()
        .map(|place| &session.blocks[*place])
        .filter(|block| block.kind != BlockKind::Thinking)
        .map(|block| family.block(block))
        .sum();
    let is_whole = call.finished && call.usage.sent() > 0;
    (is_whole || output >= 0.8 * visible && output > 8.0).then_some(output)
}

/// Returns the tokens that a call sends for the first time, without the previous response.
fn sent_with(session: &Session, call: &Call, family: &Family) -> f64 {
    let blocks = call.before.iter().map(|place| &session.blocks[*place]);
    let texts = blocks.clone().any(|block| block.role == Role::User && block.kind != BlockKind::Attachment);
    blocks.map(|block| family.block(block)).sum::<f64>()
        + if texts { family.user_text } else { 0.0 }
        + family.notification * f64::from(call.notifications)
}

/// Writes the cost of the blocks that a call sent for the first time, and of the response before it, which it need not continue.
fn assign(
    session: &Session,
    costs: &mut [TokenCount],
    previous: Option<&Call>,
    call: &Call,
    growth: Option<f64>,
    correction: &Correction,
) {
    let family = correction.family();
    let mut left = growth;
    if let Some(previous) = previous {
        let shortened = previous.response.iter().any(|place| is_altered(&session.blocks[*place]));
        let known = known_output(session, previous, family).filter(|_| !shortened);
        let visible: f64 = previous.response.iter().map(|place| family.block(&session.blocks[*place])).sum();
        let scale = known.filter(|_| visible > 0.0).map_or(correction.ratio(), |known| known / visible);
        let basis = if known.is_some() { Basis::Calibrated } else { Basis::Estimated };
        for place in &previous.response {
            costs[*place] = TokenCount { value: family.block(&session.blocks[*place]) * scale, basis };
        }
        left = left.map(|growth| growth - response(session, previous, family));
    }
    let guess = sent_with(session, call, family);
    // A growth that is far from the guess holds something else: text that is not in the file, a dropped reminder.
    let scale = left.map(|left| left / guess).filter(|scale| guess > 0.0 && (0.6..1.3).contains(scale));
    let basis = if scale.is_some() { Basis::Calibrated } else { Basis::Estimated };
    for place in &call.before {
        let value = family.block(&session.blocks[*place]) * scale.unwrap_or(correction.ratio());
        costs[*place] = TokenCount { value, basis };
    }
}

/// Takes the impossible bills out of a session ([`BilledTokens::is_impossible`]), and returns them with their rows.
pub fn void_impossible(session: &mut Session) -> Vec<(u32, BilledTokens)> {
    let stated = |row: &Row| match row.event.as_deref() {
        Some(Event::Capacity(tokens)) if *tokens > 0 => Some(*tokens),
        _ => None,
    };
    // The client states the size with the bill, which follows the rows of its response.
    let mut after: Vec<Option<u64>> = vec![None; session.rows.len()];
    let mut next = None;
    for (row, after) in session.rows.iter().zip(&mut after).rev() {
        next = stated(row).or(next);
        *after = next;
    }
    let (mut before, mut bytes, mut voided) = (None, 0, Vec::new());
    let mut model: Box<str> = Box::default();
    for ((place, row), after) in (0..).zip(&mut session.rows).zip(after) {
        before = stated(row).or(before);
        bytes += u64::from(row.length);
        if let Some(known) = row.model.as_ref().filter(|known| **known != model) {
            model = known.clone();
        }
        let most = most_tokens_sent(before.max(after), &model, bytes);
        voided.extend(row.usage.take_if(|usage| usage.is_impossible(most)).map(|usage| (place, usage)));
    }
    voided
}

/// The part of the texts of a window that a bill must have: the estimate of another tokenizer is never so far off.
const LEAST_BILLED: f64 = 0.25;
/// The least tokens of texts that are compared with a bill.
const COMPARED: f64 = 2_000.0;

/// Returns true if a bill of the window is impossible because the texts of prompts and answers before it, which no client leaves out, are
/// far more: a gateway counted something else.
fn is_too_small(session: &Session, rows: &[u32], last: usize) -> bool {
    let is_text = |block: &&Block| block.kind == BlockKind::Text && matches!(block.role, Role::User | Role::Assistant);
    let message = session.rows[rows[last] as usize].message;
    let before = rows[..last].iter().filter(|row| message.is_none() || session.rows[**row as usize].message != message);
    let texts = before.flat_map(|row| session.blocks_of(*row)).filter(is_text);
    let texts: f64 = texts.map(|block| f64::from(block.counts.o200k)).sum();
    let sent = session.rows[rows[last] as usize].usage.map_or(0, |usage| usage.sent()) as f64;
    texts >= COMPARED && sent < texts * LEAST_BILLED
}

/// Returns the place of the last row of the window with a bill for it: a bill from before a compaction counted what it removed,
/// although the client may have kept the billed row.
fn last_bill(session: &Session, window: &Window) -> Option<usize> {
    let cut = window.chain.iter().rfind(|row| session.rows[**row as usize].kind == RowKind::Boundary);
    let is_billed = |row: &u32| session.rows[*row as usize].usage.is_some_and(|usage| usage.sent() > 0);
    window.rows.iter().rposition(|row| cut.is_none_or(|cut| row > cut) && is_billed(row))
}

/// Returns true if a bill of the window counted rows that the client has lost since then: it exceeds the size of the window by more than
/// half of theirs.
fn counts_lost_rows(session: &Session, window: &Window, last: usize, family: &Family) -> bool {
    let sum = |rows: &mut dyn Iterator<Item = &u32>| -> f64 {
        rows.flat_map(|row| session.blocks_of(*row)).map(|block| block.tokens.value).sum()
    };
    let lost = sum(&mut window.cuts.iter().flat_map(|cut| &cut.rows));
    let sent = session.rows[window.rows[last] as usize].usage.map_or(0, |usage| usage.sent()) as f64;
    lost > 0.0 && sent > outside_before(session, false, family) + sum(&mut window.rows[..last].iter()) + lost / 2.0
}

/// Returns the factor from a bill of one model to that of another: 1 within a family.
fn conversion(session: &Session, rows: &[u32], from: &str, to: &str) -> f64 {
    let (from, to) = (Family::for_model(from), Family::for_model(to));
    if std::ptr::eq(from, to) {
        return 1.0;
    }
    let sum = |family: &Family| rows.iter().flat_map(|row| session.blocks_of(*row)).map(|block| family.block(block)).sum::<f64>();
    let (was, is) = (sum(from), sum(to));
    if was > 0.0 { is / was } else { 1.0 }
}

/// Adds up the window and reconciles it with the last bill.
fn finish(session: &mut Session, window: &Window, bills: &Bills) -> WindowTokens {
    let (model, mut accuracy) = (bills.model.as_str(), bills.accuracy.clone());
    let last = last_bill(session, window).filter(|last| {
        window.outdated_bill != Some(window.rows[*last])
            && !counts_lost_rows(session, window, *last, bills.family)
            && !is_too_small(session, &window.rows, *last)
    });
    let mut blocks: FxHashMap<u32, f64> = FxHashMap::default();
    for block in window.blocks_in(session) {
        *blocks.entry(block.row).or_default() += block.tokens.value;
    }
    let all: f64 = blocks.values().sum();
    let mut price = WindowTokens::default();
    match last {
        Some(last) => {
            let row = &session.rows[window.rows[last] as usize];
            let message = row.message;
            let same = |row: &u32| {
                session.rows[*row as usize].message == message && session.rows[*row as usize].kind == RowKind::Assistant
            };
            let response: Vec<u32> = window.rows.iter().copied().filter(same).collect();
            let first = window.rows.iter().position(same).unwrap_or(last);
            let usage = response
                .iter()
                .filter_map(|row| session.rows[*row as usize].usage)
                .max_by_key(|usage| usage.output)
                .unwrap_or_default();
            let sum = |rows: &[u32]| rows.iter().filter_map(|row| blocks.get(row)).sum::<f64>();
            let sent_blocks = sum(&window.rows[..first]);
            let after: Vec<u32> = window.rows[first..].iter().copied().filter(|row| !response.contains(row)).collect();
            let (answer, after) = (sum(&response), sum(&after));
            let billed_by = session.rows[window.rows[last] as usize].model.as_deref().unwrap_or(model);
            let factor = conversion(session, &window.rows[..first], billed_by, model);
            let sent = usage.sent() as f64 * factor;
            price.measured = (factor == 1.0).then_some(usage.sent());
            accuracy.window_error = Some(((sent_blocks - sent).max(0.0)) / sent);
            // More in the file than was billed: the estimates were too high, or something was dropped on the way.
            if sent_blocks > sent {
                let scale = sent / sent_blocks;
                for row in &window.rows[..first] {
                    scale_row(session, *row, scale);
                }
            }
            price.outside = TokenCount { value: (sent - sent_blocks).max(0.0), basis: Basis::Calibrated };
            let finished = response.iter().any(|row| session.rows[*row as usize].finished);
            // Only output that is still sent counts: not the thinking that a change dropped.
            let in_window: FxHashSet<u32> = window.blocks.iter().copied().collect();
            let of_response = || {
                let same = |block: &&Block| message.is_some() && session.rows[block.row as usize].message == message;
                session.blocks.iter().filter(same)
            };
            let unsent: f64 =
                of_response().filter(|block| !in_window.contains(&block.number)).map(|block| block.tokens.value).sum();
            let whole = finished && !of_response().any(is_altered);
            let answer = if whole { (usage.output as f64 - unsent).max(0.0) } else { answer };
            let basis = if after == 0.0 && finished && factor == 1.0 { Basis::Measured } else { Basis::Estimated };
            price.total = TokenCount { value: sent + answer + after, basis };
        }
        None => {
            // After a compaction or on another branch, the content outside the file is unchanged.
            price.changed_since_bill = window.outdated_bill.is_some();
            let outside = outside_before(session, window.compacted, bills.family);
            price.outside = TokenCount::estimated(outside);
            price.total = TokenCount::estimated(all + outside);
        }
    }
    let steps: Vec<f64> = accuracy.step_errors.values().flatten().copied().collect();
    accuracy.steps = steps.len() as u32;
    (accuracy.step_median, accuracy.step_p90) = quantiles(&steps);
    (accuracy.turn_median, accuracy.turn_p90) = quantiles(&accuracy.turn_errors);
    price.accuracy = accuracy;
    price
}

fn scale_row(session: &mut Session, row: u32, scale: f64) {
    let first = session.blocks.partition_point(|block| block.row < row);
    for block in session.blocks[first..].iter_mut().take_while(|block| block.row == row) {
        block.tokens.value *= scale;
    }
}

/// Returns true if the client records what it attaches to prompts: OpenAI's, and Claude Code from about 2.1.100 on. Before, it recorded
/// only the changes of its lists of tools and instructions.
fn records_attachments(session: &Session) -> bool {
    let is_recorded = |block: &Block| block.kind == BlockKind::Attachment && !block.label.ends_with("_delta");
    session.vocabulary != Vocabulary::Claude
        || session.blocks.iter().any(|block| session.rows[block.row as usize].flags.any(Flags::ATTACHMENT) && is_recorded(block))
}

/// Returns the tokens that are sent and are not in the file, for a window without a call of its own: as with the first call, and what
/// old clients send again after a compaction. With OpenAI's models the first call after the compaction before counts, since each
/// summary is sealed.
fn outside_before(session: &Session, compacted: bool, family: &Family) -> f64 {
    let rows = &session.rows;
    let is_billed = |row: &Row| !row.sidechain && row.usage.is_some_and(|usage| usage.sent() > 0);
    let mut boundaries = rows.iter().enumerate().rev().filter(|(_, row)| row.kind == RowKind::Boundary).map(|(place, _)| place);
    let since = boundaries.nth(1).filter(|_| session.vocabulary != Vocabulary::Claude).unwrap_or_default();
    let Some(first) = rows[since..].iter().position(is_billed).map(|place| since + place) else { return 0.0 };
    let message = rows[first].message;
    let is_sent = |block: &&Block| {
        let row = block.row as usize;
        (since..first).contains(&row) && (message.is_none() || rows[row].message != message)
    };
    let blocks: f64 = session.blocks.iter().filter(is_sent).map(|block| block.tokens.value).sum();
    let sent = rows[first].usage.map_or(0, |usage| usage.sent()) as f64;
    let again = if compacted && !records_attachments(session) { resent(session, rows.len(), family) } else { 0.0 };
    (sent - blocks).max(0.0) + again
}

/// Median and 90th percentile.
pub fn quantiles(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() as f64 - 1.0) * share).round() as usize).copied();
    if sorted.is_empty() { (None, None) } else { (at(0.5), at(0.9)) }
}

#[cfg(test)]
mod tests;
