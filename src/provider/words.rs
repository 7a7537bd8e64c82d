//! The user's words: finds the typed parts of a content in which the client wraps them in text of its own.

/// Maximum length of a typed text that counts completely, in bytes. A longer one is mostly pasted: only its head and tail count.
pub const TYPED_BYTES: usize = 8_000;
/// Maximum length of the head and of the tail of a longer text, in bytes; both are cut at a line end.
const END_BYTES: usize = 2_000;

/// A byte range of a content.
pub type Span = (u32, u32);

/// Returns the parts of the typed text at `start..end` of a content that count.
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

/// Returns a range; `None` if it is empty or an offset exceeds `u32`.
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
