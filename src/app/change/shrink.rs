//! `aperture shrink`: makes a session file smaller without changing what the client sends.

use crate::app::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::commands::shrink::Arguments;
use crate::output::ChangeReport;

/// Shrinks the file of the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    let env = &env.visiting(&found);
    change(env, arguments.options, &|draft, _| {
        let removed = draft.shrink_file()?;
        Ok(ChangeSummary { what: Some("the session file".to_owned()), removed, ..ChangeSummary::change("shrunk") })
    })
}
