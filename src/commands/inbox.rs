//! `aperture inbox`, `approve` and `deny`: the model commands that await the user's approval.

use crate::app::{CommandError, Env, refusal};
use crate::commands::change::pipeline::{is_live, open_in_client};
use crate::commands::model::proposing::{Decision, blocks_at, follow, outcome, shown};
use crate::commands::obey::{ObeyReport, ObeyedCommand};
use crate::commands::{ModelAction, Request};
use crate::engine::model_commands::read;
use crate::model::{As, Proposal, ProposalNumber, ProposalStatus, Time};
use crate::output::{ChangeReport, Paint, Report, Style, age, amount, clip, padded};
use crate::store::{Outcome, Store, StoredSession};
use crate::text::shell::quoted_word;
use crate::workspace::{self, Found};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("inbox"))]
pub struct Arguments {
    /// In every session on this machine
    #[arg(long)]
    pub all: bool,
}

/// The selected proposals.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[group(id = "which", required = true, multiple = false)]
pub struct ProposalSelection {
    /// Numbers, as listed by aperture inbox
    #[arg(group = "which", value_name = "NUMBER")]
    pub numbers: Vec<ProposalNumber>,
    /// All pending ones of this session
    #[arg(long = "pending", alias = "all", group = "which")]
    pub all: bool,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("approve"))]
pub struct ApproveArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: ProposalSelection,
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also change a session that a client has open; type /resume in the client afterwards
    #[arg(long)]
    pub live: bool,
}

/// The reason for the model, if the user states none.
pub const REJECTED: &str = "rejected by the user";

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture deny 3 --reason 'the tests still need it'
  aperture deny --pending

The model receives the answer with the next prompt.")]
pub struct DenyArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: ProposalSelection,
    /// Reason, for the model
    #[arg(long, value_name = "TEXT", default_value = REJECTED)]
    pub reason: String,
}

/// Lists the pending proposals.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let (mut proposals, mut live) = (Vec::new(), false);
    if let Some(store) = env.existing_store()? {
        let sessions = if arguments.all { store.sessions()? } else { here(env, &store)?.into_iter().collect() };
        for session in sessions {
            for proposal in waiting(&store, &session)? {
                proposals.push(row(env, &session, &proposal));
                live |= is_live(env, &workspace::found(&session)?);
            }
        }
    }
    env.print(&InboxReport { proposals, live })
}

/// Returns the number of pending proposals of the selected session; 0 if it cannot be determined.
pub fn count(env: &Env) -> usize {
    waiting_here(env).map_or(0, |proposals| proposals.len())
}

/// Returns the pending proposals of the selected session: their numbers and commands, with credentials masked.
/// Errors: the store cannot be read, or there is no session.
pub fn waiting_here(env: &Env) -> Result<Vec<(ProposalNumber, String)>, CommandError> {
    waiting_for(env, &env.find(None)?)
}

/// Returns the pending proposals of a session, as [`waiting_here`].
/// Errors: the store cannot be read.
pub fn waiting_for(env: &Env, found: &Found) -> Result<Vec<(ProposalNumber, String)>, CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(Vec::new()) };
    let Some(session) = store.find(&env.disk.resolve(&found.path)?)? else { return Ok(Vec::new()) };
    Ok(waiting(&store, &session)?.iter().map(|proposal| (proposal.number, shown(&proposal.command))).collect())
}

/// Executes the selected proposals.
pub fn run_approve(env: &Env, arguments: &ApproveArguments) -> Result<(), CommandError> {
    let mut env = env.clone();
    env.is_approved = true;
    let env = &env;
    let check = |session: &StoredSession, proposal: &Proposal| match arguments.live || arguments.dry_run {
        true => Ok(()),
        false => refuse_open_session(env, session, proposal),
    };
    decide(env, &arguments.which, arguments.dry_run, &check, &|store, session, proposal| {
        if arguments.dry_run {
            return Ok(follow(env, &session.path, &approved_decision(env, session, proposal), &proposal.command, true));
        }
        // The lock prevents another run from treating this proposal as interrupted while it is executed.
        let _lock = env.lock(&session.path.join("obey"))?;
        if !store.begin(proposal.number)? {
            return Err(decided(session, proposal));
        }
        let (outcome, change) = follow(env, &session.path, &approved_decision(env, session, proposal), &proposal.command, false);
        store.conclude(proposal.number, &outcome)?;
        Ok((outcome, change))
    })
}

/// Refuses a proposal that would change the file of a session that a client has open. It stays pending.
fn refuse_open_session(env: &Env, session: &StoredSession, proposal: &Proposal) -> Result<(), CommandError> {
    let found = workspace::found(session)?;
    if !is_live(env, &found) {
        return Ok(());
    }
    let (_, change) = follow(env, &session.path, &approved_decision(env, session, proposal), &proposal.command, true);
    if change.is_some_and(|change| change.edits > 0) {
        let refused = open_in_client(&found);
        return Err(CommandError { source: refused.source.context(format!("cannot approve {}", proposal.number)), ..refused });
    }
    Ok(())
}

/// Rejects the selected proposals.
pub fn run_deny(env: &Env, arguments: &DenyArguments) -> Result<(), CommandError> {
    decide(env, &arguments.which, false, &|_, _| Ok(()), &|store, session, proposal| {
        if !store.begin(proposal.number)? {
            return Err(decided(session, proposal));
        }
        let reason = Some(arguments.reason.trim()).filter(|reason| !reason.is_empty()).unwrap_or(REJECTED);
        let outcome = outcome(ProposalStatus::Denied, reason);
        store.conclude(proposal.number, &outcome)?;
        Ok((outcome, None))
    })
}

type Deciding<'a> = &'a dyn Fn(&Store, &StoredSession, &Proposal) -> Result<(Outcome, Option<ChangeReport>), CommandError>;

/// Applies a decision to each selected proposal, after checking that all of them are pending and that `check` refuses none.
fn decide(
    env: &Env,
    which: &ProposalSelection,
    dry_run: bool,
    check: &dyn Fn(&StoredSession, &Proposal) -> Result<(), CommandError>,
    one: Deciding<'_>,
) -> Result<(), CommandError> {
    let nothing = || refusal!("no pending commands");
    let store = env.existing_store()?.ok_or_else(nothing)?;
    let mut meant: Vec<(StoredSession, Proposal)> = Vec::new();
    if which.all
        && let Some(session) = here(env, &store)?
    {
        meant.extend(waiting(&store, &session)?.into_iter().map(|proposal| (session.clone(), proposal)));
    }
    for number in &which.numbers {
        let (session, proposal) = store
            .proposal(*number)?
            .ok_or_else(|| refusal!("there is no proposal {number}").hint("to list pending commands: aperture inbox --all"))?;
        if proposal.status != ProposalStatus::Waiting {
            return Err(decided(&session, &proposal));
        }
        meant.push((session, proposal));
    }
    if meant.is_empty() {
        return Err(nothing());
    }
    meant.iter().try_for_each(|(session, proposal)| check(session, proposal))?;
    let mut report = ObeyReport { session: String::new(), agent: "", dry_run, commands: Vec::new() };
    for (session, proposal) in meant {
        env.learn(&workspace::found(&session)?);
        let (Outcome { status, answer, .. }, change) = one(&store, &session, &proposal)?;
        report.agent = workspace::found(&session)?.provider.agent();
        report.session = session.session;
        let (number, turn, command) = (Some(proposal.number), proposal.turn, shown(&proposal.command));
        report.commands.push(ObeyedCommand { number, turn, command, status, answer, change });
    }
    let failed =
        report.commands.iter().any(|command| matches!(command.status, ProposalStatus::Refused | ProposalStatus::Waiting));
    env.print(&report)?;
    if failed { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns the error for a proposal that is not pending, with what became of it.
fn decided(session: &StoredSession, proposal: &Proposal) -> CommandError {
    let name = quoted_word(&session.session);
    let reason = proposal.answer.lines().next().unwrap_or_default().trim();
    let status = match proposal.status {
        ProposalStatus::Done => "was executed",
        ProposalStatus::Denied => "was rejected",
        ProposalStatus::Refused => "was refused",
        ProposalStatus::Recorded | ProposalStatus::Begun | ProposalStatus::Waiting => "is being executed",
    };
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    refusal!("proposal {} {status}{reason}", proposal.number).hint(format!("to list the operations: aperture log -s {name}"))
}

fn here(env: &Env, store: &Store) -> Result<Option<StoredSession>, CommandError> {
    Ok(store.find(&env.disk.resolve(&env.find(None)?.path)?)?)
}

fn waiting(store: &Store, session: &StoredSession) -> Result<Vec<Proposal>, CommandError> {
    let mut proposals = store.proposals(session.key)?;
    proposals.retain(|proposal| proposal.status == ProposalStatus::Waiting);
    Ok(proposals)
}

/// Returns the decision for an approved proposal: its request, on the blocks that it named when it was made, whatever their numbers are
/// now. A command in the text of the model is parsed again.
fn approved_decision(env: &Env, session: &StoredSession, proposal: &Proposal) -> Decision {
    let stored = |json: &String| Some(ModelAction::from_request(&serde_json::from_str::<Request>(json).ok()?)?.1);
    let action = match &proposal.request {
        Some(json) => stored(json),
        None => read(&proposal.command).map(|command| ModelAction::from(&command).in_turn(proposal.turn)),
    };
    let refused = |why: String| Decision::No(ProposalStatus::Refused, why);
    let Some(action) = action else { return refused("this version cannot parse it".to_owned()) };
    if proposal.blocks.is_empty() {
        return Decision::CarryOut(action);
    }
    let workspace = workspace::found(session).map_err(Into::into).and_then(|found| env.read_as_wanted(found, &|_| false));
    match workspace.map(|workspace| blocks_at(&workspace, &proposal.blocks)) {
        Ok(Some(blocks)) => Decision::CarryOut(action.with_blocks(blocks)),
        Ok(None) => refused("a block that it names is no longer in the session".to_owned()),
        Err(error) => refused(error.source.root_cause().to_string()),
    }
}

fn row(env: &Env, session: &StoredSession, proposal: &Proposal) -> InboxRow {
    let (Outcome { status, answer, .. }, change) =
        follow(env, &session.path, &approved_decision(env, session, proposal), &proposal.command, true);
    InboxRow {
        number: proposal.number,
        session: session.session.clone(),
        turn: proposal.turn,
        time: proposal.time,
        command: shown(&proposal.command),
        why: proposal.answer.clone(),
        effect: if status == ProposalStatus::Done { answer } else { format!("can no longer be executed: {answer}") },
        change,
    }
}

/// Maximum number of listed blocks per proposal.
const NAMED: usize = 3;
/// Columns before the text of a proposal.
const MARGIN: usize = 14;

/// A command of the model that waits for the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Proposal")]
pub struct InboxRow {
    /// Number, for `approve` and `deny`.
    pub number: ProposalNumber,
    pub session: String,
    /// Turn in which it was written.
    pub turn: u32,
    /// Time at which it was found.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    /// Command as written, on one line, with credentials masked.
    pub command: String,
    /// Reason for waiting.
    pub why: String,
    /// Effect that it would have now, on one line.
    pub effect: String,
    /// The effect in full; null if it is no longer possible.
    pub change: Option<ChangeReport>,
}

/// The commands of the model that wait for the user.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxReport {
    /// Waiting commands, the oldest first.
    pub proposals: Vec<InboxRow>,
    /// True if a running client has the session of one of them open.
    #[serde(skip)]
    pub live: bool,
}

impl Report for InboxReport {
    const SCHEMA: &str = "aperture.inbox/2";

    fn text(&self, style: &Style) -> String {
        if self.proposals.is_empty() {
            return "no pending commands\n".to_owned();
        }
        let room = style.width.saturating_sub(MARGIN).max(MARGIN);
        let margin = " ".repeat(MARGIN);
        let mut text = String::new();
        for row in &self.proposals {
            let number = style.paint(Paint::Name, &format!("{:>4}", row.number));
            let when = padded(&age(style.now, row.time), 6);
            text.push_str(&format!("{number}  {when}  {}\n", clip(&row.command, room)));
            text.push_str(&format!("{margin}{}\n", clip(&row.effect, room)));
            let changes = row.change.iter().flat_map(|change| &change.changes);
            for change in changes.clone().take(NAMED) {
                let tokens = |value: f64| amount(value.round() as u64);
                let (before, after) = (tokens(change.tokens_before), tokens(change.tokens_after));
                let name = clip(&change.label, room.saturating_sub(28).max(MARGIN));
                text.push_str(&format!("{margin}  #{} {name}  {before} → {after}\n", change.number));
            }
            let more = changes.count().saturating_sub(NAMED);
            if more > 0 {
                text.push_str(&format!("{margin}  … and {more} more\n"));
            }
            text.push_str(&style.line(Paint::Dim, &format!("{margin}pending: {}", clip(&row.why, room.saturating_sub(9)))));
        }
        let live = if self.live { " --live" } else { "" };
        let first = self.proposals.first().map(|row| row.number).unwrap_or_default();
        let hint = format!("to execute one: aperture approve {first}{live}; to reject one: aperture deny {first}");
        text.push_str(&style.line(Paint::Dim, &hint));
        text
    }
}
