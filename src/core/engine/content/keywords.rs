//! The telling words of a text: code-aware, without the words that everybody uses.

use crate::model::limits::KEYWORDS_PER_BLOCK;
use crate::model::{Block, BlockKind, Conventions, Keywords, Role, starts_with_any};
use crate::text::stop_words::is_stop_word;
use crate::text::words::{parts, spaced};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Bytes of a text that are examined: the topic usually appears early.
const LOOK_BYTES: usize = 4096;
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=20;

/// Returns the most significant words of a block, best first; empty for thinking, images and client insertions.
pub fn of_block(block: &Block, conventions: &Conventions, text: &str) -> Keywords {
    if matches!(block.kind, BlockKind::Thinking | BlockKind::Image | BlockKind::Attachment | BlockKind::Other) {
        return Keywords::default();
    }
    let text = if block.role == Role::ToolUse { tail(block.target()) } else { text };
    let text = &text[..text.floor_char_boundary(LOOK_BYTES)];
    let prose = matches!(block.role, Role::User | Role::Assistant);
    let lower = text.to_ascii_lowercase();
    let mut weights: FxHashMap<Cow<'_, str>, f32> = FxHashMap::default();
    let mut pairs: FxHashMap<(Cow<'_, str>, Cow<'_, str>), f32> = FxHashMap::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let lower = &lower[start..start + line.len()];
        start += line.len();
        if starts_with_any(line, &conventions.reminder_lines) {
            continue;
        }
        let mut previous: Option<Cow<'_, str>> = None;
        let content = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        words(content, lower, |word, plain| {
            if prose {
                if plain && let Some(first) = previous.take().filter(|first| *first != word) {
                    *pairs.entry((first, word.clone())).or_default() += 1.2;
                }
                previous = Some(word.clone());
            }
            *weights.entry(word).or_default() += 1.0;
        });
    }
    // A pair of words that occurs only once is less useful than its words.
    let pairs = pairs.into_iter().filter(|(_, weight)| *weight > 2.0);
    let pairs = pairs.map(|((first, second), weight)| (Cow::Owned(format!("{first} {second}")), weight));
    let mut ranked: Vec<(Cow<'_, str>, f32)> = weights.into_iter().chain(pairs).collect();
    let order = |a: &(Cow<'_, str>, f32), b: &(Cow<'_, str>, f32)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    if ranked.len() > KEYWORDS_PER_BLOCK {
        ranked.select_nth_unstable_by(KEYWORDS_PER_BLOCK, order);
        ranked.truncate(KEYWORDS_PER_BLOCK);
    }
    ranked.sort_unstable_by(order);
    ranked.iter().map(|(word, _)| &**word).collect()
}

/// The end of a path, which is its own; its beginning is that of the whole project. Anything else as it is.
fn tail(target: &str) -> &str {
    let absolute = !target.contains(' ') && target.starts_with('/');
    target.rmatch_indices('/').nth(1).filter(|_| absolute).map_or(target, |(at, _)| &target[at..])
}

/// Passes on the words of a line, in lower case, identifiers and paths taken apart; and whether each follows the one before
/// after spaces alone. `lower` is the line with its ASCII letters in lower case.
fn words<'a>(line: &str, lower: &'a str, mut found: impl FnMut(Cow<'a, str>, bool)) {
    let mut follows = false;
    for (token, inner) in spaced(line) {
        let (whole, offset) = (&line[inner.clone()], inner.start);
        let simple = !whole.is_empty() && is_alphabetic(whole);
        // A word with letters and many digits is a temporary identifier: a hash, a key, a time.
        if !simple && whole.bytes().filter(u8::is_ascii_digit).count() > 3 {
            follows = false;
            continue;
        }
        parts(whole, |part| {
            let word = if whole[part.clone()].is_ascii() {
                Cow::Borrowed(&lower[offset + part.start..offset + part.end])
            } else {
                Cow::Owned(whole[part].to_lowercase())
            };
            if WORD_BYTES.contains(&word.len()) && !is_stop_word(&word) {
                found(word, follows && simple);
                follows = simple && token.ends_with(whole);
            } else {
                follows = false;
            }
        });
    }
}

fn is_alphabetic(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphabetic()) || !text.is_ascii() && text.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let lower = line.to_ascii_lowercase();
        let mut found = Vec::new();
        words(line, &lower, |word, _| found.push(word));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn keywords_are_parts_of_names_and_rare_words() {
        // Names are taken apart.
        check("parseHTTPHeader", &["parse", "header"]);
        check("snake_case_word", &["snake", "word"]);
        check("/src/engine/heat.rs", &["engine", "heat"]);
        check("GrößeÄndern größe", &["größe", "ändern", "größe"]);
        check("aHTMLPage2go x9Ray", &["html", "page", "ray"]);
        // Common words and numbers are left out.
        check("please fix the file", &[]);
        check("commit 4f3a9b21c7 done", &["commit"]);
    }

    #[test]
    fn a_repeated_pair_is_one_keyword() {
        let block = Block::new(BlockKind::Text, Role::User);
        let keywords = of_block(&block, Default::default(), "database schema, then the database schema again");
        assert!(keywords.iter().any(|word| word == "database schema"), "{keywords:?}");
    }
}
