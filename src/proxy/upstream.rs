//! The connections to APIs: plain ones and those with TLS, each kind made when it is first needed.

use super::body::RequestBody;
use crate::app::{CommandError, ErrorKind};
use anyhow::{Context, anyhow};
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// The time after which an unused connection is closed; shorter than the limits of the APIs, which would close it while it is used.
const IDLE: Duration = Duration::from_secs(20);
/// The maximum time to connect.
const CONNECT: Duration = Duration::from_secs(30);

/// The clients of APIs.
#[derive(Default)]
pub struct Upstream {
    plain: OnceLock<Client<HttpConnector, RequestBody>>,
    secure: OnceCell<Client<HttpsConnector<HttpConnector>, RequestBody>>,
    /// The base URLs whose responses were compressed.
    compressing: Mutex<HashSet<String>>,
}

impl Upstream {
    /// Sends a request and returns the response when its head arrived.
    ///
    /// # Errors
    ///
    /// The API cannot be reached, or closed the connection without a response.
    pub async fn send(&self, request: Request<RequestBody>) -> anyhow::Result<Response<Incoming>> {
        let sent = match request.uri().scheme_str() {
            Some("http") => self.plain.get_or_init(|| builder().build(connector())).request(request).await,
            _ => self.secure.get_or_try_init(secure).await?.request(request).await,
        };
        Ok(sent?)
    }

    /// Records that an API compresses its responses.
    pub fn note_compression(&self, base: &str) {
        self.compressing.lock().unwrap_or_else(PoisonError::into_inner).insert(base.to_owned());
    }

    /// Returns true if an API compresses its responses, so that they cannot be read while they pass.
    pub fn compresses(&self, base: &str) -> bool {
        self.compressing.lock().unwrap_or_else(PoisonError::into_inner).contains(base)
    }
}

fn builder() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).http1_preserve_header_case(true);
    builder
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT));
    connector
}

/// Creates the client for TLS with the roots of the platform, whose files are read on another thread.
async fn secure() -> anyhow::Result<Client<HttpsConnector<HttpConnector>, RequestBody>> {
    let config = tokio::task::spawn_blocking(|| {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_platform_verifier()?;
        Ok::<_, rustls::Error>(config.with_no_client_auth())
    });
    let config = config.await?.context("cannot set up TLS")?;
    let https = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1();
    Ok(builder().build(https.wrap_connector(connector())))
}

/// Checks a base URL and returns it without a slash at its end.
///
/// # Errors
///
/// It is not a URL of HTTP, or has a query.
pub fn base(text: &str) -> Result<String, CommandError> {
    let usable = text
        .parse::<Uri>()
        .ok()
        .filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none() && uri.authority().is_some());
    match usable {
        Some(_) => Ok(text.trim_end_matches('/').to_owned()),
        None => {
            let error = anyhow!("'{text}' is not the base URL of an API");
            Err(CommandError::new(ErrorKind::Usage, error).hint("write it as https://host or https://host/path"))
        }
    }
}
