//! The members of a body, read once.

use crate::provider::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A body that is a JSON object.
pub struct RequestDocument<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> RequestDocument<'a> {
    /// Reads the members of a body; `None` if it is not a JSON object.
    pub fn new(bytes: &'a [u8]) -> Option<RequestDocument<'a>> {
        json::document_members(bytes).map(|members| RequestDocument { bytes, members })
    }

    /// Returns a member by its name; of equal names the last one, unless it is `null`.
    pub fn member(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
        found.filter(|value| value.get() != "null")
    }

    /// Returns the model; empty if the body names none.
    pub fn model(&self) -> String {
        json::text_of(self.member("model")).unwrap_or_default().into_owned()
    }
}
