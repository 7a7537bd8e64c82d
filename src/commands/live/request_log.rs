//! The log of the requests that passed a proxy: it outlives the proxy.

use crate::app::{CommandError, Env, files};
use crate::commands::proxy::ProxyRequest;
use crate::store::{LoggedRequest, REQUESTS_FILE, RequestLog, StoreError};

/// Writes requests to the log, which is opened at the first write.
pub struct RequestWriter {
    env: Env,
    log: Option<RequestLog>,
    waiting: Vec<LoggedRequest>,
}

impl RequestWriter {
    pub fn new(env: Env) -> RequestWriter {
        RequestWriter { env, log: None, waiting: Vec::new() }
    }

    /// Adds a request that is complete, for the next [`RequestWriter::flush`].
    pub fn add(&mut self, request: &ProxyRequest) {
        let content = serde_json::to_string(request).unwrap_or_default();
        self.waiting.push(LoggedRequest { time: request.time, number: request.number, content });
    }

    /// Returns the number of requests that were added and are not written.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Writes the requests that were added.
    /// Errors: the log cannot be written; these requests are then not in it.
    pub fn flush(&mut self) -> Result<(), CommandError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let written = self.log().and_then(|log| Ok(log.add(&waiting)?));
        if written.is_err() {
            // The file can have been deleted or replaced.
            self.log = None;
        }
        written
    }

    fn log(&mut self) -> Result<&mut RequestLog, CommandError> {
        match &mut self.log {
            Some(log) => Ok(log),
            log => {
                let (directory, seal) = (self.env.store_directory()?, self.env.keys.seal()?);
                files::make_private(&directory, REQUESTS_FILE)?;
                let opened = RequestLog::open(&directory, &seal);
                // It is disposable, unlike the store.
                let opened = opened.or_else(|error| match error {
                    StoreError::Damaged(_) => {
                        let _ = self.env.disk.remove(&directory.join(REQUESTS_FILE));
                        RequestLog::open(&directory, &seal)
                    }
                    error => Err(error),
                });
                Ok(log.insert(opened?))
            }
        }
    }
}

/// Returns the logged requests, oldest first. Those of other versions of aperture that cannot be read are left out.
pub fn logged_requests(env: &Env) -> Result<Vec<ProxyRequest>, CommandError> {
    let Some(log) = open(env)? else { return Ok(Vec::new()) };
    Ok(log.requests()?.iter().filter_map(|logged| serde_json::from_str(&logged.content).ok()).collect())
}

/// Returns the highest number of a logged request.
pub fn last_request(env: &Env) -> Result<u64, CommandError> {
    Ok(open(env)?.map(|log| log.last_number()).transpose()?.unwrap_or_default())
}

/// Opens the log; `None` if there is none, or the store is locked.
fn open(env: &Env) -> Result<Option<RequestLog>, CommandError> {
    let Ok(seal) = env.keys.seal() else { return Ok(None) };
    Ok(RequestLog::open_existing(&env.store_directory()?, &seal)?)
}
