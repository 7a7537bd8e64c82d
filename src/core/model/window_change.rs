use super::{Key, Role};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A change of the contents that a request has: which leave it, and which texts enter it. It names contents by their hashes, so it
/// applies to any request of the session, whatever rows the session file has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowChange {
    /// The changed places, in the order of the conversation.
    pub hunks: Vec<WindowHunk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<BlockAddress>,
    /// The contents of the blocks that enter the window again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<BlockAddress>,
}

/// A block by its content: see [`BlockEdit`](super::BlockEdit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockAddress {
    /// XXH3-128 of the content.
    #[serde(with = "super::key::as_text")]
    pub content: Key,
    /// The number of blocks of the same content before it.
    pub occurrence: u32,
}

/// The contents that were counted so far.
#[derive(Debug, Default)]
pub struct AddressCounter(FxHashMap<Key, u32>);

impl AddressCounter {
    pub fn next(&mut self, content: Key) -> BlockAddress {
        let count = self.0.entry(content).or_default();
        *count += 1;
        BlockAddress { content, occurrence: *count - 1 }
    }
}

/// One changed place of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowHunk {
    /// The content before the place; `None` at the start of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<SentContent>,
    pub before: Vec<SentContent>,
    /// The number of equal places before it.
    pub occurrence: u32,
    /// The contents before the anchor, if the client renders it, from the last one on that it does not render.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lead: Vec<SentContent>,
    /// The contents after the place, if the client renders its last one, up to the first one that it does not render.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trail: Vec<SentContent>,
    pub after: Vec<NewContent>,
    /// Those of the replaced contents that a client sends again only if it reads the changed session; others keep their texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub announced: Vec<SentContent>,
    /// True if no content follows: texts of the system then follow the next prompt.
    #[serde(default)]
    pub is_last: bool,
    /// The texts of replaced contents in the new ones that the client renders: a request has its words, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Words>,
}

/// A text of the client in a new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub content: u32,
    /// The range of its text, in bytes.
    pub range: (u32, u32),
    pub of: SentContent,
    /// The number of reminders after it there, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<u32>,
    /// The ends of the texts around it there, if it is joined to them without tags. With neither it is the whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[Edge; 2]>,
}

/// The end of a text that is found by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub bytes: u32,
    #[serde(with = "super::key::as_text")]
    pub hash: Key,
}

impl Edge {
    pub fn is(&self, text: Option<&[u8]>) -> bool {
        text.is_some_and(|text| text.len() == self.bytes as usize && Key::from_bytes(text) == self.hash)
    }
}

/// A content of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SentContent {
    /// Role of its message: the system, the user or the model.
    pub role: Role,
    /// XXH3-128 of the content as sent, with everything that the client adds to it.
    #[serde(with = "super::key::as_text")]
    pub sent: Key,
    /// XXH3-128 of the content of its first block.
    #[serde(with = "super::key::as_text")]
    pub block: Key,
    /// The form in which the client renders it; `None` if its words follow from the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Rendered>,
}

/// The form of a content that the client renders: its words in a request can differ from those that follow from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rendered {
    /// A text around or in the place of recorded data.
    Text,
    /// A tool result with texts of the client.
    Result,
    /// A text that has no block. The client can leave it out.
    Generated,
}

/// A content at a changed place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewContent {
    Kept(SentContent),
    /// One of the replaced contents with another text.
    Changed(SentContent, String),
    Text(Role, String),
    /// A text that was a part of other contents, in a message of this role.
    Moved(Role, String),
}

impl WindowChange {
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let after = self.hunks.iter().flat_map(|hunk| &hunk.after);
        after.filter_map(|content| match content {
            NewContent::Changed(_, text) | NewContent::Text(_, text) | NewContent::Moved(_, text) => Some(text.as_str()),
            NewContent::Kept(_) => None,
        })
    }

    /// Returns true if contents enter the window that were in an earlier request.
    pub fn restores(&self) -> bool {
        self.hunks.iter().any(|hunk| {
            hunk.after.iter().any(|after| matches!(after, NewContent::Kept(content) if !hunk.before.contains(content)))
        })
    }
}
