//! `aperture check`: checks sessions against limits, for scripts, git hooks and CI.

use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::check::Arguments;
use crate::engine::{CHECKS, CheckLimits, Checked, LocatedSecret, violations};
use crate::output::{CheckReport, CheckedSession};
use crate::workspace::{self, FindError, Found, Project, SecretMatch};
use anyhow::anyhow;

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
    let mut report =
        CheckReport { rules: asked.map(|check| check.name).collect(), sessions: Vec::new(), format: arguments.format };
    for found in sessions(env, arguments)? {
        report.sessions.push(check_session(env, found, &limits)?);
    }
    env.print(&report)?;
    if report.findings() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns the selected sessions.
fn sessions(env: &Env, arguments: &Arguments) -> Result<Vec<Found>, CommandError> {
    if arguments.project || arguments.all {
        let mut problems = Vec::new();
        let project = arguments.project.then(|| Project::at(env.disk, &env.directory));
        let listed = workspace::list(env.disk, &env.totals(), &env.places, project.as_ref(), &mut |path, error| {
            problems.push(format!("{}: {error}", path.display()));
        })?;
        if let Some(problem) = problems.first() {
            let error = anyhow!("not every session can be read: {problem}");
            return Err(CommandError::new(ErrorKind::Refused, error).hint("check that you may read it: ls -l"));
        }
        let mut sessions: Vec<Found> = listed.into_iter().flatten().map(|listed| listed.found).collect();
        sessions.sort_by(|a, b| a.path.cmp(&b.path));
        return Ok(sessions);
    }
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
    let path = found.path.strip_prefix(&env.directory).unwrap_or(&found.path).display().to_string();
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
    Ok(CheckedSession { session, path, findings: violations(&Checked { reading, secrets: &secrets }, limits) })
}

/// Returns secret matches with their lines only, without block numbers.
pub fn without_blocks(matches: &[SecretMatch]) -> Vec<LocatedSecret> {
    matches.iter().map(|found| LocatedSecret { kind: found.kind, line: found.line, block: None }).collect()
}
