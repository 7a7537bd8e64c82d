//! Lookup rules of the token table: `build.rs` fills the table by these rules, the program reads it by them.

/// Number of buckets of the table, 1.3 for each token.
pub const BUCKETS: usize = 1 << 18;
/// Bits of a bucket with the position of a token; the other bits are a tag, which makes false lookups rare.
pub const PLACE_BITS: u32 = 21;
/// A bucket without a token.
pub const EMPTY: u32 = u32::MAX;
/// Maximum bytes of spans that [`ends`] distinguishes from all others of the same length.
pub const SHORT_BYTES: usize = 16;

/// Both ends of a span as numbers. A span of at most [`SHORT_BYTES`] is known by them and its length.
#[inline(always)]
pub fn ends(span: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (span.first_chunk(), span.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (span.first_chunk(), span.last_chunk()) {
        return (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)));
    }
    match span {
        [first, middle, last] => (u64::from(*first), u64::from(*middle) << 8 | u64::from(*last)),
        [first, last] => (u64::from(*first), u64::from(*last)),
        [only] => (u64::from(*only), 0),
        _ => (0, 0),
    }
}

/// A hash of a span, of whose [`ends`] are given: products of 64 by 64 bits, both halves of each taken together, as in wyhash.
#[inline(always)]
pub fn hash(span: &[u8], ends: (u64, u64)) -> u64 {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let fold = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    };
    let mut hash = fold(ends.0 ^ FACTORS[0], ends.1 ^ FACTORS[1] ^ (span.len() as u64).rotate_right(8));
    if span.len() > SHORT_BYTES {
        for eight in span.as_chunks::<8>().0 {
            hash = fold(hash ^ u64::from_le_bytes(*eight), FACTORS[0]);
        }
    }
    hash
}

/// The bucket where the search for a token of this hash begins, and its tag, in the bits above [`PLACE_BITS`].
#[inline(always)]
pub fn bucket_and_tag(hash: u64) -> (usize, u32) {
    (hash as usize % BUCKETS, (hash >> 32) as u32 & !((1 << PLACE_BITS) - 1))
}
