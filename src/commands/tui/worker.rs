//! The work behind the screen: it reads the session, and runs command lines as the user would type them.

use super::picture::{Picture, SubagentRow};
use super::screen::{Detail, Effect, Entry, Event, Task};
use crate::app::{CommandError, Env};
use crate::commands::{CommandLine, Request, RequestEffect, complete, dispatch, explain, search, sessions};
use crate::model::BlockNumber;
use crate::output::{ChangeReport, plural, short_id};
use crate::workspace::{Found, Workspace};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};

const OUTPUT_COLUMNS: usize = 100;

/// Returns what a command line does.
/// Errors: the command line is invalid.
pub(super) fn kind(words: &[String]) -> Result<RequestEffect, String> {
    parse(words).map(|request| request.effect())
}

fn parse(words: &[String]) -> Result<Request, String> {
    let line = std::iter::once("aperture").chain(words.iter().map(String::as_str));
    let parsed = CommandLine::try_parse_from(line).map_err(|error| first_line(&error.to_string()))?;
    parsed.request.ok_or_else(|| "no command".to_owned())
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The worker with the session that it has read.
pub(super) struct Worker {
    env: Env,
    found: Found,
    workspace: Option<Workspace<'static>>,
}

impl Worker {
    /// Returns the worker, and the session as it is.
    /// Errors: the session cannot be read.
    pub fn new(env: &Env, found: Found) -> Result<(Worker, Picture), CommandError> {
        let mut worker = Worker { env: env.beside(|_| {}), found, workspace: None };
        worker.env.style.color = false;
        worker.env.style.width = OUTPUT_COLUMNS;
        let picture = worker.read()?;
        Ok((worker, picture))
    }

    /// Works until the screen is gone. Of several requests for details or estimates in a row, only the last is answered.
    pub fn run(mut self, tasks: &Receiver<Task>, events: &Sender<Event>) {
        while let Ok(task) = tasks.recv() {
            let mut queue = vec![task];
            queue.extend(tasks.try_iter());
            for at in 0..queue.len() {
                let is_replaced = queue[at + 1..].iter().any(|later| match (&queue[at], later) {
                    (Task::Explain(_), Task::Explain(_)) | (Task::Read(None), Task::Read(_)) => true,
                    (Task::Plan(one), Task::Plan(other)) => one.first() == other.first(),
                    _ => false,
                });
                let event = if is_replaced { None } else { self.work(&queue[at]) };
                if event.is_some_and(|event| events.send(event).is_err()) {
                    return;
                }
            }
        }
    }

    fn work(&mut self, task: &Task) -> Option<Event> {
        self.env.refresh();
        self.env.style.width = OUTPUT_COLUMNS;
        let done = match task {
            Task::Read(other) => self.read_again(other.as_deref()).map(|picture| Event::Picture(Box::new(picture))),
            // A block that cannot be explained has just changed its place: the next picture asks again.
            Task::Explain(number) => return self.explain(*number).ok().map(|detail| Event::Explained(Box::new(detail))),
            Task::Plan(words) => Ok(Event::Planned(words.clone(), self.execute(words, true))),
            Task::Execute(words) => Ok(Event::Executed(words.clone(), self.execute(words, false))),
            Task::Print(words) => Ok(match self.print(words) {
                Ok(text) => Event::Printed(format!("aperture {}", words.join(" ")), text),
                Err(error) => Event::Failed(error),
            }),
            Task::Search { query, in_all } => {
                let found = self.search(query, *in_all);
                found.map(|entries| Event::Found { query: query.clone(), in_all: *in_all, entries })
            }
            Task::Select(text) => Ok(Event::Selected(text.clone(), self.select(text))),
            Task::Sessions => self.sessions().map(Event::Sessions),
            Task::Complete(words) => {
                let arguments = complete::Arguments { words: words.clone() };
                let candidates = complete::candidates(&self.env_of("complete"), &arguments);
                Ok(Event::Completed(words.clone(), candidates.into_iter().map(|(value, _)| self.clean(&value)).collect()))
            }
            Task::Mouse(_) | Task::Leave(_) => return None,
        };
        Some(done.unwrap_or_else(|error| Event::Failed(self.message(&error))))
    }

    /// Returns an error on one line, with its first hint.
    fn message(&self, error: &CommandError) -> String {
        let hint = error.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
        self.clean(&format!("{:#}{hint}", error.source))
    }

    fn clean(&self, text: &str) -> String {
        self.env.gate.text(text, false).into_string()
    }

    fn env_of(&self, command: &str) -> Env {
        self.env.on(&self.found.path, command)
    }

    fn read(&mut self) -> Result<Picture, CommandError> {
        let env = self.env_of("tui");
        let workspace = env.read(self.found.clone())?;
        let mut picture = Picture::new(&env, &workspace);
        picture.title = self.clean(&picture.title);
        picture.subagents = self.subagents(&picture);
        self.workspace = Some(workspace);
        Ok(picture)
    }

    /// Reads the session, or the one of another file, which is shown from then on.
    fn read_again(&mut self, other: Option<&Path>) -> Result<Picture, CommandError> {
        let before = self.found.clone();
        if let Some(path) = other {
            self.found = self.env.find_by(&path.to_string_lossy())?;
        }
        self.read().inspect_err(|_| self.found = before)
    }

    fn explain(&self, number: BlockNumber) -> Result<Detail, CommandError> {
        let env = self.env_of("explain");
        let Some(workspace) = &self.workspace else { return Ok(Detail::default()) };
        let report = explain::of_block(&env, workspace, number)?;
        let content = workspace.masked_contents(&[number])?.into_iter().next().map(|content| content.readable);
        let block = &report.block;
        let facts = [
            format!("turn {}", block.turn),
            block.zone.label().to_owned(),
            block.state.name().to_owned(),
            block.level.name().to_owned(),
            if block.references > 0 { format!("used {} ×", block.references) } else { "not used since".to_owned() },
        ];
        let mut levels = report.levels;
        for level in &mut levels {
            level.content = level.content.as_ref().map(|content| self.clean(content));
        }
        let mut reasons = report.explanation.because;
        reasons.extend(report.decisions.iter().filter(|decision| decision.keeps).map(|decision| decision.why.clone()));
        Ok(Detail {
            number,
            facts: facts.join(" · "),
            reasons: reasons.iter().map(|reason| self.clean(reason)).collect(),
            content: self.clean(&content.unwrap_or_default()),
            levels,
        })
    }

    /// Runs a command line that changes something. Only changes of a session have a dry run.
    fn execute(&self, words: &[String], is_dry_run: bool) -> Result<Effect, String> {
        let mut words = words.to_vec();
        let is_change = matches!(parse(&words)?, Request::Change(_));
        if is_dry_run && !is_change {
            return Ok(Effect { what: "carries it out at once, without a preview".to_owned(), ..Effect::default() });
        }
        let command = format!("aperture {}", words.join(" "));
        if is_dry_run {
            words.push("--dry-run".to_owned());
        }
        match parse(&words)? {
            Request::Change(change) => {
                let env = self.env_of(&command);
                let report = dispatch::change(&env, &change).map_err(|error| self.message(&error))?;
                Ok(effect(&report))
            }
            _ => self.print(&words).map(|text| Effect { what: first_line(&text), ..Effect::default() }),
        }
    }

    fn print(&self, words: &[String]) -> Result<String, String> {
        let words: Vec<&str> = ["--color", "never"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let output = self.env.run_again(&words, b"").map_err(|error| self.message(&error))?;
        Ok(self.clean(&String::from_utf8_lossy(&output)))
    }

    fn search(&self, query: &str, in_all: bool) -> Result<Vec<Entry>, CommandError> {
        let arguments = search::Arguments { current: true, limit: 0, ..search::Arguments::new(vec![query.to_owned()]) };
        let path = self.found.path.to_string_lossy().into_owned();
        let env = if in_all { self.env.clone() } else { self.env.naming(Some(path)) };
        let report = search::report(&env, &arguments)?;
        let turns = report.sessions.iter().flat_map(|session| session.turns.iter().map(move |turn| (session, turn)));
        let entry = |(session, turn): (&search::SessionFound, &search::TurnFound)| Entry {
            text: self.clean(turn.line.trim()),
            note: if in_all {
                format!("{} turn {}", short_id(&session.session), turn.turn)
            } else {
                format!("turn {}", turn.turn)
            },
            path: Some(PathBuf::from(&turn.path)),
            turn: turn.turn,
        };
        Ok(turns.map(entry).collect())
    }

    fn select(&self, text: &str) -> Result<Vec<BlockNumber>, String> {
        let Some(workspace) = &self.workspace else { return Ok(Vec::new()) };
        let selector = self.env_of("blocks").selector(&[text.to_owned()]).map_err(|error| self.message(&error))?;
        selector.select(&workspace.reading).map_err(|error| error.to_string())
    }

    /// Returns the subagents of the session; of a list that cannot be read, none.
    fn subagents(&self, picture: &Picture) -> Vec<SubagentRow> {
        let arguments = sessions::Arguments { limit: Some(0), subagents: true, ..sessions::Arguments::default() };
        let directory = picture.path.with_extension("");
        let Ok(report) = sessions::report(&self.env, &arguments) else { return Vec::new() };
        let mut rows: Vec<&sessions::SessionRow> =
            report.sessions.iter().filter(|row| row.subagent && PathBuf::from(&row.path).starts_with(&directory)).collect();
        rows.sort_by_key(|row| row.last_written_time);
        let ended = |time: i64| picture.turns.iter().rev().find(|turn| turn.time.is_some_and(|start| start <= time));
        let row = |row: &&sessions::SessionRow| SubagentRow {
            path: PathBuf::from(&row.path),
            title: self.clean(&row.title),
            turn: ended(row.last_written_time).or(picture.turns.first()).map_or(0, |turn| turn.number),
            tokens: row.tokens.value,
            steps: row.steps,
        };
        rows.iter().map(row).collect()
    }

    fn sessions(&self) -> Result<Vec<Entry>, CommandError> {
        let arguments = sessions::Arguments { limit: Some(0), ..sessions::Arguments::default() };
        let report = sessions::report(&self.env, &arguments)?;
        let entry = |row: &sessions::SessionRow| {
            let project = row.project.rsplit(['/', '\\']).next().unwrap_or_default();
            let mut notes =
                vec![self.clean(project), short_id(&row.id), format!("{:.0} %", row.percent), plural(row.turns as usize, "turn")];
            notes.extend(row.open.then(|| "open".to_owned()));
            notes.extend(row.days_left.map(|days| format!("{days} d left")));
            notes.push(crate::output::age(self.env.style.now, row.last_written_time));
            Entry { text: self.clean(&row.title), note: notes.join(" · "), path: Some(PathBuf::from(&row.path)), turn: 0 }
        };
        Ok(report.sessions.iter().map(entry).collect())
    }
}

fn effect(report: &ChangeReport) -> Effect {
    let notes = report.notes.iter().cloned();
    let skipped = report.skipped.iter().map(|(why, blocks)| format!("skips {} ({why})", plural(blocks.len(), "block")));
    Effect {
        what: if report.is_nothing() { "nothing to do".to_owned() } else { format!("{} {}", report.object(), report.verb) },
        blocks: report.changes.len().max(report.marks.len()).max(report.unmarked.len()),
        tokens: (report.tokens_before, report.tokens_after),
        saved_per_turn: report.price.as_ref().and_then(|price| price.saved_dollars_per_turn),
        paid_now: report.price.as_ref().and_then(|price| Some(price.rewritten_dollars? + price.added_dollars?)),
        notes: notes.chain(skipped).collect(),
        is_nothing: report.is_nothing(),
        is_logged: report.operation.is_some(),
    }
}
