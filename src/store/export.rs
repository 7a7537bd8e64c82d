//! Packs the log of a session and its values into one file, for another machine or a backup: docs/export.md.

use super::database::{SessionKey, Statements, Store, StoreError, StoredSession};
use super::effects::{Effects, LoggedCompanion, insert_effects};
use super::history::{TABLES, insert_snapshot, insert_turn_numbers};
use super::rows::insert;
use super::values::{hexadecimal, keep};
use crate::model::{Address, History, JsonText, Key, Operation, OperationId, Snapshot, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// First bytes of an export, before the number of its format.
const MAGIC: &str = "aperture export ";
const FORMAT: u32 = 1;
const LONGEST_HEADING: usize = 256;
/// Compression level of an export, which is written once and kept.
const ZSTD_LEVEL: i32 = 9;
const LONGEST_EXPORT: u64 = 8 << 30;

/// Reasons why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("it is not an aperture export")]
    Foreign,
    #[error("it was written by a newer aperture (format {found}, this version reads up to {FORMAT})")]
    Newer { found: u32 },
    #[error("it is truncated ({found} of {expected} bytes)")]
    Short { found: u64, expected: u64 },
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// The record of a session in the store, with every value.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    pub provider: String,
    pub session: String,
    /// Name of the project's directory among the sessions of the provider.
    pub project: String,
    /// Path of the session file on the machine of origin.
    pub path: String,
    pub history: History,
    /// The effects of each operation that has some; the paths of files are relative to the directory of the session file.
    pub effects: BTreeMap<OperationId, Effects>,
    /// Values that the log refers to, by address.
    pub values: BTreeMap<Address, Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Session(SessionLine),
    Value(ValueLine),
    Operation(Box<OperationLine>),
    Snapshot { name: String, operation: OperationId, time: i64 },
}

#[derive(Serialize, Deserialize)]
struct SessionLine {
    provider: String,
    session: String,
    project: String,
    path: String,
    values: usize,
    operations: usize,
    snapshots: usize,
    /// The numbers of turns before operations moved them: the identity of the first row of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<(String, u32)>,
}

/// A value as text, or as base64 if it is not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueLine {
    Text(String),
    Base64(String),
}

/// An operation with what belongs to it apart from the log.
#[derive(Serialize, Deserialize)]
struct OperationLine {
    #[serde(flatten)]
    operation: Operation,
    #[serde(flatten)]
    effects: Effects,
}

impl Store {
    /// Returns the committed history of a session with its values.
    pub fn export(&self, stored: &StoredSession) -> Result<Export, StoreError> {
        let history = self.history(stored.key)?;
        let mut effects = self.effects(stored.key, &history)?;
        for effects in effects.values_mut() {
            effects.companions = std::mem::take(&mut effects.companions)
                .into_iter()
                .filter_map(|logged| Some(LoggedCompanion { path: below(&stored.path, &logged.path)?, ..logged }))
                .collect();
        }
        let mut values = BTreeMap::new();
        for address in addresses(&history, &effects) {
            if let Entry::Vacant(vacant) = values.entry(address) {
                vacant.insert(self.original(&address)?);
            }
        }
        let StoredSession { provider, session, project, path, .. } = stored.clone();
        Ok(Export { provider, session, project, path: path.to_string_lossy().into_owned(), history, effects, values })
    }

    /// Replaces the log of a session by that of an export, in one transaction. Snapshots that exist only here stay if
    /// they name the same operation.
    /// Errors: the store cannot be written; it is then unchanged.
    pub fn take_over(&self, key: SessionKey, export: &Export) -> Result<(), StoreError> {
        let known = self.history(key)?;
        let (mut history, mut effects) = (export.history.clone(), export.effects.clone());
        let path = self.sessions()?.into_iter().find(|stored| stored.key == key).map(|stored| stored.path).unwrap_or_default();
        let companions = effects.values_mut().flat_map(|effects| &mut effects.companions);
        // They are in the directory of the session here, whatever the first part of their paths is.
        companions.for_each(|logged| {
            logged.path = logged.path.components().skip(1).fold(path.with_extension(""), |path, part| path.join(part));
        });
        if relation(&known, &history) != Relation::Other {
            for (id, known) in self.effects(key, &known)? {
                let Effects { block_edits, window, companions } = effects.remove(&id).unwrap_or_default();
                let merged = Effects {
                    block_edits: if block_edits.is_empty() { known.block_edits } else { block_edits },
                    window: window.or(known.window),
                    companions: if companions.is_empty() { known.companions } else { companions },
                };
                effects.insert(id, merged);
            }
            let named: Vec<String> = history.snapshots.iter().map(|snapshot| snapshot.name.clone()).collect();
            history.snapshots.extend(known.snapshots.iter().filter(|snapshot| !named.contains(&snapshot.name)).cloned());
            if known.last() > history.last() {
                (history.operations, history.turns) = (known.operations, known.turns);
            } else if history.turns.is_empty() {
                history.turns = known.turns;
            }
        }
        let transaction = self.writing()?;
        for table in TABLES.map(|(table, _)| table).iter().chain(&["snapshots", "turn_numbers"]) {
            transaction.run(&format!("DELETE FROM {table} WHERE session = ?1"), [key.0])?;
        }
        for (address, value) in &export.values {
            // The stored copy may be damaged; the imported one is checked.
            transaction.run("DELETE FROM originals WHERE address = seal(?1)", [address])?;
            keep(&transaction, value)?;
        }
        for operation in &history.operations {
            insert(&transaction, key, operation)?;
        }
        effects.iter().try_for_each(|(id, effects)| insert_effects(&transaction, key, *id, effects))?;
        for snapshot in &history.snapshots {
            insert_snapshot(&transaction, key, snapshot)?;
        }
        insert_turn_numbers(&transaction, key, &history.turns)?;
        Ok(transaction.commit()?)
    }

    fn effects(&self, key: SessionKey, history: &History) -> Result<BTreeMap<OperationId, Effects>, StoreError> {
        let mut companions = self.companions(key)?;
        let mut all = BTreeMap::new();
        for id in history.operations.iter().map(|operation| operation.id) {
            let companions = companions.extract_if(.., |logged| logged.operation == id).collect();
            let (block_edits, window) = (self.block_edits(key, id)?, self.window_change(key, id)?);
            all.insert(id, Effects { block_edits, window, companions });
        }
        all.retain(|_, effects| *effects != Effects::default());
        Ok(all)
    }
}

words! {
    /// Relation of an exported log to the stored one.
    pub enum Relation {
        New = "new",
        Same = "same",
        /// The exported log continues the stored one.
        Newer = "newer",
        /// The stored log continues the exported one.
        Older = "older",
        Other = "other",
    }
}

/// Compares an exported log with the stored one.
pub fn relation(known: &History, exported: &History) -> Relation {
    let same = |(a, b): (&Operation, &Operation)| {
        let edits = a.edits.iter().map(|edit| (edit.row, edit.slot, edit.before, edit.after));
        let others = b.edits.iter().map(|edit| (edit.row, edit.slot, edit.before, edit.after));
        (a.id, a.kind, a.time, a.inverts, a.after_hash) == (b.id, b.kind, b.time, b.inverts, b.after_hash)
            && edits.eq(others)
            && a.marks == b.marks
    };
    let (known, exported) = (&known.operations, &exported.operations);
    match (known.len(), exported.len()) {
        (0, _) => Relation::New,
        _ if !known.iter().zip(exported).all(same) => Relation::Other,
        (here, there) if here == there => Relation::Same,
        (here, there) if here < there => Relation::Newer,
        _ => Relation::Older,
    }
}

fn addresses(history: &History, effects: &BTreeMap<OperationId, Effects>) -> impl Iterator<Item = Address> {
    let edits = history.operations.iter().flat_map(|operation| &operation.edits);
    let hunks = history.operations.iter().filter_map(|operation| operation.delta.as_ref()).flat_map(|delta| &delta.hunks);
    let logged = edits.flat_map(|edit| [edit.before, edit.after]).chain(hunks.flat_map(|hunk| [hunk.before, hunk.after]));
    let companions = effects.values().flat_map(|effects| &effects.companions);
    logged.flatten().chain(companions.flat_map(|logged| [logged.before, logged.after]))
}

/// Returns the path of a file beside a session, relative to the directory of the session file: the files are in a directory that has its
/// name. The path to that directory can have links.
fn below(session: &Path, path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let start = parts.iter().rposition(|part| Some(part.as_os_str()) == session.file_stem())?;
    Some(parts[start..].iter().collect())
}

fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().count() > 1
}

impl Export {
    /// Serializes the export: a heading with format, checksum and length, then the compressed lines.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let head = SessionLine {
            provider: self.provider.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            path: self.path.clone(),
            values: self.values.len(),
            operations: self.history.operations.len(),
            snapshots: self.history.snapshots.len(),
            turns: self.history.turns.iter().map(|(row, number)| (row.to_text(), *number)).collect(),
        };
        let mut packer = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
        let mut line = |line: &Line| jsonl::write(&mut packer, line).map_err(io::Error::other);
        line(&Line::Session(head))?;
        for value in self.values.values() {
            line(&Line::Value(match std::str::from_utf8(value) {
                Ok(text) => ValueLine::Text(text.to_owned()),
                Err(_) => ValueLine::Base64(STANDARD.encode(value)),
            }))?;
        }
        for operation in &self.history.operations {
            let effects = self.effects.get(&operation.id).cloned().unwrap_or_default();
            line(&Line::Operation(Box::new(OperationLine { operation: operation.clone(), effects })))?;
        }
        for Snapshot { name, operation, time } in &self.history.snapshots {
            line(&Line::Snapshot { name: name.clone(), operation: *operation, time: *time })?;
        }
        let body = packer.finish()?;
        let mut file = format!("{MAGIC}{FORMAT}\nblake3 {}\nbytes {}\n", blake3::hash(&body).to_hex(), body.len()).into_bytes();
        file.extend_from_slice(&body);
        Ok(file)
    }

    /// Parses an export and checks its length, its checksum, every value and every reference.
    pub fn unpack(file: &[u8]) -> Result<Export, ExportError> {
        let body = body(file)?;
        let packed = zstd::Decoder::new(body).map_err(|error| ExportError::Damaged(error.to_string()))?;
        let mut lines = BufReader::new(packed.take(LONGEST_EXPORT));
        let mut head: Option<SessionLine> = None;
        let mut history = History::default();
        let (mut values, mut all_effects) = (BTreeMap::new(), BTreeMap::new());
        for number in 1.. {
            let unreadable = |cause: &str| damaged(&format!("line {number} is unreadable ({cause})"));
            let line: Line = match jsonl::read(&mut lines) {
                Ok(line) => line,
                Err(jsonl::ReadError::Eof) => break,
                Err(jsonl::ReadError::Io(error)) => return Err(unreadable(&error.to_string())),
                Err(jsonl::ReadError::Deserialize(error)) => return Err(unreadable(&error.to_string())),
            };
            match line {
                Line::Session(line) => head = Some(line),
                Line::Value(value) => {
                    let value = match value {
                        ValueLine::Text(text) => text.into_bytes(),
                        ValueLine::Base64(text) => STANDARD.decode(text).map_err(|error| unreadable(&error.to_string()))?,
                    };
                    values.insert(*blake3::hash(&value).as_bytes(), value);
                }
                Line::Operation(line) => {
                    let OperationLine { operation, mut effects } = *line;
                    if !effects.companions.iter().all(|logged| is_below(&logged.path)) {
                        return Err(unreadable("invalid file beside the session"));
                    }
                    effects.companions.iter_mut().for_each(|logged| logged.operation = operation.id);
                    all_effects.extend((effects != Effects::default()).then_some((operation.id, effects)));
                    history.operations.push(operation);
                }
                Line::Snapshot { name, operation, time } => history.snapshots.push(Snapshot { name, operation, time }),
            }
        }
        let head = head.ok_or_else(|| damaged("it names no session"))?;
        let counts = (values.len(), history.operations.len(), history.snapshots.len());
        if counts != (head.values, head.operations, head.snapshots) {
            return Err(damaged("lines are missing"));
        }
        check(&history, &all_effects, &values)?;
        let turn = |(row, number): &(String, u32)| Some((Key::parse(row)?, *number));
        let turns: Option<Vec<(Key, u32)>> = head.turns.iter().map(turn).collect();
        history.turns = turns.ok_or_else(|| damaged("a number of a turn is unreadable"))?;
        let SessionLine { provider, session, project, path, .. } = head;
        Ok(Export { provider, session, project, path, history, effects: all_effects, values })
    }
}

fn damaged(what: &str) -> ExportError {
    ExportError::Damaged(what.to_owned())
}

/// Returns the bytes after the heading if length and checksum match.
fn body(file: &[u8]) -> Result<&[u8], ExportError> {
    let rest = file.strip_prefix(MAGIC.as_bytes()).ok_or(ExportError::Foreign)?;
    let heading = &rest[..rest.len().min(LONGEST_HEADING)];
    let mut lines = heading.split_inclusive(|byte| *byte == b'\n');
    let mut line = || -> Option<&str> { std::str::from_utf8(lines.next()?.strip_suffix(b"\n")?).ok() };
    let heading = || damaged("its heading is unreadable");
    let format = line().ok_or_else(heading)?;
    let found: u32 = format.parse().ok().filter(|format| *format > 0).ok_or_else(heading)?;
    if found > FORMAT {
        return Err(ExportError::Newer { found });
    }
    let checksum = line().and_then(|line| line.strip_prefix("blake3 ")).ok_or_else(heading)?;
    let length = line().and_then(|line| line.strip_prefix("bytes ")).ok_or_else(heading)?;
    let expected: u64 = length.parse().map_err(|_| heading())?;
    let before = format.len() + "blake3 ".len() + checksum.len() + "bytes ".len() + length.len() + 3;
    let body = &rest[before..];
    if (body.len() as u64) < expected {
        return Err(ExportError::Short { found: body.len() as u64, expected });
    }
    if body.len() as u64 > expected || blake3::hash(body).to_hex().as_str() != checksum {
        return Err(damaged("checksum mismatch"));
    }
    Ok(body)
}

/// Checks that operations are in order and invert earlier ones, that no value is missing, and that snapshots name known operations.
fn check(
    history: &History,
    effects: &BTreeMap<OperationId, Effects>,
    values: &BTreeMap<Address, Vec<u8>>,
) -> Result<(), ExportError> {
    let mut last = 0;
    for operation in &history.operations {
        if operation.id <= last
            || operation.inverts.is_some_and(|inverted| history.operation(inverted).is_none() || inverted >= operation.id)
        {
            return Err(damaged(&format!("operation {} is out of order", operation.id)));
        }
        last = operation.id;
    }
    if let Some(address) = addresses(history, effects).find(|address| !values.contains_key(address)) {
        return Err(damaged(&format!("the value {} is missing", hexadecimal(&address))));
    }
    match history.snapshots.iter().find(|snapshot| snapshot.operation > last) {
        Some(snapshot) => Err(damaged(&format!("operation {} is missing", snapshot.operation))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
