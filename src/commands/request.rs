//! The requests, one for each command, and their command line.

use super::arguments::commands;
use super::{
    ChangeOptions, archive, blame, blocks, check, compact, complete, completions, compress, config, convert, create, diff,
    doctor, expand, explain, export, focus, fork, gc, git_hook, help, hook, housekeeping, import, inbox, install, job, json,
    keep, log, manifest, mcp, memory, obey, pack, pin, preset, proxy, recall, redact, repair, report, restore, run, search,
    serve, sessions, show, shrink, sidecar, snapshot, stage, status, statusline, store, summary, timeline, topics, transcript,
    tui, undo, update, usage, util, verify, watch,
};
use crate::app::Globals;
use crate::output::ChangeReport;
use clap::builder::StyledStr;
use clap::{CommandFactory, FromArgMatches, Parser};
use serde_json::{Map, Value};
use std::ffi::OsString;

/// Inspect and edit the context window of an AI coding agent.
///
/// aperture reads the sessions of Claude Code, Codex, OpenCode and Gemini CLI and lists the blocks of the context window: the cost of
/// each in tokens, stale blocks, and possible savings. Without a command it shows the status of the newest session of the project or,
/// elsewhere, the sessions used last.
#[derive(Parser)]
#[command(
    name = "aperture",
    version,
    disable_help_subcommand = true,
    after_help = help_text!("aperture")
)]
struct Line {
    #[command(flatten)]
    globals: Globals,
}

/// A parsed command line.
#[derive(Debug)]
pub struct CommandLine {
    pub globals: Globals,
    /// The command; `None` for the status of the newest session, or a list of recent ones.
    pub request: Option<Request>,
}

impl CommandLine {
    pub fn command() -> clap::Command {
        let line = Request::define(Line::command(), &|_| true);
        let template = template(&line);
        line.help_template(template)
    }

    /// Parses a command line, whose first word is the name of the program.
    /// Errors: the command line is invalid, or requests help.
    pub fn try_parse_from(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<CommandLine, clap::Error> {
        let words = search::with_exceptions_last(words.into_iter().map(Into::into).collect());
        let mut definition = CommandLine::command_for(&words);
        let matches = definition.try_get_matches_from_mut(words)?;
        let line = Request::from_matches(&matches)
            .and_then(|request| Ok(CommandLine { globals: Globals::from_arg_matches(&matches)?, request }));
        line.map_err(|error| error.format(&mut definition))
    }

    /// Returns the part of the definition that these words need. clap copies the global options into every command, which takes
    /// longer than anything else in a short run, so only the commands named in the words are defined.
    fn command_for(words: &[OsString]) -> clap::Command {
        let named = |word: &OsString| word.to_str().is_some_and(Request::has);
        match words.get(1) {
            Some(first) if named(first) => {
                // Its arguments must be there already: what is deferred would replace the line in its help.
                let line = Request::define(Line::command(), &|name| first == name);
                let name = first.to_string_lossy();
                let defined = Request::arguments_of(&name).unwrap_or_default();
                with_globals_in_a_line(line.mut_subcommand(&*name, |command| defined.hide(command.is_hide_set())))
            }
            _ if words.iter().skip(1).any(named) => CommandLine::command(),
            _ => CommandLine::command().mut_args(|option| option.global(false)),
        }
    }
}

/// Returns a definition whose commands show the options of every command in one line, not one by one.
pub fn with_globals_in_a_line(line: clap::Command) -> clap::Command {
    let names = line.get_arguments().filter(|option| option.is_global_set()).filter_map(clap::Arg::get_long);
    let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
    let note = format!("Every command takes {}: aperture --help", names.join(", "));
    let commands: Vec<String> = line.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let line = line.mut_args(|option| if option.is_global_set() { option.hide(true) } else { option });
    commands.iter().fold(line, |line, name| line.mut_subcommand(name, |command| noted(command, &note)))
}

/// Returns a command whose help, and that of its own commands, ends with a note.
fn noted(command: clap::Command, note: &str) -> clap::Command {
    let commands: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let text = match command.get_after_help() {
        Some(help) => format!("{}\n\n{note}", help.to_string().trim_end()),
        None => note.to_owned(),
    };
    commands.iter().fold(command.after_help(text), |command, name| command.mut_subcommand(name, |inner| noted(inner, note)))
}

/// The groups of `--help`, each with the names of its commands.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Look",
        &[
            "status", "manifest", "sessions", "search", "topics", "summary", "pack", "blocks", "show", "explain", "transcript",
            "timeline", "recall", "blame", "usage",
        ],
    ),
    (
        "Change",
        &[
            "compress", "expand", "archive", "pin", "unpin", "focus", "unfocus", "update", "create", "redact", "repair",
            "shrink", "compact", "uncompact", "preset",
        ],
    ),
    ("Undo and history", &["undo", "redo", "log", "diff", "snapshot", "restore", "fork", "convert"]),
    ("Model", &["obey", "inbox", "approve", "deny", "housekeeping", "mcp"]),
    ("Memory", &["memory"]),
    ("Live", &["tui", "serve", "run", "proxy", "stage", "watch", "sidecar", "install", "uninstall", "hook", "statusline"]),
    (
        "Maintenance",
        &["doctor", "config", "keep", "check", "verify", "gc", "store", "export", "import", "report", "completions", "help"],
    ),
];

/// A request: a command line, a tool call, or a command of the model. Each kind has one function that executes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Read(Read),
    /// Changes one session, or with the options of bulk commands many.
    Change(Change),
    /// Any other request that needs only the environment.
    Other(Other),
    /// Runs a server or a client, or prints help.
    Program(Program),
}

commands! {
/// A request whose report about one session also answers a model.
pub enum Read: () {
    /// Show the context manifest: the window in a few hundred tokens
    Manifest(manifest::Arguments) = "manifest" => manifest::run,
    /// Summarize a session and its turns: goal, story, state, next steps
    Summary(summary::Arguments) = "summary" => summary::run,
    /// Print a session within a token budget, to continue from it
    Pack(pack::Arguments) = "pack" => pack::run,
    /// List blocks
    Blocks(blocks::Arguments) = "blocks" => blocks::run,
    /// Show the content of blocks
    Show(show::Arguments) = "show" => show::run,
    /// Explain the state of a block: references to it, staleness, levels
    Explain(explain::Arguments) = "explain" => explain::run,
    /// Search archived, shortened and compacted content; optionally restore it
    Recall(recall::Arguments) = "recall" => recall::run,
    /// Show the changes to the window between two points of the log
    Diff(diff::Arguments) = "diff" => diff::run,
    /// List the operations on a session
    Log(log::Arguments) = "log" => log::run,
}
}

commands! {
/// A request that changes a session. `recall` does with `--restore` or `--inject`.
pub enum Change: ChangeReport {
    /// Shorten blocks: stale ones, selected ones, or down to a budget
    Compress(compress::Arguments) = "compress" => compress::run,
    /// Restore shortened blocks
    Expand(expand::Arguments) = "expand" => expand::run,
    /// Take blocks out of the window; leaves a one-line marker for each
    Archive(archive::Arguments) = "archive" => archive::run,
    /// Protect blocks from being shortened
    Pin(pin::Arguments) = "pin" => pin::run,
    /// Remove the protection of blocks
    Unpin(pin::UnpinArguments) = "unpin" => pin::run_unpin,
    /// Mark blocks as relevant
    Focus(focus::Arguments) = "focus" => focus::run,
    /// Clear the focus marks
    Unfocus(focus::UnfocusArguments) = "unfocus" => focus::run_unfocus,
    /// Replace the text of a block
    Update(update::Arguments) = "update" => update::run,
    /// Append a note to a session
    Create(create::Arguments) = "create" => create::run,
    /// Record the model's header and summary of a turn
    Housekeeping(housekeeping::Arguments) = "housekeeping" => housekeeping::run,
    /// Replace credentials in a session with placeholders
    Redact(redact::Arguments) = "redact" => redact::run,
    /// Repair damage that changes or blocks the next request
    Repair(repair::Arguments) = "repair" => repair::run,
    /// Make a session file smaller; the window stays the same
    Shrink(shrink::Arguments) = "shrink" => shrink::run,
    /// Fold whole turns into one note
    Compact(compact::Arguments) = "compact" => compact::run,
    /// Restore the messages hidden by the last compaction
    Uncompact(compact::UncompactArguments) = "uncompact" => compact::run_uncompact,
    /// Restore a session to a point in its log
    Restore(restore::Arguments) = "restore" => restore::run,
    /// Undo an operation
    Undo(undo::Arguments) = "undo" => undo::run,
    /// Redo an undone operation
    Redo(undo::RedoArguments) = "redo" => undo::run_redo,
    /// Search archived, shortened and compacted content; optionally restore it
    Recall(recall::Arguments) = "recall" => recall::bring_back,
}
}

commands! {
/// A request that needs only the environment.
pub enum Other: () {
    /// List the sessions on this machine
    Sessions(sessions::Arguments) = "sessions" => sessions::run,
    /// Find turns of all sessions by their words
    Search(search::Arguments) = "search" => search::run,
    /// List the topics of all sessions, with their sessions
    Topics(topics::Arguments) = "topics" => topics::run,
    /// Show one screen about a session: fullness, shares, stale blocks
    Status(status::Arguments) = "status" => status::run,
    /// Print the conversation as the model would see it
    Transcript(transcript::Arguments) = "transcript" => transcript::run,
    /// List the requests of a session: their windows, cache and cost
    Timeline(timeline::Arguments) = "timeline" => timeline::run,
    /// Show which session, turn and prompt wrote the lines of a file
    Blame(blame::Arguments) = "blame" => blame::run,
    /// Add up tokens and cost by day, week, month, session, project or model
    Usage(usage::Arguments) = "usage" => usage::run,
    /// Execute the @commands in the model's messages
    Obey(obey::Arguments) = "obey" => obey::run,
    /// List model commands awaiting your approval
    Inbox(inbox::Arguments) = "inbox" => inbox::run,
    /// Execute pending model commands
    Approve(inbox::ApproveArguments) = "approve" => inbox::run_approve,
    /// Reject pending model commands
    Deny(inbox::DenyArguments) = "deny" => inbox::run_deny,
    /// Name points in the log
    Snapshot(snapshot::Arguments) = "snapshot" => snapshot::run,
    /// Copy a session up to a turn or a block into a new one
    Fork(fork::Arguments) = "fork" => fork::run,
    /// Write a session as a new one of another client
    Convert(convert::Arguments) = "convert" => convert::run,
    /// Examine the installation, the clients and the store
    Doctor(doctor::Arguments) = "doctor" => doctor::run,
    /// Print and change the settings
    Config(config::Arguments) = "config" => config::run,
    /// List and choose compression presets
    Preset(preset::Arguments) = "preset" => preset::run,
    /// Show and change a session on a screen
    Tui(tui::Arguments) = "tui" => tui::run,
    /// Follow a session: a live screen, lines, or JSON
    Watch(watch::Arguments) = "watch" => watch::run,
    /// Queue text for the next prompt of a proxied session
    Stage(stage::Arguments) = "stage" => stage::run,
    /// Check sessions in scripts, git hooks and CI: credentials, damage, size
    Check(check::Arguments) = "check" => check::run,
    /// Check stored originals and logs against the session files
    Verify(verify::Arguments) = "verify" => verify::run,
    /// Copy sessions before their client deletes them; restore them
    Keep(keep::Arguments) = "keep" => keep::run,
    /// Delete unreferenced originals (dry run unless --yes)
    Gc(gc::Arguments) = "gc" => gc::run,
    /// Encrypt what is stored, or decrypt it
    Store(store::Arguments) = "store" => store::run,
    /// Write the originals and the log of a session to one file
    Export(export::Arguments) = "export" => export::run,
    /// Write one HTML file that shows a session, or the usage of many
    Report(report::Arguments) = "report" => report::run,
    /// Read the originals and the log of a session from such a file
    Import(import::Arguments) = "import" => import::run,
    /// Manage memories learned from sessions
    Memory(memory::Arguments) = "memory" => memory::run,
    /// Install hooks and integrations for Claude Code or git
    Install(install::Arguments) = "install" => install::run,
    /// Remove exactly the parts added by install
    Uninstall(install::UninstallArguments) = "uninstall" => install::run_uninstall,
    /// Handle a Claude Code hook event (JSON on stdin)
    Hook(hook::Arguments) = "hook" => hook::run,
    /// Print the status line of Claude Code (JSON on stdin)
    Statusline(statusline::Arguments) = "statusline" => statusline::run,
    /// Print candidates for a word, for the completion scripts
    #[hidden]
    Complete(complete::Arguments) = "complete" => complete::run,
    /// Do a job of the running proxy (JSON on stdin)
    #[hidden]
    Job(job::Arguments) = "job" => job::run,
    /// Run by the git hooks
    #[hidden]
    GitHook(git_hook::Arguments) = "git-hook" => git_hook::run,
    /// Tools for developers of aperture
    #[hidden]
    Util(util::Arguments) = "util" => util::run,
}
}

commands! {
/// A request that the program executes itself.
pub enum Program {
    /// Run a client behind the proxy
    Run(run::Arguments) = "run",
    /// Serve as a proxy between clients and their API
    Proxy(proxy::Arguments) = "proxy",
    /// Show and change sessions on a page in the browser
    Serve(serve::Arguments) = "serve",
    /// Let a local model polish texts in the background
    Sidecar(sidecar::Arguments) = "sidecar",
    /// Serve the commands as tools over the Model Context Protocol
    Mcp(mcp::Arguments) = "mcp",
    /// Explain a command or a topic, such as `selectors`
    Help(help::Arguments) = "help",
    /// Print a shell completion script
    Completions(completions::Arguments) = "completions",
}
}

/// Returns the template of `--help`: clap cannot group subcommands by itself.
fn template(line: &clap::Command) -> StyledStr {
    let (styles, mut text) = (line.get_styles(), String::new());
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let about = |name: &str| line.find_subcommand(name).and_then(|command| command.get_about()).cloned().unwrap_or_default();
    for (title, names) in GROUPS {
        text += &format!("{header}{title}:{header:#}\n");
        for name in *names {
            text += &format!("  {literal}{name:<11}{literal:#}  {}\n", about(name));
        }
        text.push('\n');
    }
    format!("{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{header}Options:{header:#}\n{{options}}{{after-help}}").into()
}

/// The effect of a request on the sessions and the store, for a screen that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEffect {
    Read,
    /// It changes a session or the store.
    Change,
    /// It needs a terminal, writes files of its own, changes many sessions, or serves.
    Other,
}

impl Request {
    /// Returns what a command does, unless its arguments say otherwise.
    pub fn effect_of(name: &str) -> RequestEffect {
        match name {
            "sessions" | "search" | "topics" | "status" | "transcript" | "timeline" | "blame" | "usage" | "inbox" | "check"
            | "verify" | "preset" | "doctor" | "proxy" => RequestEffect::Read,
            "config" | "snapshot" | "approve" | "deny" | "memory" | "stage" => RequestEffect::Change,
            name if Read::NAMES.contains(&name) => RequestEffect::Read,
            name if Change::NAMES.contains(&name) => RequestEffect::Change,
            _ => RequestEffect::Other,
        }
    }

    pub fn effect(&self) -> RequestEffect {
        match self {
            Request::Change(change) if change.bulk().is_some() => RequestEffect::Other,
            Request::Change(_) => RequestEffect::Change,
            Request::Other(Other::Config(arguments)) if arguments.only_reads() => RequestEffect::Read,
            Request::Other(Other::Config(config::Arguments { action: Some(config::Action::Edit { .. }) })) => {
                RequestEffect::Other
            }
            Request::Other(Other::Preset(arguments)) if !arguments.only_reads() => RequestEffect::Other,
            Request::Other(Other::Blame(arguments)) if arguments.note => RequestEffect::Other,
            Request::Other(Other::Memory(memory::Arguments {
                action: Some(memory::Action::Export { output: Some(_), .. }),
                ..
            })) => RequestEffect::Other,
            Request::Program(Program::Proxy(arguments)) if !arguments.only_reads() => RequestEffect::Other,
            Request::Program(Program::Sidecar(arguments)) if arguments.only_reads() => RequestEffect::Read,
            request => Request::effect_of(request.name()),
        }
    }

    /// Returns the names of all commands, in the order of `--help`, then the hidden ones.
    fn names() -> impl Iterator<Item = &'static str> {
        let grouped = || GROUPS.iter().flat_map(|(_, names)| *names).copied();
        let all = [Read::NAMES, Change::NAMES, Other::NAMES, Program::NAMES].into_iter().flatten().copied();
        grouped().chain(all.filter(move |name| grouped().all(|shown| shown != *name)))
    }

    pub fn has(name: &str) -> bool {
        Request::names().any(|known| known == name)
    }

    fn define(line: clap::Command, wanted: &dyn Fn(&str) -> bool) -> clap::Command {
        let described = |name| {
            let other = || Other::described(name).or_else(|| Program::described(name));
            Read::described(name).or_else(|| Change::described(name)).or_else(other)
        };
        Request::names().filter(|name| wanted(name)).filter_map(described).fold(line, clap::Command::subcommand)
    }

    /// Returns the definition of the command with this name, with its own arguments.
    pub fn arguments_of(name: &str) -> Option<clap::Command> {
        let changes = || Change::arguments_of(name).or_else(|| Other::arguments_of(name));
        Read::arguments_of(name).or_else(changes).or_else(|| Program::arguments_of(name))
    }

    /// Parses the command of a command line, if there is one.
    fn from_matches(matches: &clap::ArgMatches) -> Result<Option<Request>, clap::Error> {
        let Some((name, matches)) = matches.subcommand() else { return Ok(None) };
        let read = || Some(Read::parse(name, matches)?.map(Request::Read));
        let change = || Some(Change::parse(name, matches)?.map(Request::Change));
        let other = || Some(Other::parse(name, matches)?.map(Request::Other));
        let program = || Some(Program::parse(name, matches)?.map(Request::Program));
        let request = read().or_else(change).or_else(other).or_else(program).transpose()?;
        Ok(request.map(Request::by_arguments))
    }

    /// Returns the request of the kind that its arguments ask for: a search that restores blocks is a change, marking no blocks
    /// lists the marked ones, and a pin of every session is a setting.
    fn by_arguments(self) -> Request {
        let setting = match &self {
            Request::Change(Change::Pin(arguments)) => arguments.setting(),
            Request::Change(Change::Unpin(arguments)) => arguments.setting(),
            _ => None,
        };
        if let Some(setting) = setting {
            return Request::Other(Other::Config(setting));
        }
        let list = match &self {
            Request::Change(Change::Pin(arguments)) => arguments.list(),
            Request::Change(Change::Focus(arguments)) => arguments.list(),
            _ => None,
        };
        match (list, self) {
            (Some(list), _) => Request::Read(Read::Blocks(list)),
            (None, Request::Read(Read::Recall(arguments))) if arguments.changes() => Request::Change(Change::Recall(arguments)),
            (None, request) => request,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Request::Read(request) => request.name(),
            Request::Change(request) => request.name(),
            Request::Other(request) => request.name(),
            Request::Program(request) => request.name(),
        }
    }

    /// Returns the name of the command and its arguments. What is not given, or given as the default, is left out.
    /// Errors: a path is not UTF-8.
    pub fn to_json(&self) -> Result<(&'static str, Map<String, Value>), serde_json::Error> {
        let (name, arguments) = match self {
            Request::Read(request) => request.named_arguments(),
            Request::Change(request) => request.named_arguments(),
            Request::Other(request) => request.named_arguments(),
            Request::Program(request) => request.named_arguments(),
        }?;
        Ok((name, json::given(arguments, &Request::arguments_of(name).unwrap_or_default())))
    }
}

impl Change {
    pub fn options_mut(&mut self) -> &mut ChangeOptions {
        match self {
            Change::Compress(arguments) => &mut arguments.options,
            Change::Expand(arguments) => &mut arguments.options,
            Change::Archive(arguments) => &mut arguments.options,
            Change::Recall(arguments) => &mut arguments.options,
            Change::Pin(arguments) => &mut arguments.options,
            Change::Unpin(arguments) => &mut arguments.options,
            Change::Focus(arguments) => &mut arguments.options,
            Change::Unfocus(arguments) => &mut arguments.options,
            Change::Update(arguments) => &mut arguments.options,
            Change::Create(arguments) => &mut arguments.options,
            Change::Housekeeping(arguments) => &mut arguments.options,
            Change::Redact(arguments) => &mut arguments.options,
            Change::Repair(arguments) => &mut arguments.options,
            Change::Shrink(arguments) => &mut arguments.options,
            Change::Compact(arguments) => &mut arguments.options,
            Change::Uncompact(arguments) => &mut arguments.options,
            Change::Restore(arguments) => &mut arguments.options,
            Change::Undo(arguments) => &mut arguments.options,
            Change::Redo(arguments) => &mut arguments.options,
        }
    }
}

impl From<Change> for Request {
    fn from(change: Change) -> Request {
        Request::Change(change)
    }
}

/// Returns the definition of the command line with the arguments of all commands, for man pages and completions.
pub fn definition() -> clap::Command {
    Request::names().fold(CommandLine::command(), |line, name| {
        let defined = Request::arguments_of(name).unwrap_or_default();
        line.mut_subcommand(name, |command| defined.hide(command.is_hide_set()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::WITHOUT_SESSION;

    #[test]
    fn options_of_every_command_stand_anywhere() {
        let parse = |line: &str| CommandLine::try_parse_from(line.split(' ')).unwrap();
        for line in ["aperture sessions --json", "aperture --json sessions", "aperture --json -s blocks sessions"] {
            let parsed = parse(line);
            assert!(parsed.globals.json && matches!(parsed.request, Some(Request::Other(Other::Sessions(_)))), "{line}");
        }
        let line = parse("aperture --json -s 66");
        assert!(line.globals.json && line.globals.session.as_deref() == Some("66") && line.request.is_none());
    }

    #[test]
    fn errors_know_all_commands_and_options() {
        let error = |line: &str| CommandLine::try_parse_from(line.split(' ')).unwrap_err().to_string();
        assert!(error("aperture sesions").contains("'sessions'"));
        assert!(error("aperture --opn sessions").contains("'sessions --open'"));
        assert!(error("aperture --help sessions").contains("statusline"));
        assert!(error("aperture sessions --jsn").contains("'--json'"));
    }

    #[test]
    fn help_of_a_command_names_the_options_of_every_command_in_one_line() {
        for line in ["aperture status --help", "aperture status -h", "aperture memory add --help", "aperture memory -h"] {
            let help = CommandLine::try_parse_from(line.split(' ')).unwrap_err().to_string();
            let note = "Every command takes --session, --json, --window, --color, --directory, --no-cache, --no-pager";
            assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{line}\n{help}");
            assert!(!help.contains("  --no-pager"), "{help}");
        }
        let help = CommandLine::try_parse_from(["aperture", "--help"]).unwrap_err().to_string();
        assert!(help.contains("  --no-pager"), "{help}");
    }

    #[test]
    fn help_names_each_command_in_one_group() {
        let definition = CommandLine::command();
        let mut shown: Vec<&str> =
            definition.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn commands_without_a_session_exist() {
        let line = CommandLine::command();
        for name in WITHOUT_SESSION {
            assert!(name == "usage" || line.find_subcommand(name).is_some(), "{name}");
        }
    }
}
