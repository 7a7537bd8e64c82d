//! `aperture install claude-code` and `uninstall claude-code`: the integration with Claude Code.

mod run;

pub use run::{run, run_uninstall};

/// Arguments of `install claude-code`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The options that both commands have.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
    /// Write nothing; exit with 1 if parts are missing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

/// The places of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InstallScope {
    /// All projects of the user: in ~/.claude.
    User,
    /// All users of this project: in .claude and .mcp.json.
    Project,
    /// This user in this project: hooks and status line in .claude/settings.local.json.
    Local,
}

/// The options that installation and removal have in common: the arguments of `uninstall claude-code`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Options {
    /// Where, in the words of Claude Code
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    #[serde(serialize_with = "crate::commands::json::choice")]
    pub scope: InstallScope,
    /// Show the difference; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}
