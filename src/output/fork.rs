use super::{Paint, Report, Style, amount, plural, short_id};
use crate::model::BlockNumber;

/// The result of a fork.
#[derive(Clone, Debug)]
pub struct ForkReport {
    /// The id of the forked session.
    pub source: String,
    pub session: String,
    pub path: String,
    /// True if it was not written.
    pub dry_run: bool,
    /// The last block of the fork.
    pub last_block: BlockNumber,
    pub turn: u32,
    /// Number of rows in the file.
    pub rows: usize,
    /// Number of blocks in the window of the fork.
    pub blocks: usize,
    /// Tokens of these blocks.
    pub tokens: f64,
    /// The command that continues the fork.
    pub resume: String,
}

impl Report for ForkReport {
    const SCHEMA: &str = "aperture.fork/1";

    fn text(&self, style: &Style) -> String {
        let verb = if self.dry_run { "would fork" } else { "forked" };
        let size = format!("{}, ~{} tokens", plural(self.blocks, "block"), amount(self.tokens.round() as u64));
        let mut text =
            format!("{verb} {} up to block {} of turn {}: {size}\n", short_id(&self.source), self.last_block, self.turn);
        if !self.dry_run {
            let undo = format!("to remove the fork: rm {}", crate::text::shell::quoted_word(&self.path));
            text.push_str(&format!(
                "new session  {}\ncontinue it  {}\n{}\n",
                style.paint(Paint::Name, &self.session),
                self.resume,
                style.paint(Paint::Dim, &super::printable(&undo))
            ));
        }
        text
    }
}
