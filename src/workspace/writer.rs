//! Takes the lock that a client holds on a session while the session is open, to change the session.

use crate::fsio::Disk;
use crate::provider::{ProviderAdapter, WriterLock};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The number of attempts to take the guard of the locks, and the interval between them: its holders release it quickly.
const GUARD_STEPS: u32 = 40;
const GUARD_STEP: Duration = Duration::from_millis(5);

/// The holder of the write lock of a session.
pub enum Writer<'a> {
    /// The client of this session does not use locks, or has never run here.
    Unlocked,
    /// This process, until the value is dropped; no client can open the session meanwhile.
    Held(WriterHold<'a>),
    /// Another process: the session is open in a client.
    Elsewhere,
}

/// The lock of a client, held by this process.
pub struct WriterHold<'a> {
    disk: &'a dyn Disk,
    files: WriterLock,
    lock: Option<Box<dyn Send>>,
}

/// Takes the lock that the client of a session takes when it opens the session at `path`, without waiting for it.
pub fn take_writer<'a>(
    disk: &'a dyn Disk,
    provider: &dyn ProviderAdapter,
    path: &Path,
    wait: &dyn Fn(Duration),
) -> io::Result<Writer<'a>> {
    let Some(files) = provider.writer_lock(path) else { return Ok(Writer::Unlocked) };
    // A client that uses locks has created the directory.
    if files.session.parent().is_none_or(|directory| disk.identify(directory).is_err()) {
        return Ok(Writer::Unlocked);
    }
    let mut steps = 0;
    let guard = loop {
        match disk.lock(&files.guard)? {
            Some(guard) => break guard,
            None if steps == GUARD_STEPS => return Ok(Writer::Elsewhere),
            None => wait(GUARD_STEP),
        }
        steps += 1;
    };
    let lock = disk.lock(&files.session)?;
    drop(guard);
    Ok(match lock {
        Some(lock) => Writer::Held(WriterHold { disk, files, lock: Some(lock) }),
        None => Writer::Elsewhere,
    })
}

/// Releases the lock and removes its file, as the client does. If the guard is taken, the file stays, which is harmless.
impl Drop for WriterHold<'_> {
    fn drop(&mut self) {
        if let Ok(Some(_guard)) = self.disk.lock(&self.files.guard) {
            let _ = self.disk.remove(&self.files.session);
            self.lock = None;
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make directories")]
mod tests {
    use super::*;
    use crate::fsio::RealDisk;
    use crate::provider::codex::Codex;
    use std::fs;

    #[test]
    fn one_process_at_a_time_holds_a_session() {
        let home = tempfile::tempdir().unwrap();
        let id = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
        let path = home.path().join(format!("sessions/2026/04/11/rollout-2026-04-11T14-53-51-{id}.jsonl"));
        let locks = home.path().join("thread-writer-locks");
        let file = locks.join(format!("{id}.lock"));
        let take = || take_writer(&RealDisk, &Codex, &path, &|_| ()).unwrap();
        assert!(matches!(take(), Writer::Unlocked));
        assert!(!locks.exists());
        fs::create_dir(&locks).unwrap();
        let held = take();
        assert!(matches!(held, Writer::Held(_)) && file.exists());
        assert!(matches!(take(), Writer::Elsewhere));
        drop(held);
        assert!(!file.exists());
        // A client holds it.
        let client = RealDisk.lock(&file).unwrap();
        assert!(matches!(take(), Writer::Elsewhere));
        drop(client);
        assert!(matches!(take(), Writer::Held(_)));
    }
}
