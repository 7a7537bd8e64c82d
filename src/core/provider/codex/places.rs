//! The paths of Codex rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, and `archived_sessions/`. The client compresses a
//! rollout that was not used for some days, to the same name with `.zst`, and unpacks it to continue it.

use crate::provider::{Location, Places, TypedPrompt, WriterLock};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const ID_CHARACTERS: usize = 36;

/// Returns the rollout directories in the client's home.
pub(super) fn roots(places: &Places) -> Vec<PathBuf> {
    let home = places.codex_directory();
    KEPT_IN.iter().map(|name| home.join(name)).collect()
}

/// Returns the path of a new rollout: its directories are those of the day.
pub(super) fn new_path(places: &Places, id: &str, time: &str) -> Option<PathBuf> {
    let day = time.get(..10)?.split('-').collect::<PathBuf>();
    Some(places.codex_directory().join("sessions").join(day).join(format!("rollout-{time}-{id}.jsonl")))
}

pub(super) fn prompts_file(places: &Places) -> PathBuf {
    places.codex_directory().join("history.jsonl")
}

/// Parses a line of the list of typed prompts: `{session_id, ts, text}`, the time in seconds.
pub(super) fn typed_prompt(line: &[u8]) -> Option<TypedPrompt> {
    #[derive(Deserialize)]
    struct Line {
        session_id: String,
        ts: i64,
        text: String,
    }
    let Line { session_id, ts, text } = serde_json::from_slice(line).ok()?;
    Some(TypedPrompt { session: session_id, directory: String::new(), time: ts.saturating_mul(1_000), text })
}

/// Parses the file name of a rollout; only its content names the project.
pub(super) fn locate(path: &Path) -> Option<Location> {
    let name = path.file_name()?.to_str()?.strip_prefix("rollout-")?;
    let name = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    let start = name.len().checked_sub(ID_CHARACTERS)?;
    let id = name.get(start..).filter(|id| id.matches('-').count() == 4)?;
    Some(Location::of_id(id.to_owned()))
}

/// The names of the rollout directories in the client's home.
const KEPT_IN: [&str; 2] = ["sessions", "archived_sessions"];

/// Returns the client's home that contains a rollout.
pub(super) fn home(path: &Path) -> Option<&Path> {
    let named = |directory: &&Path| directory.file_name().is_some_and(|name| KEPT_IN.iter().any(|known| name == *known));
    path.ancestors().skip(1).find(named)?.parent()
}

/// Returns the rollout directories of the home that contains a rollout.
pub(super) fn roots_beside(path: &Path) -> Vec<PathBuf> {
    home(path).map(|home| KEPT_IN.iter().map(|name| home.join(name)).collect()).unwrap_or_default()
}

/// Returns the files that a client locks while it has a rollout open.
pub(super) fn writer_lock(path: &Path) -> Option<WriterLock> {
    let locks = home(path)?.join("thread-writer-locks");
    let id = locate(path)?.id;
    Some(WriterLock { session: locks.join(format!("{id}.lock")), guard: locks.join(".coordination.lock") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_named_by_its_id() {
        let id = |path: &str| locate(Path::new(path)).map(|location| location.id);
        let uuid = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
        let path = format!("/h/.codex/sessions/2026/04/11/rollout-2026-04-11T14-53-51-{uuid}.jsonl");
        assert_eq!(id(&path).as_deref(), Some(uuid));
        assert_eq!(id("/h/.codex/history.jsonl"), None);
        assert_eq!(id("/h/.codex/sessions/rollout-é.jsonl"), None);
        assert_eq!(id("/h/.codex/sessions/rollout-2026-04-11T14-53-51-nothing-that-is-an-identifier-at-all.jsonl"), None);
    }

    #[test]
    fn a_rollout_is_locked_in_the_home_that_it_is_kept_in() {
        let uuid = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
        let name = format!("rollout-2026-04-11T14-53-51-{uuid}.jsonl");
        let lock = |directory: &str| writer_lock(&Path::new(directory).join(&name)).map(|lock| lock.session);
        let expected = Some(PathBuf::from(format!("/h/.codex/thread-writer-locks/{uuid}.lock")));
        assert_eq!(lock("/h/.codex/sessions/2026/04/11"), expected);
        assert_eq!(lock("/h/.codex/archived_sessions"), expected);
        assert_eq!(lock("/tmp"), None);
    }

    #[test]
    fn the_home_can_be_elsewhere() {
        let places = Places { home: "/h".into(), moved: [("CODEX_HOME", "/c".into())].into() };
        assert_eq!(roots(&places), [PathBuf::from("/c/sessions"), PathBuf::from("/c/archived_sessions")]);
        assert_eq!(roots(&Places { moved: Default::default(), ..places })[0], PathBuf::from("/h/.codex/sessions"));
    }
}
