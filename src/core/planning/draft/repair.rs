//! Repairs damage: only what is certain changes.

use super::rows::uuid;
use super::{Draft, hash};
use crate::engine::{self, Finding, FindingKind, MediaRefusal, Resemblance};
use crate::model::{Block, BlockKind, BlockNumber, Edit, Key, MediaFault, Refusal, RowAddress, RowKind, Session, Slot};
use crate::planning::PlanError;
use crate::planning::revision::Revision;
use crate::provider::{Framing, MediaPlace};
use rustc_hash::{FxHashMap, FxHashSet};

/// A finding of a session, and its repair.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The finding, with the row and the blocks of the session before.
    pub finding: Finding,
    /// The repair; `None` if nothing is certain enough to be written.
    pub action: Option<String>,
    /// The reason why there is none, if it is not that.
    pub refusal: Option<&'static str>,
}

impl Draft<'_> {
    /// Repairs the damage of the session as far as the repair is certain, and returns all findings. Lines are divided first, then rows are
    /// linked, then contents are replaced that the API refuses: each step can show more to the next one.
    /// Errors: the file changed since it was read; the client stores offsets of rows elsewhere, so that none may move.
    pub fn repair(&mut self, known: &(dyn Fn(Key) -> Option<u32> + Sync)) -> Result<Vec<Repaired>, PlanError> {
        let provider = self.source.provider;
        if provider.framing() != Framing::Lines {
            return Err(PlanError::NoBranches);
        }
        self.repairs = Some(FxHashSet::default());
        let mut repaired = Vec::new();
        let can_move = !provider.keeps_offsets(self.session());
        for finding in self.reading().findings() {
            let action = match &finding.kind {
                FindingKind::UnreadRows { .. } if can_move => self.divide(finding.row)?,
                FindingKind::RepeatedRows { copies: Resemblance::Exact, rows, .. } if can_move => {
                    self.remove_copies(finding.row, *rows)?
                }
                FindingKind::UnreadRows { .. }
                | FindingKind::Unreadable { .. }
                | FindingKind::MissingParent
                | FindingKind::ShortParent
                | FindingKind::MissingOrdinal
                | FindingKind::RepeatedRows { .. }
                | FindingKind::RepeatedResponse { .. } => None,
                // Found again in what the repairs so far lead to.
                _ => continue,
            };
            let refusal = (finding.is_repairable() && !can_move)
                .then_some("the client of this session stores the byte offset of each row, so that none may move");
            repaired.push(Repaired { finding, action, refusal });
        }
        let (revision, window) = self.revised(known)?;
        let found = engine::findings(&revision.session, &window, &self.reading().model);
        for finding in found.into_iter().filter(|finding| matches!(finding.kind, FindingKind::Cut { .. })) {
            repaired.extend(self.reconnect(&revision, finding)?);
        }
        drop(revision);
        let (revision, window) = self.revised(known)?;
        let found = engine::findings(&revision.session, &window, &self.reading().model);
        for finding in found.into_iter().filter_map(|finding| before(&revision, finding)) {
            let action = match &finding.kind {
                FindingKind::Media { .. } => self.replace_media(&finding)?,
                FindingKind::Refused(Refusal::EmptyId | Refusal::OddId) | FindingKind::RepeatedCall { .. } => {
                    self.rename(finding.block.unwrap_or_default(), &finding.kind)?
                }
                FindingKind::Refused(refusal) => {
                    let done = match refusal {
                        Refusal::NoName => "named unnamed_tool: its name is lost",
                        Refusal::Input => "its input is an object now",
                        Refusal::EmptyText => "[empty] in its place",
                        _ => "replaced by a text",
                    };
                    self.accept(finding.block.unwrap_or_default(), &[])?.then(|| done.to_owned())
                }
                FindingKind::HalfPair | FindingKind::TooMuch(_) => None,
                _ => continue,
            };
            repaired.push(Repaired { finding, action, refusal: None });
        }
        repaired.sort_by_key(|repaired| (repaired.finding.row, repaired.finding.block));
        Ok(repaired)
    }

    /// Plans a line feed before each row of a line that the client does not read.
    fn divide(&mut self, row: u32) -> Result<Option<String>, PlanError> {
        let Some(address) = self.own_address(row) else { return Ok(None) };
        let places = self.source.provider.unread_rows(&self.line(row)?);
        for place in &places {
            let slot = Slot::Break(*place as u32);
            let edit = Edit { row: address, slot, before: Some(Vec::new()), after: Some(b"\n".to_vec()), change: None };
            self.edits.insert((row, 0, slot), edit);
        }
        let what = if places.len() == 1 {
            "1 row gets a line of its own".to_owned()
        } else {
            format!("{} rows get lines of their own", places.len())
        };
        Ok((!places.is_empty()).then_some(what))
    }

    fn own_address(&self, row: u32) -> Option<RowAddress> {
        self.addresses.any(row).filter(|_| self.session().inherited_from(row).is_none())
    }

    fn remove_copies(&mut self, first: u32, rows: u32) -> Result<Option<String>, PlanError> {
        let mut left = rows;
        let copies = self.copies();
        for row in (first..self.session().rows.len() as u32).filter(|row| copies.contains(row)) {
            if left == 0 {
                break;
            }
            let Some(address) = self.own_address(row) else { return Ok(None) };
            let before = [&self.line(row)?[..], b"\n"].concat();
            self.lines.push(Edit { row: address, slot: Slot::Line, before: Some(before), after: None, change: None });
            left -= 1;
        }
        Ok(Some(format!("{} removed", if rows == 1 { "the copy".to_owned() } else { format!("{rows} copies") })))
    }

    /// Returns the rows that equal an earlier row of their identity.
    fn copies(&self) -> FxHashSet<u32> {
        let session = self.session();
        let mut firsts: FxHashMap<Key, u32> = FxHashMap::default();
        let rows = (0u32..).zip(&session.rows).filter_map(|(row, facts)| Some((row, *firsts.entry(facts.id?).or_insert(row))));
        rows.filter(|(row, first)| row != first && engine::resemblance(session, *first, *row) == Resemblance::Exact)
            .map(|(row, _)| row)
            .collect()
    }

    /// Plans the link of a row to the row that it followed.
    fn reconnect(&mut self, revision: &Revision, finding: Finding) -> Result<Option<Repaired>, PlanError> {
        let FindingKind::Cut { before, blocks, .. } = &finding.kind else { return Ok(None) };
        let Some(row) = revision.was[finding.row as usize] else {
            // The row is not on a line of its own yet: that of the row before it in the file is near.
            let row = revision.was[..finding.row as usize].iter().rev().copied().flatten().next().unwrap_or_default();
            let refusal = before.map(|_| "its row gets a line of its own first; aperture repair again links it");
            return Ok(Some(Repaired { finding: Finding { row, ..finding }, action: None, refusal }));
        };
        let (before, blocks) = (*before, *blocks);
        let target = before.map(|before| (revision.was[before as usize], revision.session.rows[before as usize].id));
        let identity = match target {
            Some((Some(row), _)) => Some(self.identity(row)?),
            Some((None, Some(id))) => self.unread_identity(id)?,
            _ => None,
        };
        let is_linked = match &identity {
            Some(identity) if self.value(row, Slot::Parent).is_some() && self.own_address(row).is_some() => {
                self.link(row, identity)?;
                true
            }
            _ => false,
        };
        let again = if blocks == 1 { "block is" } else { "blocks are" };
        let action = is_linked.then(|| format!("linked to the row before it: {blocks} {again} sent again"));
        Ok(Some(Repaired { finding: Finding { row, ..finding }, action, refusal: None }))
    }

    /// Returns the identity, as written, of a row that the client does not read yet.
    fn unread_identity(&self, id: Key) -> Result<Option<Vec<u8>>, PlanError> {
        let provider = self.source.provider;
        let divided = self.edits.keys().filter_map(|(row, _, slot)| match slot {
            Slot::Break(place) => Some((*row, *place as usize)),
            _ => None,
        });
        for (row, place) in divided {
            let line = self.line(row)?;
            let rest = line.get(place..).unwrap_or_default();
            if provider.parse(rest).row.id == Some(id) {
                return Ok(provider.identity(rest));
            }
        }
        Ok(None)
    }

    /// Plans new ids for a tool use and its result, if they certainly belong together; else texts in the place of a block that the API
    /// refuses.
    fn rename(&mut self, number: BlockNumber, kind: &FindingKind) -> Result<Option<String>, PlanError> {
        let session = self.session();
        if self.repairs.as_ref().is_some_and(|repaired| repaired.contains(&number)) {
            return Ok(Some("it has a new id".to_owned()));
        }
        let block = self.reading().block(number).ok_or(PlanError::NoSuchBlock(number))?;
        if self.own_address(block.row).is_none() {
            return Ok(None);
        }
        let pair = pair(session, block)
            .filter(|(call, result)| [call, result].iter().all(|block| self.value(block.row, Slot::Call(block.index)).is_some()));
        if let Some((call, result)) = pair {
            let seed = [&self.base_hash[..], &call.number.to_le_bytes()].concat();
            let id = format!("\"toolu_{}\"", uuid(&hash(&seed)).replace('-', ""));
            for block in [call, result] {
                self.set_value_at(block, Slot::Call(block.index), id.as_bytes())?;
            }
            return Ok(Some(format!("blocks {} and {} have a new id", call.number, result.number)));
        }
        match kind {
            FindingKind::Refused(_) => self.as_text(block),
            _ => Ok(None),
        }
    }

    fn set_value_at(&mut self, block: &Block, slot: Slot, after: &[u8]) -> Result<(), PlanError> {
        let row = self.addresses.address(block.row).ok_or(PlanError::Moved)?;
        let before = self.value(block.row, slot).ok_or(PlanError::Moved)?;
        let edit = Edit { row, slot, before: Some(before), after: Some(after.to_vec()), change: None };
        self.edits.insert((block.row, block.index, slot), edit);
        self.repairs.get_or_insert_default().insert(block.number);
        Ok(())
    }

    /// Plans a text in the place of a tool use or a result.
    fn as_text(&mut self, block: &Block) -> Result<Option<String>, PlanError> {
        let content = self.content(block.number)?;
        let tool = block.tool.as_ref().map_or("", |tool| &*tool.name);
        let text = match block.kind {
            BlockKind::ToolUse => format!("[call of the tool {tool}, without an id: {content}]"),
            _ => format!("[result of a call without an id: {content}]"),
        };
        let slot = Slot::Element(block.index);
        let Some(address) = self.addresses.address(block.row) else { return Ok(None) };
        let Some(value) = self.source.provider.encode(slot, BlockKind::Text, &text) else { return Ok(None) };
        self.set(block, address, slot, value, block.level, "")?;
        self.repairs.get_or_insert_default().insert(block.number);
        Ok(Some("replaced by a text: its result is not certain".to_owned()))
    }

    /// Plans texts in the place of images or documents of a block, or the right media type of images.
    fn replace_media(&mut self, finding: &Finding) -> Result<Option<String>, PlanError> {
        let FindingKind::Media { is_document, items } = &finding.kind else { return Ok(None) };
        let kind = if *is_document { "document" } else { "image" };
        let texts = items.iter().map(|(index, refusal)| {
            let place = if *is_document { MediaPlace::Document(*index) } else { MediaPlace::Image(*index) };
            (place, format!("[{kind} removed: it has {}]", refusal.text()))
        });
        let texts: Vec<(MediaPlace, String)> = texts.collect();
        let is_typed = |refusal: &MediaRefusal| matches!(refusal, MediaRefusal::Data(MediaFault::OtherFormat(_)));
        let typed = items.iter().filter(|(_, refusal)| is_typed(refusal)).count();
        let done = [
            (typed, "gets its media type", "get their media types"),
            (items.len() - typed, "replaced by a text", "replaced by texts"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{} {}", engine::plural(count, kind), if count == 1 { one } else { many }));
        let done: Vec<String> = done.collect();
        Ok(self.accept(finding.block.unwrap_or_default(), &texts)?.then(|| done.join(", ")))
    }

    /// Plans a block as the API accepts it, with texts in the place of some of its images and documents. Returns false if it cannot be
    /// changed.
    fn accept(&mut self, number: BlockNumber, media: &[(MediaPlace, String)]) -> Result<bool, PlanError> {
        let block = self.reading().block(number).ok_or(PlanError::NoSuchBlock(number))?;
        let (Some(address), line) = (self.own_address(block.row), self.line(block.row)?) else { return Ok(false) };
        let Some((slot, value)) = self.source.provider.accepted(&line, block.index, media) else { return Ok(false) };
        self.set(block, address, slot, value, block.level, "")?;
        self.repairs.get_or_insert_default().insert(block.number);
        Ok(true)
    }
}

/// Returns a finding with the row and the block of the session before; `None` if it is about a row that the plan makes readable.
fn before(revision: &Revision, finding: Finding) -> Option<Finding> {
    let row = revision.was[finding.row as usize]?;
    let block = match finding.block {
        Some(number) => Some(revision.block_was[number as usize - 1]? + 1),
        None => None,
    };
    Some(Finding { row, block, ..finding })
}

/// Returns the tool use and the result that certainly belong to each other, of which one is a block: the row of the result follows or
/// names that of the use, and each of them has no other block of its kind with this id.
fn pair<'a>(session: &'a Session, block: &Block) -> Option<(&'a Block, &'a Block)> {
    let alone = |row: u32, kind: BlockKind| {
        let mut same = session.blocks_of(row).iter().filter(|other| other.kind == kind && other.call == block.call);
        same.next().filter(|_| same.next().is_none())
    };
    let rows = || (0u32..).zip(&session.rows);
    let of = |row: u32| &session.rows[row as usize];
    let answers = |result: u32, call: Key| of(result).parent == Some(call) || of(result).answers == Some(call);
    let (call, result) = match block.kind {
        BlockKind::ToolUse => {
            let call = of(block.row).id?;
            let mut results = rows().filter(|(row, facts)| {
                facts.kind == RowKind::User && answers(*row, call) && alone(*row, BlockKind::ToolResult).is_some()
            });
            let (result, _) = results.next()?;
            if results.next().is_some() {
                return None;
            }
            (block.row, result)
        }
        _ => {
            let parents = [of(block.row).answers, of(block.row).parent];
            let (call, _) = rows().find(|(row, facts)| {
                facts.id.is_some() && parents.contains(&facts.id) && alone(*row, BlockKind::ToolUse).is_some()
            })?;
            (call, block.row)
        }
    };
    alone(call, BlockKind::ToolUse).zip(alone(result, BlockKind::ToolResult))
}
