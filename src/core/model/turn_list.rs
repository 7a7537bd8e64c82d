//! Lists of turns: `3,7..9`.

use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Turns by their numbers, in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnList(Vec<RangeInclusive<u32>>);

/// A text that is not a list of turns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write turns as 3,7..9, 3.. or ..5")]
pub struct TurnListError;

impl TurnList {
    pub fn contains(&self, turn: u32) -> bool {
        self.0.iter().any(|range| range.contains(&turn))
    }

    /// Returns the place of a turn in the order of the list; `None` if it is not in the list.
    pub fn place(&self, turn: u32) -> Option<usize> {
        self.0.iter().position(|range| range.contains(&turn))
    }

    /// Returns the named turns that are not among these, which ascend. A range without an end names none after the last one.
    pub fn without(&self, turns: &[u32]) -> TurnList {
        let mut missing = Vec::new();
        for range in &self.0 {
            let mut start = *range.start();
            for turn in turns.iter().filter(|turn| range.contains(turn)) {
                missing.extend((start < *turn).then(|| start..=*turn - 1));
                start = turn.saturating_add(1);
            }
            let is_open = *range.end() == u32::MAX && turns.last().is_some_and(|last| *last >= *range.start());
            missing.extend((start <= *range.end() && !is_open).then(|| start..=*range.end()));
        }
        TurnList(missing)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the turns of another list.
    pub fn extend(&mut self, other: TurnList) {
        self.0.extend(other.0);
    }
}

impl FromIterator<u32> for TurnList {
    /// Joins numbers in ascending order into ranges.
    fn from_iter<T: IntoIterator<Item = u32>>(turns: T) -> TurnList {
        let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
        for turn in turns {
            match ranges.last_mut() {
                Some(range) if *range.end() + 1 == turn => *range = *range.start()..=turn,
                _ => ranges.push(turn..=turn),
            }
        }
        TurnList(ranges)
    }
}

impl FromStr for TurnList {
    type Err = TurnListError;

    fn from_str(text: &str) -> Result<TurnList, TurnListError> {
        let range = |text: &str| {
            let number = |text: &str, default: u32| if text.is_empty() { Some(default) } else { text.parse().ok() };
            let (first, last) = match text.split_once("..") {
                Some((first, last)) if !(first.is_empty() && last.is_empty()) => (number(first, 1)?, number(last, u32::MAX)?),
                Some(_) => return None,
                None => text.parse().ok().map(|turn| (turn, turn))?,
            };
            (first <= last).then_some(first..=last)
        };
        let ranges = text.split(',').map(|part| range(part.trim())).collect::<Option<Vec<_>>>();
        ranges.map(TurnList).ok_or(TurnListError)
    }
}

/// Formats a range as it is parsed.
fn format_range(range: &RangeInclusive<u32>) -> String {
    match (*range.start(), *range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, u32::MAX) => format!("{first}.."),
        (first, last) => format!("{first}..{last}"),
    }
}

impl fmt::Display for TurnList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0.iter().map(format_range).collect::<Vec<_>>().join(","))
    }
}

impl Serialize for TurnList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_written_as_it_is_read() {
        for text in ["3", "3,7..9", "2..", "7..9,1", "12,..4"] {
            let list: TurnList = text.parse().unwrap();
            assert_eq!(list.to_string(), text.replace(",..", ",1.."), "{text}");
        }
        assert_eq!(" 3 , 7..9 ".parse::<TurnList>().unwrap().to_string(), "3,7..9");
        for text in ["", "..", "5..3", "a", "1..b", "-1", "3,", "99999999999"] {
            assert!(text.parse::<TurnList>().is_err(), "{text}");
        }
        assert_eq!([1, 2, 3, 7, 9, 10].into_iter().collect::<TurnList>().to_string(), "1..3,7,9..10");
    }

    #[test]
    fn turns_that_do_not_exist_are_named() {
        let missing = |text: &str| text.parse::<TurnList>().unwrap().without(&[1, 2, 7, 8, 12]).to_string();
        assert_eq!(missing("3,99"), "3,99");
        assert_eq!(missing("10..14,20.."), "10..11,13..14,20..");
        assert_eq!(missing("2.."), "3..6,9..11");
        assert_eq!(missing("7..8"), "");
    }
}
