//! `aperture status`: prints a one-screen overview of a session.

/// Arguments of `status`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture                     the newest session of this project
  aperture status 6666         a session by the beginning of its id
  aperture status --json | jq .percent

Figures are as billed; estimates have a ~ before them.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
}
