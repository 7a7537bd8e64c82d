//! `aperture hook`: what a client is told when something happens in a session.
//!
//! A hook never stands in the way: whatever goes wrong is a line on standard error, and the exit code is 0, because others
//! mean something to the client.

mod compaction;
mod prompt;
mod result;
mod start;
mod stop;
mod told;

use crate::app::{CommandError, Env, ErrorKind};
use crate::engine::label;
use crate::model::{Block, Pin};
use crate::output::HookReport;
use crate::workspace::{Content, Workspace};
use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Arguments of `hook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture hook SessionStart < payload.json   what the client would be told

Clients call it: aperture install claude-code. Events: SessionStart, UserPromptSubmit,
PreCompact, PostToolUse, Stop, SessionEnd. It always exits with 0; what went wrong is on
standard error.")]
pub struct Arguments {
    /// The event
    event: String,
}

/// What a client says of an event. Nothing of it is certain to be there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    transcript_path: Option<PathBuf>,
    source: Option<String>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    tool_response: Value,
    last_assistant_message: Option<String>,
}

/// What is answered to an event.
struct Event {
    name: &'static str,
    answer: fn(&Env, &Payload) -> Result<Option<HookReport>, CommandError>,
}

/// The event of a tool that has answered.
const RESULTS: &str = "PostToolUse";

/// In the order in which a session has them.
static EVENTS: &[Event] = &[
    Event { name: "SessionStart", answer: start::answer },
    Event { name: "UserPromptSubmit", answer: prompt::answer },
    Event { name: "PreCompact", answer: compaction::answer },
    Event { name: RESULTS, answer: result::answer },
    Event { name: "Stop", answer: stop::answer },
    Event { name: "SessionEnd", answer: stop::end },
];

/// The events of which aperture wants to hear; of results of tools only where they are to be shortened.
pub(super) fn wanted(env: &Env) -> Vec<&'static str> {
    let wanted = EVENTS.iter().filter(|event| event.name != RESULTS || env.hooks.reduce_results);
    wanted.map(|event| event.name).collect()
}

/// Answers an event; what there is nothing to say about is answered with silence.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let event = EVENTS.iter().find(|event| event.name == arguments.event).ok_or_else(|| {
        let error = anyhow!("'{}' is no event that aperture answers", arguments.event);
        CommandError::new(ErrorKind::Usage, error)
    })?;
    let payload: Payload = serde_json::from_str(&env.text("-")?)
        .context("what is on standard input is no event of a client")
        .map_err(|error| CommandError::new(ErrorKind::Usage, error))?;
    let path = payload.transcript_path.clone().unwrap_or_default();
    match (event.answer)(&env.on(&path, &format!("hook {}", event.name)), &payload)? {
        Some(report) => env.print(&report),
        None => Ok(()),
    }
}

impl Payload {
    /// Whether the session has a file with something in it.
    fn has_session(&self, env: &Env) -> bool {
        let file = self.transcript_path.as_ref().and_then(|path| env.disk.identify(path).ok());
        file.is_some_and(|file| file.bytes > 0)
    }
}

/// Pinned blocks with their contents, those at the top first and then the most used; `wanted` says which.
fn pinned(workspace: &Workspace<'_>, wanted: &dyn Fn(&Block) -> bool) -> Result<Vec<String>, CommandError> {
    let mut blocks: Vec<_> =
        workspace.reading.session.blocks.iter().filter(|block| block.pin.is_some() && wanted(block)).collect();
    blocks.sort_by(|a, b| {
        let top = |block: &Block| block.pin == Some(Pin::Top);
        top(b).cmp(&top(a)).then(b.usefulness.heat.total_cmp(&a.usefulness.heat)).then(a.number.cmp(&b.number))
    });
    let numbers: Vec<_> = blocks.iter().map(|block| block.number).collect();
    let contents = workspace.contents(&numbers)?;
    let text =
        |(block, content): (&&Block, Content)| format!("#{} {}:\n{}", block.number, label(block), content.readable.trim_end());
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
