//! Analysis of a session: turns, token costs, references, staleness, states, zones and topics of its blocks.

mod calls;
pub mod choices;
mod labels;
pub mod never_stale;
mod outdated;
pub mod references;
pub mod staleness_limits;
pub mod states;
mod successes;
mod topics;
mod turns;
mod zones;

pub use successes::{Step, Successes};

use crate::engine::cost::{capacity, tokens};
use crate::engine::{Known, StalePolicy};
use crate::model::{
    BilledTokens, Block, BlockNumber, Event, Fault, Key, Level, Role, Row, Session, State, TokenCount, Topic, Turn, Window,
    WindowEvidence, Zone,
};
use crate::text::clauses::is_assent;
use rustc_hash::{FxHashMap, FxHashSet};

/// Settings of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSettings {
    /// Window capacity of the model in tokens; overrides the built-in value.
    pub window_tokens: Option<u64>,
    /// Window sizes by the beginning of a model's name, over the built-in table.
    pub model_windows: Vec<(String, u64)>,
    pub stale: StalePolicy,
    /// Turns after which a selection of the user is forgotten.
    pub focus_turns: u32,
}

impl Default for ReadSettings {
    fn default() -> Self {
        ReadSettings { window_tokens: None, model_windows: Vec::new(), stale: StalePolicy::default(), focus_turns: 5 }
    }
}

/// Analysis of a session: the session with everything that was computed about it.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The session; its blocks contain the results of the analysis.
    pub session: Session,
    pub window: Window,
    /// The turns in file order.
    pub turns: Vec<Turn>,
    /// Responses of the model in the file.
    pub steps: u32,
    pub topics: Vec<Topic>,
    pub price: tokens::WindowTokens,
    pub capacity: capacity::Capacity,
    /// The model of the last response; empty if there is none.
    pub model: String,
    pub stale_policy: StalePolicy,
    /// The values that the session names as credentials.
    pub known: Known,
    /// The bills that are impossible, by their rows: the session is analyzed without them.
    pub impossible_bills: Vec<(u32, BilledTokens)>,
}

/// Makes a cheap partial analysis, turns and window only: nothing has a price, a use, a state or a topic, and of
/// the zones only cold storage is sure. `logged` is that of [`read`].
pub fn outline(
    mut session: Session,
    window: impl FnOnce(&Session) -> Window,
    settings: &ReadSettings,
    logged: &FxHashMap<usize, f64>,
) -> Analysis {
    levels(&mut session, logged);
    let (mut turns, steps) = turns::number(&mut session);
    calls::pair(&mut session);
    let window = window(&session);
    turns::divide(&mut turns, &session, &window);
    zones::place(&mut session, &window, steps);
    Analysis { session, window, turns, steps, stale_policy: settings.stale, ..Analysis::default() }
}

/// Writes into every block how much is left of it.
fn levels(session: &mut Session, logged: &FxHashMap<usize, f64>) {
    for (place, block) in session.blocks.iter_mut().enumerate() {
        // A marker line with another block's number is a quotation, unless the log has it: the block had that number then.
        block.marker = block.marker.filter(|marker| marker.number == block.number || logged.contains_key(&place));
        block.level = block.marker.map_or(Level::Original, |marker| marker.level);
    }
}

/// Analyzes a session. `window` comes from the provider: the blocks that would be sent. `logged` has the costs of shortened blocks in
/// tokens, by the index of each: they follow from the bills of their contents before.
pub fn read(
    mut session: Session,
    window: impl FnOnce(&Session) -> Window + Send,
    settings: &ReadSettings,
    logged: &FxHashMap<usize, f64>,
) -> Analysis {
    levels(&mut session, logged);
    let impossible = tokens::void_impossible(&mut session);
    let (mut turns, steps) = turns::number(&mut session);
    calls::pair(&mut session);
    let model = session.rows.iter().rev().find_map(|row| row.model.as_deref()).unwrap_or_default().to_owned();
    let ((window, found), (used, bills, faults)) = rayon::join(
        || {
            let window = window(&session);
            let topics = topics::find(&session, &window);
            (window, topics)
        },
        || {
            let bills = tokens::bills(&session, &model).with_known(logged);
            (references::trace(&session, turns.len() as u32, steps), bills, row_faults(&session))
        },
    );
    turns::divide(&mut turns, &session, &window);
    for (fault, count) in
        faults.into_iter().chain([(Fault::ImpossibleBill, responses(&session, &impossible))]).filter(|(_, count)| *count > 0)
    {
        session.damage.insert(fault, count);
    }
    let price = tokens::count_window(&mut session, &window, bills);
    for (block, usefulness) in session.blocks.iter_mut().zip(used) {
        block.usefulness = usefulness;
    }
    let mut topics = Vec::with_capacity(found.len());
    for (topic, blocks) in found {
        for number in blocks {
            session.blocks[number as usize - 1].topic = Some(topics.len() as u32);
        }
        topics.push(topic);
    }
    outdated::mark(&mut session, &window);
    zones::place(&mut session, &window, steps);
    let steps_per_turn = f64::from(steps) / turns.len().max(1) as f64;
    for block in &mut session.blocks {
        block.state = states::state(block, steps, &settings.stale);
        block.usefulness.turns_left = staleness_limits::turns_left(block, steps, &settings.stale, steps_per_turn);
    }
    for turn in &mut turns {
        turn.topic = turn.blocks.iter().find_map(|number| session.blocks[*number as usize - 1].topic);
    }
    let peak = session.rows.iter().filter_map(|row| row.usage).map(|usage| usage.sent()).max().unwrap_or_default();
    let evidence = WindowEvidence { stated_tokens: session.capacity, ..automatic_compaction(&session, &model) };
    let evidence = WindowEvidence { peak_tokens: peak.max(price.total.round()), ..evidence };
    let capacity = capacity::capacity(&model, &evidence, settings);
    let stale_policy = settings.stale;
    let impossible_bills = impossible;
    Analysis {
        session,
        window,
        turns,
        steps,
        topics,
        price,
        capacity,
        model,
        stale_policy,
        impossible_bills,
        ..Analysis::default()
    }
}

/// Returns the number of responses that bills of rows belong to.
fn responses(session: &Session, bills: &[(u32, BilledTokens)]) -> u32 {
    let message = |row: u32| session.rows[row as usize].message.unwrap_or(Key(u128::from(row)));
    bills.iter().map(|(row, _)| message(*row)).collect::<FxHashSet<Key>>().len() as u32
}

/// Returns the tokens at which the client last compacted the session by itself, if it did so with `model`, and the most in a request
/// since.
fn automatic_compaction(session: &Session, model: &str) -> WindowEvidence {
    let automatic = |row: &Row| match row.event.as_deref() {
        Some(Event::Compaction { automatic_at, .. }) => *automatic_at,
        _ => None,
    };
    let compaction = session.rows.iter().enumerate().rev().find_map(|(place, row)| Some((place, automatic(row)?)));
    let Some((place, tokens)) = compaction else { return WindowEvidence::default() };
    let (before, after) = session.rows.split_at(place);
    let is_same = before.iter().rev().find_map(|row| row.model.as_deref()).is_some_and(|before| before == model);
    let later_tokens = after.iter().filter_map(|row| row.usage).map(|usage| usage.sent()).max().unwrap_or_default();
    WindowEvidence { compacted_tokens: if is_same { tokens } else { 0 }, later_tokens, ..WindowEvidence::default() }
}

/// Returns the estimated cost of a window without a bill of its own: of each block of the session, by its index, and of all that is
/// sent.
pub fn unbilled_costs(session: &mut Session, window: &Window, model: &str) -> (Vec<f64>, f64) {
    levels(session, &FxHashMap::default());
    let bills = tokens::bills(session, model);
    let price = tokens::count_window(session, window, bills);
    (session.blocks.iter().map(|block| block.tokens.value).collect(), price.total.value)
}

/// Counts rows with a duplicate id and rows whose parent is missing.
fn row_faults(session: &Session) -> [(Fault, u32); 2] {
    let mut ids: FxHashSet<Key> = FxHashSet::with_capacity_and_hasher(session.rows.len(), Default::default());
    let twice = session.rows.iter().filter_map(|row| row.id).filter(|id| !ids.insert(*id)).count();
    let dangling = session.rows.iter().filter_map(|row| row.parent).filter(|parent| !ids.contains(parent)).count();
    [(Fault::DuplicateId, twice as u32), (Fault::DanglingParent, dangling as u32)]
}

impl Analysis {
    /// Adds the use of a block by a later answer, and derives its state again.
    pub fn add_echo(&mut self, number: BlockNumber, by: BlockNumber) {
        let Some(position) = self.block(by).map(|block| block.position) else { return };
        let (turns, steps) = (self.turns.len() as u32, self.steps);
        let steps_per_turn = f64::from(steps) / f64::from(turns.max(1));
        let place = (number as usize).checked_sub(1);
        let Some(block) = place.and_then(|place| self.session.blocks.get_mut(place)) else { return };
        references::add_use(&mut block.usefulness, position, (turns, steps));
        block.usefulness.echoed_by = Some(by);
        block.state = states::state(block, steps, &self.stale_policy);
        block.usefulness.turns_left = staleness_limits::turns_left(block, steps, &self.stale_policy, steps_per_turn);
    }

    /// Marks a result as repeated by a later one in other words.
    pub fn mark_alike(&mut self, number: BlockNumber, by: BlockNumber) {
        if let Some(block) = (number as usize).checked_sub(1).and_then(|place| self.session.blocks.get_mut(place)) {
            block.usefulness.alike = Some(by);
        }
    }

    /// Returns the number of the task, from 1, that a turn belongs to.
    pub fn task_of(&self, turn: u32) -> u32 {
        1 + self.turns.iter().take_while(|known| known.number <= turn).filter(|known| known.begins_task).count() as u32
    }

    pub fn turn(&self, number: u32) -> Option<&Turn> {
        let at_place = self.turns.get((number as usize).checked_sub(1)?).filter(|turn| turn.number == number);
        at_place.or_else(|| self.turns.iter().find(|turn| turn.number == number))
    }

    /// Returns the number of the last turn; 0 if there is none.
    pub fn last_turn(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.number)
    }

    pub fn block(&self, number: BlockNumber) -> Option<&Block> {
        self.session.blocks.get((number as usize).checked_sub(1)?)
    }

    /// Returns the directory to which paths are relative; empty if it is unknown.
    pub fn directory(&self) -> &str {
        self.session.latest_origin().map_or("", |origin| origin.directory.as_str())
    }

    /// The blocks of the window, in the order in which they are sent.
    pub fn in_window(&self) -> impl Iterator<Item = &Block> {
        self.window.blocks.iter().filter_map(|number| self.block(*number))
    }

    /// Returns the prompts that the client sent beside results of the window and recorded in no row of their own, each with the block
    /// that it follows.
    pub fn queued_words(&self) -> impl Iterator<Item = (BlockNumber, Box<str>)> {
        self.session.queued_words().into_iter().filter_map(|(before, words)| {
            let turn = self.block(before)?.position.turn;
            let is_before = |block: &&Block| block.number <= before && block.position.turn == turn;
            let places = self.in_window().filter(is_before).filter(|block| !matches!(block.role, Role::System | Role::Thinking));
            Some((places.map(|block| block.number).max()?, words))
        })
    }

    pub fn topic(&self, block: &Block) -> &str {
        block.topic.and_then(|topic| self.topics.get(topic as usize)).map_or("", Topic::name)
    }

    /// Returns the number of blocks in a zone and their total cost.
    pub fn zone(&self, zone: Zone) -> (u32, TokenCount) {
        let blocks = self.session.blocks.iter().filter(|block| block.position.zone == zone);
        (blocks.clone().count() as u32, blocks.map(|block| block.tokens).sum())
    }

    /// Returns the used share of the window, in percent.
    pub fn percent(&self) -> f64 {
        self.price.total.value / self.capacity.tokens.max(1) as f64 * 100.0
    }

    /// Returns the tokens that are free until the client compacts the session; 0 if the window is fuller.
    pub fn remaining(&self) -> u64 {
        self.capacity.free(self.price.total.round())
    }

    /// Returns true if the user left the turn of a block by a rewind or a rollback.
    pub fn is_left(&self, block: &Block) -> bool {
        self.window.is_left(block.row)
    }

    /// The first words of the last prompt that a person wrote and that does not only agree; of a session without one, those of the last
    /// prompt. Turns that the user left do not count.
    pub fn current_task(&self) -> Option<&str> {
        let opening = |turn: &Turn| turn.opening.and_then(|number| self.block(number));
        let is_typed = |turn: &&Turn| {
            // A command without arguments holds no words of the user.
            opening(turn).is_some_and(|block| !block.words.is_empty() || block.preview.starts_with('/'))
        };
        let is_left = |turn: &Turn| opening(turn).is_some_and(|block| self.is_left(block));
        let mut prompts = self.turns.iter().filter(|turn| !turn.prompt.is_empty() && !is_left(turn));
        let asks = |turn: &&Turn| is_typed(turn) && !is_assent(&turn.prompt);
        let last = prompts.clone().rfind(asks).or_else(|| prompts.clone().rfind(is_typed));
        last.or(prompts.next_back()).map(|turn| turn.prompt.as_str())
    }

    /// The stale blocks of the window, the most expensive first.
    pub fn stale(&self) -> Vec<&Block> {
        let mut stale: Vec<&Block> = self.in_window().filter(|block| block.state == State::Stale).collect();
        stale.sort_by(|a, b| b.tokens.value.total_cmp(&a.tokens.value).then(a.number.cmp(&b.number)));
        stale
    }

    /// Returns true if a block becomes stale unless it is used: an unshortened call, result or image before the newest part of the
    /// window that is neither stale nor pinned nor focused.
    pub fn is_aging(&self, block: &Block) -> bool {
        block.level == Level::Original
            && matches!(block.position.zone, Zone::Primacy | Zone::Middle)
            && !matches!(block.state, State::Stale | State::Fresh)
            && staleness_limits::is_perishable(block)
            && block.pin.is_none()
            && !block.focused
    }

    /// Returns the number and the total tokens of the aging blocks in the window.
    pub fn aging_total(&self) -> (usize, TokenCount) {
        let aging: Vec<TokenCount> = self.in_window().filter(|block| self.is_aging(block)).map(|block| block.tokens).collect();
        (aging.len(), aging.into_iter().sum())
    }

    /// Returns the number and the total tokens of the stale blocks in the window.
    pub fn stale_total(&self) -> (usize, TokenCount) {
        let stale = self.stale();
        (stale.len(), stale.iter().map(|block| block.tokens).sum())
    }

    /// Tokens by key over the blocks of the window, the most expensive first.
    pub fn tokens_by<K: std::hash::Hash + Eq + Ord + Clone>(
        &self,
        key: impl Fn(&Block) -> Option<K>,
    ) -> Vec<(K, u32, TokenCount)> {
        let mut sums: FxHashMap<K, (u32, TokenCount)> = FxHashMap::default();
        for block in self.in_window() {
            if let Some(key) = key(block) {
                let entry = sums.entry(key).or_insert((0, TokenCount::ZERO));
                *entry = (entry.0 + 1, entry.1 + block.tokens);
            }
        }
        let mut sums: Vec<(K, u32, TokenCount)> = sums.into_iter().map(|(key, (count, tokens))| (key, count, tokens)).collect();
        sums.sort_by(|a, b| b.2.value.total_cmp(&a.2.value).then_with(|| a.0.cmp(&b.0)));
        sums
    }
}
