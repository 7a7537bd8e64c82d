//! The price of the first prompt after the prompt cache expired, and what it costs once the session is shortened.

use super::report::HookReport;
use super::told;
use crate::app::{CommandError, Env};
use crate::commands::change::pipeline::is_proxied;
use crate::commands::compress::{Reach, forecast};
use crate::commands::live::pending;
use crate::engine::{idle_milliseconds, next_request_dollars};
use crate::output::age;
use crate::store::Moment;
use crate::text::shell::quoted_word;
use crate::workspace::{Aim, Workspace};

/// Dollars from which a prompt is worth a sentence.
const WORTH_DOLLARS: f64 = 0.05;

/// Returns the prices for the person; `None` if the cache is warm, the price of the model is unknown, or there is little to say.
pub(super) fn price(env: &Env, workspace: &Workspace<'_>) -> Option<String> {
    let (reading, lifetime) = (&workspace.reading, workspace.cache_milliseconds());
    let idle = idle_milliseconds(reading, env.style.now.as_millisecond()).filter(|idle| *idle > lifetime)?;
    let dollars = |tokens: f64| Some(next_request_dollars(tokens, &reading.model, lifetime, &env.prices)?.1);
    let whole = dollars(reading.price.total.value).filter(|dollars| *dollars >= WORTH_DOLLARS)?;
    let planned = forecast(env, workspace, Aim::Preset(env.rules.preset), Reach::Old).ok().flatten();
    let shortened = planned.and_then(|price| dollars(price.window_after_tokens)).filter(|less| whole - less >= WORTH_DOLLARS);
    let expired = age(env.style.now, env.style.now.as_millisecond() - (idle - lifetime).max(60_000));
    let cold = format!("The prompt cache expired {expired} ago: the next prompt costs ~${whole:.2}");
    let Some(shortened) = shortened else { return Some(format!("{cold}.")) };
    let name = env.name_of(&workspace.path, &workspace.location.id);
    let command = format!("aperture compress --preset {} -s {} --live", env.rules.preset.name, quoted_word(&name));
    let when =
        if is_proxied(env, &pending::found(workspace)) { "in effect at once" } else { "then leave and resume the session" };
    Some(format!("{cold}; shortened ~${shortened:.2}: {command} ({when})."))
}

/// Holds the first prompt after the cache expired, if the settings want it: once, so the same prompt passes when it is sent again.
pub(super) fn hold(env: &Env) -> Result<Option<HookReport>, CommandError> {
    if !env.holds_cold_prompts {
        return Ok(None);
    }
    let workspace = env.open(None)?;
    let Some(price) = price(env, &workspace) else { return Ok(None) };
    let (store, session) = told::registered(env, &workspace)?;
    let last = told::last_row(&workspace.reading.session);
    if store.moment(Moment::PromptHeld, session)? == Some(last) {
        return Ok(None);
    }
    store.record_moment(Moment::PromptHeld, session, last)?;
    let message = Some(format!("{price} To continue as it is, send the prompt again."));
    Ok(Some(HookReport { message, is_held: true, ..HookReport::default() }))
}
