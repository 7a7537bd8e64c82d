//! The tool of aperture in requests: offered from the first request of a conversation on, and its answered calls put back.

use super::session::{Sessions, WireError};
use super::{PipelineSettings, RequestFacts, Stage};
use crate::engine::plural;
use crate::provider::{BodyEdit, RequestApi, RequestDocument, ToolDefinition, begins, restored};

/// The tool by which the model manages its context window.
pub const TOOL: ToolDefinition = ToolDefinition {
    name: "aperture",
    description: "Manages your context window. Earlier content is kept as numbered blocks; [@recall(12) …] marks a shortened one. \
        `commands`, one per line:\n\
        @recall(\"words\") or @recall(3..9): returns archived, shortened or compacted content at once\n\
        @expand(12): full content again, from the next request on\n\
        @archive(3..9, reason: done) or @compress(stale): makes room; may need the user's approval\n\
        @pin(12) @unpin(12): never shortened\n\
        @update(12, \"text\"): replaces a block\n\
        @create(\"note\"): keeps a note\n\
        Blocks: 12, 3..9, tool(Read), stale, topic words.",
    input: "commands",
};

/// The edits that add the tool of aperture and its calls to a request.
#[derive(Default)]
pub(super) struct AddedCalls {
    /// The edits that put earlier calls and their results back.
    pub restored: Vec<BodyEdit>,
    /// The edit that offers the tool.
    pub offer: Option<BodyEdit>,
}

/// Returns the edits that add the tool of aperture and its earlier calls.
pub(super) fn added(
    sessions: &mut Sessions,
    settings: PipelineSettings,
    api: RequestApi,
    document: &RequestDocument<'_>,
    facts: &mut RequestFacts,
) -> Result<AddedCalls, WireError> {
    let (session, name) = (facts.session.clone(), facts.line.clone());
    let line = sessions.line(&session, &name)?;
    if line.state.as_ref().is_some_and(|state| state.observed.is_some()) {
        return Ok(AddedCalls::default());
    }
    let mut offer = None;
    if settings.tool && name.is_empty() && line.offers != Some(false) {
        offer = TOOL.offer(api, document);
        if line.is_held() {
            let is_decided = *line.offers.get_or_insert(false);
            offer = offer.filter(|_| is_decided);
        } else if line.offers.is_none() {
            let begins = begins(document);
            match &offer {
                // Later requests have the same tools, also after a restart.
                Some(_) => sessions.save_offer(&session, &name, begins)?,
                None if !begins => line.offers = Some(false),
                None => {}
            }
            offer = offer.filter(|_| begins);
        }
    }
    let (restored, count) = restored(api, document, &sessions.line(&session, &name)?.replies);
    if count > 0 {
        facts.note(Stage::Injection, format!("{} with the calls of {} put back", plural(count, "response"), TOOL.name));
    }
    if offer.is_some() {
        facts.note(Stage::Injection, format!("{} is offered to the model", TOOL.name));
    }
    Ok(AddedCalls { restored, offer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::o200k;

    #[test]
    fn the_tool_takes_few_tokens() {
        for api in [RequestApi::Messages, RequestApi::Responses, RequestApi::Chat] {
            let tokens = o200k(&TOOL.json(api));
            assert!(tokens < 200, "{tokens}");
        }
    }
}
