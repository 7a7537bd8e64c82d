//! The command line: arguments, settings, errors, exit codes.

mod args;
mod env;
mod error;
mod pager;
mod settings;
mod topics;

pub use args::{Cli, Command};
pub use env::Env;
pub use error::{CommandError, ErrorKind};
pub use topics::topic;

use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with its arguments and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // clap writes help to standard output, errors to standard error; a closed pipe is no reason to complain.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { ErrorKind::Usage.code() } else { 0 });
        }
    };
    let outcome = Env::new(&cli.globals).and_then(|env| crate::commands::run(&env, cli.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error::print(&error);
            ExitCode::from(error.kind.code())
        }
    }
}

/// The definition of the command line, for man pages and completions.
pub fn definition() -> clap::Command {
    Cli::command()
}
