//! The gate: every text that leaves the program, to a terminal, pipe, client, model or file, passes through it.

use super::format::{is_harmful, symbol};
use super::{Form, Report, Style};
use crate::engine::Known;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::sync::{Arc, RwLock};

/// Text that is safe to write: without known credentials and without terminal control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean(String);

impl Clean {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text, without copying it.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the text as a notification of the desktop, as terminals read it.
    pub fn as_notification(self) -> Clean {
        Clean(format!("\x1b]9;{}\x07", self.0.trim_end().replace('\n', " ")))
    }

    /// Returns the text for a full-screen display: it overwrites the current content, after `empty_lines` empty lines.
    pub fn on_screen(self, empty_lines: usize) -> Clean {
        Clean(format!("{}\x1b[H{}\x1b[J", "\n".repeat(empty_lines), self.0.replace('\n', "\x1b[K\n")))
    }
}

/// Removes credentials and control characters from text. Clones share the credentials that were found in the analysed sessions.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<RwLock<Known>>);

impl Gate {
    pub fn learn(&self, known: &Known) {
        if !known.is_empty() {
            // A set is replaced as a whole, so the value after a panic of another thread is still valid.
            let mut own = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            *own = own.with(known);
        }
    }

    fn known(&self) -> Known {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Returns the text of a report. Only raw content that the user requested remains unchanged.
    pub fn report(&self, report: &impl Report, style: &Style) -> Clean {
        let text = report.text(style);
        match report.form() {
            Form::Text => self.text(&text, style.color),
            Form::Json => self.json(&text),
            Form::Raw => Clean(text),
        }
    }

    /// Masks the credentials in text for a program or a text file. Nothing else is changed.
    pub fn masked(&self, text: &str) -> String {
        self.known().mask(text).into_owned()
    }

    /// Cleans text for people. With `color`, the colours of [`super::Style::paint`] are kept.
    pub fn text(&self, text: &str, color: bool) -> Clean {
        let masked = self.masked(text);
        Clean(if color { colored(&masked) } else { super::printable(&masked).into_owned() })
    }

    /// Masks the credentials in JSON, one value or several. Unmasked values do not change.
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

    /// Masks each string on its own, for documents that are not valid JSON after masking the whole text.
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

/// Replaces all control characters by symbols, except the colour sequences of [`super::Style::paint`].
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

/// Returns the length of the colour or weight sequence at the start of the text, or 0 if there is none that reports use.
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
