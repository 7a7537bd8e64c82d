//! Adds rows at the end of the file, and finds their parents.

use super::{Draft, hash};
use crate::model::{Address, Edit, Key, RowAddress, RowKind, Slot};
use crate::planning::PlanError;
use crate::provider::{KnownContext, NewRow};

impl Draft<'_> {
    /// Adds a note after the row with the identity `parent`, and returns the identity of the note.
    /// Errors: the provider cannot write it.
    pub fn note_behind(&mut self, parent: Vec<u8>, label: &str, content: &str) -> Result<Vec<u8>, PlanError> {
        let provider = self.source.provider;
        self.add_row(parent, |new| provider.note(new, label, content))?.ok_or(PlanError::NoWay)
    }

    /// Adds a row after which only context of the client, a text and the rows of the window from `kept` on are sent.
    /// Errors: the provider cannot write it.
    pub(in crate::planning) fn restart(&mut self, kept: u32, text: &str) -> Result<(), PlanError> {
        let (provider, session) = (self.source.provider, self.session());
        let (mut first, last): (Vec<u32>, Vec<u32>) = self.reading().window.rows.iter().partition(|row| **row < kept);
        first.retain(|row| session.blocks_of(*row).iter().any(|block| provider.is_standing(session, block)));
        let lines = |rows: Vec<u32>| rows.into_iter().map(|row| self.line(row)).collect::<Result<Vec<_>, _>>();
        let (first, last) = (lines(first)?, lines(last)?);
        self.add_row(self.identity(self.last_linked()?)?, |new| provider.restart(new, &first, text, &last))?;
        self.repeat_context()
    }

    /// Repeats the records of the context that the client already sent, after a restart of the conversation: otherwise the client
    /// would send all of it again.
    fn repeat_context(&mut self) -> Result<(), PlanError> {
        let provider = self.source.provider;
        if !provider.keeps_offsets(self.session()) {
            return Ok(());
        }
        let (mut known, mut settings) = (Vec::new(), None);
        for row in 0..self.session().rows.len() as u32 {
            let is_state = matches!(self.session().rows[row as usize].kind, RowKind::State | RowKind::Record);
            let line = if is_state { self.line(row)? } else { continue };
            match provider.known_context(&line) {
                Some(KnownContext::Whole) => known = vec![line],
                Some(KnownContext::Change) if !known.is_empty() => known.push(line),
                Some(KnownContext::Settings) => settings = Some(line),
                _ => {}
            }
        }
        let settings = settings.filter(|_| !known.is_empty());
        for line in known.iter().chain(&settings) {
            self.add_row(self.identity(self.last_linked()?)?, |new| provider.repeat(new, line))?;
        }
        Ok(())
    }

    /// Adds a row that names the last message of the live branch, so that the client does not continue from a row that was added
    /// elsewhere. After a compaction, the client accepts only a message as the end of a branch; its attachments are sent anyway.
    /// Errors: the provider cannot write it.
    pub(in crate::planning) fn mark_leaf(&mut self) -> Result<(), PlanError> {
        let (provider, session) = (self.source.provider, self.session());
        let last = self.last_linked()?;
        let chain = self.reading().window.chain.iter().rev().copied();
        let speaks = |row: &u32| matches!(session.rows[*row as usize].kind, RowKind::User | RowKind::Assistant);
        let message = chain.skip_while(|row| *row != last).find(speaks).unwrap_or(last);
        self.add_row(self.identity(message)?, |new| provider.leaf(new)).map(drop)
    }

    /// Adds a row after the row with the identity `parent`, created by `write`; returns the identity of the new row, if it has one.
    pub(super) fn add_row(
        &mut self,
        parent: Vec<u8>,
        write: impl FnOnce(&NewRow<'_>) -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, PlanError> {
        let like = self.last_linked()?;
        // The id is unique because it depends on the file, the time, and the position in the log and in the plan.
        let places = [u64::from(self.source.history.last()), self.lines.len() as u64].map(u64::to_le_bytes).concat();
        let seed = [&self.base_hash[..], &self.now.to_le_bytes(), &places].concat();
        let timestamp = jiff::Timestamp::from_millisecond(self.now).unwrap_or_default();
        let like_line = self.line(like)?;
        let new = NewRow {
            like: &like_line,
            parent,
            id: uuid(&hash(&seed)),
            timestamp: format!("{timestamp:.3}"),
            sidechain: self.session().rows[like as usize].sidechain,
            ordinal: self.next_ordinal()?,
        };
        let line = write(&new).ok_or(PlanError::NoWay)?;
        let provider = self.source.provider;
        // Not every provider identifies a row by the id written into it.
        let id = provider.parse(&line).row.id.unwrap_or_else(|| Key::from_text(&new.id));
        let row = RowAddress { id, occurrence: 0 };
        let identity = provider.identity(&line);
        let after = Some(self.ended(line));
        self.lines.push(Edit { row, slot: Slot::Line, before: None, after, change: None });
        Ok(identity)
    }

    /// Returns the ordinal of the next added row, if the client numbers the rows of this session.
    fn next_ordinal(&self) -> Result<Option<u64>, PlanError> {
        let provider = self.source.provider;
        if !provider.keeps_offsets(self.session()) {
            return Ok(None);
        }
        let lines = self.added_lines().filter_map(|edit| edit.after.as_deref());
        let mut last = lines.filter_map(|line| provider.ordinal(line.trim_ascii())).max();
        let removed: Vec<RowAddress> = self.removed_lines().map(|edit| edit.row).collect();
        for row in (0..self.session().rows.len() as u32).rev() {
            if last.is_some() {
                break;
            }
            if self.addresses.any(row).is_none_or(|address| !removed.contains(&address)) {
                last = provider.ordinal(&self.line(row)?);
            }
        }
        Ok(Some(last.map_or(0, |last| last.saturating_add(1))))
    }

    /// Returns a line with a line feed at its end, and one at its start if the file does not end with one.
    pub(super) fn ended(&self, mut line: Vec<u8>) -> Vec<u8> {
        let first = self.added_lines().next().is_none();
        if first && !self.session().ends_with_newline {
            line.insert(0, b'\n');
        }
        line.push(b'\n');
        line
    }

    /// Returns a previously written row, linked after the current last row.
    pub(super) fn behind_last(&self, line: &[u8]) -> Result<Vec<u8>, PlanError> {
        let provider = self.source.provider;
        let Some(at) = provider.locate_slot(line, Slot::Parent) else {
            let numbered = self.next_ordinal()?.and_then(|ordinal| provider.with_ordinal(line, ordinal));
            return Ok(numbered.unwrap_or_else(|| line.to_vec()));
        };
        let parent = self.leaf_identity()?;
        Ok([&line[..at.start], &parent, &line[at.end..]].concat())
    }

    /// Returns the identity of the last row of the chain, including notes of this plan.
    pub(super) fn leaf_identity(&self) -> Result<Vec<u8>, PlanError> {
        let provider = self.source.provider;
        // A row with children is not the end of the chain.
        let followed =
            |own: &[u8]| self.edits.values().any(|edit| edit.slot == Slot::Parent && edit.after.as_deref() == Some(own));
        for line in self.lines.iter().rev().filter(|edit| edit.before.is_none()).filter_map(|edit| edit.after.as_deref()) {
            let line = line.trim_ascii();
            let own = provider.identity(line);
            if provider.locate_slot(line, Slot::Parent).is_some() && !own.as_ref().is_some_and(|own| followed(own)) {
                return own.ok_or(PlanError::NoWay);
            }
        }
        self.identity(self.last_linked()?)
    }

    /// Returns the last row of the chain that this plan does not remove.
    /// Errors: the file has no such row, because it has no conversation.
    pub(super) fn last_linked(&self) -> Result<u32, PlanError> {
        let removed = |row: u32| self.removed_lines().any(|edit| self.addresses.row(edit.row) == Some(row));
        self.reading().window.chain.iter().rev().copied().find(|row| !removed(*row)).ok_or(PlanError::NoWay)
    }

    /// Returns the rows added so far.
    pub(in crate::planning) fn added_lines(&self) -> impl Iterator<Item = &Edit> {
        self.lines.iter().filter(|edit| edit.before.is_none())
    }

    /// Returns the rows removed so far.
    pub(in crate::planning) fn removed_lines(&self) -> impl Iterator<Item = &Edit> {
        self.lines.iter().filter(|edit| edit.after.is_none())
    }
}

/// Returns a version 4 UUID made from the bits of a hash.
pub fn uuid(bits: &Address) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&bits[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
