//! The commands, one file each.

pub mod archive;
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
pub mod import;
pub mod install;
pub mod log;
pub mod manifest;
pub mod pin;
pub mod preset;
pub mod recall;
pub mod redact;
pub mod redo;
pub mod restore;
pub mod sessions;
pub mod show;
pub mod snapshot;
pub mod status;
mod stored;
pub mod summary;
pub mod transcript;
pub mod undo;
pub mod update;
pub mod util;
pub mod verify;
pub mod watch;

use crate::cli::{Command, CommandError, Env};

/// Runs a command; without one, `status`.
pub fn run(env: &Env, command: Option<Command>) -> Result<(), CommandError> {
    match command {
        None => status::run(env, &status::Arguments::default()),
        Some(Command::Manifest(arguments)) => manifest::run(env, &arguments),
        Some(Command::Sessions(arguments)) => sessions::run(env, &arguments),
        Some(Command::Status(arguments)) => status::run(env, &arguments),
        Some(Command::Summary(arguments)) => summary::run(env, &arguments),
        Some(Command::Blocks(arguments)) => blocks::run(env, &arguments),
        Some(Command::Show(arguments)) => show::run(env, &arguments),
        Some(Command::Explain(arguments)) => explain::run(env, &arguments),
        Some(Command::Transcript(arguments)) => transcript::run(env, &arguments),
        Some(Command::Compress(arguments)) => compress::run(env, &arguments),
        Some(Command::Expand(arguments)) => expand::run(env, &arguments),
        Some(Command::Recall(arguments)) => recall::run(env, &arguments),
        Some(Command::Pin(arguments)) => pin::run(env, &arguments),
        Some(Command::Focus(arguments)) => focus::run(env, &arguments),
        Some(Command::Update(arguments)) => update::run(env, &arguments),
        Some(Command::Create(arguments)) => create::run(env, &arguments),
        Some(Command::Compact(arguments)) => compact::run(env, &arguments),
        Some(Command::Diff(arguments)) => diff::run(env, &arguments),
        Some(Command::Log(arguments)) => log::run(env, &arguments),
        Some(Command::Snapshot(arguments)) => snapshot::run(env, &arguments),
        Some(Command::Restore(arguments)) => restore::run(env, &arguments),
        Some(Command::Preset(arguments)) => preset::run(env, &arguments),
        Some(Command::Unpin(arguments)) => pin::run_unpin(env, &arguments),
        Some(Command::Unfocus(arguments)) => focus::run_unfocus(env, &arguments),
        Some(Command::Uncompact(arguments)) => compact::run_uncompact(env, &arguments),
        Some(Command::Archive(arguments)) => archive::run(env, &arguments),
        Some(Command::Redact(arguments)) => redact::run(env, &arguments),
        Some(Command::Undo(arguments)) => undo::run(env, &arguments),
        Some(Command::Redo(arguments)) => redo::run(env, &arguments),
        Some(Command::Check(arguments)) => check::run(env, &arguments),
        Some(Command::Verify(arguments)) => verify::run(env, &arguments),
        Some(Command::Gc(arguments)) => gc::run(env, &arguments),
        Some(Command::Export(arguments)) => export::run(env, &arguments),
        Some(Command::Import(arguments)) => import::run(env, &arguments),
        Some(Command::Watch(arguments)) => watch::run(env, &arguments),
        Some(Command::Install(arguments)) => install::run(env, &arguments),
        Some(Command::Uninstall(arguments)) => install::run_uninstall(env, &arguments),
        Some(Command::GitHook(arguments)) => git_hook::run(env, &arguments),
        Some(Command::Help(arguments)) => help::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Util(arguments)) => util::run(env, &arguments),
    }
}
