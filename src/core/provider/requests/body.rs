//! The body of a request as it passes: the contents and the thinking of its elements, and where texts are added to it.

use super::recompose::without;
use super::{RequestApi, RequestDocument, element};
use crate::model::{BlockKind, Counts, Key, RowKind, Slot};
use crate::provider::{ByteEdit, json};
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

/// The tags around a reminder in the session files of Claude Code.
pub const REMINDER: (&str, &str) = ("<system-reminder>\n", "\n</system-reminder>");

/// The body of a request.
pub struct RequestBody<'a> {
    pub(super) api: RequestApi,
    pub(super) bytes: Cow<'a, [u8]>,
    /// The elements of its prompt, in the order of the document.
    pub elements: Vec<RequestElement>,
    pub(super) conversation: Range<usize>,
}

/// An element of the prompt: a message, an item, a text of the instructions or the definition of a tool.
#[derive(Clone, Debug)]
pub struct RequestElement {
    pub(super) range: Range<usize>,
    content: Arc<ElementContent>,
}

impl Deref for RequestElement {
    type Target = ElementContent;

    fn deref(&self) -> &ElementContent {
        &self.content
    }
}

/// A slot of an element, and the bytes of its value in the element.
type Place = (Slot, Range<usize>);

/// The content of an element, which depends on its bytes alone.
#[derive(Clone, Debug)]
pub struct ElementContent {
    pub kind: RowKind,
    is_json: bool,
    pub is_prompt: bool,
    /// The kind and the hash of each content, in order.
    pub contents: Vec<(BlockKind, Key)>,
    /// The form of each content in the file of the client, if that form differs; empty if none does.
    recorded: Vec<Option<Recorded>>,
    /// The place of each content, found when the content is first replaced; `None` if it cannot be changed.
    places: Vec<OnceLock<Option<Place>>>,
    /// The content blocks of a message, by their bytes in the element, each with its hash if it is thinking.
    parts: Vec<(Range<usize>, Option<Key>)>,
}

/// The contents of elements that were parsed before: most elements of a request are those of the request before it.
#[derive(Debug, Default)]
pub struct KnownElements(FxHashMap<Key, Arc<ElementContent>>);

/// Maximum number of known elements; then all are forgotten.
pub(super) const KNOWN: usize = 50_000;

impl KnownElements {
    fn content(&mut self, api: RequestApi, row: &[u8]) -> Arc<ElementContent> {
        if self.0.len() > KNOWN {
            self.0.clear();
        }
        let hash = Key::from_bytes(row);
        self.0.entry(Key(hash.0 ^ api as u128)).or_insert_with(|| Arc::new(ElementContent::parse(api, row))).clone()
    }
}

impl ElementContent {
    pub(super) fn parse(api: RequestApi, row: &[u8]) -> ElementContent {
        let parsed = api.format().parse(row);
        let contents = parsed.blocks.iter().map(|block| (block.block.kind, Key::from_bytes(block.content.as_bytes())));
        ElementContent {
            kind: parsed.row.kind,
            is_json: parsed.row.kind != RowKind::Broken || serde_json::from_slice::<&RawValue>(row).is_ok(),
            is_prompt: parsed.row.prompt,
            contents: contents.collect(),
            places: vec![OnceLock::new(); parsed.blocks.len()],
            recorded: match (api, parsed.row.kind) {
                (RequestApi::Messages, RowKind::Attachment) => {
                    parsed.blocks.iter().map(|block| reminder(&block.content)).collect()
                }
                (RequestApi::Messages, RowKind::User) => {
                    parsed.blocks.iter().map(|block| form_without_reminders(&block.content)).collect()
                }
                _ => Vec::new(),
            },
            parts: if parsed.row.kind == RowKind::Assistant { parts(api, row) } else { Vec::new() },
        }
    }

    /// Returns the hashes of a content in the forms in which the client can have recorded it, the likeliest first, if those differ.
    pub fn recorded(&self, content: usize) -> Arc<[Key]> {
        self.recorded.get(content).and_then(Option::as_ref).map(|recorded| recorded.contents.clone()).unwrap_or_default()
    }

    pub fn thinking(&self) -> impl Iterator<Item = Key> {
        self.thinking_after(None)
    }

    /// Returns the hashes of its thinking after one of its contents; `None` returns all.
    pub fn thinking_after(&self, content: Option<usize>) -> impl Iterator<Item = Key> {
        let first = content.map_or(0, |content| content + 1);
        self.parts.iter().skip(first).filter_map(|(_, thinking)| *thinking)
    }
}

impl<'a> RequestBody<'a> {
    /// Parses a body; `None` if an element is not valid JSON.
    pub fn parse(api: RequestApi, document: &RequestDocument<'a>, known: &mut KnownElements) -> Option<RequestBody<'a>> {
        let names = api.members();
        let mut rows = document.rows(names);
        rows.sort_unstable_by_key(|row| row.start);
        let element = |range: Range<usize>| {
            let content = known.content(api, &document.bytes[range.clone()]);
            RequestElement { range, content }
        };
        let elements: Vec<RequestElement> = rows.into_iter().map(element).collect();
        if elements.iter().any(|element| !element.is_json) {
            return None;
        }
        let list = names.last().and_then(|name| document.range(name)).filter(|list| document.bytes[list.start] == b'[');
        let list = list.unwrap_or_default();
        let place = |end: usize| elements.partition_point(|element| element.range.start < end);
        let conversation = place(list.start)..place(list.end);
        Some(RequestBody { api, bytes: Cow::Borrowed(document.bytes), elements, conversation })
    }

    /// Parses a body that has its bytes; `None` as [`RequestBody::parse`], or if it is not a JSON object.
    pub fn parse_owned(api: RequestApi, bytes: Vec<u8>, known: &mut KnownElements) -> Option<RequestBody<'a>> {
        let RequestBody { elements, conversation, .. } = RequestBody::parse(api, &RequestDocument::new(&bytes)?, known)?;
        Some(RequestBody { api, bytes: Cow::Owned(bytes), elements, conversation })
    }

    /// Returns the place of each content: its element, and its number there.
    pub fn contents(&self) -> impl Iterator<Item = (usize, usize)> {
        let elements = self.elements.iter().enumerate();
        elements.flat_map(|(place, element)| (0..element.contents.len()).map(move |content| (place, content)))
    }

    /// Returns the place of an element in [`PromptElements`](super::PromptElements), which has the conversation at its end.
    pub fn prompt_place(&self, element: usize) -> usize {
        match element {
            before if before < self.conversation.start => before,
            after if after >= self.conversation.end => after - self.conversation.len(),
            inside => self.elements.len() - self.conversation.len() + inside - self.conversation.start,
        }
    }

    /// Returns the edit that replaces a content of an element by a text; `None` if it cannot be changed. `is_recorded` is true if the text
    /// is in the form in which the client records it.
    pub fn replace(&self, element: usize, content: usize, text: &str, is_recorded: bool) -> Option<ByteEdit> {
        let RequestElement { range, content: parsed } = self.elements.get(element)?;
        let row = &self.bytes[range.clone()];
        let find = || {
            let slot = self.api.format().slot(row, content as u32)?;
            Some((slot, self.api.format().locate_slot(row, slot)?))
        };
        let (slot, value) = parsed.places.get(content)?.get_or_init(find).clone()?;
        let sent = match parsed.recorded.get(content).and_then(Option::as_ref).filter(|_| is_recorded) {
            Some(Recorded { joined: Some(length), .. }) => {
                let before = self.api.format().decode(&row[value.clone()]);
                let end = before.get(*length..)?;
                let text = if end.starts_with(REMINDER_START) { text.trim() } else { text };
                Cow::Owned([text, end].concat())
            }
            Some(Recorded { joined: None, .. }) => Cow::Borrowed(reminder_text(text)),
            None => Cow::Borrowed(text),
        };
        let encoded = self.api.format().encode(slot, parsed.contents.get(content)?.0, &sent)?;
        Some((range.start + value.start..range.start + value.end, encoded))
    }

    /// Returns the size of the words with which the client reminds the model of what it did not do in many answers.
    pub fn turn_reminder(&self) -> Option<Counts> {
        self.api.format().turn_reminder()
    }

    /// Returns the words of the user in an element, or its texts if it has none.
    pub fn prompt(&self, element: usize) -> String {
        let Some(RequestElement { range, .. }) = self.elements.get(element) else { return String::new() };
        let parsed = self.api.format().parse(&self.bytes[range.clone()]);
        let blocks = || parsed.blocks.iter().filter(|parsed| parsed.block.kind == BlockKind::Text);
        let words: Vec<&str> = blocks().flat_map(|parsed| parsed.block.words_in(&parsed.content)).collect();
        if words.is_empty() { blocks().map(|parsed| &*parsed.content).collect::<Vec<_>>().join(" ") } else { words.join(" ") }
    }

    /// Returns the edits that remove thinking from an element. An element that consists of it keeps it: a message is not empty.
    pub fn without_thinking(&self, element: usize, is_dropped: &dyn Fn(Key) -> bool) -> Vec<ByteEdit> {
        let Some(RequestElement { range, content }) = self.elements.get(element) else { return Vec::new() };
        let place = |(part, _): &(Range<usize>, _)| range.start + part.start..range.start + part.end;
        let goes = |place: usize| content.parts[place].1.is_some_and(is_dropped);
        without(&content.parts.iter().map(place).collect::<Vec<_>>(), &goes).unwrap_or_default()
    }

    /// Returns the edits that add a text after an element: to the message itself, or as an element after it.
    pub fn insert_after(&self, element: usize, text: &str) -> Option<Vec<ByteEdit>> {
        let range = self.elements.get(element)?.range.clone();
        let quoted = serde_json::to_string(text).ok()?;
        let at = |place: usize| place..place;
        Some(match self.api {
            RequestApi::Messages => {
                let block = format!(r#"{{"type":"text","text":{quoted}}}"#);
                return self.with_blocks(element, self.part_ranges(element).last(), &block, true);
            }
            RequestApi::Chat => vec![(at(range.end), format!(r#",{{"role":"system","content":{quoted}}}"#).into_bytes())],
            RequestApi::Responses => {
                let content = format!(r#"[{{"type":"input_text","text":{quoted}}}]"#);
                vec![(at(range.end), format!(r#",{{"type":"message","role":"developer","content":{content}}}"#).into_bytes())]
            }
        })
    }

    pub fn contains_after(&self, element: usize, text: &str) -> bool {
        let (Some(first), Ok(quoted)) = (self.elements.get(element), serde_json::to_string(text)) else { return false };
        let escaped = &quoted[1..quoted.len() - 1];
        memchr::memmem::find(&self.bytes[first.range.start..], escaped.as_bytes()).is_some()
    }
}

/// The text with which Claude Code joins a reminder to a content. It trims the content before it.
const REMINDER_START: &str = "\n\n";
/// The maximum number of spaces that a trimmed content is searched with.
const LONGEST_INDENT: usize = 40;

/// The form of a content in the file of the client.
#[derive(Clone, Debug)]
struct Recorded {
    /// Its hashes in the forms that are possible.
    contents: Arc<[Key]>,
    /// The length of the content in bytes, if the client joined a text to it; otherwise it removed the tags of a reminder.
    joined: Option<usize>,
}

/// Returns the recorded form of a message of the system: Claude Code removes the tags when it sends the text.
fn reminder(text: &str) -> Option<Recorded> {
    let content = || Key::from_bytes([REMINDER.0, text, REMINDER.1].concat().as_bytes());
    (!text.starts_with(REMINDER.0)).then(|| Recorded { contents: [content()].into(), joined: None })
}

/// Returns the recorded form of a content to whose end Claude Code joined reminders when it sent it, or a line feed because it joined
/// the message with the next one of the user.
fn form_without_reminders(text: &str) -> Option<Recorded> {
    let reminder = text.ends_with(REMINDER.1).then(|| text.find(&[REMINDER_START, REMINDER.0].concat())).flatten();
    let length = reminder.or_else(|| text.strip_suffix('\n').map(str::len))?;
    let before = &text[..length];
    let contents = match reminder {
        Some(_) => untrimmed(before).map(|text| Key::from_bytes(text.as_bytes())).collect(),
        None => [Key::from_bytes(before.as_bytes())].into(),
    };
    Some(Recorded { contents, joined: Some(length) })
}

/// Returns the texts that a trimmed one can have been: itself first, then with the white space that results of tools usually begin and end
/// with, such as indented line numbers.
fn untrimmed(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let starts = (0..=LONGEST_INDENT).map(|spaces| " ".repeat(spaces)).chain(["\t", "\n", "\n\n"].map(str::to_owned));
    let whole = move |start: String| ["", "\n"].map(|end| Cow::Owned([&start, text, end].concat()));
    starts.flat_map(whole)
}

fn reminder_text(text: &str) -> &str {
    let inner = text.strip_prefix(REMINDER.0).unwrap_or(text);
    inner.strip_suffix(REMINDER.1).unwrap_or(inner)
}

/// Returns the content blocks of a message, with the hashes of those that are thinking.
pub(super) fn parts(api: RequestApi, row: &[u8]) -> Vec<(Range<usize>, Option<Key>)> {
    let Some(message) = element(row).ok().filter(|_| api == RequestApi::Messages) else { return Vec::new() };
    let content = json::member(message, "content").map(json::elements).unwrap_or_default();
    let part = |part: &RawValue| {
        let range = json::range_in(row, part);
        let kind = json::text_of(json::member(part, "type"));
        let thinks = kind.is_some_and(|kind| matches!(&*kind, "thinking" | "redacted_thinking"));
        (range, thinks.then(|| Key::from_bytes(part.get().as_bytes())))
    };
    content.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::EditedBytes;

    const MESSAGES: &str = r#"{"system":"s","messages":[ {"role":"user","content":"ask"} ,{"role":"assistant","content":[
{"type":"thinking","thinking":"","signature":"a"}, {"type":"text","text":"one"},{"type":"thinking","thinking":"","signature":"b"}]}],"x":1e400}"#;

    fn text(body: &RequestBody<'_>, edits: Vec<ByteEdit>) -> String {
        let bytes = EditedBytes::new(body.bytes.len()).with(edits).bytes(&body.bytes);
        let text = String::from_utf8(bytes).unwrap();
        serde_json::from_str::<&RawValue>(&text).unwrap();
        text
    }

    fn parsed(api: RequestApi, bytes: &str) -> RequestBody<'_> {
        RequestBody::parse(api, &RequestDocument::new(bytes.as_bytes()).unwrap(), &mut KnownElements::default()).unwrap()
    }

    #[test]
    fn thinking_is_removed_with_its_comma_unless_it_is_alone() {
        let body = parsed(RequestApi::Messages, MESSAGES);
        let thinking: Vec<Key> = body.elements[2].thinking().collect();
        let without = |dropped: &[Key]| {
            let edits = body.without_thinking(2, &|key| dropped.contains(&key));
            text(&body, edits).split_once("assistant").unwrap().1.to_owned()
        };
        let all = without(&thinking);
        assert_eq!(all, "\",\"content\":[\n{\"type\":\"text\",\"text\":\"one\"}]}],\"x\":1e400}");
        assert!(without(&thinking[..1]).contains(
            r#"[
{"type":"text","text":"one"},{"type":"thinking","thinking":"","signature":"b"}]"#
        ));
        assert!(without(&thinking[1..]).ends_with("{\"type\":\"text\",\"text\":\"one\"}]}],\"x\":1e400}"));
        assert!(body.without_thinking(2, &|_| false).is_empty());
        let bytes = r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"a"}]}]}"#;
        assert!(parsed(RequestApi::Messages, bytes).without_thinking(0, &|_| true).is_empty());
    }

    #[test]
    fn a_text_is_added_to_a_message_or_after_an_item() {
        let with = |api, bytes: &str, element| {
            let body = parsed(api, bytes);
            text(&body, body.insert_after(element, "a \"b\"\n").unwrap())
        };
        let added = with(RequestApi::Messages, MESSAGES, 1);
        assert!(
            added.contains(r#"{"role":"user","content":[{"type":"text","text":"ask"},{"type":"text","text":"a \"b\"\n"}]} ,"#)
        );
        let list = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"ask"} ]}]}"#;
        let expected =
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"ask"},{"type":"text","text":"a \"b\"\n"} ]}]}"#;
        assert_eq!(with(RequestApi::Messages, list, 0), expected);
        let items = r#"{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}]}]}"#;
        let item = r#"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"a \"b\"\n"}]}]}"#;
        assert!(with(RequestApi::Responses, items, 0).ends_with(item));
        assert!(parsed(RequestApi::Messages, r#"{"messages":[{"role":"user"}]}"#).insert_after(0, "a").is_none());
    }

    #[test]
    fn contents_are_known_in_their_recorded_form() {
        let bytes =
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"long\n"},{"type":"text","text":"go on"}]}]}"#;
        let body = parsed(RequestApi::Messages, bytes);
        assert_eq!((&*body.elements[0].recorded(0), &*body.elements[0].recorded(1)), (&[Key::from_bytes(b"long")][..], &[][..]));
        let changed = text(&body, vec![body.replace(0, 0, "short", true).unwrap()]);
        assert_eq!(changed, bytes.replacen("long", "short", 1));
        let bytes =
            r#"{"messages":[{"role":"system","content":[{"type":"text","text":"rules"}]},{"role":"user","content":"rules"}]}"#;
        let body = parsed(RequestApi::Messages, bytes);
        let recorded = Key::from_bytes(b"<system-reminder>\nrules\n</system-reminder>");
        assert_eq!((&*body.elements[0].recorded(0), &*body.elements[1].recorded(0)), (&[recorded][..], &[][..]));
        let changed = text(&body, vec![body.replace(0, 0, "<system-reminder>\nshort\n</system-reminder>", true).unwrap()]);
        assert_eq!(changed, bytes.replacen("rules", "short", 1));
        let note = "\n\n<system-reminder>\nnote\n</system-reminder>";
        let content = serde_json::to_string(&format!("long result{note}")).unwrap();
        let bytes = format!(
            r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":{content}}}]}}]}}"#
        );
        let body = parsed(RequestApi::Messages, &bytes);
        let recorded = body.elements[0].recorded(0);
        assert_eq!(recorded[0], Key::from_bytes(b"long result"));
        // The client trims a content before it joins a text to it.
        for original in ["     long result", "\nlong result", "  long result\n"] {
            assert!(recorded.contains(&Key::from_bytes(original.as_bytes())), "{original:?}");
        }
        let changed = text(&body, vec![body.replace(0, 0, " short\n", true).unwrap()]);
        assert_eq!(changed, bytes.replace("long result", "short"));
    }

    #[test]
    fn a_content_is_replaced_and_nothing_else() {
        let body = parsed(RequestApi::Messages, MESSAGES);
        let place = body.elements[2].contents.iter().position(|(_, key)| *key == Key::from_bytes(b"one")).unwrap();
        let changed = text(&body, vec![body.replace(2, place, "\"2\"", false).unwrap()]);
        assert_eq!(changed, MESSAGES.replace(r#""one""#, r#""\"2\"""#));
        assert!(body.replace(2, 0, "x", false).is_none(), "thinking is never changed");
        assert!(body.replace(9, 0, "x", false).is_none());
    }
}
