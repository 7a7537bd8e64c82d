//! Writes a body again with some of its contents and new texts among them.

use super::body::{REMINDER, parts};
use super::{RequestApi, RequestBody};
use crate::model::{BlockKind, Role, RowKind};
use crate::provider::{ByteEdit, json};
use rustc_hash::FxHashSet;
use serde_json::value::RawValue;
use std::ops::Range;
use std::sync::Arc;

/// A content of the conversation in a body that is written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub role: Role,
    /// Its place in the body: the element and the content in it; `None` for a new text.
    pub place: Option<(usize, usize)>,
    /// The text that it has instead; `None` if it stays.
    pub text: Option<Arc<str>>,
}

/// The place of new texts among the contents that stay.
struct Gap<'p> {
    before: Option<(usize, usize)>,
    after: Option<(usize, usize)>,
    texts: &'p [Piece],
}

impl RequestBody<'_> {
    /// Returns the contents of the conversation, without thinking, in order.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for element in self.conversation.clone() {
            let role = self.role(element);
            for (content, (kind, _)) in self.elements[element].contents.iter().enumerate() {
                if *kind != BlockKind::Thinking {
                    pieces.push(Piece { role, place: Some((element, content)), text: None });
                }
            }
        }
        pieces
    }

    pub fn contains(&self, text: &str) -> bool {
        let Ok(quoted) = serde_json::to_string(text.trim_end()) else { return false };
        memchr::memmem::find(&self.bytes, &quoted.as_bytes()[1..quoted.len() - 1]).is_some()
    }

    /// Returns the text of a content; `None` if it is not a text that can be changed.
    pub fn text(&self, element: usize, content: usize) -> Option<String> {
        let row = &self.bytes[self.elements.get(element)?.range.clone()];
        let slot = self.api.format().slot(row, content as u32)?;
        Some(self.api.format().decode(&row[self.api.format().locate_slot(row, slot)?]))
    }

    pub fn is_reminder(&self, element: usize, content: usize) -> bool {
        self.text(element, content).is_some_and(|text| text.starts_with(REMINDER.0))
    }

    fn role(&self, element: usize) -> Role {
        match self.elements[element].kind {
            RowKind::Assistant => Role::Assistant,
            RowKind::User => Role::User,
            _ => Role::System,
        }
    }

    /// Returns the edits that lead to these contents: those of the body in their order, and new texts among them. A message of which no
    /// content is left goes with its thinking. `None` if a body cannot have these contents.
    pub fn recompose(&self, pieces: &[Piece]) -> Option<Vec<ByteEdit>> {
        let places = || pieces.iter().filter_map(|piece| piece.place);
        if !places().is_sorted() {
            return None;
        }
        let kept: FxHashSet<(usize, usize)> = places().collect();
        let elements: FxHashSet<usize> = places().map(|(element, _)| element).collect();
        let gone: Vec<bool> = self.conversation.clone().map(|element| self.goes(element, &elements)).collect();
        let mut edits = without(&self.ranges(), &|place| gone[place])?;
        for (element, _) in self.conversation.clone().zip(&gone).filter(|(_, goes)| !**goes) {
            edits.extend(self.shortened(element, &kept)?);
        }
        for piece in pieces {
            if let (Some((element, content)), Some(text)) = (piece.place, &piece.text) {
                edits.push(self.replace(element, content, text, false)?);
            }
        }
        for gap in gaps(pieces) {
            edits.extend(self.filled(&gap)?);
        }
        Some(edits)
    }

    fn ranges(&self) -> Vec<Range<usize>> {
        self.elements[self.conversation.clone()].iter().map(|element| element.range.clone()).collect()
    }

    /// Returns true if an element leaves the body: none of its contents stays, and it has some. Reasoning follows its answer.
    fn goes(&self, element: usize, kept: &FxHashSet<usize>) -> bool {
        let contents = &self.elements[element].contents;
        if contents.iter().any(|(kind, _)| *kind != BlockKind::Thinking) {
            return !kept.contains(&element);
        }
        let is_reasoning = self.api != RequestApi::Messages && !contents.is_empty();
        is_reasoning && element + 1 < self.conversation.end && self.goes(element + 1, kept)
    }

    /// Returns the edits that remove contents from an element that stays, each with the thinking before it.
    fn shortened(&self, element: usize, kept: &FxHashSet<(usize, usize)>) -> Option<Vec<ByteEdit>> {
        let contents = &self.elements[element].contents;
        let mut stays: Vec<bool> = (0..contents.len()).map(|content| kept.contains(&(element, content))).collect();
        for place in (0..contents.len()).rev().filter(|place| contents[*place].0 == BlockKind::Thinking) {
            stays[place] = stays.get(place + 1).copied().unwrap_or(true);
        }
        if stays.iter().all(|stays| *stays) {
            return Some(Vec::new());
        }
        let ranges = self.part_ranges(element);
        (ranges.len() == contents.len()).then(|| without(&ranges, &|place| !stays[place]))?
    }

    /// Returns the bytes of each content block of a message; empty if it is one text.
    pub(super) fn part_ranges(&self, element: usize) -> Vec<Range<usize>> {
        let range = &self.elements[element].range;
        let parts = parts(self.api, &self.bytes[range.clone()]);
        parts.into_iter().map(|(part, _)| range.start + part.start..range.start + part.end).collect()
    }

    fn filled(&self, gap: &Gap<'_>) -> Option<Vec<ByteEdit>> {
        let of = |place: Option<(usize, usize)>| place.filter(|_| self.api == RequestApi::Messages);
        let (first, last) = (gap.texts.first()?.role, gap.texts.last()?.role);
        let same_role = |place: &(usize, usize), role| self.role(place.0) == role && role != Role::System;
        let joins_before = of(gap.before).filter(|place| same_role(place, first));
        let joins_after = of(gap.after).filter(|place| joins_before.is_none() && same_role(place, last));
        let split = match (joins_before, joins_after) {
            (Some(_), _) => gap.texts.iter().take_while(|piece| piece.role == first).count(),
            (None, Some(_)) => gap.texts.iter().rposition(|piece| piece.role != last).map_or(0, |place| place + 1),
            (None, None) => 0,
        };
        let (front, back) = gap.texts.split_at(split);
        let (joined, own) = if joins_before.is_some() { (front, back) } else { (back, front) };
        let mut edits = Vec::new();
        match (joins_before, joins_after) {
            (Some((element, content)), _) => edits.extend(self.join(element, content, joined, true)?),
            (None, Some((element, content))) => edits.extend(self.join(element, content, joined, false)?),
            (None, None) => return self.own(gap, gap.texts),
        }
        edits.extend(self.own(gap, own)?);
        Some(edits)
    }

    /// Returns the edits that add texts to a message, after or before one of its contents.
    fn join(&self, element: usize, content: usize, texts: &[Piece], is_after: bool) -> Option<Vec<ByteEdit>> {
        let blocks = texts.iter().map(text_block).collect::<Option<Vec<_>>>()?.join(",");
        let ranges = self.part_ranges(element);
        let part = ranges.get(content).filter(|_| ranges.len() == self.elements[element].contents.len());
        self.with_blocks(element, part, &blocks, is_after)
    }

    /// Returns the edits that add content blocks to a message, after or before one of its own, or the text that it is.
    pub(super) fn with_blocks(
        &self,
        element: usize,
        part: Option<&Range<usize>>,
        blocks: &str,
        is_after: bool,
    ) -> Option<Vec<ByteEdit>> {
        let at = |place: usize, text: String| (place..place, text.into_bytes());
        if let Some(part) = part {
            return Some(vec![if is_after { at(part.end, format!(",{blocks}")) } else { at(part.start, format!("{blocks},")) }]);
        }
        let message: &RawValue = serde_json::from_slice(&self.bytes[self.elements[element].range.clone()]).ok()?;
        let value = json::member(message, "content").filter(|value| value.get().starts_with('"'))?;
        let place = json::range_in(&self.bytes, value);
        let (open, close) = match is_after {
            true => (r#"[{"type":"text","text":"#.to_owned(), format!("}},{blocks}]")),
            false => (format!(r#"[{blocks},{{"type":"text","text":"#), "}]".to_owned()),
        };
        Some(vec![at(place.start, open), at(place.end, close)])
    }

    fn own(&self, gap: &Gap<'_>, texts: &[Piece]) -> Option<Vec<ByteEdit>> {
        if texts.is_empty() {
            return Some(Vec::new());
        }
        // An element can only be written between two others.
        let divides = matches!((gap.before, gap.after), (Some((before, _)), Some((after, _))) if before == after);
        let elements = texts.iter().map(|piece| self.element(piece)).collect::<Option<Vec<_>>>().filter(|_| !divides)?.join(",");
        let (at, text) = match (gap.before, gap.after) {
            (Some((element, _)), _) => (self.elements[element].range.end, format!(",{elements}")),
            (None, Some((element, _))) => (self.elements[element].range.start, format!("{elements},")),
            (None, None) => return None,
        };
        Some(vec![(at..at, text.into_bytes())])
    }

    fn element(&self, piece: &Piece) -> Option<String> {
        let role = piece.role.name();
        let quoted = serde_json::to_string(piece.text.as_deref()?).ok()?;
        Some(match self.api {
            RequestApi::Messages if piece.role == Role::System => format!(r#"{{"role":"system","content":{quoted}}}"#),
            RequestApi::Messages => format!(r#"{{"role":"{role}","content":[{{"type":"text","text":{quoted}}}]}}"#),
            RequestApi::Chat => format!(r#"{{"role":"{role}","content":{quoted}}}"#),
            // Notes in the file of the client are messages of the user, whatever their role.
            RequestApi::Responses => {
                format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{quoted}}}]}}"#)
            }
        })
    }
}

fn text_block(piece: &Piece) -> Option<String> {
    Some(format!(r#"{{"type":"text","text":{}}}"#, serde_json::to_string(piece.text.as_deref()?).ok()?))
}

/// Returns the runs of new texts, each with the contents of the body around it.
fn gaps(pieces: &[Piece]) -> Vec<Gap<'_>> {
    let mut gaps = Vec::new();
    let mut start = 0;
    for run in pieces.chunk_by(|one, other| one.place.is_some() == other.place.is_some()) {
        let end = start + run.len();
        if run[0].place.is_none() {
            let before = start.checked_sub(1).and_then(|place| pieces[place].place);
            gaps.push(Gap { before, after: pieces.get(end).and_then(|piece| piece.place), texts: run });
        }
        start = end;
    }
    gaps
}

/// Returns the edits that remove elements of an array, each with a comma; `None` if no element would be left.
pub(super) fn without(ranges: &[Range<usize>], goes: &dyn Fn(usize) -> bool) -> Option<Vec<ByteEdit>> {
    let first = (0..ranges.len()).find(|place| !goes(*place))?;
    let mut edits = Vec::new();
    if first > 0 {
        edits.push((ranges[0].start..ranges[first].start, Vec::new()));
    }
    for place in (first + 1..ranges.len()).filter(|place| goes(*place)) {
        edits.push((ranges[place - 1].end..ranges[place].end, Vec::new()));
    }
    Some(edits)
}
