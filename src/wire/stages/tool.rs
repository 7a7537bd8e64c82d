//! The tool of aperture in requests: offered from the first request of a conversation on, and its answered calls put back.

use super::{Passing, RequestFacts, Setting, Stage, WireError};
use crate::engine::plural;
use crate::provider::{ToolDefinition, begins, restored};

/// The stage. It is before the others, which see the conversation as the model had it.
pub(crate) static STAGE: Stage = Stage { name: "tool", settings: &[OFFERED], run, otherwise: |_, _| None };

/// The switch of the offer; calls of an earlier one are put back in any case.
pub(crate) const OFFERED: Setting =
    Setting::switch("tool", true, "give the model the tool aperture, from the first request of a session on");

/// The tool by which the model manages its context window.
pub const TOOL: ToolDefinition = ToolDefinition {
    name: "aperture",
    description: "Manages your context window. Content is in numbered blocks; [@12 …] marks a shortened one. \
        `commands`, one per line:\n\
        @recall(\"words\") or @recall(3..9): returns removed content\n\
        @recall(turns 3..5, summary): or full\n\
        @expand(12): full content again, from the next request\n\
        @archive(3..9, reason: done) or @compress(stale): makes room; may need approval\n\
        @pin(12) @unpin(12): never shortened\n\
        @update(12, \"text\"): replaces a block\n\
        @create(\"note\"): keeps a note\n\
        Blocks: 12, 3..9, tool(Read), stale, topic words.",
    input: "commands",
};

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    let (api, document, sessions) = (passing.api, passing.received, &mut *passing.sessions);
    let (session, name) = (&*facts.session, &*facts.line);
    let line = sessions.line(session, name)?;
    if line.state.as_ref().is_some_and(|state| state.observed.is_some()) {
        return Ok(());
    }
    let mut offer = None;
    if passing.settings.is_on(&OFFERED) && name.is_empty() && line.offers != Some(false) {
        offer = TOOL.offer(api, document);
        if line.is_held {
            let is_decided = *line.offers.get_or_insert(false);
            offer = offer.filter(|_| is_decided);
        } else if line.offers.is_none() {
            let begins = begins(document);
            match &offer {
                // Later requests have the same tools, also after a restart.
                Some(_) => sessions.save_offer(session, name, begins)?,
                None if !begins => line.offers = Some(false),
                None => {}
            }
            offer = offer.filter(|_| begins);
        }
    }
    let (restored, count) = restored(api, document, &sessions.line(session, name)?.replies);
    if count > 0 {
        facts.note(&STAGE, format!("{} with the calls of {} put back", plural(count, "response"), TOOL.name));
    }
    if offer.is_some() {
        facts.note(&STAGE, format!("{} is offered to the model", TOOL.name));
    }
    (passing.edits, passing.offers_tool, passing.offer) = (restored, offer.is_some(), offer);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::o200k;
    use crate::wire::RequestApi;

    #[test]
    fn the_tool_takes_few_tokens() {
        for api in [RequestApi::Messages, RequestApi::Responses, RequestApi::Chat] {
            let tokens = o200k(&TOOL.json(api));
            assert!(tokens < 200, "{tokens}");
        }
    }
}
