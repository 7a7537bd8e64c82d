//! Diffs: added and removed lines, under their file and position; the context lines are removed first.

use super::lines::lines;
use super::{Piece, Reducible};
use crate::model::BlockKind;

/// Salience of a changed line, and of a line next to one.
const CHANGED: f32 = 0.000_3;

/// Returns true for output of `git diff`, `git show` and `diff -u`.
pub(super) fn fits(input: &Reducible<'_>) -> bool {
    let starts = |start: &str| input.content.lines().any(|line| line.starts_with(start));
    input.kind == BlockKind::ToolResult && starts("@@ -") && (starts("diff --git ") || starts("--- "))
}

pub(super) fn pieces<'a>(input: &Reducible<'a>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let (mut file, mut place) = (None, None);
    for line in lines(input.content) {
        // The first line about a file names it twice already.
        let named = file.is_some() && place.is_none();
        if named && ["index ", "--- ", "+++ ", "new file mode", "deleted file mode"].iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let (under, salience) = match line.as_bytes().first() {
            _ if line.starts_with("diff --git ") || line.starts_with("--- ") && place.is_none() => {
                (file, place) = (Some(pieces.len()), None);
                (None, 0.0)
            }
            _ if line.starts_with("@@ ") => {
                place = Some(pieces.len());
                (file, 0.0)
            }
            Some(b'+' | b'-') if place.is_some() && line.contains(char::is_alphanumeric) => (place, CHANGED),
            Some(b' ' | b'+' | b'-') | None if place.is_some() => (place, 0.0),
            _ => {
                (file, place) = (None, None);
                (None, 0.0)
            }
        };
        pieces.push(Piece { under, salience, ..Piece::line(line) });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::check_pieces;
    use super::*;
    use crate::model::ToolVerb;

    #[test]
    fn a_file_is_named_once() {
        check_pieces(
            "difference",
            ToolVerb::Run,
            "commit 12\n\ndiff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n-a\n+b\n c",
            "commit 12\n\ndiff --git a/x.rs b/x.rs\n@@ -1,2 +1,2 @@\n-a\n+b\n c",
        );
    }

    #[test]
    fn a_changed_line_without_words_tells_nothing() {
        let content = "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n-\n+}\n+b";
        let input = Reducible::plain(BlockKind::ToolResult, content);
        let salience: Vec<bool> = pieces(&input).iter().map(|piece| piece.salience > 0.0).collect();
        assert_eq!(salience, [false, false, false, false, true]);
    }
}
