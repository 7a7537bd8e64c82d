//! Messages of a request: the content sent for a window, block by block.

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
    pub source: Source,
    /// True if the reminder tags around the source are removed.
    pub unwrapped: bool,
    /// Further blocks, whose text is appended to that of the source.
    pub added: Vec<Addition>,
    /// The lead of the reminder that wraps the whole part; `None` if it is not wrapped.
    pub reminder: Option<Lead>,
    /// True if a line feed is appended, because another text of the same message follows.
    pub line_feed: bool,
}

/// Origin of a content block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Block(BlockNumber),
    Text(&'static str),
    /// A failed result that the client generates for a tool use.
    Result {
        of: BlockNumber,
        text: &'static str,
    },
}

/// The client's lead in a reminder before a text of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The first characters of the client's words, used to detect a text that already contains them.
    pub start: &'static str,
    /// The line of aperture that replaces them.
    pub line: &'static str,
    pub counts: Counts,
}

impl Lead {
    pub fn none() -> Lead {
        Lead { start: "", line: "", counts: Counts::default() }
    }
}

/// The part of a content that the client sends but no row records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// Byte range, in the content, of the line of aperture that replaces it; empty if there is none.
    pub line: Range<usize>,
    pub counts: Counts,
}

/// A block whose text is appended to that of another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    pub block: BlockNumber,
    pub separator: &'static str,
    pub change: Change,
}

/// A change of the text of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    None,
    /// The reminder tags around it are removed.
    Unwrapped,
    /// It is folded into a tool result: whitespace around both texts is trimmed.
    Trimmed,
}

impl Part {
    /// Returns a content block that is sent unchanged.
    pub fn new(source: Source) -> Part {
        Part { source, unwrapped: false, added: Vec::new(), reminder: None, line_feed: false }
    }

    /// Returns the blocks of the session that it contains, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockNumber> + '_ {
        let first = match self.source {
            Source::Block(block) => Some(block),
            Source::Text(_) | Source::Result { .. } => None,
        };
        first.into_iter().chain(self.added.iter().map(|addition| addition.block))
    }

    /// Returns the text as sent, given the content of each block of the session.
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

/// Wraps a text in system reminder tags.
pub(super) fn wrap(text: &str) -> String {
    format!("{OPEN}\n{text}\n{CLOSE}")
}

/// Wraps a line and a text in system reminder tags; also returns the byte range of the line.
pub(super) fn wrap_with(line: &str, text: &str) -> (String, Range<usize>) {
    let start = OPEN.len() + 1;
    (wrap(&format!("{line}{text}")), start..start + line.len())
}

/// Strips the system reminder tags; any other text is returned unchanged.
pub fn unwrap(text: &str) -> &str {
    let Some(inner) = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else { return text };
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    inner.strip_suffix('\n').unwrap_or(inner)
}

/// Returns the text in one of the reminders at the end of a text, the last but `after`; `None` if there is no such reminder.
pub fn reminder(text: &str, after: u32) -> Option<&str> {
    let mut rest = text;
    let mut inner = "";
    for _ in 0..=after {
        let before = rest.trim_end().strip_suffix(CLOSE)?;
        let start = before.rfind(OPEN)?;
        (rest, inner) = (&before[..start], unwrap(&rest.trim_end()[start..]));
    }
    Some(inner)
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
        let folded = Addition { block: 2, separator: "\n\n", change: Change::Trimmed };
        let part = Part { added: vec![folded], ..Part::new(Source::Block(1)) };
        assert_eq!(part.blocks().collect::<Vec<_>>(), [1, 2]);
        check(part, "result\n\n<system-reminder>\nnote\n</system-reminder>");
        let joined = Addition { block: 2, separator: "\n", change: Change::Unwrapped };
        check(Part { added: vec![joined], ..Part::new(Source::Text("a")) }, "a\nnote");
    }

    #[test]
    fn reminders_are_found_from_the_end() {
        let text = "result\n\n<system-reminder>\none\n</system-reminder>\n\n<system-reminder>\ntwo\n\n</system-reminder>\n";
        assert_eq!([0, 1, 2].map(|after| reminder(text, after)), [Some("two\n"), Some("one"), None]);
        assert_eq!(reminder("result", 0), None);
    }
}
