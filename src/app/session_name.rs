//! Names a session for people, by its file.

use crate::model::split_id;
use crate::output::short_id;
use crate::provider::PROVIDERS;
use std::path::Path;

const ID_CHARACTERS: usize = 8;

/// Returns the display name of a session: its short id, or the file name if that contains no id.
pub fn session_name(path: &Path) -> String {
    let ids = PROVIDERS.iter().filter_map(|provider| provider.locate(path)).map(|location| location.id);
    let id = ids.into_iter().find(|id| is_identifier(id));
    id.map_or_else(|| path.file_name().unwrap_or_default().to_string_lossy().into_owned(), |id| short_id(&id))
}

/// Returns true if an id is an identifier that a client made, and not a name that a person gave to the file.
fn is_identifier(id: &str) -> bool {
    let (word, id) = split_id(id);
    let is_hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_of_word = !word.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
    id.get(..ID_CHARACTERS).is_some_and(is_hex) && (is_of_word || is_hex(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_its_id_or_its_file() {
        for (path, name) in [
            ("/home/dev/66666666-0000-4000-8000-000000000000.jsonl", "66666666"),
            ("/home/dev/subagents/agent-a1b2c3d4e5f6a7b8c.jsonl", "agent-a1b2c3d4"),
            ("/h/rollout-2026-01-02T10-00-00-77777777-0000-7000-8000-000000000001.jsonl", "77777777"),
            ("/h/opencode.db/ses_de59a0f7dffeC3d17Dxa1gnFkY.jsonl", "ses_de59a0f7"),
            ("/h/rollout-notes.jsonl", "rollout-notes.jsonl"),
            ("/home/dev/notes.jsonl", "notes.jsonl"),
            ("/home/dev/agent-notes.jsonl", "agent-notes.jsonl"),
        ] {
            assert_eq!(session_name(Path::new(path)), name);
        }
    }
}
