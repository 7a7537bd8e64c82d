//! `aperture install` and `uninstall`: integrations with other programs.

pub mod claude_code;
pub mod git_hook;
mod made;
mod report;

pub use report::InstallReport;

use crate::app::{CommandError, Env};

/// Arguments of `install`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("install"))]
pub struct Arguments {
    /// The target.
    #[command(subcommand)]
    #[serde(rename = "action")]
    pub into: InstallTarget,
}

/// Arguments of `uninstall`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture uninstall claude-code --dry-run   show the changes, write nothing
  aperture uninstall claude-code             remove the parts added by install, and nothing else
  aperture uninstall git-hook                every hook of aperture
  aperture uninstall git-hook --pre-push --dry-run")]
pub struct UninstallArguments {
    /// The target.
    #[command(subcommand)]
    #[serde(rename = "action")]
    pub from: From,
}

/// The targets of an installation.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum InstallTarget {
    /// Hooks, status line, MCP server and slash commands of Claude Code
    ClaudeCode(claude_code::Arguments),
    /// Hooks of git in this repository
    GitHook(git_hook::Arguments),
}

/// The targets of a removal.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// Hooks, status line, MCP server and slash commands of Claude Code
    ClaudeCode(claude_code::Options),
    /// Hooks of git in this repository
    GitHook(git_hook::Options),
}

/// Installs, or reports missing parts.
/// Errors: an existing file cannot be read, changed or written.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.into {
        InstallTarget::ClaudeCode(arguments) => claude_code::run(env, arguments),
        InstallTarget::GitHook(arguments) => git_hook::run(env, arguments),
    }
}

/// Removes the installed parts.
pub fn run_uninstall(env: &Env, arguments: &UninstallArguments) -> Result<(), CommandError> {
    match &arguments.from {
        From::ClaudeCode(options) => claude_code::run_uninstall(env, options),
        From::GitHook(options) => git_hook::run_uninstall(env, options),
    }
}
