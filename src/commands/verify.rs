//! `aperture verify`: checks the store against the session files.

/// Arguments of `verify`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture verify                 the newest session of this project
  aperture verify 6666            a session by the beginning of its id
  aperture verify --all           every session that was ever changed
  aperture verify --all --json | jq '.sessions[].findings[]'

Nothing is written. Exit code 0 when all is well, 1 when a problem was found. A file that is gone and a
command that was interrupted are said, but are no problems: the next command settles the latter.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Every session in the store
    #[arg(long, conflicts_with = "named")]
    pub all: bool,
}
