//! The environment of requests: global options, settings, the machine, errors and exit codes.

mod ask;
mod caches;
mod env;
mod error;
pub mod files;
mod find;
mod globals;
mod hints;
mod programs;
mod results;
pub mod seal;
mod session_name;
mod settings;
mod sidecar;
#[cfg(unix)]
mod terminal;
#[cfg(not(unix))]
#[path = "terminal_elsewhere.rs"]
mod terminal;

pub use crate::provider::parsed;
pub use env::{Answer, Client, Env, project_file, settings, settings_file, wait};
pub use error::{CommandError, ErrorKind, may_read, next_step, next_step_at, print_error, print_line};
pub(crate) use error::{misuse, refusal};
pub use globals::{ColorChoice, Globals, number, one_of, tokens};
pub use hints::WITHOUT_SESSION;
pub use programs::Followed;
pub use results::ResultFile;
pub use session_name::session_name;
pub use settings::{Hooks, InForce, Keeping, PROJECT_FILE, Settings, SidecarSettings, is_within, with_keeping};
pub use sidecar::SidecarTexts;
pub use terminal::KeyTerminal;
#[cfg(unix)]
pub use terminal::{ENDING, is_in_foreground};
