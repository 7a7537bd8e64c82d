//! The form of a call: what of it is compared with other calls.

use super::super::error_lines::CallError;
use crate::engine::mask;
use crate::model::{ToolVerb, TraceCall};
use crate::text::command_heads::{head, is_trivial, without_wrappers};
use crate::text::shell::{SimpleCommand, simple_commands};
use serde::{Deserialize, Serialize};

/// Members of the input of a tool that are compared, and the bytes of their values.
const MAX_MEMBERS: usize = 24;
const MAX_VALUE: usize = 80;
/// Shorter names of members and arguments occur as words of any text.
pub(super) const MIN_MEMBER: usize = 4;

/// The parts of a call that are compared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CallForm {
    pub(super) tool: String,
    pub(super) is_edit: bool,
    pub(super) is_file_tool: bool,
    pub(super) is_command: bool,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) heads: Vec<String>,
    pub(super) members: Vec<(String, String)>,
}

impl CallForm {
    pub(super) fn of(call: &TraceCall) -> CallForm {
        let mut form = CallForm {
            tool: call.tool.clone(),
            is_edit: call.verb == ToolVerb::Edit,
            is_file_tool: call.verb.names_file(),
            is_command: call.command.is_some(),
            ..CallForm::default()
        };
        match &call.command {
            Some(command) => {
                // The state of the extractor is stored, so that it must not hold credentials.
                for simple in simple_commands(&mask(command)) {
                    if let Some(head) = head(&simple) {
                        form.commands.push(simple);
                        form.heads.push(head);
                    }
                }
            }
            None if !call.verb.names_file() => form.members = members(&mask(&call.input)),
            None => {}
        }
        form
    }

    /// Returns the names under which a success of the call is found: programs, heads, heads with an option, or the tool.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (command, head) in self.commands.iter().zip(&self.heads) {
            let words = without_wrappers(&command.words);
            names.extend(words.first().map(|program| program.text.clone()));
            names.push(head.clone());
            names.extend(options(words.iter().map(|word| word.text.as_str())).map(|option| format!("{head} {option}")));
        }
        if !self.is_command {
            names.push(self.tool.clone());
        }
        names
    }

    /// Returns the simple command that failed: the one whose program the error names first, else the first that is not trivial.
    pub(super) fn failed_command(&self, error: &CallError, missing: Option<&str>) -> usize {
        let name = |at: usize| self.heads[at].split(' ').next().unwrap_or_default();
        let all = || 0..self.commands.len();
        let first_word = error.line.split([':', ' ']).next().unwrap_or_default();
        missing
            .and_then(|missing| all().find(|at| name(*at) == missing))
            .or_else(|| all().find(|at| name(*at) == first_word))
            .or_else(|| {
                all().find(|at| {
                    is_word_in(without_wrappers(&self.commands[*at].words).first().map_or("", |word| &word.text), &error.line)
                })
            })
            .or_else(|| self.steps().next())
            .unwrap_or(0)
    }

    pub(super) fn names_argument(&self, at: usize, line: &str) -> bool {
        /// Shorter arguments are parts of other words.
        const MIN_ARGUMENT: usize = 3;
        let Some(command) = self.commands.get(at) else { return true };
        let words = without_wrappers(&command.words);
        let is_named = |text: &str| text.len() >= MIN_ARGUMENT && line.contains(text);
        words.iter().skip(1).filter(|word| !word.is_text).any(|word| is_named(&word.text) || word.text.contains(['*', '?']))
    }

    /// Returns the indices of the simple commands that are neither trivial nor filters.
    pub(super) fn steps(&self) -> impl Iterator<Item = usize> {
        (0..self.commands.len()).filter(|at| !is_trivial(&self.heads[*at]) && !self.commands[*at].is_piped)
    }

    pub(super) fn same_head<'a>(&'a self, head: &'a str) -> impl Iterator<Item = &'a SimpleCommand> {
        self.commands.iter().zip(&self.heads).filter(move |(_, known)| *known == head).map(|(command, _)| command)
    }
}

fn members(input: &str) -> Vec<(String, String)> {
    let Ok(input) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(input) else { return Vec::new() };
    let scalar = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Some(value.to_string()),
        _ => None,
    };
    let found = input
        .iter()
        .filter(|(name, _)| name.len() >= MIN_MEMBER)
        .filter_map(|(name, value)| Some((name.clone(), scalar(value)?)));
    found
        .map(|(name, value)| {
            let end = value.floor_char_boundary(MAX_VALUE);
            (name, value[..end].replace(['`', '\n'], " "))
        })
        .take(MAX_MEMBERS)
        .collect()
}

pub(super) fn is_word_in(word: &str, line: &str) -> bool {
    let is_inner = |character: char| character.is_alphanumeric() || character == '_';
    !word.is_empty()
        && line
            .match_indices(word)
            .any(|(at, found)| !line[..at].ends_with(is_inner) && !line[at + found.len()..].starts_with(is_inner))
}

pub(super) fn options<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    words.filter(|word| word.starts_with('-')).map(|word| word.split('=').next().unwrap_or(word))
}
