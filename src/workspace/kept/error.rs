use std::io;
use std::path::PathBuf;

/// The reason why a session was not copied or not restored.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The session is not in a directory of its client.
    #[error("{} is not in a directory in which its client keeps sessions", .0.display())]
    Elsewhere(PathBuf),
    /// A file exists with another content.
    #[error("{} exists with another content", .0.display())]
    Exists(PathBuf),
    /// Other programs have the file open for writing.
    #[error("a process has {} open for writing", .0.display())]
    HeldOpen(PathBuf),
    /// The session has fewer older copies.
    #[error("the number of older copies is {0}")]
    NoSuchCopy(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}
