use super::{Counts, Key, Keywords, TokenCount};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The place of a block in file order, from 1: stable as the file grows.
pub type BlockNumber = u32;

/// The smallest thing that can be pinned, shortened or recalled: one content block.
///
/// The first half is read from the file and can be cached; the second half is computed by each analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The index of its row in the session.
    pub row: u32,
    /// Its index among the blocks of that row.
    pub index: u32,
    /// Kind of content.
    pub kind: BlockKind,
    /// Role of the speaker.
    pub role: Role,
    /// XXH3-128 of the content as the model sees it.
    pub hash: Key,
    /// Bytes of that content.
    pub bytes: u64,
    /// Counts of one pass over the content.
    pub counts: Counts,
    /// The tool use id that a use and its result share.
    pub call: Option<Key>,
    /// The tool, for a tool use; a result learns it from its use.
    pub tool: Option<Box<Tool>>,
    /// True if a tool result reports an error.
    pub error: bool,
    /// The type of an attachment (`date`, `hook_success`, …), or of a content block whose kind does not tell it
    /// (`server_tool_use`, …); empty for everything else.
    pub label: Box<str>,
    /// Images in the content, by pixel size.
    pub images: Vec<Image>,
    /// The file that holds the whole of a result of which the content is a preview.
    pub spilled_to: Option<Box<str>>,
    /// Bytes of a signature over thinking.
    pub signature_bytes: u32,
    /// The first words of the content, on one line.
    pub preview: Box<str>,
    /// Hashes of the distinct terms that stand in it.
    #[serde(with = "packed")]
    pub terms: Vec<u32>,
    /// How many of `terms`, from the first on, the agent used in it.
    pub uses: u32,
    /// Its most telling words, best first.
    pub keywords: Keywords,
    /// Marker line of a block that aperture shortened.
    pub marker: Option<Marker>,
    /// The remainder under each limit that the client may apply; only the limits that the block exceeds.
    pub cuts: Vec<Cut>,
    /// The parts of the content that a person wrote, as ranges of bytes, in order: a prompt, an answer, a reason.
    pub words: Box<[(u32, u32)]>,
    /// True if it holds instructions in force: loaded rules, skills and memory files, or the rest of a compaction.
    pub ground: bool,

    /// The limit under which it is sent, an index into `cuts`; `None` if all of it is.
    #[serde(skip)]
    pub cut: Option<u32>,
    /// Its place in file order, from 1.
    #[serde(skip)]
    pub number: BlockNumber,
    /// When its row was written, in milliseconds since 1970, UTC.
    #[serde(skip)]
    pub timestamp: Option<i64>,
    /// Token cost while the block is in the window.
    #[serde(skip, default = "zero")]
    pub tokens: TokenCount,
    /// Position.
    #[serde(skip)]
    pub position: Position,
    /// How it is used.
    #[serde(skip)]
    pub usefulness: Usefulness,
    /// How much of it is left.
    #[serde(skip)]
    pub level: Level,
    /// Where in its life it is.
    #[serde(skip)]
    pub state: State,
    /// Position of the pin; `None` if the block is not pinned.
    #[serde(skip)]
    pub pin: Option<Pin>,
    /// True if the user selected it for now.
    #[serde(skip)]
    pub focused: bool,
    /// True if it is not as aperture left it: another program changed it since.
    #[serde(skip)]
    pub changed_elsewhere: bool,
    /// Why it was shortened, if the user said so.
    #[serde(skip)]
    pub reason: Box<str>,
    /// Its topic, an index into the topics of the reading.
    #[serde(skip)]
    pub topic: Option<u32>,
}

/// Numbers as bytes, four each: hashes do not get shorter in any other form, and this one is read in one piece.
mod packed {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        struct Collect;
        impl Visitor<'_> for Collect {
            type Value = Vec<u32>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("numbers of four bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u32>, E> {
                let (numbers, rest) = bytes.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
            }
        }
        deserializer.deserialize_bytes(Collect)
    }
}

fn zero() -> TokenCount {
    TokenCount::ZERO
}

impl Block {
    /// A block of which nothing is known but what it is.
    pub fn new(kind: BlockKind, role: Role) -> Block {
        Block {
            row: 0,
            index: 0,
            kind,
            role,
            hash: Key(0),
            bytes: 0,
            counts: Counts::default(),
            call: None,
            tool: None,
            error: false,
            label: "".into(),
            images: Vec::new(),
            spilled_to: None,
            signature_bytes: 0,
            preview: "".into(),
            terms: Vec::new(),
            uses: 0,
            keywords: Keywords::default(),
            marker: None,
            cuts: Vec::new(),
            cut: None,
            words: Box::default(),
            ground: false,
            number: 0,
            timestamp: None,
            tokens: TokenCount::ZERO,
            position: Position::default(),
            usefulness: Usefulness::default(),
            level: Level::default(),
            state: State::default(),
            pin: None,
            focused: false,
            changed_elsewhere: false,
            reason: "".into(),
            topic: None,
        }
    }

    /// The same block without what is only needed to find references: its terms and keywords.
    pub fn without_terms(&self) -> Block {
        Block {
            row: self.row,
            index: self.index,
            hash: self.hash,
            bytes: self.bytes,
            counts: self.counts,
            call: self.call,
            tool: self.tool.clone(),
            error: self.error,
            label: self.label.clone(),
            images: self.images.clone(),
            signature_bytes: self.signature_bytes,
            preview: self.preview.clone(),
            marker: self.marker,
            cuts: self.cuts.clone(),
            cut: self.cut,
            words: self.words.clone(),
            ground: self.ground,
            number: self.number,
            timestamp: self.timestamp,
            tokens: self.tokens,
            position: self.position,
            level: self.level,
            ..Block::new(self.kind, self.role)
        }
    }

    /// The remainder, if the client sends it cut.
    pub fn sent_cut(&self) -> Option<&Cut> {
        self.cuts.get(self.cut? as usize)
    }

    /// Bytes of its content that are sent.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_cut().map_or(self.bytes, |cut| cut.bytes)
    }

    /// The block with the sizes of what is sent.
    pub fn as_sent(&self) -> Cow<'_, Block> {
        match self.sent_cut() {
            None => Cow::Borrowed(self),
            Some(cut) => Cow::Owned(Block { bytes: cut.bytes, counts: cut.counts, ..self.without_terms() }),
        }
    }

    /// The parts of its content that a person wrote. What is no range of this content is left out.
    pub fn words_in<'a>(&self, content: &'a str) -> impl Iterator<Item = &'a str> {
        self.words.iter().filter_map(move |(start, end)| content.get(*start as usize..*end as usize))
    }

    /// Bytes of its content that a person wrote.
    pub fn words_bytes(&self) -> u64 {
        self.words.iter().map(|(start, end)| u64::from(end - start)).sum()
    }

    /// Returns the subject of the block in one word or path: the target of its tool, or its label.
    pub fn target(&self) -> &str {
        self.tool.as_deref().map_or(&*self.label, |tool| &tool.target)
    }
}

/// How much of a content a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CutLimit {
    /// At most so many bytes.
    Bytes(u32),
    /// At most so many tokens of four bytes.
    Tokens(u32),
}

impl CutLimit {
    /// Bytes of a token.
    const TOKEN_BYTES: usize = 4;

    /// The limit in its own unit.
    pub fn units(self) -> usize {
        let (CutLimit::Bytes(units) | CutLimit::Tokens(units)) = self;
        units as usize
    }

    /// The limit in bytes.
    pub fn bytes(self) -> usize {
        match self {
            CutLimit::Bytes(bytes) => bytes as usize,
            CutLimit::Tokens(tokens) => (tokens as usize).saturating_mul(CutLimit::TOKEN_BYTES),
        }
    }

    /// Returns the cost of a number of bytes in the unit of the limit.
    pub fn cost(self, bytes: usize) -> usize {
        match self {
            CutLimit::Bytes(_) => bytes,
            CutLimit::Tokens(_) => bytes.div_ceil(CutLimit::TOKEN_BYTES),
        }
    }

    /// A limit of so many of the same unit.
    pub fn with_units(self, units: usize) -> CutLimit {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        match self {
            CutLimit::Bytes(_) => CutLimit::Bytes(units),
            CutLimit::Tokens(_) => CutLimit::Tokens(units),
        }
    }
}

/// The remainder of a content under a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// The limit.
    pub limit: CutLimit,
    /// True if the row itself states the limit, so that it holds for every model.
    pub stated: bool,
    /// Bytes that are left.
    pub bytes: u64,
    /// The counts of the remaining bytes.
    pub counts: Counts,
}

/// Marker line at the beginning of a shortened content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// The number of the block.
    pub number: BlockNumber,
    /// How much of it is left.
    pub level: Level,
    /// Token cost of the original, rounded.
    pub tokens: f64,
}

/// Kind of the content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Plain text of the user or the assistant.
    Text,
    /// Thinking of the model, perhaps with its text withheld.
    Thinking,
    /// A call of a tool.
    ToolUse,
    /// The answer of a tool.
    ToolResult,
    /// A picture.
    Image,
    /// A document.
    Document,
    /// A text that the client added.
    Attachment,
    /// A content block of a type that this version does not know.
    Other,
}

impl BlockKind {
    /// Every kind, in the order of reports.
    pub const ALL: [BlockKind; 8] = [
        BlockKind::Text,
        BlockKind::Thinking,
        BlockKind::ToolUse,
        BlockKind::ToolResult,
        BlockKind::Image,
        BlockKind::Document,
        BlockKind::Attachment,
        BlockKind::Other,
    ];

    /// The word for it, as in selectors and JSON.
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Text => "text",
            BlockKind::Thinking => "thinking",
            BlockKind::ToolUse => "tool_use",
            BlockKind::ToolResult => "tool_result",
            BlockKind::Image => "image",
            BlockKind::Document => "document",
            BlockKind::Attachment => "attachment",
            BlockKind::Other => "other",
        }
    }
}

/// Role of the speaker of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The client, in the system's name.
    System,
    /// The user.
    User,
    /// The model, aloud.
    Assistant,
    /// The model, to itself.
    Thinking,
    /// The model, calling a tool.
    ToolUse,
    /// A tool.
    ToolResult,
}

impl Role {
    /// The word for it, as in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Thinking => "thinking",
            Role::ToolUse => "tool_use",
            Role::ToolResult => "tool_result",
        }
    }
}

/// A tool call: which tool, and what it was pointed at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name as the client knows it.
    pub name: Box<str>,
    /// Action.
    pub verb: ToolVerb,
    /// The path, command, pattern or question that it was given, on one line.
    pub target: Box<str>,
    /// XXH3-64 of what must be equal for two calls to mean the same: the command, the search with its options, the range of a read.
    pub scope: u64,
    /// True if a read took the whole file.
    pub whole: bool,
    /// How many members its input has.
    pub parameters: u32,
}

/// Action of a tool, for supersession.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerb {
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Runs a command.
    Run,
    /// Searches files or names.
    Search,
    /// Replaces a plan or a list of things to do.
    Plan,
    /// Anything else.
    Other,
}

impl ToolVerb {
    /// True if the target of such a tool is a file.
    pub fn names_file(self) -> bool {
        matches!(self, ToolVerb::Read | ToolVerb::Edit)
    }
}

/// The pixel size of an image; zero by zero when its header does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// The zone; cold storage for what is not in the window.
    pub zone: Zone,
    /// The turn that it belongs to, from 1 in file order; 0 before the first prompt.
    pub turn: u32,
    /// The API response that it belongs to or precedes, from 1 in file order.
    pub step: u32,
    /// How well models use what stands there: 1 at both ends of the window, less in the middle.
    pub relevance: f32,
}

/// Where in the window a block stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Zone {
    /// The beginning: instructions, the first prompt, the summary of a compaction.
    Primacy,
    /// Everything between the ends.
    Middle,
    /// The newest part.
    Recency,
    /// Not in the window any more.
    #[default]
    Cold,
}

impl Zone {
    /// Every zone, in window order.
    pub const ALL: [Zone; 4] = [Zone::Primacy, Zone::Middle, Zone::Recency, Zone::Cold];

    /// The word for it, as in selectors and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Primacy => "primacy",
            Zone::Middle => "middle",
            Zone::Recency => "recency",
            Zone::Cold => "cold",
        }
    }
}

/// How a block is used by what comes after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usefulness {
    /// Later blocks of the agent that use something that this block brought.
    pub references: u32,
    /// The turn of the last of them.
    pub last_turn: Option<u32>,
    /// The step of the last of them.
    pub last_step: Option<u32>,
    /// How hot it is now, from 0 to 1.
    pub heat: f32,
    /// Turns since it was written or last referenced.
    pub stale_turns: u32,
    /// Steps since it was written or last referenced.
    pub stale_steps: u32,
    /// Why it no longer says how things are, if so, and the block that says it now.
    pub outdated: Option<(Outdated, BlockNumber)>,
    /// Every such reason with its block, the most telling first: `outdated` is the first of them.
    pub reasons: Vec<(Outdated, BlockNumber)>,
    /// Turns without a reference until it goes stale, about; 0 when it is, none when it never does.
    pub turns_left: Option<u32>,
}

/// Why a block no longer says how things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outdated {
    /// The same content stands in a later result.
    Duplicate,
    /// The file was read again.
    ReadAgain,
    /// The same command or search ran again.
    RunAgain,
    /// A failed attempt that later succeeded.
    Succeeded,
    /// The plan was replaced.
    Replaced,
    /// The file was edited afterwards; what was read may still be needed.
    EditedLater,
}

impl Outdated {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Outdated::Duplicate => "repeated",
            Outdated::ReadAgain => "read again",
            Outdated::RunAgain => "run again",
            Outdated::Succeeded => "succeeded later",
            Outdated::Replaced => "replaced",
            Outdated::EditedLater => "edited later",
        }
    }

    /// True if a later block says the same or better, so that nothing is lost without this one.
    pub fn supersedes(self) -> bool {
        self != Outdated::EditedLater
    }
}

/// How much of a block is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// All of it.
    #[default]
    Original,
    /// The essential lines.
    Trimmed,
    /// A short extract.
    Summarized,
    /// One line.
    Minimal,
    /// A placeholder; the content is in cold storage.
    Archived,
}

impl Level {
    /// Every level, from the longest to the shortest.
    pub const ALL: [Level; 5] = [Level::Original, Level::Trimmed, Level::Summarized, Level::Minimal, Level::Archived];

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// The word for it, as in commands and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Original => "original",
            Level::Trimmed => "trimmed",
            Level::Summarized => "summarized",
            Level::Minimal => "minimal",
            Level::Archived => "archived",
        }
    }
}

/// Where in its life a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// Just arrived: of the last steps.
    #[default]
    Fresh,
    /// Recent, not yet old enough to judge.
    Active,
    /// Old, but the agent came back to it not long ago.
    Referenced,
    /// Superseded, or not used for long.
    Stale,
    /// Shortened.
    Compressed,
    /// In cold storage.
    Archived,
    /// Not in the window: hidden by a compaction or on an abandoned branch.
    Evicted,
}

impl State {
    /// Every state, in the order of a life.
    pub const ALL: [State; 7] =
        [State::Fresh, State::Active, State::Referenced, State::Stale, State::Compressed, State::Archived, State::Evicted];

    /// Returns a short description.
    pub fn meaning(self) -> &'static str {
        match self {
            State::Fresh => "just arrived: of the last responses",
            State::Active => "recent, or of a kind that does not go stale",
            State::Referenced => "older, and used since",
            State::Stale => "a later block says the same or better, or nobody came back to it for long",
            State::Compressed => "shortened: a part or one line of it is left",
            State::Archived => "a line stands for it; recall and expand bring it back",
            State::Evicted => "not in the window: before a compaction, or on a branch that was left",
        }
    }

    /// The word for it, as in selectors and JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Active => "active",
            State::Referenced => "referenced",
            State::Stale => "stale",
            State::Compressed => "compressed",
            State::Archived => "archived",
            State::Evicted => "evicted",
        }
    }
}

/// Where a block is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Position.
    Here,
    /// At the beginning of the window.
    Top,
    /// At its end.
    Bottom,
}

/// Topic of a group of turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topic {
    /// A short readable name.
    pub label: String,
    /// Its words, most telling first.
    pub keywords: Vec<String>,
    /// The turns that it spans, in file order.
    pub turns: Vec<u32>,
}
