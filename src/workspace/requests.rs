//! Sessions that exist only in requests: a running proxy has their bytes in memory. They have names in the place of files
//! ([`request_path`]), and [`RequestDisk`] reads them there.
//!
//! The bytes are the newest body of the session with the changes of the log. A commit therefore writes nothing: when the log has the
//! operation, the bytes have it too.

use super::find::place_of_id;
use super::{FindError, Found};
use crate::fsio::{Disk, Identity, NewFile, OpenFile};
use crate::model::{request_id, request_path};
use crate::provider::{self, Location};
use serde::{Deserialize, Serialize};
use std::io::{self, Cursor, ErrorKind, Sink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session in the memory of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSession {
    pub id: String,
    pub format: String,
    /// The time of its newest request, in milliseconds since 1970, UTC.
    pub modified: i64,
}

impl RequestSession {
    /// Returns its place; `None` if this version does not have its format.
    pub fn found(&self) -> Option<Found> {
        let (path, location) = (request_path(&self.id), Location::of_id(self.id.clone()));
        Some(Found { provider: provider::by_name(&self.format)?, path, location })
    }
}

/// The bytes of a session in requests, shared without a copy.
#[derive(Clone, Debug)]
pub struct SessionBytes(Arc<Vec<u8>>);

impl From<Vec<u8>> for SessionBytes {
    fn from(bytes: Vec<u8>) -> SessionBytes {
        SessionBytes(Arc::new(bytes))
    }
}

impl AsRef<[u8]> for SessionBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A running proxy.
pub trait RequestSessions: Send + Sync {
    fn list(&self) -> Vec<RequestSession>;

    /// Returns the bytes of a session with the changes of the log; `None` if it does not have the session.
    fn bytes(&self, id: &str) -> Option<SessionBytes>;

    /// Returns the reason why new changes of its sessions wait, if it cannot use the store.
    fn store_fault(&self) -> Option<String>;
}

/// Returns the session with an id or a unique prefix of it; `None` if there is none.
/// Errors: several sessions have this prefix.
pub fn find_in_requests(sessions: &[RequestSession], name: &str) -> Result<Option<RequestSession>, FindError> {
    let place = place_of_id(sessions.iter().map(|session| (&*session.id, 0)), name)?;
    Ok(place.map(|place| sessions[place].clone()))
}

/// A disk with the sessions of a proxy.
pub struct RequestDisk {
    pub disk: &'static dyn Disk,
    pub sessions: Arc<dyn RequestSessions>,
}

impl RequestDisk {
    fn bytes(&self, id: &str) -> io::Result<SessionBytes> {
        self.sessions.bytes(id).ok_or_else(|| io::Error::new(ErrorKind::NotFound, "no running proxy has this session"))
    }
}

impl Disk for RequestDisk {
    fn below(&self) -> &dyn Disk {
        self.disk
    }

    fn identify(&self, path: &Path) -> io::Result<Identity> {
        let Some(id) = request_id(path) else { return self.disk.identify(path) };
        let session = self.sessions.list().into_iter().find(|session| session.id == id);
        let modified = session.map_or(0, |session| i128::from(session.modified) * 1_000_000);
        Ok(Identity { bytes: self.bytes(id)?.as_ref().len() as u64, modified, ..Identity::default() })
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        let Some(id) = request_id(path) else { return self.disk.open(path, offset) };
        let mut bytes = Cursor::new(self.bytes(id)?);
        bytes.set_position(offset);
        Ok(Box::new(bytes))
    }

    fn open_written(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        if request_id(path).is_some() { self.open(path, 0) } else { self.disk.open_written(path) }
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        if request_id(path).is_some() { self.open(path, 0) } else { self.disk.open_stored(path) }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        if request_id(path).is_some() { Ok(path.to_owned()) } else { self.disk.resolve(path) }
    }

    fn names(&self, path: &Path) -> io::Result<u64> {
        if request_id(path).is_some() { Ok(1) } else { self.disk.names(path) }
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        if request_id(path).is_some() { Ok(Box::new(io::sink())) } else { self.disk.create(path, like) }
    }

    fn make(&self, path: &Path, is_private: bool) -> io::Result<()> {
        if request_id(path).is_some() { Ok(()) } else { self.disk.make(path, is_private) }
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<u64> {
        if request_id(path).is_some() { Ok(0) } else { self.disk.append(path, bytes) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if request_id(to).is_some() { Ok(()) } else { self.disk.rename(from, to) }
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        if is_of_requests(path) { Ok(()) } else { self.disk.sync_directory(path) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if request_id(path).is_some() { Ok(()) } else { self.disk.remove(path) }
    }

    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        if request_id(path).is_some() { Vec::new() } else { self.disk.writers(path, identity) }
    }
}

/// Returns true if a path is the directory of the sessions of a proxy, or below it.
fn is_of_requests(path: &Path) -> bool {
    request_id(&path.join("session")).is_some()
}

/// A session that is made by the log: nothing is written.
impl NewFile for Sink {
    fn set_modified(&mut self, _: i128) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_id_or_a_unique_prefix() {
        let session = |id: &str| RequestSession { id: id.to_owned(), format: "openai-chat-lines".to_owned(), modified: 2 };
        let sessions = [session("ses_12"), session("ses_1"), session("ses_2")];
        let find = |name| find_in_requests(&sessions, name).map(|found| found.map(|found| found.id));
        assert_eq!(find("ses_1").unwrap().as_deref(), Some("ses_1"));
        assert_eq!(find("ses_2").unwrap().as_deref(), Some("ses_2"));
        assert_eq!((find("x").unwrap(), find("").unwrap()), (None, None));
        assert!(matches!(find("ses_"), Err(FindError::Ambiguous { candidates, .. }) if candidates.len() == 3));
        let found = sessions[0].found().unwrap();
        assert_eq!((found.provider.name(), request_id(&found.path)), ("openai-chat-lines", Some("ses_12")));
    }
}
