//! Values of the log: the replaced bytes, compressed, addressed by BLAKE3; and the paths of session files.

use super::database::{Statements, first};
use crate::fsio::unpacked_path;
use crate::model::Address;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};

/// Compression level of values: zstd's default; higher levels gain little.
const ZSTD_LEVEL: i32 = 3;
/// Limit of the unpacked length of an original, in bytes; rows of sessions are far shorter.
const LONGEST_ORIGINAL: usize = 1 << 30;

/// The path of a session file in the store: a text, or bytes if it is not UTF-8.
pub(super) struct StoredPath(pub PathBuf);

impl StoredPath {
    /// Returns the path of a file. It stays the same when the client compresses the file.
    pub fn of(path: &Path) -> StoredPath {
        StoredPath(unpacked_path(path).into_owned())
    }
}

impl ToSql for StoredPath {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0.to_str() {
            Some(text) => text.into(),
            None if cfg!(unix) => self.0.as_os_str().as_encoded_bytes().into(),
            // The bytes of other platforms cannot be read back.
            None => self.0.to_string_lossy().into_owned().into(),
        })
    }
}

impl FromSql for StoredPath {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<StoredPath> {
        match value {
            #[cfg(unix)]
            ValueRef::Blob(bytes) => {
                let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec());
                Ok(StoredPath(path.into()))
            }
            value => Ok(StoredPath(value.as_str()?.into())),
        }
    }
}

/// Returns bytes in lower-case hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stores a value under its address, once.
pub(super) fn keep(connection: &Connection, value: &[u8]) -> rusqlite::Result<Address> {
    let address = *blake3::hash(value).as_bytes();
    if connection.row("SELECT 1 FROM originals WHERE address = seal(?1)", [address], first::<i64>)?.is_none() {
        let values = params![address, value.len() as i64, compressed(value)?];
        connection.run("INSERT INTO originals VALUES (seal(?1), ?2, seal(?3, ?1))", values)?;
    }
    Ok(address)
}

pub(super) fn compressed(value: &[u8]) -> rusqlite::Result<Vec<u8>> {
    zstd::bulk::compress(value, ZSTD_LEVEL).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Returns the content of a compressed value, at most as long as the longest original.
pub(super) fn decompressed(packed: &[u8]) -> Option<Vec<u8>> {
    let stated = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let length = stated.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
    zstd::bulk::decompress(packed, length.min(LONGEST_ORIGINAL)).ok()
}
