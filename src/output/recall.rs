use super::{Paint, Report, Style, clip, printable, short_id};
use crate::model::{BlockNumber, Level};

/// A block that was recalled.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct RecallReport {
    /// What was asked for.
    pub query: String,
    /// The blocks: in file order where they were named, the best first else.
    pub blocks: Vec<RecalledBlock>,
    /// The session at hand: a block of another one says where it is from.
    pub session: String,
}

impl RecallReport {
    /// The text of a note for the model.
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

    /// Where a block of another session is from; nothing for one of the session at hand.
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
