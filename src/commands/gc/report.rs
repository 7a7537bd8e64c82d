use crate::engine::Forgettable;
use crate::model::{As, Time};
use crate::output::{Paint, Report, Style, age, bytes, clip, plural, short_id};
use schemars::JsonSchema;
use serde::Serialize;

/// A session whose data may be deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForgettableSession {
    /// Session id.
    pub session: String,
    /// Session file.
    pub path: String,
    /// Reason.
    pub why: Forgettable,
    /// Number of operations in the log.
    pub operations: usize,
    /// Time of the last operation.
    #[serde(with = "As::<Option<Time>>")]
    pub last_operation_time: Option<i64>,
}

/// The deletion of unreferenced data, or its dry run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GcReport {
    /// True if data was deleted; false for a dry run.
    pub done: bool,
    /// Sessions whose data is deleted.
    pub sessions: Vec<ForgettableSession>,
    /// Number of old sessions whose file is gone and whose data is kept without `--gone`.
    pub gone_kept: usize,
    /// Number of values that no log needs.
    pub originals: u64,
    /// Size of these values in the store.
    #[schemars(extend("unit" = "bytes"))]
    pub original_bytes: u64,
    /// Decrease in the size of the store.
    #[schemars(extend("unit" = "bytes"))]
    pub freed_bytes: u64,
}

impl Report for GcReport {
    const SCHEMA: &str = "aperture.gc/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in &self.sessions {
            let age = session.last_operation_time.map_or_else(|| "never".to_owned(), |last| age(style.now, last));
            let facts = format!("{:<6} {}: {}", age, plural(session.operations, "operation"), session.why.reason());
            let id = style.paint(Paint::Name, &format!("{:<11}", short_id(&session.session)));
            text.push_str(&format!("{id} {}\n", clip(&facts, style.width.saturating_sub(12))));
        }
        let what = format!(
            "{}, {} ({})",
            plural(self.sessions.len(), "session"),
            plural(usize::try_from(self.originals).unwrap_or(usize::MAX), "original"),
            bytes(self.original_bytes)
        );
        if self.sessions.is_empty() && self.originals == 0 {
            text.push_str("nothing to delete\n");
        } else if self.done {
            text.push_str(&format!("deleted {what}; {} freed\n", bytes(self.freed_bytes)));
        } else {
            text.push_str(&format!("would delete {what}: undo and recall would no longer be possible\n"));
            text.push_str("nothing was deleted: this is a dry run; to delete: --yes\n");
        }
        if self.gone_kept > 0 {
            let kept = plural(self.gone_kept, "session");
            text.push_str(&style.paint(Paint::Dim, &format!("kept: {kept} without a file; to delete these too: --gone\n")));
        }
        text
    }
}
