//! Reports about memories that sessions give and get: lessons of sessions, texts for sessions, results of searches.

use super::forms::MemoryLine;
use super::{memory_changes_in_words, memory_entry, memory_lines};
use crate::engine::memory::{Change, Intent};
use crate::model::{As, Memory, Time};
use crate::output::{Form, Paint, Report, Style, clip, line, padded, plural, printable};
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Lessons of the sessions of several projects.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemoryLearnReport {
    /// True for a dry run.
    pub dry_run: bool,
    /// Projects.
    pub projects: Vec<MemoryLearnedProject>,
}

/// Lessons of the sessions of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryLearnedProject {
    /// Root directory.
    pub project: String,
    /// Number of sessions.
    pub sessions: usize,
    /// Description of the changes.
    pub changes: String,
    /// Operation; null if nothing was written.
    pub operation: Option<u32>,
    /// True if these are the memories of the user, not of a project.
    #[serde(skip)]
    pub is_user: bool,
}

impl MemoryLearnReport {
    /// Adds the lessons of the sessions of a project; without one, those of the user.
    pub fn add(&mut self, project: Option<String>, sessions: usize, changes: &[Change], operation: Option<u32>) {
        let (changes, is_user) = (memory_changes_in_words(changes), project.is_none());
        let project = project.unwrap_or_else(|| "all projects (user)".to_owned());
        self.projects.push(MemoryLearnedProject { project, sessions, changes, operation, is_user });
    }
}

impl Report for MemoryLearnReport {
    const SCHEMA: &str = "aperture.memory-learn/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if self.projects.is_empty() {
            line(&mut text, "no sessions: nothing to learn from");
        }
        if self.dry_run {
            line(&mut text, &style.paint(Paint::Heading, "dry run: nothing was written"));
        }
        let widest = self.projects.iter().map(|project| project.project.width()).max().unwrap_or_default();
        for project in &self.projects {
            let name = style.paint(Paint::Name, &padded(&printable(&project.project), widest));
            let sessions = match project.sessions {
                0 => String::new(),
                count => format!("{}: ", plural(count as u64, "session")),
            };
            let of_project =
                if project.is_user { String::new() } else { format!(" --project {}", quoted_word(&project.project)) };
            let undo = project.operation.map(|number| format!("; undo: aperture memory undo {number}{of_project}"));
            let undo = undo.unwrap_or_default();
            line(&mut text, &format!("{name}  {sessions}{}{undo}", project.changes));
        }
        text
    }
}

/// The text for a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryComposeReport {
    /// Text; empty if no memory applies.
    pub text: String,
    /// Intent of the prompt: `operational`, `factual`, `procedural`, `introspective` or `general`.
    #[serde(with = "As::<String>")]
    pub intent: Intent,
    /// Names of the memories in it.
    pub memories: Vec<String>,
    /// Maximum size, in o200k tokens.
    pub budget_tokens: usize,
}

impl Report for MemoryComposeReport {
    const SCHEMA: &str = "aperture.memory-compose/1";

    fn text(&self, _style: &Style) -> String {
        // A model reads it: no colours, no line breaks of a terminal.
        self.text.lines().map(|line| printable(line).into_owned() + "\n").collect()
    }
}

/// Results of a search in memories and sessions.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MemorySearchReport {
    /// Words that were searched for.
    pub query: String,
    /// Memories, best first.
    #[serde(with = "As::<Vec<MemoryLine>>")]
    pub memories: Vec<Memory>,
    /// Places in sessions, best first.
    pub hits: Vec<MemoryHitLine>,
    /// True if each result is one line of JSON.
    #[serde(skip)]
    pub is_lines: bool,
}

/// A place in a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryHitLine {
    /// Name of the file of the session, without its ending.
    pub session: String,
    /// Id of the session.
    pub session_id: String,
    /// Block number.
    pub block: u32,
    /// Identity of the row; `L` and the number of the line if rows have none.
    pub row: String,
    /// Time; null if it is not known.
    #[serde(with = "As::<Option<Time>>")]
    pub time: Option<i64>,
    /// Title: the tool and its target, or the first words.
    pub title: String,
}

impl Report for MemorySearchReport {
    const SCHEMA: &str = "aperture.memory-search/1";

    fn form(&self) -> Form {
        if self.is_lines { Form::Json } else { Form::Text }
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if self.is_lines {
            memory_lines(&mut text, &self.memories);
            for hit in &self.hits {
                line(&mut text, &serde_json::to_string(hit).unwrap_or_default());
            }
            return text;
        }
        if self.memories.is_empty() && self.hits.is_empty() {
            line(&mut text, &format!("nothing found for '{}'", printable(&self.query)));
        }
        let widest = self.memories.iter().map(|memory| memory.name().width()).max().unwrap_or_default();
        if !self.memories.is_empty() {
            line(&mut text, &style.paint(Paint::Heading, "Memories"));
        }
        for memory in &self.memories {
            memory_entry(&mut text, style, memory, widest, false);
        }
        if !self.hits.is_empty() {
            line(&mut text, &style.paint(Paint::Heading, "Sessions"));
        }
        for hit in &self.hits {
            let place = format!("{}#{}", hit.session_id.chars().take(8).collect::<String>(), hit.block);
            let (place, date) =
                (style.paint(Paint::Name, &padded(&place, 14)), crate::engine::memory::words::date(hit.time.unwrap_or_default()));
            let room = style.width.saturating_sub(30);
            line(&mut text, &format!("  {place}  {date}  {}", clip(&hit.title, room)));
        }
        text
    }
}
