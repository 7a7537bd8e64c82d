//! `aperture log`: lists the operations on a session.

use crate::app::{CommandError, Env};
use crate::engine::sidecar::is_written;
use crate::model::{
    Actor, As, BlockChange, BlockNumber, Estimated, History, JsonOf, Operation, OperationId, OperationKind, OperationState,
    Proposal, ProposalStatus, Snapshot, Time, TokenCount, Verb, json_forms,
};
use crate::output::table::{Column, left, right, spaced};
use crate::output::{Paint, Report, Style, age, clip, plural, printable, tokens};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture log            the newest operation first
  aperture log --json | jq '.operations[0].command'

aperture undo N reverts operation N; aperture diff N shows the changes since it.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
}

/// Lists the operations.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the operations, newest first, and the model's actions in each turn.
pub fn report(env: &Env, arguments: &Arguments) -> Result<LogReport, CommandError> {
    let found = env.find(arguments.session.as_deref())?;
    let history = env.history_of(&found)?;
    env.learn(&found);
    let (mut proposals, mut deferred) = (Vec::new(), Vec::new());
    if let Some(store) = env.existing_store()?
        && let Some(session) = store.find(&env.disk.resolve(&found.path)?)?
    {
        (proposals, deferred) = (store.proposals(session.key)?, store.deferred(session.key)?);
    }
    let reverted = history.reverted();
    let row = |operation: &Operation| LogRow::json_of(&(operation, &history, reverted.get(&operation.id).copied()));
    let mut operations: Vec<LogRow> = history.operations.iter().chain(&deferred).map(row).collect();
    operations.sort_by_key(|row| std::cmp::Reverse(row.id));
    let turns = TurnActions::collect(found.provider.agent(), &proposals, &history);
    Ok(LogReport { operations, snapshots: history.snapshots.clone(), turns })
}

/// Maximum number of columns before the command, for operation numbers of at most two digits.
const OTHERS: usize = 38;
/// Minimum number of columns for a command, on any terminal.
const NARROWEST: usize = 16;

json_forms! {
    /// An operation in the log.
    #[schemars(rename = "Operation")]
    LogRow of (operation, history, reverted_by): (&Operation, &History, Option<OperationId>) {
        /// Operation number.
        id: OperationId = operation.id,
        kind: OperationKind = operation.kind,
        /// Time of the operation.
        #[serde(with = "As::<Time>")]
        time: i64 = operation.time,
        command: String = operation.command.clone(),
        /// Origin of the command.
        actor: Actor = operation.actor,
        /// Changed or marked blocks.
        blocks: Vec<BlockNumber> = changes(operation).map(|change| change.number).chain(operation.marks.iter().map(|mark| mark.number)).collect(),
        rows_added: usize = operation.edits.iter().filter(|edit| edit.before.is_none()).count(),
        rows_removed: usize = operation.edits.iter().filter(|edit| edit.after.is_none()).count(),
        /// Tokens of the window before.
        #[serde(with = "As::<Estimated>")]
        tokens_before: f64 = operation.tokens_before,
        /// Tokens of the window after.
        #[serde(with = "As::<Estimated>")]
        tokens_after: f64 = operation.tokens_after,
        /// Operation that this one undid.
        inverts: Option<OperationId> = operation.inverts,
        /// Operation that undid this one.
        undone_by: Option<OperationId> = history.undone_by(operation.id).or(*reverted_by),
        /// Change that an undo or a redo is about.
        about: Option<OperationId> = std::iter::successors(operation.inverts, |id| history.operation(*id)?.inverts).last(),
        /// True if it is in force in requests, and is written to the file when the agent program has closed it.
        deferred: bool = operation.state == OperationState::Deferred,
        /// Origin of texts that a local model wrote; null if rules made all.
        written: Option<String> = changes(operation).find(|change| is_written(&change.reason)).map(|change| change.reason.clone()),
        /// The parts of the file that it changed apart from blocks and rows.
        #[serde(skip)]
        only: &'static str = changed_only(operation),
    }
}

fn changes(operation: &Operation) -> impl Iterator<Item = &BlockChange> {
    operation.edits.iter().filter_map(|edit| edit.change.as_ref())
}

fn changed_only(operation: &Operation) -> &'static str {
    match &operation.edits[..] {
        [] => "–",
        edits if edits.iter().all(|edit| !edit.slot.is_sent()) => "file",
        _ => "links",
    }
}

/// The actions of the model in a turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TurnActions {
    pub turn: u32,
    /// Agent, such as `Claude`.
    pub agent: &'static str,
    /// Actions in force, in words; empty if there are none.
    pub text: String,
    /// Number of commands that wait for the user.
    pub waiting: usize,
}

impl TurnActions {
    /// Returns the actions of each turn, the newest first. Rejected and undone proposals are not counted.
    pub fn collect(agent: &'static str, proposals: &[Proposal], history: &History) -> Vec<TurnActions> {
        let mut turns: Vec<u32> = proposals.iter().map(|proposal| proposal.turn).collect();
        turns.sort_unstable();
        turns.dedup();
        let of_turn = |turn: u32| {
            let own = proposals.iter().filter(move |proposal| proposal.turn == turn);
            let waiting = own.clone().filter(|proposal| proposal.status == ProposalStatus::Waiting).count();
            let in_force = |proposal: &&Proposal| {
                proposal.status == ProposalStatus::Done
                    && proposal.operation.is_none_or(|operation| history.undone_by(operation).is_none())
            };
            let mut actions: Vec<(Verb, usize)> = Vec::new();
            for proposal in own.filter(in_force) {
                let Some(verb) = proposal.verb() else { continue };
                match actions.iter_mut().find(|(known, _)| *known == verb) {
                    Some((_, count)) => *count += proposal.count.max(1) as usize,
                    None => actions.push((verb, proposal.count.max(1) as usize)),
                }
            }
            TurnActions { turn, agent, text: in_words(agent, &actions), waiting }
        };
        let turns = turns.into_iter().rev().map(of_turn);
        turns.filter(|actions| !actions.text.is_empty() || actions.waiting > 0).collect()
    }
}

/// Formats actions: `Claude archived 3 blocks and expanded 1`.
fn in_words(agent: &str, actions: &[(Verb, usize)]) -> String {
    let mut text = String::new();
    let mut counted = false;
    for (place, (verb, count)) in actions.iter().enumerate() {
        text.push_str(match place {
            0 => agent,
            _ if place + 1 == actions.len() => " and",
            _ => ",",
        });
        let things = match verb {
            Verb::Create => plural(*count, "note"),
            Verb::Housekeeping => plural(*count, "header"),
            _ if counted => count.to_string(),
            _ => plural(*count, "block"),
        };
        counted |= !matches!(verb, Verb::Create | Verb::Housekeeping);
        text.push_str(&format!(" {} {things}", verb.past()));
    }
    text
}

/// The operation log of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LogReport {
    /// Operations, the newest first.
    pub operations: Vec<LogRow>,
    /// Snapshots, the oldest first.
    pub snapshots: Vec<Snapshot>,
    /// Actions of the model by turn, the newest first.
    pub turns: Vec<TurnActions>,
}

const COLUMNS: [Column; 5] = [right("#"), left("WHEN"), right("CHANGED"), left("TOKENS"), left("COMMAND")];

impl Report for LogReport {
    const SCHEMA: &str = "aperture.log/2";

    fn text(&self, style: &Style) -> String {
        let asked = format_turns(&self.turns);
        if self.operations.is_empty() {
            return if asked.is_empty() { "no operations on this session\n".to_owned() } else { asked };
        }
        let row = |row: &LogRow| {
            let names: Vec<&str> = self
                .snapshots
                .iter()
                .filter(|snapshot| snapshot.operation == row.id)
                .map(|snapshot| snapshot.name.as_str())
                .collect();
            let about = row.about.map(|id| format!(" (of {id})")).unwrap_or_default();
            let about = about + &row.written.as_ref().map(|written| format!(" ({written})")).unwrap_or_default();
            let by = match (row.undone_by, row.kind) {
                (None, _) if row.deferred => " (deferred)".to_owned(),
                (None, _) => String::new(),
                (Some(by), OperationKind::Undo) => format!(" (redone by {by})"),
                (Some(by), _) => format!(" (undone by {by})"),
            };
            let names = if names.is_empty() { String::new() } else { format!(" [{}]", names.join(", ")) };
            let room = style.width.saturating_sub(OTHERS + about.width() + by.width() + names.width());
            let command = format!("{}{about}{by}", clip(&row.command, room.max(NARROWEST)));
            let command = if by.is_empty() { command } else { style.paint(Paint::Dim, &command) };
            let command = format!("{command}{}", style.paint(Paint::Good, &printable(&names)));
            // Their basis is not recorded.
            let tokens = |count: f64| tokens(TokenCount::estimated(count));
            let (before, after) = (tokens(row.tokens_before), tokens(row.tokens_after));
            let tokens = if before == after { before } else { format!("{before} → {after}") };
            vec![style.paint(Paint::Name, &row.id.to_string()), age(style.now, row.time), changed(row), tokens, command]
        };
        spaced(style, &COLUMNS, self.operations.iter().map(row).collect()) + &asked
    }
}

fn format_turns(turns: &[TurnActions]) -> String {
    let line = |actions: &TurnActions| {
        let waiting = (actions.waiting > 0).then(|| format!("{} pending in aperture inbox", actions.waiting));
        let parts: Vec<&str> = [Some(actions.text.as_str()), waiting.as_deref()].into_iter().flatten().collect();
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("turn {}: {}\n", actions.turn, parts.join("; "))
    };
    turns.iter().map(line).collect()
}

/// Describes the change of an operation: blocks, else added or removed rows, else only the file, the order of rows, or nothing.
fn changed(row: &LogRow) -> String {
    match (row.blocks.len(), row.rows_added, row.rows_removed) {
        (0, 0, 0) => row.only.to_owned(),
        (0, 0, gone) => format!("−{}", plural(gone, "row")),
        (0, added, _) => format!("+{}", plural(added, "row")),
        (blocks, ..) => plural(blocks, "block"),
    }
}
