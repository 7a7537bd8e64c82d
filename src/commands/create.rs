//! `aperture create`: adds a note at the end of a session.

use super::changing::{ChangeOptions, Said, change, of_note};
use crate::app::{CommandError, Env, ErrorKind};
use crate::output::ChangeReport;
use crate::workspace::NOTE;
use anyhow::anyhow;

/// Arguments of `create`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture create 'the tests need a database: start it with make db'
  aperture create -                   from standard input

The model reads the note with the next prompt; what is cached stays cached.")]
pub struct Arguments {
    /// The note; - reads standard input
    pub(super) text: String,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

/// Adds the note.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let text = env.text(&arguments.text)?;
    if text.trim().is_empty() {
        return Err(CommandError::new(ErrorKind::Usage, anyhow!("the note is empty")));
    }
    change(env, arguments.options, &|draft, _| {
        draft.note(NOTE, &text);
        Ok(Said { what: Some("a note".to_owned()), notes: of_note(env), ..Said::change("created") })
    })
}
