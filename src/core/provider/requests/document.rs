//! The members of a body, found once.

use crate::provider::json::{self, Member};
use serde_json::value::RawValue;
use std::ops::Range;

/// A body that is a JSON object. Elements of the arrays in it are valid JSON only if they can be parsed.
pub struct RequestDocument<'a> {
    pub bytes: &'a [u8],
    members: Vec<Member<'a>>,
}

impl<'a> RequestDocument<'a> {
    /// Finds the members of a body; `None` if it is not a JSON object.
    pub fn new(bytes: &'a [u8]) -> Option<RequestDocument<'a>> {
        json::document_members(bytes).map(|members| RequestDocument { bytes, members })
    }

    /// Returns a member by its name; of equal names the last one, unless it is `null`.
    fn find(&self, name: &str) -> Option<&Member<'a>> {
        let found = self.members.iter().rev().find(|member| member.name == name);
        found.filter(|member| self.bytes[member.value.clone()] != *b"null")
    }

    pub fn member(&self, name: &str) -> Option<&'a RawValue> {
        self.find(name).and_then(|member| self.parsed(member.value.clone()))
    }

    /// Returns the bytes of the value of a member.
    pub(super) fn range(&self, name: &str) -> Option<Range<usize>> {
        self.find(name).map(|member| member.value.clone())
    }

    /// Returns the bytes of the elements of a member; empty if it is not an array.
    pub(super) fn elements(&self, name: &str) -> &[Range<usize>] {
        self.find(name).and_then(|member| member.elements.as_deref()).unwrap_or_default()
    }

    /// Returns the elements of a member, each parsed when it is taken.
    pub(super) fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a RawValue> {
        self.elements(name).iter().filter_map(|element| self.parsed(element.clone()))
    }

    /// Returns the bytes of the elements of some members; a value that is not an array is one element.
    pub(super) fn rows(&self, names: &[&str]) -> Vec<Range<usize>> {
        let of = |member: &Member<'a>| member.elements.clone().unwrap_or_else(|| vec![member.value.clone()]);
        names.iter().filter_map(|name| self.find(name)).flat_map(of).collect()
    }

    pub fn model(&self) -> String {
        json::text_of(self.member("model")).unwrap_or_default().into_owned()
    }

    fn parsed(&self, value: Range<usize>) -> Option<&'a RawValue> {
        serde_json::from_slice(&self.bytes[value]).ok()
    }
}
