//! The search index of a session: per block its words and names, and a head by which a reader recognizes it.
//!
//! Words and names are kept once a session; a block refers to them by number. The numbers of a block are sorted and written as
//! differences of variable length, so that most take one byte.

use super::names::names;
use crate::engine::report::label::short_target;
use crate::engine::{mask, mask_cut};
use crate::model::Key;
use crate::model::{TraceContent, TraceEvent};
use crate::text::stop_words::is_stop_word;
use crate::text::words::{Word, words};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// Indexed part of a block, in bytes from its start: what follows in longer ones is mostly data.
const INDEXED_BYTES: usize = 16_000;
/// Longest head of a document, in bytes.
const HEAD_BYTES: usize = 120;
/// Shortest number that is a search word, in digits: shorter ones are in every text.
const NUMBER_DIGITS: usize = 3;
/// Occurrences of a word in a block from which on more are not counted: two bits.
const MOST_OCCURRENCES: u32 = 4;
/// Calls without a result that are remembered: more are never answered at once.
const OPEN_CALLS: usize = 64;
/// Largest word that is kept, in bytes: longer ones are data.
const WORD_BYTES: usize = 40;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DocumentKind {
    /// Words of the user.
    Prompt,
    /// A text of the model.
    Answer,
    Call,
    /// The result of a tool call.
    Result,
    Summary,
}

/// The name of a row, packed: most are UUIDs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowName {
    /// A UUID in lowercase with hyphens.
    Uuid(u128),
    /// `L` and the number of a line, from 1.
    Line(u32),
    Text(Box<str>),
}

/// The part of a block that the search keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchDocument {
    pub block: u32,
    pub row: RowName,
    /// When it was written, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    pub kind: DocumentKind,
    /// The number of the turn in the session, from 0: it grows with each prompt.
    pub turn: u32,
    /// Its start on one line, masked; the tool and its target for a call; empty for a result.
    pub head: Box<str>,
    /// For a result the number of the document of its call.
    pub call: Option<u32>,
    /// Hash of its text: equal texts are the same content.
    pub content: u32,
    words: Packed,
    names: Packed,
}

impl SearchDocument {
    /// Returns the numbers of its distinct words in [`Documents::words`], ascending, each with its occurrences (at most 4).
    pub fn words(&self) -> impl Iterator<Item = (u32, u32)> {
        self.words.iter().map(|(number, count)| (number, count + 1))
    }

    /// Returns the numbers of its distinct names in [`Documents::names`], ascending.
    pub fn names(&self) -> impl Iterator<Item = u32> {
        self.names.iter().map(|(number, _)| number)
    }
}

/// The search index of one session; an extractor that is fed with its events in order, and continued when the file grows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Documents {
    words: Vec<u32>,
    names: Vec<Box<str>>,
    documents: Vec<SearchDocument>,
    turns: u32,
    /// Calls without a result, with the numbers of their documents.
    open_calls: Vec<(Key, u32)>,
    #[serde(skip)]
    numbers: Numbers,
}

/// The numbers of words and names, rebuilt when an index that was read is continued.
#[derive(Clone, Debug, Default)]
struct Numbers {
    words: FxHashMap<u32, u32>,
    names: FxHashMap<Box<str>, u32>,
}

impl Documents {
    /// Adds an event. Texts that the client inserted are omitted: each session has its own.
    pub fn push(&mut self, event: &TraceEvent) {
        match &event.content {
            TraceContent::Prompt { text, .. } => {
                self.turns += u32::from(!self.documents.is_empty());
                self.add(event, DocumentKind::Prompt, head(text), &[text]);
            }
            TraceContent::Answer(text) => self.add(event, DocumentKind::Answer, head(text), &[text]),
            TraceContent::Summary(text) => self.add(event, DocumentKind::Summary, head(text), &[text]),
            TraceContent::Call(call) => {
                let texts = call.texts();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                self.open_calls.push((call.id, self.documents.len() as u32));
                self.open_calls.drain(..self.open_calls.len().saturating_sub(OPEN_CALLS));
                self.add(
                    event,
                    DocumentKind::Call,
                    head(&format!("{} {}", call.tool, short_target(&call.target, false))),
                    &texts,
                );
            }
            TraceContent::Result(result) => {
                self.add(event, DocumentKind::Result, Box::default(), &[&result.text]);
                if let Some(at) = self.open_calls.iter().position(|(id, _)| *id == result.call)
                    && let Some(document) = self.documents.last_mut().filter(|document| document.block == event.block)
                {
                    document.call = Some(self.open_calls.swap_remove(at).1);
                }
            }
            TraceContent::Inserted(_) => {}
        }
    }

    /// Returns the documents, in the order of their blocks.
    pub fn documents(&self) -> &[SearchDocument] {
        &self.documents
    }

    /// Returns the title of a document: its head; for a result the head of its call.
    pub fn title<'a>(&'a self, document: &'a SearchDocument) -> &'a str {
        let call = document.call.and_then(|call| self.documents.get(call as usize));
        call.map_or(&document.head, |call| &call.head)
    }

    /// Returns the hashes of the distinct words of the session, by number.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the distinct names of the session, by number.
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    fn add(&mut self, event: &TraceEvent, kind: DocumentKind, head: Box<str>, texts: &[&str]) {
        if kind != DocumentKind::Call && texts.iter().all(|text| text.trim().is_empty()) {
            return;
        }
        self.restore_numbers();
        let (mut counts, mut seen) = (FxHashMap::<u32, u32>::default(), FxHashSet::<u32>::default());
        let mut content = 0;
        let mut left = INDEXED_BYTES;
        for text in texts {
            content = XxHash3_64::oneshot_with_seed(u64::from(content), text.as_bytes()) as u32;
            let text = mask(whole_words(text, left));
            left = left.saturating_sub(text.len());
            search_words(&text, |hash| *counts.entry(hash).or_default() += 1);
            names(&text, |name| {
                seen.insert(self.numbers.name(&mut self.names, name));
            });
        }
        let mut counts: Vec<(u32, u32)> = counts.into_iter().collect();
        // The numbers of new words depend on their order, and an index on its events only.
        counts.sort_unstable();
        let number = |(hash, count): (u32, u32)| (self.numbers.word(&mut self.words, hash), count.min(MOST_OCCURRENCES) - 1);
        let words = counts.into_iter().map(number).collect();
        let names = seen.into_iter().map(|number| (number, 0)).collect();
        self.documents.push(SearchDocument {
            block: event.block,
            row: RowName::new(&event.row),
            time: event.time,
            kind,
            turn: self.turns,
            head,
            call: None,
            content,
            words: Packed::new(words),
            names: Packed::new(names),
        });
    }

    fn restore_numbers(&mut self) {
        if self.numbers.words.len() != self.words.len() || self.numbers.names.len() != self.names.len() {
            self.numbers.words = self.words.iter().zip(0..).map(|(hash, number)| (*hash, number)).collect();
            self.numbers.names = self.names.iter().zip(0..).map(|(name, number)| (name.clone(), number)).collect();
        }
    }
}

impl Numbers {
    fn word(&mut self, words: &mut Vec<u32>, hash: u32) -> u32 {
        *self.words.entry(hash).or_insert_with(|| {
            words.push(hash);
            words.len() as u32 - 1
        })
    }

    fn name(&mut self, names: &mut Vec<Box<str>>, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        names.push(name.into());
        let number = names.len() as u32 - 1;
        self.names.insert(name.into(), number);
        number
    }
}

impl RowName {
    /// Packs the name of a row.
    pub fn new(name: &str) -> RowName {
        let line = || name.strip_prefix('L')?.parse().ok();
        let packed = uuid(name).map(RowName::Uuid).or_else(|| line().map(RowName::Line));
        packed.filter(|row| row.to_string() == name).unwrap_or_else(|| RowName::Text(name.into()))
    }
}

/// Writes the name as the session has it.
impl std::fmt::Display for RowName {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowName::Uuid(value) => {
                let digits = format!("{value:032x}");
                write!(to, "{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
            }
            RowName::Line(line) => write!(to, "L{line}"),
            RowName::Text(text) => to.write_str(text),
        }
    }
}

fn uuid(name: &str) -> Option<u128> {
    (name.len() == 36).then(|| u128::from_str_radix(&name.replace('-', ""), 16).ok()).flatten()
}

/// Calls `found` with the hash of each search word of a text: plain words without their ending, parts of identifiers, numbers.
/// Stop words are omitted. An identifier as a whole is a name and not a word.
pub fn search_words(text: &str, mut found: impl FnMut(u32)) {
    let (mut key, mut lower) = (String::new(), String::new());
    words(text, |word| {
        let is_number = word.text().bytes().all(|byte| byte.is_ascii_digit());
        let is_wanted = match word {
            Word::Part(text) => text.len() <= WORD_BYTES,
            Word::Whole(text) if is_number => (NUMBER_DIGITS..NUMBER_DIGITS * 2).contains(&text.len()),
            Word::Whole(text) => !text.is_ascii(),
        };
        if !is_wanted {
            return;
        }
        lower.clear();
        lower.push_str(word.text());
        lower.make_ascii_lowercase();
        if is_stop_word(&lower) {
            return;
        }
        word.key(&mut key);
        found(XxHash3_64::oneshot(key.as_bytes()) as u32);
    });
}

/// Returns at most the first `bytes` of a text, to the end of a word: a part of a credential is not recognized as one.
fn whole_words(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let start = &text[..text.floor_char_boundary(bytes)];
    start.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words)
}

/// Returns the start of a text on one line, without Markdown headings and without credentials.
fn head(text: &str) -> Box<str> {
    let start = &text[..text.floor_char_boundary(HEAD_BYTES * 4)];
    let line = start.split_whitespace().filter(|word| !word.bytes().all(|byte| byte == b'#')).collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(HEAD_BYTES);
    if end == line.len() && start.len() == text.len() {
        mask(&line).into()
    } else {
        mask_cut(&format!("{}…", &line[..end])).into()
    }
}

/// Ascending numbers, each with a small value below 4, as differences in LEB128.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Packed(#[serde(with = "bytes")] Box<[u8]>);

/// Bytes as one string of bytes: a list of numbers is read one by one.
mod bytes {
    use serde::{Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<[u8]>, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Box<[u8]>;
            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(bytes.into())
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

impl Packed {
    fn new(mut numbers: Vec<(u32, u32)>) -> Packed {
        numbers.sort_unstable();
        let (mut bytes, mut before) = (Vec::with_capacity(numbers.len() * 2), 0);
        for (number, value) in numbers {
            let mut rest = u64::from(number - before) << 2 | u64::from(value);
            before = number;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        Packed(bytes.into())
    }

    fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let (mut at, mut number) = (0, 0u32);
        std::iter::from_fn(move || {
            let (mut value, mut shift) = (0u64, 0);
            loop {
                let byte = *self.0.get(at)?;
                at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 || shift > 35 {
                    break;
                }
            }
            number = number.wrapping_add((value >> 2) as u32);
            Some((number, value as u32 & 3))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{PromptSource, TraceResult};
    use crate::model::{ToolVerb, TraceCall};

    /// Makes an event; the row is `L` and the number of the block.
    pub(crate) fn event(block: u32, time: i64, content: TraceContent) -> TraceEvent {
        TraceEvent { block, row: format!("L{block}"), time, turn: 0, step: None, content }
    }

    pub(crate) fn prompt(text: &str) -> TraceContent {
        TraceContent::Prompt { text: text.to_owned(), source: PromptSource::Typed }
    }

    pub(crate) fn call(id: u128, tool: &str, target: &str) -> TraceContent {
        let input = serde_json::json!({ "path": target }).to_string();
        let (tool, target) = (tool.to_owned(), target.to_owned());
        TraceContent::Call(TraceCall { id: Key(id), tool, verb: ToolVerb::Read, target, command: None, files: Vec::new(), input })
    }

    pub(crate) fn result(id: u128, text: &str) -> TraceContent {
        TraceContent::Result(TraceResult { call: Key(id), error: false, declined: false, text: text.to_owned() })
    }

    /// Indexes some contents, as blocks 1, 2, … of one session, a second apart.
    pub(crate) fn index(start: i64, contents: Vec<TraceContent>) -> Documents {
        let mut documents = Documents::default();
        (1..).zip(contents).for_each(|(block, content)| documents.push(&event(block, start + i64::from(block) * 1000, content)));
        documents
    }

    fn names_in(documents: &Documents, number: usize) -> Vec<&str> {
        documents.documents()[number].names().map(|name| &*documents.names()[name as usize]).collect()
    }

    #[test]
    fn rows_are_packed_and_printed_as_they_are() {
        let check = |name: &str, is_packed: bool| {
            let row = RowName::new(name);
            assert_eq!(row.to_string(), name);
            assert_eq!(!matches!(row, RowName::Text(_)), is_packed, "{name}");
        };
        check("01234567-89ab-cdef-0123-456789abcdef", true);
        check("L12", true);
        check("01234567-89AB-cdef-0123-456789abcdef", false);
        check("L012", false);
        check("Léger", false);
        check("", false);
    }

    #[test]
    fn numbers_survive_packing() {
        let numbers = vec![(0, 3), (1, 0), (40, 1), (5000, 2), (70_000, 0), (u32::MAX, 3)];
        let packed = Packed::new(numbers.iter().rev().copied().collect());
        assert_eq!(packed.iter().collect::<Vec<_>>(), numbers);
        // Damaged bytes end the list.
        assert_eq!(Packed(Box::new([0x80, 0x80])).iter().count(), 0);
    }

    #[test]
    fn blocks_have_titles_names_and_turns() {
        let contents =
            vec![prompt("fix parse_rows"), call(7, "Open", "src/heat.rs"), result(7, "fn heatMap()"), prompt("# and now?\nmore")];
        let documents = index(0, contents);
        let titles: Vec<&str> = documents.documents().iter().map(|document| documents.title(document)).collect();
        assert_eq!(titles, ["fix parse_rows", "Open src/heat.rs", "Open src/heat.rs", "and now? more"]);
        let turns: Vec<u32> = documents.documents().iter().map(|document| document.turn).collect();
        assert_eq!(turns, [0, 0, 0, 1]);
        assert_eq!(names_in(&documents, 0), ["parse_rows"]);
        assert_eq!(names_in(&documents, 1), ["heat.rs"]);
        assert_eq!(names_in(&documents, 2), ["heatMap"]);
    }

    #[test]
    fn an_index_that_was_stored_is_continued() {
        let events =
            [event(1, 1, prompt("read heat.rs")), event(2, 2, call(1, "Open", "heat.rs")), event(3, 3, result(1, "heatMap"))];
        let mut whole = Documents::default();
        let mut parts = Documents::default();
        for event in &events {
            whole.push(event);
            parts = postcard::from_bytes(&postcard::to_stdvec(&parts).unwrap()).unwrap();
            parts.push(event);
        }
        assert_eq!(postcard::to_stdvec(&whole).unwrap(), postcard::to_stdvec(&parts).unwrap());
        assert_eq!(parts.documents()[2].call, Some(1));
    }

    #[test]
    fn credentials_are_not_indexed() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let documents = index(0, vec![prompt(&format!("use {token} for api_url")), result(1, &format!("token={token}"))]);
        let bytes = postcard::to_stdvec(&documents).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("ghp_"));
        assert_eq!(names_in(&documents, 0), ["api_url"]);
    }

    #[test]
    fn long_texts_end_with_a_whole_word() {
        assert_eq!(whole_words("one two", 7), "one two");
        assert_eq!(whole_words("one two", 6), "one");
        assert_eq!(whole_words("ein großer", 8), "ein");
        assert_eq!(whole_words("word", 2), "");
    }
}
