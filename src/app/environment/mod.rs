//! The environment of a request: global options, settings, the machine, errors and exit codes.

mod env;
mod error;
pub mod files;
mod git;
mod pager;
mod settings;

pub use env::{Answer, Client, Env, wait};
pub use error::{CommandError, ErrorKind, print_error, print_line};
pub use settings::{Hooks, PROJECT_FILE};
