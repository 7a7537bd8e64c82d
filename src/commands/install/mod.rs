//! `aperture install` and `uninstall`: integrations with other programs.

pub mod claude_code;
pub mod git_hook;

/// Arguments of `install`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture install claude-code --dry-run   show what would be written
  aperture install claude-code             for all projects of the user
  aperture install claude-code --project   for everybody who works on this project
  aperture install claude-code --check     exit 1 unless all of it is there
  aperture install git-hook                pre-commit: no session with a credential is committed
  aperture install git-hook --post-commit  each commit gets a note: the session, and what it was about

A git hook that is there stays: a marked part is added behind its first line. git commit --no-verify passes over
it once; git log --notes=aperture shows the notes. aperture uninstall takes out exactly what was added.")]
pub struct Arguments {
    /// The target.
    #[command(subcommand)]
    #[serde(rename = "action")]
    pub into: Into,
}

/// Arguments of `uninstall`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture uninstall claude-code --dry-run   show what would be taken out
  aperture uninstall claude-code             take out what install added, and nothing else
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
pub enum Into {
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
    ClaudeCode(claude_code::UninstallArguments),
    /// Hooks of git in this repository
    GitHook(git_hook::UninstallArguments),
}
