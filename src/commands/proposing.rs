//! What every command of the model goes through: found in its text, decided by the user's policy, carried out.

use super::changing::{ChangeOptions, is_live};
use super::{archive, compress, create, expand, focus, pin, recall, update};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::Request;
use crate::engine::model_commands::{Malformed, ModelCommand, Named, find, ranges, resolve};
use crate::engine::{self, Permission, Selector};
use crate::model::{
    Actor, Block, BlockKind, BlockNumber, CommandPlace, Flags, History, Key, Level, MarkKind, Pin, ProposalStatus, Role, Verb,
    Zone,
};
use crate::output::{ChangeReport, plural};
use crate::store::Outcome;
use crate::workspace::{Found, Workspace};
use anyhow::anyhow;
use std::path::Path;

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

/// The text blocks of a row that the model wrote, as it wrote them.
pub struct ModelText {
    /// The index of the row.
    pub row: usize,
    /// Its identity.
    pub key: Key,
    /// In which turn.
    pub turn: u32,
    /// Number, index in the row, and content of each block.
    pub parts: Vec<(BlockNumber, u32, String)>,
}

impl ModelText {
    /// Returns whether it is the message that a client reported: a client reports all text of a row, without the white space
    /// around it.
    pub fn is(&self, message: &str) -> bool {
        let whole = self.parts.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        trimmed(&whole) == trimmed(message)
    }

    /// Its commands, in order.
    pub fn commands(&self) -> Vec<Written> {
        let commands = self.parts.iter().flat_map(|(number, index, text)| {
            find(text).into_iter().map(|said| {
                let place = CommandPlace { row: self.key, block: *index, offset: said.place.start as u32 };
                Written { place, turn: self.turn, block: *number, text: text[said.place].to_owned(), command: said.command }
            })
        });
        commands.collect()
    }
}

/// A text without the white space around it, as JavaScript defines it.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Returns the texts of the model from a turn on, in file order: its own texts on the live branch, and none of those that a
/// subagent said.
///
/// # Errors
///
/// The file cannot be read.
pub fn texts(workspace: &Workspace<'_>, since: u32) -> Result<Vec<ModelText>, CommandError> {
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
    let mut texts: Vec<ModelText> = Vec::new();
    for (number, content) in numbers.iter().zip(contents) {
        let Some(block) = workspace.reading.block(*number) else { continue };
        let (row, turn) = (block.row as usize, block.position.turn);
        let Some(key) = session.rows[row].id else { continue };
        // What another text was put in the place of is not what the model wrote.
        let mut changed = workspace.history.operations.iter().flat_map(|operation| &operation.edits);
        if changed.any(|edit| edit.row.id == key && edit.slot.index() == Some(block.index)) {
            continue;
        }
        let part = (*number, block.index, content.sent);
        match texts.last_mut().filter(|text| text.row == row) {
            Some(text) => text.parts.push(part),
            None => texts.push(ModelText { row, key, turn, parts: vec![part] }),
        }
    }
    Ok(texts)
}

/// What is to become of a command. The blocks that it names are numbers by then, without those that the user holds.
pub enum Decision {
    /// It is carried out.
    CarryOut(ModelCommand),
    /// It waits for the user, who is told why.
    Wait(ModelCommand, String),
    /// It is not carried out, and why.
    No(ProposalStatus, String),
}

impl Decision {
    /// The blocks that it is about, as a selector; empty where there are none.
    pub fn blocks(&self) -> String {
        match self {
            Decision::CarryOut(command) | Decision::Wait(command, _) => command.selector(),
            Decision::No(..) => String::new(),
        }
    }
}

/// Decides about a command. It means no block from `before` on; `carried_out` is how many of its turn were carried out already.
pub fn decide(
    env: &Env,
    workspace: &Workspace<'_>,
    command: &Result<ModelCommand, Malformed>,
    before: BlockNumber,
    carried_out: usize,
) -> Decision {
    let refused = |why: String| Decision::No(ProposalStatus::Refused, why);
    let mut command = match command {
        Ok(command) => command.clone(),
        Err(malformed) => return refused(malformed.to_string()),
    };
    let verb = command.verb;
    let permission = env.model.permission(verb);
    if permission == Permission::Deny {
        return Decision::No(ProposalStatus::Denied, format!("the user's settings deny @{}", verb.name()));
    }
    let searched = verb == Verb::Recall && matches!(command.blocks[..], [Named::Words(_)]);
    if !searched && !command.blocks.is_empty() {
        let named = resolve(&command, &workspace.reading, before).map_err(|unresolved| unresolved.to_string());
        match named.and_then(|blocks| allowed(verb, blocks, workspace)) {
            Ok(blocks) => command.blocks = vec![Named::Selector(ranges(&blocks))],
            Err(why) => return refused(why),
        }
    }
    if permission == Permission::Approve {
        return Decision::Wait(command, format!("@{} asks first", verb.name()));
    }
    if carried_out >= env.model.commands_per_turn as usize {
        let limit = plural(env.model.commands_per_turn as usize, "command");
        return Decision::Wait(command, format!("more than {limit} in one turn"));
    }
    Decision::CarryOut(command)
}

/// The blocks without those that the user holds: what the user pinned or selected only the user lets go, and it is not
/// replaced. That it is not shortened either holds for everyone.
fn allowed(verb: Verb, blocks: Vec<BlockNumber>, workspace: &Workspace<'_>) -> Result<Vec<BlockNumber>, String> {
    let reading = &workspace.reading;
    let held = |number: &BlockNumber| {
        let block = reading.block(*number)?;
        let by_user = |kind| marked_by_user(&workspace.history, *number, kind);
        match verb {
            Verb::Unpin if block.pin.is_some() && by_user(MarkKind::Pin) => {
                Some("was pinned by the user, who alone can unpin it")
            }
            Verb::Unfocus if block.focused && by_user(MarkKind::Focus) => Some("was selected by the user, who alone lets it go"),
            Verb::Update if block.pin.is_some() => Some("is pinned"),
            Verb::Update if block.focused => Some("is selected by the user"),
            _ => None,
        }
    };
    let why = blocks.iter().find_map(|number| held(number).map(|why| format!("block {number} {why}")));
    let free: Vec<BlockNumber> = blocks.into_iter().filter(|number| held(number).is_none()).collect();
    match why {
        Some(why) if free.is_empty() => Err(why),
        _ => Ok(free),
    }
}

/// Whether the user put a mark on a block since it last had none: it is the user's, whoever moved it since.
fn marked_by_user(history: &History, number: BlockNumber, kind: MarkKind) -> bool {
    let marks = history
        .operations
        .iter()
        .rev()
        .flat_map(|operation| operation.marks.iter().rev().map(move |mark| (operation.actor, mark)));
    let marks = marks.filter(|(_, mark)| mark.kind == kind && mark.number == number);
    let mut actors = marks.take_while(|(_, mark)| mark.after.is_some()).map(|(actor, _)| actor).peekable();
    // A mark that no log tells of is not the model's.
    actors.peek().is_none() || actors.any(|actor| actor != Actor::Model)
}

/// What came of a command that was carried out.
pub struct CarriedOut {
    /// What the model is told.
    pub answer: String,
    /// What was changed in the session; none where its next prompt brings it all.
    pub change: Option<ChangeReport>,
    /// How many blocks that concerned.
    count: u32,
}

impl CarriedOut {
    /// How it is kept: what would change nothing was refused.
    pub fn outcome(&self) -> Outcome {
        let nothing = self.change.as_ref().is_some_and(ChangeReport::is_nothing);
        let status = if nothing { ProposalStatus::Refused } else { ProposalStatus::Done };
        let operation = self.change.as_ref().and_then(|change| change.operation);
        Outcome { operation, count: self.count, ..outcome(status, &self.answer) }
    }
}

/// What became of a command, by a word and by what the model is told: without credentials, and no more than fits.
pub fn outcome(status: ProposalStatus, answer: &str) -> Outcome {
    Outcome { status, answer: cut(answer), operation: None, count: 0 }
}

/// Does what was decided about a command on the session at a path, or looks ahead. `text` is what the log shows. Returns what
/// became of it, and what it did, or would do.
pub fn follow(env: &Env, path: &Path, decision: &Decision, text: &str, dry_run: bool) -> (Outcome, Option<ChangeReport>) {
    let (command, why) = match decision {
        Decision::No(status, why) => return (outcome(*status, why), None),
        Decision::CarryOut(command) => (command, None),
        Decision::Wait(command, why) => (command, Some(why)),
    };
    let done = match carry_out(env, path, command, text, dry_run || why.is_some()) {
        Ok(done) => done,
        Err(error) => {
            // It may go later where another program was in the way.
            let later = error.kind == ErrorKind::Conflict;
            let status = if later { ProposalStatus::Waiting } else { ProposalStatus::Refused };
            return (outcome(status, &error.source.root_cause().to_string()), None);
        }
    };
    let became = done.outcome();
    match why {
        // What would change nothing need not wait.
        _ if became.status == ProposalStatus::Refused => (became, None),
        Some(why) => (outcome(ProposalStatus::Waiting, why), done.change.filter(|_| dry_run)),
        None => (became, done.change),
    }
}

/// Carries out a command on the session at a path, or looks ahead. `text` is what the log shows.
///
/// A client that has the session open does not read it again. So what the model wants to read comes with its next prompt:
/// the client itself keeps that, behind everything that is cached, where a note of ours would stand on a branch that it
/// leaves with the next row.
///
/// # Errors
///
/// It cannot be carried out, or finds nothing.
pub fn carry_out(env: &Env, path: &Path, command: &ModelCommand, text: &str, dry_run: bool) -> Result<CarriedOut, CommandError> {
    let mut env = env.on(path, &shown(text));
    env.actor = Actor::Model;
    let found = env.find(None)?;
    let live = is_live(&env, &found);
    let options = ChangeOptions { dry_run, live: true, ..ChangeOptions::default() };
    if live && command.verb == Verb::Create && !command.text.trim().is_empty() {
        return Ok(CarriedOut { answer: command.text.clone(), change: None, count: 0 });
    }
    let mut brought = None;
    if live && matches!(command.verb, Verb::Recall | Verb::Expand) {
        let report = recall::search_only(&env, &recalled(command, options))?;
        let count = report.blocks.len() as u32;
        if command.verb == Verb::Recall {
            if count == 0 {
                return Err(CommandError::new(ErrorKind::Refused, anyhow!("nothing that left your sight fits")));
            }
            return Ok(CarriedOut { answer: report.note(), change: None, count });
        }
        brought = (count > 0).then(|| report.note());
    }
    let in_place = command.verb == Verb::Recall && belongs_in_place(&env, found, &command.selector())?;
    let change = super::change(&env, &as_asked(command, options, in_place)).ok_or_else(neither)??;
    let mut answer = change.in_short();
    if live && change.edits > 0 {
        answer.push_str(" (in the session file, which is read again at the next resume)");
    }
    if let Some(brought) = brought {
        answer = format!("{answer}\n{brought}");
    }
    let count = change.changes.len().max(change.marks.len()).max(change.unmarked.len()) as u32;
    Ok(CarriedOut { answer, change: Some(change), count })
}

/// A command that is none of those that change a session.
pub fn neither() -> CommandError {
    CommandError::new(ErrorKind::Internal, anyhow!("it neither reads nor changes a session"))
}

/// Whether blocks are best brought back in their place: each still has one, and the cache has forgotten what stands behind
/// it. As long as it has not, a note at the end costs the note alone, and the place everything behind it.
fn belongs_in_place(env: &Env, found: Found, blocks: &str) -> Result<bool, CommandError> {
    if blocks.is_empty() {
        return Ok(false);
    }
    let workspace = env.read(found)?;
    let reading = &workspace.reading;
    let idle = engine::idle_milliseconds(reading, env.style.now.as_millisecond());
    let cold = idle.is_some_and(|idle| idle > workspace.cache_milliseconds());
    let numbers = Selector::parse(blocks)?.select(reading)?;
    Ok(cold && numbers.iter().all(|number| reading.block(*number).is_some_and(|block| block.position.zone != Zone::Cold)))
}

/// The command of the user that does the same.
fn as_asked(command: &ModelCommand, options: ChangeOptions, in_place: bool) -> Request {
    let selector = command.selector();
    match command.verb {
        Verb::Expand => {
            let level = command.level.filter(|level| *level != Level::Original);
            Request::Expand(expand::Arguments { selector, level, options })
        }
        Verb::Recall => {
            let mut arguments = recalled(command, options);
            (arguments.restore, arguments.inject) = (in_place, !in_place);
            Request::Recall(arguments)
        }
        Verb::Compress => Request::Compress(compress::Arguments::of(selector, command.level, options)),
        Verb::Archive => Request::Archive(archive::Arguments { selector, reason: command.reason.clone(), options }),
        Verb::Pin => {
            let (top, bottom) = (command.pin == Pin::Top, command.pin == Pin::Bottom);
            Request::Pin(pin::Arguments { selector, top, bottom, options })
        }
        Verb::Unpin => Request::Unpin(pin::UnpinArguments { selector, options }),
        // What the user selected stays selected.
        Verb::Focus => Request::Focus(focus::Arguments { selector, add: true, options }),
        Verb::Unfocus => Request::Unfocus(focus::UnfocusArguments { selector, options }),
        Verb::Update => Request::Update(update::Arguments { selector, text: command.text.clone(), options }),
        Verb::Create => Request::Create(create::Arguments { text: command.text.clone(), options }),
    }
}

/// What a recall looks for: the blocks, or the words.
fn recalled(command: &ModelCommand, options: ChangeOptions) -> recall::Arguments {
    let words = command.blocks.iter().find_map(|named| match named {
        Named::Words(words) => Some(words.clone()),
        Named::Selector(_) => None,
    });
    recall::Arguments::of(words.unwrap_or_else(|| command.selector()), options)
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
