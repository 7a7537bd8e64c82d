//! Excerpts of the words of a person: phrases that can name a topic, and sentences that state a rule.

use super::rules::rule;
use crate::engine::summary::plain_sentences;
use crate::engine::{mask, mask_cut};
use crate::model::{Block, BlockKind, Conventions, Excerpts, Keywords, Role};
use crate::text::function_words::{BREAKS, EDGES};
use crate::text::stop_words::is_stop_word;
use crate::text::words::spaced;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Bytes above which a message is assumed to be mostly pasted, and the bytes of its start that are examined.
const LONG_BYTES: usize = 8_000;
const START_BYTES: usize = 1_200;
/// Bytes of the start of an answer that are examined, and the maximum number of its phrases.
const ANSWER_BYTES: usize = 320;
const ANSWER_PHRASES: usize = 3;
/// Maximum number of phrases and of rules of a block.
const PHRASES: usize = 12;
const RULES: usize = 4;
/// Maximum number of words of a phrase, and of a heading.
const PHRASE_WORDS: usize = 3;
const HEADING_WORDS: usize = 6;
/// Maximum length of a word of a phrase, in characters.
const WORD_CHARACTERS: usize = 30;

/// Adds the excerpts of the words that a person wrote to those of a block; of an answer, phrases of its start.
pub fn add(block: &mut Block, conventions: &Conventions, content: &str) {
    if block.kind == BlockKind::Text && block.role == Role::Assistant {
        let start = mask_cut(&content[..content.floor_char_boundary(ANSWER_BYTES)]);
        let mut found: Vec<String> = Vec::new();
        for sentence in plain_sentences(&start, conventions) {
            phrases(&sentence, |phrase| {
                if found.len() < ANSWER_PHRASES && phrase.contains(' ') && !found.contains(&phrase) {
                    found.push(phrase);
                }
            });
        }
        let phrases = found.iter().map(String::as_str).collect();
        block.excerpts = Excerpts { phrases, ..Excerpts::default() }.some();
        return;
    }
    let words: Vec<&str> = block.words_in(content).collect();
    if words.is_empty() {
        return;
    }
    let words = words.join("\n");
    let start = if words.len() > LONG_BYTES { &words[..words.floor_char_boundary(START_BYTES)] } else { &words };
    let start = mask(start);
    let sentences = plain_sentences(&start, conventions);
    let mut phrases: Vec<String> = start.lines().filter_map(heading).collect();
    for sentence in &sentences {
        self::phrases(sentence, |phrase| {
            if phrases.len() < PHRASES && !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        });
    }
    // A document, such as a plan or a specification, instructs for one task.
    let is_document =
        start.lines().filter(|line| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#')).count() > 1;
    let answered = |sentence: &'_ String| {
        let mark = conventions.answer_marks.iter().find_map(|mark| sentence.rfind(mark).map(|at| at + mark.len()));
        sentence.get(mark.unwrap_or_default()..).unwrap_or_default().trim_matches('"').to_owned()
    };
    let is_rule = |sentence: &String| !is_document && rule(sentence).is_some();
    let rules: Vec<String> = sentences.iter().map(answered).filter(is_rule).take(RULES).collect();
    let rules: Keywords = rules.iter().map(String::as_str).collect();
    let mut excerpts = block.excerpts.take().map(|excerpts| *excerpts).unwrap_or_default();
    excerpts = Excerpts { phrases: phrases.iter().map(String::as_str).collect(), rules, ..excerpts };
    block.excerpts = excerpts.some();
}

/// Returns the words of a heading in Markdown, without a prefix such as `Plan:`.
fn heading(line: &str) -> Option<String> {
    let text = line.trim().strip_prefix('#')?.trim_start_matches('#');
    let text = text.strip_prefix(' ')?.rsplit(": ").next()?.trim();
    let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let words: Vec<String> = text.split_whitespace().take(HEADING_WORDS).map(str::to_lowercase).collect();
    let named = words.iter().any(|word| is_name(word)) && words.iter().all(|word| word.chars().count() <= WORD_CHARACTERS);
    (named && words.len() > 1).then(|| words.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
}

/// Passes on the phrases of a sentence in lower case: runs of words between stop words and punctuation, without verbs at their ends.
fn phrases(sentence: &str, mut found: impl FnMut(String)) {
    let mut run: Vec<String> = Vec::new();
    for (token, inner) in spaced(sentence) {
        let inner = &sentence[inner];
        let word = inner.strip_suffix("'s").or_else(|| inner.strip_suffix("’s")).unwrap_or(inner).to_lowercase();
        if inner.chars().any(is_wide) {
            flush(&mut run, &mut found);
            wide_phrases(inner, &mut found);
            continue;
        }
        if !token.starts_with(char::is_alphanumeric) {
            flush(&mut run, &mut found);
        }
        if is_name(&word) {
            run.push(word);
        } else {
            flush(&mut run, &mut found);
        }
        if !token.ends_with(char::is_alphanumeric) || inner.len() > 2 && (inner.ends_with("'s") || inner.ends_with("’s")) {
            flush(&mut run, &mut found);
        }
    }
    flush(&mut run, &mut found);
}

/// Ends a run: passes on its last words, without verbs at its ends.
fn flush(run: &mut Vec<String>, found: &mut impl FnMut(String)) {
    let edge = |word: &String| is_edge(word);
    let start = run.iter().position(|word| !edge(word)).unwrap_or(run.len());
    let end = run.iter().rposition(|word| !edge(word)).map_or(start, |last| last + 1);
    let end = (start..end).rev().find(|last| end - start == 1 || !is_participle(&run[*last])).map_or(start, |last| last + 1);
    let words = &run[start..end];
    let words = &words[words.len().saturating_sub(PHRASE_WORDS)..];
    if words.len() > 1 || words.iter().any(|word| word.chars().count() > 3) {
        found(words.join(" "));
    }
    run.clear();
}

/// Returns true if a lowercase word can be a part of a phrase.
fn is_name(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '’' | '+' | '#'));
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    plain && letters >= 2 && digits <= 3 && word.chars().count() <= WORD_CHARACTERS && !is_stop_word(word) && !is_break(word)
}

/// Returns true if a lowercase word is a function word of a European language, or one of a conversation.
fn is_break(word: &str) -> bool {
    static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| BREAKS.split_whitespace().collect());
    WORDS.contains(word) || word.contains(['\'', '’'])
}

/// Returns true if a lowercase word does not begin or end a phrase: a verb or an adverb.
fn is_edge(word: &str) -> bool {
    static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| EDGES.split_whitespace().collect());
    WORDS.contains(word)
}

/// Returns true if an English word has the form of a participle: at the end of a phrase it is a verb.
fn is_participle(word: &str) -> bool {
    word.is_ascii() && word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
}

/// Returns true for characters of languages that do not separate words by spaces.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Passes on the runs of ideographs and Katakana between function characters: most of them are nouns.
fn wide_phrases(text: &str, found: &mut impl FnMut(String)) {
    const FUNCTION: &str =
        "的了是我你您他她它们在和与或及把被给这那哪有没不要吗呢吧就都也还请让用对从到为以会能可将并但而后前上下中个些么什怎";
    let parts = text.split(|c: char| FUNCTION.contains(c) || !is_wide(c) || matches!(c, '\u{3040}'..='\u{309f}' | '\u{30fb}'));
    for part in parts.filter(|part| (2..=10).contains(&part.chars().count())) {
        found(part.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::content::rules::tests::SENTENCES;

    fn check_phrases(sentence: &str, expected: &[&str]) {
        let mut found = Vec::new();
        phrases(sentence, |phrase| found.push(phrase));
        assert_eq!(found, expected, "{sentence}");
    }

    #[test]
    fn phrases_are_nouns_between_stop_words() {
        check_phrases("create a draft PR for the telemetry opt-out, please", &["draft pr", "telemetry opt-out"]);
        check_phrases("Migriere die Datenbank auf das neue Schema", &["datenbank", "schema"]);
        check_phrases("Let's fix it", &[]);
        check_phrases("データベースの移行を確認してください", &["データベース", "移行", "確認"]);
        check_phrases("see src/a.rs and 4f3a9b21c7", &[]);
    }

    #[test]
    fn a_heading_is_a_phrase() {
        assert_eq!(heading("# Plan: Split the session store").as_deref(), Some("split the session store"));
        assert_eq!(heading("#12"), None);
    }

    fn check_rules(text: &str, expected: &[&str]) {
        let conventions = Conventions { answer_marks: vec!["\"=\""], ..Conventions::default() };
        let mut block = Block::new(BlockKind::Text, Role::User);
        block.words = vec![(0, text.len() as u32)].into();
        add(&mut block, &conventions, text);
        assert_eq!(block.rules().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn every_rule_of_the_user_is_an_excerpt() {
        for (sentence, rule) in SENTENCES {
            let expected = [sentence.trim_matches('"')];
            check_rules(sentence, &expected[..usize::from(rule.is_some())]);
        }
    }

    #[test]
    fn a_document_and_a_question_state_no_rules() {
        check_rules("Use tabs.", &["Use tabs."]);
        let plan = "# Plan: split the store\n\nUse one table.\n\n## Tests\n\nNever use the network. From now on, use tabs.";
        check_rules(plan, &[]);
        check_rules("\"Should we never do this or always?\"=\"Use the second table\"", &["Use the second table"]);
    }
}
