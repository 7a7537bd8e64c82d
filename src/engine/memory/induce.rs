//! Induction: the facts of all sessions of a project become candidates for memories.

use super::danger::{is_dangerous, speaks_to_agent};
use super::entities;
use super::facts::SessionFacts;
use super::failures::command_heads::is_specific;
use super::failures::{Failure, resolutions};
use super::layout::folders;
use super::procedures::{Procedure, procedures};
use super::project::{ProjectWork, Ranked};
use super::statements::{Statement, topic_key as statement_key};
use super::tools::{self, CallCounts};
use super::topic::CONTEXT;
use crate::model::{Candidate, MemoryFile, MemoryKind, Sighting};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use twox_hash::XxHash3_64;

/// Tokens of all files in the entries about the layout, and the files of one such entry.
const LAYOUT_TOKENS: usize = 1500;
const FOLDER_FILES: usize = 16;
/// Folders that have an entry.
const FOLDERS: usize = 24;
/// Commands of one program that an entry names, and programs that have an entry.
const PROGRAM_COMMANDS: usize = 12;
const PROGRAMS: usize = 20;
/// Sessions that must have used a program.
const PROGRAM_SESSIONS: u32 = 2;
/// Commands of one purpose.
const PURPOSE_COMMANDS: usize = 4;
/// Languages that the entry about the stack names.
const LANGUAGES: usize = 6;
/// Newest sightings of a candidate.
const SIGHTINGS: usize = 4;

/// Words in the last part of a command that tell what it is for, and the purpose.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Build", &["build", "compile", "tsc"]),
    ("Test", &["jest", "playwright", "pytest", "spec", "test", "tests", "vitest"]),
    (
        "Format and lint",
        &["biome", "clippy", "eslint", "fmt", "format", "golangci-lint", "lint", "prettier", "ruff", "shellcheck", "typecheck"],
    ),
    ("Run", &["dev", "serve", "start", "up"]),
];

/// Words in the commands of a procedure that name its task, the most specific task first.
const TASKS: &[(&str, &[&str])] = &[
    ("release", &["deploy", "publish", "release", "tag"]),
    ("pull-request", &["pr"]),
    ("commit", &["commit", "push"]),
    ("check", &["build", "clippy", "fmt", "lint", "test", "tests", "typecheck", "vet"]),
];

/// File endings and the languages that they tell.
const LANGUAGE_ENDINGS: &[(&str, &str)] = &[
    ("c", "C"),
    ("cc", "C++"),
    ("cpp", "C++"),
    ("cs", "C#"),
    ("css", "CSS"),
    ("dart", "Dart"),
    ("ex", "Elixir"),
    ("go", "Go"),
    ("h", "C"),
    ("html", "HTML"),
    ("java", "Java"),
    ("js", "JavaScript"),
    ("jsx", "JavaScript"),
    ("kt", "Kotlin"),
    ("lua", "Lua"),
    ("mjs", "JavaScript"),
    ("php", "PHP"),
    ("py", "Python"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("scala", "Scala"),
    ("sh", "shell script"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("swift", "Swift"),
    ("tf", "Terraform"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("vue", "Vue"),
    ("zig", "Zig"),
];

/// Returns the key of a topic, which is stable across runs.
pub fn topic_key(topic: &str, name: &str) -> u64 {
    XxHash3_64::oneshot(format!("{topic}\n{name}").as_bytes())
}

/// Returns everything that the sessions of a project teach. `sessions` are ids with their facts, in any order.
pub fn induce(sessions: &[(&str, &SessionFacts)]) -> Vec<Candidate> {
    let ordered = ordered(sessions);
    let mut found = from_statements(&ordered);
    found.extend(resolutions::candidates(&failures_of(sessions)));
    let counts: Vec<(String, BTreeMap<String, CallCounts>)> =
        ordered.iter().map(|(id, facts)| ((*id).to_owned(), facts.tools.subjects().clone())).collect();
    found.extend(tools::candidates(&counts));
    found.extend(entities::candidates(ordered.iter().map(|(id, facts)| (*id, &facts.entities))));
    found.extend(from_work(&ProjectWork::new(ordered.iter().map(|(id, facts)| (*id, facts.work.uses().collect())))));
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

/// Returns sessions in the order of their ends.
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
        failures.retain(|failure| !known.contains(&(failure.row.clone(), failure.time)));
        known.extend(failures.iter().map(|failure| (failure.row.clone(), failure.time)));
    }
    sessions
}

/// Returns the statements of the user as candidates. A row that several sessions have counts once.
fn from_statements(sessions: &[(&str, &SessionFacts)]) -> Vec<Candidate> {
    let mut known: FxHashSet<(&str, i64)> = FxHashSet::default();
    let mut found = Vec::new();
    for (id, facts) in sessions {
        let own: Vec<&Statement> =
            facts.statements.found().iter().filter(|statement| !known.contains(&(&*statement.row, statement.time))).collect();
        known.extend(own.iter().map(|statement| (&*statement.row, statement.time)));
        found.extend(own.into_iter().map(|statement| from_statement(id, statement)));
    }
    found
}

fn from_statement(session: &str, statement: &Statement) -> Candidate {
    let (block, row, time) = (statement.block, statement.row.clone(), statement.time);
    let text = match &statement.context {
        Some(context) => format!("{}\n{CONTEXT}`{}`)", statement.text, context.replace('`', "")),
        None => statement.text.clone(),
    };
    Candidate {
        key: statement_key(&statement.text),
        file: match statement.kind {
            MemoryKind::Fact => MemoryFile::ProjectContext,
            _ => MemoryFile::UserPrefs,
        },
        kind: statement.kind,
        text,
        // A passing statement waits for a second one.
        is_strong: statement.is_strong || statement.is_lasting,
        sightings: vec![Sighting { session: session.to_owned(), block, row, time }],
    }
}

/// Returns what the work of a project teaches: its procedures, its commands, its layout and its stack.
pub fn from_work(work: &ProjectWork<'_>) -> Vec<Candidate> {
    let (commands, files) = (work.commands(), work.files());
    let mut found = procedure_candidates(work, &commands);
    let own: Vec<Ranked<'_>> = commands.iter().filter(|command| is_specific(command.name)).cloned().collect();
    found.extend(program_candidates(&own));
    found.extend(purpose_candidates(&own));
    found.extend(layout_candidates(&files));
    found.extend(stack_candidate(&files));
    found
}

/// Returns a procedure as the text of a memory.
fn text_of(procedure: &Procedure<'_>) -> String {
    procedure.steps.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(" → ")
}

/// Returns the steps of a procedure, from the text of its memory.
pub fn steps_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(" → ").map(|step| step.trim_matches('`'))
}

/// Returns a candidate for each procedure, in the file of its task.
fn procedure_candidates(work: &ProjectWork<'_>, commands: &[Ranked<'_>]) -> Vec<Candidate> {
    let sequences = work.command_sequences();
    let candidate = |procedure: Procedure<'_>| {
        let task = task(&procedure);
        let of_steps = |command: &&Ranked<'_>| procedure.steps.contains(&command.name);
        Candidate {
            // By its steps, so that another order never takes its place.
            key: topic_key("procedure", &text_of(&procedure)),
            // A habit of no known task.
            file: task.map_or(MemoryFile::Patterns, MemoryFile::workflow),
            kind: MemoryKind::Procedure,
            text: text_of(&procedure),
            is_strong: true,
            sightings: newest(commands.iter().filter(of_steps)),
        }
    };
    procedures(&sequences).into_iter().map(candidate).collect()
}

/// Returns the task of a procedure; `None` if no command names one.
fn task(procedure: &Procedure<'_>) -> Option<&'static str> {
    let has = |words: &[&str]| procedure.steps.iter().any(|step| words_of(step).any(|word| words.contains(&word)));
    TASKS.iter().find(|(_, words)| has(words)).map(|(task, _)| *task)
}

/// Returns the words of a command: `mise run test:ci` has `test` and `ci`.
fn words_of(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty())
}

/// Returns a candidate for each program with its commands.
fn program_candidates(commands: &[Ranked<'_>]) -> Vec<Candidate> {
    let mut programs: Vec<(&str, Vec<&Ranked<'_>>)> = Vec::new();
    for command in commands {
        let program = program(command.name);
        match programs.iter_mut().find(|(known, _)| *known == program) {
            Some((_, of_program)) => of_program.push(command),
            None => programs.push((program, vec![command])),
        }
    }
    programs.retain(|(_, of_program)| of_program.iter().any(|command| command.sessions >= PROGRAM_SESSIONS));
    let candidate = |(program, of_program): (&str, Vec<&Ranked<'_>>)| {
        let names = of_program.iter().take(PROGRAM_COMMANDS).map(|command| format!("`{}`", command.name));
        Candidate {
            key: topic_key("program", program),
            file: MemoryFile::Shortcuts,
            kind: MemoryKind::Discovery,
            text: names.collect::<Vec<_>>().join(", "),
            is_strong: false,
            sightings: newest(of_program.iter().copied()),
        }
    };
    programs.into_iter().take(PROGRAMS).map(candidate).collect()
}

/// Returns the program of a command, with the word that only leads to others: `gh pr` of `gh pr view`.
fn program(command: &str) -> &str {
    match command.match_indices(' ').nth(1) {
        Some((at, _)) => &command[..at],
        None => command.split(' ').next().unwrap_or(command),
    }
}

/// Returns how the project is built, tested, formatted and run, by its own commands: at most four for each purpose.
fn purpose_candidates(commands: &[Ranked<'_>]) -> Vec<Candidate> {
    let is_for = |command: &Ranked<'_>, words: &[&str]| words_of(command.name).skip(1).any(|word| words.contains(&word));
    let candidate = |(purpose, words): &(&str, &[&str])| {
        let earlier = PURPOSES.iter().take_while(|(other, _)| other != purpose);
        let is_first = |command: &&Ranked<'_>| !earlier.clone().any(|(_, words)| is_for(command, words));
        let own = commands.iter().filter(|command| is_for(command, words)).filter(is_first);
        let of_purpose: Vec<&Ranked<'_>> = own.take(PURPOSE_COMMANDS).collect();
        let names: Vec<String> = of_purpose.iter().map(|command| format!("`{}`", command.name)).collect();
        (!names.is_empty()).then(|| Candidate {
            key: topic_key("purpose", purpose),
            file: MemoryFile::ProjectContext,
            kind: MemoryKind::Context,
            text: format!("{purpose}: {}", names.join(", ")),
            is_strong: false,
            sightings: newest(of_purpose),
        })
    };
    PURPOSES.iter().filter_map(candidate).collect()
}

/// Returns a candidate for each folder with its most used files.
fn layout_candidates(files: &[Ranked<'_>]) -> Vec<Candidate> {
    let all = folders(files.iter().map(|file| (file.name, file.worth)), LAYOUT_TOKENS);
    let candidate = |folder: super::layout::Folder| {
        let is_inside = |file: &&Ranked<'_>| folder.files.iter().any(|name| file.name.ends_with(&**name));
        let names = folder.files.iter().take(FOLDER_FILES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Candidate {
            key: topic_key("folder", &folder.name),
            file: MemoryFile::ProjectContext,
            kind: MemoryKind::Context,
            text: if folder.name.is_empty() { format!("Files: {names}") } else { format!("`{}/`: {names}", folder.name) },
            is_strong: false,
            sightings: newest(files.iter().filter(is_inside)),
        }
    };
    // A single file does not make a place.
    all.into_iter().filter(|folder| folder.files.len() > 1).take(FOLDERS).map(candidate).collect()
}

/// Returns the languages of the edited files.
fn stack_candidate(files: &[Ranked<'_>]) -> Option<Candidate> {
    let mut languages: BTreeMap<&str, (f64, Vec<&Ranked<'_>>)> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_edited) {
        let ending = file.name.rsplit('.').next().unwrap_or_default();
        if let Some((_, language)) = LANGUAGE_ENDINGS.iter().find(|(known, _)| *known == ending) {
            let (worth, of_language) = languages.entry(language).or_default();
            *worth += file.worth;
            of_language.push(file);
        }
    }
    let mut languages: Vec<_> = languages.into_iter().collect();
    languages.sort_by(|(one, (worth, _)), (other, (against, _))| against.total_cmp(worth).then_with(|| one.cmp(other)));
    languages.truncate(LANGUAGES);
    let names: Vec<&str> = languages.iter().map(|(language, _)| *language).collect();
    (!names.is_empty()).then(|| Candidate {
        key: topic_key("stack", ""),
        file: MemoryFile::ProjectContext,
        kind: MemoryKind::Context,
        text: format!("Languages of the edited files: {}", names.join(", ")),
        is_strong: false,
        sightings: newest(languages.iter().flat_map(|(_, (_, files))| files.iter().copied())),
    })
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
    use super::super::work::{NamedUse, UseKind};
    use super::*;

    fn used(name: &'static str, call: u64) -> NamedUse<'static> {
        let kind = if name.contains('.') { UseKind::EditedFile } else { UseKind::Command };
        NamedUse { name, kind, block: call as u32, call, time: call as i64 }
    }

    #[test]
    fn work_teaches_procedures_commands_layout_and_stack() {
        let names = ["make fmt", "make test", "git commit", "gh pr create", "src/cart/total.rs", "src/cart/item.rs"];
        let session = |first: u64| names.iter().zip(first..).map(|(name, call)| used(name, call)).collect::<Vec<_>>();
        let work = ProjectWork::new([("one", session(1)), ("two", session(100))]);
        let found: Vec<String> = from_work(&work).iter().map(|found| format!("{} {}", found.file.path(), found.text)).collect();
        assert_eq!(
            found,
            [
                "procedural/check-workflow.md `make fmt` → `make test`",
                "operational/shortcuts.md `make fmt`, `make test`",
                "factual/project-context.md Test: `make test`",
                "factual/project-context.md Format and lint: `make fmt`",
                "factual/project-context.md `src/cart/`: `item.rs`, `total.rs`",
                "factual/project-context.md Languages of the edited files: Rust",
            ]
        );
    }

    #[test]
    fn a_sequence_without_a_task_is_a_pattern() {
        let session =
            |first: u64| ["mise run seed", "mise run index"].into_iter().zip(first..).map(|(name, call)| used(name, call));
        let work = ProjectWork::new([("one", session(1).collect()), ("two", session(100).collect())]);
        let found = from_work(&work);
        assert_eq!(
            (found[0].file.path().as_str(), &*found[0].text),
            ("operational/patterns.md", "`mise run seed` → `mise run index`")
        );
    }

    #[test]
    fn a_command_has_a_program() {
        for (command, expected) in [("gh pr view", "gh pr"), ("cargo test", "cargo"), ("make", "make")] {
            assert_eq!(program(command), expected);
        }
    }
}
