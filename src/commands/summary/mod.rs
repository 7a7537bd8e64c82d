//! `aperture summary`: summarizes a session and its turns.

mod report;
mod run;

pub use report::SummaryReport;
pub use run::{contents, current, report, run};

use report::SummaryFormat;
use std::ops::RangeInclusive;

/// Arguments of `summary`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture summary                          the newest session here: goal, story, state, next steps
  aperture summary 6666 --turns 3..         each turn from the third on, a few lines each
  aperture summary --turn 4 --full          one turn with all its texts
  aperture summary --format markdown > notes.md
  aperture summary --json | jq '.turns[].header.text'

Extractive only: every sentence is quoted from the session; files, tests, commits and errors come from the
tool calls. At most 300 tokens for the session, 120 for a turn and 12 for its header, counted in o200k.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Only these turns, such as 3..5, 3.. or ..5
    #[arg(long, value_name = "RANGE", value_parser = turns)]
    #[serde(serialize_with = "range")]
    pub turns: Option<RangeInclusive<u32>>,
    /// Only this turn
    #[arg(long, value_name = "N", value_parser = crate::app::number::<u32>, conflicts_with = "turns")]
    pub turn: Option<u32>,
    /// Also all texts and tool calls of the turn
    #[arg(long, requires = "turn")]
    pub full: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[serde(serialize_with = "super::json::choice")]
    pub format: SummaryFormat,
}

/// Parses a range of turns.
fn turns(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str, default: u32| if text.is_empty() { Some(default) } else { text.parse().ok() };
    let range = match text.split_once("..") {
        Some((first, last)) if !(first.is_empty() && last.is_empty()) => number(first, 1).zip(number(last, u32::MAX)),
        Some(_) => None,
        None => text.parse().ok().map(|turn| (turn, turn)),
    };
    let range = range.filter(|(first, last)| first <= last).map(|(first, last)| first..=last);
    range.ok_or_else(|| "write a range of turns as 3..5, 3.., ..5 or 3".to_owned())
}

/// Serializes a range of turns as it is parsed.
fn range<S: serde::Serializer>(turns: &Option<RangeInclusive<u32>>, serializer: S) -> Result<S::Ok, S::Error> {
    match turns {
        Some(turns) if *turns.end() == u32::MAX => serializer.collect_str(&format_args!("{}..", turns.start())),
        Some(turns) => serializer.collect_str(&format_args!("{}..{}", turns.start(), turns.end())),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn ranges_have_two_ends_or_one() {
        for (text, expected) in [("3..5", Some(3..=5)), ("3", Some(3..=3)), ("2..", Some(2..=u32::MAX)), ("..4", Some(1..=4))] {
            assert_eq!(turns(text).ok(), expected, "{text}");
        }
        for text in ["", "..", "5..3", "a", "1..b", "-1"] {
            assert!(turns(text).is_err(), "{text}");
        }
    }
}
