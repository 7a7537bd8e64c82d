//! `aperture export`: writes the originals and the log of a session to one file.

use crate::app::maintenance::stored::stored;
use crate::app::{CommandError, Env, ErrorKind, files};
use crate::commands::export::Arguments;
use crate::output::ExportReport;
use crate::workspace;
use anyhow::{Context, anyhow};

/// Writes the export file.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let nothing = || {
        let error = anyhow!("no operations on this session: nothing to export");
        CommandError::new(ErrorKind::Refused, error).hint("to list the changed sessions: aperture verify --all")
    };
    let Some(store) = env.existing_store()? else {
        env.find(arguments.session.as_deref())?;
        return Err(nothing());
    };
    let stored = stored(env, &store, arguments.session.as_deref())?.ok_or_else(nothing)?;
    if !store.prepared(stored.key)?.is_empty() && env.disk.identify(&stored.path).is_ok() {
        let _lock = env.lock(&stored.path)?;
        workspace::settle(env.disk, &store, &stored.path)?;
    }
    let path = env.directory.join(&arguments.output);
    if !arguments.force && env.disk.identify(&path).is_ok() {
        let error = anyhow!("{} exists", path.display());
        return Err(CommandError::new(ErrorKind::Refused, error).hint("to replace it: --force"));
    }
    let export = store.export(&stored)?;
    if export.history.operations.is_empty() && export.history.snapshots.is_empty() {
        return Err(nothing());
    }
    let file = export.pack()?;
    let written = files::write_private(env.disk, &path, &file).with_context(|| format!("cannot write {}", path.display()));
    written.map_err(|error| CommandError::new(ErrorKind::Refused, error))?;
    env.print(&ExportReport {
        session: export.session,
        file: path.display().to_string(),
        bytes: file.len() as u64,
        operations: export.history.operations.len(),
        values: export.values.len(),
        snapshots: export.history.snapshots.len(),
    })
}
