//! `aperture sessions`: lists the sessions on this machine.

use std::path::PathBuf;

/// Arguments of `sessions`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture sessions                          newest first
  aperture sessions --project . --sort full  the sessions of this project, the fullest first
  aperture sessions --open                   sessions that a client has open
  aperture sessions --json | jq '.sessions[] | select(.percent > 80) | .id'")]
pub struct Arguments {
    /// Only sessions of the project in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub project: Option<PathBuf>,
    /// Only sessions whose model's name contains this
    #[arg(long, value_name = "TEXT")]
    pub model: Option<String>,
    /// Only sessions that a running client has open
    #[arg(long)]
    pub open: bool,
    /// Also the sessions of subagents
    #[arg(long)]
    pub subagents: bool,
    /// Also files without a single prompt or response
    #[arg(long)]
    pub all: bool,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "age")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: Sort,
    /// Reverse the order
    #[arg(long)]
    pub reverse: bool,
    /// Sessions to list; 0 lists all [default: 50; all with --json]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// The sort keys of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The newest first.
    Age,
    /// The largest window first.
    Tokens,
    /// The fullest window first.
    Full,
    /// The largest file first.
    Size,
    /// The most turns first.
    Turns,
}
