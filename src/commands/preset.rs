//! `aperture preset`: lists, shows and selects compression presets.

use super::config;
use crate::app::{CommandError, Env, misuse};
use crate::engine::{self, PRESETS};
use crate::output::{Paint, Report, Style};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture preset                    lists them
  aperture preset use aggressive     writes it to aperture.toml in this directory
  aperture compress --preset light")]
pub struct Arguments {
    /// The action; `list` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

impl Arguments {
    /// Returns true if nothing is written.
    pub fn only_reads(&self) -> bool {
        !matches!(self.action, Some(Action::Use { .. }))
    }
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List the presets
    List,
    /// Show one preset, by default the one in use with the settings applied
    Show {
        /// Its name
        name: Option<String>,
    },
    /// Use a preset in this project: set it in aperture.toml
    Use {
        /// Its name
        name: String,
    },
}

/// Lists, shows or selects presets.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let measured = |preset: &engine::Preset| engine::preset(preset.name).filter(|named| *named == preset);
    let row = |preset: &engine::Preset| PresetRow {
        name: preset.name.to_owned(),
        description: preset.description.to_owned(),
        keeps_percent: measured(preset).map(|named| named.keeps_percent),
        frees_percent: measured(preset).map(|named| named.frees_percent),
        worth_millionths: preset.worth_millionths,
        newest_percent: preset.newest_percent,
        used: preset.name == env.preset,
    };
    let presets = match arguments.action.as_ref().unwrap_or(&Action::List) {
        Action::List => PRESETS.iter().map(row).collect(),
        Action::Show { name: Some(name) } => vec![row(find_preset(name)?)],
        Action::Show { name: None } => {
            vec![row(&env.rules.preset)]
        }
        Action::Use { name } => {
            let preset = find_preset(name)?;
            let path = config::change(env, true, &|document| config::put(document, "preset", preset.name.into()))?;
            env.note(&format!("wrote preset = \"{}\" to {}", preset.name, path.display()));
            vec![PresetRow { used: true, ..row(preset) }]
        }
    };
    env.print(&PresetReport { presets })
}

fn find_preset(name: &str) -> Result<&'static engine::Preset, CommandError> {
    engine::preset(name).ok_or_else(|| misuse!("unknown preset '{name}'").hint("to list them: aperture preset list"))
}

/// A preset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preset")]
pub struct PresetRow {
    pub name: String,
    pub description: String,
    /// Measured share of what the agent needed later that is left; null if the settings override the preset.
    pub keeps_percent: Option<u32>,
    /// Measured share of the old content that is removed; null as above.
    pub frees_percent: Option<u32>,
    /// Minimum usefulness per byte: the chance that the agent needs the content.
    pub worth_millionths: f32,
    /// Newest part of the window that is kept almost unchanged, as a share of its tokens.
    pub newest_percent: f64,
    /// True if the preset is in use.
    pub used: bool,
}

/// The presets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PresetReport {
    /// Presets, the mildest first.
    pub presets: Vec<PresetRow>,
}

impl Report for PresetReport {
    const SCHEMA: &str = "aperture.presets/1";

    fn text(&self, style: &Style) -> String {
        let row = |preset: &PresetRow| {
            let mark = if preset.used { " (in use)" } else { "" };
            let measured = match preset.keeps_percent.zip(preset.frees_percent) {
                Some((kept, freed)) => format!("keeps {kept} % of what the agent needed later, frees ~{freed} %"),
                None => format!("not measured: its threshold is set to {} per million", preset.worth_millionths),
            };
            format!(
                "{}{}\n  {}\n  {}\n",
                style.paint(Paint::Heading, &preset.name),
                style.paint(Paint::Good, mark),
                preset.description,
                style.paint(Paint::Dim, &measured),
            )
        };
        self.presets.iter().map(row).collect()
    }
}
