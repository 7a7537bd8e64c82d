//! `aperture doctor`: examines the installation, the clients and the store, and names the command for each finding.

mod examine;
mod report;

pub use report::DoctorReport;

use crate::app::{CommandError, Env};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("doctor"))]
pub struct Arguments {}

/// Prints the findings.
/// Errors: one of them is a problem.
pub fn run(env: &Env, _: &Arguments) -> Result<(), CommandError> {
    let report = DoctorReport { version: env!("CARGO_PKG_VERSION"), findings: examine::findings(env) };
    env.print(&report)?;
    if report.problems() > 0 { Err(CommandError::already_reported()) } else { Ok(()) }
}
