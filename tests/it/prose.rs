//! Nothing in the repository is prose of a client: system prompts, tool descriptions and reminders are known here by hashes alone.
//!
//! `prose.hashes` holds 40 bits for each of a choice of runs of eight words of that prose, sorted, least byte first. It is made by
//! `the_table_is_made` below, of a directory that is not part of the repository: `APERTURE_PROSE=DIR cargo test --test it
//! the_table_is_made`. The files in DIR hold what clients send (a form feed parts two texts), those in `DIR/more` what their programs
//! hold beyond that. Words that are already in the table stay in it.

use crate::sandbox::repository;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words of which one hash is made.
const RUN: usize = 8;
/// Minimum number of different words in a run: repetitive text is not prose.
const DISTINCT: usize = 5;
/// One of this number of consecutive hashes is kept, so that each copy of `RUN` + this - 1 words is found. The second is for
/// `DIR/more`.
const KEPT_OF: [usize; 2] = [5, 24];
/// Bytes of a hash in the table.
const HASH_BYTES: usize = 5;

const TABLE: &[u8] = include_bytes!("prose.hashes");

/// The files and directories that are searched, from the root of the repository.
const PLACES: &[&str] = &[".ci", "benches", "build.rs", "completions", "docs", "fixtures", "fuzz", "man", "src", "tests"];

/// A word: its hash, and the byte behind it.
struct Word {
    hash: u64,
    end: usize,
}

/// Returns the words of a text: ASCII letters in lowercase, ignoring the text between words, such as escapes, comment signs and
/// line ends.
fn words(text: &[u8]) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut hash, mut open, mut at) = (0, false, 0);
    while at <= text.len() {
        let letter = text.get(at).filter(|byte| byte.is_ascii_alphabetic());
        match letter {
            Some(letter) => {
                hash = (if open { hash } else { 0xcbf2_9ce4_8422_2325 } ^ u64::from(letter.to_ascii_lowercase()))
                    .wrapping_mul(0x100_0000_01b3);
                open = true;
            }
            None if open => {
                words.push(Word { hash, end: at });
                open = false;
            }
            None => {}
        }
        // The letter of an escape does not belong to the following word.
        at += if text.get(at) == Some(&b'\\') && text.get(at + 1).is_none_or(|next| *next != b'\\') { 2 } else { 1 };
    }
    words
}

/// The hash of each run of words, and where it ends.
fn runs(words: &[Word]) -> impl Iterator<Item = (u64, usize)> {
    words.windows(RUN).map(|run| {
        let hash = run.iter().fold(0u64, |hash, word| (hash.rotate_left(7) ^ word.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (hash >> (64 - 8 * HASH_BYTES), run[RUN - 1].end)
    })
}

/// The smallest hash of each stretch of `of` in a row; none for runs that repeat themselves.
fn chosen(text: &[u8], of: usize) -> BTreeSet<u64> {
    let words = words(text);
    let is_prose = |run: &[Word]| run.iter().map(|word| word.hash).collect::<BTreeSet<_>>().len() >= DISTINCT;
    let runs: Vec<u64> =
        runs(&words).zip(words.windows(RUN)).filter(|(_, run)| is_prose(run)).map(|((hash, _), _)| hash).collect();
    runs.windows(of.min(runs.len().max(1))).filter_map(|stretch| stretch.iter().copied().min()).collect()
}

fn table() -> HashSet<u64> {
    TABLE.chunks(HASH_BYTES).map(hash).collect()
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// Returns the copies of words of a table in a text: the line, and the words that end there.
fn copies(text: &[u8], table: &HashSet<u64>) -> Vec<(usize, String)> {
    let words = words(text);
    let found = runs(&words).filter(|(hash, _)| table.contains(hash));
    let copy = |(_, end): (u64, usize)| {
        let line = 1 + text[..end].iter().filter(|byte| **byte == b'\n').count();
        (line, String::from_utf8_lossy(&text[end.saturating_sub(60)..end]).replace('\n', " "))
    };
    found.map(copy).collect()
}

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.is_file() && !path.ends_with("prose.hashes") {
        found.push(path.to_owned());
    }
}

/// All copies in a tree, a line each.
fn copies_in(tree: &Path, table: &HashSet<u64>) -> Vec<String> {
    let mut all = Vec::new();
    PLACES.iter().for_each(|place| files(&tree.join(place), &mut all));
    let beside = fs::read_dir(tree).unwrap().map(|entry| entry.unwrap().path());
    all.extend(beside.filter(|path| path.extension().is_some_and(|end| end == "md")));
    all.retain(|path| !path.starts_with(tree.join("fuzz/target")));
    assert!(all.len() > 100, "{} is no repository of aperture", tree.display());
    let of_file = |path: &PathBuf| {
        let name = path.strip_prefix(tree).unwrap().display().to_string();
        let text = fs::read(path).unwrap();
        copies(&text, table).into_iter().map(move |(line, words)| format!("{name}:{line}: {words}")).collect::<Vec<_>>()
    };
    all.iter().flat_map(of_file).collect()
}

#[test]
fn nothing_was_written_by_a_client() {
    let copies = copies_in(repository(), &table());
    assert!(copies.is_empty(), "words of a client, to be said in our own:\n{}", copies.join("\n"));
}

/// Run by hand: `APERTURE_TREE` names another tree, such as one of an earlier commit, whose copies are listed.
#[test]
fn copies_in_another_tree_are_listed() {
    let Some(tree) = std::env::var_os("APERTURE_TREE") else {
        eprintln!("skipped: APERTURE_TREE does not name a directory");
        return;
    };
    let copies = copies_in(Path::new(&tree), &table());
    copies.iter().for_each(|copy| eprintln!("{copy}"));
    assert!(!copies.is_empty());
}

#[test]
fn the_table_is_sorted() {
    let hashes: Vec<u64> = TABLE.chunks(HASH_BYTES).map(hash).collect();
    assert!(TABLE.len().is_multiple_of(HASH_BYTES) && hashes.is_sorted() && hashes.len() == table().len());
    assert!(table().len() > 10_000);
}

#[test]
fn a_copy_is_found_in_any_form() {
    let sample = "Whoever keeps a shop counts apples every evening, writes the sum into a red book, and locks the door behind him. \
                  Nobody else may open that book, unless the miller asks for flour before sunrise on a rainy Monday.";
    let table: HashSet<u64> = chosen(sample.as_bytes(), KEPT_OF[0]).into_iter().collect();
    let found = |text: &str| !copies(text.as_bytes(), &table).is_empty();
    assert!(found(sample));
    assert!(found(&sample.to_uppercase()));
    assert!(found(&sample.replace(' ', "\n/// ")), "over lines of a comment");
    assert!(found(&serde_json::to_string(&sample.replace(' ', "\n")).unwrap()), "in JSON, where a line end is an escape");
    let all: Vec<&str> = sample.split(' ').collect();
    for part in all.windows(RUN + KEPT_OF[0] - 1) {
        assert!(found(&format!("we say: {} and no more", part.join(" "))), "{part:?}");
    }
    assert!(!found(&all.iter().rev().copied().collect::<Vec<_>>().join(" ")));
    assert!(!found("Whoever keeps a shop counts pears every evening, writes the sum into a blue book, and leaves."));
    assert!(chosen("la la la la la la la la la la".as_bytes(), KEPT_OF[0]).is_empty());
}

/// Run by hand, with the prose in the directory that `APERTURE_PROSE` names.
#[test]
fn the_table_is_made() {
    let Some(directory) = std::env::var_os("APERTURE_PROSE").map(PathBuf::from) else {
        eprintln!("skipped: APERTURE_PROSE does not name a directory");
        return;
    };
    let mut hashes: BTreeSet<u64> = table().into_iter().collect();
    for (place, of) in [(directory.clone(), KEPT_OF[0]), (directory.join("more"), KEPT_OF[1])] {
        let mut all = Vec::new();
        files(&place, &mut all);
        for path in all.iter().filter(|path| path.parent() == Some(&place)) {
            for text in fs::read(path).unwrap().split(|byte| *byte == b'\x0c') {
                hashes.extend(chosen(text, of));
            }
        }
    }
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes().into_iter().take(HASH_BYTES)).collect();
    fs::write(repository().join("tests/it/prose.hashes"), bytes).unwrap();
}
