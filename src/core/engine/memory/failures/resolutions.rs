//! Memories from failures: what worked instead, and what does not work in an environment.
use super::fixes::{Failure, Fix, Nature, short_hash};
use crate::model::{Candidate, MemoryFile, MemoryKind, Sighting};
use std::collections::{BTreeMap, BTreeSet};

/// Sessions in which a failure without a fix must occur.
const MIN_SESSIONS: usize = 2;

/// Returns the memories that the failures of sessions support, in the order of their first sighting. Failures with the same signature
/// are one memory; its text has the smallest fix.
pub fn candidates(sessions: &[(String, Vec<Failure>)]) -> Vec<Candidate> {
    let mut order = Vec::new();
    let mut groups: BTreeMap<u64, Vec<(&str, &Failure)>> = BTreeMap::new();
    for (session, failures) in sessions {
        // Without its fix, an unclear failure is none.
        for failure in failures.iter().filter(|failure| failure.is_clear || !failure.is_refuted) {
            let key = topic(failure);
            let group = groups.entry(key).or_default();
            if group.is_empty() {
                order.push(key);
            }
            group.push((session, failure));
        }
    }
    order.iter().filter_map(|key| candidate(*key, groups.get(key)?)).collect()
}

/// Returns the topic of a failure, which is the key of its memory. A missing program is one topic, whatever the shell's words.
pub fn topic(failure: &Failure) -> u64 {
    match &failure.missing_program {
        Some(program) => short_hash(&format!("missing program\n{program}")),
        None => failure.signature,
    }
}

fn candidate(key: u64, group: &[(&str, &Failure)]) -> Option<Candidate> {
    let (_, first) = group.first()?;
    // The next success cures nothing, unless the error names it or another session found the same.
    let is_cure = |session: &str, fix: &Fix| {
        let is_same = |(other, failure): &(&str, &Failure)| {
            *other != session && failure.fix.as_ref().is_some_and(|known| known.difference == fix.difference)
        };
        // A variable says nothing outside of its script.
        !fix.text.contains('$') && (fix.is_named || group.iter().any(is_same))
    };
    let fixed = group.iter().filter(|(session, failure)| failure.fix.as_ref().is_some_and(|fix| is_cure(session, fix)));
    // The shortest has the fewest words that do not matter.
    let fix =
        fixed.min_by_key(|(_, failure)| (failure.fix.as_ref().map(|fix| fix.text.len()), std::cmp::Reverse(failure.place.time)));
    let sessions = group.iter().map(|(session, _)| *session).collect::<BTreeSet<_>>().len();
    let (kind, text, is_strong) = match fix {
        Some((_, failure)) => (MemoryKind::Resolution, resolution_text(failure, sessions >= MIN_SESSIONS), true),
        None => {
            let is_certain = first.missing_program.is_some() || is_denied(first);
            // A command that also works says nothing about the environment.
            if group.iter().any(|(_, failure)| failure.is_intermittent) || sessions < MIN_SESSIONS && !is_certain {
                return None;
            }
            let is_strong = first.missing_program.is_some() || sessions >= MIN_SESSIONS;
            (MemoryKind::Environment, failure_text(group, first.nature), is_strong)
        }
    };
    let seen = group.iter().flat_map(|(session, failure)| {
        let places = std::iter::once(&failure.place).chain(failure.fix.as_ref().map(|fix| &fix.place));
        places.map(|place| place.sighting(session))
    });
    let mut sightings: Vec<Sighting> = seen.collect();
    sightings.sort_by_key(|sighting| (sighting.time, sighting.block));
    sightings.dedup();
    let file = match kind {
        MemoryKind::Environment => MemoryFile::Capabilities,
        // The agent repeats it.
        _ if sessions >= MIN_SESSIONS => MemoryFile::Mistakes,
        _ => MemoryFile::Gotchas,
    };
    Some(Candidate { key, file, kind, text, is_strong, sightings })
}

/// Returns true if the environment refuses a program, which a later attempt will meet again, and not only a file.
fn is_denied(failure: &Failure) -> bool {
    const DENIED: &[&str] = &[
        "a password is required", "a terminal is required", "connection refused", "could not resolve", "has been denied",
        "is not installed", "permission denied", "read-only file system",
    ];
    let is_module = failure.head.contains(" -m ") && failure.line.contains("no module named");
    is_module || DENIED.iter().any(|known| failure.line.contains(known)) && !failure.line.contains("<path>")
}

/// The end of a client's refusal. Its line repeats the command.
const REFUSED: &str = "has been denied";

/// Returns the advice as a sentence; of a mistake that the agent repeats: its problem, its cause and its fix.
fn resolution_text(failure: &Failure, is_repeated: bool) -> String {
    let advice = failure.fix.as_ref().map_or("", |fix| fix.text.as_str());
    if is_repeated {
        return format!("Problem: `{}` fails. Cause: `{}`. Fix: {advice}.", failure.subject(), failure.shown_line);
    }
    match &failure.missing_program {
        Some(program) => format!("`{program}` is not available here (`{}`): {advice}.", failure.shown_line),
        None => format!("`{}` fails (`{}`): {advice}.", failure.subject(), failure.shown_line),
    }
}

fn failure_text(group: &[(&str, &Failure)], nature: Nature) -> String {
    let Some((_, failure)) = group.last() else { return String::new() };
    match (&failure.missing_program, nature) {
        (Some(program), _) => format!("`{program}` is not available here (`{}`).", failure.shown_line),
        (None, _) if failure.line.contains(REFUSED) => format!("`{}` is denied here.", failure.subject()),
        (None, Nature::Usage) => format!("`{}` fails: `{}`.", failure.subject(), failure.shown_line),
        (None, _) => format!("`{}` does not work here: `{}`.", failure.subject(), failure.shown_line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EventPlace;

    fn failure(head: &str, line: &str, fix: Option<&str>) -> Failure {
        Failure {
            place: EventPlace { block: 2, ..EventPlace::default() },
            head: head.into(),
            shown_line: line.into(),
            signature: super::super::fixes::signature(head, line),
            missing_program: super::super::error_lines::missing_program(line).map(str::to_owned),
            fix: fix.map(|text| Fix {
                place: EventPlace { block: 4, ..EventPlace::default() },
                text: text.into(),
                is_named: true,
                ..Fix::default()
            }),
            ..Failure::default()
        }
    }

    #[test]
    fn failures_with_a_fix_are_resolutions() {
        let sessions = [("s1".to_owned(), vec![failure("gh pr view", "no repository", Some("add `--repo a/b`"))])];
        let found = candidates(&sessions);
        assert_eq!(found[0].text, "`gh pr view` fails (`no repository`): add `--repo a/b`.");
        assert_eq!((found[0].kind, found[0].is_strong, found[0].sightings.len()), (MemoryKind::Resolution, true, 2));
    }

    #[test]
    fn failures_without_a_fix_need_two_sessions_or_a_clear_error() {
        let unclear = failure("tool x", "unknown mode", None);
        let missing = failure("frob", "command not found: frob", None);
        assert!(candidates(&[("s1".to_owned(), vec![unclear.clone()])]).is_empty());
        assert_eq!(
            candidates(&[("s1".to_owned(), vec![unclear.clone()]), ("s2".to_owned(), vec![unclear])])[0].text,
            "`tool x` fails: `unknown mode`."
        );
        assert_eq!(
            candidates(&[("s1".to_owned(), vec![missing])])[0].text,
            "`frob` is not available here (`command not found: frob`)."
        );
    }
}
