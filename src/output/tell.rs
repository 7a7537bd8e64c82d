use super::{Report, Style, printable};
use serde::Serialize;

/// What the model is to be told at its next prompt.
#[derive(Clone, Debug, Serialize)]
pub struct TellReport {
    /// The text; empty where there is nothing.
    pub text: String,
}

impl Report for TellReport {
    fn schema(&self) -> &'static str {
        "aperture.tell/1"
    }

    fn text(&self, _: &Style) -> String {
        printable(&self.text).into_owned()
    }
}
