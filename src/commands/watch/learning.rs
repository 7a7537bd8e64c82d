//! Learns from the watched session after it ended or went idle, and copies it.

use super::follow::Shown;
use crate::app::{CommandError, Env, Keeping};
use crate::commands::keep;
use crate::commands::memory::live::LiveMemories;
use crate::engine::memory::ChangeKind;
use crate::model::request_id;
use crate::workspace::{open_sessions, stated};
use std::path::PathBuf;
use std::time::Duration;

/// The interval of checks if a client still has the session open.
const CHECK: Duration = Duration::from_secs(2);

/// The outcome for a session that ended or went idle.
pub(super) struct Done {
    /// The number of entries that are new or others than before.
    pub learned: Result<usize, CommandError>,
    pub kept: Result<(), CommandError>,
}

#[derive(Default)]
pub(super) struct Learner {
    /// The state of the session from which nothing is to be learned: that at the start of the watch, or the last one that was
    /// learned. The file, and the time of the client's last write.
    done: Option<(PathBuf, i128)>,
    /// True if a client had the session open at the last check, and the time of that check.
    was_open: bool,
    checked: Duration,
}

impl Learner {
    /// Learns if the session was written to during the watch, and has ended or is idle; copies it if the settings say so. `None` if
    /// nothing is due.
    pub fn act(&mut self, env: &Env, shown: &Shown) -> Option<Done> {
        let (written, path) = (shown.written()?, &shown.found.path);
        match &self.done {
            Some((known, time)) if known == path && *time == written => return None,
            Some((known, _)) if known == path => {}
            // Hooks learn, and the next session of the project does.
            _ => {
                (self.done, self.was_open) = (Some((path.clone(), written)), false);
                return None;
            }
        }
        let is_idle = shown.quiet(env)? >= Duration::from_secs(env.idle_seconds);
        if !is_idle && !self.has_ended(env, shown) || request_id(path).is_some() {
            return None;
        }
        self.done = Some((path.clone(), written));
        let kept = if env.keeping == Keeping::On { keep::keep_session(env, &shown.found) } else { Ok(()) };
        let learn = |directory: PathBuf| {
            let changes = LiveMemories::new(env, &shown.found.location.id, &directory)?.learn_project()?;
            let is_news = |kind| !matches!(kind, ChangeKind::Confirmed | ChangeKind::Archived);
            Ok(changes.iter().filter(|change| is_news(change.kind)).count())
        };
        let directory = stated(env.disk, &shown.found).filter(|_| env.memory.learn);
        Some(Done { learned: directory.map_or(Ok(0), learn), kept })
    }

    /// Returns true if a client had the session open and no longer has.
    fn has_ended(&mut self, env: &Env, shown: &Shown) -> bool {
        let now = env.elapsed();
        if now.saturating_sub(self.checked) < CHECK {
            return false;
        }
        self.checked = now;
        let is_open = open_sessions(env.disk, &env.places).contains(&shown.found.location.id);
        let has_ended = self.was_open && !is_open;
        self.was_open = is_open;
        has_ended
    }
}
