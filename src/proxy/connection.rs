//! The connection of a client: its limits, and a client that only closes its sending side.
//!
//! A client that has left closes its connection as one that waits for its answer but has nothing more to send. An interim response
//! tells them apart: the first one's machine refuses it.

use super::peer;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioTimer;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The maximum size of the head of a request in bytes, and of the buffer of a connection: each waiting client has one. With half of it, a
/// body of 1 MB takes a third longer; with twice as much, 1,000 waiting clients take 30 MB more.
const LARGEST_HEAD: usize = 32 << 10;
/// The maximum time for the head of a request, and for which a connection waits for one: longer than clients keep an unused connection, so
/// that none is closed while it is used again.
pub const HEAD: Duration = Duration::from_secs(100);
/// The interval of checks if a client has left, and the number of them after which the rest of a body does not come.
const CHECK: Duration = Duration::from_millis(5);
const CHECKS: u32 = 200;
/// The interim response, which clients expect at any time before a response.
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Returns the protocol of connections with this limit for heads.
pub fn protocol(head: Duration) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol.preserve_header_case(true).auto_date_header(false).max_buf_size(LARGEST_HEAD);
    protocol.timer(TokioTimer::new()).header_read_timeout(head);
    protocol
}

/// The connection of a client, as its requests see it.
pub struct Connection {
    /// The addresses of both ends, if the client is on this machine.
    ends: Option<(SocketAddr, SocketAddr)>,
    is_of_user: OnceLock<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stage: Stage,
    /// True if the client understands interim responses.
    takes_interim: bool,
    /// True if the client sends nothing more, and its last request was not answered at that time.
    is_half_closed: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// No request, or its response has begun.
    #[default]
    None,
    Receiving,
    Received,
}

impl Connection {
    pub fn new(stream: &TcpStream) -> Arc<Connection> {
        let ends =
            stream.peer_addr().ok().zip(stream.local_addr().ok()).filter(|(peer, _)| peer.ip().to_canonical().is_loopback());
        Arc::new(Connection { ends, is_of_user: OnceLock::new(), state: Mutex::default() })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns false if the client is known to be a process of another user of this machine.
    pub fn is_of_user(&self) -> bool {
        *self.is_of_user.get_or_init(|| self.ends.is_none_or(|(client, own)| peer::is_of_user(client, own)))
    }

    pub fn begin(self: &Arc<Connection>, request: Request<Incoming>) -> Request<ClientBody> {
        let stage = if request.body().is_end_stream() { Stage::Received } else { Stage::Receiving };
        let takes_interim = request.version() == Version::HTTP_11;
        *self.state() = State { stage, takes_interim, is_half_closed: false };
        request.map(|inner| ClientBody { inner, connection: self.clone() })
    }

    pub fn answer<B>(&self, mut response: Response<B>) -> Response<B> {
        let mut state = self.state();
        state.stage = Stage::None;
        if state.is_half_closed {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The body of a request of a client.
pub struct ClientBody {
    inner: Incoming,
    connection: Arc<Connection>,
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if frame.is_none() || self.inner.is_end_stream() {
            let mut state = self.connection.state();
            if state.stage == Stage::Receiving {
                state.stage = Stage::Received;
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The stream of a connection. Its end before a response is not reported while the client waits for that.
pub struct ClientStream {
    inner: TcpStream,
    connection: Arc<Connection>,
    /// True if bytes could not be written at once: none may be written between them.
    is_blocked: bool,
    /// The next check after the end of what the client sends, and the number of earlier ones.
    check: Option<(Pin<Box<Sleep>>, u32)>,
}

impl ClientStream {
    pub fn new(inner: TcpStream, connection: Arc<Connection>) -> ClientStream {
        ClientStream { inner, connection, is_blocked: false, check: None }
    }

    /// Begins to check if the client has left. Returns false if it does not wait for a response.
    fn begin_checks(&mut self) -> bool {
        let mut state = self.connection.state();
        if state.stage == Stage::None {
            return false;
        }
        state.is_half_closed = true;
        if state.takes_interim && !self.is_blocked {
            // The machine of a client that has left answers it with an error.
            let _ = self.inner.try_write(INTERIM);
        }
        drop(state);
        self.check = Some((Box::pin(sleep(CHECK)), 0));
        true
    }

    /// Returns when the client has left, or the rest of its request does not come.
    fn poll_left(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some((timer, checks)) = &mut self.check {
            ready!(timer.as_mut().poll(context));
            *checks += 1;
            // A read would only find the end again.
            if !matches!(self.inner.take_error(), Ok(None)) {
                return Poll::Ready(());
            }
            let is_received = self.connection.state().stage != Stage::Receiving;
            if *checks >= CHECKS && !is_received {
                return Poll::Ready(());
            }
            *timer = Box::pin(sleep(if is_received && *checks >= CHECKS { CHECK * CHECKS } else { CHECK }));
        }
        Poll::Ready(())
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.check.is_none() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
            if buffer.filled().len() > before || buffer.remaining() == 0 || !self.begin_checks() {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_left(context).map(Ok)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.is_blocked = written.is_pending();
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.is_blocked = written.is_pending();
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Empty;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::time::timeout;

    #[test]
    fn a_head_that_is_not_complete_in_time_ends_the_connection() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let answer = service_fn(|_| async { Ok::<_, hyper::Error>(Response::new(Empty::<Bytes>::new())) });
            let limit = Duration::from_millis(50);
            let served =
                protocol(limit).serve_connection(TokioIo::new(ClientStream::new(stream, Connection::new(&client))), answer);
            client.writable().await.unwrap();
            client.try_write(b"POST /v1/messages HTTP/1.1\r\nhost: ").unwrap();
            let ended = timeout(limit * 40, served).await.expect("the connection ends");
            assert!(ended.unwrap_err().is_timeout());
        });
    }
}
