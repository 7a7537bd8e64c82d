//! Tests how often each step opens a session file, and how many of its bytes it reads.

use super::file::SessionFile;
use super::place::{Place, Step, shorten_all};
use super::sessions::small;
use super::*;
use crate::fsio::{OpenFile, RealDisk};
use crate::model::limits::HELD_FILE_BYTES;
use crate::model::{Level, OperationKind};
use crate::provider::Places;
use crate::store::{Seal, TotalsCache};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The real disk; counts the opens for reading and the bytes read.
#[derive(Default)]
struct CountingDisk {
    inner: RealDisk,
    opens: AtomicU64,
    bytes: Arc<AtomicU64>,
}

impl CountingDisk {
    /// Returns the counts since the last call.
    fn take(&self) -> (u64, u64) {
        (self.opens.swap(0, Ordering::SeqCst), self.bytes.swap(0, Ordering::SeqCst))
    }
}

struct CountingFile {
    file: Box<dyn OpenFile>,
    bytes: Arc<AtomicU64>,
}

impl Read for CountingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }
}

impl Seek for CountingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Disk for CountingDisk {
    fn below(&self) -> &dyn Disk {
        &self.inner
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        self.opens.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(CountingFile { file: self.inner.open(path, offset)?, bytes: Arc::clone(&self.bytes) }))
    }
}

/// Reads all that a reading command can need: the session, every content and the whole file.
fn read_all(place: &Place, disk: &dyn Disk, cache: &Arc<Cache>) {
    let workspace = place.open_cached(disk, cache).unwrap();
    let numbers: Vec<BlockNumber> = workspace.reading.session.blocks.iter().map(|block| block.number).collect();
    assert!(numbers.len() > 10 && workspace.contents(&numbers).unwrap().len() == numbers.len());
    assert_eq!(workspace.secret_matches().unwrap(), []);
    assert_eq!(workspace.bytes().unwrap(), place.bytes());
}

/// Plans a change of every block, and applies nothing.
fn plan_all(place: &Place, disk: &dyn Disk, cache: &Arc<Cache>) {
    let workspace = place.open_cached(disk, cache).unwrap();
    let mut draft = workspace.draft(Some(&place.store), 0).unwrap();
    shorten_all(&mut draft, Level::Minimal).unwrap();
    assert!(!draft.finish(OperationKind::Change, "", None, &|_| None, true).unwrap().plan.is_empty());
}

fn check_store(place: &Place, disk: &dyn Disk) {
    let stored = place.store.find(&place.path).unwrap().unwrap();
    let settings = ReadSettings::default();
    let sound = place.store.addresses().unwrap().into_iter().collect();
    let cache = &Arc::new(Cache::default());
    let verifier = Verifier { disk, cache, store: &place.store, settings: &settings, sound: &sound, now: 0 };
    let verified = verifier.verify(&stored).unwrap();
    assert_eq!((verified.problems(), verified.way_back), (0, WayBack::Exact));
}

#[test]
fn reading_opens_a_file_once_and_reads_each_byte_once() {
    let place = Place::new(small("2.1.330").as_bytes());
    let cache = Arc::new(Cache::open(place.directory.path(), &Seal::default()));
    let disk = CountingDisk::default();
    let bytes = place.bytes().len() as u64;
    place.open_cached(&disk, &Arc::new(Cache::default())).unwrap();
    assert_eq!(disk.take(), (1, bytes), "without a cache");
    place.open_cached(&disk, &cache).unwrap();
    assert_eq!(disk.take(), (1, bytes), "the first reading");
    place.open_cached(&disk, &cache).unwrap();
    assert_eq!(disk.take(), (0, 0), "from the cache");
    for cache in [&Arc::new(Cache::default()), &cache] {
        read_all(&place, &disk, cache);
        assert_eq!(disk.take(), (1, bytes), "all contents");
        plan_all(&place, &disk, cache);
        assert_eq!(disk.take(), (1, bytes), "a plan");
    }
    place.append(r#"{"type":"mode","mode":"m","sessionId":"s"}"#);
    read_all(&place, &disk, &cache);
    assert_eq!(disk.take(), (1, place.bytes().len() as u64), "after rows were appended");
}

#[test]
fn the_hash_of_an_unchanged_file_is_not_computed_again() {
    let place = Place::new(small("2.1.330").as_bytes());
    let cache = Arc::new(Cache::open(place.directory.path(), &Seal::default()));
    let disk = CountingDisk::default();
    let base_hash = || {
        let workspace = place.open_cached(&disk, &cache).unwrap();
        let draft = workspace.draft(Some(&place.store), 0).unwrap();
        draft.finish(OperationKind::Change, "", None, &|_| None, true).unwrap().plan.base_hash
    };
    let text = small("2.1.330");
    // The second text has the length of the first, and the third begins with the second.
    let other = text.replacen("more line 1 ", "more line 2 ", 1);
    for bytes in [&text, &other, &format!("{other}\n")] {
        fs::write(&place.path, bytes).unwrap();
        let expected = *blake3::hash(bytes.as_bytes()).as_bytes();
        assert_eq!((base_hash(), disk.take()), (expected, (1, bytes.len() as u64)), "the first time");
        assert_eq!((base_hash(), disk.take()), (expected, (0, 0)), "again");
    }
}

#[test]
fn changing_reads_a_file_once_more_under_the_lock() {
    let place = Place::new(small("2.1.330").as_bytes());
    let disk = CountingDisk::default();
    for step in [Step::Both, Step::Undo, Step::Redo, Step::Undo, Step::Original] {
        let bytes = place.bytes().len() as u64;
        if place.step(&disk, step).unwrap().is_some() {
            assert_eq!(disk.take(), (2, 2 * bytes), "{step:?}");
        }
    }
    place.step(&disk, Step::Both).unwrap();
    disk.take();
    check_store(&place, &disk);
    assert_eq!(disk.take(), (1, place.bytes().len() as u64), "verify");
}

#[test]
fn a_listing_reads_each_file_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(".claude/projects/-p/s.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    // A word of the title could be a credential that another row names.
    let title = "why is hunter2hunter2 wrong";
    let rows = small("2.1.330").replacen("look at the files ", &format!("{title} "), 1);
    fs::write(&file, rows.replacen("more line 1 ", "password=hunter2hunter2 ", 1)).unwrap();
    let disk = CountingDisk::default();
    let places = Places { home: directory.path().to_owned(), ..Places::default() };
    let listed =
        list(&disk, &TotalsCache::default(), &places, None, true, &mut |path, error| panic!("{path:?}: {error}")).unwrap();
    let title = &listed.iter().flatten().next().unwrap().totals.title;
    assert!(title.starts_with("why is [secret:password] wrong"), "{title}");
    assert_eq!(disk.take(), (1, fs::metadata(&file).unwrap().len()));
}

#[test]
fn a_large_file_is_opened_once_and_not_held() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large");
    let disk = CountingDisk::default();
    for (bytes, reads) in [(HELD_FILE_BYTES, 1), (HELD_FILE_BYTES + 1, 2)] {
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        let file = SessionFile::new(&disk, &path);
        for _ in 0..2 {
            assert_eq!(file.range(0..bytes as u64).unwrap().len(), bytes);
        }
        assert_eq!(disk.take(), (1, reads * bytes as u64));
    }
}

#[test]
fn a_replaced_file_stays_the_same_while_it_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    fs::write(&path, "first").unwrap();
    let file = SessionFile::new(&RealDisk, &path);
    assert_eq!(file.range(0..2).unwrap(), b"fi");
    fs::write(path.with_extension("new"), "other").unwrap();
    fs::rename(path.with_extension("new"), &path).unwrap();
    assert_eq!(file.range(0..5).unwrap(), b"first");
    assert_eq!(file.range(4..6).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

proptest! {
    #[test]
    fn ranges_in_any_order_are_read_once(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        ranges in prop::collection::vec((0..120u64, 0..120usize), 1..20),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        fs::write(&path, &bytes).unwrap();
        let disk = CountingDisk::default();
        let file = SessionFile::new(&disk, &path);
        let mut wanted = BTreeSet::new();
        for (offset, length) in ranges {
            let start = bytes.len().min(offset as usize);
            let end = bytes.len().min(offset as usize + length);
            let mut read = vec![7];
            prop_assert_eq!(file.read(offset, length, &mut read).unwrap(), end - start);
            prop_assert_eq!(&read[1..], &bytes[start..end]);
            wanted.extend(start..end);
        }
        prop_assert_eq!(disk.take(), (1, wanted.len() as u64));
    }
}
