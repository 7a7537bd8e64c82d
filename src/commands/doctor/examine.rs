//! The examinations, each of one area.

use super::{DoctorFinding, FindingLevel};
use crate::app::{self, Env, Keeping, files, project_file, settings_file};
use crate::commands::install::{self, InstallState};
use crate::commands::keep;
use crate::engine::mask;
use crate::output::{ago, bytes, plural};
use crate::provider::claude_code::ClaudeCode;
use crate::provider::{EditError, Launch, PROVIDERS, ProviderAdapter, REDIRECTED, Route};
use crate::store::{KeyMethod, SealState};
use crate::text::names::version_numbers;
use crate::text::shell::quoted_word;
use crate::workspace::CopyState;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

impl DoctorFinding {
    fn new(level: FindingLevel, area: &'static str, text: impl Into<String>) -> DoctorFinding {
        DoctorFinding { level, area, text: mask(&text.into()).into_owned(), command: None }
    }

    fn good(area: &'static str, text: impl Into<String>) -> DoctorFinding {
        DoctorFinding::new(FindingLevel::Good, area, text)
    }

    fn note(area: &'static str, text: impl Into<String>) -> DoctorFinding {
        DoctorFinding::new(FindingLevel::Note, area, text)
    }

    fn problem(area: &'static str, text: impl Into<String>) -> DoctorFinding {
        DoctorFinding::new(FindingLevel::Problem, area, text)
    }

    fn by(self, command: impl Into<String>) -> DoctorFinding {
        DoctorFinding { command: Some(command.into()), ..self }
    }
}

pub(super) fn findings(env: &Env) -> Vec<DoctorFinding> {
    [program, settings, store_health, caches, sessions, clients, requests, sidecar]
        .into_iter()
        .flat_map(|examine| examine(env))
        .collect()
}

/// Returns a path with `~` for the home directory.
fn shown(env: &Env, path: &Path) -> String {
    match path.strip_prefix(&env.places.home) {
        Ok(rest) if rest == Path::new("") => "~".to_owned(),
        Ok(rest) => Path::new("~").join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Examines which program a client or a script finds under the name.
fn program(env: &Env) -> Vec<DoctorFinding> {
    let Ok(program) = env.program() else {
        return vec![DoctorFinding::problem("program", "the path of this program is unknown")];
    };
    let real = |path: &Path| env.disk.resolve(path).unwrap_or_else(|_| path.to_owned());
    let version = env!("CARGO_PKG_VERSION");
    let own = DoctorFinding::good("program", format!("aperture {version} in {}", shown(env, &program)));
    let name = if cfg!(windows) { "aperture.exe" } else { "aperture" };
    let path = env.variable("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| env.disk.identify(path).is_ok());
    let by_name = match first {
        None => Some(DoctorFinding::note(
            "program",
            "it is not in a directory of PATH, where settings of a project and git hooks look for it",
        )),
        Some(first) if real(&first) != real(&program) => Some(DoctorFinding::note(
            "program",
            format!("the name aperture starts {}, which comes first in PATH", shown(env, &first)),
        )),
        Some(_) => None,
    };
    std::iter::once(own).chain(by_name).collect()
}

/// Examines the settings files; a wrong one ends every command before.
fn settings(env: &Env) -> Vec<DoctorFinding> {
    const AREA: &str = "settings";
    let project = project_file(env.disk, &env.directory);
    let files = settings_file().filter(|path| files::is_there(path)).into_iter().chain(project.clone());
    let there: Vec<String> = files.map(|path| shown(env, &path)).collect();
    let text = if there.is_empty() { "the defaults: there is no settings file".to_owned() } else { there.join(", ") };
    let in_force = app::settings(env.disk, &env.directory);
    let without = in_force.map(|in_force| in_force.without_effect).unwrap_or_default();
    let project = project.map(|path| shown(env, &path)).unwrap_or_default();
    let notes = without.into_iter().filter(|value| value.in_project).map(|value| {
        DoctorFinding::note(AREA, format!("{} has no effect in {project}: {}", value.key, value.reason))
            .by(format!("aperture config unset {} --in-project", value.key))
    });
    std::iter::once(DoctorFinding::good(AREA, text)).chain(notes).collect()
}

/// Examines the store: its integrity, its seal and who may read it.
fn store_health(env: &Env) -> Vec<DoctorFinding> {
    const AREA: &str = "store";
    let Ok(directory) = env.store_directory() else {
        return vec![DoctorFinding::problem(AREA, "there is no directory for it: set APERTURE_HOME")];
    };
    let mut findings: Vec<DoctorFinding> = open_to_others(env, AREA, &directory).into_iter().collect();
    let health = match env.existing_store() {
        Ok(None) => DoctorFinding::good(AREA, format!("nothing is stored yet; it will be in {}", shown(env, &directory))),
        Err(error) => {
            let text = format!("{:#}", error.source);
            let hints = error.hints.join("; ");
            DoctorFinding::problem(AREA, if hints.is_empty() { text } else { format!("{text}: {hints}") })
        }
        Ok(Some(opened)) => match opened.check() {
            Ok(faults) if faults.is_empty() && opened.is_read_only().unwrap_or_default() => {
                let text = format!("{} can be read and not written: sessions cannot be changed", shown(env, &directory));
                DoctorFinding::problem(AREA, text)
            }
            Ok(faults) if faults.is_empty() => {
                let sessions = opened.sessions().map_or(0, |sessions| sessions.len());
                let (_, size) = opened.size().unwrap_or_default();
                let sessions = plural(sessions, "session");
                DoctorFinding::good(
                    AREA,
                    format!("originals and logs of {sessions} in {} ({})", shown(env, &directory), bytes(size)),
                )
            }
            Ok(faults) => {
                let first = faults.first().cloned().unwrap_or_default();
                DoctorFinding::problem(AREA, format!("{}: {first}", plural(faults.len(), "fault"))).by("aperture verify --all")
            }
            Err(error) => DoctorFinding::problem(AREA, error.to_string()).by("aperture verify --all"),
        },
    };
    findings.push(health);
    findings.extend(seal(env, &directory));
    findings
}

/// Returns a problem if other users of the machine can read a directory.
fn open_to_others(env: &Env, area: &'static str, directory: &Path) -> Option<DoctorFinding> {
    files::is_open_to_others(directory).then(|| {
        let text = format!("other users of this machine can read {}", shown(env, directory));
        DoctorFinding::problem(area, text).by(format!("chmod 700 {}", quoted_word(&directory.to_string_lossy())))
    })
}

/// Examines the caches and indexes: a damaged one is made again when it is next used.
fn caches(env: &Env) -> Vec<DoctorFinding> {
    const AREA: &str = "cache";
    let Some((directory, size)) = env.cached_size() else {
        return vec![DoctorFinding::note(AREA, "nothing is cached: each command reads its sessions again")];
    };
    let place = shown(env, &directory);
    let text = if size == 0 {
        format!("nothing is cached yet; it will be in {place}")
    } else {
        format!("{} in {place}, made again if deleted", bytes(size))
    };
    open_to_others(env, AREA, &directory).into_iter().chain([DoctorFinding::good(AREA, text)]).collect()
}

fn seal(env: &Env, directory: &Path) -> Option<DoctorFinding> {
    let file = app::seal::read(directory).ok().flatten()?;
    let asks = file.method == KeyMethod::Passphrase;
    Some(match file.state {
        SealState::Sealing => DoctorFinding::problem("store", "sealing it was interrupted").by("aperture store encrypt"),
        SealState::Opening => DoctorFinding::problem("store", "opening it was interrupted").by("aperture store decrypt"),
        SealState::Sealed if asks && has_hooks(env) => {
            DoctorFinding::note("store", "it is sealed by a passphrase, for which hooks cannot ask: they work without it")
                .by("aperture store rekey --key-file ~/.aperture-key")
        }
        SealState::Sealed => DoctorFinding::good("store", format!("sealed by a {}", file.method.name().replace('-', " "))),
    })
}

fn has_hooks(env: &Env) -> bool {
    install::states(env).iter().any(|(name, state)| *name == ClaudeCode.name() && !matches!(state, Ok(InstallState::Missing)))
}

/// Examines the sessions of each client: how many there are, the version that wrote the newest, and when they are deleted.
fn sessions(env: &Env) -> Vec<DoctorFinding> {
    const AREA: &str = "sessions";
    let report = match keep::status_report(env) {
        Ok(report) => report,
        Err(error) => return vec![DoctorFinding::problem(AREA, format!("{:#}", error.source))],
    };
    let mut findings = Vec::new();
    for provider in PROVIDERS {
        let own: Vec<_> = report.sessions.iter().filter(|session| session.provider == provider.name()).collect();
        let Some(newest) = own.iter().max_by_key(|session| session.modified_time) else { continue };
        let since = ago(env.style.now, newest.modified_time, "just now");
        let version = version_of(env, &newest.path);
        let by = if version.is_empty() { String::new() } else { format!(", by {version}") };
        let kept =
            report.clients.iter().find(|client| client.provider == provider.name()).and_then(|client| client.retention_days);
        let deletion =
            kept.map_or("are not deleted".to_owned(), |days| format!("are deleted after {}", plural(days as usize, "day")));
        let sessions = plural(own.len(), "session");
        let text = format!("{}: {sessions}, the newest written {since}{by}; they {deletion}", provider.agent());
        findings.push(DoctorFinding::good(AREA, text));
        findings.extend(untested(*provider, &version));
        let soon = |left: u32| left <= keep::SOON_DAYS;
        let lost = own.iter().filter(|session| session.copy != CopyState::Current && session.days_left.is_some_and(soon)).count();
        if lost > 0 && report.setting != Keeping::Off {
            let verb = if lost == 1 { "is" } else { "are" };
            let text =
                format!("{} of {} {verb} deleted within {} days", plural(lost, "session"), provider.agent(), keep::SOON_DAYS);
            let command =
                if report.setting == Keeping::On { "aperture keep --all" } else { "aperture config set sessions.keep on" };
            findings.push(DoctorFinding::note(AREA, text).by(command));
        }
    }
    if findings.is_empty() {
        findings.push(DoctorFinding::note(AREA, format!("no sessions below {}", shown(env, &env.places.home))));
    }
    findings
}

/// Returns the version of the client that wrote the last rows of a session; empty if it is not recorded.
fn version_of(env: &Env, path: &str) -> String {
    let read = || {
        let found = env.find(Some(path)).ok()?;
        let workspace = env.reading().read_as_wanted(found, &|_| false).ok()?;
        Some(workspace.reading.session.latest_origin()?.version.clone())
    };
    read().unwrap_or_default()
}

/// Returns a note if a version is newer than the newest that aperture was tested with.
fn untested(provider: &dyn ProviderAdapter, version: &str) -> Option<DoctorFinding> {
    let tested = provider.tested_version();
    (!tested.is_empty() && version_numbers(version) > version_numbers(tested)).then(|| {
        let text =
            format!("{} {version} is newer than {tested}, the last version that changes were tested with", provider.agent());
        DoctorFinding::note("sessions", text).by("aperture check")
    })
}

fn clients(env: &Env) -> Vec<DoctorFinding> {
    let found = install::states(env).into_iter().map(|(name, state)| {
        let command = format!("aperture install {name}");
        match state {
            Ok(InstallState::Complete) => DoctorFinding::good("clients", format!("{name}: installed")),
            Ok(InstallState::Partial) => {
                DoctorFinding::problem("clients", format!("{name}: parts are missing, or start another program")).by(command)
            }
            Ok(InstallState::Missing) => DoctorFinding::note("clients", format!("{name}: not installed")).by(command),
            // The installation there is not examined.
            Err(error) if matches!(error.source.downcast_ref(), Some(EditError::Commented)) => {
                DoctorFinding::note("clients", format!("{name}: {:#}", error.source)).by(command)
            }
            Err(error) => DoctorFinding::problem("clients", format!("{name}: {:#}", error.source)),
        }
    });
    found.collect()
}

/// The part of the answer of `proxy status` that matters here.
#[derive(Deserialize, Default)]
struct Running {
    running: bool,
    address: String,
}

fn requests(env: &Env) -> Vec<DoctorFinding> {
    const AREA: &str = "requests";
    let asked = env.run_again(&["proxy", "status", "--json"], b"").ok();
    let proxy: Running = asked.and_then(|output| serde_json::from_slice(&output).ok()).unwrap_or_default();
    let mut findings = Vec::new();
    if proxy.running {
        findings.push(DoctorFinding::good(AREA, format!("a proxy listens on {}", proxy.address)));
    }
    let variable =
        |name: &str| env.variable(name).filter(|value| !value.is_empty()).and_then(|value| OsString::into_string(value).ok());
    let file = |path: &Path| files::text(env.disk, path).ok().flatten();
    let mut senders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut others = Vec::new();
    for client in REDIRECTED {
        let (arguments, directory, places) = (&[], &*env.directory, &env.places);
        let route = Route::of(&Launch { program: client, arguments, directory, places, variable: &variable, file: &file });
        let hosts: BTreeSet<String> = route.anthropic.iter().chain(&route.openai).map(|url| host_of(url)).collect();
        hosts.into_iter().for_each(|host| senders.entry(host).or_default().push(client));
        others.extend(route.elsewhere.iter().map(|reason| {
            DoctorFinding::note(AREA, format!("{reason}: requests of {client} do not pass a proxy that aperture run starts"))
        }));
        if route.is_detoured {
            let text = format!("settings of {client} send requests for this machine to another proxy: add 127.0.0.1 to NO_PROXY");
            others.push(DoctorFinding::note(AREA, text));
        }
    }
    findings.extend(senders.iter().map(|(host, clients)| {
        let text = format!("{}: requests go to {host}", clients.join(", "));
        match (is_local(host), proxy.running && proxy.address.ends_with(host)) {
            (_, true) => DoctorFinding::good(AREA, format!("{text}, the proxy")),
            (true, false) => {
                DoctorFinding::note(AREA, format!("{text}, where no proxy of aperture listens")).by("aperture proxy")
            }
            (false, false) => DoctorFinding::note(AREA, text),
        }
    }));
    findings.append(&mut others);
    if findings.is_empty() {
        findings.push(DoctorFinding::good(
            AREA,
            "clients send requests directly to their API; to start one behind a proxy: aperture run -- claude",
        ));
    }
    findings
}

/// Returns the host and port of a URL, without a secret in its path.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, host)| host).to_owned()
}

fn is_local(host: &str) -> bool {
    ["127.", "localhost", "[::1]"].iter().any(|local| host.starts_with(local))
}

/// Examines the settings for a local model, without asking it.
fn sidecar(env: &Env) -> Vec<DoctorFinding> {
    let Some(url) = env.sidecar.url.as_deref().filter(|_| env.sidecar.is_on()) else { return Vec::new() };
    vec![DoctorFinding::good("sidecar", format!("a local model at {} polishes texts", host_of(url)))]
}
