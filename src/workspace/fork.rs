//! Writes forks: new session files next to their sources.

use super::Workspace;
use super::file::SessionRows;
use crate::fsio::{Disk, write_whole};
use crate::model::{Block, BlockNumber};
use crate::planning::{self, Conversion, ConversionSource, Fork, PlanError};
use crate::provider::{NewSession, ProviderAdapter};
use std::io;
use std::path::{Path, PathBuf};

/// Returns the id of a new session: a UUID that depends on the session that is forked and on the time, in nanoseconds since 1970.
pub fn fork_id(source: &str, now: i128) -> String {
    planning::uuid(blake3::hash(&[source.as_bytes(), &now.to_le_bytes()].concat()).as_bytes())
}

impl Workspace<'_> {
    pub fn fork(&self, at: BlockNumber, id: &str, leaf: &str) -> Result<Fork, PlanError> {
        planning::fork(self.provider, &self.reading, &self.history, &SessionRows::new(self), at, id, leaf)
    }

    /// Returns the conversation in the window as a session of another client; `None` if no session of that client is written.
    pub fn convert(
        &self,
        to: &dyn ProviderAdapter,
        new: &NewSession<'_>,
        timestamp: &dyn Fn(i64) -> String,
    ) -> io::Result<Option<Conversion>> {
        let reading = &self.reading;
        let blocks: Vec<&Block> = reading.in_window().collect();
        let numbers: Vec<BlockNumber> = blocks.iter().map(|block| block.number).collect();
        let contents = self.contents(&numbers)?;
        let source = ConversionSource { reading, agent: self.provider.agent(), blocks: &blocks, contents: &contents, timestamp };
        Ok(planning::convert(to, new, &source))
    }

    /// Returns the path at which the client finds a fork of this session; `None` if it keeps no session where this one is.
    pub fn fork_path(&self, id: &str, time: &str) -> Option<PathBuf> {
        self.provider.fork_path(&self.path, id, time)
    }
}

/// Writes a new session with the mode of the session that it was made of. The file appears complete or not at all, and replaces no other.
/// Errors: the file exists, or the disk failed; then there is no file, unless only the last step failed.
pub fn write_fork(disk: &dyn Disk, source: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match disk.identify(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
    }
    write_whole(disk, path, io::Error::from, |temporary| {
        let mut file = disk.create(temporary, source)?;
        file.write_all(bytes)?;
        file.sync()?;
        Ok(file)
    })
}
