//! `aperture shrink`: makes a session file smaller without changing what the client sends.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::output::ChangeReport;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("shrink"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Shrinks the file of the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    let env = &env.visiting(&found);
    change(env, arguments.options, &|draft, _| {
        let removed = draft.shrink_file()?;
        Ok(ChangeSummary { what: Some("the session file".to_owned()), removed, ..ChangeSummary::change("shrunk") })
    })
}
