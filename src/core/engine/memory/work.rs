//! The work of a session: the commands that it ran and the files that it named, in order.

use super::danger::is_dangerous;
use super::failures::error_lines::call_error;
use super::project::is_of_project;
use super::purpose::purpose;
use crate::engine::find_secrets;
use crate::model::paths::{is_absolute, relative};
use crate::model::{Conventions, Key, Sighting, ToolVerb, TraceCall, TraceContent, TraceEvent, TraceResult};
use crate::text::command_heads::{head, is_publishing, is_specific, purpose_of, without_wrappers};
use crate::text::shell::{Word, quoted_word, simple_commands};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a command in full, and bytes at the end of a result in which an error is searched.
const COMMAND_BYTES: usize = 100;
const RESULT_BYTES: usize = 400;
/// Maximum number of files of a session whose purpose is kept.
const PURPOSES: usize = 400;

/// Collects the work of a session from its events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// The names of commands and files, each once.
    names: Vec<Box<str>>,
    uses: Vec<Use<u32>>,
    /// The purposes of files and folders, by their paths.
    pub purposes: BTreeMap<Box<str>, Box<str>>,
    open: BTreeMap<Key, OpenCall>,
    #[serde(skip)]
    known: FxHashMap<Box<str>, u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenCall {
    block: u32,
    time: i64,
    /// Its commands of the project, in full.
    commands: Vec<String>,
    /// True if the exit code is that of the last of several commands.
    has_lost_code: bool,
    file: Option<Box<str>>,
}

/// The use of a command or a file by a call: its name is the command in full, or the path below the directory of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use<Name> {
    pub block: u32,
    /// The id of the call, shortened to 64 bits: forks and resumed copies of a session repeat it.
    pub call: u64,
    /// The time of the call, in milliseconds since 1970, UTC.
    pub time: i64,
    pub name: Name,
    pub kind: UseKind,
}

impl<Name> Use<Name> {
    /// Returns the use as a sighting in a session.
    pub fn sighting(&self, session: &str) -> Sighting {
        Sighting { session: session.to_owned(), block: self.block, row: String::new(), time: self.time }
    }
}

/// The kind of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UseKind {
    /// A command of the project that succeeded.
    Command,
    /// A file that was read, changed, searched or named.
    File,
}

impl Work {
    /// Adds the work of an event. `directory` is the working directory of the session.
    pub fn push(&mut self, event: &TraceEvent, directory: &str, conventions: &Conventions) {
        match &event.content {
            TraceContent::Call(call) => self.called(event, call, directory),
            TraceContent::Result(result) => {
                if let Some(open) = self.open.remove(&result.call).filter(|_| !result.error && !result.declined) {
                    self.succeeded(&open, result, conventions);
                }
            }
            _ => {}
        }
    }

    fn called(&mut self, event: &TraceEvent, call: &TraceCall, directory: &str) {
        let (id, place) = (call.id.folded(), (event.block, event.time));
        for file in &call.files {
            self.add(place, id, relative(file, directory), UseKind::File);
        }
        let is_read = call.verb != ToolVerb::Edit && call.files.len() == 1;
        let file = call.files.first().filter(|_| is_read).map(|file| relative(file, directory));
        let file = file.filter(|file| !is_absolute(file) && !self.purposes.contains_key(*file)).map(Into::into);
        let commands = call.command.as_deref().map(|command| in_full(command, directory)).unwrap_or_default();
        if file.is_some() || !commands.is_empty() {
            let has_lost_code = call.command.as_ref().is_some_and(|command| command.contains(['|', ';', '\n']));
            self.open.insert(call.id, OpenCall { block: event.block, time: event.time, commands, has_lost_code, file });
        }
    }

    fn succeeded(&mut self, open: &OpenCall, result: &TraceResult, conventions: &Conventions) {
        let end = &result.text[result.text.ceil_char_boundary(result.text.len().saturating_sub(RESULT_BYTES))..];
        let is_failure = || open.has_lost_code && call_error(end, &[], conventions).is_some_and(|error| error.is_clear);
        if !open.commands.is_empty() && !is_failure() {
            for command in &open.commands {
                self.add((open.block, open.time), result.call.folded(), command, UseKind::Command);
            }
        }
        let file = open.file.as_deref().filter(|_| self.purposes.len() < PURPOSES);
        if let Some((place, told)) = file.and_then(|file| purpose(file, &result.text)) {
            self.purposes.entry(place.into()).or_insert(told.into());
        }
    }

    fn add(&mut self, (block, time): (u32, i64), call: u64, name: &str, kind: UseKind) {
        if self.known.is_empty() {
            // After the state was read from the index.
            self.known = self.names.iter().cloned().zip(0..).collect();
        }
        let next = self.names.len() as u32;
        let name = *self.known.entry(name.into()).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.uses.push(Use { block, call, time, name, kind });
    }

    /// Returns the files of the project itself, without those that every project has.
    pub fn own_files(&self) -> impl Iterator<Item = &str> {
        let files = self.uses().filter(|used| used.kind == UseKind::File).map(|used| used.name);
        files.filter(|file| is_of_project(file))
    }

    pub fn uses(&self) -> impl Iterator<Item = Use<&str>> {
        self.uses.iter().filter_map(|used| {
            let Use { block, call, time, name, kind } = *used;
            Some(Use { block, call, time, name: &**self.names.get(name as usize)?, kind })
        })
    }
}

/// Returns the commands of the project in a shell command, with their arguments and their folder, without those that hold a text or a
/// variable of one task. Of a command that publishes the work, its head.
fn in_full(command: &str, directory: &str) -> Vec<String> {
    let mut folder = String::new();
    let mut found = Vec::new();
    for simple in simple_commands(command).iter().filter(|simple| !simple.is_piped) {
        let words = without_wrappers(&simple.words);
        if let [program, to, ..] = words
            && program.text == "cd"
        {
            let to = if to.text == directory { "" } else { relative(&to.text, directory).trim_start_matches("./") };
            if is_absolute(to) || to.starts_with(['~', '$', '-', '.']) {
                break;
            }
            folder = if to.is_empty() { String::new() } else { format!("cd {to} && ") };
            continue;
        }
        let Some(head) = head(simple) else { continue };
        if is_publishing(&head) {
            found.push(head);
        } else if (is_specific(&head) || purpose_of(&head).is_some()) && words.iter().all(is_lasting) {
            let words: Vec<String> = words.iter().map(|word| quoted_word(relative(&word.text, directory))).collect();
            let full = format!("{folder}{}", words.join(" "));
            if full.len() <= COMMAND_BYTES && !is_dangerous(&full) && find_secrets(full.as_bytes()).is_empty() {
                found.push(full);
            }
        }
    }
    found
}

/// Returns true if a word can be the same in another task.
fn is_lasting(word: &Word) -> bool {
    let is_of_task = |c: char| c.is_whitespace() || "`$\\{}<>;".contains(c);
    !word.is_text && word.substitutions.is_empty() && !word.text.contains(is_of_task) && !word.text.starts_with(['/', '~'])
}
