//! `aperture fork`: copies a session up to a turn or a block into a new one.

use crate::app::{CommandError, Env, refusal, session_name};
use crate::commands::change::pipeline::expect_changeable;
use crate::engine::Analysis;
use crate::model::{As, BlockNumber, Estimated, Zone};
use crate::output::{Paint, Report, Style, amount, plural, short_id};
use crate::workspace::{PlanError, Workspace, fork_id, write_fork};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use std::slice;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("fork"))]
pub struct Arguments {
    /// Copy up to this block (the last match of a selector) [default: the end]
    #[arg(long, value_name = "SELECTOR")]
    pub at: Option<String>,
    /// Report the fork, without writing it
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Forks the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let selector = arguments.at.as_ref().map(|at| env.selector(slice::from_ref(at))).transpose()?;
    expect_changeable(env, &env.find(None)?, false)?;
    let workspace = env.open(None)?;
    let (reading, location) = (&workspace.reading, &workspace.location);
    let numbers = match selector {
        Some(selector) => selector.select(reading)?,
        None => reading.window.blocks.clone(),
    };
    let at = end(reading, &numbers).ok_or_else(|| {
        refusal!("no block matches '{}'", arguments.at.as_deref().unwrap_or("window"))
            .hint("to list the turns: aperture blocks --tree")
    })?;
    let now = env.style.now;
    let id = fork_id(&location.id, now.as_nanosecond());
    let time = now.to_zoned((env.style.zone)()).strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let path = workspace.fork_path(&id, &time).filter(|_| !location.subagent).ok_or_else(|| {
        refusal!("{} is not a session that its client lists", workspace.path.display())
            .hint("to list the sessions: aperture sessions")
    })?;
    let fork = workspace.fork(at, &id, &fork_id(&id, now.as_nanosecond())).map_err(|error| inherited(&workspace, error))?;
    if !arguments.dry_run {
        let written = write_fork(env.disk, &workspace.path, &path, &fork.bytes);
        let written = written.with_context(|| format!("cannot write the fork {}", session_name(&path)));
        written.map_err(|error| CommandError::refused(error).hint("the source is unchanged"))?;
    }
    let tokens = fork.window.iter().filter_map(|number| reading.block(*number)).map(|block| block.tokens.value).sum();
    env.print(&ForkReport {
        source: location.id.clone(),
        resume: workspace.provider.resume_command(&id),
        session: id,
        path: path.display().to_string(),
        dry_run: arguments.dry_run,
        last_block: fork.last,
        turn: reading.block(fork.last).map_or(0, |block| block.position.turn),
        rows: fork.rows,
        blocks: fork.window.len(),
        tokens,
    })
}

/// Returns the last of the selected blocks; of those in the window, if there are any: the others can be on a branch that the user
/// left.
fn end(reading: &Analysis, numbers: &[BlockNumber]) -> Option<BlockNumber> {
    let in_window = |number: &&BlockNumber| reading.block(**number).is_some_and(|block| block.position.zone != Zone::Cold);
    numbers.iter().rev().find(in_window).or(numbers.last()).copied()
}

/// Adds the command that forks the session that a block is inherited from.
fn inherited(workspace: &Workspace<'_>, error: PlanError) -> CommandError {
    let PlanError::Inherited(number) = error else { return error.into() };
    let row = workspace.reading.block(number).map(|block| block.row);
    let parent = row.and_then(|row| workspace.reading.session.inherited_from(row)).map_or("", |part| part.session.as_str());
    CommandError::refused(error).hint(format!("to fork that one: aperture fork --at {number} -s {parent}"))
}

/// The fork of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForkReport {
    /// Id of the session that was forked.
    pub source: String,
    pub session: String,
    pub path: String,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Last block of the fork; its number is the same in the source.
    pub last_block: BlockNumber,
    /// Turn of that block.
    pub turn: u32,
    /// Number of rows in the file.
    pub rows: usize,
    /// Number of blocks in the window of the fork.
    pub blocks: usize,
    /// Tokens of these blocks.
    #[serde(with = "As::<Estimated>")]
    pub tokens: f64,
    /// Command that continues the fork.
    pub resume: String,
}

impl Report for ForkReport {
    const SCHEMA: &str = "aperture.fork/1";

    fn text(&self, style: &Style) -> String {
        let verb = if self.dry_run { "would fork" } else { "forked" };
        let size = format!("{}, ~{} tokens", plural(self.blocks, "block"), amount(self.tokens.round() as u64));
        let mut text =
            format!("{verb} {} up to block {} of turn {}: {size}\n", short_id(&self.source), self.last_block, self.turn);
        if !self.dry_run {
            let undo = format!("to remove the fork: rm {}", crate::text::shell::quoted_word(&self.path));
            text.push_str(&format!(
                "new session  {}\ncontinue it  {}\n{}\n",
                style.paint(Paint::Name, &self.session),
                self.resume,
                style.paint(Paint::Dim, &crate::output::printable(&undo))
            ));
        }
        text
    }
}
