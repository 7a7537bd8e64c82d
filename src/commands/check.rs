//! `aperture check`: checks sessions against limits, for scripts, git hooks and CI.

use crate::output::CheckFormat;

/// Arguments of `check`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture check                              the newest session of this project
  aperture check --max-percent 80 --max-stale 20k
  aperture check --no-secrets docs/demo.jsonl  any files; what is no session is passed over
  aperture check --all --no-damage --format junit
  aperture check --project --json | jq '.sessions[].findings[]'

Without a rule, those under [check] in the settings; without these, --no-secrets --no-damage --max-percent 100.
Credentials are looked for in every row of the file, also in what the model never sees, and are never printed: not here,
nor in anything else, but for what --raw of show and of transcript
writes as it is.

Exit code 0 when nothing was found, 1 when something was or a session cannot be read, 2 for wrong usage.")]
pub struct Arguments {
    /// Sessions: paths, ids or beginnings of ids [default: the newest of this project]
    pub sessions: Vec<String>,
    /// Every session of this project, those of subagents too
    #[arg(long, conflicts_with = "sessions")]
    pub project: bool,
    /// Every session on this machine
    #[arg(long, conflicts_with_all = ["sessions", "project"])]
    pub all: bool,
    /// The window holds at most so many tokens
    #[arg(long, value_name = "TOKENS", value_parser = super::tokens)]
    pub max_tokens: Option<u64>,
    /// At most so much of the window is taken, in percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub max_percent: Option<f64>,
    /// Stale blocks hold at most so many tokens
    #[arg(long, value_name = "TOKENS", value_parser = tokens_or_none)]
    pub max_stale: Option<u64>,
    /// No credentials are in the file
    #[arg(long)]
    pub no_secrets: bool,
    /// Every row can be read
    #[arg(long)]
    pub no_damage: bool,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: CheckFormat,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|value| (0.0..=1000.0).contains(value));
    value.ok_or_else(|| "a share of the window is written as 80".to_owned())
}

fn tokens_or_none(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { super::tokens(text) }
}
