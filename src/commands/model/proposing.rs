//! The processing of a model command: parse it, decide by the user's policy, execute it.

use crate::app::{CommandError, Env, ErrorKind, refusal};
use crate::commands::change::pipeline::is_live;
use crate::commands::recall::{self, search_only};
use crate::commands::{self, Change, ChangeOptions, ModelAction, memory};
use crate::engine::model_commands::{Malformed, ModelCommand, Named, find, ranges, resolve};
use crate::engine::{self, Permission, Selector, SelectorError, Spent};
use crate::model::{
    Actor, Block, BlockKind, BlockNumber, CommandPlace, FENCE, Flags, Key, Level, MarkAddress, MarkKind, ProposalStatus, Role,
    Verb, Zone,
};
use crate::output::{ChangeReport, plural};
use crate::store::Outcome;
use crate::text::cut::one_line;
use crate::workspace::{BoundBlocks, Found, Workspace, are_renumbered_since};
use std::path::{Path, PathBuf};

/// The maximum size of an answer to a command, in bytes.
const LONGEST_ANSWER: usize = 6_000;

/// A command that the model wrote.
pub struct Written {
    pub place: CommandPlace,
    pub turn: u32,
    pub block: BlockNumber,
    pub text: String,
    pub request: Result<ModelRequest, Malformed>,
}

/// A request of the model, with the blocks as the model named them.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    verb: Verb,
    names: Vec<Named>,
    action: ModelAction,
}

impl From<ModelCommand> for ModelRequest {
    fn from(command: ModelCommand) -> ModelRequest {
        let action = ModelAction::from(&command);
        let names = if matches!(action, ModelAction::Memory(_)) { Vec::new() } else { command.blocks };
        ModelRequest { verb: command.verb, action, names }
    }
}

impl ModelRequest {
    /// Returns the request of an action that came as a tool call.
    /// Errors: a name of blocks is malformed.
    pub fn from_call(verb: Verb, mut action: ModelAction) -> Result<ModelRequest, Malformed> {
        let names: Result<Vec<Named>, Malformed> = action.blocks().iter().map(|blocks| Named::read(blocks)).collect();
        // Blocks that the user selected stay selected.
        if let ModelAction::Change(Change::Focus(focus)) = &mut action {
            focus.add = true;
        }
        names.map(|names| ModelRequest { verb, names, action })
    }
}

/// The text blocks of a row that the model wrote, as originally written.
pub struct ModelText {
    pub row: usize,
    pub key: Key,
    pub turn: u32,
    /// The number, index in the row, and content of each block.
    pub parts: Vec<(BlockNumber, u32, String)>,
}

impl ModelText {
    /// Returns true if it is the message that a client reported. A client reports all text of a row, trimmed.
    pub fn is(&self, message: &str) -> bool {
        let whole = self.parts.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        trimmed(&whole) == trimmed(message)
    }

    pub fn commands(&self) -> Vec<Written> {
        let commands = self.parts.iter().flat_map(|(number, index, text)| {
            find(text).into_iter().map(|found| {
                let place = CommandPlace { row: self.key, block: *index, offset: found.place.start as u32 };
                Written {
                    place,
                    turn: self.turn,
                    block: *number,
                    text: text[found.place].to_owned(),
                    request: found.command.map(ModelRequest::from),
                }
            })
        });
        commands.collect()
    }
}

/// Trims white space as JavaScript defines it.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Returns the texts of the model from a turn on, in file order: only texts on the live branch, without those of subagents.
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
        // A block that was edited is not the model's own text.
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

/// The decision about a command. Its blocks are resolved to numbers, without those that only the user may change.
pub enum Decision {
    CarryOut(ModelAction),
    /// Wait for the user's approval; with the reason.
    Wait(ModelAction, String),
    /// Do not execute it; with the reason.
    No(ProposalStatus, String),
}

impl Decision {
    pub fn is_recall(&self) -> bool {
        matches!(self, Decision::CarryOut(ModelAction::Recall(_)))
    }

    /// Returns the blocks of its action as a proposal remembers them.
    pub fn blocks(&self, workspace: &Workspace<'_>) -> String {
        match self {
            Decision::CarryOut(action) | Decision::Wait(action, _) => addresses_of(workspace, action),
            Decision::No(..) => String::new(),
        }
    }
}

/// Returns the addresses of the blocks of an action, as JSON: their numbers can change until it is executed. Empty if it names none.
pub fn addresses_of(workspace: &Workspace<'_>, action: &ModelAction) -> String {
    let reading = &workspace.reading;
    let selected = Selector::parse_all(action.blocks()).and_then(|blocks| blocks.select(reading)).unwrap_or_default();
    let bound = BoundBlocks::new(&reading.session, &workspace.history);
    let blocks = selected.iter().filter_map(|number| bound.address(reading.block(*number)?));
    let addresses: Vec<MarkAddress> = blocks.collect();
    if addresses.is_empty() { String::new() } else { serde_json::to_string(&addresses).unwrap_or_default() }
}

/// Returns the blocks at addresses, as a selector of their present numbers; `None` if one of them is no longer there.
pub fn blocks_at(workspace: &Workspace<'_>, addresses: &str) -> Option<String> {
    let addresses: Vec<MarkAddress> = serde_json::from_str(addresses).ok()?;
    let bound = BoundBlocks::new(&workspace.reading.session, &workspace.history);
    let numbers: Option<Vec<BlockNumber>> =
        addresses.iter().map(|address| Some(bound.place(address)? as BlockNumber + 1)).collect();
    numbers.map(|numbers| ranges(&numbers))
}

/// Decides about a command. Blocks from `before` on are out of its scope; `spent` are the executed commands of its turn.
pub fn decide(
    env: &Env,
    workspace: &Workspace<'_>,
    asked: &Result<ModelRequest, Malformed>,
    before: BlockNumber,
    spent: Spent,
) -> Decision {
    let refused = |why: String| Decision::No(ProposalStatus::Refused, why);
    let ModelRequest { verb, names, action } = match asked {
        Ok(asked) => asked,
        Err(malformed) => return refused(malformed.to_string()),
    };
    let turn = workspace.reading.block(before).map_or(workspace.reading.last_turn(), |block| block.position.turn);
    let (verb, mut action) = (*verb, action.clone().in_turn(turn));
    let permission = env.model.permission(verb);
    if permission == Permission::Deny {
        return Decision::No(ProposalStatus::Denied, format!("the user's settings deny @{}", verb.name()));
    }
    let is_search = verb == Verb::Recall && matches!(names[..], [Named::Words(_)]);
    if !is_search && !names.is_empty() {
        if names_old_numbers(names, workspace, before) {
            return refused(
                "blocks are numbered differently since it was written; name them by their present numbers".to_owned(),
            );
        }
        let named = resolve(names, &workspace.reading, before).map_err(|unresolved| unresolved.to_string());
        match named.and_then(|blocks| allowed(verb, blocks, workspace)) {
            Ok(blocks) => action = action.with_blocks(ranges(&blocks)),
            Err(why) => return refused(why),
        }
    }
    if permission == Permission::Approve {
        let names = if matches!(action, ModelAction::Memory(_)) { " of a memory" } else { "" };
        return Decision::Wait(action, format!("@{}{names} needs approval", verb.name()));
    }
    if spent.commands >= env.model.commands_per_turn as usize {
        let limit = plural(env.model.commands_per_turn as usize, "command");
        return Decision::Wait(action, format!("more than {limit} in one turn"));
    }
    if let ModelAction::Recall(arguments @ recall::Arguments { turns: Some(_), .. }) = action {
        action = ModelAction::Recall(arguments.within_quota(env.model.recall_tokens(spent)));
    }
    Decision::CarryOut(action)
}

/// Returns true if a command names blocks by numbers of before an operation renumbered them. `block` holds the command.
fn names_old_numbers(names: &[Named], workspace: &Workspace<'_>, block: BlockNumber) -> bool {
    let reading = &workspace.reading;
    let numbered = |named: &Named| match named {
        Named::Selector(text) => Selector::parse(text).is_ok_and(|selector| {
            let is_absent = || matches!(selector.select(reading), Err(SelectorError::NoSuchBlock { .. }));
            !selector.named(reading).is_empty() || is_absent()
        }),
        Named::Words(_) => false,
    };
    let row = reading.block(block).map(|block| block.row);
    row.is_some_and(|row| are_renumbered_since(&reading.session, &workspace.history, row)) && names.iter().any(numbered)
}

/// Returns the blocks without those that only the user may change: the model cannot unpin or unfocus blocks that the user marked,
/// and cannot replace marked blocks. The rule that marked blocks are not shortened applies to everyone and is checked elsewhere.
fn allowed(verb: Verb, blocks: Vec<BlockNumber>, workspace: &Workspace<'_>) -> Result<Vec<BlockNumber>, String> {
    let reading = &workspace.reading;
    let held = |number: &BlockNumber| {
        let block = reading.block(*number)?;
        let by_user = |kind| marked_by_user(workspace, *number, kind);
        match verb {
            Verb::Unpin if block.pin.is_some() && by_user(MarkKind::Pin) => {
                Some("was pinned by the user; only the user can unpin it")
            }
            Verb::Unfocus if block.focused && by_user(MarkKind::Focus) => {
                Some("was focused by the user; only the user can clear it")
            }
            Verb::Update if block.pin.is_some() => Some("is pinned"),
            Verb::Update if block.focused => Some("is focused by the user"),
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

/// Returns true if the user set a mark on a block since it last had none, even if the model moved the mark later.
fn marked_by_user(workspace: &Workspace<'_>, number: BlockNumber, kind: MarkKind) -> bool {
    let marks = BoundBlocks::new(&workspace.reading.session, &workspace.history).marks();
    let of_block = marks.iter().filter(|(place, _, of, _)| *place + 1 == number as usize && *of == kind);
    let addresses: Vec<MarkAddress> = of_block.map(|(_, address, ..)| *address).collect();
    let operations = workspace.history.operations.iter().rev();
    let marks = operations.flat_map(|operation| operation.marks.iter().rev().map(move |mark| (operation.actor, mark)));
    let marks = marks.filter(|(_, mark)| mark.kind == kind && addresses.contains(&mark.address));
    let mut actors = marks.take_while(|(_, mark)| mark.after.is_some()).map(|(actor, _)| actor).peekable();
    // A mark without a log entry is not the model's.
    actors.peek().is_none() || actors.any(|actor| actor != Actor::Model)
}

/// The result of an executed command.
pub struct CarriedOut {
    pub answer: String,
    /// The change to the session; `None` if the next prompt brings the whole result.
    pub change: Option<ChangeReport>,
    count: u32,
}

impl CarriedOut {
    /// Returns the outcome to store; a command that would change nothing is stored as refused.
    pub fn outcome(&self) -> Outcome {
        let nothing = self.change.as_ref().is_some_and(ChangeReport::is_nothing);
        let status = if nothing { ProposalStatus::Refused } else { ProposalStatus::Done };
        let operation = self.change.as_ref().and_then(|change| change.operation);
        Outcome { operation, count: self.count, ..outcome(status, &self.answer) }
    }
}

/// Builds an outcome from a status and the answer for the model. The answer is masked and truncated.
pub fn outcome(status: ProposalStatus, answer: &str) -> Outcome {
    Outcome { status, answer: cut(answer), operation: None, count: 0 }
}

/// Executes a decision on the session at a path, or does a dry run. `text` is the command for the log. Returns the outcome, and the
/// change that was or would be made.
pub fn follow(env: &Env, path: &Path, decision: &Decision, text: &str, dry_run: bool) -> (Outcome, Option<ChangeReport>) {
    let (action, why) = match decision {
        Decision::No(status, why) => return (outcome(*status, why), None),
        Decision::CarryOut(action) => (action, None),
        Decision::Wait(action, why) => (action, Some(why)),
    };
    let done = match carry_out(env, path, action, text, dry_run || why.is_some()) {
        Ok(done) => done,
        Err(error) => {
            // A conflict with another program is temporary: the command may be executed later.
            let later = error.kind == ErrorKind::Conflict;
            let status = if later { ProposalStatus::Waiting } else { ProposalStatus::Refused };
            return (outcome(status, &error.source.root_cause().to_string()), None);
        }
    };
    let became = done.outcome();
    match why {
        // A command that would change nothing needs no approval.
        _ if became.status == ProposalStatus::Refused => (became, None),
        Some(why) => (outcome(ProposalStatus::Waiting, why), done.change.filter(|_| dry_run)),
        None => (became, done.change),
    }
}

/// Executes an action of the model on the session at a path, or does a dry run. `text` is the command for the log.
///
/// A client that has the session open does not read the file again. So content that the model wants to read comes with its next
/// prompt: the client stores that itself, after all cached content. A note written by aperture would be on a branch that the client
/// leaves with the next row.
/// Errors: the command cannot be executed, or finds nothing.
pub fn carry_out(env: &Env, path: &Path, action: &ModelAction, text: &str, dry_run: bool) -> Result<CarriedOut, CommandError> {
    let mut env = env.on(path, &shown(text));
    env.actor = Actor::Model;
    let found = env.find(None)?;
    let live = is_live(&env, &found);
    let change = match action.clone().with_options(ChangeOptions { dry_run, live: true, ..ChangeOptions::default() }) {
        ModelAction::Memory(arguments) => {
            let report = memory::change(&env, &project_of(&env, &found)?, &arguments)?;
            return Ok(CarriedOut { answer: report.done, change: None, count: report.changes.len() as u32 });
        }
        ModelAction::Recall(query) if live => {
            let report = search_only(&env, &query)?;
            let count = report.count() as u32;
            if count == 0 {
                return Err(refusal!("no matching content outside your context window"));
            }
            return Ok(CarriedOut { answer: report.note(), change: None, count });
        }
        ModelAction::Recall(query) => {
            let restore = belongs_in_place(&env, found, &query)?;
            Change::Recall(recall::Arguments { restore, inject: !restore, ..query })
        }
        ModelAction::Change(Change::Create(note)) if live && !note.text.trim().is_empty() => {
            return Ok(CarriedOut { answer: note.text, change: None, count: 0 });
        }
        ModelAction::Change(change) => change,
    };
    let brought = match &change {
        Change::Expand(blocks) if live => {
            let report = search_only(&env, &recall::Arguments::new(blocks.selector.join(", ")))?;
            (!report.is_empty()).then(|| report.note())
        }
        _ => None,
    };
    let change = commands::change(&env, &change)?;
    // Housekeeping that is recorded needs no answer.
    let is_recorded = matches!(action, ModelAction::Change(Change::Housekeeping(_))) && !change.is_nothing();
    let mut answer = if is_recorded { change.notes.join("; ") } else { change.in_short() };
    if let Some(brought) = brought {
        answer = format!("{answer}\n{brought}");
    }
    let count = change.changes.len().max(change.marks.len()).max(change.unmarked.len()) as u32;
    Ok(CarriedOut { answer, change: Some(change), count })
}

fn project_of(env: &Env, found: &Found) -> Result<PathBuf, CommandError> {
    env.project_directory(found).ok_or_else(|| refusal!("the directory of the project is not known, so neither are its memories"))
}

/// Returns true if it is cheaper to restore blocks in place: each still has a place in the window, and the cache of the content
/// after it has expired. While the cache is valid, a note at the end costs only the note, but a restored block costs all content
/// after it.
fn belongs_in_place(env: &Env, found: Found, query: &recall::Arguments) -> Result<bool, CommandError> {
    let Some(blocks) = query.selector().filter(|_| query.turns.is_none()) else { return Ok(false) };
    let workspace = env.read(found)?;
    let reading = &workspace.reading;
    let idle = engine::idle_milliseconds(reading, env.style.now.as_millisecond());
    let cold = idle.is_some_and(|idle| idle > workspace.cache_milliseconds());
    let numbers = blocks.select(reading)?;
    Ok(cold && numbers.iter().all(|number| reading.block(*number).is_some_and(|block| block.position.zone != Zone::Cold)))
}

/// Returns a command on one line, with credentials masked.
pub fn shown(command: &str) -> String {
    if command.starts_with(FENCE) {
        return "the block aperture".to_owned();
    }
    one_line(&engine::mask(command))
}

fn cut(text: &str) -> String {
    let mut text = engine::mask(text).into_owned();
    if text.len() > LONGEST_ANSWER {
        text.truncate(text.floor_char_boundary(LONGEST_ANSWER));
        text.push_str("\n[… truncated: use a narrower @recall for the rest]");
    }
    text
}
