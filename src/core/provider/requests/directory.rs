//! The working directory that a client names in its requests.

use super::calls::is_of_model;
use super::document::RequestDocument;
use crate::provider::json::{member, text_of};
use serde_json::value::RawValue;
use std::path::PathBuf;

/// The texts before the directory in the instructions or the first messages: of Claude Code and opencode, Codex, Qwen Code.
const MARKS: [&str; 3] = ["orking directory: ", "<cwd>", "orking in the directory: "];
/// Messages before the first one of the model in which the directory is searched for.
const MESSAGES: usize = 16;

impl RequestDocument<'_> {
    /// Returns true if the model has not answered yet: no message of the conversation is its own.
    pub fn is_unanswered(&self) -> bool {
        self.elements(self.conversation()).len() <= MESSAGES && !self.values(self.conversation()).any(is_of_model)
    }

    /// Returns the working directory that the client names; `None` if it names none.
    pub fn working_directory(&self) -> Option<PathBuf> {
        let instructions = ["system", "instructions"].into_iter().filter_map(|name| self.member(name));
        let messages = self.values(self.conversation()).take(MESSAGES);
        instructions.chain(messages).find_map(|part| named_in(part.get()))
    }

    fn conversation(&self) -> &'static str {
        if self.range("messages").is_some() { "messages" } else { "input" }
    }
}

/// Returns the working directory that the elements of a request name, one in each line: first those of the instructions, then the
/// first message of the user.
pub fn named_directory(lines: &[u8]) -> Option<PathBuf> {
    let elements = || lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<&RawValue>(line).ok());
    let role = |element: &&RawValue| text_of(member(element, "role")).map(|role| role.into_owned());
    let is_of_client = |element: &&RawValue| role(element).is_none_or(|role| matches!(&*role, "system" | "developer"));
    let is_of_user = |element: &&RawValue| role(element).is_some_and(|role| role == "user");
    let named = |element: &RawValue| named_in(element.get());
    let of_client = elements().filter(is_of_client).filter(|element| member(element, "input_schema").is_none()).find_map(named);
    of_client.or_else(|| elements().find(is_of_user).and_then(named))
}

/// Returns the absolute path after a mark in JSON.
fn named_in(json: &str) -> Option<PathBuf> {
    let places = MARKS.iter().filter_map(|mark| Some(json.find(mark)? + mark.len()));
    let path = path(&json[places.min()?..]);
    Some(PathBuf::from(path)).filter(|path| path.has_root())
}

/// Returns the path at the start of a text in JSON, up to the end of its line or a tag.
fn path(json: &str) -> String {
    let (mut path, mut letters) = (String::new(), json.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '<' => break,
            '\\' if letters.next() == Some('\\') => path.push('\\'),
            '\\' => break,
            letter => path.push(letter),
        }
    }
    path.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(body: &str) -> RequestDocument<'_> {
        RequestDocument::new(body.as_bytes()).unwrap()
    }

    #[test]
    fn the_directory_is_that_of_the_instructions_or_of_the_first_message() {
        for (body, expected) in [
            (
                r#"{"messages":[{"role":"user","content":"Working directory: /b\n"}],"system":"a\n - Primary working directory: /a b/c\n"}"#,
                Some("/a b/c"),
            ),
            (
                r#"{"messages":[{"role":"system","content":"<env>\n  Working directory: /w\n"},{"role":"user","content":"hi"}]}"#,
                Some("/w"),
            ),
            (
                r#"{"instructions":"i","input":[{"role":"user","content":[{"type":"input_text","text":"<cwd>/w/x</cwd>"}]}]}"#,
                Some("/w/x"),
            ),
            (r#"{"messages":[{"role":"user","content":"working in the directory: /q\n"}]}"#, Some("/q")),
            (r#"{"messages":[{"role":"user","content":"working directory: here"}]}"#, None),
            (r#"{"messages":[{"role":"user","content":"hi"}]}"#, None),
            (r#"{"model":"m"}"#, None),
        ] {
            assert_eq!(document(body).working_directory(), expected.map(PathBuf::from), "{body}");
        }
    }

    #[test]
    fn lines_name_the_directory_of_the_instructions_first() {
        let user = r#"{"role":"user","content":"<cwd>/u</cwd>"}"#;
        let result = r#"{"role":"user","content":"working directory: /tool"}"#;
        let system = r#"{"type":"text","text":"Working directory: /s\n"}"#;
        let named = |lines: &[&str]| named_directory(lines.join("\n").as_bytes());
        assert_eq!(named(&[user, result, system]), Some("/s".into()));
        assert_eq!(named(&[user, result]), Some("/u".into()));
        assert_eq!(named(&[r#"{"role":"user","content":"hi"}"#, result, "", "not JSON"]), None);
    }

    #[test]
    fn a_conversation_without_a_message_of_the_model_is_unanswered() {
        for (body, expected) in [
            (r#"{"messages":[{"role":"user","content":"the \"assistant\""}],"tools":[{"enum":["assistant"]}]}"#, true),
            (r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#, false),
            (r#"{"input":[{"role":"developer","content":"d"},{"role":"user","content":"a"}]}"#, true),
            (r#"{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"1"}]}"#, false),
        ] {
            assert_eq!(document(body).is_unanswered(), expected, "{body}");
        }
    }
}
