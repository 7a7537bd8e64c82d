//! Bodies of requests to an API, as sessions: each element of the prompt is a row with its place in the bytes of the body.
//!
//! A body has no client of its own: it is parsed, planned for and spliced in memory, or read from a file that the user names. Edits
//! replace values in it; no row is added or removed. Which thinking must leave a changed body is not planned: that depends on what was
//! sent before.
//!
//! The same elements are also read from files with one message per line, and from the logs of gateways: [`MEDIA`].

mod anthropic;
mod body;
mod calls;
pub(super) mod chat;
mod dialect;
mod directory;
mod document;
mod head;
mod identity;
mod lines;
pub(super) mod models;
mod openai;
mod prompt;
mod recompose;
mod restored;
mod restored_chat;
#[cfg(test)]
mod tests;

use super::words::OtherCalls;
use super::{
    Billing, Client, Format, Framing, Message, ParsedBlock, ParsedRow, Part, ProviderAdapter, Rewriter, Source, Stub, Variables,
    json,
};
use crate::model::{
    Block, BlockKind, Conventions, Counts, Fault, Flags, Key, Role, Row, RowKind, Session, Slot, Vocabulary, Window,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

pub use body::{KnownElements, REMINDER, RequestBody, RequestElement};
pub(super) use calls::{BETWEEN_TEXTS, block_key, chat_call_key, chat_calls, chat_text, chat_text_key, item_key};
pub use calls::{Occurrences, ToolDefinition, begins, call_result, continuation};
pub(super) use dialect::answer_in;
pub use directory::named_directory;
pub use document::RequestDocument;
pub use head::{RequestApi, RequestHead};
pub use identity::{RequestIdentity, identity, named_in_head};
pub use lines::session_lines;
pub use prompt::{KnownHashes, PromptElements};
pub use recompose::Piece;
pub use restored::restored;

/// The formats of request bodies.
pub static REQUESTS: &[&dyn ProviderAdapter] =
    &[&Request(anthropic::Messages, Medium::Body), &Request(openai::Responses, Medium::Body), &Request(chat::Chat, Medium::Body)];

/// The formats of files that hold such elements in another form: logs of requests, and lines of messages.
pub static MEDIA: &[&dyn ProviderAdapter] = &[
    &Request(anthropic::Messages, Medium::Lines),
    &Request(openai::Responses, Medium::Lines),
    &Request(chat::Chat, Medium::Lines),
    &Request(anthropic::Messages, Medium::Log),
    &Request(openai::Responses, Medium::Log),
    &Request(chat::Chat, Medium::Log),
];

/// The bytes that hold the elements of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    Body,
    Lines,
    /// One request in each line, with its answer; the session is the last request.
    Log,
}

/// The label of a block that defines a tool.
const TOOL: &str = "tool";
/// The label of a block of the instructions before the conversation.
const INSTRUCTIONS: &str = "system_prompt";

/// The part of a request format that differs from API to API. `element` is an element of the prompt, verbatim.
trait Api: Sync {
    /// Returns the names of the formats, one for each [`Medium`] in its order.
    fn names(&self) -> [&'static str; 3];

    /// Returns the client whose requests have this format.
    fn client(&self) -> &'static dyn Client;

    /// Returns the members of a body whose elements are rows.
    fn members(&self) -> &'static [&'static str];

    /// Returns true if an object is the body of a request to this API.
    fn is_body(&self, body: &RawValue) -> bool;

    fn is_message(&self, message: &RawValue) -> bool;

    fn parse<'a>(&self, element: &'a RawValue) -> ParsedRow<'a>;

    /// Fills in the fields that follow from the order of all elements.
    fn link(&self, _session: &mut Session) {}

    /// Returns the slot of a block of an element; `None` if it cannot be changed.
    fn slot(&self, element: &RawValue, index: u32) -> Option<Slot>;

    fn value<'a>(&self, element: &'a RawValue, slot: Slot) -> Option<&'a RawValue>;

    /// Returns the thinking of an element, as hashes of its bytes.
    fn thinking(&self, element: &RawValue) -> Vec<Key>;

    /// Encodes a content as the value of a slot; `None` if the slot cannot hold it.
    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>>;

    /// Decodes the value of a slot into text.
    fn decode(&self, value: &[u8]) -> String;
}

struct Request<A>(A, Medium);

impl<A: Api> ProviderAdapter for Request<A> {
    fn name(&self) -> &'static str {
        self.0.names()[self.1 as usize]
    }
}

impl<A: Api> Format for Request<A> {
    methods! {
        calls_tell_answers() -> bool = true;
        window(session: &Session) -> Window = window(session);
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        let is_body = |body: &RawValue| self.0.is_body(body);
        let lines = || head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).map(json::document);
        let first = || lines().next().flatten();
        // Most messages would be taken by several APIs: the first one that would not decides.
        let decisive = || lines().flatten().find(|message| dialect::of_message(message).is_some()).or_else(first);
        match self.1 {
            Medium::Body => json::document(head).is_some_and(|body| is_body(body) && answer_in(body).is_empty()),
            Medium::Lines => {
                first().is_some_and(dialect::is_message) && decisive().is_some_and(|message| self.0.is_message(message))
            }
            Medium::Log => first().is_some_and(|record| dialect::request(record, &is_body).is_some()),
        }
    }

    fn framing(&self) -> Framing {
        match self.1 {
            Medium::Body => Framing::Elements(self.0.members()),
            Medium::Lines => Framing::Lines,
            Medium::Log => Framing::Record(self.0.members()),
        }
    }

    fn read_only(&self) -> Option<&'static str> {
        (self.1 == Medium::Log).then_some(
            "it is a log of requests, which is only read; write one request to a file and name that file, for example: \
             tail -n 1 LOG | jq .request > body.json",
        )
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> ParsedRow<'a> {
        if let Some(row) = model(bytes) {
            return row;
        }
        match element(bytes) {
            Ok(element) => identified(self.0.parse(element), bytes, &self.0.thinking(element)),
            Err(fault) => ParsedRow::broken(fault),
        }
    }

    fn link(&self, session: &mut Session) {
        self.0.link(session);
        let mut others = OtherCalls::default();
        session.blocks.iter_mut().for_each(|block| others.check(block));
        // A gateway can give one model the API of another.
        let model = session.rows.iter().find_map(|row| row.model.as_deref());
        session.vocabulary = model.map_or(session.vocabulary, |model| models::vocabulary(model, session.vocabulary));
    }

    fn vocabulary(&self, bytes: &[u8]) -> Vocabulary {
        let rows = match self.1 {
            Medium::Lines => Vec::new(),
            Medium::Body | Medium::Log => self.framing().rows(bytes),
        };
        let model = rows.into_iter().find_map(|row| model(&bytes[row])?.row.model);
        model.map_or(Vocabulary::O200k, |model| models::vocabulary(&model, Vocabulary::O200k))
    }

    fn messages(&self, session: &Session, window: &Window) -> Vec<Message> {
        window.rows.iter().map(|row| message(session, *row)).collect()
    }

    fn stub(&self, row: &[u8]) -> Option<Stub> {
        let thinking = self.0.thinking(element(row).ok()?);
        let row = self.parse(row).row;
        Some(Stub { kind: row.kind, id: row.id, parent: None, message: None, answers: row.answers, thinking, scope: None })
    }

    fn slot(&self, row: &[u8], index: u32) -> Option<Slot> {
        self.0.slot(element(row).ok()?, index)
    }

    fn locate_slot(&self, row: &[u8], slot: Slot) -> Option<Range<usize>> {
        match slot {
            Slot::Line => Some(0..row.len()),
            Slot::String { path, .. } => json::string_at(row, path),
            _ => Some(json::range_in(row, self.0.value(element(row).ok()?, slot)?)),
        }
    }

    fn encode(&self, slot: Slot, kind: BlockKind, content: &str) -> Option<Vec<u8>> {
        self.0.encode(slot, kind, content)
    }

    fn decode(&self, value: &[u8]) -> String {
        self.0.decode(value)
    }
}

impl<A: Api> Client for Request<A> {
    fn agent(&self) -> &'static str {
        self.0.client().agent()
    }

    fn api_base_url(&self) -> &'static str {
        self.0.client().api_base_url()
    }

    fn variables(&self) -> Variables {
        self.0.client().variables()
    }

    fn conventions(&self) -> Conventions {
        self.0.client().conventions()
    }

    fn turn_reminder(&self) -> Option<Counts> {
        self.0.client().turn_reminder()
    }
}

impl<A: Api> Rewriter for Request<A> {}

impl<A: Api> Billing for Request<A> {}

/// Returns true if an object is the body of a request to any of the APIs.
fn is_body(body: &RawValue) -> bool {
    dialect::of_body(body).is_some() || openai::Responses.is_body(body)
}

pub(super) fn request_in(record: &RawValue) -> Option<&RawValue> {
    dialect::request(record, &is_body)
}

/// Returns the row of the member that names the model. A gateway can prefix the name with that of a provider.
fn model<'a>(bytes: &[u8]) -> Option<ParsedRow<'a>> {
    let value = bytes.strip_prefix(b"\"model\"")?.trim_ascii_start().strip_prefix(b":")?;
    let value: &RawValue = serde_json::from_slice(value).ok()?;
    let name = json::text(value)?;
    let mut row = Row::new(RowKind::State);
    row.model = name.rsplit('/').next().filter(|name| !name.is_empty()).map(Into::into);
    Some(ParsedRow::new(row, Vec::new()))
}

/// Parses the bytes of an element: a string or an object.
fn element(bytes: &[u8]) -> Result<&RawValue, Fault> {
    let value: &RawValue = serde_json::from_slice(bytes).map_err(|_| Fault::NotJson)?;
    if value.get().starts_with(['"', '{']) { Ok(value) } else { Err(Fault::NotAnObject) }
}

/// Sets the identity of a row unless it has one: a hash of the parts that no edit changes.
fn identified<'a>(mut parsed: ParsedRow<'a>, bytes: &[u8], thinking: &[Key]) -> ParsedRow<'a> {
    let is_tool = parsed.blocks.iter().any(|parsed| is_tool(&parsed.block));
    let whole = is_tool.then(|| Key::from_bytes(bytes));
    let calls = parsed.blocks.iter().filter_map(|parsed| parsed.block.call);
    let keys = calls.chain(thinking.iter().copied()).chain(whole).flat_map(|key| key.0.to_le_bytes());
    let lasting: Vec<u8> = [parsed.row.kind as u8].into_iter().chain(keys).collect();
    parsed.row.id.get_or_insert_with(|| Key::from_bytes(&lasting));
    parsed
}

/// Returns the row of texts that are in no message of the user or the model: instructions, or a later message of the system.
fn instructions<'a>(texts: &[&'a RawValue], label: &str) -> ParsedRow<'a> {
    let block = |text: &&'a RawValue| {
        let content = json::text_of(instruction(text)).unwrap_or(Cow::Borrowed(text.get()));
        ParsedBlock::attachment(label, Role::System, true, content)
    };
    row_beside_conversation(texts.iter().map(block).collect())
}

/// Returns the row of blocks that the client sends beside the conversation.
fn row_beside_conversation(blocks: Vec<ParsedBlock<'_>>) -> ParsedRow<'_> {
    ParsedRow::new(Row { flags: Flags::ATTACHMENT, ..Row::new(RowKind::Attachment) }, blocks)
}

/// Returns the text of an instruction: a string, or that of a content block.
fn instruction(text: &RawValue) -> Option<&RawValue> {
    let value = if text.get().starts_with('"') { Some(text) } else { json::member(text, "text") };
    value.filter(|value| value.get().starts_with('"'))
}

/// Returns the row of the definition of a tool, which no edit changes.
fn tool(definition: &RawValue) -> ParsedRow<'_> {
    let block = Block { label: TOOL.into(), ground: true, ..Block::new(BlockKind::Other, Role::System) };
    row_beside_conversation(vec![ParsedBlock::new(block, Cow::Borrowed(definition.get()))])
}

fn is_tool(block: &Block) -> bool {
    block.kind == BlockKind::Other && &*block.label == TOOL
}

/// Returns the window: everything, in the order in which a model reads it: tools, instructions, conversation.
fn window(session: &Session) -> Window {
    let order = |row: &u32| match session.blocks_of(*row).first() {
        Some(block) if is_tool(block) => 0,
        Some(block) if &*block.label == INSTRUCTIONS => 1,
        _ => 2,
    };
    let has_blocks = |row: &u32| session.rows[*row as usize].blocks > 0;
    let mut rows: Vec<u32> = (0..session.rows.len() as u32).filter(has_blocks).collect();
    rows.sort_by_key(order);
    let blocks = rows.iter().flat_map(|row| session.blocks_of(*row)).map(|block| block.number).collect();
    Window { chain: rows.clone(), rows, blocks, ..Window::default() }
}

fn message(session: &Session, row: u32) -> Message {
    let role = match session.rows[row as usize].kind {
        RowKind::Assistant => Role::Assistant,
        RowKind::User => Role::User,
        _ => Role::System,
    };
    let parts = session.blocks_of(row).iter().map(|block| Part::new(Source::Block(block.number))).collect();
    Message { role: role.name(), parts }
}
