//! What a model may do by itself.

use super::tools::Tool;
use crate::cli::CommandError;

/// Refuses what a model may not do by itself. What removes can be taken back and its originals are kept, so all of it may.
///
/// # Errors
///
/// The user has to approve it first.
pub fn allowed(_: &Tool) -> Result<(), CommandError> {
    Ok(())
}
