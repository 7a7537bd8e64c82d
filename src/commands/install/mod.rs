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
use made::Made;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("install"))]
pub struct Arguments {
    /// The target.
    #[command(subcommand)]
    #[serde(rename = "action")]
    pub into: Target<Checked<claude_code::Options>, Checked<mcp_client::Options>, Checked<git_hook::Options>>,
}

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
    pub from: Target<claude_code::Options, mcp_client::Options, git_hook::Options>,
}

/// The arguments of an installation: the options that its removal has too, and the check.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Checked<O: clap::Args> {
    #[command(flatten)]
    #[serde(flatten)]
    pub options: O,
    /// Write nothing; exit with 1 if parts are missing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

/// The targets of an installation or a removal, each with the arguments of its kind: Claude Code, a client of MCP, or git.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Target<C: clap::Args, M: clap::Args, G: clap::Args> {
    /// Hooks, status line, MCP server and slash commands of Claude Code
    ClaudeCode(C),
    /// Hooks and MCP server of Codex
    Codex(M),
    /// MCP server of Cursor
    Cursor(M),
    /// MCP server of Visual Studio Code
    Vscode(M),
    /// MCP server of Gemini CLI
    Gemini(M),
    /// MCP server of opencode
    Opencode(M),
    /// Hooks of git in this repository
    GitHook(G),
}

/// Errors: an existing file cannot be read, changed or written.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.into {
        Target::ClaudeCode(arguments) => claude_code::run(env, arguments),
        Target::Codex(arguments) => mcp_client::run(env, &CODEX, arguments),
        Target::Cursor(arguments) => mcp_client::run(env, &CURSOR, arguments),
        Target::Vscode(arguments) => mcp_client::run(env, &VSCODE, arguments),
        Target::Gemini(arguments) => mcp_client::run(env, &GEMINI, arguments),
        Target::Opencode(arguments) => mcp_client::run(env, &OPENCODE, arguments),
        Target::GitHook(arguments) => git_hook::run(env, arguments),
    }
}

/// Removes the installed parts.
pub fn run_uninstall(env: &Env, arguments: &UninstallArguments) -> Result<(), CommandError> {
    match &arguments.from {
        Target::ClaudeCode(options) => claude_code::run_uninstall(env, options),
        Target::Codex(options) => mcp_client::run_uninstall(env, &CODEX, options),
        Target::Cursor(options) => mcp_client::run_uninstall(env, &CURSOR, options),
        Target::Vscode(options) => mcp_client::run_uninstall(env, &VSCODE, options),
        Target::Gemini(options) => mcp_client::run_uninstall(env, &GEMINI, options),
        Target::Opencode(options) => mcp_client::run_uninstall(env, &OPENCODE, options),
        Target::GitHook(options) => git_hook::run_uninstall(env, options),
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

/// Writes the changes of a report, unless it is a dry run or a check, and prints it.
/// Errors: a check finds that something is missing.
fn install(env: &Env, report: &InstallReport, stop: &Path) -> Result<(), CommandError> {
    if !report.dry_run && !report.check {
        let mut made = Made::read(env)?;
        made.add(report.files.iter().filter(|change| change.before.is_none()).map(|change| &*change.path));
        made.write(env, false)?;
        made::write(env, &report.files, stop, &made)?;
    }
    env.print(report)?;
    if report.check && report.is_change() { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Removes what a report lists, unless it is a dry run, and prints it.
fn uninstall(env: &Env, report: &InstallReport, stop: &Path, mut made: Made) -> Result<(), CommandError> {
    if !report.dry_run {
        made::write(env, &report.files, stop, &made)?;
        made.write(env, true)?;
    }
    env.print(report)
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
