use super::{Paint, Report, Style};

/// A preset, or the settings that override it.
#[derive(Clone, Debug)]
pub struct PresetRow {
    /// Its name.
    pub name: String,
    /// The description.
    pub description: String,
    /// Minimum usefulness per byte, in parts per million: the probability that the agent needs the content.
    pub worth_millionths: f32,
    /// The newest part of the window, which remains nearly unchanged, in percent of the tokens.
    pub newest_percent: f64,
    /// True if the preset is in use.
    pub used: bool,
}

/// Presets.
#[derive(Clone, Debug)]
pub struct PresetReport {
    /// The presets, the one with the least compression first.
    pub presets: Vec<PresetRow>,
}

impl Report for PresetReport {
    const SCHEMA: &str = "aperture.presets/1";

    fn text(&self, style: &Style) -> String {
        let row = |preset: &PresetRow| {
            let mark = if preset.used { " (in use)" } else { "" };
            let newest = match preset.newest_percent {
                0.0 => "no part".to_owned(),
                percent => format!("the newest {percent} %"),
            };
            format!(
                "{}{}\n  {}\n  {} {newest}\n  {} {} per million\n",
                style.paint(Paint::Heading, &preset.name),
                style.paint(Paint::Good, mark),
                preset.description,
                style.paint(Paint::Dim, "kept nearly unchanged       "),
                style.paint(Paint::Dim, "minimum usefulness of a byte"),
                preset.worth_millionths,
            )
        };
        self.presets.iter().map(row).collect()
    }
}
