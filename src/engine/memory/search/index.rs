//! The search index of a session: per block its words and names, and a head by which a reader recognizes it.
//!
//! Words and names are kept once a session; a block refers to them by number. The numbers of a block are sorted and written as
//! differences of variable length, so that most take one byte.

use super::names::names;
use super::words::{Word, words};
use crate::engine::content::keywords::is_stop_word;
use crate::engine::{mask, mask_cut};
use crate::model::Key;
use crate::model::{TraceCall, TraceContent, TraceEvent};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// Indexed part of a block, in bytes from its start: what follows in longer ones is data that nobody searches by words.
const INDEXED_BYTES: usize = 16_000;
/// Longest head of a document, in bytes.
const HEAD_BYTES: usize = 120;
/// Shortest number that is a search word, in digits: shorter ones are in every text.
const NUMBER_DIGITS: usize = 3;
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
    /// A tool call.
    Call,
    /// The result of a tool call.
    Result,
    /// The summary of a compaction.
    Summary,
}

/// The name of a row, packed: most are UUIDs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowName {
    /// A UUID in lowercase with hyphens.
    Uuid(u128),
    /// `L` and the number of a line, from 1.
    Line(u32),
    /// Any other name.
    Text(Box<str>),
}

/// What the search keeps of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchDocument {
    /// The number of the block.
    pub block: u32,
    /// Its row.
    pub row: RowName,
    /// When it was written, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    /// What it is.
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

    /// Returns the number of its distinct names.
    pub fn name_count(&self) -> usize {
        self.names.iter().count()
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
                let texts = input_texts(call);
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                self.open_calls.push((call.id, self.documents.len() as u32));
                self.open_calls.drain(..self.open_calls.len().saturating_sub(OPEN_CALLS));
                self.add(event, DocumentKind::Call, head(&format!("{} {}", call.tool, call.target)), &texts);
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
            let text = mask(&text[..text.floor_char_boundary(left)]);
            left -= text.len().min(left);
            search_words(&text, |hash| *counts.entry(self.numbers.word(&mut self.words, hash)).or_default() += 1);
            names(&text, |name| {
                seen.insert(self.numbers.name(&mut self.names, name));
            });
        }
        let words = counts.into_iter().map(|(number, count)| (number, count.min(4) - 1)).collect();
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
    let mut key = String::new();
    words(text, |word| {
        let is_number = word.text().bytes().all(|byte| byte.is_ascii_digit());
        let is_wanted = match word {
            Word::Part(text) => text.len() <= WORD_BYTES,
            Word::Whole(text) if is_number => (NUMBER_DIGITS..NUMBER_DIGITS * 2).contains(&text.len()),
            Word::Whole(text) => !text.is_ascii(),
        };
        if !is_wanted || is_stop_word(&word.text().to_ascii_lowercase()) {
            return;
        }
        word.key(&mut key);
        found(XxHash3_64::oneshot(key.as_bytes()) as u32);
    });
}

/// Returns the texts in the input of a call: the strings of its JSON, with line feeds; the input itself if it is not JSON.
fn input_texts(call: &TraceCall) -> Vec<String> {
    let mut texts = Vec::new();
    match serde_json::from_str(&call.input) {
        Ok(value) => strings(value, &mut texts),
        Err(_) => texts.push(call.input.clone()),
    }
    texts
}

fn strings(value: serde_json::Value, texts: &mut Vec<String>) {
    use serde_json::Value;
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| strings(value, texts)),
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| strings(value, texts)),
        _ => {}
    }
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
    use serde::{Deserialize, Deserializer, Serializer, de};

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
        let _ = <&[u8]>::deserialize::<D>;
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
