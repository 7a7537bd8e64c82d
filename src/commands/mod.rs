//! The commands, one file each.

pub mod archive;
pub mod blocks;
mod changing;
pub mod completions;
pub mod export;
pub mod gc;
pub mod help;
pub mod import;
pub mod manifest;
pub mod redo;
pub mod sessions;
pub mod show;
pub mod status;
mod stored;
pub mod transcript;
pub mod undo;
pub mod util;
pub mod verify;

use crate::cli::{Command, CommandError, Env};

/// Runs a command; without one, `status`.
pub fn run(env: &Env, command: Option<Command>) -> Result<(), CommandError> {
    match command {
        None => status::run(env, &status::Arguments::default()),
        Some(Command::Manifest(arguments)) => manifest::run(env, &arguments),
        Some(Command::Sessions(arguments)) => sessions::run(env, &arguments),
        Some(Command::Status(arguments)) => status::run(env, &arguments),
        Some(Command::Blocks(arguments)) => blocks::run(env, &arguments),
        Some(Command::Show(arguments)) => show::run(env, &arguments),
        Some(Command::Transcript(arguments)) => transcript::run(env, &arguments),
        Some(Command::Archive(arguments)) => archive::run(env, &arguments),
        Some(Command::Undo(arguments)) => undo::run(env, &arguments),
        Some(Command::Redo(arguments)) => redo::run(env, &arguments),
        Some(Command::Verify(arguments)) => verify::run(env, &arguments),
        Some(Command::Gc(arguments)) => gc::run(env, &arguments),
        Some(Command::Export(arguments)) => export::run(env, &arguments),
        Some(Command::Import(arguments)) => import::run(env, &arguments),
        Some(Command::Help(arguments)) => help::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Util(arguments)) => util::run(env, &arguments),
    }
}
