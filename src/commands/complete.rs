//! `aperture complete`: prints the candidates for a word of a command line, for the completion scripts.

use crate::app::{CommandError, Env};
use crate::commands::{CommandLine, HELP_TOPICS};
use crate::engine::selector::{FUNCTIONS, NAMES, tools};
use crate::text::cut::one_line;
use crate::workspace::{self, Project, Workspace};
use std::io::Write;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The words after the name of the program, up to the incomplete one at the cursor
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// The kind of the word at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    Session,
    Selector,
    /// A selector of a turn or a block.
    Turn,
    Topic,
}

impl Arguments {
    /// Returns the incomplete word, without the quotation marks of the shell.
    pub fn last(&self) -> String {
        self.words.last().map(|word| word.trim_start_matches(['\'', '"']).replace('\\', "")).unwrap_or_default()
    }

    /// Returns the value of `-s` or `--session` in the words.
    pub fn session(&self) -> Option<&str> {
        let place = self.words.iter().position(|word| word == "-s" || word == "--session")?;
        self.words.get(place + 1).filter(|_| place + 2 < self.words.len()).map(String::as_str)
    }

    /// Returns the kind of the word at the cursor; `None` if the script knows the candidates itself.
    pub fn kind(&self) -> Option<Completed> {
        let (last, before) = self.words.split_last()?;
        match before.last().map(String::as_str) {
            Some("-s" | "--session") => return Some(Completed::Session),
            Some("--at" | "--keep-from") => return Some(Completed::Turn),
            _ if last.starts_with('-') => return None,
            Some("help") if before.len() == 1 => return Some(Completed::Topic),
            _ => {}
        }
        let name = before.iter().find(|word| super::request::Request::has(word))?;
        let definition = super::request::Request::arguments_of(name)?;
        let options = || definition.get_arguments().filter(|argument| !argument.is_positional());
        let is_named = |argument: &clap::Arg, word: &str| {
            let short = argument.get_short().is_some_and(|short| word == format!("-{short}"));
            short || argument.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
        };
        let takes_value = |word: &String| options().any(|option| is_named(option, word) && !super::json::is_flag(option));
        if before.last().is_some_and(takes_value) {
            return None;
        }
        let mut positions = definition.get_positionals().map(|argument| argument.get_id().as_str());
        positions.find_map(|id| match id {
            "selector" => Some(Completed::Selector),
            "named" => Some(Completed::Session),
            _ => None,
        })
    }
}

/// The number of blocks up to which the topics of a session are computed.
const FEW_BLOCKS: usize = 2_000;

type Candidate = (String, String);

/// Prints the candidates, one on each line, each followed by a tab and its description. A failure is the same as no candidates.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let mut text = String::new();
    for (value, about) in candidates(env, arguments) {
        let about = one_line(&about);
        // The gate shows tabs and line feeds as symbols.
        let (value, about) = (env.gate.text(&value, false), env.gate.text(&about, false));
        text.push_str(&format!("{}\t{}\n", value.as_str(), about.as_str()));
    }
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// Returns the values that the word at the cursor can become, each with its description.
pub fn candidates(env: &Env, arguments: &Arguments) -> Vec<Candidate> {
    let last = arguments.last();
    // In a union only the last selector is completed.
    let start = last.rfind([',', '|', '&', '~', ' ']).map_or(0, |at| at + 1);
    let (candidates, kept) = match arguments.kind() {
        Some(Completed::Session) => (sessions(env), ""),
        Some(Completed::Topic) => (topics(), ""),
        Some(Completed::Turn) => (turns(env, arguments), ""),
        Some(Completed::Selector) => (selectors(env, arguments), &last[..start]),
        None => (Vec::new(), ""),
    };
    let whole = candidates.into_iter().map(|(value, about)| (format!("{kept}{value}"), about));
    whole.filter(|(value, _)| value.starts_with(&last)).collect()
}

/// Returns the sessions with their titles, the newest first: those of the project, or all if it has none.
fn sessions(env: &Env) -> Vec<Candidate> {
    let list = |project: Option<&Project>| {
        let listed = workspace::list(env.disk, &env.totals(), &env.places, project, true, &mut |_, _| {});
        let mut listed: Vec<_> =
            listed.into_iter().flatten().flatten().filter(|session| !session.found.location.subagent).collect();
        listed.sort_by_key(|session| std::cmp::Reverse(session.identity.modified));
        listed
    };
    let own = list(Some(&Project::at(env.disk, &env.directory)));
    let listed = if own.is_empty() { list(None) } else { own };
    listed.into_iter().map(|session| (session.found.location.id.clone(), session.totals.title)).collect()
}

/// Returns the session of the command line, with its topics if it is small.
fn open(env: &Env, arguments: &Arguments) -> Option<Workspace<'static>> {
    let found = env.find(arguments.session()).ok()?;
    env.read_as_wanted(found, &|session| session.blocks.len() <= FEW_BLOCKS).ok()
}

fn selectors(env: &Env, arguments: &Arguments) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    if let Some(workspace) = open(env, arguments) {
        candidates.extend(
            tools(&workspace.reading).into_iter().map(|tool| (format!("tool({tool})"), "tool of the session".to_owned())),
        );
        let topics =
            workspace.reading.topics.iter().map(|topic| (format!("topic({})", topic.label), "topic of the session".to_owned()));
        candidates.extend(topics);
    }
    let owned = |(name, about): &(&str, &str)| (name.to_string(), about.to_string());
    candidates.extend(NAMES.iter().map(owned));
    candidates.extend(FUNCTIONS.iter().filter(|(name, _)| !name.starts_with("tool(") && !name.starts_with("topic(")).map(owned));
    candidates
}

fn turns(env: &Env, arguments: &Arguments) -> Vec<Candidate> {
    let turns = open(env, arguments).map(|workspace| workspace.reading.turns.clone()).unwrap_or_default();
    turns.iter().rev().map(|turn| (format!("turn({})", turn.number), turn.prompt.chars().take(60).collect())).collect()
}

fn topics() -> Vec<Candidate> {
    let topics = HELP_TOPICS.iter().map(|name| (name.to_string(), "topic".to_owned()));
    let line = CommandLine::command();
    let commands = line.get_subcommands().filter(|command| !command.is_hide_set());
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    topics.chain(commands.map(|command| (command.get_name().to_owned(), about(command)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_tell_what_is_completed() {
        let kind = |line: &str| Arguments { words: line.split(' ').map(str::to_owned).collect() }.kind();
        for (line, expected) in [
            ("-s ", Some(Completed::Session)),
            ("blocks -s 66", Some(Completed::Session)),
            ("blocks ", Some(Completed::Selector)),
            ("archive 12 to", Some(Completed::Selector)),
            ("archive 12 --reason ", None),
            ("compress --stale --level ", None),
            ("compress --st", None),
            ("fork --at ", Some(Completed::Turn)),
            ("watch ", Some(Completed::Session)),
            ("help ", Some(Completed::Topic)),
            ("log ", Some(Completed::Session)),
            ("gc ", None),
            ("", None),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
        let words = |line: &str| Arguments { words: line.split(' ').map(str::to_owned).collect() };
        assert_eq!(words("-s 66 blocks 'tool\\(R").session(), Some("66"));
        assert_eq!(words("blocks 'tool\\(R").last(), "tool(R");
        assert_eq!(words("-s 66").session(), None);
    }
}
