//! The index of memory: facts of session files, in a database of their own in the cache directory.
//!
//! It is disposable: every failure is a miss, and a deleted index is built again from the session files.

use super::database::Statements;
use super::disposable::{Disposable, Form, opened};
use super::seal::Seal;
use crate::fsio::Identity;
use rusqlite::params;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File name of the index.
pub const MEMORY_INDEX_FILE: &str = "memory.db";

/// Version of the indexed facts; increased with any change of their meaning. An index of another version is emptied.
const FORMAT: i32 = 27;
const FORM: Form = Form {
    file: MEMORY_INDEX_FILE,
    version: FORMAT,
    patience: Duration::from_millis(500),
    settings: "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON;",
    tables: include_str!("memory_index.sql"),
};

/// The index of one user; without a file, every lookup is a miss and every write a no-op.
#[derive(Default)]
pub struct MemoryIndex(Disposable);

/// The indexed facts of a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedFile {
    /// The state of the file when it was read.
    pub identity: Identity,
    pub directory: String,
    pub facts: Vec<u8>,
}

impl MemoryIndex {
    /// Opens the index in an existing directory, or creates it. If that is impossible, the result is the default.
    pub fn open(directory: &Path, seal: &Seal) -> MemoryIndex {
        MemoryIndex(Disposable::new(opened(directory, &FORM, seal).map(|(db, _)| db)))
    }

    pub fn file(&self, path: &Path) -> Option<IndexedFile> {
        let path = path.to_str()?;
        let sql = "SELECT identity, open(directory), open(facts) FROM files WHERE path = seal(?1)";
        let found = self.0.with(|db| db.row(sql, [path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))));
        let (identity, directory, facts): (Vec<u8>, String, Vec<u8>) = found.flatten()?;
        let identity = postcard::from_bytes(&identity).ok()?;
        Some(IndexedFile { identity, directory, facts })
    }

    pub fn directories(&self) -> HashMap<PathBuf, PathBuf> {
        let sql = "SELECT open(path), open(directory) FROM files";
        let read =
            self.0.with(|db| db.rows(sql, [], |row| Ok((row.get::<_, String>(0)?.into(), row.get::<_, String>(1)?.into()))));
        read.unwrap_or_default().into_iter().collect()
    }

    pub fn remember(&self, path: &Path, file: &IndexedFile) {
        let (Some(path), Ok(identity)) = (path.to_str(), postcard::to_stdvec(&file.identity)) else { return };
        let sql = "INSERT OR REPLACE INTO files VALUES (seal(?1), ?2, seal(?3), seal(?4))";
        self.0.with(|db| db.run(sql, params![path, identity, file.directory, file.facts]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(facts: &[u8]) -> IndexedFile {
        let identity = Identity { bytes: 7, ..Identity::default() };
        IndexedFile { identity, directory: "/w".to_owned(), facts: facts.to_vec() }
    }

    #[test]
    fn facts_of_a_file_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = Path::new("/w/s.jsonl");
        MemoryIndex::open(directory.path(), &Seal::default()).remember(path, &file(b"one"));
        let index = MemoryIndex::open(directory.path(), &Seal::default());
        assert_eq!(index.file(path), Some(file(b"one")));
        assert_eq!(index.directories()[path], Path::new("/w"));
        index.remember(path, &file(b"two"));
        assert_eq!(index.file(path).unwrap().facts, b"two");
    }
}
