//! The work after a request: the commands of the model, the texts for the next prompt, and refusals by the API. It runs on a
//! thread of its own, one task after the other, and no request waits for it.

use super::server::Proxy;
use crate::app::{CommandError, Env, proxied, wait};
use crate::provider::ResponseContent;
use crate::wire::RequestFacts;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The time in which a client usually writes the answer to its session file.
const WRITTEN: Duration = Duration::from_millis(300);
/// The interval of checks if the user changed the session after its last answer.
const STORE_STEP: Duration = Duration::from_millis(500);

/// The number of these checks after which sessions that their clients have closed are looked for.
const CLOSED_STEPS: u32 = 4;

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
    let mut worker = Worker::default();
    loop {
        let task = match worker.waiting.pop_front() {
            Some(task) => Ok(task),
            None => queue.recv_timeout(STORE_STEP),
        };
        let Some(proxy) = proxy.upgrade() else { return };
        worker.waiting.extend(queue.try_iter());
        // After a panic the next task is executed.
        let done = catch_unwind(AssertUnwindSafe(|| match &task {
            Ok(task) => worker.execute(&proxy, task, queue),
            Err(_) => worker.look(&proxy),
        }));
        if done.is_err() {
            proxy.report_once("an internal error after a request; the requests are not affected");
        }
        if matches!(task, Err(RecvTimeoutError::Disconnected)) {
            return;
        }
    }
}

/// The state of the worker.
#[derive(Default)]
struct Worker {
    /// Tasks that arrived while another one was executed.
    waiting: VecDeque<Answered>,
    /// The sessions that are recorded as those of this proxy.
    recorded: BTreeSet<String>,
    /// The session whose prompt is next, and the version of the store when its texts were prepared.
    prepared: Option<(String, Option<i64>)>,
    /// Checks since the last search for closed sessions.
    steps: u32,
}

impl Worker {
    fn execute(&mut self, proxy: &Arc<Proxy>, task: &Answered, queue: &Receiver<Answered>) {
        match task.status {
            200..300 => proxy.wire.accepted(&task.facts),
            400 if task.changed => refused(proxy, &task.facts),
            _ => {}
        }
        if !task.facts.is_main || proxy.options.observe || !task.complete || task.status != 200 {
            return;
        }
        let session = &task.facts.session;
        answered(proxy, task, &mut self.recorded);
        self.waiting.extend(queue.try_iter());
        // Later requests of the session prepare the texts again.
        let is_last = !self.waiting.iter().any(|later| later.facts.session == *session);
        if is_last && !task.content.calls {
            wait(WRITTEN);
            prepare(proxy, session);
            self.prepared = Some((session.clone(), proxy.wire.store_version()));
        }
    }

    /// Prepares the texts again if the user changed the session meanwhile, and writes the operations of closed sessions.
    fn look(&mut self, proxy: &Arc<Proxy>) {
        self.steps += 1;
        if self.steps == CLOSED_STEPS {
            self.steps = 0;
            write_deferred(proxy);
        }
        if let Some((session, version)) = &mut self.prepared {
            let now = proxy.wire.store_version();
            if std::mem::replace(version, now) != now {
                prepare(proxy, session);
            }
        }
    }
}

/// Writes the operations of the sessions that their clients have closed.
fn write_deferred(proxy: &Arc<Proxy>) {
    if let Err(error) = proxied::write_deferred(&environment(proxy)) {
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
        && !task.facts.asks_for_summary
        && let Err(error) = proxied::obey_message(&env, session, &task.content.text)
    {
        report(proxy, &error);
    }
}

/// Prepares the texts for the next prompt.
fn prepare(proxy: &Arc<Proxy>, session: &str) {
    let env = environment(proxy);
    match proxied::texts_of(&env, session) {
        Ok(texts) => proxy.wire.prepare(session, texts),
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
