//! `aperture mcp`: serves the commands as tools for a model.

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("mcp"))]
pub struct Arguments {}
