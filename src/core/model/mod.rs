//! The terms of aperture as values: sessions, rows, blocks, turns, token counts.
//!
//! This layer reads no file, clock or environment; all other layers use these types.

mod block;
mod conventions;
mod flags;
mod history;
mod housekeeping;
mod json;
mod key;
mod life_cycle;
pub mod limits;
mod media;
mod memory;
mod operation;
pub mod paths;
mod proposal;
mod reply;
mod response_usage;
mod row;
mod session;
mod session_id;
mod skip_reason;
mod tokens;
mod trace;
mod turn_list;
mod turn_opening;
mod unneeded;
mod window;
mod window_change;
mod words;

pub use block::{Block, BlockKind, BlockNumber, Cut, CutLimit, Excerpts, Keywords, Marker, Refusal, Role, Tool, ToolVerb, Topic};
pub use conventions::{
    Conventions, ENVELOPE_LINES, InputNames, Merge, PlanList, PlanNames, patch_in_text, starts_with_any, strings,
};
pub use flags::Flags;
pub use history::{History, Snapshot};
pub use housekeeping::{FENCE, Housekeeping, PromptNotes};
pub use json::{As, Estimated, JsonOf, Measured, Time, json_forms};
pub use key::{JsonText, Key, as_text};
pub use life_cycle::{Level, Outdated, Pin, Position, State, Usefulness, Zone};
pub use media::{Document, Image, ImageFormat, Media, MediaFault, NO_MEDIA};
pub use memory::{
    Candidate, FileChange, Memory, MemoryActor, MemoryCategory, MemoryFile, MemoryId, MemoryKind, MemoryOperation, MemoryRead,
    MemoryScope, MemoryState, Sighting,
};
pub use operation::{
    Actor, Address, BlockChange, BlockEdit, CompanionEdit, Delta, Edit, Hunk, LoggedEdit, LoggedHunk, Mark, MarkAddress,
    MarkKind, Operation, OperationId, OperationKind, OperationState, Plan, Reversal, RowAddress, Slot,
};
pub use proposal::{CommandPlace, MessageId, Proposal, ProposalNumber, ProposalStatus, ReportedMessage, Verb};
pub use reply::{ReplyPart, WithheldReply};
pub use response_usage::{
    BilledTokens, FileUsage, LEAST_RECORDED, Lineage, OutputRule, ResponseUsage, Written, most_tokens_sent,
};
pub use row::{Damage, Event, Fault, Origin, PlanChange, QueueChange, Row, RowKind, ThinkingScope, WaitingPrompts};
pub use session::{Inherited, SecretPlace, Segment, Session, Vocabulary};
pub use session_id::{id_starts_with, is_subagent_id, request_id, request_path, session_name, session_prefix, split_id};
pub use skip_reason::SkipReason;
pub use tokens::{Basis, Counts, TokenCount};
pub use trace::{EventPlace, PromptSource, TraceCall, TraceContent, TraceEvent, TraceResult};
pub use turn_list::{TurnList, TurnListError};
pub use turn_opening::{PromptSpeaker, TurnOpenings};
pub use unneeded::{Unneeded, UnneededAmount, UnneededData};
pub use window::{Hidden, HistoryCut, Turn, Window, WindowEvidence};
pub use window_change::{AddressCounter, BlockAddress, Edge, NewContent, Rendered, SentContent, WindowChange, WindowHunk, Words};
pub use words::{texts, words};
