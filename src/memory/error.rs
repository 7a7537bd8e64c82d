use crate::store::StoreError;
use std::io;
use std::path::PathBuf;

/// The reason why a memory tree is not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is no memory with this number.
    #[error("there is no memory '{0}'")]
    Unknown(String),
    /// The user deleted an entry with this text.
    #[error("the user deleted a memory with this text")]
    Forgotten,
    /// A file has a merge conflict, or is not a memory file.
    #[error("{path} cannot be changed: {reason}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        reason: String,
    },
    /// A file changed between reading and writing.
    #[error("another program changed {0} meanwhile")]
    Changed(PathBuf),
    /// Another process changes the tree.
    #[error("another aperture process is changing the memories in {0}")]
    Locked(PathBuf),
    /// There is no such operation on the tree.
    #[error("there is no operation {0} on these memories")]
    NoOperation(u32),
    /// Nothing was changed yet.
    #[error("there are no operations on these memories")]
    NoOperations,
    #[error("there is no operation to undo")]
    NothingToUndo,
    /// It was undone before.
    #[error("operation {operation} was already undone, by operation {by}")]
    AlreadyUndone {
        operation: u32,
        /// The undo.
        by: u32,
    },
    /// A later operation changed the same entry.
    #[error("operation {later} changed {what} after operation {operation}")]
    ChangedLater {
        operation: u32,
        later: u32,
        /// The entry or the file.
        what: String,
    },
    /// A person changed the same entry.
    #[error("{what} was edited by hand after operation {operation}")]
    EditedByHand {
        operation: u32,
        /// The entry or the file.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The log cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MemoryError {
    pub(super) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> MemoryError {
        let path = path.into();
        move |source| MemoryError::Io { action: "read", path, source }
    }

    pub(super) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> MemoryError {
        let path = path.into();
        move |source| MemoryError::Io { action: "write", path, source }
    }

    /// Returns true if a retry may succeed.
    pub fn is_conflict(&self) -> bool {
        match self {
            MemoryError::Changed(_) | MemoryError::Locked(_) | MemoryError::ChangedLater { .. } => true,
            MemoryError::EditedByHand { .. } => true,
            MemoryError::Store(error) => error.is_busy(),
            _ => false,
        }
    }
}
