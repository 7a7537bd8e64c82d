use super::Arguments;
use super::report::{ManifestReport, Tier};
use crate::app::{CommandError, Env, misuse};
use crate::commands::change::pipeline::is_live;
use crate::commands::compress::{self, Reach};
use crate::commands::diff;
use crate::commands::live::pending;
use crate::engine::{self, Advice, Forecast, Suggestion};
use crate::output::DiffReport;
use crate::workspace::{Aim, Workspace};

/// Returns the differences since a point: the blocks added, and those that aperture changed.
/// Errors: there is no such point; the session cannot be read.
pub fn since(env: &Env, session: Option<&str>, point: &str) -> Result<DiffReport, CommandError> {
    let Some(turn) = point.strip_prefix("turn:") else { return diff::since(env, session, point) };
    let Ok(turn) = turn.parse::<u32>() else {
        return Err(misuse!("'{point}' is not a turn").hint("write a turn as turn:12"));
    };
    diff::since_turn(env, session, turn)
}

/// Returns the suggested next commands for a session; they refer to it by `named`, or by its shortest name.
pub fn suggestions(env: &Env, workspace: &Workspace<'_>, named: Option<&str>) -> Vec<Suggestion> {
    // A plan takes longer than all else that a report shows.
    if !engine::is_worth_looking(&workspace.reading, &env.rules) {
        return Vec::new();
    }
    // If no plan can be made, the savings are estimated.
    let plan = |reach| {
        let aim = Aim::Preset(env.rules.preset);
        compress::forecast(env, workspace, aim, reach).map_or(Forecast::Estimated, Forecast::Planned)
    };
    let named = named.map_or_else(|| env.name_of(&workspace.path, &workspace.location.id), str::to_owned);
    advise(env, workspace, &named, plan(Reach::Stale), plan(Reach::Old))
}

/// Returns the suggestions; their commands refer to the session by `named`, and have `--live` if a client has it open, because they
/// are refused without it.
pub fn advise(env: &Env, workspace: &Workspace<'_>, named: &str, stale: Forecast, preset: Forecast) -> Vec<Suggestion> {
    let advice = Advice {
        rules: &env.rules,
        prices: &env.prices,
        now: env.style.now.as_millisecond(),
        cache_lifetime_milliseconds: workspace.cache_milliseconds(),
        binds_thinking: workspace.provider.binds_thinking(),
        stale,
        preset,
        session: named,
        history: &workspace.history,
    };
    let mut suggestions = advice.suggestions(&workspace.reading);
    if let Some(option) = env.window_option() {
        suggestions.iter_mut().for_each(|suggestion| suggestion.command.push_str(&format!(" {option}")));
    }
    if !suggestions.is_empty() && is_live(env, &pending::found(workspace)) {
        suggestions.iter_mut().for_each(|suggestion| suggestion.command.push_str(" --live"));
    }
    suggestions
}

/// Prints the manifest.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.since {
        Some(point) => env.print(&since(env, arguments.session.as_deref(), point)?),
        None => env.print(&report(env, arguments)?),
    }
}

/// Returns the manifest.
pub fn report(env: &Env, arguments: &Arguments) -> Result<ManifestReport, CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    let report = build_report(env, &workspace, None, arguments.tier);
    Ok(ManifestReport { max_tokens: arguments.max_tokens, ..report })
}

/// Returns the manifest of a session in at most 500 tokens; its commands refer to the session by id.
pub fn detailed(env: &Env, workspace: &Workspace<'_>) -> ManifestReport {
    build_report(env, workspace, Some(&workspace.location.id), Tier::Detailed)
}

/// Returns the manifest of a session in at most 200 tokens; its commands refer to the session by id.
pub fn short(env: &Env, workspace: &Workspace<'_>) -> ManifestReport {
    build_report(env, workspace, Some(&workspace.location.id), Tier::Summary)
}

fn build_report(env: &Env, workspace: &Workspace<'_>, named: Option<&str>, tier: Tier) -> ManifestReport {
    let manifest = engine::manifest(&workspace.reading, tier.listed()).with(suggestions(env, workspace, named));
    ManifestReport { tier, max_tokens: None, manifest }
}
