//! `aperture watch`: shows the events in a session as they happen.

mod around;
mod follow;
mod policy;
mod screen;

use crate::app::{CommandError, Env};
use crate::commands::watch::Arguments;
use follow::Watch;

/// Runs until it is interrupted or an end condition is met.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    Watch::new(env.clone(), arguments).run()
}
