use super::{Report, Style, printable};
use schemars::JsonSchema;
use serde::Serialize;

/// The message to the model at its next prompt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TellReport {
    /// Text; empty if there is no message.
    pub text: String,
}

impl Report for TellReport {
    const SCHEMA: &str = "aperture.tell/1";

    fn text(&self, _: &Style) -> String {
        printable(&self.text).into_owned()
    }
}
