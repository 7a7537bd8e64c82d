//! `aperture update`: replaces the text of a block.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change, inherited};
use crate::app::{CommandError, Env, misuse, refusal};
use crate::model::{BlockKind, Level};
use crate::output::ChangeReport;
use crate::workspace::SkipReason;
use std::slice;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture update 12 'the current plan'
  aperture update 12 -               from standard input

The input of a tool use is a JSON object.")]
pub struct Arguments {
    /// Block, by a selector that matches one
    pub selector: String,
    /// The new text; - reads standard input
    pub text: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Replaces the text.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(slice::from_ref(&arguments.selector))?;
    let text = env.text(&arguments.text)?;
    if text.trim().is_empty() {
        return Err(misuse!("the text is empty; the model's API refuses empty texts")
            .hint("to replace a block by one line: aperture archive"));
    }
    change(env, arguments.options, &|draft, opened| {
        let numbers = selector.select(&opened.workspace.reading)?;
        let [number] = numbers[..] else {
            return Err(refusal!("'{}' matches {} blocks; update takes one", arguments.selector, numbers.len())
                .hint("to list blocks with their numbers: aperture blocks"));
        };
        if let Some(why) = draft.immutable(number)? {
            if why == SkipReason::Inherited {
                let (what, hint) = inherited(env, &opened.workspace, &[number]);
                return Err(refusal!(what).hint(hint));
            }
            return Err(refusal!("block {number} cannot be changed: {}", why.reason()).hint("to add a note: aperture create"));
        }
        let call = opened.workspace.reading.block(number).is_some_and(|block| block.kind == BlockKind::ToolUse);
        if call && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_err() {
            return Err(misuse!("block {number} is a tool use, and its input is a JSON object")
                .hint(format!("to print the current input: aperture show {number} --raw")));
        }
        draft.replace(number, Level::Original, &text, "")?;
        Ok(ChangeSummary::change("updated"))
    })
}
