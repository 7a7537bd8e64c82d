//! Procedures: sequences of commands that several sessions ran in the same order, merged into a few chains.

use super::failures::command_heads::is_look;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lengths of the sequences that are counted.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=4;
/// Sessions that must have run a sequence.
const LEAST_SESSIONS: usize = 2;
/// Maximum number of sequences that chains are made of: the rest are rare.
const SEQUENCES: usize = 150;
/// Maximum number of chains, and of the steps of each. More steps make chains that no session runs as a whole.
const CHAINS: usize = 6;
const STEPS: usize = 9;
/// The weight of a session, compared with the next newer one.
const DECAY: f64 = 0.9;
/// Characters between two steps when a chain is printed.
const ARROW_CHARACTERS: usize = 3;

/// A chain of commands, in the order in which sessions run them.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure<'a> {
    /// The commands, each once.
    pub steps: Vec<&'a str>,
    /// The share of the weight of all repeated sequences that it adds to the procedures before it: 0 to 1.
    pub worth: f64,
}

/// A sequence of commands, by their numbers.
type Sequence = Vec<u16>;

/// Returns procedures that together hold the sequences seen in two or more sessions, the most worth first. `sessions` are the
/// commands of each session in order, oldest session first.
pub fn procedures<'a>(sessions: &[Vec<&'a str>]) -> Vec<Procedure<'a>> {
    let mut names: Vec<&str> = sessions.iter().flatten().copied().filter(|name| !is_look(name)).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(usize::from(u16::MAX));
    let mut sequences = repeated(sessions, &names);
    let all: f64 = sequences.iter().map(|(_, weight)| weight).sum();
    let mut found = Vec::new();
    while found.len() < CHAINS && !sequences.is_empty() {
        let chain = chain(&sequences, &names);
        let (held, rest): (Vec<_>, Vec<_>) = sequences.into_iter().partition(|(sequence, _)| holds(&chain, sequence));
        sequences = rest;
        let worth = held.iter().map(|(_, weight)| weight).sum::<f64>() / all;
        found.push(Procedure { steps: chain.iter().map(|step| names[usize::from(*step)]).collect(), worth });
    }
    found
}

/// Returns the sequences of distinct commands that several sessions ran, with the weight of these sessions, heaviest first.
fn repeated(sessions: &[Vec<&str>], names: &[&str]) -> Vec<(Sequence, f64)> {
    let mut seen: FxHashMap<Sequence, (f64, usize)> = FxHashMap::default();
    for (age, commands) in sessions.iter().rev().enumerate() {
        let number = |name: &&str| names.binary_search(name).ok().map(|number| number as u16);
        let mut steps: Sequence = commands.iter().filter_map(number).collect();
        steps.dedup();
        let windows = LENGTHS.flat_map(|length| steps.windows(length));
        let distinct = windows.filter(|window| (1..window.len()).all(|at| !window[..at].contains(&window[at])));
        for sequence in distinct.collect::<FxHashSet<_>>() {
            let (weight, count) = seen.entry(sequence.to_vec()).or_default();
            *weight += DECAY.powi(age as i32);
            *count += 1;
        }
    }
    let several = seen.into_iter().filter(|(_, (_, count))| *count >= LEAST_SESSIONS);
    let mut found: Vec<(Sequence, f64)> = several.map(|(sequence, (weight, _))| (sequence, weight)).collect();
    found.sort_by(|(one, weight), (other, against)| against.total_cmp(weight).then_with(|| one.cmp(other)));
    found.truncate(SEQUENCES);
    found
}

/// Returns a chain without repetitions: beginning with the heaviest sequence, each command is inserted where the chain then holds the most
/// weight per character.
fn chain(sequences: &[(Sequence, f64)], names: &[&str]) -> Sequence {
    let weight = |chain: &[u16]| -> f64 {
        sequences.iter().filter(|(sequence, _)| holds(chain, sequence)).map(|(_, weight)| weight).sum()
    };
    let mut steps: Sequence = sequences.iter().flat_map(|(sequence, _)| sequence.iter().copied()).collect();
    steps.sort_unstable();
    steps.dedup();
    let mut chain = sequences.first().map(|(sequence, _)| sequence.clone()).unwrap_or_default();
    let mut now = weight(&chain);
    while chain.len() < STEPS {
        let mut best: Option<(f64, usize, u16)> = None;
        let mut next = chain.clone();
        for step in steps.iter().filter(|step| !chain.contains(step)) {
            let characters = (names[usize::from(*step)].len() + ARROW_CHARACTERS) as f64;
            for at in 0..=chain.len() {
                next.insert(at, *step);
                let gain = (weight(&next) - now) / characters;
                next.remove(at);
                if gain > 0.0 && best.is_none_or(|(most, ..)| gain > most) {
                    best = Some((gain, at, *step));
                }
            }
        }
        let Some((_, at, step)) = best else { break };
        chain.insert(at, step);
        now = weight(&chain);
    }
    chain
}

/// Returns true if a chain has the commands of a sequence in their order.
fn holds(chain: &[u16], sequence: &[u16]) -> bool {
    let mut steps = chain.iter();
    sequence.iter().all(|command| steps.any(|step| step == command))
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
        let found: Vec<String> = procedures(&sessions).iter().map(|procedure| procedure.steps.join(", ")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sequence_of_two_sessions_is_a_procedure() {
        check(&["make, make test, git commit", "make, git status, make test"], &["make, make test"]);
        check(&["make, make test", "make test, make"], &[]);
        check(&[], &[]);
    }

    #[test]
    fn sequences_are_merged_into_one_chain() {
        let sessions = ["fmt, lint, test", "fmt, lint, test", "test, git add, git commit", "test, git add, git commit"];
        check(&sessions, &["fmt, lint, test, git add, git commit"]);
    }

    #[test]
    fn another_order_is_a_variant() {
        let found = ["fmt, lint", "fmt, lint", "lint, fmt", "lint, fmt"];
        check(&found, &["lint, fmt", "fmt, lint"]);
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

    #[test]
    fn worths_add_up_to_one() {
        let sessions: Vec<Vec<&str>> = ["a, b, c", "a, b, c", "c, a", "c, a"].iter().map(|s| s.split(", ").collect()).collect();
        let worth: f64 = procedures(&sessions).iter().map(|procedure| procedure.worth).sum();
        assert!((worth - 1.0).abs() < 1e-9, "{worth}");
    }
}
