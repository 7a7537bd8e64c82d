use super::{Paint, Report, Style, clip, plural, printable, short_id, time};
use crate::model::{BlockNumber, Level};

/// A recalled block.
#[derive(Clone, Debug)]
pub struct RecalledBlock {
    pub session: String,
    pub number: BlockNumber,
    /// A short description.
    pub label: String,
    /// Its compression level in the session.
    pub level: Level,
    /// The time of its row; if only the store knows the block, of the operation. In milliseconds since 1970, UTC.
    pub time: Option<i64>,
    /// Its turn. `None` if only the store knows the block.
    pub turn: Option<u32>,
    /// The command that prints all of it. `None` if the block was selected by name, or the session has no file.
    pub command: Option<String>,
    /// The search score. `None` if the block was selected by name.
    pub score: Option<f32>,
    /// The content: all of it if the block was selected by name, else the pieces that match the query.
    pub content: String,
}

/// The result of a recall.
#[derive(Clone, Debug)]
pub struct RecallReport {
    pub query: String,
    /// The blocks: in file order if they were selected by name, else the best match first.
    pub blocks: Vec<RecalledBlock>,
    /// The current session. Blocks of other sessions are shown with their origin.
    pub session: String,
    /// The number of sessions that were searched. `None` if it was only the current one.
    pub searched: Option<usize>,
    /// The number of sessions with the words that were not read, because there were enough blocks.
    pub unread: usize,
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
            let heading = clip(&format!("#{} {}", block.number, block.label), style.width);
            text.push_str(&style.paint(Paint::Heading, &heading));
            text.push('\n');
            if block.score.is_some() {
                text.push_str(&style.paint(Paint::Dim, &place(style, block)));
                text.push('\n');
            }
            match printable(&block.content).trim_end() {
                "" => text.push_str(&style.paint(Paint::Dim, "(no text)")),
                content => text.push_str(content),
            }
            text.push('\n');
        }
        if let Some(searched) = self.searched {
            let unread = match self.unread {
                0 => String::new(),
                unread => format!("; {} more with these words: add words", plural(unread as u64, "session")),
            };
            let searched = format!("\nsearched {}{unread}\n", plural(searched as u64, "session"));
            text.push_str(&style.paint(Paint::Dim, &searched));
        }
        text
    }
}

/// Returns where a block is: `11111111  turn 3  2026-11-21 14:03:07  aperture show 16 -s 11111111`.
fn place(style: &Style, block: &RecalledBlock) -> String {
    let turn = block.turn.filter(|turn| *turn > 0).map(|turn| format!("turn {turn}"));
    let time = block.time.map(|milliseconds| time(style, milliseconds));
    let command = block.command.clone().unwrap_or_else(|| "its file is gone".to_owned());
    let parts = [Some(short_id(&block.session)), turn, time, Some(command)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}
