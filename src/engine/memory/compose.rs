//! Composes the part of memory that a session needs, within a budget: the user's words first, then what failed, how work is done here,
//! and where.

use super::induce::procedure_texts;
use super::intent::Intent;
use super::layout::{Folder, folders};
use super::project::{ProjectWork, Ranked};
use super::words::first_line;
use crate::engine::content::keywords::is_stop_word;
use crate::engine::content::terms;
use crate::model::{Memory, MemoryId, MemoryKind, MemoryScope, MemoryState};
use rustc_hash::FxHashSet;

/// Characters of a token: an estimate, as the model of the next session is not known.
pub const TOKEN_CHARACTERS: usize = 4;

/// The heading of the memories that a new session receives. A request that has it needs no others.
pub const HEADING: &str = "From earlier sessions of this project (aperture memory why ID: where it is from):";

/// The input of a composition.
pub struct ComposeInput<'a> {
    /// The memories, of the project and of the user.
    pub memories: &'a [Memory],
    /// The work of the sessions of the project.
    pub work: &'a ProjectWork<'a>,
    /// The prompt; empty at the start of a session.
    pub prompt: &'a str,
    /// The intent of the prompt.
    pub intent: Intent,
    /// Returns digests of earlier sessions that match the prompt, given the text so far and the maximum number of characters.
    pub digests: &'a dyn Fn(&str, usize) -> String,
    /// Texts that the client sends anyway, such as its instruction files: what they state is not repeated.
    pub known: &'a [String],
    /// The maximum size, in tokens of four characters.
    pub budget_tokens: usize,
}

/// A composed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composition {
    /// Headings, and whole lines with their sources; empty if there is nothing to tell.
    pub text: String,
    /// The memories in it, as they are recorded when a session receives them.
    pub memories: Vec<(MemoryScope, MemoryId)>,
}

/// A part of the composed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Entities,
    Rules,
    Failures,
    Procedures,
    Commands,
    Files,
    Agent,
    Digests,
}

/// The shares of the sections, in percent, at some budgets in characters; between them they are interpolated. What a section does not
/// need is left to those after it.
const SHARES: &[(usize, &[(Section, usize)])] = &[
    (
        600,
        &[
            (Section::Failures, 28),
            (Section::Procedures, 30),
            (Section::Rules, 0),
            (Section::Agent, 0),
            (Section::Commands, 0),
            (Section::Files, 42),
            (Section::Digests, 0),
        ],
    ),
    (
        2000,
        &[
            (Section::Failures, 13),
            (Section::Procedures, 15),
            (Section::Rules, 30),
            (Section::Agent, 1),
            (Section::Commands, 9),
            (Section::Files, 32),
            (Section::Digests, 0),
        ],
    ),
    (
        6000,
        &[
            (Section::Failures, 8),
            (Section::Procedures, 8),
            (Section::Rules, 50),
            (Section::Agent, 2),
            (Section::Commands, 5),
            (Section::Files, 27),
            (Section::Digests, 0),
        ],
    ),
    (
        8000,
        &[
            (Section::Failures, 6),
            (Section::Procedures, 6),
            (Section::Rules, 14),
            (Section::Agent, 2),
            (Section::Commands, 4),
            (Section::Files, 14),
            (Section::Digests, 54),
        ],
    ),
];

/// Returns the factor by which the intent of the prompt changes a share, in percent.
fn preference(intent: Intent, section: Section) -> usize {
    match (intent, section) {
        (Intent::Operational, Section::Failures | Section::Commands) => 130,
        (Intent::Factual, Section::Rules | Section::Files) => 120,
        (Intent::Procedural, Section::Procedures) => 130,
        (Intent::Introspective, Section::Agent) => 1000,
        _ => 100,
    }
}

/// The share of the budget that entities may take if the prompt asks for facts, as a divisor. Others pay nothing for them.
const ENTITY_SHARE: usize = 10;

/// Composes what a session should know.
pub fn compose(input: &ComposeInput<'_>) -> Composition {
    let budget = input.budget_tokens.saturating_mul(TOKEN_CHARACTERS);
    let known = paragraphs(input.known);
    let composition = Composition::default();
    let mut composer = Composer { input, known, composition, left: budget, told: FxHashSet::default() };
    let asked = if input.intent == Intent::Factual { composer.section(Section::Entities, budget / ENTITY_SHARE) } else { 0 };
    let shares = shares(budget - asked, input.intent);
    let mut spare = 0;
    for (section, share) in shares {
        let room = (share + spare).min(composer.left);
        let used = composer.section(section, room);
        spare = room.saturating_sub(used);
    }
    composer.composition
}

/// Returns the memories in use that a prompt is about, the best first: those with at least two of its rarer words, or one that is a name.
pub fn matching<'a>(memories: &'a [Memory], prompt: &str) -> Vec<&'a Memory> {
    let wanted = words(prompt);
    let names = names(prompt);
    let mut found: Vec<(usize, &Memory)> = Vec::new();
    for memory in memories.iter().filter(|memory| memory.state == MemoryState::Active && memory.may_be_sent()) {
        let common = words(&memory.text).intersection(&wanted).count();
        let named = names.iter().filter(|name| memory.text.contains(**name)).count();
        if common >= LEAST_COMMON_WORDS || named > 0 {
            found.push((common + named * LEAST_COMMON_WORDS, memory));
        }
    }
    found.sort_by_key(|(score, memory)| std::cmp::Reverse((*score, memory.last_seen)));
    found.into_iter().map(|(_, memory)| memory).collect()
}

/// Returns the words of each paragraph of some texts.
fn paragraphs(texts: &[String]) -> Vec<FxHashSet<u32>> {
    texts.iter().flat_map(|text| text.split("\n\n")).map(words).filter(|words| !words.is_empty()).collect()
}

/// Composes the memories that a prompt is about: a heading and whole lines, within a budget in tokens. What the client sends anyway
/// (`known`) is left out.
pub fn about_prompt(memories: &[Memory], prompt: &str, known: &[String], budget_tokens: usize) -> Composition {
    /// The heading.
    const ABOUT: &str = "Memories about this prompt:";
    let known = paragraphs(known);
    let mut left = budget_tokens.saturating_mul(TOKEN_CHARACTERS).saturating_sub(ABOUT.len() + 1);
    let mut composition = Composition::default();
    for memory in matching(memories, prompt) {
        let line = line(memory);
        let cost = line.chars().count() + 1;
        if cost > left || is_stated(&known, &memory.text) {
            continue;
        }
        if composition.text.is_empty() {
            composition.text = format!("{ABOUT}\n");
        }
        left -= cost;
        composition.text.push_str(&line);
        composition.text.push('\n');
        composition.memories.push((memory.scope, memory.received_as()));
    }
    composition
}

/// Returns true if a paragraph has all words of a text.
fn is_stated(paragraphs: &[FxHashSet<u32>], text: &str) -> bool {
    let words = words(first_line(text));
    !words.is_empty() && paragraphs.iter().any(|known| words.is_subset(known))
}

/// Words that a prompt and a memory must share.
const LEAST_COMMON_WORDS: usize = 2;

/// Returns the words of a text that name something in code: with an underscore, a dot, a slash or a hyphen inside.
fn names(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "`'\"()[]{},;:!?".contains(c)).map(|word| word.trim_matches('.'));
    let is_name = |word: &&str| {
        let inside = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
        word.len() > 4 && inside.contains(['_', '.', '/', '-']) && word.contains(|c: char| c.is_alphabetic())
    };
    words.filter(is_name).collect()
}

/// Returns the room of each section in characters, in the order in which they are printed.
fn shares(budget: usize, intent: Intent) -> Vec<(Section, usize)> {
    let after = SHARES.iter().position(|(at, _)| *at >= budget).unwrap_or(SHARES.len() - 1);
    let (high, low) = (SHARES[after], SHARES[after.saturating_sub(1)]);
    let weight = match high.0.checked_sub(low.0) {
        Some(span @ 1..) if budget < high.0 => (budget.saturating_sub(low.0)) as f64 / span as f64,
        _ => 1.0,
    };
    let percent = |((section, low), (_, high)): (&(Section, usize), &(Section, usize))| {
        let share = *low as f64 * (1.0 - weight) + *high as f64 * weight;
        (*section, share * preference(intent, *section) as f64)
    };
    let percents: Vec<(Section, f64)> = low.1.iter().zip(high.1).map(percent).collect();
    let all: f64 = percents.iter().map(|(_, share)| share).sum();
    percents.into_iter().map(|(section, share)| (section, (share / all * budget as f64) as usize)).collect()
}

struct Composer<'a> {
    input: &'a ComposeInput<'a>,
    /// The words of each paragraph that the client sends anyway.
    known: Vec<FxHashSet<u32>>,
    composition: Composition,
    left: usize,
    /// Commands that were printed.
    told: FxHashSet<String>,
}

impl<'a> Composer<'a> {
    /// Adds a section in at most `room` characters. Returns the characters that it takes.
    fn section(&mut self, section: Section, room: usize) -> usize {
        let room = room.saturating_sub(heading(section).len() + 1);
        let lines = match section {
            Section::Entities => self.entities(room),
            Section::Rules => self.rules(room),
            Section::Failures => self.memories(room, &[MemoryKind::Resolution, MemoryKind::Environment, MemoryKind::Mistake]),
            Section::Agent => self.memories(room, &[MemoryKind::Capability, MemoryKind::Performance]),
            Section::Procedures => self.procedures(room),
            Section::Commands => self.commands(room),
            Section::Files => self.files(room),
            Section::Digests => self.digests(room),
        };
        if lines.is_empty() {
            return 0;
        }
        let mut added = format!("{}\n", heading(section));
        for line in lines {
            added.push_str(&line);
            added.push('\n');
        }
        let used = added.chars().count();
        self.left = self.left.saturating_sub(used);
        self.composition.text.push_str(&added);
        used
    }

    /// Returns the memories of some kinds, those in use first, then the most seen and the newest.
    fn of_kinds(&self, kinds: &[MemoryKind]) -> Vec<&'a Memory> {
        let is_wanted = |memory: &&Memory| {
            kinds.contains(&memory.kind) && !memory.state.is_retired() && memory.may_be_sent() && !self.is_known(&memory.text)
        };
        let mut found: Vec<&Memory> = self.input.memories.iter().filter(is_wanted).collect();
        let order =
            |memory: &Memory| (memory.state == MemoryState::Active, memory.sessions.min(9), memory.sightings, memory.last_seen);
        found.sort_by_key(|memory| std::cmp::Reverse(order(memory)));
        found
    }

    /// Returns true if a paragraph that the client sends anyway has all words of a text.
    fn is_known(&self, text: &str) -> bool {
        is_stated(&self.known, text)
    }

    fn memories(&mut self, room: usize, kinds: &[MemoryKind]) -> Vec<String> {
        let found = self.of_kinds(kinds).into_iter().map(|memory| (memory, line(memory))).collect();
        self.fit(found, room)
    }

    /// Returns the first lines that have room, whole, and remembers their memories.
    fn fit(&mut self, lines: Vec<(&Memory, String)>, room: usize) -> Vec<String> {
        let mut left = room;
        let mut kept = Vec::new();
        for (memory, line) in lines {
            let cost = line.chars().count() + 1;
            if cost <= left {
                left -= cost;
                kept.push(line);
                self.composition.memories.push((memory.scope, memory.received_as()));
            }
        }
        kept
    }

    /// Returns the entities that share a word with the prompt, those that share most first.
    fn entities(&mut self, room: usize) -> Vec<String> {
        let prompt = words(self.input.prompt);
        let about = |memory: &Memory| words(&memory.text).intersection(&prompt).count();
        let mut found = self.of_kinds(&[MemoryKind::Entity]);
        found.retain(|memory| about(memory) > 0);
        found.sort_by_cached_key(|memory| std::cmp::Reverse(about(memory)));
        self.fit(found.into_iter().map(|memory| (memory, line(memory))).collect(), room)
    }

    /// Returns what the user said: what the prompt is about first, then the newest.
    fn rules(&mut self, room: usize) -> Vec<String> {
        let kinds = [MemoryKind::Preference, MemoryKind::Correction, MemoryKind::Fact];
        let mut found = self.of_kinds(&kinds);
        let prompt = words(self.input.prompt);
        let about = |memory: &Memory| words(&memory.text).intersection(&prompt).count();
        let newest = found.iter().map(|memory| memory.last_seen).max().unwrap_or_default();
        let order = |memory: &Memory| {
            let worth = statement_worth(memory, about(memory), newest);
            (memory.state == MemoryState::Active, (worth * WORTH_STEPS) as i64)
        };
        found.sort_by_cached_key(|memory| std::cmp::Reverse(order(memory)));
        // The context of a correction is in the file.
        let lines = found.into_iter().map(|memory| (memory, line_of(memory, first_line(&memory.text)))).collect();
        self.fit(lines, room)
    }

    fn procedures(&mut self, room: usize) -> Vec<String> {
        let mut found = self.of_kinds(&[MemoryKind::Procedure]);
        // Texts of a person come first, then those that add most to the lines above them.
        let order = procedure_texts(self.input.work);
        found.sort_by_cached_key(|memory| {
            let place = order.iter().position(|text| *text == memory.text).unwrap_or(order.len());
            (!memory.is_edited && !memory.is_by_hand(), place)
        });
        // The arrows mark the commands already.
        let lines = found.into_iter().map(|memory| (memory, line(memory).replace('`', ""))).collect();
        let lines = self.fit(lines, room);
        for text in &lines {
            self.told.extend(steps(text));
        }
        lines
    }

    /// Returns the commands that no procedure names, as one line.
    fn commands(&self, room: usize) -> Vec<String> {
        let commands = self.input.work.commands();
        let is_known = |name: &str| self.input.known.iter().any(|text| text.contains(name));
        let wanted = commands.iter().map(|command| command.name);
        let wanted = wanted.filter(|name| !self.told.contains(*name) && !is_known(name));
        // The mark at the start of the line, and its line feed.
        let mut left = room.saturating_sub(3);
        let mut names = Vec::new();
        for name in wanted {
            let cost = name.chars().count() + 2;
            if cost <= left {
                left -= cost;
                names.push(name);
            }
        }
        if names.is_empty() { Vec::new() } else { vec![format!("- {}", names.join(", "))] }
    }

    fn files(&self, room: usize) -> Vec<String> {
        let files = self.input.work.files();
        let unnamed = files.iter().filter(|file| !self.is_named(file)).map(|file| (file.name, file.worth));
        // Each line has a mark and a line feed.
        let folders = folders(unnamed, room);
        folders.iter().map(Folder::line).map(|line| format!("- {line}")).collect()
    }

    /// Returns true if the prompt names a file already.
    fn is_named(&self, file: &Ranked<'_>) -> bool {
        let name = file.name.rsplit('/').next().unwrap_or(file.name);
        self.input.prompt.contains(name)
    }

    fn digests(&self, room: usize) -> Vec<String> {
        (self.input.digests)(&self.composition.text, room).lines().map(str::to_owned).collect()
    }
}

/// Returns the heading of a section.
fn heading(section: Section) -> &'static str {
    match section {
        Section::Entities => "Named in several sessions:",
        Section::Rules => "The user said:",
        Section::Failures => "Failed here before, and what works:",
        Section::Procedures => "Usual order of commands:",
        Section::Commands => "Other commands:",
        Section::Files => "Files by folder, most used first:",
        Section::Agent => "Limits of tools:",
        Section::Digests => "From earlier sessions:",
    }
}

/// Returns a memory as one line with its source.
fn line(memory: &Memory) -> String {
    line_of(memory, &memory.text)
}

fn line_of(memory: &Memory, text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (memory.is_by_hand(), memory.scope) {
        (true, _) => format!("- {text}"),
        (false, MemoryScope::Project) => format!("- {text} [{}]", memory.id),
        (false, MemoryScope::User) => format!("- {text} [{}]", memory.name()),
    }
}

/// Returns the commands of a printed procedure.
fn steps(line: &str) -> impl Iterator<Item = String> + '_ {
    let line = line.trim_start_matches("- ");
    line.split(" → ").map(|step| step.split(" [").next().unwrap_or(step).to_owned())
}

/// The weight of a statement, compared with one of the next day: most outlive their day by far.
const STATEMENT_DECAY: f64 = 0.99;
/// The weight of a kind of statement, compared with the next weaker one: preferences outlive a task more often than corrections, and these
/// more often than facts.
const KIND_WEIGHT: f64 = 1.5;
/// The weight of each word that a statement shares with the prompt, and the number of words that count.
const SHARED_WORD: f64 = 0.3;
const SHARED_WORDS: usize = 4;
/// Characters of a statement below which a shorter one is not worth more.
const SHORT_CHARACTERS: f64 = 40.0;
/// Characters of a line beside the statement: its mark and its source.
const SOURCE_CHARACTERS: usize = 8;
/// Worths are compared in steps of this fraction, so that they are totally ordered.
const WORTH_STEPS: f64 = 1e9;
/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// Returns the worth of a statement per character. `about` is the number of words that it shares with the prompt, `newest` the time of the
/// newest statement.
fn statement_worth(memory: &Memory, about: usize, newest: i64) -> f64 {
    let kind = match memory.kind {
        MemoryKind::Preference => KIND_WEIGHT * KIND_WEIGHT,
        MemoryKind::Correction => KIND_WEIGHT,
        _ => 1.0,
    };
    let age = (newest - memory.last_seen) as f64 / DAY;
    let about = 1.0 + SHARED_WORD * about.min(SHARED_WORDS) as f64;
    let characters = first_line(&memory.text).chars().count() + SOURCE_CHARACTERS;
    kind * STATEMENT_DECAY.powf(age) * about / (characters as f64).max(SHORT_CHARACTERS)
}

/// Returns the content words of a text, as hashes.
fn words(text: &str) -> FxHashSet<u32> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 2);
    words.map(str::to_lowercase).filter(|word| !is_stop_word(word)).map(|word| terms::hash(&word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::intent::intent;
    use crate::engine::memory::merge::new_memory;
    use crate::model::{Candidate, MemoryFile};

    #[test]
    fn a_question_brings_the_entities_that_it_is_about() {
        let entity = |(id, text): (u32, &str)| {
            let (file, kind) = (MemoryFile::Entities, MemoryKind::Entity);
            let candidate = Candidate { key: 1, file, kind, text: text.to_owned(), is_strong: true, sightings: Vec::new() };
            Memory { id, ..new_memory(&candidate) }
        };
        let memories = [(1, "Repository `acme/shop`"), (2, "Site or API `docs.acme.dev`"), (3, "Person `@ada`")].map(entity);
        let check = |prompt: &str, expected: &str| {
            let input = ComposeInput {
                memories: &memories,
                work: &ProjectWork::default(),
                prompt,
                intent: intent(prompt),
                digests: &|_, _| String::new(),
                known: &[],
                budget_tokens: 500,
            };
            assert_eq!(compose(&input).text, expected, "{prompt}");
        };
        check("which repository is it in?", "Named in several sessions:\n- Repository `acme/shop` [1]\n");
        check(
            "where is the API of acme?",
            "Named in several sessions:\n- Site or API `docs.acme.dev` [2]\n- Repository `acme/shop` [1]\n",
        );
        check("what is a cart?", "");
        check("run the tests of the repository", "");
    }
}
