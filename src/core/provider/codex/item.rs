//! Items of the conversation, and their pieces, which are the blocks. Parsing and writing both number blocks by [`pieces`].

use crate::provider::json::{elements, equals, fields, member, text_of};
use serde_json::value::RawValue;
use std::borrow::Cow;

fields! {
    ItemFields {
        kind = "type",
        role = "role",
        content = "content",
        summary = "summary",
        encrypted = "encrypted_content",
        name = "name",
        call = "call_id",
        arguments = "arguments",
        input = "input",
        action = "action",
        output = "output",
        tools = "tools",
    }
}

impl ItemFields<'_> {
    /// Returns the type of an item. Only that of a message can be left out in a request.
    pub(super) fn kind(&self) -> Cow<'_, str> {
        text_of(self.kind).unwrap_or(if self.role.is_some() { "message".into() } else { "".into() })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub sort: Sort,
    pub item: ItemFields<'a>,
    /// The element of a message, else the whole item.
    pub element: &'a RawValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    Image,
    Document,
    /// Thinking, with its text omitted or summarized.
    Thinking,
    /// A tool call whose input is a JSON object encoded as a string.
    Call,
    /// A tool call whose input is plain text.
    TextCall,
    /// A call of a built-in tool of the client or the API, whose input is not a string.
    OwnCall,
    /// An image that the model drew with a tool of the API: the whole item, whose id the API needs.
    Drawing,
    Output,
    Tools,
    Other,
}

/// The maximum size of a call without an input that is shown by its type alone, in bytes.
const BARE_CALL: usize = 500;

pub(super) fn is_of_model(item: &ItemFields<'_>) -> bool {
    match &*item.kind() {
        "message" => equals(item.role, "assistant"),
        kind => kind == "reasoning" || kind.ends_with("_call"),
    }
}

/// Returns the pieces of an item in order; empty if it is not an item or is never sent.
pub(super) fn pieces(element: &RawValue) -> Vec<Piece<'_>> {
    let Ok(item) = serde_json::from_str::<ItemFields<'_>>(element.get()) else { return Vec::new() };
    let one = |sort| vec![Piece { sort, item, element }];
    match &*item.kind() {
        "message" => message(item, element),
        "reasoning" => one(Sort::Thinking),
        "function_call" => one(Sort::Call),
        "custom_tool_call" => one(Sort::TextCall),
        "function_call_output" | "custom_tool_call_output" => one(Sort::Output),
        "tool_search_output" => one(Sort::Tools),
        // A snapshot of the files, which only the client uses.
        "ghost_snapshot" | "" => Vec::new(),
        "image_generation_call" => one(Sort::Drawing),
        kind if kind.ends_with("_call") => {
            let has_input = item.action.or(item.arguments).or(item.call).is_some();
            one(if has_input || element.get().len() < BARE_CALL { Sort::OwnCall } else { Sort::Other })
        }
        _ => one(Sort::Other),
    }
}

fn message<'a>(item: ItemFields<'a>, whole: &'a RawValue) -> Vec<Piece<'a>> {
    let Some(content) = item.content else { return Vec::new() };
    if content.get().starts_with('"') {
        return vec![Piece { sort: Sort::Text, item, element: whole }];
    }
    let sort = |element: &RawValue| match text_of(member(element, "type")).as_deref() {
        Some("input_text" | "output_text" | "text") if text_of(member(element, "text")).is_some() => Sort::Text,
        Some("input_image") => Sort::Image,
        Some("input_file" | "input_audio") => Sort::Document,
        _ => Sort::Other,
    };
    elements(content).into_iter().map(|element| Piece { sort: sort(element), item, element }).collect()
}

impl<'a> Piece<'a> {
    /// Returns the text value of a piece of a message: that of its element, or the whole content if it is a string.
    pub(super) fn text(&self) -> Option<&'a RawValue> {
        match self.item.content {
            Some(content) if content.get().starts_with('"') => Some(content),
            _ => member(self.element, "text"),
        }
    }
}
