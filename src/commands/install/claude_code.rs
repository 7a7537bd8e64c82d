//! `aperture install claude-code` and `uninstall claude-code`: the integration with Claude Code.

use crate::app::{CommandError, Env, Keeping, files, settings_file, with_keeping};
use crate::commands::install::made::{Made, read, refused};
use crate::commands::install::report::{FileChange, InstallReport, InstallState};
use crate::commands::install::{Checked, install, uninstall};
use crate::commands::{hook, keep};
use crate::output::plural;
use crate::provider::claude_code::ClaudeCode;
use crate::provider::claude_code::extension::{is_sealed, plugin, slash_commands};
use crate::provider::claude_code::settings::{self, Calls, NO_FILE};
use crate::provider::mcp_client::Edited;
use anyhow::Context;
use std::path::PathBuf;

/// The places of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InstallScope {
    /// All projects of the user: in ~/.claude.
    User,
    /// All users of this project: in .claude and .mcp.json.
    Project,
    /// This user in this project: hooks and status line in .claude/settings.local.json.
    Local,
}

/// The options that installation and removal have in common: the arguments of `uninstall claude-code`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Options {
    /// Where, in the words of Claude Code
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    #[serde(serialize_with = "crate::commands::json::choice")]
    pub scope: InstallScope,
    /// Show the difference; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// A file that the installation changes or creates.
struct Piece {
    path: PathBuf,
    kind: Kind,
}

/// The part of a file that belongs to aperture.
enum Kind {
    Settings,
    Servers,
    /// The whole file, with what it adds to the client.
    Whole(String, &'static str),
}

impl Kind {
    /// Returns what belongs to aperture in the text of the file.
    fn parts(&self, text: &str) -> String {
        match self {
            Kind::Settings => {
                let (hooks, has_status_line) = settings::entries(text);
                format!("{}{}", plural(hooks, "hook"), if has_status_line { ", status line" } else { "" })
            }
            Kind::Servers => "MCP server".to_owned(),
            Kind::Whole(_, what) => (*what).to_owned(),
        }
    }
}

/// Installs, or with `--check` reports missing parts.
pub fn run(env: &Env, arguments: &Checked<Options>) -> Result<(), CommandError> {
    let Checked { options, check } = arguments;
    let (pieces, stop) = pieces(env, options)?;
    let report = InstallReport { files: additions(env, options, &pieces)?, ..report(env, "install", options, *check) };
    install(env, &report, &stop)?;
    if !options.dry_run && !check && options.scope == InstallScope::User {
        ask_to_keep(env)?;
    }
    Ok(())
}

/// Returns the files with what aperture adds to them.
fn additions(env: &Env, options: &Options, pieces: &[Piece]) -> Result<Vec<FileChange>, CommandError> {
    let add = |Piece { path, kind }: &Piece| {
        let before = read(env, path)?;
        let text = before.clone().unwrap_or_else(|| NO_FILE.to_owned());
        let (calls, program) = (calls(env, options)?, program(env, options)?);
        let edit = |text: &str| match kind {
            Kind::Settings => settings::install(text, &calls),
            Kind::Servers => settings::SERVERS.install(text, &program),
            Kind::Whole(..) if before.is_some() && !is_sealed(text) => {
                Ok(Edited { text: text.to_owned(), taken: vec!["the file"] })
            }
            Kind::Whole(wanted, _) => Ok(Edited { text: wanted.clone(), taken: Vec::new() }),
        };
        let entry = || edit(NO_FILE).ok().map(|edited| edited.text);
        let edited = edit(&text).map_err(|error| refused(error, path, entry().as_deref()))?;
        let parts = kind.parts(&edited.text);
        Ok(FileChange::new(path, parts, before, Some(edited.text), edited.taken))
    };
    pieces.iter().map(add).collect()
}

/// Returns what is installed for the user.
pub fn state(env: &Env) -> Result<InstallState, CommandError> {
    let options = Options { scope: InstallScope::User, dry_run: true };
    let (pieces, _) = pieces(env, &options)?;
    let made = Made::read(env)?;
    Ok(InstallState::of(&additions(env, &options, &pieces)?, &removals(env, &pieces, &made)?))
}

/// Asks once if sessions are copied before the client deletes them, and writes the answer to the user's settings.
fn ask_to_keep(env: &Env) -> Result<(), CommandError> {
    let (Keeping::Ask, Some(days)) = (env.keeping, env.kept()?.retention_days(&ClaudeCode)) else { return Ok(()) };
    let Some(path) = settings_file().filter(|_| !env.json) else { return Ok(()) };
    let before = read(env, &path)?;
    let add = |keeping| with_keeping(before.as_deref().unwrap_or_default(), keeping);
    if add(Keeping::On).is_none() {
        return Ok(());
    }
    let question =
        format!("Claude deletes sessions {} after their last change. Keep compressed copies?", plural(days as usize, "day"));
    let Some(answer) = env.ask(&question) else { return Ok(()) };
    let after = add(if answer { Keeping::On } else { Keeping::Off }).unwrap_or_default();
    files::replace(env.disk, &path, before.as_deref().map(str::as_bytes), after.as_bytes(), files::Mode::Plain)
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(CommandError::refused)?;
    if answer {
        keep::keep_in_background(env, None);
    }
    Ok(())
}

/// Removes the installed parts.
pub fn run_uninstall(env: &Env, options: &Options) -> Result<(), CommandError> {
    let (pieces, stop) = pieces(env, options)?;
    let made = Made::read(env)?;
    let report = InstallReport { files: removals(env, &pieces, &made)?, ..report(env, "uninstall", options, false) };
    uninstall(env, &report, &stop, made)
}

/// Returns the files that exist, without the parts of aperture.
fn removals(env: &Env, pieces: &[Piece], made: &Made) -> Result<Vec<FileChange>, CommandError> {
    let mut files = Vec::new();
    for Piece { path, kind } in pieces {
        let Some(before) = read(env, path)? else { continue };
        let after = match kind {
            Kind::Settings => settings::uninstall(&before),
            Kind::Servers => settings::SERVERS.uninstall(&before),
            Kind::Whole(..) if is_sealed(&before) => Ok(NO_FILE.to_owned()),
            Kind::Whole(..) => Ok(before.clone()),
        };
        let after = after.map_err(|error| refused(error, path, None))?;
        let foreign = matches!(kind, Kind::Whole(..)) && after == before;
        let taken = if foreign { vec!["the file"] } else { Vec::new() };
        let gone = after == NO_FILE && before != NO_FILE && made.has_file(path);
        let parts = kind.parts(&before);
        files.push(FileChange::new(path, parts, Some(before), (!gone).then_some(after), taken));
    }
    Ok(files)
}

fn report(env: &Env, verb: &'static str, options: &Options, check: bool) -> InstallReport {
    let scope = match options.scope {
        InstallScope::User => "user",
        InstallScope::Project => "project",
        InstallScope::Local => "local",
    };
    let home = env.places.home.to_string_lossy().into_owned();
    InstallReport { verb, into: "claude-code", scope, dry_run: options.dry_run, check, files: Vec::new(), note: None, home }
}

/// Returns the files, and the directory that is never deleted.
fn pieces(env: &Env, options: &Options) -> Result<(Vec<Piece>, PathBuf), CommandError> {
    let program = program(env, options)?;
    let whole = |directory: PathBuf| {
        let file = move |(name, text)| Piece { path: directory.join(name), kind: Kind::Whole(text, "slash command") };
        slash_commands(&program).into_iter().map(file)
    };
    let project = env.directory.join(".claude");
    if options.scope == InstallScope::Local {
        let settings = Piece { path: project.join("settings.local.json"), kind: Kind::Settings };
        return Ok((vec![settings], env.directory.clone()));
    }
    if options.scope == InstallScope::Project {
        let mut pieces = vec![
            Piece { path: project.join("settings.json"), kind: Kind::Settings },
            Piece { path: env.directory.join(".mcp.json"), kind: Kind::Servers },
        ];
        pieces.extend(whole(project.join("commands").join("aperture")));
        return Ok((pieces, env.directory.clone()));
    }
    let config = env.places.claude_directory();
    let directory = config.join("skills").join("aperture");
    let manifest =
        Piece { path: directory.join(".claude-plugin").join("plugin.json"), kind: Kind::Whole(plugin(&program), "MCP server") };
    let mut pieces = vec![Piece { path: config.join("settings.json"), kind: Kind::Settings }, manifest];
    pieces.extend(whole(directory.join("commands")));
    Ok((pieces, config))
}

fn program(env: &Env, options: &Options) -> Result<String, CommandError> {
    super::program(env, options.scope == InstallScope::Project)
}

fn calls(env: &Env, options: &Options) -> Result<Calls, CommandError> {
    Ok(Calls { program: program(env, options)?, events: hook::wanted(env), has_status_line: true })
}
