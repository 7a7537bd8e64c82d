//! The body of a request while the stages change it.

use crate::provider::{BodyEdit, EditedBody};
use std::borrow::Cow;

/// A body as the stages have changed it so far.
pub(super) struct OutgoingBody<'a> {
    received: &'a [u8],
    body: EditedBody,
    is_changed: bool,
    /// An edit of the received body on which no stage depends: it is made with the next ones, so that the body is not parsed for it alone.
    pending: Option<BodyEdit>,
}

impl<'a> OutgoingBody<'a> {
    pub fn new(received: &'a [u8], pending: Option<BodyEdit>) -> OutgoingBody<'a> {
        OutgoingBody { received, body: EditedBody::new(received.len()), is_changed: false, pending }
    }

    /// Returns the bytes; they are copied if they differ from the received ones.
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        if self.is_changed { Cow::Owned(self.body.bytes(self.received)) } else { Cow::Borrowed(self.received) }
    }

    /// Edits the bytes.
    pub fn edit(&mut self, mut edits: Vec<BodyEdit>) {
        if edits.is_empty() {
            return;
        }
        edits.extend(self.pending.take());
        let body = std::mem::replace(&mut self.body, EditedBody::new(0));
        (self.body, self.is_changed) = (body.with(edits), true);
    }

    /// Returns the body to send; `None` if it stays.
    pub fn finish(mut self) -> Option<EditedBody> {
        let pending = self.pending.take();
        self.edit(pending.into_iter().collect());
        self.is_changed.then_some(self.body)
    }
}
