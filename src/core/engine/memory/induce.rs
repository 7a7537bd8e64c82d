//! Induction: the facts of all sessions of a project become candidates for memories.

use super::danger::{is_dangerous, speaks_to_agent};
use super::facts::SessionFacts;
use super::failures::{Failure, resolutions};
use super::procedures::procedures;
use super::project::{ProjectWork, Ranked, SessionUses};
use super::purpose::ROOT;
use super::statements::{Statement, brief, is_torn, is_understood};
use super::topic::{CONTEXT, statement_key};
use crate::model::{Candidate, MemoryFile, MemoryKind, Sighting};
use crate::text::command_heads::{heads, is_publishing, purpose_of};
use crate::text::names::file_name;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use twox_hash::XxHash3_64;

/// Files that an entry about a folder names, and entries about folders and files.
const FOLDER_FILES: usize = 8;
const PLACES: usize = 40;
/// Commands of one purpose, and those of one program among them.
const PURPOSE_COMMANDS: usize = 4;
const PROGRAM_COMMANDS: usize = 2;
/// Newest sightings of a candidate.
const SIGHTINGS: usize = 4;

/// Returns the key of a topic, which is stable across runs.
pub fn topic_key(topic: &str, name: &str) -> u64 {
    XxHash3_64::oneshot(format!("{topic}\n{name}").as_bytes())
}

/// Returns everything that the sessions of a project teach. `sessions` are ids with their facts, in any order.
pub fn induce(sessions: &[(&str, &SessionFacts)]) -> Vec<Candidate> {
    let ordered = ordered(sessions);
    let mut found = from_statements(&ordered);
    found.extend(resolutions::candidates(&failures_of(sessions)));
    found.extend(from_pages(&ordered));
    let purposes: Purposes<'_> =
        ordered.iter().flat_map(|(_, facts)| &facts.work.purposes).map(|(path, told)| (&**path, &**told)).collect();
    found.extend(from_work(&ProjectWork::new(ordered.iter().map(|(id, facts)| (*id, facts.work.uses().collect()))), &purposes));
    found.retain(is_harmless);
    found
}

/// Returns true if a candidate may become an entry: one in the words of programs, files or addresses gives no orders.
fn is_harmless(candidate: &Candidate) -> bool {
    let is_advice = matches!(candidate.kind, MemoryKind::Resolution | MemoryKind::Environment);
    candidate.kind.is_statement() || !speaks_to_agent(&candidate.text) && (is_advice || !is_dangerous(&candidate.text))
}

/// Returns what one session teaches by itself: the words of the user, and failed calls.
pub fn of_one_session(id: &str, facts: &SessionFacts) -> Vec<Candidate> {
    let mut found = from_statements(&[(id, facts)]);
    found.extend(resolutions::candidates(&[(id.to_owned(), facts.fixes.failures())]));
    found.retain(is_harmless);
    found
}

fn ordered<'a>(sessions: &[(&'a str, &'a SessionFacts)]) -> Vec<(&'a str, &'a SessionFacts)> {
    let mut ordered = sessions.to_vec();
    ordered.sort_by(|(one, facts), (other, against)| facts.last.cmp(&against.last).then_with(|| one.cmp(other)));
    ordered
}

/// Returns the failures of each session, in the order of their ends, without those whose rows an earlier session has: a fork or a
/// resumed copy repeats them.
pub fn failures_of(sessions: &[(&str, &SessionFacts)]) -> Vec<(String, Vec<Failure>)> {
    let mut sessions: Vec<(String, Vec<Failure>)> =
        ordered(sessions).iter().map(|(id, facts)| ((*id).to_owned(), facts.fixes.failures())).collect();
    let mut known: FxHashSet<(String, i64)> = FxHashSet::default();
    for (_, failures) in &mut sessions {
        let identity = |failure: &Failure| (failure.place.row.clone(), failure.place.time);
        failures.retain(|failure| !known.contains(&identity(failure)));
        known.extend(failures.iter().map(identity));
    }
    sessions
}

/// Returns the statements of the user as candidates. A row that several sessions have counts once, and so do the same words of one
/// moment, which a converted session has in a row of its own.
fn from_statements(sessions: &[(&str, &SessionFacts)]) -> Vec<Candidate> {
    let mut known: FxHashSet<(&str, i64)> = FxHashSet::default();
    let mut said: FxHashSet<(u64, i64)> = FxHashSet::default();
    let words = |statement: &Statement| (statement_key(&statement.text), statement.place.time);
    let mut found = Vec::new();
    for (id, facts) in sessions {
        let is_known = |statement: &Statement| {
            known.contains(&statement.place.identity()) || statement.place.time > 0 && said.contains(&words(statement))
        };
        let is_new = |statement: &&Statement| !is_known(statement) && !is_torn(&statement.text);
        let own: Vec<&Statement> = facts.statements.found.iter().filter(is_new).collect();
        known.extend(own.iter().map(|statement| statement.place.identity()));
        said.extend(own.iter().map(|statement| words(statement)));
        found.extend(own.into_iter().map(|statement| from_statement(id, statement)));
    }
    found
}

fn from_statement(session: &str, statement: &Statement) -> Candidate {
    let text = match &statement.context {
        Some(context) => format!("{}\n{CONTEXT}`{context}`)", statement.text),
        None => statement.text.clone(),
    };
    let told = brief(&statement.text);
    Candidate {
        key: statement_key(&statement.text),
        file: match statement.kind {
            MemoryKind::Fact => MemoryFile::ProjectContext,
            _ => MemoryFile::UserPrefs,
        },
        kind: statement.kind,
        text,
        // Another statement waits for a second one.
        is_strong: is_understood(&statement.text)
            && (statement.is_strong || statement.is_lasting && told.is_whole && !told.asks_or_opines()),
        sightings: vec![statement.place.sighting(session)],
    }
}

/// Returns what pages told, one sentence of each address: the newest.
fn from_pages(sessions: &[(&str, &SessionFacts)]) -> Vec<Candidate> {
    let mut found: BTreeMap<&str, (Vec<Sighting>, &str)> = BTreeMap::new();
    for (id, page) in sessions.iter().flat_map(|(id, facts)| facts.pages.found.iter().map(move |page| (id, page))) {
        let (sightings, text) = found.entry(&page.address).or_default();
        // A row that a fork repeats counts once.
        if !sightings.iter().any(|known| (&*known.row, known.time) == page.place.identity()) {
            sightings.push(page.place.sighting(id));
            *text = &page.text;
        }
    }
    let candidate = |(address, (sightings, text)): (&str, (Vec<Sighting>, &str))| Candidate {
        key: topic_key("page", address),
        file: MemoryKind::Discovery.default_file(),
        kind: MemoryKind::Discovery,
        text: format!("{text} ({address})"),
        is_strong: true,
        sightings,
    };
    found.into_iter().map(candidate).collect()
}

/// The purposes of files and folders, by their paths.
type Purposes<'a> = BTreeMap<&'a str, &'a str>;

/// Returns what the work of a project teaches: its procedures, its commands, and its places with what they are for.
fn from_work(work: &ProjectWork<'_>, purposes: &Purposes<'_>) -> Vec<Candidate> {
    let commands = work.commands();
    let mut found = procedure_candidates(work, &commands);
    found.extend(purpose_candidates(&commands));
    found.extend(place_candidates(&work.files(), purposes));
    found
}

fn text_of(steps: &[&str]) -> String {
    steps.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(" → ")
}

/// Returns the steps of a procedure, from the text of its memory.
pub fn steps_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(" → ").map(|step| step.trim_matches('`'))
}

/// Returns a candidate for each procedure, in the file of its task.
fn procedure_candidates(work: &ProjectWork<'_>, commands: &[Ranked<'_>]) -> Vec<Candidate> {
    let is_known = |name: &&str| is_publishing(name) || commands.iter().any(|command| command.name == *name);
    let sessions = work.command_sequences(&|name| is_known(&name));
    let sequences: Vec<Vec<&str>> = sessions.iter().map(|(_, uses)| uses.iter().map(|used| used.name).collect()).collect();
    let candidate = |steps: Vec<&str>| {
        // The last time that a session ran all steps in this order.
        let sighting = |(session, uses): &SessionUses<'_>| {
            let mut runs = uses.windows(steps.len());
            runs.rfind(|run| run.iter().map(|used| used.name).eq(steps.iter().copied())).map(|run| run[0].sighting(session))
        };
        let mut sightings: Vec<Sighting> = sessions.iter().rev().filter_map(sighting).take(SIGHTINGS).collect();
        sightings.reverse();
        Candidate {
            // By its steps, so that another order never takes its place.
            key: topic_key("procedure", &text_of(&steps)),
            // A habit of no known task.
            file: task(&steps).map_or(MemoryFile::Patterns, MemoryFile::workflow),
            kind: MemoryKind::Procedure,
            text: text_of(&steps),
            is_strong: true,
            sightings,
        }
    };
    let mut found: Vec<Candidate> = procedures(&sequences).into_iter().map(candidate).collect();
    // A task has one order, the most usual one.
    let mut tasks: FxHashSet<String> = FxHashSet::default();
    found.retain(|candidate| candidate.file == MemoryFile::Patterns || tasks.insert(candidate.file.name()));
    found
}

/// Returns the task of a procedure, by its last command that names one: those before it prepare it.
fn task(steps: &[&str]) -> Option<&'static str> {
    steps.iter().rev().find_map(|step| match *step {
        "gh pr create" => Some("pull-request"),
        "gh release create" | "git tag" => Some("release"),
        "git commit" | "git push" => Some("commit"),
        command => match purpose_of(&head_of(command))? {
            "Format and lint" => Some("check"),
            "Release" => Some("release"),
            "Build" => Some("build"),
            "Debug" => Some("debug"),
            "Test" => Some("test"),
            _ => None,
        },
    })
}

/// Returns how the project is built, tested, checked, run and released, by commands in full; the commands of no known purpose are
/// shortcuts.
fn purpose_candidates(commands: &[Ranked<'_>]) -> Vec<Candidate> {
    let mut purposes: BTreeMap<Option<&str>, Vec<&Ranked<'_>>> = BTreeMap::new();
    for command in commands {
        let of_purpose = purposes.entry(purpose_of(&head_of(command.name))).or_default();
        let same = of_purpose.iter().filter(|known| head_of(known.name) == head_of(command.name)).count();
        if of_purpose.len() < PURPOSE_COMMANDS && same < PROGRAM_COMMANDS {
            of_purpose.push(command);
        }
    }
    let candidate = |(purpose, of_purpose): (Option<&str>, Vec<&Ranked<'_>>)| {
        let names: Vec<String> = of_purpose.iter().map(|command| format!("`{}`", command.name)).collect();
        Candidate {
            key: topic_key("purpose", purpose.unwrap_or_default()),
            file: if purpose.is_some() { MemoryFile::ProjectContext } else { MemoryFile::Shortcuts },
            kind: MemoryKind::Context,
            text: format!("{}: {}", purpose.unwrap_or("Other commands of the project"), names.join(", ")),
            is_strong: true,
            sightings: newest(of_purpose),
        }
    };
    purposes.into_iter().map(candidate).collect()
}

/// Returns the head of the last simple command.
fn head_of(command: &str) -> String {
    heads(command).pop().unwrap_or_default()
}

/// Returns a candidate for each folder and each file whose purpose is known: the most used first.
fn place_candidates(files: &[Ranked<'_>], purposes: &Purposes<'_>) -> Vec<Candidate> {
    let mut places: Vec<(&str, &str, Vec<&Ranked<'_>>)> = Vec::new();
    for file in files {
        let folder = Some(folder_of(file.name)).filter(|folder| !folder.is_empty()).unwrap_or(ROOT);
        let Some((place, told)) = purposes.get_key_value(file.name).or_else(|| purposes.get_key_value(folder)) else { continue };
        match places.iter_mut().find(|(known, ..)| known == place) {
            Some((.., of_place)) => of_place.push(file),
            None => places.push((place, told, vec![file])),
        }
    }
    // Of places with one purpose, a file or a folder was moved: it is where it was used last.
    let mut newest_of: BTreeMap<(&str, &str), (i64, &str)> = BTreeMap::new();
    for (place, told, of_place) in &places {
        let last = of_place.iter().map(|file| file.last()).max().unwrap_or_default();
        let newest = newest_of.entry((told, name_in(place))).or_insert((last, place));
        *newest = (*newest).max((last, place));
    }
    let left = left_folders(files);
    places.retain(|(place, told, _)| {
        let is_newest = newest_of.get(&(told, name_in(place))).is_none_or(|(_, newest)| newest == place);
        is_newest && !left.contains(folder_of(place))
    });
    let candidate = |(place, told, of_place): (&str, &str, Vec<&Ranked<'_>>)| {
        let names: Vec<String> = of_place.iter().take(FOLDER_FILES).map(|file| format!("`{}`", file_name(file.name))).collect();
        Candidate {
            key: topic_key("place", place),
            file: MemoryFile::ProjectContext,
            kind: MemoryKind::Context,
            text: if place.ends_with('/') {
                format!("`{place}` ({told}): {}", names.join(", "))
            } else {
                format!("`{place}`: {told}")
            },
            is_strong: true,
            sightings: newest(of_place),
        }
    };
    places.into_iter().take(PLACES).map(candidate).collect()
}

/// Returns the folder of a file with its separator; of a folder, itself.
fn folder_of(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

fn name_in(place: &str) -> &str {
    &place[folder_of(place).len()..]
}

/// Returns the folders whose files were moved to another one: since several of their names are used there, none is used here.
fn left_folders<'a>(files: &[Ranked<'a>]) -> FxHashSet<&'a str> {
    /// Fewer common names are a coincidence.
    const COMMON: usize = 2;
    let mut folders: BTreeMap<&str, BTreeMap<&str, &Ranked<'_>>> = BTreeMap::new();
    for file in files {
        folders.entry(folder_of(file.name)).or_default().insert(file_name(file.name), file);
    }
    let is_left = |folder: &BTreeMap<&str, &Ranked<'_>>| {
        let last = folder.values().map(|file| file.last()).max();
        folders.values().any(|other| {
            let common = || other.iter().filter(|(name, _)| folder.contains_key(*name)).map(|(_, file)| file.first);
            common().count() >= COMMON && common().min() > last
        })
    };
    folders.iter().filter(|(_, folder)| is_left(folder)).map(|(name, _)| *name).collect()
}

/// Returns the newest sightings of several commands or files, oldest first, one of each session.
fn newest<'a>(ranked: impl IntoIterator<Item = &'a Ranked<'a>>) -> Vec<Sighting> {
    let mut all: Vec<&Sighting> = ranked.into_iter().flat_map(|ranked| &ranked.sightings).collect();
    all.sort_by_key(|sighting| std::cmp::Reverse((sighting.time, sighting.block)));
    let mut kept: Vec<Sighting> = Vec::new();
    for sighting in all {
        if kept.len() < SIGHTINGS && !kept.iter().any(|known| known.session == sighting.session) {
            kept.insert(0, sighting.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::work::{Use, UseKind};
    use super::*;
    use crate::model::{Conventions, PromptSource, TraceContent, TraceEvent};

    fn used(name: &'static str, call: u64) -> Use<&'static str> {
        let kind = if name.contains('.') { UseKind::File } else { UseKind::Command };
        Use { name, kind, block: call as u32, call, time: call as i64 }
    }

    #[test]
    fn words_of_one_moment_count_once_in_whatever_row_a_copy_has_them() {
        let session = |row: &str, time: i64| {
            let mut facts = SessionFacts::default();
            let content = TraceContent::Prompt { text: "Always use pnpm here.".to_owned(), source: PromptSource::Typed };
            let (turn, row) = (1, row.to_owned());
            facts.push(&TraceEvent { block: 1, row, time, turn, content }, &Conventions::default());
            facts
        };
        for (times, expected) in [([7, 7], 1), ([7, 8], 2), ([0, 0], 2)] {
            let (one, copy) = (session("r", times[0]), session("L2", times[1]));
            assert_eq!(from_statements(&[("one", &one), ("copy", &copy)]).len(), expected, "{times:?}");
        }
    }

    #[test]
    fn work_teaches_procedures_commands_and_places() {
        let names = [
            "make fmt", "make test", "cargo test --workspace", "mise run seed", "git commit", "src/cart/total.rs",
            "src/cart/item.rs",
        ];
        let session = |first: u64| names.iter().zip(first..).map(|(name, call)| used(name, call)).collect::<Vec<_>>();
        let work = ProjectWork::new([("one", session(1)), ("two", session(100))]);
        let purposes = Purposes::from([("src/cart/", "the cart"), ("src/cart/item.rs", "An item of an order")]);
        let found: Vec<String> =
            from_work(&work, &purposes).iter().map(|found| format!("{} {}", found.file.path(), found.text)).collect();
        assert_eq!(
            found,
            [
                "procedural/test-workflow.md `make fmt` → `make test` → `cargo test --workspace` → `mise run seed`",
                "procedural/commit-workflow.md `make test` → `cargo test --workspace` → `mise run seed` → `git commit`",
                "operational/shortcuts.md Other commands of the project: `mise run seed`",
                "factual/project-context.md Format and lint: `make fmt`",
                "factual/project-context.md Test: `cargo test --workspace`, `make test`",
                "factual/project-context.md `src/cart/item.rs`: An item of an order",
                "factual/project-context.md `src/cart/` (the cart): `total.rs`",
            ]
        );
    }

    #[test]
    fn only_sessions_with_all_steps_are_cited_and_a_moved_file_is_where_it_is_now() {
        let session =
            |names: &[&'static str], first: u64| names.iter().zip(first..).map(|(name, call)| used(name, call)).collect();
        let both = ["make fmt", "a/cart/item.rs", "make test"];
        let work = ProjectWork::new([
            ("one", session(&both, 1)),
            ("two", session(&both, 100)),
            ("turned", session(&["make test", "cart/item.rs"], 200)),
            ("moved", session(&["make fmt", "cart/item.rs"], 300)),
        ]);
        let purposes = Purposes::from([("a/cart/item.rs", "An item of an order"), ("cart/item.rs", "An item of an order")]);
        let found = from_work(&work, &purposes);
        let cited: Vec<&str> = found[0].sightings.iter().map(|sighting| &*sighting.session).collect();
        assert_eq!((&*found[0].text, cited), ("`make fmt` → `make test`", vec!["one", "two"]));
        let places = |found: &[Candidate]| {
            found.iter().filter(|found| found.text.contains("An item")).map(|found| found.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(places(&found), ["`cart/item.rs`: An item of an order"]);
        // The folder was moved, although only its old place has a purpose.
        let (old, new) = (["a/cart/item.rs", "a/cart/total.rs"], ["cart/item.rs", "cart/total.rs"]);
        let purposes = Purposes::from([("a/cart/", "An item of an order")]);
        let used = |sessions: &[&[&'static str]]| {
            let sessions = sessions.iter().zip(["1", "2", "3", "4"]).zip(1..);
            let work = ProjectWork::new(sessions.map(|((names, id), at)| (id, session(names, at * 100))));
            places(&from_work(&work, &purposes)).len()
        };
        assert_eq!(
            (used(&[&old, &old, &new, &new]), used(&[&new, &new, &old, &old]), used(&[&old, &new, &new, &old])),
            (0, 1, 1)
        );
    }

    #[test]
    fn a_sequence_without_a_task_is_a_pattern() {
        let session =
            |first: u64| ["mise run seed", "mise run index"].into_iter().zip(first..).map(|(name, call)| used(name, call));
        let work = ProjectWork::new([("one", session(1).collect()), ("two", session(100).collect())]);
        let found = from_work(&work, &Purposes::new());
        assert_eq!(
            (found[0].file.path().as_str(), &*found[0].text),
            ("operational/patterns.md", "`mise run seed` → `mise run index`")
        );
    }
}
