//! Failed calls of a session and the related calls that worked after them.

mod call_form;

use super::differences::{Change, change, is_same, replaced_program, shown};
use super::error_lines::{CallError, Subject, call_error, is_silent_failure, missing_program, normalized};
use crate::engine::mask;
use crate::model::{BlockNumber, Conventions, EventPlace, Key, TraceContent, TraceEvent, TraceResult, starts_with_any};
use crate::text::command_heads::{heads, is_trivial, without_wrappers, wrapper};
use crate::text::cut::cut;
use crate::text::shell::SimpleCommand;
use call_form::{CallForm, MIN_MEMBER, is_word_in, options};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Results after a failure among which the call that worked is searched.
const HORIZON: u32 = 12;
/// Bytes of an error line in texts.
const MAX_SHOWN_LINE: usize = 120;
/// Failures that are kept of a session.
const MAX_FAILURES: usize = 1_000;
/// Forms of calls that worked and are kept to compare failures with.
const MAX_WORKED: usize = 4_000;
/// The last successes of a turn, which a report of the user that it still fails refutes.
const REFUTED: usize = 3;
/// Steps that are kept between a failure and the same call that worked.
const MAX_STEPS: usize = 8;
/// The kind of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Nature {
    /// The machine, the network, the rights, a missing program.
    Environment,
    /// Options, arguments or the directory of a call.
    #[default]
    Usage,
}

/// A failed call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// That of the result.
    pub place: EventPlace,
    pub tool: String,
    /// The head of the command that failed; empty for a tool that does not run commands.
    pub head: String,
    pub line: String,
    /// The error line for texts: masked, at most 120 bytes.
    pub shown_line: String,
    /// Equal for failures of the same head or tool with the same normalized error line.
    pub signature: u64,
    pub missing_program: Option<String>,
    pub nature: Nature,
    /// True if the words of the error tell its kind. If not, the call that worked told it.
    pub is_clear: bool,
    /// True if the same head or tool worked in the same session, so that it fails only sometimes.
    pub is_intermittent: bool,
    /// The call that worked; `None` if there is none, or the user reported that it did not help.
    pub fix: Option<Fix>,
    /// True if the user reported that the fix did not help.
    pub is_refuted: bool,
}

impl Failure {
    /// Returns the head of the command, or the tool.
    pub fn subject(&self) -> &str {
        if self.head.is_empty() { &self.tool } else { &self.head }
    }
}

/// The call that worked after a failed one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// That of the result.
    pub place: EventPlace,
    /// Words in the call that worked and not in the failed one, masked.
    pub difference: Vec<String>,
    /// The advice, in the imperative, masked.
    pub text: String,
    /// The names under which a session that follows the advice has successes: heads with the options that made them work, and tools.
    pub names: Vec<String>,
    /// True if the error names its cure; if not, a second session must have found the same one.
    pub is_named: bool,
}

/// Extracts failures from the events of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fixes {
    calls: BTreeMap<Key, CallForm>,
    waiting: Vec<Waiting>,
    failures: Vec<Failure>,
    worked: BTreeSet<u64>,
    /// Programs, heads, heads with an option, and tools that worked, with the last success.
    worked_names: BTreeMap<String, Success>,
    /// The last successes since the last prompt of the user, oldest first.
    recent: Vec<(BlockNumber, Vec<String>)>,
    /// Names whose last success in a turn was refuted by the user's report, with the time of the success.
    refuted: BTreeMap<String, i64>,
    results: u32,
    /// For each of `failures`: the number of its result, and the hash of its command.
    places: Vec<(u32, u64)>,
}

/// The last success of a command or a tool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Success {
    result: u32,
    /// The time of the result, in milliseconds since 1970, UTC; 0 if unknown.
    time: i64,
}

/// A failure whose fix may follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    failure: Failure,
    /// True if the error names the program first.
    speaks: bool,
    /// True if it is certain which simple command failed.
    is_located: bool,
    form: CallForm,
    /// The index of the simple command that failed.
    failed: usize,
    result: u32,
    hash: u64,
    /// True if a file was edited since.
    has_edit: bool,
    /// Commands since that are not trivial, for a step that was missing.
    steps: Vec<String>,
    /// Calls of the same head that failed since.
    tried: Vec<SimpleCommand>,
}

impl Fixes {
    /// Reads the next event of the session.
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Call(call) => drop(self.calls.insert(call.id, CallForm::of(call))),
            TraceContent::Result(result) => {
                if let Some(form) = self.calls.remove(&result.call) {
                    self.result(event, form, result, conventions);
                }
            }
            _ => {}
        }
    }

    /// Returns the failures so far that can be learned from, oldest first.
    pub fn failures(&self) -> Vec<Failure> {
        let waiting = self.waiting.iter().filter(|waiting| waiting.failure.is_clear);
        let waiting = waiting.map(|waiting| (&waiting.failure, (waiting.result, waiting.hash)));
        let mut found: Vec<Failure> = (self.failures.iter().zip(self.places.iter().copied()))
            .chain(waiting)
            // The same command worked at another time, so that its form was not the cause.
            .filter(|(_, (_, hash))| !self.worked.contains(hash))
            .map(|(failure, (result, _))| Failure { is_intermittent: self.is_intermittent(failure, result), ..failure.clone() })
            .collect();
        found.sort_by_key(|failure| failure.place.block);
        found
    }

    /// Returns true if the rest of the session shows that the head or the tool of a failure works.
    fn is_intermittent(&self, failure: &Failure, result: u32) -> bool {
        match &failure.missing_program {
            // It can have been removed since.
            Some(program) => self.worked_names.get(program).is_some_and(|last| last.result > result),
            None => self.worked_names.contains_key(failure.subject()),
        }
    }

    /// Ends the turn before a prompt of the user. If the prompt reports a failure, the last successes of the turn were none: what
    /// they seemed to fix is not fixed.
    pub fn end_turn(&mut self, is_report: bool) {
        let recent = std::mem::take(&mut self.recent);
        if !is_report {
            return;
        }
        for failure in &mut self.failures {
            failure.is_refuted |= failure.fix.take_if(|fix| recent.iter().any(|(block, _)| *block == fix.place.block)).is_some();
        }
        for name in recent.into_iter().flat_map(|(_, names)| names) {
            let time = self.worked_names.get(&name).map_or(0, |last| last.time);
            self.refuted.insert(name, time);
        }
    }

    /// Returns true if all of these names had a success after a moment.
    pub fn worked_since(&self, names: &[String], time: i64) -> bool {
        !names.is_empty() && names.iter().all(|name| self.worked_names.get(name).is_some_and(|last| last.time > time))
    }

    /// Returns true if the user refuted a success of all of these names after a moment.
    pub fn was_refuted_since(&self, names: &[String], time: i64) -> bool {
        !names.is_empty() && names.iter().all(|name| self.refuted.get(name).is_some_and(|refuted| *refuted > time))
    }

    fn result(&mut self, event: &TraceEvent, form: CallForm, result: &TraceResult, conventions: &Conventions) {
        self.results += 1;
        if result.declined {
            return;
        }
        let error = failure_of(&form, result, conventions);
        if result.error || error.is_some() {
            self.waiting.iter_mut().for_each(|waiting| waiting.tried(&form));
        }
        match error {
            Some(error) => {
                self.expire();
                // Answers of the client itself are slips of the model.
                if !starts_with_any(result.text.trim_start(), &conventions.error_tags) {
                    self.add_failure(event, form, error);
                }
            }
            None if result.error => self.expire(),
            None => {
                self.resolve(event, &form);
                self.expire();
                self.note_success(event, &form);
            }
        }
    }

    /// Adds a failure that may be resolved later.
    fn add_failure(&mut self, event: &TraceEvent, form: CallForm, error: CallError) {
        let missing = missing_program(&error.line).map(str::to_owned);
        let failed = form.failed_command(&error, missing.as_deref());
        let nature = match error.subject {
            Subject::Environment => Some(Nature::Environment),
            Subject::Usage => Some(Nature::Usage),
            Subject::MissingName if form.names_argument(failed, &error.line) => return,
            Subject::OwnCode => return,
            _ if form.members.iter().any(|(name, _)| is_word_in(name, &error.line)) => Some(Nature::Usage),
            _ if !error.is_clear => return,
            _ => None,
        };
        if form.is_file_tool {
            return;
        }
        let own = form.commands.iter().find_map(|command| wrapper(command, &error.line)).map(str::to_owned);
        let head = own.or_else(|| form.heads.get(failed).cloned()).unwrap_or_default();
        let mut failure = Failure {
            place: event.place(),
            tool: form.tool.clone(),
            head,
            line: normalized(&mask(&error.line)),
            shown_line: shown_line(&error.line),
            missing_program: missing,
            nature: nature.unwrap_or_default(),
            is_clear: nature.is_some(),
            ..Failure::default()
        };
        failure.signature = signature(failure.subject(), &failure.line);
        let hash = form.commands.get(failed).map_or(NO_HASH, hash_of);
        let program = form.heads.get(failed).and_then(|head| head.split(' ').next()).unwrap_or_default();
        let speaks =
            !program.is_empty() && (error.line.starts_with(program) || failure.missing_program.as_deref() == Some(program));
        self.waiting.push(Waiting {
            failure,
            speaks,
            is_located: speaks || form.steps().count() <= 1,
            form,
            failed,
            result: self.results,
            hash,
            has_edit: false,
            steps: Vec::new(),
            tried: Vec::new(),
        });
    }

    /// Attaches a call that worked to the failures that it resolves. Failures with the same error have the same fix.
    fn resolve(&mut self, event: &TraceEvent, form: &CallForm) {
        let mut resolved: Vec<(Fix, Vec<Waiting>)> = Vec::new();
        for mut waiting in std::mem::take(&mut self.waiting) {
            let signature = waiting.failure.signature;
            let known = resolved.iter_mut().find(|(_, same)| same.iter().any(|known| known.failure.signature == signature));
            match (waiting.outcome(form), known) {
                (Outcome::Unrelated, _) => {
                    waiting.pass(form);
                    self.waiting.push(waiting);
                }
                (_, Some((_, same))) => same.push(waiting),
                (Outcome::Incidental, None) => {}
                (Outcome::Resolved(fix), None) => resolved.push((Fix { place: event.place(), ..fix }, vec![waiting])),
            }
        }
        for (fix, same) in resolved {
            for mut waiting in same {
                waiting.failure.fix = Some(fix.clone());
                // Another step resolved it, so that the same command worked later.
                if waiting.command().is_some_and(|(failed, head)| form.same_head(head).any(|command| is_same(failed, command))) {
                    waiting.hash = NO_HASH;
                }
                self.keep(waiting);
            }
        }
    }

    /// Stops waiting for fixes of failures that are too old.
    fn expire(&mut self) {
        let results = self.results;
        let is_old = |waiting: &mut Waiting| results.saturating_sub(waiting.result) >= HORIZON;
        let old: Vec<Waiting> = self.waiting.extract_if(.., is_old).collect();
        old.into_iter().filter(|waiting| waiting.failure.is_clear).for_each(|waiting| self.keep(waiting));
    }

    fn keep(&mut self, waiting: Waiting) {
        if self.failures.len() < MAX_FAILURES {
            self.places.push((waiting.result, waiting.hash));
            self.failures.push(waiting.failure);
        }
    }

    fn note_success(&mut self, event: &TraceEvent, form: &CallForm) {
        for command in &form.commands {
            if self.worked.len() < MAX_WORKED {
                self.worked.insert(hash_of(command));
            }
        }
        let names = form.names();
        for name in &names {
            if self.worked_names.len() < MAX_WORKED {
                self.worked_names.insert(name.clone(), Success { result: self.results, time: event.time });
            }
        }
        self.recent.push((event.block, names));
        self.recent.drain(..self.recent.len().saturating_sub(REFUTED));
    }
}

const NO_HASH: u64 = 0;

/// The meaning of a call that worked for a failure.
enum Outcome {
    Unrelated,
    /// The failure had another cause than the call.
    Incidental,
    /// The fix, without its place.
    Resolved(Fix),
}

impl Waiting {
    fn command(&self) -> Option<(&SimpleCommand, &str)> {
        Some((self.form.commands.get(self.failed)?, self.form.heads.get(self.failed).map(String::as_str)?))
    }

    /// Notes a call that worked and is not related.
    fn pass(&mut self, form: &CallForm) {
        self.has_edit |= form.is_edit;
        let steps = form.commands.iter().zip(&form.heads).filter(|(command, head)| !command.is_piped && is_step(command, head));
        self.steps.extend(steps.map(|(command, _)| text_of(command)).take(MAX_STEPS.saturating_sub(self.steps.len())));
    }

    /// Notes a call that failed: what it has does not help.
    fn tried(&mut self, form: &CallForm) {
        let head = self.form.heads.get(self.failed).map_or("", String::as_str);
        self.tried.extend(form.same_head(head).take(MAX_STEPS.saturating_sub(self.tried.len())).cloned());
    }

    /// Returns true if a change of the call is not what made it work: a call with the same change failed.
    fn is_refuted(&self, change: &Change) -> bool {
        let has = |call: &SimpleCommand, word: &String| call.words.iter().any(|known| shown(known) == *word);
        let has_change = |call: &SimpleCommand| {
            change.added.iter().all(|word| has(call, word)) && !change.removed.iter().any(|word| has(call, word))
        };
        self.tried.iter().any(has_change)
    }

    fn outcome(&self, worked: &CallForm) -> Outcome {
        match self.command() {
            Some((failed, head)) => self.command_outcome(failed, head, worked),
            None if !self.form.is_command && !worked.is_command && self.form.tool == worked.tool => self.tool_outcome(worked),
            None => Outcome::Unrelated,
        }
    }

    fn command_outcome(&self, failed: &SimpleCommand, head: &str, worked: &CallForm) -> Outcome {
        let mut is_related = false;
        for command in worked.same_head(head) {
            if is_same(failed, command) {
                return self.repeated();
            }
            if let Some(change) = change(failed, command) {
                is_related = true;
                if self.is_cause(&change, head) && !self.is_refuted(&change) {
                    let names = option_names(head, change.added.iter().map(String::as_str));
                    let is_named = names_cure(&self.failure.shown_line, &change);
                    let (text, difference) = (change.advice, change.added);
                    return Outcome::Resolved(Fix { text, difference, names, is_named, ..Fix::default() });
                }
            }
        }
        if is_related {
            // The next call of the same kind worked: what failed was not its form.
            return if self.failure.is_clear { Outcome::Unrelated } else { Outcome::Incidental };
        }
        self.alternative(failed, head, worked)
    }

    /// The same command worked. If a few other steps were between, they were missing.
    fn repeated(&self) -> Outcome {
        // Without its name in the error, a step between is any step.
        let is_named =
            |step: &String| heads(step).iter().any(|head| self.failure.shown_line.contains(&**head) && head.contains(' '));
        let Some(step) = self.steps.iter().find(|step| is_named(step)) else { return Outcome::Incidental };
        let difference = step.split(' ').map(str::to_owned).collect();
        let (text, names) = (format!("first run `{step}`"), heads(step));
        Outcome::Resolved(Fix { text, difference, names, is_named: true, ..Fix::default() })
    }

    /// Returns true if the change of the call made it work, and not a change of the code.
    fn is_cause(&self, change: &Change, head: &str) -> bool {
        // A program that occurs everywhere is the cause only if it says so itself.
        if is_trivial(head) && !self.speaks {
            return false;
        }
        if self.failure.is_clear {
            return !self.has_edit || change.is_distinct;
        }
        self.is_located && !self.has_edit && change.is_distinct && !change.added.is_empty()
    }

    /// Another program or subcommand that did the same.
    fn alternative(&self, failed: &SimpleCommand, head: &str, worked: &CallForm) -> Outcome {
        let program = |head: &str| head.split(' ').next().unwrap_or_default().to_owned();
        for (command, other) in
            worked.commands.iter().zip(&worked.heads).filter(|(command, other)| !command.is_piped && other.as_str() != head)
        {
            let is_same_program = program(head) == program(other);
            let is_replaced = self.failure.missing_program.is_some() && replaced_program(failed, command).is_some();
            let is_moved = is_same_program && self.failure.is_clear && self.is_named_in(failed, command);
            if is_replaced || is_moved {
                let program = replaced_program(failed, command).unwrap_or_else(|| other.clone());
                let (text, names) = (format!("use `{program}` instead"), vec![other.clone()]);
                let difference = program.split(' ').map(str::to_owned).collect();
                return Outcome::Resolved(Fix { text, difference, names, is_named: true, ..Fix::default() });
            }
        }
        Outcome::Unrelated
    }

    /// Returns true if another command takes the argument that the error names.
    fn is_named_in(&self, failed: &SimpleCommand, worked: &SimpleCommand) -> bool {
        let arguments = failed
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.is_text && !word.text.starts_with('-') && word.text.len() >= MIN_MEMBER);
        let mut named = arguments.filter(|word| is_word_in(&word.text, &self.failure.shown_line));
        named.any(|word| worked.words.contains(word)) && !self.has_edit
    }

    /// The same tool worked with another value of a member that the error names.
    fn tool_outcome(&self, worked: &CallForm) -> Outcome {
        if !self.failure.is_clear {
            return Outcome::Unrelated;
        }
        let named = self.form.members.iter().filter(|(name, _)| is_word_in(name, &self.failure.shown_line));
        let mut changes = named.filter_map(|(name, before)| {
            let after = worked.members.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
            match after {
                Some(after) if after == before => None,
                Some(after) => Some((name, format!("give `{name}` the form of `{after}`, not of `{before}`"))),
                None => Some((name, format!("leave out `{name}`"))),
            }
        });
        let Some((name, text)) = changes.next() else { return Outcome::Unrelated };
        let (difference, names) = (vec![name.clone()], vec![self.form.tool.clone()]);
        Outcome::Resolved(Fix { text, difference, names, is_named: true, ..Fix::default() })
    }
}

/// Returns the error of a result; `None` if it succeeded, or failed without a word, as a search without matches does.
fn failure_of(form: &CallForm, result: &TraceResult, conventions: &Conventions) -> Option<CallError> {
    let programs: Vec<&str> = form.heads.iter().map(|head| head.split(' ').next().unwrap_or_default()).collect();
    let is_failure = result.error || form.is_command && is_silent_failure(&result.text, &programs, conventions);
    if is_failure { call_error(&result.text, &programs, conventions) } else { None }
}

/// Returns true for a command that changes something, so that it can be a step that was missing.
fn is_step(command: &SimpleCommand, head: &str) -> bool {
    /// Trivial programs that change files.
    const CHANGING: &[&str] = &["chmod", "cp", "ln", "mkdir", "mv", "rm", "touch"];
    /// Subcommands that only show something.
    const SHOWING: &[&str] = &["diff", "help", "info", "list", "log", "ls", "remote", "show", "status", "version", "view"];
    let is_in_place = head == "sed" && command.words.iter().any(|word| word.text.starts_with("-i"));
    let changes = CHANGING.binary_search(&head).is_ok() || is_in_place;
    changes || !is_trivial(head) && head.rsplit(' ').next().is_none_or(|last| SHOWING.binary_search(&last).is_err())
}

/// Returns the signature of an error of a head or a tool.
pub fn signature(subject: &str, line: &str) -> u64 {
    short_hash(&format!("{subject}\n{line}"))
}

/// Returns the hash of a text.
pub fn short_hash(text: &str) -> u64 {
    // The low half of a hash is a hash.
    Key::from_bytes(text.as_bytes()).0 as u64
}

/// Returns the names of a head with each of its options among words; the head alone if there are none.
fn option_names<'a>(head: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<String> = options(words).map(|option| format!("{head} {option}")).collect();
    if names.is_empty() { vec![head.to_owned()] } else { names }
}

/// Returns true if an error names what a change did: an option that was added in its words, a word that was left out or replaced by a
/// similar one. Other words are names of the task at hand.
fn names_cure(error: &str, change: &Change) -> bool {
    /// Similarity of a word and the one that replaced it.
    const SIMILAR: f64 = 0.7;
    let error = error.to_lowercase();
    let words: Vec<&str> = error.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3).collect();
    let is_option = |word: &String| word.starts_with('-');
    let parts = |word: &str| word.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    // `--no-gpg-sign` for `gpg failed to sign`, `--repo` for `the repository`.
    let is_spoken_of = |option: &String| {
        let named = parts(option.split('=').next().unwrap_or_default());
        let mut content = named.iter().filter(|part| part.len() >= 3).peekable();
        content.peek().is_some() && content.all(|part| words.iter().any(|word| word.starts_with(&**part)))
    };
    let is_quoted = |word: &String| word.len() >= 3 && error.contains(&word.to_lowercase());
    match (change.added.as_slice(), change.removed.as_slice()) {
        ([], removed) => removed.iter().all(is_option) && removed.iter().any(is_quoted),
        ([added], [removed]) => is_quoted(removed) && (is_quoted(added) || strsim::jaro_winkler(added, removed) >= SIMILAR),
        (added, _) => added.iter().any(|word| is_option(word) && is_spoken_of(word)),
    }
}

fn hash_of(command: &SimpleCommand) -> u64 {
    let words: Vec<&str> = without_wrappers(&command.words).iter().map(|word| word.text.as_str()).collect();
    short_hash(&words.join("\0"))
}

fn text_of(command: &SimpleCommand) -> String {
    const MAX_TEXT: usize = 70;
    cut(&command.words.iter().map(shown).collect::<Vec<_>>().join(" "), MAX_TEXT)
}

fn shown_line(line: &str) -> String {
    cut(&mask(line).replace('`', "'"), MAX_SHOWN_LINE)
}

#[cfg(test)]
mod tests;
