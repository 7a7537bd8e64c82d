//! `aperture diff`: what the model sees differently.

use crate::cli::{CommandError, Env, ErrorKind};
use crate::model::{Basis, History, OperationId, Snapshot, TokenCount};
use crate::output::DiffReport;
use crate::workspace::Draft;
use anyhow::anyhow;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture diff                    the session against its original
  aperture diff 3                  against how it was after operation 3
  aperture diff before-cleanup 7   between a snapshot and operation 7
  aperture diff --stat             one line a block
  aperture diff --exit-code        exit 1 when something is different")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    from: Option<String>,
    /// Snapshot or operation [default: now]
    to: Option<String>,
    /// One line a block
    #[arg(long)]
    stat: bool,
    /// Show whole texts, also where most of one is gone
    #[arg(long, conflicts_with = "stat")]
    full: bool,
    /// Exit with 1 when something is different
    #[arg(long)]
    exit_code: bool,
}

/// Shows the differences.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let history = env.history_of(&env.find(None)?)?;
    let different = report(env, &history.snapshots, arguments.from.as_deref(), arguments.to.as_deref(), arguments.full, arguments.stat)?;
    let any = !different.blocks.is_empty();
    env.print(&different)?;
    if any && arguments.exit_code { Err(CommandError::silent()) } else { Ok(()) }
}

/// Prints the differences between two points.
pub fn show(
    env: &Env,
    snapshots: &[Snapshot],
    from: Option<&str>,
    to: Option<&str>,
    full: bool,
    stat: bool,
) -> Result<(), CommandError> {
    env.print(&report(env, snapshots, from, to, full, stat)?)
}

fn report(
    env: &Env,
    snapshots: &[Snapshot],
    from: Option<&str>,
    to: Option<&str>,
    full: bool,
    stat: bool,
) -> Result<DiffReport, CommandError> {
    let workspace = env.open(None)?;
    let store = env.existing_store()?;
    let draft = Draft::new(&workspace, store.as_ref(), env.style.now.as_millisecond())?;
    let history = &workspace.history;
    let first = from.map_or(Ok(0), |name| point(history, name))?;
    let last = to.map(|name| point(history, name)).transpose()?;
    if last.is_some_and(|last| last < first) {
        let error = anyhow!("the second point is before the first one");
        return Err(CommandError::new(ErrorKind::Usage, error).hint("name the older one first"));
    }
    let tokens = |point| TokenCount { value: draft.tokens_at(point), basis: Basis::Calibrated };
    Ok(DiffReport {
        from: name(snapshots, Some(first)),
        to: name(snapshots, last),
        blocks: draft.differences(first, last)?,
        tokens_before: tokens(Some(first)),
        tokens_after: tokens(last),
        stat,
        full,
    })
}

/// The operation that a name means: a number, a snapshot, or `original`.
pub fn point(history: &History, name: &str) -> Result<OperationId, CommandError> {
    let snapshot = history.snapshots.iter().find(|snapshot| snapshot.name == name).map(|snapshot| snapshot.operation);
    let number = name.strip_prefix('#').unwrap_or(name).parse::<OperationId>().ok();
    let known = number.filter(|number| *number == 0 || history.operation(*number).is_some());
    let original = (name == "original").then_some(0);
    snapshot.or(original).or(known).ok_or_else(|| {
        let error = anyhow!("'{name}' is no operation and no snapshot of this session");
        CommandError::new(ErrorKind::Refused, error).hint("aperture log lists the operations, aperture snapshot list the snapshots")
    })
}

fn name(snapshots: &[Snapshot], point: Option<OperationId>) -> String {
    match point {
        None => "now".to_owned(),
        Some(point) => {
            let named = snapshots.iter().find(|snapshot| snapshot.operation == point && point != 0);
            let plain = || if point == 0 { "the original".to_owned() } else { format!("operation {point}") };
            named.map_or_else(plain, |snapshot| snapshot.name.clone())
        }
    }
}
