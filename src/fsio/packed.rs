//! Reads a compressed file as the content that it holds.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zstd::stream::read::Decoder;

/// The extension of a session file that its client has compressed.
const EXTENSION: &str = "zst";
/// The maximum size of a content, in bytes: a small file can claim any size.
const LONGEST: u64 = 4 << 30;

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
