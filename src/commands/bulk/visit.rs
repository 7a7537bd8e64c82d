//! The run over many sessions: one after the other, until all are done or the user interrupts it.

use super::interrupt;
use super::sessions::BulkSession;
use crate::app::{CommandError, Env, ErrorKind, may_read, refusal, session_name};
use crate::output::{BulkOutcome, BulkRow, plural};
use anyhow::anyhow;
use std::sync::atomic::Ordering;

/// A session of a run, and its outcome.
pub struct Visited<T> {
    pub session: BulkSession,
    /// The outcome; `None` if the run was interrupted before this session.
    pub outcome: Option<Result<T, CommandError>>,
}

/// As [`visit_with`], without other values.
pub fn visit<T>(
    env: &Env,
    sessions: Vec<BulkSession>,
    each: &mut dyn FnMut(&Env, &BulkSession) -> Result<T, CommandError>,
) -> Result<Vec<Visited<T>>, CommandError> {
    let sessions = sessions.into_iter().map(|session| (session, ())).collect();
    visit_with(env, sessions, &mut |env, session, ()| each(env, session))
}

/// Executes a command for each session and the value beside it, in order. A session that fails does not stop the others. After
/// Ctrl-C, the current session is finished, and the others are not started.
/// Errors: the command line is invalid, which the first session shows.
pub fn visit_with<S, T>(
    env: &Env,
    sessions: Vec<(BulkSession, S)>,
    each: &mut dyn FnMut(&Env, &BulkSession, S) -> Result<T, CommandError>,
) -> Result<Vec<Visited<T>>, CommandError> {
    let (interrupt, progress) = (interrupt::catch(), env.progress(sessions.len()));
    let visited = visit_until(sessions, &|| interrupt.load(Ordering::Relaxed), &mut |session, value| {
        progress.set_message(session_name(&session.path));
        let outcome = match (&session.found, &session.problem) {
            (_, Some(problem)) => Err(unreadable(session, problem)),
            (Some(found), None) => each(&env.visiting(found), session, value),
            (None, None) => each(env, session, value),
        };
        progress.inc(1);
        outcome
    });
    progress.finish_and_clear();
    visited
}

/// Executes `each` for each session until a condition is true.
fn visit_until<S, T>(
    sessions: Vec<(BulkSession, S)>,
    is_interrupted: &dyn Fn() -> bool,
    each: &mut dyn FnMut(&BulkSession, S) -> Result<T, CommandError>,
) -> Result<Vec<Visited<T>>, CommandError> {
    let mut visited = Vec::with_capacity(sessions.len());
    for (session, value) in sessions {
        if is_interrupted() {
            visited.push(Visited { session, outcome: None });
            continue;
        }
        match each(&session, value) {
            // An invalid selector or option is invalid for every session.
            Err(error) if error.kind == ErrorKind::Usage => return Err(error),
            outcome => visited.push(Visited { session, outcome: Some(outcome) }),
        }
    }
    Ok(visited)
}

fn unreadable(session: &BulkSession, problem: &str) -> CommandError {
    refusal!("cannot read {}: {problem}", session.path.display()).hint(may_read(&session.path))
}

/// Returns the error that determines the exit code of a run: interrupted, some sessions failed, or some were skipped. The report
/// has the reason for each session.
/// Errors: not every session was done.
pub fn outcome<T>(visited: &[Visited<T>]) -> Result<(), CommandError> {
    let all = visited.len();
    let left = visited.iter().filter(|visited| visited.outcome.is_none()).count();
    let errors = || visited.iter().filter_map(|visited| visited.outcome.as_ref()?.as_ref().err());
    let skipped = errors().filter(|error| is_skip(error)).count();
    let failed = errors().count() - skipped;
    if left > 0 {
        let error = anyhow!("interrupted: {} of {all} not started", plural(left, "session"));
        return Err(CommandError::new(ErrorKind::Interrupted, error).hint("to continue: run the same command again"));
    }
    if failed > 0 {
        return Err(refusal!("{} of {all} failed", plural(failed, "session")));
    }
    if skipped > 0 {
        let error = anyhow!("{} of {all} skipped: open in a client, or locked", plural(skipped, "session"));
        let hint = "close the clients, or use --live and then type /resume in them; then run the same command again";
        return Err(CommandError::new(ErrorKind::Conflict, error).hint(hint));
    }
    Ok(())
}

/// Returns true if an error is a reason to skip a session, because it is locked or open, and not a failure.
fn is_skip(error: &CommandError) -> bool {
    error.kind == ErrorKind::Conflict
}

/// Returns the row of a session, before its outcome is known.
pub fn row(session: &BulkSession) -> BulkRow {
    BulkRow {
        session: session.id.clone(),
        provider: session.provider.clone(),
        path: session.path.display().to_string(),
        title: session.title.clone(),
        ..BulkRow::default()
    }
}

/// Returns the row of a session that was left as it is.
pub fn unchanged(session: &BulkSession, reason: Option<String>) -> BulkRow {
    BulkRow { outcome: BulkOutcome::Unchanged, reason, ..row(session) }
}

impl Visited<BulkRow> {
    /// Returns the row of the session, which says why the command failed for it, or skipped it.
    pub fn into_row(self) -> BulkRow {
        match self.outcome {
            None => row(&self.session),
            Some(Ok(row)) => row,
            Some(Err(error)) => {
                let outcome = if is_skip(&error) { BulkOutcome::Skipped } else { BulkOutcome::Failed };
                BulkRow { outcome, reason: Some(reason(&error)), ..row(&self.session) }
            }
        }
    }
}

/// Returns the causes of an error on one line. The first cause repeats the name of the session, so it is left out if there are more.
pub fn reason(error: &CommandError) -> String {
    let causes: Vec<String> = error.source.chain().map(ToString::to_string).collect();
    let first = usize::from(causes.len() > 1);
    causes[first..].join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn sessions(names: &[&str]) -> Vec<(BulkSession, ())> {
        let session = |name: &&str| BulkSession { id: (*name).to_owned(), path: name.into(), ..BulkSession::default() };
        names.iter().map(|name| (session(name), ())).collect()
    }

    fn fails(kind: ErrorKind) -> Result<(), CommandError> {
        Err(CommandError::new(kind, anyhow!("it failed")))
    }

    fn code<T>(visited: &[Visited<T>]) -> u8 {
        outcome(visited).map_or_else(|error| error.kind.code(), |()| 0)
    }

    #[test]
    fn an_interrupt_finishes_the_current_session_and_starts_no_other() {
        let stop = Cell::new(false);
        let visited = visit_until(sessions(&["a", "b", "c"]), &|| stop.get(), &mut |session, ()| {
            stop.set(session.id == "b");
            Ok(session.id.clone())
        });
        let visited = visited.unwrap();
        let done: Vec<&str> = visited.iter().filter_map(|visited| visited.outcome.as_ref()?.as_deref().ok()).collect();
        assert_eq!((done, code(&visited)), (vec!["a", "b"], 130));
        assert_eq!(outcome(&visited).unwrap_err().source.to_string(), "interrupted: 1 session of 3 not started");
    }

    #[test]
    fn a_failure_precedes_a_skip_and_neither_stops_the_run() {
        let run = |kinds: &[Option<ErrorKind>]| {
            let mut kinds = kinds.iter();
            let each = &mut |_: &BulkSession, ()| kinds.next().copied().flatten().map_or(Ok(()), fails);
            visit_until(sessions(&["a", "b", "c"]), &|| false, each).map_or_else(|error| error.kind.code(), |done| code(&done))
        };
        let (refused, conflict, internal) = (Some(ErrorKind::Refused), Some(ErrorKind::Conflict), Some(ErrorKind::Internal));
        assert_eq!(run(&[None, None, None]), 0);
        assert_eq!(run(&[refused, conflict, None]), 1);
        assert_eq!(run(&[internal, None, None]), 1);
        assert_eq!(run(&[conflict, conflict, None]), 3);
        assert_eq!(run(&[Some(ErrorKind::Usage), None, None]), 2, "it is reported once");
    }
}
