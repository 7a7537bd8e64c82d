//! `--apply-policy`: applies the rules of the settings when the session is idle.

use super::follow::Shown;
use crate::app::Env;
use crate::commands::live::policy::{Wanted, carry_out, command_line};
use crate::engine::ActivityEvent;
use crate::workspace::open_sessions;
use std::path::PathBuf;
use std::time::Duration;

/// The end of the command in the log.
const SOURCE: &str = "(watch --apply-policy)";

#[derive(Default)]
pub(super) struct Policy {
    /// The last session state on which the rules acted or tried to: the file, and the time of the client's last write.
    done: Option<(PathBuf, i128)>,
    /// The session state for which they waited for the client.
    waits: Option<(PathBuf, i128)>,
}

impl Policy {
    /// Runs the rules if they have an action and are allowed to. Returns an event to report, in addition to the operation in the
    /// log.
    ///
    /// They act once per write of the client, even if the operation is undone or has no effect.
    pub fn act(&mut self, env: &Env, shown: &Shown, live: bool) -> Option<ActivityEvent> {
        let written = shown.written()?;
        let state = (shown.found.path.clone(), written);
        let wanted = Wanted::by(&shown.suggested)?.arguments();
        let answered = shown.changed.is_some_and(|changed| i128::from(changed) * 1_000_000 > written);
        let quiet = shown.quiet(env)? >= Duration::from_secs(env.idle_seconds);
        if !quiet || answered || self.done.as_ref() == Some(&state) {
            return None;
        }
        if !live && open_sessions(env.disk, &env.places).contains(&shown.found.location.id) {
            let told = self.waits.replace(state.clone()) == Some(state);
            let reason = format!("a client has the session open: {} waits until it is closed", command_line(&wanted));
            return (!told).then_some(ActivityEvent::PolicyRefused { reason });
        }
        self.done = Some(state);
        let refused = carry_out(env, &shown.found, &wanted, live, SOURCE).err()?;
        Some(ActivityEvent::PolicyRefused { reason: format!("{:#}", refused.source) })
    }
}
