//! `aperture sessions`: lists the sessions on this machine.

mod report;
mod run;

pub use report::{SessionRow, SessionsReport};
pub use run::{report, run};

use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("sessions"))]
pub struct Arguments {
    /// Only sessions with this text in the title, the first prompt, or at the start of the id, in any case
    pub text: Option<String>,
    /// Only sessions of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Only sessions of this client: claude-code, codex, opencode or gemini
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only sessions whose model's name contains this
    #[arg(long, value_name = "TEXT")]
    pub model: Option<String>,
    /// Only sessions written to in this time, such as 12h, 7d or 8w
    #[arg(long = "since", alias = "newer", value_name = "TIME", value_parser = super::gc::retention)]
    #[serde(serialize_with = "age")]
    pub newer: Option<i64>,
    /// Only sessions not written to in this time
    #[arg(long = "until", alias = "older", value_name = "TIME", value_parser = super::gc::retention)]
    #[serde(serialize_with = "age")]
    pub older: Option<i64>,
    /// Only files of at least this size, such as 500k or 2M bytes
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub larger: Option<u64>,
    /// Only sessions whose window is full to at least this percentage
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fuller: Option<u64>,
    /// Only sessions that a running client has open
    #[arg(long)]
    pub open: bool,
    /// Also the sessions of subagents
    #[arg(long)]
    pub subagents: bool,
    /// Also files without a single prompt or response
    #[arg(long = "empty", alias = "all")]
    pub all: bool,
    /// Show the topics of each session in place of its title; reads each session once
    #[arg(long)]
    pub topics: bool,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "age")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: Sort,
    /// Reverse the order
    #[arg(long)]
    pub reverse: bool,
    /// Sessions to list; 0 lists all [default: 50; all with --json]
    #[arg(long, value_name = "N", value_parser = crate::app::number::<usize>)]
    pub limit: Option<usize>,
}

/// Serializes a duration as it can be written on the command line.
fn age<S: serde::Serializer>(milliseconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    match milliseconds {
        Some(milliseconds) => super::gc::hours(milliseconds, serializer),
        None => serializer.serialize_none(),
    }
}

fn size(text: &str) -> Result<u64, String> {
    crate::app::tokens(text).map_err(|_| "write a size as 800000, 500k or 2M".to_owned())
}

fn percent(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    number.filter(|percent| *percent <= 1000).ok_or_else(|| "write a percentage as 80".to_owned())
}

/// The sort keys of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The newest first.
    #[default]
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
