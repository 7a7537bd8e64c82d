use crate::app::{CommandError, Env};
use crate::engine::sidecar::TASKS;
use crate::model::{As, Time, json_forms};
use crate::output::{Paint, Report, Style, age, amount, clip, line, padded, percent, plural, printable};
use crate::store::{QueuedTask, SidecarCall, SidecarStore};
use schemars::JsonSchema;
use serde::Serialize;

/// Columns of the names on the left.
const NAMES: usize = 9;

/// A kind of refusal and its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusalCount {
    /// Reason, such as `number` or `negation`.
    pub reason: String,
    /// Number of answers that were refused for it.
    pub answers: u64,
}

/// The state of the server, the model and the queue.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SidecarReport {
    /// Base URL of the server; null if the sidecar is off.
    pub url: Option<String>,
    /// Model that writes texts.
    pub model: String,
    /// Model that makes vectors; null if there is none.
    pub embedding_model: Option<String>,
    /// True if the server answered just now; null if it was not asked.
    pub is_up: Option<bool>,
    /// Error of the server, if it did not answer just now.
    pub error: Option<String>,
    /// True if a worker runs.
    pub is_working: bool,
    /// Tasks for which the model is not asked any more, because too many of its answers were refused.
    pub stopped_tasks: Vec<&'static str>,
    /// Time before which the server is not asked again after failures.
    #[serde(with = "As::<Option<Time>>")]
    pub asked_again_time: Option<i64>,
    /// Tasks that wait.
    #[schemars(extend("unit" = "tasks"))]
    pub waiting: u64,
    /// Tasks that are being done.
    #[schemars(extend("unit" = "tasks"))]
    pub in_work: u64,
    /// Tasks that failed too often.
    #[schemars(extend("unit" = "tasks"))]
    pub set_aside: u64,
    /// Answers of the model that are in use.
    #[schemars(extend("unit" = "answers"))]
    pub accepted: u64,
    /// Answers of the model that were refused.
    #[schemars(extend("unit" = "answers"))]
    pub refused: u64,
    /// Reasons of the refusals, the most frequent first.
    pub refusals: Vec<RefusalCount>,
    /// Number of the newest calls that the times are of.
    #[schemars(extend("unit" = "calls"))]
    pub calls: u64,
    /// Calls among them that failed.
    #[schemars(extend("unit" = "calls"))]
    pub failed_calls: u64,
    /// Median time of a call.
    #[schemars(extend("unit" = "milliseconds"))]
    pub p50_milliseconds: Option<u32>,
    /// Time that 95% of the calls needed at most.
    #[schemars(extend("unit" = "milliseconds"))]
    pub p95_milliseconds: Option<u32>,
    /// Tokens that these calls sent.
    #[schemars(extend("unit" = "tokens"))]
    pub sent_tokens: u64,
    /// Tokens that these calls received.
    #[schemars(extend("unit" = "tokens"))]
    pub answer_tokens: u64,
    /// True if search uses vectors, because they improved it on the user's own sessions.
    pub improves_search: bool,
    /// Effect of the command; null if the state was only read.
    pub done: Option<String>,
}

impl SidecarReport {
    /// Returns the state as it is stored.
    /// Errors: the database cannot be read.
    pub fn stored(env: &Env, store: Option<&SidecarStore>) -> Result<SidecarReport, CommandError> {
        let settings = &env.sidecar;
        let report = SidecarReport {
            url: settings.url.clone().filter(|_| settings.is_on()),
            model: settings.model.clone(),
            embedding_model: settings.embedding_model.clone(),
            ..SidecarReport::default()
        };
        let Some(store) = store else { return Ok(report) };
        let (counts, state, calls) =
            (store.counts(&settings.model)?, store.model(&settings.model)?, store.calls(&settings.model)?);
        let sum = |tokens: fn(&SidecarCall) -> u32| calls.iter().map(|call| u64::from(tokens(call))).sum();
        let mut times: Vec<u32> = calls.iter().filter(|call| call.error.is_none()).map(|call| call.milliseconds).collect();
        times.sort_unstable();
        let share = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        let refusals = store.faults(&settings.model)?.into_iter().map(|(reason, answers)| RefusalCount { reason, answers });
        let has_vectors =
            settings.embedding_model.as_deref().is_some_and(|model| store.improves(model).is_ok_and(|improves| improves));
        Ok(SidecarReport {
            stopped_tasks: state.stopped.iter().map(|task| task.name()).collect(),
            asked_again_time: Some(state.asked_again).filter(|time| *time > env.style.now.as_millisecond()),
            waiting: counts.waiting,
            in_work: counts.leased,
            set_aside: counts.aside,
            accepted: counts.results,
            refused: counts.refused,
            refusals: refusals.collect(),
            calls: calls.len() as u64,
            failed_calls: calls.iter().filter(|call| call.error.is_some()).count() as u64,
            p50_milliseconds: share(50),
            p95_milliseconds: share(95),
            sent_tokens: sum(|call| call.sent_tokens),
            answer_tokens: sum(|call| call.answer_tokens),
            improves_search: has_vectors,
            ..report
        })
    }
}

impl Report for SidecarReport {
    const SCHEMA: &str = "aperture.sidecar/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            line(&mut text, &style.paint(Paint::Heading, &clip(&printable(done), style.width)));
        }
        let Some(url) = &self.url else {
            text.push_str("the sidecar is off; to use a local model: aperture config set sidecar.url http://127.0.0.1:8080\n");
            return text;
        };
        let mut line = |name: &str, words: String| {
            let words = clip(&printable(&words), style.width.saturating_sub(NAMES));
            text.push_str(&format!("{}{words}\n", style.paint(Paint::Dim, &padded(name, NAMES))));
        };
        let up = match (self.is_up, &self.error) {
            (Some(true), _) => " · up".to_owned(),
            (Some(false), Some(error)) => format!(" · down: {error}"),
            (Some(false), None) => " · down".to_owned(),
            (None, _) => String::new(),
        };
        let working = if self.is_working { " · a worker runs" } else { "" };
        line("server", format!("{url}{up}{working}"));
        let vectors = self.embedding_model.as_ref().map(|model| {
            let use_ = if self.improves_search { "used by search" } else { "not used by search: aperture sidecar eval" };
            format!(" · vectors by {model}, {use_}")
        });
        line("model", format!("{}{}", self.model, vectors.unwrap_or_default()));
        line("queue", format!("{} waiting, {} in work, {} set aside", self.waiting, self.in_work, self.set_aside));
        let answers = self.accepted + self.refused;
        let reasons: Vec<String> = self.refusals.iter().map(|count| format!("{} {}", count.reason, count.answers)).collect();
        let refused = match self.refused {
            0 => "none refused".to_owned(),
            refused => format!("{refused} refused ({}): {}", percent(refused as f64 / answers as f64), reasons.join(", ")),
        };
        line("answers", format!("{} accepted, {refused}", self.accepted));
        if let (Some(p50), Some(p95)) = (self.p50_milliseconds, self.p95_milliseconds) {
            let failed = if self.failed_calls > 0 { format!(", {} failed", self.failed_calls) } else { String::new() };
            let tokens = format!("{} tokens sent, {} received", amount(self.sent_tokens), amount(self.answer_tokens));
            line("calls", format!("{}{failed}, p50 {p50} ms, p95 {p95} ms; {tokens}", self.calls));
        }
        if !self.stopped_tasks.is_empty() {
            let tasks = self.stopped_tasks.join(", ");
            line("stopped", format!("over 5% of the answers were refused: {tasks}"));
            line("", "to start again: aperture sidecar run --again".to_owned());
        }
        if let Some(again) = self.asked_again_time {
            let seconds = (again - style.now.as_millisecond()).max(0) / 1000;
            line("waits", format!("the server failed several times; it is asked again in {}", plural(seconds as u64, "second")));
        }
        text
    }
}

json_forms! {
    /// A task in the queue.
    SidecarTaskRow of task: QueuedTask {
        /// Task, such as `turn` or `block`.
        task: &'static str = task.task.name(),
        /// Address of the content.
        address: String = format!("{:?}", task.address),
        /// File of the session.
        session: String = task.session.display().to_string(),
        /// Attempts so far.
        #[schemars(extend("unit" = "attempts"))]
        attempts: u32 = task.attempts,
        /// State: `waiting`, `in work` or `set aside`.
        state: &'static str = state(task),
        /// Time of the next attempt; null for at once.
        #[serde(with = "As::<Option<Time>>")]
        due_time: Option<i64> = Some(task.due).filter(|due| *due > 0),
        /// Last error.
        error: Option<String> = task.error.clone(),
        /// Text that the answer improves.
        improves: &'static str = TASKS[task.task as usize].improves,
        /// Commands that read the answer.
        read_by: &'static str = TASKS[task.task as usize].read_by,
    }
}

fn state(task: &QueuedTask) -> &'static str {
    match (task.is_aside, task.lease > 0) {
        (true, _) => "set aside",
        (false, true) => "in work",
        (false, false) => "waiting",
    }
}

/// The tasks in the queue, in their order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SidecarQueueReport {
    /// Number of tasks that were queued by this command; null if none was to be.
    #[schemars(extend("unit" = "tasks"))]
    pub added: Option<u64>,
    pub tasks: Vec<SidecarTaskRow>,
}

impl Report for SidecarQueueReport {
    const SCHEMA: &str = "aperture.sidecar-queue/1";

    fn text(&self, style: &Style) -> String {
        let mut text = self.added.map(|added| format!("{} queued\n", plural(added, "task"))).unwrap_or_default();
        if self.tasks.is_empty() {
            text.push_str("the queue is empty\n");
        }
        for task in &self.tasks {
            let name = task.session.rsplit('/').next().unwrap_or_default();
            let error = task.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            let due = task.due_time.map(|due| format!(", due {}", age(style.now, due))).unwrap_or_default();
            let state = format!("{}, {}{due}{error}", task.state, plural(u64::from(task.attempts), "attempt"));
            let row = format!("{}  {}  {state}  {}", padded(task.task, NAMES), &task.address[24..], printable(name));
            line(&mut text, &clip(&row, style.width));
        }
        text
    }
}

/// The effect of vectors on search, measured on the user's own sessions.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SidecarEvalReport {
    /// Prompts whose own turn was searched.
    #[schemars(extend("unit" = "searches"))]
    pub searches: u64,
    /// Searches whose turn is the first result, without vectors.
    #[schemars(extend("unit" = "searches"))]
    pub first_before: u64,
    /// Searches whose turn is the first result, with vectors.
    #[schemars(extend("unit" = "searches"))]
    pub first_after: u64,
    /// Mean reciprocal rank without vectors.
    pub mean_reciprocal_rank_before: f64,
    /// Mean reciprocal rank with vectors.
    pub mean_reciprocal_rank_after: f64,
    /// True if search uses vectors from now on.
    pub improves_search: bool,
}

impl Report for SidecarEvalReport {
    const SCHEMA: &str = "aperture.sidecar-eval/1";

    fn text(&self, _: &Style) -> String {
        let row = |name: &str, first: u64, rank: f64| {
            format!("{}first in {first} of {}, mean reciprocal rank {rank:.3}\n", padded(name, 16), self.searches)
        };
        let result = match self.improves_search {
            true => "vectors improve search here: it uses them from now on",
            false => "vectors do not improve search here: it does not use them",
        };
        row("without vectors", self.first_before, self.mean_reciprocal_rank_before)
            + &row("with vectors", self.first_after, self.mean_reciprocal_rank_after)
            + result
            + "\n"
    }
}
