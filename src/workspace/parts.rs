//! Sessions whose files do not hold their rows as lines: [`PartsDisk`] reads their parts, and the rows that the provider makes of them
//! ([`SessionParts`]). A session in a database has a name below it in the place of a file.

use crate::fsio::{Disk, Entry, Identity, NewFile, OpenFile, is_packed, packed_path, read_whole, unpacked_path};
use crate::provider::{IN_DATABASE, PROVIDERS, ProviderAdapter, Queries, SessionParts};
use crate::store::open_unchanged;
use rusqlite::Connection;
use std::borrow::Cow;
use std::io::{self, Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use twox_hash::XxHash3_64;

const PATIENCE: Duration = Duration::from_secs(2);

/// A disk on which the sessions of all clients are files of lines. Those that are put together are only read.
pub struct PartsDisk<D>(pub D);

/// Returns the place of the parts of a session, with its provider; `None` if it is an ordinary file.
pub(super) fn parts(path: &Path) -> Option<(&'static dyn ProviderAdapter, SessionParts)> {
    PROVIDERS.iter().find_map(|provider| Some((*provider, provider.parts(path)?)))
}

/// Returns the files from which rows of a session are put together, besides its own: other sessions of the project have them too.
pub(super) fn shared_parts(path: &Path) -> Vec<PathBuf> {
    match parts(&unpacked_path(path)) {
        Some((_, SessionParts::Files(paths))) => paths.iter().skip(1).map(|part| beside(path, part)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the path of a part of a session, which is a copy beside the copy of a session.
fn beside(session: &Path, part: &Path) -> PathBuf {
    if is_packed(session) { packed_path(part) } else { part.to_owned() }
}

/// Returns true if the rows of a session, or of its kept copy, are not those that the client wrote.
pub(super) fn is_put_together(path: &Path) -> bool {
    parts(&unpacked_path(path)).is_some()
}

/// Returns true if a session, or its kept copy, has no file of its own.
pub(super) fn is_in_database(path: &Path) -> bool {
    matches!(parts(&unpacked_path(path)), Some((_, SessionParts::Database { .. })))
}

fn database(path: &Path) -> Option<&'static Queries> {
    PROVIDERS.iter().find_map(|provider| provider.database(path))
}

impl<D: Disk> PartsDisk<D> {
    /// Returns the rows of a session, or of its kept copy; `None` if the file has them.
    fn rows(&self, path: &Path) -> Option<io::Result<Vec<u8>>> {
        let (provider, parts) = parts(&unpacked_path(path))?;
        let read = || match &parts {
            SessionParts::Files(paths) => {
                let read = |(place, part): (usize, &PathBuf)| match read_whole(&self.0, &beside(path, part)) {
                    Err(error) if place > 0 && error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
                    read => read,
                };
                paths.iter().enumerate().map(read).collect::<io::Result<Vec<Vec<u8>>>>()
            }
            SessionParts::Database { .. } if is_packed(path) => {
                Ok(read_whole(&self.0, path)?.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
            }
            SessionParts::Database { path, id, queries } => self.texts(path, id, queries),
        };
        Some(read().map(|parts| provider.assemble(&parts)))
    }

    /// Returns the texts of a session in a database.
    fn texts(&self, path: &Path, id: &str, queries: &Queries) -> io::Result<Vec<Vec<u8>>> {
        let connection = self.connect(path)?;
        let select = || {
            let mut found = connection.prepare(queries.parts)?;
            let texts = found.query_map([id], |row| Ok(row.get_ref(0)?.as_bytes_or_null()?.unwrap_or_default().to_vec()))?;
            texts.collect::<rusqlite::Result<Vec<Vec<u8>>>>()
        };
        select().map_err(unreadable)
    }

    /// Opens what the client wrote of a session in a database, a text a line; `None` for any other file.
    fn open_texts(&self, path: &Path) -> Option<io::Result<Box<dyn OpenFile>>> {
        let Some((_, SessionParts::Database { path, id, queries })) = parts(path) else { return None };
        let lines = self.texts(&path, &id, queries).map(|mut texts| {
            // JSON has line feeds only between its tokens.
            texts.iter_mut().flatten().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
            let mut lines = texts.join(&b'\n');
            lines.push(b'\n');
            lines
        });
        Some(lines.map(|lines| Box::new(Cursor::new(lines)) as Box<dyn OpenFile>))
    }

    fn connect(&self, path: &Path) -> io::Result<Connection> {
        // A missing file has an error of its own, and a directory is not opened.
        self.0.open_stored(path)?;
        let connection = open_unchanged(path).map_err(unreadable)?;
        connection.busy_timeout(PATIENCE).map_err(unreadable)?;
        Ok(connection)
    }

    fn sessions(&self, path: &Path, queries: &Queries, id: Option<&str>) -> io::Result<Vec<Entry>> {
        let connection = self.connect(path)?;
        let select = || {
            let mut found = connection.prepare(queries.sessions)?;
            let entries = found.query_map([id], |row| {
                let (place, bytes, time): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let place = path.join(format!("{place}.{IN_DATABASE}"));
                let identity = Identity { bytes: bytes as u64, modified: i128::from(time) * 1_000_000, ..Identity::default() };
                Ok(Entry { identity: Some(varied(&place.to_string_lossy(), identity)), path: place, directory: false })
            })?;
            entries.collect::<rusqlite::Result<Vec<Entry>>>()
        };
        select().map_err(unreadable)
    }
}

fn unreadable(error: rusqlite::Error) -> io::Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy) => io::Error::new(ErrorKind::ResourceBusy, error),
        _ => io::Error::new(ErrorKind::InvalidData, error),
    }
}

/// Returns the state of a session with a file number that differs after every change: any row can have changed, not only the last ones.
fn varied(name: &str, identity: Identity) -> Identity {
    let state = format!("{name} {identity:?}");
    Identity { inode: (u64::MAX, XxHash3_64::oneshot(state.as_bytes())), ..identity }
}

impl<D: Disk> Disk for PartsDisk<D> {
    fn below(&self) -> &dyn Disk {
        &self.0
    }

    fn written_below<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        let refused = "the session is not a file of rows, and is only read";
        if parts(path).is_some() { Err(io::Error::new(ErrorKind::ReadOnlyFilesystem, refused)) } else { Ok(path.into()) }
    }

    fn identify(&self, path: &Path) -> io::Result<Identity> {
        match parts(path) {
            None => self.0.identify(path),
            Some((_, SessionParts::Files(paths))) => {
                let others: Vec<Option<Identity>> = paths[1..].iter().map(|path| self.0.identify(path).ok()).collect();
                Ok(varied(&format!("{paths:?} {others:?}"), self.0.identify(path)?))
            }
            Some((_, SessionParts::Database { path: database, id, queries })) => {
                let found = self.sessions(&database, queries, Some(&id))?.into_iter().find_map(|entry| entry.identity);
                found.ok_or_else(|| ErrorKind::NotFound.into())
            }
        }
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn OpenFile>> {
        let Some(rows) = self.rows(path) else { return self.0.open(path, offset) };
        let mut rows = Cursor::new(rows?);
        rows.set_position(offset);
        Ok(Box::new(rows))
    }

    fn open_written(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        self.open_texts(path).unwrap_or_else(|| self.0.open_written(path))
    }

    fn open_stored(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        self.open_texts(path).unwrap_or_else(|| self.0.open_stored(path))
    }

    fn create(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        let database = match parts(like) {
            Some((_, SessionParts::Database { path, .. })) => Some(path),
            _ => None,
        };
        self.0.create(&self.written_below(path)?, database.as_deref().unwrap_or(like))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = match (self.0.list(path), database(path)) {
            // Kept copies are in a directory with the name of the database.
            (Err(error), Some(queries)) if error.kind() == ErrorKind::NotADirectory => return self.sessions(path, queries, None),
            (entries, _) => entries?,
        };
        for Entry { path, identity, .. } in entries.iter_mut().filter(|entry| parts(&entry.path).is_some()) {
            *identity = identity.and_then(|_| self.identify(path).ok());
        }
        Ok(entries)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let Some((_, SessionParts::Database { path: database, .. })) = parts(path) else { return self.0.resolve(path) };
        let below = path.strip_prefix(&database).unwrap_or(path);
        Ok(self.0.resolve(&database)?.join(below))
    }

    fn names(&self, path: &Path) -> io::Result<u64> {
        if parts(path).is_some() { Ok(1) } else { self.0.names(path) }
    }

    fn writers(&self, path: &Path, identity: &Identity) -> Vec<u32> {
        if parts(path).is_some() { Vec::new() } else { self.0.writers(path, identity) }
    }
}
