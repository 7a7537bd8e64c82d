//! A proxy between clients and their API, clients that are started behind it, and the server of the page.
//!
//! Requests and responses pass byte for byte; only the body of a request is replaced, by the bytes that [`crate::wire`] gives.
//! If that fails, the original bytes are sent. This layer is async, because requests run at the same time; the work on
//! large bodies runs on other threads. It is the only one that uses the network.

mod beside;
mod body;
mod child;
mod connection;
mod control;
mod forward;
mod headers;
mod kept;
mod ledger;
mod memory;
mod page;
mod passage;
mod peer;
mod relay;
mod requests;
mod schedule;
mod secret;
mod server;
mod state;
mod turns;
mod upload;
mod upstream;

pub use body::whole as whole_body;
pub use child::run;
pub use headers::is_loopback_name;
pub use page::serve as serve_page;
pub use state::with_sessions;
pub use upstream::{Bases, Upstream, base as base_url};

use crate::app::{CommandError, Env, ErrorKind, misuse, refusal};
use crate::commands::proxy::{
    Action, Arguments, ProxyRequest, ProxyRequestReport, ProxyRequestsReport, ProxyStatus, ProxyStatusReport,
};
use crate::model::id_starts_with;
use crate::text::differences::unified;
use anyhow::anyhow;
use requests::LISTED;
use server::Options;
use state::State;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// The variable with the token that requests of other machines need.
const TOKEN_VARIABLE: &str = "APERTURE_PROXY_TOKEN";
/// The interval and the number of checks if a stopped proxy has ended: longer than the limit for its open streams.
const STOP_STEP: Duration = Duration::from_millis(50);
const STOP_STEPS: u32 = 640;

/// Serves until the proxy is stopped, or executes an action on the running one.
/// Errors: the address is in use or not allowed, another proxy runs, or none runs for the action.
pub fn serve(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    match &arguments.action {
        None => listen(env, arguments),
        Some(Action::Status) => {
            env.print(&ProxyStatusReport { status: status(env)? })?;
            match State::running(env)? {
                // The token of the page is not to be masked.
                Some(state) if !env.json => {
                    env.write(&env.gate.text(&format!("page: {}/#{}/\n", state.url(), state.token), false))
                }
                _ => Ok(()),
            }
        }
        Some(Action::Requests { limit }) => {
            let mut requests = requests(env)?;
            if let Some(session) = env.session() {
                requests.retain(|request| id_starts_with(&request.session, session));
            }
            let excess = requests.len().saturating_sub(limit.unwrap_or(usize::MAX));
            env.print(&ProxyRequestsReport { requests: requests.split_off(excess) })
        }
        Some(Action::Explain { number }) => {
            // Two proxies that run at the same time can have equal numbers: the newer one counts.
            let request = requests(env)?.into_iter().rfind(|request| request.number == *number).ok_or_else(|| {
                refusal!("there is no request {number}, or it is no longer listed")
                    .hint("to list the newest ones: aperture proxy requests")
            })?;
            let difference = request.record.as_ref().and_then(|directory| body_difference(env, directory, request.number));
            env.print(&ProxyRequestReport { request, difference })
        }
        Some(Action::Stop) => stop(env),
    }
}

/// Returns the difference between the recorded bodies of a request, with one value a line and the lines of texts apart; `None`
/// without them.
fn body_difference(env: &Env, directory: &Path, request: u64) -> Option<String> {
    let read = |kind: &str| {
        let mut text = String::new();
        let file = env.disk.open(&directory.join(passage::record_name(request, kind)), 0).ok()?;
        file.take(body::LARGEST as u64).read_to_string(&mut text).ok()?;
        let body: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(serde_json::to_string_pretty(&body).ok()?.replace("\\n", "\n"))
    };
    let client = read("request")?;
    // One that was not changed is recorded once.
    Some(read("sent").map_or_else(String::new, |sent| unified(&client, &sent, 1)))
}

fn running(env: &Env) -> Result<State, CommandError> {
    State::running(env)?
        .ok_or_else(|| refusal!("no proxy is running").hint("to start one: aperture proxy, or aperture run -- claude"))
}

/// Returns the newest requests, the oldest first: those of the proxy that runs, and those in the log.
fn requests(env: &Env) -> Result<Vec<ProxyRequest>, CommandError> {
    let running: Vec<ProxyRequest> = match State::running(env)? {
        Some(state) => state.get(control::REQUESTS)?,
        None => Vec::new(),
    };
    let is_running =
        |logged: &ProxyRequest| running.iter().any(|known| (known.time, known.number) == (logged.time, logged.number));
    let mut requests = crate::commands::live::proxied::logged_requests(env)?;
    requests.retain(|logged| !is_running(logged));
    requests.extend(running);
    requests.sort_by_key(|request| (request.time, request.number));
    let excess = requests.len().saturating_sub(LISTED);
    Ok(requests.split_off(excess))
}

fn status(env: &Env) -> Result<ProxyStatus, CommandError> {
    match State::running(env)? {
        Some(state) => state.get(control::STATUS),
        None => Ok(ProxyStatus::absent()),
    }
}

fn stop(env: &Env) -> Result<(), CommandError> {
    let state = running(env)?;
    let status: ProxyStatus = state.post(control::STOP)?;
    for _ in 0..STOP_STEPS {
        if !state.is_current(env)? {
            break;
        }
        crate::app::wait(STOP_STEP);
    }
    env.print(&ProxyStatusReport { status })
}

fn listen(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let token = token(env, arguments)?;
    if let Some(state) = State::running(env)?.filter(|state| state.client.is_none()) {
        let error = anyhow!("a proxy is already running on {}", state.url());
        return Err(CommandError::new(ErrorKind::Conflict, error).hint("to stop it: aperture proxy stop"));
    }
    if let Some(directory) = &arguments.record {
        let made = crate::app::files::make_directory(&env.directory.join(directory));
        made.map_err(|error| CommandError::refused(error).hint("choose a directory that you may write to"))?;
    }
    let options = Options {
        listen: arguments.listen,
        secret: secret::lasting(env)?,
        upstream: Bases::all(arguments.upstream.as_deref().map(base_url).transpose()?),
        observe: arguments.observe,
        token,
        record: arguments.record.as_ref().map(|directory| env.directory.join(directory)),
        client: None,
        handles_signals: true,
    };
    hide_panics();
    let server = server::start(env, options)?;
    let state = server.state();
    state.announce(env);
    let printed = if env.json {
        env.print(&ProxyStatusReport { status: server.status() })
    } else {
        let base = state.base_url();
        let lines = format!("listening on {}\nANTHROPIC_BASE_URL={base}\nOPENAI_BASE_URL={base}/v1\n", state.url());
        // The user needs the secret in the URL, which is not to be masked.
        env.write(&env.gate.text(&lines, false))
    };
    server.wait();
    state.remove(env);
    printed
}

/// Replaces the message of a panic by its place: the message can quote a body.
fn hide_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        crate::app::print_line(&crate::output::Gate::default(), &format!("internal error at {place}"));
    }));
}

/// Returns the token that requests need, if other machines may connect.
fn token(env: &Env, arguments: &Arguments) -> Result<Option<String>, CommandError> {
    let usage = |text: String, hint: &str| Err(misuse!(text).hint(hint));
    if !arguments.allow_remote {
        if arguments.listen.ip().is_loopback() {
            return Ok(None);
        }
        let text = format!("{} is not a loopback address", arguments.listen);
        return usage(text, "listen on 127.0.0.1, or allow other machines: --allow-remote");
    }
    match env.variable(TOKEN_VARIABLE).and_then(|token| token.into_string().ok()) {
        Some(token) if token.len() >= 16 => Ok(Some(token)),
        _ => usage(
            "--allow-remote needs a token".to_owned(),
            "set APERTURE_PROXY_TOKEN to at least 16 characters; clients send it in the header x-aperture-token",
        ),
    }
}
