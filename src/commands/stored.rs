//! Finds sessions in the store, also if their file no longer exists.

use crate::app::{CommandError, Env, refusal};
use crate::model::id_starts_with;
use crate::store::{Store, StoredSession};

/// Returns the selected session from the store. It is found by the rules of every command or, if there is no such file, by a prefix
/// of its id in the store. `None` if the store does not have the session.
/// Errors: there is no such session, or more than one.
pub fn stored(env: &Env, store: &Store, named: Option<&str>) -> Result<Option<StoredSession>, CommandError> {
    let missing = match env.find(named) {
        Ok(found) => {
            let path = env.disk.resolve(&found.path)?;
            return Ok(store.find(&path)?);
        }
        Err(error) => error,
    };
    let Some(name) = named.or(env.session()).filter(|name| !name.is_empty()) else { return Err(missing) };
    let fits = |stored: &StoredSession| {
        let id = &stored.session;
        let by_path = stored.path == env.directory.join(name);
        by_path || id_starts_with(id, name)
    };
    let mut fitting: Vec<StoredSession> = store.sessions()?;
    fitting.retain(|stored| fits(stored));
    match fitting.len() {
        0 => Err(missing),
        1 => Ok(fitting.pop()),
        several => {
            Err(refusal!("session id prefix '{name}' is ambiguous ({several} matches in the store)")
                .hint("name the file instead"))
        }
    }
}
