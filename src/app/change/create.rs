//! `aperture create`: adds a note at the end of a session.

use crate::app::change::pipeline::{ChangeSummary, change, of_note};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::create::Arguments;
use crate::output::ChangeReport;
use crate::workspace::NOTE;
use anyhow::anyhow;

/// Adds the note.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let text = env.text(&arguments.text)?;
    if text.trim().is_empty() {
        return Err(CommandError::new(ErrorKind::Usage, anyhow!("the note is empty")));
    }
    change(env, arguments.options, &|draft, _| {
        draft.note(NOTE, &text);
        Ok(ChangeSummary { what: Some("a note".to_owned()), notes: of_note(env), ..ChangeSummary::change("created") })
    })
}
