//! The work after a request: the commands of the model, the manifest for the next prompt, and refusals by the API. It runs on a
//! thread of its own, one task after the other, and no request waits for it.

use super::server::Proxy;
use crate::app::{CommandError, proxied, wait};
use crate::provider::ResponseContent;
use crate::wire::RequestFacts;
use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The time in which a client usually writes the answer to its session file.
const WRITTEN: Duration = Duration::from_millis(300);

/// The interval of checks for sessions that their clients have closed, while no request comes.
const TICK: Duration = Duration::from_secs(2);

/// A request with its response.
pub struct Answered {
    /// The facts of the request.
    pub facts: RequestFacts,
    /// True if its body was changed.
    pub changed: bool,
    /// The status of the response.
    pub status: u16,
    /// True if the response was complete.
    pub complete: bool,
    /// The content of the response.
    pub content: ResponseContent,
}

/// The queue of the worker.
pub type Tasks = Sender<Answered>;

/// Starts the worker of a proxy, which ends with it. `proxy` is given the queue and returns the proxy.
pub fn start(proxy: impl FnOnce(Tasks) -> Arc<Proxy>) -> std::io::Result<Arc<Proxy>> {
    let (tasks, queue) = channel();
    let proxy = proxy(tasks);
    let weak = Arc::downgrade(&proxy);
    std::thread::Builder::new().name("beside".to_owned()).spawn(move || work(&weak, &queue))?;
    Ok(proxy)
}

fn work(proxy: &Weak<Proxy>, queue: &Receiver<Answered>) {
    let (mut waiting, mut recorded) = (VecDeque::new(), BTreeSet::new());
    loop {
        let task = waiting.pop_front().map_or_else(|| queue.recv_timeout(TICK), Ok);
        let Some(proxy) = proxy.upgrade() else { return };
        let task = match task {
            Ok(task) => task,
            Err(RecvTimeoutError::Timeout) => {
                write_deferred(&proxy);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        waiting.extend(queue.try_iter());
        match task.status {
            200..300 => proxy.wire.accepted(&task.facts),
            400 if task.changed => refused(&proxy, &task.facts),
            _ => {}
        }
        if !task.facts.is_main || proxy.options.observe || !task.complete || task.status != 200 {
            continue;
        }
        answered(&proxy, &task, &mut recorded);
        waiting.extend(queue.try_iter());
        // Later requests of the session make the manifest again.
        let is_last = !waiting.iter().any(|later: &Answered| later.facts.session == task.facts.session);
        if is_last && !task.content.calls {
            wait(WRITTEN);
            set_manifest(&proxy, &task.facts.session);
        }
    }
}

/// Writes the operations of the sessions that their clients have closed.
fn write_deferred(proxy: &Proxy) {
    let mut env = proxy.env.clone();
    env.refresh();
    if let Err(error) = proxied::write_deferred(&env) {
        report(proxy, &error);
    }
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

/// Records that the session passes the proxy, and executes the commands of the answer.
fn answered(proxy: &Proxy, task: &Answered, recorded: &mut BTreeSet<String>) {
    let session = &task.facts.session;
    let mut env = proxy.env.clone();
    env.refresh();
    if !recorded.contains(session) {
        match proxied::record(&env, session, env.process()) {
            Ok(()) => drop(recorded.insert(session.clone())),
            Err(error) => report(proxy, &error),
        }
    }
    if task.content.text.contains('@')
        && let Err(error) = proxied::obey_message(&env, session, &task.content.text)
    {
        report(proxy, &error);
    }
}

/// Prepares the manifest for the next prompt.
fn set_manifest(proxy: &Proxy, session: &str) {
    let mut env = proxy.env.clone();
    env.refresh();
    match proxied::manifest_of(&env, session) {
        Ok(Some(manifest)) => proxy.wire.set_manifest(session, manifest),
        Ok(None) => {}
        Err(error) => report(proxy, &error),
    }
}

fn report(proxy: &Proxy, error: &CommandError) {
    proxy.report_once(&format!("{:#}", error.source));
}
