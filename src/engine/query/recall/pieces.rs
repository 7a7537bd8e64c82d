//! Selects the part of a recalled text that is printed.

use super::{Document, Hit, Query};
use crate::engine::content::terms;
use crate::engine::cost::tokens;
use rustc_hash::FxHashSet;

/// Maximum length of a part of a line that is shown or omitted as a unit, in bytes: tool inputs are one line of JSON.
const STRETCH_BYTES: usize = 240;
/// Share of the tokens for lines; the rest is for names, which cover more of the needed content per token.
const LINES_SHARE: f64 = 0.25;
/// Maximum share of the best matching line.
const BEST_SHARE: f64 = 0.6;
/// Number of context lines around a matching line.
const AROUND: usize = 1;
/// Maximum number of texts in an answer. Short excerpts of many texts cover more of the needed content than a few full texts.
const TEXTS: usize = 10;
/// Minimum tokens for a useful excerpt of a text.
const LEAST_TOKENS: usize = 40;

/// Returns the pieces of a text that match a query, of at most `max_tokens` by [`tokens::estimate`].
///
/// A short text is returned unchanged. For a longer text these are the lines with the most and rarest query words, some context
/// lines, and for each omitted part its length and the identifiers and files in it. Empty if the limit is too small for any output.
pub fn pieces(query: &str, text: &str, max_tokens: usize) -> String {
    Answer::new(query).pieces(text, max_tokens, Spare::Lines)
}

/// Returns the [`pieces`] of the best hits within a total of `max_tokens`, each with the index of its hit.
///
/// No text takes more than its share: a tenth, or more if there are fewer hits. Content printed for one hit is not repeated for
/// another, especially names. Headings are not counted.
pub fn answer(query: &str, documents: &[Document<'_>], hits: &[Hit], max_tokens: usize) -> Vec<(usize, String)> {
    let mut answer = Answer::new(query);
    let share = (max_tokens / hits.len().clamp(1, TEXTS)).max(LEAST_TOKENS);
    let spare = if hits.len() > 1 { Spare::Later } else { Spare::Lines };
    let mut left = max_tokens as f64;
    let mut all = Vec::new();
    for (place, hit) in hits.iter().enumerate() {
        if left < LEAST_TOKENS as f64 {
            break;
        }
        let Some(document) = documents.get(hit.document) else { continue };
        let pieces = answer.pieces(document.text, share.min(left as usize), spare);
        if !pieces.is_empty() {
            left -= tokens::estimate(&pieces);
            all.push((place, pieces));
        }
    }
    all
}

/// Use of the tokens that are not needed for the names of a text.
#[derive(Clone, Copy, PartialEq)]
enum Spare {
    /// More lines of the text.
    Lines,
    /// The tokens are left for later texts.
    Later,
}

/// Printed parts for one query, text by text: names and lines are not printed twice.
struct Answer<'a> {
    query: Query,
    printed: FxHashSet<&'a str>,
}

impl<'a> Answer<'a> {
    /// Creates an answer without printed parts.
    fn new(query: &str) -> Answer<'a> {
        Answer { query: Query::new(query), printed: FxHashSet::default() }
    }

    fn pieces(&mut self, text: &'a str, max_tokens: usize, spare: Spare) -> String {
        let room = max_tokens as f64;
        let lines = lines(text);
        // The cost of a long text is not needed: it is higher than that of any part.
        let mut price = 0.0;
        if lines.iter().all(|line| {
            price += line.price();
            price <= room
        }) && tokens::estimate(text) <= room
        {
            self.printed.extend(lines.iter().flat_map(|line| line.names().into_iter().chain([line.text.trim()])));
            return text.to_owned();
        }
        let scores = self.scores(&lines);
        let names = self.names(&lines, &scores);
        let wanted: f64 = names.iter().map(|name| tokens::estimate(name.text)).sum();
        let for_lines = match spare {
            Spare::Lines => (room * LINES_SHARE).max(room - wanted),
            Spare::Later => room * LINES_SHARE,
        };
        let marker = tokens::estimate("\n[… 00000000 lines ]\n");
        let shown = self.choose(&lines, &scores, for_lines, (room * BEST_SHARE).max(for_lines), marker);
        let mut left = room - shown.price;
        if left < 0.0 {
            return String::new();
        }
        let mut listed = vec![Vec::new(); lines.len()];
        let visible: FxHashSet<&str> =
            lines.iter().zip(&shown.lines).filter(|(_, shown)| **shown).flat_map(|(line, _)| line.names()).collect();
        for name in names {
            let price = tokens::estimate(name.text);
            if price <= left && !visible.contains(name.text) {
                left -= price;
                listed[name.line].push(name.text);
                self.printed.insert(name.text);
            }
        }
        self.printed.extend(visible);
        let printed = lines.iter().zip(&shown.lines).filter(|(_, shown)| **shown).map(|(line, _)| line.text.trim());
        self.printed.extend(printed);
        print(&lines, &shown.lines, &listed)
    }

    /// Returns the score of each line: the sum of the rarities, within this text, of its distinct query words.
    fn scores(&self, lines: &[Line<'_>]) -> Vec<f64> {
        let mut holders = vec![0u32; self.query.counts.len()];
        let found: Vec<Vec<u32>> = lines
            .iter()
            .map(|line| {
                let mut terms = Vec::new();
                self.query.find(line.text, |term| terms.push(term));
                terms.sort_unstable();
                terms.dedup();
                terms.iter().for_each(|term| holders[*term as usize] += 1);
                terms
            })
            .collect();
        let rarity = |term: &u32| (1.0 + lines.len() as f64 / f64::from(holders[*term as usize].max(1))).ln();
        found.iter().map(|terms| terms.iter().map(rarity).sum()).collect()
    }

    /// Returns the distinct names that were not printed before: first those on the best matching lines, then in order.
    fn names(&self, lines: &[Line<'a>], scores: &[f64]) -> Vec<Name<'a>> {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut names: Vec<Name<'_>> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let new = line.names().into_iter().filter(|name| !self.printed.contains(name) && seen.insert(name));
            names.extend(new.map(|text| Name { text, line: place }));
        }
        names.sort_by(|a, b| scores[b.line].total_cmp(&scores[a.line]));
        names
    }

    /// Selects the best matching lines and their context lines, within the limit.
    fn choose(&self, lines: &[Line<'_>], scores: &[f64], room: f64, room_for_best: f64, marker: f64) -> Shown {
        let mut answering: Vec<usize> = (0..lines.len()).filter(|line| scores[*line] > 0.0).collect();
        answering.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        // An omitted part before the first line and after each shown line has its own marker.
        let mut shown = Shown { lines: vec![false; lines.len()], price: marker };
        let Some(best) = answering.first().copied() else { return shown };
        for line in answering {
            for near in [line].into_iter().chain((1..=AROUND).flat_map(|far| [line.wrapping_sub(far), line + far])) {
                let Some(text) = lines.get(near).filter(|_| !shown.lines[near]) else { continue };
                let price = text.price() + marker;
                let room = if near == best { room_for_best } else { room };
                if shown.price + price > room || near != line && self.printed.contains(text.text.trim()) {
                    break;
                }
                shown.lines[near] = true;
                shown.price += price;
            }
        }
        shown
    }
}

/// A line of a text, or a part of a long line.
struct Line<'a> {
    text: &'a str,
    /// True if the line continues after it.
    continued: bool,
}

impl<'a> Line<'a> {
    /// Tokens, with a line feed.
    fn price(&self) -> f64 {
        tokens::estimate(self.text) + tokens::estimate("\n")
    }

    /// Returns the identifiers and files in it.
    fn names(&self) -> Vec<&'a str> {
        let mut names = Vec::new();
        for part in self.text.split("\\n") {
            terms::names(part, |name| names.push(name));
        }
        names
    }
}

struct Name<'a> {
    text: &'a str,
    line: usize,
}

/// Shown lines, and an upper bound of their cost with the markers between them.
struct Shown {
    lines: Vec<bool>,
    price: f64,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > STRETCH_BYTES {
            let (text, after) = rest.split_at(cut(rest));
            lines.push(Line { text, continued: true });
            rest = after;
        }
        lines.push(Line { text: rest, continued: false });
    }
    lines
}

/// Returns the offset at which a long line is split: after an escaped line feed or a space, and not inside a name if possible.
fn cut(line: &str) -> usize {
    let head = line.floor_char_boundary(STRETCH_BYTES);
    let head = &line[..head];
    let after = |place: Option<usize>, length: usize| place.map(|place| place + length);
    after(head.find("\\n"), 2)
        .or_else(|| after(head.rfind(' '), 1))
        .or_else(|| after(head.rfind([',', ';', '"']), 1))
        .unwrap_or(head.len())
}

fn print(lines: &[Line<'_>], shown: &[bool], listed: &[Vec<&str>]) -> String {
    let mut text = String::new();
    let mut place = 0;
    while place < lines.len() {
        if shown[place] {
            text.push_str(lines[place].text);
            if !(lines[place].continued && shown.get(place + 1) == Some(&true)) {
                text.push('\n');
            }
            place += 1;
            continue;
        }
        let end = (place..lines.len()).find(|line| shown[*line]).unwrap_or(lines.len());
        let ended = lines[place..end].iter().filter(|line| !line.continued).count();
        text.push_str(&match ended {
            0 => "[…".to_owned(),
            1 => "[… 1 line".to_owned(),
            _ => format!("[… {ended} lines"),
        });
        for name in listed[place..end].iter().flatten() {
            text.push(' ');
            text.push_str(name);
        }
        text.push_str("]\n");
        place = end;
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, proptest};

    const TEXT: &str = "use std::fmt;\nstruct TokenCount;\nimpl TokenCount {\n    fn new_count() {}\n}\n\
                        fn price_of_row(row: &Row) {\n    drop(row)\n}\n// the end of main.rs\n";

    fn check(query: &str, text: &str, max_tokens: usize, expected: &str) {
        assert_eq!(pieces(query, text, max_tokens), expected, "{query}");
    }

    #[test]
    fn a_short_text_is_as_it_is() {
        check("price", TEXT, 1000, TEXT);
        check("", "", 0, "");
    }

    #[test]
    fn lines_that_answer_are_shown_and_the_names_of_the_rest() {
        let long = format!("{TEXT}{}", "\n".repeat(40));
        check("price", &long, 130, "[… 4 lines TokenCount new_count]\n}\nfn price_of_row(row: &Row) {\n[… 43 lines main.rs]");
        let expected = "use std::fmt;\nstruct TokenCount;\nimpl TokenCount {\n[… 46 lines new_count price_of_row main.rs]";
        check("token count", &long, 180, expected);
        check("unheard", &long, 60, "[… 49 lines TokenCount new_count price_of_row main.rs]");
        check("price", &long, 10, "");
    }

    #[test]
    fn a_long_line_is_shown_by_stretches() {
        let line = format!("{{\"text\": \"{}the needle_here is\\n{}\"}}", "word ".repeat(200), "more ".repeat(200));
        let words = "word ".repeat(10);
        check("needle", &line, 150, &format!("[…]\n{words}the needle_here is\\n\n[… 1 line]"));
    }

    #[test]
    fn printed_parts_are_not_repeated() {
        let text = format!("{TEXT}{}", "one more line of the same\n".repeat(9));
        let other = text.replace("new_count", "old_count");
        let documents = [TEXT, &text, &other].map(|text| Document { text, title: "" });
        let hits = [0, 1, 2].map(|document| Hit { document, score: 1.0 });
        let printed: Vec<String> =
            answer("price", &documents, &hits, 600).into_iter().map(|(place, pieces)| format!("{place} {pieces}")).collect();
        let row = "fn price_of_row(row: &Row) {\n[… 12 lines]";
        assert_eq!(printed, [format!("0 {TEXT}"), format!("1 [… 5 lines]\n{row}"), format!("2 [… 5 lines old_count]\n{row}")]);
    }

    proptest! {
        #[test]
        fn any_text_keeps_to_its_tokens(query in any::<String>(), text in "(.{0,9}|[a-c_]{1,9}|\\n){0,200}", max in 0usize..300) {
            let printed = pieces(&query, &text, max);
            prop_assert!(tokens::estimate(&printed) <= max as f64, "{}", printed);
        }

        #[test]
        fn any_bytes_give_pieces(query in any::<String>(), text in any::<String>(), max in 0usize..100) {
            let printed = pieces(&query, &text, max);
            prop_assert!(tokens::estimate(&printed) <= max as f64);
        }
    }
}
