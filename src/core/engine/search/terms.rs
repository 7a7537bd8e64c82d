//! The words of the turns of a session file.

use super::excerpt::{Passage, PassageKind};
use super::{Echoes, HiddenValues, Posting};
use crate::engine::{mask, named_in};
use crate::model::{TraceContent, TraceEvent};
use crate::text::stop_words::is_function_word;
use crate::text::words::{Word, words};
use rustc_hash::FxHashMap;
use twox_hash::XxHash3_64;

/// Largest word that is indexed, in bytes: longer ones are data.
const WORD_BYTES: usize = 40;
/// Shortest and longest number of a call or a result that is indexed, in digits: others are sizes, times and places.
const NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 3..=8;
/// Part of a result that is indexed, in bytes from its start: what follows in longer ones is data.
const RESULT_BYTES: usize = 64_000;
/// Length of an average field, in words: of prompts, answers, and calls with results. Measured on real sessions.
const AVERAGE_WORDS: [f32; 3] = [30.0, 350.0, 2_500.0];
/// Share of the frequency of a word that depends on the length of its field: the `b` of BM25, by field.
const LENGTH_SHARE: [f32; 3] = [0.3, 0.95, 0.8];

/// A turn of a file: a prompt and what follows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Its number in the session, from 1; 0 for what precedes the first prompt.
    pub number: u32,
    pub block: u32,
    /// The time of its first row, in milliseconds since 1970, UTC; 0 if unknown.
    pub time: i64,
    /// The offset of its first row, in bytes.
    pub start: u64,
    /// A hash of its first text and its time, equal in the copies of resumed and forked sessions.
    pub content: u64,
    /// True if the user left it: by a rewind, or by another prompt in its place.
    pub is_left: bool,
}

/// The turns of a file, and the words of each.
#[derive(Debug, Default)]
pub struct FileTerms {
    pub turns: Vec<Turn>,
    pub words: Vec<Box<str>>,
    /// For each turn, by index, and each of its words, by index: the postings, in the order of turns.
    pub postings: Vec<(u32, u32, Posting)>,
}

/// Divides the events of a file into turns and collects their words.
#[derive(Debug, Default)]
pub struct TurnReader {
    terms: FileTerms,
    numbers: FxHashMap<Box<str>, u32>,
    /// The occurrences of the words in the open turn, by word and field.
    counts: FxHashMap<u32, [u32; 3]>,
    lengths: [u32; 3],
    number: u32,
    echoes: Echoes,
    /// Prompts that the next event tells the turn of.
    held: Vec<(TraceEvent, u64, bool)>,
    hidden: HiddenValues,
    key: String,
}

impl TurnReader {
    /// Returns a reader that continues after a turn. `hidden` are the values that the file names as credentials so far.
    pub fn after(number: u32, hidden: HiddenValues) -> TurnReader {
        TurnReader { number, hidden, ..TurnReader::default() }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Takes the next event, whose row is at an offset. `is_left` is true for a row of a turn that the user left.
    pub fn push(&mut self, event: TraceEvent, start: u64, is_left: bool) {
        let opens = event.turn > self.number;
        // A command opens a turn when the model answers it.
        if !opens && !self.terms.turns.is_empty() && matches!(event.content, TraceContent::Prompt { .. }) {
            self.held.push((event, start, is_left));
            return;
        }
        let turn = event.turn;
        if opens && let Some((first, ..)) = self.held.first_mut() {
            first.turn = turn;
        }
        for (event, start, is_left) in std::mem::take(&mut self.held) {
            self.take(&event, start, is_left);
        }
        self.take(&event, start, is_left);
    }

    fn take(&mut self, event: &TraceEvent, start: u64, is_left: bool) {
        if event.turn > self.number || self.terms.turns.is_empty() {
            self.close();
            self.number = self.number.max(event.turn);
            let content = prompt_content(event);
            let (number, block, time) = (self.number, event.block, event.time);
            self.terms.turns.push(Turn { number, block, time, start, content, is_left });
        }
        if self.echoes.is_one(&event.content) {
            return;
        }
        let Some(passage) = passage(event) else { return };
        let field = passage.kind.field();
        let named = named_in(&passage.text);
        named.iter().for_each(|(value, _)| self.hidden.add(value));
        let text = mask(&passage.text);
        let text = if field == 2 { whole_words(&text, RESULT_BYTES) } else { &text };
        self.add(&passage.title, field);
        self.add(text, field);
    }

    fn add(&mut self, text: &str, field: usize) {
        let TurnReader { terms, numbers, counts, lengths, key, .. } = self;
        words(text, |word| {
            if !is_indexed(word, field == 2) {
                return;
            }
            word.key(key);
            lengths[field] += 1;
            let number = match numbers.get(key.as_str()) {
                Some(number) => *number,
                None => {
                    terms.words.push(key.as_str().into());
                    let number = numbers.len() as u32;
                    numbers.insert(key.as_str().into(), number);
                    number
                }
            };
            counts.entry(number).or_default()[field] += 1;
        });
    }

    /// Writes the postings of the open turn.
    fn close(&mut self) {
        let turn = (self.terms.turns.len() as u32).saturating_sub(1);
        for (word, counts) in self.counts.drain() {
            let frequencies = std::array::from_fn(|field| {
                let share = LENGTH_SHARE[field];
                counts[field] as f32 / (1.0 - share + share * self.lengths[field] as f32 / AVERAGE_WORDS[field])
            });
            self.terms.postings.push((turn, word, Posting::new(frequencies)));
        }
        self.lengths = [0; 3];
    }

    /// Returns the turns and their words, and the values that the file names as credentials.
    pub fn finish(mut self) -> (FileTerms, HiddenValues) {
        for (event, start, is_left) in std::mem::take(&mut self.held) {
            self.take(&event, start, is_left);
        }
        self.close();
        let FileTerms { words, postings, .. } = &mut self.terms;
        if !self.hidden.is_empty() {
            let is_hidden: Vec<bool> = words.iter().map(|word| self.hidden.has(word)).collect();
            postings.retain(|(_, word, _)| !is_hidden[*word as usize]);
        }
        (self.terms, self.hidden)
    }
}

/// Returns the content of a turn that an event opens: a hash of the prompt and its time; 0 without a prompt.
pub fn prompt_content(event: &TraceEvent) -> u64 {
    match &event.content {
        TraceContent::Prompt { text, .. } => XxHash3_64::oneshot_with_seed(event.time.cast_unsigned(), text.as_bytes()),
        _ => 0,
    }
}

/// Returns the text of an event as it is searched and shown; `None` for texts that the client inserted.
pub fn passage(event: &TraceEvent) -> Option<Passage<'_>> {
    Some(match &event.content {
        TraceContent::Prompt { text, .. } => Passage::untitled(PassageKind::Prompt, text),
        TraceContent::Answer(text) => Passage::untitled(PassageKind::Answer, text),
        TraceContent::Summary(text) => Passage::untitled(PassageKind::Summary, text),
        TraceContent::Result(result) => Passage::untitled(PassageKind::Result, &result.text),
        TraceContent::Call(call) => {
            let (title, text) = (format!("{} {}", call.tool, call.target).into(), call.texts().join("\n").into());
            Passage { kind: PassageKind::Call, title, text }
        }
        TraceContent::Inserted(_) => return None,
    })
}

/// Calls `found` with each indexed word of a query: its text, and the key that all of its forms share.
pub fn keys_of<'a>(text: &'a str, mut found: impl FnMut(Word<'a>, &str)) {
    let mut key = String::new();
    words(text, |word| {
        if word.text().len() <= WORD_BYTES {
            word.key(&mut key);
            found(word, &key);
        }
    });
}

/// Returns true if a word is indexed. `in_data` is true in calls and results.
fn is_indexed(word: Word<'_>, in_data: bool) -> bool {
    let text = word.text();
    match word {
        _ if text.len() > WORD_BYTES => false,
        Word::Part(text) if text.as_bytes()[0].is_ascii_uppercase() => !is_function_word(&text.to_ascii_lowercase()),
        Word::Part(text) => !is_function_word(text),
        Word::Whole(text) if in_data && text.bytes().all(|byte| byte.is_ascii_digit()) => NUMBER_DIGITS.contains(&text.len()),
        Word::Whole(_) => true,
    }
}

/// Returns at most the first `bytes` of a text, to the end of a word.
pub(super) fn whole_words(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let start = &text[..text.floor_char_boundary(bytes)];
    start.rsplit_once(char::is_whitespace).map_or(start, |(words, _)| words)
}
