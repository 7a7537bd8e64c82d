//! Names the session in suggested commands, so that they do not act on another session.

/// Commands that do not act on one session.
pub const WITHOUT_SESSION: [&str; 15] = [
    "completions", "gc", "git-hook", "help", "import", "install", "keep", "memory", "preset", "search", "sessions", "store",
    "topics", "uninstall", "usage",
];

/// Commands that refuse to change a session that a client has open, without `--live`.
const CHANGING: [&str; 6] = ["archive", "compress", "redo", "undo", "unfocus", "unpin"];

/// Returns a hint with `-s` added to each command that acts on a session and does not name one, and `--live` to those that change a
/// session that a client has open. `session` is quoted for a shell.
pub fn with_session(hint: &str, session: &str, is_open: bool) -> String {
    hint.split("; ").map(|part| name_session(part, session, is_open)).collect::<Vec<_>>().join("; ")
}

/// Adds `-s` to the command at the end of a part of a hint.
fn name_session(part: &str, session: &str, is_open: bool) -> String {
    let command = part.split_once("aperture ").map(|(_, command)| command);
    let acts = |command: &str| {
        let verb = command.split(' ').next().unwrap_or_default();
        let is_named = [" -s ", "FILE", " --all", " --project"].iter().any(|option| command.contains(option));
        !verb.is_empty() && !WITHOUT_SESSION.contains(&verb) && !is_named
    };
    let changes = |command: &str| CHANGING.contains(&command.split(' ').next().unwrap_or_default());
    let live = if is_open && command.is_some_and(changes) { " --live" } else { "" };
    if command.is_some_and(acts) { format!("{part}{live} -s {session}") } else { part.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_session() {
        for (hint, expected) in [
            ("to list the operations: aperture log", "to list the operations: aperture log -s 6666"),
            ("ask the user to run aperture undo 4", "ask the user to run aperture undo 4 -s 6666"),
            (
                "to list them: aperture log; to save: aperture export FILE",
                "to list them: aperture log -s 6666; to save: aperture export FILE",
            ),
            ("to change them there: aperture archive 3 -s 7777", "to change them there: aperture archive 3 -s 7777"),
            ("to list all sessions: aperture sessions", "to list all sessions: aperture sessions"),
            ("to search every session: aperture search a", "to search every session: aperture search a"),
            ("to list the changed sessions: aperture verify --all", "to list the changed sessions: aperture verify --all"),
            ("try again", "try again"),
        ] {
            assert_eq!(with_session(hint, "6666", false), expected);
        }
        assert_eq!(
            with_session("it is smaller: aperture compress --budget 9", "6666", true),
            "it is smaller: aperture compress --budget 9 --live -s 6666"
        );
        assert_eq!(with_session("to list them: aperture log", "6666", true), "to list them: aperture log -s 6666");
    }
}
