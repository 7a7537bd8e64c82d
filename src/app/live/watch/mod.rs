//! `aperture watch`: shows the events in a session as they happen.

mod around;
mod follow;
#[cfg(unix)]
mod keys;
#[cfg(not(unix))]
#[path = "no_keys.rs"]
mod keys;
mod learning;
mod policy;
mod screen;

use crate::app::{CommandError, Env};
use crate::commands::watch::Arguments;
use follow::Watch;

/// Runs until it is interrupted or an end condition is met.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    Watch::new(env.clone(), arguments).run()
}
