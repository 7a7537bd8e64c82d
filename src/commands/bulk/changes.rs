//! Changes of many sessions, each an operation of its own.

use super::sessions::{BulkSession, listed};
use super::visit::{Visited, outcome, row, unchanged, visit};
use crate::app::{CommandError, Env, refusal};
use crate::commands::change::pipeline::{NothingToChange, is_live, open_in_client};
use crate::commands::redact::{self, Redaction};
use crate::commands::{self, BulkOptions, ChangeOptions};
use crate::engine::SelectorError;
use crate::fsio::is_packed;
use crate::output::{BulkOutcome, BulkReport, BulkRow, ChangeReport};
use crate::text::shell::quoted_word;
use crate::workspace::ApplyError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The longest time between two changes of one run, in milliseconds.
const RUN_PAUSE: i64 = 600_000;

/// Changes the sessions that the options select, one after the other, and prints a row for each.
/// Errors: the selector is invalid, there are no sessions, or not every session was done.
pub fn run(env: &Env, request: &commands::Change, sessions: &BulkOptions) -> Result<(), CommandError> {
    let chosen = match request {
        commands::Change::Redact(arguments) => Some(redact::with_chosen_texts(env, arguments)?),
        _ => None,
    };
    let env = chosen.as_ref().unwrap_or(env);
    // A store that cannot be opened is one error, not one for each session.
    env.existing_store()?;
    let given = match request {
        commands::Change::Redact(arguments) => arguments.applied(),
        other => *other.clone().options_mut(),
    };
    let undone = match request {
        commands::Change::Undo(_) => Some(last_run(env)?),
        _ => None,
    };
    let visited = visit(env, listed(env, sessions)?, &mut |env, session| match &undone {
        Some(run) if !run.contains(&env.disk.resolve(&session.path)?) => Ok(unchanged(session, None)),
        _ => change_session(env, request, given, session),
    })?;
    let exit = outcome(&visited);
    let rows = rows(visited, if undone.is_some() { "redo" } else { "undo" });
    let report = BulkReport::new(request.name(), given.dry_run, rows);
    let hint = Some("to list the changed sessions: aperture verify --all");
    let done = |error: CommandError| if given.dry_run { error } else { error.unreported("the command was executed", hint) };
    env.print(&report).map_err(done)?;
    exit
}

/// Returns the files whose newest change in force is of the last command that ran on many sessions.
/// Errors: the store cannot be read, or no such change is in force.
fn last_run(env: &Env) -> Result<BTreeSet<PathBuf>, CommandError> {
    let mut changes: Vec<(i64, String, PathBuf)> = Vec::new();
    if let Some(store) = env.existing_store()? {
        for session in store.sessions()? {
            let history = store.history(session.key)?;
            let newest = history.undoable().and_then(|id| history.operation(id));
            if let Some(operation) = newest.filter(|operation| is_bulk(&operation.command)) {
                changes.push((operation.time, operation.command.clone(), session.path));
            }
        }
    }
    changes.sort_by(|a, b| b.cmp(a));
    let Some((mut time, command, _)) = changes.first().cloned() else {
        return Err(refusal!("nothing to undo: no change of many sessions is in force")
            .hint("to list the changed sessions: aperture verify --all"));
    };
    let of_run = changes.into_iter().filter(|(_, other, _)| *other == command).take_while(|(earlier, ..)| {
        let follows = time - earlier <= RUN_PAUSE;
        time = *earlier;
        follows
    });
    Ok(of_run.map(|(.., path)| path).collect())
}

/// Returns true if a logged command ran on many sessions.
fn is_bulk(command: &str) -> bool {
    command.split(' ').any(|word| matches!(word, "--all" | "--all-sessions" | "--project") || word.starts_with("--project="))
}

fn change_session(
    env: &Env,
    request: &commands::Change,
    options: ChangeOptions,
    session: &BulkSession,
) -> Result<BulkRow, CommandError> {
    let is_redaction = matches!(request, commands::Change::Redact(_));
    // Credentials and damage can be in any row; only prompts and responses have blocks to shorten.
    if session.is_blank && !is_redaction && !matches!(request, commands::Change::Repair(_)) {
        return Ok(unchanged(session, None));
    }
    // A credential that stays in a file is a failure; a compressed session is not used at present, and costs nothing.
    if is_packed(&session.path) && !is_redaction {
        return Ok(unchanged(session, Some(ApplyError::Packed.to_string())));
    }
    if let Some(reason) = session.found.as_ref().and_then(|found| found.provider.read_only()) {
        return Ok(unchanged(session, Some(reason.to_owned())));
    }
    let report = match request {
        commands::Change::Redact(arguments) => redact::redact(env, arguments),
        request => request.execute(env).map(|report| Redaction { report, rewritten: 0, left: Vec::new() }),
    };
    match report {
        Ok(Redaction { report, rewritten, left }) => {
            left.iter().for_each(|left| env.note(left));
            if options.dry_run && !options.live && report.edits > 0 && is_live(env, &env.find(None)?) {
                return Err(open_in_client(&env.find(None)?));
            }
            Ok(changed(session, report, rewritten))
        }
        Err(error) => match reason_for_nothing(&error) {
            Some(reason) => Ok(unchanged(session, Some(reason))),
            None => Err(error),
        },
    }
}

/// Returns the reason if the error only says that this session has nothing to change; for a single session, that is an error.
fn reason_for_nothing(error: &CommandError) -> Option<String> {
    error.source.chain().find_map(|cause| {
        let is_unmatched = cause.downcast_ref().is_some_and(SelectorError::is_absent);
        (is_unmatched || cause.is::<NothingToChange>()).then(|| cause.to_string())
    })
}

fn changed(session: &BulkSession, report: ChangeReport, rewritten: usize) -> BulkRow {
    if report.is_nothing() && rewritten == 0 {
        let reason = Some(report.notes.join("; ")).filter(|reason| !reason.is_empty());
        return BulkRow { operation: report.operation, ..unchanged(session, reason) };
    }
    BulkRow {
        outcome: BulkOutcome::Changed,
        what: Some(report.object()),
        tokens_before: Some(report.tokens_before),
        tokens_after: Some(report.tokens_after),
        operation: report.operation,
        ..row(session)
    }
}

/// Returns the rows of the run, each with the command that inverts its change.
fn rows(visited: Vec<Visited<BulkRow>>, inverse: &str) -> Vec<BulkRow> {
    let mut ids: BTreeMap<String, usize> = BTreeMap::new();
    visited.iter().for_each(|visited| *ids.entry(visited.session.id.clone()).or_default() += 1);
    let of_session = |visited: Visited<BulkRow>| {
        let row = visited.into_row();
        let name = if ids[&row.session] == 1 { &row.session } else { &row.path };
        let undo = row.operation.map(|operation| format!("aperture {inverse} {operation} -s {}", quoted_word(name)));
        BulkRow { undo, ..row }
    };
    visited.into_iter().map(of_session).collect()
}
