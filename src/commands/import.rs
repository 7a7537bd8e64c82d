//! `aperture import`: reads the originals and the log of a session from an export.

use crate::app::{CommandError, Env, ErrorKind, refusal, session_name};
use crate::commands::change::pipeline::expect_changeable;
use crate::fsio::read_range;
use crate::output::{Report, Style, plural, printable};
use crate::store::{Export, ExportError, Relation, StoreError, relation};
use crate::text::shell::quoted_word;
use crate::workspace::{self, DriftedValue, Found, LoggedSession, Workspace};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture import shop.aperture                        the session with the same id on this machine
  aperture import shop.aperture --session copy.jsonl   another file of the same session

It checks the export and that its log belongs to the session before it writes. The session is not
changed. A different log in the store is only replaced with --force.")]
pub struct Arguments {
    /// File written by aperture export
    pub file: PathBuf,
    /// Replace another log, or import one that does not match the session
    #[arg(long)]
    pub force: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportReport {
    pub session: String,
    /// Session file that the log belongs to now.
    pub path: String,
    /// Relation to the known log: `new`, `same`, `newer`, `older` or `other`.
    pub relation: &'static str,
    /// Number of operations in the log.
    pub operations: usize,
    /// Number of changes in force.
    pub in_force: usize,
    /// Number of logged values that are missing from the session; undo skips these.
    pub departed: usize,
    /// Number of logged values.
    pub values: usize,
    /// The shortest name that selects it.
    #[serde(skip)]
    pub named: String,
}

impl Report for ImportReport {
    const SCHEMA: &str = "aperture.import/1";

    fn text(&self, _: &Style) -> String {
        let what = format!("{} and {}", plural(self.operations, "operation"), plural(self.values, "value"));
        let path = printable(&self.path);
        let how = match self.relation {
            "same" => format!("the store already has the log of {path}: {what}, all complete"),
            "older" => format!("the store has a newer log of {path} and keeps it: {what}, all complete"),
            "other" => format!("imported {what} for {path}, replacing another log"),
            _ => format!("imported {what} for {path}"),
        };
        let session = quoted_word(&self.named);
        let next = match (self.departed, self.in_force) {
            (0, 0) => "all of its operations are undone".to_owned(),
            (0, _) => format!("its operations can be undone: aperture undo -s {session}"),
            (departed, _) => {
                format!(
                    "the session file does not contain {} of it; to list them: aperture verify -s {session}",
                    plural(departed, "value")
                )
            }
        };
        format!("{how}\n{next}\n")
    }
}

/// Reads the export file, checks it, and stores its content.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let path = env.directory.join(&arguments.file);
    import(env, arguments, &path)
        .map_err(|error| CommandError { source: error.source.context(format!("cannot import {}", path.display())), ..error })
}

fn import(env: &Env, arguments: &Arguments, path: &Path) -> Result<(), CommandError> {
    let export = Export::unpack(&read(env, path)?).map_err(refused)?;
    let found = target(env, &export)?;
    let path = env.disk.resolve(&found.path)?;
    let store = env.store()?;
    let _lock = env.lock(&path)?;
    workspace::settle(env.disk, &store, &path)?;
    let (_, known) = workspace::history(&store, &path)?;
    let relation = relation(&known, &export.history);
    if relation == Relation::Other && !arguments.force {
        return Err(refusal!("the store has another log of the session {}", session_name(&path))
            .hint("to keep that one: aperture export -o FILE; to replace it: --force"));
    }
    expect_changeable(env, &found, false)?;
    let workspace = env.read(found)?;
    // If the local log continues after the export, its last values are not in the export.
    let missing = if relation == Relation::Older { 0 } else { count_missing_values(&workspace, &export, arguments.force)? };
    let key = store.register(workspace.provider.name(), &workspace.location.id, &path, &workspace.location.project)?;
    store.take_over(key, &export)?;
    let history = store.history(key)?;
    env.print(&ImportReport {
        session: workspace.location.id.clone(),
        named: env.name_of(&workspace.path, &workspace.location.id),
        path: path.display().to_string(),
        relation: relation.name(),
        operations: history.operations.len(),
        in_force: history.in_force().len(),
        departed: missing,
        values: export.values.len(),
    })
}

fn read(env: &Env, path: &Path) -> Result<Vec<u8>, CommandError> {
    let read = env
        .disk
        .identify(path)
        .and_then(|identity| read_range(env.disk, path, 0, usize::try_from(identity.bytes).unwrap_or(usize::MAX)));
    let hint = "give the path of a file that the command export wrote";
    read.map_err(|error| CommandError::refused(error).hint(hint))
}

fn refused(error: ExportError) -> CommandError {
    let hint = match &error {
        ExportError::Foreign => "give a file that the command export wrote; one that is encrypted is decrypted first: age -d",
        ExportError::Newer { .. } => "update aperture",
        ExportError::Short { .. } | ExportError::Damaged(_) => "nothing was changed; copy the export again",
    };
    CommandError::refused(error).hint(hint)
}

/// Returns the session file: the one given, the one at the same path, or the only one with the same id.
fn target(env: &Env, export: &Export) -> Result<Found, CommandError> {
    if env.session().is_some() {
        return env.find(None);
    }
    let belongs = |found: &Found| found.provider.name() == export.provider && found.location.id == export.session;
    if env.disk.identify(Path::new(&export.path)).is_ok()
        && let Ok(found) = env.find(Some(&export.path))
        && belongs(&found)
    {
        return Ok(found);
    }
    let all = workspace::find_all(env.disk, &env.places, &mut |path, error| env.note_skipped(path, &error));
    let mut fitting: Vec<Found> = all.into_iter().map(|(found, _)| found).filter(belongs).collect();
    match (fitting.pop(), fitting.len()) {
        (Some(found), 0) => Ok(found),
        (None, _) => Err(refusal!("the session {} is not on this machine", export.session)
            .hint("copy its file here and name it: --session FILE")),
        (Some(_), others) => Err(refusal!("the session {} is on this machine {} times", export.session, others + 1)
            .hint("name its file: --session FILE")),
    }
}

/// Returns the number of logged values that are missing from the session. Those could not be undone there, so such a log is refused
/// without `force`.
fn count_missing_values(workspace: &Workspace<'_>, export: &Export, force: bool) -> Result<usize, CommandError> {
    let session = &workspace.reading.session;
    let bytes = workspace.bytes().context("cannot read the session");
    let bytes = bytes.map_err(|error| CommandError::new(ErrorKind::Conflict, error).hint("try again"))?;
    let operations = &export.history.operations;
    let logged = LoggedSession { provider: workspace.provider, session, bytes: &bytes, operations, values: &export.values };
    let check = logged.check().map_err(StoreError::from)?;
    let missing = check.drifted.iter().filter(|drifted| DriftedValue::blocks_undo(drifted)).count();
    if missing == 0 || force {
        return Ok(missing);
    }
    let (values, are) = (plural(check.values, "value"), if missing == 1 { "is" } else { "are" });
    let name = session_name(&workspace.path);
    Err(refusal!("{missing} of {values} of its log {are} missing from the session {name}")
        .hint("it belongs to another state of the session; to import it nevertheless: --force"))
}
