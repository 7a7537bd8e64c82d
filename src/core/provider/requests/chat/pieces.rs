//! The pieces of a message, which are its blocks. Parsing and writing both number blocks by [`pieces`].

use crate::model::Media;
use crate::provider::json::{elements, fields, joined, member, text, text_of};
use crate::provider::media;
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    MessageFields {
        role = "role",
        content = "content",
        reasoning_content = "reasoning_content",
        reasoning = "reasoning",
        refusal = "refusal",
        calls = "tool_calls",
        function = "function_call",
        call = "tool_call_id",
    }
}

#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub sort: Sort,
    /// Its value: the string of a text, the part of any other content, or the whole call.
    pub value: &'a RawValue,
    /// Its element in a list; the same as `value` if it is in none.
    pub element: &'a RawValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Thinking that a server reports beside the answer.
    Thinking,
    Text,
    Image,
    Document,
    /// A tool call whose input is a JSON object encoded as a string.
    Call,
    /// A tool call whose input is plain text.
    TextCall,
    /// A call of the form before tools: one in a message, without an id.
    OldCall,
    /// The output of a tool: the string or the list of its texts.
    Output,
    Other,
}

pub(super) fn is_message(element: &RawValue) -> bool {
    member(element, "role").is_some()
}

pub(super) fn message(element: &RawValue) -> MessageFields<'_> {
    serde_json::from_str(element.get()).unwrap_or_default()
}

/// Returns the pieces of a message in order: thinking, contents, refusal, calls.
pub(super) fn pieces<'a>(message: &MessageFields<'a>) -> Vec<Piece<'a>> {
    let same = |sort, value| Piece { sort, value, element: value };
    let is_output = matches!(text_of(message.role).as_deref(), Some("tool" | "function"));
    let is_text = |value: &&RawValue| value.get().starts_with('"');
    let mut found = Vec::new();
    found.extend(message.reasoning_content.or(message.reasoning).filter(is_text).map(|value| same(Sort::Thinking, value)));
    let calls = message.calls.map(elements).unwrap_or_default();
    match message.content {
        Some(content) if is_output => found.push(same(Sort::Output, content)),
        // A message that only calls tools can have an empty text.
        Some(content) if content.get() == "\"\"" && !(calls.is_empty() && message.function.is_none()) => {}
        Some(content) if is_text(&content) => found.push(same(Sort::Text, content)),
        Some(content) => found.extend(elements(content).into_iter().map(part)),
        None => {}
    }
    found.extend(message.refusal.filter(is_text).map(|value| same(Sort::Text, value)));
    found.extend(calls.into_iter().map(call));
    found.extend(message.function.filter(|value| value.get().starts_with('{')).map(|value| same(Sort::OldCall, value)));
    found
}

fn part(element: &RawValue) -> Piece<'_> {
    let kind = text_of(member(element, "type")).unwrap_or_default();
    let text = |name| member(element, name).filter(|value| value.get().starts_with('"'));
    let (sort, value) = match &*kind {
        "text" | "input_text" | "output_text" => (Sort::Text, text("text")),
        "refusal" => (Sort::Text, text("refusal")),
        "image_url" => (Sort::Image, Some(element)),
        "input_audio" | "file" => (Sort::Document, Some(element)),
        _ => (Sort::Other, Some(element)),
    };
    match value {
        Some(value) => Piece { sort, value, element },
        None => Piece { sort: Sort::Other, value: element, element },
    }
}

fn call(element: &RawValue) -> Piece<'_> {
    let sort = match () {
        () if member(element, "function").is_some() => Sort::Call,
        () if member(element, "custom").is_some() => Sort::TextCall,
        () => Sort::Other,
    };
    Piece { sort, value: element, element }
}

#[derive(Clone, Copy)]
pub(super) struct CallFields<'a> {
    pub name: Option<&'a RawValue>,
    pub input: Option<&'a RawValue>,
}

impl<'a> Piece<'a> {
    pub(super) fn call(&self) -> CallFields<'a> {
        let (holder, input) = match self.sort {
            Sort::Call => (member(self.value, "function"), "arguments"),
            Sort::TextCall => (member(self.value, "custom"), "input"),
            _ => (Some(self.value), "arguments"),
        };
        let get = |name| holder.and_then(|holder| member(holder, name));
        CallFields { name: get("name"), input: get(input) }
    }
}

/// Returns the text of an output: a string, or its parts joined by line feeds; images and documents are added to `media`.
pub(super) fn output<'a>(value: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    if let Some(text) = text(value) {
        return text;
    }
    if !value.get().starts_with('[') {
        return Cow::Borrowed(if value.get() == "null" { "" } else { value.get() });
    }
    let parts = elements(value).into_iter().map(|element| match text_of(member(element, "type")).as_deref() {
        Some("image_url") => media::add_image(media, image_url(element)),
        Some("input_audio" | "file") => media::add_document(media, element),
        _ => text_of(member(element, "text")).unwrap_or_else(|| media::unknown(media, element)),
    });
    joined(parts.collect())
}

pub(super) fn image_url(element: &RawValue) -> Option<&RawValue> {
    let url = member(element, "image_url")?;
    member(url, "url").or(Some(url))
}
