//! `aperture compact` and `aperture uncompact`: fold whole turns, and undo a compaction.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env, misuse};
use crate::engine::{Capacity, amount};
use crate::output::ChangeReport;
use crate::text::shell::quoted_word;
use crate::workspace::Workspace;
use std::ops::RangeInclusive;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("compact"))]
pub struct Arguments {
    /// Turns: a number or a range
    pub turns: String,
    /// Text of the note [default: prompts, tools and answers of the turns]; - reads standard input
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture uncompact --dry-run
  aperture uncompact             restores the messages hidden by the last /compact")]
pub struct UncompactArguments {
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Folds the selected turns.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let turns = range(&arguments.turns)?;
    let given = arguments.summary.as_deref().map(|text| env.text(text)).transpose()?;
    change(env, arguments.options, &|draft, _| {
        let text = match &given {
            Some(text) => text.clone(),
            None => draft.summarize(turns.clone())?,
        };
        draft.fold(turns.clone(), &text)?;
        let (start, end) = (turns.start(), turns.end());
        let what = if start == end { format!("turn {start}") } else { format!("turns {start} to {end}") };
        let mut summary = ChangeSummary { what: Some(what), ..ChangeSummary::change("folded") };
        summary.notes.push(text.lines().take(8).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"));
        Ok(summary)
    })
}

/// Undoes the last compaction of the client.
pub fn run_uncompact(env: &Env, arguments: &UncompactArguments) -> Result<ChangeReport, CommandError> {
    change(env, arguments.options, &|draft, opened| {
        draft.uncut()?;
        let mut summary = ChangeSummary { what: Some("the last compaction".to_owned()), ..ChangeSummary::change("undone") };
        let cache = env.cache();
        let Workspace { reading, .. } = &opened.workspace;
        let Capacity { tokens, reserve, .. } = reading.capacity;
        let limit = tokens - reserve;
        if reserve > 0 && draft.window_tokens(&|hash| cache.count(hash))? >= limit as f64 {
            summary.notes.push(format!(
                "the client compacts automatically above about {}: shorten the session before resuming: aperture compress --budget {} -s {}",
                amount(limit),
                amount(limit),
                quoted_word(&env.name_of(&opened.workspace.path, &opened.workspace.location.id))
            ));
        }
        Ok(summary)
    })
}

fn range(text: &str) -> Result<RangeInclusive<u32>, CommandError> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let range = match text.split_once("..") {
        Some((start, end)) => number(start).zip(number(end)).filter(|(start, end)| start <= end),
        None => number(text).map(|turn| (turn, turn)),
    };
    range.map(|(start, end)| start..=end).ok_or_else(|| {
        misuse!("'{text}' is neither a turn nor a range of turns")
            .hint("write turns as 3 or 2..5; to list them: aperture blocks --tree")
    })
}
