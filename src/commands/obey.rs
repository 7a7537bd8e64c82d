//! `aperture obey`: executes the commands in the model's messages.

use crate::app::{CommandError, Env, refusal};
use crate::commands::change::pipeline::takes_effect;
use crate::commands::live::pending::LiveChanges;
use crate::commands::model::proposing::{ModelText, Written, decide, follow, outcome, shown, texts};
use crate::commands::model::reported;
use crate::engine::Spent;
use crate::engine::model_commands::find;
use crate::model::{CommandPlace, OperationId, Proposal, ProposalNumber, ProposalStatus, Verb, request_id};
use crate::output::{ChangeReport, Paint, Report, Style, clip, padded, plural, printable};
use crate::store::{NewProposal, Outcome, SessionKey, Store, StoreError};
use crate::workspace::Workspace;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("obey"))]
pub struct Arguments {
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print the results that the model has not received yet, each once
    #[arg(long, conflicts_with = "dry_run")]
    pub tell: bool,
}

/// The maximum number of new commands from the file that one run executes.
const MOST_COMMANDS: usize = 100;
/// The maximum size of the answers in one prompt, in bytes: a client writes longer hook output to a file instead.
const MOST_TOLD: usize = 8_000;

/// Executes the commands, does a dry run, or prints the answers.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.tell {
        return env.print(&TellReport { text: take_answers(env)? });
    }
    if request_id(&env.find(None)?.path).is_some() {
        return Err(refusal!("the proxy executes the commands of this session, each with its answer")
            .hint("to list those that wait for you: aperture inbox"));
    }
    let report = if arguments.dry_run { dry_run(env)? } else { obey(env)? };
    env.print(&report)
}

/// Executes the commands that the model wrote since the last run. Each command is executed once, regardless of the number of runs;
/// commands that need the user's approval wait. A client may have the session open.
/// Errors: the session cannot be read, or the store cannot be written. No further command is executed then.
pub fn obey(env: &Env) -> Result<ObeyReport, CommandError> {
    obey_with(env, None)
}

/// Executes the commands at the end of a turn. The client reports the last message; if its row is not in the file yet, waits for it
/// for a moment. `path` is the session file.
pub fn obey_turn(env: &Env, path: &Path, message: Option<&str>) -> Result<(), CommandError> {
    let asks = message.is_none_or(|message| !find(message).is_empty());
    let known_bytes = env.disk.identify(path).map_or(0, |file| file.bytes);
    if asks {
        reported::wait_for_row(env, path, message);
    }
    let has_file = env.disk.identify(path).is_ok_and(|file| file.bytes > 0);
    match message.filter(|_| asks) {
        Some(message) if !has_file => reported::record_without_file(env, path, message),
        message if has_file => obey_with(env, message.map(|message| (message, known_bytes))).map(drop),
        _ => Ok(()),
    }
}

/// Registers a session that begins or is resumed, so that the commands of its next turn are found by any later run.
pub fn register(env: &Env, path: &Path, workspace: Option<&Workspace<'_>>, in_turn: bool) -> Result<(), CommandError> {
    let Some((found, path)) = reported::announced(env, path) else { return Ok(()) };
    let store = env.store()?;
    let _lock = env.lock(&path.join("obey"))?;
    let session = store.register(found.provider.name(), &found.location.id, &path, &found.location.project)?;
    if store.obeyed_until(session)?.is_none() {
        let turns = workspace.map_or(0, |workspace| workspace.reading.last_turn());
        store.obeyed(session, turns + u32::from(!in_turn))?;
    }
    Ok(())
}

/// Executes the new commands. `message` is reported by the client, with the length of the file at that time.
fn obey_with(env: &Env, message: Option<(&str, u64)>) -> Result<ObeyReport, CommandError> {
    let found = env.find(None)?;
    let env = &env.for_model_on(&found, &env.command)?;
    let path = env.disk.resolve(&found.path)?;
    if message.is_none()
        && let Some(report) = report_without_commands(env, &path)?
    {
        return Ok(report);
    }
    let store = env.store()?;
    // A separate lock, because each change takes the lock of the session.
    let _lock = env.lock(&path.join("obey"))?;
    // The full analysis is needed only to decide about a command.
    let mut workspace = env.read_as_wanted(found.clone(), &|_| false)?;
    let location = &workspace.location;
    let session = store.register(workspace.provider.name(), &location.id, &path, &location.project)?;
    take_up(&store, session)?;
    let last = workspace.reading.last_turn();
    let since = store.obeyed_until(session)?.unwrap_or(last);
    let texts = texts(&workspace, since)?;
    for located in reported::locate(&store, session, &workspace.reading.session, &texts)? {
        store.locate_message(located.message, located.row, &located.places)?;
    }
    let new = match message {
        Some(message) => reported::record(env, &store, session, &workspace.reading.session, last, &texts, message)?,
        None => None,
    };
    // Commands recorded by an earlier run, then those in the file, then those just reported: the order in which they were written.
    let (recorded, reported): (Vec<_>, Vec<_>) = reported::undecided(&store, session, &texts)?
        .into_iter()
        .partition(|(proposal, _)| new.is_none() || proposal.message != new);
    let numbered = |(proposal, written): (Proposal, Written)| (Some(proposal.number), written);
    let mut asked: Vec<(Option<ProposalNumber>, Written)> = recorded.into_iter().map(numbered).collect();
    asked.extend(unknown(&texts, &|place| store.is_proposed(place))?.into_iter().map(|written| (None, written)));
    asked.extend(reported.into_iter().map(numbered));
    if !asked.is_empty() {
        workspace = env.read(found.clone())?;
    }
    let mut commands = Vec::new();
    for (number, written) in asked {
        let before = spent(&store, session, written.turn)?;
        let decision = decide(env, &workspace, &written.request, written.block, before);
        let (Written { place, turn, text, .. }, now) = (&written, env.style.now.as_millisecond());
        let blocks = &decision.blocks(&workspace);
        let number = match number {
            Some(number) => store.begin_recorded(number, blocks)?.then_some(number),
            None => {
                let proposal = NewProposal { place: *place, turn: *turn, command: text, blocks, request: None };
                store.propose(session, &proposal, now)?
            }
        };
        let Some(number) = number else { continue };
        let (outcome, change) = follow(env, &path, &decision, text, false);
        store.conclude(number, &outcome)?;
        if change.is_some() {
            workspace = env.read(found.clone())?;
        }
        commands.push(obeyed(Some(number), &written, outcome, change));
    }
    store.obeyed(session, since.max(last))?;
    Ok(report(&workspace, false, commands))
}

/// Returns the commands in texts that are not in the store yet.
fn unknown<E>(texts: &[ModelText], is_known: &dyn Fn(CommandPlace) -> Result<bool, E>) -> Result<Vec<Written>, E> {
    let mut unknown = Vec::new();
    for written in texts.iter().flat_map(ModelText::commands) {
        if unknown.len() < MOST_COMMANDS && !is_known(written.place)? {
            unknown.push(written);
        }
    }
    Ok(unknown)
}

/// Returns an empty report if the session has no commands and is not in the store, so that no store is created.
fn report_without_commands(env: &Env, path: &Path) -> Result<Option<ObeyReport>, CommandError> {
    let known = env.existing_store()?.map_or(Ok(None), |store| store.find(path))?;
    if known.is_some() {
        return Ok(None);
    }
    let workspace = env.read_as_wanted(env.find(None)?, &|_| false)?;
    let texts = texts(&workspace, workspace.reading.last_turn())?;
    let nothing = texts.iter().all(|text| text.commands().is_empty());
    Ok(nothing.then(|| report(&workspace, false, Vec::new())))
}

/// Hands commands of an interrupted run to the user, because it is unknown if they were executed.
fn take_up(store: &Store, session: SessionKey) -> Result<(), CommandError> {
    for left in store.proposals(session)?.into_iter().filter(|proposal| proposal.status == ProposalStatus::Begun) {
        let answer = "aperture was interrupted during this command; to see if it was executed: aperture log";
        store.conclude(left.number, &outcome(ProposalStatus::Waiting, answer))?;
    }
    Ok(())
}

/// Returns the executed commands of a turn.
pub fn spent(store: &Store, session: SessionKey, turn: u32) -> Result<Spent, CommandError> {
    let mut spent = Spent::default();
    let done = |proposal: &Proposal| proposal.turn == turn && proposal.status == ProposalStatus::Done;
    for proposal in store.proposals(session)?.into_iter().filter(done) {
        let is_recall = proposal.verb() == Some(Verb::Recall);
        spent.add(is_recall.then_some(&proposal.answer));
    }
    Ok(spent)
}

fn dry_run(env: &Env) -> Result<ObeyReport, CommandError> {
    let env = &env.for_model_on(&env.find(None)?, &env.command)?;
    let workspace = env.open(None)?;
    let path = env.disk.resolve(&workspace.path)?;
    let store = env.existing_store()?;
    let mut since = workspace.reading.last_turn();
    let session = store.as_ref().map_or(Ok(None), |store| store.find(&path))?;
    if let (Some(store), Some(session)) = (&store, &session) {
        since = store.obeyed_until(session.key)?.unwrap_or(since);
    }
    let texts = texts(&workspace, since)?;
    let (mut asked, mut known) = (Vec::new(), BTreeSet::new());
    if let (Some(store), Some(session)) = (&store, &session) {
        asked.extend(reported::undecided(store, session.key, &texts)?.into_iter().map(|(_, written)| written));
        let located = reported::locate(store, session.key, &workspace.reading.session, &texts)?;
        known.extend(located.into_iter().flat_map(|located| located.places).map(|(_, place)| place));
    }
    asked.extend(unknown(&texts, &|place| match &store {
        _ if known.contains(&place) => Ok(true),
        Some(store) => store.is_proposed(place),
        None => Ok(false),
    })?);
    let (mut commands, mut before) = (Vec::new(), Spent::default());
    for written in asked {
        let decision = decide(env, &workspace, &written.request, written.block, before);
        let (outcome, change) = follow(env, &path, &decision, &written.text, true);
        if outcome.status == ProposalStatus::Done {
            before.add(decision.is_recall().then_some(&outcome.answer));
        }
        commands.push(obeyed(None, &written, outcome, change));
    }
    Ok(report(&workspace, true, commands))
}

fn obeyed(number: Option<ProposalNumber>, written: &Written, outcome: Outcome, change: Option<ChangeReport>) -> ObeyedCommand {
    let Outcome { status, answer, .. } = outcome;
    ObeyedCommand { number, turn: written.turn, command: shown(&written.text), status, answer, change }
}

fn report(workspace: &Workspace<'_>, dry_run: bool, commands: Vec<ObeyedCommand>) -> ObeyReport {
    ObeyReport { session: workspace.location.id.clone(), agent: workspace.provider.agent(), dry_run, commands }
}

/// Returns the answers to the model's commands for its next prompt, each answer once; `None` if there are none. If the store cannot
/// be used, a note on standard error reports it.
pub fn answers(env: &Env) -> Option<String> {
    let told = env.or_note(take_answers(env), "the model does not receive the results of its commands");
    told.filter(|told| !told.is_empty())
}

fn take_answers(env: &Env) -> Result<String, CommandError> {
    with_answers(env, |store, session, line| store.take_answers(session, MOST_TOLD, line))
}

/// Returns the answers to the model's commands that it has not received, and their numbers.
pub fn untold(env: &Env) -> Result<(String, Vec<ProposalNumber>), CommandError> {
    with_answers(env, |store, session, line| store.answers(session, MOST_TOLD, line))
}

/// Reads from the store of a session with the line of each answer.
fn with_answers<T: Default>(
    env: &Env,
    read: impl FnOnce(&Store, SessionKey, &dyn Fn(&Proposal) -> String) -> Result<T, StoreError>,
) -> Result<T, CommandError> {
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    let Some(store) = env.existing_store()? else { return Ok(T::default()) };
    let Some(session) = store.find(&path)? else { return Ok(T::default()) };
    let live = LiveChanges::read(env, &found, None)?;
    let history = env.history_of(&found)?;
    let pending: Vec<OperationId> = live.pending(&history).iter().map(|operation| operation.id).collect();
    let learned = std::cell::OnceCell::new();
    let line = |proposal: &Proposal| {
        // Mask before truncating: a part of a credential is not recognized.
        learned.get_or_init(|| env.learn(&found));
        let command = clip(&env.gate.masked(&shown(&proposal.command)), 80);
        let became = match proposal.status {
            ProposalStatus::Recorded | ProposalStatus::Begun | ProposalStatus::Done => "",
            ProposalStatus::Waiting => " needs the user's approval",
            ProposalStatus::Denied => " is denied",
            ProposalStatus::Refused => " was not executed",
        };
        let mut answer = proposal.answer.trim_end().to_owned();
        // The client may have loaded the change since the command was executed.
        if proposal.operation.is_some_and(|operation| pending.contains(&operation)) {
            let end = answer.find('\n').unwrap_or(answer.len());
            let note = format!(" ({}; until then you still receive the content as before)", takes_effect(&found.location.id));
            answer.insert_str(end, &note);
        }
        format!("aperture: {command}{became}: {answer}\n")
    };
    Ok(read(&store, session.key, &line)?)
}

const COMMAND_COLUMNS: usize = 40;

/// Columns before a command.
const MARGIN: usize = 16;

/// A command of the model and its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObeyedCommand {
    /// Number among the proposals; null for a dry run.
    pub number: Option<ProposalNumber>,
    /// Turn in which it was written.
    pub turn: u32,
    /// Command as written, on one line, with credentials masked.
    pub command: String,
    pub status: ProposalStatus,
    /// Message to the model about the result.
    pub answer: String,
    /// Change of the session; null if it was not executed or changed nothing.
    pub change: Option<ChangeReport>,
}

/// The results of the commands that the model wrote since the last run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObeyReport {
    pub session: String,
    /// Agent that wrote them, such as `Claude`.
    pub agent: &'static str,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Commands in the order in which they were written.
    pub commands: Vec<ObeyedCommand>,
}

impl Report for ObeyReport {
    const SCHEMA: &str = "aperture.obey/2";

    fn text(&self, style: &Style) -> String {
        if self.commands.is_empty() {
            return "no commands found\n".to_owned();
        }
        let heading = format!("{} wrote {}", self.agent, plural(self.commands.len(), "command"));
        let mut text = style.paint(Paint::Heading, &heading) + "\n";
        let widest = self.commands.iter().map(|command| clip(&command.command, COMMAND_COLUMNS).width()).max();
        let widest = widest.unwrap_or_default();
        for command in &self.commands {
            let (paint, word) = match command.status {
                ProposalStatus::Done if self.dry_run => (Paint::Good, "would do"),
                ProposalStatus::Begun | ProposalStatus::Done => (Paint::Good, "done"),
                ProposalStatus::Recorded | ProposalStatus::Waiting => (Paint::Warning, "pending"),
                ProposalStatus::Denied => (Paint::Bad, "denied"),
                ProposalStatus::Refused => (Paint::Bad, "refused"),
            };
            let number = command.number.map(|number| number.to_string()).unwrap_or_default();
            let name = padded(&clip(&command.command, COMMAND_COLUMNS), widest);
            let answer = command.answer.lines().next().unwrap_or_default();
            let state = style.paint(paint, &padded(word, 8));
            let room = style.width.saturating_sub(widest + MARGIN + 2);
            let gap = if answer.width() <= room { "  ".to_owned() } else { format!("\n{}", " ".repeat(MARGIN + 2)) };
            let name = if answer.width() <= room { name } else { name.trim_end().to_owned() };
            let answer = clip(answer, room.max(style.width.saturating_sub(MARGIN + 2)));
            text.push_str(&format!("{number:>4}  {state}  {name}{gap}{answer}\n"));
        }
        let mut notes: Vec<&String> =
            self.commands.iter().filter_map(|command| command.change.as_ref()).flat_map(|change| &change.notes).collect();
        notes.dedup();
        for note in notes {
            text.push_str(&format!("{note}\n"));
        }
        if let Some(first) = self.commands.iter().find(|command| command.status == ProposalStatus::Waiting) {
            // In a dry run it has no number yet.
            let approve = first.number.map(|number| format!("; to execute one: aperture approve {number}")).unwrap_or_default();
            text.push_str(&style.line(Paint::Dim, &format!("to list pending commands: aperture inbox --all{approve}")));
        }
        text
    }
}

/// The message to the model at its next prompt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TellReport {
    /// Text; empty if there is no message.
    pub text: String,
}

impl Report for TellReport {
    const SCHEMA: &str = "aperture.tell/1";

    fn text(&self, _: &Style) -> String {
        printable(&self.text).into_owned()
    }
}
