//! Measures a content in one pass: sizes, counts, terms, keywords, a preview.

use super::encoded::without_data;
use super::{excerpts, keywords, terms};
use crate::engine::reduce::marker;
use crate::engine::secrets::known;
use crate::engine::{find_secrets, mask, mask_cut, masked, o200k, older};
use crate::model::limits::PREVIEW_CHARACTERS;
use crate::model::{Block, BlockKind, Conventions, Counts, Key, Role, SecretPlace, Vocabulary};
use crate::text::cut::line_characters;

/// Sets the measured fields of a block from its content.
///
/// `content` is the content that the model receives, `text` its form for people (the members of a tool input, unescaped), `refers`
/// the part that refers to earlier content, if it is not all. `known` returns the o200k count of a content that was counted
/// earlier, by its hash; contents of older models are counted in `vocabulary` instead. Returns the positions in `text` that name
/// credentials, with the row and the index of the block.
pub fn measure(
    block: &mut Block,
    conventions: &Conventions,
    content: &str,
    text: &str,
    refers: Option<&str>,
    vocabulary: Vocabulary,
    known: &dyn Fn(Key) -> Option<u32>,
) -> Vec<SecretPlace> {
    block.hash = Key::from_bytes(content.as_bytes());
    block.bytes = content.len() as u64;
    block.counts = classes(text);
    block.counts.o200k = older(vocabulary, text).or_else(|| known(block.hash)).unwrap_or_else(|| o200k(text));
    // Before anything is cut: half a credential has no shape any more.
    let found = find_secrets(text.as_bytes());
    let shown = masked(text.as_bytes(), &found).and_then(|masked| String::from_utf8(masked).ok());
    let shown = without_data(shown.as_deref().unwrap_or(text));
    let shown = &*shown;
    let places = known::places(text, &found, block.row, block.index);
    // A preview set by the provider has priority.
    block.preview = if block.preview.is_empty() { preview(shown) } else { preview(&mask(&block.preview)) }.into();
    if let Some(tool) = &mut block.tool {
        tool.target = if tool.target.ends_with('…') { mask_cut(&tool.target) } else { mask(&tool.target).into_owned() }.into();
    }
    block.keywords = keywords::of_block(block, conventions, &marker::without_marks(shown, conventions));
    if let Some(excerpts) = &mut block.excerpts {
        excerpts.files = excerpts.files.iter().filter(|file| mask(file) == **file).collect();
    }
    excerpts::add(block, conventions, content);
    let marker = marker::parse(&content[marker::client_tag(content, conventions).len()..]).map(|(marker, _)| marker);
    block.marker = if block.kind == BlockKind::ToolUse { marker.or_else(|| marker::find_in_input(content)) } else { marker };
    if block.kind == BlockKind::Thinking {
        return places;
    }
    match (block.role, refers) {
        (Role::ToolUse, Some(refers)) => {
            block.terms = terms::terms(refers);
            block.uses = block.terms.len() as u32;
            if refers.len() < text.len() {
                let used: rustc_hash::FxHashSet<u32> = block.terms.iter().copied().collect();
                block.terms.extend(terms::terms(text).into_iter().filter(|term| !used.contains(term)));
            }
        }
        (role, _) => {
            block.terms = terms::terms(&without_data(text));
            block.uses = if matches!(role, Role::Assistant | Role::ToolUse) { block.terms.len() as u32 } else { 0 };
        }
    }
    places
}

/// Counts the characters of a text by class.
pub fn counts(text: &str) -> Counts {
    Counts { o200k: o200k(text), ..classes(text) }
}

/// Counts the classes of characters, everything but the tokens.
fn classes(text: &str) -> Counts {
    let bytes = text.as_bytes();
    Counts {
        o200k: 0,
        characters: starts(bytes, |_, byte| !(0x80..0xc0).contains(&byte)),
        camels: starts(bytes, |before, byte| before.is_ascii_lowercase() & byte.is_ascii_uppercase()),
        capitals: starts(bytes, |_, byte| byte.is_ascii_uppercase()),
        punctuation_runs: starts(bytes, |before, byte| !is_punctuation(before) & is_punctuation(byte)),
        digit_runs: starts(bytes, |before, byte| !before.is_ascii_digit() & byte.is_ascii_digit()),
        newlines: starts(bytes, |_, byte| byte == b'\n'),
    }
}

/// As [`u8::is_ascii_punctuation`], without a branch.
#[inline(always)]
fn is_punctuation(byte: u8) -> bool {
    let within = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    within(b'!', b'/') | within(b':', b'@') | within(b'[', b'`') | within(b'{', b'~')
}

/// Counts the bytes that pass a test together with the byte before them. The compiler vectorizes the loop.
#[inline(always)]
fn starts(bytes: &[u8], test: impl Fn(u8, u8) -> bool) -> u32 {
    let Some(first) = bytes.first() else { return 0 };
    let mut sum = u32::from(test(0, *first));
    // A byte can hold the sum over this many.
    for (before, here) in bytes.chunks(255).zip(bytes[1..].chunks(255)) {
        sum += u32::from(before.iter().zip(here).map(|(before, here)| u8::from(test(*before, *here))).sum::<u8>());
    }
    sum
}

/// The first words of a text, on one line, without control characters.
pub fn preview(text: &str) -> String {
    line_characters(text).take(PREVIEW_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_characters_are_counted() {
        let counts = classes("aB12,;\né.");
        assert_eq!((counts.characters, counts.camels, counts.capitals), (9, 1, 1));
        assert_eq!((counts.digit_runs, counts.punctuation_runs, counts.newlines), (1, 2, 1));
    }

    #[test]
    fn punctuation_is_ascii_and_previews_are_clean() {
        // Punctuation is what ascii calls so.
        assert!((0..=255).all(|byte: u8| is_punctuation(byte) == byte.is_ascii_punctuation()));
        assert_eq!(classes(&"a.".repeat(2000)).punctuation_runs, 2000);
        // A preview is one clean line.
        assert_eq!(preview("  a\n\tb\u{1b}[31mc  "), "a b [31mc");
        assert_eq!(preview(&"x".repeat(500)).chars().count(), PREVIEW_CHARACTERS);
    }
}
