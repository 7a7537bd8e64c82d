//! `aperture shrink`: makes a session file smaller without changing what the client sends.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, change};
use crate::app::{CommandError, Env};
use crate::output::ChangeReport;

/// Arguments of `shrink`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture shrink --dry-run    states the bytes of each kind
  aperture shrink              then resume the session in the client
  aperture shrink 5a00         a session by an id prefix

It removes the rows before the last compaction, with their file snapshots and
records of requests, and long texts in the copies of results that Claude Code
keeps for its screen. What the client sends stays exactly the same. The store
of aperture keeps what left the file, compressed; aperture undo restores every
byte.

Until then nothing before the last compaction is found: by uncompact, show,
recall and memory learn, by a /rewind to before it, and by programs that add
up bills, such as ccusage. aperture usage still counts it.")]
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
