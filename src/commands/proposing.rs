//! What every command of the model goes through: found in its text, decided by the user's policy, carried out.

use super::changing::{ChangeOptions, is_live};
use super::{archive, compress, create, expand, focus, pin, recall, update};
use crate::cli::{Command, CommandError, Env, ErrorKind};
use crate::engine::model_commands::{Malformed, ModelCommand, Named, find, ranges, resolve};
use crate::engine::{self, Permission, Selector};
use crate::model::{
    Actor, Block, BlockKind, BlockNumber, CommandPlace, Flags, History, Level, MarkKind, Pin, ProposalStatus, Role, Verb, Zone,
};
use crate::output::{ChangeReport, plural};
use crate::store::Outcome;
use crate::workspace::{Found, Workspace};
use anyhow::anyhow;
use std::path::Path;

/// Commands of one turn that are looked at.
const MOST_COMMANDS: usize = 100;
/// Bytes of what a command brings to the model's next prompt.
const LONGEST_ANSWER: usize = 6_000;

/// A command that the model wrote.
pub struct Written {
    /// Where it stands.
    pub place: CommandPlace,
    /// In which turn.
    pub turn: u32,
    /// In which block.
    pub block: BlockNumber,
    /// As it was written.
    pub text: String,
    /// What it says.
    pub command: Result<ModelCommand, Malformed>,
}

/// The commands that the model wrote from a turn on, in file order: in its own text as it wrote it, on the live branch, and
/// not in what a subagent said.
///
/// # Errors
///
/// The file cannot be read.
pub fn written(workspace: &Workspace<'_>, since: u32) -> Result<Vec<Written>, CommandError> {
    let session = &workspace.reading.session;
    let own = |block: &&Block| {
        let row = &session.rows[block.row as usize];
        block.kind == BlockKind::Text
            && block.role == Role::Assistant
            && block.position.zone != Zone::Cold
            && block.position.turn >= since
            && block.level == Level::Original
            && !block.changed_elsewhere
            && !row.sidechain
            && !row.flags.any(Flags::SYNTHETIC)
    };
    let numbers: Vec<BlockNumber> = session.blocks.iter().filter(own).map(|block| block.number).collect();
    let contents = workspace.contents(&numbers)?;
    let mut written = Vec::new();
    for (number, content) in numbers.iter().zip(contents) {
        let Some(block) = workspace.reading.block(*number) else { continue };
        let Some(row) = session.rows[block.row as usize].id else { continue };
        // What another text was put in the place of is not what the model wrote.
        let changed = workspace.history.operations.iter().flat_map(|operation| &operation.edits);
        if changed.clone().any(|edit| edit.row.id == row && edit.slot.index() == Some(block.index)) {
            continue;
        }
        for said in find(&content.sent) {
            let place = CommandPlace { row, block: block.index, offset: said.place.start as u32 };
            let text = content.sent[said.place].to_owned();
            written.push(Written { place, turn: block.position.turn, block: *number, text, command: said.command });
        }
    }
    written.truncate(MOST_COMMANDS);
    Ok(written)
}

/// What is to become of a command.
pub enum Decision {
    /// It is carried out, on these blocks.
    CarryOut(ModelCommand, String),
    /// It waits for the user, who is told why; on these blocks.
    Wait(ModelCommand, String, String),
    /// It is not carried out, and why.
    No(ProposalStatus, String),
}

/// Decides about a command. `carried_out` is how many of its turn were carried out already.
pub fn decide(env: &Env, workspace: &Workspace<'_>, written: &Written, carried_out: usize) -> Decision {
    let refused = |why: String| Decision::No(ProposalStatus::Refused, why);
    let command = match &written.command {
        Ok(command) => command.clone(),
        Err(malformed) => return refused(malformed.to_string()),
    };
    let verb = command.verb;
    let permission = env.model.of(verb);
    if permission == Permission::Deny {
        return Decision::No(ProposalStatus::Denied, format!("the user's settings deny @{}", verb.name()));
    }
    let searched = verb == Verb::Recall && matches!(command.blocks[..], [Named::Words(_)]);
    let blocks = if searched { Ok(Vec::new()) } else { resolve(&command, &workspace.reading, written.block) };
    let blocks = match blocks {
        Ok(blocks) => blocks,
        Err(unresolved) => return refused(unresolved.to_string()),
    };
    let blocks = match allowed(verb, blocks, workspace) {
        Ok(blocks) => ranges(&blocks),
        Err(why) => return refused(why),
    };
    if permission == Permission::Approve {
        return Decision::Wait(command, blocks, format!("@{} asks first", verb.name()));
    }
    if carried_out >= env.model.commands_per_turn as usize {
        let limit = plural(env.model.commands_per_turn as usize, "command");
        return Decision::Wait(command, blocks, format!("more than {limit} in one turn"));
    }
    Decision::CarryOut(command, blocks)
}

/// The blocks without those that the user holds: what the user pinned only the user unpins, and what is pinned or selected
/// is not replaced. That it is not shortened either holds for everyone.
fn allowed(verb: Verb, blocks: Vec<BlockNumber>, workspace: &Workspace<'_>) -> Result<Vec<BlockNumber>, String> {
    let reading = &workspace.reading;
    let held = |number: &BlockNumber| match (verb, reading.block(*number)) {
        (Verb::Unpin, Some(block)) if block.pin.is_some() && !pinned_by_model(&workspace.history, *number) => {
            Some("was pinned by the user, who alone can unpin it")
        }
        (Verb::Update, Some(block)) if block.pin.is_some() => Some("is pinned"),
        (Verb::Update, Some(block)) if block.focused => Some("is selected by the user"),
        _ => None,
    };
    let why = blocks.iter().find_map(|number| held(number).map(|why| format!("block {number} {why}")));
    let free: Vec<BlockNumber> = blocks.into_iter().filter(|number| held(number).is_none()).collect();
    match why {
        Some(why) if free.is_empty() => Err(why),
        _ => Ok(free),
    }
}

/// Whether the last pin on a block is the model's.
fn pinned_by_model(history: &History, number: BlockNumber) -> bool {
    let marks = history
        .operations
        .iter()
        .rev()
        .flat_map(|operation| operation.marks.iter().rev().map(move |mark| (operation.actor, mark)));
    let mut pins = marks.filter(|(_, mark)| mark.kind == MarkKind::Pin && mark.number == number);
    pins.next().is_some_and(|(actor, _)| actor == Actor::Model)
}

/// What came of a command that was carried out.
pub struct CarriedOut {
    /// What the model is told.
    pub answer: String,
    /// What was changed in the session; none where its next prompt brings it all.
    pub change: Option<ChangeReport>,
    /// How many blocks that concerned.
    pub count: u32,
}

impl CarriedOut {
    /// How it is kept.
    pub fn outcome(&self) -> Outcome {
        let operation = self.change.as_ref().and_then(|change| change.operation);
        Outcome { status: ProposalStatus::Done, answer: self.answer.clone(), operation, count: self.count }
    }
}

/// Carries out a command on the session at a path, or looks ahead. `text` is what the log shows, `blocks` a selector.
///
/// A client that has the session open does not read it again. So what the model wants to read comes with its next prompt:
/// the client itself keeps that, behind everything that is cached, where a note of ours would stand on a branch that it
/// leaves with the next row.
///
/// # Errors
///
/// It cannot be carried out, or nothing would come of it.
pub fn carry_out(
    env: &Env,
    path: &Path,
    command: &ModelCommand,
    text: &str,
    blocks: &str,
    dry_run: bool,
) -> Result<CarriedOut, CommandError> {
    let mut env = env.on(path, &shown(text));
    env.actor = Actor::Model;
    let found = env.find(None)?;
    let live = is_live(&env, &found);
    let options = ChangeOptions { dry_run, live: true };
    if live && command.verb == Verb::Create {
        return Ok(CarriedOut { answer: command.text.clone(), change: None, count: 0 });
    }
    let mut brought = None;
    if live && matches!(command.verb, Verb::Recall | Verb::Expand) {
        let report = recall::search_only(&env, &recalled(command, blocks, options))?;
        let count = report.blocks.len() as u32;
        if command.verb == Verb::Recall {
            if count == 0 {
                return Err(refusal("nothing that left your sight fits"));
            }
            return Ok(CarriedOut { answer: cut(&report.note()), change: None, count });
        }
        brought = (count > 0).then(|| report.note());
    }
    let in_place = command.verb == Verb::Recall && !blocks.is_empty() && belongs_in_place(&env, found, blocks)?;
    let asked = as_asked(command, blocks, options, in_place);
    let change = match super::change(&env, &asked) {
        Some(change) => change?,
        None => return Err(refusal("nothing to do")),
    };
    if change.is_nothing() {
        return Err(refusal(&change.in_short()));
    }
    let mut answer = change.in_short();
    if live && change.edits > 0 {
        answer.push_str(" (in the session file, which is read again at the next resume)");
    }
    if let Some(brought) = brought {
        answer = cut(&format!("{answer}\n{brought}"));
    }
    let count = change.changes.len().max(change.marks.len()).max(change.unmarked.len()) as u32;
    Ok(CarriedOut { answer, change: Some(change), count })
}

/// Whether blocks are best brought back in their place: each still has one, and the cache has forgotten what stands behind
/// it. As long as it has not, a note at the end costs the note alone, and the place everything behind it.
fn belongs_in_place(env: &Env, found: Found, blocks: &str) -> Result<bool, CommandError> {
    let workspace = env.read(found)?;
    let reading = &workspace.reading;
    let idle = engine::idle_milliseconds(reading, env.style.now.as_millisecond());
    let cold = idle.is_some_and(|idle| idle > workspace.cache_milliseconds());
    let numbers = Selector::parse(blocks)?.select(reading)?;
    Ok(cold && numbers.iter().all(|number| reading.block(*number).is_some_and(|block| block.position.zone != Zone::Cold)))
}

/// The command of the user that does the same.
fn as_asked(command: &ModelCommand, blocks: &str, options: ChangeOptions, in_place: bool) -> Command {
    let selector = blocks.to_owned();
    match command.verb {
        Verb::Expand => {
            let level = command.level.filter(|level| *level != Level::Original);
            Command::Expand(expand::Arguments { selector, level, options })
        }
        Verb::Recall => {
            let mut arguments = recalled(command, blocks, options);
            (arguments.restore, arguments.inject) = (in_place, !in_place);
            Command::Recall(arguments)
        }
        Verb::Compress => Command::Compress(compress::Arguments::of(selector, command.level, options)),
        Verb::Archive => Command::Archive(archive::Arguments { selector, reason: command.reason.clone(), options }),
        Verb::Pin => {
            let (top, bottom) = (command.pin == Pin::Top, command.pin == Pin::Bottom);
            Command::Pin(pin::Arguments { selector, top, bottom, options })
        }
        Verb::Unpin => Command::Unpin(pin::UnpinArguments { selector, options }),
        // What the user selected stays selected.
        Verb::Focus => Command::Focus(focus::Arguments { selector, add: true, options }),
        Verb::Update => Command::Update(update::Arguments { selector, text: command.text.clone(), options }),
        Verb::Create => Command::Create(create::Arguments { text: command.text.clone(), options }),
    }
}

/// What a recall looks for: the blocks, or the words.
fn recalled(command: &ModelCommand, blocks: &str, options: ChangeOptions) -> recall::Arguments {
    let words = command.blocks.iter().find_map(|named| match named {
        Named::Words(words) if command.verb == Verb::Recall => Some(words.clone()),
        _ => None,
    });
    recall::Arguments::of(words.unwrap_or_else(|| blocks.to_owned()), options)
}

fn refusal(why: &str) -> CommandError {
    CommandError::new(ErrorKind::Refused, anyhow!("{why}"))
}

/// What is shown of a command: on one line, without credentials.
pub fn shown(command: &str) -> String {
    engine::mask(command).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much as one answer may hold, without credentials.
fn cut(text: &str) -> String {
    let mut text = engine::mask(text).into_owned();
    if text.len() > LONGEST_ANSWER {
        text.truncate(text.floor_char_boundary(LONGEST_ANSWER));
        text.push_str("\n[… cut: a narrower @recall brings the rest]");
    }
    text
}
