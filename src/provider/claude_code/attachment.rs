use serde_json::value::RawValue;

/// The texts that the client makes of an attachment that was written without its rendered form; empty when it sends nothing.
pub(super) fn render(_label: &str, _payload: &RawValue) -> Vec<String> {
    Vec::new()
}
