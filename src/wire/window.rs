//! The changes of the window in a request: contents that leave it, and texts that enter it, by the log.

use super::contents::Contents;
use super::session::Line;
use super::{RequestFacts, Stage};
use crate::engine::plural;
use crate::model::{BlockKind, Key, NewContent, OperationId, Role, SentContent, WindowChange, WindowHunk};
use crate::provider::{BodyEdit, Piece, RequestBody};
use std::sync::Arc;

/// A request after the changes of the window.
#[derive(Default)]
pub(super) struct Folded {
    /// The edits that change the window; `None` if it stays.
    pub edits: Option<Vec<BodyEdit>>,
    /// The number of contents before the first one that the last request, by its point of the log, did not have there; `None` if there is
    /// no such content.
    pub first: Option<usize>,
    /// True if no content is left that is gone by the log.
    pub is_folded: bool,
}

/// A content of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    piece: Piece,
    sent: Key,
    /// Its form in the file of the client, if that form differs.
    recorded: Option<Key>,
    is_result: bool,
}

/// The contents of a request while changes are applied.
#[derive(Clone)]
struct Conversation<'a> {
    contents: &'a Contents,
    items: Vec<Item>,
    /// The contents of the request that changes removed.
    removed: Vec<Item>,
}

/// The result of one change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Applied,
    /// The client has read the changed session.
    Present,
    /// The request does not have the contents.
    Unknown,
}

/// Applies the changes of the window that are in force to a request. Each change is applied as a whole, or not at all.
pub(super) fn fold(line: &Line, body: &RequestBody<'_>, facts: &mut RequestFacts) -> Folded {
    let (last, before) = (line.contents.last(), line.state.as_ref().map_or(0, |state| state.point));
    if line.contents.windows(last).chain(line.contents.windows(before)).next().is_none() {
        return Folded { is_folded: true, ..Folded::default() };
    }
    let start = Conversation::new(&line.contents, body);
    let (now, outcomes) = start.at(last, body);
    // A change that a later one builds on is no longer in the request.
    let known = outcomes.iter().rposition(|(_, outcome)| *outcome != Outcome::Unknown).map_or(0, |place| place + 1);
    for (operation, _) in &outcomes[known..] {
        facts.note(
            Stage::Condensation,
            format!("operation {operation} of the log is left out: the request has not all of its contents"),
        );
    }
    let (then, _) = if before == last { (now.clone(), Vec::new()) } else { start.at(before, body) };
    let common = now.items.iter().zip(&then.items).take_while(|(now, then)| now.piece == then.piece).count();
    let first = (now.items != then.items).then_some(common);
    let is_folded = known == outcomes.len();
    if now.items == start.items {
        return Folded { edits: None, first, is_folded };
    }
    let pieces: Vec<Piece> = now.items.iter().map(|item| item.piece.clone()).collect();
    let Some(edits) = body.recompose(&pieces) else {
        facts.note(Stage::Condensation, "the changes of the window are left out: the messages of the request have another form");
        return Folded { edits: None, first: None, is_folded: false };
    };
    let stays = pieces.iter().filter(|piece| piece.place.is_some()).count();
    let (gone, added) = (start.items.len() - stays, pieces.len() - stays);
    let applied = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Applied).map(|(operation, _)| operation.to_string());
    let applied = applied.collect::<Vec<_>>().join(", ");
    let changed = format!("{} left out and {} added", plural(gone, "content"), plural(added, "text"));
    facts.note(Stage::Condensation, format!("{changed} as in the log (operation {applied})"));
    Folded { edits: Some(edits), first, is_folded }
}

impl<'a> Conversation<'a> {
    fn new(contents: &'a Contents, body: &RequestBody<'_>) -> Conversation<'a> {
        let item = |piece: Piece| {
            let (element, content) = piece.place?;
            let element = &body.elements[element];
            let (kind, sent) = element.contents[content];
            Some(Item { sent, recorded: element.recorded(content), is_result: kind == BlockKind::ToolResult, piece })
        };
        Conversation { contents, items: body.pieces().into_iter().filter_map(item).collect(), removed: Vec::new() }
    }

    /// Returns the conversation at a point of the log, and the result of each change.
    fn at(&self, point: OperationId, body: &RequestBody<'_>) -> (Conversation<'a>, Vec<(OperationId, Outcome)>) {
        let mut conversation = self.clone();
        let outcomes = self.contents.windows(point).map(|(id, change)| (*id, conversation.apply(change, body)));
        let outcomes = outcomes.collect();
        (conversation, outcomes)
    }

    fn apply(&mut self, change: &WindowChange, body: &RequestBody<'_>) -> Outcome {
        let added = change.hunks.iter().flat_map(|hunk| &hunk.after);
        let mut texts = added.filter_map(|content| if let NewContent::Text(_, text) = content { Some(text) } else { None });
        if let Some(first) = texts.next()
            && body.contains(first)
            && texts.all(|text| body.contains(text))
        {
            return Outcome::Present;
        }
        let mut changed = self.clone();
        let mut is_whole = true;
        // The places of earlier hunks stay where they are.
        for hunk in change.hunks.iter().rev() {
            is_whole &= changed.replace(hunk, body).is_some() || is_text_only(hunk);
        }
        if !is_whole {
            return Outcome::Unknown;
        }
        let outcome = if changed.items == self.items { Outcome::Present } else { Outcome::Applied };
        *self = changed;
        outcome
    }

    /// Replaces the contents of a place; `None` if the request does not have them.
    fn replace(&mut self, hunk: &WindowHunk, body: &RequestBody<'_>) -> Option<()> {
        let mut start = self.find(hunk)?;
        if hunk.is_last && hunk.before.is_empty() {
            // Results directly follow their calls.
            start += self.items[start..].iter().take_while(|item| item.is_result).count();
        }
        if hunk.before.is_empty() && !hunk.after.is_empty() && self.has(start, &hunk.after) {
            return Some(());
        }
        let mut old: Vec<Item> = self.items[start..start + hunk.before.len()].to_vec();
        let mut restored = Vec::new();
        let mut new = Vec::new();
        for content in &hunk.after {
            new.push(match content {
                NewContent::Text(role, text) | NewContent::Moved(role, text) => Item {
                    piece: Piece { role: *role, place: None, text: Some(text.as_str().into()) },
                    sent: Key::from_bytes(text.as_bytes()),
                    recorded: None,
                    is_result: false,
                },
                NewContent::Changed(content, text) => {
                    let mut item = old.remove(old.iter().position(|item| self.is(item, content))?);
                    let sent = Key::from_bytes(text.as_bytes());
                    if item.sent != sent {
                        item.piece.text = Some(text.as_str().into());
                        item.sent = sent;
                    }
                    item
                }
                NewContent::Kept(content) => match old.iter().position(|item| self.is(item, content)) {
                    Some(place) => old.remove(place),
                    None => {
                        let is_free = |place: &usize| !restored.contains(place) && self.is(&self.removed[*place], content);
                        let place = (0..self.removed.len()).find(is_free)?;
                        restored.push(place);
                        self.removed[place].clone()
                    }
                },
            });
        }
        let mut place = 0;
        self.removed.retain(|_| {
            place += 1;
            !restored.contains(&(place - 1))
        });
        self.removed.extend(old.into_iter().filter(|item| item.piece.place.is_some()));
        self.removed.sort_by_key(|item| item.piece.place);
        self.end_text(hunk, start, &mut new, body);
        // The client sends the texts of the system after the prompt that follows.
        let is_late = |item: &Item| hunk.is_last && item.piece.place.is_none() && item.piece.role == Role::System;
        let late = new.split_off(new.iter().rposition(|item| !is_late(item)).map_or(0, |place| place + 1));
        let end = start + new.len();
        self.items.splice(start..start + hunk.before.len(), new);
        let prompt = self.items[end..].iter().take_while(|item| item.piece.role == Role::User).count();
        self.items.splice(end + prompt..end + prompt, late);
        Some(())
    }

    /// Returns true if these texts are at a place already.
    fn has(&self, start: usize, texts: &[NewContent]) -> bool {
        let is_here = |(item, content): (&Item, &NewContent)| match content {
            NewContent::Text(_, text) | NewContent::Moved(_, text) => item.sent == Key::from_bytes(text.as_bytes()),
            NewContent::Kept(_) | NewContent::Changed(..) => false,
        };
        self.items.get(start..start + texts.len()).is_some_and(|items| items.iter().zip(texts).all(is_here))
    }

    /// Removes the line feed after a last text of the user if a reminder follows it: the client ends only the text before a prompt with
    /// one.
    fn end_text(&self, hunk: &WindowHunk, start: usize, new: &mut [Item], body: &RequestBody<'_>) {
        let next = self.items.get(start + hunk.before.len()).and_then(|item| item.piece.place);
        let is_reminder = next.is_some_and(|(element, content)| body.is_reminder(element, content));
        let Some(last) = new.last_mut().filter(|item| hunk.is_last && is_reminder && item.piece.place.is_none()) else { return };
        let text = last.piece.text.as_deref().and_then(|text| text.strip_suffix('\n')).map(Arc::from);
        last.piece.text = text.or(last.piece.text.take());
    }

    /// Returns the place of the contents that a hunk replaces.
    fn find(&self, hunk: &WindowHunk) -> Option<usize> {
        let pattern: Vec<&SentContent> = hunk.anchor.iter().chain(&hunk.before).collect();
        if pattern.is_empty() {
            return Some(0);
        }
        let is_here = |items: &[Item]| items.iter().zip(&pattern).all(|(item, content)| self.is(item, content));
        let mut places = self.items.windows(pattern.len()).enumerate().filter(|(_, items)| is_here(items));
        let (place, _) = places.nth(hunk.occurrence as usize)?;
        Some(place + usize::from(hunk.anchor.is_some()))
    }

    /// Returns true if an item is a content, in any of its forms.
    fn is(&self, item: &Item, content: &SentContent) -> bool {
        let forms = [Some(item.sent), item.recorded];
        let is_answer = |role| role == Role::Assistant;
        is_answer(item.piece.role) == is_answer(content.role)
            && forms.into_iter().flatten().any(|form| form == content.sent || self.contents.is_form(form, content.block))
    }
}

/// Returns true if a hunk replaces only texts, so that nothing depends on it.
fn is_text_only(hunk: &WindowHunk) -> bool {
    hunk.after.len() == hunk.before.len() && hunk.after.iter().all(|content| matches!(content, NewContent::Changed(..)))
}
