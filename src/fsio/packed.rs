//! Reads a compressed file as the content that it holds.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;

/// The extension of a compressed file: a session of a client that compresses them, or a kept copy.
const EXTENSION: &str = "zst";
/// The maximum size of a content, in bytes: a small file can claim any size.
const LONGEST: u64 = 4 << 30;

/// The level of compression, with matches at any distance. Source: measured on 100 real sessions of 152 MB, at this level 0.10 of their
/// size in 3 s of one core; at level 3 0.12 in 1 s, at level 12 no smaller in 6 s.
const LEVEL: i32 = 9;

/// Compresses a content of `bytes` bytes into a file that [`is_packed`]. The file has a checksum, with which reading it to its end fails
/// if it is damaged.
///
/// # Errors
///
/// Reading or writing failed, or the content is shorter.
pub fn pack(content: &mut dyn Read, bytes: u64, to: &mut dyn Write) -> io::Result<()> {
    let mut packer = Encoder::new(to, LEVEL)?;
    packer.set_pledged_src_size(Some(bytes))?;
    packer.include_contentsize(true)?;
    packer.include_checksum(true)?;
    packer.long_distance_matching(true)?;
    io::copy(&mut content.take(bytes), &mut packer)?;
    packer.finish().map(drop)
}

/// Returns true if a file is read as the content that it holds in compressed form.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
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

/// A compressed file, open for reading. It is unpacked while it is read from its start, and as a whole before the first seek.
pub(super) struct PackedFile {
    file: File,
    content: Content,
}

enum Content {
    Stream(Decoder<'static, BufReader<File>>, u64),
    Whole(Cursor<Vec<u8>>),
}

impl PackedFile {
    pub fn new(file: File) -> io::Result<PackedFile> {
        let stream = Decoder::new(file.try_clone()?)?;
        Ok(PackedFile { file, content: Content::Stream(stream, 0) })
    }

    /// Unpacks the whole file.
    fn whole(&mut self) -> io::Result<&mut Cursor<Vec<u8>>> {
        if let Content::Stream(_, position) = self.content {
            // The clone that the stream reads shares the place in the file.
            self.file.rewind()?;
            let mut bytes = Vec::new();
            let read = Decoder::new(&self.file)?.take(LONGEST + 1).read_to_end(&mut bytes).map_err(damaged)?;
            if read as u64 > LONGEST {
                return Err(io::Error::new(ErrorKind::FileTooLarge, format!("its content is longer than {LONGEST} bytes")));
            }
            let mut cursor = Cursor::new(bytes);
            cursor.set_position(position);
            self.content = Content::Whole(cursor);
        }
        match &mut self.content {
            Content::Whole(cursor) => Ok(cursor),
            Content::Stream(..) => Err(ErrorKind::Other.into()),
        }
    }
}

impl Read for PackedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Stream(stream, position) => {
                let read = stream.read(buffer).map_err(damaged)?;
                *position += read as u64;
                Ok(read)
            }
            Content::Whole(cursor) => cursor.read(buffer),
        }
    }
}

impl Seek for PackedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.whole()?.seek(to)
    }
}

/// Names the cause of an error of the decoder.
fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("its compressed content cannot be read: {error}")),
    }
}
