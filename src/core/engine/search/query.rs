//! The query of a search.

use super::terms::keys_of;
use crate::model::words;
use crate::text::stop_words::is_function_word;
use crate::text::words::Word;
use regex::bytes::Regex;

/// Words of a query that are searched; more tell nothing.
const TERMS: usize = 32;

/// The same of a text: a bit of 64 for each.
const TEXT_TERMS: usize = 64;

words! {
    /// A property of what is found.
    pub enum QueryField {
        /// The speaker: `user`, `agent` or `tool`.
        Role = "role",
        /// The name of a tool.
        Tool = "tool",
        /// A part of the path of a file.
        Path = "path",
        /// A directory.
        Project = "project",
        /// The name of a client.
        Client = "client",
        /// `prompt`, `answer`, `call`, `result` or `summary`.
        Kind = "kind",
        /// The first day.
        Since = "since",
        /// The last day.
        Until = "until",
    }
}

/// The reason why a text is not a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the query has no words")]
    Empty,
    #[error("the query has only words to leave out")]
    OnlyNegative,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word as it was typed.
    pub text: String,
    /// The form that all of its forms share; of words that are searched in its place, one for each.
    pub keys: Vec<String>,
    /// False for an identifier of several parts: the parts are terms of their own.
    pub is_needed: bool,
    /// True if it is written as one word, with an underscore or a hyphen: a text with its parts alone does not have it.
    pub is_joined: bool,
    /// True if nothing has it, and words like it are searched.
    pub is_replaced: bool,
}

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub terms: Vec<Term>,
    /// The number of words that are not searched, because there are too many.
    pub ignored: usize,
    /// Texts that must occur as they are, but for their case.
    pub phrases: Vec<String>,
    /// Words and phrases that must not occur.
    pub without: Vec<String>,
    pub fields: Vec<(QueryField, String)>,
    /// Names before a colon that are not fields: they are words.
    pub unknown_fields: Vec<String>,
    /// The days before today that words such as `last week` name, the first and the last: turns of these days are preferred.
    pub days_ago: Option<(i64, i64)>,
}

impl Query {
    /// Parses a query: words, `"a phrase"`, `-without`, `field:value`.
    /// Errors: it has nothing to search for.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let mut query = Query::default();
        let mut words = String::new();
        for token in tokens(text) {
            let (is_without, rest) = match token.strip_prefix('-') {
                Some(rest) if rest.starts_with(|first: char| first == '"' || first.is_alphanumeric()) => (true, rest),
                _ => (false, token),
            };
            let phrase = rest.strip_prefix('"').map(|rest| rest.trim_end_matches('"').trim());
            match (phrase, field(rest)) {
                _ if is_without => query.without.push(phrase.unwrap_or(rest).to_lowercase()),
                (Some(phrase), _) if !phrase.is_empty() => {
                    query.phrases.push(phrase.to_lowercase());
                    words.extend([phrase, " "]);
                }
                (_, Some(field)) => query.fields.push(field),
                _ => {
                    query.unknown_fields.extend(unknown_field(token));
                    words.extend([token, " "]);
                }
            }
        }
        query.terms = terms(&words);
        query.terms.extend(joined(&words, &query.terms));
        query.ignored = query.terms.len().saturating_sub(TERMS);
        query.terms.truncate(TERMS);
        if let Some((days, named)) = days_ago(&words.to_lowercase()) {
            query.days_ago = Some(days);
            let is_named = |term: &Term| named.contains(&term.text);
            // A query of nothing but days searches for their words.
            if !query.terms.iter().all(is_named) {
                query.terms.iter_mut().filter(|term| is_named(term)).for_each(|term| term.is_needed = false);
            }
        }
        match query.terms.is_empty() {
            false => Ok(query),
            true if !query.without.is_empty() => Err(QueryError::OnlyNegative),
            true => Err(QueryError::Empty),
        }
    }

    /// Returns the query for what a text is about: its words, none of which is an operator.
    pub fn of_text(text: &str) -> Query {
        let mut terms = terms(text);
        terms.truncate(TEXT_TERMS);
        Query { terms, ..Query::default() }
    }

    /// Returns true if it has no words but those that nearly every sentence has: they are not indexed.
    pub fn is_common(&self) -> bool {
        self.terms.iter().filter(|term| !term.is_joined).all(|term| is_function_word(&term.text))
    }

    pub fn matcher(&self) -> Matcher<'_> {
        let keys: Vec<String> = self.terms.iter().flat_map(|term| &term.keys).map(|key| literal(key)).collect();
        // For a few words, it looks at many bytes at once.
        let words = if keys.is_empty() { None } else { Regex::new(&format!("(?i-u:{})", keys.join("|"))).ok() };
        Matcher { terms: &self.terms, words }
    }
}

/// Returns the expression of a text, byte by byte.
fn literal(text: &str) -> String {
    let byte = |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("\\x{byte:02x}") };
    text.bytes().map(byte).collect()
}

/// Days, weeks and months, as they are named before `ago`; a month has 30 days.
const UNITS: [(&str, i64); 3] = [("day", 1), ("week", 7), ("month", 30)];

/// Returns the days before today that a lowercase text names, the first and the last, and the words that name them.
fn days_ago(text: &str) -> Option<((i64, i64), Vec<String>)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let unit = |word: &str| UNITS.iter().find(|(name, _)| word.trim_end_matches('s') == *name).map(|(_, days)| *days);
    let find = |at: usize| match &words[at..] {
        ["today", ..] => Some(((0, 0), 1)),
        ["yesterday", ..] => Some(((1, 1), 1)),
        ["this", name, ..] => Some(((0, unit(name)?), 2)),
        // From the start of the last one to today at most.
        ["last", name, ..] => Some(((0, 2 * unit(name)?), 2)),
        [count, name, "ago", ..] => {
            let count: i64 = if matches!(*count, "a" | "one") { 1 } else { count.parse().ok()? };
            let days = unit(name)?;
            let ago = count.checked_mul(days)?;
            Some(((ago - days, ago + days), 3))
        }
        _ => None,
    };
    let (at, (days, count)) = (0..words.len()).find_map(|at| Some((at, find(at)?)))?;
    Some((days, words[at..at + count].iter().map(|word| (*word).to_owned()).collect()))
}

fn field(token: &str) -> Option<(QueryField, String)> {
    let (name, value) = token.split_once(':')?;
    let name = QueryField::from_name(name)?;
    Some((name, value.trim_matches('"').to_owned())).filter(|(_, value)| !value.is_empty())
}

/// Returns a query without its fields.
pub fn without_fields(text: &str) -> String {
    tokens(text).into_iter().filter(|token| field(token).is_none()).collect::<Vec<_>>().join(" ")
}

/// Divides a query at white space, but not within quotation marks.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        is_quoted ^= letter == '"';
        if letter.is_whitespace() && !is_quoted {
            tokens.push(&text[start..at]);
            start = at + letter.len_utf8();
        }
    }
    tokens.push(&text[start..]);
    tokens.retain(|token| !token.is_empty());
    tokens
}

/// Returns the distinct terms of a text; without those that nearly every sentence has, if there are others.
fn terms(text: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    keys_of(text, |word, key| {
        let text = word.text().to_lowercase();
        let is_compound = matches!(word, Word::Whole(word) if word.is_ascii() && word.bytes().any(|byte| byte.is_ascii_alphabetic()) && !is_one_part(word));
        if terms.iter().all(|known| known.keys[0] != key) {
            let is_joined = is_compound && text.contains('_');
            terms.push(Term { text, keys: vec![key.to_owned()], is_needed: !is_compound, is_joined, is_replaced: false });
        }
    });
    if terms.iter().any(|term| !is_function_word(&term.text)) {
        terms.retain(|term| !is_function_word(&term.text));
    }
    if terms.iter().all(|term| !term.is_needed) {
        terms.iter_mut().for_each(|term| term.is_needed = true);
    }
    terms
}

/// Returns the words of a text that hyphens join, such as `web-12`, as far as their parts are terms: texts are indexed by the parts.
fn joined(text: &str, terms: &[Term]) -> Vec<Term> {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let words = text.split(|letter| !is_inner(letter)).map(|word| word.trim_matches(['-', '_']).to_lowercase());
    let is_one = |word: &String| {
        let mut is_known = false;
        keys_of(word, |_, key| is_known |= terms.iter().any(|term| term.keys[0] == key && !is_function_word(&term.text)));
        is_known && word.contains('-') && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let mut joined: Vec<Term> = Vec::new();
    for word in words.filter(is_one) {
        if joined.iter().all(|known| known.text != word) {
            let keys = vec![word.clone()];
            joined.push(Term { text: word, keys, is_needed: false, is_joined: true, is_replaced: false });
        }
    }
    joined
}

/// Returns the name before the colon of a word that looks like a field of a query, not like a path, an address, a time or a port.
fn unknown_field(token: &str) -> Option<String> {
    let (name, value) = token.split_once(':')?;
    let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_value = value.starts_with(|first: char| first.is_alphanumeric() || first == '"');
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    (is_name && is_value && !is_number).then(|| name.to_owned())
}

/// Returns true if an identifier has one part of two letters or more, such as `E0599`: the part alone says little.
fn is_one_part(word: &str) -> bool {
    let mut long = 0;
    crate::text::words::parts(word, |part| long += usize::from(part.len() > 1));
    long < 2
}

/// Finds the words of a query in texts.
#[derive(Debug)]
pub struct Matcher<'a> {
    terms: &'a [Term],
    /// Finds the keys of all terms.
    words: Option<Regex>,
}

impl Matcher<'_> {
    /// Returns true if JSON could contain a word of the query: it can escape other letters than those of ASCII.
    pub fn could_match(&self, json: &[u8]) -> bool {
        let is_ascii = self.terms.iter().flat_map(|term| &term.keys).all(|key| key.is_ascii());
        !is_ascii || self.words.as_ref().is_some_and(|words| words.is_match(json))
    }

    /// Calls `found` with each word of the query in a text: the index of its term, its place, and if it has the form of the query.
    pub fn find(&self, text: &str, mut found: impl FnMut(usize, std::ops::Range<usize>, bool)) {
        let Some(words) = &self.words else { return };
        let bytes = text.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte >= 0x80;
        let (mut end, mut at) = (0, 0);
        while let Some(hit) = words.find_at(bytes, at) {
            // All words of a run of names are compared at once.
            let start = bytes[..hit.start()].iter().rposition(|byte| !is_name(*byte)).map_or(0, |at| at + 1).max(end);
            end = bytes[hit.start()..].iter().position(|byte| !is_name(*byte)).map_or(bytes.len(), |length| hit.start() + length);
            at = end.max(hit.start() + 1);
            let run = &text[start..end];
            keys_of(run, |word, key| {
                let offset = word.text().as_ptr() as usize - run.as_ptr() as usize + start;
                for (index, _) in self.terms.iter().enumerate().filter(|(_, term)| term.keys.iter().any(|known| known == key)) {
                    let is_exact = word.text().eq_ignore_ascii_case(&self.terms[index].text)
                        || word.text().to_lowercase() == self.terms[index].text;
                    found(index, offset..offset + word.text().len(), is_exact);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, proptest};

    fn words_of(query: &str) -> Vec<String> {
        Query::parse(query).unwrap().terms.into_iter().filter(|term| term.is_needed).map(|term| term.text).collect()
    }

    #[test]
    fn a_query_has_words_phrases_exceptions_and_fields() {
        let query = Query::parse(r#"where flaky "login test" -draft role:user path:src/a.rs"#).unwrap();
        let terms: Vec<&str> = query.terms.iter().map(|term| term.text.as_str()).collect();
        assert_eq!(terms, ["flaky", "login", "test"]);
        assert_eq!((query.phrases, query.without), (vec!["login test".to_owned()], vec!["draft".to_owned()]));
        assert_eq!(query.fields, [(QueryField::Role, "user".to_owned()), (QueryField::Path, "src/a.rs".to_owned())]);
        assert_eq!(words_of("std::fmt http://a 12:30"), ["std", "fmt", "http", "12", "30"]);
        assert_eq!(
            without_fields(r#"flaky "login test" -draft  role:user path:"a b" std::fs"#),
            r#"flaky "login test" -draft std::fs"#
        );
    }

    #[test]
    fn a_name_that_is_no_field_is_a_word_and_is_told() {
        let unknown = |text: &str| Query::parse(text).unwrap().unknown_fields;
        assert_eq!(unknown("file:push.rs author:ann cart"), ["file", "author"]);
        assert_eq!(words_of("file:push.rs cart"), ["file", "push", "rs", "cart"]);
        assert_eq!(
            unknown(r#"std::fs https://a.example/b 12:30 localhost:8080 a.rs:12 C:\cart role:user "file:x" -file:x Note:"#),
            [""; 0]
        );
    }

    #[test]
    fn an_identifier_is_its_parts_and_itself() {
        assert_eq!(words_of("parse_rows"), ["parse", "rows"]);
        assert!(Query::parse("parse_rows").unwrap().terms.iter().any(|term| term.keys == ["parse_rows"] && !term.is_needed));
        assert_eq!(words_of("E0599"), ["e0599"]);
    }

    #[test]
    fn a_word_with_hyphens_is_its_parts_and_itself() {
        let joined = |text: &str| {
            let terms = Query::parse(text).unwrap().terms;
            terms.into_iter().filter(|term| term.is_joined).map(|term| term.text).collect::<Vec<_>>()
        };
        assert_eq!(words_of("the WEB-12 ticket"), ["web", "12", "ticket"]);
        assert_eq!(joined("the WEB-12 ticket, pre-commit; --no-verify web-12"), ["web-12", "pre-commit", "no-verify"]);
        assert_eq!(joined("parse_rows a-b 2026-11-19 to-do - 修复"), ["parse_rows"]);
    }

    #[test]
    fn days_in_words_are_preferred_and_not_needed() {
        let days = |text: &str| Query::parse(text).unwrap().days_ago;
        assert_eq!(days("flaky test yesterday"), Some((1, 1)));
        assert_eq!(days("Last Week login"), Some((0, 14)));
        assert_eq!(days("login 3 weeks ago"), Some((14, 28)));
        assert_eq!(days("the last login"), None);
        assert_eq!(words_of("login last week"), ["login"]);
        assert_eq!(words_of("last week"), ["last", "week"]);
    }

    #[test]
    fn common_words_are_searched_only_alone() {
        assert_eq!(words_of("why is it slow"), ["slow"]);
        assert_eq!(words_of("to be or not to be"), ["to", "be", "or", "not"]);
        assert!(Query::parse("to be").unwrap().is_common() && !Query::parse("to go").unwrap().is_common());
        for (text, error) in [("", QueryError::Empty), (" ?! ", QueryError::Empty), ("-draft", QueryError::OnlyNegative)] {
            assert_eq!(Query::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn words_are_found_in_all_forms() {
        let query = Query::parse("parse rows").unwrap();
        let mut found = Vec::new();
        let text = "Parsing: parse_rows(rowCount), sparse";
        query.matcher().find(text, |term, place, is_exact| found.push((term, &text[place], is_exact)));
        assert_eq!(found, [(0, "Parsing", false), (0, "parse", true), (1, "rows", true), (1, "row", false)]);
    }

    #[test]
    fn words_with_other_letters_and_marks_are_found_and_no_query_finds_nothing() {
        let found = |query: &Query| {
            let (text, mut found) = ("Die Größe (a.b) von WEB-12", Vec::new());
            query.matcher().find(text, |_, place, _| found.push(text[place].to_owned()));
            (found, query.matcher().could_match(text.as_bytes()))
        };
        let words = ["Größe", "WEB", "12"].map(str::to_owned).to_vec();
        assert_eq!(found(&Query::parse("größe web-12 [x").unwrap()), (words, true));
        assert_eq!(found(&Query::default()), (Vec::new(), false));
        assert_eq!(found(&Query::parse("axb").unwrap()), (Vec::new(), false));
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in any::<String>(), other in any::<String>()) {
            if let Ok(query) = Query::parse(&text) {
                prop_assert!(!query.terms.is_empty());
                query.matcher().find(&other, |_, place, _| assert!(other.is_char_boundary(place.end)));
            }
        }
    }
}
