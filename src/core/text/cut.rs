//! Texts in little room: on one line, and cut to a length. Columns of a terminal are counted in `output`.

/// Returns the words of a text with single spaces between them, without control characters.
pub fn one_line(text: &str) -> String {
    line_characters(text).collect()
}

/// The same, as far as its characters are taken.
pub fn line_characters(text: &str) -> impl Iterator<Item = char> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.enumerate().flat_map(|(place, word)| (place > 0).then_some(' ').into_iter().chain(word.chars()))
}

/// Replaces links by their text: `[page](https://…)` becomes `page`. The end of the last one can be cut off.
pub fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let Some(start) = rest[..middle].rfind('[') else { break };
        let end = rest[middle..].find(')').map_or(rest.len(), |length| middle + length + 1);
        plain.push_str(&rest[..start]);
        plain.push_str(&rest[start + 1..middle]);
        rest = &rest[end..];
    }
    plain.push_str(rest);
    plain
}

/// Returns a text that was cut off at `characters` without its last part of a word, and with `…`; any other one as it is.
pub fn ended(text: &str, characters: usize) -> String {
    let length = text.chars().count();
    // A space at the end is lost.
    let is_cut = length == characters || length + 1 == characters;
    if is_cut { cut(text, length.saturating_sub(1)) } else { text.to_owned() }
}

/// Returns a text of at most `characters`. Of a longer text it is the start with `…`, cut between words unless half would be lost.
pub fn cut(text: &str, characters: usize) -> String {
    cut_by(text, characters, |_, end| end)
}

/// The same, where a long name is cut between its words: `create_check…` is `create_…`.
pub fn cut_name(text: &str, characters: usize) -> String {
    cut_by(text, characters, end_of_part)
}

fn cut_by(text: &str, characters: usize, within_word: fn(&str, usize) -> usize) -> String {
    if text.char_indices().nth(characters).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(characters.saturating_sub(1)).map_or(0, |(end, _)| end);
    let start = &text[..end];
    let is_apart = text[end..].starts_with(' ');
    let word = start.rfind(' ').filter(|at| !is_apart && *at * 2 >= end);
    with_ellipsis(&start[..word.unwrap_or_else(|| within_word(text, end))])
}

/// Returns the last place up to `end` between two parts of a name; `end` if there is none in the second half.
fn end_of_part(text: &str, end: usize) -> usize {
    let joins = |(before, after): (char, char)| {
        before.is_alphanumeric() && after.is_alphanumeric() && !(before.is_lowercase() && after.is_uppercase())
    };
    let places =
        text.char_indices().zip(text.chars().skip(1)).map(|((at, before), after)| (at + before.len_utf8(), (before, after)));
    let parts = places.take_while(|(at, _)| *at <= end).filter(|(at, pair)| at * 2 >= end && !joins(*pair));
    parts.last().map_or(end, |(at, _)| at)
}

/// Returns the start of a text with `…` behind its last word. A placeholder of a masked value remains whole or goes.
pub fn with_ellipsis(start: &str) -> String {
    let is_part = |end: &str| "[secret:".starts_with(end) || end.starts_with("[secret:") && !end.contains(']');
    let whole = start.rfind('[').filter(|at| is_part(&start[*at..])).map_or(start, |at| &start[..at]);
    format!("{}…", whole.trim_end_matches([' ', '…', '.', ',', ';', ':', '-', '(', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_words() {
        let check = |text: &str, expected: &str| assert_eq!(cut(text, 11), expected, "{text}");
        check("eleven char", "eleven char");
        check("letters and more", "letters…");
        check("ten letter and more", "ten letter…");
        check("an overlong word", "an overlon…");
        check("oneverylongword", "oneverylon…");
        check("größer, als gedacht", "größer…");
        check("ab [secret:token] is it", "ab…");
        check("key=[secret:token] is it", "key…");
        check("a [b] [c] and more", "a [b] [c]…");
        assert_eq!((cut("", 0), cut("a", 0)), (String::new(), "…".to_owned()));
    }

    #[test]
    fn a_long_name_is_cut_between_its_words() {
        for (text, characters, expected) in [
            ("createCheckpointOnBranch", 20, "createCheckpointOn…"),
            ("/home/ann/shop/src", 13, "/home/ann/…"),
            ("a snake_case_name", 16, "a snake_case_…"),
            ("oneverylongword", 11, "oneverylon…"),
            ("日本語のテキスト", 4, "日本語…"),
            ("plain words of it", 12, "plain words…"),
            ("short", 9, "short"),
        ] {
            assert_eq!(cut_name(text, characters), expected, "{text}");
        }
    }

    #[test]
    fn a_link_is_its_text() {
        for (text, expected) in [
            ("see [page](https://x.y) now", "see page now"),
            ("see [https://x.y](https://x", "see https://x.y"),
            ("a](b", "a](b"),
            ("[a] (b)", "[a] (b)"),
        ] {
            assert_eq!(without_links(text), expected);
        }
    }

    #[test]
    fn a_text_that_was_cut_off_ends_with_a_word() {
        for (text, expected) in
            [("one two thr", "one two…"), ("one two", "one two"), ("one two three four", "one two three four")]
        {
            assert_eq!(ended(text, 11), expected, "{text}");
        }
    }

    #[test]
    fn a_line_has_single_spaces() {
        assert_eq!(one_line("  a\n\tb\u{1b} c "), "a b c");
    }
}
