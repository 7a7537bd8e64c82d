//! The bytes that are sent.

use super::{Passing, RequestFacts, Setting, Stage, WireError};

pub(crate) static STAGE: Stage = Stage {
    name: "emit",
    settings: &[EMIT],
    run,
    otherwise: |settings, facts| {
        let is_on = settings.is_on(&EMIT);
        let reason = facts.problem.as_deref().or((!is_on).then_some("the proxy only observes"));
        Some(reason.map_or_else(|| "sent as received".to_owned(), |reason| format!("sent as received: {reason}")))
    },
};

pub(crate) const EMIT: Setting = Setting::switch("emit", true, "send changed bodies; off: send each body as it came");

fn run(passing: &mut Passing<'_>, facts: &mut RequestFacts) -> Result<(), WireError> {
    passing.edits.extend(passing.offer.take());
    passing.edit();
    passing.changed.take_if(|body| body.is_as_received(passing.received.bytes));
    if let Some(changed) = &passing.changed {
        facts.sent_bytes = changed.len() as u64;
        facts.note(&STAGE, format!("changed: {} bytes received, {} bytes sent", facts.client_bytes, facts.sent_bytes));
    }
    Ok(())
}
