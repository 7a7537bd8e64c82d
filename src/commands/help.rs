//! `aperture help`: prints the help of commands and topics.

use super::{CommandLine, topic_text};
use crate::app::{CommandError, ErrorKind};
use crate::output::wrap;
use crate::provider::{PROVIDERS, Places};
use anyhow::anyhow;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `help`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture help manifest
  aperture help selectors
  aperture help lifecycle")]
pub struct Arguments {
    /// A command, or one of the topics selectors, lifecycle, settings, bulk and clients
    pub topic: Option<String>,
}

/// Prints the help text.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let name = arguments.topic.as_deref();
    let text = match name.and_then(help_topic) {
        Some(text) => text,
        None => of_command(name)?,
    };
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// Returns the text of a topic; `None` if there is no such topic.
pub fn help_topic(name: &str) -> Option<String> {
    if name == "clients" { Some(clients()) } else { topic_text(name) }
}

/// Returns the `--help` text of a command or of the program. Only the part of the command line that it shows is defined.
fn of_command(name: Option<&str>) -> Result<String, CommandError> {
    let words = ["aperture"].into_iter().chain(name).chain(["--help"]);
    match CommandLine::try_parse_from(words) {
        Err(help) if help.kind() == clap::error::ErrorKind::DisplayHelp => Ok(help.render().to_string()),
        _ => {
            let error = anyhow!("unknown command or topic '{}'", name.unwrap_or_default());
            Err(CommandError::new(ErrorKind::Usage, error)
                .hint("to list the commands: aperture help; the topics are selectors, lifecycle, settings, bulk and clients"))
        }
    }
}

/// Columns of the names of facts, and of a whole line.
const NAME_COLUMNS: usize = 20;
const COLUMNS: usize = 79;

/// Lists the clients whose sessions aperture reads: where the sessions are, the API, and the variables that change both.
fn clients() -> String {
    let mut text = String::from("The clients whose sessions aperture reads and changes:\n");
    let places = Places { home: PathBuf::from("~"), ..Places::default() };
    for provider in PROVIDERS {
        let (variables, registries) = (provider.variables(), provider.registries(&places));
        let open = if registries.is_empty() { "lock files".to_owned() } else { format!("files in {}", joined(&registries)) };
        let fold = if provider.branches() { "linking rows again" } else { "a compaction as the client writes it" };
        text.push_str(&format!("\n  {} ({})\n", provider.name(), provider.agent()));
        for (name, fact) in [
            ("sessions", joined(&provider.roots(&places))),
            ("moved by", variables.home.to_owned()),
            ("API", provider.api_base_url().to_owned()),
            ("changed by", variables.api_base_url.to_owned()),
            ("open sessions", format!("known by {open}")),
            ("turns", format!("folded by {fold}")),
        ] {
            let line = format!("    {name:<width$}{fact}", width = NAME_COLUMNS - 4);
            text.push_str(&(wrap(&line, NAME_COLUMNS, COLUMNS).join("\n") + "\n"));
        }
    }
    text
}

/// Returns paths as a list for people.
fn joined(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string().replace('\\', "/"));
    paths.collect::<Vec<_>>().join(" and ")
}
