//! The facts of a request, by its head and its body: its session above all. This is done before its session is locked.

use super::{RequestApi, RequestFacts, Setting, Stage};
use crate::provider::{RequestDocument, RequestHead, RequestIdentity, identity};

pub(crate) static STAGE: Stage = Stage {
    name: "ingest",
    settings: &[INGEST],
    run: |_, _| Ok(()),
    otherwise: |_, facts| facts.api.map(|api| format!("{}, {} bytes", api.format().name(), facts.client_bytes)),
};

pub(crate) const INGEST: Setting = Setting::switch("ingest", true, "read bodies; off: pass them on unread");

/// Reads the facts of a request; the second value is `None` if its body cannot be read.
pub fn ingest<'b>(head: &RequestHead, body: &'b [u8]) -> (RequestFacts, Option<(RequestApi, RequestDocument<'b>)>) {
    let bytes = body.len() as u64;
    let mut facts = RequestFacts { client_bytes: bytes, sent_bytes: bytes, ..RequestFacts::default() };
    let Some(api) = head.api() else { return (facts, None) };
    let Some(document) = RequestDocument::new(body) else {
        facts.problem = Some("the body is not a JSON object".to_owned());
        return (facts, None);
    };
    let RequestIdentity { session, line, has_tools, asks_for_summary, may_be_another } = identity(head, api, &document);
    (facts.api, facts.model, facts.has_tools) = (Some(api), document.model(), has_tools);
    (facts.is_main, facts.asks_for_summary) = (has_tools && line.is_empty(), asks_for_summary);
    (facts.session, facts.line, facts.may_be_another) = (session, line, may_be_another);
    (facts, Some((api, document)))
}
