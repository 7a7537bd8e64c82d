//! `aperture check`: checks sessions against limits, for scripts, git hooks and CI.

mod report;
mod run;

pub use report::{CheckReport, CheckedSession};
pub use run::{run, without_blocks};

use super::BulkOptions;
use report::CheckFormat;

/// Arguments of `check`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture check                              the newest session of this project
  aperture check --max-percent 80 --max-stale 20k
  aperture check --no-secrets docs/demo.jsonl  any files; other files than sessions are skipped
  aperture check --all --no-damage --format junit
  aperture check --project --json | jq '.sessions[].findings[]'

Without options, the rules under [check] in the settings; without these, --no-secrets --no-damage --max-percent 100.
Credentials are searched for in every row of the file, including rows that the model never receives. They are never
printed, neither here nor in other reports; only show --raw and transcript --raw
print them.

Exit code 0 without findings, 1 with findings, if a session cannot be read, or if --project or --all finds no session (unless
--allow-empty), 2 for wrong usage, 130 if interrupted.")]
pub struct Arguments {
    /// Sessions: paths, ids or id prefixes [default: the newest of this project]
    #[arg(conflicts_with_all = ["all_sessions", "project"])]
    pub sessions: Vec<String>,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
    /// Maximum size of the window, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::tokens)]
    pub max_tokens: Option<u64>,
    /// Maximum fill level of the window, in percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub max_percent: Option<f64>,
    /// Maximum size of all stale blocks, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = tokens_or_none)]
    pub max_stale: Option<u64>,
    /// Report credentials in the file
    #[arg(long)]
    pub no_secrets: bool,
    /// Report rows that the client loses, contents that the API refuses, identities that are not unique
    #[arg(long)]
    pub no_damage: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: CheckFormat,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|value| (0.0..=1000.0).contains(value));
    value.ok_or_else(|| "write a share of the window as 80".to_owned())
}

fn tokens_or_none(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { crate::app::tokens(text) }
}
