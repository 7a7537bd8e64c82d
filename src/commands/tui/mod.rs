//! `aperture tui`: a screen that shows what fills the window of a session, and changes it.
//!
//! The state of the screen is a function of events: keys, and what the worker found. It does no I/O; the terminal and the worker do.
//! Every change is a command line that the user could type. It is planned as a dry run, shown, and carried out after `y` only.

mod keys;
mod picture;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;
mod treemap;
mod view;
mod worker;

use crate::app::{CommandError, Env, misuse};
use std::io::{IsTerminal, stdin};

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("tui"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
}

/// Shows the screen until it is left.
/// Errors: there is no terminal, or no session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    if env.screen_height().is_none() || !stdin().is_terminal() {
        return Err(misuse!("tui needs a terminal for its screen and keys").hint("to print one screen: aperture status"));
    }
    terminal::show(env, found)
}
