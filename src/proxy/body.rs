//! Bodies: of requests, read whole or passed on as a stream, and of responses, read while they pass.

use super::connection::ClientBody;
use super::passage::Passage;
use crate::provider::{BytePiece, EditedBytes, body_capacity, returned_capacity};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

/// The maximum size of a request body that is read whole, in bytes.
pub const LARGEST: usize = 64 << 20;

/// The number of buffers that are kept between requests, and the maximum size of one, in bytes.
const KEPT_BUFFERS: usize = 2;
const LARGEST_BUFFER: usize = 2 << 20;
/// The number of buffers in use from which the memory of further ones is returned after use.
const MANY_BUFFERS: usize = 8;
/// The size in bytes above which the memory of a buffer is worth being returned.
const SMALLEST_RETURNED: usize = 16 << 10;

/// An error of any body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request on its way to the API.
pub type RequestBody = UnsyncBoxBody<Bytes, BodyError>;

/// The body of a response on its way to the client.
pub type ResponseBody = UnsyncBoxBody<Bytes, BodyError>;

/// Returns a body with these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> UnsyncBoxBody<Bytes, BodyError> {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The size in bytes from which a piece of a body is sent by itself; smaller ones are joined.
const PIECE: usize = 16 << 10;

/// Returns a received body after edits. Long pieces that stay are not copied.
pub fn edited(received: Bytes, body: EditedBytes) -> RequestBody {
    let left = body.len() as u64;
    let pieces = VecDeque::from(body.pieces().to_vec());
    Edited { received, pieces, left }.boxed_unsync()
}

/// A body after edits on its way to the API.
struct Edited {
    received: Bytes,
    pieces: VecDeque<BytePiece>,
    /// Bytes that were not yet sent.
    left: u64,
}

impl Edited {
    fn next(&mut self) -> Option<Bytes> {
        if let Some(BytePiece::Base(range)) = self.pieces.pop_front_if(|piece| is_long(piece)) {
            return Some(self.received.slice(range));
        }
        let mut joined = Vec::new();
        while joined.len() < PIECE
            && let Some(piece) = self.pieces.pop_front_if(|piece| !is_long(piece))
        {
            joined.extend_from_slice(piece.bytes(&self.received));
        }
        (!joined.is_empty()).then(|| joined.into())
    }
}

/// Returns true if a piece is sent without a copy.
fn is_long(piece: &BytePiece) -> bool {
    matches!(piece, BytePiece::Base(range) if range.len() >= PIECE)
}

impl Body for Edited {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let bytes = self.next();
        self.left -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Returns a body that passes on as it arrives.
pub fn stream(body: impl Body<Data = Bytes, Error = hyper::Error> + Send + 'static) -> RequestBody {
    body.map_err(Into::into).boxed_unsync()
}

/// A request body as far as it was read.
pub enum Read {
    Whole(Bytes),
    /// A body above the limit, with the pieces that were read.
    Larger(RequestBody),
}

/// Reads a body up to [`LARGEST`] bytes.
/// Errors: the client closed the connection.
pub async fn read(mut body: ClientBody, buffers: &Buffers) -> Result<Read, hyper::Error> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if expected > LARGEST {
        return Ok(Read::Larger(stream(body)));
    }
    let mut bytes = buffers.take(expected);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() + data.len() > LARGEST {
            let ready = VecDeque::from([bytes.into(), data].map(Frame::data));
            let (bytes, buffers) = (Vec::new(), buffers.clone());
            return Ok(Read::Larger(Kept { inner: body, bytes, whole: None, buffers, ready, held: TOGETHER }.boxed_unsync()));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Read::Whole(buffers.lend(bytes)))
}

/// Buffers that are used again: new memory for each large body would take longer than its copy.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Pool>>);

#[derive(Default)]
struct Pool {
    kept: Vec<Vec<u8>>,
    lent: usize,
}

impl Buffers {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a buffer for a body of this length. Small buffers are used again.
    fn take(&self, length: usize) -> Vec<u8> {
        let (kept, lent) = {
            let mut pool = self.pool();
            (pool.kept.pop(), pool.lent)
        };
        let capacity = match () {
            () if length > LARGEST_BUFFER => body_capacity(length),
            () if length > SMALLEST_RETURNED && lent >= MANY_BUFFERS => returned_capacity(length),
            () => length,
        };
        let mut bytes = kept.unwrap_or_default();
        bytes.reserve(capacity);
        bytes
    }

    /// Returns the bytes of a buffer, which comes back when they are no longer used.
    fn lend(&self, bytes: Vec<u8>) -> Bytes {
        self.pool().lent += 1;
        Bytes::from_owner(Lent { bytes, buffers: self.clone() })
    }
}

struct Lent {
    bytes: Vec<u8>,
    buffers: Buffers,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut pool = self.buffers.pool();
        pool.lent -= 1;
        if pool.kept.len() < KEPT_BUFFERS && self.bytes.capacity() <= LARGEST_BUFFER {
            self.bytes.clear();
            pool.kept.push(std::mem::take(&mut self.bytes));
        }
    }
}

/// Returns a body that passes on as it arrives, and receives its bytes when it has arrived. There are none if it is cut, or larger than
/// [`LARGEST`].
pub fn with_copy(body: ClientBody, buffers: &Buffers) -> (RequestBody, oneshot::Receiver<Bytes>) {
    let (whole, received) = oneshot::channel();
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let bytes = buffers.take(expected.min(LARGEST));
    let kept = Kept { inner: body, bytes, whole: Some(whole), buffers: buffers.clone(), ready: VecDeque::new(), held: 0 };
    (kept.boxed_unsync(), received)
}

/// The size in bytes of the pieces that are passed on together: each write costs more than it copies, and a connection reads small ones.
const TOGETHER: usize = 64 << 10;

struct Kept {
    inner: ClientBody,
    bytes: Vec<u8>,
    whole: Option<oneshot::Sender<Bytes>>,
    buffers: Buffers,
    /// Pieces that were read and not passed on, and their bytes until they are enough.
    ready: VecDeque<Frame<Bytes>>,
    held: usize,
}

impl Kept {
    fn keep(&mut self, piece: &[u8]) {
        self.held += piece.len();
        if self.bytes.len() + piece.len() > LARGEST {
            (self.whole, self.bytes) = (None, Vec::new());
        } else if self.whole.is_some() {
            self.bytes.extend_from_slice(piece);
        }
    }

    fn end(&mut self) {
        self.held = TOGETHER;
        if let Some(whole) = self.whole.take() {
            // Without a receiver, the proxy is ending.
            let _ = whole.send(self.buffers.lend(std::mem::take(&mut self.bytes)));
        }
    }
}

impl Body for Kept {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        while self.held < TOGETHER {
            let frame = ready!(Pin::new(&mut self.inner).poll_frame(context)).transpose()?;
            if let Some(piece) = frame.as_ref().and_then(Frame::data_ref) {
                self.keep(piece);
            }
            // A body of a known length is not polled again after its last piece.
            if frame.is_none() || self.inner.is_end_stream() {
                self.end();
            }
            self.ready.extend(frame);
        }
        let next = self.ready.pop_front();
        if self.ready.is_empty() && !self.inner.is_end_stream() {
            self.held = 0;
        }
        Poll::Ready(next.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let ready = self.ready.iter().filter_map(Frame::data_ref).map(|piece| piece.len() as u64).sum::<u64>();
        self.inner.size_hint().exact().map_or_else(SizeHint::default, |rest| SizeHint::with_exact(rest + ready))
    }
}

/// The body of a response, whose pieces are also read by the proxy.
pub struct Tee {
    pub inner: Incoming,
    pub passage: Passage,
}

impl Body for Tee {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.passage.piece(data);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                self.passage.cut(&error);
                self.passage.end("cut");
                Poll::Ready(Some(Err(error.into())))
            }
            None => {
                self.passage.end("done");
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        // A body of a known length is not polled again after its last piece.
        self.passage.end(if self.inner.is_end_stream() { "done" } else { "aborted" });
    }
}
