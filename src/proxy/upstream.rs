//! The connections to APIs: plain ones and those with TLS, each kind made when it is first needed.

use super::body::{BodyError, RequestBody};
use super::headers::is_loopback_name;
use crate::app::{CommandError, misuse};
use crate::provider::Endpoint;
use anyhow::{Context as _, anyhow};
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OnceCell;
use tower_service::Service;

/// The time after which an unused connection is closed; shorter than the limits of the APIs, which would close it while it is used.
const IDLE: Duration = Duration::from_secs(20);
/// The port of proxies that speak SOCKS, if none is named.
const SOCKS: u16 = 1080;
const CONNECT: Duration = Duration::from_secs(30);

/// The clients of APIs.
pub struct Upstream {
    plain: OnceLock<Client<HttpConnector, RequestBody>>,
    secure: OnceCell<Client<HttpsConnector<HttpConnector>, RequestBody>>,
    /// The clients through the proxy of a company, for plain connections and for those with TLS.
    tunneled: [OnceCell<Tunneled>; 2],
    proxies: Proxies,
    /// The base URLs whose responses were compressed.
    compressing: Mutex<HashSet<String>>,
}

type Tunneled = Client<HttpsConnector<Company>, RequestBody>;

/// The way through the proxy of a company, by its protocol.
#[derive(Clone)]
enum Company {
    Http(Tunnel<HttpConnector>),
    Socks5(SocksV5<HttpConnector>),
}

type Connection = <HttpConnector as Service<Uri>>::Response;
type Connecting = Pin<Box<dyn Future<Output = Result<Connection, BodyError>> + Send>>;

impl Company {
    fn new(proxy: &Intercept) -> anyhow::Result<Company> {
        let uri = proxy.uri().clone();
        let is_http = uri.scheme_str() == Some("http");
        if is_http {
            let tunnel = Tunnel::new(uri, connector());
            return Ok(Company::Http(match proxy.basic_auth() {
                Some(authorization) => tunnel.with_auth(authorization.clone()),
                None => tunnel,
            }));
        }
        let uri = if uri.port().is_none() { with_port(&uri, SOCKS)? } else { uri };
        let looks_up = uri.scheme_str() == Some("socks5");
        let socks = SocksV5::new(uri, connector()).local_dns(looks_up);
        Ok(Company::Socks5(match proxy.raw_auth() {
            Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
            None => socks,
        }))
    }
}

/// The proxies that the environment names for plain addresses and for those with TLS.
struct Proxies {
    matcher: Matcher,
    /// Matches the addresses that `NO_PROXY` does not except.
    unexcepted: Matcher,
    variables: [Option<&'static str>; 2],
}

impl Proxies {
    fn new(variable: &dyn Fn(&str) -> Option<String>) -> Proxies {
        let set = |names: &[&'static str]| names.iter().find_map(|name| Some((*name, variable(name)?)));
        let of = |names: [&'static str; 2]| set(&names).or_else(|| set(&["ALL_PROXY", "all_proxy"])).unzip();
        let ((plain, http), (secure, https)) = (of(["HTTP_PROXY", "http_proxy"]), of(["HTTPS_PROXY", "https_proxy"]));
        let except = set(&["NO_PROXY", "no_proxy"]).unzip().1.unwrap_or_default();
        Proxies {
            matcher: Matcher::builder().http(http.unwrap_or_default()).https(https.unwrap_or_default()).no(&*except).build(),
            unexcepted: Matcher::builder().all("http://any").no(except).build(),
            variables: [plain, secure],
        }
    }

    /// Returns the proxy for an address; an error if it is not supported: the request would leave by another way than the user chose.
    fn intercept(&self, uri: &Uri) -> anyhow::Result<Option<Intercept>> {
        // A gateway on this machine is not where the proxy of a company is.
        if uri.host().is_none_or(is_loopback_name) || self.unexcepted.intercept(uri).is_none() {
            return Ok(None);
        }
        let Some(variable) = self.variables[usize::from(uri.scheme_str() != Some("http"))] else { return Ok(None) };
        let found = self.matcher.intercept(uri);
        let is_supported = |proxy: &Intercept| matches!(proxy.uri().scheme_str(), Some("http" | "socks5" | "socks5h"));
        match found.filter(is_supported) {
            Some(proxy) => Ok(Some(proxy)),
            None => Err(anyhow!("the proxy that {variable} names is not supported: only http://, socks5:// and socks5h:// are")),
        }
    }
}

impl Service<Uri> for Company {
    type Response = Connection;
    type Error = BodyError;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Connecting {
        match self {
            Company::Http(tunnel) => connecting(tunnel.call(to)),
            Company::Socks5(socks) => connecting(socks.call(to)),
        }
    }
}

fn connecting<E: Into<BodyError>>(connection: impl Future<Output = Result<Connection, E>> + Send + 'static) -> Connecting {
    Box::pin(async move { connection.await.map_err(Into::into) })
}

impl Upstream {
    /// Creates the connections, of which none is opened yet. `variable` returns a variable of the environment that is not empty.
    /// Errors: no API can be reached, because the environment names a proxy that is not supported.
    pub fn new(bases: &Bases, variable: &dyn Fn(&str) -> Option<String>) -> Result<Upstream, CommandError> {
        let proxies = Proxies::new(variable);
        let check = |endpoint| proxies.intercept(&bases.of(endpoint).parse()?);
        let checked = [Endpoint::Anthropic, Endpoint::OpenAi, Endpoint::ChatGpt].map(check);
        if let [Err(error), Err(_), Err(_)] = checked {
            return Err(CommandError::refused(error).hint("name a supported proxy, or except the host of the API: NO_PROXY"));
        }
        Ok(Upstream {
            plain: OnceLock::new(),
            secure: OnceCell::new(),
            tunneled: [OnceCell::new(), OnceCell::new()],
            proxies,
            compressing: Mutex::default(),
        })
    }

    /// Sends a request and returns the response when its head arrived.
    /// Errors: the API cannot be reached, or closed the connection without a response.
    pub async fn send(&self, mut request: Request<RequestBody>) -> anyhow::Result<Response<Incoming>> {
        if let Some(proxy) = self.proxies.intercept(request.uri())? {
            let is_secure = request.uri().scheme_str() != Some("http");
            if !is_secure && request.uri().port().is_none() {
                *request.uri_mut() = with_port(request.uri(), 80)?;
            }
            let client = self.tunneled[usize::from(is_secure)].get_or_try_init(|| tunnel(proxy)).await?;
            return Ok(client.request(request).await?);
        }
        let sent = match request.uri().scheme_str() {
            Some("http") => self.plain.get_or_init(|| builder().build(connector())).request(request).await,
            _ => self.secure.get_or_try_init(secure).await?.request(request).await,
        };
        Ok(sent?)
    }

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

async fn secure() -> anyhow::Result<Client<HttpsConnector<HttpConnector>, RequestBody>> {
    let https = HttpsConnectorBuilder::new().with_tls_config(tls().await?).https_or_http().enable_http1();
    Ok(builder().build(https.wrap_connector(connector())))
}

/// Creates the client through a proxy, which sees the name of the API only.
async fn tunnel(proxy: Intercept) -> anyhow::Result<Tunneled> {
    let company = Company::new(&proxy)?;
    let https = HttpsConnectorBuilder::new().with_tls_config(tls().await?).https_or_http().enable_http1();
    Ok(builder().build(https.wrap_connector(company)))
}

/// Returns an address without a port with that of its protocol, which a tunnel needs.
fn with_port(uri: &Uri, port: u16) -> anyhow::Result<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.authority = Some(format!("{}:{port}", uri.host().unwrap_or_default()).parse()?);
    Ok(Uri::from_parts(parts)?)
}

/// Returns the settings of TLS with the roots of the platform, whose files are read on another thread.
async fn tls() -> anyhow::Result<ClientConfig> {
    let config = tokio::task::spawn_blocking(|| {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_platform_verifier()?;
        Ok::<_, rustls::Error>(config.with_no_client_auth())
    });
    config.await?.context("cannot set up TLS")
}

/// The base URLs of the APIs that the user chose; `None` for that of the API itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bases {
    pub anthropic: Option<String>,
    pub openai: Option<String>,
}

impl Bases {
    /// Returns one base URL for every API.
    pub fn all(base: Option<String>) -> Bases {
        Bases { anthropic: base.clone(), openai: base }
    }

    /// Returns the base URL of an API: a key goes only where the client would send it by itself.
    pub fn of(&self, endpoint: Endpoint) -> &str {
        let chosen = match endpoint {
            Endpoint::Anthropic => &self.anthropic,
            Endpoint::OpenAi | Endpoint::ChatGpt => &self.openai,
        };
        chosen.as_deref().unwrap_or(endpoint.base_url())
    }

    /// Returns the chosen base URLs for people; `None` if none is chosen.
    pub fn text(&self) -> Option<String> {
        match (&self.anthropic, &self.openai) {
            (Some(anthropic), Some(openai)) if anthropic != openai => Some(format!("{anthropic}, {openai}")),
            (chosen, other) => chosen.clone().or_else(|| other.clone()),
        }
    }
}

/// Checks a base URL and returns it without a slash at its end.
/// Errors: it is not a URL of HTTP, or has a query.
pub fn base(text: &str) -> Result<String, CommandError> {
    if text.contains('@') {
        // The text is not repeated: it has a password.
        return Err(misuse!("a base URL with a user or a password is not supported").hint("let the client send them in a header"));
    }
    let usable = text
        .parse::<Uri>()
        .ok()
        .filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none() && uri.authority().is_some());
    match usable {
        Some(_) => Ok(text.trim_end_matches('/').to_owned()),
        None => Err(misuse!("'{text}' is not the base URL of an API").hint("write it as https://host or https://host/path")),
    }
}
