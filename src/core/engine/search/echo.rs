//! Searches of earlier sessions: their calls and results repeat what others said, so they match every query like it.

use crate::model::{Key, TraceCall, TraceContent};
use crate::text::shell::simple_commands;

/// Programs that search sessions.
const PROGRAMS: &[&str] = &["ctx", "cass", "deja"];
/// Commands of aperture that print what sessions said.
const COMMANDS: &[&str] = &["search", "recall", "memory", "transcript", "show", "blame", "topics"];
const FOLDERS: &[&str] = &["/projects/", "/sessions/"];
/// Calls without a result that are remembered: more are never answered at once.
const OPEN_CALLS: usize = 64;

/// Recognizes the calls and results of searches in sessions.
#[derive(Debug, Default)]
pub struct Echoes {
    open: Vec<Key>,
}

impl Echoes {
    /// Returns true if a content belongs to a search in sessions.
    pub fn is_one(&mut self, content: &TraceContent) -> bool {
        match content {
            TraceContent::Call(call) if searches_sessions(call) => {
                self.open.drain(..(self.open.len() + 1).saturating_sub(OPEN_CALLS));
                self.open.push(call.id);
                true
            }
            TraceContent::Result(result) => {
                self.open.iter().position(|id| *id == result.call).map(|at| self.open.swap_remove(at)).is_some()
            }
            _ => false,
        }
    }
}

fn searches_sessions(call: &TraceCall) -> bool {
    let is_folder = |text: &str| {
        text.contains("/.") && FOLDERS.iter().any(|folder| text.contains(folder) || text.ends_with(folder.trim_end_matches('/')))
    };
    let Some(command) = &call.command else {
        return call.tool.contains("aperture") || call.target.ends_with(".jsonl") && is_folder(&call.target);
    };
    // Most commands name none of them.
    if !command.contains("aperture") && !PROGRAMS.iter().any(|name| command.contains(name)) && !is_folder(command) {
        return false;
    }
    simple_commands(command).iter().any(|command| {
        let mut words = command.words.iter().map(|word| word.text.as_str());
        let program = words.next().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
        match program {
            "aperture" => words.next().is_some_and(|name| COMMANDS.contains(&name)),
            _ => PROGRAMS.contains(&program) || words.any(is_folder),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TraceResult;

    #[test]
    fn searches_of_sessions_are_echoes_with_their_results() {
        for (tool, command, expected) in [
            ("Bash", "aperture search flaky login", true),
            ("Bash", "cd /w && /usr/bin/aperture recall 'retry policy' --all", true),
            ("Bash", "rg -l flaky ~/.agent/projects/", true),
            ("Bash", "cat /home/ann/.agent/sessions/2026/a.jsonl | jq .", true),
            ("mcp__aperture__recall", "", true),
            ("Bash", "aperture compress --stale", false),
            ("Bash", "rg flaky src/projects/list.rs", false),
            ("Bash", "cargo test ctx", false),
        ] {
            let given = Some(command.to_owned()).filter(|command| !command.is_empty());
            let call = TraceCall { id: Key(1), tool: tool.to_owned(), command: given, ..TraceCall::default() };
            let result = |call| TraceContent::Result(TraceResult { call: Key(call), ..TraceResult::default() });
            let mut echoes = Echoes::default();
            assert_eq!(echoes.is_one(&TraceContent::Call(call)), expected, "{command:?}");
            assert_eq!((echoes.is_one(&result(2)), echoes.is_one(&result(1))), (false, expected), "{command:?}");
        }
    }
}
