//! `aperture log`: lists the operations on a session.

/// Arguments of `log`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture log            the newest operation first
  aperture log --json | jq '.operations[0].command'

aperture undo N takes operation N back; aperture diff N shows what changed since.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
}
