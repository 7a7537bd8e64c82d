use super::{Report, Style, printable};

/// What the model is to be told at its next prompt.
#[derive(Clone, Debug)]
pub struct TellReport {
    /// The text; empty where there is nothing.
    pub text: String,
}

impl Report for TellReport {
    const SCHEMA: &str = "aperture.tell/1";

    fn text(&self, _: &Style) -> String {
        printable(&self.text).into_owned()
    }
}
