//! Statements of the user: rules, and sentences with a label or a value. A newer one can give another value.

use crate::engine::memory::topic::{Topic, gives_other_value};
use crate::text::errors::{is_error, is_warning};
use std::ops::Range;

/// Bytes of a line that can be a statement.
const BYTES: Range<usize> = 12..300;
/// Words of a label such as `HARD LIMIT:`, at most.
const LABEL_WORDS: usize = 3;
const VERBS: &[&str] = &["is", "are", "must", "never", "always", "use", "needs", "requires", "wants", "prefer", "prefers"];

/// A line of the user that states a rule or a value.
pub(super) struct Statement {
    /// The words before its verb; `None` if it has no value.
    subject: Option<String>,
    topic: Topic,
}

impl Statement {
    /// Returns the statement of a line; `None` if it states neither a rule nor a value, and has no label.
    pub fn of(line: &str, is_rule: bool) -> Option<Statement> {
        let line = line.trim_start_matches(|c: char| " -*#>".contains(c));
        if !BYTES.contains(&line.len()) || line.trim_end().ends_with('?') {
            return None;
        }
        let text = without_label(line);
        let has_label = text.len() < line.len();
        let trimmed = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '$'));
        let words: Vec<String> = trimmed.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let verb = words.iter().position(|word| VERBS.contains(&&**word)).or(has_label.then_some(0));
        let is_value = |word: &String| word.contains(|c: char| c.is_ascii_digit() || "$/_".contains(c));
        let verb = verb.filter(|verb| words.len() > 3 && words[*verb..].iter().any(is_value));
        let subject = verb.map(|verb| words[..verb].join(" "));
        (is_rule || has_label || subject.is_some()).then(|| Statement { subject, topic: Topic::new(text) })
    }

    /// Returns true if it states another value in the same words.
    pub fn replaces(&self, older: &Statement) -> bool {
        self.subject.is_some() && self.subject == older.subject && gives_other_value(&older.topic, &self.topic)
    }
}

/// Returns a line without the label in capitals that a person put before it: `IMPORTANT: …`. The level of a log is not a label.
fn without_label(line: &str) -> &str {
    let Some((label, text)) = line.split_once(':') else { return line };
    let label = label.trim_matches('*');
    let is_in_capitals = label.len() > 2 && label.chars().all(|c| c.is_uppercase() || c == ' ');
    let is_level = is_error(line) || is_warning(line) || ["DEBUG", "INFO", "TRACE"].contains(&label);
    let is_label = is_in_capitals && label.split(' ').count() <= LABEL_WORDS && !is_level;
    if is_label { text.trim_start_matches('*').trim_start() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_replaces_one_with_another_value() {
        for (newer, older, expected) in [
            ("The cap is $700 a month.", "The cap is $400 a month.", true),
            ("The cap is $700 a month.", "The limit is $400 a month.", false),
            ("GOAL: stage 3 of the move", "GOAL: stage 2 of the move", true),
            ("Test 4 of the suite is broken.", "Test 3 of the suite is broken.", false),
            ("Never spend more than $20 on a2 without me", "Never spend more than $10 on a1 without me", false),
        ] {
            let [newest, oldest] = [newer, older].map(|line| Statement::of(line, false));
            let replaces = newest.zip(oldest).is_some_and(|(newest, oldest)| newest.replaces(&oldest));
            assert_eq!(replaces, expected, "{newer} / {older}");
        }
    }

    #[test]
    fn a_statement_is_a_rule_or_has_a_label_or_a_value() {
        for (line, is_rule, expected) in [
            ("keep the answers short and warm", true, true),
            ("  keep the answers short and warm", false, false),
            ("HARD LIMIT: keep the answers short", false, true),
            ("**NOTE**: the answers are short", false, true),
            ("ERROR: the answers are short", false, false),
            ("The port is 8080", false, true),
            ("Is the port 8080 now?", false, false),
        ] {
            assert_eq!(Statement::of(line, is_rule).is_some(), expected, "{line}");
        }
    }
}
