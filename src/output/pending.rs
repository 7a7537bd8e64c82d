use super::amount;
use crate::model::OperationId;

/// Changes of a session file that the client that has the session open has not loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingChanges {
    /// The session's id.
    pub session: String,
    /// The operations, oldest first.
    pub operations: Vec<OperationId>,
    /// Tokens that they save; negative if the window grows.
    pub saved: f64,
}

impl PendingChanges {
    /// Returns the mark for a status line: `/resume: −9.1k`.
    pub fn mark(&self) -> String {
        format!("/resume: {}", difference(-self.saved))
    }
}

/// Formats a change of tokens: `+1.3k`.
pub(super) fn difference(tokens: f64) -> String {
    format!("{}{}", if tokens < 0.0 { "−" } else { "+" }, amount(tokens.abs().round() as u64))
}
