//! The rules of the settings on a session whose requests pass a proxy. They run beside the requests, and hold from the next one on.

use super::policy::{Wanted, carry_out, command_line};
use crate::app::{CommandError, Env};
use crate::commands::compress::{Arguments, Budget, Reach, forecast};
use crate::engine::{self, AutomaticFacts, AutomaticRule, EditFacts, EditPrice, LastAutomatic, Verdict};
use crate::model::OperationId;
use crate::wire::stages::budget::{self, BUDGET};
use crate::wire::stages::condensation::{self, CACHE_SECONDS, CONDENSE, PAY_BACK_TURNS};
use crate::workspace::{Aim, Found, PlanError, Workspace};
use serde::{Deserialize, Serialize};

/// The end of the command in the log.
const SOURCE: &str = "(aperture proxy)";
/// The share of its budget to which a window is shortened, in percent: at the budget itself, the next turn would exceed it again.
const TARGET_PERCENT: u64 = 80;

/// The moment at which the rules look at a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since its last request.
    pub idle_milliseconds: i64,
    /// True if the model has called tools, so that another request follows at once: then only the budget counts.
    pub in_turn: bool,
    /// The tokens by which the window grows until a change acts; none in the job of a proxy that is older than its program file.
    #[serde(default)]
    pub coming_tokens: u64,
}

/// The outcome of the rules on a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automatic {
    /// The name of the stage of each rule that is switched on, and one line for people.
    pub notes: Vec<(String, String)>,
    /// The budget of the window in tokens; `None` if this rule is off.
    pub budget_tokens: Option<u64>,
    /// Lifetime of the entries of the prompt cache, in milliseconds.
    pub lifetime_milliseconds: i64,
    pub has_changed: bool,
}

/// Applies the rules that are switched on to a session; at most one of them acts. `None` if none is switched on.
/// Errors: the session or the settings of its project cannot be read, or the change cannot be applied.
pub fn apply(of_proxy: &Env, found: &Found, moment: Moment) -> Result<Option<Automatic>, CommandError> {
    let mut env = of_project(of_proxy, found)?;
    // A fold is made at the end of a chain at rest: within a turn, of a client that writes all the time, it would never be made.
    env.rules.folds_turns &= !moment.in_turn;
    let [condenses, has_budget] = [&CONDENSE, &BUDGET].map(|rule| env.pipeline.is_on(rule));
    if !condenses && !has_budget {
        return Ok(None);
    }
    let workspace = of_proxy.on(&found.path, "aperture proxy").read(found.clone())?;
    let rules = [
        (AutomaticRule::Budget, &budget::STAGE, has_budget),
        (AutomaticRule::Condense, &condensation::STAGE, condenses && !moment.in_turn),
    ];
    let mut automatic = Automatic {
        budget_tokens: has_budget.then(|| env.rules.budget(&workspace.reading)),
        lifetime_milliseconds: lifetime(&env, &workspace),
        ..Automatic::default()
    };
    for (rule, stage, _) in rules.into_iter().filter(|(.., is_on)| *is_on) {
        let (request, planned) = plan(&env, &workspace, rule, moment)?;
        let note = match facts(&env, &workspace, rule, planned, moment).verdict() {
            Verdict::Wait(reason) => reason,
            Verdict::Act(reason) => {
                let acted = act(&env, found, &request);
                automatic.has_changed = matches!(acted, Ok((_, Some(_))));
                match acted {
                    Ok((line, Some(operation))) => format!("operation {operation}: {line}, because {reason}"),
                    Ok((_, None)) => "nothing could be shortened".to_owned(),
                    Err(error) => format!("failed: {:#}", error.source),
                }
            }
        };
        automatic.notes.push((stage.name.to_owned(), note));
        if automatic.has_changed {
            break;
        }
    }
    Ok(Some(automatic))
}

/// Returns the environment with the settings of the session's project, if its directory exists.
fn of_project(env: &Env, found: &Found) -> Result<Env, CommandError> {
    match env.project_directory(found) {
        Some(directory) => {
            let mut project = env.renewed(&directory)?;
            project.style.now = env.style.now;
            Ok(project)
        }
        None => Ok(env.clone()),
    }
}

fn lifetime(env: &Env, workspace: &Workspace<'_>) -> i64 {
    let set = env.pipeline.number(&CACHE_SECONDS).map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000));
    set.unwrap_or_else(|| workspace.cache_milliseconds())
}

/// Returns the `compress` of a rule, and the price of its change; `None` if it would change nothing.
fn plan(
    env: &Env,
    workspace: &Workspace<'_>,
    rule: AutomaticRule,
    moment: Moment,
) -> Result<(Arguments, Option<EditPrice>), CommandError> {
    let of_budget = |tokens| Arguments { budget: Some(Budget::Tokens(tokens)), ..Arguments::default() };
    let Some(tokens) = target(env, workspace, moment).filter(|_| rule == AutomaticRule::Budget) else {
        return Ok(match rule {
            AutomaticRule::Condense => {
                (Wanted::Stale.arguments(), forecast(env, workspace, Aim::Preset(env.rules.preset), Reach::Stale)?)
            }
            AutomaticRule::Budget => (Wanted::Budget.arguments(), None),
        });
    };
    let old = |tokens| forecast(env, workspace, Aim::Tokens(tokens), Reach::Old);
    match old(tokens) {
        // As far as it goes: what must stay can be more than the target.
        Err(error) => match smallest(&error) {
            Some(tokens) => Ok((of_budget(tokens), old(tokens)?)),
            None => Err(error),
        },
        planned => Ok((of_budget(tokens), planned?)),
    }
}

/// Returns the smallest window that can be reached, if a budget is below it.
fn smallest(error: &CommandError) -> Option<u64> {
    match error.source.downcast_ref::<PlanError>() {
        Some(PlanError::Budget { smallest, .. }) => Some(*smallest),
        _ => None,
    }
}

fn facts(
    env: &Env,
    workspace: &Workspace<'_>,
    rule: AutomaticRule,
    planned: Option<EditPrice>,
    moment: Moment,
) -> AutomaticFacts {
    let reading = &workspace.reading;
    let last = LastAutomatic::find(&workspace.history, SOURCE);
    let since =
        |last: LastAutomatic| reading.turns.iter().filter(|turn| turn.timestamp.is_some_and(|time| time > last.time)).count();
    AutomaticFacts {
        rule,
        is_exceeded: reading.price.total.value > env.rules.budget(reading) as f64,
        price: planned.map(|planned| price_now(env, workspace, &planned, moment)),
        last,
        turns_since: last.map_or(0, since),
        pay_back_turns: env.pipeline.number(&PAY_BACK_TURNS).unwrap_or_default() as f64,
    }
}

/// Returns the tokens to which the window is shortened; `None` if it stays within its budget.
fn target(env: &Env, workspace: &Workspace<'_>, moment: Moment) -> Option<u64> {
    let reading = &workspace.reading;
    let budget = env.rules.budget(reading);
    (budget > 0 && reading.price.total.value + moment.coming_tokens as f64 > budget as f64).then(|| budget / 100 * TARGET_PERCENT)
}

/// Returns the price of a change for the next request: the proxy knows the time of the last one, the file may not have its answer yet.
fn price_now(env: &Env, workspace: &Workspace<'_>, planned: &EditPrice, moment: Moment) -> EditPrice {
    let reading = &workspace.reading;
    let facts = EditFacts {
        window_before: planned.window_before_tokens,
        window_after: planned.window_after_tokens,
        unchanged_prefix: planned.unchanged_prefix_tokens,
        model: &reading.model,
        idle_milliseconds: Some(moment.idle_milliseconds),
        cache_lifetime_milliseconds: lifetime(env, workspace),
        steps_per_turn: engine::steps_per_turn(reading),
    };
    engine::price(&facts, &env.prices)
}

/// Executes the `compress` of a rule. Returns its command, and the operation if it changed anything.
fn act(env: &Env, found: &Found, arguments: &Arguments) -> Result<(String, Option<OperationId>), CommandError> {
    let change = carry_out(env, found, arguments, false, SOURCE)?;
    Ok((command_line(arguments), change.operation))
}
