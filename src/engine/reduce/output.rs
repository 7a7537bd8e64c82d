//! What commands print: builds, tests, logs, stack traces. Lines that only repeat a form count once, frames of libraries little.

use super::piece::line_pieces;
use super::telling::Style;
use super::{Piece, Reducer, Reducible};
use crate::model::BlockKind;
use rustc_hash::FxHashSet;

/// Parts of the paths of code that is not the user's own.
const LIBRARIES: &[&str] =
    &["node_modules/", "site-packages/", "/rustc/", ".cargo/registry", "/usr/lib/", "node:internal", "java.base/", "go/pkg/mod/"];
/// How the line of a frame begins.
const FRAMES: &[&str] = &["at ", "File \"", "in ", "from "];

/// Any output of a command.
pub(super) struct Output;

impl Reducer for Output {
    fn name(&self) -> &'static str {
        "output"
    }

    fn fits(&self, input: &Reducible<'_>) -> bool {
        input.kind == BlockKind::ToolResult && Style::of(input) == Style::Output
    }

    fn pieces<'a>(&self, input: &Reducible<'a>) -> Vec<Piece<'a>> {
        let mut pieces = line_pieces(input.content, Style::Output);
        let mut forms: FxHashSet<String> = FxHashSet::default();
        for piece in &mut pieces {
            let line = piece.text.trim();
            let frame = FRAMES.iter().any(|start| line.starts_with(start));
            piece.again = frame && LIBRARIES.iter().any(|part| line.contains(part)) || !forms.insert(form(line));
            if piece.again {
                piece.tells /= 4.0;
            }
        }
        pieces
    }
}

/// A line without what differs between lines of one form: its numbers, and the digits of its hashes.
fn form(line: &str) -> String {
    let mut form = String::with_capacity(line.len());
    for c in line.chars() {
        match c.is_ascii_digit() {
            true if form.ends_with('0') => {}
            true => form.push('0'),
            false => form.push(c),
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tool, ToolVerb};

    #[test]
    fn lines_of_one_form_count_once() {
        let target = "cargo test".into();
        let tool = Tool { name: "Bash".into(), verb: ToolVerb::Run, target, scope: 0, whole: true, parameters: 1 };
        let content = "step 1 of 20\nstep 12 of 20\nerror: no\n    at main (/a/node_modules/x.js:1:2)\nstep by step";
        let input = Reducible { kind: BlockKind::ToolResult, tool: Some(&tool), error: false, images: &[], content };
        let again: Vec<bool> = Output.pieces(&input).iter().map(|piece| piece.again).collect();
        assert_eq!(again, [false, true, false, true, false]);
    }
}
