//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use super::change::pipeline::{ChangeSummary, change};
use super::{ChangeOptions, blocks, config};
use crate::app::{CommandError, Env, misuse};
use crate::model::{BlockNumber, MarkKind, Pin};
use crate::output::ChangeReport;
use crate::workspace::{Draft, PlanError, SkipReason};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("pin"))]
pub struct Arguments {
    /// Block selectors; matches are combined [default: list the pins]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Restore it at the beginning of the window
    #[arg(long, conflicts_with = "bottom", requires = "selector")]
    pub top: bool,
    /// Restore it at the end of the window
    #[arg(long, requires = "selector")]
    pub bottom: bool,
    /// In every session: path(GLOB), tool(GLOB) or contains(TEXT) goes into the settings
    #[arg(long, requires = "selector", conflicts_with_all = ["top", "bottom"])]
    pub always: bool,
    /// With --always: in the settings of the project
    #[arg(long, requires = "always")]
    pub in_project: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture unpin 12
  aperture unpin pinned      all of them")]
pub struct UnpinArguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// A pin of --always: removes it from the settings
    #[arg(long)]
    pub always: bool,
    /// With --always: in the settings of the project
    #[arg(long, requires = "always")]
    pub in_project: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// The lists of settings that protect blocks in every session, each with the selector that names its entries.
const ALWAYS: [(&str, &str); 3] = [("path", "protect.paths"), ("tool", "protect.tools"), ("contains", "protect.patterns")];

/// Returns the list of settings that a selector belongs to, and the entry.
fn always(selector: &[String]) -> Option<(String, String)> {
    let [selector] = selector else { return None };
    let (name, rest) = selector.trim().split_once('(')?;
    let (_, key) = ALWAYS.iter().find(|(known, _)| *known == name)?;
    let entry = rest.strip_suffix(')')?.trim();
    let quoted = entry.len() > 1 && entry.starts_with('"') && entry.ends_with('"');
    let entry = if quoted { &entry[1..entry.len() - 1] } else { entry };
    (!entry.is_empty() && !entry.contains(['(', ')'])).then(|| ((*key).to_owned(), entry.to_owned()))
}

fn not_always() -> CommandError {
    misuse!("--always takes one path(GLOB), tool(GLOB) or contains(TEXT)")
        .hint("for a file in every session: aperture pin --always 'path(README.md)'")
}

impl UnpinArguments {
    /// Returns the request that changes the settings, if the pin is not of this session.
    pub fn setting(&self) -> Option<config::Arguments> {
        let (key, value) = always(&self.selector).filter(|_| self.always)?;
        let action = config::Action::Remove { key, value, in_project: self.in_project };
        Some(config::Arguments { action: Some(action) })
    }
}

impl Arguments {
    /// Returns the request that changes the settings, if the pin is for every session.
    pub fn setting(&self) -> Option<config::Arguments> {
        let (key, value) = always(&self.selector).filter(|_| self.always)?;
        let action = config::Action::Add { key, value, in_project: self.in_project };
        Some(config::Arguments { action: Some(action) })
    }

    /// Returns the request that lists the pins, if no blocks are named.
    pub fn list(&self) -> Option<blocks::Arguments> {
        self.selector.is_empty().then(|| blocks::Arguments::new("pinned"))
    }

    pub fn place(&self) -> Pin {
        match (self.top, self.bottom) {
            (true, _) => Pin::Top,
            (_, true) => Pin::Bottom,
            _ => Pin::Here,
        }
    }
}

/// Pins the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    if arguments.always {
        return Err(not_always());
    }
    let pin = arguments.place();
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("pinned");
        for number in selector.select(&opened.workspace.reading)? {
            mark(draft, &mut summary, number, MarkKind::Pin, Some(pin.name().to_owned()))?;
        }
        Ok(summary)
    })
}

/// Unpins the blocks.
pub fn run_unpin(env: &Env, arguments: &UnpinArguments) -> Result<ChangeReport, CommandError> {
    if arguments.always {
        return Err(not_always());
    }
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("unpinned");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.pin.is_some()) {
                mark(draft, &mut summary, number, MarkKind::Pin, None)?;
            } else {
                summary.skip(SkipReason::AsItIs, number);
            }
        }
        Ok(summary)
    })
}

/// Sets or clears a mark on a block; skips blocks that cannot be identified again later.
pub fn mark(
    draft: &mut Draft<'_>,
    summary: &mut ChangeSummary,
    number: BlockNumber,
    kind: MarkKind,
    value: Option<String>,
) -> Result<(), CommandError> {
    let before = draft.marks.len();
    match draft.mark(number, kind, value) {
        Ok(()) if draft.marks.len() == before => summary.skip(SkipReason::AsItIs, number),
        Ok(()) => {}
        Err(PlanError::Immutable(_)) => summary.skip(SkipReason::Bound, number),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_of_every_session_is_an_entry_of_a_list_of_settings() {
        for (selector, expected) in [
            ("path(README.md)", Some(("protect.paths", "README.md"))),
            ("tool(mcp__*)", Some(("protect.tools", "mcp__*"))),
            ("contains(\"do not touch\")", Some(("protect.patterns", "do not touch"))),
            ("12", None),
            ("path(a) & stale", None),
            ("path(a) | tool(b)", None),
            ("path()", None),
        ] {
            let found = always(&[selector.to_owned()]);
            assert_eq!(found.as_ref().map(|(key, entry)| (&**key, &**entry)), expected, "{selector}");
        }
        assert_eq!(always(&["path(a)".to_owned(), "path(b)".to_owned()]), None);
    }
}
