//! Byte pair encoding: of all neighbours, the two whose union is the token of the lowest rank become one part, the leftmost
//! first, until no two neighbours make a token.

use super::table::{Rank, rank};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes up to which looking through all parts is faster than a queue.
const FEW_BYTES: usize = 96;
/// The rank of neighbours that do not form a token.
const NONE: Rank = Rank::MAX;

/// Returns the number of tokens of a span of at least two bytes.
pub(super) fn parts(span: &[u8]) -> usize {
    if span.len() <= FEW_BYTES { few(span) } else { many(span) }
}

fn few(span: &[u8]) -> usize {
    let mut parts = span.len();
    // The start of each part, and the rank of the part joined with the next one. The entry after the last part is the end.
    let mut starts = [0u8; FEW_BYTES + 1];
    let mut ranks = [NONE; FEW_BYTES + 1];
    for at in 0..=parts {
        starts[at] = at as u8;
        ranks[at] = span.get(at..at + 2).and_then(rank).unwrap_or(NONE);
    }
    loop {
        let mut lowest = (NONE, 0);
        for (at, rank) in ranks[..parts].iter().enumerate() {
            if *rank < lowest.0 {
                lowest = (*rank, at);
            }
        }
        let (rank_here, at) = lowest;
        if rank_here == NONE {
            return parts;
        }
        starts.copy_within(at + 2..=parts, at + 1);
        ranks.copy_within(at + 2..=parts, at + 1);
        parts -= 1;
        for first in at.saturating_sub(1)..=at {
            let both = (first + 2 <= parts).then(|| usize::from(starts[first])..usize::from(starts[first + 2]));
            ranks[first] = both.and_then(|both| rank(&span[both])).unwrap_or(NONE);
        }
    }
}

fn many(span: &[u8]) -> usize {
    let mut parts = span.len();
    // Indexed by the start of a part: its end, or 0 if it is no longer a part, and the start of the previous part.
    let mut ends: Vec<u32> = (1..=parts as u32).collect();
    let mut before: Vec<u32> = (0..parts as u32).map(|at| at.saturating_sub(1)).collect();
    let mut queue = BinaryHeap::new();
    let offer = |queue: &mut BinaryHeap<_>, start: u32, end: u32| {
        if let Some(rank) = rank(&span[start as usize..end as usize]) {
            queue.push(Reverse((rank, start, end)));
        }
    };
    for start in 0..parts as u32 - 1 {
        offer(&mut queue, start, start + 2);
    }
    while let Some(Reverse((_, start, end))) = queue.pop() {
        let middle = ends[start as usize];
        // A merge since then may have taken one of the two, or changed where they end.
        if middle == 0 || ends.get(middle as usize) != Some(&end) {
            continue;
        }
        ends[start as usize] = end;
        ends[middle as usize] = 0;
        parts -= 1;
        if let Some(next_end) = ends.get(end as usize).copied() {
            before[end as usize] = start;
            offer(&mut queue, start, next_end);
        }
        if start > 0 {
            offer(&mut queue, before[start as usize], end);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree() {
        let mut state = 1u32;
        let letters: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"etaoin -=\xe6\x97\xa5"[(state >> 24) as usize % 12]
        })
        .take(5000)
        .collect();
        for length in 2..=FEW_BYTES {
            for span in letters.chunks_exact(length) {
                assert_eq!(few(span), many(span), "{span:?}");
            }
        }
    }
}
