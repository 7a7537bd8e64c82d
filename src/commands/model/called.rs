//! The commands in a tool call that a proxy answers: decided and executed as those in the text of the model, with the answers as its
//! result.

use super::proposing::{Decision, ModelRequest, decide, follow, outcome, shown};
use crate::app::{CommandError, Env};
use crate::commands::obey::spent;
use crate::commands::recall::search_only;
use crate::commands::{Change, ModelAction};
use crate::engine::model_commands::read_all;
use crate::model::{BlockNumber, CommandPlace, Key, ProposalStatus};
use crate::output::{ChangeReport, clip};
use crate::store::{NewProposal, Outcome, Store};
use crate::workspace::Workspace;
use std::path::Path;

const MOST_COMMANDS: usize = 20;
const COMMAND_COLUMNS: usize = 80;
const NO_COMMANDS: &str = "no commands; example: @recall(\"auth flow\")";

/// Executes the commands of a call and returns the text of its result. A call is executed once, whatever the number of runs; `id` is that
/// of the call.
/// Errors: the session cannot be read, or the store cannot be written. No further command is executed then.
pub fn obey_call(env: &Env, id: &str, input: &str) -> Result<String, CommandError> {
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    let store = env.store()?;
    let _lock = env.lock(&path.join("obey"))?;
    let mut workspace = env.read(found.clone())?;
    let location = &workspace.location;
    let session = store.register(workspace.provider.name(), &location.id, &path, &location.project)?;
    let turn = workspace.reading.last_turn();
    let row = Key::from_bytes(format!("call {id}").as_bytes());
    let mut answers = Vec::new();
    for command in read_all(input).into_iter().take(MOST_COMMANDS) {
        let text = input[command.place.clone()].trim();
        let is_json = text.starts_with(['`', '{', '[', '"']);
        let text = if is_json { text.to_owned() } else { format!("@{}", text.trim_start_matches('@')) };
        let asked = command.command.map(ModelRequest::from);
        let decision = decide(env, &workspace, &asked, BlockNumber::MAX, spent(&store, session, turn)?);
        let place = CommandPlace { row, block: 0, offset: command.place.start as u32 };
        let proposal = NewProposal { place, turn, command: &text, blocks: &decision.blocks(&workspace), request: None };
        let Some(number) = store.propose(session, &proposal, env.style.now.as_millisecond())? else {
            answers.push(answer(&text, &outcome(ProposalStatus::Refused, "the same call was made already"), false));
            continue;
        };
        let (outcome, change) = execute(env, &store, &path, &workspace, &decision, &text)?;
        store.conclude(number, &outcome)?;
        store.mark_told(number)?;
        answers.push(answer(&text, &outcome, change.is_some()));
        if change.is_some() {
            workspace = env.read(found.clone())?;
        }
    }
    let text = if answers.is_empty() { NO_COMMANDS.to_owned() } else { answers.join("\n") };
    Ok(env.gate.masked(&text))
}

/// Executes a decision. The result of a call is all that the model reads at once, and a note is sent with the next prompt.
fn execute(
    env: &Env,
    store: &Store,
    path: &Path,
    workspace: &Workspace<'_>,
    decision: &Decision,
    text: &str,
) -> Result<(Outcome, Option<ChangeReport>), CommandError> {
    match decision {
        Decision::CarryOut(ModelAction::Recall(query)) => {
            let found = match search_only(env, query) {
                Ok(report) if report.is_empty() => {
                    outcome(ProposalStatus::Refused, "no matching content outside your context window")
                }
                Ok(report) => Outcome { count: report.count() as u32, ..outcome(ProposalStatus::Done, &report.note()) },
                Err(error) => outcome(ProposalStatus::Refused, &error.source.root_cause().to_string()),
            };
            Ok((found, None))
        }
        Decision::CarryOut(ModelAction::Change(Change::Create(note))) => {
            store.stage(&workspace.location.id, &note.text, env.style.now.as_millisecond())?;
            Ok((outcome(ProposalStatus::Done, "the note follows the next prompt"), None))
        }
        _ => Ok(follow(env, path, decision, text, false)),
    }
}

fn answer(command: &str, outcome: &Outcome, is_change: bool) -> String {
    let became = match outcome.status {
        ProposalStatus::Done if is_change => " (from the next request on)",
        ProposalStatus::Recorded | ProposalStatus::Begun | ProposalStatus::Done => "",
        ProposalStatus::Waiting => " is not executed yet: the user must approve it",
        ProposalStatus::Denied => " is denied",
        ProposalStatus::Refused => " was not executed",
    };
    format!("{}{became}: {}", clip(&shown(command), COMMAND_COLUMNS), outcome.answer.trim_end())
}
