//! `aperture convert`: writes a session as a new one of another client.

use crate::app::{CommandError, Env, files, refusal, session_name};
use crate::output::{Paint, Report, Style, plural, printable, short_id};
use crate::provider::{NewSession, PROVIDERS, ProviderAdapter};
use crate::text::shell::quoted_word;
use crate::workspace::{fork_id, write_fork};
use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("convert"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Client that continues it
    #[arg(long, value_name = "CLIENT", value_parser = clients())]
    pub to: String,
    /// Report the new session, without writing it
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

fn clients() -> PossibleValuesParser {
    let new = NewSession { id: "", directory: "", timestamp: "" };
    let written = PROVIDERS.iter().filter(|provider| provider.opening(&new).is_some());
    let value = |provider: &&dyn ProviderAdapter| PossibleValue::new(provider.name()).alias(short_name(*provider));
    PossibleValuesParser::new(written.map(value))
}

fn short_name(provider: &dyn ProviderAdapter) -> &'static str {
    provider.name().split('-').next().unwrap_or_default()
}

/// Converts the session.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    let location = &workspace.location;
    let unwritten = |text: String| refusal!(text);
    let is_meant = |provider: &&&dyn ProviderAdapter| [provider.name(), short_name(**provider)].contains(&&*arguments.to);
    let to = *PROVIDERS.iter().find(is_meant).ok_or_else(|| unwritten(format!("unknown client '{}'", arguments.to)))?;
    if to.name() == workspace.provider.name() {
        let error = unwritten(format!("{} is a session of {} already", short_id(&location.id), to.agent()));
        return Err(error.hint("to copy it within the client: aperture fork"));
    }
    let now = env.style.now;
    let id = fork_id(&location.id, now.as_nanosecond());
    let time = now.to_zoned((env.style.zone)()).strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let origin = workspace.reading.session.latest_origin();
    let directory = origin.map_or_else(|| env.directory.clone(), |origin| PathBuf::from(&*origin.directory));
    let timestamp = |time: i64| {
        let moment = jiff::Timestamp::from_millisecond(time).unwrap_or(now);
        moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    };
    let shown = directory.to_string_lossy();
    let new = NewSession { id: &id, directory: &shown, timestamp: &timestamp(now.as_millisecond()) };
    let path = to.new_path(&env.places, &directory, &id, &time);
    let (Some(path), Some(conversion)) = (path, workspace.convert(to, &new, &timestamp)?) else {
        return Err(unwritten(format!("no session of {} is written", to.agent())));
    };
    if conversion.prompts + conversion.answers == 0 {
        return Err(unwritten(format!("{} has no conversation in its window", short_id(&location.id))));
    }
    if !arguments.dry_run {
        write(env, &workspace.path, &path, &conversion.bytes)?;
    }
    env.print(&ConvertReport {
        source: location.id.clone(),
        to: to.name(),
        resume: to.resume_command(&id),
        session: id,
        path: path.display().to_string(),
        has_directory: env.is_directory(&directory),
        directory: directory.display().to_string(),
        dry_run: arguments.dry_run,
        prompts: conversion.prompts,
        answers: conversion.answers,
        records: conversion.records,
        left_media: conversion.media,
        bytes: conversion.bytes.len() as u64,
    })
}

fn write(env: &Env, source: &Path, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let made = files::make_directory(path.parent().unwrap_or(path));
    let written = made.and_then(|()| write_fork(env.disk, source, path, bytes));
    let written = written.with_context(|| format!("cannot write the session {}", session_name(path)));
    written.map_err(|error| CommandError::refused(error).hint("the source is unchanged"))
}

/// The session of another client that was made of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConvertReport {
    /// Id of the session that was converted.
    pub source: String,
    /// Provider of the new session: `claude-code` or `codex`.
    pub to: &'static str,
    /// Id of the new session.
    pub session: String,
    /// File of the new session.
    pub path: String,
    pub directory: String,
    /// False if the directory does not exist.
    #[serde(skip)]
    pub has_directory: bool,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Number of texts of the user.
    pub prompts: usize,
    /// Number of texts of the model.
    pub answers: usize,
    /// Number of tool calls and results, which are texts in the new session.
    pub records: usize,
    /// Number of images and documents, which are left out.
    pub left_media: usize,
    /// Size of the new file.
    pub bytes: u64,
    /// Command that continues the new session.
    pub resume: String,
}

impl Report for ConvertReport {
    const SCHEMA: &str = "aperture.convert/1";

    fn text(&self, style: &Style) -> String {
        let verb = if self.dry_run { "would convert" } else { "converted" };
        let (prompts, answers) = (plural(self.prompts, "prompt"), plural(self.answers, "answer"));
        let mut text = format!(
            "{verb} {} for {}: {prompts}, {answers}, {} of tools as text\n",
            short_id(&self.source),
            self.to,
            plural(self.records, "record"),
        );
        if self.left_media > 0 {
            text.push_str(&format!("left out: images and documents ({})\n", self.left_media));
        }
        if !self.dry_run {
            let enter = if self.has_directory { format!("cd {} && ", quoted_word(&self.directory)) } else { String::new() };
            let undo = format!("to remove it: rm {}", quoted_word(&self.path));
            text.push_str(&format!(
                "new session  {}\ncontinue it  {}{}\n{}\n",
                style.paint(Paint::Name, &self.session),
                printable(&enter),
                self.resume,
                style.paint(Paint::Dim, &printable(&undo))
            ));
        }
        text
    }
}
