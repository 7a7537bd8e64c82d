//! Tests of trees on a disk: changes, deletions by hand, conflicts, undo, faults, and several processes at once.
#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

mod changes;
mod faults;
mod undone;

use super::{Machine, MemoryError, Tree, TreePlace, Update, Updated, settle, undo, update};
use crate::engine::memory::Feedback;
use crate::fsio::{Disk, RealDisk};
use crate::model::{Candidate, MemoryActor, MemoryFile, MemoryKind, MemoryScope, Sighting};
use crate::store::Store;
use crate::testing::files_below;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// 2026-11-22.
pub const NOW: i64 = 1_795_305_600_000;

/// A data directory with a store, and a tree in it or in a project.
pub struct Place {
    pub root: TempDir,
    pub store: Store,
    pub tree: TreePlace,
}

impl Place {
    pub fn new() -> Place {
        let root = TempDir::new().unwrap();
        let data = root.path().join("data");
        fs::create_dir(&data).unwrap();
        let tree = TreePlace { directory: data.join("memory/projects/p"), scope: MemoryScope::Project, is_private: true };
        Place { store: Store::open(&data).unwrap(), tree, root }
    }

    pub fn in_project() -> Place {
        let mut place = Place::new();
        let directory = place.root.path().join("project/.aperture/memory");
        place.tree = TreePlace { directory, scope: MemoryScope::Project, is_private: false };
        place
    }

    pub fn on<T>(&self, disk: &dyn Disk, step: impl FnOnce(&Machine<'_>) -> T) -> T {
        let data = self.root.path().join("data");
        step(&Machine { disk, data: &data, wait: &std::thread::sleep, patience: std::time::Duration::from_secs(10) })
    }

    pub fn change(&self, change: &mut dyn FnMut(&mut Tree) -> Result<(), MemoryError>) -> Result<Updated, MemoryError> {
        self.change_on(&RealDisk, change)
    }

    pub fn change_on(
        &self,
        disk: &dyn Disk,
        change: &mut dyn FnMut(&mut Tree) -> Result<(), MemoryError>,
    ) -> Result<Updated, MemoryError> {
        self.on(disk, |machine| update(machine, Some(&self.store), &self.tree, &logged("test"), change))
    }

    pub fn learn(&self, candidates: &[Candidate]) -> Updated {
        self.change(&mut |tree| tree.merge(candidates, &Feedback::default(), NOW).map(drop)).unwrap()
    }

    pub fn undo(&self, number: Option<u32>) -> Result<u32, MemoryError> {
        let undone = self.on(&RealDisk, |machine| undo(machine, &self.store, &self.tree, number, &logged("undo")));
        undone.map(|(operation, _)| operation)
    }

    pub fn settle(&self, disk: &dyn Disk) -> Result<(), MemoryError> {
        self.on(disk, |machine| settle(machine, &self.store, &self.tree))
    }

    pub fn read(&self) -> Tree {
        Tree::read(&RealDisk, &self.tree).unwrap()
    }

    pub fn texts(&self) -> Vec<String> {
        self.read().memories().map(|memory| memory.text.clone()).collect()
    }

    pub fn path(&self, file: &MemoryFile) -> PathBuf {
        self.tree.directory.join(file.path())
    }

    /// The files of the tree with their bytes, also hidden ones.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.tree.directory)
    }

    pub fn log(&self) -> Vec<u32> {
        let operations = self.store.memory_operations(&self.tree.key(&RealDisk), usize::MAX).unwrap();
        operations.iter().rev().map(|operation| operation.id).collect()
    }
}

pub fn logged(command: &str) -> Update {
    Update { command: command.to_owned(), actor: MemoryActor::Learn, time: NOW, is_dry_run: false }
}

pub fn candidate(key: u64, text: &str, file: MemoryFile) -> Candidate {
    let sighting = Sighting { session: "6666abcd".to_owned(), block: 3, row: "r".to_owned(), time: NOW - 1000 };
    let kind = if file == MemoryFile::UserPrefs { MemoryKind::Preference } else { MemoryKind::Resolution };
    Candidate { key, file, kind, text: text.to_owned(), is_strong: true, sightings: vec![sighting] }
}

pub fn prefs(key: u64, text: &str) -> Candidate {
    candidate(key, text, MemoryFile::UserPrefs)
}
