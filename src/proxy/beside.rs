//! The work beside requests: their accounts, the commands of the model, the rules of the settings, the texts for the next prompt,
//! deferred writes, and refusals by the API. It runs on a thread of its own, one task after the other, and no request waits for it.
//! Another thread reads the bodies that were sent.

use super::ledger::{Ended, Ledger, Prompt};
use super::memory::{LARGEST_LOOK, Memory};
use super::schedule::Schedule;
use super::server::{Phase, Proxy};
use super::turns::{LARGE, Turn, Turns};
use crate::app::{CommandError, Env, wait};
use crate::commands::live::proxied::{self, Automatic, Job, Looked, Moment, RequestWriter};
use crate::engine::preview;
use crate::provider::{EditedBytes, KnownHashes, ResponseContent};
use crate::wire::{Refusal, RefusalCause, RequestApi, RequestFacts};
use hyper::body::Bytes;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// The time in which a client usually writes the answer to its session file.
const WRITTEN: Duration = Duration::from_millis(300);
/// The maximum time to wait for the log of requests at the start.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum time to wait for the worker at the end.
pub const LAST_WORK: Duration = Duration::from_secs(15);
/// The time without tasks after which requests are logged, and the number from which on they are logged at once.
const QUIET: Duration = Duration::from_millis(100);
const BATCH: usize = 256;
/// The interval of checks if the user changed the session after its last answer, and the number of them after which sessions that
/// their clients have closed are looked for.
const STORE_STEP: Duration = Duration::from_millis(500);
const CLOSED_STEPS: u32 = 4;
/// The maximum number of waiting tasks with which rules and manifests are still worth their time.
const LONGEST_QUEUE: usize = 64;

/// A task of the worker.
pub enum Task {
    Sent(u64, Prompt),
    Answered(Box<Answered>),
    End,
}

/// A request that was sent.
pub struct Sent {
    pub number: u64,
    pub session: String,
    pub api: RequestApi,
    /// The body as the client wrote it.
    pub client: Bytes,
    /// The body that was sent in its place; `None` if it is the same.
    pub changed: Option<EditedBytes>,
    /// The turn of the body if it is large. One that got none is not compared with others.
    pub turn: Option<Turn>,
}

/// A request with its response.
pub struct Answered {
    pub number: u64,
    /// The facts of the request, and if its body was changed; `None` if it was not read.
    pub decided: Option<(RequestFacts, bool)>,
    pub status: u16,
    pub complete: bool,
    pub content: ResponseContent,
}

type BodyWork = Box<dyn FnOnce() + Send>;

/// The queue of the worker, and that of the thread for bodies.
#[derive(Clone)]
pub struct Tasks {
    queue: Sender<Task>,
    bodies: Sender<BodyWork>,
    turns: Turns,
    known: Arc<Mutex<KnownHashes>>,
}

impl Tasks {
    pub fn send(&self, task: Task) {
        let _ = self.queue.send(task);
    }

    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Reads the body of a request: its prompt is a task, and its session may keep it compressed.
    pub async fn read(self, sent: Sent, memory: Arc<Memory>) {
        let reader = self.clone();
        // After a panic, the request is not compared either.
        let _ = self.on_bodies(move || reader.read_now(sent, &memory)).await;
    }

    fn read_now(&self, sent: Sent, memory: &Memory) {
        let Sent { number, session, api, client, changed, turn } = sent;
        memory.pack(&session);
        if client.len() >= LARGE && turn.is_none() {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prompt) = Prompt::parse(api, client, changed, &mut known) {
            self.send(Task::Sent(number, prompt));
        }
    }

    /// Does work on bodies, one after the other on one thread: the allocator keeps the freed memory of each thread. `None` if it panics.
    pub async fn on_bodies<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = oneshot::channel();
        let work = move || {
            // Without a receiver, the request was dropped.
            let _ = done.send(work());
        };
        self.bodies.send(Box::new(work)).ok()?;
        result.await.ok()
    }
}

/// The running worker.
pub struct Worker(Receiver<()>);

impl Worker {
    /// Ends the worker after the tasks in its queue, and waits for it. Returns false if that takes too long.
    pub fn finish(self, tasks: &Tasks) -> bool {
        tasks.send(Task::End);
        self.0.recv_timeout(LAST_WORK) != Err(RecvTimeoutError::Timeout)
    }
}

/// Returns true if a request continues the one before it on its line: requests without tools, such as those for a title, do not.
pub fn is_in_line(facts: &RequestFacts) -> bool {
    facts.is_main || !facts.line.is_empty()
}

/// Starts the worker of a proxy. `proxy` is given the queue and returns the proxy.
pub fn start(proxy: impl FnOnce(Tasks) -> Arc<Proxy>) -> std::io::Result<(Arc<Proxy>, Worker)> {
    let ((sender, queue), (bodies, works)) = (channel(), channel::<BodyWork>());
    let proxy = proxy(Tasks { queue: sender, bodies, turns: Turns::default(), known: Arc::default() });
    std::thread::Builder::new().name("bodies".to_owned()).spawn(move || {
        for work in works {
            // Its caller learns of a panic because there is no result.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    })?;
    let (ended, end) = channel();
    let mut beside = Beside::new(proxy.clone());
    std::thread::Builder::new().name("beside".to_owned()).spawn(move || {
        beside.work(&queue);
        // After the longest wait the other end is gone.
        let _ = ended.send(());
    })?;
    Ok((proxy, Worker(end)))
}

/// Returns the number of the last logged request; 0 if the log cannot be read soon.
pub fn last_request(env: &Env) -> u64 {
    let (found, number) = channel();
    let env = env.clone();
    let read = move || {
        let _ = found.send(proxied::last_request(&env).unwrap_or_default());
    };
    match std::thread::Builder::new().name("log".to_owned()).spawn(read) {
        Ok(_) => number.recv_timeout(PATIENCE).unwrap_or_default(),
        Err(_) => 0,
    }
}

struct Beside {
    proxy: Arc<Proxy>,
    /// Requests with their times, whose sessions wait for their work.
    waiting: VecDeque<(Box<Answered>, i64)>,
    is_ending: bool,
    recorded: BTreeSet<String>,
    ledger: Ledger,
    schedule: Schedule,
    log: RequestWriter,
    /// The session whose prompt is next, and the version of the store when its texts were prepared.
    prepared: Option<(String, Option<i64>)>,
    steps: u32,
}

impl Beside {
    fn new(proxy: Arc<Proxy>) -> Beside {
        let log = RequestWriter::new(proxy.env.clone());
        let (waiting, is_ending, recorded) = (VecDeque::new(), false, BTreeSet::new());
        let (ledger, schedule) = (Ledger::default(), Schedule::default());
        Beside { proxy, waiting, is_ending, recorded, ledger, schedule, log, prepared: None, steps: 0 }
    }

    fn work(&mut self, queue: &Receiver<Task>) {
        loop {
            match catch_unwind(AssertUnwindSafe(|| self.step(queue))) {
                Ok(true) => return self.flush(),
                Ok(false) => {}
                Err(_) => self.proxy.report_once("an internal error beside the requests: the next ones are sent as the log says"),
            }
        }
    }

    /// Does the next work. Returns true at the end.
    fn step(&mut self, queue: &Receiver<Task>) -> bool {
        self.receive(queue);
        if let Some((task, began)) = self.waiting.pop_front() {
            self.answered(&task, began, queue);
        } else if !self.is_ending {
            match self.next(queue) {
                Ok(task) => self.take(task),
                Err(RecvTimeoutError::Disconnected) => self.is_ending = true,
                Err(RecvTimeoutError::Timeout) => self.idle(),
            }
        }
        self.is_ending && self.waiting.is_empty()
    }

    /// Takes all tasks from the queue.
    fn receive(&mut self, queue: &Receiver<Task>) {
        queue.try_iter().for_each(|task| self.take(task));
    }

    /// Counts what a task tells; the work for a session, which takes longer, waits. At the end, all requests are logged first.
    fn take(&mut self, task: Task) {
        match task {
            Task::Sent(number, prompt) => self.ledger.sent(number, prompt),
            Task::Answered(task) => {
                let began = self.account(&task);
                self.waiting.push_back((task, began));
            }
            Task::End => {
                self.is_ending = true;
                self.flush();
            }
        }
    }

    /// Works while no task came for a while.
    fn idle(&mut self) {
        // The rules are applied when the prompt cache has expired: the next request then finds it done.
        while let Some((session, idle_milliseconds)) = self.schedule.take_expired(self.proxy.now()) {
            self.look_at(&session, Some(Moment { idle_milliseconds, in_turn: false, coming_tokens: 0 }));
        }
        self.look();
    }

    /// Waits for the next task. The requests that have ended are logged when none comes for a while.
    fn next(&mut self, queue: &Receiver<Task>) -> Result<Task, RecvTimeoutError> {
        if self.log.waiting() > 0 {
            match queue.recv_timeout(QUIET) {
                Err(RecvTimeoutError::Timeout) => self.flush(),
                task => return task,
            }
        }
        queue.recv_timeout(self.schedule.pause(self.proxy.now()).min(STORE_STEP))
    }

    fn flush(&mut self) {
        if let Err(error) = self.log.flush() {
            self.proxy.report_once(&format!("requests are not logged: {:#}", error.source));
        }
    }

    /// Does the work for the session of a request, which has its account.
    fn answered(&mut self, task: &Answered, began: i64, queue: &Receiver<Task>) {
        let Some((facts, changed)) = &task.decided else { return };
        match task.status {
            200..300 => self.proxy.wire.accepted(facts),
            400 => self.refused(facts, *changed, &task.content.error),
            _ => {}
        }
        if !facts.is_main || self.proxy.options.observe || !task.complete || task.status != 200 {
            return;
        }
        self.proxy.memory.answered(&facts.session, || proxied::has_file(&self.proxy.env, &facts.session));
        self.schedule.touch(&facts.session, self.proxy.now());
        // A summary only quotes commands.
        self.obey(task.number, &facts.session, if facts.asks_for_summary { "" } else { &task.content.text });
        let in_turn = task.content.calls;
        let window = task.content.tokens.map_or(0, |tokens| tokens.total());
        self.schedule.billed(&facts.session, began, window);
        let has_change = self.schedule.has_change(&facts.session, task.number);
        let is_over_budget = has_change && self.schedule.is_over_budget(&facts.session, window);
        let is_overtaken = self.is_overtaken(&facts.session, queue);
        // A window over its budget does not wait for a pause between fast steps.
        let is_urgent = is_over_budget && self.waiting.len() <= LONGEST_QUEUE;
        if is_overtaken && !is_urgent || in_turn && !is_over_budget || self.is_out_of_reach(&facts.session) {
            return;
        }
        if !self.is_ending {
            wait(WRITTEN);
        }
        let coming_tokens = self.schedule.coming_tokens(&facts.session);
        let moment = Moment { idle_milliseconds: 0, in_turn: in_turn || is_overtaken, coming_tokens };
        self.look_at(&facts.session, has_change.then_some(moment));
        self.schedule.took(&facts.session, self.proxy.now() - began);
        if !in_turn {
            self.prepared = Some((facts.session.clone(), self.proxy.wire.store_version()));
        }
    }

    /// Returns true if later requests of a session wait, which do the rest again, or too many tasks.
    fn is_overtaken(&mut self, session: &str, queue: &Receiver<Task>) -> bool {
        self.receive(queue);
        let is_later = |later: &Answered| later.decided.as_ref().is_some_and(|(later, _)| later.session == session);
        self.waiting.len() > LONGEST_QUEUE || self.waiting.iter().any(|(later, _)| is_later(later))
    }

    /// Explains the bill of a request, and logs the request. Returns its time.
    fn account(&mut self, task: &Answered) -> i64 {
        let Some(mut request) = self.proxy.requests.request(task.number) else {
            self.ledger.failed(task.number);
            return self.proxy.now();
        };
        match (&task.decided, task.content.tokens) {
            (Some((facts, _)), Some(billed)) if is_in_line(facts) => {
                let (client_tokens, now) = (request.client_tokens, self.proxy.now());
                let ended = Ended { number: task.number, facts, billed, client_tokens, now };
                let account = self.ledger.ended(&ended, &self.proxy.env.prices);
                let explain = |request: &mut crate::commands::proxy::ProxyRequest| {
                    request.lost_tokens = account.loss.map_or(0, |loss| loss.tokens);
                    request.lost_by = account.loss.map_or("", |loss| loss.cause.name()).to_owned();
                    request.saved_full_price_tokens = account.saving.full_price_tokens;
                    request.saved_dollars = account.saving.dollars;
                };
                explain(&mut request);
                self.proxy.requests.update(task.number, explain);
            }
            _ => self.ledger.failed(task.number),
        }
        self.proxy.requests.account(&request);
        self.log.add(&request);
        if self.log.waiting() >= BATCH {
            self.flush();
        }
        request.time
    }

    fn refused(&self, facts: &RequestFacts, is_changed: bool, message: &str) {
        if !is_in_line(facts) || self.proxy.options.observe {
            return;
        }
        let cause = RefusalCause::from_message(message);
        let message = preview(message);
        let separator = if message.is_empty() { "" } else { ": " };
        let reason = format!("the API refused a changed request (status 400){separator}{message}");
        let is_longer = is_changed && facts.sent_bytes > facts.client_bytes;
        let refusal = Refusal { is_changed, is_longer, cause, reason: &reason };
        match self.proxy.wire.refused(facts, &refusal) {
            Ok(false) => {}
            Ok(true) => {
                self.proxy.report_once(&format!("requests of the session {} are no longer changed: {reason}", facts.session));
            }
            Err(error) => self.proxy.report_once(&error.to_string()),
        }
    }

    fn obey(&mut self, number: u64, session: &str, text: &str) {
        let env = self.env();
        if !self.recorded.contains(session) {
            match proxied::record(&env, session) {
                Ok(()) => drop(self.recorded.insert(session.to_owned())),
                Err(error) => self.report(&error),
            }
        }
        if text.contains('@')
            && let Err(error) =
                Job::Obey(session.to_owned(), format!("{} {number}", self.proxy.now()), text.to_owned()).run::<()>(&env)
        {
            self.report(&error);
        }
    }

    /// Applies the rules of the settings to a session, unless there is no moment for them, and prepares the texts for its next prompt.
    fn look_at(&mut self, session: &str, moment: Option<Moment>) {
        if self.is_out_of_reach(session) || self.leaves_out(session) {
            return;
        }
        let Looked { automatic, texts } = match Job::Look(session.to_owned(), moment).run(&self.env()) {
            Ok(looked) => looked,
            Err(error) => return self.report(&error),
        };
        // A session without rules is not looked at again within a turn.
        let automatic = automatic.unwrap_or(Automatic { lifetime_milliseconds: i64::MAX, ..Automatic::default() });
        for (stage, note) in &automatic.notes {
            self.proxy.wire.set_note(session, stage, note);
        }
        if moment.is_some_and(|moment| moment.idle_milliseconds == 0) {
            self.schedule.set(session, &automatic, self.proxy.now());
        }
        if automatic.has_changed {
            self.schedule.acted(session, self.proxy.requests.last());
        }
        if let Some(texts) = texts {
            self.proxy.wire.prepare(session, texts);
        }
    }

    /// Prepares the texts again if the user changed the session meanwhile, and writes the operations of closed sessions.
    fn look(&mut self) {
        self.steps += 1;
        if self.steps == CLOSED_STEPS {
            self.steps = 0;
            if let Err(error) = proxied::write_deferred(&self.env()) {
                self.report(&error);
            }
        }
        let now = self.proxy.wire.store_version();
        if let Some((session, version)) = &mut self.prepared
            && std::mem::replace(version, now) != now
        {
            let session = session.clone();
            self.look_at(&session, None);
        }
    }

    /// Returns true if a session is only in the memory of this proxy, which stops: other processes do not get it any more.
    fn is_out_of_reach(&self, session: &str) -> bool {
        *self.proxy.phase.borrow() != Phase::Serving && self.proxy.memory.received_bytes(session) > 0
    }

    /// Returns true if a session is too large to be looked at beside requests, which is reported once.
    fn leaves_out(&self, session: &str) -> bool {
        let is_large = self.proxy.memory.is_large(session);
        if is_large {
            let megabytes = LARGEST_LOOK >> 20;
            self.proxy.report_once(&format!(
                "the session {session} has no manifest and no rules: its requests are over {megabytes} MB, and it is in no file"
            ));
        }
        is_large
    }

    /// Returns the environment at the current time. Its notes are reported once, not after each request.
    fn env(&self) -> Env {
        let reporting = self.proxy.clone();
        let mut env = self.proxy.env.beside(move |note| reporting.report_once(note));
        env.refresh();
        env
    }

    fn report(&self, error: &CommandError) {
        self.proxy.report_once(&format!("{:#}", error.source));
    }
}
