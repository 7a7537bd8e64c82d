//! Hits of a search: `path:12:text`, by file, each file named once.

use super::cause::is_message;
use super::lines::{are_most_lines, lines};
use super::output::is_of_program;
use super::{Piece, Reducible};
use crate::model::{BlockKind, ToolVerb};
use std::borrow::Cow;

/// Share of the lines that must be hits, in percent.
const HITS_PERCENT: usize = 60;

/// Returns true for output of `grep`, `rg` and the search tools of clients.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    let searches = input.tool.is_some_and(|tool| matches!(tool.verb, ToolVerb::Search | ToolVerb::Run));
    // The messages of a compiler are not hits.
    let is_program = is_of_program(input);
    let is_hit = |line: &str| hit(line).is_some() && !(is_program && is_message(line, false));
    input.kind == BlockKind::ToolResult && searches && are_most_lines(input.content, is_hit, 3, HITS_PERCENT)
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut file: Option<(String, usize)> = None;
    for line in lines(input.content) {
        let Some((path, number, text)) = hit(&line) else {
            if line.trim() != "--" {
                pieces.push(Piece::line(line));
                file = None;
            }
            continue;
        };
        let heading = match &file {
            Some((known, heading)) if known == path => *heading,
            _ => {
                file = Some((path.to_owned(), pieces.len()));
                pieces.push(Piece { lines: 0, ..Piece::line(Cow::Owned(path.to_owned())) });
                pieces.len() - 1
            }
        };
        let text = Cow::Owned(format!("{number}: {}", text.trim()));
        pieces.push(Piece { under: Some(heading), ..Piece::line(text) });
    }
    pieces
}

/// Returns the path, the line number and the text of a match or of a context line.
pub(super) fn hit(line: &str) -> Option<(&str, u32, &str)> {
    for mark in [':', '-'] {
        let mut start = 0;
        while let Some(at) = line[start..].find(mark).map(|at| start + at) {
            let rest = &line[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && rest[digits..].starts_with(mark) && is_path(&line[..at]) {
                return Some((&line[..at], rest[..digits].parse().ok()?, &rest[digits + 1..]));
            }
            start = at + 1;
            if start > 300 {
                break;
            }
        }
    }
    None
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(' ') && text.contains(['/', '.']) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use super::*;

    #[test]
    fn a_file_is_named_once() {
        check_pieces(
            "search",
            ToolVerb::Search,
            "src/a.rs:12:    let x = 1;\nsrc/a.rs-13-    next();\n--\nsrc/b-2.rs:3:fn y() {}",
            "src/a.rs\n12: let x = 1;\n13: next();\nsrc/b-2.rs\n3: fn y() {}",
        );
    }

    #[test]
    fn other_lines_are_not_hits() {
        for line in ["12:30:01 started", "error: no", "https://a.b:80/x", ""] {
            assert_eq!(hit(line), None, "{line}");
        }
    }
}
