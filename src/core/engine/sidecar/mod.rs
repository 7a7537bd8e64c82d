//! Work for a local model: the table of tasks, what each is about in a session, and the check of each answer.
//!
//! A model may polish texts that rules have made already, and decides nothing. An answer counts for exactly one content, by its
//! address, and only if every check accepts it.

mod check;
mod subjects;
#[cfg(test)]
mod tests;

pub use check::{AnswerFault, SourceText};
use subjects::{NOW, echo_parts};
pub use subjects::{
    Subject as SidecarSubject, SubjectPlace, block_address, boundary_subjects, boundary_text, compared, comparison,
    comparison_address, duplicate_subjects, echo_subjects, echo_text, excerpt, is_alike, kept_lines, subjects, topic_subjects,
};

use crate::engine::o200k;
use crate::model::{Key, words};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

words! {
    /// A kind of work for a local model.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum SidecarTask {
        /// The header and the summary of a turn.
        Turn = "turn",
        /// The text of a large block at the level `summarized`.
        Block = "block",
        /// The label of a topic.
        Topic = "topic",
        /// The course of a session.
        Session = "session",
        /// The vector of a turn, for search.
        Embedding = "embedding",
        /// The part of a memory that its successor, or another one about the same, lacks.
        Memory = "memory",
        /// The place where a prompt begins another task.
        Boundary = "boundary",
        /// The results that an answer of the agent builds on.
        Echo = "echo",
        /// The part of a result that a later one of the same tool lacks.
        Duplicate = "duplicate",
    }
}

/// The form of a text in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    Words,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Numbers of texts in the source, with commas between them; empty if it is none of them.
    Numbers,
}

/// A text of an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerField {
    pub name: &'static str,
    pub form: AnswerForm,
    /// Its maximum length in tokens of the o200k vocabulary.
    pub most_tokens: u32,
    /// The minimum number of its words that carry meaning.
    pub least_words: usize,
    pub is_about_prompt: bool,
}

impl AnswerField {
    const fn new(name: &'static str, most_tokens: u32, least_words: usize) -> AnswerField {
        AnswerField { name, form: AnswerForm::Words, most_tokens, least_words, is_about_prompt: false }
    }

    const fn of_form(name: &'static str, form: AnswerForm) -> AnswerField {
        AnswerField { form, ..AnswerField::new(name, 12, 0) }
    }
}

/// The minimum number of words in a prompt that can begin a task.
const PROMPT_WORDS: usize = 3;
/// The minimum number of words that an answer shares with a result, and with at most half of the other results.
const SHARED_WORDS: usize = 2;

/// A row of the table of tasks.
#[derive(Debug)]
pub struct TaskRow {
    pub task: SidecarTask,
    /// Increased with every change of the prompt, the fields or the source, so that earlier answers are not used.
    pub version: u32,
    /// Tasks with a lower number are done first.
    pub priority: u8,
    /// The instruction to the model; empty for a vector.
    pub prompt: &'static str,
    pub fields: &'static [AnswerField],
    pub improves: &'static str,
    pub read_by: &'static str,
}

/// The tasks: what a model is asked, what it may answer, and where the answer is read.
pub static TASKS: [TaskRow; SidecarTask::ALL.len()] = [
    TaskRow {
        task: SidecarTask::Turn,
        version: 1,
        priority: 1,
        prompt: "You write notes about one exchange between a user and a coding agent. Use only facts of the text, in its language \
                 and with its own words, names and numbers. Answer with JSON: \"header\" has the topic and the outcome in at most \
                 8 words; \"summary\" has the decisions, results and open points in at most 3 short sentences.",
        fields: &[AnswerField { is_about_prompt: true, ..AnswerField::new("header", 12, 2) }, AnswerField::new("summary", 90, 2)],
        improves: "header and key points of a turn",
        read_by: "summary, pack, recall --turns",
    },
    TaskRow {
        task: SidecarTask::Block,
        version: 1,
        priority: 3,
        prompt: "You shorten the output of a tool for a coding agent. Use only facts of the text, in its language and with its own \
                 names, paths and numbers. Answer with JSON: \"summary\" states in at most 3 short sentences the result, and the \
                 names and values that are needed later.",
        fields: &[AnswerField::new("summary", 100, 2)],
        improves: "level summarized of a large block",
        read_by: "compress --level summarized, expand --level summarized, explain",
    },
    TaskRow {
        task: SidecarTask::Topic,
        version: 1,
        priority: 2,
        prompt: "You name the subject of some prompts to a coding agent. Use only words of the text. Answer with JSON: \"label\" is a \
                 noun phrase of at most 5 words, without a full stop.",
        fields: &[AnswerField::new("label", 10, 1)],
        improves: "label of a topic",
        read_by: "manifest, blocks, selectors",
    },
    TaskRow {
        task: SidecarTask::Session,
        version: 1,
        priority: 4,
        prompt: "You describe the work in a session with a coding agent, from notes about it. Use only facts of the text, in its \
                 language and with its own names and numbers. Answer with JSON: \"story\" states in at most 3 short sentences what \
                 was done, in order.",
        fields: &[AnswerField::new("story", 100, 2)],
        improves: "course of a session",
        read_by: "summary",
    },
    TaskRow {
        task: SidecarTask::Embedding,
        version: 1,
        priority: 5,
        prompt: "",
        fields: &[],
        improves: "order of search results",
        read_by: "search, after sidecar eval",
    },
    TaskRow {
        task: SidecarTask::Memory,
        version: 1,
        priority: 6,
        prompt: "You compare two notes about a project: an old one, and a newer one that shall replace it. Answer with JSON: \"lost\" \
                 is one fact of the old note, in its own words, that the new one does not have; empty if the new one has all.",
        fields: &[AnswerField::new("lost", 40, 1)],
        improves: "review of replaced and of similar memories",
        read_by: "memory review",
    },
    TaskRow {
        task: SidecarTask::Boundary,
        version: 1,
        priority: 7,
        prompt: "You read two prompts of a user to a coding agent, and how the agent answered the first one. Answer with JSON: \"task\" is \
                 \"new\" if the second prompt begins another task, and \"same\" if it continues, corrects or asks about the first.",
        fields: &[AnswerField::of_form("task", AnswerForm::Choice(&["new", "same"]))],
        improves: "the places where a task ends",
        read_by: "summary, selector task",
    },
    TaskRow {
        task: SidecarTask::Echo,
        version: 1,
        priority: 8,
        prompt: "You read an answer of a coding agent, and numbered results of its tools. Answer with JSON: \"texts\" has the numbers of \
                 those results whose facts the answer repeats or relies on, with commas between them; empty if it is none.",
        fields: &[AnswerField::of_form("texts", AnswerForm::Numbers)],
        improves: "uses of a block in other words",
        read_by: "states, blocks, compress, explain",
    },
    TaskRow {
        task: SidecarTask::Duplicate,
        version: 1,
        priority: 9,
        prompt: "You compare two results of a tool: an old one, and a new one that looks like it. Answer with JSON: \"lost\" is one fact \
                 of the old result, in its own words, that the new one does not have; empty if the new one has all.",
        fields: &[AnswerField::new("lost", 40, 1)],
        improves: "results that a later one repeats in other words",
        read_by: "selector alike, explain",
    },
];

impl SidecarTask {
    pub fn row(self) -> &'static TaskRow {
        &TASKS[self as usize]
    }
}

/// The texts of an accepted answer, by the names of its fields.
pub type AnswerTexts = BTreeMap<String, String>;

/// The end of a response, as its server reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseEnd {
    /// True if the limit of tokens cut it.
    pub is_cut: bool,
    /// Its size in tokens of the model; `None` if the server does not report it.
    pub tokens: Option<u32>,
}

impl TaskRow {
    /// Returns the JSON schema of an answer.
    pub fn schema(&self) -> Value {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        let form = |field: &AnswerField| match field.form {
            AnswerForm::Choice(words) => json!({"type": "string", "enum": words}),
            AnswerForm::Words | AnswerForm::Numbers => json!({"type": "string"}),
        };
        let properties: Map<String, Value> = self.fields.iter().map(|field| (field.name.to_owned(), form(field))).collect();
        json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
    }

    /// Returns the messages of a request about a text.
    pub fn messages(&self, source: &str) -> Value {
        json!([{"role": "system", "content": self.prompt}, {"role": "user", "content": format!("Text:\n\n{source}")}])
    }

    /// Checks a response about a text, and returns its texts.
    /// Errors: the first fault; then the text by rules stays.
    pub fn judge(&self, source: &str, response: &str, end: ResponseEnd, most_tokens: u32) -> Result<AnswerTexts, AnswerFault> {
        if end.is_cut || end.tokens.is_some_and(|tokens| tokens > most_tokens) {
            return Err(AnswerFault::Length);
        }
        let answer = object(response).ok_or(AnswerFault::Form)?;
        // A fact that the older text has alone is in it, and not in the newer one.
        let compared = compared(source).filter(|_| matches!(self.task, SidecarTask::Memory | SidecarTask::Duplicate));
        let known = SourceText::new(compared.map_or(source, |(older, _)| older));
        let is_kept = |text: &str| compared.is_some_and(|(_, newer)| SourceText::new(newer).check(text).is_ok());
        let text = |field: &AnswerField| {
            let text = answer.get(field.name).and_then(Value::as_str).ok_or(AnswerFault::Form)?;
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match field.form {
                AnswerForm::Words => {}
                AnswerForm::Choice(_) => return check_choice(field, source, text),
                AnswerForm::Numbers => return echoed(field, source, &text),
            }
            // A comparison that finds nothing is an answer. A result counts as repeated only if no fact of it is missing.
            if text.is_empty()
                && let Some((older, newer)) = compared
            {
                let is_repeated = self.task == SidecarTask::Memory || SourceText::new(newer).has_facts_of(older);
                return if is_repeated { Ok((field.name.to_owned(), text)) } else { Err(AnswerFault::Lost) };
            }
            if o200k(&text) > field.most_tokens || text.len() >= source.len() {
                return Err(AnswerFault::Length);
            }
            if text.chars().any(char::is_control) || text.contains("[@") || text.contains("```") {
                return Err(AnswerFault::Form);
            }
            known.check(&text)?;
            let subject = if field.is_about_prompt { prompt_of(source) } else { "" };
            if !SourceText::says_enough(&text, field.least_words, subject) {
                return Err(AnswerFault::Poor);
            }
            if is_kept(&text) {
                return Err(AnswerFault::Words);
            }
            Ok((field.name.to_owned(), text))
        };
        self.fields.iter().map(text).collect()
    }
}

/// Checks a choice. A prompt of few words says neither.
fn check_choice(field: &AnswerField, source: &str, text: String) -> Result<(String, String), AnswerFault> {
    let AnswerForm::Choice(words) = field.form else { return Err(AnswerFault::Form) };
    let text = text.to_lowercase();
    if !words.contains(&&*text) {
        return Err(AnswerFault::Form);
    }
    let (_, prompt) = source.rsplit_once(NOW).ok_or(AnswerFault::Form)?;
    if SourceText::says_enough(prompt, PROMPT_WORDS, "") { Ok((field.name.to_owned(), text)) } else { Err(AnswerFault::Poor) }
}

/// Checks the numbers of texts: each is one of the source, and has words of the answer that the others do not have.
fn echoed(field: &AnswerField, source: &str, text: &str) -> Result<(String, String), AnswerFault> {
    let (answer, texts) = echo_parts(source).ok_or(AnswerFault::Form)?;
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|number| (1..=texts.len()).contains(number));
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    let mut numbers = parts.map(number).collect::<Option<Vec<_>>>().ok_or(AnswerFault::Number)?;
    numbers.sort_unstable();
    numbers.dedup();
    let shared = check::shared_words(answer, &texts);
    if numbers.iter().any(|number| shared[number - 1] < SHARED_WORDS) {
        return Err(AnswerFault::Poor);
    }
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    Ok((field.name.to_owned(), numbers.join(",")))
}

fn prompt_of(source: &str) -> &str {
    source.strip_prefix("User: ").map_or("", |rest| rest.split("\n\nAgent: ").next().unwrap_or(rest))
}

/// Returns the first JSON object in a response: a server without schemas lets the model write around it.
fn object(response: &str) -> Option<Map<String, Value>> {
    response.match_indices('{').take(8).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&response[at..]).into_iter::<Map<String, Value>>();
        values.next()?.ok()
    })
}

/// Returns the address of a content that consists of contents.
pub fn address(task: SidecarTask, parts: impl IntoIterator<Item = Key>) -> Key {
    let mut bytes = task.name().as_bytes().to_vec();
    parts.into_iter().for_each(|part| bytes.extend(part.0.to_le_bytes()));
    Key::from_bytes(&bytes)
}

/// The start of the reason of a change that uses a text of a model.
const WRITTEN: &str = "text by model ";

/// Returns the reason of a change that uses a text of a model, for the log.
pub fn written_by(model: &str) -> String {
    format!("{WRITTEN}{model}, checked")
}

/// Returns true if a reason is that of a text of a model.
pub fn is_written(reason: &str) -> bool {
    reason.starts_with(WRITTEN)
}

/// The share of refused answers, in percent, from which on a model is stopped, and the number of answers after which it counts.
pub const MOST_REFUSED_PERCENT: u64 = 5;
/// The number of answers from which on the share counts.
pub const LEAST_ANSWERS: u64 = 20;

/// Returns true if a model with these answers, of which some were refused, is stopped.
pub fn is_unreliable(answers: u64, refused: u64) -> bool {
    answers >= LEAST_ANSWERS && refused * 100 > answers * MOST_REFUSED_PERCENT
}

/// Returns the wait before the next attempt of a task, in milliseconds: 2 seconds, doubled with each failure, at most 10 minutes.
pub fn retry_after(failures: u32) -> i64 {
    (2_000_i64 << failures.saturating_sub(1).min(16)).min(600_000)
}

/// The number of attempts after which a task is set aside.
pub const MOST_ATTEMPTS: u32 = 4;

/// Returns the cosine of the angle between two vectors; 0 if their lengths differ or one is zero.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let length = (dot(one, one) * dot(other, other)).sqrt();
    if one.len() == other.len() && length > 0.0 { dot(one, other) / length } else { 0.0 }
}
