//! The words of a person: which parts of a content somebody typed, where a client put its own around them.

/// Bytes up to which all of a typed text counts. Of a longer one most was pasted: its beginning and its end count.
pub const TYPED_BYTES: usize = 8_000;
/// Bytes of the beginning and of the end of a longer text, up to the end of a line.
const END_BYTES: usize = 2_000;

/// A range of bytes of a content.
pub type Span = (u32, u32);

/// The parts of a typed text that count, given where it stands in its content.
pub fn typed(content: &str, start: usize, end: usize) -> Vec<Span> {
    let Some(text) = content.get(start..end) else { return Vec::new() };
    let start = start + (text.len() - text.trim_start().len());
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.len() <= TYPED_BYTES {
        return span(start, start + text.len()).into_iter().collect();
    }
    let head = text.floor_char_boundary(END_BYTES);
    let head = text[..head].rfind('\n').filter(|at| *at > 0).unwrap_or(head);
    let tail = text.floor_char_boundary(text.len() - END_BYTES);
    let tail = text[tail..].find('\n').filter(|at| tail + at + 1 < text.len()).map_or(tail, |at| tail + at + 1);
    let parts = [span(start, start + head), span(start + tail, start + text.len())];
    parts.into_iter().flatten().collect()
}

/// A range; none of a content that is too large for one.
pub fn span(start: usize, end: usize) -> Option<Span> {
    Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?)).filter(|(start, end)| start < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(content: &str) -> Vec<&str> {
        typed(content, 0, content.len()).iter().map(|(start, end)| &content[*start as usize..*end as usize]).collect()
    }

    #[test]
    fn a_typed_text_counts_without_the_blanks_around_it() {
        assert_eq!(words("\n fix it \n"), ["fix it"]);
        assert_eq!(words(" \n"), Vec::<&str>::new());
        assert_eq!(typed("say: é!", 5, 8), [(5, 8)]);
        assert_eq!(typed("é", 1, 2), [], "no range of it");
    }

    #[test]
    fn of_a_very_long_text_both_ends_count() {
        let log = "a line of a log that was pasted\n".repeat(400);
        let content = format!("Why does this fail?\n{log}Look at the last line.");
        let found = words(&content);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("Why does this fail?\na line") && found[0].ends_with("pasted"), "{}", found[0]);
        assert!(found[1].starts_with("a line of") && found[1].ends_with("Look at the last line."), "{}", found[1]);
        let one_line = words(Box::leak("é".repeat(TYPED_BYTES).into_boxed_str()));
        assert_eq!(one_line.iter().map(|words| words.len()).collect::<Vec<_>>(), [END_BYTES, END_BYTES]);
    }
}
