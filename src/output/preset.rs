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
            let ages = ages.iter().filter_map(|(name, age)| Some((name, (*age)?)));
            let ages = ages.map(|(name, age)| if age == 0 { format!("{name} at once") } else { format!("{name} after {age}") });
            let mut stale = ages.collect::<Vec<_>>().join(", ");
            match [levels.trimmed, levels.summarized, levels.minimal].iter().any(|age| age.is_some_and(|age| age > 0)) {
                _ if stale.is_empty() => stale = "left as it is".to_owned(),
                true => stale.push_str(" steps unused"),
                false => {}
            }
            format!(
                "{}{}\n  {}\n  {} {stale}\n  {} {}\n",
                style.paint(Paint::Heading, &preset.name),
                style.paint(Paint::Good, mark),
                preset.description,
                style.paint(Paint::Dim, "stale     "),
                style.paint(Paint::Dim, "superseded"),
                levels.superseded.name(),
            )
        };
        self.presets.iter().map(row).collect()
    }
}
