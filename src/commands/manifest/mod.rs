//! `aperture manifest`: prints the context manifest.

mod file_list;
mod report;
mod run;

pub use report::{ManifestReport, Tier};
pub use run::{advise, detailed, report, run, short, since, suggestions};

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("manifest"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Size: summary (at most 200 tokens), detailed (at most 500), full
    #[arg(long, default_value = "detailed")]
    #[serde(serialize_with = "super::json::choice")]
    pub tier: Tier,
    /// Maximum size in tokens, instead of that of the tier; JSON is never truncated
    #[arg(long, value_name = "N", value_parser = crate::app::number::<usize>)]
    pub max_tokens: Option<usize>,
    /// Only the differences since a point: an operation, a snapshot, or a turn such as turn:12
    #[arg(long, value_name = "POINT", conflicts_with_all = ["tier", "max_tokens"])]
    pub since: Option<String>,
}
