//! `aperture show`: prints the content of blocks.

use super::blocks::{BlockRow, state_name};
use crate::app::{CommandError, Env, refusal};
use crate::engine::described;
use crate::model::JsonOf;
use crate::output::{Form, Paint, Report, Style, printable, time, tokens, unit};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("show"))]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Print only the content as sent to the model, including credentials and control characters
    #[arg(long)]
    pub raw: bool,
}

/// Prints the content.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Errors: no block matches; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<ShowReport, CommandError> {
    Ok(ShowReport { raw: arguments.raw, ..content(env, &arguments.selector)? })
}

/// Returns the content of the blocks that selectors match.
/// Errors: as `report`.
pub fn content(env: &Env, selectors: &[String]) -> Result<ShowReport, CommandError> {
    let parsed = env.selector(selectors)?;
    let workspace = env.open(None)?;
    let numbers = parsed.select_marked(&workspace.reading)?;
    if numbers.is_empty() {
        return Err(refusal!("no block matches '{}'", selectors.join(", ")).hint("to list every block: aperture blocks all"));
    }
    let contents = workspace.contents(&numbers)?;
    let blocks = numbers.iter().zip(contents).filter_map(|(number, content)| {
        let block = workspace.reading.block(*number)?;
        let block = BlockRow::json_of(&(&workspace.reading, block));
        Some(ShownBlock { block, content: content.sent, readable: content.readable })
    });
    Ok(ShowReport { blocks: blocks.collect(), raw: false })
}

/// A block and its content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownBlock {
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
            facts.push(block.stale_reason.clone().unwrap_or_else(|| state_name(block.state).to_owned()));
            if let Some(turns) = block.turns_left.filter(|turns| *turns > 0) {
                facts.push(format!("stale in ~{} unless used", crate::output::plural(turns as usize, "turn")));
            }
            if block.error {
                facts.push("error".to_owned());
            }
            facts.extend(block.spilled_to.as_ref().map(|path| format!("a preview of {path}")));
            facts.extend(block.time.map(|moment| time(style, moment)));
            let heading = crate::output::clip(&format!("#{} {what}", block.number), style.width);
            text.push_str(&style.line(Paint::Heading, &heading));
            text.push_str(&style.line(Paint::Dim, &facts.join(" · ")));
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

fn withheld(block: &BlockRow) -> String {
    match block.kind {
        crate::model::BlockKind::Thinking => "(thinking without text: the file has only its signature)".to_owned(),
        _ => "(empty)".to_owned(),
    }
}
