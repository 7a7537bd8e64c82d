//! All tokens, as a table that `build.rs` generates and that is part of the program file. Nothing is built or copied at the start,
//! and only accessed pages use memory.

use super::bucket::{BUCKETS, EMPTY, PLACE_BITS, bucket_and_tag, ends, hash};

/// Each bucket a little-endian number: a tag, and the offset of the token in [`TOKENS`].
static TABLE: &[u8; BUCKETS * 4] = include_bytes!(concat!(env!("OUT_DIR"), "/buckets"));
/// The tokens by rank, each after its length in a byte.
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tokens"));

/// Rank of a token: of two, the lower is merged first. It is the offset of the token, because tokens are stored in the order of
/// their ranks.
pub(super) type Rank = u32;

/// Returns the rank of a span; `None` if it is not a token.
pub(super) fn rank(span: &[u8]) -> Option<Rank> {
    rank_of_hashed(span, hash(span, ends(span)))
}

#[inline]
pub(super) fn rank_of_hashed(span: &[u8], hash: u64) -> Option<Rank> {
    const PLACE: u32 = (1 << PLACE_BITS) - 1;
    let length = u8::try_from(span.len()).ok()?;
    let (mut at, tag) = bucket_and_tag(hash);
    let buckets = TABLE.as_chunks::<4>().0;
    loop {
        let bucket = u32::from_le_bytes(buckets[at % BUCKETS]);
        if bucket == EMPTY {
            return None;
        }
        let token = &TOKENS[(bucket & PLACE) as usize..];
        if bucket & !PLACE == tag && token[0] == length && token[1..].starts_with(span) {
            return Some(bucket & PLACE);
        }
        at += 1;
    }
}
