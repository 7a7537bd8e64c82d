//! The options with which a command covers a part of the sessions and days.

use super::usage::Day;
use crate::app::Env;
use crate::workspace::Project;
use jiff::ToSpan;
use std::path::PathBuf;

/// The sessions and days that a command covers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct Scope {
    /// Only sessions of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Only turns from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)
    #[arg(long, value_name = "DAY")]
    pub since: Option<Day>,
    /// Only turns until this day, inclusive, written like that of --since
    #[arg(long, value_name = "DAY")]
    pub until: Option<Day>,
    /// Only sessions of this client: claude-code, codex, opencode or gemini
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
}

impl Scope {
    /// Returns the project; `None` for every project.
    pub fn project(&self, env: &Env) -> Option<Project> {
        self.project.as_ref().map(|directory| env.project_named(directory))
    }

    /// Returns the first and the last moment, in milliseconds since 1970, UTC; `None` without such an option.
    pub fn times(&self, env: &Env) -> (Option<i64>, Option<i64>) {
        // The time zone of the system is looked up in many files.
        if self.since.is_none() && self.until.is_none() {
            return (None, None);
        }
        let zone = (env.style.zone)();
        let today = env.style.now.to_zoned(zone.clone()).date();
        let start = |day: Day, later: i64| {
            let date = day.date(today).saturating_add(later.days());
            date.to_zoned(zone.clone()).map_or(i64::MIN, |start| start.timestamp().as_millisecond())
        };
        (self.since.map(|day| start(day, 0)), self.until.map(|day| start(day, 1) - 1))
    }

    /// Returns true if it covers the sessions of a client.
    pub fn has_client(&self, name: &str) -> bool {
        self.client.as_deref().is_none_or(|client| client == name)
    }
}
