//! A session in its own directory, and the steps that a user can take there.

use super::reading::provider;
use super::*;
use crate::fsio::RealDisk;
use crate::model::{Level, Operation, OperationId, OperationKind};
use crate::store::{SessionKey, Store};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// The modification time of every session, in seconds since 1970.
pub(super) const WRITTEN: u64 = 1_700_000_000;

/// A session in its own directory, next to a store.
pub(super) struct Place {
    pub directory: TempDir,
    provider: &'static dyn ProviderAdapter,
    pub path: PathBuf,
    pub store: Store,
    clock: Cell<i64>,
    /// The outcome of the last plan.
    pub applied: Cell<Applied>,
}

/// A step that a user can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Shorten(Level),
    Note,
    Both,
    Undo,
    Redo,
    Original,
}

impl Place {
    pub fn new(bytes: &[u8]) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("11111111-1111-4111-8111-111111111111.jsonl");
        fs::write(&path, bytes).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(WRITTEN)).unwrap();
        let store = Store::open(directory.path()).unwrap();
        Place { directory, provider: provider(bytes), path, store, clock: Cell::new(1_780_000_000_000), applied: Cell::default() }
    }

    /// Returns the same session with another store.
    pub fn beside(&self) -> Place {
        Place { path: self.path.clone(), ..Place::new(&self.bytes()) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }

    pub fn key(&self) -> SessionKey {
        self.store.register(self.provider.name(), "s", &self.path, "p").unwrap()
    }

    pub fn open<'a>(&self, disk: &'a dyn Disk) -> io::Result<Workspace<'a>> {
        self.open_cached(disk, &Arc::new(Cache::default()))
    }

    pub fn open_cached<'a>(&self, disk: &'a dyn Disk, cache: &Arc<Cache>) -> io::Result<Workspace<'a>> {
        let location = Location { id: "s".into(), project: "p".into(), parent: None, subagent: false };
        let found = Found { provider: self.provider, path: self.path.clone(), location };
        let (_, history) = history(&self.store, &self.path).unwrap();
        Workspace::open(disk, cache, history, found, &ReadSettings::default(), &|_| true)
    }

    pub fn history(&self) -> History {
        history(&self.store, &self.path).unwrap().1
    }

    /// Plans a change and applies it; `None` if there was nothing to do.
    pub fn change(
        &self,
        disk: &dyn Disk,
        kind: OperationKind,
        inverts: Option<OperationId>,
        plan: impl FnOnce(&mut Draft<'_>) -> Result<(), PlanError>,
    ) -> anyhow::Result<Option<OperationId>> {
        self.change_then(disk, kind, inverts, plan, |_| ())
    }

    /// Same as `change`; `then` runs between planning and applying.
    pub fn change_then(
        &self,
        disk: &dyn Disk,
        kind: OperationKind,
        inverts: Option<OperationId>,
        plan: impl FnOnce(&mut Draft<'_>) -> Result<(), PlanError>,
        then: impl FnOnce(&Drafted),
    ) -> anyhow::Result<Option<OperationId>> {
        let workspace = self.open(disk)?;
        self.clock.set(self.clock.get() + 1);
        let mut draft = workspace.draft(Some(&self.store), self.clock.get())?;
        plan(&mut draft)?;
        let drafted = draft.finish(kind, "test", inverts, &|_| None, false)?;
        then(&drafted);
        self.applied.set(apply(&workspace, &self.store, self.key(), &drafted.plan, None, self.clock.get(), &|_| ())?);
        Ok(self.applied.get().operation)
    }

    pub fn step(&self, disk: &dyn Disk, step: Step) -> anyhow::Result<Option<OperationId>> {
        self.step_then(disk, step, |_| ())
    }

    pub fn step_then(&self, disk: &dyn Disk, step: Step, then: impl FnOnce(&Drafted)) -> anyhow::Result<Option<OperationId>> {
        let history = self.history();
        let (kind, inverts) = match step {
            Step::Undo => (OperationKind::Undo, history.undoable()),
            Step::Redo => (OperationKind::Redo, history.redoable()),
            _ => (OperationKind::Change, None),
        };
        let plan = |draft: &mut Draft<'_>| {
            if let Some(id) = inverts {
                return draft.toggle(history.operation(id).unwrap()).map(drop);
            }
            if let Step::Shorten(level) = step {
                shorten_all(draft, level)?;
            }
            if step == Step::Both {
                shorten_all(draft, Level::Archived)?;
            }
            if matches!(step, Step::Note | Step::Both) {
                draft.note(NOTE, "remember the milk");
            }
            if step == Step::Original {
                draft.restore_to(0)?;
            }
            Ok(())
        };
        self.change_then(disk, kind, inverts, plan, then)
    }

    /// Settles with a working disk, and checks that the log matches the file.
    pub fn settled(&self) -> Vec<Operation> {
        settle(&RealDisk, &self.store, &self.path).unwrap();
        assert_eq!(self.store.prepared(self.key()).unwrap(), [], "something is left that is only prepared");
        let left: Vec<PathBuf> = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let left = left.into_iter().filter(|path| path.extension().is_some_and(|end| end == "aperture"));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "a temporary file is left");
        self.history().operations
    }

    /// Undoes every operation, newest first.
    pub fn undo_all(&self) -> anyhow::Result<()> {
        while let Some(id) = self.history().undoable() {
            self.step(&RealDisk, Step::Undo)?;
            assert_ne!(self.history().undoable(), Some(id), "operation {id} cannot be taken back");
        }
        Ok(())
    }

    /// Appends bytes, and makes the file one that was written just now.
    pub fn write(&self, bytes: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(bytes.as_bytes()).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(self.clock.get() as u64)).unwrap();
    }

    /// Appends a row as a client does: after a line feed, if the file does not end with one.
    pub fn append(&self, row: &str) {
        append(&self.path, row);
    }
}

pub(super) fn append(path: &Path, row: &str) {
    let bytes = fs::read(path).unwrap();
    let lead = if bytes.is_empty() || bytes.ends_with(b"\n") { "" } else { "\n" };
    OpenOptions::new().append(true).open(path).unwrap().write_all(format!("{lead}{row}\n").as_bytes()).unwrap();
}

pub(super) fn shorten_all(draft: &mut Draft<'_>, level: Level) -> Result<SkippedBlocks, PlanError> {
    let wanted: BTreeMap<BlockNumber, Level> = draft.reading().window.blocks.iter().map(|number| (*number, level)).collect();
    shorten(draft, &wanted, "", None)
}
