//! `aperture obey`: what the model asked for in its own text.

use super::proposing::{Written, decide, follow, outcome, shown, written};
use crate::cli::{CommandError, Env};
use crate::model::{Proposal, ProposalNumber, ProposalStatus};
use crate::output::{ChangeReport, ObeyReport, ObeyedCommand, TellReport};
use crate::store::{Outcome, SessionKey, Store};
use crate::workspace::Workspace;
use std::path::Path;

/// Bytes of what the model is told at one prompt: a client that is given more by a hook keeps it in a file instead.
const MOST_TOLD: usize = 8_000;

/// Arguments of `obey`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture obey --dry-run      what the model asked for, and what would come of it
  aperture obey                do it, as far as the settings allow
  aperture obey --tell         what the model is to be told, once

The model writes @archive(3..9) or @pin(12) in its answer. Each command counts once, and
only from the turn on in which it was first looked. What removes something waits in
aperture inbox: aperture help settings, [model]. All of it is in aperture log, and
aperture undo takes it back.")]
pub struct Arguments {
    /// Show what would be done; write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Print what the model has not been told yet, and nothing twice
    #[arg(long, conflicts_with = "dry_run")]
    tell: bool,
}

/// Obeys, looks ahead, or tells.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.tell {
        return env.print(&TellReport { text: told(env)? });
    }
    let report = if arguments.dry_run { look(env)? } else { obey(env)? };
    env.print(&report)
}

/// Carries out what the model asked for since it was last looked, each command once, whoever looks and however often; what
/// needs the user's approval waits. A client may have the session open.
///
/// # Errors
///
/// The session cannot be read, or the store not be written: then nothing more is carried out.
pub fn obey(env: &Env) -> Result<ObeyReport, CommandError> {
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    if let Some(report) = nothing(env, &path)? {
        return Ok(report);
    }
    let store = env.store()?;
    // A lock of its own: each change takes that of the session.
    let _lock = env.lock(&path.join("obey"))?;
    // All that can be decided is only needed to decide about a command.
    let mut workspace = env.read_as_wanted(found.clone(), &|_| false)?;
    let location = &workspace.location;
    let session = store.register(workspace.provider.name(), &location.id, &path, &location.project)?;
    take_up(&store, session)?;
    let last = workspace.reading.turns.len() as u32;
    let mut commands = Vec::new();
    let asked = written(&workspace, store.obeyed_until(session)?.unwrap_or(last))?;
    if !asked.is_empty() {
        workspace = env.read(found.clone())?;
    }
    for written in asked {
        if store.is_proposed(written.place)? {
            continue;
        }
        let before = carried_out(&store, session, written.turn)?;
        let decision = decide(env, &workspace, &written.command, written.block, before);
        let (Written { place, turn, text, .. }, now) = (&written, env.style.now.as_millisecond());
        let Some(number) = store.propose(session, *place, *turn, text, &decision.blocks(), now)? else { continue };
        let (outcome, change) = follow(env, &path, &decision, text, false);
        store.conclude(number, &outcome)?;
        if change.is_some() {
            workspace = env.read(found.clone())?;
        }
        commands.push(obeyed(Some(number), &written, outcome, change));
    }
    store.obeyed(session, last)?;
    Ok(report(&workspace, false, commands))
}

/// The report of a session in which nothing was ever asked for, and nothing is asked for now: no store is made for it.
fn nothing(env: &Env, path: &Path) -> Result<Option<ObeyReport>, CommandError> {
    let known = env.existing_store()?.map_or(Ok(None), |store| store.find(path))?;
    if known.is_some() {
        return Ok(None);
    }
    let workspace = env.read_as_wanted(env.find(None)?, &|_| false)?;
    let asked = written(&workspace, workspace.reading.turns.len() as u32)?;
    Ok(asked.is_empty().then(|| report(&workspace, false, Vec::new())))
}

/// What an interrupted run left: whether it was done is not known, so the user decides.
fn take_up(store: &Store, session: SessionKey) -> Result<(), CommandError> {
    for left in store.proposals(session)?.into_iter().filter(|proposal| proposal.status == ProposalStatus::Begun) {
        let answer = "aperture was interrupted while it did this: aperture log shows whether it is done";
        store.conclude(left.number, &outcome(ProposalStatus::Waiting, answer))?;
    }
    Ok(())
}

/// How many commands of a turn were carried out.
fn carried_out(store: &Store, session: SessionKey, turn: u32) -> Result<usize, CommandError> {
    let done = |proposal: &&Proposal| proposal.turn == turn && proposal.status == ProposalStatus::Done;
    Ok(store.proposals(session)?.iter().filter(done).count())
}

/// What [`obey`] would do; nothing is written.
fn look(env: &Env) -> Result<ObeyReport, CommandError> {
    let workspace = env.open(None)?;
    let path = env.disk.resolve(&workspace.path)?;
    let store = env.existing_store()?;
    let mut since = workspace.reading.turns.len() as u32;
    let mut commands = Vec::new();
    if let Some(store) = &store
        && let Some(session) = store.find(&path)?
    {
        since = store.obeyed_until(session.key)?.unwrap_or(since);
    }
    for written in written(&workspace, since)? {
        if store.as_ref().map_or(Ok(false), |store| store.is_proposed(written.place))? {
            continue;
        }
        let before = commands.iter().filter(|command: &&ObeyedCommand| command.status == ProposalStatus::Done).count();
        let decision = decide(env, &workspace, &written.command, written.block, before);
        let (outcome, change) = follow(env, &path, &decision, &written.text, true);
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

/// What the model is to be told at its next prompt about what it asked for, each answer once; none where there is nothing.
/// A store that cannot be used is said on standard error.
pub fn answers(env: &Env) -> Option<String> {
    let told = told(env).unwrap_or_else(|error| {
        env.note(&format!("the model is not told what came of its commands: {:#}", error.source));
        String::new()
    });
    Some(told).filter(|told| !told.is_empty())
}

fn told(env: &Env) -> Result<String, CommandError> {
    let found = env.find(None)?;
    let path = env.disk.resolve(&found.path)?;
    let Some(store) = env.existing_store()? else { return Ok(String::new()) };
    let Some(session) = store.find(&path)? else { return Ok(String::new()) };
    let learned = std::cell::OnceCell::new();
    let line = |proposal: &Proposal| {
        // Before anything is cut: half a credential is not known as one.
        learned.get_or_init(|| env.learn(&found));
        let command = crate::output::clip(&env.gate.masked(&shown(&proposal.command)), 80);
        let became = match proposal.status {
            ProposalStatus::Begun | ProposalStatus::Done => "",
            ProposalStatus::Waiting => " waits for the user's approval",
            ProposalStatus::Denied => " is denied",
            ProposalStatus::Refused => " was not carried out",
        };
        format!("aperture: {command}{became}: {}\n", proposal.answer.trim_end())
    };
    Ok(store.take_answers(session.key, MOST_TOLD, &line)?)
}
