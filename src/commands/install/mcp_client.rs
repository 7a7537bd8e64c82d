//! `aperture install codex`, `cursor`, `vscode`, `gemini` and `opencode`: the MCP server in the list of another client.

use super::made::{Made, read, refused, write};
use super::report::{FileChange, InstallReport, InstallState};
use crate::app::{CommandError, Env, ErrorKind, files};
use crate::provider::EditError;
use crate::provider::claude_code::settings::NO_FILE;
use crate::provider::mcp_client::McpClient;
use anyhow::anyhow;
use std::path::{Path, PathBuf};

/// Arguments of the installation into a client with a list of MCP servers.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The options that both commands have.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
    /// Write nothing; exit with 1 if parts are missing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

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

/// Adds the server to the list of a client, or with `check` reports that it is missing.
pub fn run(env: &Env, client: &McpClient, arguments: &Arguments) -> Result<(), CommandError> {
    let Arguments { options, check } = arguments;
    let program = super::program(env, options.in_project)?;
    let missing = change(env, client, options, if *check { Work::Check } else { Work::Install }, &|text| {
        let text = text.unwrap_or(NO_FILE);
        client.list.install(text, &program).map(|edited| (Some(edited.text), edited.taken))
    })?;
    if *check && missing { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// Returns what a client of the user has; `None` if it has no directory of settings, as a client that is not in use.
pub fn state(env: &Env, client: &McpClient) -> Result<Option<InstallState>, CommandError> {
    let Some(path) = client.file(&env.places, None) else { return Ok(None) };
    if !path.parent().is_some_and(files::is_there) {
        return Ok(None);
    }
    let (program, before) = (super::program(env, false)?, read(env, &path)?);
    let text = before.as_deref().unwrap_or(NO_FILE);
    let edited = client.list.install(text, &program).map_err(|error| refused(error, &path))?;
    let removed = client.list.uninstall(text).map_err(|error| refused(error, &path))?;
    Ok(Some(match (edited.text == text && before.is_some(), removed == text) {
        (true, _) => InstallState::Complete,
        (false, false) => InstallState::Partial,
        (false, true) => InstallState::Missing,
    }))
}

/// Removes the server.
pub fn run_uninstall(env: &Env, client: &McpClient, options: &Options) -> Result<(), CommandError> {
    let removed = change(env, client, options, Work::Uninstall, &|text| {
        let Some(text) = text else { return Ok((None, Vec::new())) };
        client.list.uninstall(text).map(|after| (Some(after), Vec::new()))
    });
    removed.map(drop)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Install,
    Check,
    Uninstall,
}

/// The content of a file after a change, and the entries of other programs that stayed in place of aperture's.
type Changed = (Option<String>, Vec<&'static str>);

/// Changes the list of a client. Returns true if it is another than before.
fn change(
    env: &Env,
    client: &McpClient,
    options: &Options,
    work: Work,
    edit: &dyn Fn(Option<&str>) -> Result<Changed, EditError>,
) -> Result<bool, CommandError> {
    let project = options.in_project.then_some(&*env.directory);
    let path = client.file(&env.places, project).ok_or_else(|| {
        CommandError::new(ErrorKind::Usage, anyhow!("{} has no list of servers for one project", client.name))
            .hint(format!("for all projects: aperture install {}", client.name))
    })?;
    let before = read(env, &path)?;
    let (after, taken) = edit(before.as_deref()).map_err(|error| refused(error, &path))?;
    let mut made = Made::read(env)?;
    let gone = work == Work::Uninstall && after.as_deref() == Some(NO_FILE) && made.has_file(&path);
    let is_other = before != after;
    let change = FileChange::new(&path, "MCP server".to_owned(), before, after.filter(|_| !gone), taken);
    let home = env.places.home.to_string_lossy().into_owned();
    let scope = if options.in_project { "project" } else { "user" };
    let verb = if work == Work::Uninstall { "uninstall" } else { "install" };
    let (dry_run, check) = (options.dry_run, work == Work::Check);
    let report = InstallReport { verb, into: client.name, scope, dry_run, check, files: vec![change], home };
    if !dry_run && !check {
        let stop: PathBuf = project.map_or_else(|| env.places.home.clone(), Path::to_path_buf);
        if work == Work::Install {
            made.add(report.files.iter().filter(|change| change.before.is_none()).map(|change| &*change.path));
            made.write(env, false)?;
            write(env, &report.files, &stop, &made)?;
        } else {
            write(env, &report.files, &stop, &made)?;
            made.write(env, true)?;
        }
    }
    env.print(&report)?;
    Ok(is_other)
}
