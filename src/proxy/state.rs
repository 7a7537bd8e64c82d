//! The state files of running proxies, and requests to these proxies.
#![expect(clippy::disallowed_types, reason = "asks the running proxy")]

use super::control;
use super::memory::hash_of;
use crate::app::{CommandError, Env, ErrorKind, files};
use crate::commands::proxy::ProxyStatus;
use crate::workspace::{RequestSession, RequestSessions, SessionBytes, is_alive};
use anyhow::{Context, anyhow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The beginning and the end of the name of a file in the data directory. The proxy of one client has its process id between them.
const NAME: &str = "proxy";
const END: &str = ".json";
/// The maximum time to connect to the proxy, and between two pieces of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running proxy, as other processes find it.
#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    pub process: u32,
    /// The address at which this machine reaches it.
    pub address: SocketAddr,
    pub token: String,
    /// The first segment of the path of the user's own requests.
    pub secret: String,
    /// True if it sends all requests to one base URL.
    pub has_upstream: bool,
    /// The time of its start, in milliseconds since 1970, UTC.
    pub started: i64,
    /// The client whose proxy it is; `None` if it serves all clients.
    pub client: Option<String>,
}

impl State {
    /// Returns the state of the proxy that runs, if one does; of several, that of all clients, or else the first one. A file whose process
    /// has ended, or whose address does not answer, is ignored.
    pub fn running(env: &Env) -> Result<Option<State>, CommandError> {
        let mut states = State::alive(env)?;
        states.sort_by_key(|state| (state.client.is_some(), state.started));
        Ok(states.into_iter().find(|state| state.request("GET", control::STATUS).is_ok()))
    }

    /// Returns true if there is a file of this proxy, and its process runs.
    pub fn is_current(&self, env: &Env) -> Result<bool, CommandError> {
        Ok(State::alive(env)?.iter().any(|state| state.token == self.token))
    }

    fn alive(env: &Env) -> Result<Vec<State>, CommandError> {
        let states = State::all(env)?.into_iter().map(|(_, state)| state);
        Ok(states.filter(|state| is_alive(state.process)).collect())
    }

    fn all(env: &Env) -> Result<Vec<(PathBuf, State)>, CommandError> {
        let is_state = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(NAME) && name.ends_with(END)
        };
        let read = |path: &Path| serde_json::from_slice(&files::whole(env.disk, path).ok().flatten()?).ok();
        let entries = env.disk.list(&env.store_directory()?).unwrap_or_default();
        let paths = entries.into_iter().map(|entry| entry.path).filter(is_state);
        Ok(paths.filter_map(|path| read(&path).map(|state| (path, state))).collect())
    }

    pub fn announce(&self, env: &Env) {
        let own = self.client.as_ref().map_or(String::new(), |_| format!("-{}", self.process));
        let path = env.store_directory().map(|directory| directory.join(format!("{NAME}{own}{END}")));
        if let Err(error) = path.and_then(|path| self.write(env, &path)) {
            env.note(&format!("{:#}: requests pass, but other commands do not find this proxy", error.source));
        }
    }

    /// Removes the file of this proxy, and those of proxies that were killed.
    pub fn remove(&self, env: &Env) {
        for (path, state) in State::all(env).unwrap_or_default() {
            if state.token == self.token || !is_alive(state.process) {
                let _ = env.disk.remove(&path);
            }
        }
    }

    fn write(&self, env: &Env, path: &Path) -> Result<(), CommandError> {
        let write = || {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files::make_private(&env.store_directory().map_err(|error| error.source)?, &name)?;
            files::write_private(env.disk, path, &serde_json::to_vec(self)?)?;
            anyhow::Ok(())
        };
        let written = write().with_context(|| format!("cannot write {}", path.display()));
        written.map_err(|error| CommandError::refused(error).hint("set APERTURE_HOME to a writable directory"))
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the base URL of the user's own requests.
    pub fn base_url(&self) -> String {
        format!("{}/{}", self.url(), self.secret)
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CommandError> {
        self.value("GET", path)
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str) -> Result<T, CommandError> {
        self.value("POST", path)
    }

    fn value<T: DeserializeOwned>(&self, method: &str, path: &str) -> Result<T, CommandError> {
        let asked = self.request(method, path).and_then(|body| Ok(serde_json::from_slice(&body)?));
        asked
            .with_context(|| format!("the proxy on {} does not answer", self.url()))
            .map_err(|error| CommandError::new(ErrorKind::Conflict, error).hint("try again, or start it again: aperture proxy"))
    }

    fn request(&self, method: &str, path: &str) -> anyhow::Result<Vec<u8>> {
        let answer = self.ask(method, path, "")?;
        match answer.status {
            200 => Ok(answer.body),
            _ => Err(anyhow!("it is another program, or another proxy")),
        }
    }

    fn ask(&self, method: &str, path: &str, lines: &str) -> anyhow::Result<Answer> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (address, token, header) = (self.address, &self.token, control::HEADER);
        let host = format!("{}:{}", if address.is_ipv6() { "[::1]" } else { "127.0.0.1" }, address.port());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{header}: {token}\r\n{lines}content-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Answer::parse(answer).context("the answer has no head")
    }
}

struct Answer {
    status: u16,
    /// The version of the body; empty if it has none.
    version: String,
    body: Vec<u8>,
}

impl Answer {
    fn parse(mut bytes: Vec<u8>) -> Option<Answer> {
        let body = bytes.split_off(memchr::memmem::find(&bytes, b"\r\n\r\n")? + 4);
        let head = String::from_utf8(bytes).ok()?;
        let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
        let version = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap_or_default().to_owned();
        Some(Answer { status, version, body })
    }
}

/// Returns an environment that also has the sessions in the memory of the running proxy.
pub fn with_sessions(env: &Env) -> Env {
    env.with_requests(Arc::new(Remote { env: env.clone(), read: Mutex::default() }))
}

/// The proxies that run, in other processes.
struct Remote {
    env: Env,
    read: Mutex<Option<ReadSession>>,
}

/// The bytes of a session of a proxy, and their version.
struct ReadSession {
    token: String,
    path: String,
    version: String,
    bytes: SessionBytes,
}

impl Remote {
    fn running(&self) -> Vec<State> {
        State::alive(&self.env).unwrap_or_default()
    }

    /// Returns the bytes of a session of a proxy, which sends them again only if they have changed.
    fn read(&self, state: &State, path: String) -> Option<SessionBytes> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.as_ref().filter(|known| known.token == state.token && known.path == path && !known.version.is_empty());
        let condition = known.map_or(String::new(), |known| format!("if-none-match: {}\r\n", known.version));
        let answer = state.ask("GET", &path, &condition).ok()?;
        match (answer.status, known) {
            (304, Some(known)) => Some(known.bytes.clone()),
            (200, _) => {
                let bytes = SessionBytes::from(answer.body);
                *read = Some(ReadSession { token: state.token.clone(), path, version: answer.version, bytes: bytes.clone() });
                Some(bytes)
            }
            _ => None,
        }
    }
}

impl RequestSessions for Remote {
    fn list(&self) -> Vec<RequestSession> {
        let listed = |state: &State| serde_json::from_slice(&state.request("GET", control::SESSIONS).ok()?).ok();
        let mut sessions: Vec<RequestSession> = self.running().iter().filter_map(listed).flat_map(Vec::into_iter).collect();
        sessions.sort_by(|a, b| (&a.id, b.modified).cmp(&(&b.id, a.modified)));
        sessions.dedup_by(|later, first| later.id == first.id);
        sessions
    }

    fn bytes(&self, id: &str) -> Option<SessionBytes> {
        let path = format!("{}/{}", control::SESSIONS, hash_of(id));
        self.running().iter().find_map(|state| self.read(state, path.clone()))
    }

    fn store_fault(&self) -> Option<String> {
        let status = |state: &State| state.get::<ProxyStatus>(control::STATUS).ok();
        self.running().iter().filter_map(status).find_map(|status| status.store_fault)
    }
}
