//! Converts a session: the texts of its window, as the rows of another client.

use super::Content;
use super::draft::{NOTE, uuid};
use super::fold::SUMMARY;
use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Event, Role};
use crate::provider::{NO_PARENT, NewRow, NewSession, NewText, ProviderAdapter, RECORD};
use std::borrow::Cow;

/// A session to convert: the blocks of its window in the order of requests, with their contents.
pub struct ConversionSource<'a> {
    pub reading: &'a Analysis,
    pub agent: &'a str,
    pub blocks: &'a [&'a Block],
    pub contents: &'a [Content],
    /// Formats a time in milliseconds since 1970 as RFC 3339.
    pub timestamp: &'a dyn Fn(i64) -> String,
}

/// The rows of a converted session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    pub bytes: Vec<u8>,
    pub rows: usize,
    pub prompts: usize,
    pub answers: usize,
    /// Calls of tools and their results, as texts, and such records of an earlier conversion.
    pub records: usize,
    /// Images and documents, which are not converted.
    pub media: usize,
}

/// Returns a window as a session of another client: the words of the user and the texts of the model as they are; calls and their
/// results as records, because the tools of two clients differ. Thinking is signed for its own session, and texts of a client are
/// those of the other one: both are left out. `None` if no session of that client is written.
pub fn convert(to: &dyn ProviderAdapter, new: &NewSession<'_>, source: &ConversionSource<'_>) -> Option<Conversion> {
    let opening = to.opening(new)?;
    let mut conversion = Conversion::default();
    let mut parent = NO_PARENT.to_vec();
    let texts = texts(source, &mut conversion);
    for (place, (text, time)) in texts.iter().enumerate() {
        let timestamp = time.map_or_else(|| new.timestamp.to_owned(), |time| (source.timestamp)(time));
        let id = uuid(blake3::hash(format!("{} {place}", new.id).as_bytes()).as_bytes());
        let row = NewRow { like: &opening.like, parent: parent.clone(), id, timestamp, sidechain: false, ordinal: None };
        let rows = to.message(&row, text)?;
        if let Some(identity) = rows.first().and_then(|row| to.identity(row)) {
            parent = identity;
        }
        let first = opening.row.iter().filter(|_| place == 0);
        for row in first.chain(&rows) {
            conversion.bytes.extend_from_slice(row);
            conversion.bytes.push(b'\n');
            conversion.rows += 1;
        }
    }
    Some(conversion)
}

/// Returns the texts of a session in order, each with its time; adjacent records are one.
fn texts<'a>(source: &ConversionSource<'a>, conversion: &mut Conversion) -> Vec<(NewText<'a>, Option<i64>)> {
    let session = &source.reading.session;
    let note = format!(
        "This conversation began in {} as session {}. Calls of its tools and their results follow as texts: a record of what was \
         done. Use the tools that you have now.",
        source.agent, session.id
    );
    let mut texts: Vec<(NewText<'a>, Option<i64>)> = Vec::new();
    let mut records = vec![note];
    let flush = |records: &mut Vec<String>, texts: &mut Vec<(NewText<'a>, Option<i64>)>, time| {
        if !records.is_empty() {
            texts.push((NewText::Record(records.join("\n\n")), time));
            records.clear();
        }
    };
    let queued: Vec<(BlockNumber, Box<str>)> = source.reading.queued_words().collect();
    for (block, content) in source.blocks.iter().zip(source.contents) {
        let text: &'a str = content.cut.as_deref().unwrap_or(&content.readable);
        conversion.media += block.media.images.len() + block.media.documents.len();
        let words = content.words(block);
        let model = || session.rows[block.row as usize].model.as_deref().unwrap_or_default();
        match (block.kind, block.role) {
            (BlockKind::Text, Role::User) if words.is_some() => {}
            (BlockKind::Text, Role::Assistant) if !text.trim().is_empty() => {
                flush(&mut records, &mut texts, block.timestamp);
                conversion.answers += 1;
                texts.push((NewText::Assistant(Cow::Borrowed(text), model()), block.timestamp));
            }
            (BlockKind::ToolUse, _) => {
                conversion.records += 1;
                let name = block.tool.as_ref().map_or("tool", |tool| &tool.name);
                records.push(format!("Call of {name}:\n{}", text.trim_end()));
            }
            (BlockKind::ToolResult, _) => {
                conversion.records += 1;
                let name = block.tool.as_ref().map_or("a tool", |tool| &tool.name);
                let verb = if block.error { "Error of" } else { "Result of" };
                records.push(format!("{verb} {name}:\n{}", text.trim_end()));
            }
            _ if &*block.label == RECORD => {
                conversion.records += 1;
                let tagged =
                    text.trim().strip_prefix(&format!("<{RECORD}>")).and_then(|text| text.strip_suffix(&format!("</{RECORD}>")));
                records.push(tagged.unwrap_or(text).trim().to_owned());
            }
            _ if is_story(source, block) => records.push(text.trim_end().to_owned()),
            _ => {}
        }
        // A prompt, one that was typed while the agent worked, or the words of the user in a result.
        let queued = queued.iter().filter(|(before, _)| *before == block.number);
        for words in words.into_iter().chain(queued.map(|(_, words)| Cow::Owned(words.to_string()))) {
            flush(&mut records, &mut texts, block.timestamp);
            conversion.prompts += 1;
            texts.push((NewText::User(words), block.timestamp));
        }
    }
    flush(&mut records, &mut texts, None);
    texts
}

/// Returns true if a text that a client or aperture wrote holds what happened before: the summary of a compaction, or a digest.
fn is_story(source: &ConversionSource<'_>, block: &Block) -> bool {
    let row = &source.reading.session.rows[block.row as usize];
    matches!(row.event.as_deref(), Some(Event::CompactSummary)) || [NOTE, SUMMARY].contains(&&*block.label)
}
