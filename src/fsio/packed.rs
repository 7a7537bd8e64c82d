//! Reads a compressed file as the content that it holds.

use super::OpenFile;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;
use zstd::zstd_safe;

/// The extension of a compressed file: a session of a client that compresses them, or a kept copy.
const EXTENSION: &str = "zst";
/// The maximum size of a content, in bytes: a small file can claim any size.
const LONGEST: u64 = 4 << 30;

/// The level of compression, with matches at any distance. Source: measured on 100 real sessions of 152 MB, at this level 0.10 of their
/// size in 3 s of one core; at level 3 0.12 in 1 s, at level 12 no smaller in 6 s.
const LEVEL: i32 = 9;

/// Bytes of a content in a frame: a part of it is read without the frames before. Source: measured on the same sessions, frames of this
/// size add a tenth to the size of the copies.
const FRAME_BYTES: u64 = 1 << 20;

/// Compresses a content of `bytes` bytes into a file that [`is_packed`]. Each frame has a checksum, with which reading it to its end
/// fails if it is damaged.
/// Errors: reading or writing failed, or the content is shorter.
pub fn pack(content: &mut dyn Read, bytes: u64, to: &mut dyn Write) -> io::Result<()> {
    let mut left = bytes;
    loop {
        let length = left.min(FRAME_BYTES);
        let mut packer = Encoder::new(&mut *to, LEVEL)?;
        packer.set_pledged_src_size(Some(length))?;
        packer.include_contentsize(true)?;
        packer.include_checksum(true)?;
        packer.long_distance_matching(true)?;
        io::copy(&mut (&mut *content).take(length), &mut packer)?;
        packer.finish()?;
        left -= length;
        if left == 0 {
            return Ok(());
        }
    }
}

/// Returns true if a file is read as the content that it holds in compressed form.
pub fn is_packed(path: &Path) -> bool {
    // The bytes first: a listing asks of each path.
    path.as_os_str().as_encoded_bytes().ends_with(EXTENSION.as_bytes())
        && path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Returns the path that a file has before its client compresses it.
pub fn unpacked_path(path: &Path) -> Cow<'_, Path> {
    if is_packed(path) { Cow::Owned(path.with_extension("")) } else { Cow::Borrowed(path) }
}

/// Returns the path that a file has after its client has compressed it.
pub fn packed_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(EXTENSION);
    path.with_file_name(name)
}

/// A compressed file, open for reading. It is unpacked while it is read; a seek passes over the frames before its target.
pub(super) struct PackedFile {
    file: Box<dyn OpenFile>,
    content: Decoder<'static, BufReader<Box<dyn Read + Send>>>,
    position: u64,
}

impl PackedFile {
    pub fn new(file: File) -> io::Result<PackedFile> {
        let stored = Box::new(file.try_clone()?) as Box<dyn Read + Send>;
        Ok(PackedFile { file: Box::new(file), content: Decoder::new(stored)?, position: 0 })
    }

    fn stored(&mut self) -> io::Result<Vec<u8>> {
        // The clone that the content is read from shares the place in the file.
        self.file.rewind()?;
        let mut stored = Vec::new();
        self.file.read_to_end(&mut stored)?;
        // This used up the source of the content: the next seek starts it again.
        self.position = u64::MAX;
        Ok(stored)
    }

    /// Continues at a place in the content, or at its end if that is before it.
    fn move_to(&mut self, target: u64) -> io::Result<()> {
        if (self.position..self.position.saturating_add(FRAME_BYTES)).contains(&target) {
            let skipped = target - self.position;
            return io::copy(&mut self.take(skipped), &mut io::sink()).map(drop);
        }
        let mut stored = self.stored()?;
        let (mut at, mut start) = (0, 0);
        // The last frame is read, also up to its end: without one there is no content to end.
        let is_before =
            |at: usize, start: u64, (length, content): &(usize, u64)| at + length < stored.len() && start + content <= target;
        while let Some((length, content)) = frame(&stored[at..]).filter(|frame| is_before(at, start, frame)) {
            (at, start) = (at + length, start + content);
        }
        stored.drain(..at);
        self.content = Decoder::new(Box::new(Cursor::new(stored)) as Box<dyn Read + Send>)?;
        self.position = start;
        io::copy(&mut self.take(target - start), &mut io::sink()).map(drop)
    }

    /// Returns the length of the content: that of its frames, if they state it.
    fn length(&mut self) -> io::Result<u64> {
        let stored = self.stored()?;
        let (mut at, mut length) = (0, 0);
        while let Some((frame, content)) = frame(&stored[at..]) {
            (at, length) = (at + frame, length + content);
        }
        if at < stored.len() {
            let rest = Decoder::new(&stored[at..])?.take(LONGEST + 1);
            length += io::copy(&mut { rest }, &mut io::sink()).map_err(damaged)?;
        }
        if length > LONGEST {
            return Err(io::Error::new(ErrorKind::FileTooLarge, format!("its content is longer than {LONGEST} bytes")));
        }
        Ok(length)
    }
}

/// Returns the content of a compressed file with these bytes.
pub fn unpacked(stored: Vec<u8>) -> io::Result<Box<dyn OpenFile>> {
    let stored: Arc<[u8]> = stored.into();
    let content = Box::new(Cursor::new(stored.clone())) as Box<dyn Read + Send>;
    Ok(Box::new(PackedFile { file: Box::new(Cursor::new(stored)), content: Decoder::new(content)?, position: 0 }))
}

/// Returns the length of the first frame of some bytes, and that of its content; `None` if it is not complete, or does not state it.
fn frame(bytes: &[u8]) -> Option<(usize, u64)> {
    let content = zstd_safe::get_frame_content_size(bytes).ok()??;
    let length = zstd_safe::find_frame_compressed_size(bytes).ok()?;
    (content > 0).then_some((length, content))
}

impl Read for PackedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer).map_err(damaged)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for PackedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(target) => Some(target),
            SeekFrom::Current(difference) => self.position.checked_add_signed(difference),
            SeekFrom::End(difference) => self.length()?.checked_add_signed(difference),
        };
        self.move_to(target.ok_or(ErrorKind::InvalidInput)?)?;
        Ok(self.position)
    }
}

/// Names the cause of an error of the decoder.
fn damaged(error: io::Error) -> io::Error {
    // The decoder gives its own errors no kind.
    let kind = if error.kind() == ErrorKind::Other { ErrorKind::InvalidData } else { error.kind() };
    match kind {
        ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("its compressed content cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_from_any_place_ends_with_the_content() {
        let content = b"a line\n".repeat(400_000);
        let (length, mut stored) = (content.len() as u64, Vec::new());
        pack(&mut &content[..], length, &mut stored).unwrap();
        let mut file = unpacked(stored).unwrap();
        for from in [0, FRAME_BYTES - 1, FRAME_BYTES, length - 1, length, length + 9, 1] {
            file.seek(SeekFrom::Start(from)).unwrap();
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).unwrap();
            assert!(rest == content[from.min(length) as usize..], "{from}");
        }
    }
}
