//! Open thoughts: what the last answer of a session asks, or leaves to do.

use super::danger::{is_dangerous, speaks_to_agent};
use crate::engine::report::summary::{Sentence, sentences as sentences_of};
use crate::model::{Conventions, TraceContent, TraceEvent};
use crate::text::cut::cut;
use crate::text::lists::word_lists;
use crate::text::words::FIRST_IDEOGRAPH;
use serde::{Deserialize, Serialize};

word_lists! { "open.txt": HEADINGS, STARTS, ANNOUNCEMENTS }

/// Thoughts that are kept, characters of each, and sentences at the end of an answer among which a question is open.
const THOUGHTS: usize = 3;
const CHARACTERS: usize = 180;
const LAST_SENTENCES: usize = 4;
/// Words of a sentence that says by itself what is open.
const WORDS: usize = 6;

/// Collects the open thoughts of a session: a later call or prompt takes them up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OpenThoughts {
    /// The thoughts; `None` before the first answer.
    pub last: Option<Vec<String>>,
    /// The announcement at the end of the last answer: open while the calls after it have no answer.
    announced: Option<String>,
}

impl OpenThoughts {
    pub fn push(&mut self, event: &TraceEvent, conventions: &Conventions) {
        match &event.content {
            TraceContent::Prompt { .. } => *self = OpenThoughts { last: self.last.take().map(|_| Vec::new()), announced: None },
            TraceContent::Call(_) => self.last = self.last.take().map(|_| self.announced.iter().cloned().collect()),
            TraceContent::Answer(text) => {
                let sentences = sentences_of(text, conventions);
                self.last = Some(thoughts(text, &sentences, conventions));
                let last = sentences.last().map(|last| short_thought(&last.text));
                self.announced = last.filter(|last| starts(last, &ANNOUNCEMENTS) && names_object(last) && is_safe(last));
            }
            _ => {}
        }
    }
}

/// Returns the items below a heading such as `Next steps`, sentences that say what is left, and questions at the end.
fn thoughts(text: &str, sentences: &[Sentence], conventions: &Conventions) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_below = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_bold = line.starts_with("**");
        let is_item = line.starts_with(['-', '*', '•']) && !is_bold || line.starts_with(|c: char| c.is_ascii_digit());
        if !is_item {
            let is_heading = line.starts_with('#') || is_bold || line.ends_with(':');
            is_below = is_heading && is_left_to_do(line);
        } else if is_below {
            found.extend(sentences_of(line, conventions).into_iter().next().map(|sentence| sentence.text));
        }
    }
    let late = sentences.len().saturating_sub(LAST_SENTENCES);
    let is_open =
        |at: usize, sentence: &Sentence| !sentence.leads && (at >= late && sentence.asks() || starts(&sentence.text, &STARTS));
    for (at, sentence) in sentences.iter().enumerate().filter(|(at, sentence)| is_open(*at, sentence)) {
        // One of few words says nothing by itself.
        if sentence.text.split_whitespace().count() >= WORDS {
            found.push(sentence.text.clone());
        } else if let Some(before) = at.checked_sub(1).map(|before| &sentences[before]).filter(|before| is_complete(before)) {
            // `Want me to?` says what it asks for in the sentence before.
            found.push(format!("{} {}", before.text, sentence.text));
        }
    }
    let mut thoughts: Vec<String> = Vec::new();
    for thought in found.iter().filter(|thought| is_safe(thought)).map(|thought| short_thought(thought)) {
        if thoughts.len() < THOUGHTS && !thoughts.contains(&thought) {
            thoughts.push(thought);
        }
    }
    thoughts
}

/// Returns true if a heading is above what is left to do.
pub fn is_left_to_do(heading: &str) -> bool {
    starts(heading.trim_start_matches(['#', '*', ' ']), &HEADINGS)
}

/// Returns true if a text starts with one of some phrases, or with its plural.
fn starts(text: &str, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    phrases.iter().any(|phrase| {
        let is_whole = |rest: &str| !rest.trim_start_matches('s').starts_with(char::is_alphanumeric);
        lower.strip_prefix(phrase).is_some_and(|rest| is_whole(rest) || phrase.ends_with(|c| c >= FIRST_IDEOGRAPH))
    })
}

/// Returns true for a sentence with its start and its end, which another one can follow.
fn is_complete(sentence: &Sentence) -> bool {
    let text = &sentence.text;
    text.starts_with(|c: char| c.is_alphanumeric() || c == '`') && text.ends_with(['.', '!', '?', '。', '！', '？'])
}

/// Returns true if a text tells which thing, in any language: by a span of code, a figure or the name of a file.
fn names_object(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`');
        let inside = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
        word.contains('`') || word.contains(|c: char| c.is_ascii_digit()) || inside.contains(['_', '.', '/'])
    })
}

fn is_safe(thought: &str) -> bool {
    !is_dangerous(thought) && !speaks_to_agent(thought)
}

fn short_thought(thought: &str) -> String {
    cut(thought.trim_end_matches(':'), CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PromptSource, TraceCall};

    fn answer(text: &str) -> TraceContent {
        TraceContent::Answer(text.to_owned())
    }

    /// Returns what is open after some events.
    fn after(contents: &[TraceContent]) -> Vec<String> {
        let mut open = OpenThoughts::default();
        for content in contents {
            let event = TraceEvent { block: 1, row: String::new(), time: 0, turn: 1, content: content.clone() };
            open.push(&event, Default::default());
        }
        open.last.unwrap()
    }

    #[test]
    fn calls_and_prompts_take_thoughts_up() {
        let call = TraceContent::Call(TraceCall::default());
        let prompt = TraceContent::Prompt { text: "yes".to_owned(), source: PromptSource::Typed };
        assert_eq!(after(&[answer("Want me to push it?"), prompt]), [""; 0]);
        let announces = |text: &str, expected: &[&str]| assert_eq!(after(&[answer(text), call.clone()]), expected, "{text}");
        announces("Green. Now I amend `a1b2c3d`:", &["Now I amend `a1b2c3d`"]);
        announces("Now amending the commit and updating the PR.", &[]);
        announces("Next I add tests for src/cart/total.rs.", &["Next I add tests for src/cart/total.rs."]);
        announces("Jetzt passe ich `total.rs` an.", &["Jetzt passe ich `total.rs` an."]);
        announces("现在我来修改 `total.rs`。", &["现在我来修改 `total.rs`。"]);
        for text in
            ["Let me try it.", "Let me now try the build again.", "Jetzt starte ich den Build noch einmal.", "现在我再试一次。"]
        {
            announces(text, &[]);
        }
        assert_eq!(after(&[answer("Green."), call.clone()]), [""; 0]);
        assert_eq!(after(&[answer("Now I amend the commit:"), call, answer("Done.")]), [""; 0]);
    }

    #[test]
    fn an_answer_leaves_its_questions_and_next_steps() {
        let check = |text: &str, expected: &[&str]| assert_eq!(after(&[answer(text)]), expected, "{text}");
        check("All tests pass. Want me to push it to the open branch?", &["Want me to push it to the open branch?"]);
        check("The guide is old. Want me to?", &["The guide is old. Want me to?"]);
        check("- Overrides for tests\n\nReady to start?", &[]);
        check("(a URL, a server, etc.) What should be sent?", &[]);
        check("Why did it fail? The path was wrong.\n\nIt is fixed.\n\nDone.\n\nAll 12 tests pass.\n\nBye.", &[]);
        check(
            "It works.\n\n## Next steps\n\n- Add a test for the cart\n- Update the guide\n\n## Notes\n\n- none",
            &["Add a test for the cart", "Update the guide"],
        );
        check("Remaining: the guide is not updated yet.", &["Remaining: the guide is not updated yet."]);
        check("Done. The totals are cached now.", &[]);
        check("Shall I push without asking from now on?", &[]);
    }
}
