//! The server: listens, serves connections, and stops when the running requests are complete.

use super::beside::{self, Tasks, Worker};
use super::body::Buffers;
use super::connection::{self, ClientStream, Connection};
use super::headers::TOKEN_HEADER;
use super::memory::Memory;
use super::page::answer::Page;
use super::requests::Requests;
use super::state::State;
use super::upstream::{Bases, Upstream};
use super::{child, control, forward, secret};
#[cfg(unix)]
use crate::app::ENDING;
use crate::app::{CommandError, Env, ErrorKind, files};
use crate::commands::live::proxied;
use crate::commands::proxy::ProxyStatus;
use crate::wire::Wire;
use crate::wire::stages::emit::EMIT;
use anyhow::Context;
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

const DRAIN: Duration = Duration::from_secs(30);
/// The time after which a failed accept is tried again, such as one without free file descriptors.
pub(super) const RETRY_ACCEPT: Duration = Duration::from_millis(50);
/// The maximum time for records that are being written.
const FLUSH: Duration = Duration::from_secs(2);

/// The maximum size in kB of the bodies that are kept as received while their responses pass.
const ROOM: usize = 8 << 10;

/// The maximum number of different faults that are reported.
const FAULTS: usize = 100;

/// The options of a proxy.
pub struct Options {
    pub listen: SocketAddr,
    /// The first segment of the path of the user's own requests.
    pub secret: String,
    pub upstream: Bases,
    /// True if no request is changed.
    pub observe: bool,
    /// The token that each request needs, if other machines may connect.
    pub token: Option<String>,
    pub record: Option<PathBuf>,
    /// The client that is started behind the proxy; `None` if it serves all clients.
    pub client: Option<String>,
    /// True if signals stop the proxy.
    pub handles_signals: bool,
}

/// The phases of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Serving,
    Stopping,
    Ended,
}

/// The values that all requests share.
pub struct Proxy {
    pub env: Env,
    pub options: Options,
    pub address: SocketAddr,
    pub wire: Arc<Wire>,
    pub memory: Arc<Memory>,
    pub upstream: Upstream,
    pub buffers: Buffers,
    /// The room in kB for bodies that are kept as received while their responses pass.
    pub room: Arc<Semaphore>,
    pub requests: Requests,
    pub tasks: Tasks,
    pub control_token: String,
    /// The page, whose token is that of control requests.
    pub page: Arc<Page>,
    pub phase: watch::Sender<Phase>,
    faults: Mutex<Vec<String>>,
    has_recording_failed: AtomicBool,
}

/// A proxy that runs on a thread of its own.
pub struct Server {
    proxy: Arc<Proxy>,
    worker: Worker,
    thread: JoinHandle<()>,
}

/// Starts a proxy.
/// Errors: the address is in use, or the runtime cannot be started.
pub fn start(env: &Env, options: Options) -> Result<Server, CommandError> {
    let listen = options.listen;
    let refused =
        |error: anyhow::Error| CommandError::refused(error).hint("choose another address: aperture proxy --listen 127.0.0.1:0");
    let upstream = Upstream::new(&options.upstream, &|name| child::value(env, name))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the proxy").map_err(|error| CommandError::new(ErrorKind::Internal, error))?;
    let listener = runtime.block_on(TcpListener::bind(listen));
    let listener = listener.with_context(|| format!("cannot listen on {listen}")).map_err(refused)?;
    let address = listener.local_addr()?;
    let options = Options { observe: options.observe || !env.pipeline.is_on(&EMIT), ..options };
    let wire = Arc::new(proxied::wire(env, !options.observe));
    let clock = env.clone();
    let memory = Arc::new(Memory::new(wire.clone(), move || clock.elapsed()));
    let env = env.with_requests(memory.clone());
    let control_token = secret::random()?;
    let base = beside::last_request(&env);
    let page = Arc::new(Page::new(&env, address, control_token.clone(), &[]));
    let proxy = |tasks| Proxy {
        env,
        options,
        address,
        wire,
        memory,
        upstream,
        buffers: Buffers::default(),
        room: Arc::new(Semaphore::new(ROOM)),
        requests: Requests::after(base),
        tasks,
        page,
        control_token,
        phase: watch::Sender::new(Phase::Serving),
        faults: Mutex::default(),
        has_recording_failed: AtomicBool::new(false),
    };
    let (proxy, worker) = beside::start(|tasks| Arc::new(proxy(tasks)))?;
    let shared = proxy.clone();
    let thread = std::thread::Builder::new().name("proxy".to_owned()).spawn(move || {
        runtime.block_on(serve(shared, listener));
        runtime.shutdown_timeout(FLUSH);
    })?;
    Ok(Server { proxy, worker, thread })
}

impl Server {
    pub fn state(&self) -> State {
        State {
            process: self.proxy.env.process(),
            address: self.proxy.control_address(),
            token: self.proxy.control_token.clone(),
            secret: self.proxy.options.secret.clone(),
            has_upstream: self.proxy.options.upstream != Bases::default(),
            started: self.proxy.env.style.now.as_millisecond(),
            client: self.proxy.options.client.clone(),
        }
    }

    pub fn status(&self) -> ProxyStatus {
        self.proxy.status()
    }

    pub fn wait(self) {
        let _ = self.thread.join();
        if !self.worker.finish(&self.proxy.tasks) {
            let seconds = beside::LAST_WORK.as_secs();
            self.proxy.report_once(&format!("the work beside the last requests took over {seconds} s: it is not complete"));
        }
    }

    /// Ends the proxy at once and returns its last status, and the faults that were not reported.
    pub fn end(self) -> (ProxyStatus, Vec<String>) {
        self.proxy.enter(Phase::Ended);
        let proxy = self.proxy.clone();
        self.wait();
        let faults = std::mem::take(&mut *proxy.faults.lock().unwrap_or_else(PoisonError::into_inner));
        (proxy.status(), faults)
    }
}

impl Proxy {
    /// Returns the time, in milliseconds since 1970, UTC.
    pub fn now(&self) -> i64 {
        let elapsed = i64::try_from(self.env.elapsed().as_millis()).unwrap_or_default();
        // The time since the start leaves out the time in which the computer slept.
        self.env.current_time().max(self.env.style.now.as_millisecond() + elapsed)
    }

    /// Moves on to a later phase.
    pub fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|current| {
            let later = phase > *current;
            *current = phase.max(*current);
            later
        });
    }

    /// Returns the address at which this machine reaches the proxy.
    pub fn control_address(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        SocketAddr::new(ip, self.address.port())
    }

    pub fn needs_token(&self) -> bool {
        self.options.token.is_some()
    }

    pub fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(TOKEN_HEADER).map(|value| value.as_bytes());
        self.options.token.as_ref().is_none_or(|token| given.is_some_and(|given| control::is_equal(given, token.as_bytes())))
    }

    pub fn status(&self) -> ProxyStatus {
        let totals = self.requests.totals();
        ProxyStatus {
            running: true,
            address: format!("http://{}", self.control_address()),
            process: self.env.process(),
            started: self.env.style.now.as_millisecond(),
            upstream: self.options.upstream.text(),
            observe: self.options.observe,
            client: self.options.client.clone(),
            requests: totals.requests,
            running_requests: totals.requests - totals.ended,
            changed: totals.changed,
            errors: totals.errors,
            stopping: *self.phase.borrow() != Phase::Serving,
            tokens: self.requests.tokens(),
            unapplied: proxied::all_unapplied(&self.env),
            store_fault: self.wire.fault(),
        }
    }

    /// Returns the status with the requests of one client of `run` only, by the process of it.
    pub fn status_of(&self, process: u32) -> ProxyStatus {
        let run = self.requests.run(process);
        let running_requests = run.requests - run.accounted;
        ProxyStatus { requests: run.requests, running_requests, tokens: run.tokens, ..self.status() }
    }

    /// Reports a fault once, also if another report contained it. A client that was started behind the proxy uses the terminal, so that
    /// the faults are reported after its end.
    pub fn report_once(&self, fault: &str) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < FAULTS && !faults.iter().any(|known| known.contains(fault)) {
            faults.push(fault.to_owned());
            if self.options.client.is_none() {
                self.env.note(fault);
            }
        }
    }

    pub fn record(self: &Arc<Proxy>, name: String, bytes: Bytes) {
        let (Some(directory), Ok(runtime)) = (self.options.record.clone(), tokio::runtime::Handle::try_current()) else { return };
        let proxy = self.clone();
        runtime.spawn_blocking(move || {
            let text = proxy.env.gate.masked(&String::from_utf8_lossy(&bytes));
            let written = files::write_private(proxy.env.disk, &directory.join(name), text.as_bytes());
            if let Err(error) = written
                && !proxy.has_recording_failed.swap(true, Ordering::Relaxed)
            {
                proxy.report_once(&format!("cannot write to {}: {error}", directory.display()));
            }
        });
    }
}

/// Serves until the proxy is stopped and its running requests are complete.
async fn serve(proxy: Arc<Proxy>, listener: TcpListener) {
    if proxy.options.handles_signals {
        tokio::spawn(obey_signals(proxy.clone()));
    }
    let mut phase = proxy.phase.subscribe();
    let connections = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    let proxy = proxy.clone();
                    let client = Connection::new(&stream);
                    let stream = TokioIo::new(ClientStream::new(stream, client.clone()));
                    let service = service_fn(move |request| {
                        // Before the next read of the connection, which can find its end.
                        let request = client.begin(request);
                        // In a box, which is freed when the response begins: the task of the connection has room for the largest.
                        Box::pin(forward::answer(proxy.clone(), client.clone(), request))
                    });
                    let connection = connections.watch(connection::protocol(connection::HEAD).serve_connection(stream, service));
                    // A connection that breaks has no one to report it to.
                    tokio::spawn(async move { drop(connection.await) });
                }
                Err(_) => tokio::time::sleep(RETRY_ACCEPT).await,
            },
            _ = phase.wait_for(|phase| *phase != Phase::Serving) => break,
        }
    }
    drop(listener);
    tokio::select! {
        () = connections.shutdown() => {}
        () = tokio::time::sleep(DRAIN) => {}
        _ = phase.wait_for(|phase| *phase == Phase::Ended) => {}
    }
}

async fn obey_signals(proxy: Arc<Proxy>) {
    let Ok(mut signals) = Signals::catch() else { return };
    for phase in [Phase::Stopping, Phase::Ended] {
        signals.next().await;
        proxy.enter(phase);
    }
}

#[cfg(unix)]
pub(super) struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    pub(super) fn catch() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals(ENDING.into_iter().map(|kind| signal(SignalKind::from_raw(kind))).collect::<io::Result<_>>()?))
    }

    pub(super) async fn next(&mut self) {
        use std::task::Poll;
        std::future::poll_fn(|context| {
            let is_received = self.0.iter_mut().any(|kind| kind.poll_recv(context).is_ready());
            if is_received { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn catch() -> io::Result<Signals> {
        Ok(Signals)
    }

    pub(super) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
