//! `aperture util`: measurements for developers of aperture, not part of its promise.

use crate::cli::{CommandError, Env, ErrorKind};
use crate::model::History;
use crate::output::{AccuracyReport, AccuracyRow};
use crate::workspace::{self, Workspace};
use anyhow::anyhow;

/// Arguments of `util`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

/// The tools.
#[derive(Debug, clap::Subcommand)]
enum Tool {
    /// Compare token estimates with the bills of sessions
    ///
    /// Each step, from one call of the model to the next, is predicted from the steps before it alone. Without files, the
    /// sessions of this machine are compared.
    Accuracy {
        /// Session files
        files: Vec<String>,
    },
}

/// Runs a tool.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let Tool::Accuracy { files } = &arguments.tool;
    let found = if files.is_empty() {
        let all = workspace::find_all(env.disk, &env.places, &mut |path, error| {
            env.note(&format!("skipped {}: {error}", path.display()));
        });
        all.into_iter().map(|(found, _)| found).collect()
    } else {
        let mut found = Vec::new();
        for file in files {
            match workspace::find(env.disk, &env.places, &env.directory, Some(file)) {
                Ok(session) => found.push(session),
                Err(error) => env.note(&error.to_string()),
            }
        }
        found
    };
    if found.is_empty() {
        return Err(CommandError::new(ErrorKind::Refused, anyhow!("none of the files is a session")));
    }
    let cache = env.cache();
    let mut report = AccuracyReport::default();
    for found in found {
        let name = found.path.display().to_string();
        match Workspace::open(env.disk, &cache, History::default(), found, &env.settings) {
            Ok(workspace) => report.add(AccuracyRow::new(name, &workspace.reading)),
            Err(error) => env.note(&format!("skipped {name}: {error}")),
        }
    }
    report.finish();
    env.print(&report)
}
