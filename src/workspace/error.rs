use crate::planning::SpliceError;
use crate::store::StoreError;
use std::io;

/// The reason why a plan was not applied, or may not be completely applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("the session was rewritten by another program since it was read")]
    Changed,
    #[error("the conversation continued since it was read")]
    MovedOn,
    #[error("process {} has it open for writing", list(.0))]
    HeldOpen(Vec<u32>),
    #[error("the client has compressed the file, which is only read in this form")]
    Packed,
    #[error("the change was made, but its last step failed")]
    Unsure(#[source] io::Error),
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
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
