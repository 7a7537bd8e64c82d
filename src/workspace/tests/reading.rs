//! Tests of reading a session.

use super::list::scan;
use super::*;
use crate::fsio::{OpenFile, RealDisk};
use crate::model::{Block, FileUsage, RowKind, Session, Zone};
use crate::provider::claude_code::ClaudeCode;
use crate::provider::{FileKind, PROVIDERS, sniff};
use crate::store::Seal;
use crate::testing::{Fault, each_fault, fixtures, sample};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(super) fn fresh(path: &Path) -> Session {
    load(&RealDisk, &Cache::default(), provider(&fs::read(path).unwrap()), path, "id".into()).unwrap()
}

fn cached(cache: &Cache, path: &Path) -> Session {
    load(&RealDisk, cache, provider(&fs::read(path).unwrap()), path, "id".into()).unwrap()
}

/// Returns the provider of a file, detected from its bytes; the first provider if the format is unknown.
pub(super) fn provider(bytes: &[u8]) -> &'static dyn ProviderAdapter {
    let found = PROVIDERS.iter().find(|provider| sniff(bytes) == FileKind::Session(provider.name()));
    found.copied().unwrap_or(PROVIDERS[0])
}

#[test]
fn a_growing_file_reads_the_same_from_the_cache() {
    for fixture in sample(fixtures(), 4) {
        let bytes = fs::read(&fixture).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path(), &Seal::default());
        let file = directory.path().join("s.jsonl");
        for part in 0..=6 {
            // The file is truncated within rows, as when a client is writing.
            fs::write(&file, &bytes[..bytes.len() * part / 6]).unwrap();
            assert!(cached(&cache, &file) == fresh(&file), "{} part {part}", fixture.display());
            assert!(cached(&cache, &file) == fresh(&file), "{} part {part} again", fixture.display());
        }
    }
}

#[test]
fn an_outline_says_what_a_reading_says() {
    for fixture in fixtures() {
        let provider = provider(&fs::read(&fixture).unwrap());
        let settings = ReadSettings::default();
        let window = |session: &Session| provider.window(session);
        let outline = engine::outline(fresh(&fixture), window, &settings, &FxHashMap::default());
        let reading = engine::read(fresh(&fixture), window, &settings, &Default::default());
        let fixture = fixture.display();
        assert_eq!(outline.window, reading.window, "{fixture}");
        assert_eq!(outline.turns.len(), reading.turns.len(), "{fixture}");
        for (outlined, read) in outline.session.blocks.iter().zip(&reading.session.blocks) {
            let facts = |block: &Block| {
                let cold = block.position.zone == Zone::Cold;
                (block.number, block.level, block.position.turn, cold, engine::label(block))
            };
            assert_eq!(facts(outlined), facts(read), "{fixture}");
        }
    }
}

#[test]
fn a_rewritten_file_is_read_again() {
    let bytes = fs::read(&fixtures()[0]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), &Seal::default());
    let file = directory.path().join("s.jsonl");
    let other = fs::read(&fixtures()[1]).unwrap();
    let half = bytes[..bytes.len() / 2].to_vec();
    let mut changed = bytes.clone();
    let place = changed.windows(4).position(|word| word == b"text").unwrap();
    changed[place] = b'n';
    for content in [&bytes, &other, &bytes, &half, &changed, &bytes] {
        fs::remove_file(&file).ok();
        fs::write(&file, content).unwrap();
        assert!(cached(&cache, &file) == fresh(&file));
    }
}

#[test]
fn a_last_row_without_a_line_feed_is_counted_once() {
    let bytes = fs::read(&fixtures()[0]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), &Seal::default());
    let file = directory.path().join("s.jsonl");
    fs::write(&file, bytes.trim_ascii_end()).unwrap();
    let session = cached(&cache, &file);
    assert!(!session.ends_with_newline);
    assert!(session.blocks.iter().all(|block| cache.count(block.hash).is_some()));
}

#[test]
fn an_unusable_cache_is_ignored() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("cache.db"), b"this is no database, however long it may be").unwrap();
    let file = &fixtures()[0];
    assert!(cached(&Cache::open(directory.path(), &Seal::default()), file) == fresh(file));
    assert!(cached(&Cache::open(&directory.path().join("missing"), &Seal::default()), file) == fresh(file));
}

#[test]
fn a_fault_at_any_call_of_the_disk_is_an_error_and_no_wrong_reading() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("s.jsonl");
    let bytes = fs::read(&fixtures()[0]).unwrap();
    let calls = each_fault(&[Fault::Once, Fault::Lasting], 1, |_, disk, case| {
        // The cache has the first half of the file, so that every code path of reading is taken.
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let cache = Cache::open(directory.path(), &Seal::default());
        cached(&cache, &file);
        fs::write(&file, &bytes).unwrap();
        let loaded = load(disk, &cache, &ClaudeCode, &file, "id".into());
        match &loaded {
            Ok(session) => assert!(*session == fresh(&file)),
            Err(error) => assert_eq!(error.to_string(), "injected fault"),
        }
        assert!(cached(&cache, &file) == fresh(&file), "after {case}");
        loaded.is_ok()
    });
    assert!(calls >= 3, "only {calls} calls");
}

/// The real disk, except that the file is replaced by another one when it is opened to be read.
struct ReplacingDisk<'a> {
    inner: RealDisk,
    by: &'a [u8],
    once: std::sync::atomic::AtomicBool,
}

impl Disk for ReplacingDisk<'_> {
    fn below(&self) -> &dyn Disk {
        &self.inner
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        let file = self.inner.open(path, offset);
        if !self.once.swap(true, std::sync::atomic::Ordering::SeqCst) {
            let other = path.with_extension("new");
            fs::write(&other, self.by)?;
            fs::rename(other, path)?;
        }
        file
    }
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_read_again() {
    let (first, second) = (fs::read(&fixtures()[0]).unwrap(), fs::read(&fixtures()[1]).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), &Seal::default());
    let file = directory.path().join("s.jsonl");
    fs::write(&file, &first).unwrap();
    let disk = ReplacingDisk { inner: RealDisk, by: &second, once: Default::default() };
    assert!(load(&disk, &cache, &ClaudeCode, &file, "id".into()).unwrap() == fresh(&file));
    assert!(cached(&cache, &file) == fresh(&file));
}

/// Returns the output tokens of the responses, sorted.
fn outputs(bills: &FileUsage) -> Vec<u64> {
    let mut outputs: Vec<u64> = bills.responses.iter().map(|response| response.tokens.output).collect();
    outputs.sort_unstable();
    outputs
}

/// Returns the same from every row of a file of Claude Code, each parsed as a whole.
fn outputs_of_rows(file: &Path) -> Vec<u64> {
    let mut outputs: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let message = &row["message"];
        if message["usage"].is_object() && message["model"] != "<synthetic>" && row["timestamp"].is_string() {
            let output = outputs.entry((text(&message["id"]), text(&row["requestId"]))).or_default();
            *output = (*output).max(message["usage"]["output_tokens"].as_u64().unwrap_or_default());
        }
    }
    let mut outputs: Vec<u64> = outputs.into_values().collect();
    outputs.sort_unstable();
    outputs
}

#[test]
fn totals_and_bills_agree_with_the_whole_reading() {
    for fixture in fixtures() {
        let provider = provider(&fs::read(&fixture).unwrap());
        let mut file = RealDisk.open(&fixture, 0).unwrap();
        let mut buffer = Vec::new();
        let (totals, bills, whole) = scan(provider, &mut *file, &mut buffer, true).unwrap();
        assert!(whole == Some(&fs::read(&fixture).unwrap()[..]), "{}", fixture.display());
        if provider.name() == "claude-code" {
            assert_eq!(outputs(&bills), outputs_of_rows(&fixture), "{}", fixture.display());
        }
        let session = fresh(&fixture);
        let window = provider.window(&session);
        assert_eq!(totals.window.stated_tokens, session.capacity, "{}", fixture.display());
        let reading = engine::read(session, |_| window, &ReadSettings::default(), &Default::default());
        let main = reading.session.rows.iter().any(|row| !row.sidechain && row.usage.is_some());
        if main {
            assert_eq!(*totals.model, *reading.model, "{}", fixture.display());
            assert_eq!(totals.steps, reading.steps, "{}", fixture.display());
        }
        let turns = reading.turns.len() as u32;
        assert_eq!(totals.turns, turns, "{}", fixture.display());
        let compactions =
            reading.session.rows.iter().filter(|row| row.kind == RowKind::Boundary && !row.sidechain).count() as u32;
        assert_eq!(totals.compactions, compactions, "{}", fixture.display());
    }
}
