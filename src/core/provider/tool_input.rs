//! The input of a tool call as texts, and what is read from it.

use super::{files, json};
use crate::model::{Keywords, Tool};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A parsed call: the tool, its input in readable form, and the part of the input that refers to earlier content.
pub struct Call {
    pub tool: Tool,
    pub files: Keywords,
    /// `None` if the input is a text.
    pub readable: Option<String>,
    pub refers: String,
}

const PATTERNS: &[&str] = &["exclude", "glob", "include", "pattern", "query", "regex"];

/// The members of an input, in order.
pub struct Input<'a> {
    pub whole: &'a str,
    texts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Input<'a> {
    /// Reads an input; `text` returns the readable form of a member.
    pub fn new(input: Option<&'a RawValue>, text: fn(&'a RawValue) -> Cow<'a, str>) -> Input<'a> {
        let members = input.map(json::members).unwrap_or_default().into_iter();
        Input { whole: input.map_or("", RawValue::get), texts: members.map(|(name, value)| (name, text(value))).collect() }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.iter().rev().find(|(known, _)| known == name).map(|(_, text)| text.as_ref())
    }

    /// Returns the first member with one of these names that is not empty.
    pub fn any(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name).filter(|text| !text.is_empty()))
    }

    /// Returns the first member that is not empty.
    pub fn first(&self) -> Option<&str> {
        self.texts.iter().map(|(_, text)| text.as_ref()).find(|text| !text.is_empty())
    }

    /// Returns the members that name files. A pattern names none.
    pub fn files(&self) -> Vec<String> {
        let members = self.texts.iter().filter(|(name, text)| !PATTERNS.contains(&&**name) && files::is_file(text));
        members.map(|(_, text)| text.to_string()).collect()
    }

    pub fn parameters(&self) -> u32 {
        self.texts.len() as u32
    }

    /// Returns the members with wanted names, each in a line.
    pub fn lines(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        self.texts.iter().filter(|(name, _)| is_wanted(name)).map(|(name, text)| format!("{name}: {text}\n")).collect()
    }
}
