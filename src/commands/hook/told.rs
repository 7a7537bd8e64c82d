//! Decides from the store and the window, never from the words of a block, if the model has received the manifest.

use crate::app::{CommandError, Env};
use crate::model::{Key, Row, RowKind, Session, Zone};
use crate::store::{Moment, SessionKey, Store};
use crate::workspace::Workspace;

/// Returns true if the last manifest that was sent is still in the window.
///
/// A client inserts it after the content that the file had at that time, and before the next row of the conversation. So it is in
/// the window if no compaction follows it and the next row of the conversation, if there is one, is in the window.
pub(super) fn is_told(env: &Env, workspace: &Workspace<'_>) -> Result<bool, CommandError> {
    let Some(store) = env.existing_store()? else { return Ok(false) };
    let Some(known) = store.find(&env.disk.resolve(&workspace.path)?)? else { return Ok(false) };
    Ok(match store.moment(Moment::ManifestTold, known.key)? {
        Some(after) => is_in_window(&workspace.reading.session, after),
        None => false,
    })
}

fn is_in_window(session: &Session, after: Option<Key>) -> bool {
    let after = match after {
        Some(after) => match session.rows.iter().position(|row| row.id == Some(after)) {
            Some(after) => after + 1,
            None => return false,
        },
        None => 0,
    };
    if session.rows[after..].iter().any(|row| row.kind == RowKind::Boundary) {
        return false;
    }
    let spoken = |row: u32| {
        let row = &session.rows[row as usize];
        !row.sidechain && matches!(row.kind, RowKind::User | RowKind::Assistant)
    };
    let next = session.blocks.iter().find(|block| block.row as usize >= after && spoken(block.row));
    next.is_none_or(|block| block.position.zone != Zone::Cold)
}

/// Records that the manifest is sent now.
pub(super) fn remember(env: &Env, workspace: &Workspace<'_>) -> Result<(), CommandError> {
    let (store, session) = registered(env, workspace)?;
    Ok(store.record_moment(Moment::ManifestTold, session, last_row(&workspace.reading.session))?)
}

pub(super) fn registered(env: &Env, workspace: &Workspace<'_>) -> Result<(Store, SessionKey), CommandError> {
    let (store, location) = (env.store()?, &workspace.location);
    let path = env.disk.resolve(&workspace.path)?;
    let session = store.register(workspace.provider.name(), &location.id, &path, &location.project)?;
    Ok((store, session))
}

/// Returns the identity of the last row of the conversation.
pub(super) fn last_row(session: &Session) -> Option<Key> {
    let is_said = |row: &&Row| !row.sidechain && matches!(row.kind, RowKind::User | RowKind::Assistant);
    session.rows.iter().rev().find(is_said).and_then(|row| row.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, BlockKind, Role};

    /// Builds a session from letters: p a prompt, a an answer, b a compaction, t an attachment; capitals are in the window. Row n
    /// has the key n + 1.
    fn session(rows: &str) -> Session {
        let mut session = Session::default();
        for (place, letter) in rows.chars().enumerate() {
            let (kind, role) = match letter.to_ascii_lowercase() {
                'p' => (RowKind::User, Role::User),
                'a' => (RowKind::Assistant, Role::Assistant),
                'b' => (RowKind::Boundary, Role::System),
                _ => (RowKind::Attachment, Role::System),
            };
            session.rows.push(Row { id: Some(Key(place as u128 + 1)), ..Row::new(kind) });
            let mut block = Block::new(BlockKind::Text, role);
            block.row = place as u32;
            block.position.zone = if letter.is_uppercase() { Zone::Middle } else { Zone::Cold };
            session.blocks.push(block);
        }
        session
    }

    #[test]
    fn a_told_manifest_is_known_while_its_place_is_in_the_window() {
        for (rows, after, expected) in [
            ("PA", Some(Key(2)), true),
            ("PAPTA", Some(Key(2)), true),
            ("PTA", None, true),
            ("", None, true),
            ("patpa", Some(Key(2)), false),
            ("paptaBP", Some(Key(2)), false),
            ("PAPTABP", Some(Key(2)), false),
            ("PApTaPA", Some(Key(2)), false),
            ("PA", Some(Key(9)), false),
        ] {
            assert_eq!(is_in_window(&session(rows), after), expected, "{rows}");
        }
    }
}
