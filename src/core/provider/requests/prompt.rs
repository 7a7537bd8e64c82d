//! The elements of a prompt as hashes, to compare a request with the one before it: a prompt cache lives on equal prefixes.

use super::body::{ElementContent, KNOWN};
use super::{RequestApi, RequestDocument};
use crate::model::Key;
use rustc_hash::FxHashMap;

/// The hashes of the elements of a prompt: instructions and tools, then the conversation. The marks of cache breakpoints, which move
/// with each request, are not part of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptElements(Vec<Key>);

/// The hashes of elements that were parsed before, by the hash of their bytes.
#[derive(Debug, Default)]
pub struct KnownHashes(FxHashMap<Key, Key>);

impl PromptElements {
    /// Parses a body; `None` if it is not a JSON object.
    pub fn parse(api: RequestApi, body: &[u8], known: &mut KnownHashes) -> Option<PromptElements> {
        let document = RequestDocument::new(body)?;
        let elements = document.rows(api.members()).into_iter();
        Some(PromptElements(elements.map(|element| known.hash(api, &body[element])).collect()))
    }

    /// Returns the place of the first element of an earlier prompt that this one does not have at that place; `None` if there is none.
    pub fn difference(&self, earlier: &PromptElements) -> Option<usize> {
        (0..earlier.0.len()).find(|place| self.0.get(*place) != earlier.0.get(*place))
    }
}

impl KnownHashes {
    fn hash(&mut self, api: RequestApi, bytes: &[u8]) -> Key {
        if self.0.len() > KNOWN {
            self.0.clear();
        }
        let raw = Key::from_bytes(bytes);
        *self.0.entry(Key(raw.0 ^ api as u128)).or_insert_with(|| {
            let content = ElementContent::parse(api, bytes);
            let contents = content.contents.iter().map(|(_, key)| *key);
            let keys: Vec<u8> = contents.chain(content.thinking()).flat_map(|key| key.0.to_be_bytes()).collect();
            if keys.is_empty() { raw } else { Key::from_bytes(&[&[content.kind as u8], &keys[..]].concat()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(api: RequestApi, body: &str) -> PromptElements {
        PromptElements::parse(api, body.as_bytes(), &mut KnownHashes::default()).unwrap()
    }

    #[track_caller]
    fn check(earlier: &str, later: &str, difference: Option<usize>) {
        let messages = |body: &str| format!(r#"{{"model":"m","messages":[{body}],"tools":[{{"name":"a"}}],"system":"s"}}"#);
        let [earlier, later] = [earlier, later].map(|body| prompt(RequestApi::Messages, &messages(body)));
        assert_eq!(later.difference(&earlier), difference);
    }

    const ASK: &str = r#"{"role":"user","content":"ask"}"#;
    const ANSWER: &str =
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"a"},{"type":"text","text":"done"}]}"#;

    #[test]
    fn a_conversation_continues_until_it_differs() {
        check(ASK, ASK, None);
        check(ASK, &[ASK, ANSWER].join(","), None);
        check(&[ASK, ANSWER].join(","), ASK, Some(3));
        let marked = r#"{"role":"user","content":[{"type":"text","text":"ask","cache_control":{"type":"ephemeral"}}]}"#;
        check(marked, &[ASK, ANSWER].join(","), None);
        let other = ASK.replace("ask", "other");
        check(&[ASK, ANSWER].join(","), &[&other, ANSWER].join(","), Some(2));
        let without = ANSWER.replace(r#"{"type":"thinking","thinking":"","signature":"a"},"#, "");
        check(&[ASK, ANSWER].join(","), &[ASK, &without].join(","), Some(3));
        let tools = |name: &str| {
            format!(r#"{{"model":"m","tools":[{{"type":"function","function":{{"name":"{name}"}}}}],"messages":[{ASK}]}}"#)
        };
        let [a, b] = ["a", "b"].map(|name| prompt(RequestApi::Chat, &tools(name)));
        assert_eq!((b.difference(&a), a.difference(&a)), (Some(0), None));
    }
}
