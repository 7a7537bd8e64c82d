use super::{Paint, Report, Style};
use schemars::JsonSchema;
use serde::Serialize;

/// A preset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preset")]
pub struct PresetRow {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Measured share of what the agent needed later that is left; null if the settings override the preset.
    #[schemars(extend("unit" = "percent"))]
    pub keeps_percent: Option<u32>,
    /// Measured share of the old content that is removed; null as above.
    #[schemars(extend("unit" = "percent"))]
    pub frees_percent: Option<u32>,
    /// Minimum usefulness per byte: the chance that the agent needs the content.
    #[schemars(extend("unit" = "parts per million"))]
    pub worth_millionths: f32,
    /// Newest part of the window that is kept almost unchanged, as a share of its tokens.
    #[schemars(extend("unit" = "percent"))]
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
