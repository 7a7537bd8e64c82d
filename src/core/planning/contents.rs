//! Reads the contents of blocks from their rows.

use super::splice::SpliceError;
use crate::engine::Analysis;
use crate::engine::summary::own_words;
use crate::model::{Block, BlockKind, BlockNumber, Key};
use crate::provider::{ProviderAdapter, conventions};
use std::borrow::Cow;
use std::rc::Rc;

/// The content of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The content as sent to the model: text, or the input of a tool use as JSON.
    pub sent: String,
    pub readable: String,
    /// The remainder, if the client sends the content truncated.
    pub cut: Option<String>,
}

impl Content {
    /// Returns the words of the user in the content of a block: a prompt as a whole, a command as it was typed, and of a result what the
    /// user said in it, such as the reason of a rejection. `None` if there are none.
    pub fn words(&self, block: &Block) -> Option<Cow<'_, str>> {
        if block.kind == BlockKind::Text {
            let is_whole = !self.sent.trim_start().starts_with('<');
            let words = if is_whole { Cow::Borrowed(&*self.readable) } else { Cow::Owned(block.said_in(&self.sent)) };
            return Some(words).filter(|_| !block.words.is_empty());
        }
        let own: Vec<&str> = block.words_in(&self.sent).filter_map(|words| own_words(block, words, conventions())).collect();
        (!own.is_empty()).then(|| Cow::Owned(own.join("\n")))
    }
}

/// Returns the contents of blocks; `line` reads each row once.
/// Errors: a row cannot be read, or changed since it was read.
pub fn contents(
    provider: &dyn ProviderAdapter,
    reading: &Analysis,
    numbers: &[BlockNumber],
    line: &dyn Fn(u32) -> Result<Rc<[u8]>, SpliceError>,
) -> Result<Vec<Content>, SpliceError> {
    let block = |number: &BlockNumber| reading.block(*number).ok_or(SpliceError::Mismatch);
    let blocks: Vec<&Block> = numbers.iter().map(block).collect::<Result<_, _>>()?;
    let mut contents = Vec::with_capacity(numbers.len());
    for of_row in blocks.chunk_by(|one, other| one.row == other.row) {
        let bytes = line(of_row[0].row)?;
        // Parse each row once: it can have as many blocks as bytes.
        let parsed = provider.parse(&bytes);
        for block in of_row {
            let parsed = parsed.blocks.get(block.index as usize);
            let parsed = parsed.filter(|parsed| Key::from_bytes(parsed.content.as_bytes()) == block.hash);
            let parsed = parsed.ok_or(SpliceError::Mismatch)?;
            let limit = block.sent_cut().map(|cut| cut.limit);
            let cut = parsed.cuts.iter().find(|cut| Some(cut.limit) == limit).map(|cut| cut.content.clone());
            contents.push(Content { sent: parsed.content.to_string(), readable: parsed.text().to_owned(), cut });
        }
    }
    Ok(contents)
}
