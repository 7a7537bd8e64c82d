//! `aperture preset`: lists, shows and selects compression presets.

use crate::app::{CommandError, Env, ErrorKind, PROJECT_FILE, files};
use crate::commands::preset::{Action, Arguments};
use crate::engine::{self, PRESETS};
use crate::output::{PresetReport, PresetRow};
use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};

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
            let path = set(env, preset.name)?;
            env.note(&format!("wrote preset = \"{}\" to {}", preset.name, path.display()));
            vec![PresetRow { used: true, ..row(preset) }]
        }
    };
    env.print(&PresetReport { presets })
}

/// Sets the preset in the project's settings: in the `aperture.toml` of the working directory or its nearest ancestor that has one.
/// Returns the path of the file.
fn set(env: &Env, name: &str) -> Result<PathBuf, CommandError> {
    let mut paths = env.directory.ancestors().map(|directory| directory.join(PROJECT_FILE));
    let path = paths.find(|path| env.disk.identify(path).is_ok()).unwrap_or_else(|| env.directory.join(PROJECT_FILE));
    let write = |path: &Path| -> anyhow::Result<()> {
        let before = files::text(env.disk, path)?;
        let mut document: toml_edit::DocumentMut = before.as_deref().unwrap_or_default().parse()?;
        document["preset"] = toml_edit::value(name);
        let (before, after) = (before.as_deref().map(str::as_bytes), document.to_string());
        Ok(files::replace(env.disk, path, before, after.as_bytes(), files::Mode::Plain)?)
    };
    write(&path)
        .with_context(|| format!("cannot set the preset in {}", path.display()))
        .map_err(|error| CommandError::new(ErrorKind::Refused, error).hint("check that you may write it: ls -l"))?;
    Ok(path)
}

fn find_preset(name: &str) -> Result<&'static engine::Preset, CommandError> {
    engine::preset(name).ok_or_else(|| {
        let error = anyhow!("unknown preset '{name}'");
        CommandError::new(ErrorKind::Usage, error).hint("to list them: aperture preset list")
    })
}
