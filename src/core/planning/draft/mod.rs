//! A plan under construction: the requested changes and their necessary consequences.

mod back;
mod figures;
mod finish;
mod intents;
mod padding;
mod redact;
mod repair;
mod rows;
mod shrink;
mod strip;

pub use crate::model::SkipReason;
pub use finish::Drafted;
pub use redact::Redacted;
pub use repair::Repaired;
pub use rows::uuid;
pub use strip::Thinking;

use super::addresses::Addresses;
use super::originals::{BlockEdits, Originals};
use super::rows::Rows;
use super::splice::{Splice, SpliceError, splice};
use super::{Content, PlanError, contents};
use crate::engine::{self, Analysis};
use crate::model::{
    Address, Block, BlockKind, BlockNumber, Edit, Flags, History, Key, Level, LoggedEdit, Mark, Reversal, Role, RowAddress,
    RowKind, Session, Slot, ToolVerb, Zone,
};
use crate::provider::{ParsedBlock, ProviderAdapter};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The type of the attachments that aperture adds.
pub const NOTE: &str = "aperture_note";

/// A block before aperture first changed it.
#[derive(Clone, Debug)]
pub struct Original {
    pub block: Block,
    /// The content as sent to the model.
    pub content: String,
    /// The same content in readable form.
    pub readable: String,
    /// The cost of the block, in tokens.
    pub tokens: f64,
}

/// The part of the session that one note replaces.
#[derive(Clone, Debug)]
pub enum Folded {
    /// Turns that are removed from the chain.
    Turns(RangeInclusive<u32>),
    /// Single blocks; a provider without a chain writes the remaining ones again.
    Blocks(FxHashSet<BlockNumber>),
    /// Blocks in rows up to this one, and in rows that aperture added: restoring a logged state may hide them.
    Until(u32),
}

/// A session that changes are planned for.
#[derive(Clone, Copy)]
pub struct PlanSource<'a> {
    /// The provider whose format the rows have.
    pub provider: &'a dyn ProviderAdapter,
    pub reading: &'a Analysis,
    /// The operations on it so far.
    pub history: &'a History,
}

/// A state of a plan under construction.
pub(super) struct Checkpoint {
    edits: BTreeMap<(u32, u32, Slot), Edit>,
    lines: Vec<Edit>,
    folded: Option<Folded>,
}

/// Returns the checked text that a local model made of a content, and the name of the model, by the hash of the original.
pub type ModelTexts = dyn Fn(Key) -> Option<(String, String)>;

/// A plan under construction.
pub struct Draft<'a> {
    pub(super) source: PlanSource<'a>,
    pub(super) originals: Option<&'a dyn Originals>,
    pub(super) addresses: Addresses,
    pub(super) rows: Box<dyn Rows + 'a>,
    base_hash: Address,
    now: i64,
    /// Values that are replaced, by row, block and slot.
    pub(super) edits: BTreeMap<(u32, u32, Slot), Edit>,
    /// Rows that are added or removed.
    lines: Vec<Edit>,
    notes: Vec<(String, String)>,
    /// The last row in the file before the inverted operation: token figures up to it are in the log.
    pub(super) logged_until: Option<Key>,
    /// The part of the session that one note replaces.
    pub(super) folded: Option<Folded>,
    /// True if the plan removes only data that no request has.
    pub(super) keeps_window: bool,
    /// For a repair: the blocks whose ids or kinds change.
    pub(super) repairs: Option<FxHashSet<BlockNumber>>,
    /// The marks set or cleared so far.
    pub marks: Vec<Mark>,
    /// For an exact undo, redo or restore: the bytes to restore.
    pub(super) reversal: Option<Reversal>,
    /// The number of bytes that the reversal restores; rows appended since follow them.
    pub(super) restored_bytes: u64,
    /// The cost of restored blocks in tokens, if it was measured.
    pub(super) known_tokens: FxHashMap<BlockNumber, f64>,
    /// True if thinking after the first change stays, unless its model is known to reject it; the plan fails if the model binds it.
    pub keeps_thinking: bool,
    /// The blocks that the user selected by number, not by a rule or a property: the only ones with instructions that may be shortened.
    pub numbered: FxHashSet<BlockNumber>,
    /// True if originals were restored, so that thinking may be valid again.
    restores: bool,
    /// Texts of a local model for the level `summarized`, in the place of those by rules.
    pub texts: Option<Rc<ModelTexts>>,
    /// The row of the first prompt, computed on first use.
    first_prompt: OnceCell<Option<usize>>,
    /// The edits in the log of each block, in any slot.
    logged: FxHashMap<(RowAddress, u32), BlockEdits<'a>>,
}

impl<'a> Draft<'a> {
    /// Prepares a plan for a session whose bytes are `rows`. Without `originals`, blocks that were changed before cannot be
    /// restored or shortened further. `now` is in milliseconds since 1970, UTC.
    /// Errors: the rows cannot be read, or the file is shorter than the session that was read.
    pub fn new(
        source: PlanSource<'a>,
        rows: Box<dyn Rows + 'a>,
        originals: Option<&'a dyn Originals>,
        now: i64,
    ) -> Result<Draft<'a>, PlanError> {
        let session = &source.reading.session;
        let base_hash = rows.session_hash(session)?.ok_or(PlanError::Moved)?;
        let logged = BlockEdits::of_all(source.history);
        Ok(Draft {
            source,
            originals,
            addresses: Addresses::new(session),
            rows,
            base_hash,
            now,
            edits: BTreeMap::new(),
            lines: Vec::new(),
            notes: Vec::new(),
            logged_until: None,
            folded: None,
            keeps_window: false,
            repairs: None,
            marks: Vec::new(),
            reversal: None,
            restored_bytes: 0,
            known_tokens: FxHashMap::default(),
            keeps_thinking: false,
            numbered: FxHashSet::default(),
            restores: false,
            texts: None,
            first_prompt: OnceCell::new(),
            logged,
        })
    }

    /// Returns true if no rule and no selection of many blocks may shorten a block: it instructs the model.
    pub(super) fn is_instruction(&self, block: &Block) -> bool {
        engine::instructs(block) && !self.numbered.contains(&block.number)
    }

    /// Returns true if a call writes the plan that no later call has replaced, unless a person named it by its number.
    pub(super) fn is_plan_in_force(&self, block: &Block) -> bool {
        let is_plan = |block: &&Block| block.kind == BlockKind::ToolUse && block.has_verb(ToolVerb::Plan);
        is_plan(&block)
            && !self.numbered.contains(&block.number)
            && self.reading().in_window().filter(is_plan).last().is_some_and(|last| last.number == block.number)
    }

    pub fn reading(&self) -> &'a Analysis {
        self.source.reading
    }

    pub(super) fn session(&self) -> &'a Session {
        &self.source.reading.session
    }

    fn block(&self, number: BlockNumber) -> Result<&'a Block, PlanError> {
        self.reading().block(number).ok_or(PlanError::NoSuchBlock(number))
    }

    pub(super) fn line(&self, row: u32) -> Result<Rc<[u8]>, PlanError> {
        Ok(self.rows.line(self.session(), row)?)
    }

    /// Returns the current contents of blocks; reads each row once.
    /// Errors: a row cannot be read, or changed since it was read.
    pub(super) fn contents(&self, numbers: &[BlockNumber]) -> Result<Vec<Content>, PlanError> {
        let line = |row| self.rows.line(self.session(), row);
        Ok(contents(self.source.provider, self.reading(), numbers, &line)?)
    }

    pub(super) fn all_edits(&self) -> impl Iterator<Item = &Edit> {
        self.edits.values().chain(&self.lines)
    }

    /// Returns the bytes that the edits so far replace.
    /// Errors: a row is missing, or a value is not the expected one.
    pub(super) fn splice(&self) -> Result<Splice<'_>, SpliceError> {
        let (provider, session) = (self.source.provider, self.session());
        let hunks = self.reversal.as_ref().map_or(&[][..], |reversal| &reversal.hunks);
        splice(provider, session, &self.addresses, &*self.rows, session.bytes, self.all_edits(), hunks)
    }

    /// Returns the changed values, the added and removed rows and the fold so far, for [`Draft::roll_back`].
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { edits: self.edits.clone(), lines: self.lines.clone(), folded: self.folded.clone() }
    }

    /// Returns to an earlier state of the plan.
    pub(super) fn roll_back(&mut self, checkpoint: &Checkpoint) {
        self.edits.clone_from(&checkpoint.edits);
        self.lines.clone_from(&checkpoint.lines);
        self.folded.clone_from(&checkpoint.folded);
    }

    /// Returns the number of blocks that one digest replaces.
    pub fn folded_blocks(&self) -> usize {
        match &self.folded {
            Some(Folded::Blocks(blocks)) => blocks.len(),
            _ => 0,
        }
    }

    /// Returns true if nothing changes so far.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
            && self.lines.is_empty()
            && self.notes.is_empty()
            && self.marks.is_empty()
            && self.reversal.is_none()
    }

    /// Returns the identity of a row as written in it.
    /// Errors: the row has no identity, or cannot be read.
    pub fn identity(&self, row: u32) -> Result<Vec<u8>, PlanError> {
        self.source.provider.identity(&self.line(row)?).ok_or(PlanError::Moved)
    }

    /// Returns the value of a slot of a row; `None` if the row has no such slot or cannot be read.
    pub fn value(&self, row: u32, slot: Slot) -> Option<Vec<u8>> {
        let line = self.line(row).ok()?;
        self.source.provider.locate_slot(&line, slot).map(|range| line[range].to_vec())
    }

    /// Returns the reason why no command can change a block; `None` if it can be changed.
    pub fn immutable(&self, number: BlockNumber) -> Result<Option<SkipReason>, PlanError> {
        let block = self.block(number)?;
        let row = &self.session().rows[block.row as usize];
        if self.session().inherited_from(block.row).is_some() {
            return Ok(Some(SkipReason::Inherited));
        }
        if block.position.zone == Zone::Cold {
            return Ok(Some(SkipReason::NotInWindow));
        }
        if block.kind == BlockKind::Thinking {
            return Ok(Some(SkipReason::Signed));
        }
        let bound = Flags::REFERENCES | Flags::LOADS_TOOLS | Flags::TEMPLATE | Flags::NOTIFICATION | Flags::TASK_NOTICE;
        if row.flags.any(bound) || row.id.is_none() {
            return Ok(Some(SkipReason::Bound));
        }
        let first = *self
            .first_prompt
            .get_or_init(|| self.session().rows.iter().position(|row| row.prompt && row.kind == RowKind::User && !row.sidechain));
        if first == Some(block.row as usize)
            && block.role == Role::User
            && block.kind == BlockKind::Text
            && block.level == Level::Original
        {
            return Ok(Some(SkipReason::FirstPrompt));
        }
        Ok(self.source.provider.slot(&self.line(block.row)?, block.index).is_none().then_some(SkipReason::Bound))
    }

    /// Returns the address of a block in the log: its row, and the slot through which it was or would be changed.
    fn place(&self, block: &Block) -> Result<(RowAddress, Slot), PlanError> {
        let address = self.addresses.address(block.row).ok_or(PlanError::Immutable(block.number))?;
        // An image that was replaced by text is still changed as a whole.
        let slot = match self.logged.get(&(address, block.index)) {
            Some(edits) => Some(edits.last.slot),
            None => self.source.provider.slot(&self.line(block.row)?, block.index),
        };
        Ok((address, slot.ok_or(PlanError::Immutable(block.number))?))
    }

    /// Returns the edit that shortened a block: its value before is the original. A block at its original level has none.
    fn shortening(&self, block: &Block) -> Option<&'a LoggedEdit> {
        let edits = self.edits_of(block).filter(|_| block.level != Level::Original)?;
        Some(edits.shortening.unwrap_or(edits.first))
    }

    /// Returns the edit before which a block had a content.
    pub(in crate::planning) fn edit_from(&self, number: BlockNumber, content: &str) -> Option<&'a LoggedEdit> {
        let block = self.block(number).ok()?;
        let edits = self.edits_of(block)?;
        let mut edits = edits.shortening.into_iter().chain([edits.first]);
        edits.find(|edit| self.before(block, Some(*edit)).is_ok_and(|before| before.content == content))
    }

    fn edits_of(&self, block: &Block) -> Option<&BlockEdits<'a>> {
        self.logged.get(&(self.addresses.address(block.row)?, block.index))
    }

    fn replaced(&self, number: BlockNumber, edit: &LoggedEdit) -> Result<Vec<u8>, PlanError> {
        let (originals, address) = self.originals.zip(edit.before).ok_or(PlanError::NoOriginal(number))?;
        let value = originals.original(&address)?;
        // Redacted values stay redacted in every restored or shortened form.
        let redacted = self.source.history.is_redacted(edit.row, self.block(number)?.index);
        let masked = if redacted { engine::masked(&value, &self.reading().known.find_whole(&value)) } else { None };
        Ok(masked.unwrap_or(value))
    }

    /// Returns a block as it was before it was shortened, or its current state: a text that the user or another program gave a block
    /// since is its original.
    /// Errors: the original is not in the store, or cannot be read.
    pub fn original(&self, number: BlockNumber) -> Result<Original, PlanError> {
        let block = self.block(number)?;
        self.before(block, self.shortening(block))
    }

    fn before(&self, block: &Block, edit: Option<&LoggedEdit>) -> Result<Original, PlanError> {
        let number = block.number;
        let provider = self.source.provider;
        let line = self.line(block.row)?;
        let (line, tokens) = match edit {
            None if block.level != Level::Original => return Err(PlanError::NoOriginal(number)),
            None => (line, block.tokens.value),
            Some(edit) => {
                let value = self.replaced(number, edit)?;
                let at = provider.locate_slot(&line, edit.slot).ok_or(PlanError::Moved)?;
                let tokens = edit.change.as_ref().map_or(block.tokens.value, |change| change.tokens_before);
                ([&line[..at.start], &value, &line[at.end..]].concat().into(), tokens)
            }
        };
        let parsed = provider.parse(&line).blocks.into_iter().nth(block.index as usize).ok_or(PlanError::Moved)?;
        let (content, readable) = (parsed.content.to_string(), parsed.text().to_owned());
        let mut original = Block { number, position: block.position, ..parsed.block };
        original.hash = Key::from_bytes(content.as_bytes());
        let words = if original.preview.is_empty() { readable.as_str() } else { &*original.preview };
        original.preview = engine::preview(&self.reading().known.mask(words)).into();
        // The tool of a result is known only from its tool use in another row.
        if original.tool.is_none() {
            original.tool = block.tool.clone();
        }
        // So is the name of a document that a tool read.
        if block.media.documents.len() == original.media.documents.len() {
            original.media.documents.clone_from(&block.media.documents);
        }
        Ok(Original { block: original, content, readable, tokens })
    }

    pub fn content(&self, number: BlockNumber) -> Result<String, PlanError> {
        self.parsed(number, |parsed| parsed.content.to_string())
    }

    /// Returns true if the client sends less with a new, shorter content of a block: not if it cuts the old one to less, or if what
    /// gets shorter is not sent.
    pub(in crate::planning) fn is_shorter_as_sent(&self, block: &Block, content: &str) -> Result<bool, PlanError> {
        let is_cut_to_less = block.cut.is_some() && content.len() as u64 >= block.sent_bytes();
        let is_sent_in_part = || self.parsed(block.number, |parsed| parsed.sent.is_some());
        Ok(!is_cut_to_less && (block.kind != BlockKind::ToolUse || !is_sent_in_part()?))
    }

    /// Returns true if the client sends words of its own in a content, which its row does not record.
    pub(super) fn is_worded(&self, number: BlockNumber) -> Result<bool, PlanError> {
        self.parsed(number, |parsed| parsed.unrecorded.is_some())
    }

    fn parsed<T>(&self, number: BlockNumber, take: impl FnOnce(&ParsedBlock<'_>) -> T) -> Result<T, PlanError> {
        let block = self.block(number)?;
        let line = self.line(block.row)?;
        let parsed = self.source.provider.parse(&line);
        parsed.blocks.get(block.index as usize).map(take).ok_or(PlanError::Moved)
    }
}

pub(super) fn hash(bytes: &[u8]) -> Address {
    *blake3::hash(bytes).as_bytes()
}
