//! The questions of `aperture memory review` on a terminal: one at a time, each answered by one key.

use super::entries;
use super::report::{MemoryReviewReport, memory_entry};
use super::review::{QUESTIONS, accepted, merged, rejected};
use super::run::Memories;
use crate::app::{CommandError, KeyTerminal};
use crate::engine::memory::danger::is_dangerous;
use crate::model::Memory;
use crate::output::{Paint, Style, line};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal};

/// A question about an entry.
struct Question {
    /// The reason why it is asked.
    reason: String,
    entry: Memory,
    /// The entry that it is compared with, and the word between them.
    other: Option<(&'static str, Memory)>,
    /// The answers: each has another first letter, which is its key.
    answers: &'static [&'static str],
}

const DECISION: &[&str] = &["accept", "reject", "edit", LATER, QUIT];
const COMPARISON: &[&str] = &["merge", "edit", LATER, QUIT];
const LATER: &str = "later";
const QUIT: &str = "quit";

fn of_key(key: KeyEvent, answers: &[&'static str]) -> Option<&'static str> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc => Some(QUIT),
        KeyCode::Char('c' | 'd') if is_control => Some(QUIT),
        KeyCode::Char(c) if !is_control => answers.iter().copied().find(|answer| answer.starts_with(c.to_ascii_lowercase())),
        _ => None,
    }
}

/// Returns true if a person can answer by keys.
pub fn can_ask(memories: &Memories<'_>) -> bool {
    memories.env.screen_height().is_some() && io::stdin().is_terminal()
}

/// Asks the questions of a review, and executes each answer at once.
/// Errors: the terminal cannot be read or written.
pub fn ask(memories: &Memories<'_>, report: MemoryReviewReport) -> Result<(), CommandError> {
    let env = memories.env;
    let print = |text: &str| env.write(&env.gate.text(text, false));
    let questions = questions(report);
    let terminal = KeyTerminal::new();
    // An answer can start an editor.
    let execute = |question: &Question, answer: &str| {
        let execute = || execute(memories, question, answer);
        terminal.as_ref().map_or_else(execute, |terminal| terminal.lend(execute))
    };
    let (mut decided, mut asked) = (0, 0);
    for (at, question) in questions.iter().enumerate() {
        print(&text(question, at + 1, questions.len(), &env.style))?;
        let answer = answer(question.answers)?;
        let done = match answer {
            QUIT => break,
            LATER => Ok(LATER.to_owned()),
            _ => execute(question, answer).inspect(|_| decided += 1),
        };
        asked += 1;
        print(&format!("  {}\n\n", done.unwrap_or_else(|error| format!("not done: {:#}", error.source))))?;
    }
    let left = questions.len() - asked;
    let undo = format!("; to undo: aperture memory{} undo", memories.option);
    let undo = if decided > 0 { &*undo } else { "" };
    print(&format!("{decided} decided, {} later{undo}\n", asked - decided + left))
}

/// Returns the questions, the most useful first: what contradicts, what failed, what a local model asks, what waits.
fn questions(report: MemoryReviewReport) -> Vec<Question> {
    let decision = |reason: &str, entry: Memory, other| Question { reason: reason.to_owned(), entry, other, answers: DECISION };
    let contradictions =
        report.contradictions.into_iter().map(|pair| decision("contradiction", pair.newer, Some(("against", pair.older))));
    let refuted = report.refuted.into_iter().map(|entry| decision("did not help, as you reported", entry, None));
    let losses = report.losses.into_iter().map(|loss| Question {
        reason: format!("the replaced entry also said: {}", loss.lost),
        entry: loss.newer,
        other: Some(("replaced", loss.older)),
        answers: COMPARISON,
    });
    let duplicates = report.duplicates.into_iter().map(|pair| Question {
        reason: "the first says all that the second says".to_owned(),
        entry: pair.kept,
        other: Some(("has all of", pair.other)),
        answers: COMPARISON,
    });
    let pending = report.pending.into_iter().map(|entry| {
        let is_risk = is_dangerous(&entry.text);
        decision(if is_risk { "it grants, downloads or switches off something" } else { "pending" }, entry, None)
    });
    contradictions.chain(refuted).chain(losses).chain(duplicates).chain(pending).take(QUESTIONS).collect()
}

/// Returns a question with the keys that answer it.
fn text(question: &Question, number: usize, count: usize, style: &Style) -> String {
    let mut text = String::new();
    let heading = format!("{number} of {count}: {}", question.reason);
    crate::output::wrap(&heading, 0, style.width).iter().for_each(|row| line(&mut text, &style.paint(Paint::Heading, row)));
    let others = question.other.iter().map(|(_, other)| other);
    let widest = others.chain([&question.entry]).map(|entry| entry.name().len()).max().unwrap_or_default();
    memory_entry(&mut text, style, &question.entry, widest, true);
    if let Some((word, other)) = &question.other {
        line(&mut text, &format!("  {}", style.paint(Paint::Dim, word)));
        memory_entry(&mut text, style, other, widest, true);
    }
    let key = |answer: &&str| {
        let (first, rest) = answer.split_at(1);
        format!("{}{rest}", style.paint(Paint::Name, &format!("[{first}]")))
    };
    line(&mut text, &format!("  {}", question.answers.iter().map(key).collect::<Vec<_>>().join("  ")));
    text
}

/// Waits for a key that is an answer.
fn answer(answers: &[&'static str]) -> Result<&'static str, CommandError> {
    loop {
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && let Some(answer) = of_key(key, answers)
        {
            return Ok(answer);
        }
    }
}

fn execute(memories: &Memories<'_>, question: &Question, answer: &str) -> Result<String, CommandError> {
    let name = question.entry.name();
    let report = match (answer, &question.other) {
        ("accept", _) => accepted(memories, &[name], false)?,
        ("reject", _) => rejected(memories, &[name], false)?,
        ("merge", Some((_, other))) => merged(memories, &name, &other.name(), false)?,
        _ => entries::edited(memories, &name, None, None, false)?,
    };
    Ok(report.done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::memory::report::MemoryContradiction;
    use crate::model::{MemoryKind, MemoryState};

    fn entry(id: u32, text: &str) -> Memory {
        let (state, kind) = (MemoryState::Pending, MemoryKind::Preference);
        Memory { id, state, kind, text: text.to_owned(), sightings: 1, sessions: 1, ..Memory::default() }
    }

    #[test]
    fn the_most_useful_questions_come_first_and_a_key_answers_each() {
        let contradictions = vec![MemoryContradiction { newer: entry(2, "use npm"), older: entry(1, "never use npm") }];
        let pending = (3..20).map(|id| entry(id, if id == 3 { "push without asking" } else { "use tabs" })).collect();
        let found = questions(MemoryReviewReport { contradictions, pending, ..MemoryReviewReport::default() });
        let asked: Vec<(u32, &str)> = found.iter().map(|question| (question.entry.id, &*question.reason)).collect();
        assert_eq!(asked[..3], [(2, "contradiction"), (3, "it grants, downloads or switches off something"), (4, "pending")]);
        assert_eq!(found.len(), QUESTIONS);
        let style = Style { color: false, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
        let shown = text(&found[0], 1, 7, &style);
        expect_test::expect![[r#"
            1 of 7: contradiction
              memory-2  pending: use npm
                        preference, 1970-01-01, 1 sighting in 1 session
              against
              memory-1  pending: never use npm
                        preference, 1970-01-01, 1 sighting in 1 session
              [a]ccept  [r]eject  [e]dit  [l]ater  [q]uit
        "#]]
        .assert_eq(&shown);
        let key = |code, modifiers| of_key(KeyEvent::new(code, modifiers), DECISION);
        assert_eq!(key(KeyCode::Char('a'), KeyModifiers::NONE), Some("accept"));
        assert_eq!(key(KeyCode::Char('R'), KeyModifiers::SHIFT), Some("reject"));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(QUIT));
        assert_eq!(key(KeyCode::Char('a'), KeyModifiers::CONTROL), None);
        assert_eq!((key(KeyCode::Char('m'), KeyModifiers::NONE), key(KeyCode::Enter, KeyModifiers::NONE)), (None, None));
    }
}
