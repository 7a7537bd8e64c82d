//! `aperture install` and `uninstall`: integrations with other programs.

mod claude_code;
mod git_hook;
mod made;

use crate::app::{CommandError, Env};
use crate::commands::install::{Arguments, From, InstallTarget, UninstallArguments};

/// Installs, or reports missing parts.
///
/// # Errors
///
/// An existing file cannot be read, changed or written.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.into {
        InstallTarget::ClaudeCode(arguments) => claude_code::run(env, arguments),
        InstallTarget::GitHook(arguments) => git_hook::run(env, arguments),
    }
}

/// Removes the installed parts.
///
/// # Errors
///
/// As [`run`].
pub fn run_uninstall(env: &Env, arguments: &UninstallArguments) -> Result<(), CommandError> {
    match &arguments.from {
        From::ClaudeCode(arguments) => claude_code::run_uninstall(env, arguments),
        From::GitHook(arguments) => git_hook::run_uninstall(env, arguments),
    }
}
