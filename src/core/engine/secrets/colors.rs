//! Finds credentials in coloured text: `jq -C` paints a name, its colon and its value, and `grep --color` a part of a key.

use super::Secret;

/// Returns the places of the sequences that change the colour in a text, also as JSON writes them, with any number of backslashes.
fn sequences(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let bracket = at + memchr::memchr(b'[', &text[at..])?;
            at = bracket + 1;
            let before = &text[..bracket];
            let escape = before.strip_suffix(b"\x1b").or_else(|| {
                let written = before.strip_suffix(b"u001b").or_else(|| before.strip_suffix(b"u001B"))?;
                let start = written.iter().rposition(|byte| *byte != b'\\').map_or(0, |last| last + 1);
                (start < written.len()).then(|| &written[..start])
            });
            let is_parameter = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
            let end = text[at..].iter().position(|byte| !is_parameter(byte)).map(|length| at + length);
            if let (Some(escape), Some(end)) = (escape, end.filter(|end| matches!(text[*end], b'm' | b'K'))) {
                at = end + 1;
                return Some(escape.len()..at);
            }
        }
    })
}

/// Returns what a function finds in a text, and in the text without its colours.
pub(super) fn through_colors(text: &[u8], find: impl Fn(&[u8]) -> Vec<Secret>) -> Vec<Secret> {
    let mut found = find(text);
    let mut colors = sequences(text).peekable();
    if colors.peek().is_none() {
        return found;
    }
    let (mut plain, mut places, mut from) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()), 0);
    for color in colors.chain(std::iter::once(text.len()..text.len())) {
        plain.extend_from_slice(&text[from..color.start]);
        places.extend(from..color.start);
        from = color.end;
    }
    found.extend(find(&plain).into_iter().filter_map(|secret| {
        let range = *places.get(secret.range.start)?..places.get(secret.range.end.checked_sub(1)?)? + 1;
        Some(Secret { range, ..secret })
    }));
    super::apart(found)
}

#[cfg(test)]
mod tests {
    use crate::engine::{Known, mask, named_in};

    #[test]
    fn credentials_in_coloured_text_are_masked() {
        let key = ["ghp_", "q7Rz2mWk9TxB4lNvC8dFq7Rz2mWk9TxB4lNv"].concat();
        let (start, end) = key.split_at(12);
        for (text, expected) in [
            (format!("a \x1b[01;31m{start}\x1b[m{end} b"), "a \x1b[01;31m[secret:github-token] b"),
            (format!("a \x1b[01;31m\x1b[K{start}\x1b[m\x1b[K{end}"), "a \x1b[01;31m\x1b[K[secret:github-token]"),
            (format!("{{\"a\":\"\\u001b[32m{start}\\u001b[0m{end}\"}}"), "{\"a\":\"\\u001b[32m[secret:github-token]\"}"),
            (
                "\x1b[34;1m\"password\"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m\"Qz7kW2mx9TbL\"\x1b[0m".to_owned(),
                "\x1b[34;1m\"password\"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m\"[secret:password]\"\x1b[0m",
            ),
            ("a[12m] \x1b[31mred\x1b[0m \x1b[2J [0m".to_owned(), "a[12m] \x1b[31mred\x1b[0m \x1b[2J [0m"),
        ] {
            assert_eq!(mask(&text), expected);
        }
        let known = Known::new(named_in("password: hunter2x7yz"));
        assert_eq!(known.mask("use hunt\x1b[1mer2x7yz\x1b[0m"), "use [secret:password]\x1b[0m");
    }
}
