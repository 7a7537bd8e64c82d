//! `aperture diff`: compares two states of the content that the model sees.

use crate::app::{CommandError, Env, misuse, refusal};
use crate::engine;
use crate::engine::diff::{BlockDifference, DiffKind};
use crate::model::{Basis, BlockNumber, History, OperationId, Snapshot, TokenCount};
use crate::output::DiffReport;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture diff                    the changes since the original
  aperture diff 3                  the changes since operation 3
  aperture diff before-cleanup 7   between a snapshot and operation 7
  aperture diff --stat             one line per block
  aperture diff --exit-code        exit 1 if there is a difference")]
pub struct Arguments {
    /// Snapshot, operation, or `original`
    pub from: Option<String>,
    /// Snapshot or operation [default: now]
    pub to: Option<String>,
    /// One line per block
    #[arg(long)]
    pub stat: bool,
    /// Show whole texts, even if most of a text was removed
    #[arg(long, conflicts_with = "stat")]
    pub full: bool,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub exit_code: bool,
}

/// Prints the differences.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let different = report(env, arguments)?;
    let any = !different.blocks.is_empty();
    env.print(&different)?;
    if any && arguments.exit_code { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Errors: there is no such operation or snapshot.
pub fn report(env: &Env, arguments: &Arguments) -> Result<DiffReport, CommandError> {
    let report = between(env, None, arguments.from.as_deref(), arguments.to.as_deref())?;
    Ok(DiffReport { full: arguments.full, stat: arguments.stat, ..report })
}

/// Returns the differences between a point and now, one line per block.
/// Errors: there is no such operation or snapshot.
pub fn since(env: &Env, session: Option<&str>, point: &str) -> Result<DiffReport, CommandError> {
    Ok(DiffReport { stat: true, ..between(env, session, Some(point), None)? })
}

/// Returns the blocks added after a turn and those changed since it ended, one line per block.
pub fn since_turn(env: &Env, session: Option<&str>, turn: u32) -> Result<DiffReport, CommandError> {
    let workspace = env.open(session)?;
    let store = env.existing_store()?;
    let reading = &workspace.reading;
    let last = reading.turns.last().map_or(0, |turn| turn.number);
    if turn > last {
        return Err(refusal!("there is no turn {turn}: the last one is turn {last}")
            .hint("to list the turns of the window: aperture blocks --tree"));
    }
    let next = reading.turns.iter().find(|later| later.number > turn).and_then(|later| later.timestamp);
    let before = workspace.history.operations.iter().filter(|operation| next.is_none_or(|next| operation.time < next));
    let point = before.map(|operation| operation.id).next_back().unwrap_or_default();
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let mut blocks = draft.differences(point, None)?;
    let known: Vec<BlockNumber> = blocks.iter().map(|block| block.number).collect();
    let came = reading.in_window().filter(|block| block.position.turn > turn && !known.contains(&block.number));
    blocks.extend(came.map(|block| BlockDifference {
        number: block.number,
        label: engine::label(block),
        kind: DiffKind::Added,
        level_before: block.level,
        level_after: block.level,
        tokens_before: TokenCount::ZERO,
        tokens_after: block.tokens,
        before: String::new(),
        after: block.preview.to_string(),
    }));
    blocks.sort_by_key(|block| block.number);
    let total = reading.price.total;
    let came: f64 = blocks.iter().map(|block| block.tokens_after.value - block.tokens_before.value).sum();
    let tokens_before = TokenCount { value: (total.value - came).max(0.0), basis: Basis::Estimated };
    Ok(DiffReport {
        from: format!("turn {turn}"),
        to: "now".to_owned(),
        blocks,
        tokens_before,
        tokens_after: total,
        stat: true,
        full: false,
    })
}

fn between(env: &Env, session: Option<&str>, from: Option<&str>, to: Option<&str>) -> Result<DiffReport, CommandError> {
    let workspace = env.open(session)?;
    let store = env.existing_store()?;
    let draft = workspace.draft(store.as_ref(), env.style.now.as_millisecond())?;
    let history = &workspace.history;
    let first = from.map_or(Ok(0), |name| point(history, name))?;
    let last = to.map(|name| point(history, name)).transpose()?;
    if last.is_some_and(|last| last < first) {
        return Err(misuse!("the second point is before the first one").hint("name the older one first"));
    }
    let tokens = |point| TokenCount { value: draft.tokens_at(point), basis: Basis::Calibrated };
    Ok(DiffReport {
        from: name(&history.snapshots, Some(first)),
        to: name(&history.snapshots, last),
        blocks: draft.differences(first, last)?,
        tokens_before: tokens(Some(first)),
        tokens_after: tokens(last),
        stat: false,
        full: false,
    })
}

/// Parses a point: an operation number, a snapshot name, or `original`.
pub fn point(history: &History, name: &str) -> Result<OperationId, CommandError> {
    let snapshot = history.snapshots.iter().find(|snapshot| snapshot.name == name).map(|snapshot| snapshot.operation);
    let number = name.strip_prefix('#').unwrap_or(name).parse::<OperationId>().ok();
    let known = number.filter(|number| *number == 0 || history.operation(*number).is_some());
    let original = (name == "original").then_some(0);
    snapshot.or(original).or(known).ok_or_else(|| {
        refusal!("'{name}' is neither an operation nor a snapshot of this session")
            .hint("to list operations: aperture log; to list snapshots: aperture snapshot list")
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
