//! The work beside the requests that pass a proxy: it never delays a request, and holds from the next one on.

pub use super::automatic::{Automatic, Moment};
pub use super::request_log::{RequestWriter, last_request, logged_requests};
pub use crate::commands::change::deferred::write_all as write_deferred;
pub use crate::commands::job::{Job, Looked};

use super::selection;
use crate::app::{CommandError, Env, wait};
use crate::commands::hook::compaction;
use crate::commands::model::called;
use crate::commands::transcript::{self, Headers};
use crate::commands::{manifest, obey};
use crate::engine::model_commands::find as commands_in;
use crate::model::{OperationId, Pin, request_id};
use crate::output::Report;
use crate::wire::stages::emit::EMIT;
use crate::wire::stages::injection::{HEADERS, INJECTION, MANIFEST, SELECTION};
use crate::wire::{PreparedText, TASK, TextKind, Wire};
use crate::workspace::{Found, Workspace};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Longest wait of a request for another process that has locked the store. Other requests wait meanwhile; a commit takes less.
const PATIENCE: Duration = Duration::from_millis(250);

/// Longest wait of a request for its memories, for the results of the model's commands, or for the store before they are executed.
const JOB_WAIT: Duration = Duration::from_millis(1500);

/// The result of a call in a session that is neither in a file nor in memory.
const UNKNOWN: &str = "nothing was executed: aperture finds no content of this session";

const RESULTS: &str = "Results of the commands in your last message:";

/// The total time to wait for a session file, and the interval between two checks.
const WRITTEN: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(50);

/// Returns the sessions on the wire, by the store of the environment. `emit` is false if no request is changed.
pub fn wire(env: &Env, emit: bool) -> Wire {
    let (memories, answers, opening) = (env.clone(), env.clone(), env.clone());
    let open = move |creates| opening.store_within(PATIENCE, creates).map_err(|error| format!("{:#}", error.source));
    let mut wire = Wire::new(env.pipeline.clone().with(&EMIT, emit), Box::new(open));
    wire.memories = Some(Box::new(move |session, directory| memories_for(&memories, session, directory)));
    wire.answers = Some(Box::new(move |session| done_soon(answers.clone(), Job::Untold(session.to_owned()))));
    wire
}

/// Returns the memories for a new session. If they take longer than a request should wait, the session has none: by the next one,
/// everything is read.
fn memories_for(env: &Env, session: &str, directory: &Path) -> Option<String> {
    if !env.is_directory(directory) {
        return None;
    }
    let job = Job::Memories(session.to_owned(), directory.to_owned());
    // The settings of the project are those of its directory, not of the proxy.
    done_soon(env.renewed(directory).ok()?, job)
}

/// Returns the result of a job for a request; `None` if it fails or takes longer than the request should wait.
fn done_soon<T: DeserializeOwned + Send + 'static>(env: Env, job: Job) -> Option<T> {
    let mut env = env.beside(|_| {});
    env.refresh();
    let (done, result) = channel();
    let work = move || {
        let _ = done.send(job.run(&env).ok().flatten());
    };
    std::thread::Builder::new().name("job".to_owned()).spawn(work).ok()?;
    result.recv_timeout(JOB_WAIT).ok().flatten()
}

/// Records that the requests of a session pass the proxy that is this process.
pub fn record(env: &Env, session: &str) -> Result<(), CommandError> {
    let store = env.store_within(JOB_WAIT, true)?;
    Ok(store.map_or(Ok(()), |store| store.record_proxy(session, env.process()))?)
}

/// Returns the texts for the next prompt of a session, by the settings.
pub fn texts_of(env: &Env, session: &str, found: Found) -> Result<Vec<PreparedText>, CommandError> {
    let [with_manifest, with_selection, headers] = [&MANIFEST, &SELECTION, &HEADERS].map(|text| env.pipeline.is_on(text));
    let is_wanted = env.pipeline.is_on(&INJECTION) && (with_manifest || with_selection || headers);
    if !is_wanted {
        return Ok(Vec::new());
    }
    let workspace = env.on(&found.path, "aperture proxy").read(found)?;
    let mut texts = Vec::new();
    let mut add = |kind, is_top, text: Option<String>| {
        texts.extend(text.map(|text| PreparedText { is_top, ..PreparedText::new(kind, text) }));
    };
    if with_manifest {
        let mut report = manifest::short(env, &workspace);
        // It follows a prompt that is not known yet.
        report.manifest.current_task = Some(TASK.to_owned());
        if with_selection {
            // The others follow this prompt, or the requests have them.
            report.manifest.pinned_outside = compaction::outside(&workspace);
        }
        add(TextKind::Manifest, false, Some(report.text(&env.style)));
    }
    if with_selection {
        add(TextKind::Selection, false, selected(env, session, &workspace)?);
        for is_top in [true, false] {
            add(TextKind::Pinned, is_top, compaction::dropped(&workspace, &|block| (block.pin == Some(Pin::Top)) == is_top)?);
        }
    }
    if headers {
        add(TextKind::Instructions, false, Some(Headers::INSTRUCTIONS.to_owned()));
        add(TextKind::Headers, false, transcript::headers_of_last_turn(env, &workspace)?);
    }
    Ok(texts)
}

/// Returns the blocks that the user selected and that the model does not know of.
fn selected(env: &Env, session: &str, workspace: &Workspace<'_>) -> Result<Option<String>, CommandError> {
    // The elements of requests have no times.
    if request_id(&workspace.path).is_none() {
        return Ok(selection::since_last_turn(workspace));
    }
    let texts = env.existing_store()?.map_or_else(|| Ok(Vec::new()), |store| store.insertions(session, ""))?;
    Ok(selection::since_texts(workspace, &texts))
}

/// Executes the commands in a message of the model that has just ended, by the policy. `id` is that of the response. If the session is in
/// no file, the results follow the next prompt: its client has no hook that adds them.
pub fn obey_message(env: &Env, session: &str, id: &str, message: &str) -> Result<(), CommandError> {
    let Some(found) = find(env, session) else { return Ok(()) };
    if request_id(&found.path).is_none() {
        return obey::obey_turn(&env.on(&found.path, "aperture proxy"), &found.path, Some(message));
    }
    let env = env.for_model_on(&found, "aperture proxy")?;
    let commands: Vec<&str> = commands_in(message).into_iter().map(|found| &message[found.place]).collect();
    if commands.is_empty() {
        return Ok(());
    }
    let results = called::obey_call(&env, id, &commands.join("\n"))?;
    Ok(env.store()?.stage(session, &format!("{RESULTS}\n{results}"), env.style.now.as_millisecond())?)
}

/// Executes the commands in a tool call that the proxy answers, by the policy, and returns the text of its result.
pub fn answer_call(env: &Env, session: &str, id: &str, input: &str) -> String {
    let answer = || {
        // Changes of contents hold from the next request on because the session passes a proxy.
        record(env, session)?;
        Job::Answer(session.to_owned(), id.to_owned(), input.to_owned()).run(env)
    };
    answer().unwrap_or_else(|error: CommandError| env.gate.masked(&error.text()))
}

/// Returns the results of the model's commands that it has not received; `None` if there are none.
pub fn untold(env: &Env, session: &str) -> Result<Option<PreparedText>, CommandError> {
    let Some(found) = find(env, session) else { return Ok(None) };
    let (text, answers) = obey::untold(&env.on(&found.path, "aperture proxy"))?;
    let text = PreparedText { answers, ..PreparedText::new(TextKind::Answers, text.trim_end().to_owned()) };
    Ok(Some(text).filter(|text| !text.answers.is_empty()))
}

/// Executes the commands in a tool call, and returns the text of its result.
pub fn answer(env: &Env, session: &str, id: &str, input: &str) -> Result<String, CommandError> {
    let Some(found) = find(env, session) else { return Ok(UNKNOWN.to_owned()) };
    called::obey_call(&env.for_model_on(&found, "aperture proxy")?, id, input)
}

/// Returns the reason why the requests of a session are sent as the client writes them, if the API refused changed ones.
pub fn refusal(env: &Env, session: &str) -> Option<String> {
    let store = env.existing_store().ok().flatten()?;
    store.wire_line(session, "").ok().flatten()?.observed
}

/// Returns the reason why the requests of a session are no longer changed, as a text for the person; once for each refusal.
pub fn take_refusal(env: &Env, session: &str) -> Option<String> {
    // The store is only written if there is a refusal.
    refusal(env, session)?;
    let reason = env.store().ok()?.take_refusal(session).ok().flatten()?;
    Some(format!("aperture: requests of this session are sent as the client writes them: {reason}"))
}

/// Returns the operations of a session that are in force, but not in the last request: it did not have their contents.
pub fn unapplied(env: &Env, session: &str) -> Vec<OperationId> {
    let store = env.existing_store().ok().flatten();
    store.and_then(|store| crate::wire::unapplied(&store, session).ok()).unwrap_or_default()
}

/// Returns the sessions that have such operations, each with them.
pub fn all_unapplied(env: &Env) -> Vec<(String, Vec<OperationId>)> {
    let store = env.existing_store().ok().flatten();
    let sessions = store.and_then(|store| store.sessions_with_unapplied().ok()).unwrap_or_default();
    let all = sessions.into_iter().map(|session| (session.clone(), unapplied(env, &session)));
    all.filter(|(_, operations)| !operations.is_empty()).collect()
}

/// Returns a sentence on what the model did to its context in the last turn; `None` if it did nothing.
pub fn model_activity(workspace: &Workspace<'_>) -> Option<String> {
    let start = workspace.reading.turns.last()?.timestamp?;
    crate::engine::model_activity(&workspace.history, start, workspace.provider.agent())
}

/// Returns true if a session is in a file.
pub fn has_file(env: &Env, session: &str) -> bool {
    known(env, session).is_some_and(|found| request_id(&found.path).is_none())
}

fn known(env: &Env, session: &str) -> Option<Found> {
    // A hash names no file, and an id prefix could name another session.
    env.find_by(session).ok().filter(|found| found.location.id == session)
}

/// Returns a session, for which it waits a moment: a client writes the file soon after the first request. A session of which no
/// file was found is that of its requests.
pub fn find(env: &Env, session: &str) -> Option<Found> {
    let start = env.elapsed();
    loop {
        let found = known(env, session);
        if found.is_some() || env.elapsed().saturating_sub(start) > WRITTEN {
            return found;
        }
        wait(STEP);
    }
}
