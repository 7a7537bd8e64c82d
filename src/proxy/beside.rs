//! The work after a request: the commands of the model, the manifest for the next prompt, and refusals by the API. It runs on a
//! thread of its own, one task after the other, and no request waits for it.

use super::server::Proxy;
use crate::app::{CommandError, Env, proxied, wait};
use crate::provider::ResponseContent;
use crate::wire::RequestFacts;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The time in which a client usually writes the answer to its session file.
const WRITTEN: Duration = Duration::from_millis(300);

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
        let task = waiting.pop_front().or_else(|| queue.recv().ok());
        let (Some(task), Some(proxy)) = (task, proxy.upgrade()) else { return };
        waiting.extend(queue.try_iter());
        // After a panic the next task is executed.
        let done = catch_unwind(AssertUnwindSafe(|| execute(&proxy, &task, queue, &mut waiting, &mut recorded)));
        if done.is_err() {
            proxy.report_once("an internal error after a request; the requests are not affected");
        }
    }
}

fn execute(
    proxy: &Arc<Proxy>,
    task: &Answered,
    queue: &Receiver<Answered>,
    waiting: &mut VecDeque<Answered>,
    recorded: &mut BTreeSet<String>,
) {
    match task.status {
        200..300 => proxy.wire.accepted(&task.facts),
        400 if task.changed => refused(proxy, &task.facts),
        _ => {}
    }
    if !task.facts.is_main || proxy.options.observe || !task.complete || task.status != 200 {
        return;
    }
    answered(proxy, task, recorded);
    waiting.extend(queue.try_iter());
    // Later requests of the session make the manifest again.
    let is_last = !waiting.iter().any(|later: &Answered| later.facts.session == task.facts.session);
    if is_last && !task.content.calls {
        wait(WRITTEN);
        set_manifest(proxy, &task.facts.session);
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
fn answered(proxy: &Arc<Proxy>, task: &Answered, recorded: &mut BTreeSet<String>) {
    let session = &task.facts.session;
    let env = environment(proxy);
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
fn set_manifest(proxy: &Arc<Proxy>, session: &str) {
    let env = environment(proxy);
    match proxied::manifest_of(&env, session) {
        Ok(Some(manifest)) => proxy.wire.set_manifest(session, manifest),
        Ok(None) => {}
        Err(error) => report(proxy, &error),
    }
}

/// Returns the environment at this moment. Its notes are reported once, not after each request.
fn environment(proxy: &Arc<Proxy>) -> Env {
    let reporting = proxy.clone();
    let mut env = proxy.env.beside(move |note| reporting.report_once(note));
    env.refresh();
    env
}

fn report(proxy: &Proxy, error: &CommandError) {
    proxy.report_once(&format!("{:#}", error.source));
}
