//! `--apply-policy`: applies the rules of the settings when the session is idle.

use super::follow::Shown;
use crate::app::dispatch::unhandled;
use crate::app::{self, CommandError, Env};
use crate::commands::{ChangeOptions, Request, compress};
use crate::engine::{ActivityEvent, SuggestionKind};
use crate::model::Actor;
use crate::workspace::{Found, open_sessions};
use std::path::PathBuf;
use std::time::Duration;

/// The progress of the rules.
#[derive(Default)]
pub(super) struct Policy {
    /// The last session state on which the rules acted or tried to: the file, and the time of the client's last write.
    done: Option<(PathBuf, i128)>,
    /// The session state for which they waited for the client.
    waits: Option<(PathBuf, i128)>,
}

/// The action that the rules want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Shorten the window to its budget.
    Budget,
    /// Shorten stale blocks.
    Stale,
}

impl Wanted {
    /// Returns the action for the suggestions, which are made only if they are worth their price.
    fn by(suggested: &[SuggestionKind]) -> Option<Wanted> {
        let wanted = [(SuggestionKind::Budget, Wanted::Budget), (SuggestionKind::Compress, Wanted::Stale)];
        wanted.into_iter().find(|(kind, _)| suggested.contains(kind)).map(|(_, wanted)| wanted)
    }

    /// Returns the equivalent request.
    fn request(self) -> Request {
        let arguments = compress::Arguments::default();
        Request::Compress(match self {
            Wanted::Budget => compress::Arguments { over_budget: true, ..arguments },
            Wanted::Stale => compress::Arguments { stale: true, ..arguments },
        })
    }
}

impl Policy {
    /// Runs the rules if they have an action and are allowed to. Returns an event to report, in addition to the operation in the
    /// log.
    ///
    /// They act once per write of the client, even if the operation is undone or has no effect.
    pub fn act(&mut self, env: &Env, shown: &Shown, live: bool) -> Option<ActivityEvent> {
        let written = shown.written()?;
        let state = (shown.found.path.clone(), written);
        let wanted = Wanted::by(&shown.suggested)?;
        let answered = shown.changed.is_some_and(|changed| i128::from(changed) * 1_000_000 > written);
        let quiet = shown.quiet(env)? >= Duration::from_secs(env.idle_seconds);
        if !quiet || answered || self.done.as_ref() == Some(&state) {
            return None;
        }
        if !live && open_sessions(env.disk, &env.places).contains(&shown.found.location.id) {
            let told = self.waits.replace(state.clone()) == Some(state);
            let reason = format!("a client has the session open: {} waits until it is closed", wanted.request().line());
            return (!told).then_some(ActivityEvent::PolicyRefused { reason });
        }
        self.done = Some(state);
        let refused = carry_out(env, &shown.found, wanted, live).err()?;
        Some(ActivityEvent::PolicyRefused { reason: format!("{:#}", refused.source) })
    }
}

/// Executes an action like the equivalent command.
fn carry_out(env: &Env, found: &Found, wanted: Wanted, live: bool) -> Result<(), CommandError> {
    let request = wanted.request();
    let mut env = env.on(&found.path, &format!("{} (watch --apply-policy)", request.line()));
    env.actor = Actor::Policy;
    let request = request.with_options(ChangeOptions { live, ..ChangeOptions::default() });
    app::change(&env, &request).ok_or_else(unhandled)?.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_comes_first() {
        use SuggestionKind::{Archive, Budget, Compress, Expand};
        for (suggested, wanted) in [
            (&[][..], None),
            (&[Archive, Expand], None),
            (&[Compress, Archive], Some(Wanted::Stale)),
            (&[Compress, Budget], Some(Wanted::Budget)),
        ] {
            assert_eq!(Wanted::by(suggested), wanted, "{suggested:?}");
        }
    }
}
