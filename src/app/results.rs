//! The whole results of tools that hooks trimmed, each in a file that the model can read.

use super::{CommandError, Env, files};
use crate::fsio::{Identity, read_whole};
use crate::model::id_starts_with;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = "results";
/// Characters of the id of a session that name the folder of its results: the path is in what the model reads.
const SESSION: usize = 8;
/// Longest id of a call that is in the name of a file, in characters.
const LONGEST_ID: usize = 80;

/// A whole result.
pub struct ResultFile {
    pub path: PathBuf,
    pub identity: Identity,
    /// The beginning of the id of its session; empty if an earlier version wrote the file.
    session: String,
}

impl ResultFile {
    /// Returns true if the result can be of a session with this id.
    pub fn is_of(&self, id: &str) -> bool {
        !self.session.is_empty() && id_starts_with(id, &self.session)
    }
}

impl Env {
    /// Returns the path of a text of a tool result, by the id of its session, the id of its call, and the number of the text in it.
    pub fn result_path(&self, session: &str, call: &str, text: usize) -> Result<PathBuf, CommandError> {
        let mut name = plain(call);
        if name != call || name.len() > LONGEST_ID {
            name.truncate(LONGEST_ID);
            name = format!("{name}-{}", &blake3::hash(call.as_bytes()).to_hex()[..8]);
        }
        let mut folder = plain(session);
        folder.truncate(SESSION);
        Ok(self.store_directory()?.join(FOLDER).join(folder).join(format!("{name}-{text}.txt")))
    }

    /// Returns all whole results.
    /// Errors: a directory cannot be read.
    pub fn results(&self) -> Result<Vec<ResultFile>, CommandError> {
        let (mut found, mut folders) = (Vec::new(), vec![(self.store_directory()?.join(FOLDER), String::new())]);
        while let Some((folder, session)) = folders.pop() {
            let listed = match self.disk.list(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                listed => listed.map_err(|error| CommandError::of_disk(error, format!("cannot read {}", folder.display())))?,
            };
            for entry in listed {
                match entry.identity {
                    Some(identity) => found.push(ResultFile { path: entry.path, identity, session: session.clone() }),
                    None if entry.directory && session.is_empty() => {
                        let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        folders.push((entry.path, name));
                    }
                    None => {}
                }
            }
        }
        Ok(found)
    }

    /// Replaces the whole results for which a function returns another content. Returns their number.
    /// Errors: one cannot be read or written.
    pub fn rewrite_results(&self, rewrite: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Result<usize, CommandError> {
        let mut count = 0;
        for ResultFile { path, .. } in self.results()? {
            let rewritten = read_whole(self.disk, &path).and_then(|content| {
                let Some(content) = rewrite(&content) else { return Ok(0) };
                files::write_private(self.disk, &path, &content).map(|()| 1)
            });
            let failed = |error| CommandError::of_disk(error, format!("cannot rewrite {}", path.display()));
            count += rewritten.map_err(failed)?;
        }
        Ok(count)
    }

    /// Deletes whole results, and the folders that are then empty.
    /// Errors: one cannot be deleted.
    pub fn delete_results(&self, results: &[ResultFile]) -> Result<(), CommandError> {
        let folder = self.store_directory()?.join(FOLDER);
        let is_own = |directory: &Path| directory.starts_with(&folder);
        for ResultFile { path, .. } in results {
            files::remove(self.disk, path, &is_own)
                .map_err(|error| CommandError::of_disk(error, format!("cannot delete {}", path.display())))?;
        }
        Ok(())
    }
}

/// Returns a name of a client without what separates parts of a path.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect()
}
