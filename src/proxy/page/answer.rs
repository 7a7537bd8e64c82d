//! Answers of the page's server: files, requests, events.

use super::guard::{CONTROL, Guard};
use crate::app::{Env, Followed, refusal};
use crate::commands::page::asset;
use crate::commands::{Request as Command, RequestEffect};
use crate::output::Report;
use crate::proxy::body::{BodyError, ResponseBody};
use crate::proxy::connection::Connection;
use crate::proxy::forward::{json, of_type};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use serde::Deserialize;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{Semaphore, mpsc};

const REQUEST: &str = "/aperture/request";
const EVENTS: &str = "/aperture/events";
const LARGEST: usize = 1 << 20;
/// The number of requests that run at the same time, and of streams of events.
const RUNNING: usize = 4;
const STREAMS: usize = 16;
const WAITING: usize = 64;

/// The headers of all answers: the page loads nothing from elsewhere, and no other page shows it.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// The values that all requests share.
pub struct Page {
    env: Env,
    guard: Guard,
    running: Semaphore,
    streams: Arc<Semaphore>,
}

/// A request of the page: a command in the JSON form of requests, and the session that it is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    request: Command,
    /// The id of the session; without it, the request is about none.
    session: Option<String>,
}

impl Page {
    /// Returns the page of a server that listens on an address, and also answers requests to other hosts.
    pub fn new(env: &Env, address: SocketAddr, token: String, others: &[String]) -> Page {
        let own = ["127.0.0.1", "localhost", "[::1]"].into_iter().map(|host| format!("{host}:{}", address.port()));
        let guard = Guard { hosts: own.chain(others.iter().cloned()).collect(), token };
        let streams = Arc::new(Semaphore::new(STREAMS));
        Page { env: env.clone(), guard, running: Semaphore::new(RUNNING), streams }
    }
}

/// Returns true if a request without the secret of a proxy is for its page.
pub fn is_of_page(parts: &Parts) -> bool {
    let path = parts.uri.path();
    path.starts_with(CONTROL) || parts.method == Method::GET && asset(path).is_some()
}

/// Answers a request.
pub async fn answer<B: Body>(page: Arc<Page>, connection: &Connection, parts: Parts, body: B) -> Response<ResponseBody>
where
    B::Error: Into<BodyError>,
{
    let refusal =
        page.guard.admit(&parts).err().or_else(|| (!connection.is_of_user()).then_some("the client is of another user"));
    let mut response = match (refusal, &parts.method, parts.uri.path()) {
        (Some(refusal), ..) => error(StatusCode::FORBIDDEN, refusal),
        (None, &Method::POST, REQUEST) => run(page, body).await,
        (None, &Method::GET, EVENTS) => events(&page, parts.uri.query().unwrap_or_default()).await,
        (None, &Method::GET, path) => match asset(path) {
            Some(asset) => of_type(StatusCode::OK, asset.media_type, asset.text),
            None => error(StatusCode::NOT_FOUND, "there is no such file"),
        },
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "the path does not take this method"),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Runs a request and returns its report. A refused or failed request has the status 422 and the report of an error.
async fn run<B: Body>(page: Arc<Page>, body: B) -> Response<ResponseBody>
where
    B::Error: Into<BodyError>,
{
    let Ok(body) = Limited::new(body, LARGEST).collect().await else {
        return error(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long, or broke off");
    };
    let asked: Asked = match serde_json::from_slice(&body.to_bytes()) {
        Ok(asked) => asked,
        Err(fault) => return error(StatusCode::BAD_REQUEST, &fault.to_string()),
    };
    if asked.request.effect() == RequestEffect::Other {
        let text = format!("{} does not run on a page: use a terminal", asked.request.name());
        return error(StatusCode::UNPROCESSABLE_ENTITY, &text);
    }
    let Some(mut words) = shlex::split(&asked.request.line()) else {
        return error(StatusCode::BAD_REQUEST, "an argument cannot be written");
    };
    words.insert(0, "--json".to_owned());
    words.splice(0..0, asked.session.map(|session| format!("--session={session}")));
    if words.iter().any(|word| word.contains('\0')) {
        return error(StatusCode::BAD_REQUEST, "an argument contains a null character");
    }
    let Ok(_permit) = page.running.acquire().await else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    };
    let env = page.env.clone();
    let done = tokio::task::spawn_blocking(move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        env.output_again(&words, b"")
    });
    match done.await {
        Ok(Ok(output)) if output.status.success() || !output.stdout.is_empty() => json(StatusCode::OK, output.stdout),
        Ok(Ok(output)) => {
            let text = String::from_utf8_lossy(&output.stderr);
            // The report of the error follows the notes.
            let report = text.find("{\n").map(|start| text[start..].to_owned());
            match report.filter(|report| serde_json::from_str::<serde::de::IgnoredAny>(report).is_ok()) {
                Some(report) => json(StatusCode::UNPROCESSABLE_ENTITY, report),
                None => error(StatusCode::UNPROCESSABLE_ENTITY, text.lines().last().unwrap_or("the command failed")),
            }
        }
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &format!("{:#}", fault.source)),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the command was ended"),
    }
}

/// Returns the events of a session, each as a line of JSON after `data: `, until one side ends.
async fn events(page: &Page, query: &str) -> Response<ResponseBody> {
    let session = query.strip_prefix("session=").unwrap_or_default().to_owned();
    if session.is_empty() || !session.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return error(StatusCode::BAD_REQUEST, "name the session: ?session=ID");
    }
    let Ok(permit) = page.streams.clone().try_acquire_owned() else {
        return error(StatusCode::TOO_MANY_REQUESTS, "there are too many streams of events");
    };
    let (env, argument) = (page.env.clone(), format!("--session={session}"));
    match tokio::task::spawn_blocking(move || env.find_by(&session)).await {
        Ok(Ok(_)) => {}
        Ok(Err(fault)) => return error(StatusCode::NOT_FOUND, &format!("{:#}", fault.source)),
        Err(_) => return error(StatusCode::INTERNAL_SERVER_ERROR, "the search was ended"),
    }
    let mut followed = match page.env.follow_again(&[&argument, "watch", "--json", "--beside"]) {
        Ok(followed) => followed,
        Err(fault) => return error(StatusCode::INTERNAL_SERVER_ERROR, &format!("{:#}", fault.source)),
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    let lines = followed.lines();
    std::thread::spawn(move || {
        for line in lines {
            if sender.blocking_send(format!("data: {line}\n\n").into()).is_err() {
                break;
            }
        }
    });
    let stream = Events { receiver, _followed: followed, _permit: permit };
    let mut response = Response::new(stream.boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// The lines of a command as a body; the command ends with it.
struct Events {
    receiver: mpsc::Receiver<Bytes>,
    _followed: Followed,
    _permit: tokio::sync::OwnedSemaphorePermit,
}

impl Body for Events {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.receiver.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

fn error(status: StatusCode, message: &str) -> Response<ResponseBody> {
    let report = refusal!("{message}").report();
    json(status, report.json())
}
