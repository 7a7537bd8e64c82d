//! The events of a stream, in any pieces.

use std::ops::Range;

/// Divides a stream into its events, each with the empty line that ends it.
#[derive(Debug, Default)]
pub struct Events {
    event: Vec<u8>,
    /// True if the current line has bytes.
    in_line: bool,
    /// True if the last byte was a carriage return, which ends a line with or without a line feed.
    after_return: bool,
}

impl Events {
    /// Takes a piece of the stream and returns the events that it completes.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        for byte in piece {
            self.event.push(*byte);
            let ends_return = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            if ends_return {
                continue;
            }
            let ends_line = matches!(byte, b'\n' | b'\r');
            if ends_line && !self.in_line {
                complete.push(std::mem::take(&mut self.event));
            }
            self.in_line = !ends_line;
        }
        complete
    }

    /// Returns the bytes after the last complete event.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.event)
    }
}

/// Returns the place of the data of an event; `None` if it has none, or several lines of it.
pub fn data(event: &[u8]) -> Option<Range<usize>> {
    let mut found = None;
    let mut start = 0;
    for line in event.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        if line.starts_with(b"data:") && found.replace(start + b"data:".len()..start + line.trim_ascii_end().len()).is_some() {
            return None;
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_divided_at_its_empty_lines() {
        let events = ["event: a\ndata: é\n\n", "data: b\r\n\r\n", ": note\r\r", "data: c\n\r\n", "event: d\r\ndata: d\n\n"];
        let whole = events.concat();
        for size in [1, 2, 7, whole.len()] {
            let mut stream = Events::default();
            let found: Vec<Vec<u8>> = whole.as_bytes().chunks(size).flat_map(|piece| stream.push(piece)).collect();
            assert_eq!(found.concat(), whole.as_bytes(), "no byte is lost");
            let data: Vec<&str> =
                found.iter().filter_map(|event| data(event).map(|place| std::str::from_utf8(&event[place]).unwrap())).collect();
            assert_eq!(data, [" é", " b", " c", " d"], "pieces of {size}");
            assert_eq!(stream.rest(), b"");
        }
        let mut stream = Events::default();
        assert!(stream.push(b"data: cut\n").is_empty());
        assert_eq!(stream.rest(), b"data: cut\n");
    }

    #[test]
    fn an_event_has_one_line_of_data() {
        assert_eq!(data(b"event: x\n\n"), None);
        assert_eq!(data(b"data: a\ndata: b\n\n"), None);
        assert_eq!(data(b"data:a\n\n"), Some(5..6));
    }
}
