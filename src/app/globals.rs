//! The options of every command.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Session: a path, an id or an id prefix [default: the newest of this project]
    #[arg(short, long, global = true, value_name = "SESSION")]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Size of the context window in tokens, such as 200k [default: by model]
    #[arg(long, global = true, value_name = "TOKENS", value_parser = tokens)]
    pub window: Option<u64>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub color: ColorChoice,
    /// Run as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Do not read or write the cache
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Do not use a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// The budget of the window for the rule behind the proxy, in tokens, in place of the settings: the option of `run`.
    #[arg(skip)]
    pub budget: Option<u64>,
}

/// The conditions under which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Parses a number of tokens, such as `200k`.
pub fn tokens(text: &str) -> Result<u64, String> {
    match crate::engine::selector::amount(text) {
        Some(value) if value >= 1.0 => Ok(value as u64),
        _ => Err("write a number of tokens as 200000, 200k or 1M".to_owned()),
    }
}

/// Returns the parser of a value by its name.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
    named: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| named(&name).ok_or("unknown name"))
}

/// Parses a whole number.
pub fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "write a whole number, such as 2".to_owned())
}
