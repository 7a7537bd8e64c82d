//! Items of the conversation, and the pieces of them that are blocks. Reading and writing number blocks by this alone.

use crate::provider::json::{elements, fields, member, text_of};
use serde_json::value::RawValue;

fields! {
    /// The keys of an item that matter.
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

/// One block of an item.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    /// What it is.
    pub sort: Sort,
    /// The item that it stands in.
    pub item: ItemFields<'a>,
    /// The element of a message, else the whole item.
    pub element: &'a RawValue,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A text of a message.
    Text,
    /// An image of a message.
    Image,
    /// Thinking, with its text withheld or summarized.
    Thinking,
    /// A call of a tool with a JSON object, as a text.
    Call,
    /// A call of a tool with a text.
    TextCall,
    /// A call of a tool of the client or the API, whose input is no text.
    OwnCall,
    /// What a tool gave back.
    Output,
    /// What a search for tools gave back.
    Tools,
    /// Anything else.
    Other,
}

/// Whether an item was written by the model.
pub(super) fn is_of_model(item: &ItemFields<'_>) -> bool {
    match text_of(item.kind).as_deref() {
        Some("message") => text_of(item.role).is_some_and(|role| role == "assistant"),
        Some(kind) => kind == "reasoning" || kind.ends_with("_call"),
        None => false,
    }
}

/// The pieces of an item in order; none of what is no item, or is never sent.
pub(super) fn pieces(element: &RawValue) -> Vec<Piece<'_>> {
    let Ok(item) = serde_json::from_str::<ItemFields<'_>>(element.get()) else { return Vec::new() };
    let kind = text_of(item.kind).unwrap_or_default();
    let one = |sort| vec![Piece { sort, item, element }];
    match &*kind {
        "message" => message(item, element),
        "reasoning" => one(Sort::Thinking),
        "function_call" => one(Sort::Call),
        "custom_tool_call" => one(Sort::TextCall),
        "function_call_output" | "custom_tool_call_output" => one(Sort::Output),
        "tool_search_output" => one(Sort::Tools),
        // A record of the files at that time, for the client alone.
        "ghost_snapshot" | "" => Vec::new(),
        kind if kind.ends_with("_call") => one(Sort::OwnCall),
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
        _ => Sort::Other,
    };
    elements(content).into_iter().map(|element| Piece { sort: sort(element), item, element }).collect()
}

impl<'a> Piece<'a> {
    /// The value of a text of a message: that of an element, or all of a content that is one text.
    pub(super) fn text(&self) -> Option<&'a RawValue> {
        match self.item.content {
            Some(content) if content.get().starts_with('"') => Some(content),
            _ => member(self.element, "text"),
        }
    }
}
