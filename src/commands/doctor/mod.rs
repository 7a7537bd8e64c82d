//! `aperture doctor`: examines the installation, the clients and the store, and names the command for each finding.

mod examine;

use crate::app::{CommandError, Env};
use crate::output::{Paint, Report, Style, plural, printable, wrap};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("doctor"))]
pub struct Arguments {}

/// Errors: one of them is a problem.
pub fn run(env: &Env, _: &Arguments) -> Result<(), CommandError> {
    let report = DoctorReport { version: env!("CARGO_PKG_VERSION"), findings: examine::findings(env) };
    env.print(&report)?;
    if report.problems() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    Good,
    /// It works; something could be better or is good to know.
    Note,
    /// Something does not work, or not for long.
    Problem,
}

/// A finding about the installation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorFinding {
    /// Level: `good`, `note` or `problem`.
    pub level: FindingLevel,
    /// Area: `program`, `settings`, `store`, `sessions`, `clients`, `requests` or `sidecar`.
    pub area: &'static str,
    /// Sentence.
    pub text: String,
    /// Command that mends it; null if none does.
    pub command: Option<String>,
}

/// The findings about the installation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Version of aperture.
    pub version: &'static str,
    /// Findings, by area.
    pub findings: Vec<DoctorFinding>,
}

impl DoctorReport {
    pub fn problems(&self) -> usize {
        self.count(FindingLevel::Problem)
    }

    fn count(&self, level: FindingLevel) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

const LEVEL: usize = 9;
const AREA: usize = 10;

impl Report for DoctorReport {
    const SCHEMA: &str = "aperture.doctor/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        let indent = LEVEL + AREA;
        for finding in &self.findings {
            let (paint, level) = match finding.level {
                FindingLevel::Good => (Paint::Good, "good"),
                FindingLevel::Note => (Paint::Warning, "note"),
                FindingLevel::Problem => (Paint::Bad, "problem"),
            };
            let level = style.paint(paint, &format!("{level:LEVEL$}"));
            let room = style.width.saturating_sub(indent).max(indent);
            for (number, line) in wrap(&printable(&finding.text), 0, room).iter().enumerate() {
                match number {
                    0 => text.push_str(&format!("{level}{:AREA$}{line}\n", finding.area)),
                    _ => text.push_str(&format!("{:indent$}{line}\n", "")),
                }
            }
            if let Some(command) = &finding.command {
                text.push_str(&format!("{:indent$}{}\n", "", style.paint(Paint::Name, &printable(command))));
            }
        }
        let conclusion = match (self.problems(), self.count(FindingLevel::Note)) {
            (0, 0) => "all good".to_owned(),
            (0, notes) => format!("no problems, {}", plural(notes, "note")),
            (problems, notes) => format!("{}, {}", plural(problems, "problem"), plural(notes, "note")),
        };
        format!("{text}\n{conclusion}\n")
    }
}
