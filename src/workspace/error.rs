use crate::planning::SpliceError;
use crate::store::StoreError;
use std::io;

/// The reason why a plan was not applied, or may not be completely applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The file changed since the plan was made.
    #[error("the session was rewritten by another program since it was read")]
    Changed,
    /// The client continued the conversation.
    #[error("the conversation continued since it was read")]
    MovedOn,
    /// Other programs have the file open for writing.
    #[error("process {} has it open for writing", list(.0))]
    HeldOpen(Vec<u32>),
    /// The client has compressed the file.
    #[error("the client has compressed the file, which is only read in this form")]
    Packed,
    /// The change was made, but it may not be durable on the disk, or may lack rows that were written meanwhile.
    #[error("the change was made, but its last step failed")]
    Unsure(#[source] io::Error),
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
    /// The disk failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<SpliceError> for ApplyError {
    fn from(error: SpliceError) -> ApplyError {
        match error {
            SpliceError::Mismatch => ApplyError::Changed,
            SpliceError::Io(error) => ApplyError::Io(error),
        }
    }
}

fn list(processes: &[u32]) -> String {
    processes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
