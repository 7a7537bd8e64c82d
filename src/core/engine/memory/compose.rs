//! Composes the part of memory that a session needs, within a budget: the user's words first, then what failed, how and where.

use super::danger::{is_dangerous, neutral};
use super::induce::steps_of;
use super::intent::Intent;
use super::statements::{Brief, brief, is_understood};
use super::topic::split_context;
use super::words::first_line;
use crate::engine::content::terms;
use crate::engine::tokens;
use crate::model::limits::DAY_MILLISECONDS;
use crate::model::{Memory, MemoryFile, MemoryId, MemoryKind, MemoryScope, MemoryState, texts};
use crate::text::cut::one_line;
use crate::text::stop_words::is_stop_word;
use rustc_hash::FxHashSet;

/// The heading of the memories that a new session receives. A request that has it needs no others.
pub const HEADING: &str = "From earlier sessions of this project (where #N is from: aperture memory why N):";

/// The input of a composition.
pub struct ComposeInput<'a> {
    /// The memories, of the project and of the user.
    pub memories: &'a [Memory],
    /// True if the memories of the project are the user's; if not, they are words of a repository.
    pub is_accepted: bool,
    /// The prompt; empty at the start of a session.
    pub prompt: &'a str,
    pub intent: Intent,
    /// Returns digests of earlier sessions that match the prompt, given the text so far and the maximum number of tokens.
    pub digests: &'a dyn Fn(&str, usize) -> String,
    /// Questions and steps that the last turn left open.
    pub open: &'a [String],
    /// Texts that the client sends anyway, such as its instruction files: what they state is not repeated.
    pub known: &'a [String],
    /// The maximum size, in tokens by [`tokens::count`].
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

/// Composes what a session should know.
pub fn compose(input: &ComposeInput<'_>) -> Composition {
    let about = if input.prompt.is_empty() { Vec::new() } else { matching(input.memories, input.prompt) };
    let about = about.into_iter().map(|memory| (memory.scope, memory.received_as())).collect();
    let (known, composition) = (paragraphs(input.known), Composition::default());
    let mut composer = Composer { input, known, prompt: words(input.prompt), about, composition, left: input.budget_tokens };
    for section in [Section::Pinned, Section::Certain] {
        let part = composer.part(section, 0.0, composer.left);
        composer.add(&part, part.need);
    }
    let budget = composer.left;
    let parts: Vec<Part<'_>> =
        shares(budget, input.intent).into_iter().map(|(section, share)| composer.part(section, share, budget)).collect();
    let mut spare = 0;
    for (part, room) in parts.iter().zip(rooms(&parts, budget)) {
        let room = (room + spare).min(composer.left);
        spare = room.saturating_sub(composer.add(part, room));
    }
    composer.composition
}

/// Divides a budget among parts by their shares. A part receives no more than it needs; the rest is divided among the others.
fn rooms(parts: &[Part<'_>], budget: usize) -> Vec<usize> {
    let mut rooms: Vec<Option<usize>> = vec![None; parts.len()];
    loop {
        let given: usize = rooms.iter().flatten().sum();
        let open = || parts.iter().enumerate().filter(|(at, _)| rooms[*at].is_none());
        let shares: f64 = open().map(|(_, part)| part.share).sum();
        let room = |part: &Part<'_>| (part.share / shares * (budget - given) as f64) as usize;
        let satisfied: Vec<usize> = open().filter(|(_, part)| part.need <= room(part)).map(|(at, _)| at).collect();
        if satisfied.is_empty() {
            return parts.iter().zip(&rooms).map(|(part, known)| known.unwrap_or_else(|| room(part))).collect();
        }
        for at in satisfied {
            rooms[at] = Some(parts[at].need);
        }
    }
}

/// Returns the memories in use that a prompt is about, the best first: those with a name of the prompt, or with several of its words that
/// few memories have. Most prompts are about none.
pub fn matching<'a>(memories: &'a [Memory], prompt: &str) -> Vec<&'a Memory> {
    let (wanted, wanted_names) = (words(prompt), names(prompt));
    let is_safe = |memory: &Memory| memory.is_certain() || !is_dangerous(&memory.text);
    let is_told = |memory: &Memory| memory.is_certain() || !memory.kind.is_statement() || may_be_told(memory);
    let is_in_use =
        |memory: &&Memory| memory.state == MemoryState::Active && memory.may_be_sent() && is_safe(memory) && is_told(memory);
    // The call before a correction is not part of it.
    let text = |memory: &'a Memory| split_context(&memory.text).0;
    let known: Vec<(&Memory, FxHashSet<u32>)> =
        memories.iter().filter(is_in_use).map(|memory| (memory, words(text(memory)))).collect();
    let most = known.len() / RARE_SHARE + RARE_MEMORIES;
    let is_rare = |word: &&u32| known.iter().filter(|(_, words)| words.contains(*word)).count() <= most;
    let rare: FxHashSet<u32> = wanted.iter().filter(is_rare).copied().collect();
    let has_name = |memory: &'a Memory, name: &&&str| names(text(memory)).contains(*name);
    let of_few = |name: &&&str| known.iter().filter(|(memory, _)| has_name(memory, name)).count() <= most;
    let rare_names: Vec<&&str> = wanted_names.iter().filter(of_few).collect();
    let mut found: Vec<(usize, &Memory)> = Vec::new();
    for (memory, words) in &known {
        let common = words.intersection(&rare).count();
        let named = rare_names.iter().filter(|name| has_name(memory, name)).count();
        // Of what was not said, only names tell that it is meant.
        let least = match (memory.is_certain(), memory.kind.is_statement()) {
            (true, _) => LEAST_COMMON_WORDS,
            (false, true) => LEAST_COMMON_WORDS + usize::from(words.len() > LEAST_COMMON_WORDS * 2),
            (false, false) => usize::MAX,
        };
        if named > 0 || common >= least {
            found.push((common + named * LEAST_COMMON_WORDS, memory));
        }
    }
    found.sort_by_key(|(score, memory)| std::cmp::Reverse((*score, memory.last_seen)));
    found.into_iter().map(|(_, memory)| memory).collect()
}

fn paragraphs(texts: &[String]) -> Vec<FxHashSet<u32>> {
    texts.iter().flat_map(|text| text.split("\n\n")).map(words).filter(|words| !words.is_empty()).collect()
}

/// Composes the memories that a prompt is about, within a budget in tokens, without those that the client sends anyway (`known`).
pub fn about_prompt(memories: &[Memory], prompt: &str, known: &[String], budget_tokens: usize) -> Composition {
    const ABOUT: &str = "Memories about this prompt:";
    let known = paragraphs(known);
    let found = matching(memories, prompt).into_iter().filter(|memory| !is_stated(&known, &memory.text));
    let lines: Vec<Line<'_>> = found.map(|memory| (Some(memory), line_of(memory, split_context(&memory.text).0))).collect();
    let mut composition = Composition::default();
    let kept = fit(&lines, budget_tokens.saturating_sub(line_tokens(ABOUT)), &mut composition.memories);
    composition.text = with_heading(ABOUT, &kept);
    composition
}

/// Maximum number of tokens of the pinned memories.
pub const PINNED_TOKENS: usize = 150;

/// Returns the tokens of the pinned memories in a composed text.
pub fn pinned_tokens<'a>(memories: impl Iterator<Item = &'a Memory>) -> usize {
    let lines = memories.filter(|memory| memory.is_pinned && !memory.state.is_retired()).map(line);
    tokens::count(&with_heading(Section::Pinned.heading(), &lines.collect::<Vec<_>>()))
}

/// Returns true if one of the paragraphs, of which these are the words, has all words of the first line of a text.
fn is_stated(paragraphs: &[FxHashSet<u32>], text: &str) -> bool {
    let words = words(first_line(text));
    !words.is_empty() && paragraphs.iter().any(|known| words.is_subset(known))
}

/// Mistakes that a session receives before other failures.
const LAST_MISTAKES: usize = 3;
/// Rare words that a prompt and a memory must share; one more if they are less than half of a learned one.
const LEAST_COMMON_WORDS: usize = 2;
/// Number of memories that can have a rare word, and the number of memories for each of which one more can.
const RARE_MEMORIES: usize = 4;
const RARE_SHARE: usize = 20;

/// Returns the words of a text that name something in code: with an underscore, a dot, a slash or a hyphen inside.
fn names(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "`'\"()[]{},;:!?".contains(c)).map(|word| word.trim_matches('.'));
    let is_name = |word: &&str| {
        let inside = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
        word.len() > 4 && inside.contains(['_', '.', '/', '-']) && word.contains(|c: char| c.is_alphabetic())
    };
    words.filter(is_name).collect()
}

/// A section with all that it could print.
struct Part<'a> {
    section: Section,
    /// The share of the budget, relative to the other parts.
    share: f64,
    /// The candidates for its lines, the most worth first; `None` for results of a search in earlier sessions.
    lines: Option<Vec<Line<'a>>>,
    /// The tokens that the whole content takes, with the heading; at most the budget.
    need: usize,
}

/// A line, and the memory that it is from; `None` for one that no file holds.
type Line<'a> = (Option<&'a Memory>, String);

struct Composer<'a> {
    input: &'a ComposeInput<'a>,
    /// The words of each paragraph that the client sends anyway.
    known: Vec<FxHashSet<u32>>,
    prompt: FxHashSet<u32>,
    /// The memories that the prompt is about: the first of their sections.
    about: FxHashSet<(MemoryScope, MemoryId)>,
    composition: Composition,
    left: usize,
}

impl<'a> Composer<'a> {
    /// Collects all that a section could print in a budget in tokens.
    fn part(&self, section: Section, share: f64, budget: usize) -> Part<'a> {
        let mut lines = match section {
            Section::Pinned => self.chosen(&|memory| memory.is_pinned),
            Section::Certain => self.chosen(&|memory| !memory.is_pinned),
            Section::Repository => self.of_repository(),
            Section::Shared => self.statements(&Memory::is_shared),
            Section::Rules => self.statements(&|memory| !memory.is_shared()),
            // The open thoughts of the last turn.
            Section::Open => self.input.open.iter().map(|thought| (None, neutral(&one_line(thought)))).collect(),
            Section::Mistakes => lines(self.mistakes()),
            Section::Failures => {
                let mistakes = self.mistakes();
                let mut found = self.of_kinds(&[MemoryKind::Resolution, MemoryKind::Environment]);
                found.retain(|memory| !mistakes.contains(memory));
                lines(found)
            }
            Section::Pages => lines(self.pages()),
            Section::Procedures => self.procedures(),
            Section::Commands => self.context(false),
            Section::Files => self.context(true),
            Section::Digests => return Part { section, share, lines: None, need: budget },
        };
        let is_about = |memory: &Memory| self.about.contains(&(memory.scope, memory.received_as()));
        lines.sort_by_key(|(memory, _)| !memory.is_some_and(is_about));
        let texts: Vec<String> = lines.iter().map(|(_, line)| line.clone()).collect();
        Part { section, share, lines: Some(lines), need: tokens::count(&with_heading(section.heading(), &texts)).min(budget) }
    }

    /// Adds a part in at most `room` tokens. Returns the tokens that it takes.
    fn add(&mut self, part: &Part<'a>, room: usize) -> usize {
        let room = room.saturating_sub(line_tokens(part.section.heading()));
        let lines = match &part.lines {
            Some(lines) => fit(lines, room, &mut self.composition.memories),
            None => (self.input.digests)(&self.composition.text, room).lines().map(str::to_owned).collect(),
        };
        let added = with_heading(part.section.heading(), &lines);
        let used = tokens::count(&added);
        self.left = self.left.saturating_sub(used);
        self.composition.text.push_str(&added);
        used
    }

    /// Returns the memories that need no evidence, and that are pinned or not: those about the prompt first, then the newest.
    fn chosen(&self, is_wanted: &dyn Fn(&Memory) -> bool) -> Vec<Line<'a>> {
        let memories = self.input.memories.iter().filter(|memory| memory.is_certain() && self.is_trusted(memory));
        let mut found: Vec<&Memory> =
            memories.filter(|memory| is_wanted(memory) && (memory.is_pinned || !is_stated(&self.known, &memory.text))).collect();
        found.sort_by_cached_key(|memory| std::cmp::Reverse((self.shared_words(&memory.text), memory.last_seen)));
        lines(found)
    }

    /// Returns true for a memory of the user; those of a repository that the user did not accept are not.
    fn is_trusted(&self, memory: &Memory) -> bool {
        self.input.is_accepted || memory.scope == MemoryScope::User
    }

    /// Returns the memories of a repository that the user did not accept, without those that need a review from any source.
    fn of_repository(&self) -> Vec<Line<'a>> {
        let memories = self.input.memories.iter().filter(|memory| !self.is_trusted(memory));
        lines(memories.filter(|memory| self.is_in_use(memory) && !is_dangerous(&memory.text)).collect())
    }

    /// Returns true for a memory that may be printed, and that the client does not send anyway. A statement that was seen once, without a
    /// clear sign, waits for a second time.
    fn is_in_use(&self, memory: &Memory) -> bool {
        memory.state == MemoryState::Active && memory.may_be_sent() && !is_stated(&self.known, &memory.text)
    }

    /// Returns the number of words that a text shares with the prompt.
    fn shared_words(&self, text: &str) -> usize {
        words(text).intersection(&self.prompt).count()
    }

    /// Returns the memories of some kinds, those in use first, then the most seen and the newest.
    fn of_kinds(&self, kinds: &[MemoryKind]) -> Vec<&'a Memory> {
        let is_wanted = |memory: &&Memory| {
            kinds.contains(&memory.kind) && !memory.is_certain() && self.is_trusted(memory) && self.is_in_use(memory)
        };
        let mut found: Vec<&Memory> = self.input.memories.iter().filter(is_wanted).collect();
        let order = |memory: &Memory| (memory.sessions.min(9), memory.sightings, memory.last_seen);
        found.sort_by_key(|memory| std::cmp::Reverse(order(memory)));
        found
    }

    /// Returns the last mistakes whose fix is known, the newest first.
    fn mistakes(&self) -> Vec<&'a Memory> {
        let mut found = self.of_kinds(&[MemoryKind::Resolution]);
        found.sort_by_key(|memory| std::cmp::Reverse((memory.last_seen, memory.id)));
        found.truncate(LAST_MISTAKES);
        found
    }

    /// Returns the pages that the prompt is about: a page of another task tells nothing.
    fn pages(&self) -> Vec<&'a Memory> {
        let told = |memory: &Memory| memory.text.rsplit_once(" (").map_or(0, |(told, _)| self.shared_words(told));
        let mut found = self.of_kinds(&[MemoryKind::Discovery]);
        found.retain(|memory| told(memory) >= LEAST_COMMON_WORDS);
        found.sort_by_cached_key(|memory| std::cmp::Reverse((told(memory), memory.last_seen)));
        found
    }

    /// Returns what the user said, here or in several projects (`is_wanted`), the most lasting for its length first.
    fn statements(&self, is_wanted: &dyn Fn(&Memory) -> bool) -> Vec<Line<'a>> {
        let kinds = [MemoryKind::Preference, MemoryKind::Correction, MemoryKind::Fact];
        let mut found = self.of_kinds(&kinds);
        found.retain(|memory| is_wanted(memory) && may_be_told(memory));
        let newest = found.iter().map(|memory| memory.last_seen).max().unwrap_or_default();
        let worth = |memory: &Memory| statement_worth(memory, brief_of(memory), self.shared_words(&memory.text), newest);
        found.sort_by_cached_key(|memory| std::cmp::Reverse((worth(memory) * WORTH_STEPS) as i64));
        // The context of a correction, and its sentence as a whole, are in the file.
        found.into_iter().map(|memory| (Some(memory), line_of(memory, brief_of(memory).text))).collect()
    }

    /// Returns the orders of commands, without those that another one holds.
    fn procedures(&self) -> Vec<Line<'a>> {
        let mut kept: Vec<&Memory> = Vec::new();
        let mut found = self.of_kinds(&[MemoryKind::Procedure]);
        // A part of a longer order tells nothing.
        found.sort_by_key(|memory| std::cmp::Reverse(steps_of(&memory.text).count()));
        for memory in found {
            let is_told = |other: &&Memory| {
                let is_same_task = matches!(memory.file, MemoryFile::Workflow(_)) && memory.file == other.file;
                is_same_task || steps_of(&memory.text).all(|step| other.text.contains(step))
            };
            if !kept.iter().any(is_told) {
                kept.push(memory);
            }
        }
        // The arrows mark the commands already.
        let line = |memory: &Memory| {
            let task = match &memory.file {
                MemoryFile::Workflow(task) => format!("{}: ", task.replace('-', " ")),
                _ => String::new(),
            };
            line_of(memory, &format!("{task}{}", memory.text)).replace('`', "")
        };
        kept.into_iter().map(|memory| (Some(memory), line(memory))).collect()
    }

    /// Returns the commands by their purpose, or the files by their folder: those that share words with the prompt first.
    fn context(&self, is_folder: bool) -> Vec<Line<'a>> {
        let prompt = parts_of_names(self.input.prompt);
        let about = |memory: &Memory| parts_of_names(&memory.text).intersection(&prompt).count();
        let mut found = self.of_kinds(&[MemoryKind::Context]);
        found.retain(|memory| is_folder == memory.text.starts_with('`'));
        found.sort_by_cached_key(|memory| std::cmp::Reverse(about(memory)));
        found.into_iter().map(|memory| (Some(memory), line(memory).replace('`', ""))).collect()
    }
}

/// Returns the first lines that have room, whole, and adds their memories to those of a composition.
fn fit(lines: &[Line<'_>], room: usize, memories: &mut Vec<(MemoryScope, MemoryId)>) -> Vec<String> {
    let mut left = room;
    let mut kept = Vec::new();
    for (memory, line) in lines {
        let cost = line_tokens(line);
        if cost <= left {
            left -= cost;
            kept.push(line.clone());
            memories.extend(memory.map(|memory| (memory.scope, memory.received_as())));
        }
    }
    kept
}

/// Returns lines under their heading; nothing if there are none.
fn with_heading(heading: &str, lines: &[String]) -> String {
    let heading = Some(heading).filter(|_| !lines.is_empty());
    heading.into_iter().chain(lines.iter().map(String::as_str)).flat_map(|line| [line, "\n"]).collect()
}

fn lines(memories: Vec<&Memory>) -> Vec<Line<'_>> {
    memories.into_iter().map(|memory| (Some(memory), line(memory))).collect()
}

fn line_tokens(line: &str) -> usize {
    tokens::count(&format!("{line}\n"))
}

fn line(memory: &Memory) -> String {
    let (statement, context) = split_context(&memory.text);
    // A call that was cut tells nothing.
    line_of(memory, if context.contains('…') { statement } else { &memory.text })
}

fn line_of(memory: &Memory, text: &str) -> String {
    let text = neutral(&one_line(text));
    match (memory.is_by_hand(), memory.scope) {
        (true, _) => text,
        (false, MemoryScope::Project) => format!("#{} {text}", memory.id),
        (false, MemoryScope::User) => format!("#{} {text}", memory.name()),
    }
}

/// Returns a memory in few words; the whole first line if a person wrote it.
fn brief_of(memory: &Memory) -> Brief<'_> {
    let text = first_line(&memory.text);
    let brief = brief(text);
    if memory.is_edited || memory.is_by_hand() { Brief { text, ..brief } } else { brief }
}

/// Returns true if a statement can be in a composed text: it outlives its task, and a long one describes a task.
pub fn may_be_told(memory: &Memory) -> bool {
    outlives_task(memory) && brief_of(memory).text.chars().count() <= LONGEST_RULE
}

/// Returns true if an entry can be in use.
pub fn may_be_active(memory: &Memory) -> bool {
    memory.is_by_model || !memory.kind.is_statement() || outlives_task(memory)
}

/// Returns true for a statement that is understood without its conversation. A question tells its reader nothing without the answer, and
/// an opinion or a request nothing beyond its task.
fn outlives_task(memory: &Memory) -> bool {
    let text = first_line(&memory.text);
    is_understood(text) && !brief(text).asks_or_opines()
}

/// The weight of a statement, compared with one of the next day: most outlive their day by far.
const STATEMENT_DECAY: f64 = 0.995;
/// The weight of a kind of statement, compared with the next weaker one: a preference outlives its task more often than a correction.
const KIND_WEIGHT: f64 = 1.3;
/// Maximum length of a statement in characters: a longer one is a description of a task.
const LONGEST_RULE: usize = 180;
/// The weight of each word that a statement shares with the prompt, and the number of words that count.
const SHARED_WORD: f64 = 0.1;
const SHARED_WORDS: usize = 4;
/// The weight of a statement with one more quarter of a lasting sign, as the logarithm of a factor.
const LASTING_SIGN: f64 = 0.2;
/// Characters of a statement below which a shorter one is not worth more.
const SHORT_CHARACTERS: usize = 40;
/// Characters of a line beside the statement: its mark and its source.
const SOURCE_CHARACTERS: usize = 5;
/// Worths are compared in steps of this fraction, so that they are totally ordered.
const WORTH_STEPS: f64 = 1e9;

/// Returns the place of a statement in an order by worth, the largest first. `newest` is the time of the newest statement.
pub fn order_by_worth(memory: &Memory, newest: i64) -> i64 {
    (statement_worth(memory, brief_of(memory), 0, newest) * WORTH_STEPS) as i64
}

/// Returns the worth of a statement per character. `about` is the number of words that it shares with the prompt.
fn statement_worth(memory: &Memory, brief: Brief<'_>, about: usize, newest: i64) -> f64 {
    let kind = match memory.kind {
        MemoryKind::Preference => KIND_WEIGHT * KIND_WEIGHT,
        MemoryKind::Correction => KIND_WEIGHT,
        _ => 1.0,
    };
    let age = (newest - memory.last_seen) as f64 / DAY_MILLISECONDS as f64;
    let about = 1.0 + SHARED_WORD * about.min(SHARED_WORDS) as f64;
    let lasting = (LASTING_SIGN * f64::from(brief.lasting)).exp();
    let characters = (brief.text.chars().count() + SOURCE_CHARACTERS).max(SHORT_CHARACTERS);
    kind * lasting * STATEMENT_DECAY.powf(age) * about / characters as f64
}

/// Returns the words of a text that can be parts of the names of files, as hashes: `phase_tests.rs` has two.
fn parts_of_names(text: &str) -> FxHashSet<u32> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| part.chars().count() > LONGEST_ENDING);
    let parts = parts.map(str::to_lowercase).filter(|part| !is_stop_word(part));
    parts.map(|part| terms::hash(part.trim_end_matches('s'))).collect()
}

/// The length of the longest ending of a name, as `html`: endings are not words.
const LONGEST_ENDING: usize = 3;

fn words(text: &str) -> FxHashSet<u32> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 2);
    words.map(str::to_lowercase).filter(|word| !is_stop_word(word)).map(|word| terms::hash(&word)).collect()
}

texts! {
    /// A section of the composed text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Section, heading {
        Pinned = "Always:",
        Certain = "Written or accepted by the user:",
        Repository = "From .aperture/memory/ of this repository, not confirmed by the user (aperture memory review --accept-tree):",
        Shared = "The user said in several projects:",
        Rules = "The user said:",
        Open = "The last turn left open:",
        Mistakes = "The last mistakes, with cause and fix:",
        Failures = "Other failures and fixes:",
        Procedures = "Usual order of commands, by task:",
        Commands = "Commands that succeeded here:",
        Files = "Where things are:",
        /// Pages of the web that the prompt is about.
        Pages = "Found on the web:",
        Digests = "From earlier sessions:",
    }
}

/// Budgets in tokens, and the shares of the sections at each, relative to each other: between them they are interpolated. A share that
/// a section does not need is divided among the others; the lines that are worth least in each section are left out.
const BUDGETS: [usize; 4] = [150, 500, 1500, 2000];
const SHARES: [(Section, [usize; 4]); 11] = [
    (Section::Shared, [15, 15, 15, 5]),
    (Section::Rules, [40, 50, 50, 10]),
    (Section::Open, [5, 6, 4, 2]),
    (Section::Mistakes, [15, 10, 8, 3]),
    (Section::Failures, [10, 8, 7, 2]),
    (Section::Procedures, [10, 10, 8, 4]),
    (Section::Commands, [10, 10, 7, 4]),
    (Section::Files, [10, 12, 20, 6]),
    (Section::Pages, [3, 4, 4, 3]),
    (Section::Repository, [10, 10, 10, 10]),
    (Section::Digests, [0, 0, 0, 71]),
];

/// The share of a section without any: it receives what all others leave.
const LEAST_SHARE: f64 = 1e-6;

/// Returns the factor by which the intent of the prompt changes a share, in percent.
fn preference(intent: Intent, section: Section) -> usize {
    match (intent, section) {
        (Intent::Operational, Section::Mistakes | Section::Failures | Section::Commands) => 130,
        (Intent::Factual, Section::Shared | Section::Rules | Section::Files) => 120,
        (Intent::Procedural, Section::Procedures) => 130,
        (Intent::Introspective, Section::Mistakes | Section::Failures) => 300,
        _ => 100,
    }
}

/// Returns the share of each section, in the order in which they are printed. They are relative to each other.
fn shares(budget: usize, intent: Intent) -> Vec<(Section, f64)> {
    let after = BUDGETS.iter().position(|at| *at >= budget).unwrap_or(BUDGETS.len() - 1);
    let before = after.saturating_sub(1);
    let (low, high) = (BUDGETS[before], BUDGETS[after]);
    let weight = if low < high && budget < high { budget.saturating_sub(low) as f64 / (high - low) as f64 } else { 1.0 };
    let share = |(section, shares): (Section, [usize; 4])| {
        let share = shares[before] as f64 * (1.0 - weight) + shares[after] as f64 * weight;
        (section, (share * preference(intent, section) as f64).max(LEAST_SHARE))
    };
    SHARES.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests;
