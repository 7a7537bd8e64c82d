use super::{Paint, Report, Style};
use crate::engine::LevelsByAge;
use serde::Serialize;

/// A preset, or the settings over it.
#[derive(Clone, Debug, Serialize)]
pub struct PresetRow {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// How short stale blocks get.
    pub levels: LevelsByAge,
    /// Whether it is in use.
    pub used: bool,
}

/// Presets.
#[derive(Clone, Debug, Serialize)]
pub struct PresetReport {
    /// The presets, the mildest first.
    pub presets: Vec<PresetRow>,
}

impl Report for PresetReport {
    fn schema(&self) -> &'static str {
        "aperture.presets/1"
    }

    fn text(&self, style: &Style) -> String {
        let row = |preset: &PresetRow| {
            let mark = if preset.used { " (in use)" } else { "" };
            let levels = &preset.levels;
            let ages = [("trimmed", levels.trimmed), ("summarized", levels.summarized), ("minimal", levels.minimal)];
            let mut parts: Vec<String> = ages
                .iter()
                .filter_map(|(name, age)| match age {
                    Some(0) => Some(format!("{name} when stale")),
                    age => age.map(|age| format!("{name} after {age} steps without use")),
                })
                .collect();
            parts.push(format!("{} when superseded", levels.superseded.name()));
            format!(
                "{}{}\n  {}\n  {}\n",
                style.paint(Paint::Heading, &preset.name),
                style.paint(Paint::Good, mark),
                preset.description,
                style.paint(Paint::Dim, &parts.join(", "))
            )
        };
        self.presets.iter().map(row).collect()
    }
}
