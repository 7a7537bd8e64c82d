//! `aperture blame`: which session, turn and prompt wrote the lines of a file.

mod report;
mod repository;
mod run;

pub use report::BlameReport;
pub use run::run;

/// Arguments of `blame`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture blame src/cart.rs               which sessions wrote the file
  aperture blame src/cart.rs:41            the prompt behind a line, and what the agent wrote before the edit
  aperture blame src/cart.rs -L 30,60      the prompts behind these lines
  aperture blame src/cart.rs --rev HEAD~3  the file as it was in a commit
  aperture blame src/cart.rs --note -n     the git notes that --note would add
  aperture blame src/cart.rs --json | jq '.edits[].prompt'

A line is attributed to the edit that wrote exactly this text, before the commit that introduced it.
Anything else is unknown, and no error: lines typed by hand, changed by a formatter or a shell
command, or as short as those of many files. It reads the sessions of the repository, of its working
trees, and of the directories above it.")]
pub struct Arguments {
    /// File, or one of its lines as FILE:LINE
    #[arg(value_name = "FILE[:LINE]")]
    pub file: String,
    /// Only these lines, from 1
    #[arg(short = 'L', long, value_name = "FROM,TO", value_parser = range)]
    #[serde(serialize_with = "written")]
    pub lines: Option<(usize, usize)>,
    /// The file in this commit [default: the working tree]
    #[arg(long, value_name = "COMMIT")]
    pub rev: Option<String>,
    /// Add a git note (refs/notes/aperture) to each commit that introduced such lines
    #[arg(long)]
    pub note: bool,
    /// Print the notes without writing them
    #[arg(short = 'n', long, requires = "note")]
    pub dry_run: bool,
}

fn range(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once(',').and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    numbers.filter(|(from, to)| (1..=*to).contains(from)).ok_or_else(|| "expected two line numbers, such as 30,60".to_owned())
}

/// Writes a range of lines as it is parsed.
fn written<S: serde::Serializer>(lines: &Option<(usize, usize)>, serializer: S) -> Result<S::Ok, S::Error> {
    match lines {
        Some((from, to)) => serializer.collect_str(&format_args!("{from},{to}")),
        None => serializer.serialize_none(),
    }
}
