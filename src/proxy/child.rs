//! `aperture run`: a client behind the proxy, which ends with it.
#![expect(clippy::disallowed_methods, reason = "starts the client")]

use super::server::{self, Options};
use super::state::State;
use super::upstream::{self, Bases};
use super::{control, secret};
use crate::app::{CommandError, Env, ErrorKind, files, misuse};
use crate::commands::proxy::ProxyStatus;
use crate::commands::run::Arguments;
use crate::provider::{Launch, REDIRECTED, Redirection, Route, redirection};
use anyhow::Context;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// The interval and the number of checks if the last bills were read.
const BILL: Duration = Duration::from_millis(50);
const BILLS: u32 = 40;

/// Runs a client behind the proxy and returns its exit code.
/// Errors: the program is unknown or cannot be started, or the proxy cannot.
pub fn run(env: &Env, arguments: &Arguments) -> Result<u8, CommandError> {
    let (Some(program), own) = (arguments.command.first(), arguments.command.get(1..).unwrap_or_default()) else {
        return Err(misuse!("no client is given"));
    };
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let redirect = |url: &str| {
        redirection(&name, url).ok_or_else(|| {
            let known = REDIRECTED.join(", ");
            misuse!("'{name}' is not a client that aperture can start behind the proxy")
                .hint(format!("known clients: {known}; for others start `aperture proxy` and set their base URL"))
        })
    };
    redirect("")?;
    let route = Route::of(&Launch {
        program: &name,
        arguments: own,
        directory: &env.directory,
        places: &env.places,
        variable: &|name| value(env, name),
        file: &|path| files::text(env.disk, path).ok().flatten(),
    });
    for setting in &route.elsewhere {
        let those = if route.is_all_elsewhere { "its requests" } else { "these requests" };
        let none = if route.is_all_elsewhere { "none passes" } else { "they do not pass" };
        env.note(&format!("{setting}: {name} sends {those} to another provider, and {none} the proxy"));
    }
    let redirect = |url: &str| {
        if route.is_detoured {
            // The keys would go to the proxy of the company, in requests that it can read.
            env.note(&format!("NO_PROXY in the settings of {name} does not except 127.0.0.1: no request passes the proxy"));
            return Ok(Redirection::default());
        }
        redirect(url)
    };
    let shared = State::running(env)?.filter(|state| state.client.is_none());
    // The user's own base URLs become those of a proxy for this client alone, each for its API.
    let chosen = |url: &Option<String>| {
        let own = url.as_ref().filter(|url| shared.as_ref().is_none_or(|state| !url.starts_with(&state.url())));
        own.map(|url| upstream::base(url)).transpose()
    };
    let bases = Bases { anthropic: chosen(&route.anthropic)?, openai: chosen(&route.openai)? };
    // One base URL for all would get the keys of the other API.
    let is_usable = |state: &State| {
        bases == Bases::default()
            && !arguments.observe
            && arguments.budget.is_none()
            && (route.has_one_api || !state.has_upstream)
    };
    if let Some(state) = shared.as_ref().filter(|state| is_usable(state)) {
        let requests = format!("{}{}", control::RUNS, env.process());
        let before: ProxyStatus = state.get(&requests)?;
        let url = format!("{}/{}", state.url(), secret::of_run(&state.secret, env.process()));
        let ended = start(env, program, own, &redirect(&url)?);
        if let Some(after) = settled(state, &requests) {
            env.note(&after.since(&before));
        }
        return ended;
    }
    let options = Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        upstream: bases,
        secret: secret::chosen(env)?.map_or_else(secret::random, Ok)?,
        observe: arguments.observe,
        token: None,
        record: None,
        client: Some(name.clone()),
        handles_signals: false,
    };
    super::hide_panics();
    let budgeted = arguments.budget.map(|tokens| env.with_budget(tokens)).transpose()?;
    let server = server::start(budgeted.as_ref().unwrap_or(env), options)?;
    let state = server.state();
    state.announce(env);
    let ended = redirect(&state.base_url()).and_then(|changes| start(env, program, own, &changes));
    state.remove(env);
    let (status, faults) = server.end();
    faults.iter().for_each(|fault| env.note(fault));
    if ended.is_ok() {
        env.note(&status.since(&ProxyStatus::absent()));
    }
    ended
}

/// Returns the status of the requests of this run when all of them have their bill, or after a while.
fn settled(state: &State, requests: &str) -> Option<ProxyStatus> {
    let mut status: Option<ProxyStatus> = None;
    for _ in 0..BILLS {
        status = state.get(requests).ok();
        if status.as_ref().is_none_or(|status| status.running_requests == 0) {
            break;
        }
        crate::app::wait(BILL);
    }
    status
}

/// Returns the value of a variable; `None` if it is empty.
pub fn value(env: &Env, name: &str) -> Option<String> {
    env.variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
}

/// Returns the variables that keep the requests to this machine from the proxy of a company, which settings of the client can name too.
fn direct(env: &Env) -> Vec<(&'static str, String)> {
    let known = value(env, "NO_PROXY").or_else(|| value(env, "no_proxy")).map(|known| known + ",").unwrap_or_default();
    ["NO_PROXY", "no_proxy"].map(|name| (name, format!("{known}127.0.0.1,localhost,::1"))).into()
}

fn start(env: &Env, program: &str, own: &[String], changes: &Redirection) -> Result<u8, CommandError> {
    let mut command = Command::new(program);
    command.args(&changes.arguments).args(own);
    command.envs(changes.variables.iter().chain(&direct(env)).map(|(name, value)| (name, value)));
    let signals = Signals::catch();
    let child = command.spawn().with_context(|| format!("cannot start {program}"));
    let child = child.map_err(|error| CommandError::refused(error).hint("check that it is installed and in PATH"))?;
    let status = signals.wait(child).context("cannot wait for the client");
    status.map(exit_code).map_err(|error| CommandError::new(ErrorKind::Internal, error))
}

/// Returns the exit code as a shell does: 128 and the number of the signal that ended the program.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + u8::try_from(signal).unwrap_or_default();
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(unix)]
struct Signals(Option<signal_hook::iterator::Signals>);

#[cfg(unix)]
impl Signals {
    /// Catches the signals that would end this process and leave the client behind.
    fn catch() -> Signals {
        Signals(signal_hook::iterator::Signals::new(crate::app::ENDING).ok())
    }

    /// Waits for the client and passes signals on to it. One in the foreground of a terminal gets those of the keyboard from the terminal.
    fn wait(self, mut child: Child) -> std::io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process};
        use signal_hook::consts::{SIGINT, SIGQUIT};
        let (handle, thread) = match self.0 {
            Some(mut signals) => {
                let (handle, process) = (signals.handle(), Pid::from_child(&child));
                let pass = move || {
                    for signal in signals.forever() {
                        if !(matches!(signal, SIGINT | SIGQUIT) && crate::app::is_in_foreground())
                            && let Some(signal) = Signal::from_named_raw(signal)
                        {
                            let _ = kill_process(process, signal);
                        }
                    }
                };
                (Some(handle), Some(std::thread::spawn(pass)))
            }
            None => (None, None),
        };
        let status = child.wait();
        if let (Some(handle), Some(thread)) = (handle, thread) {
            handle.close();
            let _ = thread.join();
        }
        status
    }
}

/// The console passes its interrupts to the client itself.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn catch() -> Signals {
        Signals
    }

    fn wait(self, mut child: Child) -> std::io::Result<ExitStatus> {
        child.wait()
    }
}
