use super::{Counts, Key, Level, Media, Pin, Position, State, TokenCount, Usefulness, texts, words};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The place of a block in file order, from 1: stable as the file grows.
pub type BlockNumber = u32;

texts! {
    /// The reason for which the API refuses a block as it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Refusal, reason {
        /// The id of the tool use that it is, or answers, is empty or missing.
        EmptyId = "the id of the tool use is empty",
        /// That id has characters that the API does not accept in ids.
        OddId = "the id of the tool use has characters that ids may not have",
        /// A tool use has no name of a tool.
        NoName = "a tool use without the name of a tool",
        /// The input of a tool use is not an object.
        Input = "a tool use whose input is not an object",
        /// A text, or one of its texts, has no visible character.
        EmptyText = "an empty text",
        /// A tool use is in a message of the user.
        Role = "a tool use in a message of the user",
        /// Its kind, or that of a part of it, is unknown to the API.
        Kind = "content of a kind that the API does not know",
    }
}

/// The smallest unit that can be pinned, shortened or recalled: one content block.
///
/// The first half is read from the file and can be cached; the second half is computed by each analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The index of its row in the session.
    pub row: u32,
    pub index: u32,
    pub kind: BlockKind,
    pub role: Role,
    /// XXH3-128 of the content as the model sees it.
    pub hash: Key,
    pub bytes: u64,
    /// Counts of one pass over the content.
    pub counts: Counts,
    /// The tool use id that a use and its result share.
    pub call: Option<Key>,
    /// The reason for which the API refuses it as it is.
    pub refusal: Option<Refusal>,
    /// The tool, for a tool use; for a result it is copied from its use.
    pub tool: Option<Box<Tool>>,
    /// True if a tool result reports an error.
    pub error: bool,
    /// The number of a program that runs on: of a result, the one that has not ended; of a call, the one whose next output it gets.
    pub program: Box<str>,
    /// The type of an attachment (`date`, `hook_success`, …), or of a content block whose kind does not imply it
    /// (`server_tool_use`, …); empty for everything else.
    pub label: Box<str>,
    /// The images and documents in the content.
    pub media: Media,
    /// The file with the whole result, if the content is only a preview.
    pub spilled_to: Option<Box<str>>,
    pub signature_bytes: u32,
    /// The first words of the content, on one line.
    pub preview: Box<str>,
    /// Hashes of the distinct terms in it.
    #[serde(with = "packed")]
    pub terms: Vec<u32>,
    /// The number of leading `terms` that the agent used in it.
    pub uses: u32,
    /// Its most distinctive words, best first.
    pub keywords: Keywords,
    /// Excerpts of it that a manifest can quote, if there are any.
    pub excerpts: Option<Box<Excerpts>>,
    /// Marker line of a block that aperture shortened.
    pub marker: Option<Marker>,
    /// The remainder under each limit that the client may apply; only the limits that the block exceeds.
    pub cuts: Vec<Cut>,
    /// The parts of the content that a person wrote, as ranges of bytes, in order: a prompt, an answer, a reason.
    pub words: Box<[(u32, u32)]>,
    /// True if its client, a hook or aperture wrote it to guide the model: rules, skills, memory files, modes, lists of tools, reminders,
    /// or the rest of a compaction.
    pub ground: bool,

    /// The limit under which it is sent, an index into `cuts`; `None` if all of it is.
    #[serde(skip)]
    pub cut: Option<u32>,
    /// Its place in file order, from 1.
    #[serde(skip)]
    pub number: BlockNumber,
    /// The time when its row was written, in milliseconds since 1970, UTC.
    #[serde(skip)]
    pub timestamp: Option<i64>,
    /// Token cost while the block is in the window.
    #[serde(skip)]
    pub tokens: TokenCount,
    #[serde(skip)]
    pub position: Position,
    #[serde(skip)]
    pub usefulness: Usefulness,
    #[serde(skip)]
    pub level: Level,
    #[serde(skip)]
    pub state: State,
    /// Position of the pin; `None` if the block is not pinned.
    #[serde(skip)]
    pub pin: Option<Pin>,
    /// True if the user marked it as relevant now (focus).
    #[serde(skip)]
    pub focused: bool,
    /// True if another program changed it after aperture did.
    #[serde(skip)]
    pub changed_elsewhere: bool,
    /// The reason for shortening that the user gave, if any.
    #[serde(skip)]
    pub reason: Box<str>,
    /// Its topic, an index into the topics of the reading.
    #[serde(skip)]
    pub topic: Option<u32>,
}

/// Numbers as bytes, four each: hashes are not compressible, and this form is read in one piece.
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

impl Block {
    /// Returns the parts of its content that a person wrote, one a line; of the record of a command, the command as it was typed.
    pub fn said_in(&self, content: &str) -> String {
        let words = self.words_in(content).collect::<Vec<_>>().join("\n");
        let name = self.preview.split(' ').next().unwrap_or_default();
        let is_record = self.kind == BlockKind::Text && name.starts_with('/') && !content.trim_start().starts_with('/');
        if is_record && !words.is_empty() && words != name { format!("{name} {words}") } else { words }
    }

    /// Returns a block with its kind and role; everything else is empty.
    pub fn new(kind: BlockKind, role: Role) -> Block {
        Block { kind, role, ..Block::default() }
    }

    /// Returns the same block without the data that is only needed to find references: its terms and keywords.
    pub fn without_terms(&self) -> Block {
        Block {
            row: self.row,
            index: self.index,
            hash: self.hash,
            bytes: self.bytes,
            counts: self.counts,
            call: self.call,
            refusal: self.refusal,
            tool: self.tool.clone(),
            error: self.error,
            program: self.program.clone(),
            label: self.label.clone(),
            media: self.media.clone(),
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

    pub fn has_verb(&self, verb: ToolVerb) -> bool {
        self.tool.as_deref().is_some_and(|tool| tool.verb == verb)
    }

    /// Returns the remainder, if the client sends it truncated.
    pub fn sent_cut(&self) -> Option<&Cut> {
        self.cuts.get(self.cut? as usize)
    }

    pub fn sent_bytes(&self) -> u64 {
        self.sent_cut().map_or(self.bytes, |cut| cut.bytes)
    }

    pub fn as_sent(&self) -> Cow<'_, Block> {
        match self.sent_cut() {
            None => Cow::Borrowed(self),
            Some(cut) => Cow::Owned(Block { bytes: cut.bytes, counts: cut.counts, ..self.without_terms() }),
        }
    }

    /// Returns the parts of its content that a person wrote. Ranges outside this content are skipped.
    pub fn words_in<'a>(&self, content: &'a str) -> impl Iterator<Item = &'a str> {
        self.words.iter().filter_map(move |(start, end)| content.get(*start as usize..*end as usize))
    }

    /// Returns the files that its tool input names, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().flat_map(|excerpts| excerpts.files.iter())
    }

    /// Returns its clauses that can name a topic, in order.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().flat_map(|excerpts| excerpts.clauses.iter())
    }

    /// Returns its sentences that state a rule of the user, in order; none if they turned out to be the words of another one.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().filter(|_| !self.words.is_empty()).flat_map(|excerpts| excerpts.rules.iter())
    }

    /// Returns the number of bytes of its content that a person wrote.
    pub fn words_bytes(&self) -> u64 {
        self.words.iter().map(|(start, end)| u64::from(end - start)).sum()
    }

    /// Returns the subject of the block in one word or path: the target of its tool, or its label.
    pub fn target(&self) -> &str {
        self.tool.as_deref().map_or(&*self.label, |tool| &tool.target)
    }
}

/// Excerpts of a content that a manifest can quote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpts {
    /// The files that a tool input names, in order; relative paths as in the input.
    pub files: Keywords,
    /// Clauses of a person or of the agent, and a heading, that can name a topic; the heading first.
    pub clauses: Keywords,
    /// Sentences of a person that state a rule, in order.
    pub rules: Keywords,
}

impl Excerpts {
    /// Returns the excerpts, or `None` if there are none.
    pub fn some(self) -> Option<Box<Excerpts>> {
        (self != Excerpts::default()).then(|| Box::new(self))
    }
}

/// A list of words or excerpts of a block, each on one line, stored in one string to save memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keywords(Box<str>);

impl Keywords {
    /// Returns the words in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator('\n')
    }
}

/// Stores words that contain no line feed.
impl<'a> FromIterator<&'a str> for Keywords {
    fn from_iter<T: IntoIterator<Item = &'a str>>(words: T) -> Keywords {
        let mut joined = String::new();
        for word in words {
            joined.push_str(word);
            joined.push('\n');
        }
        Keywords(joined.into())
    }
}

/// The limit that a client applies to the size of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CutLimit {
    Bytes(u32),
    /// A maximum number of tokens of four bytes.
    Tokens(u32),
}

impl CutLimit {
    const TOKEN_BYTES: usize = 4;

    pub fn units(self) -> usize {
        let (CutLimit::Bytes(units) | CutLimit::Tokens(units)) = self;
        units as usize
    }

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

    /// Returns a limit of `units` in the same unit.
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
    pub limit: CutLimit,
    /// True if the row itself states the limit, so that it holds for every model.
    pub stated: bool,
    pub bytes: u64,
    /// The counts of the remaining bytes.
    pub counts: Counts,
}

/// Marker line at the beginning of a shortened content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    pub number: BlockNumber,
    pub level: Level,
    /// Token cost of the original, rounded.
    pub tokens: f64,
}

words! {
    /// The kind of content of a block.
    #[derive(Default, Hash, PartialOrd, Ord, Deserialize)]
    pub enum BlockKind {
        /// Plain text.
        Text = "text",
        /// Thinking of the model; its text may be withheld.
        Thinking = "thinking",
        /// A tool call.
        ToolUse = "tool_use",
        /// A tool result.
        ToolResult = "tool_result",
        /// An image.
        Image = "image",
        /// A document.
        Document = "document",
        /// A text added by the agent program.
        Attachment = "attachment",
        /// A content block of an unknown type.
        #[default]
        Other = "other",
    }
}

words! {
    /// The author of a block.
    #[derive(Default, Hash, Deserialize)]
    pub enum Role {
        /// The agent program.
        #[default]
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The model, in its thinking.
        Thinking = "thinking",
        /// The model, calling a tool.
        ToolUse = "tool_use",
        /// A tool.
        ToolResult = "tool_result",
    }
}

/// A tool call: the tool and its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name as the client knows it.
    pub name: Box<str>,
    pub verb: ToolVerb,
    /// The given path, command, pattern or question, on one line.
    pub target: Box<str>,
    /// XXH3-64 of the data that two equal calls share: the command, the search with its options, the range of a read.
    pub scope: u64,
    /// True if a read took the whole file.
    pub whole: bool,
    /// The lines of the file that a read took, such as `1-9`; empty if it took all, or unknown ones.
    pub lines: Box<str>,
    /// The number of members of its input.
    pub parameters: u32,
}

impl Tool {
    /// Returns a tool with one parameter, its target.
    pub fn new(name: &str, verb: ToolVerb, target: &str) -> Tool {
        Tool { name: name.into(), verb, target: target.into(), scope: 0, whole: true, lines: "".into(), parameters: 1 }
    }
}

/// Action of a tool, for supersession.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerb {
    Read,
    Edit,
    Run,
    Search,
    /// Replaces a plan or a list of things to do.
    Plan,
    #[default]
    Other,
}

impl ToolVerb {
    /// Returns true if the target of such a tool is a file.
    pub fn names_file(self) -> bool {
        matches!(self, ToolVerb::Read | ToolVerb::Edit)
    }
}

/// Topic of a group of turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topic {
    /// A short readable name, by rules.
    pub label: String,
    /// The name by a local model; empty if there is none.
    pub written: String,
    /// Its words, most distinctive first.
    pub keywords: Vec<String>,
    pub turns: Vec<u32>,
}

impl Topic {
    /// Returns the name to show: that of a model, or else that by rules. Selectors accept both.
    pub fn name(&self) -> &str {
        if self.written.is_empty() { &self.label } else { &self.written }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_as_they_went_in() {
        for words in [&[] as &[&str], &["one"], &["two words", "other"]] {
            assert_eq!(words.iter().copied().collect::<Keywords>().iter().collect::<Vec<_>>(), words);
        }
    }
}
