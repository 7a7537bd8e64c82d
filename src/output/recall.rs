use super::{Paint, Report, Style, clip, printable};
use crate::model::{BlockNumber, Level};
use serde::Serialize;

/// A block that was recalled.
#[derive(Clone, Debug, Serialize)]
pub struct RecalledBlock {
    /// The session that it belongs to.
    pub session: String,
    /// Its number.
    pub number: BlockNumber,
    /// What it is, in a few words.
    pub label: String,
    /// How much of it is left in the session.
    pub level: Level,
    /// How well it fits the query; none where it was named.
    pub score: Option<f32>,
    /// What it held: all of it where it was named, the pieces that answer the query else.
    pub content: String,
}

/// What was recalled.
#[derive(Clone, Debug, Serialize)]
pub struct RecallReport {
    /// What was asked for.
    pub query: String,
    /// The blocks: in file order where they were named, the best first else.
    pub blocks: Vec<RecalledBlock>,
}

impl RecallReport {
    /// The text of a note for the model.
    pub fn note(&self) -> String {
        let mut text = String::from("Recalled from earlier in this session, as it was then:\n");
        for block in &self.blocks {
            text.push_str(&format!("\n[#{} {}]\n{}\n", block.number, block.label, block.content.trim_end()));
        }
        text.trim_end().to_owned()
    }
}

impl Report for RecallReport {
    fn schema(&self) -> &'static str {
        "aperture.recall/1"
    }

    fn text(&self, style: &Style) -> String {
        let sessions = self.blocks.first().is_some_and(|first| self.blocks.iter().any(|block| block.session != first.session));
        let mut text = String::new();
        for block in &self.blocks {
            if !text.is_empty() {
                text.push('\n');
            }
            let from = if sessions { format!("  {}", clip(&block.session, 8)) } else { String::new() };
            let heading = format!("#{} {}{from}", block.number, block.label);
            text.push_str(&style.paint(Paint::Heading, &clip(&heading, style.width)));
            text.push('\n');
            match printable(&block.content).trim_end() {
                "" => text.push_str(&style.paint(Paint::Dim, "(no text)")),
                content => text.push_str(content),
            }
            text.push('\n');
        }
        text
    }
}
