//! References: the parts of a text that can be looked up again, and the search for them in another text.

use super::events::{Event, Kind};
use fancy_regex::Regex;
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// Endings of names that are files without a directory before them.
const ENDINGS: &str = "go|rs|ts|tsx|js|jsx|py|md|toml|yaml|yml|json|sh|sql|lock|txt|mod|java|kt|c|h|cpp|rb|php|css|html";
/// Minimum length of a line of an edit that identifies its position, in characters.
const ANCHOR_CHARACTERS: usize = 16;

static PATH: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"(?<![\w/.@-])(?:~|\.{{1,2}})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w|\b[\w-]+\.(?:{ENDINGS})\b")));
static FILE_LINE: LazyLock<Regex> = LazyLock::new(|| regex(r"[\w./@-]+\.\w{1,5}:\d+"));
static NAME: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_][A-Za-z0-9_]{5,}"));
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:E\d{4}|TS\d{4,5}|SA\d{4}|ERR_[A-Z_]+|E[A-Z]{5,}|[A-Z][A-Za-z]+(?:Error|Exception)|SIG[A-Z]{3,})\b")
});
static HASH: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"));
static QUOTE: LazyLock<Regex> = LazyLock::new(|| regex(r#""([^"\n\\]{8,80})"|`([^`\n]{8,80})`"#));
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[\w@+.-]+"));
static THREE_LETTERS: LazyLock<Regex> = LazyLock::new(|| regex("[A-Za-z]{3}"));
static CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"[^_]_+[^_]|[a-z0-9][A-Z]|[A-Za-z]\d"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// All matches of a pattern, one after the other.
fn all<'t>(pattern: &Regex, text: &'t str) -> Vec<&'t str> {
    pattern.find_iter(text).map(|found| found.unwrap().as_str()).collect()
}

/// A reference by the agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// A path: its last part where that has an ending, else all of it.
    Path(String),
    /// A place: `file:line`.
    Place(String),
    /// An identifier that occurs only in code: with `_`, a digit after a letter, or a capital inside.
    Name(String),
    /// A code of an error.
    Error(String),
    /// A hash.
    Hash(String),
    /// A quoted string.
    Quote(String),
    /// A line that an edit expects in the file.
    Anchor(String),
}

/// Returns the references of an event of the agent; empty for any other event.
pub fn references(event: &Event) -> BTreeSet<Reference> {
    use Reference::{Anchor, Error, Hash, Name, Path, Place, Quote};
    let mut found = BTreeSet::new();
    let Some(text) = said(event) else { return found };
    for path in all(&PATH, &text).into_iter().map(|path| path.trim_matches(['.', '/'])) {
        if path.chars().count() > 4 && !path.starts_with("http") {
            let last = last_part(path);
            found.insert(Path(if last.contains('.') { last } else { path }.to_owned()));
        }
    }
    let names = all(&NAME, &text).into_iter().filter(|name| CODE.is_match(name).unwrap());
    found.extend(names.map(|name| Name(name.to_owned())));
    found.extend(all(&FILE_LINE, &text).into_iter().map(|place| Place(last_part(place).to_owned())));
    found.extend(all(&ERROR, &text).into_iter().map(|error| Error(error.to_owned())));
    found.extend(all(&HASH, &text).into_iter().map(|hash| Hash(hash.to_owned())));
    if event.kind == Kind::Text {
        let quotes = QUOTE.captures_iter(&text).map(|quote| quote.unwrap());
        let inner = quotes.filter_map(|quote| quote.get(1).or(quote.get(2)).map(|inner| inner.as_str().trim().to_owned()));
        found.extend(inner.map(Quote));
    }
    let lines = expected(event).into_iter().map(|line| line.trim().to_owned());
    found.extend(
        lines.filter(|line| line.chars().count() >= ANCHOR_CHARACTERS && THREE_LETTERS.is_match(line).unwrap()).map(Anchor),
    );
    found
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn text_of<'e>(event: &'e Event, member: &str) -> &'e str {
    event.input.get(member).and_then(serde_json::Value::as_str).unwrap_or_default()
}

fn is_patch(event: &Event) -> bool {
    text_of(event, "input").contains("*** Begin Patch")
}

/// Returns the text that an event of the agent required: for an edit only the existing side.
fn said(event: &Event) -> Option<String> {
    match (event.kind, &*event.tool) {
        (Kind::Text, _) => Some(event.text.clone()),
        (Kind::Call, "Edit" | "MultiEdit" | "Write" | "NotebookEdit") => {
            Some(["file_path", "notebook_path", "old_string"].map(|member| text_of(event, member)).join(" "))
        }
        (Kind::Call, tool) if tool == "apply_patch" || is_patch(event) => {
            let patch = Some(text_of(event, "input")).filter(|patch| !patch.is_empty()).unwrap_or(&event.text);
            Some(patch.split('\n').filter(|line| !line.starts_with('+')).collect::<Vec<_>>().join("\n"))
        }
        (Kind::Call, _) => {
            let scalar = |value: &serde_json::Value| match value {
                serde_json::Value::Number(number) => Some(number.to_string()),
                value => value.as_str().map(str::to_owned),
            };
            Some(event.input.values().filter_map(scalar).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// The lines that an edit or a patch expects in the file.
fn expected(event: &Event) -> Vec<&str> {
    let mut lines: Vec<&str> = text_of(event, "old_string").split('\n').collect();
    if is_patch(event) {
        let kept = text_of(event, "input").split('\n').filter(|line| line.starts_with(['-', ' ']) && !line.starts_with("---"));
        lines.extend(kept.map(|line| &line[1..]));
    }
    lines
}

/// A text in which references are searched.
#[derive(Default)]
pub struct Visible {
    text: String,
    names: HashSet<String>,
    words: HashSet<String>,
}

impl Visible {
    /// The texts of events.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Visible {
        let mut visible = Visible::default();
        events.into_iter().for_each(|event| visible.add(&event.text));
        visible
    }

    /// Adds a text.
    pub fn add(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(text);
        self.names.extend(all(&NAME, text).into_iter().map(str::to_owned));
        self.words.extend(all(&WORD, text).into_iter().map(|word| word.trim_matches('.').to_owned()));
    }

    /// Returns true if a reference occurs in it verbatim: names and files as whole words, all others as substrings.
    pub fn has(&self, reference: &Reference) -> bool {
        match reference {
            Reference::Name(name) => self.names.contains(name),
            Reference::Path(word) | Reference::Hash(word) | Reference::Error(word) if !word.contains('/') => {
                self.words.contains(word)
            }
            Reference::Path(text) | Reference::Hash(text) | Reference::Error(text) => self.text.contains(text),
            Reference::Place(text) | Reference::Quote(text) | Reference::Anchor(text) => self.text.contains(text),
        }
    }
}
