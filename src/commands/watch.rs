//! `aperture watch`: shows the events in a session as they happen.

use std::time::Duration;

/// Arguments of `watch`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture watch                         the newest session here, and the next one that begins
  aperture watch 6666                    one session, by the beginning of its id
  aperture watch --project               the other sessions of the project as well, a line each
  aperture watch --lines | tee log       a line for each thing that happens
  aperture watch --json | jq -c 'select(.event == \"blocks_updated\") | .blocks[].label'
  aperture watch --apply-policy          let the rules act when nobody works

On a terminal it is one screen, drawn anew in place; Ctrl-C ends it. A session that
is not there yet is waited for.

With --json each line is one object: schema, time, session, event, and what belongs to
the event; docs/json.md lists the events and their fields.

--apply-policy: once no row was added for [watch] idle_seconds (60) and no client has
the session open, a window over its budget is compressed to it; else what is stale is,
by the preset. Once for each state of the session; aperture log shows it, and aperture
undo takes it back.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one [default: the newest of this project, whichever that becomes]
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Also show the other sessions of the project, a line each
    #[arg(long)]
    pub project: bool,
    /// Let the rules of the settings act when the session is quiet
    #[arg(long)]
    pub apply_policy: bool,
    /// Let them also act on a session that a client has open; type /resume in the client afterwards
    #[arg(long, requires = "apply_policy")]
    pub live: bool,
    /// Write lines, also on a terminal
    #[arg(long)]
    pub lines: bool,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    #[serde(serialize_with = "in_seconds")]
    pub duration: Option<Duration>,
    /// End when nothing happened for so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[serde(serialize_with = "in_seconds")]
    pub until_idle: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "seconds are written as 30 or 0.5".to_owned())
}

/// Serializes a duration as a number of seconds.
fn in_seconds<S: serde::Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&duration.map(|duration| duration.as_secs_f64()), serializer)
}
