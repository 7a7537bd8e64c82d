//! The gate: what every text passes on its way out of the program, to a terminal, a pipe, a client, a model or a file.

use super::format::{is_harmful, symbol};
use super::{Form, Report, Style};
use crate::engine::Known;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::sync::{Arc, RwLock};

/// Text that may leave: without credentials that aperture knows, and without what steers a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean(String);

impl Clean {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The same on a screen: over what is there, behind so many empty lines.
    pub fn on_screen(self, empty_lines: usize) -> Clean {
        Clean(format!("{}\x1b[H{}\x1b[J", "\n".repeat(empty_lines), self.0.replace('\n', "\x1b[K\n")))
    }
}

/// Makes text clean. It knows what the sessions that were read name as credentials; clones share that.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<RwLock<Known>>);

impl Gate {
    /// Masks more values from now on.
    pub fn learn(&self, known: &Known) {
        if !known.is_empty() {
            // A set is put in place whole: one that a panic left behind is as good as any.
            let mut own = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            *own = own.with(known);
        }
    }

    fn known(&self) -> Known {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The text of a report. Only what the user asked for as it is stays so.
    pub fn report(&self, report: &impl Report, style: &Style) -> Clean {
        let text = report.text(style);
        match report.form() {
            Form::Text => self.text(&text, style.color),
            Form::Json => self.json(&text),
            Form::Raw => Clean(text),
        }
    }

    /// Text for a program or a file of text: credentials are masked, and nothing else is changed.
    pub fn masked(&self, text: &str) -> String {
        self.known().mask(text).into_owned()
    }

    /// Text for people. With `color` the colours of [`super::Style::paint`] stay.
    pub fn text(&self, text: &str, color: bool) -> Clean {
        let masked = self.masked(text);
        Clean(if color { colored(&masked) } else { super::printable(&masked).into_owned() })
    }

    /// JSON, one value or several: what it says stays the same where nothing is masked.
    pub fn json(&self, text: &str) -> Clean {
        let masked = self.known().mask(text);
        let masked = match &masked {
            Cow::Owned(owned) if !is_json(owned) => Cow::Owned(self.json_by_string(text)),
            _ => masked,
        };
        if !masked.contains(is_harmful) {
            return Clean(masked.into_owned());
        }
        let mut escaped = String::with_capacity(masked.len());
        for c in masked.chars() {
            if is_harmful(c) {
                escaped.push_str(&format!("\\u{:04x}", c as u32));
            } else {
                escaped.push(c);
            }
        }
        Clean(escaped)
    }

    /// The same with each string masked by itself, where masking the whole text would not leave JSON.
    fn json_by_string(&self, text: &str) -> String {
        let known = self.known();
        let values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        values.flatten().map(|value| masked(&known, value).to_string() + "\n").collect()
    }
}

fn is_json(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().all(|value| value.is_ok())
}

fn masked(known: &Known, value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => Value::String(known.mask(&text).into_owned()),
        Value::Array(values) => values.into_iter().map(|value| masked(known, value)).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, masked(known, value))).collect(),
        other => other,
    }
}

/// The text with symbols in place of all control characters but those that set colours of [`super::Style::paint`].
fn colored(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_harmful) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = color_length(rest);
        clean.push_str(&rest[..length]);
        rest = &rest[length..];
        if length == 0
            && let Some(c) = rest.chars().next()
        {
            clean.push(symbol(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    clean + rest
}

/// How long a sequence is that begins the text and sets a colour or a weight that reports use; 0 for anything else.
fn color_length(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\x1b[") else { return 0 };
    let Some(end) = inner.bytes().position(|byte| !byte.is_ascii_digit() && byte != b';') else { return 0 };
    let known = |code: &str| matches!(code, "0" | "1" | "2" | "4" | "31" | "32" | "33" | "36");
    if inner.as_bytes()[end] == b'm' && inner[..end].split(';').all(known) { end + 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Paint, Style};

    fn key() -> String {
        format!("ghp_{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2))
    }

    #[test]
    fn nothing_that_steers_a_terminal_leaves() {
        let gate = Gate::default();
        let hostile = "a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}b\u{1b}[8mc\u{1b}[2J\r\n\tz";
        for color in [false, true] {
            let clean = gate.text(hostile, color);
            assert!(!clean.as_str().contains(is_harmful), "{:?}", clean.as_str());
            assert!(clean.as_str().ends_with("\n\tz"));
        }
        let json = serde_json::to_string(hostile).unwrap();
        let clean = gate.json(&json);
        assert!(!clean.as_str().contains(is_harmful));
        assert_eq!(serde_json::from_str::<String>(clean.as_str()).unwrap(), hostile);
    }

    #[test]
    fn the_colours_of_reports_stay() {
        let style = Style { color: true, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
        for paint in [
            Paint::Heading,
            Paint::Dim,
            Paint::Good,
            Paint::Warning,
            Paint::Bad,
            Paint::Name,
            Paint::Removed,
            Paint::RemovedWord,
            Paint::Added,
            Paint::AddedWord,
        ] {
            let text = style.paint(paint, "x");
            assert_eq!(Gate::default().text(&text, true).as_str(), text);
            assert!(!Gate::default().text(&text, false).as_str().contains('\u{1b}'));
        }
    }

    #[test]
    fn credentials_and_what_was_named_as_one_are_masked() {
        let gate = Gate::default();
        gate.learn(&Known::new(crate::engine::named_in("password: hunter2x7yz")));
        let text = format!("use {} and hunter2x7yz", key());
        assert_eq!(gate.text(&text, false).as_str(), "use [secret:github-token] and [secret:password]");
        let json = serde_json::json!({"a": text, "password": "p4ssw0rd7z", "n": 1.5}).to_string();
        let clean: serde_json::Value = serde_json::from_str(gate.json(&json).as_str()).unwrap();
        assert_eq!(clean["a"], "use [secret:github-token] and [secret:password]");
        assert_eq!((&clean["password"], &clean["n"]), (&serde_json::json!("[secret:password]"), &serde_json::json!(1.5)));
    }

    proptest::proptest! {
        #[test]
        fn masked_json_is_json(text in "(\\PC|password: |token=|sk-ant-|-----BEGIN PRIVATE KEY-----|\"|\\\\|\n|\u{1b}|\u{202e}|[a-z0-9]{12}|…){0,12}", named in "[a-z0-9\"]{6,12}") {
            let gate = Gate::default();
            gate.learn(&Known::new([(named, "password")]));
            let json = serde_json::json!({"a": [text], "b": {"password": text}, "c": 12e3}).to_string();
            let clean = gate.json(&json);
            proptest::prop_assert!(serde_json::from_str::<serde_json::Value>(clean.as_str()).is_ok(), "{}", clean.as_str());
        }
    }
}
