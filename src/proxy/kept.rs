//! The body of a request that is kept after it was sent.

use crate::provider::body_capacity;
use hyper::body::Bytes;
use std::sync::Arc;

/// The level of compression of bodies, at which it takes the least time.
const LEVEL: i32 = 1;

/// The body of a request.
#[derive(Clone)]
pub enum KeptBody {
    Received(Bytes),
    Packed(Arc<Vec<u8>>, usize),
}

impl KeptBody {
    pub fn kept_bytes(&self) -> usize {
        match self {
            KeptBody::Received(bytes) => bytes.len(),
            KeptBody::Packed(packed, _) => packed.len(),
        }
    }

    pub fn received_bytes(&self) -> usize {
        match self {
            KeptBody::Received(bytes) => bytes.len(),
            KeptBody::Packed(_, length) => *length,
        }
    }

    /// Returns the body compressed; as it was received if that fails.
    pub fn packed(self) -> KeptBody {
        match self {
            KeptBody::Received(bytes) => match compressed(&bytes) {
                Ok(packed) => KeptBody::Packed(packed, bytes.len()),
                Err(_) => KeptBody::Received(bytes),
            },
            packed @ KeptBody::Packed(..) => packed,
        }
    }

    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            KeptBody::Received(bytes) => Some(bytes.clone()),
            KeptBody::Packed(packed, length) => decompressed(packed, *length).ok().map(Bytes::from),
        }
    }
}

fn compressed(bytes: &[u8]) -> std::io::Result<Arc<Vec<u8>>> {
    let longest = zstd::zstd_safe::compress_bound(bytes.len());
    let mut packed = Vec::with_capacity(body_capacity(longest));
    zstd::bulk::Compressor::new(LEVEL)?.compress_to_buffer(bytes, &mut packed)?;
    // The rest of a large capacity takes no memory.
    if packed.capacity() == longest {
        packed.shrink_to_fit();
    }
    Ok(Arc::new(packed))
}

fn decompressed(packed: &[u8], length: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(body_capacity(length));
    zstd::bulk::Decompressor::new()?.decompress_to_buffer(packed, &mut bytes)?;
    Ok(bytes)
}
