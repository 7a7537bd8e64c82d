//! The newest body of each session that is in no file. It is only in memory: nothing of it is written to a disk.

use super::kept::KeptBody;
use crate::model::Key;
use crate::wire::{RequestApi, RequestFacts, Wire};
use crate::workspace::{RequestSession, RequestSessions, SessionBytes};
use hyper::body::Bytes;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of sessions, and of bytes of their bodies together.
const SESSIONS: usize = 8;
const BYTES: usize = 64 << 20;
/// The bytes of all bodies from which they are compressed: the next request of a session replaces its body, mostly soon.
const COMPRESSED_FROM: usize = 4 << 20;
/// The maximum size of a body that is looked at beside requests, in bytes: the largest one that APIs take. The process that looks at one of
/// text alone takes ten times its size for some seconds.
pub const LARGEST_LOOK: usize = 32 << 20;
/// The time in which a client usually creates the file of a session. Before, the session is not listed.
const WITHOUT_FILE: Duration = Duration::from_secs(1);

/// The bodies of sessions, and the log that changes them.
pub struct Memory {
    wire: Arc<Wire>,
    /// Returns the time since the start of the proxy.
    elapsed: Box<dyn Fn() -> Duration + Send + Sync>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: VecDeque<Session>,
    in_files: BTreeSet<String>,
    requests: u64,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.sessions.iter().map(|session| session.body.kept_bytes()).sum()
    }

    fn find(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.id == id)
    }
}

struct Session {
    id: String,
    number: u64,
    api: RequestApi,
    body: KeptBody,
    /// The time of its first request, since the start of the proxy.
    first: Duration,
    modified: i64,
    /// True if no file was found after [`WITHOUT_FILE`].
    is_without_file: bool,
}

impl Memory {
    /// Creates an empty memory over a log. `elapsed` returns the time since the start of the proxy.
    pub fn new(wire: Arc<Wire>, elapsed: impl Fn() -> Duration + Send + Sync + 'static) -> Memory {
        Memory { wire, elapsed: Box::new(elapsed), kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the body of a request of a conversation in the place of the one before. The oldest bodies above the limits are dropped.
    pub fn keep(&self, facts: &RequestFacts, api: RequestApi, body: &Bytes, modified: i64) {
        let mut kept = self.kept();
        let id = &facts.session;
        if !facts.is_main || facts.asks_for_summary || id.is_empty() || kept.in_files.contains(id) {
            return;
        }
        let known = kept.sessions.iter().position(|session| session.id == *id).and_then(|place| kept.sessions.remove(place));
        let (first, is_without_file) =
            known.map_or_else(|| ((self.elapsed)(), false), |known| (known.first, known.is_without_file));
        kept.requests += 1;
        let (id, number, body) = (id.clone(), kept.requests, KeptBody::Received(body.clone()));
        kept.sessions.push_back(Session { id, number, api, body, first, modified, is_without_file });
        while kept.sessions.len() > SESSIONS || kept.bytes() > BYTES {
            kept.sessions.pop_front();
        }
    }

    pub fn pack(&self, id: &str) {
        let large = Some(self.kept()).filter(|kept| kept.bytes() > COMPRESSED_FROM);
        let found = large.and_then(|mut kept| kept.find(id).map(|known| (known.number, known.body.clone())));
        let Some((number, body)) = found else { return };
        let packed = body.packed();
        // A later request may have come meanwhile.
        if let Some(session) = self.kept().find(id).filter(|session| session.number == number) {
            session.body = packed;
        }
    }

    /// Takes the answer to a request: the session is dropped if it has a file by now, else its body may be compressed. `has_file` is not
    /// called again for a session that is old enough to be without one.
    pub fn answered(&self, id: &str, has_file: impl FnOnce() -> bool) {
        let Some(is_without_file) = self.kept().find(id).map(|known| known.is_without_file) else { return };
        if !is_without_file && has_file() {
            let mut kept = self.kept();
            kept.sessions.retain(|session| session.id != id);
            kept.in_files.insert(id.to_owned());
            return;
        }
        self.pack(id);
        if let Some(session) = self.kept().find(id) {
            session.is_without_file = self.is_old(session);
        }
    }

    /// Returns true if the body of a session takes more memory to look at than there should be beside requests. A session in a file is
    /// not read whole.
    pub fn is_large(&self, id: &str) -> bool {
        self.received_bytes(id) > LARGEST_LOOK
    }

    /// Returns the length of the body of a session as it was received; 0 if it is not known.
    pub fn received_bytes(&self, id: &str) -> usize {
        self.kept().find(id).map_or(0, |known| known.body.received_bytes())
    }

    fn is_old(&self, session: &Session) -> bool {
        (self.elapsed)().saturating_sub(session.first) >= WITHOUT_FILE
    }

    /// Returns the version of the bytes of a session: it changes with each request and each operation. `None` if it is not known.
    pub fn version(&self, id: &str) -> Option<String> {
        let store = self.wire.store_version()?;
        self.kept().find(id).map(|session| format!("\"{}-{store}\"", session.number))
    }

    /// Returns the id of the session whose id has this hash, as other processes name it.
    pub fn id_of(&self, hash: &str) -> Option<String> {
        self.list().into_iter().map(|session| session.id).find(|id| hash_of(id) == hash)
    }
}

/// Returns the hash of an id, which can have any characters.
pub fn hash_of(id: &str) -> String {
    format!("{:?}", Key::from_bytes(id.as_bytes()))
}

impl RequestSessions for Memory {
    fn list(&self) -> Vec<RequestSession> {
        let kept = self.kept();
        let listed = kept.sessions.iter().filter(|session| self.is_old(session));
        let session = |session: &Session| RequestSession {
            id: session.id.clone(),
            format: session.api.lines_format().to_owned(),
            modified: session.modified,
        };
        listed.map(session).collect()
    }

    fn bytes(&self, id: &str) -> Option<SessionBytes> {
        let (api, body) = self.kept().find(id).map(|session| (session.api, session.body.clone()))?;
        Some(self.wire.session_lines(id, api, body.bytes()?).ok()?.into())
    }

    fn store_fault(&self) -> Option<String> {
        self.wire.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::PipelineSettings;

    fn keep(memory: &Memory, id: &str, body: &str) {
        let facts = RequestFacts { session: id.to_owned(), is_main: true, ..RequestFacts::default() };
        memory.keep(&facts, RequestApi::Chat, &Bytes::copy_from_slice(body.as_bytes()), 1);
    }

    fn ids(memory: &Memory) -> Vec<String> {
        memory.kept().sessions.iter().map(|session| session.id.clone()).collect()
    }

    fn memory() -> Memory {
        Memory::new(Arc::new(Wire::new(PipelineSettings::default(), Box::new(|_| Ok(None)))), || 10 * WITHOUT_FILE)
    }

    #[test]
    fn the_newest_bodies_are_kept() {
        let memory = memory();
        (0..10).for_each(|number| keep(&memory, &number.to_string(), "{}"));
        keep(&memory, "3", "{}");
        assert_eq!(ids(&memory), ["2", "4", "5", "6", "7", "8", "9", "3"]);
        keep(&memory, "large", &" ".repeat(BYTES));
        assert_eq!(ids(&memory), ["large"]);
        keep(&memory, "larger", &" ".repeat(BYTES + 1));
        assert_eq!(ids(&memory), [""; 0]);
    }

    #[test]
    fn a_large_body_stays_large_when_it_is_compressed() {
        let memory = memory();
        keep(&memory, "small", "{}");
        keep(&memory, "large", &" ".repeat(LARGEST_LOOK + 1));
        memory.pack("large");
        assert!(memory.kept().sessions[1].body.kept_bytes() < LARGEST_LOOK);
        assert_eq!(["small", "large", "unknown"].map(|id| memory.is_large(id)), [false, true, false]);
    }

    #[test]
    fn a_session_is_listed_if_its_client_writes_no_file() {
        let memory = memory();
        let old = |memory: &Memory| {
            let mut kept = memory.kept();
            kept.sessions.iter_mut().for_each(|session| session.first -= WITHOUT_FILE);
        };
        keep(&memory, "a", r#"{"messages":[{"role":"user","content":"x"}]}"#);
        assert_eq!((memory.list().len(), memory.id_of(&hash_of("a"))), (0, None));
        memory.answered("a", || false);
        old(&memory);
        assert_eq!(memory.id_of(&hash_of("a")).as_deref(), Some("a"));
        let lines = || memory.bytes("a").unwrap();
        assert!(matches!(memory.kept().sessions[0].body, KeptBody::Received(..)), "the next request replaces it");
        assert_eq!(*lines().as_ref(), *b"{\"role\":\"user\",\"content\":\"x\"}\n");
        keep(&memory, "a", r#"{"messages":[{"role":"user","content":"y"}]}"#);
        assert_eq!(*lines().as_ref(), *b"{\"role\":\"user\",\"content\":\"y\"}\n");
        assert!(memory.bytes("b").is_none());
        // Its file comes late.
        memory.answered("a", || true);
        keep(&memory, "a", "{}");
        assert_eq!(ids(&memory), [""; 0]);
        keep(&memory, "b", "{}");
        old(&memory);
        memory.answered("b", || false);
        memory.answered("b", || panic!("it is known"));
    }
}
