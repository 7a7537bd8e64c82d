use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// The identity of a row, a message or a content, in 16 bytes.
///
/// A UUID is kept as its own 128 bits; any other text (an API message id, a redacted uuid) is hashed with XXH3-128.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(pub u128);

impl Key {
    /// Returns the key of an identifier in a file.
    pub fn from_text(text: &str) -> Key {
        parse_uuid(text.as_bytes()).map_or_else(|| Key::from_bytes(text.as_bytes()), Key)
    }

    /// Returns the XXH3-128 hash of `bytes`: the address of a content in disposable caches.
    pub fn from_bytes(bytes: &[u8]) -> Key {
        Key(XxHash3_128::oneshot(bytes))
    }
}

/// Writes the 32 hexadecimal digits.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A key as 32 hexadecimal digits, for readers of JSON without 128-bit integers.
pub(super) mod digits {
    use super::Key;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{key:?}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let digits = String::deserialize(deserializer)?;
        u128::from_str_radix(&digits, 16).map(Key).map_err(de::Error::custom)
    }
}

fn parse_uuid(text: &[u8]) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let mut value: u128 = 0;
    for (place, byte) in text.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        value = value << 4 | u128::from(digit);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_keeps_its_bits() {
        assert_eq!(Key::from_text("00000000-0000-0000-0000-0000000000ff"), Key(255));
    }

    #[test]
    fn other_identifiers_are_hashed() {
        for text in ["", "msg_01", "24e[REDACTED]e-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000FF"] {
            assert_eq!(Key::from_text(text), Key::from_bytes(text.as_bytes()), "{text}");
        }
    }
}
