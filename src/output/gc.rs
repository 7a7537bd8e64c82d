use super::sessions::short_id;
use super::{Paint, Report, Style, age, bytes, clip, plural};
use crate::engine::Forgettable;

/// A session whose data can be deleted from the store.
#[derive(Clone, Debug)]
pub struct ForgettableSession {
    /// The session's id.
    pub session: String,
    /// The file.
    pub path: String,
    /// The reason why it can be deleted.
    pub why: Forgettable,
    /// Number of operations in its log.
    pub operations: usize,
    /// Time of the last operation, in milliseconds since 1970, UTC. `None` if there is none.
    pub last: Option<i64>,
}

/// The data that was deleted, or would be deleted.
#[derive(Clone, Debug)]
pub struct GcReport {
    /// True if the data was deleted, false for a list.
    pub done: bool,
    pub sessions: Vec<ForgettableSession>,
    /// Number of additional old sessions that are kept because their deletion was not requested. Their files no longer exist.
    pub gone_kept: usize,
    /// Values that no log refers to after the deletion.
    pub originals: u64,
    /// Bytes of these values in the store.
    pub original_bytes: u64,
    /// Bytes by which the store shrank.
    pub freed_bytes: u64,
}

impl Report for GcReport {
    const SCHEMA: &str = "aperture.gc/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for session in &self.sessions {
            let age = session.last.map_or_else(|| "never".to_owned(), |last| age(style.now, last));
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
