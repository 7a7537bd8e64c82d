//! The user's words: finds the typed parts of a content in which the client wraps them in text of its own.

use crate::model::{Block, BlockKind, Key};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Maximum length of a typed text that counts completely, in bytes. A longer one is mostly pasted: only its head and tail count.
pub const TYPED_BYTES: usize = 8_000;
/// Maximum length of the head and of the tail of a longer text, in bytes; both are cut at a line end.
const END_BYTES: usize = 2_000;

/// A byte range of a content.
pub type Span = (u32, u32);

/// Tools that ask the user, of clients that do not record beside a result who wrote it.
const ASKING: &[&str] = &["AskUserQuestion", "ExitPlanMode", "question", "request_user_input"];

/// The calls of all other tools, by hashes of their ids: the user did not answer what their results repeat.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OtherCalls(FxHashSet<u64>);

impl OtherCalls {
    /// Takes the next block; drops the answers of the user in the result of a tool that did not ask.
    pub fn check(&mut self, block: &mut Block) {
        let Some(call) = block.call.map(Key::folded) else { return };
        // A rejection is quoted from its start, or an error.
        let has_answers = || !block.error && block.words.first().is_some_and(|words| words.0 > 0);
        match block.kind {
            BlockKind::ToolUse if !block.tool.as_deref().is_some_and(|tool| ASKING.contains(&&*tool.name)) => {
                self.0.insert(call);
            }
            BlockKind::ToolResult if self.0.contains(&call) && has_answers() => block.words = Default::default(),
            _ => {}
        }
    }
}

/// Returns the parts of the typed text at `start..end` of a content that count.
pub fn typed(content: &str, start: usize, end: usize) -> Vec<Span> {
    let Some(text) = content.get(start..end) else { return Vec::new() };
    let start = start + (text.len() - text.trim_start().len());
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.len() <= TYPED_BYTES {
        return span(start, start + text.len()).into_iter().collect();
    }
    let head = text.floor_char_boundary(END_BYTES);
    let head = text[..head].rfind('\n').filter(|at| *at > 0).unwrap_or(head);
    let tail = text.floor_char_boundary(text.len() - END_BYTES);
    let tail = text[tail..].find('\n').filter(|at| tail + at + 1 < text.len()).map_or(tail, |at| tail + at + 1);
    let parts = [span(start, start + head), span(start + tail, start + text.len())];
    parts.into_iter().flatten().collect()
}

/// Words in the keys of a tag that names the sender of a message.
const SENDERS: &[&str] = &["agent", "channel", "from", "peer", "sender", "session", "source", "teammate"];
/// Last words of the names of tags around a message of another program.
const MESSAGES: &[&str] = &["event", "message", "messages", "notice", "notification"];

/// Returns the user's words in a text in the user's name of which nothing more is known: none if a program wrapped it.
pub fn prompt(content: &str) -> Vec<Span> {
    if is_wrapped(content) { Vec::new() } else { own(content, 0, content.len()) }
}

/// Returns the parts of the text at `start..end` of a content as [`typed`] does, without a message of another sender in it.
pub fn own(content: &str, start: usize, end: usize) -> Vec<Span> {
    let Some((at, tag)) = content.get(start..end).and_then(message) else { return typed(content, start, end) };
    let after = end - tag.after_element().unwrap_or_default().len();
    [typed(content, start, start + at), typed(content, after, end)].concat()
}

/// The heading of the text that a user gave to a template, as spec-kit writes it.
pub const INPUT_HEADING: &str = "## User Input";

/// Returns true if a text was not typed: it consists of tags, or it is a tag that names a sender, with sentences around it.
pub fn is_wrapped(text: &str) -> bool {
    let text = text.trim();
    // The client writes the tags around an image as texts of their own.
    if text.len() > 2 && text.starts_with('<') && text.find('>') == Some(text.len() - 1) {
        return true;
    }
    let mut rest = text;
    while let Some(after) = Tag::at(rest).and_then(|tag| tag.after_element()) {
        rest = after.trim_start();
        if rest.is_empty() {
            return true;
        }
    }
    message(text).is_some_and(|(at, _)| !text[..at].contains('?'))
}

/// Returns the tag of a message of another sender in a text, with its place: the first tag at the start of a line if it says so, or one
/// before it if both its name and a key say so.
fn message(text: &str) -> Option<(usize, Tag<'_>)> {
    const MOST_TAGS: usize = 64;
    for (at, _) in text.match_indices('<').take(MOST_TAGS) {
        let is_first = matches!(text[..at].trim_end_matches([' ', '\t']).chars().next_back(), None | Some('\n'));
        let tag = Tag::at(&text[at..]).filter(|tag| {
            let says = [tag.is_of_message(), tag.has_sender()];
            if is_first { says.contains(&true) } else { !says.contains(&false) }
        });
        if is_first || tag.is_some() {
            return tag.map(|tag| (at, tag));
        }
    }
    None
}

/// A tag at the beginning of a text that opens an element.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
    after: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads the tag that a text begins with; `None` if it does not begin with one.
    fn at(text: &'a str) -> Option<Tag<'a>> {
        let inside = text.strip_prefix('<').filter(|inside| inside.starts_with(|first: char| first.is_alphabetic()))?;
        let (name, rest) = inside.split_at(inside.find(|character| !is_of_name(character))?);
        let mut quoted = false;
        let end = rest.find(|character| {
            quoted ^= character == '"';
            character == '>' && !quoted
        })?;
        Some(Tag { name, attributes: &rest[..end], after: &rest[end + 1..] })
    }

    /// Returns the text after the element that the tag opens; `None` if the element has no end.
    fn after_element(&self) -> Option<&'a str> {
        let mut after = self.after;
        let mut depth = usize::from(!self.attributes.ends_with('/'));
        while depth > 0 {
            let tag = &after[after.find('<')? + 1..];
            let (closes, begin) = tag.strip_prefix('/').map_or((false, tag), |begin| (true, begin));
            after = begin;
            let Some(end) = begin.strip_prefix(self.name).filter(|end| !end.starts_with(is_of_name)) else { continue };
            depth = if closes { depth - 1 } else { depth + 1 };
            after = end.split_once('>')?.1;
        }
        Some(after)
    }

    /// Returns true if its name says that it is around a message of another program.
    fn is_of_message(&self) -> bool {
        let words = || words_of(self.name);
        words().count() > 1 && words().next_back().is_some_and(|last| MESSAGES.contains(&last))
    }

    /// Returns true if a key of it names a sender.
    fn has_sender(&self) -> bool {
        let keys = self.attributes.split_whitespace().filter_map(|attribute| attribute.split_once('=')).map(|(key, _)| key);
        keys.flat_map(words_of).any(|word| SENDERS.contains(&word))
    }
}

fn words_of(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(['-', '_', ':', '.'])
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '.')
}

/// Returns a range; `None` if it is empty or an offset exceeds `u32`.
pub fn span(start: usize, end: usize) -> Option<Span> {
    Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?)).filter(|(start, end)| start < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(content: &str) -> Vec<&str> {
        typed(content, 0, content.len()).iter().map(|(start, end)| &content[*start as usize..*end as usize]).collect()
    }

    #[test]
    fn a_typed_text_counts_without_the_blanks_around_it() {
        assert_eq!(words("\n fix it \n"), ["fix it"]);
        assert_eq!(words(" \n"), Vec::<&str>::new());
        assert_eq!(typed("say: é!", 5, 8), [(5, 8)]);
        assert_eq!(typed("é", 1, 2), [], "no range of it");
    }

    #[test]
    fn a_text_in_tags_was_not_typed() {
        for (text, expected) in [
            ("<note kind=\"a>b\">Use tabs.</note>", true),
            (" <a>one</a>\n<b c=\"d\"/>\n<a>two <a>three</a></a> ", true),
            ("A peer wrote:\n<peer-note from=\"b\">\nUse tabs.\n</peer-note>\n\nIt has no rights of yours.", true),
            ("News of the build:\n<build-event>\nIt failed.\n</build-event>", true),
            ("Use tabs.", false),
            ("<log>it failed</log> Why?", false),
            ("<a>one</a> and <a>two</a> are equal", false),
            ("Fix this:\n<my-button color=\"red\">x</my-button>", false),
            ("Why do I see this?\n<peer-note from=\"b\">x</peer-note>", false),
            ("A session wrote: <peer-message from=\"b\">\nUse tabs.\n</peer-message>\n\nIt has no rights of yours.", true),
            ("A session wrote:\n  <peer-note from=\"b\">\nUse tabs.\n  </peer-note>", true),
            ("Fix this: <my-button from=\"red\">x</my-button>", false),
            ("Style the <chat-message> too", false),
            ("<T> is a type", false),
            ("<a>not closed", false),
            ("<peer-message from=\"b\">\nUse tabs.", true),
            ("News:\n<build-event>\nIt fai", true),
            ("a < b and c > d", false),
            ("<é>ä</é>", true),
            ("<image name=[Image #1]>", true),
            ("</image>", true),
        ] {
            assert_eq!(is_wrapped(text), expected, "{text}");
            assert_eq!(prompt(text).is_empty(), expected, "{text}");
        }
    }

    #[test]
    fn a_message_of_another_sender_is_not_the_users_words() {
        for (text, expected) in [
            ("Why?\n<peer-note from=\"b\">Use tabs.</peer-note>\nUse spaces.", &["Why?", "Use spaces."][..]),
            ("Why? <peer-message from=\"b\">Use tabs.</peer-message>", &["Why?"]),
            ("Why?\n  <peer-note from=\"b\">Use tabs.", &["Why?"]),
            ("Why does <a>this</a> fail?", &["Why does <a>this</a> fail?"]),
        ] {
            let found: Vec<&str> = prompt(text).iter().map(|(start, end)| &text[*start as usize..*end as usize]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn of_a_very_long_text_both_ends_count() {
        let log = "a line of a log that was pasted\n".repeat(400);
        let content = format!("Why does this fail?\n{log}Look at the last line.");
        let found = words(&content);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("Why does this fail?\na line") && found[0].ends_with("pasted"), "{}", found[0]);
        assert!(found[1].starts_with("a line of") && found[1].ends_with("Look at the last line."), "{}", found[1]);
        let one_line = words(Box::leak("é".repeat(TYPED_BYTES).into_boxed_str()));
        assert_eq!(one_line.iter().map(|words| words.len()).collect::<Vec<_>>(), [END_BYTES, END_BYTES]);
    }
}
