//! The text of `aperture help clients`, made from the table of providers.

use crate::output::wrap;
use crate::provider::{PROVIDERS, Places};
use std::path::PathBuf;

/// Columns of the names of facts, and of a whole line.
const NAME_COLUMNS: usize = 20;
const COLUMNS: usize = 79;

/// Lists the clients whose sessions aperture reads: where the sessions are, the API, and the variables that change both.
pub fn clients() -> String {
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
