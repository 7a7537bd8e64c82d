//! The worker of a local model: it takes tasks from the queue, asks an OpenAI-compatible server, checks the answers and stores them.
//!
//! It runs by itself (`aperture sidecar run`), and on a thread of its own inside `watch` and the proxy. Nothing waits for it.

mod client;
mod eval;
mod worker;

use crate::app::{CommandError, Env, SidecarSettings, misuse, refusal};
use crate::commands::sidecar::{Action, Arguments, SidecarQueueReport, SidecarReport, WorkOptions, queue_all};
use crate::model::JsonOf;
use crate::output::plural;
use crate::store::{SIDECAR_FILE, SidecarStore};
use client::Client;
use std::time::Duration;
use worker::{End, Workers};

/// The interval at which a worker beside another program is started again.
const RETRY: Duration = Duration::from_secs(60);
const LISTED: usize = 100;
/// The maximum time for which `status` waits for the server.
const PING: Duration = Duration::from_secs(2);
/// The variable with the key that the server needs, if it needs one.
const KEY_VARIABLE: &str = "APERTURE_SIDECAR_KEY";

/// Executes `sidecar`.
/// Errors: no server is configured, it is on another machine and that is not allowed, or the database cannot be opened.
pub fn execute(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match arguments.action.as_ref().unwrap_or(&Action::Status) {
        Action::Status => status(env, None),
        Action::Queue { add, limit } => {
            let added = if *add { Some(add_all(env)?) } else { None };
            let store = existing(env)?;
            let tasks = store.map(|store| store.queue(limit.unwrap_or(LISTED))).transpose()?.unwrap_or_default();
            env.print(&SidecarQueueReport { added, tasks: JsonOf::json_of(&tasks) })
        }
        Action::Clear { answers } => {
            let (tasks, deleted) =
                existing(env)?.map(|store| store.clear(*answers).map_err(CommandError::from)).transpose()?.unwrap_or_default();
            let answers = if *answers { format!(" and {}", plural(deleted as u64, "answer")) } else { String::new() };
            let done = format!("{}{answers} deleted", plural(tasks as u64, "task"));
            env.print(&SidecarReport { done: Some(done), ..SidecarReport::stored(env, existing(env)?.as_ref())? })
        }
        Action::Run(options) => work(env, *options, false),
        Action::Drain(options) => work(env, *options, true),
        Action::Eval(options) => env.print(&eval::eval(env, &allowed(env, *options)?)?),
    }
}

/// Starts a worker in a process of its own, for as long as this process runs. No-op if no server is configured; while another worker
/// runs, it tries again at intervals.
pub fn start_beside(env: &Env) {
    if !env.sidecar.is_on() {
        return;
    }
    let env = env.beside(|_| {});
    let work = move || {
        loop {
            if let Ok(mut worker) = env.follow_again(&["sidecar", "run", "--beside"]) {
                worker.lines().for_each(drop);
            }
            crate::app::wait(RETRY);
        }
    };
    // Without a thread, the texts by rules stay.
    let _ = std::thread::Builder::new().name("sidecar".to_owned()).spawn(work);
}

fn work(env: &Env, options: WorkOptions, until_empty: bool) -> Result<(), CommandError> {
    let workers = Workers::new(env, &allowed(env, options)?)?;
    let end = workers.run(options, until_empty)?;
    drop(workers);
    finish(env, &end)
}

/// Opens the database if there is one, with the patience of a worker.
fn existing(env: &Env) -> Result<Option<SidecarStore>, CommandError> {
    let is_there = env.disk.identify(&env.store_directory()?.join(SIDECAR_FILE)).is_ok();
    is_there.then(|| env.sidecar_store()).transpose()
}

/// Queues the contents of the session, and returns the number of new tasks.
fn add_all(env: &Env) -> Result<u64, CommandError> {
    if !env.sidecar.is_on() {
        return Err(unconfigured());
    }
    // The queue exists from now on.
    let store = env.sidecar_store()?;
    let before = store.counts(&env.sidecar.model)?.waiting;
    queue_all(env, &env.open(None)?)?;
    Ok(store.counts(&env.sidecar.model)?.waiting.saturating_sub(before))
}

/// Prints the state, after asking the server if it is up.
fn status(env: &Env, done: Option<String>) -> Result<(), CommandError> {
    let mut report = SidecarReport { done, ..SidecarReport::stored(env, existing(env)?.as_ref())? };
    if env.sidecar.is_on() {
        report.is_working = env.disk.lock(&worker::lock_file(env)?).is_ok_and(|lock| lock.is_none());
        // A server that may not be asked is not asked.
        if let Ok(settings) = allowed(env, WorkOptions::default()) {
            let answered = Client::new(env, &settings).and_then(|client| client.ping(PING));
            (report.is_up, report.error) = (Some(answered.is_ok()), answered.err().map(|error| error.to_string()));
        }
    }
    env.print(&report)
}

fn finish(env: &Env, end: &End) -> Result<(), CommandError> {
    let dropped = if end.dropped > 0 { format!(", {} dropped", plural(end.dropped, "task")) } else { String::new() };
    let done = format!("{} accepted, {} refused{dropped}", plural(end.accepted, "answer"), end.refused);
    env.print(&SidecarReport { done: Some(done), ..SidecarReport::stored(env, existing(env)?.as_ref())? })?;
    match &end.error {
        None => Ok(()),
        Some(error) => Err(refusal!(error.clone()).hint("for its state: aperture sidecar")),
    }
}

fn unconfigured() -> CommandError {
    misuse!("no server for a sidecar is configured").hint("to use one: aperture config set sidecar.url http://127.0.0.1:8080")
}

/// Returns the settings with a server that may be asked.
/// Errors: none is configured, or it is on another machine and that is not allowed.
fn allowed(env: &Env, options: WorkOptions) -> Result<SidecarSettings, CommandError> {
    if !env.sidecar.is_on() {
        return Err(unconfigured());
    }
    let settings = env.sidecar.clone();
    let url = settings.url.as_deref().unwrap_or_default();
    if !(client::is_loopback(url) || options.allow_remote || settings.allow_remote) {
        return Err(misuse!("{url} is not on this machine")
            .hint("texts of your sessions would be sent there, with credentials masked; to allow it: --allow-remote"));
    }
    Ok(settings)
}
