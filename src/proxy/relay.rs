//! Responses of a model that has the tool of aperture: its calls are answered here, and the responses that follow them reach the client as
//! one.

use super::body::{self, BodyError, RequestBody, ResponseBody};
use super::forward::form;
use super::kept::KeptBody;
use super::passage::Passage;
use super::server::Proxy;
use crate::commands::live::proxied::answer_call;
use crate::model::{Key, ReplyPart, WithheldReply};
use crate::output::plural;
use crate::provider::{
    CallFilter, EditedBytes, Occurrences, Reply, RequestDocument, ResponseForm, WithheldCall, call_result, continuation,
};
use crate::wire::{RequestApi, RequestFacts, TOOL};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use hyper::{Method, Request, Uri};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum number of responses in a row that are continued. Calls in the next one are answered with [`TOO_MANY`].
const LIMIT: usize = 8;
/// The answer to a call after too many others.
const TOO_MANY: &str = "not executed: too many calls in a row; continue without this tool";
const WAITING: usize = 4;

/// A request as it was sent, for the requests that continue it.
pub struct Exchange {
    pub api: RequestApi,
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub received: KeptBody,
    /// The body as it was sent: the received one after edits.
    pub body: EditedBytes,
}

impl Exchange {
    /// Returns the body as the client wrote it.
    pub fn received(&self) -> Bytes {
        // Without it there is no continuation, and the client gets the response as it is.
        self.received.bytes().unwrap_or_default()
    }

    fn request(&self) -> Request<RequestBody> {
        let mut request = Request::new(body::edited(self.received(), self.body.clone()));
        (*request.method_mut(), *request.uri_mut()) = (self.method.clone(), self.uri.clone());
        *request.headers_mut() = self.headers.clone();
        if self.headers.contains_key(CONTENT_LENGTH) {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
        request
    }
}

/// Returns the body for the client. The work ends when the client drops it.
pub fn body(response: Incoming, passage: Passage, facts: RequestFacts, exchange: Exchange, filter: CallFilter) -> ResponseBody {
    let (client, pieces) = channel(WAITING);
    let is_gone = client.clone();
    let proxy = passage.proxy.clone();
    let relay = Relay { proxy, client, passage, facts, exchange, filter, pending: Vec::new(), seen: None, rounds: 0 };
    tokio::spawn(async move {
        tokio::select! {
            () = is_gone.closed() => {}
            () = relay.run(response) => {}
        }
    });
    Relayed(pieces).boxed_unsync()
}

/// A frame for the client, or the error that ends its response; `None` at the end.
type Piece = Option<Result<Frame<Bytes>, BodyError>>;

struct Relay {
    proxy: Arc<Proxy>,
    client: Sender<Piece>,
    passage: Passage,
    facts: RequestFacts,
    exchange: Exchange,
    filter: CallFilter,
    /// Responses with calls, until a content block of their continuation is known.
    pending: Vec<WithheldReply>,
    /// The content blocks of the conversation, counted with the first call.
    seen: Option<Occurrences>,
    rounds: usize,
}

impl Relay {
    async fn run(mut self, response: Incoming) {
        let _room = self.hold().await;
        let mut response = Some(response);
        while let Some(body) = response.take() {
            if let Some(reply) = self.pass(body).await {
                response = self.answer(reply).await;
            }
        }
    }

    /// Takes room for the body while the response passes; without room, it is compressed.
    async fn hold(&mut self) -> Option<OwnedSemaphorePermit> {
        let size = u32::try_from(self.exchange.received.received_bytes() >> 10).unwrap_or(u32::MAX);
        if let Ok(room) = self.proxy.room.clone().try_acquire_many_owned(size) {
            return Some(room);
        }
        let received = self.exchange.received.clone();
        if let Some(packed) = self.proxy.tasks.on_bodies(move || received.packed()).await {
            self.exchange.received = packed;
        }
        None
    }

    /// Passes a response on. Returns it if it has calls to be answered.
    async fn pass(&mut self, mut body: Incoming) -> Option<Reply> {
        while let Some(frame) = body.frame().await {
            let data = match frame {
                Ok(frame) => frame.into_data().unwrap_or_default(),
                Err(error) => {
                    self.passage.cut(&error);
                    self.passage.end("cut");
                    self.send(Some(Err(error.into()))).await;
                    return None;
                }
            };
            self.passage.piece(&data);
            let bytes = self.filter.push(&data);
            self.store_answered().await;
            self.send_bytes(bytes).await;
        }
        self.passage.end("done");
        let (rest, reply) = self.filter.end();
        self.store_answered().await;
        if reply.is_none() {
            self.finish(rest).await;
        }
        reply
    }

    /// Answers the calls of a response. Returns the response that continues it.
    async fn answer(&mut self, reply: Reply) -> Option<Incoming> {
        let Reply { parts, content, calls, is_alone } = reply;
        self.exchange.received = KeptBody::Received(self.exchange.received());
        self.passage.note(&format!("{} of {} withheld and answered", plural(calls.len(), "call"), TOOL.name));
        let results = self.results(calls).await;
        let parts = self.numbered(parts);
        self.pending.push(WithheldReply { parts, results: results.clone(), next: None });
        if !is_alone || self.rounds > LIMIT {
            let end = self.filter.release(is_alone);
            self.finish(end).await;
            return None;
        }
        let (api, received, body) = (self.exchange.api, self.exchange.received(), self.exchange.body.clone());
        let continued = tokio::task::spawn_blocking(move || continued(api, &received, body, &content, &results)).await;
        let next = match continued {
            Ok(Some(body)) => self.proceed(body).await,
            _ => None,
        };
        if next.is_none() {
            let end = self.filter.release(true);
            self.finish(end).await;
        }
        next
    }

    /// Numbers the hashes of the content blocks of a response, as they will be in later requests.
    fn numbered(&mut self, parts: Vec<ReplyPart>) -> Vec<ReplyPart> {
        let exchange = &self.exchange;
        let seen = self.seen.get_or_insert_with(|| Occurrences::of(exchange.api, &exchange.received()));
        let part = |part| match part {
            ReplyPart::Passed(key) => ReplyPart::Passed(seen.count(key)),
            withheld => withheld,
        };
        parts.into_iter().map(part).collect()
    }

    async fn results(&self, calls: Vec<WithheldCall>) -> Vec<String> {
        if self.rounds >= LIMIT {
            return calls.iter().map(|call| call_result(self.exchange.api, &call.id, TOO_MANY)).collect();
        }
        let api = self.exchange.api;
        let (proxy, session) = (self.proxy.clone(), self.facts.session.clone());
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let executed = tokio::task::spawn_blocking(move || {
            let mut env = proxy.env.clone();
            env.refresh();
            let result = |call: &WithheldCall| call_result(api, &call.id, &answer_call(&env, &session, &call.id, &call.input));
            calls.iter().map(result).collect()
        });
        executed.await.unwrap_or_else(|_| ids.iter().map(|id| call_result(api, id, "failed: an internal error")).collect())
    }

    /// Sends the request that continues the current one, and returns its response; `None` if it fails.
    async fn proceed(&mut self, body: EditedBytes) -> Option<Incoming> {
        self.rounds += 1;
        self.exchange.body = body;
        self.passage = self.passage.continuation(&self.facts, &self.exchange);
        let sent = self.proxy.upstream.send(self.exchange.request()).await;
        let response = match sent {
            Ok(response) => response,
            Err(cause) => {
                let message = self.proxy.env.gate.masked(&format!("no response: {cause:#}"));
                self.passage.note(&message);
                self.passage.end("failed");
                return None;
            }
        };
        self.passage.status(response.status());
        if !response.status().is_success() || form(response.headers()) != Some(self.filter.form()) {
            self.passage.end("done");
            return None;
        }
        self.passage.read(self.filter.form() == ResponseForm::Events);
        self.filter.proceed();
        Some(response.into_body())
    }

    /// Stores the responses whose continuation is known: the client can send it with its next request, as soon as it has it.
    async fn store_answered(&mut self) {
        if let Some(first) = self.filter.take_first() {
            self.store_pending(Some(first)).await;
        }
    }

    /// Stores the responses whose calls later requests contain, before the client can send one.
    async fn store_pending(&mut self, next: Option<Key>) {
        let mut replies = std::mem::take(&mut self.pending);
        if replies.is_empty() {
            return;
        }
        let next = next.map(|next| self.seen.as_ref().map_or(next, |seen| seen.next(next)));
        replies.iter_mut().for_each(|reply| reply.next = next);
        let (proxy, facts) = (self.proxy.clone(), self.facts.clone());
        let stored = tokio::task::spawn_blocking(move || proxy.wire.add_replies(&facts, replies, proxy.now())).await;
        if let Ok(Err(error)) = stored {
            self.proxy.report_once(&format!("a call of {} is in memory only, as long as this proxy runs: {error}", TOOL.name));
        }
    }

    async fn finish(&mut self, bytes: Vec<u8>) {
        self.store_answered().await;
        self.store_pending(None).await;
        self.send_bytes(bytes).await;
        self.send(None).await;
    }

    async fn send_bytes(&self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.send(Some(Ok(Frame::data(bytes.into())))).await;
        }
    }

    async fn send(&self, piece: Piece) {
        // Without the client, the whole work is dropped.
        let _ = self.client.send(piece).await;
    }
}

/// Returns a body that continues with the content of a response and the results of its calls.
fn continued(api: RequestApi, received: &[u8], body: EditedBytes, content: &[String], results: &[String]) -> Option<EditedBytes> {
    let edit = continuation(api, &RequestDocument::new(&body.bytes(received))?, content, results)?;
    Some(body.with(vec![edit]))
}

struct Relayed(Receiver<Piece>);

impl Body for Relayed {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0.poll_recv(context).map(|piece| piece.unwrap_or_else(|| Some(Err("an internal error".into()))))
    }
}
