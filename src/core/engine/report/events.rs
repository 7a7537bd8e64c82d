//! Activity events between two analyses of a session.

use crate::engine::{Analysis, Suggestion, entry, mask};
use crate::model::{
    Actor, As, Block, BlockKind, BlockNumber, Estimated, History, Key, Level, Measured, Operation, OperationId, OperationKind,
    Pin, ProposalNumber, Role, State, Time, TokenCount, Zone,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// An event of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ActivityEvent {
    /// The watch of a session began.
    SessionOpened(OpenedSession),
    /// The file now holds another conversation.
    SessionReplaced(OpenedSession),
    /// The file is missing or cannot be read.
    SessionUnavailable { reason: String },
    /// Another session of the project was written to.
    SessionUpdated(OtherSession),
    /// A prompt started a turn.
    TurnStarted {
        /// Turn, from 1.
        turn: usize,
        /// Beginning of the prompt.
        prompt: String,
    },
    /// Blocks were added, changed or removed.
    BlocksUpdated {
        /// Updated blocks, in file order.
        blocks: Vec<BlockUpdate>,
        /// Number of blocks removed at the end of the file.
        removed: usize,
    },
    /// The tokens or the size of the window changed.
    TokenCountChanged(TokenCountChange),
    /// The user pinned, unpinned, focused or unfocused blocks.
    SelectionChanged(SelectionChange),
    /// aperture executed a command on the session.
    CommandExecuted(ExecutedCommand),
    /// The suggestions changed.
    SuggestionsChanged {
        /// Suggested commands, the most urgent first.
        suggestions: Vec<Suggestion>,
    },
    /// Other commands of the model wait for an answer of the user than before.
    CommandsProposed {
        /// Commands that wait, with their numbers in the inbox.
        proposals: Vec<ProposedCommand>,
    },
    /// An answer ended in which the model changed its context.
    ContextChangedByModel {
        /// Changes, as a sentence.
        summary: String,
    },
    /// Memories were learned from the session after it ended or went idle.
    MemoriesLearned {
        /// Number of entries that are new, or others than before.
        count: usize,
    },
    /// A rule of the settings could not act.
    PolicyRefused { reason: String },
}

/// A command of the model that waits for an answer of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProposedCommand {
    /// Number in the inbox.
    pub number: ProposalNumber,
    pub command: String,
}

/// A change of the tokens or the size of the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TokenCountChange {
    /// Tokens of the window before.
    pub tokens_before: TokenCount,
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// Size of the window.
    pub capacity_tokens: u64,
    /// Share of the window that is in use.
    pub percent: f64,
    /// Free part of the window.
    pub remaining_tokens: u64,
}

/// A session at the beginning of its watch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenedSession {
    /// Title, or the first prompt.
    pub title: String,
    /// Model of the last response.
    pub model: String,
    /// Number of blocks in the file.
    pub blocks: usize,
    pub turns: usize,
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// Size of the window.
    pub capacity_tokens: u64,
    /// Share of the window that is in use.
    pub percent: f64,
}

/// Another session of the project.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherSession {
    /// Session id.
    pub id: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Tokens of its window at the last response.
    #[serde(with = "As::<Measured>")]
    pub tokens: u64,
    /// Share of its window that is in use.
    pub percent: f64,
    /// Time of the last change of its file.
    #[serde(with = "As::<Time>")]
    pub modified_time: i64,
}

/// A change of a block between two updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// A new block.
    Added,
    /// A block that became shorter.
    Shortened,
    /// A shortened block with more of its original content.
    Expanded,
    /// A block with another content.
    Rewritten,
    /// A block that left the window.
    Evicted,
    /// A block that is in the window again.
    Returned,
    /// A block that went stale.
    WentStale,
    /// A stale block that is in use again.
    Revived,
    /// A block with another state for any other reason.
    Aged,
}

/// An updated block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockUpdate {
    pub number: BlockNumber,
    pub update: Update,
    pub role: Role,
    pub kind: BlockKind,
    /// Short description.
    pub label: String,
    pub tokens: TokenCount,
    /// Position in the window.
    pub zone: Zone,
    pub state: State,
    /// Previous state; null for a new block.
    pub state_before: Option<State>,
    pub level: Level,
    /// Reason why the block is stale.
    pub reason: Option<String>,
}

/// Changed pins and focus marks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SelectionChange {
    /// Blocks that were pinned, or pinned at another place.
    pub pinned: Vec<BlockNumber>,
    /// Blocks that were unpinned.
    pub unpinned: Vec<BlockNumber>,
    /// Blocks that were focused.
    pub focused: Vec<BlockNumber>,
    /// Blocks that were unfocused.
    pub unfocused: Vec<BlockNumber>,
}

/// An executed command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExecutedCommand {
    pub operation: OperationId,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// Command, with credentials masked.
    pub command: String,
    /// Origin of the command.
    pub actor: Actor,
    /// Time of the operation.
    #[serde(with = "As::<Time>")]
    pub executed_time: i64,
    /// Number of changed or marked blocks.
    pub blocks: usize,
    /// Tokens of the window before.
    #[serde(with = "As::<Estimated>")]
    pub tokens_before: f64,
    /// Tokens of the window after.
    #[serde(with = "As::<Estimated>")]
    pub tokens_after: f64,
}

impl ExecutedCommand {
    /// Summarizes an operation. Credentials in the command are masked.
    pub fn from_operation(operation: &Operation) -> ExecutedCommand {
        let changed = operation.edits.iter().filter(|edit| edit.change.is_some()).count();
        ExecutedCommand {
            operation: operation.id,
            kind: operation.kind,
            command: mask(&operation.command).into_owned(),
            actor: operation.actor,
            executed_time: operation.time,
            blocks: changed + operation.marks.len(),
            tokens_before: operation.tokens_before,
            tokens_after: operation.tokens_after,
        }
    }
}

/// State of an analysis that is kept for comparison with the next one.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    blocks: Vec<SeenBlock>,
    turns: usize,
    tokens: Option<TokenCount>,
    capacity: u64,
    operation: OperationId,
    suggested: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct SeenBlock {
    row: Option<Key>,
    index: u32,
    hash: Key,
    level: Level,
    state: State,
    pin: Option<Pin>,
    focused: bool,
}

impl SeenBlock {
    fn new(block: &Block, reading: &Analysis) -> SeenBlock {
        SeenBlock {
            row: reading.session.rows[block.row as usize].id,
            index: block.index,
            hash: block.hash,
            level: block.level,
            state: block.state,
            pin: block.pin,
            focused: block.focused,
        }
    }

    /// Returns true if it is the same block, possibly changed. A block of a row without an identity is compared by its content.
    fn is_same(&self, now: &SeenBlock) -> bool {
        (self.row, self.index) == (now.row, now.index) && (self.row.is_some() || self.hash == now.hash)
    }
}

impl Seen {
    /// Returns the state of an analysis to compare the next one with.
    pub fn from_analysis(reading: &Analysis, history: &History, suggestions: &[Suggestion]) -> Seen {
        Seen {
            blocks: reading.session.blocks.iter().map(|block| SeenBlock::new(block, reading)).collect(),
            turns: reading.turns.len(),
            tokens: Some(reading.price.total),
            capacity: reading.capacity.tokens,
            operation: history.last(),
            suggested: suggestions.iter().map(|suggestion| suggestion.command.clone()).collect(),
        }
    }

    /// Returns the events up to a later analysis of the same file, in report order.
    pub fn until(&self, reading: &Analysis, history: &History, suggestions: &[Suggestion], title: &str) -> Vec<ActivityEvent> {
        let now: Vec<SeenBlock> = reading.session.blocks.iter().map(|block| SeenBlock::new(block, reading)).collect();
        let same = self.blocks.iter().zip(&now).take_while(|(before, now)| before.is_same(now)).count();
        if same == 0 && !self.blocks.is_empty() {
            return vec![ActivityEvent::SessionReplaced(opened(reading, title))];
        }
        let mut happenings = Vec::new();
        let executed = history.operations.iter().filter(|operation| operation.id > self.operation);
        happenings.extend(executed.map(|operation| ActivityEvent::CommandExecuted(ExecutedCommand::from_operation(operation))));
        let turns = reading.turns.iter().enumerate().skip(self.turns);
        happenings.extend(
            turns.map(|(place, turn)| ActivityEvent::TurnStarted { turn: place + 1, prompt: mask(&turn.prompt).into_owned() }),
        );
        let blocks: Vec<BlockUpdate> = now
            .iter()
            .zip(&reading.session.blocks)
            .enumerate()
            .filter_map(|(place, (now, block))| {
                let before = self.blocks[..same].get(place);
                Some(updated(block, before.map(|before| before.state), update(before, now)?))
            })
            .collect();
        let removed = self.blocks.len() - same;
        if !blocks.is_empty() || removed > 0 {
            happenings.push(ActivityEvent::BlocksUpdated { blocks, removed });
        }
        let selection = self.selection(&now, same);
        if selection != SelectionChange::default() {
            happenings.push(ActivityEvent::SelectionChanged(selection));
        }
        let (tokens, capacity_tokens) = (reading.price.total, reading.capacity.tokens);
        if let Some(tokens_before) = self.tokens
            && (tokens_before.round(), self.capacity) != (tokens.round(), capacity_tokens)
        {
            let (percent, remaining_tokens) = (reading.percent(), reading.remaining());
            let change = TokenCountChange { tokens_before, tokens, capacity_tokens, percent, remaining_tokens };
            happenings.push(ActivityEvent::TokenCountChanged(change));
        }
        if !suggestions.iter().map(|suggestion| &suggestion.command).eq(&self.suggested) {
            happenings.push(ActivityEvent::SuggestionsChanged { suggestions: suggestions.to_vec() });
        }
        happenings
    }

    fn selection(&self, now: &[SeenBlock], same: usize) -> SelectionChange {
        let marked = |blocks: &[SeenBlock], test: &dyn Fn(&SeenBlock) -> bool| -> BTreeSet<BlockNumber> {
            (1..).zip(blocks).filter(|(_, block)| test(block)).map(|(number, _)| number).collect()
        };
        let before = &self.blocks[..same];
        let less = |a: BTreeSet<BlockNumber>, b: &BTreeSet<BlockNumber>| a.difference(b).copied().collect();
        let (pinned, was_pinned) = (marked(now, &|block| block.pin.is_some()), marked(before, &|block| block.pin.is_some()));
        let (focused, was_focused) = (marked(now, &|block| block.focused), marked(before, &|block| block.focused));
        let moved = |number: &BlockNumber| {
            let place = *number as usize - 1;
            before.get(place).is_none_or(|before| before.pin != now[place].pin)
        };
        SelectionChange {
            unpinned: less(was_pinned, &pinned),
            pinned: pinned.into_iter().filter(moved).collect(),
            unfocused: less(was_focused.clone(), &focused),
            focused: less(focused, &was_focused),
        }
    }
}

/// Returns the state of a session at the start of a watch.
pub fn opened(reading: &Analysis, title: &str) -> OpenedSession {
    OpenedSession {
        title: title.to_owned(),
        model: reading.model.clone(),
        blocks: reading.session.blocks.len(),
        turns: reading.turns.len(),
        tokens: reading.price.total,
        capacity_tokens: reading.capacity.tokens,
        percent: reading.percent(),
    }
}

/// Returns the change of a block, the first that applies.
fn update(before: Option<&SeenBlock>, now: &SeenBlock) -> Option<Update> {
    let Some(before) = before else { return Some(Update::Added) };
    Some(match (before.state, now.state) {
        _ if now.level > before.level => Update::Shortened,
        _ if now.level < before.level => Update::Expanded,
        _ if now.hash != before.hash => Update::Rewritten,
        (was, is) if was == is => return None,
        (_, State::Evicted) => Update::Evicted,
        (State::Evicted, _) => Update::Returned,
        (_, State::Stale) => Update::WentStale,
        (State::Stale, _) => Update::Revived,
        _ => Update::Aged,
    })
}

fn updated(block: &Block, state_before: Option<State>, update: Update) -> BlockUpdate {
    let entry = entry(block);
    BlockUpdate {
        number: block.number,
        update,
        role: block.role,
        kind: block.kind,
        label: entry.label,
        tokens: block.tokens,
        zone: block.position.zone,
        state: block.state,
        state_before,
        level: block.level,
        reason: entry.reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Row, RowKind, Session, Turn, Window};

    /// Creates an analysis of blocks, each in its own row with the given identity.
    fn reading(rows: &[u128]) -> Analysis {
        let mut session = Session::default();
        for id in rows {
            let block = Block { hash: Key(*id), ..Block::new(BlockKind::ToolResult, Role::ToolResult) };
            session.add(Row { id: Some(Key(*id)), ..Row::new(RowKind::User) }, [block]);
        }
        let window = Window { blocks: (1..=rows.len() as u32).collect(), ..Window::default() };
        Analysis { session, window, ..Analysis::default() }
    }

    fn history(commands: &[&str]) -> History {
        let operation = |(command, id): (&&str, OperationId)| Operation {
            command: (*command).to_owned(),
            tokens_before: 9.0,
            tokens_after: 5.0,
            ..Operation::example(id, OperationKind::Change)
        };
        History { operations: commands.iter().zip(1..).map(operation).collect(), ..History::default() }
    }

    /// Returns the events between two analyses, one short line each.
    fn between(before: &Analysis, after: &Analysis) -> Vec<String> {
        let none = History::default();
        lines(&Seen::from_analysis(before, &none, &[]).until(after, &none, &[], "title"))
    }

    fn lines(happenings: &[ActivityEvent]) -> Vec<String> {
        let line = |happening: &ActivityEvent| match happening {
            ActivityEvent::BlocksUpdated { blocks, removed } => {
                let updates = blocks.iter().map(|block| format!("{:?} {}", block.update, block.number));
                let removed = (*removed > 0).then(|| format!("removed {removed}"));
                updates.chain(removed).collect::<Vec<_>>().join(", ")
            }
            ActivityEvent::SelectionChanged(change) => format!("{change:?}").replace("SelectionChange", ""),
            ActivityEvent::TokenCountChanged(change) => {
                format!("{} → {} of {}", change.tokens_before.round(), change.tokens.round(), change.capacity_tokens)
            }
            ActivityEvent::CommandExecuted(executed) => format!("{} {}", executed.operation, executed.command),
            ActivityEvent::TurnStarted { turn, prompt } => format!("turn {turn}: {prompt}"),
            ActivityEvent::SessionReplaced(opened) => format!("replaced by {} blocks", opened.blocks),
            other => format!("{other:?}"),
        };
        happenings.iter().map(line).collect()
    }

    #[test]
    fn rows_come_stay_and_go() {
        assert_eq!(between(&reading(&[]), &reading(&[])), [""; 0]);
        assert_eq!(between(&reading(&[1, 2]), &reading(&[1, 2])), [""; 0]);
        let check = |before: &[u128], after: &[u128], expected: &[&str]| {
            assert_eq!(between(&reading(before), &reading(after)), expected, "{before:?} {after:?}");
        };
        check(&[], &[1], &["Added 1"]);
        check(&[1], &[1, 2, 3], &["Added 2, Added 3"]);
        check(&[1, 2, 3], &[1], &["removed 2"]);
        check(&[1, 2, 3], &[1, 4], &["Added 2, removed 2"]);
        check(&[1, 2], &[3, 4, 5], &["replaced by 3 blocks"]);
        check(&[1, 2], &[], &["replaced by 0 blocks"]);
    }

    #[test]
    fn each_change_of_a_block_has_its_word() {
        let check = |before: &dyn Fn(&mut Block), after: &dyn Fn(&mut Block), expected: &[&str]| {
            let (mut old, mut new) = (reading(&[1, 2]), reading(&[1, 2]));
            before(&mut old.session.blocks[1]);
            after(&mut new.session.blocks[1]);
            assert_eq!(between(&old, &new), expected);
        };
        let state = |state: State| move |block: &mut Block| block.state = state;
        let level = |level: Level| move |block: &mut Block| (block.level, block.hash) = (level, Key(level as u128 + 9));
        check(&state(State::Fresh), &state(State::Active), &["Aged 2"]);
        check(&state(State::Active), &state(State::Stale), &["WentStale 2"]);
        check(&state(State::Stale), &state(State::Referenced), &["Revived 2"]);
        check(&state(State::Stale), &state(State::Evicted), &["Evicted 2"]);
        check(&state(State::Evicted), &state(State::Stale), &["Returned 2"]);
        check(&level(Level::Original), &level(Level::Minimal), &["Shortened 2"]);
        check(&level(Level::Archived), &level(Level::Trimmed), &["Expanded 2"]);
        check(&|_| (), &|block| block.hash = Key(77), &["Rewritten 2"]);
        let pinned = |pin: Pin| move |block: &mut Block| block.pin = Some(pin);
        let selection = |change: &str| format!(" {{ {change} }}");
        let all = |change: [&str; 4]| {
            let names = ["pinned", "unpinned", "focused", "unfocused"];
            let fields: Vec<String> = names.iter().zip(change).map(|(name, value)| format!("{name}: [{value}]")).collect();
            selection(&fields.join(", "))
        };
        check(&|_| (), &pinned(Pin::Here), &[&all(["2", "", "", ""])]);
        check(&pinned(Pin::Here), &pinned(Pin::Top), &[&all(["2", "", "", ""])]);
        check(&pinned(Pin::Here), &|block| block.focused = true, &[&all(["", "2", "2", ""])]);
        check(&|block| block.focused = true, &|_| (), &[&all(["", "", "", "2"])]);
    }

    #[test]
    fn other_events_are_reported() {
        let (mut before, mut after) = (reading(&[1]), reading(&[1]));
        before.price.total = TokenCount::measured(100);
        after.price.total = TokenCount::measured(140);
        (before.capacity.tokens, after.capacity.tokens) = (1000, 1000);
        after.turns.push(Turn { prompt: "password=hunter2hunter2".to_owned(), ..Turn::default() });
        let suggestion = Suggestion {
            kind: crate::engine::SuggestionKind::Compress,
            command: "aperture compress --stale".to_owned(),
            why: String::new(),
            saved_tokens: 0.0,
            pays_back_turns: None,
            price: None,
            planned: false,
        };
        let seen = Seen::from_analysis(&before, &history(&["pin 1"]), &[]);
        let log = history(&["pin 1", "create password=hunter2hunter2"]);
        let told = seen.until(&after, &log, std::slice::from_ref(&suggestion), "");
        assert_eq!(
            lines(&told[..3]),
            ["2 create password=[secret:password]", "turn 1: password=[secret:password]", "100 → 140 of 1000"]
        );
        assert!(matches!(&told[3..], [ActivityEvent::SuggestionsChanged { suggestions }] if suggestions.len() == 1));
        let seen = Seen::from_analysis(&after, &log, std::slice::from_ref(&suggestion));
        assert!(seen.until(&after, &log, &[suggestion], "").is_empty());
    }
}
