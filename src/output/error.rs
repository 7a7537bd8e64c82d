use super::{Report, Style};
use schemars::JsonSchema;
use serde::Serialize;

/// An error, on standard error. The exit code is 1 if the request was refused or failed, 2 for an invalid command line, 3 for a
/// conflict, 70 for an internal error and 130 after an interrupt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorReport {
    /// Failed action.
    pub message: String,
    /// Causes, the nearest first.
    pub causes: Vec<String>,
    /// Next steps.
    pub hints: Vec<String>,
    /// Exit code of the program.
    pub exit_code: u8,
}

impl Report for ErrorReport {
    const SCHEMA: &str = "aperture.error/1";

    fn text(&self, _style: &Style) -> String {
        format!("error: {}\n", self.message)
    }
}
