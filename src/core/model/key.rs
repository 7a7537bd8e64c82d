use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// The identity of a row, a message or a content, in 16 bytes.
///
/// A UUID is kept as its own 128 bits; any other text (an API message id, a redacted uuid) is hashed with XXH3-128.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

    /// Returns both halves in one: half of a UUID can be the same in all rows of a file.
    pub fn folded(self) -> u64 {
        (self.0 >> 64) as u64 ^ self.0 as u64
    }
}

/// Writes the 32 hexadecimal digits.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A value that is a text in JSON.
pub trait JsonText: Sized {
    fn to_text(&self) -> String;
    /// Parses the text; `None` if it is invalid.
    fn parse(text: &str) -> Option<Self>;
}

/// The 32 hexadecimal digits, for readers of JSON without 128-bit integers.
impl JsonText for Key {
    fn to_text(&self) -> String {
        format!("{self:?}")
    }

    fn parse(text: &str) -> Option<Key> {
        u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32).map(Key)
    }
}

/// Reads and writes a value as its text: `#[serde(with = "as_text")]`.
pub mod as_text {
    use super::JsonText;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<T: JsonText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_text())
    }

    pub fn deserialize<'de, T: JsonText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::parse(&text).ok_or_else(|| de::Error::custom(format_args!("'{text}' is invalid")))
    }
}

/// Reads and writes an optional value as its text.
pub(super) mod as_optional_text {
    use super::JsonText;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<T: JsonText, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_text).serialize(serializer)
    }

    pub fn deserialize<'de, T: JsonText, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        T::parse(&text).map(Some).ok_or_else(|| de::Error::custom(format_args!("'{text}' is invalid")))
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
    fn a_uuid_keeps_its_bits_and_other_identifiers_are_hashed() {
        assert_eq!(Key::from_text("00000000-0000-0000-0000-0000000000ff"), Key(255));
        for text in ["", "msg_01", "24e[REDACTED]e-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000FF"] {
            assert_eq!(Key::from_text(text), Key::from_bytes(text.as_bytes()), "{text}");
        }
    }
}
