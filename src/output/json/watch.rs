//! Events of `aperture watch`.

use super::changes::Suggestion;
use super::words::{Actor, BlockKind, Level, OperationKind, Role, State, Update, Zone};
use super::{Moment, Number, Time, ToJson, Tokens, estimated, measured};
use crate::engine::{self, ActivityEvent};
use crate::output;
use schemars::JsonSchema;
use serde::Serialize;

/// An event of a session that is watched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Time at which the event was seen.
    time: Time,
    /// Id of the watched session; empty if there is none yet.
    session: String,
    /// The event.
    #[serde(flatten)]
    details: Details,
}

impl ToJson for output::WatchEvent<'_> {
    type Json = Event;

    fn to_json(&self) -> Event {
        Event { time: Moment(self.time).to_json(), session: self.session.to_owned(), details: self.happening.to_json() }
    }
}

/// An event by its kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "event")]
pub enum Details {
    /// The watch of a session began.
    #[serde(rename = "session_opened")]
    SessionOpened(OpenedSession),
    /// The file now holds another conversation.
    #[serde(rename = "session_replaced")]
    SessionReplaced(OpenedSession),
    /// The file is missing or cannot be read.
    #[serde(rename = "session_unavailable")]
    SessionUnavailable {
        /// Reason.
        reason: String,
    },
    /// Another session of the project was written to.
    #[serde(rename = "session_updated")]
    SessionUpdated(OtherSession),
    /// A prompt started a turn.
    #[serde(rename = "turn_started")]
    TurnStarted {
        /// Turn, from 1.
        turn: u64,
        /// Beginning of the prompt.
        prompt: String,
    },
    /// Blocks were added, changed or removed.
    #[serde(rename = "blocks_updated")]
    BlocksUpdated {
        /// Updated blocks, in file order.
        blocks: Vec<BlockUpdate>,
        /// Number of blocks removed at the end of the file.
        removed: u64,
    },
    /// The tokens or the size of the window changed.
    #[serde(rename = "token_count_changed")]
    TokenCountChanged(TokenCountChange),
    /// The user pinned, unpinned, focused or unfocused blocks.
    #[serde(rename = "selection_changed")]
    SelectionChanged(SelectionChange),
    /// aperture executed a command on the session.
    #[serde(rename = "command_executed")]
    CommandExecuted(ExecutedCommand),
    /// The suggestions changed.
    #[serde(rename = "suggestions_changed")]
    SuggestionsChanged {
        /// Suggested commands, the most urgent first.
        suggestions: Vec<Suggestion>,
    },
    /// An answer ended in which the model changed its context.
    #[serde(rename = "context_changed_by_model")]
    ContextChangedByModel {
        /// Changes, as a sentence.
        summary: String,
    },
    /// Memories were learned from the session after it ended or went idle.
    #[serde(rename = "memories_learned")]
    MemoriesLearned {
        /// Number of entries that are new, or others than before.
        count: u64,
    },
    /// A rule of the settings could not act.
    #[serde(rename = "policy_refused")]
    PolicyRefused {
        /// Reason.
        reason: String,
    },
}

impl ToJson for ActivityEvent {
    type Json = Details;

    fn to_json(&self) -> Details {
        match self {
            ActivityEvent::SessionOpened(opened) => Details::SessionOpened(opened.to_json()),
            ActivityEvent::SessionReplaced(opened) => Details::SessionReplaced(opened.to_json()),
            ActivityEvent::SessionUnavailable { reason } => Details::SessionUnavailable { reason: reason.clone() },
            ActivityEvent::SessionUpdated(other) => Details::SessionUpdated(other.to_json()),
            ActivityEvent::TurnStarted { turn, prompt } => Details::TurnStarted { turn: turn.to_json(), prompt: prompt.clone() },
            ActivityEvent::BlocksUpdated { blocks, removed } => {
                Details::BlocksUpdated { blocks: blocks.to_json(), removed: removed.to_json() }
            }
            ActivityEvent::TokenCountChanged { before, tokens, capacity, percent, remaining } => {
                Details::TokenCountChanged(TokenCountChange {
                    tokens_before: before.to_json(),
                    tokens: tokens.to_json(),
                    capacity_tokens: *capacity,
                    percent: percent.to_json(),
                    remaining_tokens: *remaining,
                })
            }
            ActivityEvent::SelectionChanged(change) => Details::SelectionChanged(change.to_json()),
            ActivityEvent::CommandExecuted(executed) => Details::CommandExecuted(executed.to_json()),
            ActivityEvent::SuggestionsChanged { suggestions } => {
                Details::SuggestionsChanged { suggestions: suggestions.to_json() }
            }
            ActivityEvent::ContextChangedByModel { summary } => Details::ContextChangedByModel { summary: summary.clone() },
            ActivityEvent::MemoriesLearned { count } => Details::MemoriesLearned { count: count.to_json() },
            ActivityEvent::PolicyRefused { reason } => Details::PolicyRefused { reason: reason.clone() },
        }
    }
}

/// A change of the tokens or the size of the window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TokenCountChange {
    /// Tokens of the window before.
    tokens_before: Tokens,
    /// Tokens of the window.
    tokens: Tokens,
    /// Size of the window.
    #[schemars(extend("unit" = "tokens"))]
    capacity_tokens: u64,
    /// Share of the window that is in use.
    #[schemars(extend("unit" = "percent"))]
    percent: Number,
    /// Free part of the window.
    #[schemars(extend("unit" = "tokens"))]
    remaining_tokens: u64,
}

json_objects! {
    /// A session at the beginning of its watch.
    OpenedSession from opened: engine::Opened {
        /// Title, or the first prompt.
        title: String = opened.title,
        /// Model of the last response.
        model: String = opened.model,
        /// Number of blocks in the file.
        blocks: u64 = opened.blocks,
        /// Number of turns.
        turns: u64 ["turns"] = opened.turns,
        /// Tokens of the window.
        tokens: Tokens = opened.tokens,
        /// Size of the window.
        capacity_tokens: u64 ["tokens"] = opened.capacity,
        /// Share of the window that is in use.
        percent: Number ["percent"] = opened.percent,
    }

    /// Another session of the project.
    OtherSession from other: engine::OtherSession {
        /// Session id.
        id: String = other.id,
        /// Title, or the first prompt.
        title: String = other.title,
        /// Tokens of its window at the last response.
        tokens: Tokens = measured(other.tokens),
        /// Share of its window that is in use.
        percent: Number ["percent"] = other.percent,
        /// Time of the last change of its file.
        modified_time: Time = Moment(other.modified),
    }

    /// An updated block.
    BlockUpdate from block: engine::BlockUpdate {
        /// Block number.
        number: u32 = block.number,
        /// Update.
        update: Update = block.update,
        /// Author.
        role: Role = block.role,
        /// Kind of content.
        kind: BlockKind = block.kind,
        /// Short description.
        label: String = block.label,
        /// Cost.
        tokens: Tokens = block.tokens,
        /// Position in the window.
        zone: Zone = block.zone,
        /// State in the lifecycle.
        state: State = block.state,
        /// Previous state; null for a new block.
        state_before: Option<State> = block.state_before,
        /// Level of reduction.
        level: Level = block.level,
        /// Reason why the block is stale.
        reason: Option<String> = block.reason,
    }

    /// Changed pins and focus marks.
    SelectionChange from change: engine::SelectionChange {
        /// Blocks that were pinned, or pinned at another place.
        pinned: Vec<u32> = change.pinned,
        /// Blocks that were unpinned.
        unpinned: Vec<u32> = change.unpinned,
        /// Blocks that were focused.
        focused: Vec<u32> = change.focused,
        /// Blocks that were unfocused.
        unfocused: Vec<u32> = change.unfocused,
    }

    /// An executed command.
    ExecutedCommand from executed: engine::Executed {
        /// Operation in the log.
        operation: u32 = executed.operation,
        /// Kind of the operation.
        kind: OperationKind = executed.kind,
        /// Command, with credentials masked.
        command: String = executed.command,
        /// Origin of the command.
        actor: Actor = executed.actor,
        /// Time of the operation.
        executed_time: Time = Moment(executed.executed),
        /// Number of changed or marked blocks.
        blocks: u64 = executed.blocks,
        /// Tokens of the window before.
        tokens_before: Tokens = estimated(executed.tokens_before),
        /// Tokens of the window after.
        tokens_after: Tokens = estimated(executed.tokens_after),
    }
}
