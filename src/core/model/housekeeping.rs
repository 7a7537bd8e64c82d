//! The model's own words about a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The line that opens the fenced block in a text of the model.
pub const FENCE: &str = "```aperture";

/// The words of the model about a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Housekeeping {
    /// Header of the answer: topic and outcome, at most 12 tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub response_header: String,
    /// State of the work after the turn, at most 120 tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context_summary: String,
    /// Decisions with their reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_decisions: Vec<String>,
    /// Changed files and functions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_changes: Vec<String>,
    /// About the prompt.
    #[serde(skip_serializing_if = "PromptNotes::is_empty")]
    pub user: PromptNotes,
    /// Local model that wrote it; empty if the model of the session did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub written_by: String,
    /// True if words, numbers or files in it do not occur in the turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
}

/// The words of the model about a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PromptNotes {
    /// Header of the prompt, at most 12 tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query_header: String,
    /// Intent of the user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub understood_intent: String,
    /// Turns and blocks that the answer used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_used: Vec<String>,
}

impl PromptNotes {
    fn is_empty(&self) -> bool {
        *self == PromptNotes::default()
    }
}

impl Housekeeping {
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let single = [&self.response_header, &self.context_summary, &self.user.query_header, &self.user.understood_intent];
        single.into_iter().chain(&self.key_decisions).chain(&self.code_changes).map(String::as_str)
    }
}
