//! Parses the selectors of a request.

use super::{CommandError, Env};
use crate::engine::Selector;

impl Env {
    /// Parses selectors into their union. The error for an unknown name has a suggestion from the session.
    /// Errors: a selector is invalid.
    pub fn selector(&self, texts: &[String]) -> Result<Selector, CommandError> {
        Selector::parse_all(texts).map_err(|error| match self.open(None) {
            Ok(workspace) => error.in_session(&workspace.reading).into(),
            Err(_) => error.into(),
        })
    }
}
