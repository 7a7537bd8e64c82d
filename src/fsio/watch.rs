//! Notifies about changes in directories, so that no caller has to poll.

use super::Disk;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::sleep;
use std::time::Duration;

/// Longest burst of changes before it is reported: an agent writes several rows at a time.
const SETTLE: Duration = Duration::from_millis(15);

/// Watches directories.
///
/// Reports that something changed, without details: events get lost, are duplicated, and name files that were replaced.
/// The caller has to check for itself.
pub struct Watcher {
    /// `None` if the system has no notifications.
    system: Option<RecommendedWatcher>,
    /// Watched directories with their inode when the watch began: another directory may replace one under the same name.
    watched: BTreeMap<PathBuf, (u64, u64)>,
    changes: Receiver<()>,
    /// Wakes the waiting thread; keeps the channel open while nothing is watched.
    changed: SyncSender<()>,
}

impl Default for Watcher {
    fn default() -> Watcher {
        // One pending change is enough.
        let (changed, changes) = sync_channel(1);
        let tell = changed.clone();
        let system = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // A read is not a change; it would wake its own reader.
            if !matches!(event, Ok(notify::Event { kind: EventKind::Access(_), .. })) {
                let _ = tell.try_send(());
            }
        });
        Watcher { system: system.ok(), watched: BTreeMap::new(), changes, changed }
    }
}

impl Watcher {
    /// Sets the watched directories and their depths. Missing directories are skipped until they exist. Returns true if every
    /// existing one is watched; otherwise the caller has to poll.
    pub fn watch(&mut self, disk: &dyn Disk, directories: &BTreeMap<PathBuf, RecursiveMode>) -> bool {
        let Some(system) = &mut self.system else { return false };
        let gone: Vec<PathBuf> = self.watched.keys().filter(|path| !directories.contains_key(*path)).cloned().collect();
        for path in gone {
            self.watched.remove(&path);
            let _ = system.unwatch(&path);
        }
        let mut all = true;
        for (path, depth) in directories {
            let Ok(identity) = disk.identify(path) else {
                if self.watched.remove(path).is_some() {
                    let _ = system.unwatch(path);
                }
                continue;
            };
            match self.watched.get(path) {
                Some(inode) if *inode == identity.inode => continue,
                Some(_) => drop(system.unwatch(path)),
                None => {}
            }
            match system.watch(path, *depth) {
                Ok(()) => drop(self.watched.insert(path.clone(), identity.inode)),
                Err(_) => all = false,
            }
        }
        all
    }

    pub fn waker(&self) -> impl Fn() + Send + 'static {
        let changed = self.changed.clone();
        move || {
            let _ = changed.try_send(());
        }
    }

    /// Waits until something changes or the timeout expires; after a change, also until the burst has settled. Returns true if
    /// something changed.
    pub fn wait(&self, at_most: Duration) -> bool {
        let happened = self.changes.recv_timeout(at_most).is_ok();
        if happened {
            sleep(SETTLE);
            let _ = self.changes.try_recv();
        }
        happened
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests change files")]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;
    use std::fs;

    const LONG: Duration = Duration::from_secs(5);
    const SHORT: Duration = Duration::from_millis(150);

    #[test]
    fn changes_are_reported_and_reads_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        fs::write(&file, "1").unwrap();
        let mut watcher = Watcher::default();
        assert!(watcher.watch(&RealDisk, &BTreeMap::from([(directory.path().to_owned(), RecursiveMode::NonRecursive)])));
        fs::read(&file).unwrap();
        assert!(!watcher.wait(SHORT));
        fs::write(&file, "2").unwrap();
        assert!(watcher.wait(LONG));
        fs::write(directory.path().join("b"), "3").unwrap();
        fs::rename(directory.path().join("b"), &file).unwrap();
        assert!(watcher.wait(LONG));
        watcher.watch(&RealDisk, &BTreeMap::new());
        watcher.wait(SHORT);
        fs::write(&file, "4").unwrap();
        assert!(!watcher.wait(SHORT));
    }

    #[test]
    fn a_directory_that_is_made_again_is_watched_again() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("sessions");
        let wanted = BTreeMap::from([(path.clone(), RecursiveMode::NonRecursive)]);
        let mut watcher = Watcher::default();
        assert!(watcher.watch(&RealDisk, &wanted) && !watcher.watched.contains_key(&path));
        for _ in 0..2 {
            fs::create_dir(&path).unwrap();
            assert!(watcher.watch(&RealDisk, &wanted) && watcher.watched.contains_key(&path));
            fs::write(path.join("a"), "1").unwrap();
            assert!(watcher.wait(LONG));
            fs::remove_dir_all(&path).unwrap();
            assert!(watcher.wait(LONG) && watcher.watch(&RealDisk, &wanted) && !watcher.watched.contains_key(&path));
            while watcher.wait(SHORT) {}
        }
    }
}
