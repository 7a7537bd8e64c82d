//! `aperture report`: one file that shows a session, or the usage of many, to share.

use super::page;
use super::usage::Day;
use crate::app::{CommandError, Env, files, refusal};
use crate::output::{Report, Style, bytes, printable};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("report"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION", conflicts_with_all = ["project", "since"])]
    pub session: Option<String>,
    /// File to write
    #[arg(long, value_name = "FILE", required = true)]
    pub html: PathBuf,
    /// The usage of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".")]
    pub project: Option<PathBuf>,
    /// The usage from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)
    #[arg(long, value_name = "DAY")]
    pub since: Option<Day>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// A report that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "WrittenReport")]
pub struct HtmlReport {
    pub file: String,
    /// Size of the file.
    pub bytes: u64,
}

impl Report for HtmlReport {
    const SCHEMA: &str = "aperture.report/1";

    fn text(&self, _: &Style) -> String {
        format!("wrote {} ({}); credentials are masked\n", printable(&self.file), bytes(self.bytes))
    }
}

/// Writes the file.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let path = env.directory.join(&arguments.html);
    if !arguments.force && env.disk.identify(&path).is_ok() {
        return Err(refusal!("{} exists", path.display()).hint("choose another file, or replace it: --force"));
    }
    let text = if arguments.project.is_some() || arguments.since.is_some() {
        page_of(env, &of_usage(arguments))?
    } else {
        page_of_session(env, &env.find(arguments.session.as_deref())?.path)?
    };
    let written = files::write_private(env.disk, &path, text.as_bytes());
    written.map_err(|error| CommandError::of_disk(error, format!("cannot write {}", path.display())))?;
    env.print(&HtmlReport { file: path.display().to_string(), bytes: text.len() as u64 })
}

/// Returns the page with the answers of commands, each with its name on the page.
fn page_of(env: &Env, asked: &[(&'static str, Vec<String>)]) -> Result<String, CommandError> {
    let mut answers = String::from("{");
    for (place, (name, words)) in asked.iter().enumerate() {
        let words: Vec<&str> = std::iter::once("--json").chain(words.iter().map(String::as_str)).collect();
        let answer = env.run_again(&words, b"")?;
        let comma = if place > 0 { "," } else { "" };
        answers.push_str(&format!("{comma}\"{name}\":{}", String::from_utf8_lossy(&answer).trim_end()));
    }
    answers.push('}');
    Ok(page::one_file(&answers))
}

/// Returns the page of a session in one file.
/// Errors: the session cannot be read.
pub fn page_of_session(env: &Env, session: &Path) -> Result<String, CommandError> {
    let named = |name: &'static str, words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned());
        (name, words.chain(["--session".to_owned(), session.display().to_string()]).collect())
    };
    page_of(
        env,
        &[
            named("status", &["status"]),
            named("blocks", &["blocks"]),
            named("timeline", &["timeline", "--limit", "0"]),
            named("transcript", &["transcript"]),
            named("log", &["log"]),
        ],
    )
}

fn of_usage(arguments: &Arguments) -> Vec<(&'static str, Vec<String>)> {
    let by = |key: &str| {
        let mut words = vec!["usage".to_owned(), "--by".to_owned(), key.to_owned()];
        if let Some(project) = &arguments.project {
            words.push(format!("--project={}", project.display()));
        }
        if let Some(since) = arguments.since {
            words.extend(["--since".to_owned(), since.to_string()]);
        }
        words
    };
    vec![("usage", by("day")), ("models", by("model")), ("by_session", by("session"))]
}
