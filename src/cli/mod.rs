//! The program: parses its command line, executes the request, and returns the exit code.

use crate::app::{self, Env, ErrorKind, misuse, print_error, print_line};
use crate::commands::json::missing_argument;
use crate::commands::{self, CommandLine, Other, Program, Request, definition};
use crate::mcp;
use crate::output::Gate;
use crate::text::shell::quoted_word;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Runs the program with its arguments and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let given = typed(&arguments);
    // A client interprets other exit codes of these commands as a request to stop.
    let mut harmless = arguments.get(1).is_some_and(|command| command == "hook" || command == "statusline");
    let gate = Gate::default();
    // A command line that cannot be parsed has no options yet.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let line = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line,
        Err(error) if harmless && error.use_stderr() => {
            print_line(&gate, &error.to_string());
            return ExitCode::SUCCESS;
        }
        Err(mut error) => {
            if let Some((text, hint)) = missing_argument(&error) {
                print_error(&gate, &misuse!(text).hint(hint), json);
                return ExitCode::from(ErrorKind::Usage.code());
            }
            keep_likely(&mut error);
            if error.use_stderr() {
                print_error(&gate, &foreign_command(&error, &given).unwrap_or_else(|| usage(&error, &given)), json);
                return ExitCode::from(ErrorKind::Usage.code());
            }
            // A closed pipe is not an error.
            let _ = print(&error);
            return ExitCode::SUCCESS;
        }
    };
    harmless |= matches!(line.request, Some(Request::Other(Other::Hook(_) | Other::Statusline(_))));
    let mut exit = 0;
    // Help must not fail on settings that cannot be read.
    let with_env = |run: &mut dyn FnMut(&Env) -> Result<(), app::CommandError>| {
        Env::new(&line.globals, given.clone(), gate.clone()).and_then(|env| run(&with_sessions(&env)))
    };
    let outcome = match &line.request {
        None => with_env(&mut commands::run_bare),
        Some(Request::Read(request)) => with_env(&mut |env| commands::run_read(env, request)),
        Some(Request::Change(request)) => with_env(&mut |env| commands::run_change(env, request)),
        Some(Request::Other(request)) => with_env(&mut |env| {
            if matches!(request, Other::Watch(_)) {
                start_beside(env);
            }
            commands::run_other(env, request)
        }),
        Some(Request::Program(program)) => match program {
            Program::Help(arguments) => commands::help::run(arguments),
            Program::Completions(arguments) => commands::completions::run(arguments),
            Program::Mcp(_) => with_env(&mut mcp::serve),
            Program::Serve(arguments) => with_env(&mut |env| page(env, arguments)),
            Program::Proxy(arguments) => with_env(&mut |env| {
                if arguments.action.is_none() {
                    start_beside(env);
                }
                proxy(env, arguments)
            }),
            Program::Sidecar(arguments) => with_env(&mut |env| sidecar(env, arguments)),
            Program::Run(arguments) => with_env(&mut |env| {
                start_beside(env);
                client(env, arguments).map(|code| exit = code)
            }),
        },
    };
    match outcome {
        Ok(()) => ExitCode::from(exit),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) if harmless => {
            print_line(&gate, &format!("{:#}", error.source));
            ExitCode::SUCCESS
        }
        Err(error) => {
            if error.kind != ErrorKind::AlreadyReported {
                print_error(&gate, &error, json);
            }
            ExitCode::from(error.kind.code())
        }
    }
}

/// Returns the command line as it is logged: from the name of the command on. The options before it say where and how to print.
fn typed(arguments: &[OsString]) -> String {
    let named = |argument: &OsString| argument.to_str().is_some_and(Request::has);
    let start = arguments.iter().skip(1).position(named).map_or(1, |place| place + 1);
    arguments.iter().skip(start).map(|argument| quoted_word(&argument.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// Commands of other programs, with those that do this here.
const FOREIGN: [(&[&str], &str); 10] = [
    (&["grep", "find"], "to search: aperture search WORDS"),
    (&["list", "ls"], "to list the sessions: aperture sessions"),
    (&["cost", "price", "tokens"], "for tokens and cost: aperture usage"),
    (&["context", "info"], "for the context window: aperture status; its blocks: aperture blocks"),
    (&["top"], "to list the largest blocks: aperture blocks --sort tokens"),
    (&["history"], "for the operations on a session: aperture log; for the conversation: aperture transcript"),
    (&["clean", "clear", "prune", "shorten", "trim"], "to shorten what is not used any more: aperture compress --stale"),
    (&["delete", "remove", "rm"], "to take blocks out of the window: aperture archive --help"),
    (&["cat", "read", "view"], "to print blocks: aperture show --help; the conversation: aperture transcript"),
    (&["back", "revert", "rollback"], "to revert the last operation: aperture undo"),
];

/// Returns the error for a command of another program; what is unknown below a command is answered by clap.
fn foreign_command(error: &clap::Error, given: &str) -> Option<app::CommandError> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    if given.split(' ').next().is_some_and(Request::has) {
        return None;
    }
    let (_, hint) = FOREIGN.iter().find(|(foreign, _)| foreign.contains(&name.as_str()))?;
    Some(misuse!("no command '{name}'").hint(*hint))
}

/// Returns an error of the command line, as it is logged, as one of a command: what clap says about it, then its tips, and the command that
/// lists the options, as hints.
fn usage(error: &clap::Error, given: &str) -> app::CommandError {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_other = |line: &&str| ["tip: ", "For more information"].iter().any(|start| line.starts_with(start));
    let said = lines.iter().copied().take_while(|line| !line.starts_with("Usage: ")).filter(|line| !is_other(line));
    let said = said.collect::<Vec<_>>().join(" ");
    let tips = lines.iter().filter_map(|line| line.strip_prefix("tip: ")).map(str::to_owned);
    let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let command: Vec<&str> = match lines.iter().find_map(|line| line.strip_prefix("Usage: aperture")) {
        Some(usage) => usage.split(' ').filter(|word| !word.is_empty()).take_while(is_name).collect(),
        // An error of a value has no usage.
        None => given.split(' ').take(1).filter(|name| Request::has(name)).collect(),
    };
    let help = format!("for help: {} --help", [&["aperture"], &command[..]].concat().join(" "));
    tips.chain([help]).fold(misuse!(said.strip_prefix("error: ").unwrap_or(&said).to_owned()), app::CommandError::hint)
}

/// Keeps of clap's suggestions the commands that are listed in the help and are the word with a typing error, or more or less of it.
fn keep_likely(error: &mut clap::Error) {
    let kind = ContextKind::SuggestedSubcommand;
    let Some(ContextValue::Strings(mut names)) = error.get(kind).cloned() else { return };
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned() else { return };
    let definition = definition();
    names.retain(|name| {
        let is_listed = definition.find_subcommand(name).is_none_or(|command| !command.is_hide_set());
        let is_part = word.len() > 2 && (name.starts_with(&word) || word.starts_with(name.as_str()));
        is_listed && (is_part || strsim::damerau_levenshtein(name, &word) * 3 <= word.chars().count())
    });
    match names.is_empty() {
        true => drop(error.remove(kind)),
        false => drop(error.insert(kind, ContextValue::Strings(names))),
    }
}

#[cfg(feature = "proxy")]
use crate::proxy::{run as client, serve as proxy, serve_page as page, with_sessions};
#[cfg(feature = "proxy")]
use crate::sidecar::{execute as sidecar, start_beside};

/// Returns the environment: without the proxy, all sessions are in files.
#[cfg(not(feature = "proxy"))]
fn with_sessions(env: &Env) -> Env {
    env.clone()
}

#[cfg(not(feature = "proxy"))]
fn proxy(_: &Env, _: &commands::proxy::Arguments) -> Result<(), app::CommandError> {
    Err(without_proxy())
}

#[cfg(not(feature = "proxy"))]
fn sidecar(_: &Env, _: &commands::sidecar::Arguments) -> Result<(), app::CommandError> {
    Err(without_proxy())
}

#[cfg(not(feature = "proxy"))]
fn start_beside(_: &Env) {}

#[cfg(not(feature = "proxy"))]
fn page(_: &Env, _: &commands::serve::Arguments) -> Result<(), app::CommandError> {
    Err(without_proxy())
}

#[cfg(not(feature = "proxy"))]
fn client(_: &Env, _: &commands::run::Arguments) -> Result<u8, app::CommandError> {
    Err(without_proxy())
}

#[cfg(not(feature = "proxy"))]
fn without_proxy() -> app::CommandError {
    app::refusal!("this aperture was built without the feature 'proxy', so it has no network code")
        .hint("install it with its default features: cargo install aperture-context")
}

/// Writes the help of clap to standard output, in one write.
fn print(error: &clap::Error) -> io::Result<()> {
    let text = error.render();
    let text = if io::stdout().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    io::stdout().write_all(text.as_bytes())
}
