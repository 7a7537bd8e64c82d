use crate::store::StoreError;
use std::io;
use std::path::PathBuf;

/// The reason why a memory tree is not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("there is no memory '{0}'")]
    Unknown(String),
    #[error("the user deleted a memory with this text")]
    Forgotten,
    #[error("{path} cannot be changed: {reason}")]
    Unwritable { path: PathBuf, reason: String },
    #[error("another program changed {0} meanwhile")]
    Changed(PathBuf),
    #[error("another aperture process is changing the memories in {0}")]
    Locked(PathBuf),
    #[error("there is no operation {0} on these memories")]
    NoOperation(u32),
    #[error("there are no operations on these memories")]
    NoOperations,
    #[error("there is no operation to undo")]
    NothingToUndo,
    #[error("operation {operation} was already undone, by operation {by}")]
    AlreadyUndone { operation: u32, by: u32 },
    #[error("operation {later} changed {what} after operation {operation}")]
    ChangedLater { operation: u32, later: u32, what: String },
    #[error("{what} was edited by hand after operation {operation}")]
    EditedByHand { operation: u32, what: String },
    #[error("cannot {action} {path}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MemoryError {
    pub fn of(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> MemoryError {
        let path = path.into();
        move |source| MemoryError::Io { action, path, source }
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
