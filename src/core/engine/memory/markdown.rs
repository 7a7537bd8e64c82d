//! The form of a memory file: Markdown in which each entry is a bullet and one comment with its metadata.
//!
//! ```text
//! - Use `pnpm`, not `npm`.
//!   <!-- memory-12 active · correction · 2026-11-02 to 2026-11-20 · 3 sightings in 2 sessions · 6666abcd#12 7777abcd#4 · key … text … -->
//! ```
//!
//! Everything else is kept byte for byte. A changed entry changes only its own lines.

use super::words::{checksum, date, key_of, normalized, parse_date};
use crate::engine::plural;
use crate::model::{Memory, MemoryFile, MemoryId, MemoryKind, MemoryScope, MemoryState, Sighting};
use std::ops::Range;

/// Maximum size of a memory file, in bytes.
pub const LONGEST_FILE: usize = 1 << 20;
/// Maximum number of sightings in the metadata of an entry.
pub const EVIDENCE: usize = 5;

const ARCHIVE: &str = "## Archived";
const OPEN: &str = "<!--";
const CLOSE: &str = "-->";
const SEPARATOR: &str = " · ";

/// The reason why a file is not read as a memory file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("it has {0} bytes, and a memory file has at most {LONGEST_FILE}")]
    TooLong(usize),
    #[error("it is not UTF-8 text")]
    NotText,
}

/// A parsed memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    file: MemoryFile,
    scope: MemoryScope,
    pieces: Vec<Piece>,
    feed: &'static str,
    /// Number of merge conflicts; their lines are text.
    pub conflicts: usize,
    /// Number of entries whose metadata is invalid; they count as written by hand.
    pub invalid: usize,
}

/// Whole lines: an entry, or others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    source: String,
    entry: Option<Box<Entry>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    memory: Memory,
    /// The place of the metadata in the source; `None` if there is none.
    comment: Option<Range<usize>>,
    /// The character of the bullet.
    marker: char,
}

impl Document {
    pub fn new(file: MemoryFile, scope: MemoryScope) -> Document {
        let pieces = vec![Piece::text(format!("# {}\n", file.title())), Piece::text("\n")];
        Document { file, scope, pieces, feed: "\n", conflicts: 0, invalid: 0 }
    }

    /// Parses a file.
    /// Errors: it is longer than [`LONGEST_FILE`], or not text.
    pub fn parse(bytes: &[u8], file: MemoryFile, scope: MemoryScope) -> Result<Document, DocumentError> {
        if bytes.len() > LONGEST_FILE {
            return Err(DocumentError::TooLong(bytes.len()));
        }
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(DocumentError::NotText)?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let feed = if lines.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let mut parser =
            Parser { lines, at: 0, document: Document { file, scope, pieces: Vec::new(), feed, conflicts: 0, invalid: 0 } };
        parser.run();
        Ok(parser.document)
    }

    /// Returns the bytes of the file.
    pub fn print(&self) -> String {
        self.pieces.iter().map(|piece| piece.source.as_str()).collect()
    }

    /// Returns the entries in file order; those that a person wrote without metadata have the number 0.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.pieces.iter().filter_map(Piece::memory)
    }

    /// Returns true if there are neither entries nor text of a person: only headings and empty lines.
    pub fn is_empty(&self) -> bool {
        let is_frame = |line: &str| line.trim().is_empty() || line.starts_with('#');
        self.pieces.iter().all(|piece| piece.entry.is_none() && piece.source.lines().all(is_frame))
    }

    /// Returns the highest number of an entry, also of those in merge conflicts; 0 if there are none.
    pub fn highest_id(&self) -> MemoryId {
        let text = self.print();
        let comments = text.match_indices(OPEN).map(|(at, _)| &text[at + OPEN.len()..]);
        comments.filter_map(|comment| parse_name(comment.split_whitespace().next()?)).map(|(_, id)| id).max().unwrap_or_default()
    }

    /// Gives the entry with this index in file order another number.
    pub fn renumber(&mut self, index: usize, id: MemoryId) {
        if let Some(piece) = self.pieces.iter_mut().filter(|piece| piece.entry.is_some()).nth(index) {
            let memory = Memory { id, ..piece.memory().cloned().unwrap_or_default() };
            piece.set(memory);
        }
    }

    /// Replaces the entry with the number of `memory`, or adds it. Only the lines of this entry change; text that a person wrote is
    /// replaced only if `memory` has another text. A retired entry is moved to the end of the file.
    pub fn set(&mut self, memory: &Memory) {
        let memory = Memory { file: self.file.clone(), scope: self.scope, text: normalized(&memory.text), ..memory.clone() };
        let known = self.pieces.iter().position(|piece| piece.memory().is_some_and(|known| known.id == memory.id));
        let Some(place) = known else { return self.insert(Piece::written(memory, '-', self.feed)) };
        let piece = &mut self.pieces[place];
        let Some(Entry { memory: before, comment, marker }) = piece.entry.as_deref() else { return };
        let moves = before.state.is_retired() != memory.state.is_retired();
        if before.text == memory.text && comment.is_some() {
            piece.set(memory);
        } else {
            *piece = Piece::written(memory, *marker, self.feed);
        }
        if moves {
            let piece = self.pieces.remove(place);
            self.insert(piece);
        }
    }

    /// Removes an entry; returns true if there was one with this number.
    pub fn remove(&mut self, id: MemoryId) -> bool {
        let before = self.pieces.len();
        self.pieces.retain(|piece| id == 0 || piece.memory().is_none_or(|known| known.id != id));
        self.pieces.len() < before
    }

    /// Inserts an entry after the last one of its part: the retired ones are the last part.
    fn insert(&mut self, piece: Piece) {
        let archive = self.pieces.iter().position(|piece| piece.entry.is_none() && piece.source.trim_end() == ARCHIVE);
        let part = match (piece.memory().is_some_and(|memory| memory.state.is_retired()), archive) {
            (true, Some(start)) => start + 1..self.pieces.len(),
            (true, None) => {
                self.end_with_empty_line(self.pieces.len());
                self.pieces.push(Piece::text(format!("{ARCHIVE}{}", self.feed)));
                self.pieces.push(Piece::text(self.feed));
                self.pieces.len()..self.pieces.len()
            }
            (false, Some(start)) => 0..start,
            (false, None) => 0..self.pieces.len(),
        };
        let last = part.clone().rev().find(|place| self.pieces[*place].entry.is_some());
        let place = match last {
            Some(last) => {
                self.end_line(last);
                last + 1
            }
            None => {
                // Before the empty lines at the end of the part, but after one empty line.
                let is_blank = |place: &usize| self.pieces[*place].source.trim().is_empty();
                let blanks = part.clone().rev().take_while(is_blank).count();
                let place = part.end - blanks.saturating_sub(1).min(part.len());
                let added = self.end_with_empty_line(place);
                place + added
            }
        };
        self.pieces.insert(place, piece);
        // A heading after the entry keeps an empty line before it.
        if self.pieces.get(place + 1).is_some_and(|piece| piece.source.starts_with('#')) {
            self.pieces.insert(place + 1, Piece::text(self.feed));
        }
    }

    fn end_line(&mut self, place: usize) {
        let source = &mut self.pieces[place].source;
        if !source.is_empty() && !source.ends_with('\n') {
            source.push_str(self.feed);
        }
    }

    /// Makes the text before a place end with an empty line; returns the number of pieces that were inserted for it.
    fn end_with_empty_line(&mut self, place: usize) -> usize {
        let Some(before) = place.checked_sub(1) else { return 0 };
        self.end_line(before);
        let source = &self.pieces[before].source;
        if source.is_empty() || source.ends_with("\n\n") || source.ends_with("\r\n\r\n") || source.trim().is_empty() {
            return 0;
        }
        self.pieces.insert(place, Piece::text(self.feed));
        1
    }
}

impl Piece {
    fn text(source: impl Into<String>) -> Piece {
        Piece { source: source.into(), entry: None }
    }

    /// Returns the entry of a memory, in lines of its own.
    fn written(memory: Memory, marker: char, feed: &str) -> Piece {
        let comment = metadata(&memory);
        let mut source = format!("{marker} ");
        for (place, line) in memory.text.split('\n').enumerate() {
            let indent = if place == 0 || line.is_empty() { "" } else { "  " };
            source.push_str(&format!("{indent}{line}{feed}"));
        }
        let start = source.len() + 2;
        source.push_str(&format!("  {comment}{feed}"));
        let entry = Entry { memory, comment: Some(start..start + comment.len()), marker };
        Piece { source, entry: Some(Box::new(entry)) }
    }

    fn memory(&self) -> Option<&Memory> {
        self.entry.as_ref().map(|entry| &entry.memory)
    }

    /// Replaces the metadata of an entry, and keeps all other bytes.
    fn set(&mut self, memory: Memory) {
        let Some(entry) = &mut self.entry else { return };
        let comment = metadata(&memory);
        if let Some(place) = entry.comment.clone().filter(|place| self.source[place.clone()] != comment) {
            self.source.replace_range(place.clone(), &comment);
            entry.comment = Some(place.start..place.start + comment.len());
        }
        entry.memory = memory;
    }
}

struct Parser<'a> {
    lines: Vec<&'a str>,
    at: usize,
    document: Document,
}

impl Parser<'_> {
    fn run(&mut self) {
        let mut in_archive = false;
        while let Some(line) = self.lines.get(self.at).copied() {
            let start = self.at;
            if line.starts_with("<<<<<<<") {
                self.document.conflicts += 1;
                self.skip_to(|line| line.starts_with(">>>>>>>"));
            } else if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence)) {
                self.skip_to(|line| line.trim_start().starts_with(fence));
            } else if line.starts_with(OPEN) && !line.contains(CLOSE) {
                self.skip_to(|line| line.contains(CLOSE));
            } else if let Some(piece) = self.bullet(in_archive) {
                self.at += piece.source.split_inclusive('\n').count();
                self.document.pieces.push(piece);
                continue;
            } else {
                self.at += 1;
            }
            if line.starts_with('#') {
                in_archive = line.trim_end() == ARCHIVE;
            }
            self.document.pieces.push(Piece::text(self.lines[start..self.at].concat()));
        }
    }

    /// Skips the current line, and all up to the next one that ends the part.
    fn skip_to(&mut self, ends: impl Fn(&str) -> bool) {
        let rest = &self.lines[self.at + 1..];
        self.at += 1 + rest.iter().position(|line| ends(line)).map_or(rest.len(), |place| place + 1);
    }

    /// Returns the entry that begins with a bullet at the current line; `None` if there is no bullet, or it has no text.
    fn bullet(&mut self, in_archive: bool) -> Option<Piece> {
        let line = self.lines[self.at];
        let marker = line.chars().next().filter(|c| matches!(c, '-' | '*' | '+'))?;
        let first = line[1..].strip_prefix([' ', '\t'])?.trim();
        let mut end = self.at + 1;
        // Indented lines belong to the bullet, also after empty lines; so does the comment, wherever a formatter moves it.
        let mut last_text = end;
        while let Some(line) = self.lines.get(end) {
            let is_blank = line.trim().is_empty();
            let is_metadata = end == last_text && is_comment(line.trim());
            if !is_blank && !line.starts_with([' ', '\t']) && !is_metadata {
                break;
            }
            end += 1;
            if !is_blank {
                last_text = end;
            }
        }
        let lines = &self.lines[self.at..last_text];
        let comment = lines.iter().rposition(|line| is_comment(line.trim())).filter(|place| *place > 0);
        let mut text = vec![first];
        for (place, line) in lines.iter().enumerate().skip(1) {
            if Some(place) != comment {
                text.push(dedented(line.trim_end()));
            }
        }
        let text = text.join("\n").trim().to_owned();
        if text.is_empty() {
            return None;
        }
        let source: String = lines.concat();
        let read = comment.and_then(|place| Some((place, self.memory(lines[place], &text)?)));
        let (memory, comment) = match read {
            Some((place, memory)) => {
                let before: usize = lines[..place].iter().map(|line| line.len()).sum();
                let line = lines[place];
                (memory, Some(before + line.find(OPEN)?..before + line.find(CLOSE)? + CLOSE.len()))
            }
            // A line of markers divides a text.
            _ if !text.contains(char::is_alphanumeric) => return None,
            _ => {
                self.document.invalid += usize::from(comment.is_some());
                (by_hand(&self.document.file, self.document.scope, text, in_archive), None)
            }
        };
        Some(Piece { source, entry: Some(Box::new(Entry { memory, comment, marker })) })
    }

    /// Returns the memory with a text and a line of metadata; `None` if that is invalid.
    fn memory(&self, comment: &str, text: &str) -> Option<Memory> {
        let (memory, text_sum) = parse_metadata(comment.trim(), &self.document.file, self.document.scope)?;
        let key = if memory.key == 0 { key_of(text) } else { memory.key };
        Some(Memory { text: text.to_owned(), is_edited: text_sum != Some(checksum(text)), key, ..memory })
    }
}

fn by_hand(file: &MemoryFile, scope: MemoryScope, text: String, in_archive: bool) -> Memory {
    let state = if in_archive { MemoryState::Archived } else { MemoryState::Active };
    let (file, kind, key) = (file.clone(), file.default_kind(), key_of(&text));
    Memory { scope, file, kind, state, text, key, is_edited: true, ..Memory::default() }
}

/// Removes the indentation of a line that continues a bullet.
fn dedented(line: &str) -> &str {
    line.strip_prefix('\t').unwrap_or_else(|| line.strip_prefix("  ").unwrap_or_else(|| line.trim_start()))
}

fn is_comment(line: &str) -> bool {
    let inner = line.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
    inner.is_some_and(|inner| ["memory-", "user-"].iter().any(|name| inner.trim_start().starts_with(name)))
}

/// Parses the name of a memory: `memory-12` or `user-12`.
pub fn parse_name(name: &str) -> Option<(MemoryScope, MemoryId)> {
    let (scope, digits) = match (name.strip_prefix("memory-"), name.strip_prefix("user-")) {
        (Some(digits), _) => (MemoryScope::Project, digits),
        (_, Some(digits)) => (MemoryScope::User, digits),
        _ => return None,
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((scope, digits.parse().ok().filter(|id| *id > 0 && is_number)?))
}

/// Returns the kind of a memory, its days and the number of its sightings.
pub fn origin(memory: &Memory) -> Vec<String> {
    let (first, last) = (date(memory.first_seen), date(memory.last_seen));
    let days = if first == last { first } else { format!("{first} to {last}") };
    let counts = || format!("{} in {}", plural(memory.sightings, "sighting"), plural(memory.sessions, "session"));
    [memory.kind.name().to_owned(), days].into_iter().chain((memory.sightings > 0).then(counts)).collect()
}

/// Returns the comment with the metadata of a memory.
pub fn metadata(memory: &Memory) -> String {
    let mut parts = vec![format!("{} {}", memory.scope.name_of(memory.id), memory.state.name())];
    parts.extend(origin(memory));
    let skipped = memory.evidence.len().saturating_sub(EVIDENCE);
    let evidence: Vec<String> =
        memory.evidence[skipped..].iter().filter(|sighting| is_plain(&sighting.session)).map(place).collect();
    if !evidence.is_empty() {
        parts.push(evidence.join(" "));
    }
    if memory.helpful > 0 || memory.harmful > 0 {
        parts.push(format!("helpful {} harmful {}", memory.helpful, memory.harmful));
    }
    for (word, other) in [("by", memory.superseded_by), ("against", memory.contradicts)] {
        parts.extend(other.map(|id| format!("{word} {}", memory.scope.name_of(id))));
    }
    let marks = [(memory.is_by_model, "from model"), (memory.is_pinned, "pinned")];
    parts.extend(marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| (*mark).to_owned()));
    parts.push(format!("key {:016x}", memory.key));
    if !memory.is_edited {
        parts.push(format!("text {:08x}", checksum(&memory.text)));
    }
    format!("{OPEN} {} {CLOSE}", parts.join(SEPARATOR))
}

fn place(sighting: &Sighting) -> String {
    format!("{}#{}", sighting.session, sighting.block)
}

/// Returns true if the name of a session can be written into a comment.
fn is_plain(session: &str) -> bool {
    !session.is_empty() && session.chars().all(|c| c.is_alphanumeric() || "-_.:/".contains(c)) && !session.contains("--")
}

/// Parses metadata; also returns the checksum of the text that was written. `None` if it is invalid.
fn parse_metadata(comment: &str, file: &MemoryFile, scope: MemoryScope) -> Option<(Memory, Option<u32>)> {
    let inner = comment.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    let mut parts = inner.split('·').map(str::trim);
    let (name, state) = parts.next()?.split_once(' ')?;
    let (_, id) = parse_name(name)?;
    let state = MemoryState::from_name(state.trim())?;
    let kind = MemoryKind::from_name(parts.next()?)?;
    let mut memory = Memory { id, state, kind, ..by_hand(file, scope, String::new(), false) };
    let (mut key, mut text_sum) = (None, None);
    for part in parts {
        let words: Vec<&str> = part.split_whitespace().collect();
        match *words.as_slice() {
            ["key", digits] => key = Some(u64::from_str_radix(digits, 16).ok()?),
            ["text", digits] => text_sum = Some(u32::from_str_radix(digits, 16).ok()?),
            ["from", "model"] => memory.is_by_model = true,
            ["pinned"] => memory.is_pinned = true,
            ["by", other] => memory.superseded_by = Some(parse_name(other)?.1),
            ["against", other] => memory.contradicts = Some(parse_name(other)?.1),
            ["helpful", helpful, "harmful", harmful] => {
                (memory.helpful, memory.harmful) = (helpful.parse().ok()?, harmful.parse().ok()?);
            }
            [sightings, "sighting" | "sightings", "in", sessions, "session" | "sessions"] => {
                (memory.sightings, memory.sessions) = (sightings.parse().ok()?, sessions.parse().ok()?);
            }
            [first, "to", last] => (memory.first_seen, memory.last_seen) = (parse_date(first)?, parse_date(last)?),
            [day] if !day.contains('#') => {
                let day = parse_date(day)?;
                (memory.first_seen, memory.last_seen) = (day, day);
            }
            ref places if !places.is_empty() && places.iter().all(|place| place.contains('#')) => {
                let places = places.iter().map(|place| parse_place(place)).collect::<Option<Vec<_>>>()?;
                // An older version wrote 0 for a prompt that no block records: the next learning finds its place.
                memory.evidence = places.into_iter().filter(|sighting| sighting.block > 0).collect();
            }
            // A newer version may write more.
            _ => {}
        }
    }
    memory.key = key.unwrap_or_default();
    Some((memory, text_sum))
}

fn parse_place(place: &str) -> Option<Sighting> {
    let (session, block) = place.rsplit_once('#')?;
    let is_valid = is_plain(session) && block.bytes().all(|byte| byte.is_ascii_digit());
    let sighting = || Some(Sighting { session: session.to_owned(), block: block.parse().ok()?, row: String::new(), time: 0 });
    is_valid.then(sighting)?
}

#[cfg(test)]
mod tests;
