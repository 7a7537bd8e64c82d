//! The body of a request on its way to the API: passed on as it arrives, or read and changed as `wire` says.

use super::beside::{Sent, is_in_line};
use super::body::{self, Read, RequestBody};
use super::connection::ClientBody;
use super::passage::Passage;
use super::server::Proxy;
use super::turns::Turn;
use crate::commands::proxy::RequestStage;
use crate::provider::EditedBody;
use crate::wire::{Outgoing, RequestApi, RequestFacts, RequestHead, Stage, Wire};
use hyper::body::{Body, Bytes};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The size in bytes from which a body can pass without being read first.
const SMALL: usize = 64 << 10;
/// The maximum time for which the work beside a request waits for the answer: until then, the processor is left to the request.
const WAIT: Duration = Duration::from_millis(50);

/// The body of a request to send.
pub struct Upload {
    pub body: RequestBody,
    /// Its length in bytes, if it was changed.
    pub changed_length: Option<usize>,
}

impl Upload {
    /// Returns a body that passes on as it arrives.
    pub fn stream(body: RequestBody) -> Upload {
        Upload { body, changed_length: None }
    }
}

/// Returns the body to send, and the time at which it can be sent.
///
/// # Errors
///
/// The client closed the connection while it sent the request.
pub async fn upload(
    passage: &mut Passage,
    head: RequestHead,
    is_compressed: bool,
    body: ClientBody,
) -> Result<(Upload, Duration), hyper::Error> {
    let proxy = passage.proxy().clone();
    if head.api().is_none() {
        return Ok((Upload::stream(body::stream(body)), proxy.env.elapsed()));
    }
    if is_compressed {
        passage.stage("passed on as a stream: the body is compressed");
        return Ok((Upload::stream(body::stream(body)), proxy.env.elapsed()));
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut turn = proxy.tasks.turns().wait(announced).await;
    if passes(&proxy, &head, announced) {
        return Ok((Upload::stream(pass(passage, head, body, turn)), proxy.env.elapsed()));
    }
    let read = body::read(body, &proxy.buffers).await?;
    let received = proxy.env.elapsed();
    let upload = match read {
        Read::Whole(bytes) => {
            if announced < bytes.len() {
                turn = proxy.tasks.turns().wait(bytes.len()).await;
            }
            decide(passage, head, bytes, turn).await
        }
        Read::Larger(body) => {
            passage.stage("passed on as a stream: the body is too large to be changed");
            Upload::stream(body)
        }
    };
    Ok((upload, received))
}

/// Returns true if a body of this length is sent as it is, whatever it contains. A small body is read faster than this is decided.
fn passes(proxy: &Proxy, head: &RequestHead, length: usize) -> bool {
    (SMALL..=body::LARGEST).contains(&length) && proxy.options.record.is_none() && proxy.wire.passes(head)
}

/// Returns the body as a stream: no time is spent before it is sent, and its facts are read when it has arrived.
fn pass(passage: &mut Passage, head: RequestHead, body: ClientBody, turn: Option<Turn>) -> RequestBody {
    let proxy = passage.proxy().clone();
    let (body, arrived) = body::kept(body, &proxy.buffers);
    let number = passage.number();
    let (unanswered, answered) = oneshot::channel::<()>();
    let facts = tokio::spawn(async move {
        let bytes = arrived.await.ok()?;
        let _ = timeout(WAIT, answered).await;
        let (api, client) = (head.api(), bytes.clone());
        let facts = tokio::task::spawn_blocking(move || Wire::facts(&head, &bytes)).await;
        if let (Ok(facts), Some(api)) = (&facts, api)
            && is_in_line(facts)
        {
            proxy.keep(facts, api, &client);
            let sent = Sent { number, facts: facts.clone(), api, client, changed: None, turn };
            proxy.tasks.clone().read(sent, proxy.memory.clone()).await;
        }
        match &facts {
            Ok(facts) => proxy.list(number, facts, proxy.as_received()),
            Err(_) => proxy.report_once("an internal error: the facts of a request are not listed"),
        }
        facts.ok()
    });
    passage.work(facts, unanswered);
    body
}

/// Returns what to send for a body. Any failure gives the body as it is.
async fn decide(passage: &mut Passage, head: RequestHead, received: Bytes, turn: Option<Turn>) -> Upload {
    let proxy = passage.proxy().clone();
    let (shared, body, api) = (proxy.clone(), received.clone(), head.api());
    // A panic on the other thread is the error of the join.
    let decided = tokio::task::spawn_blocking(move || shared.wire.request(&head, &body, shared.now())).await;
    let fault = decided.is_err().then_some("an internal error: the body was sent as it was received");
    if let Some(fault) = fault {
        proxy.report_once(fault);
    }
    let Outgoing { body, offers_tool, mut facts } = decided.unwrap_or_default();
    let changed = body.filter(|body| !body.is_as_received(&received));
    let length = changed.as_ref().map_or(received.len(), EditedBody::len);
    let note = match (&changed, fault) {
        (_, Some(fault)) => fault.to_owned(),
        (Some(_), None) => format!("changed: {} bytes received, {length} bytes sent", received.len()),
        (None, None) => match &facts.problem {
            Some(problem) => format!("sent as received: {problem}"),
            None => proxy.as_received().to_owned(),
        },
    };
    (facts.client_bytes, facts.sent_bytes) = (received.len() as u64, length as u64);
    proxy.list(passage.number(), &facts, &note);
    if changed.is_some() {
        proxy.requests.count_changed();
    }
    if let Some(api) = api.filter(|_| is_in_line(&facts)) {
        proxy.keep(&facts, api, &received);
        let known = RequestFacts { session: facts.session.clone(), is_main: facts.is_main, ..RequestFacts::default() };
        let (number, client, changed) = (passage.number(), received.clone(), changed.clone());
        let sent = Sent { number, facts: known, api, client, changed, turn };
        let (unanswered, answered) = oneshot::channel::<()>();
        let read = proxy.tasks.clone().read(sent, proxy.memory.clone());
        let task = tokio::spawn(async move {
            let _ = timeout(WAIT, answered).await;
            read.await;
            None
        });
        passage.work(task, unanswered);
    }
    passage.record_body("request", || received.clone());
    if let Some(changed) = &changed {
        passage.record_body("sent", || changed.bytes(&received).into());
    }
    passage.decide(facts, changed.is_some());
    if let Some(changed) = changed.as_ref().filter(|_| offers_tool) {
        passage.offer(received.clone(), changed.clone());
    }
    match changed {
        Some(changed) => Upload { changed_length: Some(length), body: body::edited(received, changed) },
        None => Upload { changed_length: None, body: body::whole(received) },
    }
}

impl Proxy {
    /// Keeps a body for commands on its session, unless requests are not changed.
    fn keep(&self, facts: &RequestFacts, api: RequestApi, body: &Bytes) {
        if !self.options.observe {
            self.memory.keep(facts, api, body, self.now());
        }
    }

    /// Returns the note on a body that was not changed.
    fn as_received(&self) -> &'static str {
        if self.options.observe { "sent as received: the proxy only observes" } else { "sent as received" }
    }

    /// Lists the facts of a request and a note on the bytes that were sent, and reports the problem that kept the body from being changed.
    fn list(&self, number: u64, facts: &RequestFacts, note: &str) {
        if let Some(problem) = &facts.problem {
            self.report_once(&format!("the body was sent as it was received: {problem}"));
        }
        if let Some(reason) = &facts.held {
            self.report_once(&format!("requests have the changes of earlier ones, new changes wait: {reason}"));
        }
        self.requests.update(number, |request| {
            request.session.clone_from(&facts.session);
            request.line.clone_from(&facts.line);
            request.model.clone_from(&facts.model);
            (request.client_bytes, request.sent_bytes) = (facts.client_bytes, facts.sent_bytes);
            let stages = self.wire.explained(facts).into_iter();
            request.stages.extend(stages.map(|stage| RequestStage { stage: stage.stage.name().to_owned(), note: stage.note }));
            request.stages.push(RequestStage { stage: Stage::Emit.name().to_owned(), note: note.to_owned() });
        });
    }
}
