//! Bytes after edits, without a copy of those that stay.

use std::ops::Range;
use std::sync::Arc;

/// The size in bytes from which a copy of a body is not left to the heap of its thread.
const LARGE: usize = 256 << 10;
/// The capacity in bytes from which allocators return the memory of a buffer to the system when it is released; smaller ones stay in the
/// heap of their thread. Pages that are never written take no memory.
const RETURNED: usize = (32 << 20) + 1;

/// Returns the capacity for a body of this length, so that the memory of a large one is returned when it is released.
pub fn body_capacity(length: usize) -> usize {
    if length > LARGE { returned_capacity(length) } else { length }
}

/// Returns the capacity for a body of this length, so that its memory is returned when it is released, whatever its size.
pub fn returned_capacity(length: usize) -> usize {
    length.max(RETURNED)
}

/// A replacement of bytes; an empty range is an insertion.
pub type ByteEdit = (Range<usize>, Vec<u8>);

/// Bytes after edits: pieces of those before, and new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedBytes(Vec<BytePiece>);

/// A piece of bytes after edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BytePiece {
    /// A part of the bytes before the first edit.
    Base(Range<usize>),
    /// A part of new bytes.
    New(Arc<Vec<u8>>, Range<usize>),
}

impl BytePiece {
    pub fn bytes<'a>(&'a self, base: &'a [u8]) -> &'a [u8] {
        match self {
            BytePiece::Base(range) => &base[range.clone()],
            BytePiece::New(bytes, range) => &bytes[range.clone()],
        }
    }

    fn len(&self) -> usize {
        let (BytePiece::Base(range) | BytePiece::New(_, range)) = self;
        range.len()
    }

    /// Divides the piece after a number of its bytes.
    fn split(self, at: usize) -> [BytePiece; 2] {
        let divide = |Range { start, end }| [start..start + at, start + at..end];
        match self {
            BytePiece::Base(range) => divide(range).map(BytePiece::Base),
            BytePiece::New(bytes, range) => divide(range).map(|range| BytePiece::New(bytes.clone(), range)),
        }
    }
}

impl EditedBytes {
    pub fn new(length: usize) -> EditedBytes {
        EditedBytes(vec![BytePiece::Base(0..length)])
    }

    /// Returns the bytes after further edits, whose ranges are those of the bytes as they are now. They do not overlap.
    pub fn with(mut self, mut edits: Vec<ByteEdit>) -> EditedBytes {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        self.replace(edits);
        self
    }

    /// Makes further edits, in their order. Returns false if one is not within the bytes, or not after the one before.
    pub fn replace(&mut self, edits: Vec<ByteEdit>) -> bool {
        let mut rest = std::mem::take(&mut self.0).into_iter();
        let mut next = rest.next();
        // Takes pieces up to a number of bytes, and passes them to `to`. Returns false if there are fewer bytes.
        let mut take = |mut count: usize, to: &mut dyn FnMut(BytePiece)| {
            while let Some(piece) = next.take_if(|_| count > 0) {
                let [taken, left] = if piece.len() > count { piece.split(count).map(Some) } else { [Some(piece), None] };
                next = left.or_else(|| rest.next());
                if let Some(taken) = taken {
                    count -= taken.len();
                    to(taken);
                }
            }
            count == 0
        };
        let mut at = 0;
        for (range, new) in edits {
            let keeps = |kept| take(kept, &mut |piece| self.0.push(piece)) && take(range.len(), &mut drop);
            if !range.start.checked_sub(at).is_some_and(keeps) {
                return false;
            }
            if !new.is_empty() {
                let whole = 0..new.len();
                self.0.push(BytePiece::New(Arc::new(new), whole));
            }
            at = range.end;
        }
        take(usize::MAX, &mut |piece| self.0.push(piece));
        true
    }

    pub fn pieces(&self) -> &[BytePiece] {
        &self.0
    }

    /// Returns the piece with the byte at an offset, and the offset in it; `None` if the offset is past the end.
    pub fn piece_at(&self, mut offset: usize) -> Option<(&BytePiece, usize)> {
        let piece = self.0.iter().find(|piece| {
            let is_here = offset < piece.len();
            offset -= if is_here { 0 } else { piece.len() };
            is_here
        });
        piece.map(|piece| (piece, offset))
    }

    #[expect(clippy::len_without_is_empty, reason = "a body is an object")]
    pub fn len(&self) -> usize {
        self.0.iter().map(BytePiece::len).sum()
    }

    pub fn bytes(&self, received: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(body_capacity(self.len()));
        self.0.iter().for_each(|piece| bytes.extend_from_slice(piece.bytes(received)));
        bytes
    }

    /// Returns true if the bytes are those that were received.
    pub fn is_as_received(&self, received: &[u8]) -> bool {
        let mut at = 0;
        let is_here = |piece: &BytePiece| {
            let place = at..at + piece.len();
            at = place.end;
            matches!(piece, BytePiece::Base(range) if *range == place) || received.get(place) == Some(piece.bytes(received))
        };
        self.0.iter().all(is_here) && at == received.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: Range<usize>, new: &str) -> ByteEdit {
        (range, new.as_bytes().to_vec())
    }

    fn text(body: &EditedBytes, received: &str) -> String {
        let bytes = body.bytes(received.as_bytes());
        assert_eq!(body.len(), bytes.len());
        let pieces: Vec<u8> = body.pieces().iter().flat_map(|piece| piece.bytes(received.as_bytes()).to_vec()).collect();
        assert_eq!(pieces, bytes);
        assert_eq!(body.is_as_received(received.as_bytes()), bytes == received.as_bytes());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn later_edits_have_the_ranges_of_the_edited_body() {
        let received = "0123456789";
        let body = EditedBytes::new(received.len());
        assert_eq!(text(&body, received), received);
        let body = body.with(vec![edit(8..10, "END"), edit(2..4, "abcd"), edit(6..6, "+")]);
        assert_eq!(text(&body, received), "01abcd45+67END");
        let body = body.with(vec![edit(0..1, ""), edit(3..5, "-"), edit(14..14, "!")]);
        assert_eq!(text(&body, received), "1a-d45+67END!");
        let body = body.with(vec![edit(0..13, ""), edit(13..13, "")]);
        assert_eq!(text(&body, received), "");
        assert_eq!(text(&body.with(vec![edit(0..0, "new")]), received), "new");
    }

    #[test]
    fn equal_bytes_are_as_received_whatever_was_edited() {
        let received = "aabb";
        let body = EditedBytes::new(4);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, "a")]), received), received);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, ""), edit(2..2, "a")]), received), received);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, "b")]), received), "babb");
        assert_eq!(text(&body.clone().with(vec![edit(3..4, "")]), received), "aab");
        assert_eq!(text(&body.with(vec![edit(4..4, "b")]), received), "aabbb");
    }
}
