//! `aperture install` and `uninstall`: integrations with other programs.

pub mod claude_code;
pub mod git_hook;
mod made;
pub mod mcp_client;
mod report;

pub use report::{InstallReport, InstallState};

use crate::app::{CommandError, Env, files, refusal};
use crate::provider::ProviderAdapter;
use crate::provider::claude_code::ClaudeCode;
use crate::provider::mcp_client::{CODEX, CURSOR, GEMINI, OPENCODE, VSCODE};

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
  aperture uninstall cursor                  the MCP server
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
    /// Hooks and MCP server of Codex
    Codex(mcp_client::Arguments),
    /// MCP server of Cursor
    Cursor(mcp_client::Arguments),
    /// MCP server of Visual Studio Code
    Vscode(mcp_client::Arguments),
    /// MCP server of Gemini CLI
    Gemini(mcp_client::Arguments),
    /// MCP server of opencode
    Opencode(mcp_client::Arguments),
    /// Hooks of git in this repository
    GitHook(git_hook::Arguments),
}

/// The targets of a removal.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// Hooks, status line, MCP server and slash commands of Claude Code
    ClaudeCode(claude_code::Options),
    /// Hooks and MCP server of Codex
    Codex(mcp_client::Options),
    /// MCP server of Cursor
    Cursor(mcp_client::Options),
    /// MCP server of Visual Studio Code
    Vscode(mcp_client::Options),
    /// MCP server of Gemini CLI
    Gemini(mcp_client::Options),
    /// MCP server of opencode
    Opencode(mcp_client::Options),
    /// Hooks of git in this repository
    GitHook(git_hook::Options),
}

/// Installs, or reports missing parts.
/// Errors: an existing file cannot be read, changed or written.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.into {
        InstallTarget::ClaudeCode(arguments) => claude_code::run(env, arguments),
        InstallTarget::Codex(arguments) => mcp_client::run(env, &CODEX, arguments),
        InstallTarget::Cursor(arguments) => mcp_client::run(env, &CURSOR, arguments),
        InstallTarget::Vscode(arguments) => mcp_client::run(env, &VSCODE, arguments),
        InstallTarget::Gemini(arguments) => mcp_client::run(env, &GEMINI, arguments),
        InstallTarget::Opencode(arguments) => mcp_client::run(env, &OPENCODE, arguments),
        InstallTarget::GitHook(arguments) => git_hook::run(env, arguments),
    }
}

/// Removes the installed parts.
pub fn run_uninstall(env: &Env, arguments: &UninstallArguments) -> Result<(), CommandError> {
    match &arguments.from {
        From::ClaudeCode(options) => claude_code::run_uninstall(env, options),
        From::Codex(options) => mcp_client::run_uninstall(env, &CODEX, options),
        From::Cursor(options) => mcp_client::run_uninstall(env, &CURSOR, options),
        From::Vscode(options) => mcp_client::run_uninstall(env, &VSCODE, options),
        From::Gemini(options) => mcp_client::run_uninstall(env, &GEMINI, options),
        From::Opencode(options) => mcp_client::run_uninstall(env, &OPENCODE, options),
        From::GitHook(options) => git_hook::run_uninstall(env, options),
    }
}

/// Returns what the clients in use have of aperture, each with the name of its target.
pub fn states(env: &Env) -> Vec<(&'static str, Result<InstallState, CommandError>)> {
    let used = env.places.claude_directory();
    let claude = files::is_there(&used).then(|| (ClaudeCode.name(), claude_code::state(env)));
    let others = [&CODEX, &CURSOR, &VSCODE, &GEMINI, &OPENCODE].into_iter();
    let others = others.filter_map(|client| Some((client.name, mcp_client::state(env, client).transpose()?)));
    claude.into_iter().chain(others).collect()
}

/// The name by which `uninstall` recognizes the entries of `install`.
const NAME: &str = "aperture";

/// Returns the command with which a client starts aperture: its name in a project, because projects are shared, otherwise its path.
/// Errors: the program has another name.
fn program(env: &Env, in_project: bool) -> Result<String, CommandError> {
    if in_project {
        return Ok(NAME.to_owned());
    }
    let program = env.program()?;
    if program.file_stem().is_none_or(|name| name != NAME) {
        return Err(refusal!("this program is called {}, not {NAME}", program.display())
            .hint("rename it to aperture: the installed parts are found by that name"));
    }
    Ok(program.to_string_lossy().into_owned())
}
