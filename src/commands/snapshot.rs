//! `aperture snapshot`: manages named points in the log.

use crate::app::{CommandError, Env, misuse, refusal};
use crate::commands::ChangeOptions;
use crate::commands::change::pipeline::{open, open_as_wanted};
use crate::engine;
use crate::model::{History, Snapshot};
use crate::output::{Paint, Report, Style, age, clip, padded, plural, printable};
use crate::text::shell::quoted_word;
use crate::workspace::{Found, Workspace};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture snapshot save before-cleanup
  aperture snapshot save before-cleanup --force   move the name to the current point
  aperture snapshot                 lists them
  aperture restore before-cleanup")]
pub struct Arguments {
    /// The action; `list` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Name the current point
    Save {
        /// A name, not a number
        name: String,
        /// Move an existing name to the current point
        #[arg(long)]
        force: bool,
    },
    /// List the names
    List,
    /// List the operations since
    Show {
        /// The name
        name: String,
    },
    /// Delete a name; nothing else changes
    Delete {
        /// The name
        name: String,
    },
}

/// A snapshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub struct SnapshotRow {
    #[serde(flatten)]
    pub snapshot: Snapshot,
    pub operations_since: usize,
}

/// The snapshots of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotReport {
    /// Change of the list; null if it was only listed.
    pub done: Option<String>,
    /// Snapshots, the oldest first.
    pub snapshots: Vec<SnapshotRow>,
}

impl Report for SnapshotReport {
    const SCHEMA: &str = "aperture.snapshots/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            text.push_str(&style.line(Paint::Heading, &clip(done, style.width)));
        }
        if self.snapshots.is_empty() {
            text.push_str("no snapshots\n");
            return text;
        }
        let widest = self.snapshots.iter().map(|row| printable(&row.snapshot.name).width()).max().unwrap_or_default();
        for row in &self.snapshots {
            let name = style.paint(Paint::Name, &padded(&printable(&row.snapshot.name), widest));
            let point = match row.snapshot.operation {
                0 => "the original".to_owned(),
                operation => format!("operation {operation}"),
            };
            let since = match row.operations_since {
                0 => String::new(),
                count => format!(", {} since", plural(count, "operation")),
            };
            let saved = match age(style.now, row.snapshot.time).as_str() {
                "now" => "saved now".to_owned(),
                age => format!("saved {age} ago"),
            };
            text.push_str(&format!("{name}  {point}, {saved}{since}\n"));
        }
        text
    }
}

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
                return Err(misuse!("'{name}' is reserved for points in the log").hint("use a word"));
            }
            if engine::mask(name) != *name {
                return Err(misuse!("the name contains a credential, and names are printed").hint("use a word"));
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
    Err(refusal!("the snapshot '{name}' exists and names another point ({since} since)")
        .hint(format!("to move it: aperture snapshot save {} --force; to keep it: use another name", quoted_word(name))))
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
    found.ok_or_else(|| refusal!("there is no snapshot '{name}'").hint("to list them: aperture snapshot list"))
}
