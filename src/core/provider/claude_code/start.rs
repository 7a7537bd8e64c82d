//! Rows of a session that is written from the beginning.

use super::write::{note, row};
use crate::provider::rewriter::RECORD;
use crate::provider::{NewRow, NewSession, NewText, Opening};
use serde_json::json;

/// Returns the circumstances of the rows: the format begins with the conversation.
pub(super) fn opening(new: &NewSession<'_>, version: &str) -> Opening {
    let like = json!({"userType": "external", "cwd": new.directory, "sessionId": new.id, "version": version, "gitBranch": ""});
    Opening { row: None, like: like.to_string().into_bytes() }
}

/// Returns the row of a text. A record is an attachment, as the texts are that the client adds.
pub(super) fn message(new: &NewRow<'_>, text: &NewText<'_>) -> Option<Vec<u8>> {
    let message = match text {
        NewText::User(text) => json!({"type": "user", "message": {"role": "user", "content": text}}),
        NewText::Record(text) => return note(new, RECORD, text),
        NewText::Assistant(text, model) => {
            let content = json!([{"type": "text", "text": text}]);
            let id = format!("msg_{}", new.id.replace('-', ""));
            let message = json!({"id": id, "type": "message", "role": "assistant", "model": model, "content": content,
                "stop_reason": "end_turn", "stop_sequence": null});
            json!({"type": "assistant", "message": message})
        }
    };
    let own = json!({"uuid": new.id, "timestamp": new.timestamp});
    let fields = |value: &serde_json::Value| {
        let text = value.to_string();
        text[1..text.len() - 1].to_owned()
    };
    row(new, &format!("{},{}", fields(&message), fields(&own)))
}
