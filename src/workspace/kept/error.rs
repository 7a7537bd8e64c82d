use std::io;
use std::path::PathBuf;

/// The reason why a session was not copied or not restored.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("{} is not in a directory in which its client keeps sessions", .0.display())]
    Elsewhere(PathBuf),
    #[error("{} exists with another content", .0.display())]
    Exists(PathBuf),
    #[error("a process has {} open for writing", .0.display())]
    HeldOpen(PathBuf),
    #[error("the number of older copies is {0}")]
    NoSuchCopy(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}
