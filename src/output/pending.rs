use super::amount;
use crate::model::{As, Estimated, OperationId};
use schemars::JsonSchema;
use serde::Serialize;

/// Changes of a session file that the agent program that has the session open has not loaded: they take effect after `/resume`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PendingChanges {
    /// Session id, as `/resume` takes it.
    pub session: String,
    /// Operations in the log, the oldest first.
    pub operations: Vec<OperationId>,
    /// Tokens that they save; negative if the window grows.
    #[serde(with = "As::<Estimated>")]
    pub saved_tokens: f64,
}

impl PendingChanges {
    /// Returns the mark for a status line: `/resume: −9.1k`.
    pub fn mark(&self) -> String {
        format!("/resume: {}", difference(-self.saved_tokens))
    }
}

/// Formats a change of tokens: `+1.3k`.
pub fn difference(tokens: f64) -> String {
    format!("{}{}", if tokens < 0.0 { "−" } else { "+" }, amount(tokens.abs().round() as u64))
}
