use super::Arguments;
use super::report::{CheckReport, CheckedSession};
use crate::app::{CommandError, Env};
use crate::commands::bulk::{self, BulkSession, Visited};
use crate::engine::{CHECKS, CheckLimits, Checked, LocatedSecret, violations};
use crate::workspace::{self, FindError, Found, SecretMatch};
use std::path::{Path, PathBuf};

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
        report.sessions = visited.into_iter().flat_map(|visited| checked(env, visited)).collect();
    } else {
        for found in sessions(env, arguments)? {
            let name = env.name_of(&found.path, &found.location.id);
            let beside = check_beside(env, &found, &limits)?;
            let own = check_session(env, found, &limits)?;
            let of_session = std::iter::once(own).chain(beside);
            report.sessions.extend(of_session.map(|checked| match checked.named.is_empty() {
                true => CheckedSession { named: name.clone(), ..checked },
                false => checked,
            }));
        }
    }
    env.print(&report)?;
    exit?;
    if report.findings() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Checks every session of the options, in the order of their paths.
fn check_all(env: &Env, arguments: &Arguments, limits: &CheckLimits) -> Result<Vec<Visited<Vec<CheckedSession>>>, CommandError> {
    let mut sessions = bulk::listed(env, &arguments.bulk)?;
    sessions.sort_by(|a, b| a.path.cmp(&b.path));
    bulk::visit(env, sessions, &mut |env, _| {
        let found = env.find(None)?;
        let beside = check_files_beside(env, &found, &workspace::companions(env.disk, &found).files, limits)?;
        Ok(std::iter::once(check_session(env, found, limits)?).chain(beside).collect())
    })
}

/// Returns the findings of a session and of the files beside it, or the reason why it cannot be checked; nothing if the run was
/// interrupted before it.
fn checked(env: &Env, visited: Visited<Vec<CheckedSession>>) -> Vec<CheckedSession> {
    let BulkSession { id, path, title, .. } = visited.session;
    match visited.outcome {
        None => Vec::new(),
        Some(Ok(checked)) => checked.into_iter().map(|checked| CheckedSession { title: title.clone(), ..checked }).collect(),
        Some(Err(error)) => {
            let error = Some(bulk::reason(&error));
            vec![CheckedSession { session: id, title, path: relative(env, &path), error, ..CheckedSession::default() }]
        }
    }
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

/// Returns the credentials in the files beside a session and in the sessions of its subagents: one entry for each file that has some.
fn check_beside(env: &Env, found: &Found, limits: &CheckLimits) -> Result<Vec<CheckedSession>, CommandError> {
    let companions = workspace::companions(env.disk, found);
    let mut checked = check_files_beside(env, found, &companions.files, limits)?;
    let secrets_only = CheckLimits { no_secrets: limits.no_secrets, ..CheckLimits::default() };
    for subagent in companions.subagents.into_iter().filter(|_| limits.no_secrets) {
        let named = env.name_of(&subagent.path, &subagent.location.id);
        checked.push(CheckedSession { named, ..check_session(env, subagent, &secrets_only)? });
    }
    checked.retain(|checked| !checked.findings.is_empty());
    Ok(checked)
}

/// Returns the credentials in files beside a session, one entry for each file that has some.
fn check_files_beside(
    env: &Env,
    found: &Found,
    files: &[PathBuf],
    limits: &CheckLimits,
) -> Result<Vec<CheckedSession>, CommandError> {
    let mut checked = Vec::new();
    if !limits.no_secrets || files.is_empty() {
        return Ok(checked);
    }
    let known = env.read_as_wanted(found.clone(), &|_| false)?.reading.known.clone();
    for path in files {
        let matches = workspace::scan_companion(env.disk, path, &known)?;
        let findings = violations(&Checked { reading: None, secrets: &without_blocks(&matches), damage: &[] }, limits);
        if !findings.is_empty() {
            let (session, path) = (found.location.id.clone(), relative(env, path));
            checked.push(CheckedSession { session, path, findings, is_beside: true, ..CheckedSession::default() });
        }
    }
    Ok(checked)
}

/// Returns secret matches with their lines only, without block numbers.
pub fn without_blocks(matches: &[SecretMatch]) -> Vec<LocatedSecret> {
    matches.iter().map(|found| LocatedSecret { kind: found.kind, line: found.line, block: None }).collect()
}
