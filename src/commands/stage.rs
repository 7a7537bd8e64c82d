//! `aperture stage`: stages a text for the next prompt.

use crate::app::{CommandError, Env, misuse};
use crate::output::{Paint, Report, Style, clip, printable};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("stage"))]
pub struct Arguments {
    /// The text; without it the texts that wait are listed
    #[arg(conflicts_with = "clear")]
    pub text: Option<String>,
    /// Discard queued texts
    #[arg(long)]
    pub clear: bool,
}

/// Maximum length of a text, in bytes: it is part of every later request.
const MAX_BYTES: usize = 100_000;

/// Stages a text, or lists or removes the texts that wait.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let found = env.find(None)?;
    env.learn(&found);
    let session = &found.location.id;
    let done = match &arguments.text {
        Some(text) if text.trim().is_empty() => {
            return Err(misuse!("the text is empty"));
        }
        Some(text) if text.len() > MAX_BYTES => {
            return Err(misuse!("the text has {} bytes; at most {MAX_BYTES} can be staged", text.len())
                .hint("name the file in a short text: the agent can read it"));
        }
        Some(text) => {
            env.store()?.stage(session, text, env.style.now.as_millisecond())?;
            Some(format!(
                "staged for the next prompt; to remove it: aperture stage --clear -s {}",
                env.name_of(&found.path, session)
            ))
        }
        None if arguments.clear => {
            let count = env.existing_store()?.map(|store| store.unstage(session)).transpose()?.unwrap_or_default();
            Some(format!("{} removed", crate::output::plural(count, "text")))
        }
        None => None,
    };
    let staged = env.existing_store()?.map(|store| store.staged(session)).transpose()?.unwrap_or_default();
    env.print(&StageReport { done, texts: staged.into_iter().map(|staged| staged.text).collect() })
}

/// The texts that wait for the next prompt of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StageReport {
    /// Change of the list; null if it was only listed.
    pub done: Option<String>,
    /// Texts, the oldest first.
    pub texts: Vec<String>,
}

impl Report for StageReport {
    const SCHEMA: &str = "aperture.stage/1";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            text.push_str(&style.line(Paint::Heading, &clip(done, style.width)));
        }
        if self.texts.is_empty() && self.done.is_none() {
            text.push_str("no staged texts\n");
        }
        for (number, staged) in (1..).zip(&self.texts) {
            let line = format!("{number}  {}", printable(staged).replace('\n', " "));
            text.push_str(&clip(&line, style.width));
            text.push('\n');
        }
        text
    }
}
