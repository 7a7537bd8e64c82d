use crate::fsio::Identity;
use crate::model::limits::{CACHE_SEGMENT_BYTES, CACHE_SEGMENTS};
use crate::model::{Key, Segment};
use crate::provider::Totals;
use rayon::prelude::*;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Goes up when anything that is cached changes its meaning; a cache of another format is emptied.
const FORMAT: i32 = 6;

/// The name of the cache in its directory.
pub const CACHE_FILE: &str = "cache.db";

const TABLES: &str = "
    CREATE TABLE files (path TEXT PRIMARY KEY, identity BLOB NOT NULL, probe BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE segments (path TEXT NOT NULL, start INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (path, start));
    CREATE TABLE counts (hash BLOB PRIMARY KEY, o200k INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE totals (path TEXT PRIMARY KEY, identity BLOB NOT NULL, totals BLOB NOT NULL) WITHOUT ROWID;
";

/// The cache of one user; `None` inside when there is none to use.
pub struct Cache {
    connection: Option<Mutex<Connection>>,
    broken: bool,
}

/// What the cache knows of a session file.
#[derive(Debug, Default)]
pub struct CachedFile {
    /// The state of the file when it was read.
    pub identity: Identity,
    /// The hash of samples of what was read then.
    pub probe: u128,
    /// The stretches that were read, in file order, without gaps.
    pub segments: Vec<Segment>,
}

impl Cache {
    /// A cache that knows nothing and keeps nothing.
    pub fn none() -> Cache {
        Cache { connection: None, broken: false }
    }

    /// Opens the cache in `directory`, which must exist; without one it is as if there were none.
    pub fn open(directory: &Path) -> Cache {
        let file: PathBuf = directory.join(CACHE_FILE);
        match connect(&file) {
            Ok(connection) => Cache { connection: Some(Mutex::new(connection)), broken: false },
            Err(error) => {
                let code = error.sqlite_error_code();
                let broken = matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt));
                Cache { connection: None, broken }
            }
        }
    }

    /// Whether there is a file that is no cache, so that nothing can be remembered until it is gone.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    fn with<T>(&self, run: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut connection = self.connection.as_ref()?.lock().ok()?;
        run(&mut connection).ok()
    }

    /// What is known of a session file.
    pub fn file(&self, path: &Path) -> Option<CachedFile> {
        let path = path.to_str()?;
        let (identity, probe, contents) = self.with(|db| {
            let (identity, probe): (Vec<u8>, Vec<u8>) = db
                .prepare_cached("SELECT identity, probe FROM files WHERE path = ?1")?
                .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let contents: Vec<Vec<u8>> = db
                .prepare_cached("SELECT content FROM segments WHERE path = ?1 ORDER BY start")?
                .query_map([path], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok((identity, probe, contents))
        })?;
        let segments: Vec<Segment> =
            contents.par_iter().map(|content| postcard::from_bytes(content).ok()).collect::<Option<_>>()?;
        let joined =
            segments.first().is_none_or(|first| first.start == 0) && segments.windows(2).all(|pair| pair[0].end == pair[1].start);
        joined.then_some(CachedFile {
            identity: postcard::from_bytes(&identity).ok()?,
            probe: u128::from_le_bytes(probe.try_into().ok()?),
            segments,
        })
    }

    /// Remembers stretches of a session file: `fresh` are new, `all` is everything of the file, in order.
    pub fn remember(&self, path: &Path, identity: &Identity, probe: u128, all: &[Segment], fresh: usize) {
        let Some(name) = path.to_str() else { return };
        let small = all.iter().filter(|segment| segment.end - segment.start < CACHE_SEGMENT_BYTES).count() > CACHE_SEGMENTS;
        let merged = small.then(|| Segment::regroup(all.iter().cloned(), CACHE_SEGMENT_BYTES));
        let rewrite = small || fresh == all.len();
        let written = merged.as_deref().unwrap_or(&all[all.len() - fresh..]);
        let contents: Vec<Option<Vec<u8>>> = written.par_iter().map(|segment| postcard::to_stdvec(segment).ok()).collect();
        self.with(|db| {
            let transaction = db.transaction()?;
            if rewrite {
                transaction.execute("DELETE FROM segments WHERE path = ?1", [name])?;
            }
            for (segment, content) in written.iter().zip(&contents) {
                if let Some(content) = content {
                    transaction.execute(
                        "INSERT OR REPLACE INTO segments VALUES (?1, ?2, ?3)",
                        params![name, segment.start as i64, content],
                    )?;
                }
            }
            {
                let mut insert = transaction.prepare("INSERT OR IGNORE INTO counts VALUES (?1, ?2)")?;
                for block in all[all.len() - fresh..].iter().flat_map(|segment| &segment.blocks) {
                    insert.execute(params![block.hash.0.to_le_bytes(), block.counts.o200k])?;
                }
            }
            let identity = postcard::to_stdvec(identity).unwrap_or_default();
            transaction
                .execute("INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3)", params![name, identity, probe.to_le_bytes()])?;
            transaction.commit()
        });
    }

    /// Whether any content was ever counted: if not, asking for each is in vain.
    pub fn has_counts(&self) -> bool {
        self.with(|db| db.query_row("SELECT 1 FROM counts LIMIT 1", [], |_| Ok(())).optional()).flatten().is_some()
    }

    /// The o200k count of a content that was counted before.
    pub fn count(&self, hash: Key) -> Option<u32> {
        self.with(|db| {
            db.prepare_cached("SELECT o200k FROM counts WHERE hash = ?1")?.query_row([hash.0.to_le_bytes()], |row| row.get(0))
        })
    }

    /// The totals of all session files that were read before, with the state in which they were read.
    pub fn totals(&self) -> FxHashMap<String, (Identity, Totals)> {
        let rows: Vec<(String, Vec<u8>, Vec<u8>)> = self
            .with(|db| {
                db.prepare("SELECT path, identity, totals FROM totals")?
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect()
            })
            .unwrap_or_default();
        rows.into_iter()
            .filter_map(|(path, identity, totals)| {
                Some((path, (postcard::from_bytes(&identity).ok()?, postcard::from_bytes(&totals).ok()?)))
            })
            .collect()
    }

    /// Remembers the totals of session files.
    pub fn remember_totals(&self, files: &[(&Path, Identity, &Totals)]) {
        self.with(|db| {
            let transaction = db.transaction()?;
            {
                let mut insert = transaction.prepare("INSERT OR REPLACE INTO totals VALUES (?1, ?2, ?3)")?;
                for (path, identity, totals) in files {
                    let (Some(path), Ok(identity), Ok(totals)) =
                        (path.to_str(), postcard::to_stdvec(identity), postcard::to_stdvec(totals))
                    else {
                        continue;
                    };
                    insert.execute(params![path, identity, totals])?;
                }
            }
            transaction.commit()
        });
    }
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let mut db = Connection::open(file)?;
    db.busy_timeout(std::time::Duration::from_millis(100))?;
    // The cache may be lost at any time; what must not happen is to wait for a disk.
    db.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")?;
    let format: i32 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format != FORMAT {
        let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for table in ["files", "segments", "counts", "totals"] {
            transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
        }
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        transaction.commit()?;
    }
    Ok(db)
}
