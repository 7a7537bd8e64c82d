//! `aperture git-hook`: the command that git hooks run.

mod report;
mod run;

pub use report::{GitHooksReport, InstalledHook};
pub use run::run;

use crate::engine::GitHook;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Arguments of `git-hook`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture git-hook pre-commit       the call that aperture install git-hook writes")]
pub struct Arguments {
    /// The hook
    #[arg(value_parser = PossibleValuesParser::new(GitHook::ALL.map(GitHook::name)).try_map(|name| parse_hook(&name)))]
    pub hook: GitHook,
    /// Arguments of the hook, from git
    pub rest: Vec<String>,
}

fn parse_hook(name: &str) -> Result<GitHook, String> {
    GitHook::from_name(name).ok_or_else(|| "there is no such hook".to_owned())
}
