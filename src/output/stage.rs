use super::{Paint, Report, Style, clip, printable};
use schemars::JsonSchema;
use serde::Serialize;

/// The texts that wait for the next prompt of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StageReport {
    /// Change of the list; null if it was only listed.
    pub done: Option<String>,
    /// Texts, the oldest first.
    pub texts: Vec<String>,
}

impl Report for StageReport {
    const SCHEMA: &str = "aperture.stage/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            text.push_str(&style.paint(Paint::Heading, &clip(done, style.width)));
            text.push('\n');
        }
        if self.texts.is_empty() && self.done.is_none() {
            text.push_str("no staged texts\n");
        }
        for (number, staged) in (1..).zip(&self.texts) {
            let line = format!("{number}  {}", printable(staged).replace('\n', " "));
            text.push_str(&clip(&line, style.width));
            text.push('\n');
        }
        text
    }
}
