//! The index of search: the turns of session files and their words, in a database of their own in the cache directory.
//!
//! It is disposable: without it, or while another process writes it, files are read again. The words of one reading are a segment:
//! later ones do not change it. Small segments are joined when there are many.

use super::database::{Statements, first};
use super::disposable::{Form, opened, prepared};
use super::seal::Seal;
use crate::engine::search::{FileTerms, Posting, read_postings, write_postings};
use crate::fsio::Identity;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::time::Duration;

/// File name of the index.
pub const SEARCH_INDEX_FILE: &str = "search.db";

/// Version of the index; increased when its form or meaning changes. An index of another version is emptied.
const FORMAT: i32 = 16;
const FORM: Form = Form {
    file: SEARCH_INDEX_FILE,
    version: FORMAT,
    patience: Duration::from_millis(2_000),
    settings: "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON;",
    tables: include_str!("search_index.sql"),
};
/// Segments from which on the smaller ones are joined, and those that are left then.
const MOST_SEGMENTS: u32 = 12;
const LEFT_SEGMENTS: usize = 4;

/// The indexed state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedSession {
    pub id: i64,
    /// The state of the file when it was read.
    pub identity: Identity,
    /// A number that changes with the changes of the session by aperture.
    pub stamp: i64,
}

/// A file that was read, from its start or from where the last reading ended.
#[derive(Debug)]
pub struct ReadSession<'a> {
    pub path: &'a Path,
    pub identity: Identity,
    pub stamp: i64,
    /// The position from which the next reading continues, serialized.
    pub state: Vec<u8>,
    /// The number of the file in the index, if its turns are added to those that are known.
    pub continues: Option<i64>,
    pub terms: FileTerms,
}

/// A turn of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedTurn {
    pub file: i64,
    pub number: u32,
    pub block: u32,
    pub time: i64,
    pub start: u64,
    /// The end of its rows; `None` for the last turn of the file.
    pub end: Option<u64>,
    pub content: u64,
    pub is_left: bool,
}

/// An index.
pub struct SearchIndex {
    connection: Connection,
    seal: Seal,
}

/// Returns a number that names a file in a state.
pub fn fingerprint(seal: &Seal, path: &Path, identity: &Identity, stamp: i64) -> i64 {
    let path = path.as_os_str().as_encoded_bytes();
    let state = postcard::to_extend(&(identity, stamp, path), Vec::with_capacity(path.len() + size_of::<Identity>()));
    let hash = seal.hashed(&state.unwrap_or_default());
    hash.as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

impl SearchIndex {
    /// Opens the index in an existing directory, or creates it.
    pub fn open(directory: &Path, seal: &Seal) -> rusqlite::Result<SearchIndex> {
        Ok(SearchIndex { connection: opened(directory, &FORM, seal)?.0, seal: seal.clone() })
    }

    /// Returns an index that is lost with the process.
    pub fn in_memory() -> rusqlite::Result<SearchIndex> {
        let seal = Seal::default();
        Ok(SearchIndex { connection: prepared(Connection::open_in_memory()?, &FORM, &seal)?.0, seal })
    }

    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Returns the fingerprints of all files, each with the number of the file.
    pub fn fingerprints(&self) -> rusqlite::Result<Vec<(i64, i64)>> {
        self.connection.rows("SELECT fingerprint, id FROM files", [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the state in which a file is known.
    pub fn file(&self, path: &Path) -> rusqlite::Result<Option<IndexedSession>> {
        let sql = "SELECT id, identity, stamp FROM files WHERE path = seal(?1)";
        self.connection.row(sql, [path.to_string_lossy()], |row| {
            let identity = postcard::from_bytes(&row.get::<_, Vec<u8>>(1)?).unwrap_or_default();
            Ok(IndexedSession { id: row.get(0)?, identity, stamp: row.get(2)? })
        })
    }

    /// Returns what the next reading of a file continues with.
    pub fn state(&self, file: i64) -> rusqlite::Result<Option<Vec<u8>>> {
        self.connection.row("SELECT open(state) FROM files WHERE id = ?1", [file], first)
    }

    /// Adds what was read, as one segment, and deletes what is known of files that are gone.
    /// Errors: the index cannot be written, or another process writes it.
    pub fn write(&mut self, read: &[ReadSession<'_>], gone: &[i64]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut forgotten = FxHashSet::default();
        for file in gone {
            forget(&transaction, *file, &mut forgotten)?;
        }
        let files: Vec<i64> = read
            .iter()
            .map(|session| write_file(&transaction, &self.seal, session, &mut forgotten))
            .collect::<rusqlite::Result<_>>()?;
        delete_postings(&transaction, &forgotten)?;
        let start: u32 = transaction.query_row("SELECT coalesce(max(id), 0) + 1 FROM turns", [], first)?;
        let mut segment = Segment::default();
        let mut next = start;
        for (session, file) in read.iter().zip(files) {
            let mut insert = transaction.prepare_cached("INSERT INTO turns VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, seal(?8), ?9)")?;
            for (index, turn) in session.terms.turns.iter().enumerate() {
                let known =
                    (index == 0 && session.continues.is_some()).then(|| turn_of(&transaction, file, turn.number)).transpose()?;
                let (start, content) = (turn.start as i64, turn.content.cast_signed());
                insert.execute(params![
                    next + index as u32,
                    file,
                    turn.number,
                    known.flatten(),
                    turn.block,
                    turn.time,
                    start,
                    content,
                    turn.is_left
                ])?;
            }
            segment.add(&session.terms, next - start);
            next += session.terms.turns.len() as u32;
        }
        if next > start {
            let words = segment.words();
            insert_segment(&transaction, start, next - 1, words.iter().map(|(word, postings)| (*word, postings.as_slice())))?;
        }
        let count: u32 = transaction.query_row("SELECT count(*) FROM segments", [], first)?;
        if count > MOST_SEGMENTS {
            join_segments(&transaction)?;
        }
        transaction.commit()
    }

    pub fn turn_count(&self) -> rusqlite::Result<u32> {
        self.connection.query_row("SELECT coalesce(max(id), 0) FROM turns", [], first)
    }

    pub fn file_count(&self) -> rusqlite::Result<u32> {
        self.connection.query_row("SELECT count(*) FROM files", [], first)
    }

    /// Returns the postings of words in each segment, with the number of its first turn.
    pub fn postings(&self, words: &[String]) -> rusqlite::Result<Vec<(u32, Vec<u8>)>> {
        let sql = "SELECT id, first FROM segments";
        let segments: Vec<(i64, u32)> = self.connection.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "SELECT open(postings) FROM words WHERE segment = ?1 AND word = seal(?2)";
        let mut found = Vec::new();
        for (segment, start) in segments {
            for word in words {
                found.extend(self.connection.row(sql, params![segment, word], first)?.map(|postings| (start, postings)));
            }
        }
        Ok(found)
    }

    /// Returns the turns that continue another one, each with that one.
    pub fn continued(&self) -> rusqlite::Result<FxHashMap<u32, u32>> {
        continued(&self.connection)
    }

    /// Returns the words with the first letter of a word, with the length of their postings.
    pub fn words_like(&self, word: &str) -> rusqlite::Result<Vec<(String, u32)>> {
        let Some(first) = word.chars().next() else { return Ok(Vec::new()) };
        let after = char::from_u32(u32::from(first) + 1).unwrap_or(char::MAX);
        // Sealed words have no order: each is opened.
        let word = if self.seal.is_sealed() { "open(word)" } else { "word" };
        let sql = format!(
            "SELECT {word} AS text, length(postings) FROM words
             WHERE segment IN (SELECT id FROM segments) AND text >= ?1 AND text < ?2"
        );
        self.connection.rows(&sql, [first.to_string(), after.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    pub fn turns_of(&self, files: &[i64]) -> rusqlite::Result<FxHashSet<u32>> {
        let mut turns = FxHashSet::default();
        for file in files {
            turns.extend(self.connection.rows("SELECT id FROM turns WHERE file = ?1", [file], first::<u32>)?);
        }
        Ok(turns)
    }

    /// Returns a turn; `None` if its file is gone or was read again.
    pub fn turn(&self, turn: u32) -> rusqlite::Result<Option<IndexedTurn>> {
        let sql = "SELECT file, number, block, time, start, open(content), is_left,
            (SELECT min(start) FROM turns AS after WHERE after.file = turns.file AND after.number = turns.number + 1) FROM turns WHERE id = ?1";
        self.connection.row(sql, [turn], |row| {
            Ok(IndexedTurn {
                file: row.get(0)?,
                number: row.get(1)?,
                block: row.get(2)?,
                time: row.get(3)?,
                start: row.get::<_, i64>(4)?.unsigned_abs(),
                end: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
                content: row.get::<_, i64>(5)?.cast_unsigned(),
                is_left: row.get(6)?,
            })
        })
    }
}

/// Stores the state of a file and returns its number. What is known of its turns is deleted, unless the new ones continue them.
fn write_file(
    transaction: &Transaction<'_>,
    seal: &Seal,
    session: &ReadSession<'_>,
    forgotten: &mut FxHashSet<u32>,
) -> rusqlite::Result<i64> {
    let path = session.path.to_string_lossy();
    let identity = postcard::to_stdvec(&session.identity).unwrap_or_default();
    let fingerprint = fingerprint(seal, session.path, &session.identity, session.stamp);
    if let Some(file) = session.continues {
        let sql = "UPDATE files SET identity = ?2, stamp = ?3, state = seal(?4), fingerprint = ?5 WHERE id = ?1";
        transaction.run(sql, params![file, identity, session.stamp, session.state, fingerprint])?;
        return Ok(file);
    }
    let known = transaction.row("SELECT id FROM files WHERE path = seal(?1)", [&path], first)?;
    known.map(|file| forget(transaction, file, forgotten)).transpose()?;
    let sql = "INSERT INTO files (path, identity, stamp, state, fingerprint) VALUES (seal(?1), ?2, ?3, seal(?4), ?5)";
    transaction.run(sql, params![path, identity, session.stamp, session.state, fingerprint])?;
    Ok(transaction.last_insert_rowid())
}

/// Deletes a file and its turns, and adds these to `forgotten`.
fn forget(transaction: &Transaction<'_>, file: i64, forgotten: &mut FxHashSet<u32>) -> rusqlite::Result<()> {
    forgotten.extend(transaction.rows("DELETE FROM turns WHERE file = ?1 RETURNING id", [file], first::<u32>)?);
    transaction.run("DELETE FROM files WHERE id = ?1", [file]).map(drop)
}

/// Deletes the postings of turns, and the words that have no others.
fn delete_postings(transaction: &Transaction<'_>, turns: &FxHashSet<u32>) -> rusqlite::Result<()> {
    let (Some(least), Some(most)) = (turns.iter().min(), turns.iter().max()) else { return Ok(()) };
    let sql = "SELECT id, first FROM segments WHERE first <= ?2 AND last >= ?1";
    let segments: Vec<(i64, u32)> = transaction.rows(sql, [least, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut update = transaction.prepare("UPDATE words SET postings = seal(?3) WHERE segment = ?1 AND word = ?2")?;
    let mut delete = transaction.prepare("DELETE FROM words WHERE segment = ?1 AND word = ?2")?;
    for (segment, start) in segments {
        let sql = "SELECT word, open(postings) FROM words WHERE segment = ?1";
        let words: Vec<(Value, Vec<u8>)> = transaction.rows(sql, [segment], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (word, bytes) in words {
            let is_left = |(turn, _): &(u32, Posting)| !turns.contains(&(start + turn));
            if read_postings(&bytes).all(|posting| is_left(&posting)) {
                continue;
            }
            let mut left = Vec::new();
            write_postings(read_postings(&bytes).filter(is_left), &mut left);
            let changed = if left.is_empty() {
                delete.execute(params![segment, word])
            } else {
                update.execute(params![segment, word, left])
            };
            changed?;
        }
    }
    Ok(())
}

/// Returns the turn of a file with a number that continues no other one.
fn turn_of(transaction: &Transaction<'_>, file: i64, number: u32) -> rusqlite::Result<Option<u32>> {
    let sql = "SELECT id FROM turns WHERE file = ?1 AND number = ?2 AND continues IS NULL";
    transaction.row(sql, params![file, number], first)
}

fn continued(connection: &Connection) -> rusqlite::Result<FxHashMap<u32, u32>> {
    let sql = "SELECT id, continues FROM turns WHERE continues IS NOT NULL";
    Ok(connection.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
}

/// Writes a segment with turns from `first` to `last`; `words` are in order.
fn insert_segment<'a>(
    transaction: &Transaction<'_>,
    first: u32,
    last: u32,
    words: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> rusqlite::Result<()> {
    transaction.execute("INSERT INTO segments (first, last, bytes) VALUES (?1, ?2, 0)", params![first, last])?;
    let segment = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached("INSERT INTO words VALUES (?1, seal(?2), seal(?3))")?;
    let mut bytes = 0;
    for (word, postings) in words {
        bytes += word.len() + postings.len();
        insert.execute(params![segment, word, postings])?;
    }
    transaction.execute("UPDATE segments SET bytes = ?2 WHERE id = ?1", params![segment, bytes as i64]).map(drop)
}

/// Joins the smallest segments to one. Turns that continue another one become a part of it.
fn join_segments(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "SELECT id, first FROM segments ORDER BY bytes";
    let segments: Vec<(i64, u32)> = transaction.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let small = &segments[..segments.len().saturating_sub(LEFT_SEGMENTS - 1)];
    let firsts: FxHashMap<i64, u32> = small.iter().copied().collect();
    let continued = continued(transaction)?;
    let mut joined_turns = FxHashSet::default();
    let mut turn_of = |segment: i64, turn: u32| {
        let turn = firsts[&segment] + turn;
        let continues = continued.get(&turn).copied();
        joined_turns.extend(continues.map(|_| turn));
        continues.unwrap_or(turn)
    };
    let mut words: FxHashMap<String, Vec<(u32, Posting)>> = FxHashMap::default();
    let mut select = transaction.prepare("SELECT open(word), open(postings) FROM words WHERE segment = ?1")?;
    for (segment, _) in small {
        let rows = select.query_map([segment], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        for row in rows {
            let (word, postings) = row?;
            let postings = read_postings(&postings).map(|(turn, posting)| (turn_of(*segment, turn), posting));
            words.entry(word).or_default().extend(postings);
        }
        transaction.execute("DELETE FROM words WHERE segment = ?1", [segment])?;
        transaction.execute("DELETE FROM segments WHERE id = ?1", [segment])?;
    }
    let all = || words.values().flatten().map(|(turn, _)| *turn);
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return Ok(()) };
    let mut joined: Vec<(String, Vec<u8>)> = Vec::with_capacity(words.len());
    for (word, mut list) in words.into_iter().filter(|(_, list)| !list.is_empty()) {
        list.sort_unstable_by_key(|(turn, _)| *turn);
        list.dedup_by(|(turn, more), (before, sum)| {
            turn == before && {
                *sum = sum.plus(*more);
                true
            }
        });
        let mut bytes = Vec::new();
        write_postings(list.into_iter().map(|(turn, posting)| (turn - first, posting)), &mut bytes);
        joined.push((word, bytes));
    }
    joined.sort_unstable();
    insert_segment(transaction, first, last, joined.iter().map(|(word, postings)| (word.as_str(), postings.as_slice())))?;
    // The turns of other segments can be between the first and the last one.
    let mut delete = transaction.prepare("DELETE FROM turns WHERE id = ?1")?;
    joined_turns.iter().try_for_each(|turn| delete.execute([turn]).map(drop))
}

#[derive(Default)]
struct Segment<'a> {
    numbers: FxHashMap<&'a str, u32>,
    words: Vec<&'a str>,
    postings: Vec<(u32, u32, Posting)>,
}

impl<'a> Segment<'a> {
    /// Adds the words of a file, whose first turn has a number in the segment.
    fn add(&mut self, terms: &'a FileTerms, first: u32) {
        let numbers: Vec<u32> = terms
            .words
            .iter()
            .map(|word| {
                *self.numbers.entry(word).or_insert_with(|| {
                    self.words.push(word);
                    self.words.len() as u32 - 1
                })
            })
            .collect();
        self.postings
            .extend(terms.postings.iter().map(|(turn, word, posting)| (numbers[*word as usize], first + turn, *posting)));
    }

    /// Returns the words in order, each with its postings.
    fn words(mut self) -> Vec<(&'a str, Vec<u8>)> {
        self.postings.sort_unstable_by_key(|(word, turn, _)| (*word, *turn));
        let lists = self.postings.chunk_by(|(one, ..), (other, ..)| one == other).map(|list| {
            let mut bytes = Vec::new();
            write_postings(list.iter().map(|(_, turn, posting)| (*turn, *posting)), &mut bytes);
            (self.words[list[0].0 as usize], bytes)
        });
        let mut words: Vec<(&str, Vec<u8>)> = lists.collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::search::Turn;
    use crate::text::lists::index_in;

    fn terms(turns: &[&[&str]]) -> FileTerms {
        let mut terms = FileTerms::default();
        for (turn, words) in turns.iter().enumerate() {
            terms.turns.push(Turn { number: turn as u32 + 1, start: 100 * turn as u64, ..Turn::default() });
            for word in *words {
                let place = index_in(&mut terms.words, word);
                terms.postings.push((turn as u32, place, Posting::new([0.0, 1.0, 0.0])));
            }
        }
        terms
    }

    fn read<'a>(path: &'a str, continues: Option<i64>, terms: FileTerms) -> ReadSession<'a> {
        ReadSession { path: Path::new(path), identity: Identity::default(), stamp: 0, state: Vec::new(), continues, terms }
    }

    /// The file and turn numbers of the turns with a word.
    fn holders(index: &SearchIndex, word: &str) -> Vec<(i64, u32)> {
        let continued = index.continued().unwrap();
        let mut found = Vec::new();
        for (first, bytes) in index.postings(&[word.to_owned()]).unwrap() {
            for (turn, _) in read_postings(&bytes) {
                let turn = continued.get(&(first + turn)).copied().unwrap_or(first + turn);
                found.extend(index.turn(turn).unwrap().map(|turn| (turn.file, turn.number)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn joining_segments_changes_nothing_that_is_found() {
        let mut index = SearchIndex::in_memory().unwrap();
        for number in 0..40 {
            let path = format!("/s{}", number % 15);
            let words = ["always".to_owned(), format!("w{number}")];
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let known = index.file(Path::new(&path)).unwrap().map(|file| file.id);
            // A file is read again, or continued, by turns.
            let continues = known.filter(|_| number % 2 == 0);
            index.write(&[read(&path, continues, terms(&[&words]))], &[]).unwrap();
            assert_eq!(holders(&index, &format!("w{number}")).len(), 1);
            assert_eq!(holders(&index, "always").len(), index.fingerprints().unwrap().len(), "after {number}");
        }
        let segments: u32 = index.connection.query_row("SELECT count(*) FROM segments", [], |row| row.get(0)).unwrap();
        assert!(segments <= MOST_SEGMENTS);
        assert!(holders(&index, "w1").is_empty(), "its file was read again");
    }

    #[test]
    fn a_fingerprint_is_that_of_a_path_in_a_state() {
        let (seal, path) = (Seal::default(), Path::new("/s"));
        let (identity, later) = (Identity::default(), Identity { modified: 1, ..Identity::default() });
        let all = [("/s", identity, 0), ("/s", identity, 1), ("/s", later, 0), ("/t", identity, 0)];
        let numbers: FxHashSet<i64> =
            all.iter().map(|(path, identity, stamp)| fingerprint(&seal, Path::new(path), identity, *stamp)).collect();
        assert_eq!(numbers.len(), all.len());
        let mut index = SearchIndex::in_memory().unwrap();
        index.write(&[read("/s", None, terms(&[&["a"]]))], &[]).unwrap();
        assert_eq!(index.fingerprints().unwrap(), [(fingerprint(&seal, path, &identity, 0), 1)]);
    }

    #[test]
    fn a_turn_ends_where_the_next_one_starts() {
        let mut index = SearchIndex::in_memory().unwrap();
        index.write(&[read("/s", None, terms(&[&["a"], &["b"]]))], &[]).unwrap();
        let ends: Vec<Option<u64>> = (1..=2).map(|turn| index.turn(turn).unwrap().unwrap().end).collect();
        assert_eq!(ends, [Some(100), None]);
        index.write(&[], &[1]).unwrap();
        assert_eq!((index.turn(1).unwrap(), index.fingerprints().unwrap().len()), (None, 0));
    }

    #[test]
    fn words_of_files_that_are_gone_are_gone() {
        for file in ["/s", "/t"] {
            let mut index = SearchIndex::in_memory().unwrap();
            index
                .write(&[read("/r", None, terms(&[&["both"]])), read("/s", None, terms(&[&["both"], &["before"]]))], &[])
                .unwrap();
            index.write(&[], if file == "/t" { &[2] } else { &[] }).unwrap();
            // Another file has the numbers of its turns.
            index.write(&[read(file, None, terms(&[&["after"], &["after"]]))], &[]).unwrap();
            let known: Vec<String> =
                "ab".chars().flat_map(|letter| index.words_like(&letter.to_string()).unwrap()).map(|(word, _)| word).collect();
            assert_eq!((known, holders(&index, "before")), (vec!["after".to_owned(), "both".to_owned()], Vec::new()), "{file}");
            assert_eq!((holders(&index, "both"), holders(&index, "after").len()), (vec![(1, 1)], 2), "{file}");
        }
    }

    #[test]
    fn words_with_the_same_first_letter_are_known() {
        let mut index = SearchIndex::in_memory().unwrap();
        index.write(&[read("/s", None, terms(&[&["parser", "pages", "other", "größe"]]))], &[]).unwrap();
        let words = |word: &str| index.words_like(word).unwrap().into_iter().map(|(word, _)| word).collect::<Vec<_>>();
        assert_eq!(words("permit"), ["pages", "parser"]);
        assert_eq!(words("gross"), ["größe"]);
        assert!(words("").is_empty());
    }
}
