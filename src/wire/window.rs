//! The changes of the window in a request: contents that leave it, and texts that enter it, by the log.

use super::RequestFacts;
use super::contents::Contents;
use super::session::Line;
use super::stages::condensation::STAGE;
use super::stages::zones;
use crate::engine::{counts, plural};
use crate::model::{
    BlockKind, Counts, Edge, Key, NewContent, OperationId, Rendered, Role, SentContent, WindowChange, WindowHunk,
};
use crate::provider::{ByteEdit, Piece, REMINDER, RequestBody, reminder, unwrap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A request after the changes of the window.
#[derive(Default)]
pub(super) struct Folded {
    /// The edits that change the window; `None` if it stays.
    pub edits: Option<Vec<ByteEdit>>,
    /// The number of contents before the first one that the last request, by its point of the log, did not have there; `None` if there is
    /// no such content.
    pub first: Option<usize>,
    /// True if every content removed by the log is gone from the request.
    pub is_folded: bool,
    /// The operations whose contents the request does not have.
    pub unapplied: Vec<OperationId>,
    /// The prompt from which on requests are without the reminder that the client added to it.
    pub reminder: Option<Key>,
}

/// The number of answers after which a client adds a reminder to a prompt.
const REMINDER_ANSWERS: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    piece: Piece,
    /// Texts before it that changes removed, and that the client sends only once.
    announced: Vec<Piece>,
    sent: Key,
    /// The forms that it can have in the file of the client, if those differ.
    recorded: Arc<[Key]>,
    is_result: bool,
    is_text: bool,
}

impl Item {
    /// Returns a text that the request did not have.
    fn text(role: Role, text: &str, recorded: Key) -> Item {
        let (piece, sent) = (Piece { role, place: None, text: Some(text.into()) }, Key::from_bytes(text.as_bytes()));
        Item { piece, announced: Vec::new(), sent, recorded: [recorded].into(), is_result: false, is_text: true }
    }
}

/// The contents of a request while changes are applied.
#[derive(Clone)]
struct Conversation<'a> {
    contents: &'a Contents,
    items: Vec<Item>,
    /// The contents of the request that changes removed.
    removed: Vec<Item>,
    /// Texts that the client sends only once and that no answer follows.
    announced: Vec<Piece>,
    /// The contents that the client rendered in other words, by their places in the body: the blocks that changes name them by.
    rendered: FxHashMap<(usize, usize), Key>,
}

struct Place {
    items: Range<usize>,
    /// The item that is each content of [`WindowHunk::before`]; `None` if the client left it out.
    before: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Applied,
    /// The client has read the changed session.
    Present,
    /// The request does not have the contents.
    Unknown,
}

/// Returns a content without the reminder that a client adds to a prompt after a number of answers; `None` if it does not have one.
fn without_reminder(body: &RequestBody<'_>, (element, content): (usize, usize)) -> Option<String> {
    let (words, text) = (body.turn_reminder()?, body.text(element, content)?);
    let is_words = |start: &str| Counts { o200k: words.o200k, ..counts(start) } == words;
    let begins = |(start, tag): &(usize, &str)| {
        let start = start + tag.len();
        text.get(start..start + words.characters as usize).is_some_and(is_words)
    };
    let (start, _) = text.match_indices(REMINDER.0).find(begins)?;
    let end = start + text[start..].find(REMINDER.1)? + REMINDER.1.len();
    // The client joins it to a result after an empty line.
    Some([text[..start].trim_end_matches('\n'), &text[end..]].concat())
}

/// Applies the changes of the window that are in force to a request. Each change is applied as a whole, or not at all.
pub(super) fn fold(line: &Line, body: &RequestBody<'_>, facts: &mut RequestFacts) -> Folded {
    let (last, before) = (line.last(), line.state.as_ref().map_or(0, |state| state.point));
    if line.contents.windows(last).chain(line.contents.windows(before)).next().is_none() {
        return Folded { is_folded: true, ..Folded::default() };
    }
    let start = Conversation::new(&line.contents, body);
    let (mut now, outcomes) = start.at(last, body);
    // A change that a later one builds on is no longer in the request.
    let known = outcomes.iter().rposition(|(_, outcome)| *outcome != Outcome::Unknown).map_or(0, |place| place + 1);
    let unapplied: Vec<OperationId> = outcomes[known..].iter().map(|(operation, _)| *operation).collect();
    for operation in &unapplied {
        facts.note(&STAGE, format!("operation {operation} of the log is left out: the request has not all of its contents"));
    }
    let (mut then, _) = if before == last { (now.clone(), Vec::new()) } else { start.at(before, body) };
    let is_applied = outcomes.iter().any(|(_, outcome)| *outcome == Outcome::Applied);
    let reminder = now.new_reminder(line, body).filter(|_| is_applied && !line.is_held);
    let dropped: Vec<Key> = line.state.iter().flat_map(|state| state.dropped.iter().copied()).chain(reminder).collect();
    [&mut now, &mut then].into_iter().for_each(|conversation| conversation.leave_out_reminders(&dropped, body));
    let (pieces, earlier) = (now.pieces(), then.pieces());
    let common = pieces.iter().zip(&earlier).take_while(|(now, then)| now == then).count();
    let first = (now.items != then.items).then_some(common);
    let is_folded = known == outcomes.len();
    if now.items == start.items {
        return Folded { edits: None, first, is_folded, unapplied, reminder };
    }
    let Some(edits) = body.recompose(&pieces) else {
        facts.note(&STAGE, "the changes of the window are left out: the messages of the request have another form");
        let unapplied = outcomes.iter().map(|(operation, _)| *operation).collect();
        return Folded { unapplied, ..Folded::default() };
    };
    let stays = pieces.iter().filter(|piece| piece.place.is_some()).count();
    let (gone, added) = (start.items.len() - stays, pieces.len() - stays);
    let applied = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Applied).map(|(operation, _)| operation.to_string());
    let applied = applied.collect::<Vec<_>>().join(", ");
    let changed = format!("{} left out and {} added", plural(gone, "content"), plural(added, "text"));
    facts.note(&STAGE, format!("{changed} as in the log (operation {applied})"));
    Folded { edits: Some(edits), first, is_folded, unapplied, reminder }
}

impl<'a> Conversation<'a> {
    fn new(contents: &'a Contents, body: &RequestBody<'_>) -> Conversation<'a> {
        let item = |piece: Piece| {
            let (element, content) = piece.place?;
            let element = &body.elements[element];
            let (kind, sent) = element.contents[content];
            let (is_result, is_text) = (kind == BlockKind::ToolResult, matches!(kind, BlockKind::Text | BlockKind::Attachment));
            let recorded = element.recorded(content);
            Some(Item { sent, recorded, is_result, is_text, piece, announced: Vec::new() })
        };
        let items = body.pieces().into_iter().filter_map(item).collect();
        Conversation { contents, items, removed: Vec::new(), announced: Vec::new(), rendered: FxHashMap::default() }
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(self.items.len());
        for item in &self.items {
            pieces.extend(item.announced.iter().chain([&item.piece]).cloned());
        }
        pieces.extend(self.announced.iter().cloned());
        pieces
    }

    /// Returns the conversation at a point of the log, and the result of each change.
    fn at(&self, point: OperationId, body: &RequestBody<'_>) -> (Conversation<'a>, Vec<(OperationId, Outcome)>) {
        let mut conversation = self.clone();
        let outcomes = self.contents.windows(point).map(|(id, change)| (*id, conversation.apply(change, body)));
        let outcomes = outcomes.collect();
        (conversation, outcomes)
    }

    /// Returns the newest prompt if its client reminds the model there of what it did not do in many answers, most of which are gone: after
    /// `/resume` it would not.
    fn new_reminder(&self, line: &Line, body: &RequestBody<'_>) -> Option<Key> {
        let is_known = |key: &Key| line.state.as_ref().is_some_and(|state| state.dropped.contains(key));
        let newest = zones::newest(body).filter(|newest| !is_known(&newest.key()))?;
        // If the client joins the text to a content, all answers that are left count.
        let added = self.items.iter().rposition(|item| item.piece.place.is_none()).unwrap_or_default();
        let elements = self.items[added..].iter().filter(|item| item.piece.role == Role::Assistant);
        let mut answers: Vec<usize> = elements.filter_map(|item| Some(item.piece.place?.0)).collect();
        answers.dedup();
        let places = self.items.iter().filter_map(|item| item.piece.place.filter(|(element, _)| newest.element == *element));
        let has_reminder = places.into_iter().any(|place| without_reminder(body, place).is_some());
        (has_reminder && answers.len() < REMINDER_ANSWERS).then(|| newest.key())
    }

    fn leave_out_reminders(&mut self, prompts: &[Key], body: &RequestBody<'_>) {
        let mut places = zones::places(body);
        places.retain(|place| prompts.contains(&place.key()));
        self.items.retain_mut(|item| {
            let place = item.piece.place.filter(|(element, _)| places.iter().any(|place| place.element == *element));
            let Some(text) = place.and_then(|place| without_reminder(body, place)) else { return true };
            item.sent = Key::from_bytes(text.as_bytes());
            item.piece.text = Some(text.as_str().into());
            !text.is_empty()
        });
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
        let places: Vec<Option<Place>> = change.hunks.iter().map(|hunk| self.find(hunk)).collect();
        let words = self.words(change, &places, body);
        let found = || places.iter().flatten();
        let mut is_whole = found().zip(found().skip(1)).all(|(place, next)| place.items.end <= next.items.start);
        // The places of earlier hunks stay where they are.
        for (hunk, place) in change.hunks.iter().zip(&places).rev() {
            let is_replaced = place.as_ref().is_some_and(|place| changed.replace(hunk, place, &words, body).is_some());
            is_whole &= is_replaced || is_text_only(hunk);
        }
        if !is_whole {
            return Outcome::Unknown;
        }
        let outcome = if changed.items == self.items { Outcome::Present } else { Outcome::Applied };
        *self = changed;
        outcome
    }

    /// Replaces the contents of a place; `None` if the request does not have all of those that stay.
    fn replace(
        &mut self,
        hunk: &WindowHunk,
        place: &Place,
        words: &FxHashMap<SentContent, Arc<str>>,
        body: &RequestBody<'_>,
    ) -> Option<()> {
        let Range { mut start, mut end } = place.items;
        if hunk.is_last && hunk.before.is_empty() {
            // Results directly follow their calls.
            start += self.items[start..].iter().take_while(|item| item.is_result).count();
            end = start;
        }
        if hunk.before.is_empty() && !hunk.after.is_empty() && self.has(start, &hunk.after) {
            return Some(());
        }
        let mut old: Vec<(SentContent, Item)> = Vec::new();
        for (content, item) in hunk.before.iter().zip(&place.before) {
            let Some(item) = item.map(|item| self.items[item].clone()) else { continue };
            if let Some(place) = item.piece.place.filter(|_| !self.is(&item, content)) {
                self.rendered.insert(place, content.block);
            }
            old.push((*content, item));
        }
        let mut restored = Vec::new();
        let mut new = Vec::new();
        for (number, content) in hunk.after.iter().enumerate() {
            new.push(match content {
                NewContent::Text(role, text) | NewContent::Moved(role, text) => {
                    let worded = worded(hunk, words, number, text).map_or(Cow::Borrowed(text.as_str()), Cow::Owned);
                    Item::text(*role, &worded, Key::from_bytes(text.as_bytes()))
                }
                NewContent::Changed(content, text) => {
                    let mut item = self.take(&mut old, content)?;
                    let is_rendered = content.rendered == Some(Rendered::Text) && self.rendered_as(&item).is_some();
                    let text = match worded(hunk, words, number, text) {
                        Some(text) => Some(Cow::Owned(text)),
                        None if is_rendered => rendered_text(body, &item, text),
                        None => Some(Cow::Borrowed(&**text)),
                    };
                    if let Some(text) = text.filter(|text| item.sent != Key::from_bytes(text.as_bytes())) {
                        item.sent = Key::from_bytes(text.as_bytes());
                        item.piece.text = Some((&*text).into());
                    }
                    item
                }
                NewContent::Kept(content) => match self.take(&mut old, content) {
                    Some(item) => item,
                    None if is_left_out(hunk, place, content) => match self.joined(hunk, place, content, body) {
                        Some(item) => item,
                        None => continue,
                    },
                    None => {
                        let is_free = |place: &usize| !restored.contains(place) && self.is(&self.removed[*place], content);
                        let place = (0..self.removed.len()).find(is_free)?;
                        restored.push(place);
                        self.removed[place].clone()
                    }
                },
            });
        }
        let mut number = 0;
        self.removed.retain(|_| {
            number += 1;
            !restored.contains(&(number - 1))
        });
        let mut announced = Vec::new();
        for (content, item) in &mut old {
            announced.append(&mut item.announced);
            if hunk.announced.contains(content) {
                announced.extend(text_of(body, item));
            }
        }
        self.removed.extend(old.into_iter().map(|(_, item)| item).filter(|item| item.piece.place.is_some()));
        self.removed.sort_by_key(|item| item.piece.place);
        self.end_text(hunk, end, &mut new, body);
        // The client sends the texts of the system after the prompt that follows.
        let is_late = |item: &Item| hunk.is_last && item.piece.place.is_none() && item.piece.role == Role::System;
        let late = new.split_off(new.iter().rposition(|item| !is_late(item)).map_or(0, |place| place + 1));
        let new_end = start + new.len();
        self.items.splice(start..end, new);
        let prompt = self.items[new_end..].iter().take_while(|item| item.piece.role == Role::User).count();
        self.items.splice(new_end + prompt..new_end + prompt, late);
        self.announce(start, announced);
        Some(())
    }

    /// Returns the texts of the replaced contents whose words new ones repeat, as the request has them.
    fn words(&self, change: &WindowChange, places: &[Option<Place>], body: &RequestBody<'_>) -> FxHashMap<SentContent, Arc<str>> {
        let named: FxHashSet<SentContent> = change.hunks.iter().flat_map(|hunk| &hunk.words).map(|words| words.of).collect();
        let places = change.hunks.iter().zip(places).filter_map(|(hunk, place)| Some((hunk, place.as_ref()?)));
        let found = places.flat_map(|(hunk, place)| hunk.before.iter().zip(&place.before));
        let text =
            |(content, item): (&SentContent, &Option<usize>)| Some((*content, text_of(body, &self.items[(*item)?])?.text?));
        found.filter(|(content, _)| named.contains(*content)).filter_map(text).collect()
    }

    /// Returns a content that the client joined to a result before it, if the result goes.
    fn joined(&self, hunk: &WindowHunk, place: &Place, content: &SentContent, body: &RequestBody<'_>) -> Option<Item> {
        let at = hunk.before.iter().position(|before| before == content)?;
        let (result, item) = (0..at).rev().find_map(|result| Some((&hunk.before[result], place.before[result]?)))?;
        let stays = hunk
            .after
            .iter()
            .any(|after| matches!(after, NewContent::Kept(kept) | NewContent::Changed(kept, _) if kept == result));
        let is_joined =
            |(content, item): &(&SentContent, &Option<usize>)| item.is_none() && content.rendered == Some(Rendered::Text);
        let later = hunk.before.iter().zip(&place.before).skip(at + 1).take_while(is_joined).count();
        let sent = text_of(body, &self.items[item]).filter(|_| content.rendered == Some(Rendered::Text) && !stays)?.text?;
        let text = [REMINDER.0, reminder(&sent, later as u32)?, REMINDER.1].concat();
        Some(Item::text(content.role, &text, content.sent))
    }

    /// Adds texts before the first answer from a place on: the client sends them between a prompt and its answer.
    fn announce(&mut self, start: usize, mut texts: Vec<Piece>) {
        let is_first = |place: &usize| is_answer(self.items[*place].piece.role) && !is_answer(self.items[*place - 1].piece.role);
        match (start.max(1)..self.items.len()).find(is_first) {
            Some(place) => {
                texts.append(&mut self.items[place].announced);
                self.items[place].announced = texts;
            }
            None => {
                texts.append(&mut self.announced);
                self.announced = texts;
            }
        }
    }

    /// Takes the item that is a content of a hunk; `None` if no item is left that is.
    fn take(&self, old: &mut Vec<(SentContent, Item)>, content: &SentContent) -> Option<Item> {
        let exact = old.iter().position(|(known, _)| known == content);
        let place = exact.or_else(|| old.iter().position(|(_, item)| self.is(item, content)))?;
        Some(old.remove(place).1)
    }

    fn has(&self, start: usize, texts: &[NewContent]) -> bool {
        let is_here = |(item, content): (&Item, &NewContent)| match content {
            NewContent::Text(_, text) | NewContent::Moved(_, text) => item.sent == Key::from_bytes(text.as_bytes()),
            NewContent::Kept(_) | NewContent::Changed(..) => false,
        };
        self.items.get(start..start + texts.len()).is_some_and(|items| items.iter().zip(texts).all(is_here))
    }

    /// Removes the line feed after a last text of the user if a reminder follows it: the client ends only the text before a prompt with
    /// one.
    fn end_text(&self, hunk: &WindowHunk, end: usize, new: &mut [Item], body: &RequestBody<'_>) {
        let next = self.items.get(end).and_then(|item| item.piece.place);
        let is_reminder = next.is_some_and(|(element, content)| body.is_reminder(element, content));
        let Some(last) = new.last_mut().filter(|item| hunk.is_last && is_reminder && item.piece.place.is_none()) else { return };
        let text = last.piece.text.as_deref().and_then(|text| text.strip_suffix('\n')).map(Arc::from);
        last.piece.text = text.or(last.piece.text.take());
    }

    /// Returns the place of the contents that a hunk replaces. Contents that the client rendered in other words are recognized by their
    /// role and type, if the contents around them are at one place only.
    fn find(&self, hunk: &WindowHunk) -> Option<Place> {
        let pattern: Vec<&SentContent> = hunk.anchor.iter().chain(&hunk.before).collect();
        if pattern.is_empty() {
            return Some(Place { items: 0..0, before: Vec::new() });
        }
        let is_here = |items: &[Item]| items.iter().zip(&pattern).all(|(item, content)| self.is(item, content));
        let mut places = self.items.windows(pattern.len()).enumerate().filter(|(_, items)| is_here(items));
        let exact = places.nth(hunk.occurrence as usize).map(|(place, _)| (place..place + pattern.len()).map(Some).collect());
        let mut place: Vec<Option<usize>> = match exact {
            Some(place) => place,
            None => self.find_rendered(hunk, &pattern)?,
        };
        let before = place.split_off(usize::from(hunk.anchor.is_some()));
        let start = before.iter().flatten().next().copied().or_else(|| Some(place.first().copied().flatten()? + 1))?;
        let end = before.iter().flatten().last().map_or(start, |last| last + 1);
        Some(Place { items: start..end, before })
    }

    /// Returns the items of the only place at which contents can be, some of them rendered in other words; `None` if there is no such
    /// place, or more than one.
    fn find_rendered(&self, hunk: &WindowHunk, pattern: &[&SentContent]) -> Option<Vec<Option<usize>>> {
        let all: Vec<&SentContent> = hunk.lead.iter().chain(pattern.iter().copied()).chain(&hunk.trail).collect();
        let is_exact = |content: &SentContent| content.rendered.is_none();
        let starts = if is_exact(all.first()?) { self.items.len() } else { 1 };
        if hunk.occurrence > 0 || !is_exact(all.last()?) || all.iter().all(|content| is_exact(content)) {
            return None;
        }
        let mut places = (0..starts).filter_map(|start| self.aligned(start, &all));
        let mut place = places.next().filter(|_| places.next().is_none())?;
        place.truncate(hunk.lead.len() + pattern.len());
        Some(place.split_off(hunk.lead.len()))
    }

    /// Returns the items from a place on that are some contents; `None` if an item there is another content.
    fn aligned(&self, start: usize, contents: &[&SentContent]) -> Option<Vec<Option<usize>>> {
        let mut next = start;
        let mut items = Vec::new();
        let mut is_after_result = false;
        for content in contents {
            let item = self.items.get(next)?;
            let is_here = self.is(item, content) || is_rendered_as(item, content);
            let can_be_left_out = match content.rendered {
                Some(Rendered::Generated) => true,
                // The client joins it to the result if that no longer loads a tool.
                Some(Rendered::Text) => is_after_result,
                Some(Rendered::Result) | None => false,
            };
            if !is_here && !can_be_left_out {
                return None;
            }
            if content.rendered != Some(Rendered::Generated) {
                is_after_result = content.rendered == Some(Rendered::Result) || is_after_result && !is_here;
            }
            items.push(is_here.then_some(next));
            next += usize::from(is_here);
        }
        Some(items)
    }

    fn is(&self, item: &Item, content: &SentContent) -> bool {
        let mut forms = [item.sent].into_iter().chain(item.recorded.iter().copied()).chain(self.rendered_as(item));
        is_answer(item.piece.role) == is_answer(content.role)
            && forms.any(|form| form == content.sent || self.contents.is_form(form, content.block))
    }

    /// Returns the block of an item that the client rendered in other words.
    fn rendered_as(&self, item: &Item) -> Option<Key> {
        self.rendered.get(&item.piece.place?).copied()
    }
}

/// Returns the text of a new content with the words of the client, as far as they are known; `None` if none are.
fn worded(hunk: &WindowHunk, known: &FxHashMap<SentContent, Arc<str>>, content: usize, text: &str) -> Option<String> {
    let mut worded: Option<String> = None;
    for words in hunk.words.iter().rev().filter(|words| words.content as usize == content) {
        let Some(sent) = known.get(&words.of) else { continue };
        let whole = unwrap(sent.trim_end());
        let actual = match (words.reminder, &words.between) {
            (Some(after), _) => reminder(sent, after),
            (None, Some(edges)) => between(whole, edges),
            (None, None) => Some(whole),
        };
        let range = words.range.0 as usize..words.range.1 as usize;
        if let Some(actual) = actual.filter(|_| text.get(range.clone()).is_some()) {
            worded.get_or_insert_with(|| text.to_owned()).replace_range(range, actual);
        }
    }
    worded
}

/// Returns the lines of a text between two others; an empty one is the start or the end.
fn between<'t>(text: &'t str, [before, after]: &[Edge; 2]) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let is_start = |at: &usize| before.is(at.checked_sub(before.bytes as usize).map(|from| &bytes[from..*at]));
    let is_end = |at: &usize| match after.bytes as usize {
        0 => *at == bytes.len(),
        length => after.is(bytes.get(*at..at + length)),
    };
    let line_feeds = || memchr::memchr_iter(b'\n', bytes);
    let start = [0].into_iter().chain(line_feeds().map(|at| at + 1)).find(is_start)?;
    let end = line_feeds().chain([bytes.len()]).filter(|at| *at >= start).find(is_end)?;
    text.get(start..end)
}

/// Returns true if the client left out a content, or joined it to the one before.
fn is_left_out(hunk: &WindowHunk, place: &Place, content: &SentContent) -> bool {
    let before = hunk.before.iter().zip(&place.before);
    content.rendered == Some(Rendered::Generated) || before.into_iter().any(|(before, item)| before == content && item.is_none())
}

/// Returns a text as a new one: what it followed may come later by now.
fn text_of(body: &RequestBody<'_>, item: &Item) -> Option<Piece> {
    let text = match (&item.piece.text, item.piece.place) {
        (Some(text), _) => text.clone(),
        (None, place) => place.and_then(|(element, content)| body.text(element, content))?.into(),
    };
    Some(Piece { role: item.piece.role, place: None, text: Some(text) })
}

fn is_answer(role: Role) -> bool {
    role == Role::Assistant
}

/// Returns true if an item can be a content that the client renders, in other words.
fn is_rendered_as(item: &Item, content: &SentContent) -> bool {
    let is_type = match content.rendered {
        Some(Rendered::Text) => item.is_text,
        Some(Rendered::Result) => item.is_result,
        Some(Rendered::Generated) | None => false,
    };
    is_type && is_answer(item.piece.role) == is_answer(content.role)
}

/// Returns the changed text of an item that the client rendered in other words; `None` if only the client knows its words. The change can
/// be that a joined text leaves it, or the line feed at its end.
fn rendered_text<'t>(body: &RequestBody<'_>, item: &Item, text: &'t str) -> Option<Cow<'t, str>> {
    let (element, content) = item.piece.place?;
    let sent = body.text(element, content)?;
    if sent.starts_with(text) {
        return Some(Cow::Borrowed(text));
    }
    let line_feed = if text.ends_with('\n') { "\n" } else { "" };
    let words = sent.strip_suffix('\n').unwrap_or(&sent);
    body.is_reminder(element, content).then(|| Cow::Owned([words, line_feed].concat()))
}

/// Returns true if a hunk replaces only texts, so that nothing depends on it.
fn is_text_only(hunk: &WindowHunk) -> bool {
    hunk.after.len() == hunk.before.len() && hunk.after.iter().all(|content| matches!(content, NewContent::Changed(..)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{KnownElements, RequestApi};
    use crate::store::ContentOperation;

    fn sent(role: Role, text: &str, rendered: Option<Rendered>) -> SentContent {
        let key = Key::from_bytes(text.as_bytes());
        SentContent { role, sent: key, block: key, rendered }
    }

    fn folded(hunk: WindowHunk) -> Contents {
        let window = WindowChange { hunks: vec![hunk], ..WindowChange::default() };
        Contents::new(&[ContentOperation { id: 1, point: None, edits: Vec::new(), window: Some(window) }], &|_| None)
    }

    fn parsed(body: &str) -> RequestBody<'static> {
        RequestBody::parse_owned(RequestApi::Messages, body.into(), &mut KnownElements::default()).unwrap()
    }

    /// Returns the outcome of a fold of the first four contents, of which the client renders the third, and the number of contents then.
    fn outcome(texts: &[&str]) -> (Outcome, usize) {
        let note = sent(Role::User, "note", Some(Rendered::Text));
        let before =
            vec![sent(Role::User, "ask", None), sent(Role::Assistant, "one", None), note, sent(Role::Assistant, "two", None)];
        let after = vec![NewContent::Text(Role::User, "digest".to_owned())];
        let contents = folded(WindowHunk { before, after, ..WindowHunk::default() });
        let message = |text: &&str| {
            let role = if ["one", "two"].contains(text) { "assistant" } else { "user" };
            format!(r#"{{"role":"{role}","content":"{text}"}}"#)
        };
        let body = format!(r#"{{"messages":[{}]}}"#, texts.iter().map(message).collect::<Vec<_>>().join(","));
        let body = parsed(&body);
        let (conversation, outcomes) = Conversation::new(&contents, &body).at(1, &body);
        (outcomes[0].1, conversation.items.len())
    }

    #[test]
    fn a_text_that_the_client_joins_to_a_result_before_it_is_left_out() {
        let outcome = |results: &str| {
            let body = format!(
                r#"{{"messages":[{{"role":"user","content":"ask"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"Load","input":{{}}}}]}},{{"role":"user","content":[{results}]}},{{"role":"assistant","content":"two"}}]}}"#
            );
            let body = parsed(&body);
            let call = SentContent { sent: body.elements[1].contents[0].1, ..sent(Role::Assistant, "", None) };
            let (result, note) = (Some(Rendered::Result), Some(Rendered::Text));
            let made = sent(Role::User, "Loaded.", Some(Rendered::Generated));
            let results = [sent(Role::User, "names", result), made, sent(Role::User, "note", note)];
            let before = [&[sent(Role::User, "ask", None), call][..], &results, &[sent(Role::Assistant, "two", None)]].concat();
            let after = vec![NewContent::Text(Role::User, "digest".to_owned())];
            let contents = folded(WindowHunk { before, after, ..WindowHunk::default() });
            let (_, outcomes) = Conversation::new(&contents, &body).at(1, &body);
            outcomes[0].1
        };
        let result = r#"{"type":"tool_result","tool_use_id":"t","content":"names"}"#;
        let text = r#"{"type":"text","text":"note"}"#;
        assert_eq!(outcome(&[result, text].join(",")), Outcome::Applied);
        assert_eq!(outcome(&result.replace("names", "names and note")), Outcome::Applied);
        assert_eq!(outcome(text), Outcome::Unknown, "the result is missing");
    }

    #[test]
    fn a_text_that_the_client_joined_to_a_result_stays_when_the_result_goes() {
        let body = r#"{"messages":[{"role":"user","content":"ask"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Load","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"names\n\n<system-reminder>\none\n</system-reminder>\n\n<system-reminder>\ntwo\n</system-reminder>"}]},{"role":"assistant","content":"end"}]}"#;
        let body = parsed(body);
        let call = SentContent { sent: body.elements[1].contents[0].1, ..sent(Role::Assistant, "", None) };
        let result = sent(Role::User, "names", Some(Rendered::Result));
        let [one, two] = ["one", "two"].map(|text| sent(Role::User, text, Some(Rendered::Text)));
        let before = vec![call, result, one, two];
        let hunk = WindowHunk {
            anchor: Some(sent(Role::User, "ask", None)),
            before,
            trail: vec![sent(Role::Assistant, "end", None)],
            after: vec![NewContent::Kept(one), NewContent::Kept(two), NewContent::Text(Role::User, "digest".to_owned())],
            ..WindowHunk::default()
        };
        let contents = folded(hunk);
        let (conversation, outcomes) = Conversation::new(&contents, &body).at(1, &body);
        assert_eq!(outcomes[0].1, Outcome::Applied);
        let texts: Vec<_> = conversation.items.iter().filter_map(|item| item.piece.text.as_deref()).collect();
        let reminders = ["one", "two"].map(|text| [REMINDER.0, text, REMINDER.1].concat());
        assert_eq!(texts, [&*reminders[0], &*reminders[1], "digest"]);
    }

    #[test]
    fn rendered_contents_are_recognized_at_one_place_only() {
        assert_eq!(outcome(&["ask", "one", "note", "two", "go on"]), (Outcome::Applied, 2));
        assert_eq!(outcome(&["ask", "one", "in other words", "two", "go on"]), (Outcome::Applied, 2));
        let twice = ["ask", "one", "in other words", "two", "ask", "one", "other words again", "two", "go on"];
        assert_eq!(outcome(&twice), (Outcome::Unknown, 9), "two places");
        let exact = ["ask", "one", "in other words", "two", "ask", "one", "note", "two", "go on"];
        assert_eq!(outcome(&exact), (Outcome::Applied, 6), "equal words are preferred");
        assert_eq!(outcome(&["ask", "one", "words", "words", "two", "go on"]), (Outcome::Unknown, 6), "more contents");
        assert_eq!(outcome(&["ask", "one", "two", "go on"]), (Outcome::Unknown, 4), "fewer contents");
        assert_eq!(outcome(&["ask", "two", "in other words", "two", "go on"]), (Outcome::Unknown, 5), "another answer");
    }
}
