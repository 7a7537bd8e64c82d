use crate::engine::TurnForm;
use crate::model::{As, BlockNumber, Estimated, Level, Time};
use crate::output::{Paint, Report, Style, clip, line, printable, short_id, time};
use schemars::JsonSchema;
use serde::Serialize;

/// A recalled block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecalledBlock {
    /// Id of the session that the block belongs to.
    pub session: String,
    pub number: BlockNumber,
    /// Short description.
    pub label: String,
    /// Level of reduction in the session.
    pub level: Level,
    /// Time of the block; if the session has no file, of the operation that removed it.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    /// Turn; null if the session has no file.
    pub turn: Option<u32>,
    /// Command that prints all of it; null if the block was named, or the session has no file.
    pub command: Option<String>,
    /// Score of the match; null if the block was named.
    pub score: Option<f32>,
    /// Content: all of it if the block was named, else the parts that match.
    pub content: String,
}

/// A recalled turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecalledTurn {
    pub conversation_id: String,
    /// Number of the turn, which it keeps when turns before it are removed or restored.
    pub turn_id: u32,
    #[serde(rename = "as")]
    pub form: TurnForm,
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Header, with the summary or the contents.
    pub text: String,
}

/// Recalled content.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RecallReport {
    /// The words that were searched.
    pub query: String,
    /// Blocks: in file order if they were named, else the best match first.
    pub blocks: Vec<RecalledBlock>,
    /// Turns, in file order; empty if blocks or words were requested.
    pub turns: Vec<RecalledTurn>,
    /// Words that no removed block has, if others match.
    pub missing_words: Vec<String>,
    /// Requested turns that are missing or shorter than requested, a sentence for each.
    pub notes: Vec<String>,
}

impl RecallReport {
    /// Returns true if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns the number of blocks or turns.
    pub fn count(&self) -> usize {
        self.blocks.len() + self.turns.len()
    }

    pub fn note(&self) -> String {
        let mut text = "Recalled from earlier in this session, as it was then:\n".to_owned();
        for word in &self.missing_words {
            text.push_str(&format!("[no removed block has '{word}']\n"));
        }
        for block in &self.blocks {
            let content = block.content.trim_end();
            text.push_str(&format!("\n[#{} {}]\n{content}\n", block.number, block.label));
        }
        for turn in &self.turns {
            text.push_str(&turn.text);
        }
        for note in &self.notes {
            text.push_str(&format!("[{note}]\n"));
        }
        text.trim_end().to_owned()
    }
}

impl Report for RecallReport {
    const SCHEMA: &str = "aperture.recall/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for word in &self.missing_words {
            line(&mut text, &style.paint(Paint::Dim, &clip(&format!("no removed block has '{word}'"), style.width)));
        }
        for block in &self.blocks {
            if !text.is_empty() {
                text.push('\n');
            }
            let heading = clip(&format!("#{} {}", block.number, block.label), style.width);
            line(&mut text, &style.paint(Paint::Heading, &heading));
            if block.score.is_some() {
                line(&mut text, &style.paint(Paint::Dim, &place(style, block)));
            }
            match printable(&block.content).trim_end() {
                "" => text.push_str(&style.paint(Paint::Dim, "(no text)")),
                content => text.push_str(content),
            }
            text.push('\n');
        }
        for turn in &self.turns {
            let (heading, body) = turn.text.split_once('\n').unwrap_or((&turn.text, ""));
            line(&mut text, &style.paint(Paint::Heading, &printable(heading)));
            text.push_str(&printable(body));
        }
        for note in &self.notes {
            line(&mut text, &style.paint(Paint::Dim, &format!("[{note}]")));
        }
        text
    }
}

/// Returns where a block is: `11111111  turn 3  2026-11-21 14:03:07  aperture show 16 -s 11111111`.
fn place(style: &Style, block: &RecalledBlock) -> String {
    let turn = block.turn.filter(|turn| *turn > 0).map(|turn| format!("turn {turn}"));
    let time = block.time.map(|milliseconds| time(style, milliseconds));
    let parts = [Some(short_id(&block.session)), turn, time, block.command.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}
