//! `aperture manifest`: the context manifest.

use super::diff;
use crate::cli::{CommandError, Env, ErrorKind};
use crate::engine::{self, Advice, Suggestion};
use crate::output::{ManifestReport, Tier};
use crate::workspace::Workspace;
use anyhow::anyhow;

/// Arguments of `manifest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture manifest                        the newest session here
  aperture manifest --tier summary         at most 200 tokens
  aperture manifest 6666 --max-tokens 300  a session by the beginning of its id
  aperture manifest --since turn:12        the memory diff: what came and what changed

Figures are as billed; estimates have a ~ before them.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    session: Option<String>,
    /// How much it says: summary (at most 200 tokens), detailed (at most 500), full
    #[arg(long, default_value = "detailed")]
    tier: Tier,
    /// Tokens that the text may take, in place of what the tier allows; JSON is never cut
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
    /// Only what is different since then: an operation, a snapshot, or a turn such as turn:12
    #[arg(long, value_name = "POINT", conflicts_with_all = ["tier", "max_tokens"])]
    since: Option<String>,
}

/// Shows what is different since a point: the blocks that came, and those that aperture changed.
fn since(env: &Env, session: Option<&str>, point: &str) -> Result<(), CommandError> {
    let Some(turn) = point.strip_prefix("turn:") else { return diff::since(env, session, point) };
    let Ok(turn) = turn.parse::<u32>() else {
        let error = anyhow!("'{point}' is no turn");
        return Err(CommandError::new(ErrorKind::Usage, error).hint("a turn is written as turn:12"));
    };
    diff::since_turn(env, session, turn)
}

/// The name by which a session is found again: that of the user, or its id where that is shorter and means the same file.
fn handy(env: &Env, workspace: &Workspace<'_>, named: &str) -> String {
    let id = &workspace.location.id;
    let same = || env.find_by(id).is_ok_and(|found| found.path == workspace.path);
    if named.len() > id.len() && same() { id.clone() } else { named.to_owned() }
}

/// What could be done next about a session.
pub fn suggestions(env: &Env, workspace: &Workspace<'_>, named: Option<&str>) -> Vec<Suggestion> {
    let named = named.or(env.session()).map(|named| handy(env, workspace, named));
    let advice = Advice {
        rules: &env.rules,
        prices: &env.prices,
        now: env.style.now.as_millisecond(),
        cache_lifetime_milliseconds: workspace.cache_milliseconds(),
        binds_thinking: workspace.provider.binds_thinking(),
        session: named.as_deref(),
    };
    advice.suggestions(&workspace.reading)
}

/// Shows the manifest.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    if let Some(point) = &arguments.since {
        return since(env, arguments.session.as_deref(), point);
    }
    let workspace = env.open(arguments.session.as_deref())?;
    let report = report(env, &workspace, arguments.session.as_deref(), arguments.tier);
    env.print(&ManifestReport { max_tokens: arguments.max_tokens, ..report })
}

/// The manifest of a session by its id, in at most 500 tokens.
pub fn detailed(env: &Env, workspace: &Workspace<'_>) -> ManifestReport {
    report(env, workspace, Some(&workspace.location.id), Tier::Detailed)
}

/// The manifest of a session by its id, in at most 200 tokens.
pub fn short(env: &Env, workspace: &Workspace<'_>) -> ManifestReport {
    report(env, workspace, Some(&workspace.location.id), Tier::Summary)
}

fn report(env: &Env, workspace: &Workspace<'_>, named: Option<&str>, tier: Tier) -> ManifestReport {
    let manifest = engine::manifest(&workspace.reading, tier.listed()).with(suggestions(env, workspace, named));
    ManifestReport { tier, max_tokens: None, manifest }
}
