//! The behaviour of the tools and commands of a project: calls and failures.
use super::failures::command_heads::{head, is_specific, is_trivial};
use super::failures::error_lines::{Subject, call_error};
use super::failures::fixes::short_hash;
use crate::engine::mask;
use crate::model::{BlockNumber, Conventions, Key};
use crate::model::{Candidate, MemoryFile, MemoryKind, Sighting};
use crate::model::{TraceContent, TraceEvent, TraceResult};
use crate::text::cut::cut;
use crate::text::shell::simple_commands;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Subjects that are counted in a session.
const MAX_SUBJECTS: usize = 500;
/// Commands that worked at least so often are part of the list of what works.
const MIN_WORKED: u32 = 3;
/// Commands in the list of what works.
const MAX_LISTED: usize = 12;
/// Memories of one kind.
const MAX_MEMORIES: usize = 8;
/// The percentage of failures from which on a call is one that the agent gets wrong.
const MIN_FAILED_PERCENT: u32 = 25;
/// Failures from which on a rate is reported.
const MIN_FAILED: u32 = 3;
/// Places that are kept as evidence of a subject in a session.
const MAX_PLACES: usize = 3;
/// Bytes of an error line in a text.
const MAX_LINE: usize = 100;

/// Counts of the calls of a tool or of a command head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// True for the head of a command, false for a tool.
    pub is_command: bool,
    /// Calls with a result, without those that the user rejected.
    pub calls: u32,
    pub failures: u32,
    /// Those of them that failed because of the code at hand: tests, linters, compilers.
    pub code_failures: u32,
    /// The newest error line that is not about the code at hand, masked.
    pub error: Option<String>,
    /// The first results, the first failures first.
    pub places: Vec<Place>,
}

/// A result in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub block: BlockNumber,
    pub row: String,
    /// Its time in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    /// True if the call failed.
    pub is_failure: bool,
}

/// Counts the calls in the events of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tools {
    open: BTreeMap<Key, OpenCall>,
    subjects: BTreeMap<String, CallCounts>,
}

/// A call without its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenCall {
    subject: String,
    is_command: bool,
}

impl Tools {
    /// Reads the next event of the session.
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Call(call) => {
                let head = call.command.as_deref().map(main_head);
                let is_command = head.is_some();
                let subject = head.unwrap_or_else(|| call.tool.clone());
                if !subject.is_empty() {
                    self.open.insert(call.id, OpenCall { subject, is_command });
                }
            }
            TraceContent::Result(result) if !result.declined => {
                if let Some(call) = self.open.remove(&result.call) {
                    self.count(event, &call, result, conventions);
                }
            }
            TraceContent::Result(result) => drop(self.open.remove(&result.call)),
            _ => {}
        }
    }

    /// Returns the counts of each tool and command head.
    pub fn subjects(&self) -> &BTreeMap<String, CallCounts> {
        &self.subjects
    }

    fn count(&mut self, event: &TraceEvent, call: &OpenCall, result: &TraceResult, conventions: &Conventions) {
        if self.subjects.len() >= MAX_SUBJECTS && !self.subjects.contains_key(&call.subject) {
            return;
        }
        let program = call.subject.split(' ').next().unwrap_or_default();
        // A program that only reports that it found nothing did not fail.
        let error =
            if result.error { call_error(&result.text, &[program], conventions).filter(|error| error.is_clear) } else { None };
        let counts = self.subjects.entry(call.subject.clone()).or_default();
        counts.is_command = call.is_command;
        counts.calls += 1;
        counts.failures += u32::from(error.is_some());
        let is_about_code = error.as_ref().is_some_and(|error| error.subject == Subject::OwnCode);
        counts.code_failures += u32::from(is_about_code);
        let place = Place { block: event.block, row: event.row.clone(), time: event.time, is_failure: error.is_some() };
        if counts.places.len() < MAX_PLACES {
            counts.places.push(place);
        } else if place.is_failure
            && let Some(worked) = counts.places.iter_mut().find(|known| !known.is_failure)
        {
            *worked = place;
        }
        if let Some(error) = error.filter(|_| !is_about_code) {
            counts.error = Some(cut(&mask(&error.line).replace('`', "'"), MAX_LINE));
        }
    }
}

/// Returns the memories that the counts of sessions support: commands of the project that work, calls that often fail.
pub fn candidates(sessions: &[(String, BTreeMap<String, CallCounts>)]) -> Vec<Candidate> {
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    for (session, subjects) in sessions {
        for (subject, counts) in subjects {
            totals.entry(subject).or_default().add(session, counts);
        }
    }
    let mut found: Vec<Candidate> = works(&totals).into_iter().collect();
    found.extend(most(&totals, mistake));
    found
}

/// The counts of a subject in all sessions.
#[derive(Default)]
struct Total {
    counts: CallCounts,
    sightings: Vec<Sighting>,
    sessions: BTreeSet<String>,
}

impl Total {
    fn add(&mut self, session: &str, counts: &CallCounts) {
        self.counts.is_command = counts.is_command;
        self.counts.calls += counts.calls;
        self.counts.failures += counts.failures;
        self.counts.code_failures += counts.code_failures;
        self.counts.error = counts.error.clone().or(self.counts.error.take());
        self.sessions.insert(session.to_owned());
        let sighting = |place: &Place| Sighting {
            session: session.to_owned(),
            block: place.block,
            row: place.row.clone(),
            time: place.time,
        };
        self.sightings.extend(counts.places.iter().map(sighting));
    }

    fn worked(&self) -> u32 {
        self.counts.calls - self.counts.failures
    }
}

/// A memory about one subject with its weight, by which memories of a kind are selected.
type Weighed = (u64, Candidate);

fn most(totals: &BTreeMap<&str, Total>, of: impl Fn(&str, &Total) -> Option<Weighed>) -> Vec<Candidate> {
    let mut found: Vec<Weighed> = totals.iter().filter_map(|(subject, total)| of(subject, total)).collect();
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found.into_iter().take(MAX_MEMORIES).map(|(_, candidate)| candidate).collect()
}

fn works(totals: &BTreeMap<&str, Total>) -> Option<Candidate> {
    let is_known = |subject: &str, total: &Total| total.counts.is_command && is_specific(subject) && total.worked() >= MIN_WORKED;
    let mut known: Vec<(&str, &Total)> =
        totals.iter().filter(|(subject, total)| is_known(subject, total)).map(|(subject, total)| (*subject, total)).collect();
    known.sort_by_key(|(_, total)| std::cmp::Reverse((total.sessions.len(), total.worked())));
    known.truncate(MAX_LISTED);
    if known.is_empty() {
        return None;
    }
    let listed: Vec<String> =
        known.iter().map(|(subject, total)| format!("`{subject}` ({} of {})", total.worked(), total.counts.calls)).collect();
    let sightings = known.iter().filter_map(|(_, total)| total.sightings.last().cloned()).collect();
    let text = format!("Commands that work here (successful calls): {}.", listed.join(", "));
    Some(candidate("works", "", MemoryFile::Capabilities, MemoryKind::Capability, text, sightings))
}

fn mistake(subject: &str, total: &Total) -> Option<Weighed> {
    let counts = &total.counts;
    let failures = counts.failures - counts.code_failures;
    let is_frequent = failures >= MIN_FAILED && failures * 100 >= counts.calls * MIN_FAILED_PERCENT;
    // An error of a tool of the client is a slip; its rate in the sessions that are left tells nothing.
    if !is_frequent || !counts.is_command || is_trivial(subject) {
        return None;
    }
    let last = counts.error.as_ref().map_or(String::new(), |line| format!("; last: `{line}`"));
    let text = format!("`{subject}` failed in {} of {} calls{last}.", failures, counts.calls);
    Some((
        u64::from(failures),
        candidate("mistake", subject, MemoryFile::Mistakes, MemoryKind::Mistake, text, total.sightings.clone()),
    ))
}

fn candidate(
    topic: &str,
    subject: &str,
    file: MemoryFile,
    kind: MemoryKind,
    text: String,
    mut sightings: Vec<Sighting>,
) -> Candidate {
    sightings.sort_by_key(|sighting| (sighting.time, sighting.block));
    Candidate { key: short_hash(&format!("{topic}\n{subject}")), file, kind, text, is_strong: true, sightings }
}

/// Returns the main head of a command: its last one that is not trivial, for which the others prepare; else its first one.
fn main_head(command: &str) -> String {
    let heads: Vec<String> = simple_commands(command).iter().filter(|simple| !simple.is_piped).filter_map(head).collect();
    heads.iter().rev().find(|head| !is_trivial(head)).or(heads.first()).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_sentences() {
        let counts = CallCounts { is_command: true, calls: 6, failures: 3, error: Some("bad".into()), ..CallCounts::default() };
        let sessions = [("s1".to_owned(), BTreeMap::from([("tool run".to_owned(), counts)]))];
        let texts: Vec<String> = candidates(&sessions).into_iter().map(|candidate| candidate.text).collect();
        assert_eq!(
            texts,
            [
                "Commands that work here (successful calls): `tool run` (3 of 6).",
                "`tool run` failed in 3 of 6 calls; last: `bad`.",
            ]
        );
    }

    #[test]
    fn the_main_head_is_the_last_that_counts() {
        let check = |command: &str, expected: &str| assert_eq!(main_head(command), expected, "{command}");
        check("cd x && make all | tail", "make all");
        check("git add . && git commit -m 'a b'; echo done", "git commit");
        check("ls", "ls");
    }
}
