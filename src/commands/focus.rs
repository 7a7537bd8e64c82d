//! `aperture focus` and `aperture unfocus`: mark blocks as relevant, and clear the marks.

use super::change::pipeline::{ChangeSummary, change};
use super::pin::mark;
use super::{ChangeOptions, blocks};
use crate::app::{CommandError, Env};
use crate::model::{BlockNumber, MarkKind};
use crate::output::ChangeReport;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("focus"))]
pub struct Arguments {
    /// Block selectors; matches are combined [default: list the marks]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Keep the current focus marks
    #[arg(long, requires = "selector")]
    pub add: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

impl Arguments {
    /// Returns the request that lists the focus marks, if no blocks are named.
    pub fn list(&self) -> Option<blocks::Arguments> {
        self.selector.is_empty().then(|| blocks::Arguments::new("focused"))
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture unfocus          clears all focus marks
  aperture unfocus 12")]
pub struct UnfocusArguments {
    /// Block selectors; matches are combined
    #[arg(default_value = "focused")]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Marks the selected blocks as relevant.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let mut summary = ChangeSummary::change("focused");
        let chosen = selector.select(reading)?;
        if !arguments.add {
            let before: Vec<BlockNumber> =
                reading.session.blocks.iter().filter(|block| block.focused).map(|block| block.number).collect();
            for number in before.into_iter().filter(|number| !chosen.contains(number)) {
                mark(draft, &mut summary, number, MarkKind::Focus, None)?;
            }
        }
        let turn = reading.last_turn().to_string();
        for number in chosen {
            mark(draft, &mut summary, number, MarkKind::Focus, Some(turn.clone()))?;
        }
        Ok(summary)
    })
}

/// Clears the focus marks.
pub fn run_unfocus(env: &Env, arguments: &UnfocusArguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("unfocused");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.focused) {
                mark(draft, &mut summary, number, MarkKind::Focus, None)?;
            }
        }
        Ok(summary)
    })
}
