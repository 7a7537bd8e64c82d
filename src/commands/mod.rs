//! The commands, one file each.

pub mod archive;
pub mod ask;
pub mod blocks;
mod changing;
pub mod check;
pub mod compact;
pub mod completions;
pub mod compress;
pub mod create;
pub mod diff;
pub mod expand;
pub mod explain;
pub mod export;
pub mod focus;
pub mod gc;
pub mod git_hook;
pub mod help;
pub mod hook;
pub mod import;
pub mod inbox;
pub mod install;
pub mod log;
pub mod manifest;
pub mod mcp;
pub mod obey;
pub mod pin;
pub mod preset;
mod proposing;
pub mod recall;
pub mod redact;
pub mod redo;
mod reported;
pub mod restore;
pub mod sessions;
pub mod show;
pub mod snapshot;
pub mod status;
pub mod statusline;
mod stored;
pub mod summary;
pub mod transcript;
pub mod undo;
pub mod update;
pub mod util;
pub mod verify;
pub mod watch;

use crate::cli::{Answer, Command, CommandError, Env, ErrorKind};
use crate::output::ChangeReport;
use anyhow::anyhow;

/// Runs a command; without one, `status`.
///
/// # Errors
///
/// Those of the command.
pub fn run(env: &Env, command: Option<Command>) -> Result<(), CommandError> {
    let Some(command) = command else { return status::run(env, &status::Arguments::default()) };
    match &command {
        Command::Manifest(arguments) => manifest::run(env, arguments),
        Command::Sessions(arguments) => sessions::run(env, arguments),
        Command::Status(arguments) => status::run(env, arguments),
        Command::Summary(arguments) => summary::run(env, arguments),
        Command::Blocks(arguments) => blocks::run(env, arguments),
        Command::Show(arguments) => show::run(env, arguments),
        Command::Explain(arguments) => explain::run(env, arguments),
        Command::Transcript(arguments) => transcript::run(env, arguments),
        Command::Recall(arguments) if !arguments.changes() => recall::run(env, arguments),
        Command::Diff(arguments) => diff::run(env, arguments),
        Command::Inbox(arguments) => inbox::run(env, arguments),
        Command::Approve(arguments) => inbox::run_approve(env, arguments),
        Command::Deny(arguments) => inbox::run_deny(env, arguments),
        Command::Log(arguments) => log::run(env, arguments),
        Command::Obey(arguments) => obey::run(env, arguments),
        Command::Snapshot(arguments) => snapshot::run(env, arguments),
        Command::Preset(arguments) => preset::run(env, arguments),
        Command::Watch(arguments) => watch::run(env, arguments),
        Command::Check(arguments) => check::run(env, arguments),
        Command::Verify(arguments) => verify::run(env, arguments),
        Command::Gc(arguments) => gc::run(env, arguments),
        Command::Export(arguments) => export::run(env, arguments),
        Command::Import(arguments) => import::run(env, arguments),
        Command::Install(arguments) => install::run(env, arguments),
        Command::Uninstall(arguments) => install::run_uninstall(env, arguments),
        Command::GitHook(arguments) => git_hook::run(env, arguments),
        Command::Mcp(arguments) => mcp::run(env, arguments),
        Command::Hook(arguments) => hook::run(env, arguments),
        Command::Statusline(arguments) => statusline::run(env, arguments),
        Command::Help(arguments) => help::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Util(arguments) => util::run(env, arguments),
        // Each by its name, so that a new one is forgotten nowhere.
        Command::Compress(_)
        | Command::Expand(_)
        | Command::Archive(_)
        | Command::Recall(_)
        | Command::Pin(_)
        | Command::Unpin(_)
        | Command::Focus(_)
        | Command::Unfocus(_)
        | Command::Update(_)
        | Command::Create(_)
        | Command::Compact(_)
        | Command::Uncompact(_)
        | Command::Restore(_)
        | Command::Redact(_)
        | Command::Undo(_)
        | Command::Redo(_) => {
            let forgotten = || CommandError::new(ErrorKind::Internal, anyhow!("nobody carries this command out"));
            env.print(&change(env, &command).ok_or_else(forgotten)??)
        }
    }
}

/// What a command that only reads has to say; none for any other command, and for those that are not about one session.
pub fn read(env: &Env, command: &Command) -> Option<Result<Answer, CommandError>> {
    Some(match command {
        Command::Manifest(arguments) => match &arguments.since {
            Some(point) => manifest::since(env, None, point).map(|report| env.answer(&report)),
            None => manifest::report(env, arguments).map(|report| env.answer(&report)),
        },
        Command::Summary(arguments) => summary::report(env, arguments).map(|report| env.answer(&report)),
        Command::Blocks(arguments) => blocks::report(env, arguments).map(|report| env.answer(&report)),
        Command::Show(arguments) => show::report(env, arguments).map(|report| env.answer(&report)),
        Command::Explain(arguments) => explain::report(env, arguments).map(|report| env.answer(&report)),
        Command::Recall(arguments) if !arguments.changes() => recall::report(env, arguments).map(|report| env.answer(&report)),
        Command::Diff(arguments) => diff::report(env, arguments).map(|report| env.answer(&report)),
        Command::Log(arguments) => log::report(env, arguments).map(|report| env.answer(&report)),
        _ => return None,
    })
}

/// Carries out a command that changes a session, and returns what that did; none for a command that only reads.
pub fn change(env: &Env, command: &Command) -> Option<Result<ChangeReport, CommandError>> {
    Some(match command {
        Command::Compress(arguments) => compress::run(env, arguments),
        Command::Expand(arguments) => expand::run(env, arguments),
        Command::Archive(arguments) => archive::run(env, arguments),
        Command::Recall(arguments) if arguments.changes() => recall::bring_back(env, arguments),
        Command::Pin(arguments) => pin::run(env, arguments),
        Command::Unpin(arguments) => pin::run_unpin(env, arguments),
        Command::Focus(arguments) => focus::run(env, arguments),
        Command::Unfocus(arguments) => focus::run_unfocus(env, arguments),
        Command::Update(arguments) => update::run(env, arguments),
        Command::Create(arguments) => create::run(env, arguments),
        Command::Compact(arguments) => compact::run(env, arguments),
        Command::Uncompact(arguments) => compact::run_uncompact(env, arguments),
        Command::Restore(arguments) => restore::run(env, arguments),
        Command::Redact(arguments) => redact::run(env, arguments),
        Command::Undo(arguments) => undo::run(env, arguments),
        Command::Redo(arguments) => redo::run(env, arguments),
        _ => return None,
    })
}
