//! `aperture focus` and `aperture unfocus`: mark blocks as relevant, and clear the marks.

use super::changing::{ChangeOptions, Said, change};
use super::pin::mark;
use crate::app::{CommandError, Env};
use crate::engine::Selector;
use crate::model::{BlockNumber, MarkKind};
use crate::output::ChangeReport;

/// Arguments of `focus`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture focus '\"auth flow\"'     what the model should look at now
  aperture focus 12..14 --add      beside what is selected already

The blocks are shown in the manifest and are not shortened. The next focus replaces them,
and after five turns (setting focus.turns) they are let go.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub(super) selector: String,
    /// Keep what is selected already
    #[arg(long)]
    pub(super) add: bool,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

/// Arguments of `unfocus`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture unfocus          nothing is selected any more
  aperture unfocus 12")]
pub struct UnfocusArguments {
    /// Blocks, by a selector
    #[arg(default_value = "focused")]
    pub(super) selector: String,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

/// Marks the selected blocks as relevant.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let mut said = Said::change("focused");
        let chosen = selector.select(reading)?;
        if !arguments.add {
            let before: Vec<BlockNumber> =
                reading.session.blocks.iter().filter(|block| block.focused).map(|block| block.number).collect();
            for number in before.into_iter().filter(|number| !chosen.contains(number)) {
                mark(draft, &mut said, number, MarkKind::Focus, None)?;
            }
        }
        let turn = reading.turns.len().to_string();
        for number in chosen {
            mark(draft, &mut said, number, MarkKind::Focus, Some(turn.clone()))?;
        }
        Ok(said)
    })
}

/// Clears the focus marks.
pub fn run_unfocus(env: &Env, arguments: &UnfocusArguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut said = Said::change("unfocused");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.focused) {
                mark(draft, &mut said, number, MarkKind::Focus, None)?;
            }
        }
        Ok(said)
    })
}
