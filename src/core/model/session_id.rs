//! The form of session ids: some have a word in front of them, as those of subagents, which people may leave out. A session that
//! exists only in requests has a path that is made from its id.

use std::path::{Path, PathBuf};

/// The word in front of the id of a subagent's session.
const SUBAGENT: &str = "agent-";
/// The word that a client puts in front of the id of each session.
const SESSION: &str = "ses_";

/// Characters of the prefix that names a session whose id is random.
const RANDOM_PREFIX: usize = 8;
/// Characters of the prefix that names a session whose id begins with its time in milliseconds.
const TIMED_PREFIX: usize = 13;

/// Returns true if an id is that of a subagent's session.
pub fn is_subagent_id(id: &str) -> bool {
    id.starts_with(SUBAGENT)
}

/// Splits an id into the word in front of it, which may be empty, and the rest.
pub fn split_id(id: &str) -> (&str, &str) {
    let word = [SUBAGENT, SESSION].into_iter().find(|word| id.starts_with(word));
    id.split_at(word.map_or(0, str::len))
}

/// Returns the prefix that names a session: unique, and short enough to read. An id that is not a UUID is its own name.
pub fn session_prefix(id: &str) -> String {
    let (word, rest) = split_id(id);
    let is_uuid = rest.len() == 36 && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_uuid || is_subagent_id(id) {
        return id.to_owned();
    }
    let length = if rest.as_bytes()[14] == b'7' { TIMED_PREFIX } else { RANDOM_PREFIX };
    format!("{word}{}", &rest[..length])
}

/// Returns a name that selects a session and no other one: the whole id, or the prefix of one that is random.
pub fn session_name(id: &str) -> String {
    let prefix = session_prefix(id);
    if split_id(&prefix).1.len() == TIMED_PREFIX { id.to_owned() } else { prefix }
}

/// Returns true if an id starts with a prefix, with or without the word in front of it.
pub fn id_starts_with(id: &str, prefix: &str) -> bool {
    id.starts_with(prefix) || split_id(id).1.starts_with(prefix)
}

/// The directory in the paths of sessions that exist only in requests. There is no such directory.
const REQUESTS: &str = "proxy:";

/// Returns the path of a session that exists only in requests, by its id. There is no such file.
pub fn request_path(id: &str) -> PathBuf {
    PathBuf::from(format!("{REQUESTS}/{id}"))
}

/// Returns the id in the path of a session that exists only in requests; `None` for any other path.
pub fn request_id(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(REQUESTS)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_subagent_can_be_left_out() {
        assert_eq!(split_id("agent-a1b2"), ("agent-", "a1b2"));
        assert_eq!(split_id("7b27"), ("", "7b27"));
        for (prefix, expected) in [("agent-a1", true), ("a1", true), ("b2", false), ("", true)] {
            assert_eq!(id_starts_with("agent-a1b2", prefix), expected, "{prefix}");
        }
    }

    #[test]
    fn a_session_has_a_short_name() {
        for (id, name) in [
            ("6666abcd-0000-4000-8000-000000000001", "6666abcd"),
            ("019a1b2c-3d4e-7000-8000-000000000001", "019a1b2c-3d4e"),
            ("abc1", "abc1"),
        ] {
            assert_eq!(session_prefix(id), name);
            // Agents that start together have ids of one millisecond.
            assert_eq!(session_name(id), if id.starts_with("019a") { id } else { name });
        }
    }

    #[test]
    fn the_path_of_a_session_in_requests_has_its_id() {
        for id in ["ses_1", "a/../b", "/", ""] {
            assert_eq!(request_id(&request_path(id)), Some(id));
        }
        assert_eq!(request_id(Path::new("/proxy:/a")), None);
        assert_eq!(request_id(Path::new("proxy:")), None);
    }
}
