//! The difference between a call that failed and a related one that worked.
use crate::text::command_heads::without_wrappers;
use crate::text::cut::cut;
use crate::text::shell::{SimpleCommand, Word};
use serde::{Deserialize, Serialize};

/// Words that may differ between a call and its corrected form. More differences make it another call.
const MAX_DIFFERENCE: usize = 8;
const MAX_UNITS: usize = 200;
/// Bytes of a word that are shown.
const MAX_SHOWN: usize = 60;

/// The words that distinguish the call that worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Words of the call that worked that the failed one did not have.
    pub added: Vec<String>,
    /// Words that only the failed call had.
    pub removed: Vec<String>,
    /// The advice, in the imperative: "add `--repo owner/name`".
    pub advice: String,
    /// True if an option changed, or a single argument was replaced by another.
    pub is_distinct: bool,
}

/// Returns the change from a failed simple command to one with the same head; `None` if they are equal, differ in more than a few
/// words, or only in quoted texts and numbers.
pub fn change(failed: &SimpleCommand, worked: &SimpleCommand) -> Option<Change> {
    let (failed, worked) = (&units(failed), &units(worked));
    let added = only_in(worked, failed);
    let removed = only_in(failed, worked);
    let size = added.iter().chain(&removed).filter(|is_only| **is_only).count();
    let shared = removed.iter().filter(|is_only| !**is_only).count();
    let (new, old) = (marked(worked, &added), marked(failed, &removed));
    let selective = || new.iter().chain(&old).filter(|word| is_selective(word));
    let has_text_only = !new.is_empty() && new.iter().all(|word| word.is_text);
    if size > MAX_DIFFERENCE || size > 2 * shared.max(1) || selective().next().is_none() || has_text_only {
        return None;
    }
    let is_option = selective().any(|word| word.text.starts_with('-'));
    let replaced = (new.len(), old.len()) == (1, 1);
    Some(Change {
        advice: advice(&runs(worked, &added, failed), &runs(failed, &removed, worked)),
        added: new.into_iter().map(shown).collect(),
        removed: old.into_iter().map(shown).collect(),
        is_distinct: is_option || replaced,
    })
}

/// Returns the words of a simple command from the program on; of a list with commas each item, so that a single one can differ.
fn units(command: &SimpleCommand) -> Vec<Word> {
    /// Fewer commas are a part of a value.
    const MIN_COMMAS: usize = 2;
    let item = |text: &str| Word { text: text.to_owned(), is_text: false, ..Word::default() };
    without_wrappers(&command.words)
        .iter()
        .flat_map(|word| match word.text.matches(',').count() {
            MIN_COMMAS.. if !word.is_text => word.text.split(',').map(item).collect(),
            _ => vec![word.clone()],
        })
        .take(MAX_UNITS)
        .collect()
}

/// Returns true if two simple commands have the same words behind their wrappers.
pub fn is_same(first: &SimpleCommand, second: &SimpleCommand) -> bool {
    without_wrappers(&first.words) == without_wrappers(&second.words)
}

/// Returns the program that took the arguments of another one, as `python3` or `npx jest`; `None` if the arguments differ.
pub fn replaced_program(failed: &SimpleCommand, worked: &SimpleCommand) -> Option<String> {
    let (failed, worked) = (without_wrappers(&failed.words), without_wrappers(&worked.words));
    let arguments = failed.get(1..).filter(|arguments| !arguments.is_empty())?;
    let program = worked.strip_suffix(arguments).filter(|program| !program.is_empty() && program.first() != failed.first())?;
    Some(program.iter().map(shown).collect::<Vec<_>>().join(" "))
}

/// Returns the word that shows an argument: cut, and without the content of a text.
pub fn shown(word: &Word) -> String {
    if word.is_text {
        return "\"…\"".to_owned();
    }
    cut(&word.text, MAX_SHOWN).replace(['`', '\n'], "'")
}

/// Returns true for a word that selects what the program does: not a text, a number or a hash, which differ from call to call.
fn is_selective(word: &Word) -> bool {
    !word.is_text && word.text.chars().any(|character| character.is_alphabetic()) && !is_hash(&word.text)
}

fn is_hash(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Marks the words of one list that the other one does not have, counting repeated words.
fn only_in(words: &[Word], other: &[Word]) -> Vec<bool> {
    // One text is as good as another.
    let mut left: Vec<&Word> = other.iter().collect();
    words
        .iter()
        .map(|word| match left.iter().position(|known| known.text == word.text || known.is_text && word.is_text) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

fn marked<'a>(words: &'a [Word], marks: &[bool]) -> Vec<&'a Word> {
    words.iter().zip(marks).filter(|(_, mark)| **mark).map(|(word, _)| word).collect()
}

/// Returns the runs of marked words. A value is preceded by its option, also if both commands have the option.
fn runs(words: &[Word], marks: &[bool], other: &[Word]) -> Vec<String> {
    let mut runs: Vec<Vec<String>> = Vec::new();
    let mut is_open = false;
    for (at, (word, mark)) in words.iter().zip(marks).enumerate() {
        if *mark && !is_open {
            let option = at.checked_sub(1).and_then(|before| words.get(before)).filter(|before| {
                before.text.starts_with('-') && !word.text.starts_with('-') && other.iter().any(|known| known.text == before.text)
            });
            runs.push(option.map(shown).into_iter().collect());
        }
        if *mark && let Some(run) = runs.last_mut() {
            run.push(shown(word));
        }
        is_open = *mark;
    }
    runs.into_iter().map(|run| format!("`{}`", run.join(" "))).collect()
}

fn advice(added: &[String], removed: &[String]) -> String {
    match (added.is_empty(), removed.is_empty()) {
        (false, true) => format!("add {}", added.join(" and ")),
        (true, _) => format!("leave out {}", removed.join(" and ")),
        (false, false) => format!("use {} instead of {}", added.join(" and "), removed.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shell::simple_commands;

    fn first(command: &str) -> SimpleCommand {
        simple_commands(command).remove(0)
    }

    #[test]
    fn a_change_is_advice() {
        let check = |failed: &str, worked: &str, expected: Option<&str>| {
            assert_eq!(change(&first(failed), &first(worked)).map(|change| change.advice).as_deref(), expected, "{failed}");
        };
        check("gh pr view 3", "gh pr view 3 --repo a/b", Some("add `--repo a/b`"));
        check("tool run -s all -v", "tool run -s unit -v", Some("use `-s unit` instead of `-s all`"));
        check("tool run a b", "tool run a", Some("leave out `b`"));
        check("tool say 'two words'", "tool say 'other words'", None);
        check("tool show 12", "tool show 13", None);
        check("tool a", "tool a", None);
        check("tool --json a,b,c", "tool --json c,x,a", Some("use `x` instead of `b`"));
        check("tool a b c", "tool d e f g h i j", None);
    }

    #[test]
    fn a_program_is_replaced() {
        let check = |failed: &str, worked: &str, expected: Option<&str>| {
            assert_eq!(replaced_program(&first(failed), &first(worked)).as_deref(), expected, "{failed}");
        };
        check("python a.py", "python3 a.py", Some("python3"));
        check("jest a.js", "npx jest a.js", Some("npx jest"));
        check("compose-tool up -d", "tool compose up -d", Some("tool compose"));
        check("ls", "dir", None);
    }
}
