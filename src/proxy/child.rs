//! `aperture run`: a client behind the proxy, which ends with it.
#![expect(clippy::disallowed_methods, reason = "starts the client")]

use super::server::{self, Options};
use super::state::State;
use super::upstream::{self, Bases};
use super::{control, secret};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::run::Arguments;
use crate::output::ProxyStatusReport;
use crate::provider::{REDIRECTED, Redirection, redirection};
use anyhow::{Context, anyhow};
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// Runs a client behind the proxy and returns its exit code.
///
/// # Errors
///
/// The program is unknown or cannot be started, or the proxy cannot.
pub fn run(env: &Env, arguments: &Arguments) -> Result<u8, CommandError> {
    let (Some(program), own) = (arguments.command.first(), arguments.command.get(1..).unwrap_or_default()) else {
        return Err(CommandError::new(ErrorKind::Usage, anyhow!("no client is given")));
    };
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let redirect = |url: &str| {
        redirection(&name, url).ok_or_else(|| {
            let known = REDIRECTED.join(", ");
            CommandError::new(ErrorKind::Usage, anyhow!("'{name}' is not a client that aperture can start behind the proxy"))
                .hint(format!("known clients: {known}; for others start aperture proxy and set their base URL"))
        })
    };
    let client = redirect("")?;
    if let Some(variable) = client.elsewhere.iter().find(|name| env.variable(name).is_some_and(|value| is_on(&value))) {
        env.note(&format!("{variable} is set: {name} sends its requests to another provider, and none passes the proxy"));
    }
    let shared = State::running(env)?.filter(|state| state.client.is_none());
    // The user's own base URLs become those of a proxy for this client alone, each for its API.
    let chosen = |names: &[&'static str]| {
        let set = names.iter().filter_map(|name| env.variable(name)?.into_string().ok()).find(|url| !url.is_empty());
        let own = set.filter(|url| shared.as_ref().is_none_or(|state| !url.starts_with(&state.url())));
        own.as_deref().map(upstream::base).transpose()
    };
    let bases = Bases { anthropic: chosen(client.anthropic)?, openai: chosen(client.openai)? };
    // One base URL for all would get the keys of the other API.
    let is_single = client.anthropic.is_empty() || client.openai.is_empty();
    let is_usable = |state: &State| bases == Bases::default() && !arguments.observe && (is_single || !state.has_upstream);
    if let Some(state) = shared.as_ref().filter(|state| is_usable(state)) {
        let before: ProxyStatusReport = state.get(control::STATUS)?;
        let ended = start(env, program, own, &redirect(&state.base_url())?);
        if let Ok(after) = state.get::<ProxyStatusReport>(control::STATUS) {
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
    let server = server::start(env, options)?;
    let state = server.state();
    state.announce(env);
    let ended = redirect(&state.base_url()).and_then(|changes| start(env, program, own, &changes));
    state.remove(env);
    let status = server.status();
    for fault in server.end() {
        env.note(&fault);
    }
    if ended.is_ok() {
        env.note(&status.since(&ProxyStatusReport::absent()));
    }
    ended
}

/// Returns true if the value of a switch is not one that switches it off.
fn is_on(value: &OsStr) -> bool {
    !matches!(value.to_string_lossy().trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

/// Returns the variables that keep the requests to this machine from the proxy of a company; none if no such proxy is set.
fn direct(env: &Env) -> Vec<(&'static str, String)> {
    let value = |name: &str| env.variable(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
    let proxies = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if !proxies.iter().any(|name| value(name).is_some()) {
        return Vec::new();
    }
    let known = value("NO_PROXY").or_else(|| value("no_proxy")).map(|known| known + ",").unwrap_or_default();
    ["NO_PROXY", "no_proxy"].map(|name| (name, format!("{known}127.0.0.1,localhost,::1"))).into()
}

/// Runs the program with the changes and returns its exit code.
fn start(env: &Env, program: &str, own: &[String], changes: &Redirection) -> Result<u8, CommandError> {
    let mut command = Command::new(program);
    command.args(&changes.arguments).args(own);
    command.envs(changes.variables.iter().chain(&direct(env)).map(|(name, value)| (name, value)));
    let signals = Signals::catch();
    let child = command.spawn().with_context(|| format!("cannot start {program}"));
    let child =
        child.map_err(|error| CommandError::new(ErrorKind::Refused, error).hint("check that it is installed and in PATH"))?;
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

/// The signals to this process while the client runs.
#[cfg(unix)]
struct Signals(Option<signal_hook::iterator::Signals>);

#[cfg(unix)]
impl Signals {
    /// Catches the signals that would end this process and leave the client behind.
    fn catch() -> Signals {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        Signals(signal_hook::iterator::Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).ok())
    }

    /// Waits for the client and passes signals on to it. The client of a terminal gets those of the keyboard from the terminal.
    fn wait(self, mut child: Child) -> std::io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process};
        use signal_hook::consts::{SIGINT, SIGQUIT};
        use std::io::IsTerminal;
        let (handle, thread) = match self.0 {
            Some(mut signals) => {
                let (handle, process) = (signals.handle(), Pid::from_child(&child));
                let of_terminal = std::io::stdin().is_terminal();
                let pass = move || {
                    for signal in signals.forever() {
                        if !(of_terminal && matches!(signal, SIGINT | SIGQUIT))
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
