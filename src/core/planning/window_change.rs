//! Finds which contents a plan adds to the requests of a session, removes from them and joins differently.

use super::PlanError;
use super::block_edits::addresses;
use super::draft::Draft;
use super::revision::Revision;
use crate::model::{
    BlockKind, BlockNumber, Edge, Flags, Key, NewContent, Rendered, Role, SentContent, Session, Window, WindowChange, WindowHunk,
    Words,
};
use crate::provider::{Change, Message, Part, Source, reminder, unwrap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::iter;
use std::ops::Range;

struct Item {
    role: Role,
    part: Part,
    /// The hash of its first block.
    block: Key,
    /// Equal for contents with equal texts; the hash of its only block if it is sent unchanged.
    signature: Key,
    rendered: Option<Rendered>,
}

impl Item {
    fn number(&self) -> Option<BlockNumber> {
        match self.part.source {
            Source::Block(number) => Some(number),
            Source::Text(_) | Source::Result { .. } => None,
        }
    }

    /// Returns true if requests cannot tell the two apart by their first blocks.
    fn resembles(&self, other: &Item) -> bool {
        self.role == other.role && (self.signature == other.signature || self.block == other.block)
    }
}

/// The requests before and after a plan.
struct Requests<'a> {
    draft: &'a Draft<'a>,
    revision: &'a Revision,
    old: Vec<Item>,
    new: Vec<Item>,
}

impl Draft<'_> {
    /// Returns the planned change of the window beside the changes of single blocks; `None` if there is none, and for an exact
    /// reversal, which leads to a logged state.
    pub(super) fn window_change(&self, revision: &Revision, window: &Window) -> Result<Option<WindowChange>, PlanError> {
        if self.reversal.is_some() || self.all_edits().all(|edit| !edit.slot.is_sent()) {
            return Ok(None);
        }
        let (provider, reading) = (self.source.provider, self.reading());
        let old = items(&reading.session, &provider.messages(&reading.session, &reading.window));
        let new = items(&revision.session, &provider.messages(&revision.session, window));
        let requests = Requests { draft: self, revision, old, new };
        let places = requests.places();
        if places.is_empty() {
            return Ok(None);
        }
        let addresses = addresses(reading);
        let address = |number: &BlockNumber| addresses[*number as usize - 1];
        let sent: FxHashSet<BlockNumber> = reading.window.blocks.iter().copied().collect();
        let mut change = WindowChange::default();
        for (old, new) in places {
            let before: FxHashSet<BlockNumber> = requests.old[old.clone()].iter().flat_map(|item| item.part.blocks()).collect();
            let after = requests.new_blocks(old.clone(), new.clone());
            change.removed.extend(before.iter().filter(|number| !after.contains(number)).map(address));
            change.restored.extend(after.iter().filter(|number| !sent.contains(number)).map(address));
            change.hunks.push(requests.hunk(old, new)?);
        }
        change.removed.sort_unstable();
        change.restored.sort_unstable();
        Ok(Some(change))
    }
}

impl Requests<'_> {
    /// Returns the block of the old session that a block of the new one was.
    fn was(&self, number: BlockNumber) -> Option<BlockNumber> {
        self.revision.block_was.get(number as usize - 1).copied().flatten().map(|index| index + 1)
    }

    /// Returns true if two contents are the same, or differ only by the change of one block.
    fn agree(&self, old: &Item, new: &Item) -> bool {
        if old.role != new.role || old.signature == new.signature {
            return old.role == new.role;
        }
        let (Some(was), Some(now)) = (old.number(), new.number()) else { return false };
        let is_wrapped = |part: &Part| part.line_feed || part.reminder.is_some();
        let blocks = |session: &Session, part: &Part| -> Vec<Key> {
            part.added.iter().map(|added| session.blocks[added.block as usize - 1].hash).collect()
        };
        let is_folded = |part: &Part| part.added.iter().all(|added| added.change == Change::Trimmed);
        self.was(now) == Some(was)
            && old.part.unwrapped == new.part.unwrapped
            && !is_wrapped(&old.part)
            && !is_wrapped(&new.part)
            && (old.part.added.is_empty() || !old.part.unwrapped && is_folded(&old.part))
            && blocks(self.draft.session(), &old.part) == blocks(&self.revision.session, &new.part)
    }

    /// Returns the places at which the contents differ: ranges of the old and of the new ones.
    fn places(&self) -> Vec<(Range<usize>, Range<usize>)> {
        let (old, new) = (&self.old, &self.new);
        let first = old.iter().zip(new).take_while(|(old, new)| self.agree(old, new)).count();
        let rest = old[first..].iter().rev().zip(new[first..].iter().rev());
        let last = rest.take_while(|(old, new)| self.agree(old, new)).count();
        let (old_end, new_end) = (old.len() - last, new.len() - last);
        let by_number: FxHashMap<BlockNumber, usize> =
            (first..old_end).filter_map(|place| Some((old[place].number()?, place))).collect();
        let mut places: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        let mut add = |old: Range<usize>, new: Range<usize>| add(&mut places, old, new);
        let (mut old_place, mut new_place) = (first, first);
        for (place, item) in new.iter().enumerate().take(new_end).skip(first) {
            let was = item.number().and_then(|number| self.was(number));
            let Some(same) = was.and_then(|was| by_number.get(&was)).copied().filter(|same| *same >= old_place) else { continue };
            add(old_place..same, new_place..place);
            if !self.agree(&old[same], item) {
                add(same..same + 1, place..place + 1);
            }
            (old_place, new_place) = (same + 1, place + 1);
        }
        add(old_place..old_end, new_place..new_end);
        self.with_joined(places)
    }

    /// Returns places that also have the texts that a client can join to their last content: a result, with words of its own, that
    /// goes.
    fn with_joined(&self, places: Vec<(Range<usize>, Range<usize>)>) -> Vec<(Range<usize>, Range<usize>)> {
        let ends: Vec<usize> = places.iter().skip(1).map(|(old, _)| old.start).chain([self.old.len()]).collect();
        let mut all = Vec::with_capacity(places.len());
        for ((mut old, mut new), end) in places.into_iter().zip(ends) {
            let last = self.old[old.clone()].iter().rev().find(|item| item.rendered != Some(Rendered::Generated));
            let result = last.filter(|item| item.rendered == Some(Rendered::Result)).and_then(Item::number);
            if result.is_some_and(|result| !self.new_blocks(old.clone(), new.clone()).contains(&result)) {
                let is_text =
                    |(old, new): &(&Item, &Item)| old.rendered == Some(Rendered::Text) && old.signature == new.signature;
                let texts = self.old[old.end..end].iter().zip(&self.new[new.end..]).take_while(is_text).count();
                (old.end, new.end) = (old.end + texts, new.end + texts);
            }
            add(&mut all, old, new);
        }
        all
    }

    fn same(&self, mut old: Range<usize>, new: &Item) -> Option<usize> {
        let was = new.number().and_then(|number| self.was(number));
        let same = old.clone().find(|place| was.is_some() && self.old[*place].number() == was);
        let is_equal = |item: &Item| item.role == new.role && item.signature == new.signature;
        same.or_else(|| old.find(|place| is_equal(&self.old[*place])))
    }

    fn new_blocks(&self, old: Range<usize>, new: Range<usize>) -> FxHashSet<BlockNumber> {
        let mut blocks = FxHashSet::default();
        for item in &self.new[new] {
            match self.same(old.clone(), item).map(|same| &self.old[same]).filter(|same| same.signature == item.signature) {
                Some(same) => blocks.extend(same.part.blocks()),
                None => blocks.extend(item.part.blocks().filter_map(|number| self.was(number))),
            }
        }
        blocks
    }

    fn hunk(&self, old: Range<usize>, new: Range<usize>) -> Result<WindowHunk, PlanError> {
        // The result that the client makes for an open call is not the one that follows it in a running conversation.
        let is_made = |item: &&Item| matches!(item.part.source, Source::Result { .. });
        let is_last = old.end == self.old.len();
        let made = if is_last && old.is_empty() { self.old.iter().rev().take_while(is_made).count() } else { 0 };
        let old = old.start - made..old.end - made;
        let start = old.start.saturating_sub(1);
        let pattern = &self.old[start..old.end];
        let is_equal = |place: usize| {
            let there = self.old.get(place..place + pattern.len());
            there.is_some_and(|there| there.iter().zip(pattern).all(|(one, other)| one.resembles(other)))
        };
        let occurrence = if pattern.is_empty() { 0 } else { (0..start).filter(|place| is_equal(*place)).count() as u32 };
        let anchor = if old.start > 0 { Some(self.sent(&self.old[start])?) } else { None };
        let before = self.old[old.clone()].iter().map(|item| self.sent(item)).collect::<Result<_, _>>()?;
        let (lead, trail) = self.bounds(start..old.end);
        let sent = |items: &[Item]| items.iter().map(|item| self.sent(item)).collect::<Result<Vec<_>, _>>();
        let (lead, trail) = (sent(&self.old[lead])?, sent(&self.old[trail])?);
        let announced = self.announced(old.clone(), new.clone()).map(|item| self.sent(item)).collect::<Result<_, _>>()?;
        // Contents of a request keep their order: one that was before another is written again after it.
        let mut rest = old;
        let mut after: Vec<NewContent> = Vec::with_capacity(new.len());
        for item in &self.new[new.clone()] {
            let same = self.same(rest.clone(), item);
            after.push(self.new_content(same.map(|same| &self.old[same]), item)?);
            rest.start = same.map_or(rest.start, |same| same + 1);
        }
        let mut words = Vec::new();
        for (place, (item, content)) in self.new[new].iter().zip(&after).enumerate() {
            if let NewContent::Changed(_, text) | NewContent::Moved(_, text) = content {
                words.extend(self.words(item, text, place as u32)?);
            }
        }
        Ok(WindowHunk { anchor, before, occurrence, lead, trail, after, announced, is_last, words })
    }

    /// Returns the texts in a new content that the client renders: whole old contents, or reminders in them.
    fn words(&self, item: &Item, new: &str, content: u32) -> Result<Vec<Words>, PlanError> {
        let mut words: Vec<Words> = Vec::new();
        let mut from = 0;
        for was in item.part.blocks().filter_map(|number| self.was(number)) {
            let Some(item) = self.old.iter().find(|item| item.part.blocks().any(|number| number == was)) else { continue };
            let of = self.sent(item)?;
            let is_known = words.iter().any(|known| known.of == of && known.reminder.is_none() && known.between.is_none());
            if is_known || item.rendered.is_none() || self.draft.session().blocks[was as usize - 1].kind != BlockKind::Attachment
            {
                continue;
            }
            let whole = text(&item.part, |number| self.draft.content(number))?;
            let recorded = self.draft.content(was)?;
            let after = item.part.blocks().skip_while(|number| *number != was).count() as u32 - 1;
            let found =
                |text: &str| new[from..].find(text).filter(|_| !text.is_empty()).map(|at| from + at..from + at + text.len());
            let joined = unwrap(whole.trim_end());
            let tagged = reminder(&whole, after).filter(|text| *text == unwrap(recorded.trim()));
            let (range, reminder, between) = match (found(joined), tagged.and_then(found)) {
                (Some(range), _) => (range, None, None),
                (None, Some(range)) => (range, Some(after), None),
                (None, None) => {
                    let place = |text: &String| Some((found(text)?, edges(joined, text)?));
                    match self.runs(&item.part, was)?.iter().find_map(place) {
                        Some((range, edges)) => (range, None, Some(edges)),
                        None => continue,
                    }
                }
            };
            from = range.end;
            words.push(Words { content, range: (range.start as u32, range.end as u32), of, reminder, between });
        }
        Ok(words)
    }

    /// Returns the texts of a block that the client words and of further such blocks that are joined to it, the longest text first.
    fn runs(&self, part: &Part, first: BlockNumber) -> Result<Vec<String>, PlanError> {
        let mut run = Vec::new();
        for number in part.blocks().skip_while(|number| *number != first) {
            if !self.draft.is_worded(number)? {
                break;
            }
            run.push(number);
        }
        let text_of = |length: usize| {
            let added = part.added.iter().filter(|added| run[1..length].contains(&added.block)).copied().collect();
            let part = Part { unwrapped: true, added, ..Part::new(Source::Block(first)) };
            text(&part, |number| self.draft.content(number))
        };
        (1..=run.len()).rev().map(text_of).collect()
    }

    /// Returns the old texts that a running client does not send again, of those that no new content has.
    fn announced(&self, old: Range<usize>, new: Range<usize>) -> impl Iterator<Item = &Item> {
        let blocks = self.new_blocks(old.clone(), new);
        let (session, provider) = (self.draft.session(), self.draft.source.provider);
        let goes =
            move |number: BlockNumber| provider.announces(&session.blocks[number as usize - 1]) && !blocks.contains(&number);
        let is_text = |item: &&Item| item.rendered == Some(Rendered::Text);
        self.old[old].iter().filter(is_text).filter(move |item| item.part.blocks().any(&goes))
    }

    /// Returns the contents around some that bound them: they begin and end with a content that the client does not render.
    fn bounds(&self, place: Range<usize>) -> (Range<usize>, Range<usize>) {
        let is_exact = |item: &Item| item.rendered.is_none();
        let (mut lead, mut trail) = (place.start, place.end);
        if self.old[place.clone()].first().is_some_and(|item| !is_exact(item)) {
            lead = self.old[..place.start].iter().rposition(is_exact).unwrap_or(0);
        }
        if self.old[place.clone()].last().is_some_and(|item| !is_exact(item)) {
            let next = self.old[place.end..].iter().position(is_exact);
            trail = next.map_or(self.old.len(), |next| place.end + next + 1);
        }
        (lead..place.start, place.end..trail)
    }

    fn new_content(&self, same: Option<&Item>, item: &Item) -> Result<NewContent, PlanError> {
        match same {
            Some(same) if same.signature == item.signature => return Ok(NewContent::Kept(self.sent(same)?)),
            Some(same) if same.role == item.role => return Ok(NewContent::Changed(self.sent(same)?, self.new_text(item)?)),
            _ => {}
        }
        let text = self.new_text(item)?;
        let kind = item.number().map(|number| self.revision.session.blocks[number as usize - 1].kind);
        let was = item.number().and_then(|number| self.was(number));
        let is_new = item.number().is_some() && was.is_none();
        // A text that was in the request is written again, at its new place: contents of a request keep their order.
        let is_sent = was.is_some_and(|was| self.draft.reading().window.blocks.contains(&was));
        Ok(match kind {
            Some(BlockKind::Attachment) if !is_new => NewContent::Moved(item.role, text),
            Some(BlockKind::Text) if is_sent && item.role == Role::User => NewContent::Moved(item.role, text),
            Some(BlockKind::Attachment | BlockKind::Text) if is_new && item.role != Role::Assistant => {
                NewContent::Text(item.role, text)
            }
            _ => NewContent::Kept(SentContent {
                role: item.role,
                sent: Key::from_bytes(text.as_bytes()),
                block: item.block,
                rendered: item.rendered,
            }),
        })
    }

    fn sent(&self, item: &Item) -> Result<SentContent, PlanError> {
        let sent = match is_plain(&item.part) {
            true => item.signature,
            false => Key::from_bytes(text(&item.part, |number| self.draft.content(number))?.as_bytes()),
        };
        Ok(SentContent { role: item.role, sent, block: item.block, rendered: item.rendered })
    }

    fn new_text(&self, item: &Item) -> Result<String, PlanError> {
        text(&item.part, |number| match self.was(number) {
            Some(was) => self.revision.contents.get(&(was - 1)).cloned().map_or_else(|| self.draft.content(was), Ok),
            None => self.revision.added.get(&number).cloned().ok_or(PlanError::Moved),
        })
    }
}

/// Returns the ends of the texts before and after a part of a text, the first as long as it must be to be found at one place only; `None`
/// if it is at several.
fn edges(text: &str, part: &str) -> Option<[Edge; 2]> {
    const BYTES: usize = 64;
    let (before, after) = text.split_once(part)?;
    let end = |bytes: usize| &before[before.ceil_char_boundary(before.len().saturating_sub(bytes))..];
    let lengths = iter::successors(Some(BYTES), |bytes| Some(2 * bytes)).take_while(|bytes| *bytes < 2 * before.len().max(BYTES));
    let before = lengths.map(end).find(|end| end.is_empty() || text.matches(end).count() == 1)?;
    let edge = |text: &str| Edge { bytes: text.len() as u32, hash: Key::from_bytes(text.as_bytes()) };
    Some([before, &after[..after.floor_char_boundary(BYTES)]].map(edge))
}

/// Adds a place of changes that follows others, or extends the last one to it.
fn add(places: &mut Vec<(Range<usize>, Range<usize>)>, old: Range<usize>, new: Range<usize>) {
    match places.last_mut() {
        _ if old.is_empty() && new.is_empty() => {}
        Some(last) if last.0.end == old.start && last.1.end == new.start => (last.0.end, last.1.end) = (old.end, new.end),
        _ => places.push((old, new)),
    }
}

/// Returns the contents of messages in order, without thinking.
fn items(session: &Session, messages: &[Message]) -> Vec<Item> {
    let hash = |number: BlockNumber| session.blocks[number as usize - 1].hash;
    let mut items = Vec::new();
    for message in messages {
        let role = match message.role {
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => Role::User,
        };
        for part in &message.parts {
            let block = match part.source {
                Source::Block(number) if session.blocks[number as usize - 1].kind == BlockKind::Thinking => continue,
                Source::Block(number) => hash(number),
                Source::Text(text) => Key::from_bytes(text.as_bytes()),
                Source::Result { of, text } => Key(hash(of).0 ^ Key::from_bytes(text.as_bytes()).0),
            };
            let signature = if is_plain(part) { block } else { signature(part, block, &hash) };
            items.push(Item { role, part: part.clone(), block, signature, rendered: rendered(session, role, part) });
        }
    }
    items
}

/// Returns the form of a content that the client renders.
fn rendered(session: &Session, role: Role, part: &Part) -> Option<Rendered> {
    let number = match part.source {
        Source::Block(number) => number,
        Source::Text(_) => return (role == Role::User).then_some(Rendered::Generated),
        Source::Result { .. } => return Some(Rendered::Result),
    };
    let block = &session.blocks[number as usize - 1];
    let is_joined = !part.added.is_empty() || part.reminder.is_some();
    match block.kind {
        BlockKind::ToolResult if is_joined || session.rows[block.row as usize].flags.any(Flags::LOADS_TOOLS) => {
            Some(Rendered::Result)
        }
        BlockKind::Attachment => Some(Rendered::Text),
        BlockKind::Text if is_joined => Some(Rendered::Text),
        _ => None,
    }
}

/// Returns true if a part is one block, unchanged.
fn is_plain(part: &Part) -> bool {
    let is_joined = part.unwrapped || part.line_feed || part.reminder.is_some() || !part.added.is_empty();
    !is_joined && !matches!(part.source, Source::Result { .. })
}

fn signature(part: &Part, first: Key, hash: &dyn Fn(BlockNumber) -> Key) -> Key {
    let mut bytes = vec![u8::from(part.unwrapped), u8::from(part.line_feed), u8::from(part.reminder.is_some())];
    bytes.extend(first.0.to_le_bytes());
    for added in &part.added {
        bytes.extend(hash(added.block).0.to_le_bytes());
        bytes.extend(added.separator.as_bytes());
        bytes.push(added.change as u8);
    }
    Key::from_bytes(&bytes)
}

fn text(part: &Part, content: impl Fn(BlockNumber) -> Result<String, PlanError>) -> Result<String, PlanError> {
    let contents = part.blocks().map(|number| Ok((number, content(number)?))).collect::<Result<Vec<_>, PlanError>>()?;
    let known = |number| contents.iter().find(|(known, _)| *known == number).map_or("", |(_, content)| content);
    Ok(part.text(|number| Cow::Borrowed(known(number))).into_owned())
}
