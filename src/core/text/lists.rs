//! Lists of words in data files: one reader, and one macro that declares the lists of a file.

use std::borrow::Borrow;

/// Declares the lists of words in a file beside the code, each under the name of its section.
macro_rules! word_lists {
    ($file:literal: $($visibility:vis $name:ident),* $(,)?) => {
        $($visibility static $name: std::sync::LazyLock<Vec<&'static str>> =
            std::sync::LazyLock::new(|| $crate::text::lists::words(include_str!($file), stringify!($name)));)*
    };
}
pub(crate) use word_lists;

/// Declares such lists as sets, for those that every word of a text is searched in.
macro_rules! word_sets {
    ($file:literal: $($visibility:vis $name:ident),* $(,)?) => {
        $($visibility static $name: std::sync::LazyLock<rustc_hash::FxHashSet<&'static str>> =
            std::sync::LazyLock::new(|| $crate::text::lists::words(include_str!($file), stringify!($name)).into_iter().collect());)*
    };
}
pub(crate) use word_sets;

/// Returns the words of a section of a file: it begins with `= NAME`, commas and line ends separate its words, and lines that begin
/// with `#` are comments.
pub fn words(file: &'static str, name: &str) -> Vec<&'static str> {
    let lines = file.lines().skip_while(|line| line.strip_prefix("= ") != Some(name)).skip(1);
    let words: Vec<&str> = lines.take_while(|line| !line.starts_with("= ")).flat_map(words_of_line).collect();
    debug_assert!(!words.is_empty(), "no list {name}");
    words
}

/// Returns the index of a text, which is added if it is new.
pub fn index_in<'a, T: Borrow<str> + From<&'a str>>(texts: &mut Vec<T>, text: &'a str) -> u32 {
    let place = texts.iter().position(|known| known.borrow() == text).unwrap_or(texts.len());
    if place == texts.len() {
        texts.push(text.into());
    }
    place as u32
}

/// Returns the words of all sections of a file.
pub fn all_words(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with("= ")).flat_map(words_of_line)
}

fn words_of_line(line: &'static str) -> impl Iterator<Item = &'static str> {
    let words = line.split(',').map(str::trim);
    words.filter(move |word| !word.is_empty() && !line.starts_with('#'))
}
