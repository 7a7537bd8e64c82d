//! `aperture watch`: shows the events in a session as they happen.

mod around;
mod follow;
#[cfg(unix)]
mod keys;
#[cfg(not(unix))]
#[path = "no_keys.rs"]
mod keys;
mod learning;
mod policy;
mod report;
mod screen;

pub use report::WatchEvent;

use crate::app::{CommandError, Env};
use follow::Watch;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("watch"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix [default: always the newest of this project]
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Also show every session of the project in this directory, a line each [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// Apply the rules of the settings while the session is idle
    #[arg(long)]
    pub apply_policy: bool,
    /// Also apply them to a session that a client has open; type /resume in the client afterwards
    #[arg(long, requires = "apply_policy")]
    pub live: bool,
    /// Print lines, even on a terminal
    #[arg(long)]
    pub lines: bool,
    /// End after this number of seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    #[serde(serialize_with = "in_seconds")]
    pub duration: Option<Duration>,
    /// End after this number of seconds without an event
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[serde(serialize_with = "in_seconds")]
    pub until_idle: Option<Duration>,
    /// End with the process that started it
    #[arg(long, hide = true)]
    pub beside: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| "write seconds as 30 or 0.5".to_owned())
}

fn in_seconds<S: serde::Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&duration.map(|duration| duration.as_secs_f64()), serializer)
}

/// Runs until it is interrupted or an end condition is met.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    Watch::new(env.clone(), arguments).run()
}
