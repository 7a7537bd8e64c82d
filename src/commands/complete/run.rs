use super::{Arguments, Completed};
use crate::app::{CommandError, Env};
use crate::commands::{CommandLine, HELP_TOPICS};
use crate::engine::selector::{FUNCTIONS, NAMES, tools};
use crate::text::cut::one_line;
use crate::workspace::{self, Project, Workspace};
use std::io::Write;

/// The number of blocks up to which the topics of a session are computed.
const FEW_BLOCKS: usize = 2_000;

/// A candidate and its description.
type Candidate = (String, String);

/// Prints the candidates, one on each line, each followed by a tab and its description. A failure is the same as no candidates.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
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
    let mut text = String::new();
    for (value, about) in candidates {
        let value = format!("{kept}{value}");
        if value.starts_with(&last) {
            let about = one_line(&about);
            // The gate shows tabs and line feeds as symbols.
            let (value, about) = (env.gate.text(&value, false), env.gate.text(&about, false));
            text.push_str(&format!("{}\t{}\n", value.as_str(), about.as_str()));
        }
    }
    Ok(std::io::stdout().write_all(text.as_bytes())?)
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

/// Returns the names of the selector language, and the tools and topics of the session.
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

/// Returns the turns of the session with their prompts, the newest first.
fn turns(env: &Env, arguments: &Arguments) -> Vec<Candidate> {
    let turns = open(env, arguments).map(|workspace| workspace.reading.turns.clone()).unwrap_or_default();
    turns.iter().rev().map(|turn| (format!("turn({})", turn.number), turn.prompt.chars().take(60).collect())).collect()
}

/// Returns the topics of the help and the commands.
fn topics() -> Vec<Candidate> {
    let topics = HELP_TOPICS.iter().map(|name| (name.to_string(), "topic".to_owned()));
    let line = CommandLine::command();
    let commands = line.get_subcommands().filter(|command| !command.is_hide_set());
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    topics.chain(commands.map(|command| (command.get_name().to_owned(), about(command)))).collect()
}
