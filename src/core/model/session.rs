use super::{Block, BlockNumber, Conventions, Damage, Event, Fault, Flags, Key, Origin, Row, RowKind, WaitingPrompts};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The place of a credential that only its context identifies: `password: …`. The value itself is stored only in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretPlace {
    /// The row, with the same base as the rows of blocks.
    pub row: u32,
    pub block: u32,
    /// Offset of the value in the displayed text of the block, in bytes.
    pub start: u32,
    /// Length of the value, in bytes.
    pub length: u32,
    /// The kind, as numbered by the engine.
    pub kind: u8,
    pub hash: u32,
}

/// The rows of one segment of a file: a value that depends on those bytes alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Start offset in the file, in bytes.
    pub start: u64,
    /// End offset: after a line feed, or at the end of the file.
    pub end: u64,
    /// Its rows in file order.
    pub rows: Vec<Row>,
    /// Their blocks in file order; `row` counts from the segment's first row.
    pub blocks: Vec<Block>,
    pub origins: Vec<Origin>,
    /// The credentials that its contents name; `row` counts from the segment's first row.
    pub secrets: Vec<SecretPlace>,
    /// True if it ends without a line feed.
    #[serde(skip)]
    pub unfinished: bool,
}

impl Segment {
    /// Removes the rows that end after the first `bytes` of the file.
    pub fn cut(&mut self, bytes: u64) {
        let kept = self.rows.partition_point(|row| row.offset + u64::from(row.length) <= bytes);
        self.rows.truncate(kept);
        self.blocks.retain(|block| (block.row as usize) < kept);
    }

    /// Merges adjacent segments until each has at least `bytes`, except for the last.
    pub fn regroup(segments: impl IntoIterator<Item = Segment>, bytes: u64) -> Vec<Segment> {
        let mut groups: Vec<Vec<Segment>> = Vec::new();
        for segment in segments {
            match groups.last_mut() {
                Some(group) if segment.start - group[0].start < bytes => group.push(segment),
                _ => groups.push(vec![segment]),
            }
        }
        groups.into_iter().map(Segment::merge).collect()
    }

    pub fn merge(segments: impl IntoIterator<Item = Segment>) -> Segment {
        let mut segments = segments.into_iter();
        let mut merged = segments.next().unwrap_or_default();
        for segment in segments {
            // Exact capacity: spare room would stay allocated.
            merged.rows.reserve_exact(segment.rows.len());
            merged.blocks.reserve_exact(segment.blocks.len());
            let (first_row, first_origin) = (merged.rows.len() as u32, merged.origins.len() as u32);
            merged.end = segment.end;
            merged.origins.extend(segment.origins);
            merged.rows.extend(segment.rows.into_iter().map(|mut row| {
                row.origin += first_origin;
                row
            }));
            merged.secrets.extend(segment.secrets.into_iter().map(|mut place| {
                place.row += first_row;
                place
            }));
            merged.blocks.extend(segment.blocks.into_iter().map(|mut block| {
                block.row += first_row;
                block
            }));
        }
        merged
    }
}

/// Appends values; existing values keep their index.
fn append<T>(all: &mut Vec<T>, mut values: Vec<T>) {
    if all.is_empty() {
        *all = values;
    } else {
        all.append(&mut values);
    }
}

/// One conversation in a file: rows, blocks and faults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The name of the provider, such as `claude-code`.
    pub provider: &'static str,
    /// The texts and names by which clients mark what they add to contents.
    pub conventions: &'static Conventions,
    pub id: String,
    pub bytes: u64,
    /// True if the file ends with a line feed.
    pub ends_with_newline: bool,
    /// All rows in file order.
    pub rows: Vec<Row>,
    /// All blocks in file order; number `n` is at index `n - 1`.
    pub blocks: Vec<Block>,
    pub origins: Vec<Origin>,
    /// The credentials that its contents name, each value once.
    pub secrets: Vec<SecretPlace>,
    pub damage: Damage,
    pub vocabulary: Vocabulary,
    /// The size of the window in tokens, if the client reports it.
    pub capacity: Option<u64>,
    /// The segments of other sessions' files that precede its own rows, oldest first: the inherited history of a fork.
    pub inherited: Vec<Inherited>,
}

/// The rows that a fork inherits from one other session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inherited {
    pub session: String,
    /// Its file; the rows are a prefix of it, and their offsets count there.
    pub path: PathBuf,
    pub rows: u32,
}

/// A vocabulary by which models count tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// Anthropic's, which is not public: two families, distinguished by the name of the model and by its bills.
    #[default]
    Claude,
    /// OpenAI's o200k, of its models since GPT-4o; other public models are close to it.
    O200k,
    /// OpenAI's cl100k: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// Returns true if [`Counts::o200k`](crate::model::Counts::o200k) of a session's blocks has the counts of this vocabulary instead.
    pub fn is_older(self) -> bool {
        self == Vocabulary::Cl100k
    }
}

#[cfg(test)]
impl Session {
    /// Adds a row with blocks, which get its place and the next numbers.
    pub fn add(&mut self, row: Row, blocks: impl IntoIterator<Item = Block>) {
        let (place, before) = (self.rows.len() as u32, self.blocks.len() as u32);
        self.blocks.extend((before + 1..).zip(blocks).map(|(number, block)| Block { row: place, number, ..block }));
        self.rows.push(Row { blocks: self.blocks.len() as u32 - before, ..row });
    }
}

impl Session {
    /// Returns the prompts that the client sent beside results and recorded in no row of their own, each with the block
    /// before it, 0 if there is none.
    pub fn queued_words(&self) -> Vec<(BlockNumber, Box<str>)> {
        let mut waiting = WaitingPrompts::default();
        let changes = (0..).zip(&self.rows).filter_map(|(place, row)| match row.event.as_deref() {
            Some(Event::Queue(change)) => Some((place, waiting.apply(change)?)),
            _ => None,
        });
        let before = |place: u32| self.blocks.partition_point(|block| block.row < place) as BlockNumber;
        let words: Vec<_> = changes.map(|(place, prompt)| (before(place), prompt)).collect();
        let has_rows = !words.is_empty() && self.rows.iter().any(|row| row.flags.any(Flags::ATTACHMENT));
        if has_rows { Vec::new() } else { words }
    }

    /// Returns the blocks of compactions that repeat words of a person: an earlier block has them.
    pub fn repeated_words(&self) -> FxHashSet<BlockNumber> {
        let mut said: FxHashSet<Key> = FxHashSet::default();
        let spoken = self.blocks.iter().filter(|block| !block.words.is_empty());
        let is_compaction = |block: &Block| self.rows[block.row as usize].kind == RowKind::Boundary;
        spoken.filter(|block| !said.insert(block.hash) && is_compaction(block)).map(|block| block.number).collect()
    }

    /// Joins the segments of one file, in file order, and numbers its blocks.
    pub fn join(provider: &'static str, conventions: &'static Conventions, id: String, segments: Vec<Segment>) -> Session {
        let mut session = Session { provider, conventions, id, ends_with_newline: true, ..Session::default() };
        let mut places: FxHashMap<Origin, u32> = FxHashMap::default();
        let mut values: FxHashSet<u32> = FxHashSet::default();
        let mut left: (usize, usize) =
            segments.iter().fold((0, 0), |(rows, blocks), segment| (rows + segment.rows.len(), blocks + segment.blocks.len()));
        for mut segment in segments {
            left = (left.0 - segment.rows.len(), left.1 - segment.blocks.len());
            session.bytes = session.bytes.max(segment.end);
            let first_row = session.rows.len() as u32;
            let origins: Vec<u32> = segment
                .origins
                .into_iter()
                .map(|origin| {
                    *places.entry(origin).or_insert_with_key(|origin| {
                        session.origins.push(origin.clone());
                        session.origins.len() as u32 - 1
                    })
                })
                .collect();
            for row in &mut segment.rows {
                row.origin = origins.get(row.origin as usize).copied().unwrap_or_default();
            }
            for block in &mut segment.blocks {
                block.row += first_row;
            }
            session.secrets.extend(segment.secrets.into_iter().filter(|place| values.insert(place.hash)).map(|mut place| {
                place.row += first_row;
                place
            }));
            append(&mut session.rows, segment.rows);
            append(&mut session.blocks, segment.blocks);
            // Exact capacity for all rows that follow.
            session.rows.reserve_exact(left.0);
            session.blocks.reserve_exact(left.1);
        }
        // In a subagent's own file every row is marked as a subagent's row: there, all belong to the conversation.
        let messages = |row: &&Row| matches!(row.kind, RowKind::User | RowKind::Assistant);
        if session.rows.iter().filter(messages).all(|row| row.sidechain) {
            for row in &mut session.rows {
                row.sidechain = false;
            }
        }
        for (index, block) in session.blocks.iter_mut().enumerate() {
            block.number = index as u32 + 1;
            block.timestamp = session.rows[block.row as usize].timestamp;
        }
        for row in &session.rows {
            if let Some(Event::Fault(fault)) = row.event.as_deref() {
                *session.damage.entry(*fault).or_default() += 1;
            }
        }
        session
    }

    /// Returns how many of its first rows are in the files of other sessions.
    pub fn inherited_rows(&self) -> u32 {
        self.inherited.iter().map(|part| part.rows).sum()
    }

    /// Returns where a row was inherited from; `None` for a row of its own file.
    pub fn inherited_from(&self, row: u32) -> Option<&Inherited> {
        let mut end = 0;
        self.inherited.iter().find(|part| {
            end += part.rows;
            row < end
        })
    }

    pub fn blocks_of(&self, row: u32) -> &[Block] {
        let start = self.blocks.partition_point(|block| block.row < row);
        let count = self.blocks[start..].iter().take_while(|block| block.row == row).count();
        &self.blocks[start..start + count]
    }

    /// Returns the time of the newest row that aperture did not write, in milliseconds since 1970, UTC: the time from which the age of
    /// a session counts. Rows are not always in the order of their times.
    pub fn last_written(&self) -> Option<i64> {
        self.rows.iter().filter(|row| !row.flags.any(Flags::OWN)).filter_map(|row| row.timestamp).max()
    }

    /// Returns the origin of the last row with a working directory, if any.
    pub fn latest_origin(&self) -> Option<&Origin> {
        self.rows.iter().rev().filter_map(|row| self.origins.get(row.origin as usize)).find(|origin| !origin.directory.is_empty())
    }

    /// Counts one more fault of a kind.
    pub fn note(&mut self, fault: Fault) {
        *self.damage.entry(fault).or_default() += 1;
    }
}
