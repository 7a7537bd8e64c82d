//! The format of session files: rows and blocks from bytes, the window, and the places of values in a row.

use super::json::text_of;
use super::tool_input::Call;
use super::turns::TurnScan;
use super::{Framing, Message};
use crate::model::{
    Block, BlockKind, CutLimit, Event, Excerpts, Fault, FileUsage, Key, Media, OutputRule, Role, Row, RowKind, Session, Slot,
    Vocabulary, Window, WindowEvidence,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Parses the rows of one format, and locates the values in a row.
///
/// Every function takes any bytes and returns; none panics.
pub trait Format: Sync {
    /// Returns true if the first bytes of a file look like a session of this format.
    fn recognizes(&self, head: &[u8]) -> bool;

    /// Parses one row. `bytes` are those that [`Format::framing`] finds, such as a line without its line feed; any bytes give a row.
    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a>;

    /// Fills in the fields that follow from the order of all rows of a session. Idempotent.
    fn link(&self, _session: &mut Session) {}

    /// Returns the window: the rows and blocks that the client would send if it resumed the session now.
    fn window(&self, session: &Session) -> Window;

    /// Returns the messages of the window as the API would receive them.
    fn messages(&self, session: &Session, window: &Window) -> Vec<Message>;

    /// Returns the identity of a row as rows refer to it; by default the text of its key.
    fn identity(&self, row: &[u8]) -> Option<Vec<u8>> {
        self.row_id(row).map(|id| format!("\"{id:?}\"").into_bytes())
    }

    /// Returns the key of the identity of a row, as [`Format::parse`] does.
    fn row_id(&self, row: &[u8]) -> Option<Key> {
        self.parse(row).row.id
    }

    /// Returns the fields of a row that content edits must preserve; `None` if the row cannot be read.
    fn stub(&self, row: &[u8]) -> Option<Stub>;

    /// Returns the slot through which the block with this index in a row is changed; `None` for blocks that cannot be changed,
    /// such as thinking.
    fn slot(&self, row: &[u8], index: u32) -> Option<Slot>;

    /// Returns the byte range of the value of a slot in a row.
    fn locate_slot(&self, row: &[u8], slot: Slot) -> Option<Range<usize>>;

    /// Encodes a content as the value of a slot; `None` if the slot cannot hold it.
    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>>;

    /// Decodes the value of a slot into text for people.
    fn decode(&self, value: &[u8]) -> String;

    methods! {
        /// Returns the division of the bytes of a session into rows.
        framing() -> Framing = Framing::Lines;
        /// Returns the rows of a session as lines, from its parts ([`Client::parts`](super::Client::parts)). Any bytes give lines.
        assemble(_parts: &[Vec<u8>]) -> Vec<u8> = Vec::new();
        /// Returns the offsets in a line at which rows begin that the client does not read: a line feed before each of them is missing.
        unread_rows(_line: &[u8]) -> Vec<usize> = Vec::new();
        /// Returns true if a row only holds a call of a tool or its result, by a look at its bytes that costs little. False for unknown
        /// rows.
        is_call(_bytes: &[u8]) -> bool = false;
        /// Returns the content of a file before the edit whose result a row has; `None` if the row does not record it.
        file_before_edit(_row: &[u8]) -> Option<String> = None;
        /// Returns true if only its call tells whether a result has answers of the user.
        calls_tell_answers() -> bool = false;
        /// Returns a scanner that computes the totals and the bills of a file without its contents. By default it finds none.
        scanner() -> Box<dyn Scanner> = Box::new(NoTotals);
        /// Returns the slot of a block of a row, and its value as the API accepts it, with a text in the place of some of its images and
        /// documents. `None` if there is nothing to replace, or one of them cannot be replaced.
        accepted(_row: &[u8], _index: u32, _media: &[(MediaPlace, String)]) -> Option<(Slot, Vec<u8>)> = None;
        /// Classifies a row that the client never sends and that no other row follows; `None` for any other row.
        unsent_record(_row: &[u8]) -> Option<UnsentRecord> = None;
        /// Returns the copy of a result that a row has for the client's screen ([`Slot::Display`]), without its long texts; else `None`.
        short_display(_row: &[u8]) -> Option<Vec<u8>> = None;
        /// Returns true if rows name their parent row, so that rows can be left out of the chain and put back.
        branches() -> bool = false;
        /// Returns true if the client stores byte offsets into the file elsewhere, so that no edit may move a row: each edited row
        /// keeps its length, and an added row carries the next ordinal.
        keeps_offsets(_session: &Session) -> bool = false;
        /// Returns the vocabulary in which the contents of some rows are counted, by the model that the bytes name.
        vocabulary(_bytes: &[u8]) -> Vocabulary = Vocabulary::O200k;
        /// Returns the reason why aperture does not change files of this format, and what to do instead; `None` if it does.
        read_only() -> Option<&'static str> = None;
        /// Returns the ordinal of a row, if the format numbers the rows of a file.
        ordinal(_row: &[u8]) -> Option<u64> = None;
        /// Returns the session that started the session of a subagent, by its first row; `None` for any other row.
        started_by(_row: &[u8]) -> Option<String> = None;
        /// Returns the same row with another ordinal; `None` if the row has none.
        with_ordinal(_row: &[u8], _ordinal: u64) -> Option<Vec<u8>> = None;
    }
}

/// An image or a document of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaPlace {
    /// The image with this number among the images of the block, from 0.
    Image(usize),
    /// The document with this number among the documents of the block, from 0.
    Document(usize),
}

/// The fields of a row that content edits must preserve: its links, its pairs and its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    /// The part of the row in the window.
    pub kind: RowKind,
    pub id: Option<Key>,
    pub parent: Option<Key>,
    /// The API message that it is a piece of.
    pub message: Option<Key>,
    /// The row whose tool use it answers.
    pub answers: Option<Key>,
    /// Its thinking blocks, signatures included, as hashes of their bytes.
    pub thinking: Vec<Key>,
    /// The message from which on it strips thinking, and how many blocks of that message are kept.
    pub scope: Option<(Key, u32)>,
}

/// A row that the client never sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsentRecord {
    /// A snapshot of files, to which the client can rewind together with a message.
    FileSnapshot {
        message: Key,
        /// The message of the snapshot that this one continues.
        continues: Option<Key>,
    },
    Request,
}

/// One row and its blocks.
#[derive(Debug, PartialEq)]
pub struct ParsedRow<'a> {
    /// The row; the caller fills in its place in the file.
    pub row: Row,
    /// Its content blocks in order.
    pub blocks: Vec<ParsedBlock<'a>>,
    /// Its origin, verbatim: session id, directory, version, branch.
    pub origin: [Option<Cow<'a, str>>; 4],
    /// Its identity as JSON, verbatim; `None` if it states none: then it has a computed one.
    pub identity: Option<Cow<'a, str>>,
}

/// A block and its content.
#[derive(Debug, PartialEq)]
pub struct ParsedBlock<'a> {
    /// The block; the caller fills in the counts over its content.
    pub block: Block,
    /// The content as the model sees it: text, or the input of a tool use as JSON.
    pub content: Cow<'a, str>,
    /// The same for people, if that differs: the members of a tool input, unescaped.
    pub readable: Option<String>,
    /// The part of it that refers to earlier content, if that is not all of it.
    pub refers: Option<String>,
    /// The part of it that the client sends and the row does not record; it is counted by its size.
    pub unrecorded: Option<super::Unrecorded>,
    /// The part of it that the client sends, for people, if the row records more; only this is counted.
    pub sent: Option<String>,
    /// The content as the client sends it under each limit that may apply, if that is not all of it.
    pub cuts: Vec<SentUnder>,
}

/// A content as it is sent under a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct SentUnder {
    pub limit: CutLimit,
    /// True if the row itself states the limit.
    pub stated: bool,
    pub content: String,
}

impl<'a> ParsedRow<'a> {
    /// A row with its blocks, which are numbered, and without an origin.
    pub fn new(mut row: Row, mut blocks: Vec<ParsedBlock<'a>>) -> ParsedRow<'a> {
        (0..).zip(&mut blocks).for_each(|(index, parsed)| parsed.block.index = index);
        row.blocks = blocks.len() as u32;
        ParsedRow { row, blocks, origin: Default::default(), identity: None }
    }

    /// The row of bytes that cannot be read.
    pub fn broken(fault: Fault) -> ParsedRow<'a> {
        let event = Some(Box::new(Event::Fault(fault)));
        ParsedRow::new(Row { event, ..Row::new(RowKind::Broken) }, Vec::new())
    }

    /// Returns true if the user said part of it.
    pub fn has_words(&self) -> bool {
        self.blocks.iter().any(|parsed| !parsed.block.words.is_empty())
    }

    /// Returns the same row with contents of its own.
    pub fn into_owned(self) -> ParsedRow<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let blocks = self.blocks.into_iter().map(|block| ParsedBlock {
            content: own(block.content),
            block: block.block,
            readable: block.readable,
            refers: block.refers,
            unrecorded: block.unrecorded,
            sent: block.sent,
            cuts: block.cuts,
        });
        let (origin, identity) = (self.origin.map(|text| text.map(own)), self.identity.map(own));
        ParsedRow { row: self.row, blocks: blocks.collect(), origin, identity }
    }
}

impl<'a> ParsedBlock<'a> {
    /// A block whose content is plain text.
    pub fn new(block: Block, content: Cow<'a, str>) -> ParsedBlock<'a> {
        ParsedBlock { block, content, readable: None, refers: None, unrecorded: None, sent: None, cuts: Vec::new() }
    }

    pub(super) fn of(kind: BlockKind, role: Role, content: Cow<'a, str>) -> ParsedBlock<'a> {
        ParsedBlock::new(Block::new(kind, role), content)
    }

    /// A block with the media that `read` adds, and the content that it returns.
    pub(super) fn read(kind: BlockKind, role: Role, read: impl FnOnce(&mut Media) -> Cow<'a, str>) -> ParsedBlock<'a> {
        let mut block = Block::new(kind, role);
        let content = read(&mut block.media);
        ParsedBlock::new(block, content)
    }

    pub(super) fn thinking(content: Cow<'a, str>, signature: Option<&RawValue>) -> ParsedBlock<'a> {
        let mut parsed = ParsedBlock::of(BlockKind::Thinking, Role::Thinking, content);
        parsed.block.signature_bytes = text_of(signature).map_or(0, |signature| signature.len() as u32);
        parsed
    }

    /// A text that the client adds; `ground` is [`Block::ground`].
    pub(super) fn attachment(label: &str, role: Role, ground: bool, content: Cow<'a, str>) -> ParsedBlock<'a> {
        let block = Block { label: label.into(), ground, ..Block::new(BlockKind::Attachment, role) };
        ParsedBlock::new(block, content)
    }

    pub(super) fn tool_use(id: Option<Key>, input: Cow<'a, str>, call: Call) -> ParsedBlock<'a> {
        let excerpts = Excerpts { files: call.files, ..Excerpts::default() }.some();
        let block =
            Block { call: id, tool: Some(Box::new(call.tool)), excerpts, ..Block::new(BlockKind::ToolUse, Role::ToolUse) };
        ParsedBlock { readable: call.readable, refers: Some(call.refers), ..ParsedBlock::new(block, input) }
    }

    pub(super) fn result(call: Option<Key>, read: impl FnOnce(&mut Media) -> Cow<'a, str>) -> ParsedBlock<'a> {
        let mut parsed = ParsedBlock::read(BlockKind::ToolResult, Role::ToolResult, read);
        parsed.block.call = call;
        parsed
    }

    pub fn text(&self) -> &str {
        self.readable.as_deref().unwrap_or(&self.content)
    }
}

/// Computes the totals of a file, and collects the bills of its responses, from its lines.
pub trait Scanner: Send {
    /// Takes the next line, without its line feed.
    fn line(&mut self, bytes: &[u8]);

    /// Returns the totals and the bills of all lines. The rule estimates the output of responses whose rows record only its start.
    fn finish(self: Box<Self>, rule: OutputRule) -> (Totals, FileUsage);
}

/// The scanner of a format that has no files.
struct NoTotals;

impl Scanner for NoTotals {
    fn line(&mut self, _bytes: &[u8]) {}

    fn finish(self: Box<Self>, _rule: OutputRule) -> (Totals, FileUsage) {
        <(Totals, FileUsage)>::default()
    }
}

/// The totals of a session file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Tokens of the window after the model's last answer, the answer included; 0 if it never answered.
    pub window_tokens: u64,
    pub window: WindowEvidence,
    /// True if rows follow the last answer, so that the window is larger by now, or smaller after a compaction.
    pub moved_on: bool,
    pub output_tokens: u64,
    pub output_estimated: bool,
    pub steps: u32,
    pub turns: u32,
    pub compactions: u32,
    /// The time of the newest row that aperture did not write, in milliseconds since 1970, UTC; `None` if no such row has a time.
    pub last_written: Option<i64>,
    /// The model of the last response. Most sessions of a directory share it: the cache stores it once for all of them.
    #[serde(skip)]
    pub model: Arc<str>,
    /// The working directory of the first row that names one; stored like the model.
    #[serde(skip)]
    pub directory: Arc<str>,
    /// The title, or the first prompt.
    pub title: String,
    /// True if the title is not read yet: a word of it could be a credential, and only a search of the whole file tells.
    pub untitled: bool,
}

impl Totals {
    /// Adds the number of the turns, and the first prompt if there is no other title.
    pub(super) fn with_turns(mut self, turns: &TurnScan) -> Totals {
        self.turns = turns.turns;
        if self.title.is_empty() {
            self.title = turns.title();
        }
        self
    }
}
