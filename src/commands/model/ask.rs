//! Handles model commands that arrive as tool calls, under the same policy and with the same inbox as commands in its text.

use super::proposing::{Decision, ModelRequest, addresses_of, carry_out, decide, outcome};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::change::pipeline::{is_live, open_in_client};
use crate::commands::memory::{self, MemoryChangeReport};
use crate::commands::{self, Change, ChangeOptions, ModelAction, Request, undo};
use crate::engine::{Permission, Spent};
use crate::model::{Actor, BlockNumber, CommandPlace, Key, ProposalNumber, ProposalStatus, Verb};
use crate::output::ChangeReport;
use crate::store::{NewProposal, Outcome};
use crate::workspace::{Found, Workspace};
use anyhow::anyhow;
use std::path::Path;

/// The outcome of a call.
pub enum CallOutcome {
    /// The command was executed, or there was nothing to do.
    Done(Box<ChangeReport>),
    Remembered(Box<MemoryChangeReport>),
    /// The command adds a note to a session that a client has open: the next prompt brings it.
    Told,
    /// The command needs the user's approval, with its number in the inbox and the reason.
    Waits(ProposalNumber, String),
}

/// Executes a command as far as the user's policy allows it. A command that has to wait is added to the inbox, at most once per
/// turn. A dry run is always allowed.
/// Errors: the settings deny the command, it would change nothing, or it cannot be executed or added to the inbox.
pub fn ask(env: &Env, command: &Request, dry_run: bool) -> Result<CallOutcome, CommandError> {
    let action = ModelAction::from_request(command);
    if let Some((verb, ModelAction::Memory(arguments))) = &action {
        let permission = env.model.permission(*verb);
        if permission == Permission::Deny {
            return Err(refused(anyhow!("the user's settings deny @{}", verb.name())));
        }
        // It needs no session, unless it waits in the inbox of one.
        if dry_run || permission == Permission::Auto {
            let report = memory::change(env, &env.directory, arguments)?;
            return Ok(CallOutcome::Remembered(Box::new(report)));
        }
    }
    if let (true, Request::Change(change)) = (dry_run, command) {
        return changed(env, change);
    }
    let Some((verb, action)) = action else { return unwritten(env, command) };
    let asked = ModelRequest::from_call(verb, action);
    let workspace = env.open(None)?;
    let path = env.disk.resolve(&workspace.path)?;
    let (action, why) = match decide(env, &workspace, &asked, BlockNumber::MAX, Spent::default()) {
        Decision::No(ProposalStatus::Denied, why) => return Err(refused(anyhow!("{why}"))),
        Decision::No(_, why) => return Err(CommandError::refused(anyhow!("{why}"))),
        Decision::CarryOut(action) => (action, None),
        Decision::Wait(action, why) => (action, Some(why)),
    };
    let done = carry_out(env, &path, &action, &env.command, why.is_some())?;
    let outcome = why.as_ref().map_or_else(|| done.outcome(), |why| outcome(ProposalStatus::Waiting, why));
    match (done.change, why) {
        (Some(change), None) => Ok(CallOutcome::Done(Box::new(change))),
        // A command that would change nothing needs no approval.
        (Some(change), Some(_)) if change.is_nothing() => Ok(CallOutcome::Done(Box::new(change))),
        (_, Some(why)) => Ok(CallOutcome::Waits(keep(env, &workspace, &path, &action, &outcome)?, why)),
        (None, None) => keep(env, &workspace, &path, &action, &outcome).map(|_| CallOutcome::Told),
    }
}

/// Refuses a change of the file of a session, which is not that of the calling model, if a client has it open.
/// Errors: as for the change, which is planned.
pub fn refuse_open(env: &Env, found: &Found, command: &Request) -> Result<(), CommandError> {
    let Request::Change(change) = command else { return Ok(()) };
    let mut planned = change.clone();
    planned.options_mut().dry_run = true;
    let is_refused = is_live(env, found) && commands::change(env, &planned)?.edits > 0;
    if is_refused { Err(open_in_client(found)) } else { Ok(()) }
}

/// Stores a command and its outcome, at most once per turn; returns its number.
fn keep(
    env: &Env,
    workspace: &Workspace<'_>,
    path: &Path,
    action: &ModelAction,
    outcome: &Outcome,
) -> Result<ProposalNumber, CommandError> {
    // The approval decides about the options, such as --live.
    let request = Request::from(action.clone().with_options(ChangeOptions::default()));
    let (location, line) = (&workspace.location, request.line());
    let turn = workspace.reading.last_turn();
    let row = Key::from_bytes(format!("{} {turn} {line}", location.id).as_bytes());
    let place = CommandPlace { row, block: 0, offset: 0 };
    let store = env.store()?;
    let _lock = env.lock(&path.join("obey"))?;
    let session = store.register(workspace.provider.name(), &location.id, path, &location.project)?;
    let known = store.proposals(session)?.into_iter().find(|proposal| proposal.place == place);
    match known.map(|proposal| (proposal.number, proposal.status)) {
        Some((number, ProposalStatus::Waiting)) => return Ok(number),
        Some((_, status)) => {
            return Err(refused(anyhow!("the same call was made in this turn already, and it is {}", status.name())));
        }
        None => {}
    }
    let json =
        serde_json::to_string(&request).map_err(|error| CommandError::new(ErrorKind::Internal, anyhow::Error::from(error)))?;
    let blocks = addresses_of(workspace, action);
    let proposal = NewProposal { place, turn, command: &line, blocks: &blocks, request: Some(&json) };
    let number = store.propose(session, &proposal, env.style.now.as_millisecond())?;
    let number = number.ok_or_else(|| refused(anyhow!("the same call was made already")))?;
    store.conclude(number, outcome)?;
    Ok(number)
}

/// Executes a change that has no form in the model's text, and so cannot be put into the inbox.
fn unwritten(env: &Env, command: &Request) -> Result<CallOutcome, CommandError> {
    let Request::Change(change) = command else {
        return Err(refused(anyhow!("the model has no command '{}'", command.name())));
    };
    match (change, env.model.permission(Verb::Compress)) {
        (Change::Undo(arguments), _) => refuse_undo_of_user(env, arguments)?,
        (Change::Compress(_), Permission::Deny) => return Err(refused(anyhow!("the user's settings deny @compress"))),
        (Change::Compress(_), Permission::Approve) => {
            let error = anyhow!("it needs the user's approval, which is only possible for blocks named by a selector");
            return Err(refused(error).hint("name the blocks by a selector, such as stale"));
        }
        _ => {}
    }
    changed(env, change)
}

fn changed(env: &Env, change: &Change) -> Result<CallOutcome, CommandError> {
    commands::change(env, change).map(|change| CallOutcome::Done(Box::new(change)))
}

fn refuse_undo_of_user(env: &Env, arguments: &undo::Arguments) -> Result<(), CommandError> {
    let history = env.history_of(&env.find(None)?)?;
    let operation = arguments.operation.or(history.undoable()).and_then(|id| history.operation(id));
    match operation.filter(|operation| operation.actor != Actor::Model) {
        None => Ok(()),
        Some(operation) => {
            let error = anyhow!("operation {} was made by the user; only the user can undo it", operation.id);
            Err(refused(error).hint(format!("ask the user to run aperture undo {}", operation.id)))
        }
    }
}

fn refused(error: anyhow::Error) -> CommandError {
    CommandError::refused(error.context("a model may not do that by itself"))
}
