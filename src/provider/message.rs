//! Messages of a request: what is sent of a window, block by block.

use crate::model::{BlockNumber, Counts};
use std::borrow::Cow;
use std::ops::Range;

const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// Its content blocks in order.
    pub parts: Vec<Part>,
}

/// One content block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is made of.
    pub source: Source,
    /// Whether the reminder tags around its source are taken off.
    pub unwrapped: bool,
    /// Further blocks whose text goes behind that of the source.
    pub added: Vec<Addition>,
    /// The reminder around all of it: what the reminder says before it.
    pub reminder: Option<Lead>,
    /// Whether a line feed follows, because another text of the same message does.
    pub line_feed: bool,
}

/// What a content block of a request is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A block of the session.
    Block(BlockNumber),
    /// A text that the client makes up.
    Text(&'static str),
    /// A failed result that the client makes up for a tool use.
    Result {
        /// The tool use.
        of: BlockNumber,
        /// What it says.
        text: &'static str,
    },
}

/// The client's lead in a reminder before a text of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// How its words begin, by which a text that already has them is known.
    pub start: &'static str,
    /// The line of ours that takes their place.
    pub line: &'static str,
    /// Their size.
    pub counts: Counts,
}

impl Lead {
    /// Nothing before the text.
    pub fn none() -> Lead {
        Lead { start: "", line: "", counts: Counts::default() }
    }
}

/// The part of a content that the client sends and no row records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// Where in the content the line of ours is that takes its place; empty if none does.
    pub line: Range<usize>,
    /// Its size.
    pub counts: Counts,
}

/// A block whose text goes behind that of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The block.
    pub block: BlockNumber,
    /// What stands between.
    pub separator: &'static str,
    /// How its text is changed.
    pub change: Change,
}

/// How the text of an addition is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all.
    None,
    /// The reminder tags around it are taken off.
    Unwrapped,
    /// It is folded into the result of a tool: the blanks around both are taken off.
    Trimmed,
}

impl Part {
    /// A content block that is sent as it is.
    pub fn new(source: Source) -> Part {
        Part { source, unwrapped: false, added: Vec::new(), reminder: None, line_feed: false }
    }

    /// The blocks of the session in it, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockNumber> + '_ {
        let first = match self.source {
            Source::Block(block) => Some(block),
            Source::Text(_) | Source::Result { .. } => None,
        };
        first.into_iter().chain(self.added.iter().map(|addition| addition.block))
    }

    /// What is sent, given the content of each block of the session.
    pub fn text<'a>(&self, content: impl Fn(BlockNumber) -> Cow<'a, str>) -> Cow<'a, str> {
        let mut text = match self.source {
            Source::Block(block) => content(block),
            Source::Text(text) | Source::Result { text, .. } => Cow::Borrowed(text),
        };
        if self.unwrapped {
            text = Cow::Owned(unwrap(&text).to_owned());
        }
        for addition in &self.added {
            let added = content(addition.block);
            let (before, added) = match addition.change {
                Change::None => (&*text, &*added),
                Change::Unwrapped => (&*text, unwrap(&added)),
                Change::Trimmed => (text.trim(), added.trim()),
            };
            let separator = if before.is_empty() && addition.change == Change::Trimmed { "" } else { addition.separator };
            text = Cow::Owned(format!("{before}{separator}{added}"));
        }
        if let Some(lead) = self.reminder {
            let before = if text.starts_with(lead.start) { "" } else { lead.line };
            text = Cow::Owned(wrap(&format!("{before}{text}")));
        }
        if self.line_feed { Cow::Owned(text.into_owned() + "\n") } else { text }
    }
}

/// A text as a reminder of the system.
pub(super) fn wrap(text: &str) -> String {
    format!("{OPEN}\n{text}\n{CLOSE}")
}

/// A line and a text as a reminder of the system, and where the line is in it.
pub(super) fn wrap_with(line: &str, text: &str) -> (String, Range<usize>) {
    let start = OPEN.len() + 1;
    (wrap(&format!("{line}{text}")), start..start + line.len())
}

/// What stands in a reminder of the system; any other text as it is.
pub(super) fn unwrap(text: &str) -> &str {
    let Some(inner) = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else { return text };
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    inner.strip_suffix('\n').unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(part: Part, expected: &str) {
        let contents = ["", "result \n", "<system-reminder>\nnote\n</system-reminder>"];
        assert_eq!(part.text(|block| Cow::Borrowed(contents[block as usize])), expected);
    }

    #[test]
    fn a_part_is_sent_as_it_is_or_changed() {
        check(Part::new(Source::Block(1)), "result \n");
        check(Part { line_feed: true, ..Part::new(Source::Text("a")) }, "a\n");
        check(Part { unwrapped: true, ..Part::new(Source::Block(2)) }, "note");
        let lead = Lead { start: "B", line: "b: ", counts: Counts::default() };
        check(Part { reminder: Some(lead), ..Part::new(Source::Text("a")) }, "<system-reminder>\nb: a\n</system-reminder>");
        check(Part { reminder: Some(lead), ..Part::new(Source::Text("Ba")) }, "<system-reminder>\nBa\n</system-reminder>");
    }

    #[test]
    fn additions_follow_the_source() {
        let folded = Addition { block: 2, separator: "\n\n", change: Change::Trimmed };
        let part = Part { added: vec![folded], ..Part::new(Source::Block(1)) };
        assert_eq!(part.blocks().collect::<Vec<_>>(), [1, 2]);
        check(part, "result\n\n<system-reminder>\nnote\n</system-reminder>");
        let joined = Addition { block: 2, separator: "\n", change: Change::Unwrapped };
        check(Part { added: vec![joined], ..Part::new(Source::Text("a")) }, "a\nnote");
    }
}
