//! A body after edits, without a copy of the bytes that stay.

use super::BodyEdit;
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

/// A body after edits: pieces of the bytes that were received, and new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedBody(Vec<BodyPiece>);

/// A piece of a body after edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyPiece {
    Received(Range<usize>),
    /// A part of new bytes.
    New(Arc<Vec<u8>>, Range<usize>),
}

impl BodyPiece {
    pub fn bytes<'a>(&'a self, received: &'a [u8]) -> &'a [u8] {
        match self {
            BodyPiece::Received(range) => &received[range.clone()],
            BodyPiece::New(bytes, range) => &bytes[range.clone()],
        }
    }

    fn len(&self) -> usize {
        let (BodyPiece::Received(range) | BodyPiece::New(_, range)) = self;
        range.len()
    }

    /// Divides the piece after a number of its bytes.
    fn split(self, at: usize) -> [BodyPiece; 2] {
        let divide = |Range { start, end }| [start..start + at, start + at..end];
        match self {
            BodyPiece::Received(range) => divide(range).map(BodyPiece::Received),
            BodyPiece::New(bytes, range) => divide(range).map(|range| BodyPiece::New(bytes.clone(), range)),
        }
    }
}

impl EditedBody {
    pub fn new(length: usize) -> EditedBody {
        EditedBody(vec![BodyPiece::Received(0..length)])
    }

    /// Returns the body after further edits, whose ranges are those of the body as it is now. They do not overlap.
    pub fn with(self, mut edits: Vec<BodyEdit>) -> EditedBody {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut rest = self.0.into_iter();
        let mut next = rest.next();
        // Takes pieces up to a number of bytes, and passes them to `to`.
        let mut take = |mut count: usize, to: &mut dyn FnMut(BodyPiece)| {
            while let Some(piece) = next.take_if(|_| count > 0) {
                let [taken, left] = if piece.len() > count { piece.split(count).map(Some) } else { [Some(piece), None] };
                next = left.or_else(|| rest.next());
                if let Some(taken) = taken {
                    count -= taken.len();
                    to(taken);
                }
            }
        };
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (range, new) in edits {
            take(range.start - at, &mut |piece| pieces.push(piece));
            take(range.len(), &mut drop);
            if !new.is_empty() {
                let whole = 0..new.len();
                pieces.push(BodyPiece::New(Arc::new(new), whole));
            }
            at = range.end;
        }
        take(usize::MAX, &mut |piece| pieces.push(piece));
        EditedBody(pieces)
    }

    #[expect(clippy::len_without_is_empty, reason = "a body is an object")]
    pub fn len(&self) -> usize {
        self.0.iter().map(BodyPiece::len).sum()
    }

    pub fn into_pieces(self) -> impl Iterator<Item = BodyPiece> {
        self.0.into_iter()
    }

    pub fn bytes(&self, received: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(body_capacity(self.len()));
        self.0.iter().for_each(|piece| bytes.extend_from_slice(piece.bytes(received)));
        bytes
    }

    /// Returns true if the bytes are those that were received.
    pub fn is_as_received(&self, received: &[u8]) -> bool {
        let mut at = 0;
        let is_here = |piece: &BodyPiece| {
            let place = at..at + piece.len();
            at = place.end;
            matches!(piece, BodyPiece::Received(range) if *range == place) || received.get(place) == Some(piece.bytes(received))
        };
        self.0.iter().all(is_here) && at == received.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: Range<usize>, new: &str) -> BodyEdit {
        (range, new.as_bytes().to_vec())
    }

    fn text(body: &EditedBody, received: &str) -> String {
        let bytes = body.bytes(received.as_bytes());
        assert_eq!(body.len(), bytes.len());
        let pieces: Vec<u8> = body.clone().into_pieces().flat_map(|piece| piece.bytes(received.as_bytes()).to_vec()).collect();
        assert_eq!(pieces, bytes);
        assert_eq!(body.is_as_received(received.as_bytes()), bytes == received.as_bytes());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn later_edits_have_the_ranges_of_the_edited_body() {
        let received = "0123456789";
        let body = EditedBody::new(received.len());
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
        let body = EditedBody::new(4);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, "a")]), received), received);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, ""), edit(2..2, "a")]), received), received);
        assert_eq!(text(&body.clone().with(vec![edit(0..1, "b")]), received), "babb");
        assert_eq!(text(&body.clone().with(vec![edit(3..4, "")]), received), "aab");
        assert_eq!(text(&body.with(vec![edit(4..4, "b")]), received), "aabbb");
    }
}
