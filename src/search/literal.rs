//! Searches the bytes of files, without an index.

use super::find::{Filter, Selection};
use super::source::{Source, SourceKind};
use crate::engine::mask;
use crate::engine::search::{Excerpt, cut_line};
use crate::fsio::Disk;
use crate::workspace::{TracePosition, each_line};
use rayon::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::io;
use std::path::Path;

/// Bytes of memory that a pattern may need.
const PATTERN_BYTES: usize = 4 << 20;
const LINES_OF_FILE: usize = 5;

/// The reason why a pattern cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    #[error("{0}")]
    Syntax(String),
    #[error("every text has it")]
    Everywhere,
    #[error("the expression is too large: it needs more than {} MB when compiled", PATTERN_BYTES >> 20)]
    TooLarge,
}

/// A text or a regular expression.
pub struct Pattern {
    text: Regex,
    /// Finds it in the JSON of a file; `None` if escapes make that impossible: each row is decoded.
    encoded: Option<Regex>,
}

impl Pattern {
    /// Returns the pattern of a text.
    /// Errors: the text is empty or too long.
    pub fn literal(text: &str, ignores_case: bool) -> Result<Pattern, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Everywhere);
        }
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let encoded = regex::escape(quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
        // Some writers escape every character outside ASCII.
        let encoded = if text.is_ascii() { encoded } else { format!("{encoded}|{}", regex::escape(&escaped(text))) };
        Ok(Pattern { text: build(&regex::escape(text), ignores_case)?, encoded: Some(build(&encoded, ignores_case)?) })
    }

    /// Returns the pattern of a regular expression.
    /// Errors: it is not a regular expression, it is too large, or it matches the empty text.
    pub fn regex(text: &str, ignores_case: bool) -> Result<Pattern, PatternError> {
        let text = build(text, ignores_case)?;
        if text.is_match(b"") {
            return Err(PatternError::Everywhere);
        }
        let encoded = regex_syntax::parse(&format!("(?m{}){}", if ignores_case { "i" } else { "" }, text.as_str()));
        let encoded =
            encoded.ok().and_then(|hir| RegexBuilder::new(&in_json(&hir).to_string()).size_limit(PATTERN_BYTES).build().ok());
        Ok(Pattern { text, encoded })
    }
}

/// Returns an expression that finds in JSON whatever another one finds in the text, and perhaps more: each character can be escaped,
/// and what is beside a match can be an escape sequence.
fn in_json(hir: &Hir) -> Hir {
    let escape = || regex_syntax::parse(r#"\\(?:u[0-9a-fA-F]{4}){1,2}|\\[^u]"#).unwrap_or_else(|_| Hir::empty());
    let is_written = |letter: char| letter.is_ascii_graphic() && letter != '"' && letter != '\\' || letter == ' ';
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            Hir::concat(
                text.chars()
                    .map(|letter| match is_written(letter) {
                        true => Hir::literal(letter.to_string().into_bytes()),
                        false => Hir::alternation(vec![Hir::literal(letter.to_string().into_bytes()), escape()]),
                    })
                    .collect(),
            )
        }
        HirKind::Class(Class::Unicode(class))
            if class.iter().all(|range| range.start().is_ascii_alphanumeric() && range.end().is_ascii_alphanumeric()) =>
        {
            hir.clone()
        }
        HirKind::Class(_) => Hir::alternation(vec![hir.clone(), escape()]),
        HirKind::Look(_) | HirKind::Empty => Hir::empty(),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(in_json(&repetition.sub)), ..repetition.clone() })
        }
        HirKind::Capture(capture) => in_json(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(in_json).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(in_json).collect()),
    }
}

fn build(pattern: &str, ignores_case: bool) -> Result<Regex, PatternError> {
    let built = RegexBuilder::new(pattern).case_insensitive(ignores_case).size_limit(PATTERN_BYTES).multi_line(true).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
        error => PatternError::Syntax(error.to_string()),
    })
}

/// Returns a text as JSON in ASCII.
fn escaped(text: &str) -> String {
    let mut json = String::new();
    let mut units = [0; 2];
    for letter in text.chars() {
        if letter.is_ascii() {
            let quoted = serde_json::to_string(&letter).unwrap_or_default();
            json.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        } else {
            letter.encode_utf16(&mut units).iter().for_each(|unit| json.push_str(&format!("\\u{unit:04x}")));
        }
    }
    json
}

/// A line that has a pattern.
#[derive(Debug)]
pub struct FoundLine {
    pub source: usize,
    pub turn: u32,
    /// Its time, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    /// The session that the row names, in a list of prompts.
    pub session: String,
    pub excerpt: Excerpt,
}

/// Returns the lines of sources that have a pattern, in the order of the sources and the newest first, of at most `limit` of them, and the
/// number of rows that have it. `filter` selects texts. Files that cannot be read are passed to `skipped`.
pub fn scan(
    disk: &dyn Disk,
    sources: &[Source],
    chosen: &[usize],
    pattern: &Pattern,
    filter: &Filter,
    limit: usize,
    skipped: &mut dyn FnMut(&Path, io::Error),
) -> (Vec<FoundLine>, usize) {
    let count = |buffer: &mut Vec<u8>, source: &usize| -> io::Result<usize> {
        let source = &sources[*source];
        let Some(encoded) = &pattern.encoded else { return Ok(usize::MAX) };
        let mut rows = 0;
        let count = &mut |line: &[u8]| rows += usize::from(encoded.is_match(&source.line(line)));
        each_line(&mut *disk.open(source.path(), 0)?, buffer, false, count)?;
        Ok(rows)
    };
    let counts: Vec<io::Result<usize>> = chosen.par_iter().map_init(Vec::new, count).collect();
    // A row may have the pattern in a text that is not wanted.
    let counts_rows = pattern.encoded.is_some() && filter.is_open();
    let (mut found, mut files, mut total) = (Vec::new(), 0, 0);
    for (source, rows) in chosen.iter().zip(counts) {
        match rows {
            Err(error) => skipped(sources[*source].path(), error),
            Ok(0) => {}
            Ok(rows) if files >= limit && counts_rows => total += rows,
            Ok(rows) => match lines(disk, sources, *source, pattern, filter) {
                Ok((0, _)) => {}
                Ok((count, lines)) => {
                    total += if counts_rows { rows } else { count };
                    found.extend(lines.into_iter().filter(|_| files < limit));
                    files += 1;
                }
                Err(error) => skipped(sources[*source].path(), error),
            },
        }
    }
    (found, total)
}

/// Returns the number of places of a pattern in a file, and the lines that are shown.
fn lines(
    disk: &dyn Disk,
    sources: &[Source],
    index: usize,
    pattern: &Pattern,
    filter: &Filter,
) -> io::Result<(usize, Vec<FoundLine>)> {
    let source = &sources[index];
    let (mut count, mut found, mut selection) = (0, Vec::new(), Selection::new(filter));
    let is_list = matches!(source.kind, SourceKind::Prompts(..));
    source.read(disk, &mut TracePosition::default(), &mut |_, event| {
        let Some(passage) = selection.passage(&event).filter(|_| filter.is_in_time(event.time)) else { return };
        let texts = [&passage.title, &passage.text];
        let places = |text| pattern.text.find_iter(text).filter(|place| !place.is_empty());
        for (text, place) in texts.iter().flat_map(|text| places(text.as_bytes()).map(move |place| (text, place))) {
            count += 1;
            // Mask before a line is cut out.
            let masked = mask(text);
            let place = if masked.len() == text.len() { Some(place) } else { pattern.text.find(masked.as_bytes()) };
            if let Some(place) = place {
                let excerpt = cut_line(&passage, &masked, place.range());
                // A list of prompts has no turns.
                let (turn, session) = if is_list { (0, event.row.clone()) } else { (event.turn, String::new()) };
                found.push(FoundLine { source: index, turn, time: event.time, session, excerpt });
            }
        }
    })?;
    found.reverse();
    found.dedup_by(|one, other| one.excerpt.line == other.excerpt.line && one.turn == other.turn);
    // A list of prompts holds many sessions.
    found.truncate(if is_list { usize::MAX } else { LINES_OF_FILE });
    Ok((count, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, proptest};

    #[test]
    fn texts_are_found_in_the_forms_that_json_has() {
        let pattern = Pattern::literal("said \"größer\"\n", false).unwrap();
        for json in [r#"he said \"größer\"\n."#, r#"he said \"gr\u00f6\u00dfer\"\n."#] {
            assert!(pattern.encoded.as_ref().unwrap().is_match(json.as_bytes()), "{json}");
        }
        assert!(Pattern::literal("LOGIN", true).unwrap().text.is_match(b"the login"));
    }

    proptest! {
        #[test]
        fn an_expression_finds_in_json_what_it_finds_in_the_text(text in "[a-zß\"\\\\\n\t ]{0,24}", place in 0usize..9) {
            let expressions = ["a.b", r"\ba", "^[a-z]+$", r"\s\w", "(?i)A", r#""."#, r"\\|ß+", "[^a]{2}", "x|a$"];
            let pattern = Pattern::regex(expressions[place], false).unwrap();
            let encoded = pattern.encoded.as_ref().unwrap();
            for json in [serde_json::to_string(&text).unwrap(), format!("\"{}\"", escaped(&text))] {
                prop_assert!(!pattern.text.is_match(text.as_bytes()) || encoded.is_match(json.as_bytes()), "{json}");
            }
        }
    }

    #[test]
    fn an_expression_that_is_too_large_is_refused() {
        assert!(matches!(Pattern::regex("(a{1000}){1000}", false), Err(PatternError::TooLarge)));
        assert!(matches!(Pattern::regex("(", false), Err(PatternError::Syntax(_))));
        for everywhere in ["", "a*", "^", "(?i)(x)?"] {
            assert!(matches!(Pattern::regex(everywhere, false), Err(PatternError::Everywhere)), "{everywhere}");
        }
    }
}
