//! `aperture stage`: stages a text for the next prompt.

/// Arguments of `stage`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture stage 'the deadline moved to Friday; the API may change'
  aperture stage                     lists the texts that wait
  aperture stage --clear             removes them
  git diff --stat | xargs -0 aperture stage -s 6666

The proxy inserts the text after the next prompt of the session, once, and repeats it at
the same place in every later request, so that the prompt cache stays valid. Without a
running proxy the text waits: see aperture help proxy.")]
pub struct Arguments {
    /// The text; without it the texts that wait are listed
    #[arg(conflicts_with = "clear")]
    pub text: Option<String>,
    /// Discard queued texts
    #[arg(long)]
    pub clear: bool,
}
