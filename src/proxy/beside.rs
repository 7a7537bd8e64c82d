//! The work after a request: the commands of the model, the manifest for the next prompt, and refusals by the API.

use super::server::Proxy;
use crate::app::{proxied, wait};
use crate::provider::ResponseContent;
use crate::wire::RequestFacts;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The time in which a client usually writes the answer to its session file.
const WRITTEN: Duration = Duration::from_millis(300);

/// Starts the work after a response on another thread. Nothing waits for it.
pub fn after(proxy: &Arc<Proxy>, facts: RequestFacts, changed: bool, status: u16, outcome: &str, content: ResponseContent) {
    let (Ok(runtime), false) = (tokio::runtime::Handle::try_current(), facts.session.is_empty()) else { return };
    let (proxy, complete) = (proxy.clone(), outcome == "done");
    runtime.spawn_blocking(move || {
        // One after the other: each holds from the next request on.
        let _turn = proxy.beside.lock().unwrap_or_else(PoisonError::into_inner);
        match status {
            200..300 => proxy.wire.accepted(&facts),
            400 if changed => refused(&proxy, &facts),
            _ => {}
        }
        if facts.is_main && !proxy.options.observe && complete && status == 200 {
            answered(&proxy, &facts.session, &content);
        }
    });
}

/// Records a refusal, and reports that the session is no longer changed.
fn refused(proxy: &Proxy, facts: &RequestFacts) {
    let reason = "the API refused changed requests twice in a row";
    match proxy.wire.refused(facts, reason) {
        Ok(false) => {}
        Ok(true) => proxy.report_once(&format!("requests of the session {} are no longer changed: {reason}", facts.session)),
        Err(error) => proxy.report_once(&error.to_string()),
    }
}

/// Executes the commands of the answer, and prepares the manifest for the next prompt.
fn answered(proxy: &Proxy, session: &str, content: &ResponseContent) {
    let mut env = proxy.env.clone();
    env.refresh();
    let report = |error: crate::app::CommandError| proxy.report_once(&format!("{:#}", error.source));
    if let Err(error) = proxied::record(&env, session, env.process()) {
        report(error);
    }
    if content.text.contains('@')
        && let Err(error) = proxied::obey_message(&env, session, &content.text)
    {
        report(error);
    }
    if content.calls {
        return;
    }
    wait(WRITTEN);
    match proxied::manifest_of(&env, session) {
        Ok(Some(manifest)) => proxy.wire.set_manifest(session, manifest),
        Ok(None) => {}
        Err(error) => report(error),
    }
}
