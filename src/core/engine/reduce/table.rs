//! Tables: rows under their header.

use super::lines::lines;
use super::piece::salience;
use super::salience::Style;
use super::{Piece, Reducible};
use crate::model::BlockKind;

/// Rows of a table worth the name.
const LEAST_ROWS: usize = 5;

/// Returns true for Markdown tables, and the output of databases.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    let mut longest = 0;
    let mut run = 0;
    for line in input.content.lines() {
        run = if is_row(line) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    input.kind == BlockKind::ToolResult && longest >= LEAST_ROWS && longest * 2 >= input.content.lines().count()
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut header = None;
    let style = Style::detect(input);
    for line in lines(input.content) {
        let row = is_row(&line);
        let under = header.filter(|_| row);
        header = if row { header.or(Some(pieces.len())) } else { None };
        pieces.push(Piece { under, salience: salience(&line, style), ..Piece::line(line) });
    }
    pieces
}

/// True if a line has two column marks at least.
fn is_row(line: &str) -> bool {
    line.matches(['|', '│']).count() >= 2
        || !line.trim().is_empty() && line.chars().all(|c| matches!(c, '-' | '+' | '=' | ' ' | '─' | '┼'))
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use crate::model::ToolVerb;

    #[test]
    fn rows_stand_under_their_header() {
        let text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |";
        check_pieces("table", ToolVerb::Run, text, text);
    }
}
