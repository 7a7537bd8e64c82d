//! Lists of paths, by directory: `src/engine/ a.rs b.rs`.

use super::lines::{are_most_lines, lines};
use super::{Piece, Reducible};
use crate::model::BlockKind;
use std::borrow::Cow;

/// Share of the lines that must be paths, in percent.
const PATHS_PERCENT: usize = 85;
/// Paths in a list worth the name.
const LEAST_PATHS: usize = 4;

/// Returns true for output of `find`, `ls`, `git ls-files` and tools that find files.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    input.kind == BlockKind::ToolResult && are_most_lines(input.content, is_path, LEAST_PATHS, PATHS_PERCENT)
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut directory: Option<(String, usize)> = None;
    for line in lines(input.content) {
        let parts = if is_path(&line) { line.trim_end_matches('/').rsplit_once('/') } else { None };
        let Some((parent, _)) = parts else {
            pieces.push(Piece::line(line));
            directory = None;
            continue;
        };
        let heading = match &directory {
            Some((known, heading)) if known == parent => *heading,
            _ => {
                directory = Some((parent.to_owned(), pieces.len()));
                pieces.push(Piece { lines: 0, ..Piece::line(Cow::Owned(format!("{parent}/"))) });
                pieces.len() - 1
            }
        };
        let name = Cow::Owned(format!(" {}", &line[parent.len() + 1..]));
        pieces.push(Piece { under: Some(heading), inline: true, ..Piece::line(name) });
    }
    pieces
}

pub(super) fn is_path(line: &str) -> bool {
    let line = line.trim_end();
    line.contains('/') && !line.contains([' ', '\t', '"', '(', '{', ';', '=']) && !line.contains("://") && line.len() <= 300
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use crate::model::ToolVerb;

    #[test]
    fn a_directory_is_named_once() {
        check_pieces(
            "paths",
            ToolVerb::Search,
            "./src/a.rs\n./src/b.rs\n/x/y\n/x/z/\n./src/c.rs",
            "./src/ a.rs b.rs\n/x/ y z/\n./src/ c.rs",
        );
    }
}
