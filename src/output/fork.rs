use super::{Paint, Report, Style, amount, plural, short_id};
use crate::model::{As, BlockNumber, Estimated};
use schemars::JsonSchema;
use serde::Serialize;

/// The fork of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForkReport {
    /// Id of the session that was forked.
    pub source: String,
    /// Id of the fork.
    pub session: String,
    /// File of the fork.
    pub path: String,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Last block of the fork; its number is the same in the source.
    pub last_block: BlockNumber,
    /// Turn of that block.
    pub turn: u32,
    /// Number of rows in the file.
    pub rows: usize,
    /// Number of blocks in the window of the fork.
    pub blocks: usize,
    /// Tokens of these blocks.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Command that continues the fork.
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
