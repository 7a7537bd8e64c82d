use super::report::{SessionRow, SessionsReport};
use super::{Arguments, Sort};
use crate::app::{CommandError, Env};
use crate::commands::status::title;
use crate::commands::topics::topics;
use crate::commands::usage::check_client;
use crate::engine::{self, SessionTopic};
use crate::fsio::Identity;
use crate::model::{JsonOf, id_starts_with, request_id};
use crate::provider::{PROVIDERS, Totals};
use crate::workspace::{self, FindError, Listed, RequestSession};
use std::cmp::Reverse;
use std::path::Path;

/// The default for the number of sessions listed as text.
const LISTED: usize = 50;

/// Lists the sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    check_client(arguments.client.as_deref())?;
    env.print(&report(env, arguments)?)
}

/// Errors: there is no session at all.
pub fn report(env: &Env, arguments: &Arguments) -> Result<SessionsReport, CommandError> {
    let mut skip = |path: &Path, error| env.note_skipped(path, &error);
    let project = arguments.project.as_ref().map(|directory| env.project_named(directory));
    let titles = arguments.text.is_some();
    let listed = workspace::list(env.disk, &env.totals(), &env.places, project.as_ref(), titles, &mut skip);
    let copies = env.kept()?;
    let kept = workspace::list_found(env.disk, &env.totals(), copies.orphans(), project.as_ref(), titles, &mut skip);
    let in_requests = if project.is_none() { in_requests(env) } else { Vec::new() };
    let mut listed = match listed {
        Err(FindError::NoSessions(_)) if !in_requests.is_empty() || !kept.is_empty() => Vec::new(),
        listed => listed?,
    };
    listed.extend([in_requests, kept]);
    let open = env.open_sessions();
    let wanted = |session: &&Listed| {
        is_selected(env, arguments, session)
            && (arguments.subagents || !session.found.location.subagent)
            && (arguments.all || session.totals.turns + session.totals.steps > 0)
            && (!arguments.open || open.contains(&session.found.location.id))
    };
    let mut sessions: Vec<&mut Listed> = listed.iter_mut().flatten().filter(|session| wanted(&&**session)).collect();
    sessions.sort_by(|a, b| (b.last_written(), &a.found.location.id).cmp(&(a.last_written(), &b.found.location.id)));
    match arguments.sort {
        Sort::Age => {}
        Sort::Tokens => sessions.sort_by_key(|session| Reverse(session.totals.window_tokens)),
        Sort::Full => {
            sessions.sort_by(|a, b| percent(env, b).total_cmp(&percent(env, a)));
        }
        Sort::Size => sessions.sort_by_key(|session| Reverse(session.identity.bytes)),
        Sort::Turns => sessions.sort_by_key(|session| Reverse(session.totals.turns)),
    }
    if arguments.reverse {
        sessions.reverse();
    }
    let limit = arguments.limit.unwrap_or(if env.json { 0 } else { LISTED });
    let limit = if limit == 0 { sessions.len() } else { limit.min(sessions.len()) };
    let left_out = sessions.len() - limit;
    // Only a title that is shown is worth a search of its file for credentials.
    workspace::read_titles(env.disk, &env.totals(), &mut sessions[..limit]);
    let retention = PROVIDERS.iter().map(|provider| (provider.name(), copies.retention_days(*provider)));
    let retention: Vec<(&str, Option<u32>)> = retention.collect();
    let days_left = |session: &Listed| {
        let days = retention.iter().find(|(name, _)| *name == session.found.provider.name())?.1;
        let is_file = request_id(&session.found.path).is_none();
        Some(workspace::days_left(session.identity.modified, days.filter(|_| is_file)?, env.current_time()))
    };
    let row = |session: &&mut Listed| {
        let kept = session.found.path.starts_with(copies.directory());
        SessionRow {
            kept,
            days_left: if kept { None } else { days_left(session) },
            ..SessionRow::json_of(&(env, session, &open))
        }
    };
    let mut rows: Vec<SessionRow> = sessions[..limit].iter().map(row).collect();
    if arguments.topics {
        let listed: Vec<&Listed> = sessions[..limit].iter().map(|session| &**session).collect();
        for (row, topics) in rows.iter_mut().zip(topics(env, &listed)) {
            row.topics = Some(labels(topics));
        }
    }
    // The program ends here: freeing thousands of sessions takes longer than writing the output.
    std::mem::forget(listed);
    Ok(SessionsReport { sessions: rows, left_out, outside_project: false })
}

/// Returns the labels of topics, those with the most tokens first.
fn labels(mut topics: Vec<SessionTopic>) -> Vec<String> {
    topics.sort_by_key(|topic| Reverse(topic.turns.iter().map(|turn| turn.tokens).sum::<u64>()));
    topics.into_iter().map(|topic| topic.label).filter(|label| !label.is_empty()).collect()
}

/// Returns the sessions in the memory of a running proxy. One that can no longer be read is left out.
fn in_requests(env: &Env) -> Vec<Listed> {
    let listed = |session: RequestSession| {
        let (found, modified) = (session.found()?, i128::from(session.modified) * 1_000_000);
        let workspace = env.read(found.clone()).ok()?;
        let reading = &workspace.reading;
        let totals = Totals {
            window_tokens: reading.price.total.value as u64,
            moved_on: true,
            steps: reading.steps,
            turns: reading.turns.len() as u32,
            last_written: Some(session.modified),
            model: reading.model.as_str().into(),
            title: title(reading),
            ..Totals::default()
        };
        Some(Listed {
            found,
            identity: Identity { bytes: reading.session.bytes, modified, ..Identity::default() },
            totals,
            bills: None,
        })
    };
    env.request_sessions().into_iter().filter_map(listed).collect()
}

fn is_selected(env: &Env, arguments: &Arguments, session: &Listed) -> bool {
    let Listed { found, identity, totals, .. } = session;
    let age = env.style.now.as_millisecond() - session.last_written();
    let has_text = |text: &String| {
        let text = text.to_lowercase();
        totals.title.to_lowercase().contains(&text) || id_starts_with(&found.location.id, &text)
    };
    arguments.text.as_ref().is_none_or(has_text)
        && arguments.client.as_ref().is_none_or(|client| client == found.provider.name())
        && arguments.model.as_ref().is_none_or(|model| totals.model.contains(model.as_str()))
        && arguments.newer.is_none_or(|newest| age <= newest)
        && arguments.older.is_none_or(|oldest| age >= oldest)
        && arguments.larger.is_none_or(|bytes| identity.bytes >= bytes)
        && arguments.fuller.is_none_or(|full| percent(env, session) >= full as f64)
}

pub(super) fn percent(env: &Env, session: &Listed) -> f64 {
    session.totals.window_tokens as f64 / capacity(env, session) as f64 * 100.0
}

/// Returns the window size of a session in tokens; at least 1, so that it can be used as a divisor.
pub(super) fn capacity(env: &Env, listed: &Listed) -> u64 {
    engine::capacity(&listed.totals.model, &listed.totals.window, &env.settings).tokens.max(1)
}
