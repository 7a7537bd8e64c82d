//! `aperture usage`: adds up tokens and cost.

use jiff::civil::Date;
use std::path::PathBuf;

/// Arguments of `usage`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture usage                               by day, all sessions on this machine
  aperture usage --by month --model opus       one model, by month
  aperture usage --by session --since 2026-11-01
  aperture usage --by project --client codex
  aperture usage --project . --json            with exact figures

Each response of a model counts once: the rows of a response repeat its figures, and
resumed and forked sessions contain copies. ccusage counts copies without a request id
again; a line below the table has their sum. Subagents are included. Days are those of
the local time zone. The cost is the one stated in a session file, or else the list price
of the model; prices can be set: aperture help settings. Saved tokens are an estimate by
the operation log: tokens that later requests did not contain because of aperture.")]
pub struct Arguments {
    /// Group by this
    #[arg(long, value_name = "KEY", default_value = "day")]
    #[serde(serialize_with = "super::json::choice")]
    pub by: By,
    /// Only responses from this day on, such as 2026-11-01
    #[arg(long, value_name = "DATE", value_parser = date)]
    #[serde(serialize_with = "day")]
    pub since: Option<Date>,
    /// Only responses until this day, inclusive
    #[arg(long, value_name = "DATE", value_parser = date)]
    #[serde(serialize_with = "day")]
    pub until: Option<Date>,
    /// Only sessions of the project in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub project: Option<PathBuf>,
    /// Only sessions of this client: claude-code or codex
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only responses of models whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub model: Option<String>,
}

/// The keys by which usage can be grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// The day.
    Day,
    /// The month.
    Month,
    /// The session, its subagents included.
    Session,
    /// The project.
    Project,
    /// The model.
    Model,
}

/// Parses a day, with or without hyphens.
fn date(text: &str) -> Result<Date, String> {
    let compact = || Date::strptime("%Y%m%d", text);
    text.parse().or_else(|_| compact()).map_err(|_| "write a day as 2026-11-30".to_owned())
}

/// Serializes a day as it is written on the command line.
fn day<S: serde::Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&date.map(|date| date.to_string()), serializer)
}
