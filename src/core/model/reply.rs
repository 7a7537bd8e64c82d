use super::Key;

/// A content block of a response, as a client receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPart {
    /// The client received it, and sends it back: the hash of its id, its signature or its text.
    Passed(Key),
    /// The client did not receive it: its JSON.
    Withheld(String),
}

/// A response with calls that the client did not receive, because the proxy answered them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldReply {
    /// The content blocks of the response, in order.
    pub parts: Vec<ReplyPart>,
    /// The results of the withheld calls, as JSON.
    pub results: Vec<String>,
    /// The first block that the model wrote after it had received the results; `None` if the client's next message has them.
    pub next: Option<Key>,
}
