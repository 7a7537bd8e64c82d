//! The command line: arguments, settings, errors, exit codes.

mod args;
mod deferred;
mod env;
mod error;
pub mod files;
mod git;
mod pager;
mod settings;
mod topics;

pub use args::{Cli, Command, tokens};
pub use env::{Answer, Client, Env, wait};
pub use error::{CommandError, ErrorKind};
pub use settings::{Hooks, PROJECT_FILE};
pub use topics::topic;

use crate::model::quoted;
use crate::output::Gate;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Runs the program with its arguments and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let given = arguments.iter().skip(1).map(|argument| quoted(&argument.to_string_lossy())).collect::<Vec<_>>().join(" ");
    // A client takes other exit codes of these for an order to stop.
    let mut harmless = arguments.get(1).is_some_and(|command| command == "hook" || command == "statusline");
    let gate = Gate::default();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if harmless && error.use_stderr() => {
            error::print_line(&gate, &error.to_string());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            // A closed pipe is no reason to complain.
            let _ = print(&gate, &error);
            return ExitCode::from(if error.use_stderr() { ErrorKind::Usage.code() } else { 0 });
        }
    };
    // What explains the program must not need what it explains, such as settings that can be read.
    let outcome = match cli.command {
        Some(Command::Help(arguments)) => crate::commands::help::run(&arguments),
        Some(Command::Completions(arguments)) => crate::commands::completions::run(&arguments),
        command => {
            harmless |= matches!(command, Some(Command::Hook(_) | Command::Statusline(_)));
            Env::new(&cli.globals, given, gate.clone()).and_then(|env| crate::commands::run(&env, command))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) if harmless => {
            error::print_line(&gate, &format!("{:#}", error.source));
            ExitCode::SUCCESS
        }
        Err(error) => {
            if error.kind != ErrorKind::Said {
                error::print(&gate, &error);
            }
            ExitCode::from(error.kind.code())
        }
    }
}

/// Writes what clap has to say: help to standard output, in one piece, errors to standard error.
fn print(gate: &Gate, error: &clap::Error) -> io::Result<()> {
    let text = error.render();
    if error.use_stderr() {
        // It quotes what was typed.
        return io::stderr().write_all(gate.text(&text.to_string(), false).as_str().as_bytes());
    }
    let text = if io::stdout().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    io::stdout().write_all(text.as_bytes())
}

/// The definition of the command line, for man pages and completions.
pub fn definition() -> clap::Command {
    Command::define_all(Cli::command())
}
