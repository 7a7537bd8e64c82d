use super::database::{Statements, first};
use super::disposable::{Disposable, Form, opened};
use super::packed;
use super::seal::Seal;
use crate::fsio::Identity;
use crate::model::limits::{CACHE_PLANS, CACHE_SEGMENT_BYTES, CACHE_SEGMENTS};
use crate::model::{Address, Block, Key, Segment};
use rusqlite::{Connection, params};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::time::Duration;

/// File name of the cache.
pub const CACHE_FILE: &str = "cache.db";

/// Version of the cached data; increased with any change of its meaning. A cache of another version is emptied.
const FORMAT: i32 = 67;
/// Values are large and read as a whole: large pages need fewer reads.
const FORM: Form = Form {
    file: CACHE_FILE,
    version: FORMAT,
    patience: Duration::from_millis(100),
    settings: "PRAGMA page_size = 65536; PRAGMA cache_size = -8192; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
        PRAGMA secure_delete = ON;",
    tables: include_str!("cache.sql"),
};

const SEGMENT: &[u8] = b"segment";

fn insert_counts<'a>(db: &Connection, blocks: impl IntoIterator<Item = &'a Block>) -> rusqlite::Result<()> {
    let mut insert = db.prepare("INSERT OR IGNORE INTO counts VALUES (mask(?1), ?2)")?;
    let mut counts: Vec<([u8; 16], u32)> =
        blocks.into_iter().map(|block| (block.hash.0.to_le_bytes(), block.counts.o200k)).collect();
    // Sorted like the table, so that each page is touched once.
    counts.sort_unstable();
    for (hash, o200k) in counts {
        insert.execute(params![hash, o200k])?;
    }
    Ok(())
}

/// The cache of one user; the default is one without a file.
#[derive(Default)]
pub struct Cache {
    database: Disposable,
    seal: Seal,
}

/// Cached data of a session file.
#[derive(Debug, Default)]
pub struct CachedFile {
    /// State of the file when it was read.
    pub identity: Identity,
    /// Hash of samples of the bytes that were read.
    pub probe: u128,
    /// The rows and blocks read so far, from the beginning of the file.
    pub segment: Segment,
}

impl Cache {
    /// Opens the cache in `directory`; a broken one is replaced. If that is impossible, it has no file.
    pub fn open(directory: &Path, seal: &Seal) -> Cache {
        Cache { database: Disposable::new(connect(directory, seal)), seal: seal.clone() }
    }

    fn with<T>(&self, run: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        self.database.with(run)
    }

    pub fn file(&self, path: &Path) -> Option<CachedFile> {
        let path = path.to_str()?;
        let (identity, probe, pieces) = self.with(|db| {
            let (identity, probe): (Vec<u8>, Vec<u8>) = db
                .prepare_cached("SELECT identity, open(probe) FROM files WHERE path = mask(?1)")?
                .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let pieces: Vec<i64> = db.rows("SELECT rowid FROM segments WHERE path = mask(?1) ORDER BY start", [path], first)?;
            Ok((identity, probe, pieces))
        })?;
        let mut segment = Segment::default();
        let read = |place: usize, content| pieces.get(place).map(|piece| self.with(|db| read_segment(db, *piece, content)));
        let mut content = read(0, Vec::new());
        let mut free = Vec::new();
        // The next segment is read while one is unpacked: two buffers are enough.
        for next in 1..=pieces.len() {
            let packed = self.seal.open(content.flatten()?, SEGMENT)?;
            let (unpacked, read) = rayon::join(|| packed::unpack(&packed, &mut segment), || read(next, free));
            unpacked?;
            (content, free) = (read, packed);
        }
        Some(CachedFile {
            identity: postcard::from_bytes(&identity).ok()?,
            probe: u128::from_le_bytes(probe.try_into().ok()?),
            segment,
        })
    }

    /// Stores segments of a session file: `fresh` are the new ones, `all` are all of the file, in order.
    pub fn remember(&self, path: &Path, identity: &Identity, probe: u128, all: &[Segment], fresh: usize) {
        let Some(name) = path.to_str() else { return };
        let end = all.last().map_or(0, |last| last.end);
        let kept = if fresh == all.len() { 0 } else { self.pieces(name) };
        let rewrite = kept == 0 || kept + fresh as u64 > CACHE_SEGMENTS + end / CACHE_SEGMENT_BYTES;
        let merged = (rewrite && fresh < all.len()).then(|| [Segment::merge(all.iter().cloned())]);
        let written = merged.as_ref().map_or(&all[all.len() - fresh..], |merged| merged);
        self.with(|db| {
            let transaction = db.transaction()?;
            if rewrite {
                transaction.execute("DELETE FROM segments WHERE path = mask(?1)", [name])?;
            }
            for segment in written {
                // One at a time: together they take a third of the size of the session.
                if let Some(content) = packed::pack(segment).map(|content| self.seal.seal(content, SEGMENT)) {
                    transaction.execute(
                        "INSERT OR REPLACE INTO segments VALUES (mask(?1), ?2, ?3)",
                        params![name, segment.start as i64, content],
                    )?;
                }
            }
            insert_counts(&transaction, all[all.len() - fresh..].iter().flat_map(|segment| &segment.blocks))?;
            let identity = postcard::to_stdvec(identity).unwrap_or_default();
            transaction.execute(
                "INSERT OR REPLACE INTO files VALUES (mask(?1), ?2, seal(?3), NULL)",
                params![name, identity, probe.to_le_bytes()],
            )?;
            transaction.commit()
        });
    }

    fn pieces(&self, name: &str) -> u64 {
        let count = "SELECT count(*) FROM segments WHERE path = mask(?1)";
        self.with(|db| db.query_row(count, [name], first::<i64>)).map_or(0, |count| count as u64)
    }

    /// Returns the cached hash of a session file that is still in this state.
    pub fn hash(&self, path: &Path, identity: &Identity) -> Option<Address> {
        let of = params![path.to_str()?, postcard::to_stdvec(identity).ok()?];
        self.with(|db| db.query_row("SELECT open(hash) FROM files WHERE path = mask(?1) AND identity = ?2", of, first))
    }

    /// Stores the hash of a session file in this state, if its rows are cached.
    pub fn remember_hash(&self, path: &Path, identity: &Identity, hash: &Address) {
        let (Some(path), Ok(identity)) = (path.to_str(), postcard::to_stdvec(identity)) else { return };
        let update = "UPDATE files SET hash = seal(?3) WHERE path = mask(?1) AND identity = ?2";
        self.with(|db| db.execute(update, params![path, identity, hash]));
    }

    /// True if any count is cached: otherwise no lookup can hit.
    pub fn has_counts(&self) -> bool {
        self.with(|db| db.row("SELECT 1 FROM counts LIMIT 1", [], first::<i64>)).flatten().is_some()
    }

    pub fn count(&self, hash: Key) -> Option<u32> {
        self.with(|db| db.row("SELECT o200k FROM counts WHERE hash = mask(?1)", [hash.0.to_le_bytes()], first)).flatten()
    }

    /// Returns the cached topics of a session file that is still in this state.
    pub fn topics(&self, path: &Path, identity: &Identity) -> Option<Vec<u8>> {
        let of = params![path.to_str()?, postcard::to_stdvec(identity).ok()?];
        let select = "SELECT open(topics) FROM topics WHERE path = seal(?1) AND identity = ?2";
        self.with(|db| db.row(select, of, first)).flatten()
    }

    pub fn remember_topics(&self, topics: &[(&Path, Identity, Vec<u8>)]) {
        if topics.is_empty() {
            return;
        }
        self.with(|db| {
            let transaction = db.transaction()?;
            for (path, identity, topics) in topics {
                let (Some(path), Ok(identity)) = (path.to_str(), postcard::to_stdvec(identity)) else { continue };
                let sql = "INSERT OR REPLACE INTO topics VALUES (seal(?1), ?2, seal(?3))";
                transaction.run(sql, params![path, identity, topics])?;
            }
            transaction.commit()
        });
    }

    pub fn retain_topics(&self, paths: &FxHashSet<&Path>) {
        self.with(|db| {
            let known: Vec<String> = db.rows("SELECT open(path) FROM topics", [], first)?;
            for path in known.iter().filter(|path| !paths.contains(Path::new(path))) {
                db.execute("DELETE FROM topics WHERE path = seal(?1)", [path])?;
            }
            Ok(())
        });
    }

    /// Returns a cached plan by the hash of its inputs.
    pub fn plan(&self, key: Key) -> Option<Vec<u8>> {
        let select = "SELECT open(plan) FROM plans WHERE key = mask(?1)";
        self.with(|db| db.row(select, [key.0.to_le_bytes()], first)).flatten()
    }

    /// Stores a plan in place of the oldest one.
    pub fn remember_plan(&self, key: Key, plan: &[u8]) {
        self.with(|db| {
            let transaction = db.unchecked_transaction()?;
            transaction.execute(
                "INSERT OR REPLACE INTO plans (key, plan) VALUES (mask(?1), seal(?2))",
                params![key.0.to_le_bytes(), plan],
            )?;
            transaction.execute("DELETE FROM plans WHERE id <= (SELECT max(id) FROM plans) - ?1", [CACHE_PLANS])?;
            transaction.commit()
        });
    }
}

/// Reads a packed segment into `content`. As a column value it would be copied twice.
fn read_segment(db: &Connection, rowid: i64, mut content: Vec<u8>) -> rusqlite::Result<Vec<u8>> {
    let blob = db.blob_open("main", "segments", "content", rowid, true)?;
    content.resize(blob.len(), 0);
    blob.read_at_exact(&mut content, 0)?;
    Ok(content)
}

fn connect(directory: &Path, seal: &Seal) -> rusqlite::Result<Connection> {
    let (db, version) = opened(directory, &FORM, seal)?;
    if ![0, FORMAT].contains(&version) {
        // A cache of an older version keeps its page size until it is written again; that is not worth an error.
        let _ = db.execute_batch("VACUUM;");
    }
    Ok(db)
}
