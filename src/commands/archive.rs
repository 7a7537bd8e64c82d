//! `aperture archive`: moves blocks to cold storage.

use super::change::pipeline::{ChangeSummary, change};
use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env};
use crate::output::{ChangeReport, plural};
use crate::workspace::archive;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("archive"))]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Reason, for the remaining line and for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

/// Moves the blocks to cold storage.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        draft.numbered.extend(selector.named(&opened.workspace.reading));
        let selected = selector.select(&opened.workspace.reading)?;
        let skipped = archive(draft, &selected, &arguments.reason)?;
        let mut summary = ChangeSummary::change("archived");
        let folded = draft.folded_blocks();
        if folded > 0 {
            let number: usize = skipped.values().map(Vec::len).sum();
            summary.what = Some(plural(selected.len().saturating_sub(number), "block"));
            summary.notes.push(format!("{} of whole turns: a note has a line for each turn", plural(folded, "block")));
        }
        Ok(ChangeSummary { skipped, ..summary })
    })
}
