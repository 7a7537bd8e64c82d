//! The requests, one for each command, and their command line.

use super::deferred::commands;
use super::json;
use super::{
    Globals, archive, blocks, check, compact, complete, completions, compress, create, diff, expand, explain, export, focus,
    fork, gc, git_hook, help, hook, import, inbox, install, job, log, manifest, mcp, memory, obey, pin, preset, proxy, recall,
    redact, redo, repair, restore, run, sessions, show, shrink, snapshot, stage, status, statusline, summary, transcript, undo,
    update, usage, util, verify, watch,
};
use clap::builder::StyledStr;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::{Map, Value};
use std::ffi::OsString;

/// Inspect and edit the context window of an AI coding agent.
///
/// aperture reads the session files of Claude Code and Codex and lists the blocks of the context window: the cost of each
/// in tokens, stale blocks, and possible savings. Without a command it shows the status of the newest session of the project or, elsewhere,
/// the sessions used last.
#[derive(Parser)]
#[command(
    name = "aperture",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  aperture                          one screen about the newest session here
  aperture sessions                 every session on this machine
  aperture usage                    tokens and cost by day
  aperture manifest -s 6666         the context manifest of the session 6666…
  aperture blocks 'stale & larger(2k)' --sort tokens
  aperture help selectors           how blocks are named

Exit codes: 0 success; 1 request refused or failed; 2 usage; 3 conflict; 70 internal error; 130 interrupted."
)]
struct Line {
    #[command(flatten)]
    globals: Globals,
}

/// A parsed command line.
#[derive(Debug)]
pub struct CommandLine {
    /// The options of every command.
    pub globals: Globals,
    /// The command; `None` for the status of the newest session, or a list of recent ones.
    pub request: Option<Request>,
}

impl CommandLine {
    /// Returns the definition of the command line, with all commands.
    pub fn command() -> clap::Command {
        let line = Request::augment_subcommands(Line::command());
        let template = template(&line);
        line.help_template(template)
    }

    /// Parses a command line, whose first word is the name of the program.
    ///
    /// # Errors
    ///
    /// The command line is invalid, or requests help.
    pub fn try_parse_from(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<CommandLine, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let mut definition = CommandLine::command_for(&words);
        let matches = definition.try_get_matches_from_mut(words)?;
        let request = matches.subcommand_name().map(|_| Request::from_arg_matches(&matches)).transpose();
        let line = request.and_then(|request| Ok(CommandLine { globals: Globals::from_arg_matches(&matches)?, request }));
        line.map_err(|error| error.format(&mut definition))
    }

    /// Returns the part of the definition that these words need. clap copies the global options into every command, which takes
    /// longer than anything else in a short run, so only the commands named in the words are defined.
    fn command_for(words: &[OsString]) -> clap::Command {
        let named = |word: &OsString| word.to_str().is_some_and(Request::has_subcommand);
        match words.get(1) {
            Some(first) if named(first) => Request::define(Line::command(), |name| first == name),
            _ if words.iter().skip(1).any(named) => CommandLine::command(),
            _ => CommandLine::command().mut_args(|option| option.global(false)),
        }
    }
}

/// The groups of `--help`, each with the names of its commands.
const GROUPS: &[(&str, &[&str])] = &[
    ("Look", &["status", "manifest", "sessions", "summary", "blocks", "show", "explain", "transcript", "recall", "usage"]),
    (
        "Change",
        &[
            "compress", "expand", "archive", "pin", "unpin", "focus", "unfocus", "update", "create", "redact", "repair",
            "shrink", "compact", "uncompact", "preset",
        ],
    ),
    ("Undo and history", &["undo", "redo", "log", "diff", "snapshot", "restore", "fork"]),
    ("Model", &["obey", "inbox", "approve", "deny", "mcp"]),
    ("Memory", &["memory"]),
    ("Live", &["run", "proxy", "stage", "watch", "install", "uninstall", "hook", "statusline"]),
    ("Maintenance", &["check", "verify", "gc", "export", "import", "completions", "help"]),
];

commands! {
/// A request: a command line, a tool call, or a command of the model.
pub enum Request {
    /// Show the context manifest: the window in a few hundred tokens
    Manifest(manifest::Arguments) = "manifest",
    /// List the sessions on this machine
    Sessions(sessions::Arguments) = "sessions",
    /// Show one screen about a session: fullness, shares, stale blocks
    Status(status::Arguments) = "status",
    /// Summarize a session and its turns: goal, story, state, next steps
    Summary(summary::Arguments) = "summary",
    /// List blocks
    Blocks(blocks::Arguments) = "blocks",
    /// Show the content of blocks
    Show(show::Arguments) = "show",
    /// Explain the state of a block: references to it, staleness, levels
    Explain(explain::Arguments) = "explain",
    /// Print the conversation as the model would see it
    Transcript(transcript::Arguments) = "transcript",
    /// Add up tokens and cost by day, week, month, session, project or model
    Usage(usage::Arguments) = "usage",
    /// Shorten blocks: stale ones, selected ones, or down to a budget
    Compress(compress::Arguments) = "compress",
    /// Restore shortened blocks
    Expand(expand::Arguments) = "expand",
    /// Take blocks out of the window; leaves a one-line marker for each
    Archive(archive::Arguments) = "archive",
    /// Search archived, shortened and compacted content; optionally restore it
    Recall(recall::Arguments) = "recall",
    /// Protect blocks from being shortened
    Pin(pin::Arguments) = "pin",
    /// Remove the protection of blocks
    Unpin(pin::UnpinArguments) = "unpin",
    /// Mark blocks as relevant
    Focus(focus::Arguments) = "focus",
    /// Clear the focus marks
    Unfocus(focus::UnfocusArguments) = "unfocus",
    /// Replace the text of a block
    Update(update::Arguments) = "update",
    /// Append a note to a session
    Create(create::Arguments) = "create",
    /// Replace credentials in a session with placeholders
    Redact(redact::Arguments) = "redact",
    /// Repair damage that changes or blocks the next request
    Repair(repair::Arguments) = "repair",
    /// Make a session file smaller; the window stays the same
    Shrink(shrink::Arguments) = "shrink",
    /// Fold whole turns into one note
    Compact(compact::Arguments) = "compact",
    /// Restore the messages hidden by the last compaction
    Uncompact(compact::UncompactArguments) = "uncompact",
    /// Show the changes to the window between two points of the log
    Diff(diff::Arguments) = "diff",
    /// List the operations on a session
    Log(log::Arguments) = "log",
    /// Execute the @commands in the model's messages
    Obey(obey::Arguments) = "obey",
    /// List model commands awaiting your approval
    Inbox(inbox::Arguments) = "inbox",
    /// Execute pending model commands
    Approve(inbox::ApproveArguments) = "approve",
    /// Reject pending model commands
    Deny(inbox::DenyArguments) = "deny",
    /// Name points in the log
    Snapshot(snapshot::Arguments) = "snapshot",
    /// Restore a session to a point in its log
    Restore(restore::Arguments) = "restore",
    /// Copy a session up to a turn or a block into a new one
    Fork(fork::Arguments) = "fork",
    /// List and choose compression presets
    Preset(preset::Arguments) = "preset",
    /// Undo an operation
    Undo(undo::Arguments) = "undo",
    /// Redo an undone operation
    Redo(redo::Arguments) = "redo",
    /// Follow a session: a live screen, lines, or JSON
    Watch(watch::Arguments) = "watch",
    /// Queue text for the next prompt of a proxied session
    Stage(stage::Arguments) = "stage",
    /// Check sessions in scripts, git hooks and CI: credentials, damage, size
    Check(check::Arguments) = "check",
    /// Check stored originals and logs against the session files
    Verify(verify::Arguments) = "verify",
    /// Delete unreferenced originals (dry run unless --yes)
    Gc(gc::Arguments) = "gc",
    /// Write the originals and the log of a session to one file
    Export(export::Arguments) = "export",
    /// Read the originals and the log of a session from such a file
    Import(import::Arguments) = "import",
    /// Manage memories learned from sessions
    Memory(memory::Arguments) = "memory",
    /// Serve the commands as tools over the Model Context Protocol
    Mcp(mcp::Arguments) = "mcp",
    /// Run a client behind the proxy
    Run(run::Arguments) = "run",
    /// Serve as a proxy between clients and their API
    Proxy(proxy::Arguments) = "proxy",
    /// Install hooks and integrations for Claude Code or git
    Install(install::Arguments) = "install",
    /// Remove exactly the parts added by install
    Uninstall(install::UninstallArguments) = "uninstall",
    /// Handle a Claude Code hook event (JSON on stdin)
    Hook(hook::Arguments) = "hook",
    /// Print the status line of Claude Code (JSON on stdin)
    Statusline(statusline::Arguments) = "statusline",
    /// Explain a command or a topic, such as `selectors`
    Help(help::Arguments) = "help",
    /// Print a shell completion script
    Completions(completions::Arguments) = "completions",
    /// Print candidates for a word, for the completion scripts
    #[hidden]
    Complete(complete::Arguments) = "complete",
    /// Do a job of the running proxy (JSON on stdin)
    #[hidden]
    Job(job::Arguments) = "job",
    /// Run by the git hooks
    #[hidden]
    GitHook(git_hook::Arguments) = "git-hook",
    /// Tools for developers of aperture
    #[hidden]
    Util(util::Arguments) = "util",
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

impl Request {
    /// Returns true if there is a command with this name.
    pub fn has(name: &str) -> bool {
        Request::has_subcommand(name)
    }

    /// Returns the name of the command and its arguments. What is not given, or given as the default, is left out.
    ///
    /// # Errors
    ///
    /// A path is not UTF-8.
    pub fn to_json(&self) -> Result<(&'static str, Map<String, Value>), serde_json::Error> {
        let (name, arguments) = self.named_arguments()?;
        Ok((name, json::given(arguments, &Request::arguments_of(name).unwrap_or_default())))
    }
}

/// Returns the definition of the command line with the arguments of all commands, for man pages and completions.
pub fn definition() -> clap::Command {
    Request::define_all(CommandLine::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_command_stand_anywhere() {
        let parse = |line: &str| CommandLine::try_parse_from(line.split(' ')).unwrap();
        for line in ["aperture sessions --json", "aperture --json sessions", "aperture --json -s blocks sessions"] {
            let parsed = parse(line);
            assert!(parsed.globals.json && matches!(parsed.request, Some(Request::Sessions(_))), "{line}");
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
    fn help_names_each_command_in_one_group() {
        let definition = CommandLine::command();
        let mut shown: Vec<&str> =
            definition.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }
}
