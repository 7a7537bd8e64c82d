//! `aperture verify`: checks the store against the session files.

use super::BulkOptions;
use crate::app::{CommandError, Env, refusal};
use crate::commands::bulk;
use crate::commands::stored::stored;
use crate::model::{Address, BlockNumber, JsonText, OperationId, texts};
use crate::output::{Paint, Report, Style, bytes, clip, plural, printable, short_id};
use crate::store::{Store, StoredSession};
use crate::workspace::{DriftKind, FileState, Verified, Verifier, WayBack};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("verify"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

/// Runs all checks and reports the problems.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else {
        if arguments.bulk.project.is_some() {
            bulk::listed(env, &arguments.bulk)?;
        } else if !arguments.bulk.all_sessions {
            env.find(arguments.session.as_deref())?;
        }
        return env.print(&VerifyReport::default());
    };
    let mut report =
        VerifyReport { store: store.check().unwrap_or_else(|error| vec![error.to_string()]), ..VerifyReport::default() };
    let mut exit = Ok(());
    match verify_sessions(env, arguments, &store, &mut report) {
        Ok(outcome) => exit = outcome,
        // If the database is damaged, report as much as can be read.
        Err(error) if !report.store.is_empty() => report.store.push(format!("{:#}", error.source)),
        Err(error) => return Err(error),
    }
    env.print(&report)?;
    exit?;
    match report.problems() {
        0 => Ok(()),
        problems => Err(refusal!("{problems} problem{} found", if problems == 1 { " was" } else { "s were" })
            .hint("to restore values from an export: aperture import FILE; undo skips values that another program changed")),
    }
}

/// Adds the selected sessions to the report. Returns the error for the exit code of a run over many that was interrupted.
fn verify_sessions(
    env: &Env,
    arguments: &Arguments,
    store: &Store,
    report: &mut VerifyReport,
) -> Result<Result<(), CommandError>, CommandError> {
    report.sessions_in_store = store.sessions()?.len();
    let selected = if arguments.bulk.is_bulk() { Some(bulk::stored(env, store, &arguments.bulk)?) } else { None };
    let sound = sound(store, report)?;
    let now = env.style.now.as_millisecond();
    let verifier = Verifier { disk: env.disk, cache: env.cache(), store, settings: &env.settings, sound: &sound, now };
    let verify = |stored: &StoredSession| match verifier.verify(stored) {
        Ok(verified) => session(stored, &verified),
        Err(error) => unreadable(stored, error.to_string()),
    };
    let Some(selected) = selected else {
        report.sessions.extend(stored(env, store, arguments.session.as_deref())?.iter().map(verify));
        return Ok(Ok(()));
    };
    let visited = bulk::visit_with(env, selected, &mut |_, _, stored| Ok(verify(&stored)))?;
    let exit = bulk::outcome(&visited);
    report.sessions.extend(visited.into_iter().filter_map(|visited| visited.outcome?.ok()));
    Ok(exit)
}

/// Returns the addresses of the values that match their hash; reports the others.
fn sound(store: &Store, report: &mut VerifyReport) -> Result<BTreeSet<Address>, CommandError> {
    let mut sound = BTreeSet::new();
    for address in store.addresses()? {
        match store.original(&address) {
            Ok(_) => {
                sound.insert(address);
            }
            Err(error) => report.store.push(error.to_string()),
        }
    }
    report.originals = sound.len();
    (report.original_bytes, report.store_bytes) = store.size()?;
    Ok(sound)
}

fn unreadable(stored: &StoredSession, error: String) -> VerifiedSession {
    let findings = vec![Finding { text: error, ..Finding::new(FindingKind::Store) }];
    VerifiedSession { findings, ..session(stored, &Verified::default()) }
}

fn session(stored: &StoredSession, verified: &Verified) -> VerifiedSession {
    let mut findings = Vec::new();
    match &verified.file {
        FileState::There | FileState::InRequests => {}
        FileState::Gone => findings.push(Finding::new(FindingKind::FileGone)),
        FileState::Unreadable(error) => {
            findings.push(Finding { text: error.clone(), ..Finding::new(FindingKind::FileUnreadable) });
        }
    }
    for (operation, done) in &verified.interrupted {
        let text = if *done { "it was done" } else { "it was not applied" };
        findings.push(Finding { operation: Some(*operation), text: text.to_owned(), ..Finding::new(FindingKind::Interrupted) });
    }
    for operation in &verified.without_delta {
        let text = "an earlier version logged it".to_owned();
        findings.push(Finding { operation: Some(*operation), text, ..Finding::new(FindingKind::WithoutDelta) });
    }
    for operation in &verified.forgotten {
        findings.push(Finding { operation: Some(*operation), ..Finding::new(FindingKind::Forgotten) });
    }
    for (operation, values) in &verified.lost {
        let text = format!("{values} of its values");
        findings.push(Finding { operation: Some(*operation), text, ..Finding::new(FindingKind::ValueLost) });
    }
    for drifted in &verified.drifted {
        let kind = match drifted.how {
            DriftKind::Changed => FindingKind::Changed,
            DriftKind::RowGone => FindingKind::RowGone,
            DriftKind::RowBack => FindingKind::RowBack,
        };
        findings.push(Finding {
            kind,
            operation: Some(drifted.operation),
            block: drifted.block,
            slot: Some(drifted.slot.to_text()),
            label: drifted.label.clone(),
            text: String::new(),
        });
    }
    let way_back = match &verified.way_back {
        WayBack::Nothing => WayBackKind::Nothing,
        WayBack::Exact => WayBackKind::Exact,
        WayBack::Values => WayBackKind::Values,
        WayBack::Forgotten => WayBackKind::Forgotten,
        WayBack::Unknown => WayBackKind::Unknown,
        WayBack::Refused(why) => {
            if verified.drifted.is_empty() && verified.lost.is_empty() {
                findings.push(Finding { text: why.clone(), ..Finding::new(FindingKind::UndoRefused) });
            }
            WayBackKind::Refused
        }
    };
    VerifiedSession {
        session: stored.session.clone(),
        provider: stored.provider.clone(),
        path: stored.path.display().to_string(),
        operations: verified.operations,
        in_force: verified.in_force,
        values: verified.values,
        way_back,
        findings,
    }
}

const LISTED: usize = 20;
const LABEL_COLUMNS: usize = 40;

/// The kind of a finding of `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The log of the session cannot be read.
    Store,
    /// A logged value is missing or damaged.
    ValueLost,
    /// The session file is gone.
    FileGone,
    /// The session file cannot be read.
    FileUnreadable,
    /// An operation was interrupted.
    Interrupted,
    /// Another program changed a value.
    Changed,
    /// A row is no longer in the file.
    RowGone,
    /// A removed row is in the file again.
    RowBack,
    /// An undo of everything would be refused.
    UndoRefused,
    /// An operation has no stored delta, so that no undo across it is exact.
    WithoutDelta,
    /// The credentials in the values that an operation replaced were deleted.
    Forgotten,
}

impl FindingKind {
    /// Returns true if it is a problem and not an expected difference.
    pub fn is_problem(self) -> bool {
        !matches!(self, FindingKind::FileGone | FindingKind::Interrupted | FindingKind::WithoutDelta | FindingKind::Forgotten)
    }
}

/// A finding of a verification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    pub operation: Option<OperationId>,
    pub block: Option<BlockNumber>,
    /// Value of a row, such as `content:0`, `usage` or `line`.
    pub slot: Option<String>,
    /// Short description of the block; may be empty.
    pub label: String,
    /// Details; may be empty.
    pub text: String,
}

impl Finding {
    pub fn new(kind: FindingKind) -> Finding {
        Finding { kind, operation: None, block: None, slot: None, label: String::new(), text: String::new() }
    }

    fn line(&self) -> String {
        let operation = self.operation.unwrap_or_default();
        let what = match (self.block, self.slot.as_deref()) {
            (Some(block), _) if self.label.is_empty() => format!("#{block}"),
            (Some(block), _) => format!("#{block} {}", clip(&self.label, LABEL_COLUMNS)),
            (None, Some("usage")) => "the figure for how full the window is".to_owned(),
            (None, Some("parent")) => "the parent link of a row".to_owned(),
            (None, Some("message")) => "the thinking of a message".to_owned(),
            (None, Some("line") | None) => "a row that was added".to_owned(),
            (None, Some(_)) => "a text outside the blocks".to_owned(),
        };
        match self.kind {
            FindingKind::Store => format!("its log cannot be read: {}", self.text),
            FindingKind::ValueLost => format!("operation {operation} cannot be undone: the store lacks {}", self.text),
            FindingKind::FileGone => "the session file no longer exists; the originals are kept".to_owned(),
            FindingKind::FileUnreadable => format!("the file cannot be read: {}", self.text),
            FindingKind::Interrupted => {
                format!("operation {operation} was interrupted: {}; the next command settles it", self.text)
            }
            FindingKind::Changed => format!("{what}: another program changed it after operation {operation}"),
            FindingKind::RowGone => format!("{what}: its row is missing since operation {operation}"),
            FindingKind::RowBack => format!("{what}: the row that operation {operation} removed is in the file again"),
            FindingKind::WithoutDelta => {
                format!(
                    "operation {operation} has no delta ({}); undo restores the logged values instead of exact bytes",
                    self.text
                )
            }
            FindingKind::Forgotten => {
                format!("the credentials that operation {operation} replaced were deleted and cannot be restored")
            }
            FindingKind::UndoRefused => format!("undo would be refused: {}", self.text),
        }
    }
}

texts! {
    /// The result of an undo of everything.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "WayBack")]
    #[serde(rename_all = "snake_case")]
    pub enum WayBackKind, words {
        /// No change is in force.
        Nothing = "nothing is in force",
        /// The original, byte for byte.
        Exact = "undoing everything restores the original, byte for byte",
        /// Every changed value, in a file that has grown since.
        Values = "undoing everything restores every value; the session has continued since",
        /// Not the credentials that were deleted.
        Forgotten = "no undo restores the credentials that were deleted",
        /// The undo would be refused.
        Refused = "undoing everything would be refused",
        /// Not known.
        Unknown = "the result of an undo is unknown",
    }
}

/// A verified session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifiedSession {
    pub session: String,
    /// Provider, such as `claude-code`.
    pub provider: String,
    pub path: String,
    /// Number of operations in the log.
    pub operations: usize,
    /// Number of changes in force.
    pub in_force: usize,
    /// Number of logged values that were compared with the file.
    pub values: usize,
    /// Result of an undo of everything.
    pub way_back: WayBackKind,
    pub findings: Vec<Finding>,
}

impl VerifiedSession {
    fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.kind.is_problem()).count()
    }
}

/// The result of a verification of the store.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct VerifyReport {
    /// Problems of the store itself.
    pub store: Vec<String>,
    pub sessions_in_store: usize,
    /// Number of intact values in the store.
    pub originals: usize,
    /// Size of these values.
    pub original_bytes: u64,
    /// Size of the store.
    pub store_bytes: u64,
    pub sessions: Vec<VerifiedSession>,
}

impl VerifyReport {
    pub fn problems(&self) -> usize {
        self.store.len() + self.sessions.iter().map(VerifiedSession::problems).sum::<usize>()
    }
}

impl Report for VerifyReport {
    const SCHEMA: &str = "aperture.verify/1";

    fn text(&self, style: &Style) -> String {
        if self.sessions_in_store == 0 && self.store.is_empty() {
            return "no session was changed: nothing to verify\n".to_owned();
        }
        let mut text = String::new();
        let mut line = |sound: bool, name: &str, what: &str| {
            let (paint, word) = if sound { (Paint::Good, "ok") } else { (Paint::Bad, "bad") };
            text.push_str(&format!(
                "{} {:<3} {what}\n",
                style.paint(Paint::Name, &format!("{name:<11}")),
                style.paint(paint, word),
                what = printable(what)
            ));
        };
        let facts = format!(
            "{}, {} ({}), {} on the disk",
            plural(self.sessions_in_store, "session"),
            plural(self.originals, "original"),
            bytes(self.original_bytes),
            bytes(self.store_bytes)
        );
        line(self.store.is_empty(), "store", &facts);
        for problem in self.store.iter().take(LISTED) {
            line(false, "", problem);
        }
        for session in &self.sessions {
            let in_force = if session.in_force == 0 { String::new() } else { format!(", {} in force", session.in_force) };
            let facts = format!("{}{in_force}; {}", plural(session.operations, "operation"), session.way_back.words());
            line(session.problems() == 0, &short_id(&session.session), &facts);
            for finding in session.findings.iter().take(LISTED) {
                line(!finding.kind.is_problem(), "", &finding.line());
            }
        }
        for (hidden, what) in self
            .sessions
            .iter()
            .map(|session| (session.findings.len().saturating_sub(LISTED), short_id(&session.session)))
            .chain([(self.store.len().saturating_sub(LISTED), "the store".to_owned())])
            .filter(|(hidden, _)| *hidden > 0)
        {
            text.push_str(&format!("and {hidden} more of {what}; to list all: --json\n"));
        }
        if self.sessions.is_empty() {
            text.push_str("no operations on this session\n");
        }
        text
    }
}
