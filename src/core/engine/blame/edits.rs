//! The edits of one file, from the events of a session.

use crate::engine::chosen_options;
use crate::engine::reduce::numbered;
use crate::model::paths::{is_absolute, relative, slashed};
use crate::model::{
    BlockNumber, Conventions, InputNames, Key, PromptSource, ToolVerb, TraceCall, TraceContent, TraceEvent, TraceResult,
    starts_with_any,
};
use crate::text::shell::{Document, documents};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Lines from which on a client may have cut the file that a call read.
const CUT_LINES: usize = 2_000;

/// A file and the places in which sessions edited it.
#[derive(Clone, Debug, Default)]
pub struct BlamedFile {
    /// Its paths below a root, with slashes, each with the time until which it had it: its name, and those before it was renamed.
    pub names: Vec<(String, i64)>,
    /// The roots: of the repository, of its other working trees, and of the places from which it was moved.
    pub roots: Vec<String>,
}

impl BlamedFile {
    /// Returns the root below which a path names the file at a time; `directory` is that of a relative path.
    fn root(&self, path: &str, directory: &str, time: i64) -> Option<usize> {
        let path = if is_absolute(path) || directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") };
        let path = plain(&slashed(&path));
        let names = || self.names.iter().filter(|(_, until)| time <= *until);
        self.roots.iter().position(|root| names().any(|(name, _)| name == relative(&path, root)))
    }
}

/// Returns a path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The change of a file by a call, or the lines that it read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    Read(Listing),
    Written {
        text: String,
        /// True if the file did not exist.
        is_new: bool,
    },
    /// It replaced texts by others, in order.
    Replaced(Vec<(String, String)>),
    /// It replaced runs of lines by others, in order.
    Patched(Vec<Hunk>),
    Deleted,
}

impl FileChange {
    /// Returns the texts that the change put into the file.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            FileChange::Written { text, .. } => vec![text],
            FileChange::Replaced(pairs) => pairs.iter().map(|(_, after)| after.as_str()).collect(),
            FileChange::Patched(hunks) => hunks.iter().flat_map(|hunk| &hunk.after).map(String::as_str).collect(),
            FileChange::Read(_) | FileChange::Deleted => Vec::new(),
        }
    }
}

/// Consecutive lines of a file that a call read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub lines: Vec<String>,
    /// True if these are all lines of the file.
    pub is_whole: bool,
}

/// A run of lines and the lines that replace it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// A line above the run; empty if none is named.
    pub heading: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// An edit of the file, or a look at it, that succeeded.
#[derive(Clone, Debug)]
pub struct FileEdit {
    /// The id of the call, which copies of a session share.
    pub call: Key,
    /// The index of the root in [`BlamedFile::roots`].
    pub root: usize,
    /// The time of its result, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    pub block: BlockNumber,
    pub tool: String,
    pub said: Said,
    pub change: FileChange,
}

/// The texts before an edit; empty if there are none.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The last prompt.
    pub prompt: Arc<str>,
    /// The options of the agent that the prompt names by their numbers.
    pub chosen: Arc<str>,
    /// The last text of the agent between the prompt and the call.
    pub answer: Arc<str>,
}

/// Collects the edits of a file from the events of a session.
pub struct EditReader<'a> {
    file: &'a BlamedFile,
    conventions: &'a Conventions,
    said: Said,
    /// Calls without their results.
    open: FxHashMap<Key, Vec<FileEdit>>,
    /// True if a call so far named the file: the agent can know its lines.
    is_known: bool,
    /// The file after the last edit whose result shows it before.
    after: Option<String>,
    edits: Vec<FileEdit>,
}

impl<'a> EditReader<'a> {
    pub fn new(file: &'a BlamedFile, conventions: &'a Conventions) -> EditReader<'a> {
        let (said, open, edits) = (Said::default(), FxHashMap::default(), Vec::new());
        EditReader { file, conventions, said, open, is_known: false, after: None, edits }
    }

    /// Reads the next event; `directory` is the working directory of the session, and `before` returns the file before the edit whose
    /// result the event is, if its row records it.
    pub fn push(&mut self, event: TraceEvent, directory: &str, before: &dyn Fn() -> Option<String>) {
        match event.content {
            TraceContent::Prompt { text, source: PromptSource::Typed } => {
                let chosen = chosen_options(&self.said.answer, &text).join("\n").into();
                self.said = Said { prompt: text.into(), chosen, answer: "".into() };
            }
            TraceContent::Answer(text) if !text.trim().is_empty() => self.said.answer = text.into(),
            TraceContent::Call(call) => {
                let root = |path: &str| self.file.root(path, directory, event.time);
                let changes = self.changes(&call, &root);
                self.is_known |= call.files.iter().any(|file| root(file).is_some());
                let edit = |(root, change)| FileEdit {
                    call: call.id,
                    root,
                    time: event.time,
                    block: event.block,
                    tool: call.tool.clone(),
                    said: self.said.clone(),
                    change,
                };
                if !changes.is_empty() {
                    self.open.insert(call.id, changes.into_iter().map(edit).collect());
                }
            }
            TraceContent::Result(result) => {
                for mut edit in self.open.remove(&result.call).unwrap_or_default() {
                    edit.time = event.time;
                    let before = if result.error || matches!(edit.change, FileChange::Read(_)) { None } else { before() };
                    if let Some(text) = before {
                        self.show(&edit, &text.replace("\r\n", "\n"));
                    }
                    if !result.error && !result.declined && is_completed(&mut edit.change, &result, self.conventions) {
                        self.edits.push(edit);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds the file before an edit as a look at it, unless the last edit left it so.
    fn show(&mut self, edit: &FileEdit, text: &str) {
        if self.after.as_deref() != Some(text) {
            let lines = text.split('\n').map(str::to_owned).collect();
            let change = FileChange::Read(Listing { lines, is_whole: true });
            self.edits.push(FileEdit { change, ..edit.clone() });
        }
        self.after = match &edit.change {
            FileChange::Written { text, .. } => Some(text.replace("\r\n", "\n")),
            FileChange::Replaced(pairs) => {
                Some(pairs.iter().fold(text.to_owned(), |text, (before, after)| text.replace(before, after)))
            }
            _ => None,
        };
    }

    /// Returns the edits, in the order of their results.
    pub fn finish(self) -> Vec<FileEdit> {
        self.edits
    }

    /// Returns the changes by a call, and the root of each; `root` returns that of a path that names the file.
    fn changes(&self, call: &TraceCall, root: &dyn Fn(&str) -> Option<usize>) -> Vec<(usize, FileChange)> {
        let names = &self.conventions.inputs;
        if call.verb == ToolVerb::Edit
            && let Some(patch) = names.patch(&call.input)
        {
            // The files of a call are resolved by one directory, so that the shortest is the named one.
            let patched = |name: &str| call.files.iter().filter(|file| is_below(file, name)).min_by_key(|file| file.len());
            let root =
                |names: &[&str]| names.iter().rev().find_map(|name| root(patched(name).map_or(*name, |file| file.as_str())));
            return sections(&patch, names).into_iter().filter_map(|(names, change)| Some((root(&names)?, change))).collect();
        }
        if let Some(command) = &call.command {
            let change = |document: Document| {
                let resolved = written_file(&call.files, &document.target)?;
                let change = match document.is_appended {
                    true => FileChange::Replaced(vec![(String::new(), document.text)]),
                    false => FileChange::Written { text: document.text, is_new: !self.is_known },
                };
                Some((root(resolved)?, change))
            };
            return documents(command).into_iter().filter_map(change).collect();
        }
        let Some(root) = call.files.iter().find_map(|file| root(file)) else { return Vec::new() };
        let input: Map<String, Value> = serde_json::from_str(&call.input).unwrap_or_default();
        match call.verb {
            ToolVerb::Read => {
                let is_whole = input.len() == 1;
                vec![(root, FileChange::Read(Listing { lines: Vec::new(), is_whole }))]
            }
            ToolVerb::Edit => edit(&input, names).map(|change| (root, change)).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the file of a command that a part of it names: the same path, or else the only one that ends with it.
fn written_file<'c>(files: &'c [String], name: &str) -> Option<&'c str> {
    let mut below = files.iter().filter(|file| is_below(file, name));
    let first = below.next()?;
    let exact = files.iter().find(|file| *file == name.trim_start_matches("./"));
    exact.or_else(|| below.all(|file| file == first).then_some(first)).map(String::as_str)
}

fn is_below(path: &str, name: &str) -> bool {
    path.strip_suffix(name.trim_start_matches("./")).is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// Completes a change by the result of its call. Returns false if the result does not show the file.
fn is_completed(change: &mut FileChange, result: &TraceResult, conventions: &Conventions) -> bool {
    match change {
        FileChange::Read(listing) => {
            let mut lines = result.text.lines().map_while(numbered).peekable();
            let first = lines.peek().map_or(1, |(number, _)| *number);
            listing.is_whole &= first == 1;
            for (expected, (number, line)) in (first..).zip(lines) {
                if number != expected {
                    return false;
                }
                listing.lines.push(line.to_owned());
            }
            listing.is_whole &= listing.lines.len() < CUT_LINES;
            !listing.lines.is_empty()
        }
        FileChange::Written { is_new, .. } => {
            *is_new |= starts_with_any(&result.text, &conventions.created_files);
            true
        }
        _ => true,
    }
}

/// Returns the change by the input of a tool that edits one file; `None` if it names no text.
fn edit(input: &Map<String, Value>, names: &InputNames) -> Option<FileChange> {
    let list = names.edits.iter().find_map(|name| input.get(*name)?.as_array());
    if let Some(edits) = list {
        let pairs = edits.iter().map(|edit| replacement(edit.as_object()?, names));
        return Some(FileChange::Replaced(pairs.collect::<Option<Vec<_>>>()?));
    }
    match replacement(input, names) {
        // A replacement of nothing creates the file, and fails if it exists.
        Some((before, text)) if before.is_empty() => Some(FileChange::Written { text, is_new: true }),
        Some(pair) => Some(FileChange::Replaced(vec![pair])),
        None => {
            let text = names.written.iter().find_map(|name| input.get(*name)?.as_str())?;
            Some(FileChange::Written { text: text.to_owned(), is_new: false })
        }
    }
}

/// Returns the text before and the text after a replacement.
fn replacement(input: &Map<String, Value>, names: &InputNames) -> Option<(String, String)> {
    let text = |name: &str| Some(input.get(name)?.as_str()?.to_owned());
    names.replacements.iter().find_map(|(before, after)| Some((text(before)?, text(after)?)))
}

fn sections<'a>(patch: &'a str, names: &InputNames) -> Vec<(Vec<&'a str>, FileChange)> {
    let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in patch.lines().skip(1) {
        let named = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::trim);
        match (named(&names.patch_moves), named(&names.patch_files), found.last_mut()) {
            (Some(path), _, Some((paths, _))) => paths.push(path),
            (_, Some(path), _) => found.push((vec![path], Vec::new())),
            (_, _, Some((_, lines))) if !line.starts_with("***") => lines.push(line),
            _ => {}
        }
    }
    found.retain(|(paths, lines)| paths.len() == 1 || !lines.is_empty());
    found.into_iter().map(|(paths, lines)| (paths, section(&lines))).collect()
}

/// Returns the change of one file by its lines in a patch: only added lines create it, no lines delete it.
fn section(lines: &[&str]) -> FileChange {
    if lines.is_empty() {
        return FileChange::Deleted;
    }
    if lines.iter().all(|line| line.starts_with('+')) {
        let text: String = lines.iter().map(|line| format!("{}\n", &line[1..])).collect();
        return FileChange::Written { text, is_new: true };
    }
    let mut hunks = vec![Hunk::default()];
    for line in lines {
        let Some(hunk) = hunks.last_mut() else { break };
        let rest = line.get(1..).unwrap_or_default();
        match line.as_bytes().first() {
            Some(b'@') => {
                let heading = line.trim_start_matches('@').trim();
                hunks.push(Hunk { heading: heading.to_owned(), ..Hunk::default() });
            }
            Some(b'+') => hunk.after.push(rest.to_owned()),
            Some(b'-') => hunk.before.push(rest.to_owned()),
            _ => {
                hunk.before.push(rest.to_owned());
                hunk.after.push(rest.to_owned());
            }
        }
    }
    hunks.retain(|hunk| hunk.before != hunk.after);
    FileChange::Patched(hunks)
}
