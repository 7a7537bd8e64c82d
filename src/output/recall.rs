use super::{Paint, Report, Style, clip, printable, short_id};
use crate::model::{BlockNumber, Level};

/// A recalled block.
#[derive(Clone, Debug)]
pub struct RecalledBlock {
    /// The session of the block.
    pub session: String,
    /// The block number.
    pub number: BlockNumber,
    /// A short description.
    pub label: String,
    /// Its compression level in the session.
    pub level: Level,
    /// The search score. `None` if the block was selected by name.
    pub score: Option<f32>,
    /// The content: all of it if the block was selected by name, else the pieces that match the query.
    pub content: String,
}

/// The result of a recall.
#[derive(Clone, Debug)]
pub struct RecallReport {
    /// The query.
    pub query: String,
    /// The blocks: in file order if they were selected by name, else the best match first.
    pub blocks: Vec<RecalledBlock>,
    /// The current session. Blocks of other sessions are shown with their origin.
    pub session: String,
}

impl RecallReport {
    /// Returns the text of a note for the model.
    pub fn note(&self) -> String {
        let own = self.blocks.iter().all(|block| block.session == self.session);
        let from = if own { "earlier in this session" } else { "earlier sessions" };
        let mut text = format!("Recalled from {from}, as it was then:\n");
        for block in &self.blocks {
            let content = block.content.trim_end();
            text.push_str(&format!("\n[#{} {}{}]\n{content}\n", block.number, block.label, self.origin(block)));
        }
        text.trim_end().to_owned()
    }

    /// Returns the origin of a block of another session. Empty for a block of the current session.
    fn origin(&self, block: &RecalledBlock) -> String {
        if block.session == self.session { String::new() } else { format!("  in {}", short_id(&block.session)) }
    }
}

impl Report for RecallReport {
    const SCHEMA: &str = "aperture.recall/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            if !text.is_empty() {
                text.push('\n');
            }
            let origin = self.origin(block);
            let heading = clip(&format!("#{} {}", block.number, block.label), style.width.saturating_sub(origin.len()));
            text.push_str(&style.paint(Paint::Heading, &format!("{heading}{origin}")));
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
