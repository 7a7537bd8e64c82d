use super::Arguments;
use super::report::{Finding, FindingKind, VerifiedSession, VerifyReport, WayBackKind};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::bulk;
use crate::commands::stored::stored;
use crate::model::Address;
use crate::store::{Store, StoredSession};
use crate::workspace::{self, DriftKind, FileState, Verified, WayBack};
use anyhow::anyhow;
use std::collections::BTreeSet;

/// Runs all checks and reports the problems.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let Some(store) = env.existing_store()? else {
        if arguments.bulk.project.is_some() {
            bulk::listed(env, &arguments.bulk)?;
        } else if !arguments.bulk.all_sessions {
            env.find(arguments.session.as_deref())?;
        }
        return env.print(&VerifyReport::default());
    };
    let mut report =
        VerifyReport { store: store.check().unwrap_or_else(|error| vec![error.to_string()]), ..VerifyReport::default() };
    let mut exit = Ok(());
    match verify_sessions(env, arguments, &store, &mut report) {
        Ok(outcome) => exit = outcome,
        // If the database is damaged, report as much as can be read.
        Err(error) if !report.store.is_empty() => report.store.push(format!("{:#}", error.source)),
        Err(error) => return Err(error),
    }
    env.print(&report)?;
    exit?;
    match report.problems() {
        0 => Ok(()),
        problems => {
            let error = anyhow!("{problems} problem{} found", if problems == 1 { " was" } else { "s were" });
            let hint = "to restore values from an export: aperture import FILE; undo skips values that another program changed";
            Err(CommandError::new(ErrorKind::Refused, error).hint(hint))
        }
    }
}

/// Adds the selected sessions to the report. Returns the error for the exit code of a run over many that was interrupted.
fn verify_sessions(
    env: &Env,
    arguments: &Arguments,
    store: &Store,
    report: &mut VerifyReport,
) -> Result<Result<(), CommandError>, CommandError> {
    report.sessions_in_store = store.sessions()?.len();
    let selected = if arguments.bulk.is_bulk() { Some(bulk::stored(env, store, &arguments.bulk)?) } else { None };
    let sound = sound(store, report)?;
    let verify = |stored: &StoredSession| {
        let now = env.style.now.as_millisecond();
        match workspace::verify(env.disk, env.cache(), store, stored, &env.settings, &sound, now) {
            Ok(verified) => session(stored, &verified),
            Err(error) => unreadable(stored, error.to_string()),
        }
    };
    let Some(selected) = selected else {
        report.sessions.extend(stored(env, store, arguments.session.as_deref())?.iter().map(verify));
        return Ok(Ok(()));
    };
    let visited = bulk::visit_with(env, selected, &mut |_, _, stored| Ok(verify(&stored)))?;
    let exit = bulk::outcome(&visited);
    report.sessions.extend(visited.into_iter().filter_map(|visited| visited.outcome?.ok()));
    Ok(exit)
}

/// Returns the addresses of the values that match their hash; reports the others.
fn sound(store: &Store, report: &mut VerifyReport) -> Result<BTreeSet<Address>, CommandError> {
    let mut sound = BTreeSet::new();
    for address in store.addresses()? {
        match store.original(&address) {
            Ok(_) => {
                sound.insert(address);
            }
            Err(error) => report.store.push(error.to_string()),
        }
    }
    report.originals = sound.len();
    (report.original_bytes, report.store_bytes) = store.size()?;
    Ok(sound)
}

fn unreadable(stored: &StoredSession, error: String) -> VerifiedSession {
    VerifiedSession {
        session: stored.session.clone(),
        provider: stored.provider.clone(),
        path: stored.path.display().to_string(),
        operations: 0,
        in_force: 0,
        values: 0,
        way_back: WayBackKind::Unknown,
        findings: vec![Finding { text: error, ..Finding::new(FindingKind::Store) }],
    }
}

fn session(stored: &StoredSession, verified: &Verified) -> VerifiedSession {
    let mut findings = Vec::new();
    match &verified.file {
        FileState::There | FileState::InRequests => {}
        FileState::Gone => findings.push(Finding::new(FindingKind::FileGone)),
        FileState::Unreadable(error) => {
            findings.push(Finding { text: error.clone(), ..Finding::new(FindingKind::FileUnreadable) });
        }
    }
    for (operation, done) in &verified.interrupted {
        let text = if *done { "it was done" } else { "it was not applied" };
        findings.push(Finding { operation: Some(*operation), text: text.to_owned(), ..Finding::new(FindingKind::Interrupted) });
    }
    for operation in &verified.without_delta {
        let text = "an earlier version logged it, or its values were deleted".to_owned();
        findings.push(Finding { operation: Some(*operation), text, ..Finding::new(FindingKind::WithoutDelta) });
    }
    for (operation, values) in &verified.lost {
        let text = format!("{values} of its values");
        findings.push(Finding { operation: Some(*operation), text, ..Finding::new(FindingKind::ValueLost) });
    }
    for drifted in &verified.drifted {
        let kind = match drifted.how {
            DriftKind::Changed => FindingKind::Changed,
            DriftKind::RowGone => FindingKind::RowGone,
            DriftKind::RowBack => FindingKind::RowBack,
        };
        findings.push(Finding {
            kind,
            operation: Some(drifted.operation),
            block: drifted.block,
            slot: Some(drifted.slot.name()),
            label: drifted.label.clone(),
            text: String::new(),
        });
    }
    let way_back = match &verified.way_back {
        WayBack::Nothing => WayBackKind::Nothing,
        WayBack::Exact => WayBackKind::Exact,
        WayBack::Values => WayBackKind::Values,
        WayBack::Unknown => WayBackKind::Unknown,
        WayBack::Refused(why) => {
            if verified.drifted.is_empty() && verified.lost.is_empty() {
                findings.push(Finding { text: why.clone(), ..Finding::new(FindingKind::UndoRefused) });
            }
            WayBackKind::Refused
        }
    };
    VerifiedSession {
        session: stored.session.clone(),
        provider: stored.provider.clone(),
        path: stored.path.display().to_string(),
        operations: verified.operations,
        in_force: verified.in_force,
        values: verified.values,
        way_back,
        findings,
    }
}
