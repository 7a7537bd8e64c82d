use super::{BlockRow, Form, Paint, Report, Style, printable, time, tokens, unit};
use crate::engine::described;
use schemars::JsonSchema;
use serde::Serialize;

/// A block and its content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownBlock {
    /// The block.
    #[serde(flatten)]
    pub block: BlockRow,
    /// Content as the model sees it.
    pub content: String,
    /// The content for people, if it differs.
    #[serde(skip)]
    pub readable: String,
}

/// The content of blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Show")]
pub struct ShowReport {
    /// Blocks in file order.
    pub blocks: Vec<ShownBlock>,
    /// True if the content is written unmodified and without headings.
    #[serde(skip)]
    pub raw: bool,
}

impl Report for ShowReport {
    const SCHEMA: &str = "aperture.show/2";

    fn form(&self) -> Form {
        if self.raw { Form::Raw } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for shown in &self.blocks {
            if self.raw {
                text.push_str(&shown.content);
                if !shown.content.ends_with('\n') {
                    text.push('\n');
                }
                continue;
            }
            let block = &shown.block;
            let what = match (&block.tool, block.target.as_str()) {
                (Some(tool), target) => format!("{} {tool} {target}", block.role.name()),
                (None, "") => block.role.name().to_owned(),
                (None, target) => format!("{} {target}", block.role.name()),
            };
            let mut facts =
                vec![unit(&tokens(block.tokens), "token"), format!("turn {}", block.turn), block.zone.label().to_owned()];
            if !block.media.is_empty() {
                facts.insert(0, described(block.kind, &block.media));
            }
            facts.push(block.stale_reason.clone().unwrap_or_else(|| block.state.name().to_owned()));
            if let Some(turns) = block.turns_left.filter(|turns| *turns > 0) {
                facts.push(format!("stale in ~{} unless used", super::plural(turns as usize, "turn")));
            }
            if block.error {
                facts.push("error".to_owned());
            }
            facts.extend(block.spilled_to.as_ref().map(|path| format!("a preview of {path}")));
            facts.extend(block.time.map(|moment| time(style, moment)));
            let heading = super::clip(&format!("#{} {what}", block.number), style.width);
            text.push_str(&style.paint(Paint::Heading, &heading));
            text.push('\n');
            text.push_str(&style.paint(Paint::Dim, &facts.join(" · ")));
            text.push('\n');
            let content = if shown.readable.is_empty() { withheld(block) } else { printable(&shown.readable).into_owned() };
            text.push_str(&content);
            if !content.ends_with('\n') {
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the placeholder for a content that is not in the file.
fn withheld(block: &BlockRow) -> String {
    match block.kind {
        crate::model::BlockKind::Thinking => "(thinking without text: the file has only its signature)".to_owned(),
        _ => "(empty)".to_owned(),
    }
}
