//! Reports: the results of commands, as values, as text for people and as JSON.

mod accuracy;
mod advice;
mod blocks;
mod bulk;
mod change;
mod check;
mod diff;
mod error;
mod explain;
mod export;
mod file_groups;
mod fork;
mod format;
mod gate;
mod gc;
mod git_hook;
mod hook;
mod import;
mod inbox;
mod install;
mod instructions;
pub mod json;
mod log;
mod manifest;
mod memory;
mod memory_forms;
mod memory_recall;
mod obey;
mod pending;
mod placeholders;
mod preset;
mod price;
mod proxy;
mod proxy_forms;
mod recall;
mod sessions;
mod show;
mod snapshot;
mod stage;
mod status;
mod status_line;
mod style;
mod summary;
mod table;
mod tell;
mod transcript;
mod usage;
mod verify;
mod watch;

pub use crate::engine::{bytes, plural, unit};
pub use accuracy::{AccuracyReport, ModelAccuracy, SessionAccuracy, Spread};
pub use blocks::{BlockRow, BlocksReport, OutdatedReason, SortKey};
pub use bulk::{BulkOutcome, BulkReport, BulkRow, BulkTotals};
pub use change::{ChangeDetail, ChangeReport, MarkedBlock};
pub use check::{CheckFormat, CheckReport, CheckedSession};
pub use diff::DiffReport;
pub use error::ErrorReport;
pub use explain::{Decision, ExplainReport, HistoryEntry};
pub use export::ExportReport;
pub use fork::ForkReport;
pub use format::{age, clip, clip_start, numbered, padded, percent, printable, short_id, time, tokens, wrap};
pub use gate::{Clean, Gate};
pub use gc::{ForgettableSession, GcReport};
pub use git_hook::{GitHooksReport, InstalledHook};
pub use hook::{HookReport, changes_of};
pub use import::ImportReport;
pub use inbox::{InboxReport, InboxRow};
pub use install::{FileChange, InstallReport};
pub use instructions::InstructionsReport;
pub use log::{LogReport, LogRow, TurnActions};
pub use manifest::{ManifestReport, Tier};
pub use memory::{
    MemoryChangeReport, MemoryContradiction, MemoryDiffReport, MemoryExportReport, MemoryFileCounts, MemoryListReport,
    MemoryLogReport, MemoryLogRow, MemoryProblem, MemoryQuote, MemoryReviewReport, MemoryStatsReport, MemoryTree,
    MemoryTreesReport, MemoryWhyReport, memory_changes_in_words,
};
pub use memory_recall::{MemoryComposeReport, MemoryHitLine, MemoryLearnReport, MemoryLearnedProject, MemorySearchReport};
pub use obey::{ObeyReport, ObeyedCommand};
pub use pending::PendingChanges;
pub use placeholders::{Placeholders, PlaceholdersReport};
pub use preset::{PresetReport, PresetRow};
pub use price::lines as price_lines;
pub use proxy::{
    ProxyRequest, ProxyRequestReport, ProxyRequestsReport, ProxyStatus, ProxyStatusReport, ProxyTokens, RequestStage,
};
pub use recall::{RecallReport, RecalledBlock};
pub use sessions::{SessionRow, SessionsReport};
pub use show::{ShowReport, ShownBlock};
pub use snapshot::{SnapshotReport, SnapshotRow};
pub use stage::StageReport;
pub use status::{Share, StatusReport, degraded, unapplied};
pub use status_line::StatusLineReport;
pub use style::{Paint, Style};
pub use summary::{SummaryFormat, SummaryReport};
pub use tell::TellReport;
pub use transcript::{Headers, MessagePart, MessageText, PrunedRange, TranscriptReport, TranscriptStyle};
pub use usage::UsageReport;
pub use verify::{Finding, FindingKind, VerifiedSession, VerifyReport, WayBackKind};
pub use watch::{Arrived, Hot, WatchEvent, WatchScreen, WentStale};

pub use crate::engine::{amount, count};
use schemars::JsonSchema;
use serde::Serialize;

/// The form of the text of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
    /// Unmodified content, because the user explicitly requested it.
    Raw,
}

/// The result of a command.
pub trait Report: Serialize + JsonSchema {
    /// The name of the JSON form, such as `aperture.manifest/2`.
    const SCHEMA: &str;

    /// Returns the text for people, with a line feed at its end.
    fn text(&self, style: &Style) -> String;

    /// Returns the form of the text, which determines how it is cleaned.
    fn form(&self) -> Form {
        Form::Text
    }

    /// Returns the JSON form: one object, whose first key is `schema`.
    fn json(&self) -> String {
        json::indented(Self::SCHEMA, self)
    }
}
