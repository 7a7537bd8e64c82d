use crate::model::{Session, Window};
use crate::provider::Message;

/// The messages of the window in order.
pub(super) fn messages(_session: &Session, _window: &Window) -> Vec<Message> {
    Vec::new()
}
