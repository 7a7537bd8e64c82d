//! The lines of a turn that answer a query.

use super::query::Matcher;
use crate::engine::mask;
use crate::model::words;
use std::borrow::Cow;
use std::ops::Range;

/// Part of a line that is shown, in bytes: inputs of tools can be one long line.
const LINE_BYTES: usize = 400;
/// Share of the value of a question of the user as the line that answers.
const QUESTION_TRUST: f32 = 0.7;
/// Part of it before the first word of the query.
const BEFORE_BYTES: usize = 120;

words! {
    /// The origin of a text.
    pub enum PassageKind {
        /// Words of the user.
        Prompt = "prompt",
        /// A text of the agent.
        Answer = "answer",
        /// A call of a tool.
        Call = "call",
        /// The result of a call.
        Result = "result",
        /// A summary of the turns before it, by the client.
        Summary = "summary",
    }
}

impl PassageKind {
    pub fn field(self) -> usize {
        match self {
            PassageKind::Prompt => 0,
            PassageKind::Answer | PassageKind::Summary => 1,
            PassageKind::Call | PassageKind::Result => 2,
        }
    }

    /// Returns the role: `user`, `agent` or `tool`.
    pub fn role(self) -> &'static str {
        ["user", "agent", "tool"][self.field()]
    }
}

/// A text of a turn.
#[derive(Clone, Debug)]
pub struct Passage<'a> {
    pub kind: PassageKind,
    /// The tool and its target; empty for other texts.
    pub title: Cow<'a, str>,
    pub text: Cow<'a, str>,
}

impl<'a> Passage<'a> {
    pub fn untitled(kind: PassageKind, text: &'a str) -> Passage<'a> {
        Passage { kind, title: "".into(), text: text.into() }
    }
}

/// A line with words of a query, and the lines beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub kind: PassageKind,
    /// The last line before it that is not blank; empty if there is none.
    pub before: String,
    pub line: String,
    /// The first line after it that is not blank; empty if there is none.
    pub after: String,
    /// The places of words of the query in the line, in bytes.
    pub marks: Vec<(usize, usize)>,
}

/// Words of a query in a text: the index of the term of each, and its place.
pub(super) type Words = Vec<(usize, Range<usize>)>;

/// Returns the line with the most and rarest words of a query. `weights` are those of its terms; `phrases` are lowercase texts that
/// outweigh all words; `words` are those in the text of each passage.
pub(super) fn excerpt(
    matcher: &Matcher<'_>,
    weights: &[f32],
    phrases: &[String],
    passages: &[Passage<'_>],
    words: &[Words],
) -> Option<Excerpt> {
    // The value of a line, its passage, and the place of its first word.
    let mut best: Option<(f32, usize, Range<usize>)> = None;
    for (index, (passage, words)) in passages.iter().zip(words).enumerate() {
        // The words of a person or an agent tell more than data with the same words, and an answer more than its question.
        let trust = [1.2, 1.0, 0.7][passage.kind.field()];
        for (words, place) in lines(weights, &passage.text, words) {
            let line = &passage.text[line_at(&passage.text, place.start)];
            let asks = passage.kind == PassageKind::Prompt && line.trim_end().ends_with(['?', '？']);
            let trust = if asks { QUESTION_TRUST } else { trust };
            let has = |phrase: &&String| line.to_lowercase().contains(*phrase);
            let phrases = phrases.iter().filter(has).count();
            let value = trust * words + 100.0 * phrases as f32;
            if best.as_ref().is_none_or(|(most, ..)| *most < value) {
                best = Some((value, index, place));
            }
        }
    }
    let (_, passage, place) = best?;
    let passage = &passages[passage];
    // Mask before a line is cut out. A mask can be shorter than the credential in its place.
    let masked = mask(&passage.text);
    let place = if *masked == passage.text {
        place
    } else {
        let mut words = Words::new();
        matcher.find(&masked, |term, place, _| words.push((term, place)));
        lines(weights, &masked, &words).into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other))?.1
    };
    let mut excerpt = cut_line(passage, &masked, place);
    let mut marks = Vec::new();
    matcher.find(&excerpt.line, |_, place, _| marks.push((place.start, place.end)));
    marks.sort_unstable();
    // A name can be found as a whole and by its parts: the parts are in it.
    let mut end = 0;
    marks.retain(|(from, to)| {
        *from >= end && {
            end = *to;
            true
        }
    });
    excerpt.marks = marks;
    Some(excerpt)
}

/// Returns the lines of a text with words of a query: the sum of the weights of their distinct terms, and the place of the first word.
fn lines(weights: &[f32], text: &str, words: &Words) -> Vec<(f32, Range<usize>)> {
    let mut lines: Vec<(f32, Range<usize>)> = Vec::new();
    let (mut end, mut seen) = (0, 0u64);
    for (term, place) in words {
        if lines.is_empty() || place.start >= end {
            end = line_at(text, place.start).end;
            seen = 0;
            lines.push((0.0, place.clone()));
        }
        if let Some((value, _)) = lines.last_mut().filter(|_| seen & 1 << term == 0) {
            *value += weights[*term];
            seen |= 1 << term;
        }
    }
    lines
}

/// Returns the line of a passage that has a place, with the lines beside it. `text` is its masked text.
pub fn cut_line(passage: &Passage<'_>, text: &str, place: Range<usize>) -> Excerpt {
    // A pattern of bytes can match within a character.
    let place = text.floor_char_boundary(place.start)..text.ceil_char_boundary(place.end);
    let line = line_at(text, place.start);
    let beside = |line: Option<&str>| words_around(line.unwrap_or_default(), 0).0.to_owned();
    let (shown, start) = words_around(&text[line.clone()], place.start - line.start);
    let from = (place.start - line.start).saturating_sub(start);
    let to = (place.end.min(line.end) - line.start).saturating_sub(start).min(shown.len());
    Excerpt {
        kind: passage.kind,
        before: beside(text[..line.start].lines().rev().find(|line| !line.trim().is_empty())),
        after: beside(text[line.end..].lines().find(|line| !line.trim().is_empty())),
        line: shown.to_owned(),
        marks: if from < to { vec![(from, to)] } else { Vec::new() },
    }
}

fn line_at(text: &str, offset: usize) -> Range<usize> {
    let (before, after) = text.as_bytes().split_at(offset);
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', after).map_or(text.len(), |length| offset + length);
    start..end
}

/// Returns the part of a line around an offset, in whole words, and where it starts.
fn words_around(line: &str, around: usize) -> (&str, usize) {
    let indent = line.len() - line.trim_start().len();
    let trimmed = line.trim_end();
    // It can be among the blanks at the end.
    let around = trimmed.floor_char_boundary(around);
    if trimmed.len().saturating_sub(indent) <= LINE_BYTES {
        return (trimmed.get(indent..).unwrap_or_default(), indent);
    }
    let start = trimmed.floor_char_boundary(around.saturating_sub(BEFORE_BYTES)).max(indent);
    let start = if start == indent {
        start
    } else {
        trimmed[start..around.max(start)].find(' ').map_or(start, |space| start + space + 1)
    };
    let end = trimmed.floor_char_boundary(start + LINE_BYTES);
    let end = if end == trimmed.len() { end } else { trimmed[start..end].rfind(' ').map_or(end, |space| start + space) };
    (&trimmed[start..end], start)
}

#[cfg(test)]
mod tests {
    use super::super::Query;
    use super::*;

    fn best(query: &str, passages: &[Passage<'_>]) -> Option<Excerpt> {
        let query = Query::parse(query).unwrap();
        let weights = vec![1.0; query.terms.len()];
        let matcher = query.matcher();
        let words: Vec<Words> = passages
            .iter()
            .map(|passage| {
                let mut words = Words::new();
                matcher.find(&passage.text, |term, place, _| words.push((term, place)));
                words
            })
            .collect();
        excerpt(&matcher, &weights, &query.phrases, passages, &words)
    }

    #[test]
    fn the_line_with_most_words_is_shown_with_its_neighbours() {
        let text = "The login\n\nflaky test of the login page\n  was fixed\nlogin";
        let found = best("flaky login", &[Passage::untitled(PassageKind::Answer, text)]).unwrap();
        assert_eq!((&*found.before, &*found.line, &*found.after), ("The login", "flaky test of the login page", "was fixed"));
        assert_eq!(found.marks, [(0, 5), (18, 23)]);
        assert_eq!(best("absent", &[Passage::untitled(PassageKind::Answer, text)]), None);
    }

    #[test]
    fn words_of_the_user_come_before_data_and_an_answer_before_its_question() {
        use PassageKind::{Answer, Prompt, Result};
        for (query, texts, kind) in [
            ("retry limit", [(Result, "retry limit"), (Prompt, "the retry limit")], Prompt),
            ("merge stop", [(Prompt, "why did the merge stop?"), (Answer, "the merge had to stop at a conflict")], Answer),
        ] {
            assert_eq!(best(query, &texts.map(|(kind, text)| Passage::untitled(kind, text))).unwrap().kind, kind);
        }
    }

    #[test]
    fn a_place_can_be_anywhere() {
        let text = format!("{}é{}", "straw ".repeat(100), " ".repeat(600));
        let passage = Passage::untitled(PassageKind::Result, &text);
        for start in 0..=text.len() {
            for end in [start, text.len().min(start + 1)] {
                let Excerpt { line, marks, .. } = cut_line(&passage, &text, start..end);
                assert!(marks.iter().all(|(from, to)| line.get(*from..*to).is_some()), "{start} {end}");
            }
        }
    }

    #[test]
    fn of_a_long_line_the_part_with_the_words_is_shown() {
        let line = format!("{} the needle is here {}", "hay ".repeat(400), "straw ".repeat(400));
        let found = best("needle", &[Passage::untitled(PassageKind::Call, &line)]).unwrap();
        assert!(found.line.len() <= LINE_BYTES && found.line.contains("needle"));
        let (from, to) = found.marks[0];
        assert_eq!(&found.line[from..to], "needle");
    }
}
