//! A call in a message of the Chat Completions API, which arrives in pieces.

use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct Call {
    pub index: u64,
    /// Its index for the client; `None` if it is withheld.
    pub sent: Option<u64>,
    pub call: Map<String, Value>,
}

impl Call {
    pub fn add(&mut self, piece: &Value) {
        for (name, value) in piece.as_object().into_iter().flatten().filter(|(name, _)| *name != "index") {
            match (value, self.call.get_mut(name)) {
                (Value::Object(members), Some(Value::Object(function))) if name == "function" => {
                    for (name, value) in members {
                        match value.as_str().filter(|_| name == "arguments") {
                            Some(text) => append(function, name, text),
                            None => drop(function.insert(name.clone(), value.clone())),
                        }
                    }
                }
                (_, Some(_)) if value.is_null() || value == "" => {}
                _ => drop(self.call.insert(name.clone(), value.clone())),
            }
        }
    }

    pub fn id(&self) -> &str {
        self.call.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the input; null if it is not JSON.
    pub fn arguments(&self) -> Value {
        let arguments = self.call.get("function").and_then(|function| function["arguments"].as_str());
        arguments.and_then(|arguments| serde_json::from_str(arguments).ok()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        let mut call = self.call.clone();
        call.entry("type").or_insert_with(|| json!("function"));
        if let Some(function) = call.get_mut("function").filter(|_| !self.arguments().is_object()) {
            function["arguments"] = "{}".into();
        }
        call.into()
    }
}

pub(super) fn append(members: &mut Map<String, Value>, name: &str, text: &str) {
    match members.get_mut(name) {
        Some(Value::String(before)) => before.push_str(text),
        _ => drop(members.insert(name.to_owned(), text.into())),
    }
}
