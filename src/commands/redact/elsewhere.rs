//! Removes texts for good from all that aperture made of a session, and names what still holds them.

use crate::app::{CommandError, Env};
use crate::commands::memory::{Memories, SCOPES};
use crate::model::LoggedEdit;
use crate::output::plural;
use crate::store::{SidecarStore, Store, StoredSession};
use crate::text::shell::quoted_word;
use crate::workspace::Found;

/// Rewrites the stored values of the chosen edits, the texts of the log and the whole results, and deletes the caches. Returns a note on
/// that, the number of values and results that were rewritten, and notes on what still holds the texts.
pub(super) fn forget(
    env: &Env,
    found: &Found,
    stored: Option<(Option<StoredSession>, Store)>,
    all: bool,
    meant: &dyn Fn(&LoggedEdit) -> bool,
    masked: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
    reworded: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, usize, Vec<String>), CommandError> {
    let (mut rewritten, mut left) = (0, Vec::new());
    if let Some((session, store)) = stored {
        // An answer of a local model can quote what no rule masks.
        if let Some(sidecar) = SidecarStore::open_existing(&env.store_directory()?, &env.keys.seal()?)? {
            sidecar.forget(&|value| masked(value).is_some())?;
        }
        rewritten += store.rewrite_memories(masked)?;
        if let Some(session) = session {
            let beside = if all { store.forget_companions(session.key)? } else { 0 };
            let (originals, kept) = store.rewrite(session.key, meant, masked, reworded)?;
            rewritten += originals + beside;
            if kept > 0 {
                left.push(format!("{} unchanged: the log of another session needs them too", plural(kept, "stored original")));
            }
        }
    }
    let mut what = plural(rewritten, "stored original");
    let results = env.rewrite_results(masked)?;
    if results > 0 {
        what.push_str(&format!(" and {}", plural(results, "whole result")));
    }
    env.delete_caches();
    left.extend(in_copies(env, found, masked)?);
    let memories = in_memories(env, found, masked);
    left.extend(memories.unwrap_or_else(|error| vec![format!("the memories were not searched: {:#}", error.source)]));
    Ok((format!("{what} rewritten, caches deleted: no undo restores the credentials"), rewritten + results, left))
}

fn in_copies(env: &Env, found: &Found, masked: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Result<Option<String>, CommandError> {
    let copies = env.kept()?.copies_with(found, &|content| masked(content).is_some());
    let id = quoted_word(&found.location.id);
    Ok((copies > 0).then(|| {
        format!("still in {} of the session; to delete all of them: aperture keep forget {id} --yes", plural(copies, "kept file"))
    }))
}

/// Returns the notes on entries of the trees of the user and of the session's project.
fn in_memories(env: &Env, found: &Found, masked: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Result<Vec<String>, CommandError> {
    let project = env.project_directory(found).filter(|project| *project != env.directory);
    let memories = Memories::new(env, project.as_deref())?;
    let mut notes = Vec::new();
    for scope in SCOPES {
        let tree = memories.read(scope)?;
        let holding = tree.memories().filter(|memory| masked(memory.text.as_bytes()).is_some());
        let (by_hand, holding): (Vec<_>, Vec<_>) = holding.partition(|memory| memory.is_by_hand());
        if !holding.is_empty() {
            let names: Vec<String> = holding.iter().map(|memory| memory.name()).collect();
            let (what, names, option) = (names.join(", "), names.join(" "), &memories.option);
            notes.push(format!("still in {what}; to delete: aperture memory{option} forget {names}; then repeat this command"));
        }
        let files = by_hand.iter().map(|memory| tree.place.directory.join(memory.file.path()));
        notes.extend(files.map(|file| format!("still in a memory that was written by hand, in {}", file.display())));
    }
    Ok(notes)
}
