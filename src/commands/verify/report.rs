use crate::model::{BlockNumber, OperationId};
use crate::output::{Paint, Report, Style, bytes, clip, plural, printable, short_id};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of listed findings per session.
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
}

impl FindingKind {
    /// Returns true if it is a problem and not an expected difference.
    pub fn is_problem(self) -> bool {
        !matches!(self, FindingKind::FileGone | FindingKind::Interrupted | FindingKind::WithoutDelta)
    }
}

/// A finding of a verification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Kind.
    pub kind: FindingKind,
    /// Operation.
    pub operation: Option<OperationId>,
    /// Block number.
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
            FindingKind::UndoRefused => format!("undo would be refused: {}", self.text),
        }
    }
}

/// The result of an undo of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WayBack")]
#[serde(rename_all = "snake_case")]
pub enum WayBackKind {
    /// No change is in force.
    Nothing,
    /// The original, byte for byte.
    Exact,
    /// Every changed value, in a file that has grown since.
    Values,
    /// The undo would be refused.
    Refused,
    /// Not known.
    Unknown,
}

impl WayBackKind {
    fn words(self) -> &'static str {
        match self {
            WayBackKind::Nothing => "nothing is in force",
            WayBackKind::Exact => "undoing everything restores the original, byte for byte",
            WayBackKind::Values => "undoing everything restores every value; the session has continued since",
            WayBackKind::Refused => "undoing everything would be refused",
            WayBackKind::Unknown => "the result of an undo is unknown",
        }
    }
}

/// A verified session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifiedSession {
    /// Session id.
    pub session: String,
    /// Provider, such as `claude-code`.
    pub provider: String,
    /// Session file.
    pub path: String,
    /// Number of operations in the log.
    pub operations: usize,
    /// Number of changes in force.
    pub in_force: usize,
    /// Number of logged values that were compared with the file.
    pub values: usize,
    /// Result of an undo of everything.
    pub way_back: WayBackKind,
    /// Findings.
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
    /// Number of sessions in the store.
    pub sessions_in_store: usize,
    /// Number of intact values in the store.
    pub originals: usize,
    /// Size of these values.
    #[schemars(extend("unit" = "bytes"))]
    pub original_bytes: u64,
    /// Size of the store.
    #[schemars(extend("unit" = "bytes"))]
    pub store_bytes: u64,
    /// Verified sessions.
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
