//! `aperture manifest`: the context manifest.

use crate::cli::{CommandError, Env};
use crate::engine;
use crate::output::{ManifestReport, Tier};

/// Arguments of `manifest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture manifest                        the newest session here
  aperture manifest --tier summary         at most 200 tokens
  aperture manifest 6666 --max-tokens 300  a session by the beginning of its id

Figures are as billed; estimates have a ~ before them.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    session: Option<String>,
    /// How much it says: summary (at most 200 tokens), detailed (at most 500), full
    #[arg(long, default_value = "detailed")]
    tier: Tier,
    /// Tokens that the text may take, in place of what the tier allows; JSON is never cut
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
}

/// Shows the manifest.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    env.print(&ManifestReport {
        tier: arguments.tier,
        max_tokens: arguments.max_tokens,
        manifest: engine::manifest(&workspace.reading, arguments.tier.listed()),
    })
}
