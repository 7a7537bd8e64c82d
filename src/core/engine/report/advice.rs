//! Advice: suggested commands for a window, with their estimated cost and savings.
//!
//! The advice is computed from the analysis only, without the contents, so the figures are estimates.

use crate::engine::analysis::never_stale::instructs;
use crate::engine::analysis::staleness_limits::is_perishable;
use crate::engine::cost::binding::{Binding, binding_of};
use crate::engine::strategy::old_thinking;
use crate::engine::{
    Analysis, EditFacts, EditPrice, PAYS_BACK_TURNS, Preset, Prices, Rules, idle_milliseconds, newest, plural, price,
    steps_per_turn,
};
use crate::model::{As, Block, BlockKind, BlockNumber, Estimated, History, Level, Operation, State};
use crate::text::shell::quoted_word;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;

/// Tokens of the marker line of a block.
const LINE: f64 = 45.0;
/// Minimum tokens of a block that is worth shortening to one line.
const WORTH_A_LINE: f64 = 150.0;
/// Minimum share of the window for a suggested saving, because each change rewrites the prompt cache.
const WORTH_SAYING: f64 = 0.03;
/// Minimum usage of the window, in percent, for a suggestion; a window over a budget that the user set needs none.
const WORTH_LOOKING: f64 = 50.0;

/// Context of the advice in addition to the analysis.
#[derive(Clone, Copy, Debug)]
pub struct Advice<'a> {
    pub rules: &'a Rules,
    pub prices: &'a Prices,
    /// The current time, in milliseconds since 1970, UTC.
    pub now: i64,
    pub cache_lifetime_milliseconds: i64,
    /// True if a change drops the thinking after it.
    pub binds_thinking: bool,
    /// The planned cost and savings of `compress --stale`.
    pub stale: Forecast,
    /// The planned cost and savings of `compress --preset` with the preset in use.
    pub preset: Forecast,
    /// The name of the session in suggested commands.
    pub session: &'a str,
    pub history: &'a History,
}

/// The forecast of a change: its cost and savings before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub enum Forecast {
    /// The change was not planned: its figures are estimated from the analysis.
    #[default]
    Estimated,
    /// The change was planned, with its cost and savings; `None` if it would change nothing.
    Planned(Option<EditPrice>),
}

/// The kind of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// Shorten until the window is within its budget.
    Budget,
    /// Shorten stale blocks.
    Compress,
    /// Shorten old blocks, stale or not.
    Preset,
    /// Archive superseded blocks.
    Archive,
    /// Expand shortened blocks that are in use.
    Expand,
}

/// A suggested command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Suggestion {
    pub kind: SuggestionKind,
    pub command: String,
    pub why: String,
    /// Tokens by which the window would shrink; negative if it would grow.
    #[serde(with = "As::<Estimated>")]
    pub saved_tokens: f64,
    /// Turns until the savings exceed the cost.
    pub pays_back_turns: Option<f64>,
    /// Cost and savings.
    pub price: Option<EditPrice>,
    /// True if the command was planned, so that the figures are those of `--dry-run`.
    pub planned: bool,
}

/// Shares of tokens removed from results, from tool uses, and from both in the newest part of the window.
struct Shares {
    preset: &'static str,
    results: f64,
    uses: f64,
    newest: f64,
}

/// Fitted on 80 sessions of Claude Code and 18 of Codex: the share removed from contents of more than 150 tokens, beyond the marker
/// line. It includes the tokens removed from texts. The shares of `light`, `balanced` and `aggressive` were scaled on 24 of these
/// sessions when their thresholds changed.
static SHARES: &[Shares] = &[
    Shares { preset: "lossless", results: 0.27, uses: 0.08, newest: 0.05 },
    Shares { preset: "light", results: 0.85, uses: 0.86, newest: 0.33 },
    Shares { preset: "balanced", results: 0.95, uses: 0.87, newest: 0.42 },
    Shares { preset: "aggressive", results: 0.97, uses: 0.88, newest: 0.48 },
    Shares { preset: "layers", results: 0.975, uses: 0.93, newest: 0.96 },
    Shares { preset: "handoff", results: 0.98, uses: 0.95, newest: 0.97 },
];
const USUAL: Shares = Shares { preset: "", results: 0.95, uses: 0.87, newest: 0.42 };

/// Returns the blocks that become stale in the next turn unless they are used, the most expensive first: blocks that are worth
/// shortening, not repeated elsewhere and not protected.
pub fn expiring(reading: &Analysis) -> Vec<&Block> {
    let mut expiring: Vec<&Block> = reading.in_window().filter(|block| is_expiring(block)).collect();
    expiring.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value).then(a.number.cmp(&b.number)));
    expiring
}

fn is_expiring(block: &Block) -> bool {
    let superseded = block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes());
    block.usefulness.turns_left == Some(1)
        && !superseded
        && block.state != State::Fresh
        && block.tokens.value > WORTH_A_LINE
        && is_free(block)
}

fn is_free(block: &Block) -> bool {
    block.pin.is_none() && !block.focused
}

/// Returns true if a window is so full that a change can be worth its cost.
pub fn is_worth_looking(reading: &Analysis, rules: &Rules) -> bool {
    reading.percent() >= WORTH_LOOKING || rules.budget_tokens.is_some_and(|budget| reading.price.total.value > budget as f64)
}

impl Advice<'_> {
    /// Returns the suggestions, the best first: what makes room and pays back soon, then blocks to expand. None for a window that is
    /// less than half full.
    pub fn suggestions(&self, reading: &Analysis) -> Vec<Suggestion> {
        if !is_worth_looking(reading, self.rules) {
            return Vec::new();
        }
        let stale = self.compress(reading);
        // Stale blocks alone are the mildest change; a window over its budget needs enough of them.
        let over = reading.price.total.value - round_down(self.rules.budget(reading)) as f64;
        let is_enough = stale.as_ref().is_some_and(|stale| stale.saved_tokens >= over);
        let mut offers = [self.budget(reading), stale, self.preset(reading), self.archive(reading)];
        if is_enough {
            offers.swap(0, 1);
        }
        let pays = |offer: &Suggestion| offer.pays_back_turns.is_some_and(|turns| turns <= PAYS_BACK_TURNS);
        offers.into_iter().flatten().filter(pays).chain(self.expand(reading)).collect()
    }

    fn command(&self, command: &str) -> String {
        format!("aperture {command} -s {}", quoted_word(self.session))
    }

    fn budget(&self, reading: &Analysis) -> Option<Suggestion> {
        let budget = round_down(self.rules.budget(reading));
        let over = reading.price.total.value - budget as f64;
        let all: f64 = reading.in_window().filter(|block| may_go(block)).map(|block| (block.tokens.value - LINE).max(0.0)).sum();
        if over <= 0.0 || budget == 0 || all <= over {
            return None;
        }
        let first = reading.in_window().find(|block| may_go(block))?.number;
        let price = self.price(reading, over, first, false);
        let command = self.command(&format!("compress --budget {}", crate::engine::amount(budget)));
        let why = format!("the window is over its budget of {}", crate::engine::amount(budget));
        Some(suggestion(SuggestionKind::Budget, command, why, &price))
    }

    fn compress(&self, reading: &Analysis) -> Option<Suggestion> {
        let (blocks, _) = reading.stale_total();
        let why = format!("{} not used any more", plural(blocks as u32, "block"));
        let is_stale = |block: &Block| block.state == State::Stale;
        self.shorten(reading, (SuggestionKind::Compress, "compress --stale".to_owned(), why), self.stale, &is_stale)
    }

    fn preset(&self, reading: &Analysis) -> Option<Suggestion> {
        let name = self.rules.preset.name;
        let why = format!("preset {name}: stale blocks, and older ones in use as far as the preset allows");
        self.shorten(reading, (SuggestionKind::Preset, format!("compress --preset {name}"), why), self.preset, &|_| true)
    }

    /// Suggests a command that shortens blocks to the preset.
    fn shorten(
        &self,
        reading: &Analysis,
        (kind, command, why): (SuggestionKind, String, String),
        forecast: Forecast,
        is_meant: &dyn Fn(&Block) -> bool,
    ) -> Option<Suggestion> {
        let (preset, command) = (self.rules.preset, self.command(&command));
        if let Forecast::Planned(price) = forecast {
            let price = price.filter(|price| price.saved_tokens >= WORTH_SAYING * reading.price.total.value)?;
            return Some(Suggestion { planned: true, ..suggestion(kind, command, why, &price) });
        }
        let newest = newest(reading, preset.newest_percent);
        let worth = |block: &&Block| may_go(block) && is_meant(block) && block.tokens.value > WORTH_A_LINE;
        let removed = |block: &Block| (block.number, (block.tokens.value - LINE) * share(&preset, block, &newest));
        let drops = preset.drops_thinking && kind == SuggestionKind::Preset;
        let thinking = old_thinking(reading).filter(|_| drops).map(|block| (block.number, block.tokens.value));
        let gone: Vec<_> = reading.in_window().filter(worth).map(removed).chain(thinking).collect();
        let price = self.worth_saying(reading, &gone)?;
        Some(suggestion(kind, command, why, &price))
    }

    fn archive(&self, reading: &Analysis) -> Option<Suggestion> {
        let superseded = |block: &&Block| block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes());
        let stale = reading.in_window().filter(|block| block.state == State::Stale && is_free(block));
        let long = stale.filter(superseded).filter(|block| block.tokens.value > LINE);
        let gone: Vec<_> = long.map(|block| (block.number, block.tokens.value - LINE)).collect();
        let price = self.worth_saying(reading, &gone)?;
        let why = format!("later results repeat {}", plural(gone.len(), "block"));
        Some(suggestion(SuggestionKind::Archive, self.command("archive 'stale & superseded'"), why, &price))
    }

    /// Suggests expanding the hottest block that was used after it was shortened and fits into half of the free tokens.
    fn expand(&self, reading: &Analysis) -> Option<Suggestion> {
        let grows = |block: &Block| block.marker.map_or(0.0, |marker| marker.tokens - block.tokens.value);
        let room = reading.remaining() as f64 / 2.0;
        let shortened = reading.in_window().filter(|block| block.state == State::Compressed && block.usefulness.references > 0);
        let fitting = shortened.filter(|block| grows(block) > 0.0 && grows(block) <= room);
        let used = fitting.filter(|block| self.is_used_since_change(reading, block));
        let hottest = used.max_by(|a, b| a.usefulness.heat.total_cmp(&b.usefulness.heat).then(b.number.cmp(&a.number)))?;
        let price = self.price(reading, -grows(hottest), hottest.number, false);
        let command = self.command(&format!("expand {}", hottest.number));
        Some(suggestion(SuggestionKind::Expand, command, "in use, and there is room for it".to_owned(), &price))
    }

    /// Returns true if a block was referenced after the last operation that changed it: else the advice would contradict a command
    /// that was just given.
    fn is_used_since_change(&self, reading: &Analysis, block: &Block) -> bool {
        let changes = |operation: &&Operation| {
            let mut changes = operation.edits.iter().filter_map(|edit| edit.change.as_ref());
            changes.any(|change| change.number == block.number)
        };
        let Some(operation) = self.history.operations.iter().rev().find(changes) else { return true };
        let last_row = reading.session.rows.iter().position(|row| row.id.is_some() && row.id == operation.last_row);
        let before = |other: &&Block| last_row.is_some_and(|row| other.row as usize <= row);
        let step = reading.session.blocks.iter().filter(before).map(|block| block.position.step).max();
        block.usefulness.last_step.is_some_and(|last| Some(last) > step)
    }

    /// Returns the price of a change that removes these tokens of some blocks; `None` if it saves too little.
    fn worth_saying(&self, reading: &Analysis, gone: &[(BlockNumber, f64)]) -> Option<EditPrice> {
        let saved: f64 = gone.iter().map(|(_, tokens)| tokens).sum();
        let first = gone.iter().map(|(number, _)| *number).min();
        let first = first.filter(|_| saved >= WORTH_SAYING * reading.price.total.value)?;
        Some(self.price(reading, saved, first, self.binds_thinking))
    }

    /// Returns the cost and savings of removing tokens, starting at a block. Thinking after it may be dropped as well.
    fn price(&self, reading: &Analysis, saved: f64, first: BlockNumber, thinking_goes: bool) -> EditPrice {
        let total = reading.price.total.value;
        let (mut before, mut thinking, mut behind) = (reading.price.outside.value, 0.0, false);
        let goes = |block: &Block| {
            thinking_goes
                && block.kind == BlockKind::Thinking
                && binding_of(&reading.session, &reading.model, block) != Binding::Free
        };
        for block in reading.in_window() {
            behind |= block.number == first;
            match behind {
                false => before += block.tokens.value,
                true if goes(block) => thinking += block.tokens.value,
                true => {}
            }
        }
        let facts = EditFacts {
            window_before: total,
            window_after: (total - saved - thinking).max(0.0),
            unchanged_prefix: before,
            model: &reading.model,
            idle_milliseconds: idle_milliseconds(reading, self.now),
            cache_lifetime_milliseconds: self.cache_lifetime_milliseconds,
            steps_per_turn: steps_per_turn(reading),
        };
        price(&facts, self.prices)
    }
}

fn suggestion(kind: SuggestionKind, command: String, why: String, price: &EditPrice) -> Suggestion {
    let (saved_tokens, pays_back_turns) = (price.saved_tokens, price.pays_back_turns);
    Suggestion { kind, command, why, saved_tokens, pays_back_turns, price: Some(*price), planned: false }
}

/// Returns true if compress may shorten a block, as far as the analysis shows.
fn may_go(block: &Block) -> bool {
    block.level == Level::Original && is_perishable(block) && !instructs(block) && is_free(block)
}

fn share(preset: &Preset, block: &Block, newest: &FxHashSet<BlockNumber>) -> f64 {
    let shares = SHARES.iter().find(|shares| shares.preset == preset.name).unwrap_or(&USUAL);
    match block.kind {
        _ if newest.contains(&block.number) => shares.newest,
        BlockKind::ToolUse => shares.uses,
        _ => shares.results,
    }
}

/// Rounds a budget down to two significant digits.
fn round_down(tokens: u64) -> u64 {
    let unit = 10u64.pow(tokens.checked_ilog10().unwrap_or(0).saturating_sub(1));
    tokens / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::selector::amount;
    use crate::engine::{Capacity, PRESETS};
    use crate::model::{
        BlockChange, Key, LoggedEdit, Marker, OperationKind, Role, Row, RowAddress, RowKind, Session, Slot, Window,
    };

    #[test]
    fn every_preset_has_its_shares_and_a_stronger_one_larger_ones() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        assert_eq!(SHARES.iter().map(|shares| shares.preset).collect::<Vec<_>>(), names);
        for pair in SHARES.windows(2) {
            assert!(pair[0].results < pair[1].results && pair[0].uses < pair[1].uses && pair[0].newest < pair[1].newest);
        }
    }

    #[test]
    fn a_budget_is_written_as_it_is_read() {
        for tokens in [1, 9, 10, 99, 101, 1_999, 119_999, 120_000, 600_000, 1_260_000] {
            let rounded = round_down(tokens);
            assert!(rounded <= tokens && rounded * 10 >= tokens * 9, "{tokens}: {rounded}");
            assert_eq!(amount(&crate::engine::amount(rounded)), Some(rounded as f64), "{tokens}");
        }
    }

    fn advice<'a>(rules: &'a Rules, prices: &'a Prices, history: &'a History) -> Advice<'a> {
        let (stale, preset) = (Forecast::Planned(None), Forecast::Planned(None));
        let (now, cache_lifetime_milliseconds, binds_thinking, session) = (0, 0, false, "6666");
        Advice { rules, prices, now, cache_lifetime_milliseconds, binds_thinking, stale, preset, session, history }
    }

    #[test]
    fn the_session_is_named_in_the_command() {
        let (rules, prices, history) = (Rules::default(), Prices::default(), History::default());
        for (session, command) in [("6666", "aperture expand 3 -s 6666"), ("it's", r"aperture expand 3 -s 'it'\''s'")] {
            assert_eq!(Advice { session, ..advice(&rules, &prices, &history) }.command("expand 3"), command);
        }
    }

    /// An analysis of three blocks in three steps, of which the first is shortened and was last used in a step.
    fn reading(last_step: u32) -> Analysis {
        let mut session = Session::default();
        for number in 1..=3 {
            let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
            block.position.step = number;
            session.add(Row { id: Some(Key(number.into())), ..Row::new(RowKind::User) }, [block]);
        }
        let first = &mut session.blocks[0];
        (first.state, first.usefulness.references, first.usefulness.last_step) = (State::Compressed, 2, Some(last_step));
        first.marker = Some(Marker { number: 1, level: Level::Minimal, tokens: 900.0 });
        let window = Window { blocks: vec![1, 2, 3], ..Window::default() };
        let capacity = Capacity { tokens: 200_000, ..Capacity::default() };
        Analysis { session, window, capacity, ..Analysis::default() }
    }

    #[test]
    fn a_block_is_expanded_only_if_it_was_used_since_it_was_shortened() {
        let (rules, prices) = (Rules::default(), Prices::default());
        let change = BlockChange { number: 1, ..BlockChange::default() };
        let row = RowAddress { id: Key(1), occurrence: 0 };
        let edit = LoggedEdit { row, slot: Slot::Content(0), before: None, after: None, change: Some(change) };
        let changed = Operation { edits: vec![edit], last_row: Some(Key(2)), ..Operation::example(1, OperationKind::Change) };
        let suggests = |operations: &[Operation], last_step| {
            let history = History { operations: operations.to_vec(), ..History::default() };
            advice(&rules, &prices, &history).expand(&reading(last_step)).is_some()
        };
        assert!(suggests(&[], 2), "shortened by another program");
        assert!(!suggests(std::slice::from_ref(&changed), 2), "used before the change only");
        assert!(suggests(&[changed], 3), "used since");
    }
}
