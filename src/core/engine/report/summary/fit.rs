//! Reduces summaries to a token limit: removes sentences before key points.

use super::sentences::ENDS;
use super::{Headline, Part, Point, PointKind, Sentence, Summary};
use crate::engine::{mask, o200k};
use crate::model::BlockNumber;
use crate::text::clauses::is_prose;
use crate::text::cut::{one_line, with_ellipsis};
use crate::text::lists::word_lists;

/// Maximum tokens of a sentence after it is cut.
const SHORT_SENTENCE_TOKENS: u32 = 28;

/// Maximum number of edited files that are named.
const NAMED_FILES: usize = 6;
/// Words of a topic before which names are dropped.
const TOPIC_WORDS: usize = 6;
/// Words of a topic that is cut, at least: shorter phrases only introduce one, such as `one last thing`.
const LEAST_TOPIC_WORDS: usize = 4;
/// Words of a topic that is cut with a meaning of their own, below which it says nothing.
const TELLING_WORDS: usize = 2;
word_lists! { "fit.txt": pub(super) PHRASE_STARTS, OPEN_WORDS, FRAMES }

impl PointKind {
    pub fn label(self) -> &'static str {
        match self {
            PointKind::Narrative => "story",
            PointKind::Objective => "goal",
            PointKind::Achieved => "done",
            _ => self.name(),
        }
    }

    pub fn separator(self) -> &'static str {
        match self {
            PointKind::Changed | PointKind::Files | PointKind::Functions | PointKind::Concepts | PointKind::State => ", ",
            PointKind::Asked | PointKind::Decided | PointKind::Said | PointKind::Narrative => " ",
            _ => "; ",
        }
    }

    /// Returns the number of parts that are kept until sentences are cut.
    fn least(self) -> usize {
        match self {
            PointKind::Objective => 4,
            PointKind::Narrative | PointKind::State | PointKind::Replied => 2,
            PointKind::Files | PointKind::Next | PointKind::Changed => 3,
            _ => 1,
        }
    }

    /// Returns the removal rank of the point: points with the highest rank are removed first.
    fn dispensable(self) -> u8 {
        match self {
            PointKind::Objective | PointKind::Open | PointKind::State | PointKind::Replied => 0,
            PointKind::Said | PointKind::Next | PointKind::Tests => 1,
            PointKind::Changed | PointKind::Committed | PointKind::Narrative => 2,
            PointKind::Fixed | PointKind::Achieved | PointKind::Files => 3,
            PointKind::Decided => 4,
            PointKind::Asked => 5,
            PointKind::Functions => 6,
            PointKind::Concepts => 7,
        }
    }
}

impl Part {
    /// Creates a part from a sentence or a name of a block, with credentials masked.
    pub(super) fn new(text: &str, block: BlockNumber) -> Part {
        Part { text: mask(&one_line(text)).into_owned(), block: Some(block) }
    }

    /// Creates a part from a sentence of the agent.
    pub(super) fn said((sentence, block): &(Sentence, BlockNumber)) -> Part {
        Part::new(&sentence.text, *block)
    }

    /// Creates a part that is counted over several blocks.
    pub(super) fn counted(text: impl AsRef<str>) -> Part {
        Part { text: mask(&one_line(text.as_ref())).into_owned(), block: None }
    }
}

impl Point {
    /// Creates a point, with the parts that are not empty. Of edited files, the first ones are named.
    pub(super) fn new(kind: PointKind, parts: Vec<Part>) -> Point {
        let mut point = Point { kind, parts, more: 0 };
        point.parts.retain(|part| !part.text.is_empty());
        if kind == PointKind::Changed {
            point.truncate(NAMED_FILES);
        }
        point
    }

    fn truncate(&mut self, most: usize) {
        let left_out = if self.kind == PointKind::Changed { self.parts.len().saturating_sub(most) } else { 0 };
        self.parts.truncate(most);
        self.more += left_out as u32;
    }

    /// Returns the text of the point, without its label.
    pub fn text(&self) -> String {
        let separator = self.kind.separator();
        let mut text = String::new();
        for part in &self.parts {
            let ends = text.ends_with(ENDS) || text.ends_with([')', '"']);
            if !text.is_empty() {
                text.push_str(if separator == " " && !ends { "; " } else { separator });
            }
            text.push_str(&part.text);
        }
        if self.more > 0 {
            text.push_str(&format!("{separator}{} more", self.more));
        }
        text
    }
}

/// Reduces the points to a token limit: removes parts first, then cuts sentences, then removes whole points.
pub(super) fn fit(mut points: Vec<Point>, bound: u32) -> Summary {
    points.retain(|point| !point.parts.is_empty());
    for least in [PointKind::least, |_| 1] {
        while over(&points, bound) {
            let longest = points.iter_mut().filter(|point| point.parts.len() > least(point.kind));
            let Some(point) = longest.max_by_key(|point| o200k(&point.text())) else { break };
            // Sentences are in the order of their turns, others begin with the best, or with words that introduce it.
            match point.kind {
                PointKind::Narrative => drop(point.parts.remove(0)),
                _ if point.parts[0].text.ends_with([':', '：']) && is_prose(&point.parts[1].text) => drop(point.parts.remove(0)),
                _ => point.truncate(point.parts.len() - 1),
            }
        }
    }
    while over(&points, bound) {
        let longest = points.iter_mut().flat_map(|point| &mut point.parts).max_by_key(|part| o200k(&part.text));
        let Some(part) = longest.filter(|part| o200k(&part.text) > SHORT_SENTENCE_TOKENS) else { break };
        part.text = cut(&part.text, SHORT_SENTENCE_TOKENS);
    }
    while over(&points, bound) && points.len() > 1 {
        let place = (0..points.len()).max_by_key(|place| points[*place].kind.dispensable());
        points.remove(place.unwrap_or_default());
    }
    // A label and half of the limit fit into the limit, unless the limit is a few tokens.
    points.iter_mut().filter(|point| over(std::slice::from_ref(*point), bound)).for_each(|point| {
        point.truncate(1);
        point.parts.iter_mut().for_each(|part| part.text = cut(&part.text, bound / 2));
    });
    if over(&points, bound) {
        points.clear();
    }
    let text = rendered(&points);
    Summary { tokens: o200k(&text), text, points }
}

fn over(points: &[Point], bound: u32) -> bool {
    o200k(&rendered(points)) > bound
}

fn rendered(points: &[Point]) -> String {
    let lines: Vec<String> = points.iter().map(|point| format!("{}: {}", point.kind.label(), point.text())).collect();
    lines.join("\n")
}

/// Truncates a text to a token limit, between words if possible, with `…` at its end.
pub(super) fn cut(text: &str, bound: u32) -> String {
    if o200k(text) <= bound {
        return text.to_owned();
    }
    let spaces: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    let longest = |places: &[usize]| {
        let fits = |at: &usize| o200k(&with_ellipsis(&text[..*at])) <= bound;
        places.partition_point(fits).checked_sub(1).map(|place| places[place])
    };
    let characters = || -> Vec<usize> { text.char_indices().map(|(at, _)| at).skip(1).take(400).collect() };
    let place = longest(&spaces).filter(|at| *at > 0).or_else(|| longest(&characters()));
    place.map_or_else(String::new, |at| with_ellipsis(&text[..at]))
}

#[derive(Clone, Debug, Default)]
pub(super) struct HeaderParts {
    pub when: String,
    pub topic: Vec<String>,
    /// True if the sentence of the topic has more words.
    pub is_cut: bool,
    pub names: Vec<String>,
    pub outcomes: Vec<String>,
}

/// Reduces the header to a token limit: removes the second name first, then the time of day, which says less than the topic and the
/// outcome, the second outcome, topic words and the name. The flag is true if its topic says something.
pub(super) fn header(mut parts: HeaderParts, bound: u32) -> (Headline, bool) {
    loop {
        let text = parts.text();
        let tokens = o200k(&text);
        if tokens <= bound {
            return (Headline { text, tokens }, parts.tells());
        }
        if parts.names.len() > 1 {
            parts.names.pop();
        } else if !std::mem::take(&mut parts.when).is_empty() {
            continue;
        } else if parts.outcomes.len() > 1 {
            parts.outcomes.pop();
        } else if parts.topic.len() > TOPIC_WORDS || parts.names.is_empty() && parts.topic.len() > 1 {
            parts.topic.pop();
            parts.is_cut = true;
        } else if parts.names.pop().is_none() && parts.topic.pop().is_none() {
            let text = cut(&parts.text(), bound);
            return (Headline { tokens: o200k(&text), text }, false);
        }
    }
}

/// Returns the number of words of a topic that is cut, up to the end of a phrase and one that says something.
fn topic_end(words: &[String]) -> usize {
    let ends =
        |at: &usize| PHRASE_STARTS.contains(&&*bare(&words[*at])) || words[at - 1].ends_with([',', ';', ':', '.', '?', '!', ')']);
    let end = (LEAST_TOPIC_WORDS..words.len()).rev().find(ends).unwrap_or(words.len());
    end - words[..end].iter().skip(1).rev().take_while(|word| OPEN_WORDS.contains(&&*bare(word))).count()
}

/// Returns true if enough of the words have a meaning of their own.
pub(super) fn tells<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let is_telling = |word: &&str| !OPEN_WORDS.contains(&&*bare(word)) && !FRAMES.contains(&&*bare(word));
    words.filter(is_telling).count() >= TELLING_WORDS
}

fn bare(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'").trim_end_matches([',', ';', ':', '.']).to_owned()
}

impl HeaderParts {
    /// Returns the words of the topic that are shown: of one that is cut, up to the end of a phrase.
    fn shown(&self) -> &[String] {
        &self.topic[..if self.is_cut { topic_end(&self.topic) } else { self.topic.len() }]
    }

    /// Returns true if the topic is whole, or if what is shown of it says something.
    fn tells(&self) -> bool {
        !self.is_cut || tells(self.shown().iter().map(String::as_str))
    }

    pub(super) fn text(&self) -> String {
        let shown = self.shown().join(" ");
        let topic = match shown.trim_end_matches([',', ';', ':', '.', '-', '(', '"']) {
            topic if self.is_cut && !topic.is_empty() && !topic.ends_with('…') => with_ellipsis(topic),
            topic => topic.to_owned(),
        };
        let front = [&*self.when, &*topic].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let all = [front, self.names.join(" "), self.outcomes.join(", ")];
        all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(kind: PointKind, parts: &[&str]) -> Point {
        Point::new(kind, parts.iter().map(Part::counted).collect())
    }

    #[test]
    fn sentences_go_before_points() {
        let points = vec![point(PointKind::Asked, &["Fix it."]), point(PointKind::Said, &["It is fixed.", "All is well now."])];
        assert_eq!(fit(points.clone(), 100).text, "asked: Fix it.\nsaid: It is fixed. All is well now.");
        assert_eq!(fit(points.clone(), 14).text, "asked: Fix it.\nsaid: It is fixed.");
        assert_eq!(fit(points, 8).text, "said: It is fixed.");
    }

    #[test]
    fn edited_files_that_are_not_named_are_counted() {
        let files: Vec<String> = (0..9).map(|file| format!("src/module_{file}.rs")).collect();
        let point = Point::new(PointKind::Changed, files.iter().map(Part::counted).collect());
        assert!(point.text().ends_with("src/module_5.rs, 3 more"), "{}", point.text());
        assert_eq!(fit(vec![point.clone()], 26).text, "changed: src/module_0.rs, src/module_1.rs, src/module_2.rs, 6 more");
        assert_eq!(fit(vec![point], 14).text, "changed: src/module_0.rs, 8 more");
    }

    #[test]
    fn a_text_is_cut_between_words() {
        assert_eq!(cut("one two three four five six", 4), "one two three…");
        assert_eq!(cut("short", 4), "short");
        assert!(o200k(&cut(&"x".repeat(900), 5)) <= 5);
    }

    #[test]
    fn a_topic_that_is_cut_ends_with_a_phrase() {
        let check = |topic: &str, expected: &str| {
            let topic = topic.split(' ').map(str::to_owned).collect();
            assert_eq!(HeaderParts { topic, is_cut: true, ..HeaderParts::default() }.text(), expected);
        };
        check("we can add token usage as that's now", "we can add token usage…");
        check("update the long readme with complete", "update the long readme…");
        check("before you reply, are we sure", "before you reply, are we sure…");
        check("fix the tax rounding", "fix the tax rounding…");
        check("what will happen if I change", "what will happen if I change…");
        check("rename all of the", "rename all…");
        check("Per step 7c I’m", "Per step 7c…");
        check("the old one is [secret:token] of", "the old one is [secret:token]…");
        let tells = |topic: &str| {
            let topic = topic.split(' ').map(str::to_owned).collect();
            HeaderParts { topic, is_cut: true, ..HeaderParts::default() }.tells()
        };
        assert!(tells("round the tax") && !tells("I'm not sure I see the benefit") && !tells("It doesn't seem to work"));
        let whole = HeaderParts { topic: vec!["what".into(), "is".into(), "it?".into()], ..HeaderParts::default() };
        assert_eq!(whole.text(), "what is it?");
    }

    #[test]
    fn a_header_keeps_its_outcome_longest() {
        let parts = HeaderParts {
            when: "21:05".into(),
            topic: vec!["tax".into(), "rounding".into()],
            names: vec!["tax.rs".into(), "new.rs".into()],
            outcomes: vec!["12 passed".into(), "committed".into()],
            is_cut: false,
        };
        let short = |bound| header(parts.clone(), bound).0.text;
        assert_eq!(short(99), "21:05 tax rounding · tax.rs new.rs · 12 passed, committed");
        assert_eq!(short(13), "tax rounding · tax.rs · 12 passed, committed");
        assert_eq!(short(10), "tax rounding · tax.rs · 12 passed");
        assert_eq!(short(3), "12 passed");
        let (topic, outcomes) = (vec!["/shop:explore".into()], vec!["edited 1 file".into()]);
        let one = HeaderParts { when: "21:05".into(), topic, outcomes, ..HeaderParts::default() };
        let expected = "/shop:explore · edited 1 file";
        assert_eq!(header(one, o200k(expected)).0.text, expected);
    }
}
