//! One request: checked, read, changed as `wire` says, sent, and its response passed on.

use super::body::{self, RequestBody, ResponseBody, Tee};
use super::connection::{ClientBody, Connection};
use super::page::answer::is_of_page;
use super::passage::Passage;
use super::secret::{self, Owner};
use super::server::Proxy;
use super::upload::{Upload, upload};
use super::{control, headers, page, relay};
use crate::commands::proxy::ProxyRequest;
use crate::provider::{CallFilter, Endpoint, ResponseForm};
use crate::wire::TOOL;
use anyhow::Context;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::sync::Arc;

/// Answers a request.
/// Errors: the client closed the connection while it sent the request.
pub async fn answer(
    proxy: Arc<Proxy>,
    connection: Arc<Connection>,
    request: Request<ClientBody>,
) -> Result<Response<ResponseBody>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let response = checked(proxy, &connection, parts, body).await?;
    Ok(connection.answer(response))
}

async fn checked(
    proxy: Arc<Proxy>,
    connection: &Connection,
    mut parts: Parts,
    body: ClientBody,
) -> Result<Response<ResponseBody>, hyper::Error> {
    let is_control = control::is_control(&parts);
    let owner = secret::take(&mut parts, &proxy.options.secret);
    let endpoint = Endpoint::of(parts.uri.path(), |name| parts.headers.contains_key(name));
    // Other machines get no page.
    if owner.is_none() && !proxy.needs_token() && is_of_page(&parts) {
        return Ok(page::answer::answer(proxy.page.clone(), connection, parts, body).await);
    }
    let refuse = |status, code, message: &str| Ok(error(endpoint, status, code, message));
    if headers::is_of_page(&parts.headers, proxy.address.port()) {
        return refuse(StatusCode::FORBIDDEN, "foreign_page", "requests of web pages are refused");
    }
    if proxy.needs_token() {
        if !is_control && !proxy.has_token(&parts.headers) {
            let message = "the header x-aperture-token is missing or wrong";
            return refuse(StatusCode::FORBIDDEN, "wrong_token", message);
        }
    } else if !headers::names_loopback(&parts, proxy.address.port()) {
        if owner.is_none() && !is_control && headers::is_of_program(&parts.headers) {
            return Ok(pass(&proxy, endpoint, parts, body).await);
        }
        return refuse(StatusCode::FORBIDDEN, "foreign_host", "the host of the request is not a loopback address with a port");
    }
    if is_control {
        return Ok(control::answer(&proxy, &parts).await);
    }
    if parts.method == Method::CONNECT {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "no_tunnel", "CONNECT is not supported");
    }
    if headers::is_upgrade(&parts.headers) {
        // Clients that try a websocket first then use HTTP.
        return refuse(StatusCode::UPGRADE_REQUIRED, "no_websocket", "websockets are not supported; use HTTP");
    }
    // A secret of `run` can be in the arguments of its client.
    let is_listed = proxy.options.client.is_some() || matches!(owner, Some(Owner::Run(_)));
    let Some(owner) = owner else { return Ok(pass(&proxy, endpoint, parts, body).await) };
    if is_listed && !connection.is_of_user() {
        proxy.report_once("requests of another user of this machine have the secret: they pass as they are");
        return Ok(pass(&proxy, endpoint, parts, body).await);
    }
    forward(proxy, owner, endpoint, parts, body).await
}

/// Passes on a request that does not prove to be the user's, byte for byte: no session is looked up, and nothing is listed or stored.
async fn pass(proxy: &Proxy, endpoint: Endpoint, parts: Parts, body: ClientBody) -> Response<ResponseBody> {
    let base = proxy.options.upstream.of(endpoint);
    let sent = match outgoing(parts, endpoint, base, Upload::stream(body::stream(body)), false) {
        Ok(request) => proxy.upstream.send(request).await,
        Err(error) => Err(error),
    };
    match sent {
        Ok(response) => {
            let (mut parts, body) = response.into_parts();
            parts.headers = headers::forwarded(&parts.headers, None);
            parts.version = Version::HTTP_11;
            Response::from_parts(parts, body::stream(body))
        }
        Err(cause) => unreachable(proxy, endpoint, base, &cause).1,
    }
}

/// Returns the message on an API without a response, and the answer with it.
fn unreachable(proxy: &Proxy, endpoint: Endpoint, base: &str, cause: &anyhow::Error) -> (String, Response<ResponseBody>) {
    let message = proxy.env.gate.masked(&format!("aperture: no response from {base}: {cause:#}"));
    let answer = error(endpoint, StatusCode::BAD_GATEWAY, "upstream_unreachable", &message);
    (message, answer)
}

async fn forward(
    proxy: Arc<Proxy>,
    owner: Owner,
    endpoint: Endpoint,
    parts: Parts,
    body: ClientBody,
) -> Result<Response<ResponseBody>, hyper::Error> {
    let head = headers::head(&parts);
    let (method, path) = (head.method.clone(), head.path().to_owned());
    let run = match owner {
        Owner::Run(process) => Some(process),
        Owner::User => None,
    };
    let request = ProxyRequest { time: proxy.now(), method, path, run, ..ProxyRequest::default() };
    let mut passage = Passage::new(proxy.clone(), request);
    let api = head.api().filter(|_| proxy.wire.reads());
    let is_api = api.is_some();
    let is_compressed = parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity");
    let (body, received) = upload(&mut passage, head, is_compressed, body).await?;
    let base = proxy.options.upstream.of(endpoint);
    let reads = is_api && proxy.upstream.compresses(base);
    let sent = match outgoing(parts, endpoint, base, body, reads) {
        Ok(request) => {
            passage.keep(api, &request);
            passage.sent(proxy.env.elapsed().saturating_sub(received));
            proxy.upstream.send(request).await
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok(response) => Ok(respond(response, passage, is_api, base)),
        // The passage ends as aborted: the client left before the end of its body.
        Err(cause) if is_of_client(&cause) => Ok(error(
            endpoint,
            StatusCode::BAD_GATEWAY,
            "client_gone",
            "aperture: the client closed the connection before sending the whole request",
        )),
        Err(cause) => {
            let (message, answer) = unreachable(&proxy, endpoint, base, &cause);
            passage.note(&message);
            passage.status(StatusCode::BAD_GATEWAY);
            passage.end("failed");
            Ok(answer)
        }
    }
}

/// Returns true if a request failed because its body could not be read from the client.
fn is_of_client(cause: &anyhow::Error) -> bool {
    cause.chain().any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_user))
}

fn outgoing(
    mut parts: Parts,
    endpoint: Endpoint,
    base: &str,
    upload: Upload,
    reads: bool,
) -> anyhow::Result<Request<RequestBody>> {
    let uri: Uri = endpoint.url(base, headers::target(&parts)).parse().context("the path cannot be sent")?;
    let host = uri.authority().map(|authority| HeaderValue::from_str(authority.as_str())).transpose()?;
    parts.headers = headers::forwarded(&parts.headers, host.as_ref());
    if let Some(length) = upload.changed_length
        && parts.headers.contains_key(CONTENT_LENGTH)
    {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    if reads && parts.headers.contains_key(ACCEPT_ENCODING) {
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    parts.uri = uri;
    parts.version = Version::HTTP_11;
    Ok(Request::from_parts(parts, upload.body))
}

fn respond(response: Response<Incoming>, mut passage: Passage, is_api: bool, base: &str) -> Response<ResponseBody> {
    let (mut parts, body) = response.into_parts();
    passage.status(parts.status);
    if is_compressed(&parts.headers) {
        passage.proxy.upstream.note_compression(base);
    } else if is_api {
        passage.read(form(&parts.headers) == Some(ResponseForm::Events));
    }
    let exchange = passage.exchange.take().filter(|_| parts.status == StatusCode::OK);
    let exchange = exchange.and_then(|exchange| Some((exchange, form(&parts.headers)?)));
    parts.headers = headers::forwarded(&parts.headers, None);
    parts.version = Version::HTTP_11;
    if let Some(((facts, exchange), form)) = exchange {
        let filter = CallFilter::new(exchange.api, form, TOOL.name, TOOL.input);
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(parts, relay::body(body, passage, facts, exchange, filter));
    }
    Response::from_parts(parts, http_body_util::BodyExt::boxed_unsync(Tee { inner: body, passage }))
}

/// Returns the form of a response; `None` if it cannot be read.
pub fn form(headers: &HeaderMap) -> Option<ResponseForm> {
    let kind = headers.get(CONTENT_TYPE).filter(|_| !is_compressed(headers))?.as_bytes();
    match () {
        () if kind.starts_with(b"text/event-stream") => Some(ResponseForm::Events),
        () if kind.starts_with(b"application/json") => Some(ResponseForm::Document),
        () => None,
    }
}

fn is_compressed(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// Returns an error of the proxy, in the form of the API.
pub fn error(endpoint: Endpoint, status: StatusCode, code: &str, message: &str) -> Response<ResponseBody> {
    json(status, endpoint.error_body(code, message))
}

/// Returns a response with JSON.
pub fn json(status: StatusCode, text: impl Into<Bytes>) -> Response<ResponseBody> {
    of_type(status, "application/json", text)
}

/// Returns a response with a whole body of a media type.
pub fn of_type(status: StatusCode, media_type: &'static str, content: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(body::whole(content));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
