//! Compares a session file with its operation log, and computes the edits that restore a logged state.

use super::addresses::{Addresses, NAMELESS};
use super::originals::{OriginalError, Originals};
use super::rows::MemoryRows;
use super::splice::splice;
use crate::model::{Address, BlockNumber, Edit, Key, LoggedEdit, Operation, OperationId, RowAddress, Session, Slot};
use crate::provider::{Framing, ProviderAdapter};
use std::collections::{BTreeMap, BTreeSet};

/// A kind of difference between the file and the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// The file has another value.
    Changed,
    /// The row is missing from the file.
    RowGone,
    /// A row that an operation removed is in the file again.
    RowBack,
}

/// A logged value that the file does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftedValue {
    /// The last operation that wrote the value.
    pub operation: OperationId,
    pub slot: Slot,
    /// The block of the value: its current number, or its number in the log if the row is missing.
    pub block: Option<BlockNumber>,
    /// A short description of the block; empty if there is none.
    pub label: String,
    pub how: DriftKind,
}

impl DriftedValue {
    /// Returns false if the value is a billed token count, which undo adjusts to the current one; true for any other value.
    pub fn blocks_undo(&self) -> bool {
        self.slot != Slot::Usage
    }
}

/// The result of comparing a log with its session file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCheck {
    pub values: usize,
    /// The values that differ, in block order.
    pub drifted: Vec<DriftedValue>,
}

/// A session file together with its log.
pub struct LoggedSession<'a> {
    /// The provider whose format the file has.
    pub provider: &'a dyn ProviderAdapter,
    pub session: &'a Session,
    pub bytes: &'a [u8],
    /// The operations on the session, oldest first.
    pub operations: &'a [Operation],
    pub values: &'a dyn Originals,
}

impl LoggedSession<'_> {
    fn edits(&self) -> impl Iterator<Item = (OperationId, &LoggedEdit)> {
        self.operations.iter().flat_map(|operation| operation.edits.iter().map(move |edit| (operation.id, edit)))
    }

    fn line(&self, addresses: &Addresses, row: RowAddress) -> Option<(u32, &[u8])> {
        let row = addresses.row(row).filter(|row| self.session.inherited_from(*row).is_none())?;
        let place = self.session.rows.get(row as usize)?;
        let start = usize::try_from(place.offset).ok()?;
        Some((row, self.bytes.get(start..start + place.length as usize)?))
    }

    /// Checks whether the file has the last logged value of each slot.
    /// Errors: the line of an added row, or a value edited in it later, is not in the store.
    pub fn check(&self) -> Result<LogCheck, OriginalError> {
        let addresses = Addresses::new(self.session);
        let mut slots: BTreeMap<(RowAddress, Slot), (OperationId, &LoggedEdit)> = BTreeMap::new();
        // The whole line of an added row is known, so later edits of its slots are applied to that line.
        let mut lines: BTreeMap<RowAddress, (OperationId, &LoggedEdit, Option<Vec<u8>>)> = BTreeMap::new();
        for (operation, edit) in self.edits() {
            if matches!(edit.slot, Slot::Break(_)) {
                // The rest of the line is a row of its own since then.
                continue;
            }
            if edit.slot == Slot::Ahead {
                self.forget_lines(edit, &mut slots, &mut lines)?;
                continue;
            }
            if edit.slot == Slot::Line {
                let line = edit.after.map(|address| self.values.original(&address)).transpose()?;
                // A removed row becomes a blank line if the rows after it must not move.
                let line = line.map(|line| line.trim_ascii().to_vec()).filter(|line| !line.is_empty());
                lines.insert(edit.row, (operation, edit, line));
                slots.retain(|(row, _), _| *row != edit.row);
            } else if let Some((last, _, Some(line))) = lines.get_mut(&edit.row) {
                if let (Some(at), Some(after)) = (self.provider.locate_slot(line, edit.slot), edit.after) {
                    *line = [&line[..at.start], &self.values.original(&after)?, &line[at.end..]].concat();
                    *last = operation;
                }
            } else {
                // The message slot and a content slot cover the same bytes: the later edit counts.
                if edit.slot == Slot::Message {
                    slots.retain(|(row, slot), _| *row != edit.row || slot.index().is_none());
                } else if edit.slot.index().is_some() {
                    slots.remove(&(edit.row, Slot::Message));
                }
                slots.insert((edit.row, edit.slot), (operation, edit));
            }
        }
        let mut check = LogCheck { values: slots.len() + lines.len(), drifted: Vec::new() };
        for ((address, slot), (operation, edit)) in slots {
            let how = match self.line(&addresses, address) {
                None => DriftKind::RowGone,
                Some((_, line)) => {
                    let found = self.provider.locate_slot(line, slot).map(|at| *blake3::hash(&line[at]).as_bytes());
                    if found == edit.after {
                        continue;
                    }
                    DriftKind::Changed
                }
            };
            check.drifted.push(self.drifted(&addresses, operation, edit, how));
        }
        for (address, (operation, edit, expected)) in lines {
            let how = match (self.line(&addresses, address), expected) {
                (None, None) => continue,
                (Some((_, line)), Some(expected)) if line == expected => continue,
                (None, Some(_)) => DriftKind::RowGone,
                (Some(_), Some(_)) => DriftKind::Changed,
                (Some(_), None) => DriftKind::RowBack,
            };
            check.drifted.push(self.drifted(&addresses, operation, edit, how));
        }
        check.drifted.sort_by_key(|drifted| (drifted.block.is_none(), drifted.block, drifted.operation));
        Ok(check)
    }

    /// Takes the rows that an operation removed together, or restored, out of the comparison, and those without an identity, which have
    /// other addresses since.
    fn forget_lines<T, U>(
        &self,
        edit: &LoggedEdit,
        slots: &mut BTreeMap<(RowAddress, Slot), T>,
        lines: &mut BTreeMap<RowAddress, U>,
    ) -> Result<(), OriginalError> {
        let rows = |address: Option<Address>| -> Result<BTreeSet<Key>, OriginalError> {
            let bytes = address.map_or(Ok(Vec::new()), |address| self.values.original(&address))?;
            Ok(Framing::Lines.rows(&bytes).into_iter().filter_map(|line| self.provider.parse(&bytes[line]).row.id).collect())
        };
        let (before, after) = (rows(edit.before)?, rows(edit.after)?);
        let moved: BTreeSet<Key> = before.symmetric_difference(&after).copied().chain([NAMELESS]).collect();
        slots.retain(|(row, _), _| !moved.contains(&row.id));
        lines.retain(|row, _| !moved.contains(&row.id));
        Ok(())
    }

    fn drifted(&self, addresses: &Addresses, operation: OperationId, edit: &LoggedEdit, how: DriftKind) -> DriftedValue {
        let now = addresses.row(edit.row).and_then(|row| {
            let index = if edit.slot == Slot::Line { 0 } else { edit.slot.index()? };
            self.session.blocks_of(row).get(index as usize).map(|block| block.number)
        });
        let change = edit.change.as_ref();
        DriftedValue {
            operation,
            slot: edit.slot,
            block: now.or(change.map(|change| change.number)),
            label: change.map(|change| change.label.clone()).unwrap_or_default(),
            how,
        }
    }

    /// Returns the edits that restore the state after an operation, or the original state for 0. `None` if a row was removed since
    /// then, because its position is not known, or if the file lacks an edited row or slot.
    pub fn back_to(&self, operation: OperationId) -> Result<Option<Vec<Edit>>, OriginalError> {
        let addresses = Addresses::new(self.session);
        let mut first: BTreeMap<(RowAddress, Slot), &LoggedEdit> = BTreeMap::new();
        let mut added: BTreeMap<RowAddress, bool> = BTreeMap::new();
        for (_, edit) in self.edits().filter(|(id, _)| *id > operation) {
            if matches!(edit.slot, Slot::Break(_) | Slot::Ahead) {
                return Ok(None);
            }
            if edit.slot == Slot::Line {
                if *added.entry(edit.row).or_insert(edit.before.is_none()) {
                    continue;
                }
                return Ok(None);
            }
            first.entry((edit.row, edit.slot)).or_insert(edit);
        }
        let mut edits: Vec<(u32, Edit)> = Vec::new();
        for ((address, slot), edit) in first {
            if added.contains_key(&address) {
                continue;
            }
            let Some((row, line)) = self.line(&addresses, address) else { return Ok(None) };
            let (Some(at), Some(before)) = (self.provider.locate_slot(line, slot), edit.before) else { return Ok(None) };
            let (now, then) = (line[at].to_vec(), self.values.original(&before)?);
            if now != then {
                let change = edit.change.clone();
                edits.push((row, Edit { row: address, slot, before: Some(now), after: Some(then), change }));
            }
        }
        edits.sort_by_key(|(row, _)| *row);
        let mut edits: Vec<Edit> = edits.into_iter().map(|(_, edit)| edit).collect();
        for address in added.into_keys() {
            let Some((_, line)) = self.line(&addresses, address) else { continue };
            let written = self.edits().filter(|(_, edit)| edit.row == address && edit.slot == Slot::Line);
            let lead = match written.filter_map(|(_, edit)| edit.after).last() {
                Some(address) => self.values.original(&address)?.starts_with(b"\n"),
                None => false,
            };
            let line = [if lead { &b"\n"[..] } else { b"" }, line, b"\n"].concat();
            edits.push(Edit { row: address, slot: Slot::Line, before: Some(line), after: None, change: None });
        }
        Ok(Some(edits))
    }

    /// Returns the BLAKE3 hash of the file after some edits, limited to its first `length` bytes if given. `None` if the edits do
    /// not match the file or the result is shorter than `length`.
    pub fn hash_after(&self, edits: &[Edit], length: Option<u64>) -> Option<Address> {
        let addresses = Addresses::new(self.session);
        let base = MemoryRows(self.bytes);
        let splice = splice(self.provider, self.session, &addresses, &base, self.bytes.len() as u64, edits, &[]).ok()?;
        let mut left = length.unwrap_or(u64::MAX);
        let mut hasher = blake3::Hasher::new();
        let made = splice.run(&mut &*self.bytes, &mut |_| (), &mut |bytes| {
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            hasher.update(&bytes[..taken]);
            left -= taken as u64;
            Ok(())
        });
        made.ok()?;
        (length.is_none() || left == 0).then(|| *hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockChange, OperationKind};
    use crate::planning::parse_session;
    use crate::provider::claude_code::ClaudeCode;

    const ROWS: &str = concat!(
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"user","uuid":"b","parentUuid":"a","sessionId":"S","message":{"role":"user","content":"two"}}"#,
        "\n",
    );

    fn address(value: &str) -> Address {
        *blake3::hash(value.as_bytes()).as_bytes()
    }

    fn edit(row: &str, slot: Slot, before: Option<&str>, after: Option<&str>) -> LoggedEdit {
        let row = RowAddress { id: Key::from_text(row), occurrence: 0 };
        let change = slot.index().map(|_| BlockChange { number: 9, ..BlockChange::default() });
        LoggedEdit { row, slot, before: before.map(address), after: after.map(address), change }
    }

    fn operations(edits: &[LoggedEdit]) -> Vec<Operation> {
        let operation = |(edit, id): (&LoggedEdit, OperationId)| Operation {
            edits: vec![edit.clone()],
            ..Operation::example(id, OperationKind::Change)
        };
        edits.iter().zip(1..).map(operation).collect()
    }

    /// The differing values, and the hash of the original.
    type CheckedLog = (Vec<(Slot, Option<BlockNumber>, DriftKind)>, Option<Address>);

    /// Compares the file with a log whose values are in `values`; also returns the hash of the file with all edits reverted.
    fn logged(edits: &[LoggedEdit], values: &[&str]) -> CheckedLog {
        let session = parse_session(&ClaudeCode, "s".to_owned(), ROWS.as_bytes());
        let operations = operations(edits);
        let values: BTreeMap<Address, Vec<u8>> = values.iter().map(|value| (address(value), value.as_bytes().to_vec())).collect();
        let (provider, bytes) = (&ClaudeCode, ROWS.as_bytes());
        let logged = LoggedSession { provider, session: &session, bytes, operations: &operations, values: &values };
        let drifted = logged.check().unwrap().drifted;
        let original = logged.back_to(0).unwrap().and_then(|edits| logged.hash_after(&edits, None));
        (drifted.into_iter().map(|drifted| (drifted.slot, drifted.block, drifted.how)).collect(), original)
    }

    #[test]
    fn the_last_value_of_each_slot_is_present_or_missing() {
        let content = Slot::Content(0);
        let check = |edits: &[LoggedEdit], values: &[&str], expected: &[(Slot, Option<BlockNumber>, DriftKind)]| {
            assert_eq!(logged(edits, values).0, expected);
        };
        check(&[edit("b", content, Some("\"x\""), Some("\"two\""))], &["\"x\""], &[]);
        check(
            &[edit("b", content, Some("\"x\""), Some("\"y\"")), edit("b", content, Some("\"y\""), Some("\"two\""))],
            &["\"x\""],
            &[],
        );
        check(&[edit("b", content, Some("\"x\""), Some("\"y\""))], &["\"x\""], &[(content, Some(2), DriftKind::Changed)]);
        check(&[edit("c", content, Some("\"x\""), Some("\"y\""))], &["\"x\""], &[(content, Some(9), DriftKind::RowGone)]);
        let line = ROWS.lines().nth(1).unwrap();
        check(&[edit("b", Slot::Line, None, Some(line))], &[line], &[]);
        check(
            &[edit("b", Slot::Line, None, Some(line)), edit("b", Slot::Line, Some(line), None)],
            &[line],
            &[(Slot::Line, Some(2), DriftKind::RowBack)],
        );
        check(
            &[edit("b", Slot::Line, None, Some(line)), edit("b", Slot::Parent, Some("\"a\""), Some("\"z\""))],
            &[line, "\"z\""],
            &[(Slot::Line, Some(2), DriftKind::Changed)],
        );
    }

    #[test]
    fn the_way_back_leads_to_the_first_values() {
        let line = ROWS.lines().nth(1).unwrap();
        let first = ROWS.lines().next().unwrap();
        let check = |edits: &[LoggedEdit], values: &[&str], expected: Option<String>| {
            assert_eq!(logged(edits, values).1, expected.map(|text| address(&text)));
        };
        let content = Slot::Content(0);
        check(&[], &[], Some(ROWS.to_owned()));
        check(
            &[edit("b", content, Some("\"x\""), Some("\"y\"")), edit("b", content, Some("\"y\""), Some("\"two\""))],
            &["\"x\""],
            Some(ROWS.replace("two", "x")),
        );
        check(&[edit("b", Slot::Line, None, Some(line))], &[line], Some(format!("{first}\n")));
        check(&[edit("b", Slot::Line, Some(line), None)], &[line], None);
        check(&[edit("c", content, Some("\"x\""), Some("\"y\""))], &["\"x\""], None);
    }
}
