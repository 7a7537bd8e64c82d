//! `aperture install git-hook` and `uninstall git-hook`: the integration with git hooks.

/// Arguments of `install git-hook`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The options that both commands have.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
    /// Write nothing; exit with 1 if the hook is missing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

/// Arguments of `uninstall git-hook`.
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
    /// Before a commit: refuse staged sessions with credentials
    #[arg(long)]
    pub pre_commit: bool,
    /// After a commit: add a git note about the session of this project
    #[arg(long)]
    pub post_commit: bool,
    /// Before a push: refuse commits that contain sessions with credentials
    #[arg(long)]
    pub pre_push: bool,
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}
