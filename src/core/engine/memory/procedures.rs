//! Procedures: sequences of commands of the project that several sessions ran in the same order.

use crate::text::command_heads::is_publishing;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lengths of the sequences that are counted.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=4;
/// Sessions that must have run a sequence.
const LEAST_SESSIONS: usize = 2;
const PROCEDURES: usize = 6;
/// The weight of a session, compared with the next newer one.
const DECAY: f64 = 0.9;

/// Returns the sequences of commands of the project that two or more sessions ran, and never in the opposite order: those with the most
/// steps in the most sessions first, without those that are part of another one. `sessions` are the commands of each session in order,
/// oldest session first.
pub fn procedures<'a>(sessions: &[Vec<&'a str>]) -> Vec<Vec<&'a str>> {
    let mut kept: Vec<Vec<&str>> = Vec::new();
    // The parts of one are not told again.
    for (sequence, _) in repeated(sessions) {
        if kept.len() < PROCEDURES && !kept.iter().any(|known| sequence.iter().all(|step| known.contains(step))) {
            kept.push(sequence);
        }
    }
    kept
}

/// Returns the sequences of distinct commands that several sessions ran, with the weight of these sessions, heaviest first.
fn repeated<'a>(sessions: &[Vec<&'a str>]) -> Vec<(Vec<&'a str>, f64)> {
    let mut seen: FxHashMap<Vec<&str>, (f64, usize)> = FxHashMap::default();
    for (age, steps) in sessions.iter().rev().enumerate() {
        let windows = LENGTHS.flat_map(|length| steps.windows(length));
        let distinct = windows.filter(|window| (1..window.len()).all(|at| !window[..at].contains(&window[at])));
        for sequence in distinct.collect::<FxHashSet<_>>() {
            let (weight, count) = seen.entry(sequence.to_vec()).or_default();
            *weight += DECAY.powi(age as i32);
            *count += 1;
        }
    }
    let opposite = |sequence: &[&str]| seen.contains_key(&sequence.iter().rev().copied().collect::<Vec<_>>());
    // The commands of the project come first: what is published after them is the end of the work.
    let is_own = |sequence: &[&str]| !is_publishing(sequence[0]) && sequence.is_sorted_by_key(|step| is_publishing(step));
    let is_order = |(sequence, (_, count)): &(&Vec<&str>, &(f64, usize))| {
        *count >= LEAST_SESSIONS && is_own(sequence) && !opposite(sequence)
    };
    let several = seen.iter().filter(is_order).map(|(sequence, (weight, _))| (sequence.clone(), *weight));
    let mut found: Vec<(Vec<&str>, f64)> = several.collect();
    let worth = |(sequence, weight): &(Vec<&str>, f64)| weight * (sequence.len() - 1) as f64;
    found.sort_by(|one, other| worth(other).total_cmp(&worth(one)).then_with(|| one.0.cmp(&other.0)));
    found
}

/// Returns the length of the longest part of a chain that commands have in its order.
pub fn longest_common(chain: &[&str], commands: &[&str]) -> usize {
    // The longest part within the first steps, for each number of steps.
    let mut longest = vec![0; chain.len() + 1];
    for command in commands {
        let before = longest.clone();
        for (at, step) in chain.iter().enumerate() {
            longest[at + 1] = if step == command { before[at] + 1 } else { longest[at].max(before[at + 1]) };
        }
    }
    longest.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sessions: &[&str], expected: &[&str]) {
        let sessions: Vec<Vec<&str>> = sessions.iter().map(|session| session.split(", ").collect()).collect();
        let found: Vec<String> = procedures(&sessions).iter().map(|steps| steps.join(", ")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sequence_of_two_sessions_is_a_procedure() {
        check(&["make a, make test, git commit", "make a, make test"], &["make a, make test"]);
        check(&["git commit, make a", "git commit, make a"], &[]);
        // The order was turned once.
        check(&["make a, make b", "make a, make b", "make b, make a"], &[]);
        let sessions = ["make fmt, make lint, make test", "make fmt, make lint, make test", "make lint, make test"];
        check(&sessions, &["make fmt, make lint, make test"]);
        check(&[], &[]);
    }

    #[test]
    fn a_part_of_a_chain_is_found_in_its_order() {
        let check = |commands: &[&str], expected| {
            assert_eq!(longest_common(&["fmt", "lint", "test", "push"], commands), expected, "{commands:?}");
        };
        check(&["fmt", "lint", "ls", "test"], 3);
        check(&["push", "test", "lint", "fmt"], 1);
        check(&["lint", "fmt", "lint", "lint", "push", "push"], 3);
        check(&[], 0);
    }
}
