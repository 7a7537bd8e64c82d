//! A memory tree in memory: its files as documents, read leniently, and changed entry by entry.

use super::MemoryError;
use super::place::TreePlace;
use crate::engine::memory::markdown::LONGEST_FILE;
use crate::engine::memory::words::{day_of, key_of, normalized};
use crate::engine::memory::{
    Change, ChangeKind, Document, DocumentError, FORGOTTEN_FILE, Feedback, Forgotten, MergeFacts, merge,
};
use crate::fsio::{Disk, if_exists, read_head};
use crate::model::{Candidate, FileChange, Memory, MemoryCategory, MemoryFile, MemoryId, MemoryKind, MemoryState};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// A file that was not read as a memory file, or is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: PathBuf,
    /// The reason, such as `it has a merge conflict`.
    pub reason: String,
    /// True if the file cannot be changed until a person does something.
    pub is_blocking: bool,
}

/// A memory tree.
#[derive(Clone, Debug)]
pub struct Tree {
    pub place: TreePlace,
    pub problems: Vec<Problem>,
    files: BTreeMap<MemoryFile, TreeFile>,
    pub(super) forgotten: Forgotten,
    forgotten_before: Option<Vec<u8>>,
    next_id: MemoryId,
    /// Files that get other bytes than those of their documents, by path; `None` for a file that is deleted.
    exact: BTreeMap<String, Option<Vec<u8>>>,
}

#[derive(Clone, Debug)]
struct TreeFile {
    /// The bytes that were read; `None` if there is no file.
    before: Option<Vec<u8>>,
    document: Document,
    /// The reason why it is not written.
    blocked: Option<String>,
}

impl Tree {
    /// Reads a tree; one that does not exist is empty. Files with unknown names are not read.
    pub fn read(disk: &dyn Disk, place: &TreePlace) -> Result<Tree, MemoryError> {
        let mut tree = Tree {
            place: place.clone(),
            problems: Vec::new(),
            files: BTreeMap::new(),
            forgotten: Forgotten::default(),
            forgotten_before: None,
            next_id: 1,
            exact: BTreeMap::new(),
        };
        let root = resolved(disk, &place.directory)?;
        for file in known_files(disk, &place.directory)? {
            tree.read_file(disk, root.as_deref(), file)?;
        }
        let path = place.directory.join(FORGOTTEN_FILE);
        if let Some(bytes) = bytes_of(disk, &path)? {
            match Forgotten::parse(&bytes) {
                Ok(forgotten) => {
                    if forgotten.has_conflict {
                        tree.problem(path, "it has a merge conflict".to_owned(), true);
                    }
                    tree.forgotten = forgotten;
                }
                Err(error) => {
                    tree.problem(path, error.to_string(), true);
                    tree.forgotten.has_conflict = true;
                }
            }
            tree.forgotten_before = Some(bytes);
        }
        tree.number();
        Ok(tree)
    }

    fn read_file(&mut self, disk: &dyn Disk, root: Option<&Path>, file: MemoryFile) -> Result<(), MemoryError> {
        let path = self.place.directory.join(file.path());
        let Some(bytes) = bytes_of(disk, &path)? else { return Ok(()) };
        let scope = self.place.scope;
        let leaves = resolved(disk, &path)?.zip(root).is_some_and(|(real, root)| !real.starts_with(root));
        let (document, blocked) = if leaves {
            // A repository could make aperture write any file.
            (Document::new(file.clone(), scope), Some("it is a link to a file outside".to_owned()))
        } else {
            match Document::parse(&bytes, file.clone(), scope) {
                Ok(document) => {
                    let conflict = (document.conflicts > 0).then(|| "it has a merge conflict".to_owned());
                    (document, conflict)
                }
                Err(DocumentError::TooLong(_)) => {
                    let bytes =
                        disk.identify(&path).map_or(bytes.len(), |file| usize::try_from(file.bytes).unwrap_or(usize::MAX));
                    (Document::new(file.clone(), scope), Some(DocumentError::TooLong(bytes).to_string()))
                }
                Err(error) => (Document::new(file.clone(), scope), Some(error.to_string())),
            }
        };
        if let Some(reason) = &blocked {
            self.problem(path.clone(), reason.clone(), true);
        }
        if document.invalid > 0 {
            let entries = if document.invalid == 1 { "an entry" } else { "entries" };
            let reason = format!("{entries} with invalid metadata: used as written by hand");
            self.problem(path, reason, false);
        }
        self.files.insert(file, TreeFile { before: Some(bytes), document, blocked });
        Ok(())
    }

    fn problem(&mut self, path: PathBuf, reason: String, is_blocking: bool) {
        self.problems.push(Problem { path, reason, is_blocking });
    }

    /// Gives entries with a number that another entry has, as after a merge of two branches, the next free numbers.
    fn number(&mut self) {
        let highest = self.files.values().map(|file| file.document.highest_id()).max().unwrap_or_default();
        self.next_id = highest.saturating_add(1);
        let mut known = BTreeSet::new();
        for file in self.files.values_mut() {
            let ids: Vec<MemoryId> = file.document.memories().map(|memory| memory.id).collect();
            for (place, id) in ids.into_iter().enumerate() {
                if id != 0 && !known.insert(id) {
                    file.document.renumber(place, self.next_id);
                    self.next_id = self.next_id.saturating_add(1);
                }
            }
        }
    }

    /// Reserves the numbers up to that of an entry that existed before.
    pub(super) fn reserve(&mut self, id: MemoryId) {
        self.next_id = self.next_id.max(id.saturating_add(1));
    }

    /// Returns the entries in the order of files; those written by hand have the number 0.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.files.values().flat_map(|file| file.document.memories())
    }

    pub fn find(&self, id: MemoryId) -> Option<&Memory> {
        self.memories().find(|memory| memory.id == id && id != 0)
    }

    /// Returns the entry with a number.
    /// Errors: there is none.
    pub fn known(&self, id: MemoryId) -> Result<Memory, MemoryError> {
        self.find(id).cloned().ok_or_else(|| MemoryError::Unknown(self.place.scope.name_of(id)))
    }

    pub fn forgotten(&self) -> &[u64] {
        &self.forgotten.keys
    }

    pub fn files(&self) -> impl Iterator<Item = (&MemoryFile, PathBuf)> {
        self.files.keys().map(|file| (file, self.place.directory.join(file.path())))
    }

    /// Returns the reason why a file cannot be changed; `None` if it can.
    pub fn blocked(&self, file: &MemoryFile) -> Option<&str> {
        self.files.get(file).and_then(|file| file.blocked.as_deref())
    }

    /// Replaces an entry, or adds it; a new one (number 0) gets the next number. Returns the number.
    pub fn set(&mut self, memory: Memory) -> Result<MemoryId, MemoryError> {
        self.check(&memory.file)?;
        let mut memory = Memory { text: normalized(&memory.text), scope: self.place.scope, ..memory };
        if memory.id == 0 {
            memory.id = self.next_id;
        }
        let old = self.find(memory.id).map(|known| known.file.clone()).filter(|file| *file != memory.file);
        if let Some(old) = old {
            self.check(&old)?;
            self.files.get_mut(&old).map(|file| file.document.remove(memory.id));
        }
        self.reserve(memory.id);
        self.forgotten.allow(memory.key);
        let scope = self.place.scope;
        let new = || TreeFile { before: None, document: Document::new(memory.file.clone(), scope), blocked: None };
        self.files.entry(memory.file.clone()).or_insert_with(new).document.set(&memory);
        Ok(memory.id)
    }

    /// Deletes an entry for good: its key is not learned again.
    /// Errors: there is no such entry, or its file cannot be changed.
    pub fn forget(&mut self, id: MemoryId, now: i64) -> Result<Memory, MemoryError> {
        let memory = self.remove(id)?;
        self.check_forgotten()?;
        self.forgotten.add(memory.key, now);
        Ok(memory)
    }

    /// Removes an entry, which may be learned again.
    pub fn remove(&mut self, id: MemoryId) -> Result<Memory, MemoryError> {
        let memory = self.known(id)?;
        self.check(&memory.file)?;
        self.files.get_mut(&memory.file).map(|file| file.document.remove(id));
        Ok(memory)
    }

    /// Adds a statement of the user or the model. Returns the entry: an existing one if the tree has this text already.
    pub fn add(&mut self, text: &str, kind: MemoryKind, file: MemoryFile, now: i64) -> Result<Memory, MemoryError> {
        let text = normalized(text);
        let (key, day) = (key_of(&text), day_of(now));
        let known = self.memories().find(|memory| !memory.is_by_hand() && key_of(&memory.text) == key).cloned();
        let memory = match known {
            Some(known) => {
                let last_seen = known.last_seen.max(day);
                Memory { state: MemoryState::Active, superseded_by: None, is_edited: true, last_seen, ..known }
            }
            None => Memory {
                scope: self.place.scope,
                file,
                kind,
                state: MemoryState::Active,
                text,
                key,
                first_seen: day,
                last_seen: day,
                is_edited: true,
                ..Memory::default()
            },
        };
        let id = self.set(memory.clone())?;
        Ok(Memory { id, ..memory })
    }

    /// Adds a statement of the model, as an entry in a state. Returns the entry: an existing one, as it is, if the tree has this text
    /// already.
    /// Errors: the user deleted an entry with this text, or its file cannot be changed.
    pub fn propose(
        &mut self,
        text: &str,
        kind: MemoryKind,
        file: MemoryFile,
        state: MemoryState,
        now: i64,
    ) -> Result<Memory, MemoryError> {
        let key = key_of(&normalized(text));
        if let Some(known) = self.memories().find(|memory| key_of(&memory.text) == key) {
            return Ok(known.clone());
        }
        if self.forgotten.keys.contains(&key) {
            return Err(MemoryError::Forgotten);
        }
        let added = self.add(text, kind, file, now)?;
        let proposed = Memory { state, is_edited: false, is_by_model: true, ..added };
        self.set(proposed.clone())?;
        Ok(proposed)
    }

    /// Merges candidates. Those for files that cannot be changed are dropped. Returns the changes, with numbers.
    /// Errors: never in practice: files that cannot be changed are skipped.
    pub fn merge(&mut self, candidates: &[Candidate], feedback: &Feedback, now: i64) -> Result<Vec<Change>, MemoryError> {
        let open: Vec<Candidate> =
            candidates.iter().filter(|candidate| self.blocked(&candidate.file).is_none()).cloned().collect();
        let existing: Vec<Memory> = self.memories().cloned().collect();
        let Feedback { reads, outcomes, left } = feedback;
        let left = Some(left);
        let facts = MergeFacts { next_id: self.next_id, forgotten: &self.forgotten.keys, reads, outcomes, left, now };
        let changes = merge(&existing, &open, &facts);
        let mut done = Vec::new();
        for change in changes {
            if self.blocked(&change.memory.file).is_some() {
                continue;
            }
            if change.kind == ChangeKind::Removed {
                self.remove(change.memory.id)?;
                done.push(change);
            } else {
                let id = self.set(change.memory.clone())?;
                let memory = Memory { id, scope: self.place.scope, ..change.memory };
                done.push(Change { memory, ..change });
            }
        }
        Ok(done)
    }

    /// Takes over another tree: files that do not exist here as they are, of the others the entries.
    pub fn take_from(&mut self, other: &Tree) -> Result<(), MemoryError> {
        for (file, state) in &other.files {
            if !self.files.contains_key(file) {
                self.restore(&file.path(), Some(state.document.print().into_bytes()));
                continue;
            }
            for memory in state.document.memories().filter(|memory| !memory.is_by_hand()) {
                let is_known = self.memories().any(|known| known.key == memory.key);
                if !is_known {
                    self.set(Memory { id: 0, ..memory.clone() })?;
                }
            }
        }
        self.forgotten.take(&other.forgotten);
        Ok(())
    }

    fn check(&self, file: &MemoryFile) -> Result<(), MemoryError> {
        let Some(reason) = self.blocked(file) else { return Ok(()) };
        Err(MemoryError::Unwritable { path: self.place.directory.join(file.path()), reason: reason.to_owned() })
    }

    fn check_forgotten(&self) -> Result<(), MemoryError> {
        if !self.forgotten.has_conflict {
            return Ok(());
        }
        let path = self.place.directory.join(FORGOTTEN_FILE);
        let reason = self.problems.iter().find(|problem| problem.path == path).map(|problem| problem.reason.clone());
        Err(MemoryError::Unwritable { path, reason: reason.unwrap_or_default() })
    }

    /// Returns the changes of entries since another state of the tree, by their numbers.
    pub fn changes_since(&self, before: &[Memory]) -> Vec<Change> {
        let old: BTreeMap<MemoryId, &Memory> =
            before.iter().filter(|memory| memory.id != 0).map(|memory| (memory.id, memory)).collect();
        let mut changes = Vec::new();
        for memory in self.memories().filter(|memory| memory.id != 0) {
            match old.get(&memory.id) {
                Some(known) => changes.extend(Change::between(known, memory)),
                None => changes.push(Change { kind: ChangeKind::Added, memory: memory.clone(), before: None }),
            }
        }
        for (id, memory) in old {
            if self.find(id).is_none() {
                changes.push(Change { kind: ChangeKind::Removed, memory: memory.clone(), before: Some(memory.clone()) });
            }
        }
        changes
    }

    /// Returns the files whose bytes differ from those that were read.
    pub fn file_changes(&self) -> Vec<FileChange> {
        let mut changes = Vec::new();
        for (file, state) in &self.files {
            if self.exact.contains_key(&file.path()) {
                continue;
            }
            let after = state.document.print().into_bytes();
            let is_new_and_empty = state.before.is_none() && state.document.is_empty();
            if state.blocked.is_none() && state.before.as_ref() != Some(&after) && !is_new_and_empty {
                changes.push(FileChange { path: file.path(), before: state.before.clone(), after: Some(after) });
            }
        }
        let after = self.forgotten.text.as_bytes();
        let is_exact = self.exact.contains_key(FORGOTTEN_FILE);
        if !is_exact && !self.forgotten.has_conflict && self.forgotten_before.as_deref().unwrap_or_default() != after {
            let (path, before) = (FORGOTTEN_FILE.to_owned(), self.forgotten_before.clone());
            changes.push(FileChange { path, before, after: Some(after.to_vec()) });
        }
        for (path, after) in &self.exact {
            let before = self.read_bytes(path).map(<[u8]>::to_vec);
            if before != *after {
                changes.push(FileChange { path: path.clone(), before, after: after.clone() });
            }
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }

    /// Gives a file exact bytes, for an undo; `None` deletes it.
    pub(super) fn restore(&mut self, path: &str, bytes: Option<Vec<u8>>) {
        if path == FORGOTTEN_FILE {
            self.forgotten = bytes.as_deref().and_then(|bytes| Forgotten::parse(bytes).ok()).unwrap_or_default();
        } else if let Some(file) = MemoryFile::from_name(path) {
            let before = self.files.remove(&file).and_then(|known| known.before);
            let parsed = bytes.as_deref().and_then(|bytes| Document::parse(bytes, file.clone(), self.place.scope).ok());
            let document = parsed.unwrap_or_else(|| Document::new(file.clone(), self.place.scope));
            self.files.insert(file, TreeFile { before, document, blocked: None });
        }
        self.exact.insert(path.to_owned(), bytes);
    }

    /// Removes a key from those of deleted entries.
    pub(super) fn allow(&mut self, key: u64) {
        self.forgotten.allow(key);
    }

    pub(super) fn read_bytes(&self, path: &str) -> Option<&[u8]> {
        if path == FORGOTTEN_FILE {
            return self.forgotten_before.as_deref();
        }
        self.files.get(&MemoryFile::from_name(path)?)?.before.as_deref()
    }
}

fn known_files(disk: &dyn Disk, directory: &Path) -> Result<Vec<MemoryFile>, MemoryError> {
    let mut files = Vec::new();
    for category in MemoryCategory::ALL {
        let folder = directory.join(category.name());
        let entries = existing(disk.list(&folder), &folder)?.unwrap_or_default();
        for entry in entries.into_iter().filter(|entry| !entry.directory) {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.extend(MemoryFile::from_name(&format!("{}/{name}", category.name())).filter(|_| name.ends_with(".md")));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// Returns the canonical path of a file; `None` if it does not exist.
pub(super) fn resolved(disk: &dyn Disk, path: &Path) -> Result<Option<PathBuf>, MemoryError> {
    existing(disk.resolve(path), path)
}

/// Returns the bytes of a file, at most one more than a memory file can have; `None` if it does not exist.
pub(super) fn bytes_of(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>, MemoryError> {
    existing(read_head(disk, path, LONGEST_FILE + 1), path)
}

/// Returns what was read of a path; `None` if it does not exist.
fn existing<T>(read: io::Result<T>, path: &Path) -> Result<Option<T>, MemoryError> {
    if_exists(read).map_err(MemoryError::of("read", path))
}
