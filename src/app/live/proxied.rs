//! The work beside the requests that pass a proxy: it never delays a request, and holds from the next one on.

pub use super::automatic::{Automatic, Moment};
pub use super::request_log::RequestWriter;

use super::{automatic, request_log};
use crate::app::look::manifest;
use crate::app::model::obey;
use crate::app::{CommandError, Env};
use crate::engine::ModelActivity;
use crate::output::{ProxyRequest, Report};
use crate::wire::{PipelineSettings, Wire};
use crate::workspace::{Found, Workspace};

/// Returns the sessions on the wire, by the store of the environment.
pub fn wire(env: &Env, observe: bool) -> Wire {
    let settings = PipelineSettings { observe, ..env.pipeline };
    let env = env.clone();
    let open = move |create| {
        let store = if create { env.store().map(Some) } else { env.existing_store() };
        store.map_err(|error| format!("{:#}", error.source))
    };
    Wire::new(settings, Box::new(open))
}

/// Records that the requests of a session pass the proxy with this process id.
///
/// # Errors
///
/// The store cannot be written.
pub fn record(env: &Env, session: &str, process: u32) -> Result<(), CommandError> {
    Ok(env.store()?.record_proxy(session, process)?)
}

/// Returns the manifest for the next prompt of a session; `None` if the settings exclude it or the client has written no file yet.
///
/// # Errors
///
/// The session cannot be read.
pub fn manifest_of(env: &Env, session: &str) -> Result<Option<String>, CommandError> {
    let Some(workspace) = env.pipeline.manifest.then(|| open(env, session)).flatten().transpose()? else { return Ok(None) };
    Ok(Some(manifest::short(env, &workspace).text(&env.style)))
}

/// Executes the commands in a message of the model that has just ended, by the policy.
///
/// # Errors
///
/// The session cannot be read, or the store cannot be written.
pub fn obey_message(env: &Env, session: &str, message: &str) -> Result<(), CommandError> {
    let Some(found) = find(env, session) else { return Ok(()) };
    obey::obey_turn(&env.on(&found.path, "aperture proxy"), &found.path, Some(message))
}

/// Applies the rules that are switched on to a session. `None` if none is, or the client has written no file yet.
///
/// # Errors
///
/// The session or the settings of its project cannot be read, or the change cannot be applied.
pub fn apply_rules(env: &Env, session: &str, moment: Moment) -> Result<Option<Automatic>, CommandError> {
    automatic::apply(env, session, moment)
}

/// Returns the logged requests, oldest first.
///
/// # Errors
///
/// The log cannot be read.
pub fn logged_requests(env: &Env) -> Result<Vec<ProxyRequest>, CommandError> {
    request_log::requests(env)
}

/// Returns the highest number of a logged request.
///
/// # Errors
///
/// The log cannot be read.
pub fn last_request(env: &Env) -> Result<u64, CommandError> {
    request_log::last_number(env)
}

/// Returns the reason why the requests of a session are sent as the client writes them, if the API refused changed ones.
pub fn refusal(env: &Env, session: &str) -> Option<String> {
    let store = env.existing_store().ok().flatten()?;
    store.wire_line(session, "").ok().flatten()?.observed
}

/// Returns a sentence on what the model did to its context in the last turn; `None` if it did nothing.
pub fn model_activity(workspace: &Workspace<'_>) -> Option<String> {
    ModelActivity::in_last_turn(&workspace.reading, &workspace.history).sentence(workspace.provider.agent())
}

/// Returns the session file that a client writes; `None` before it exists.
pub(super) fn find(env: &Env, session: &str) -> Option<Found> {
    // A hash names no session, and an id prefix could name another one.
    env.find_by(session).ok().filter(|found| found.location.id == session)
}

fn open(env: &Env, session: &str) -> Option<Result<Workspace<'static>, CommandError>> {
    let found = find(env, session)?;
    let env = env.on(&found.path, "aperture proxy");
    Some(env.read(found))
}
