//! Failed calls of a session and the related calls that worked after them.

mod call_form;

use super::command_heads::{heads, is_trivial, without_wrappers, wrapper};
use super::differences::{Change, change, is_same, replaced_program, shown, similarity};
use super::error_lines::{CallError, Subject, call_error, is_silent_failure, missing_program, normalized};
use crate::engine::mask;
use crate::model::{BlockNumber, Conventions, Key, TraceContent, TraceEvent, TraceResult};
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
/// The share of common words from which on another subcommand of a program did the same.
const SAME_PAYLOAD: f64 = 0.5;
/// Steps between a failure and the same call that worked, of which all can be needed.
const MAX_STEPS: usize = 3;
/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Nature {
    /// The machine, the network, the rights, a missing program.
    Environment,
    /// Options, arguments or the directory of a call.
    Usage,
    /// A rule of the client about its tools, by its number.
    ClientRule(u8),
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub block: BlockNumber,
    pub row: String,
    /// The time of the result, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    pub call_block: BlockNumber,
    pub call_row: String,
    pub tool: String,
    /// The head of the command that failed; empty for a tool that does not run commands.
    pub head: String,
    /// The normalized error line.
    pub line: String,
    /// The error line for texts: masked, at most 120 bytes.
    pub shown_line: String,
    /// Equal for failures of the same head or tool with the same normalized error line.
    pub signature: u64,
    /// The program that the error reports as missing.
    pub missing_program: Option<String>,
    /// The kind.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    pub block: BlockNumber,
    pub row: String,
    pub call_block: BlockNumber,
    pub call_row: String,
    /// The time of the result, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    /// Words in the call that worked and not in the failed one, masked.
    pub difference: Vec<String>,
    /// The advice, in the imperative, masked.
    pub text: String,
    /// The names under which a session that follows the advice has successes: heads with the options that made them work, and tools.
    pub names: Vec<String>,
}

/// Extracts failures from the events of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fixes {
    calls: BTreeMap<Key, OpenCall>,
    waiting: Vec<Waiting>,
    failures: Vec<Failure>,
    /// Hashes of simple commands that worked.
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

/// A call without its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenCall {
    block: BlockNumber,
    row: String,
    form: CallForm,
}

/// A failure whose fix may follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    failure: Failure,
    is_verdict: bool,
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
    /// Commands since that are not trivial, for a step that was missing. More than one leave open which.
    steps: Vec<String>,
    /// The change that a later attempt made and that got past the error, although it failed for another reason.
    progress: Option<Change>,
}

impl Fixes {
    /// Reads the next event of the session.
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Call(call) => {
                let open = OpenCall { block: event.block, row: event.row.clone(), form: CallForm::of(call) };
                self.calls.insert(call.id, open);
            }
            TraceContent::Result(result) => {
                if let Some(call) = self.calls.remove(&result.call) {
                    self.result(event, call, result, conventions);
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
            .filter(|(failure, (_, hash))| matches!(failure.nature, Nature::ClientRule(_)) || !self.worked.contains(hash))
            .map(|(failure, (result, _))| Failure { is_intermittent: self.is_intermittent(failure, result), ..failure.clone() })
            .collect();
        found.sort_by_key(|failure| failure.block);
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
            failure.is_refuted |= failure.fix.take_if(|fix| recent.iter().any(|(block, _)| *block == fix.block)).is_some();
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

    fn result(&mut self, event: &TraceEvent, call: OpenCall, result: &TraceResult, conventions: &Conventions) {
        self.results += 1;
        if result.declined {
            return;
        }
        let error = failure_of(&call.form, result, conventions);
        match error {
            Some(error) => {
                self.note_progress(&call.form, &error);
                self.expire();
                self.add_failure(event, call, error, result, conventions);
            }
            None if result.error => self.expire(),
            None => {
                self.resolve(event, &call);
                self.expire();
                self.note_success(event, &call.form);
            }
        }
    }

    /// Adds a failure that may be resolved later.
    fn add_failure(
        &mut self,
        event: &TraceEvent,
        call: OpenCall,
        error: CallError,
        result: &TraceResult,
        conventions: &Conventions,
    ) {
        let form = call.form;
        let rule = client_rule(&result.text, conventions);
        let is_client = conventions.error_tags.iter().any(|tag| result.text.trim_start().starts_with(tag));
        let missing = missing_program(&error.line).map(str::to_owned);
        let failed = form.failed_command(&error, missing.as_deref());
        let nature = match (rule, error.subject) {
            (Some(rule), _) => Some(Nature::ClientRule(rule)),
            // Other answers of the client itself are slips of the model.
            _ if is_client => return,
            (_, Subject::Environment) => Some(Nature::Environment),
            (_, Subject::Usage) => Some(Nature::Usage),
            (_, Subject::MissingName) if form.names_argument(failed, &error.line) => return,
            (_, Subject::OwnCode) => return,
            _ if form.names_member(&error.line) => Some(Nature::Usage),
            _ if !error.is_clear => return,
            _ => None,
        };
        if nature.is_none_or(|nature| !matches!(nature, Nature::ClientRule(_))) && form.is_file_tool {
            return;
        }
        let own = form.commands.iter().find_map(|command| wrapper(command, &error.line)).map(str::to_owned);
        let head = own.or_else(|| form.heads.get(failed).cloned()).unwrap_or_default();
        let mut failure = Failure {
            block: event.block,
            row: event.row.clone(),
            time: event.time,
            call_block: call.block,
            call_row: call.row,
            signature: 0,
            tool: form.tool.clone(),
            head,
            line: normalized(&mask(&error.line)),
            shown_line: shown_line(&error.line),
            missing_program: missing,
            nature: nature.unwrap_or(Nature::Usage),
            is_clear: nature.is_some(),
            is_intermittent: false,
            fix: None,
            is_refuted: false,
        };
        failure.signature = signature(failure.subject(), &failure.line);
        let hash = form.commands.get(failed).map_or(NO_HASH, hash_of);
        let program = form.heads.get(failed).and_then(|head| head.split(' ').next()).unwrap_or_default();
        let speaks =
            !program.is_empty() && (error.line.starts_with(program) || failure.missing_program.as_deref() == Some(program));
        self.waiting.push(Waiting {
            failure,
            is_verdict: error.is_verdict,
            speaks,
            is_located: speaks || form.steps().count() <= 1,
            form,
            failed,
            result: self.results,
            hash,
            has_edit: false,
            steps: Vec::new(),
            progress: None,
        });
    }

    /// Notes an attempt that changed a failed call a little and failed for another reason: the change got past the first error.
    fn note_progress(&mut self, form: &CallForm, error: &CallError) {
        for waiting in &mut self.waiting {
            let Some((failed, head)) = waiting.command() else { continue };
            if waiting.progress.is_some() || normalized(&mask(&error.line)) == waiting.failure.line {
                continue;
            }
            let progress = form.same_head(head).find_map(|command| change(failed, command));
            waiting.progress = progress;
        }
    }

    /// Attaches a call that worked to the failures that it resolves. Failures with the same error have the same fix.
    fn resolve(&mut self, event: &TraceEvent, call: &OpenCall) {
        let mut resolved: Vec<(Fix, Vec<Waiting>)> = Vec::new();
        for mut waiting in std::mem::take(&mut self.waiting) {
            waiting.locate(&call.form);
            let signature = waiting.failure.signature;
            let known = resolved.iter_mut().find(|(_, same)| same.iter().any(|known| known.failure.signature == signature));
            match (waiting.outcome(&call.form), known) {
                (Outcome::Unrelated, _) => {
                    waiting.pass(&call.form);
                    self.waiting.push(waiting);
                }
                (_, Some((fix, same))) => {
                    // This attempt had the change already: what was done after it belongs to the fix.
                    if waiting.has_few_steps() && waiting.is_repeated(&call.form) {
                        fix.text = format!("{}; before that, run {}", fix.text, listed(&waiting.steps));
                    }
                    same.push(waiting);
                }
                (Outcome::Incidental, None) => {}
                (Outcome::Resolved { text, difference, names }, None) => {
                    let fix = Fix {
                        block: event.block,
                        row: event.row.clone(),
                        call_block: call.block,
                        call_row: call.row.clone(),
                        time: event.time,
                        difference,
                        text,
                        names,
                    };
                    resolved.push((fix, vec![waiting]));
                }
            }
        }
        for (fix, same) in resolved {
            for mut waiting in same {
                waiting.failure.fix = Some(fix.clone());
                let is_repeated = waiting.is_repeated(&call.form);
                self.keep(if is_repeated { waiting.into_repeated() } else { waiting });
            }
        }
    }

    /// Stops waiting for fixes of failures that are too old.
    fn expire(&mut self) {
        let results = self.results;
        let (old, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiting| results.saturating_sub(waiting.result) >= HORIZON);
        self.waiting = waiting;
        let old: Vec<Waiting> = old;
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

/// The hash of no command.
const NO_HASH: u64 = 0;

/// The start of an advice about a missing step.
const FIRST_RUN: &str = "first run ";

/// The meaning of a call that worked for a failure.
enum Outcome {
    /// Nothing.
    Unrelated,
    /// The failure had another cause than the call.
    Incidental,
    /// The call is the corrected form.
    Resolved { text: String, difference: Vec<String>, names: Vec<String> },
}

impl Waiting {
    fn command(&self) -> Option<(&SimpleCommand, &str)> {
        Some((self.form.commands.get(self.failed)?, self.form.heads.get(self.failed).map(String::as_str)?))
    }

    /// Finds the simple command of a chain that failed: the only one that the chain that worked has in another form.
    fn locate(&mut self, worked: &CallForm) {
        let has_counterpart = |at: usize| worked.same_head(&self.form.heads[at]).next().is_some();
        if self.is_located || !self.failure.is_clear && !self.form.steps().all(has_counterpart) {
            return;
        }
        let mut changed = self.form.steps().filter(|at| {
            let (command, head) = (&self.form.commands[*at], &self.form.heads[*at]);
            let is_repeated = worked.same_head(head).any(|other| is_same(command, other));
            !is_repeated && worked.same_head(head).any(|other| change(command, other).is_some())
        });
        if let (Some(at), None) = (changed.next(), changed.next()) {
            drop(changed);
            self.failed = at;
            self.is_located = true;
            self.failure.head = self.form.heads[at].clone();
            self.failure.signature = signature(self.failure.subject(), &self.failure.line);
            self.hash = hash_of(&self.form.commands[at]);
        }
    }

    /// Notes a call that worked and is not related.
    fn pass(&mut self, form: &CallForm) {
        self.has_edit |= form.is_edit;
        let steps = form.commands.iter().zip(&form.heads).filter(|(command, head)| !command.is_piped && is_step(command, head));
        // One more tells that there were too many.
        self.steps.extend(steps.map(|(command, _)| text_of(command)).take((MAX_STEPS + 1).saturating_sub(self.steps.len())));
    }

    fn outcome(&self, worked: &CallForm) -> Outcome {
        if matches!(self.failure.nature, Nature::ClientRule(_)) {
            return Outcome::Unrelated;
        }
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
                if self.is_cause(&change, head) {
                    let names = option_names(head, change.added.iter().map(String::as_str));
                    return Outcome::Resolved { text: change.advice, difference: change.added, names };
                }
            }
        }
        if is_related {
            // The next call of the same kind worked: what failed was not its form.
            return if self.failure.is_clear { Outcome::Unrelated } else { Outcome::Incidental };
        }
        self.alternative(failed, head, worked)
    }

    fn has_few_steps(&self) -> bool {
        (1..=MAX_STEPS).contains(&self.steps.len())
    }

    /// Marks a failure that another step resolved, so that the same command worked later.
    fn into_repeated(mut self) -> Waiting {
        self.hash = NO_HASH;
        self
    }

    fn is_repeated(&self, worked: &CallForm) -> bool {
        self.command().is_some_and(|(failed, head)| worked.same_head(head).any(|command| is_same(failed, command)))
    }

    /// The same command worked. If a few other steps were between, they were missing.
    fn repeated(&self) -> Outcome {
        if !self.failure.is_clear || self.has_edit || !self.has_few_steps() {
            return Outcome::Incidental;
        }
        let difference = self.steps.iter().flat_map(|step| step.split(' ')).map(str::to_owned).collect();
        let names = self.steps.iter().flat_map(|step| heads(step)).collect();
        Outcome::Resolved { text: format!("{FIRST_RUN}{}", listed(&self.steps)), difference, names }
    }

    /// Returns true if the change of the call made it work, and not a change of the code.
    fn is_cause(&self, change: &Change, head: &str) -> bool {
        // A program that occurs everywhere is the cause only if it says so itself.
        if is_trivial(head) && !self.speaks {
            return false;
        }
        if self.progress.as_ref().is_some_and(|progress| progress.added == change.added && progress.removed == change.removed) {
            return true;
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
            let is_replaced = self.failure.missing_program.is_some()
                && (replaced_program(failed, command).is_some() || similarity(failed, command) >= SAME_PAYLOAD);
            let is_same_payload =
                is_same_program && (self.is_verdict || self.failure.is_clear) && similarity(failed, command) >= SAME_PAYLOAD;
            let is_moved = is_same_program && self.failure.is_clear && self.is_named_in(failed, command);
            if is_replaced || is_same_payload || is_moved {
                let program = replaced_program(failed, command).unwrap_or_else(|| other.clone());
                return Outcome::Resolved {
                    text: format!("use `{program}` instead"),
                    difference: program.split(' ').map(str::to_owned).collect(),
                    names: vec![other.clone()],
                };
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
                Some(after) => Some((name, format!("`{name}` as `{after}`, not `{before}`"))),
                None => Some((name, format!("leave out `{name}`"))),
            }
        });
        match changes.next() {
            Some((name, text)) => Outcome::Resolved { text, difference: vec![name.clone()], names: vec![self.form.tool.clone()] },
            None => Outcome::Unrelated,
        }
    }
}

/// Returns the error of a result; `None` if it succeeded, or failed without a word, as a search without matches does.
fn failure_of(form: &CallForm, result: &TraceResult, conventions: &Conventions) -> Option<CallError> {
    let programs: Vec<&str> = form.heads.iter().map(|head| head.split(' ').next().unwrap_or_default()).collect();
    let is_failure = result.error || form.is_command && is_silent_failure(&result.text, &programs, conventions);
    if is_failure { call_error(&result.text, &programs, conventions) } else { None }
}

/// Returns the number of the rule of the client that an error reports.
fn client_rule(text: &str, conventions: &Conventions) -> Option<u8> {
    /// The client's own words are at the start.
    const MAX_MESSAGE: usize = 500;
    let start = &text[..text.floor_char_boundary(MAX_MESSAGE)];
    let at = conventions.client_rules.iter().position(|rule| rule.marks.iter().all(|mark| start.contains(mark)))?;
    u8::try_from(at).ok()
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

fn hash_of(command: &SimpleCommand) -> u64 {
    let words: Vec<&str> = without_wrappers(&command.words).iter().map(|word| word.text.as_str()).collect();
    short_hash(&words.join("\0"))
}

fn listed(steps: &[String]) -> String {
    steps.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(" and ")
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
