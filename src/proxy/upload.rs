//! The body of a request on its way to the API: passed on as it arrives, or read and changed as `wire` says.

use super::beside::{Sent, is_in_line};
use super::body::{self, Read, RequestBody};
use super::connection::ClientBody;
use super::passage::Passage;
use super::server::Proxy;
use super::turns::Turn;
use crate::wire::{Outgoing, RequestApi, RequestFacts, RequestHead, RequestStage, stages::emit};
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
    pub changed_length: Option<usize>,
}

impl Upload {
    /// Returns a body that passes on as it arrives.
    pub fn stream(body: RequestBody) -> Upload {
        Upload { body, changed_length: None }
    }
}

/// Returns the body to send, and the time at which it can be sent.
/// Errors: the client closed the connection while it sent the request.
pub async fn upload(
    passage: &mut Passage,
    head: RequestHead,
    is_compressed: bool,
    body: ClientBody,
) -> Result<(Upload, Duration), hyper::Error> {
    let proxy = passage.proxy.clone();
    if head.api().is_none() {
        return Ok((Upload::stream(body::stream(body)), proxy.env.elapsed()));
    }
    if is_compressed {
        passage.note("passed on as a stream: the body is compressed");
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
            passage.note("passed on as a stream: the body is too large to be changed");
            Upload::stream(body)
        }
    };
    Ok((upload, received))
}

fn passes(proxy: &Proxy, head: &RequestHead, length: usize) -> bool {
    (SMALL..=body::LARGEST).contains(&length) && proxy.options.record.is_none() && proxy.wire.passes(head)
}

/// Returns the body as a stream: no time is spent before it is sent, and its facts are read when it has arrived.
fn pass(passage: &mut Passage, head: RequestHead, body: ClientBody, turn: Option<Turn>) -> RequestBody {
    let proxy = passage.proxy.clone();
    let (body, arrived) = body::with_copy(body, &proxy.buffers);
    let number = passage.number;
    let (unanswered, answered) = oneshot::channel::<()>();
    let facts = tokio::spawn(async move {
        let bytes = arrived.await.ok()?;
        let _ = timeout(WAIT, answered).await;
        let client = bytes.clone();
        let wire = proxy.wire.clone();
        let facts = tokio::task::spawn_blocking(move || wire.facts(&head, &bytes)).await;
        if let Ok(facts) = &facts
            && let Some(api) = proxy.keep(facts, &client)
        {
            let sent = Sent { number, session: facts.session.clone(), api, client, changed: None, turn };
            proxy.tasks.clone().read(sent, proxy.memory.clone()).await;
        }
        match &facts {
            Ok(facts) => proxy.list(number, facts),
            Err(_) => proxy.report_once("an internal error: the facts of a request are not listed"),
        }
        facts.ok()
    });
    (passage.beside, passage.unanswered) = (Some(facts), Some(unanswered));
    body
}

/// Returns what to send for a body. Any failure gives the body as it is.
async fn decide(passage: &mut Passage, head: RequestHead, received: Bytes, turn: Option<Turn>) -> Upload {
    let proxy = passage.proxy.clone();
    let (shared, body) = (proxy.clone(), received.clone());
    // A panic on the other thread is the error of the join.
    let decided = tokio::task::spawn_blocking(move || shared.wire.request(&head, &body, shared.now())).await;
    let Outgoing { body: changed, offers_tool, facts } = decided.unwrap_or_else(|_| {
        let fault = "an internal error: the body was sent as it was received";
        proxy.report_once(fault);
        let (bytes, stages) = (received.len() as u64, vec![RequestStage::of(&emit::STAGE, fault)]);
        let facts = RequestFacts { client_bytes: bytes, sent_bytes: bytes, stages, ..RequestFacts::default() };
        Outgoing { facts, ..Outgoing::default() }
    });
    proxy.list(passage.number, &facts);
    if changed.is_some() {
        proxy.requests.count_changed();
    }
    if let Some(api) = proxy.keep(&facts, &received) {
        let (number, session) = (passage.number, facts.session.clone());
        let sent = Sent { number, session, api, client: received.clone(), changed: changed.clone(), turn };
        let (unanswered, answered) = oneshot::channel::<()>();
        let read = proxy.tasks.clone().read(sent, proxy.memory.clone());
        let task = tokio::spawn(async move {
            let _ = timeout(WAIT, answered).await;
            read.await;
            None
        });
        (passage.beside, passage.unanswered) = (Some(task), Some(unanswered));
    }
    passage.record_body("request", || received.clone());
    if let Some(changed) = &changed {
        passage.record_body("sent", || changed.bytes(&received).into());
    }
    passage.decide(facts, changed.is_some());
    passage.offered = changed.clone().filter(|_| offers_tool).map(|changed| (received.clone(), changed));
    match changed {
        Some(changed) => Upload { changed_length: Some(changed.len()), body: body::edited(received, changed) },
        None => Upload { changed_length: None, body: body::whole(received) },
    }
}

impl Proxy {
    /// Keeps a body for commands on its session, unless requests are not changed. Returns its API; `None` if it is in no line.
    fn keep(&self, facts: &RequestFacts, body: &Bytes) -> Option<RequestApi> {
        let api = facts.api.filter(|_| is_in_line(facts))?;
        if !self.options.observe {
            self.memory.keep(facts, api, body, self.now());
        }
        Some(api)
    }

    fn list(&self, number: u64, facts: &RequestFacts) {
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
            request.stages.extend(facts.stages.iter().cloned());
        });
    }
}
