use super::Arguments;
use super::report::{ObeyReport, ObeyedCommand, TellReport};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::change::pipeline::takes_effect;
use crate::commands::live::pending::LiveChanges;
use crate::commands::model::proposing::{ModelText, Written, decide, follow, outcome, shown, texts};
use crate::commands::model::reported;
use crate::engine::Spent;
use crate::model::{CommandPlace, OperationId, Proposal, ProposalNumber, ProposalStatus, Verb, request_id};
use crate::output::ChangeReport;
use crate::store::{NewProposal, Outcome, SessionKey, Store, StoreError};
use crate::workspace::Workspace;
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::Path;

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
        let error = anyhow!("the proxy executes the commands of this session, each with its answer");
        return Err(CommandError::new(ErrorKind::Refused, error).hint("to list those that wait for you: aperture inbox"));
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
    let asks = message.is_none_or(reported::has_commands);
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
        let blocks = &decision.blocks();
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

/// Returns the report of a dry run; writes nothing.
fn dry_run(env: &Env) -> Result<ObeyReport, CommandError> {
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
    let told = take_answers(env).unwrap_or_else(|error| {
        env.note(&format!("the model does not receive the results of its commands: {:#}", error.source));
        String::new()
    });
    Some(told).filter(|told| !told.is_empty())
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
        let command = crate::output::clip(&env.gate.masked(&shown(&proposal.command)), 80);
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
