//! The edits of one file in the rows of a session file.

use super::{Found, TracePosition};
use crate::engine::blame::{BlamedFile, EditReader, FileEdit};
use crate::fsio::{Disk, read_whole};
use crate::planning::{KeptTurns, left_offsets};
use crate::provider::conventions;
use crate::text::names::file_name;
use std::io;

/// Returns the edits of a file by a session, in the order of their results, without those of turns that the user left.
pub fn file_edits(disk: &dyn Disk, found: &Found, file: &BlamedFile) -> io::Result<Vec<FileEdit>> {
    let bytes = read_whole(disk, &found.path)?;
    let is_named = |(name, _): &(String, i64)| {
        let name = file_name(name);
        // JSON may write other characters in several ways.
        let is_plain = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'/'));
        !is_plain || memchr::memmem::find(&bytes, name.as_bytes()).is_some()
    };
    if !file.names.iter().any(is_named) {
        return Ok(Vec::new());
    }
    let (edits, has_branches) = edits_outside(found, &bytes, file, &[]);
    if !has_branches || edits.is_empty() {
        return Ok(edits);
    }
    let left = left_offsets(found.provider, found.location.id.clone(), &bytes);
    Ok(if left.is_empty() { edits } else { edits_outside(found, &bytes, file, &left).0 })
}

/// Returns the edits in the rows that are not at the offsets `left`, and true if the user may have left a turn.
fn edits_outside(found: &Found, bytes: &[u8], file: &BlamedFile, left: &[u64]) -> (Vec<FileEdit>, bool) {
    let mut position = TracePosition::default();
    position.reads_subagents = found.location.subagent;
    let mut reader = EditReader::new(file, conventions());
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let mut events = Vec::new();
        position.line(found.provider, line.trim_ascii_end(), &KeptTurns::default(), &mut |event| events.push(event));
        if left.binary_search(&start).is_err() {
            let before = || found.provider.file_before_edit(line);
            events.into_iter().for_each(|event| reader.push(event, position.directory(), &before));
        }
        start += line.len() as u64;
    }
    (reader.finish(), position.has_branches)
}
