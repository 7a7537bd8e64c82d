use super::report::{SnapshotReport, SnapshotRow};
use super::{Action, Arguments};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::ChangeOptions;
use crate::commands::change::pipeline::{open, open_as_wanted};
use crate::engine;
use crate::model::{History, Snapshot};
use crate::output::plural;
use crate::text::shell::quoted_word;
use crate::workspace::{Found, Workspace};
use anyhow::anyhow;

/// Saves, lists, shows or deletes snapshots.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let found = env.find(None)?;
    env.learn(&found);
    match arguments.action.as_ref().unwrap_or(&Action::List) {
        Action::List => {
            let history = env.history_of(&found)?;
            env.print(&SnapshotReport { done: None, snapshots: rows(&history, &history.snapshots) })
        }
        Action::Show { name } => {
            let history = env.history_of(&found)?;
            let snapshot = find_snapshot(&history, name)?.clone();
            env.print(&crate::commands::diff::since(env, None, &snapshot.name)?)
        }
        Action::Save { name, force } => {
            if name.is_empty() || name.parse::<u32>().is_ok() || name == "original" {
                let error = anyhow!("'{name}' is reserved for points in the log");
                return Err(CommandError::new(ErrorKind::Usage, error).hint("use a word"));
            }
            if engine::mask(name) != *name {
                let error = anyhow!("the name contains a credential, and names are printed");
                return Err(CommandError::new(ErrorKind::Usage, error).hint("use a word"));
            }
            refuse_to_move(env, &found, name, *force)?;
            let (snapshot, workspace) = save(env, &found, name)?;
            let (word, session) = (quoted_word(name), env.name_of(&found.path, &found.location.id));
            let done = Some(format!("'{name}' saved; to return to it: aperture restore {word} -s {}", quoted_word(&session)));
            env.print(&SnapshotReport { done, snapshots: rows(&workspace.history, &[snapshot]) })
        }
        Action::Delete { name } => {
            let opened = open(env, ChangeOptions::default(), &found)?;
            find_snapshot(&opened.workspace.history, name)?;
            let Some(store) = &opened.store else { return Ok(()) };
            if let Some(session) = store.find(&env.disk.resolve(&found.path)?)? {
                store.delete_snapshot(session.key, name)?;
            }
            let history = env.history_of(&found)?;
            let done = Some(format!("'{name}' deleted; the session is unchanged"));
            env.print(&SnapshotReport { done, snapshots: rows(&history, &history.snapshots) })
        }
    }
}

/// Refuses to move a name to another point, unless `force` is true.
fn refuse_to_move(env: &Env, found: &Found, name: &str, force: bool) -> Result<(), CommandError> {
    let history = env.history_of(found)?;
    let Some(old) = history.snapshots.iter().find(|snapshot| snapshot.name == name) else { return Ok(()) };
    if force || old.operation == history.last() {
        return Ok(());
    }
    let since = plural(history.operations.iter().filter(|operation| operation.id > old.operation).count(), "operation");
    let error = anyhow!("the snapshot '{name}' exists and names another point ({since} since)");
    let hint = format!("to move it: aperture snapshot save {} --force; to keep it: use another name", quoted_word(name));
    Err(CommandError::new(ErrorKind::Refused, error).hint(hint))
}

/// Saves a snapshot of the current state of a session; returns it, and an outline of the session.
/// Errors: the session is locked, or the store cannot be written.
pub fn save(env: &Env, found: &Found, name: &str) -> Result<(Snapshot, Workspace<'static>), CommandError> {
    let opened = open_as_wanted(env, ChangeOptions::default(), found, &|_| false)?;
    let store = env.store()?;
    let path = env.disk.resolve(&found.path)?;
    let workspace = opened.workspace;
    let key = store.register(workspace.provider.name(), &workspace.location.id, &path, &workspace.location.project)?;
    let time = env.style.now.as_millisecond();
    let snapshot = Snapshot { name: name.to_owned(), operation: workspace.history.last(), time };
    store.save_snapshot(key, &snapshot)?;
    Ok((snapshot, workspace))
}

fn rows(history: &History, snapshots: &[Snapshot]) -> Vec<SnapshotRow> {
    let since = |snapshot: &Snapshot| history.operations.iter().filter(|operation| operation.id > snapshot.operation).count();
    snapshots.iter().map(|snapshot| SnapshotRow { snapshot: snapshot.clone(), operations_since: since(snapshot) }).collect()
}

fn find_snapshot<'a>(history: &'a History, name: &str) -> Result<&'a Snapshot, CommandError> {
    let found = history.snapshots.iter().find(|snapshot| snapshot.name == name);
    found.ok_or_else(|| {
        let error = anyhow!("there is no snapshot '{name}'");
        CommandError::new(ErrorKind::Refused, error).hint("to list them: aperture snapshot list")
    })
}
