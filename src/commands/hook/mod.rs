//! `aperture hook`: answers the hook events of a client.
//!
//! A hook never blocks the client: an error is one line on standard error, and the exit code is 0, because the client interprets
//! other exit codes.

mod cold;
pub mod compaction;
mod memory;
mod prompt;
mod report;
mod result;
mod start;
mod told;

pub use report::HookReport;

use super::live::proxied;
use super::{keep, obey};
use crate::app::{CommandError, Env, Keeping, misuse};
use crate::engine::label;
use crate::model::{Block, Pin};
use crate::provider::{lenient, parsed};
use crate::workspace::{Content, Workspace};
use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

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

/// The payload of a hook event. Any field may be missing, or of another type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(deserialize_with = "lenient")]
    transcript_path: Option<PathBuf>,
    #[serde(deserialize_with = "lenient")]
    session_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    cwd: Option<PathBuf>,
    #[serde(deserialize_with = "lenient")]
    prompt: Option<String>,
    #[serde(deserialize_with = "lenient")]
    source: Option<String>,
    #[serde(deserialize_with = "lenient")]
    tool_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    tool_use_id: Option<String>,
    tool_response: Value,
    #[serde(deserialize_with = "lenient")]
    last_assistant_message: Option<String>,
}

struct Event {
    name: &'static str,
    answer: fn(&Env, &Payload) -> Result<Option<HookReport>, CommandError>,
}

const RESULTS: &str = "PostToolUse";

const COMPACTION: &str = "PreCompact";

/// The events whose answer can have a text for the person.
const ANNOUNCING: &[&str] = &["SessionStart", "UserPromptSubmit", "Stop"];

/// The events, in the order in which they occur in a session.
static EVENTS: &[Event] = &[
    Event { name: "SessionStart", answer: start::answer },
    Event { name: "UserPromptSubmit", answer: prompt::answer },
    Event { name: COMPACTION, answer: compaction::answer },
    Event { name: RESULTS, answer: result::answer },
    Event { name: "Stop", answer: stop },
    Event { name: "SessionEnd", answer: end },
];

/// Returns the events to register for; `PostToolUse` only if tool results are to be shortened.
pub fn wanted(env: &Env) -> Vec<&'static str> {
    let wanted = EVENTS.iter().filter(|event| event.name != RESULTS || env.hooks.reduce_results);
    wanted.map(|event| event.name).collect()
}

/// Returns the events to register for in another client: those whose payload and answer are the same there.
pub fn wanted_by_others() -> Vec<&'static str> {
    EVENTS.iter().map(|event| event.name).filter(|name| ![RESULTS, COMPACTION].contains(name)).collect()
}

/// Handles an event; prints nothing if there is nothing to report.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let event = EVENTS
        .iter()
        .find(|event| event.name == arguments.event)
        .ok_or_else(|| misuse!("unknown hook event '{}'", arguments.event))?;
    let payload: Payload = parsed(&env.text("-")?).context("stdin is not a hook payload").map_err(CommandError::usage)?;
    let path = payload.transcript_path.clone().unwrap_or_default();
    let session = env.on(&path, &format!("hook {}", event.name));
    let mut report = (event.answer)(&session, &payload)?;
    if ANNOUNCING.contains(&event.name)
        && let Some(message) = session.find(None).ok().and_then(|found| proxied::take_refusal(env, &found.location.id))
    {
        let report = report.get_or_insert_default();
        report.message = Some(report.message.take().map_or_else(|| message.clone(), |first| format!("{first}\n{message}")));
    }
    match report {
        Some(report) => env.print(&HookReport { event: event.name, ..report }),
        None => Ok(()),
    }
}

/// Executes the commands of the model, also those in a message that is not in the file yet, and learns from the session. The results
/// are sent with the next prompt: an answer now would start the model again.
fn stop(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if let Some(path) = &payload.transcript_path {
        let obeyed = obey::obey_turn(env, path, payload.last_assistant_message.as_deref());
        memory::learn_session(env, payload);
        obeyed?;
    }
    Ok(None)
}

/// Executes the remaining commands, learns from the sessions of the project, and copies the session if the settings say so.
fn end(env: &Env, payload: &Payload) -> Result<Option<HookReport>, CommandError> {
    if payload.has_session(env) {
        let obeyed = obey::obey(env);
        memory::learn_project(env, payload);
        if env.keeping == Keeping::On {
            keep::keep_in_background(env, payload.transcript_path.as_deref());
        }
        obeyed?;
    }
    Ok(None)
}

impl Payload {
    /// Returns true if the session has a file that is not empty.
    fn has_session(&self, env: &Env) -> bool {
        let file = self.transcript_path.as_ref().and_then(|path| env.disk.identify(path).ok());
        file.is_some_and(|file| file.bytes > 0)
    }
}

/// Returns the pinned blocks for which `wanted` is true: first those pinned at the top, then the most used.
fn pinned<'a>(workspace: &'a Workspace<'_>, wanted: &dyn Fn(&Block) -> bool) -> Vec<&'a Block> {
    let mut blocks: Vec<_> =
        workspace.reading.session.blocks.iter().filter(|block| block.pin.is_some() && wanted(block)).collect();
    blocks.sort_by(|a, b| {
        let top = |block: &Block| block.pin == Some(Pin::Top);
        top(b).cmp(&top(a)).then(b.usefulness.heat.total_cmp(&a.usefulness.heat)).then(a.number.cmp(&b.number))
    });
    blocks
}

fn name(block: &Block) -> String {
    format!("#{} {}", block.number, label(block))
}

fn texts(workspace: &Workspace<'_>, blocks: &[&Block]) -> Result<Vec<(String, String)>, CommandError> {
    let numbers: Vec<_> = blocks.iter().map(|block| block.number).collect();
    let contents = workspace.contents(&numbers)?;
    let text = |(block, content): (&&Block, Content)| (name(block), content.readable.trim_end().to_owned());
    Ok(blocks.iter().zip(contents).map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_event() {
        let help = <Arguments as clap::Args>::augment_args(clap::Command::new("hook")).get_after_help().unwrap().to_string();
        assert!(EVENTS.iter().all(|event| help.contains(event.name)), "{help}");
    }
}
