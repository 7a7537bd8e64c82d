//! `aperture check`: checks sessions against limits, for scripts, git hooks and CI.

use crate::app::bulk::{self, BulkSession, Visited};
use crate::app::{CommandError, Env};
use crate::commands::check::Arguments;
use crate::engine::{CHECKS, CheckLimits, Checked, LocatedSecret, violations};
use crate::output::{CheckReport, CheckedSession};
use crate::workspace::{self, FindError, Found, SecretMatch};
use std::path::Path;

/// Checks the sessions.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let named = CheckLimits {
        max_tokens: arguments.max_tokens,
        max_percent: arguments.max_percent,
        max_stale: arguments.max_stale,
        no_secrets: arguments.no_secrets,
        no_damage: arguments.no_damage,
    };
    let limits = if named == CheckLimits::default() { env.check } else { named };
    let asked = CHECKS.iter().filter(|check| (check.limit)(&limits).is_some());
    let mut report = CheckReport {
        rules: asked.map(|check| check.name).collect(),
        sessions: Vec::new(),
        format: arguments.format,
        table: arguments.bulk.is_bulk(),
    };
    let mut exit = Ok(());
    if arguments.bulk.is_bulk() {
        let visited = check_all(env, arguments, &limits)?;
        exit = bulk::outcome(&visited);
        report.sessions = visited.into_iter().filter_map(|visited| checked(env, visited)).collect();
    } else {
        for found in sessions(env, arguments)? {
            report.sessions.push(check_session(env, found, &limits)?);
        }
    }
    env.print(&report)?;
    exit?;
    if report.findings() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Checks every session of the options, in the order of their paths.
fn check_all(env: &Env, arguments: &Arguments, limits: &CheckLimits) -> Result<Vec<Visited<CheckedSession>>, CommandError> {
    let mut sessions = bulk::listed(env, &arguments.bulk)?;
    sessions.sort_by(|a, b| a.path.cmp(&b.path));
    bulk::visit(env, sessions, &mut |env, _| check_session(env, env.find(None)?, limits))
}

/// Returns the findings of a session, or the reason why it cannot be checked; `None` if the run was interrupted before it.
fn checked(env: &Env, visited: Visited<CheckedSession>) -> Option<CheckedSession> {
    let BulkSession { id, path, title, .. } = visited.session;
    Some(match visited.outcome? {
        Ok(checked) => CheckedSession { title, ..checked },
        Err(error) => {
            let error = Some(bulk::reason(&error));
            CheckedSession { session: id, title, path: relative(env, &path), findings: Vec::new(), error }
        }
    })
}

/// Returns the path of a file, relative to the directory if it is inside it.
fn relative(env: &Env, path: &Path) -> String {
    path.strip_prefix(&env.directory).unwrap_or(path).display().to_string()
}

/// Returns the sessions that are named, or the default.
fn sessions(env: &Env, arguments: &Arguments) -> Result<Vec<Found>, CommandError> {
    if arguments.sessions.is_empty() {
        return Ok(vec![env.find(None)?]);
    }
    let mut sessions = Vec::new();
    for name in &arguments.sessions {
        match workspace::find(env.disk, &env.places, &env.directory, Some(name)) {
            Ok(found) => sessions.push(found),
            // A list of files from a script may contain files that are not sessions.
            Err(error @ FindError::NotASession { .. }) => env.note(&format!("skipped: {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sessions)
}

/// Checks one session. It is fully analyzed only if a limit needs that, or to report the location of a finding.
fn check_session(env: &Env, found: Found, limits: &CheckLimits) -> Result<CheckedSession, CommandError> {
    let session = found.location.id.clone();
    let path = relative(env, &found.path);
    let mut workspace = limits.needs_reading().then(|| env.read(found.clone())).transpose()?;
    let matches = match &workspace {
        _ if !limits.no_secrets => Vec::new(),
        Some(workspace) => workspace.secret_matches()?,
        None => workspace::scan_file(env.disk, &found.path)?,
    };
    if workspace.is_none() && !matches.is_empty() {
        workspace = Some(env.read(found)?);
    }
    let secrets = match &workspace {
        Some(workspace) => workspace.locate_secrets(&matches)?,
        None => without_blocks(&matches),
    };
    let reading = workspace.as_ref().map(|workspace| &workspace.reading);
    let damage = match &workspace {
        Some(workspace) if limits.no_damage => workspace.located(workspace.reading.findings())?,
        _ => Vec::new(),
    };
    let findings = violations(&Checked { reading, secrets: &secrets, damage: &damage }, limits);
    Ok(CheckedSession { session, path, findings, ..CheckedSession::default() })
}

/// Returns secret matches with their lines only, without block numbers.
pub fn without_blocks(matches: &[SecretMatch]) -> Vec<LocatedSecret> {
    matches.iter().map(|found| LocatedSecret { kind: found.kind, line: found.line, block: None }).collect()
}
