//! `aperture repair`: repairs damage of a session that changes or blocks the next request.

use super::ChangeOptions;

/// Arguments of `repair`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture check --no-damage    lists the damage and its effect on the next request
  aperture repair --dry-run     shows the repair and its cost
  aperture repair               repairs; aperture undo restores every byte

It links a row whose parent is not in the file to the row before it, gives rows that are on one line lines of their own, removes
copies of rows, gives a tool use and its result a new id if theirs is empty or not unique, and puts a text in the place of an image or
a document that the API refuses. It changes only what is certain, and names the rest and what is lost.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
