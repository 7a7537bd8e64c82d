//! Collects the bills of a session file.

use crate::model::{FileUsage, Key, ResponseUsage};
use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The bills of a file: the rows with one identity are joined.
#[derive(Debug, Default)]
pub(super) struct Bills {
    pub usage: FileUsage,
    places: FxHashMap<u64, usize>,
}

impl Bills {
    /// Adds the bill of a row. The rows of a response repeat its figures, and the output grows to its final value. Behind a gateway
    /// the last row can have other input figures than the first ones, or none. Returns its place.
    pub fn add(&mut self, response: ResponseUsage) -> usize {
        let responses = &mut self.usage.responses;
        match response.key.map(|key| *self.places.entry(key).or_insert(responses.len())) {
            Some(place) if place < responses.len() => {
                let replaces = response.tokens.sent() > 0;
                responses[place].join(&response, replaces);
                if replaces {
                    responses[place].model = response.model;
                }
                place
            }
            _ => {
                responses.push(response);
                responses.len() - 1
            }
        }
    }
}

static TIMESTAMP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"timestamp\":"));

const TIMESTAMP_BYTES: usize = 40;

/// The time of the newest row of a file, as it is written.
#[derive(Debug, Default)]
pub(super) struct NewestRow(Vec<u8>);

impl NewestRow {
    /// Takes the next line. Only the newest time is parsed: times are written in UTC, so that their order is that of their bytes.
    pub fn line(&mut self, bytes: &[u8]) {
        let Some(place) = TIMESTAMP.find(bytes) else { return };
        let rest = bytes[place + TIMESTAMP.needle().len()..].trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"\"") else { return };
        let rest = &rest[..rest.len().min(TIMESTAMP_BYTES)];
        self.time(rest.split(|byte| *byte == b'"').next().unwrap_or_default());
    }

    /// Takes the time of the next row.
    pub fn time(&mut self, time: &[u8]) {
        if time > self.0.as_slice() && time.first().is_some_and(u8::is_ascii_digit) {
            time.clone_into(&mut self.0);
        }
    }

    /// Returns the time in milliseconds since 1970, UTC; `None` if no row has one.
    pub fn milliseconds(&self) -> Option<i64> {
        Some(std::str::from_utf8(&self.0).ok()?.parse::<jiff::Timestamp>().ok()?.as_millisecond())
    }
}

pub(super) fn response_key(parts: &[&str]) -> u64 {
    Key::from_bytes(parts.join("\0").as_bytes()).0 as u64
}
