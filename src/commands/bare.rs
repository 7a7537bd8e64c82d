//! `aperture` without a command: the newest session of the project; outside of a project, the sessions that were used last.

use super::help::{self, Arguments as HelpArguments};
use super::sessions::{self, Arguments};
use super::status;
use crate::app::{CommandError, Env};
use crate::workspace::FindError;

/// Number of sessions that are listed outside of a project.
const RECENT: usize = 8;

/// Prints the status of the newest session of the project; outside of a project, recent sessions; without sessions, the help.
pub fn run(env: &Env) -> Result<(), CommandError> {
    run_here(env).map_err(|error| env.name_session_in(error))
}

fn run_here(env: &Env) -> Result<(), CommandError> {
    let Err(error) = env.find(None) else {
        status::run(env, &Default::default())?;
        if env.screen_height().is_some() {
            env.note("to see and change its blocks on a screen: aperture tui");
        }
        return Ok(());
    };
    match error.source.downcast_ref() {
        Some(FindError::NoneHere(_)) => {
            let mut report = sessions::report(env, &Arguments { limit: Some(RECENT), ..Arguments::default() })?;
            report.outside_project = true;
            env.print(&report)
        }
        // JSON is for a program, which can do nothing with the help.
        Some(FindError::NoSessions(_)) if !env.json => {
            env.note(&format!("{:#}", error.source));
            help::run(&HelpArguments { topic: None })
        }
        _ => Err(error),
    }
}
