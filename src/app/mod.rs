//! Executes requests, and holds their environment: global options, settings, the machine, errors and exit codes.

mod bulk;
mod change;
mod dispatch;
mod environment;
mod history;
mod live;
mod look;
mod maintenance;
mod memory;
mod model;

pub use dispatch::{change, read, run_change, run_other, run_read};
pub use environment::{
    Answer, Client, CommandError, Env, ErrorKind, Hooks, PROJECT_FILE, files, print_error, print_line, session_name, wait,
};
pub use live::proxied;
pub use look::bare;
pub use look::show::content;
pub use maintenance::{completions, help};
pub use model::ask::{CallOutcome, ask};
