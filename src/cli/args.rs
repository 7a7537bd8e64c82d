use super::deferred::commands;
use crate::commands::{
    archive, blocks, check, compact, completions, compress, create, diff, expand, explain, focus, help, log, manifest, obey, pin,
    preset, recall, redact, redo, restore, sessions, show, snapshot, status, statusline, summary, transcript, undo, update, util,
};
use crate::commands::{export, gc, git_hook, hook, import, inbox, install, mcp, verify, watch};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// See and shape what an AI coding agent remembers.
///
/// aperture reads the session files of Claude Code and Codex and shows what the model's window holds: block by block, with what each
/// costs, what is stale, and what could go. Without a command it shows the status of the newest session of the project.
#[derive(Parser)]
#[command(
    name = "aperture",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  aperture                          one screen about the newest session here
  aperture sessions                 every session on this machine
  aperture manifest -s 6666         the context manifest of the session 6666…
  aperture blocks 'stale & larger(2k)' --sort tokens
  aperture help selectors           how blocks are named

Exit codes: 0 done; 1 the request cannot be met; 2 usage; 3 conflict; 70 a bug or a broken machine."
)]
struct Line {
    #[command(flatten)]
    globals: Globals,
}

/// What a command line says.
#[derive(Debug)]
pub struct Cli {
    /// What every command takes.
    pub globals: Globals,
    /// The command; `status` if there is none.
    pub command: Option<Command>,
}

impl Cli {
    /// The definition of the command line, with all commands.
    pub fn command() -> clap::Command {
        Command::augment_subcommands(Line::command())
    }

    /// Reads a command line, whose first word is the name of the program.
    ///
    /// # Errors
    ///
    /// It is none, or asks for help.
    pub fn try_parse_from(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let mut definition = Cli::command_for(&words);
        let matches = definition.try_get_matches_from_mut(words)?;
        let command = matches.subcommand_name().map(|_| Command::from_arg_matches(&matches)).transpose();
        let cli = command.and_then(|command| Ok(Cli { globals: Globals::from_arg_matches(&matches)?, command }));
        cli.map_err(|error| error.format(&mut definition))
    }

    /// As much of the definition as these words can need. Every command is given its own copy of the options of all, which takes
    /// longer than all else that a short command does: that is left to the commands that are named.
    fn command_for(words: &[OsString]) -> clap::Command {
        let named = |word: &OsString| word.to_str().is_some_and(Command::has_subcommand);
        match words.get(1) {
            Some(first) if named(first) => Command::define(Line::command(), |name| first == name),
            _ if words.iter().skip(1).any(named) => Cli::command(),
            _ => Cli::command().mut_args(|option| option.global(false)),
        }
    }
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Session: a path, an id or the beginning of one [default: the newest of this project]
    #[arg(short, long, global = true, value_name = "SESSION")]
    pub session: Option<String>,
    /// Write JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Tokens that the model's window holds, such as 200k [default: by model]
    #[arg(long, global = true, value_name = "TOKENS", value_parser = tokens)]
    pub window: Option<u64>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub color: ColorChoice,
    /// Run as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Read everything anew, and remember nothing
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Do not use a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

commands! {
/// What to do.
pub enum Command {
    /// Show the context manifest: what the window holds, in a few hundred tokens
    Manifest(manifest::Arguments) = "manifest",
    /// List the sessions on this machine
    Sessions(sessions::Arguments) = "sessions",
    /// Show one screen about a session: fullness, shares, what is stale
    Status(status::Arguments) = "status",
    /// Show a session and its turns in short: goal, story, state, what is next
    Summary(summary::Arguments) = "summary",
    /// List blocks
    Blocks(blocks::Arguments) = "blocks",
    /// Show the content of blocks
    Show(show::Arguments) = "show",
    /// Explain a block: why it is stale or in use, what refers to it, what would be left of it
    Explain(explain::Arguments) = "explain",
    /// Write the conversation as the model would see it
    Transcript(transcript::Arguments) = "transcript",
    /// Shorten blocks: what is stale, what is named, or until a budget is met
    Compress(compress::Arguments) = "compress",
    /// Bring shortened blocks back
    Expand(expand::Arguments) = "expand",
    /// Move blocks to cold storage; a line stays in their place
    Archive(archive::Arguments) = "archive",
    /// Search what left the model's sight, and bring it back
    Recall(recall::Arguments) = "recall",
    /// Protect blocks from being shortened
    Pin(pin::Arguments) = "pin",
    /// No longer protect blocks
    Unpin(pin::UnpinArguments) = "unpin",
    /// Select the blocks that matter now
    Focus(focus::Arguments) = "focus",
    /// Let selected blocks go
    Unfocus(focus::UnfocusArguments) = "unfocus",
    /// Put another text in the place of a block
    Update(update::Arguments) = "update",
    /// Add a note at the end of a session
    Create(create::Arguments) = "create",
    /// Take credentials out of a session
    Redact(redact::Arguments) = "redact",
    /// Fold whole turns into one note
    Compact(compact::Arguments) = "compact",
    /// Show again what a compaction of the client hid
    Uncompact(compact::UncompactArguments) = "uncompact",
    /// Show what the model sees differently
    Diff(diff::Arguments) = "diff",
    /// List what was done to a session
    Log(log::Arguments) = "log",
    /// Carry out what the model asked for in its text
    Obey(obey::Arguments) = "obey",
    /// List what the model asked for and waits for you
    Inbox(inbox::Arguments) = "inbox",
    /// Carry out what waits in the inbox
    Approve(inbox::ApproveArguments) = "approve",
    /// Say no to what waits in the inbox
    Deny(inbox::DenyArguments) = "deny",
    /// Name points in the log
    Snapshot(snapshot::Arguments) = "snapshot",
    /// Bring a session back to a point in its log
    Restore(restore::Arguments) = "restore",
    /// List and choose how short stale blocks get
    Preset(preset::Arguments) = "preset",
    /// Take an operation back
    Undo(undo::Arguments) = "undo",
    /// Take an undo back
    Redo(redo::Arguments) = "redo",
    /// Show what happens in a session while it happens: a live screen, lines, or JSON
    Watch(watch::Arguments) = "watch",
    /// Check sessions for scripts, git hooks and CI: credentials, damage, size
    Check(check::Arguments) = "check",
    /// Hold the store and the sessions against each other
    Verify(verify::Arguments) = "verify",
    /// Forget what nobody needs any more, if asked twice
    Gc(gc::Arguments) = "gc",
    /// Write the originals and the log of a session into one file
    Export(export::Arguments) = "export",
    /// Take the originals and the log of a session from such a file
    Import(import::Arguments) = "import",
    /// Serve these commands to a model, over the Model Context Protocol
    Mcp(mcp::Arguments) = "mcp",
    /// Put aperture into another program: Claude Code, or the hooks of git
    Install(install::Arguments) = "install",
    /// Take out what install added, and nothing else
    Uninstall(install::UninstallArguments) = "uninstall",
    /// Answer an event of a client, whose description is on standard input
    Hook(hook::Arguments) = "hook",
    /// Print the status line of a client, whose description is on standard input
    Statusline(statusline::Arguments) = "statusline",
    /// Explain a command or a topic, such as `selectors`
    Help(help::Arguments) = "help",
    /// Print the completion script of a shell
    Completions(completions::Arguments) = "completions",
    /// What the hooks of git run
    #[hidden]
    GitHook(git_hook::Arguments) = "git-hook",
    /// Tools for developers of aperture
    #[hidden]
    Util(util::Arguments) = "util",
}
}

/// A number of tokens as people write it: `200k`.
pub fn tokens(text: &str) -> Result<u64, String> {
    match crate::engine::selector::amount(text) {
        Some(value) if value >= 1.0 => Ok(value as u64),
        _ => Err("a number of tokens is written as 200000, 200k or 1M".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_command_stand_anywhere() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).unwrap();
        for line in ["aperture sessions --json", "aperture --json sessions", "aperture --json -s blocks sessions"] {
            let cli = parse(line);
            assert!(cli.globals.json && matches!(cli.command, Some(Command::Sessions(_))), "{line}");
        }
        let cli = parse("aperture --json -s 66");
        assert!(cli.globals.json && cli.globals.session.as_deref() == Some("66") && cli.command.is_none());
    }

    #[test]
    fn errors_know_all_commands_and_options() {
        let error = |line: &str| Cli::try_parse_from(line.split(' ')).unwrap_err().to_string();
        assert!(error("aperture sesions").contains("'sessions'"));
        assert!(error("aperture --opn sessions").contains("'sessions --open'"));
        assert!(error("aperture --help sessions").contains("statusline"));
        assert!(error("aperture sessions --jsn").contains("'--json'"));
    }
}
