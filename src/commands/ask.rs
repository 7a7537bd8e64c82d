//! What the model asks for by calling a tool, in place of writing it in its text: the same policy, the same inbox.

use super::proposing::{Decision, Written, carry_out, decide};
use super::{pin, undo};
use crate::cli::{Command, CommandError, Env, ErrorKind};
use crate::engine::Permission;
use crate::engine::model_commands::find;
use crate::model::{Actor, BlockNumber, CommandPlace, Key, Level, ProposalNumber, ProposalStatus, Verb};
use crate::store::Outcome;
use anyhow::anyhow;

/// What the user's policy says of a command that the model asks for.
pub enum Asked {
    /// It is to be carried out, as it stands here.
    CarryOut(Command),
    /// It waits for the user, under this number in the inbox, and why.
    Waits(ProposalNumber, String),
}

/// Decides about a command by the user's policy. One that has to wait is put into the inbox, once a turn.
///
/// # Errors
///
/// The settings deny it, it would be of no use, or it cannot be put into the inbox.
pub fn ask(env: &Env, command: Command) -> Result<Asked, CommandError> {
    if let Command::Undo(arguments) = &command {
        own(env, arguments)?;
    }
    let Some((verb, text)) = written(&command) else { return Ok(Asked::CarryOut(command)) };
    let Some(text) = text else { return unwritten(env, verb, command) };
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    let workspace = env.read(found)?;
    let turn = workspace.reading.turns.len() as u32;
    let said = find(&text).into_iter().next().ok_or_else(|| refused(anyhow!("{text} cannot be asked for")))?;
    let row = Key::of_bytes(format!("{} {turn} {text}", workspace.location.id).as_bytes());
    let place = CommandPlace { row, block: 0, offset: 0 };
    let asked = Written { place, turn, block: BlockNumber::MAX, text, command: said.command };
    let (meant, blocks, why) = match decide(env, &workspace, &asked, 0) {
        Decision::No(_, why) => return Err(refused(anyhow!("{why}"))),
        Decision::CarryOut(_, blocks) => return Ok(Asked::CarryOut(only(command, blocks))),
        Decision::Wait(meant, blocks, why) => (meant, blocks, why),
    };
    // What would change nothing need not wait.
    carry_out(env, &path, &meant, &asked.text, &blocks, true)?;
    let store = env.store()?;
    let _lock = env.lock(&path.join("obey"))?;
    let location = &workspace.location;
    let session = store.register(workspace.provider.name(), &location.id, &path, &location.project)?;
    let known = store.proposals(session)?.into_iter().find(|proposal| proposal.place == place);
    if let Some(known) = known {
        return match known.status {
            ProposalStatus::Waiting => Ok(Asked::Waits(known.number, known.answer)),
            status => Err(refused(anyhow!("it was asked for in this turn already, and is {}", status.name()))),
        };
    }
    let now = env.style.now.as_millisecond();
    let number = store.propose(session, place, turn, &asked.text, now)?;
    let number = number.ok_or_else(|| refused(anyhow!("it was asked for already")))?;
    store.names(number, &blocks)?;
    store.conclude(number, &Outcome { status: ProposalStatus::Waiting, answer: why.clone(), operation: None, count: 0 })?;
    Ok(Asked::Waits(number, why))
}

/// Decides about what the model could not write: there is nothing that could wait.
fn unwritten(env: &Env, verb: Verb, command: Command) -> Result<Asked, CommandError> {
    match env.model.of(verb) {
        Permission::Auto => Ok(Asked::CarryOut(command)),
        Permission::Deny => Err(refused(anyhow!("the user's settings deny @{}", verb.name()))),
        Permission::Approve => {
            let error = anyhow!("the user approves it first, and only what a selector names can wait for that");
            Err(refused(error).hint("name the blocks by a selector, such as stale"))
        }
    }
}

/// Refuses to undo what the user did.
fn own(env: &Env, arguments: &undo::Arguments) -> Result<(), CommandError> {
    let history = env.history_of(&env.find(None)?)?;
    let operation = arguments.operation().or(history.undoable()).and_then(|id| history.operation(id));
    match operation.filter(|operation| operation.actor != Actor::Model) {
        None => Ok(()),
        Some(operation) => {
            let error = anyhow!("operation {} is the user's, who alone takes it back", operation.id);
            Err(refused(error).hint(format!("ask the user to run aperture undo {}", operation.id)))
        }
    }
}

/// A command as the model would write it, where it is one of the model's; the text is missing where it cannot say that.
fn written(command: &Command) -> Option<(Verb, Option<String>)> {
    let level = |level: Option<Level>| level.map(|level| format!(", {}", level.name())).unwrap_or_default();
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    Some(match command {
        Command::Expand(asked) => (Verb::Expand, Some(format!("@expand({}{})", asked.selector, level(asked.level)))),
        Command::Compress(asked) => {
            (Verb::Compress, asked.named().map(|(blocks, asked)| format!("@compress({blocks}{})", level(asked))))
        }
        Command::Archive(asked) if asked.reason.is_empty() => (Verb::Archive, Some(format!("@archive({})", asked.selector))),
        Command::Archive(asked) => {
            (Verb::Archive, Some(format!("@archive({}, reason: {})", asked.selector, quoted(&asked.reason))))
        }
        Command::Pin(asked) => {
            let place = match (asked.top, asked.bottom) {
                (true, _) => ", top",
                (_, true) => ", bottom",
                _ => "",
            };
            (Verb::Pin, Some(format!("@pin({}{place})", asked.selector)))
        }
        Command::Unpin(asked) => (Verb::Unpin, Some(format!("@unpin({})", asked.selector))),
        Command::Focus(asked) => (Verb::Focus, Some(format!("@focus({})", asked.selector))),
        Command::Update(asked) => (Verb::Update, Some(format!("@update({}, {})", asked.selector, quoted(&asked.text)))),
        Command::Create(asked) => (Verb::Create, Some(format!("@create({})", quoted(&asked.text)))),
        _ => return None,
    })
}

/// The same command without the blocks that the user holds.
fn only(command: Command, blocks: String) -> Command {
    match command {
        Command::Unpin(asked) => Command::Unpin(pin::UnpinArguments { selector: blocks, ..asked }),
        other => other,
    }
}

fn refused(error: anyhow::Error) -> CommandError {
    CommandError::new(ErrorKind::Refused, error.context("a model may not do that by itself"))
}
