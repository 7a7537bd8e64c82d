//! The work after a request: the commands of the model, the texts for the next prompt, and refusals by the API. It runs on a
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
/// The interval of checks if the user changed the session after its last answer.
const STORE_STEP: Duration = Duration::from_millis(500);

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
    // The session whose prompt is next, and the version of the store at that time.
    let mut prepared: Option<(String, Option<i64>)> = None;
    loop {
        let task = match waiting.pop_front() {
            Some(task) => Ok(task),
            None => queue.recv_timeout(STORE_STEP),
        };
        let Some(proxy) = proxy.upgrade() else { return };
        let task: Answered = match (task, &mut prepared) {
            (Ok(task), _) => task,
            (Err(RecvTimeoutError::Disconnected), _) => return,
            (Err(RecvTimeoutError::Timeout), Some((session, version))) => {
                let now = proxy.wire.store_version();
                if std::mem::replace(version, now) != now {
                    prepare(&proxy, session);
                }
                continue;
            }
            (Err(RecvTimeoutError::Timeout), None) => continue,
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
        // Later requests of the session prepare the texts again.
        let is_last = !waiting.iter().any(|later: &Answered| later.facts.session == task.facts.session);
        if is_last && !task.content.calls {
            wait(WRITTEN);
            prepare(&proxy, &task.facts.session);
            prepared = Some((task.facts.session.clone(), proxy.wire.store_version()));
        }
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
        && !task.facts.asks_for_summary
        && let Err(error) = proxied::obey_message(&env, session, &task.content.text)
    {
        report(proxy, &error);
    }
}

/// Prepares the texts for the next prompt.
fn prepare(proxy: &Proxy, session: &str) {
    let mut env = proxy.env.clone();
    env.refresh();
    match proxied::texts_of(&env, session) {
        Ok(texts) => proxy.wire.prepare(session, texts),
        Err(error) => report(proxy, &error),
    }
}

fn report(proxy: &Proxy, error: &CommandError) {
    proxy.report_once(&format!("{:#}", error.source));
}
