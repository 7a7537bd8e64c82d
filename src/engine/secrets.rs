//! Credentials in text, by their shape, so that no report prints one.

use std::borrow::Cow;

/// Beginnings of keys that services hand out, and how long such a key is at least, in bytes.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("sk-", 32),
    ("sk_live_", 20),
    ("sk_test_", 20),
    ("rk_live_", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xapp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("ya29.", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("dop_v1_", 30),
    ("eyJhbGciOi", 40),
];

/// Shortest value behind a word such as `password=` that is taken for a credential, in bytes.
const SHORTEST: usize = 8;
/// What stands in place of a credential.
const MASK: &str = "[secret]";

/// The text with everything masked that has the shape of a credential.
///
/// Known are keys with the prefixes of large services, JSON web tokens, and values behind a word such as `password=`.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut masked: Option<String> = None;
    let mut copied = 0;
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=' | '~');
    let mut at = 0;
    while at < text.len() {
        let Some(start) = text[at..].find(is_key).map(|place| at + place) else { break };
        let end = text[start..].find(|c| !is_key(c)).map_or(text.len(), |length| start + length);
        at = end;
        let word = &text[start..end];
        let Some(from) = secret_in(word, &text[..start]) else { continue };
        let masked = masked.get_or_insert_with(String::new);
        masked.push_str(&text[copied..start + from]);
        masked.push_str(MASK);
        copied = end;
    }
    match masked {
        Some(mut masked) => {
            masked.push_str(&text[copied..]);
            Cow::Owned(masked)
        }
        None => Cow::Borrowed(text),
    }
}

/// Where in a word a credential begins, given what stands before the word.
fn secret_in(word: &str, before: &str) -> Option<usize> {
    let (from, value) =
        word.rsplit_once('=').filter(|(_, value)| !value.is_empty()).map_or((0, word), |(name, value)| (name.len() + 1, value));
    // Most words are too short to be any.
    if value.len() < SHORTEST {
        return None;
    }
    if PREFIXES.iter().any(|(prefix, length)| value.starts_with(prefix) && value.len() >= *length) {
        return Some(from);
    }
    let plausible = (from > 0 || before.ends_with([':', '"', '\'']) || before.ends_with(": ") || before.ends_with("Bearer "))
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let name = if from > 0 { &word[..from - 1] } else { before.trim_end_matches([' ', ':', '"', '\'', '=']) };
    (plausible && names_secret(name)).then_some(from)
}

fn names_secret(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "password",
        "passwd",
        "secret",
        "token",
        "api_key",
        "apikey",
        "api-key",
        "access_key",
        "private_key",
        "bearer",
        "authorization",
    ];
    let tail: String = name.chars().rev().take(24).collect::<Vec<_>>().into_iter().rev().collect::<String>().to_lowercase();
    NAMES.iter().any(|known| tail.ends_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(mask(text), expected);
    }

    #[test]
    fn keys_of_services_are_masked() {
        check("use sk-ant-api03-abcdefghijklmnop now", "use [secret] now");
        check("GH=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "GH=[secret]");
    }

    #[test]
    fn named_values_are_masked() {
        check("password=hunter2hunter2", "password=[secret]");
        check(r#""api_key": "a1b2c3d4e5""#, r#""api_key": "[secret]""#);
        check("Authorization: Bearer abc123def456", "Authorization: Bearer [secret]");
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["", "the token is invalid", "sk-short", "src/auth/password.rs:12", "é password", "secret: see below"] {
            check(text, text);
        }
    }
}
