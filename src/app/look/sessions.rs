//! `aperture sessions`: lists the sessions on this machine.

use crate::app::{CommandError, Env};
use crate::commands::sessions::{Arguments, Sort};
use crate::engine;
use crate::model::{Basis, TokenCount};
use crate::output::{SessionRow, SessionsReport};
use crate::workspace::{self, Listed, Project};

/// The default for the number of sessions listed as text.
const LISTED: usize = 50;

/// Lists the sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let mut skipped = Vec::new();
    let project = arguments.project.as_ref().map(|project| Project::at(env.disk, &env.directory.join(project)));
    let listed = workspace::list(env.disk, &env.totals(), &env.places, project.as_ref(), &mut |path, error| {
        skipped.push(format!("{}: {error}", path.display()));
    });
    for problem in skipped {
        env.note(&format!("skipped {problem}"));
    }
    let listed = listed?;
    let open = workspace::open_sessions(env.disk, &env.places);
    let wanted = |session: &&Listed| {
        (arguments.subagents || !session.found.location.subagent)
            && (arguments.all || session.totals.turns + session.totals.steps > 0)
            && (!arguments.open || open.contains(&session.found.location.id))
            && arguments.model.as_ref().is_none_or(|model| session.totals.model.contains(model.as_str()))
    };
    let mut sessions: Vec<&Listed> = listed.iter().flatten().filter(wanted).collect();
    sessions.sort_by(|a, b| (b.identity.modified, &a.found.location.id).cmp(&(a.identity.modified, &b.found.location.id)));
    match arguments.sort {
        Sort::Age => {}
        Sort::Tokens => sessions.sort_by_key(|session| std::cmp::Reverse(session.totals.window_tokens)),
        Sort::Full => {
            let full = |session: &Listed| session.totals.window_tokens as f64 / capacity(env, session) as f64;
            sessions.sort_by(|a, b| full(b).total_cmp(&full(a)));
        }
        Sort::Size => sessions.sort_by_key(|session| std::cmp::Reverse(session.identity.bytes)),
        Sort::Turns => sessions.sort_by_key(|session| std::cmp::Reverse(session.totals.turns)),
    }
    if arguments.reverse {
        sessions.reverse();
    }
    let limit = arguments.limit.unwrap_or(if env.json { 0 } else { LISTED });
    let limit = if limit == 0 { sessions.len() } else { limit.min(sessions.len()) };
    let left_out = sessions.len() - limit;
    let sessions = sessions[..limit].iter().map(|session| row(env, session, &open)).collect();
    // The program ends here: freeing thousands of sessions takes longer than writing the output.
    std::mem::forget(listed);
    env.print(&SessionsReport { sessions, left_out })
}

/// Returns the window size of a session in tokens; at least 1, so that it can be used as a divisor.
fn capacity(env: &Env, listed: &Listed) -> u64 {
    engine::capacity(&listed.totals.model, listed.totals.peak_tokens, listed.totals.capacity_tokens, &env.settings).tokens.max(1)
}

fn row(env: &Env, listed: &Listed, open: &std::collections::BTreeSet<String>) -> SessionRow {
    let capacity = capacity(env, listed);
    let Listed { found, identity, totals } = listed;
    SessionRow {
        provider: found.provider.name(),
        open: open.contains(&found.location.id),
        subagent: found.location.subagent,
        id: found.location.id.clone(),
        path: found.path.display().to_string(),
        project: if totals.directory.is_empty() { found.location.project.as_str() } else { &totals.directory }.to_owned(),
        title: totals.title.clone(),
        model: totals.model.to_string(),
        modified: (identity.modified / 1_000_000) as i64,
        tokens: TokenCount {
            value: totals.window_tokens as f64,
            basis: if totals.moved_on { Basis::Estimated } else { Basis::Measured },
        },
        capacity_tokens: capacity,
        percent: totals.window_tokens as f64 / capacity as f64 * 100.0,
        bytes: identity.bytes,
        turns: totals.turns,
        steps: totals.steps,
        compactions: totals.compactions,
        output_tokens: totals.output_tokens,
    }
}
