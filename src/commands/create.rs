//! `aperture create`: adds a note at the end of a session.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change, of_note};
use crate::app::{CommandError, Env, misuse};
use crate::output::ChangeReport;
use crate::workspace::NOTE;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture create 'the tests need a database: start it with make db'
  aperture create -                   from standard input

The model receives the note with the next prompt; the prompt cache stays valid.")]
pub struct Arguments {
    /// The note; - reads standard input
    pub text: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Adds the note.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let text = env.text(&arguments.text)?;
    if text.trim().is_empty() {
        return Err(misuse!("the note is empty"));
    }
    change(env, arguments.options, &|draft, _| {
        draft.note(NOTE, &text);
        Ok(ChangeSummary { what: Some("a note".to_owned()), notes: of_note(env), ..ChangeSummary::change("created") })
    })
}
