//! Requests on their way to an API: which session they belong to, and the bytes that are sent in their place.
//!
//! A request is answered from memory: the operation log of its session gives the changed contents, and what was inserted before is
//! inserted again. Nothing is decided here, and nothing is sent: `proxy` does that. Any failure means that the original bytes are sent.

mod head;

pub use head::{Api, RequestHead};

/// The bytes to send in the place of a request's body, and what is known of the request.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The body to send; `None` if it is sent as the client wrote it.
    pub body: Option<Vec<u8>>,
    /// The facts for the list of requests.
    pub facts: RequestFacts,
}

/// The facts of a request that its body and its headers state.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RequestFacts {
    /// The session that the client names; empty if it names none.
    pub session: String,
    /// The line of requests within the session: empty for the main one, or the id of a subagent.
    pub line: String,
    /// The model; empty if the body names none.
    pub model: String,
    /// Estimated tokens of the body as the client wrote it.
    pub client_tokens: u64,
    /// Estimated tokens of the body as it is sent.
    pub sent_tokens: u64,
    /// What each stage of the pipeline did, in order; stages without effect are left out.
    pub stages: Vec<StageNote>,
}

/// What a stage of the pipeline did to a request, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StageNote {
    /// The name of the stage.
    pub stage: &'static str,
    /// One line for people.
    pub note: String,
}

/// The sessions on the wire.
#[derive(Debug, Default)]
pub struct Wire {}

impl Wire {
    /// Returns what to send for a request.
    pub fn request(&self, _head: &RequestHead, _body: &[u8]) -> Outgoing {
        Outgoing::default()
    }
}
