//! Tokens that agree with the bill.
//!
//! Claude's tokenizer is not public. What a text costs is estimated by a linear form over its exact o200k count and six
//! classes of characters, by model family. The coefficients were fitted on 7,930 steps of 74 sessions against the API's own
//! `usage`, with the predicted session left out: the growth of the input between two calls is what the blocks between them
//! cost. Each session then corrects the form by its own steps, and each step that was billed is scaled to its bill, so that
//! the blocks and what is not in the file add up to the last measured total.
//!
//! Facts that the fit showed: a response comes back as input with exactly its output tokens; thinking comes back too, and
//! its length follows from its signature where the text is withheld; Sonnet 4.5 and Haiku 4.5 drop the thinking of a turn at
//! the next prompt; the name of a model can lie about its tokenizer.

use crate::model::{Basis, Block, BlockKind, Counts, Event, Image, Key, Role, RowKind, Session, TokenCount, Usage, Window};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// What the window costs and how well that is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Price {
    /// The window as it would be sent now, with the last response.
    pub total: Tokens,
    /// What is sent and not in the file: system prompt, tool definitions, reminders of older clients.
    pub outside: Tokens,
    /// Input tokens of the last call in the window, as billed.
    pub measured: Option<u64>,
    /// How far the estimates were from this session's bills.
    pub accuracy: Accuracy,
}

/// A [`TokenCount`] that starts at nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Tokens(pub TokenCount);

impl Default for Tokens {
    fn default() -> Self {
        Tokens(TokenCount::ZERO)
    }
}

impl std::ops::Deref for Tokens {
    type Target = TokenCount;
    fn deref(&self) -> &TokenCount {
        &self.0
    }
}

/// Relative errors of the estimates against measured growth; each step is predicted from the steps before it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// The error of each step from one call to the next, in file order.
    #[serde(skip)]
    pub step_errors: Vec<f64>,
    /// The error of each turn: its steps summed.
    #[serde(skip)]
    pub turn_errors: Vec<f64>,
    /// Steps that could be compared.
    pub steps: u32,
    /// Median error of a step.
    pub step_median: Option<f64>,
    /// 90th percentile of the errors of steps.
    pub step_p90: Option<f64>,
    /// Median error of a turn.
    pub turn_median: Option<f64>,
    /// 90th percentile of the errors of turns.
    pub turn_p90: Option<f64>,
    /// How far the sum over the blocks of the window, scaled or not, is from the last measured total.
    pub window_error: Option<f64>,
}

/// What a text costs in one family of models, per count; and what the API adds around it.
#[derive(Debug)]
struct Family {
    o200k: f64,
    character: f64,
    camel: f64,
    capital: f64,
    punctuation_run: f64,
    digit_run: f64,
    newline: f64,
    /// Around a response whose output tokens are known.
    response: f64,
    /// Around each tool result.
    tool_result: f64,
    /// Around the texts of the user in one step.
    user_text: f64,
    /// Around an attachment.
    attachment: f64,
    /// Around a reminder of the list of things to do.
    reminder: f64,
    /// Around a note on an edited file.
    edited_file: f64,
    /// Around a tool use, and for each member of its input.
    tool_use: (f64, f64),
    /// Thinking by the length of its signature: factor and offset.
    thinking: (f64, f64),
}

/// Models up to 4.6.
static OLD: Family = Family {
    o200k: 0.57,
    character: 0.064,
    camel: 0.82,
    capital: 0.10,
    punctuation_run: 0.71,
    digit_run: 0.59,
    newline: 0.72,
    response: -18.0,
    tool_result: 37.0,
    user_text: 26.0,
    attachment: 32.0,
    reminder: 110.0,
    edited_file: 90.0,
    tool_use: (26.0, 14.0),
    // Characters of the thinking are 0.75 × (signature − 232), a token is 3.85 of them.
    thinking: (0.195, -33.0),
};

/// Models from 4.7 on.
static NEW: Family = Family {
    o200k: 0.85,
    character: 0.103,
    camel: 0.93,
    capital: 0.50,
    punctuation_run: 0.71,
    digit_run: 0.0,
    newline: 0.25,
    response: -32.0,
    tool_result: 42.0,
    user_text: 34.0,
    attachment: 40.0,
    reminder: 128.0,
    edited_file: 105.0,
    tool_use: (31.0, 16.0),
    thinking: (0.274, -69.0),
};

/// Names of the models up to 4.6; every other Claude model counts as new.
const OLD_MODELS: &[&str] = &[
    "claude-3",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-opus-4-5",
    "claude-opus-4-6",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
];

/// Models that no longer see the thinking of a turn when the next prompt comes.
const FORGETFUL_MODELS: &[&str] = &["claude-3", "claude-sonnet-4-5", "claude-haiku-4-5", "claude-sonnet-4-2", "claude-opus-4-1"];

/// Tokens of an image: one for 750 pixels after scaling the long side to 1568, at most 1600 (Anthropic, "Vision").
fn image_tokens(image: Image) -> f64 {
    let (width, height) = (f64::from(image.width), f64::from(image.height));
    if width * height == 0.0 {
        return 1600.0;
    }
    let scale = (1568.0 / width.max(height)).min(1.0);
    (width * height * scale * scale / 750.0).min(1600.0)
}

impl Family {
    fn of(model: &str) -> &'static Family {
        if OLD_MODELS.iter().any(|old| model.starts_with(old)) || !model.starts_with("claude") { &OLD } else { &NEW }
    }

    fn text(&self, counts: &Counts) -> f64 {
        self.o200k * f64::from(counts.o200k)
            + self.character * f64::from(counts.characters)
            + self.camel * f64::from(counts.camels)
            + self.capital * f64::from(counts.capitals)
            + self.punctuation_run * f64::from(counts.punctuation_runs)
            + self.digit_run * f64::from(counts.digit_runs)
            + self.newline * f64::from(counts.newlines)
    }

    /// What a block costs by itself, without what is added once a step.
    fn block(&self, block: &Block) -> f64 {
        let content = self.text(&block.counts) + block.images.iter().copied().map(image_tokens).sum::<f64>();
        match block.kind {
            BlockKind::Thinking if block.signature_bytes > 0 => {
                (self.thinking.0 * f64::from(block.signature_bytes) + self.thinking.1).max(content.min(8.0))
            }
            BlockKind::ToolUse => {
                let parameters = block.tool.as_ref().map_or(0, |tool| tool.parameters);
                content + self.tool_use.0 + self.tool_use.1 * f64::from(parameters)
            }
            BlockKind::ToolResult => content + self.tool_result,
            BlockKind::Attachment => {
                content
                    + match &*block.label {
                        "task_reminder" | "todo_reminder" => self.reminder,
                        "edited_text_file" => self.edited_file,
                        _ => self.attachment,
                    }
            }
            _ => content,
        }
    }
}

/// Estimates a text by itself in the newest family, which never costs less than another; for budgets.
pub fn estimate(text: &str) -> f64 {
    // Without a vocabulary, so that nothing has to be loaded: classes of characters, fitted on the same steps.
    let pieces = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let words: f64 = pieces.map(|word| 1.0 + word.chars().count().saturating_sub(4) as f64 * 0.17).sum();
    let others = text.chars().filter(|c| !c.is_alphabetic() && *c != ' ').count() as f64;
    let wide = text.chars().filter(|c| !c.is_ascii()).count() as f64;
    words * 1.3 + others * 0.75 + wide * 1.2
}

/// One call of the API and what is known of it.
#[derive(Default)]
struct Call {
    usage: Usage,
    finished: bool,
    model: String,
    /// Blocks that were sent with it for the first time.
    before: Vec<usize>,
    /// Blocks of its response.
    response: Vec<usize>,
    /// Whether it follows the call before it on the same chain, without a compaction between.
    continues: bool,
    turn: u32,
}

/// Writes into every block of the session what it costs; returns what the window costs.
///
/// A block that was sent with a billed call carries a calibrated figure, one of a response with known output a calibrated
/// share of it, everything else an estimate. `model` is the model of the last response.
pub fn price(session: &mut Session, window: &Window, model: &str) -> Price {
    let mut calls = calls(session);
    let mut correction = Correction::new(model);
    let mut accuracy = Accuracy::default();
    let mut turns: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
    let mut thinking_of_turn = 0.0;
    let tail = calls.pop().unwrap_or_default();
    for index in 0..calls.len() {
        let (done, rest) = calls.split_at(index);
        let call = &rest[0];
        if !call.continues {
            thinking_of_turn = 0.0;
        }
        let previous = done.last().filter(|_| call.continues);
        let prompted = call.before.iter().any(|place| session.blocks[*place].role == Role::User);
        let mut guesses = [0.0; 2];
        for (guess, family) in guesses.iter_mut().zip([&OLD, &NEW]) {
            *guess = previous.map_or(0.0, |previous| response(session, previous, family)) + sent_with(session, call, family);
            if prompted && FORGETFUL_MODELS.iter().any(|name| call.model.starts_with(name)) {
                *guess -= thinking_of_turn;
            }
        }
        if prompted {
            thinking_of_turn = 0.0;
        }
        let growth = previous.map(|previous| call.usage.sent() as f64 - previous.usage.sent() as f64);
        let growth = growth.filter(|_| call.usage.sent() > 0 && previous.is_some_and(|previous| previous.usage.sent() > 0));
        if let Some(growth) = growth.filter(|growth| *growth > 0.0) {
            let guess = correction.predict(guesses);
            accuracy.step_errors.push((guess - growth).abs() / growth);
            let turn = turns.entry(call.turn).or_default();
            *turn = (turn.0 + guess, turn.1 + growth);
        }
        assign(session, previous, call, growth, &correction);
        if let Some(growth) = growth {
            correction.learn(guesses, growth);
        }
        thinking_of_turn += call
            .response
            .iter()
            .map(|place| &session.blocks[*place])
            .filter(|block| block.kind == BlockKind::Thinking)
            .map(|block| correction.family().block(block))
            .sum::<f64>();
    }
    if let Some(last) = calls.last() {
        assign(session, Some(last), &tail, None, &correction);
    } else {
        assign(session, None, &tail, None, &correction);
    }
    accuracy.turn_errors =
        turns.values().filter(|(_, growth)| *growth > 0.0).map(|(guess, growth)| (guess - growth).abs() / growth).collect();
    finish(session, window, accuracy)
}

/// The calls of the session in file order, and one more for what was never sent.
fn calls(session: &Session) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    // What the user side wrote since the last response began; a tool can answer while the response still comes in.
    let mut pending: Vec<usize> = Vec::new();
    let mut message: Option<Key> = None;
    // The call that each row follows or belongs to, along its own branch.
    let mut follows: FxHashMap<Key, usize> = FxHashMap::default();
    let mut next = 0;
    for row in &session.rows {
        let blocks = next..next + row.blocks as usize;
        next = blocks.end;
        if row.sidechain {
            continue;
        }
        let parent = row.parent.and_then(|parent| follows.get(&parent)).copied();
        let mut place = parent.filter(|_| row.kind != RowKind::Boundary);
        if row.kind == RowKind::Assistant {
            if calls.is_empty() || row.message.is_none() || row.message != message {
                message = row.message;
                calls.push(Call {
                    before: std::mem::take(&mut pending),
                    continues: parent.is_some_and(|parent| parent + 1 == calls.len()),
                    turn: blocks.clone().next().map_or(0, |block| session.blocks[block].position.turn),
                    ..Call::default()
                });
            }
            place = Some(calls.len() - 1);
            if let Some(call) = calls.last_mut() {
                // Every row of a response repeats the input; the last one has the output.
                if let Some(usage) = row.usage.filter(|usage| usage.sent() > 0) {
                    call.usage = Usage { output: usage.output.max(call.usage.output), ..usage };
                }
                call.finished |= row.finished;
                if let Some(model) = &row.model {
                    call.model = model.to_string();
                }
                call.response.extend(blocks);
            }
        } else {
            pending.extend(blocks);
        }
        if let (Some(id), Some(place)) = (row.id, place) {
            follows.insert(id, place);
        }
    }
    calls.push(Call { before: pending, ..Call::default() });
    calls
}

/// What the response of a call costs when it is sent back.
fn response(session: &Session, call: &Call, family: &Family) -> f64 {
    let counted: f64 = call.response.iter().map(|place| family.block(&session.blocks[*place])).sum();
    known_output(session, call, family).unwrap_or(counted) + family.response
}

/// The output tokens of a call, unless they are a figure from the middle of the stream.
fn known_output(session: &Session, call: &Call, family: &Family) -> Option<f64> {
    let output = call.usage.output as f64;
    let visible: f64 = call
        .response
        .iter()
        .map(|place| &session.blocks[*place])
        .filter(|block| block.kind != BlockKind::Thinking)
        .map(|block| family.block(block))
        .sum();
    (call.finished || output >= 0.8 * visible && output > 8.0).then_some(output)
}

/// What is sent with a call for the first time, apart from the response before it.
fn sent_with(session: &Session, call: &Call, family: &Family) -> f64 {
    let blocks = call.before.iter().map(|place| &session.blocks[*place]);
    let texts = blocks.clone().any(|block| block.role == Role::User && block.kind != BlockKind::Attachment);
    blocks.map(|block| family.block(block)).sum::<f64>() + if texts { family.user_text } else { 0.0 }
}

/// Writes the cost of the blocks that a call sent for the first time, and of the response before it.
fn assign(session: &mut Session, previous: Option<&Call>, call: &Call, growth: Option<f64>, correction: &Correction) {
    let family = correction.family();
    let mut left = growth;
    if let Some(previous) = previous {
        let known = known_output(session, previous, family);
        let visible: f64 = previous.response.iter().map(|place| family.block(&session.blocks[*place])).sum();
        let scale = known.filter(|_| visible > 0.0).map_or(correction.ratio(), |known| known / visible);
        let basis = if known.is_some() { Basis::Calibrated } else { Basis::Estimated };
        for place in &previous.response {
            let block = &mut session.blocks[*place];
            block.tokens = TokenCount { value: family.block(block) * scale, basis };
        }
        left = left.map(|growth| growth - known.unwrap_or(visible) - family.response);
    }
    let guess = sent_with(session, call, family);
    // A growth that is far from the guess holds something else: text that is not in the file, a dropped reminder.
    let scale = left.map(|left| left / guess).filter(|scale| guess > 0.0 && (0.6..1.6).contains(scale));
    let basis = if scale.is_some() { Basis::Calibrated } else { Basis::Estimated };
    for place in &call.before {
        let block = &mut session.blocks[*place];
        block.tokens = TokenCount { value: family.block(block) * scale.unwrap_or(correction.ratio()), basis };
    }
}

/// Adds up the window and reconciles it with the last bill.
fn finish(session: &mut Session, window: &Window, mut accuracy: Accuracy) -> Price {
    let last = window.rows.iter().rposition(|row| session.rows[*row as usize].usage.is_some_and(|usage| usage.sent() > 0));
    let mut blocks: FxHashMap<u32, f64> = FxHashMap::default();
    let mut bases: FxHashMap<u32, Basis> = FxHashMap::default();
    for number in &window.blocks {
        let block = &session.blocks[*number as usize - 1];
        *blocks.entry(block.row).or_default() += block.tokens.value;
        let basis = bases.entry(block.row).or_insert(block.tokens.basis);
        *basis = (*basis).max(block.tokens.basis);
    }
    let all: f64 = blocks.values().sum();
    let mut price = Price::default();
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
            let sent = usage.sent() as f64;
            price.measured = Some(usage.sent());
            accuracy.window_error = Some(((sent_blocks - sent).max(0.0)) / sent);
            // More in the file than was billed: the estimates were too high, or something was dropped on the way.
            if sent_blocks > sent {
                let scale = sent / sent_blocks;
                for row in &window.rows[..first] {
                    scale_row(session, *row, scale);
                }
            }
            price.outside = Tokens(TokenCount { value: (sent - sent_blocks).max(0.0), basis: Basis::Calibrated });
            let finished = response.iter().any(|row| session.rows[*row as usize].finished);
            let answer = if finished { usage.output as f64 } else { answer };
            let basis = if after == 0.0 && finished { Basis::Measured } else { Basis::Estimated };
            price.total = Tokens(TokenCount { value: sent + answer + after, basis });
        }
        None => {
            // Compacted and not yet called again: what was outside before is outside still.
            let outside = before_compaction(session, window);
            price.outside = Tokens(TokenCount::estimated(outside));
            price.total = Tokens(TokenCount::estimated(all + outside));
        }
    }
    accuracy.steps = accuracy.step_errors.len() as u32;
    (accuracy.step_median, accuracy.step_p90) = quantiles(&accuracy.step_errors);
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

/// What the first call of the file held beside what the file holds, when the window has no call of its own.
fn before_compaction(session: &Session, window: &Window) -> f64 {
    if !window.compacted && !session.rows.iter().any(|row| matches!(row.event.as_deref(), Some(Event::Compaction { .. }))) {
        return 0.0;
    }
    let first = session.rows.iter().position(|row| !row.sidechain && row.usage.is_some_and(|usage| usage.sent() > 0));
    first.map_or(0.0, |first| {
        let blocks =
            session.blocks.iter().take_while(|block| (block.row as usize) < first).map(|block| block.tokens.value).sum::<f64>();
        let sent = session.rows[first].usage.map_or(0, |usage| usage.sent()) as f64;
        (sent - blocks).max(0.0)
    })
}

/// Median and 90th percentile.
pub fn quantiles(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() as f64 - 1.0) * share).round() as usize).copied();
    if sorted.is_empty() { (None, None) } else { (at(0.5), at(0.9)) }
}

/// How a session differs from the average: which family its tokenizer is of, and by how much the guesses are off.
struct Correction {
    named_new: bool,
    /// Recent errors of the guesses of both families.
    errors: [f64; 2],
    log_ratio: f64,
    learned: u32,
}

impl Correction {
    fn new(model: &str) -> Correction {
        Correction { named_new: std::ptr::eq(Family::of(model), &NEW), errors: [0.0; 2], log_ratio: 0.0, learned: 0 }
    }

    /// The name of the model says which family; its bills may say otherwise.
    fn is_new(&self) -> bool {
        const CLEARLY: f64 = 0.25;
        let [old, new] = self.errors;
        if self.named_new { old + CLEARLY >= new } else { new + CLEARLY < old }
    }

    fn family(&self) -> &'static Family {
        if self.is_new() { &NEW } else { &OLD }
    }

    fn ratio(&self) -> f64 {
        self.log_ratio.clamp(-0.12, 0.12).exp()
    }

    fn predict(&self, guesses: [f64; 2]) -> f64 {
        guesses[usize::from(self.is_new())] * self.ratio()
    }

    /// Takes a bill into account: one that is far off tells of something else than the tokenizer.
    fn learn(&mut self, guesses: [f64; 2], growth: f64) {
        for (error, guess) in self.errors.iter_mut().zip(guesses) {
            *error = 0.93 * *error + ((guess - growth).abs() / growth.max(50.0)).min(0.3);
        }
        let guess = guesses[usize::from(self.is_new())];
        if guess <= 0.0 || growth <= 0.0 {
            return;
        }
        let surprise = (growth / guess).ln();
        if surprise.abs() < 0.15 {
            self.log_ratio += (surprise - self.log_ratio) * (1.0 / f64::from(self.learned + 5)).max(0.03);
            self.learned += 1;
        }
    }
}
