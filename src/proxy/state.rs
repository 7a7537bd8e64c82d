//! The state file of a running proxy, and requests to that proxy.
#![expect(clippy::disallowed_types, reason = "asks the running proxy")]

use super::control;
use crate::app::{CommandError, Env, ErrorKind, files};
use crate::workspace::is_alive;
use anyhow::{Context, anyhow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// The name of the file in the data directory.
const FILE: &str = "proxy.json";
/// The maximum time to connect to the proxy, and between two pieces of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running proxy, as other processes find it.
#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    /// Its process.
    pub process: u32,
    /// The address at which this machine reaches it.
    pub address: SocketAddr,
    /// The token of control requests.
    pub token: String,
    /// The time of its start, in milliseconds since 1970, UTC.
    pub started: i64,
    /// The client whose proxy it is; `None` if it serves all clients.
    pub client: Option<String>,
}

impl State {
    /// Returns the state of the proxy that runs, if one does: a file whose process has ended, or whose address does not answer, is
    /// ignored.
    ///
    /// # Errors
    ///
    /// There is no data directory.
    pub fn running(env: &Env) -> Result<Option<State>, CommandError> {
        let state = State::read(env)?.filter(|state| is_alive(state.process));
        Ok(state.filter(|state| state.request("GET", control::STATUS).is_ok()))
    }

    /// Returns true if the file is that of this proxy, and its process runs.
    ///
    /// # Errors
    ///
    /// There is no data directory.
    pub fn is_current(&self, env: &Env) -> Result<bool, CommandError> {
        Ok(State::read(env)?.is_some_and(|state| state.token == self.token && is_alive(state.process)))
    }

    fn read(env: &Env) -> Result<Option<State>, CommandError> {
        let bytes = files::whole(env.disk, &path(env)?).ok().flatten();
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Writes the file, readable by its owner only. A proxy without it serves all the same.
    pub fn announce(&self, env: &Env) {
        if let Err(error) = self.write(env) {
            env.note(&format!("{:#}: requests pass, but other commands do not find this proxy", error.source));
        }
    }

    fn write(&self, env: &Env) -> Result<(), CommandError> {
        let path = path(env)?;
        let write = || {
            files::make_directory(&env.store_directory().map_err(|error| error.source)?)?;
            files::write_private(env.disk, &path, &serde_json::to_vec(self)?)?;
            anyhow::Ok(())
        };
        let written = write().with_context(|| format!("cannot write {}", path.display()));
        written.map_err(|error| CommandError::new(ErrorKind::Refused, error).hint("set APERTURE_HOME to a writable directory"))
    }

    /// Removes the file, unless it is that of another proxy.
    pub fn remove(&self, env: &Env) {
        if let (Ok(path), Ok(Some(state))) = (path(env), State::read(env))
            && state.token == self.token
        {
            let _ = env.disk.remove(&path);
        }
    }

    /// Returns the URL of the proxy.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks the proxy for a value.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CommandError> {
        self.value("GET", path)
    }

    /// Tells the proxy to do something.
    ///
    /// # Errors
    ///
    /// It does not answer.
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
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (address, token, header) = (self.address, &self.token, control::HEADER);
        let host = format!("{}:{}", if address.is_ipv6() { "[::1]" } else { "127.0.0.1" }, address.port());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{header}: {token}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let body = memchr::memmem::find(&answer, b"\r\n\r\n").context("the answer has no head")? + 4;
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            return Err(anyhow!("it is another program, or another proxy"));
        }
        Ok(answer.split_off(body))
    }
}

fn path(env: &Env) -> Result<PathBuf, CommandError> {
    Ok(env.store_directory()?.join(FILE))
}
