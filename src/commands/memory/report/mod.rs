mod forms;
mod recall;

pub use recall::{MemoryComposeReport, MemoryHitLine, MemoryLearnReport, MemorySearchReport};

use crate::engine::diff::{LineFate, Shown, changes, shown};
use crate::engine::memory::markdown::origin;
use crate::engine::memory::words::first_line;
use crate::engine::memory::{Change, ChangeKind};
use crate::memory::{changes_of, undone_by};
use crate::model::{
    As, BlockNumber, FileChange, JsonOf, Memory, MemoryActor, MemoryKind, MemoryOperation, MemoryScope, MemoryState, Time,
    json_forms,
};
use crate::output::{Form, Paint, Report, Style, age, clip, line, padded, percent, plural, printable, time, wrap};
use forms::{MemoryChange, MemoryCount, MemoryFileChange, MemoryLine};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// A memory file and the number of its entries.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryFileCounts {
    /// Path in the tree.
    pub path: String,
    /// Number of active entries.
    pub active: usize,
    /// Number of pending entries.
    pub pending: usize,
    /// Number of superseded and archived entries.
    pub retired: usize,
    /// Number of entries that a person wrote without metadata.
    pub by_hand: usize,
}

/// A problem of a memory file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryProblem {
    /// File.
    pub path: String,
    /// Reason.
    pub reason: String,
}

/// A memory tree.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryTree {
    /// Owner.
    pub scope: MemoryScope,
    /// Directory.
    pub directory: String,
    /// True if it is in the project.
    pub in_project: bool,
    /// Files.
    pub files: Vec<MemoryFileCounts>,
    /// Files that are not read or not written.
    pub problems: Vec<MemoryProblem>,
}

/// The memory trees of a project and of the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryTreesReport {
    /// Trees.
    pub trees: Vec<MemoryTree>,
    /// Directory that the project probably had before, and the command that takes over its entries.
    pub moved: Option<String>,
    /// Number of entries of sessions that were not learned yet, which a new session receives too.
    pub unlearned: usize,
    /// The option that names the project, in commands.
    #[serde(skip)]
    pub option: String,
}

/// Adds the line about entries that no tree has yet.
fn unlearned(text: &mut String, count: usize, option: &str) {
    if count > 0 {
        line(text, &format!("{} can be learned: aperture memory{option} learn", plural(count, "more entry")));
    }
}

impl Report for MemoryTreesReport {
    const SCHEMA: &str = "aperture.memory-trees/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for tree in &self.trees {
            let owner = if tree.scope == MemoryScope::User { "user" } else { "project" };
            let heading = format!("{owner}  {}", tree.directory);
            line(&mut text, &style.paint(Paint::Heading, &printable(&heading)));
            let widest = tree.files.iter().map(|file| file.path.width()).max().unwrap_or_default();
            for file in &tree.files {
                let parts =
                    [(file.active, "active"), (file.pending, "pending"), (file.by_hand, "by hand"), (file.retired, "retired")];
                let parts: Vec<String> =
                    parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
                let counts = if parts.is_empty() { "empty".to_owned() } else { parts.join(", ") };
                line(&mut text, &format!("  {}  {counts}", style.paint(Paint::Name, &padded(&printable(&file.path), widest))));
            }
            if tree.files.is_empty() {
                line(&mut text, "  no memories yet");
            }
            problems(&mut text, style, &tree.problems);
        }
        unlearned(&mut text, self.unlearned, &self.option);
        self.moved.iter().for_each(|offer| line(&mut text, &printable(offer)));
        text
    }
}

fn problems(text: &mut String, style: &Style, problems: &[MemoryProblem]) {
    for problem in problems {
        let what = format!("{}: {}", problem.path, problem.reason);
        line(text, &style.paint(Paint::Warning, &printable(&what)));
    }
}

/// A list of memories.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryListReport {
    /// Words that were searched for.
    pub query: Option<String>,
    /// Entries.
    #[serde(with = "As::<Vec<MemoryLine>>")]
    pub memories: Vec<Memory>,
    /// Files that are not read or not written.
    pub problems: Vec<MemoryProblem>,
    /// Number of entries of sessions that were not learned yet; 0 for a part of a list.
    pub unlearned: usize,
    /// The option that names the project, in commands.
    #[serde(skip)]
    pub option: String,
    /// True if whole texts and metadata are written.
    #[serde(skip)]
    pub is_full: bool,
    /// True if each entry is one line of JSON.
    #[serde(skip)]
    pub is_lines: bool,
}

/// Adds entries, each as one line of JSON.
pub fn memory_lines(text: &mut String, memories: &[Memory]) {
    for memory in memories {
        let row = MemoryLine::json_of(memory);
        line(text, &serde_json::to_string(&row).unwrap_or_default());
    }
}

impl Report for MemoryListReport {
    const SCHEMA: &str = "aperture.memories/1";

    fn form(&self) -> Form {
        if self.is_lines { Form::Json } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if self.is_lines {
            memory_lines(&mut text, &self.memories);
            return text;
        }
        if self.memories.is_empty() {
            match &self.query {
                Some(query) => line(&mut text, &format!("no memory contains '{}'", printable(query))),
                None => line(&mut text, "no memories"),
            }
        }
        let widest = self.memories.iter().map(|memory| memory.name().width()).max().unwrap_or_default();
        let mut file = None;
        for memory in &self.memories {
            let path = (memory.scope, memory.file.path());
            if file.as_ref() != Some(&path) {
                if !text.is_empty() && self.is_full {
                    text.push('\n');
                }
                let owner = if memory.scope == MemoryScope::User { "user " } else { "" };
                line(&mut text, &style.paint(Paint::Heading, &format!("{owner}{}", path.1)));
                file = Some(path);
            }
            memory_entry(&mut text, style, memory, widest, self.is_full);
        }
        unlearned(&mut text, self.unlearned, &self.option);
        problems(&mut text, style, &self.problems);
        text
    }
}

/// Writes an entry: one line, or the whole text with its metadata.
pub fn memory_entry(text: &mut String, style: &Style, memory: &Memory, widest: usize, is_full: bool) {
    let name = style.paint(Paint::Name, &padded(&memory.name(), widest));
    let state = if memory.state == MemoryState::Active { String::new() } else { format!("{}: ", memory.state.name()) };
    if !is_full {
        let room = style.width.saturating_sub(widest + 4);
        line(text, &format!("  {name}  {}", clip(&format!("{state}{}", first_line(&memory.text)), room)));
        return;
    }
    let (indent, room) = (" ".repeat(widest + 4), style.width.saturating_sub(widest + 4));
    let mut lead = format!("  {name}  ");
    for row in format!("{state}{}", memory.text).lines().flat_map(|row| wrapped(row, room)) {
        line(text, format!("{lead}{row}").trim_end());
        lead.clone_from(&indent);
    }
    for facts in wrap(&facts(memory), 0, room) {
        line(text, &format!("{indent}{}", style.paint(Paint::Dim, &facts)));
    }
}

/// Returns a line of a text as lines of at most `width` columns; one that has room keeps its indentation.
fn wrapped(row: &str, width: usize) -> Vec<String> {
    if row.width() <= width { vec![printable(row).into_owned()] } else { wrap(row, 0, width) }
}

fn facts(memory: &Memory) -> String {
    if memory.is_by_hand() {
        return "written by hand, without metadata".to_owned();
    }
    let mut parts = origin(memory);
    if memory.helpful > 0 || memory.harmful > 0 {
        parts.push(format!("helpful {}, harmful {}", memory.helpful, memory.harmful));
    }
    let other = |id: Option<u32>, what: &str| id.map(|id| format!("{what} {}", memory.scope.name_of(id)));
    parts.extend(other(memory.superseded_by, "replaced by"));
    parts.extend(other(memory.contradicts, "contradicts"));
    let marks =
        [(memory.is_edited, "text of a person"), (memory.is_pinned, "pinned"), (memory.is_by_model, "proposed by the model")];
    parts.extend(marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| (*mark).to_owned()));
    parts.join(", ")
}

/// A quote of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryQuote {
    /// Session id; a prefix of it if the session was not found.
    pub session: String,
    /// Block number.
    pub block: BlockNumber,
    /// Time of the block.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    /// Short description of the block.
    pub label: Option<String>,
    /// The words from which the entry was learned, without credentials.
    pub quote: Option<String>,
    /// Reason why there is no quote.
    pub missing: Option<String>,
}

/// The evidence of a memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryWhyReport {
    /// Memory.
    #[serde(with = "As::<MemoryLine>")]
    pub memory: Memory,
    /// Evidence, oldest first.
    pub evidence: Vec<MemoryQuote>,
}

impl Report for MemoryWhyReport {
    const SCHEMA: &str = "aperture.memory-why/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        memory_entry(&mut text, style, &self.memory, self.memory.name().width(), true);
        for evidence in &self.evidence {
            let place = format!("{}#{}", printable(&evidence.session), evidence.block);
            let mut facts: Vec<String> = evidence.time.map(|moment| time(style, moment)).into_iter().collect();
            facts.extend(evidence.label.clone());
            let facts = clip(&facts.join("  "), style.width.saturating_sub(place.width() + 2));
            line(&mut text, format!("\n{}  {facts}", style.paint(Paint::Name, &place)).trim_end());
            match (&evidence.quote, &evidence.missing) {
                (Some(quote), _) => {
                    for more in wrap(quote, 0, style.width.saturating_sub(2)) {
                        line(&mut text, &format!("  {more}"));
                    }
                }
                (None, missing) => {
                    let missing = missing.as_deref().unwrap_or("not found");
                    line(&mut text, &style.paint(Paint::Warning, &clip(&format!("  {missing}"), style.width)));
                }
            }
        }
        if self.evidence.is_empty() {
            line(
                &mut text,
                match self.memory.sightings {
                    0 => "\nno evidence: it was added by a person or the model, not learned from a session",
                    _ => "\nthe places of its sightings are not recorded",
                },
            );
        }
        text
    }
}

/// A change of a memory tree.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryChangeReport {
    /// Description of the action.
    pub done: String,
    /// Operation; null if nothing was written.
    pub operation: Option<u32>,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Changes of entries.
    #[serde(with = "As::<Vec<MemoryChange>>")]
    pub changes: Vec<Change>,
    /// Next steps of the user.
    pub hints: Vec<String>,
    /// Files that are not read or not written.
    pub problems: Vec<MemoryProblem>,
}

/// Describes changes: `2 added, 1 superseded`.
pub fn memory_changes_in_words(changes: &[Change]) -> String {
    let mut counts: BTreeMap<ChangeKind, usize> = BTreeMap::new();
    for change in changes {
        *counts.entry(change.kind).or_default() += 1;
    }
    let parts: Vec<String> = counts.into_iter().map(|(kind, count)| format!("{count} {}", kind.word())).collect();
    if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") }
}

impl Report for MemoryChangeReport {
    const SCHEMA: &str = "aperture.memory-change/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        let (dry, operation) = (if self.dry_run { "dry run: " } else { "" }, self.operation);
        let number = operation.map(|number| format!("; operation {number}")).unwrap_or_default();
        line(&mut text, &style.paint(Paint::Heading, &printable(&format!("{dry}{}{number}", self.done))));
        let words: Vec<&str> = self.changes.iter().map(|change| change.kind.word()).collect();
        let widest = words.iter().map(|word| word.width()).max().unwrap_or_default();
        let names = self.changes.iter().map(|change| change.memory.name().width()).max().unwrap_or_default();
        for (change, word) in self.changes.iter().zip(words) {
            let name = style.paint(Paint::Name, &padded(&change.memory.name(), names));
            let room = style.width.saturating_sub(widest + names + 6);
            line(&mut text, &format!("  {}  {name}  {}", padded(word, widest), clip(first_line(&change.memory.text), room)));
        }
        for hint in &self.hints {
            line(&mut text, &printable(hint));
        }
        problems(&mut text, style, &self.problems);
        text
    }
}

/// Two memories that state the opposite.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryContradiction {
    /// Newer memory.
    #[serde(with = "As::<MemoryLine>")]
    pub newer: Memory,
    /// Older memory.
    #[serde(with = "As::<MemoryLine>")]
    pub older: Memory,
}

/// Memories that wait for a decision.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryReviewReport {
    /// Pending memories.
    #[serde(with = "As::<Vec<MemoryLine>>")]
    pub pending: Vec<Memory>,
    /// Number of further pending entries, which are asked when these are decided.
    pub later: usize,
    /// Memories that did not help, as the user reported.
    #[serde(with = "As::<Vec<MemoryLine>>")]
    pub refuted: Vec<Memory>,
    /// Contradictions.
    pub contradictions: Vec<MemoryContradiction>,
    /// Questions of a local model about memories that newer ones replaced.
    pub losses: Vec<MemoryLoss>,
    /// Pairs of which a local model says that one has all that the other says.
    pub duplicates: Vec<MemoryDuplicate>,
    /// The option that names the project, in commands.
    #[serde(skip)]
    pub option: String,
}

/// A question of a local model: a memory that says nothing that another one does not say.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryDuplicate {
    /// Memory that has all.
    #[serde(with = "As::<MemoryLine>")]
    pub kept: Memory,
    /// Memory without a fact of its own.
    #[serde(with = "As::<MemoryLine>")]
    pub other: Memory,
    /// Local model that compared them.
    pub written_by: String,
}

/// A question of a local model: a fact of a replaced memory that its successor does not have.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryLoss {
    /// Newer memory.
    #[serde(with = "As::<MemoryLine>")]
    pub newer: Memory,
    /// Memory that it replaced.
    #[serde(with = "As::<MemoryLine>")]
    pub older: Memory,
    /// Fact that only the older one has.
    pub lost: String,
    /// Local model that wrote it.
    pub written_by: String,
}

impl MemoryReviewReport {
    pub fn has_questions(&self) -> bool {
        let entries = self.pending.len() + self.refuted.len();
        entries + self.contradictions.len() + self.losses.len() + self.duplicates.len() > 0
    }
}

impl Report for MemoryReviewReport {
    const SCHEMA: &str = "aperture.memory-review/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        for MemoryLoss { newer, older, lost, written_by } in &self.losses {
            let question = format!("{} replaced {}, which also said: {lost}", newer.name(), older.name());
            line(&mut text, &format!("{question} ({})", crate::engine::sidecar::written_by(written_by)));
            line(&mut text, &format!("  to add it: aperture memory{} edit {}", self.option, newer.name()));
        }
        for MemoryDuplicate { kept, other, written_by } in &self.duplicates {
            let question = format!("{} says all that {} says: {}", kept.name(), other.name(), first_line(&other.text));
            line(&mut text, &format!("{question} ({})", crate::engine::sidecar::written_by(written_by)));
            let merge = format!("aperture memory{} review --merge {} {}", self.option, kept.name(), other.name());
            line(&mut text, &format!("  to merge them: {merge}"));
        }
        if !self.has_questions() {
            return "nothing to review\n".to_owned();
        }
        let all = self
            .pending
            .iter()
            .chain(&self.refuted)
            .chain(self.contradictions.iter().flat_map(|pair| [&pair.newer, &pair.older]));
        let widest = all.map(|memory| memory.name().width()).max().unwrap_or_default();
        if !self.contradictions.is_empty() {
            line(&mut text, &style.paint(Paint::Heading, &plural(self.contradictions.len(), "contradiction")));
        }
        for pair in &self.contradictions {
            memory_entry(&mut text, style, &pair.newer, widest, true);
            line(&mut text, &format!("  {}", style.paint(Paint::Dim, "against")));
            memory_entry(&mut text, style, &pair.older, widest, true);
        }
        let refuted = format!("{} did not help, as you reported", self.refuted.len());
        let pending = match self.later {
            0 => format!("{} pending", self.pending.len()),
            later => format!("{} of {} pending", self.pending.len(), self.pending.len() + later),
        };
        for (entries, heading) in [(&self.refuted, refuted), (&self.pending, pending)] {
            if !entries.is_empty() {
                line(&mut text, &style.paint(Paint::Heading, &heading));
            }
            entries.iter().for_each(|memory| memory_entry(&mut text, style, memory, widest, true));
        }
        let entries = || self.contradictions.iter().map(|pair| &pair.newer).chain(&self.refuted).chain(&self.pending);
        if let Some(first) = entries().next().map(|memory| memory.name()) {
            let review = format!("aperture memory{} review", self.option);
            line(&mut text, &format!("to keep one: {review} --accept {first}; to drop it: {review} --reject {first}"));
        }
        text
    }
}

/// Figures of the memory trees.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryStatsReport {
    /// Number of entries by state.
    #[serde(with = "As::<Vec<MemoryCount>>")]
    pub states: Vec<(MemoryState, usize)>,
    /// Number of active and pending entries by kind.
    #[serde(with = "As::<Vec<MemoryCount>>")]
    pub kinds: Vec<(MemoryKind, usize)>,
    /// Number of entries without metadata.
    pub by_hand: usize,
    /// Number of entries in use whose text a person wrote or accepted.
    pub edited: usize,
    /// Number of sightings of active entries.
    pub sightings: u64,
    /// Number of active entries with sightings in two or more sessions.
    pub repeated: usize,
    /// Number of active entries with evidence.
    pub with_evidence: usize,
    /// Number of times that entries were of use.
    pub helpful: u64,
    /// Number of times that entries were contradicted after they were read, or did not help.
    pub harmful: u64,
    /// Tokens of active entries, an estimate.
    pub tokens: u64,
    /// Number of deleted entries that are not learned again.
    pub forgotten: usize,
    /// Number of operations.
    pub operations: u64,
}

impl Report for MemoryStatsReport {
    const SCHEMA: &str = "aperture.memory-stats/1";

    fn text(&self, style: &Style) -> String {
        /// Columns of the names of the rows.
        const NAMES: usize = 10;
        let mut text = String::new();
        let active = self.states.iter().find(|(state, _)| *state == MemoryState::Active).map_or(0, |(_, count)| *count);
        let states: Vec<String> = self.states.iter().map(|(state, count)| format!("{count} {}", state.name())).collect();
        let mut row = |name: &str, value: String| {
            let mut lead = style.paint(Paint::Name, &padded(name, NAMES));
            for value in wrap(&value, 0, style.width.saturating_sub(NAMES + 2)) {
                line(&mut text, &format!("{lead}  {value}"));
                lead = " ".repeat(NAMES);
            }
        };
        row("entries", format!("{}; {} by hand, {} accepted", states.join(", "), self.by_hand, self.edited));
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
        row("kinds", if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") });
        let share = |count: usize| if active == 0 { "0 %".to_owned() } else { percent(count as f64 / active as f64) };
        row(
            "evidence",
            format!(
                "{} of the active entries; {} sightings; {} in two or more sessions",
                share(self.with_evidence),
                self.sightings,
                share(self.repeated)
            ),
        );
        row("use", format!("helpful {}, harmful {}", self.helpful, self.harmful));
        row("size", format!("~{} tokens of active entries", self.tokens));
        row("log", format!("{}; {} deleted for good", plural(self.operations, "operation"), self.forgotten));
        text
    }
}

/// The section of an instruction file with the memories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryExportReport {
    /// File; null if the section was only printed.
    pub file: Option<String>,
    /// Number of memories.
    pub memories: usize,
    /// True if the file changed or, in a dry run, would.
    pub changed: bool,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Text of the section, with its first and last line.
    pub section: String,
}

impl Report for MemoryExportReport {
    const SCHEMA: &str = "aperture.memory-export/1";

    fn text(&self, _: &Style) -> String {
        match &self.file {
            Some(file) if !self.dry_run => {
                let what = if self.changed { "written" } else { "already there" };
                format!("{} {what}: {}\n", plural(self.memories, "memory"), printable(file))
            }
            _ => printable(&self.section).into_owned(),
        }
    }
}

json_forms! {
    /// An operation on a memory tree.
    #[schemars(rename = "MemoryOperation")]
    MemoryLogRow of (operation, operations, scope): (&MemoryOperation, &[MemoryOperation], MemoryScope) {
        /// Number, in one sequence for all trees.
        id: u32 = operation.id,
        /// Time of the operation.
        #[serde(with = "As::<Time>")]
        time: i64 = operation.time,
        /// Command.
        command: String = operation.command.clone(),
        /// Origin of the command.
        actor: MemoryActor = operation.actor,
        /// Owner of the tree.
        scope: MemoryScope = *scope,
        /// Changes of entries.
        #[serde(with = "As::<Vec<MemoryChange>>")]
        changes: Vec<Change> = changes_of(operation, *scope),
        /// Changed files.
        files: Vec<String> = operation.changes.iter().filter(|file| file.before != file.after).map(|file| file.path.clone()).collect(),
        /// Operation that this one undid.
        inverts: Option<u32> = operation.inverts,
        /// Operation that undid this one.
        undone_by: Option<u32> = undone_by(operations, operation.id),
    }
}

/// The operations on memory trees.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryLogReport {
    /// Operations, newest first.
    pub operations: Vec<MemoryLogRow>,
}

impl Report for MemoryLogReport {
    const SCHEMA: &str = "aperture.memory-log/1";

    fn text(&self, style: &Style) -> String {
        if self.operations.is_empty() {
            return "no operations\n".to_owned();
        }
        let widest = self.operations.iter().map(|row| row.id.to_string().len()).max().unwrap_or_default();
        let ages: Vec<String> = self.operations.iter().map(|row| age(style.now, row.time)).collect();
        let oldest = ages.iter().map(|age| age.width()).max().unwrap_or_default();
        let mut text = String::new();
        for (row, age) in self.operations.iter().zip(&ages) {
            let number = style.paint(Paint::Name, &format!("{:>widest$}", row.id));
            let mut what = memory_changes_in_words(&row.changes);
            if row.scope == MemoryScope::User {
                what.push_str(", tree of the user");
            }
            if let Some(by) = row.undone_by {
                write!(what, ", undone by {by}").unwrap_or_default();
            }
            // The command is last, because it can be long.
            write!(what, "  ({}: {})", row.actor.name(), row.command).unwrap_or_default();
            let room = style.width.saturating_sub(widest + oldest + 4);
            line(&mut text, &format!("{number}  {}  {}", padded(age, oldest), clip(&what, room)));
        }
        text
    }
}

/// The changes of files by an operation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryDiffReport {
    /// Operation.
    pub operation: u32,
    /// Command.
    pub command: String,
    /// Files.
    #[serde(with = "As::<Vec<MemoryFileChange>>")]
    pub files: Vec<FileChange>,
}

impl MemoryDiffReport {
    pub fn text_of(bytes: &Option<Vec<u8>>) -> String {
        String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
    }
}

impl Report for MemoryDiffReport {
    const SCHEMA: &str = "aperture.memory-diff/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        line(
            &mut text,
            &style.paint(Paint::Heading, &clip(&format!("operation {}: {}", self.operation, self.command), style.width)),
        );
        for file in &self.files {
            for (paint, sign, exists) in
                [(Paint::Removed, "---", file.before.is_some()), (Paint::Added, "+++", file.after.is_some())]
            {
                let name = if exists { &*file.path } else { "(no file)" };
                line(&mut text, &style.paint(paint, &clip(&format!("{sign} {name}"), style.width)));
            }
            let (before, after) = (MemoryDiffReport::text_of(&file.before), MemoryDiffReport::text_of(&file.after));
            for row in shown(&changes(&before, &after), true) {
                let (fate, content) = match &row {
                    Shown::Line { fate, pieces } => (*fate, pieces.iter().map(|piece| piece.text).collect::<String>()),
                    Shown::Folded { fate, lines, .. } => (*fate, format!("… {}", plural(*lines, "line"))),
                    Shown::Rest { removed, added } => (LineFate::Kept, format!("… {removed} removed, {added} added")),
                };
                let (sign, paint) = match fate {
                    LineFate::Kept => (' ', Paint::Dim),
                    LineFate::Removed => ('-', Paint::Removed),
                    LineFate::Added => ('+', Paint::Added),
                };
                line(&mut text, &style.paint(paint, &format!("{sign} {}", printable(content.trim_end_matches(['\n', '\r'])))));
            }
        }
        text
    }
}
