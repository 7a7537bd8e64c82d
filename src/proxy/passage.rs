//! The passage of a request and its response: its entry in the list, its figures, and the bytes that are kept meanwhile.

use super::beside::{Answered, Task};
use super::body::RequestBody;
use super::kept::KeptBody;
use super::relay::Exchange;
use super::server::Proxy;
use crate::commands::proxy::ProxyRequest;
use crate::engine::preview;
use crate::provider::{EditedBytes, ResponseReader};
use crate::wire::{RequestApi, RequestFacts, RequestStage, stages::emit};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The maximum size of a recorded response, in bytes.
const LONGEST_RECORD: usize = 16 << 20;

/// A request and its response on their way. An entry of the list whose passage is dropped without an end was aborted by the client.
pub struct Passage {
    pub proxy: Arc<Proxy>,
    pub number: u64,
    progress: Progress,
    ended: bool,
    /// The body as it was received and its changes, if it offers the tool of aperture.
    pub offered: Option<(Bytes, EditedBytes)>,
    pub exchange: Option<(RequestFacts, Exchange)>,
    /// The work beside the request, which returns its facts if its body is passed on as it arrives. The end of the request is after it.
    pub beside: Option<JoinHandle<Option<RequestFacts>>>,
    /// Dropped when the answer begins, for this work.
    pub unanswered: Option<oneshot::Sender<()>>,
}

/// The facts of a request and its response until it ends.
#[derive(Default)]
struct Progress {
    /// The status of the response; 0 before it.
    status: u16,
    reader: Option<ResponseReader>,
    record: Option<Vec<u8>>,
    /// The facts of the request, and if its body was changed.
    decided: Option<(RequestFacts, bool)>,
}

/// Returns the name of the file with a body of a request.
pub fn record_name(request: u64, kind: &str) -> String {
    format!("{request:06}-{kind}.json")
}

impl Passage {
    pub fn new(proxy: Arc<Proxy>, request: ProxyRequest) -> Passage {
        let number = proxy.requests.add(request);
        let (offered, exchange, beside, unanswered) = (None, None, None, None);
        Passage { proxy, number, progress: Progress::default(), ended: false, offered, exchange, beside, unanswered }
    }

    pub fn continuation(&self, facts: &RequestFacts, exchange: &Exchange) -> Passage {
        let RequestFacts { session, line, model, .. } = facts.clone();
        let bytes = exchange.body.len() as u64;
        let mut request = ProxyRequest { time: self.proxy.now(), session, line, model, ..ProxyRequest::default() };
        (request.client_bytes, request.sent_bytes) = (bytes, bytes);
        self.update(|of| (request.method, request.path, request.run) = (of.method.clone(), of.path.clone(), of.run));
        let mut passage = Passage::new(self.proxy.clone(), request);
        passage.note(&format!("continues request {} with the results of its calls", self.number));
        passage.decide(facts.clone(), true);
        passage.record_body("sent", || exchange.body.bytes(&exchange.received()).into());
        passage
    }

    /// Takes the facts of the request, and if its body was changed.
    pub fn decide(&mut self, facts: RequestFacts, is_changed: bool) {
        self.progress.decided = Some((facts, is_changed));
    }

    /// Keeps a request for those that continue it, if it offers the tool of aperture.
    pub fn keep(&mut self, api: Option<RequestApi>, request: &Request<RequestBody>) {
        let facts = self.progress.decided.as_ref().map(|(facts, _)| facts.clone());
        if let (Some(api), Some((received, body)), Some(facts)) = (api, self.offered.take(), facts) {
            let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
            let received = KeptBody::Received(received);
            self.exchange = Some((facts, Exchange { api, method, uri, headers, received, body }));
        }
    }

    /// Records a body, and from now on the response.
    pub fn record_body(&mut self, kind: &str, body: impl FnOnce() -> Bytes) {
        if let Some(directory) = &self.proxy.options.record {
            self.update(|request| request.record = Some(directory.clone()));
            self.proxy.record(record_name(self.number, kind), body());
            self.progress.record = Some(Vec::new());
        }
    }

    fn update(&self, change: impl FnOnce(&mut ProxyRequest)) {
        self.proxy.requests.update(self.number, change);
    }

    pub fn note(&self, note: &str) {
        self::note(&self.proxy, self.number, note);
    }

    /// Adds a note on the failure that ended the response early.
    pub fn cut(&self, error: &hyper::Error) {
        let (mut reason, mut cause) = (error.to_string(), error.source());
        while let Some(inner) = cause {
            reason = format!("{reason}: {inner}");
            cause = inner.source();
        }
        self.note(&self.proxy.env.gate.masked(&format!("the response was cut: {reason}")));
    }

    /// Takes the time between the end of the request of the client and the start of the one to the API.
    pub fn sent(&self, added: Duration) {
        self.update(|request| request.added_microseconds = u64::try_from(added.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn status(&mut self, status: StatusCode) {
        self.unanswered = None;
        self.progress.status = status.as_u16();
        self.update(|request| request.status = status.as_u16());
    }

    pub fn read(&mut self, events: bool) {
        self.progress.reader = Some(ResponseReader::new(events));
    }

    pub fn piece(&mut self, bytes: &[u8]) {
        if let Some(reader) = &mut self.progress.reader {
            reader.push(bytes);
        }
        if let Some(record) = self.progress.record.as_mut().filter(|record| record.len() + bytes.len() <= LONGEST_RECORD) {
            record.extend_from_slice(bytes);
        }
    }

    /// Takes the end of the response; later ends are ignored.
    pub fn end(&mut self, outcome: &'static str) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.unanswered = None;
        let (proxy, number, mut progress) = (self.proxy.clone(), self.number, std::mem::take(&mut self.progress));
        match (self.beside.take(), Handle::try_current()) {
            (Some(beside), Ok(runtime)) => drop(runtime.spawn(async move {
                if let Ok(Some(facts)) = beside.await {
                    progress.decided = Some((facts, false));
                }
                progress.conclude(&proxy, number, outcome);
            })),
            _ => progress.conclude(&proxy, number, outcome),
        }
    }
}

fn note(proxy: &Proxy, number: u64, note: &str) {
    proxy.requests.update(number, |request| request.stages.push(RequestStage::of(&emit::STAGE, note)));
}

impl Progress {
    fn conclude(self, proxy: &Arc<Proxy>, number: u64, outcome: &str) {
        let Progress { status, reader, record, decided } = self;
        let content = reader.map(ResponseReader::finish).unwrap_or_default();
        let billed = content.tokens;
        let has_failed = status == 0 || (400..600).contains(&status);
        if !content.error.is_empty() {
            let message = preview(&proxy.env.gate.masked(&content.error));
            let text = match has_failed {
                true => format!("the API refused it (status {status}): {message}"),
                false => format!("the API ended the answer with an error: {message}"),
            };
            note(proxy, number, &text);
        }
        proxy.requests.end(number, (has_failed || outcome == "cut") && outcome != "aborted", |request| {
            request.outcome = outcome.to_owned();
            request.billed = billed;
            if let Some(billed) = billed.filter(|_| request.sent_bytes > 0) {
                // The bill calibrates the estimate of the tokens that were not sent.
                request.sent_tokens = billed.sent();
                let ratio = request.client_bytes as f64 / request.sent_bytes as f64;
                request.client_tokens = (billed.sent() as f64 * ratio).round() as u64;
            }
        });
        if let Some(record) = record {
            proxy.record(format!("{number:06}-response.txt"), record.into());
        }
        let answered = Answered { number, decided, status, complete: outcome == "done", content };
        proxy.tasks.send(Task::Answered(Box::new(answered)));
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end("aborted");
    }
}
