//! `aperture repair`: repairs damage of a session that changes or blocks the next request.

use super::{BulkOptions, ChangeOptions};

/// Arguments of `repair`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture check --no-damage    lists the damage and its effect on the next request
  aperture repair --dry-run     shows the repair and its cost
  aperture repair               repairs; aperture undo restores every byte
  aperture repair --all --dry-run  in every session on this machine

It links a row whose parent is not in the file to the row before it, gives rows that are on one line lines of their own, removes
copies of rows, gives a tool use and its result a new id if theirs is empty or not unique, and puts a text in the place of an image or
a document that the API refuses. Empty texts, contents of an unknown kind, and tool uses without a name or with an input that is not an
object are replaced by what the API accepts. It changes only what is certain, and names the rest and what is lost.
Many sessions: aperture help bulk.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["all_sessions", "project"])]
    pub session: Option<String>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}
