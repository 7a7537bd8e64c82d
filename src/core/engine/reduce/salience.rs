//! Salient lines: errors, totals, headings, declarations, rare names. The salience of lines is defined only here.

use super::Reducible;
use super::lines::{is_numbered, without_number};
use super::outcome::commit;
use crate::model::{BlockKind, ToolVerb};
use crate::text::errors::{is_error, is_warning};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Maximum bytes of a line that are examined.
const LOOK_BYTES: usize = 400;

/// The kind of a text, for rating its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Output of a program: errors, warnings and totals count.
    Output,
    /// A file of code: its declarations count, and the word `error` means nothing.
    Code,
    /// Text of a person or the model: headings count.
    Prose,
}

impl Style {
    pub fn detect(input: &Reducible<'_>) -> Style {
        let (verb, target) = input.tool.map_or((ToolVerb::Other, ""), |tool| (tool.verb, &*tool.target));
        let file = verb.names_file() && !input.error || is_numbered(input.content);
        match input.kind {
            BlockKind::ToolResult if file && [".md", ".txt", ".rst"].iter().any(|end| target.ends_with(end)) => Style::Prose,
            BlockKind::ToolResult if file => Style::Code,
            BlockKind::ToolResult | BlockKind::Other => Style::Output,
            _ if file => Style::Code,
            _ => Style::Prose,
        }
    }
}

/// Kind of a salient line, the most salient last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// It begins a part of a text.
    Heading,
    Warning,
    /// It names a function, a type or the like.
    Declaration,
    Total,
    Error,
}

/// Returns the kind of a salient line; `None` if the line is not salient.
pub fn line_kind(line: &str, style: Style) -> Option<LineKind> {
    let text = without_number(line).trim();
    // A very long line is data.
    let text = &text[..text.floor_char_boundary(LOOK_BYTES)];
    if style == Style::Code {
        return declaration(text).map(|_| LineKind::Declaration);
    }
    if !outcomes(text).is_empty() || commit(text).is_some() {
        return Some(LineKind::Total);
    }
    if is_error(text) || has_failed_cell(text) {
        return Some(LineKind::Error);
    }
    if is_warning(text) {
        return Some(LineKind::Warning);
    }
    if heading(text).is_some() {
        return Some(LineKind::Heading);
    }
    (style == Style::Output && declaration(text).is_some()).then_some(LineKind::Declaration)
}

/// Cells of a table in which a check that failed is named.
const FAILED_CELLS: &[&str] = &["fail", "failed", "failure", "error", "FAIL", "FAILED", "FAILURE", "ERROR"];

/// True for the row of a table that says in a cell of its own that something failed.
pub(super) fn has_failed_cell(line: &str) -> bool {
    let cells = || line.split(['\t', '|', '│']).flat_map(|part| part.split("  "));
    ["fail", "error", "FAIL", "ERROR"].iter().any(|word| line.contains(word))
        && cells().nth(1).is_some()
        && cells().any(|cell| FAILED_CELLS.contains(&cell.trim()))
}

/// Words that follow a number in the totals of programs.
const OUTCOMES: &[&str] = &[
    "passed", "passing", "failed", "failing", "failures", "failure", "skipped", "errors", "error", "warnings", "warning",
    "insertions", "insertion", "deletions", "deletion", "vulnerabilities", "problems",
];

static OUTCOME_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(OUTCOMES).ok());

/// Returns the numbers of a total and their nouns: `12 passed`, `1 failed`; empty for a line that is not a total.
pub fn outcomes(line: &str) -> Vec<(u64, &'static str)> {
    if !line.bytes().any(|byte| byte.is_ascii_digit()) || !OUTCOME_WORDS.as_ref().is_some_and(|words| words.is_match(line)) {
        return Vec::new();
    }
    let words: Vec<&str> = line.split_whitespace().take(40).collect();
    let is_mark = |c: char| !c.is_ascii_alphanumeric();
    let pairs = words.windows(2).filter_map(|pair| {
        let word = pair[1].split(is_mark).next()?;
        let word = OUTCOMES.iter().find(|known| **known == word)?;
        // `#12 failed` is an issue.
        let number = pair[0].trim_start_matches(|c| is_mark(c) && c != '#');
        Some((number.parse().ok()?, *word))
    });
    pairs.collect()
}

/// The exit code that a result reports at its beginning or end, unless it is 0.
pub fn exit_code<'a>(lines: impl DoubleEndedIterator<Item = &'a str> + Clone) -> Option<u32> {
    let ends = lines.clone().take(2).chain(lines.rev().take(3));
    let codes = ends.filter_map(|line| {
        let lower: String = line.chars().take(80).collect::<String>().to_ascii_lowercase();
        let rest = ["exit code", "exited with code", "exit status"].iter().find_map(|words| {
            lower.find(words).map(|place| lower[place + words.len()..].trim_start_matches([':', ' ']).to_owned())
        })?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    codes.into_iter().find(|code| *code != 0)
}

/// The text of a heading: Markdown, or a line of capitals between marks.
pub fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&marks) {
        return line[marks..].strip_prefix(' ').map(|text| text.trim_matches(['#', ' '])).filter(|text| !text.is_empty());
    }
    let between = line.strip_prefix("===").and_then(|rest| rest.strip_suffix("===")).map(|text| text.trim_matches(['=', ' ']));
    between.or_else(|| line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"))).filter(|text| !text.is_empty())
}

/// Words that may precede the keyword of a declaration.
const MODIFIERS: &[&str] = &[
    "pub", "export", "default", "async", "static", "public", "private", "protected", "internal", "final", "abstract", "unsafe",
    "inline", "declare", "override",
];
/// Keywords of declarations of many languages.
const KEYWORDS: &[&str] = &[
    "fn", "def", "class", "struct", "enum", "trait", "interface", "impl", "func", "function", "fun", "module", "namespace",
    "type", "macro_rules!", "#define",
];

/// The keyword and the name of a declaration: `fn login`, `class User`.
pub fn declaration(line: &str) -> Option<String> {
    let mut rest = line.trim_start();
    // All words that may begin one do so; most lines end here.
    if !rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '#') {
        return None;
    }
    loop {
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | '<')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if MODIFIERS.contains(&word) {
            // pub(crate)
            let after = after.strip_prefix('(').map_or(after, |inner| inner.split_once(')').map_or("", |(_, after)| after));
            rest = after.trim_start();
            continue;
        }
        // const fn
        if word == "const" && after.trim_start().starts_with("fn ") {
            rest = after.trim_start();
            continue;
        }
        if !KEYWORDS.contains(&word) || !after.starts_with([' ', '\t', '<']) {
            return None;
        }
        let mut after = after.trim_start();
        // func (receiver) Name
        if let Some(receiver) = after.strip_prefix('(') {
            after = receiver.split_once(')').map_or("", |(_, after)| after.trim_start());
        }
        if word == "impl" || after.starts_with('<') {
            after = after.strip_prefix('<').and_then(|rest| rest.split_once("> ")).map_or(after, |(_, after)| after);
        }
        let name_end = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | ':' | '.'));
        let name = after[..name_end.unwrap_or(after.len())].trim_end_matches([':', '.']);
        // The text after the name distinguishes code from a sentence.
        let next = after[name_end.unwrap_or(after.len())..].trim_start();
        let is_code = word.starts_with('#')
            || next.is_empty()
            || !next.starts_with(char::is_alphanumeric)
            || word == "impl"
            || AFTER_NAMES.iter().any(|clause| next.starts_with(clause));
        return (is_code && name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$'))
            .then(|| format!("{word} {name}"));
    }
}

/// Words that may follow the name of a declaration.
const AFTER_NAMES: &[&str] = &["extends ", "implements ", "for ", "where ", "struct", "interface", "from "];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_signs() {
        for (line, style, expected) in [
            ("error[E0308]: mismatched types", Style::Output, Some(LineKind::Error)),
            ("src/a.rs:1:2: error: no", Style::Output, Some(LineKind::Error)),
            ("Exit code 101", Style::Output, Some(LineKind::Error)),
            ("    12→    return Err(Error: x)", Style::Code, None),
            ("warning: unused variable", Style::Output, Some(LineKind::Warning)),
            ("test result: FAILED. 12 passed; 1 failed; 0 ignored", Style::Output, Some(LineKind::Total)),
            (" 3 files changed, 10 insertions(+), 2 deletions(-)", Style::Output, Some(LineKind::Total)),
            ("[main 1a2b3c4] Round once", Style::Output, Some(LineKind::Total)),
            ("build\tfail\t1m29s\thttps://a.b/c", Style::Output, Some(LineKind::Error)),
            ("  12:5  error  No semicolon  semi", Style::Output, Some(LineKind::Error)),
            ("| build | failed |", Style::Output, Some(LineKind::Error)),
            ("| build | Failed | it can fail |", Style::Output, None),
            ("## Usage", Style::Prose, Some(LineKind::Heading)),
            ("**Steps**", Style::Prose, Some(LineKind::Heading)),
            ("#include <a.h>", Style::Code, None),
            ("   3→pub fn a() {", Style::Code, Some(LineKind::Declaration)),
            ("function of the liver", Style::Prose, None),
            ("", Style::Output, None),
            ("plain words", Style::Output, None),
        ] {
            assert_eq!(line_kind(line, style), expected, "{line}");
        }
    }

    #[test]
    fn declarations_are_named() {
        for (line, expected) in [
            ("pub(crate) async fn login<T>(user: T) -> bool {", Some("fn login")),
            ("const fn two() -> u8 { 2 }", Some("fn two")),
            ("export default class UserList extends List {", Some("class UserList")),
            ("    def __init__(self):", Some("def __init__")),
            ("func (s *Server) Run(ctx context.Context) error {", Some("func Run")),
            ("impl<'a> Display for Price {", Some("impl Display")),
            ("#define MAX 3", Some("#define MAX")),
            ("class of problems that we know", None),
            ("fn", None),
            ("pub(", None),
            ("let x = 3;", None),
            ("", None),
        ] {
            assert_eq!(declaration(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn exit_codes_are_found_at_the_ends() {
        for (text, expected) in [
            ("Exit code 1\nout", Some(1)),
            ("out\nProcess exited with code: 137", Some(137)),
            ("exit status 0", None),
            ("a\nb\nexit code 3\nd\ne\nf", None),
            ("exit code", None),
        ] {
            assert_eq!(exit_code(text.lines()), expected, "{text}");
        }
    }
}
