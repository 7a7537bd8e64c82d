//! `aperture usage`: adds up tokens and cost.

mod report;
mod run;

pub use report::UsageReport;
pub use run::{check_client, run};

use crate::app::one_of;
use crate::engine::UsageGroup;
use jiff::civil::Date;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("usage"))]
pub struct Arguments {
    /// Group by day, week (from Monday on), month, session (its subagents included), project or model
    #[arg(long, value_name = "KEY", default_value = "day", hide_possible_values = true)]
    #[arg(value_parser = one_of(UsageGroup::ALL.map(UsageGroup::name), UsageGroup::from_name))]
    pub by: UsageGroup,
    /// Only responses from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)
    #[arg(long, value_name = "DAY")]
    pub since: Option<Day>,
    /// Only responses until this day, inclusive, written like that of --since
    #[arg(long, value_name = "DAY")]
    pub until: Option<Day>,
    /// Only sessions of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Only sessions of this client: claude-code, codex, opencode or gemini
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only responses of models whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub model: Option<String>,
}

/// A day, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    Date(Date),
    /// The day this many days before today.
    Ago(u16),
}

impl Day {
    pub fn date(self, today: Date) -> Date {
        match self {
            Day::Date(date) => date,
            Day::Ago(days) => today.saturating_sub(jiff::Span::new().days(days)),
        }
    }
}

/// Parses a date with or without hyphens, or days or weeks before today.
impl std::str::FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Day, String> {
        let ago = |unit: char, days: u16| text.strip_suffix(unit)?.parse::<u16>().ok()?.checked_mul(days).map(Day::Ago);
        let named = match text {
            "today" => Some(Day::Ago(0)),
            "yesterday" => Some(Day::Ago(1)),
            _ => ago('d', 1).or_else(|| ago('w', 7)),
        };
        let date = || text.parse().or_else(|_| Date::strptime("%Y%m%d", text)).ok().map(Day::Date);
        named.or_else(date).ok_or_else(|| "write a day as 2026-11-30, today, yesterday, 7d or 2w".to_owned())
    }
}

/// Writes the day as on the command line.
impl std::fmt::Display for Day {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Day::Date(date) => write!(formatter, "{date}"),
            Day::Ago(days) => write!(formatter, "{days}d"),
        }
    }
}

impl serde::Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date_or_counts_back_from_today() {
        let today = Date::constant(2026, 3, 1);
        let check = |text: &str, date: &str| {
            let day: Day = text.parse().unwrap();
            assert_eq!(day.date(today).to_string(), date, "{text}");
            let written = serde_json::to_value(day).unwrap();
            assert_eq!(written.as_str().unwrap().parse::<Day>(), Ok(day), "{text}");
        };
        check("2026-11-30", "2026-11-30");
        check("20261130", "2026-11-30");
        check("today", "2026-03-01");
        check("yesterday", "2026-02-28");
        check("0d", "2026-03-01");
        check("7d", "2026-02-22");
        check("2w", "2026-02-15");
        for text in ["", "d", "w", "-1d", "7", "7h", "99999d", "9999w", "last week", "2026-02-30", "Yesterday"] {
            assert_eq!(text.parse::<Day>(), Err("write a day as 2026-11-30, today, yesterday, 7d or 2w".to_owned()), "{text}");
        }
    }
}
