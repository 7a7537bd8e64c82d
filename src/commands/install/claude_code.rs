//! `aperture install claude-code` and `uninstall claude-code`: the integration with Claude Code.

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

/// Arguments of `uninstall claude-code`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct UninstallArguments {
    /// The options that both commands have.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
}

/// The options that installation and removal have in common.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Options {
    /// For all projects of the user: in ~/.claude (default)
    #[arg(long, conflicts_with_all = ["project", "local"])]
    pub user: bool,
    /// For all users of this project: in .claude and .mcp.json
    #[arg(long, conflicts_with = "local")]
    pub project: bool,
    /// For this user in this project: hooks and status line in .claude/settings.local.json
    #[arg(long)]
    pub local: bool,
    /// Show the difference; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}
