//! `aperture hook`: answers the hook events of a client.
//!
//! A hook never blocks the client: an error is one line on standard error, and the exit code is 0, because the client interprets
//! other exit codes.

/// Arguments of `hook`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture hook SessionStart < payload.json   the answer to the client

Clients call it: aperture install claude-code. Events: SessionStart, UserPromptSubmit,
PreCompact, PostToolUse, Stop, SessionEnd. It always exits with 0 and prints errors on
standard error.")]
pub struct Arguments {
    /// The event
    pub event: String,
}
