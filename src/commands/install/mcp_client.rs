//! `aperture install codex`, `cursor`, `vscode`, `gemini` and `opencode`: the MCP server in the list of another client.

use super::made::{Made, read, refused};
use super::report::{FileChange, InstallReport, InstallState};
use super::{Checked, install, uninstall};
use crate::app::{CommandError, Env, files, misuse};
use crate::commands::hook;
use crate::output::plural;
use crate::provider::EditError;
use crate::provider::claude_code::settings::{self, Calls, NO_FILE};
use crate::provider::mcp_client::{Edited, McpClient};
use std::path::{Path, PathBuf};

/// The name of the part in the list of servers.
const SERVER: &str = "MCP server";

/// The options that installation and removal have in common.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Options {
    /// In the settings of this project, for all its users
    #[arg(long)]
    pub in_project: bool,
    /// Show the difference; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Adds the server to the list of a client, and its hooks, or with `check` reports that something is missing.
pub fn run(env: &Env, client: &McpClient, arguments: &Checked<Options>) -> Result<(), CommandError> {
    let Checked { options, check } = arguments;
    let report = report(env, client, options, "install", *check, additions(env, client, options)?);
    install(env, &report, &stop(env, options))
}

/// Removes the server and the hooks.
pub fn run_uninstall(env: &Env, client: &McpClient, options: &Options) -> Result<(), CommandError> {
    let made = Made::read(env)?;
    let report = report(env, client, options, "uninstall", false, removals(env, client, options, &made)?);
    uninstall(env, &report, &stop(env, options), made)
}

/// Returns what a client of the user has; `None` if it has no directory of settings, as a client that is not in use.
pub fn state(env: &Env, client: &McpClient) -> Result<Option<InstallState>, CommandError> {
    let options = Options { in_project: false, dry_run: true };
    if !list_file(env, client, &options)?.parent().is_some_and(files::is_there) {
        return Ok(None);
    }
    let made = Made::read(env)?;
    Ok(Some(InstallState::of(&additions(env, client, &options)?, &removals(env, client, &options, &made)?)))
}

/// Returns the file with the list of servers.
/// Errors: the client has none for projects.
fn list_file(env: &Env, client: &McpClient, options: &Options) -> Result<PathBuf, CommandError> {
    client.file(&env.places, options.in_project.then_some(&*env.directory)).ok_or_else(|| {
        misuse!("{} has no list of servers for one project", client.name)
            .hint(format!("for all projects: aperture install {}", client.name))
    })
}

fn hooks_file(env: &Env, client: &McpClient, options: &Options) -> Option<PathBuf> {
    client.hooks_file(&env.places).filter(|_| !options.in_project)
}

fn additions(env: &Env, client: &McpClient, options: &Options) -> Result<Vec<FileChange>, CommandError> {
    let program = super::program(env, options.in_project)?;
    let list = list_file(env, client, options)?;
    let mut changes = vec![addition(env, &list, SERVER, &|text| client.list.install(text, &program))?];
    if let Some(path) = hooks_file(env, client, options) {
        let calls = Calls { program, events: hook::wanted_by_others(), has_status_line: false };
        let parts = plural(calls.events.len(), "hook");
        changes.push(addition(env, &path, &parts, &|text| settings::install(text, &calls))?);
    }
    Ok(changes)
}

fn addition(
    env: &Env,
    path: &Path,
    parts: &str,
    edit: &dyn Fn(&str) -> Result<Edited, EditError>,
) -> Result<FileChange, CommandError> {
    let before = read(env, path)?;
    let edited = edit(before.as_deref().unwrap_or(NO_FILE))
        .map_err(|error| refused(error, path, edit(NO_FILE).ok().map(|edited| edited.text).as_deref()))?;
    Ok(FileChange::new(path, parts.to_owned(), before, Some(edited.text), edited.taken))
}

fn removals(env: &Env, client: &McpClient, options: &Options, made: &Made) -> Result<Vec<FileChange>, CommandError> {
    let list = list_file(env, client, options)?;
    let mut changes = vec![removal(env, &list, SERVER, &|text| client.list.uninstall(text), made)?];
    if let Some(path) = hooks_file(env, client, options) {
        changes.push(removal(env, &path, "hooks", &settings::uninstall, made)?);
    }
    Ok(changes)
}

fn removal(
    env: &Env,
    path: &Path,
    parts: &str,
    edit: &dyn Fn(&str) -> Result<String, EditError>,
    made: &Made,
) -> Result<FileChange, CommandError> {
    let before = read(env, path)?;
    let after = before.as_deref().map(edit).transpose().map_err(|error| refused(error, path, None))?;
    let gone = after.as_deref() == Some(NO_FILE) && made.has_file(path);
    Ok(FileChange::new(path, parts.to_owned(), before, after.filter(|_| !gone), Vec::new()))
}

/// Returns the directory that is never deleted.
fn stop(env: &Env, options: &Options) -> PathBuf {
    if options.in_project { env.directory.clone() } else { env.places.home.clone() }
}

fn report(
    env: &Env,
    client: &McpClient,
    options: &Options,
    verb: &'static str,
    check: bool,
    files: Vec<FileChange>,
) -> InstallReport {
    let home = env.places.home.to_string_lossy().into_owned();
    let scope = if options.in_project { "project" } else { "user" };
    let has_hooks = verb == "install" && hooks_file(env, client, options).is_some();
    let note = has_hooks.then(|| format!("{} runs the hooks once you trust them there: /hooks", client.name));
    InstallReport { verb, into: client.name, scope, dry_run: options.dry_run, check, files, note, home }
}
