//! A plan in the making: what is to change, and everything that must change with it.

use super::addresses::Addresses;
use super::revision::{Revision, revise};
use super::splice::{Mismatch, range};
use super::{PlanError, Workspace, gate, thinking};
use crate::engine::diff::BlockDifference;
use crate::engine::{self, Reading};
use crate::fsio::read_head;
use crate::model::{
    Address, Block, BlockChange, BlockKind, BlockNumber, Edit, Event, Flags, Key, Level, LoggedEdit, Mark, MarkAddress, MarkKind,
    Operation, OperationId, OperationKind, Plan, Role, RowAddress, RowKind, Slot, Window,
};
use crate::provider::{NewRow, Source};
use crate::store::Store;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The type of the attachments that aperture adds.
pub const NOTE: &str = "aperture_note";

/// Why a block was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The model does not see it.
    NotInWindow,
    /// It is signed: it can only be left out as a whole.
    Signed,
    /// It is the prompt that began the session.
    FirstPrompt,
    /// It is pinned.
    Pinned,
    /// The user selected it.
    Focused,
    /// It loads tools, or its text is made anew by the client at each start.
    Bound,
    /// Nothing of it could go.
    NotShorter,
    /// It is so already.
    AsItIs,
    /// A rule of the settings protects it.
    Protected,
    /// Its original is not in the store.
    NoOriginal,
}

impl Kept {
    /// The reason in words, after the number of blocks.
    pub fn reason(self) -> &'static str {
        match self {
            Kept::NotInWindow => "not in the window",
            Kept::Signed => "thinking is signed and stays whole",
            Kept::FirstPrompt => "the first prompt stays as it is",
            Kept::Pinned => "pinned",
            Kept::Focused => "focused",
            Kept::Bound => "the client needs it as it is",
            Kept::NotShorter => "would not be shorter",
            Kept::AsItIs => "already so",
            Kept::Protected => "protected by a rule",
            Kept::NoOriginal => "the original is not in this store",
        }
    }
}

/// What a block was before aperture first changed it.
#[derive(Clone, Debug)]
pub struct Original {
    /// The block, measured.
    pub block: Block,
    /// The content as the model saw it.
    pub content: String,
    /// The same for people.
    pub readable: String,
    /// What it cost, in tokens.
    pub tokens: f64,
}

/// What a plan would do, beside the plan itself.
pub struct Drafted {
    /// The plan.
    pub plan: Plan,
    /// The window after it: blocks of [`Drafted::revision`].
    pub window: Window,
    /// The session after it.
    pub revision: Revision,
    /// What each block of the session after it costs, by its index.
    pub tokens: Vec<f64>,
    /// Tokens of the window before the first change: what the prompt cache still knows.
    pub unchanged_prefix: f64,
    /// How many thinking blocks are no longer sent.
    pub thinking_dropped: u32,
    /// What the model would see differently; only for a look ahead.
    pub differences: Vec<BlockDifference>,
}

/// A plan in the making.
pub struct Draft<'a> {
    pub(super) workspace: &'a Workspace<'a>,
    pub(super) store: Option<&'a Store>,
    pub(super) addresses: Addresses,
    pub(super) bytes: Vec<u8>,
    base_hash: Address,
    now: i64,
    pub(super) edits: BTreeMap<(u32, u32, Slot), Edit>,
    lines: Vec<Edit>,
    notes: Vec<(String, String)>,
    /// The last row that stood in the file before what is taken back was done: figures up to it are in the log.
    pub(super) logged_until: Option<Key>,
    /// Turns that are taken off the chain.
    pub(super) folded: Option<RangeInclusive<u32>>,
    pub(super) marks: Vec<Mark>,
    /// What restored blocks cost, where that was measured.
    known_tokens: FxHashMap<BlockNumber, f64>,
}

impl<'a> Draft<'a> {
    /// Reads the file of a session to plan a change of it. `now` is in milliseconds since 1970, UTC.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is another one than the session was read from.
    pub fn new(workspace: &'a Workspace<'a>, store: Option<&'a Store>, now: i64) -> Result<Draft<'a>, PlanError> {
        let session = &workspace.reading.session;
        let length = usize::try_from(session.bytes).unwrap_or(usize::MAX);
        let bytes = read_head(workspace.disk, &workspace.path, length)?;
        if bytes.len() < length {
            return Err(PlanError::Moved);
        }
        let base_hash = hash(&bytes);
        Ok(Draft {
            workspace,
            store,
            addresses: Addresses::new(session),
            bytes,
            base_hash,
            now,
            edits: BTreeMap::new(),
            lines: Vec::new(),
            notes: Vec::new(),
            logged_until: None,
            folded: None,
            marks: Vec::new(),
            known_tokens: FxHashMap::default(),
        })
    }

    fn reading(&self) -> &'a Reading {
        &self.workspace.reading
    }

    fn block(&self, number: BlockNumber) -> Result<&'a Block, PlanError> {
        self.reading().block(number).ok_or(PlanError::NoSuchBlock(number))
    }

    fn line(&self, row: u32) -> Result<&[u8], PlanError> {
        Ok(&self.bytes[range(&self.reading().session, row, &self.bytes)?])
    }

    /// Why a block cannot be changed, if so, whoever asks.
    pub fn immutable(&self, number: BlockNumber) -> Result<Option<Kept>, PlanError> {
        let block = self.block(number)?;
        let row = &self.reading().session.rows[block.row as usize];
        if block.position.zone == crate::model::Zone::Cold {
            return Ok(Some(Kept::NotInWindow));
        }
        if block.kind == BlockKind::Thinking {
            return Ok(Some(Kept::Signed));
        }
        if row.flags.any(Flags::REFERENCES | Flags::LOADS_TOOLS | Flags::TEMPLATE | Flags::NOTIFICATION) || row.id.is_none() {
            return Ok(Some(Kept::Bound));
        }
        // The client looks for these when it resumes, and reports those that it misses.
        if block.preview.starts_with("<task-notification>") {
            return Ok(Some(Kept::Bound));
        }
        let first = self.reading().session.rows.iter().position(|row| row.prompt && row.kind == RowKind::User && !row.sidechain);
        if first == Some(block.row as usize) && block.role == Role::User {
            return Ok(Some(Kept::FirstPrompt));
        }
        Ok(self.workspace.provider.slot(self.line(block.row)?, block.index).is_none().then_some(Kept::Bound))
    }

    /// Where a block is kept in the log: its row, and the slot through which it was changed or would be.
    fn place(&self, block: &Block) -> Result<(RowAddress, Slot), PlanError> {
        let address = self.addresses.of(block.row).ok_or(PlanError::Immutable(block.number))?;
        // A picture that became a text is still changed as a whole.
        let logged = self.workspace.history.edits_of(address, block.index).map(|(_, edit)| edit.slot);
        let slot = match logged.last() {
            Some(slot) => Some(slot),
            None => self.workspace.provider.slot(self.line(block.row)?, block.index),
        };
        Ok((address, slot.ok_or(PlanError::Immutable(block.number))?))
    }

    /// What a block was before aperture first changed it; for one that was not changed, what it is.
    ///
    /// # Errors
    ///
    /// Its original is not in the store, or it cannot be read.
    pub fn original(&self, number: BlockNumber) -> Result<Original, PlanError> {
        let block = self.block(number)?;
        let line = self.line(block.row)?;
        let logged = self.addresses.of(block.row).and_then(|address| {
            let mut edits = self.workspace.history.edits_of(address, block.index);
            edits.next().map(|(_, edit)| edit)
        });
        let (line, tokens) = match logged {
            None if block.level != Level::Original => return Err(PlanError::NoOriginal(number)),
            None => (line.to_vec(), block.tokens.value),
            Some(edit) => {
                let store = self.store.ok_or(PlanError::NoOriginal(number))?;
                let value = store.original(&edit.before.ok_or(PlanError::NoOriginal(number))?)?;
                let range = self.workspace.provider.locate_slot(line, edit.slot).ok_or(PlanError::Moved)?;
                let tokens = edit.change.as_ref().map_or(block.tokens.value, |change| change.tokens_before);
                ([&line[..range.start], &value, &line[range.end..]].concat(), tokens)
            }
        };
        let mut parsed = self.workspace.provider.parse(&line);
        let parsed = parsed.blocks.drain(..).nth(block.index as usize).ok_or(PlanError::Moved)?;
        let (content, readable) = (parsed.content.to_string(), parsed.text().to_owned());
        let mut original = parsed.block;
        original.hash = Key::of_bytes(content.as_bytes());
        let words = if original.preview.is_empty() { readable.as_str() } else { &*original.preview };
        original.preview = engine::mask(&engine::preview(words)).into();
        // A result knows its tool through its use, which only the whole session tells.
        if original.tool.is_none() {
            original.tool = block.tool.clone();
        }
        Ok(Original { block: Block { number, position: block.position, ..original }, content, readable, tokens })
    }

    /// The content of a block as it stands in the file.
    ///
    /// # Errors
    ///
    /// The file is another one by now.
    pub fn content(&self, number: BlockNumber) -> Result<String, PlanError> {
        let block = self.block(number)?;
        let parsed = self.workspace.provider.parse(self.line(block.row)?);
        let parsed = parsed.blocks.get(block.index as usize).ok_or(PlanError::Moved)?;
        Ok(parsed.content.to_string())
    }

    /// Puts another content in the place of a block.
    ///
    /// # Errors
    ///
    /// It cannot be changed, or the content cannot stand there.
    pub fn replace(&mut self, number: BlockNumber, level: Level, content: &str, reason: &str) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let (address, slot) = self.place(block)?;
        let value = self.workspace.provider.encode(slot, block.kind, content).ok_or(PlanError::Immutable(number))?;
        self.set(block, address, slot, value, level, reason)
    }

    /// Puts the original of a block back in its place.
    ///
    /// # Errors
    ///
    /// It is not in the store.
    pub fn restore(&mut self, number: BlockNumber) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let (address, _) = self.place(block)?;
        let first = self.workspace.history.edits_of(address, block.index).next().map(|(_, edit)| edit.clone());
        let Some(edit) = first else {
            return if block.level == Level::Original { Ok(()) } else { Err(PlanError::NoOriginal(number)) };
        };
        let store = self.store.ok_or(PlanError::NoOriginal(number))?;
        let value = store.original(&edit.before.ok_or(PlanError::NoOriginal(number))?)?;
        if let Some(change) = &edit.change {
            self.known_tokens.insert(number, change.tokens_before);
        }
        self.set(block, address, edit.slot, value, Level::Original, "")
    }

    fn set(
        &mut self,
        block: &Block,
        row: RowAddress,
        slot: Slot,
        value: Vec<u8>,
        level: Level,
        reason: &str,
    ) -> Result<(), PlanError> {
        let line = self.line(block.row)?;
        let at = self.workspace.provider.locate_slot(line, slot).ok_or(PlanError::Immutable(block.number))?;
        let before = line[at].to_vec();
        if before == value {
            // An earlier step of this plan may have changed it.
            self.edits.remove(&(block.row, block.index, slot));
            return Ok(());
        }
        let change = BlockChange {
            number: block.number,
            label: engine::label(block),
            level_before: block.level,
            level_after: level,
            tokens_before: block.tokens.value,
            tokens_after: 0.0,
            reason: reason.to_owned(),
        };
        let edit = Edit { row, slot, before: Some(before), after: Some(value), change: Some(change) };
        self.edits.insert((block.row, block.index, slot), edit);
        Ok(())
    }

    /// Links a row behind another one, by the identity of that one.
    ///
    /// # Errors
    ///
    /// The row has no identity, or no place for it.
    pub fn link(&mut self, row: u32, parent: &[u8]) -> Result<(), PlanError> {
        self.set_value(row, Slot::Parent, parent)
    }

    /// Puts a value into a slot of a row that holds no block.
    ///
    /// # Errors
    ///
    /// The row has no identity, or no such slot.
    pub(super) fn set_value(&mut self, row: u32, slot: Slot, after: &[u8]) -> Result<(), PlanError> {
        let address = self.addresses.of(row).ok_or(PlanError::Moved)?;
        let before = self.value(row, slot).ok_or(PlanError::NoWay)?;
        let edit = Edit { row: address, slot, before: Some(before), after: Some(after.to_vec()), change: None };
        self.edits.insert((row, 0, slot), edit);
        Ok(())
    }

    /// The identity of a row as it is written in it.
    ///
    /// # Errors
    ///
    /// It has none.
    pub fn identity(&self, row: u32) -> Result<Vec<u8>, PlanError> {
        self.workspace.provider.identity(self.line(row)?).ok_or(PlanError::Moved)
    }

    /// The value of a slot of a row.
    pub fn value(&self, row: u32, slot: Slot) -> Option<Vec<u8>> {
        let line = self.line(row).ok()?;
        self.workspace.provider.locate_slot(line, slot).map(|range| line[range].to_vec())
    }

    /// Adds a note at the end of the session.
    pub fn note(&mut self, label: &str, content: &str) {
        self.notes.push((label.to_owned(), content.to_owned()));
    }

    /// Adds a note behind a row, by its identity, and returns the identity of the note.
    ///
    /// # Errors
    ///
    /// The provider cannot write it.
    pub fn note_behind(&mut self, parent: Vec<u8>, label: &str, content: &str) -> Result<Vec<u8>, PlanError> {
        let new = self.new_row(parent, self.last_linked())?;
        let line = self.workspace.provider.note(&new, label, content).ok_or(PlanError::NoWay)?;
        let identity = self.workspace.provider.identity(&line).ok_or(PlanError::NoWay)?;
        self.add_line(line);
        Ok(identity)
    }

    /// Adds a row at the end of the live branch, so that the client does not go on from a row that was added elsewhere.
    ///
    /// # Errors
    ///
    /// The provider cannot write it.
    pub(super) fn mark_leaf(&mut self) -> Result<(), PlanError> {
        let last = self.last_linked();
        let new = self.new_row(self.identity(last)?, last)?;
        let line = self.workspace.provider.leaf(&new).ok_or(PlanError::NoWay)?;
        self.add_line(line);
        Ok(())
    }

    /// Puts a mark on a block, or takes it off.
    ///
    /// # Errors
    ///
    /// The row has no identity by which the mark could be found again.
    pub fn mark(&mut self, number: BlockNumber, kind: MarkKind, after: Option<String>) -> Result<(), PlanError> {
        let block = self.block(number)?;
        let row = self.addresses.of(block.row).ok_or(PlanError::Immutable(number))?;
        let known = self.workspace.history.marks.iter().find(|(address, known, _)| {
            *known == kind && ((address.row == row && address.index == block.index) || address.content == block.hash)
        });
        let (address, before) = match known {
            Some((address, _, value)) => (*address, Some(value.clone())),
            None => {
                let content = self.original(number).map_or(block.hash, |original| original.block.hash);
                (MarkAddress { row, index: block.index, content }, None)
            }
        };
        if before != after {
            self.marks.push(Mark { address, kind, before, after, number });
        }
        Ok(())
    }

    /// Takes an operation back.
    ///
    /// # Errors
    ///
    /// A later operation changed the same block, or another program did.
    pub fn invert(&mut self, operation: &Operation) -> Result<(), PlanError> {
        let history = &self.workspace.history;
        let later = history.operations.iter().filter(|later| later.id > operation.id);
        for later in later.filter(|later| {
            history.undone_by(later.id).is_none() && later.inverts.is_none_or(|id| history.undone_by(id) != Some(later.id))
        }) {
            let same = |edit: &&LoggedEdit| {
                edit.change.is_some() && operation.edits.iter().any(|own| own.change.is_some() && own.overlaps(edit))
            };
            if let Some(change) = later.edits.iter().find(same).and_then(|edit| edit.change.as_ref()) {
                return Err(PlanError::ChangedLater { number: change.number, operation: operation.id, by: later.id });
            }
            let marked = |mark: &&Mark| operation.marks.iter().any(|own| (own.address, own.kind) == (mark.address, mark.kind));
            if let Some(mark) = later.marks.iter().find(marked) {
                return Err(PlanError::ChangedLater { number: mark.number, operation: operation.id, by: later.id });
            }
            let added = |row| operation.edits.iter().any(|own| own.slot == Slot::Line && own.before.is_none() && own.row == row);
            if later.edits.iter().any(|edit| edit.slot == Slot::Line && edit.after.is_none() && added(edit.row)) {
                return Err(PlanError::RemovedLater { operation: operation.id, by: later.id });
            }
        }
        let store = self.store.ok_or(PlanError::Gone)?;
        let mut figures_differ = false;
        let mut edits = Vec::with_capacity(operation.edits.len());
        for edit in operation.edits.iter().rev() {
            let value = |address: Option<Address>| address.map(|address| store.original(&address)).transpose();
            let change = edit.change.as_ref().map(|change| BlockChange {
                level_before: change.level_after,
                level_after: change.level_before,
                tokens_before: change.tokens_after,
                tokens_after: change.tokens_before,
                ..change.clone()
            });
            let (mut before, after) = (value(edit.after)?, value(edit.before)?);
            if edit.slot == Slot::Usage {
                // A later change may have lowered the same figure: then it is adjusted, not brought back.
                let now = self.addresses.row(edit.row).and_then(|row| self.value(row, Slot::Usage));
                if now != before {
                    figures_differ = true;
                    continue;
                }
            }
            if edit.slot == Slot::Line {
                // A row that was added may have been linked anew since.
                if before.is_some() {
                    before = self.added_line(edit.row)?.or(before);
                }
            }
            edits.push(Edit { row: edit.row, slot: edit.slot, before, after, change });
        }
        self.take_along(&mut edits)?;
        // Figures that another change lowered since are not what the log says, and have to be estimated.
        self.logged_until = operation.last_row.filter(|_| !figures_differ);
        let marks =
            operation.marks.iter().map(|mark| Mark { before: mark.after.clone(), after: mark.before.clone(), ..mark.clone() });
        self.revert(edits, marks.collect())
    }

    /// A row that an operation added, as it stands now, with the line feeds that it came with.
    pub(super) fn added_line(&self, row: RowAddress) -> Result<Option<Vec<u8>>, PlanError> {
        let Some(place) = self.addresses.row(row) else { return Ok(None) };
        let operations = self.workspace.history.operations.iter().rev();
        let mut written = operations
            .flat_map(|operation| &operation.edits)
            .filter_map(|edit| edit.after.filter(|_| edit.row == row && edit.slot == Slot::Line));
        let lead = match (written.next(), self.store) {
            (Some(address), Some(store)) => store.original(&address)?.starts_with(b"\n"),
            _ => false,
        };
        let lead: &[u8] = if lead { b"\n" } else { b"" };
        Ok(Some([lead, self.line(place)?, b"\n"].concat()))
    }

    /// Where no change is left in force, what only went with changes goes as well: thinking is sent again, and figures are
    /// what they were.
    fn take_along(&self, edits: &mut Vec<Edit>) -> Result<(), PlanError> {
        let mut along = Vec::new();
        for ((row, slot), then) in self.edited_after(0) {
            let planned = edits.iter().position(|edit| edit.row == row && edit.slot == slot);
            let (target, now) = (self.stored(then.first.before)?, self.standing(row, slot));
            let after = planned.map_or(&now, |place| &edits[place].after);
            let strips = |line: &Vec<u8>| {
                let row = self.workspace.provider.parse(line.trim_ascii()).row;
                matches!(row.event.as_deref(), Some(Event::ThinkingStripped(_)))
            };
            match slot {
                Slot::Parent => {}
                _ if after.is_some() == target.is_some() && (slot == Slot::Line || *after == target) => {}
                Slot::Line if target.is_none() && after.as_ref().is_some_and(strips) => {
                    if planned.is_some() {
                        return Ok(());
                    }
                    let before = self.added_line(row)?;
                    along.push(Edit { row, slot, before, after: None, change: None });
                }
                Slot::Usage | Slot::Message => {
                    if now == self.stored(then.last.after)? {
                        along.push(Edit { row, slot, before: now, after: target, change: None });
                    }
                }
                _ => return Ok(()),
            }
        }
        edits.retain(|edit| !along.iter().any(|along| along.row == edit.row && along.slot == edit.slot));
        edits.extend(along);
        Ok(())
    }

    /// Puts values of the log in the place of those that follow from them, oldest value last: what `undo` and `restore` do.
    ///
    /// # Errors
    ///
    /// A value is not what the log says.
    pub fn revert(&mut self, edits: Vec<Edit>, marks: Vec<Mark>) -> Result<(), PlanError> {
        let mut relinked: Vec<Vec<u8>> =
            edits.iter().filter(|edit| edit.slot == Slot::Parent).filter_map(|edit| edit.after.clone()).collect();
        // What such a row follows must stand where it stood, too.
        let added = edits.iter().filter(|edit| edit.slot == Slot::Line).filter_map(|edit| edit.after.as_deref());
        let added: Vec<&[u8]> = added.map(<[u8]>::trim_ascii).collect();
        for _ in &added {
            for line in &added {
                let own = self.workspace.provider.identity(line).filter(|own| relinked.contains(own));
                let parent = own.and_then(|_| self.workspace.provider.locate_slot(line, Slot::Parent));
                if let Some(parent) = parent.map(|at| line[at].to_vec()).filter(|parent| !relinked.contains(parent)) {
                    relinked.push(parent);
                }
            }
        }
        let gone = edits.iter().filter(|edit| edit.slot == Slot::Line && edit.after.is_none());
        let gone: FxHashSet<u32> = gone.filter_map(|edit| self.addresses.row(edit.row)).collect();
        // Rows come and go when it is known which rows are linked anew.
        let (lines, values): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(|edit| edit.slot == Slot::Line);
        for mut edit in values.into_iter().chain(lines) {
            match (edit.slot, &edit.before, &edit.after) {
                (Slot::Line, None, Some(line)) => {
                    // A row comes back at the end. Where others are linked to it again it keeps its place, else it is the last.
                    let own = self.workspace.provider.identity(line.trim_ascii());
                    let kept = own.is_some_and(|own| relinked.contains(&own));
                    let line = if kept { line.trim_ascii().to_vec() } else { self.behind_last(line.trim_ascii())? };
                    edit.after = Some(self.ended(line));
                    self.lines.push(edit);
                }
                (Slot::Line, ..) => {
                    self.unlink(&edit, &gone)?;
                    self.lines.push(edit);
                }
                _ => {
                    let row = self.addresses.row(edit.row).ok_or(PlanError::Gone)?;
                    let line = self.line(row)?;
                    let at = self.workspace.provider.locate_slot(line, edit.slot).ok_or(PlanError::Gone)?;
                    if edit.before.as_deref() != Some(&line[at]) {
                        return Err(PlanError::ChangedElsewhere(edit.change.as_ref().map_or(0, |change| change.number)));
                    }
                    if let Some(change) = &edit.change {
                        let number = self.number(row, edit.slot).unwrap_or(change.number);
                        self.known_tokens.insert(number, change.tokens_after);
                    }
                    let index = edit.slot.index().unwrap_or_default();
                    self.edits.insert((row, index, edit.slot), edit);
                }
            }
        }
        self.marks.extend(marks);
        Ok(())
    }

    /// Links what follows a row that is taken out behind what it follows, of all that is not `gone` with it.
    fn unlink(&mut self, edit: &Edit, gone: &FxHashSet<u32>) -> Result<(), PlanError> {
        let row = self.addresses.row(edit.row).ok_or(PlanError::Gone)?;
        let own = self.identity(row)?;
        let session = &self.reading().session;
        let mut top = row;
        // Each of them is gone once, so that even a ring of rows ends.
        for _ in gone {
            let above = session.rows[top as usize].parent.and_then(|parent| self.addresses.row_of(parent));
            match above.filter(|above| gone.contains(above)) {
                Some(above) => top = above,
                None => break,
            }
        }
        let Some(parent) = self.value(top, Slot::Parent) else { return Ok(()) };
        let id = session.rows[row as usize].id;
        let children = (0u32..).zip(&session.rows).filter(|(_, row)| row.parent.is_some() && row.parent == id);
        let children: Vec<u32> = children.map(|(place, _)| place).filter(|place| !gone.contains(place)).collect();
        for child in children {
            let relinked = self.edits.get(&(child, 0, Slot::Parent)).is_some_and(|edit| edit.after.as_ref() != Some(&own));
            if !relinked {
                self.link(child, &parent)?;
            }
        }
        Ok(())
    }

    fn number(&self, row: u32, slot: Slot) -> Option<BlockNumber> {
        let blocks = &self.reading().session.blocks;
        let first = blocks.partition_point(|block| block.row < row);
        let index = slot.index()?;
        blocks.get(first + index as usize).filter(|block| block.row == row).map(|block| block.number)
    }

    /// A row that was written before, linked behind what is the last one now.
    fn behind_last(&self, line: &[u8]) -> Result<Vec<u8>, PlanError> {
        let Some(at) = self.workspace.provider.locate_slot(line, Slot::Parent) else { return Ok(line.to_vec()) };
        let parent = self.leaf_identity()?;
        Ok([&line[..at.start], &parent, &line[at.end..]].concat())
    }

    /// The identity of the last row of the chain, notes of this plan included.
    fn leaf_identity(&self) -> Result<Vec<u8>, PlanError> {
        let added = self.lines.iter().rev().filter(|edit| edit.before.is_none()).filter_map(|edit| edit.after.as_deref());
        // A row that others are linked to stands among them, not at the end.
        let followed =
            |own: &[u8]| self.edits.values().any(|edit| edit.slot == Slot::Parent && edit.after.as_deref() == Some(own));
        let mut linked = added.filter(|line| {
            let line = line.trim_ascii();
            let own = self.workspace.provider.identity(line);
            self.workspace.provider.locate_slot(line, Slot::Parent).is_some() && !own.is_some_and(|own| followed(&own))
        });
        if let Some(line) = linked.next() {
            return self.workspace.provider.identity(line.trim_ascii()).ok_or(PlanError::NoWay);
        }
        self.identity(self.last_linked())
    }

    /// The last row of the chain that this plan leaves in place.
    fn last_linked(&self) -> u32 {
        let removed =
            |row: &&u32| self.lines.iter().any(|edit| edit.after.is_none() && self.addresses.row(edit.row) == Some(**row));
        self.reading().window.chain.iter().rev().find(|row| !removed(row)).copied().unwrap_or_default()
    }

    fn new_row(&self, parent: Vec<u8>, like: u32) -> Result<NewRow<'_>, PlanError> {
        // Unique by what it is made of: this file, this moment, this place in the plan.
        let seed = [&self.base_hash[..], &self.now.to_le_bytes(), &(self.lines.len() as u64).to_le_bytes()].concat();
        let timestamp = jiff::Timestamp::from_millisecond(self.now).unwrap_or_default();
        Ok(NewRow {
            like: self.line(like)?,
            parent,
            id: uuid(&hash(&seed)),
            timestamp: format!("{timestamp:.3}"),
            sidechain: self.reading().session.rows[like as usize].sidechain,
        })
    }

    /// Adds a row at the end of the file.
    fn add_line(&mut self, line: Vec<u8>) {
        let id = self.workspace.provider.parse(&line).row.id.unwrap_or(Key(0));
        let row = RowAddress { id, occurrence: 0 };
        let after = Some(self.ended(line));
        self.lines.push(Edit { row, slot: Slot::Line, before: None, after, change: None });
    }

    /// A row with the line feed behind it, and before it where the file ends without one.
    fn ended(&self, mut line: Vec<u8>) -> Vec<u8> {
        let first = !self.lines.iter().any(|edit| edit.before.is_none());
        if first && !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") {
            line.insert(0, b'\n');
        }
        line.push(b'\n');
        line
    }

    /// The rows that are added so far.
    pub(super) fn added_lines(&self) -> impl Iterator<Item = &Edit> {
        self.lines.iter().filter(|edit| edit.before.is_none())
    }

    /// The rows that are taken out so far.
    pub(super) fn removed_lines(&self) -> impl Iterator<Item = &Edit> {
        self.lines.iter().filter(|edit| edit.after.is_none())
    }

    fn all_edits(&self) -> Vec<Edit> {
        self.edits.values().cloned().chain(self.lines.iter().cloned()).collect()
    }

    fn revise(&self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<Revision, Mismatch> {
        let workspace = self.workspace;
        revise(workspace.provider, &self.reading().session, &self.addresses, &self.bytes, &self.all_edits(), known)
    }

    /// The plan, with all that goes with the changes: notes, thinking that no longer fits, the fullness that the client reads.
    ///
    /// # Errors
    ///
    /// The result would not be a session that the client can resume.
    pub fn finish(
        mut self,
        kind: OperationKind,
        command: &str,
        inverts: Option<OperationId>,
        known: &(dyn Fn(Key) -> Option<u32> + Sync),
        look_ahead: bool,
    ) -> Result<Drafted, PlanError> {
        for (label, content) in std::mem::take(&mut self.notes) {
            let parent = self.leaf_identity()?;
            self.note_behind(parent, &label, &content)?;
        }
        let provider = self.workspace.provider;
        let mut revision = self.revise(known)?;
        let mut window = provider.window(&revision.session);
        let thinking_before = self.reading().in_window().filter(|block| block.kind == BlockKind::Thinking).count();
        // Of calls that are still open, the API of older models wants the thinking that led to them.
        let open = if thinking::leads_calls(&self.reading().model) { self.open_turn() } else { None };
        let spared = |block: &Block| open == Some(block.position.turn);
        let timeline = thinking::Timeline::new(self.workspace, &self.addresses, &self.edits, &self.lines);
        if provider.binds_thinking()
            && let Some(first) = timeline.first_unfit(&revision, &window, &spared)
        {
            self.strip(&revision, &window, first, &spared)?;
            revision = self.revise(known)?;
            window = provider.window(&revision.session);
        }
        let tokens = self.tokens(&revision);
        if let Some(edits) = self.usage(&revision, &window, &tokens)? {
            for (row, edit) in edits {
                let key = (row, 0, Slot::Usage);
                if !self.edits.contains_key(&key) {
                    revision.amend(provider, row, self.line(row)?, &edit)?;
                    self.edits.insert(key, edit);
                }
            }
        }
        gate::check(self.workspace, &self.bytes, &revision, &window, &self.all_edits(), self.folded.as_ref())?;
        let cost = |window: &Window, tokens: &dyn Fn(BlockNumber) -> f64| -> f64 {
            window.blocks.iter().map(|number| tokens(*number)).sum()
        };
        let before = cost(&self.reading().window, &|number| self.reading().block(number).map_or(0.0, |block| block.tokens.value));
        let after = cost(&window, &|number| tokens.get(number as usize - 1).copied().unwrap_or_default());
        let total = self.reading().price.total.value;
        let thinking = |window: &Window| {
            let blocks =
                window.blocks.iter().filter(|number| revision.session.blocks[**number as usize - 1].kind == BlockKind::Thinking);
            blocks.count()
        };
        let thinking_dropped = thinking_before.saturating_sub(thinking(&window)) as u32;
        let unchanged_prefix = self.unchanged_prefix(&revision, &window);
        self.fill_in(&revision, &tokens);
        let differences = if look_ahead { self.planned()? } else { Vec::new() };
        let plan = Plan {
            kind,
            command: command.to_owned(),
            actor: "user".to_owned(),
            inverts,
            edits: self.all_edits(),
            marks: self.marks,
            base_bytes: self.bytes.len() as u64,
            base_hash: self.base_hash,
            tokens_before: total,
            tokens_after: (total + after - before).max(0.0),
            last_row: self.workspace.reading.session.rows.iter().rev().find_map(|row| row.id),
        };
        Ok(Drafted { plan, window, revision, tokens, unchanged_prefix, thinking_dropped, differences })
    }

    /// The turn whose calls are still open when the session is resumed: what is sent last of the model is a call.
    fn open_turn(&self) -> Option<u32> {
        let reading = self.reading();
        let messages = self.workspace.provider.messages(&reading.session, &reading.window);
        let last = messages.iter().rev().find(|message| message.role == "assistant")?;
        let Source::Block(number) = last.parts.last()?.source else { return None };
        reading.block(number).filter(|block| block.kind == BlockKind::ToolUse).map(|block| block.position.turn)
    }

    /// No longer sends thinking from a block of the revision on.
    fn strip(
        &mut self,
        revision: &Revision,
        window: &Window,
        first: BlockNumber,
        spared: &dyn Fn(&Block) -> bool,
    ) -> Result<(), PlanError> {
        let provider = self.workspace.provider;
        let session = &revision.session;
        let block = &session.blocks[first as usize - 1];
        let row = &session.rows[block.row as usize];
        let place = window.blocks.iter().position(|number| *number == first).unwrap_or_default();
        let unfit: Vec<&Block> = window.blocks[place..]
            .iter()
            .map(|number| &session.blocks[*number as usize - 1])
            .filter(|block| block.kind == BlockKind::Thinking && !spared(block))
            .collect();
        let thinking = window.blocks.iter().map(|number| &session.blocks[*number as usize - 1]);
        let any_spared = thinking.filter(|block| block.kind == BlockKind::Thinking).any(spared);
        let old = |block: &Block| revision.was[block.row as usize];
        let last = self.last_linked();
        let emptied = (any_spared || !provider.knows_stripping(self.line(last)?))
            && unfit
                .iter()
                .all(|block| old(block).is_some_and(|row| self.line(row).is_ok_and(|line| provider.is_only_thinking(line))));
        if emptied {
            for block in unfit {
                let row = old(block).ok_or(PlanError::Moved)?;
                let address = self.addresses.of(row).ok_or(PlanError::Moved)?;
                let before = self.value(row, Slot::Message);
                if before.as_deref() == Some(b"[]") {
                    self.edits.remove(&(row, 0, Slot::Message));
                    continue;
                }
                let edit = Edit { row: address, slot: Slot::Message, before, after: Some(b"[]".to_vec()), change: None };
                self.edits.insert((row, 0, Slot::Message), edit);
            }
            return Ok(());
        }
        // Of the message that the block is a piece of, what stands before it stays.
        let same = |number: &&BlockNumber| {
            let before = &session.blocks[**number as usize - 1];
            before.kind == BlockKind::Thinking && session.rows[before.row as usize].message == row.message
        };
        let kept = window.blocks[..place].iter().filter(same).count() as u32;
        let first = match old(block) {
            Some(row) => self.line(row)?.to_vec(),
            None => return Err(PlanError::NoWay),
        };
        let new = self.new_row(self.leaf_identity()?, last)?;
        let line = provider.strip_thinking(&new, &first, kept).ok_or(PlanError::NoWay)?;
        self.add_line(line);
        Ok(())
    }

    /// What each block of the revision costs.
    fn tokens(&self, revision: &Revision) -> Vec<f64> {
        let reading = self.reading();
        let price = |(block, was): (&Block, &Option<u32>)| {
            let old = was.and_then(|was| reading.session.blocks.get(was as usize));
            match old {
                Some(old) if old.hash == block.hash && old.kind == block.kind => old.tokens.value,
                Some(old) => match self.known_tokens.get(&old.number) {
                    Some(tokens) => *tokens,
                    None => reading.price.revised(old, block).value,
                },
                None => reading.price.revised(block, block).value,
            }
        };
        revision.session.blocks.iter().zip(&revision.block_was).map(price).collect()
    }

    /// The edits of what the last response was billed, so that the client knows how full the window is.
    fn usage(&self, revision: &Revision, window: &Window, tokens: &[f64]) -> Result<Option<Vec<(u32, Edit)>>, PlanError> {
        let reading = self.reading();
        let session = &reading.session;
        let billed = |row: u32| session.rows[row as usize].usage.is_some_and(|usage| usage.sent() > 0);
        let Some(last) = reading.window.rows.iter().rposition(|row| billed(*row)) else { return Ok(None) };
        let until = self.logged_until.and_then(|id| self.addresses.row_of(id));
        if until.is_some_and(|until| reading.window.rows[last] <= until) {
            return Ok(None);
        }
        let message = session.rows[reading.window.rows[last] as usize].message;
        let of_response =
            |row: u32| session.rows[row as usize].kind == RowKind::Assistant && session.rows[row as usize].message == message;
        let sum_before =
            |blocks: &[BlockNumber], row: &dyn Fn(BlockNumber) -> Option<u32>, cost: &dyn Fn(BlockNumber) -> f64| -> f64 {
                let own = |number: &&BlockNumber| row(**number).is_some_and(of_response);
                let end = blocks.iter().position(|number| own(&number)).unwrap_or(blocks.len());
                blocks[..end].iter().map(|number| cost(*number)).sum()
            };
        let before = sum_before(&reading.window.blocks, &|number| reading.block(number).map(|block| block.row), &|number| {
            reading.block(number).map_or(0.0, |block| block.tokens.value)
        });
        let after = sum_before(
            &window.blocks,
            &|number| revision.was[revision.session.blocks[number as usize - 1].row as usize],
            &|number| tokens[number as usize - 1],
        );
        let change = (after - before).round();
        if change == 0.0 {
            return Ok(None);
        }
        let mut edits = Vec::new();
        // What was billed may stand in a row of its own.
        let same = |row: &u32| session.rows[*row as usize].message == message && billed(*row);
        for row in (0..session.rows.len() as u32).filter(same) {
            let (Some(address), Some(value)) = (self.addresses.of(row), self.value(row, Slot::Usage)) else { continue };
            let sent = session.rows[row as usize].usage.map_or(0, |usage| usage.sent());
            let sent = (sent as f64 + change).max(1.0) as u64;
            let Some(written) = self.workspace.provider.usage(&value, sent).filter(|written| *written != value) else { continue };
            edits.push((row, Edit { row: address, slot: Slot::Usage, before: Some(value), after: Some(written), change: None }));
        }
        Ok(Some(edits))
    }

    /// What the window has in common with the one before, from its beginning on, in tokens.
    fn unchanged_prefix(&self, revision: &Revision, window: &Window) -> f64 {
        let reading = self.reading();
        let same = |(old, new): &(&BlockNumber, &BlockNumber)| {
            let (Some(old), new) = (reading.block(**old), &revision.session.blocks[**new as usize - 1]) else { return false };
            old.hash == new.hash && old.kind == new.kind
        };
        let pairs = reading.window.blocks.iter().zip(&window.blocks).take_while(same);
        let common: f64 = pairs.filter_map(|(old, _)| reading.block(*old)).map(|block| block.tokens.value).sum();
        common + reading.price.outside.value
    }

    /// Writes into the changes what the blocks cost now.
    fn fill_in(&mut self, revision: &Revision, tokens: &[f64]) {
        let costs: FxHashMap<BlockNumber, f64> =
            revision.block_was.iter().zip(tokens).filter_map(|(was, tokens)| was.map(|was| (was + 1, *tokens))).collect();
        for ((row, _, slot), edit) in &mut self.edits {
            let first = self.workspace.reading.session.blocks.partition_point(|block| block.row < *row) as u32;
            let number = slot.index().map(|index| first + index + 1);
            if let (Some(change), Some(number)) = (&mut edit.change, number) {
                change.number = number;
                change.tokens_after = costs.get(&number).copied().unwrap_or_default();
                change.tokens_before = self.workspace.reading.block(number).map_or(0.0, |block| block.tokens.value);
            }
        }
    }
}

/// BLAKE3 of some bytes.
pub(super) fn hash(bytes: &[u8]) -> Address {
    *blake3::hash(bytes).as_bytes()
}

/// A UUID of version 4 from random bits: here the bits of a hash.
fn uuid(bits: &Address) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&bits[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
