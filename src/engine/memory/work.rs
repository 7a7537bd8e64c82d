//! The work of a session: the commands that it ran and the files that it named, in order.

use super::failures::command_heads::{heads, is_trivial};
use crate::model::paths::relative;
use crate::model::{ToolVerb, TraceContent, TraceEvent};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Collects the work of a session from its events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// The names of commands and files, each once.
    names: Vec<Box<str>>,
    uses: Vec<Use>,
    #[serde(skip)]
    known: FxHashMap<Box<str>, u32>,
}

/// The use of a command or a file by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Use {
    block: u32,
    /// The id of the call, shortened: forks and resumed copies of a session repeat it.
    call: u64,
    /// The time of the call, in milliseconds since 1970, UTC.
    time: i64,
    name: u32,
    kind: UseKind,
}

/// The kind of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UseKind {
    /// A command that was run.
    Command,
    /// A file that was read, searched or named.
    File,
    /// A file that was changed.
    EditedFile,
}

/// The use of a command or a file by a call, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedUse<'a> {
    /// The head of the command (`cargo test`), or the path of the file, relative to the directory of the session if it is below it.
    pub name: &'a str,
    pub kind: UseKind,
    /// The number of the block of the call.
    pub block: u32,
    /// The id of the call, shortened to 64 bits.
    pub call: u64,
    /// The time of the call, in milliseconds since 1970, UTC.
    pub time: i64,
}

impl Work {
    /// Adds the work of an event. `directory` is the working directory of the session.
    pub fn push(&mut self, event: &TraceEvent, directory: &str) {
        let TraceContent::Call(call) = &event.content else { return };
        let heads = call.command.as_deref().map(heads).unwrap_or_default();
        for head in heads.iter().filter(|head| !is_trivial(head)) {
            self.add(event, call.id.0 as u64, head, UseKind::Command);
        }
        let kind = if call.verb == ToolVerb::Edit { UseKind::EditedFile } else { UseKind::File };
        for file in &call.files {
            self.add(event, call.id.0 as u64, relative(file, directory), kind);
        }
    }

    fn add(&mut self, event: &TraceEvent, call: u64, name: &str, kind: UseKind) {
        if self.known.is_empty() {
            // After the state was read from the index.
            self.known = self.names.iter().cloned().zip(0..).collect();
        }
        let next = self.names.len() as u32;
        let name = *self.known.entry(name.into()).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.uses.push(Use { block: event.block, call, time: event.time, name, kind });
    }

    /// Returns the uses, in file order.
    pub fn uses(&self) -> impl Iterator<Item = NamedUse<'_>> {
        self.uses.iter().filter_map(|used| {
            let name = self.names.get(used.name as usize)?;
            Some(NamedUse { name, kind: used.kind, block: used.block, call: used.call, time: used.time })
        })
    }
}
