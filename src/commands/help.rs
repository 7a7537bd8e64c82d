//! `aperture help`: prints the help of commands and topics.

use super::CommandLine;
use crate::app::{CommandError, misuse};
use crate::engine::selector::{FUNCTIONS, NAMES};
use crate::engine::{TRANSITIONS, Transition};
use crate::model::State;
use crate::output::wrap;
use crate::provider::{PROVIDERS, Places};
use crate::wire::stages::STAGES;
use std::io::Write;
use std::path::PathBuf;

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
    let names = || NAMES.iter().chain(FUNCTIONS).map(|(name, meaning)| in_columns(name, meaning)).collect::<String>();
    let states = || State::ALL.map(|state| in_columns(state.name(), state.meaning())).concat();
    Some(match name {
        "selectors" => include_str!("help/selectors.txt").replacen("{names}", &names(), 1),
        "lifecycle" => {
            include_str!("help/lifecycle.txt").replacen("{states}", &states(), 1).replacen("{transitions}", &transitions(), 1)
        }
        "settings" => include_str!("help/settings.txt").replacen("{pipeline}", &pipeline(), 1),
        "clients" => clients(),
        "bulk" => include_str!("help/bulk.txt").to_owned(),
        "files" => include_str!("help/files.txt").to_owned(),
        _ => return None,
    })
}

/// The names of the topics.
pub const HELP_TOPICS: &[&str] = &["selectors", "lifecycle", "settings", "clients", "bulk", "files"];

/// Returns the `--help` text of a command or of the program. Only the part of the command line that it shows is defined.
fn of_command(name: Option<&str>) -> Result<String, CommandError> {
    let words = ["aperture"].into_iter().chain(name).chain(["--help"]);
    match CommandLine::try_parse_from(words) {
        Err(help) if help.kind() == clap::error::ErrorKind::DisplayHelp => Ok(help.render().to_string()),
        _ => Err(misuse!("unknown command or topic '{}'", name.unwrap_or_default())
            .hint("to list the commands: aperture help; the topics are selectors, lifecycle, settings, bulk and clients")),
    }
}

/// Columns of the names of facts, and of a whole line.
const NAME_COLUMNS: usize = 20;
const COLUMNS: usize = 79;

/// Lists the clients whose sessions aperture reads: where the sessions are, the API, and the variables that change both.
fn clients() -> String {
    let mut text = String::from("The clients whose sessions aperture reads:\n");
    let places = Places { home: PathBuf::from("~"), ..Places::default() };
    for provider in PROVIDERS {
        let (variables, registries) = (provider.variables(), provider.registries(&places));
        let open = if registries.is_empty() { "lock files".to_owned() } else { format!("files in {}", joined(&registries)) };
        let fold = if provider.branches() { "linking rows again" } else { "a compaction as the client writes it" };
        text.push_str(&format!("\n  {} ({})\n", provider.name(), provider.agent()));
        let mut facts = vec![
            ("sessions", joined(&provider.roots(&places))),
            ("moved by", variables.home.to_owned()),
            ("API", provider.api_base_url().to_owned()),
            ("changed by", variables.api_base_url.to_owned()),
        ];
        match provider.read_only() {
            None => facts.extend([("open sessions", format!("known by {open}")), ("turns", format!("folded by {fold}"))]),
            Some(_) => facts.push(("changes", "none: its sessions are only read".to_owned())),
        }
        for (name, fact) in facts.into_iter().filter(|(_, fact)| !fact.is_empty()) {
            let line = format!("    {name:<width$}{fact}", width = NAME_COLUMNS - 4);
            text.push_str(&(wrap(&line, NAME_COLUMNS, COLUMNS).join("\n") + "\n"));
        }
    }
    text
}

fn joined(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string().replace('\\', "/"));
    paths.collect::<Vec<_>>().join(" and ")
}

fn pipeline() -> String {
    let mut text = in_columns("[pipeline]", "the stages of the proxy, in order:");
    for stage in STAGES {
        for (place, setting) in stage.settings.iter().enumerate() {
            let indent = if place == 0 { "" } else { "  " };
            text.push_str(&in_columns(
                &format!("{} = {}", setting.key, setting.default),
                &format!("{indent}{}", setting.meaning),
            ));
        }
    }
    text
}

fn transitions() -> String {
    let listed = |transition: &Transition| {
        let (name, sources, target) = (transition.name, sources(transition), transition.to.name());
        format!("\n  {name}: {sources} → {target}\n{}", in_columns("", transition.when))
    };
    TRANSITIONS.iter().map(listed).collect()
}

/// Returns the source states of a transition; `any` if they are all states except its target.
fn sources(transition: &Transition) -> String {
    if transition.from.len() + 1 == State::ALL.len() {
        return "any".to_owned();
    }
    transition.from.iter().map(|state| state.name()).collect::<Vec<_>>().join(", ")
}

fn in_columns(name: &str, meaning: &str) -> String {
    let indent = 31 + meaning.len() - meaning.trim_start().len();
    wrap(&format!("  {name:<29}{meaning}"), indent, COLUMNS).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Selector;

    #[test]
    fn each_selector_in_the_help_is_one() {
        let text = help_topic("selectors").unwrap();
        let (table, rest) = text.split_once("\n  a & b").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        let named = rows.flat_map(|row| {
            let mut columns: Vec<&str> = row.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
            columns.pop();
            columns
        });
        let quoted = rest.lines().filter_map(|line| line.split('\'').nth(1));
        let operators = ["1 & 2", "1 | 2", "1, 2", "~1", "1 ~ 2", "(1)"];
        let selectors: Vec<&str> = named.chain(quoted).chain(operators).collect();
        assert!(
            ["..20", "path(\"src/**\")", "stale & larger(2k)"].iter().all(|known| selectors.contains(known)),
            "{selectors:?}"
        );
        for selector in selectors {
            let parsed = Selector::parse(selector.trim_end_matches('…'));
            assert!(parsed.is_ok(), "{selector}: {}", parsed.unwrap_err());
        }
    }
}
