use super::{Paint, Report, Style};

/// A preset, or the settings that override it.
#[derive(Clone, Debug)]
pub struct PresetRow {
    pub name: String,
    pub description: String,
    /// Measured shares, in percent: of what the agent needed later and is left, and of the old content that is removed. `None` if the
    /// settings override the preset.
    pub measured: Option<(u32, u32)>,
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
            let measured = match preset.measured {
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
