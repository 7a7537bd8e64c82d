//! Parses bytes into rows and measured blocks.

use crate::engine;
use crate::model::{Cut, Event, Key, Origin, Segment, Session};
use crate::provider::{ProviderAdapter, conventions};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Parses a session that is held in memory and inherits no rows.
pub fn parse_session(provider: &dyn ProviderAdapter, id: String, bytes: &[u8]) -> Session {
    let mut session = Session::join(provider.name(), conventions(), id, vec![parse_chunk(provider, &|_| None, bytes, 0)]);
    session.bytes = bytes.len() as u64;
    session.ends_with_newline = bytes.last().is_none_or(|last| *last == b'\n');
    provider.link(&mut session);
    session
}

/// Parses the lines of a chunk that begins at `offset` in the file.
pub fn parse_chunk(
    provider: &dyn ProviderAdapter,
    known: &(dyn Fn(Key) -> Option<u32> + Sync),
    chunk: &[u8],
    offset: u64,
) -> Segment {
    let mut segment = Segment { start: offset, end: offset + chunk.len() as u64, ..Segment::default() };
    let mut origins: FxHashMap<[Option<Cow<'_, str>>; 4], usize> = FxHashMap::default();
    let mut at = 0;
    while at < chunk.len() {
        let end = memchr::memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length);
        let line = &chunk[at..end];
        let start = at;
        at = end + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut parsed = provider.parse(line);
        parsed.row.offset = offset + start as u64;
        parsed.row.length = line.len() as u32;
        // Origins are interned: a session has only a few different ones.
        let place = *origins.entry(std::mem::take(&mut parsed.origin)).or_insert_with_key(|origin| {
            let [session, directory, version, branch] =
                origin.each_ref().map(|text| engine::mask(text.as_deref().unwrap_or_default()).into_owned());
            segment.origins.push(Origin { session, directory, version, branch });
            segment.origins.len() - 1
        });
        parsed.row.origin = place as u32;
        if let Some(Event::Title { text, .. }) = parsed.row.event.as_deref_mut() {
            *text = engine::mask(text).into_owned();
        }
        for mut block in parsed.blocks {
            let (content, text) = (&block.content, block.readable.as_deref());
            block.block.row = segment.rows.len() as u32;
            let text = text.unwrap_or(content);
            segment.secrets.extend(match &block.unrecorded {
                None => engine::measure(&mut block.block, conventions(), content, text, block.refers.as_deref(), known),
                Some(unrecorded) => {
                    let mut recorded = content.to_string();
                    recorded.replace_range(unrecorded.line.clone(), "");
                    let secrets = engine::measure(&mut block.block, conventions(), content, &recorded, None, &|_| None);
                    block.block.counts = block.block.counts + unrecorded.counts;
                    secrets
                }
            });
            block.block.cuts.extend(block.cuts.iter().map(|cut| Cut {
                limit: cut.limit,
                stated: cut.stated,
                bytes: cut.content.len() as u64,
                counts: engine::counts(&cut.content),
            }));
            segment.blocks.push(block.block);
        }
        segment.rows.push(parsed.row);
    }
    segment
}
