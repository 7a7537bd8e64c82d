//! Values that are marked as credentials anywhere in a session: they are masked everywhere in it.

use super::colors::through_colors;
use super::{Secret, apart, find, with_placeholders};
use crate::model::limits::PREVIEW_CHARACTERS;
use crate::model::{Block, Event, Origin, Row, SecretPlace, Segment, Session};
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use twox_hash::XxHash3_64;

/// Minimum length of a value that is searched elsewhere, in bytes.
const SHORTEST: usize = 6;
/// Minimum length of a private key line that is searched elsewhere, in bytes.
const SHORTEST_LINE: usize = 24;
/// Minimum length of a piece of a truncated value, in bytes.
const SHORTEST_PIECE: usize = 5;
/// Maximum length of a piece of a truncated value, in bytes.
const LONGEST_PIECE: usize = 512;
/// The kinds of credentials that are searched elsewhere, indexed by the number in a [`SecretPlace`].
const KINDS: [&str; 13] = [
    "named-secret",
    "password",
    "named-token",
    "named-key",
    "password-in-address",
    "slack-webhook",
    "discord-webhook",
    "azure-signature",
    "teams-webhook",
    super::PRIVATE_KEY_KIND,
    "session-cookie",
    "password-hash",
    "mailchimp-key",
];
/// The truncation mark.
const CUT: &str = "…";
/// The beginning of a placeholder.
const MASKED: &str = "[secret:";

/// A set of values that are credentials. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Known(Option<Arc<Values>>);

#[derive(Debug)]
struct Values {
    /// The kind of each value, keyed by the lowercase value.
    kinds: BTreeMap<String, &'static str>,
    /// The values and the reversed values, in lowercase and sorted.
    forwards: Vec<String>,
    backwards: Vec<String>,
    /// Finds the values in text; pattern `n` is value `n` of `forwards`.
    automaton: AhoCorasick,
    /// The ends of all values, sorted: each as the index in `forwards` and the offset. A word is a part of a value if one starts with
    /// it.
    ends: OnceLock<Vec<(u32, u32)>>,
}

impl Known {
    /// Creates a set of values, each with its kind.
    pub fn new(values: impl IntoIterator<Item = (String, &'static str)>) -> Known {
        // A value can be quoted without the padding at its end.
        let bare = |value: String| value.trim_end_matches('=').to_ascii_lowercase();
        let kinds: BTreeMap<String, &'static str> = values.into_iter().map(|(value, kind)| (bare(value), kind)).collect();
        if kinds.is_empty() {
            return Known::default();
        }
        let forwards: Vec<String> = kinds.keys().cloned().collect();
        let mut backwards: Vec<String> = forwards.iter().map(|value| value.chars().rev().collect()).collect();
        backwards.sort_unstable();
        let automaton =
            AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest).build(&forwards);
        Known(automaton.ok().map(|automaton| Arc::new(Values { kinds, forwards, backwards, automaton, ends: OnceLock::new() })))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the union of both sets.
    pub fn with(&self, other: &Known) -> Known {
        match (&self.0, &other.0) {
            (_, None) => self.clone(),
            (None, _) => other.clone(),
            (Some(own), Some(others)) if others.kinds.keys().all(|value| own.kinds.contains_key(value)) => self.clone(),
            (Some(own), Some(others)) => {
                Known::new(own.kinds.iter().chain(&others.kinds).map(|(value, kind)| (value.clone(), *kind)))
            }
        }
    }

    /// Returns the credentials in a text, in order and without overlaps: those that [`find`] detects by their shape, the values of
    /// this set, and pieces of these values next to a truncation mark.
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        let mut found = self.find_whole(text);
        let Some(values) = &self.0 else { return found };
        let whole = found.len();
        for at in memchr::memmem::find_iter(text, CUT) {
            found.extend(values.piece_before(text, at));
            found.extend(values.piece_behind(text, at + CUT.len()));
        }
        if found.len() > whole { apart(found) } else { found }
    }

    /// As [`Known::find`], without pieces of values.
    pub fn find_whole(&self, text: &[u8]) -> Vec<Secret> {
        let mut found = find(text);
        let Some(values) = &self.0 else { return found };
        let shaped = found.len();
        found.extend(through_colors(text, |text| values.hits(text).collect()));
        if found.len() > shaped { apart(found) } else { found }
    }

    /// Returns the values of this set in a text, and nothing else.
    pub fn find_values(&self, text: &[u8]) -> Vec<Secret> {
        let hits = |values: &Arc<Values>| through_colors(text, |text| values.hits(text).collect());
        self.0.as_ref().map(hits).unwrap_or_default()
    }

    /// Replaces each credential in a text with `[secret:KIND]`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        with_placeholders(text, &self.find(text.as_bytes()))
    }

    /// As [`Known::mask`], only for the values of this set.
    pub fn mask_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        with_placeholders(text, &self.find_values(text.as_bytes()))
    }

    /// As [`Known::mask`], for the start of a longer text, which can end inside a value.
    pub fn mask_start(&self, text: &str) -> String {
        let masked = self.mask(&format!("{text}{CUT}")).into_owned();
        masked.strip_suffix(CUT).map(str::to_owned).unwrap_or(masked)
    }

    fn has_part(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        word.len() >= SHORTEST_PIECE && self.0.as_ref().is_some_and(|values| values.has_part(word.as_bytes()))
    }

    /// Masks the values of this set in the stored excerpts of a session: previews, targets, keywords,
    /// excerpts, titles, origins.
    pub fn hide_in(&self, session: &mut Session) {
        self.hide(&mut session.blocks, &mut session.origins, &mut session.rows);
    }

    /// As [`Known::hide_in`], in a segment of a file.
    pub fn hide_in_segment(&self, segment: &mut Segment) {
        self.hide(&mut segment.blocks, &mut segment.origins, &mut segment.rows);
    }

    fn hide(&self, blocks: &mut [Block], origins: &mut [Origin], rows: &mut [Row]) {
        if self.is_empty() {
            return;
        }
        let hide = |text: &mut Box<str>| {
            // A preview in which values were masked is shorter than the part of the text that it shows.
            let cut = text.chars().count() >= PREVIEW_CHARACTERS || text.contains(MASKED);
            let hidden = if cut { self.mask_start(text) } else { self.mask(text).into_owned() };
            if hidden != **text {
                *text = hidden.into();
            }
        };
        for block in blocks {
            hide(&mut block.preview);
            if let Some(tool) = &mut block.tool {
                hide(&mut tool.target);
            }
            if let Some(excerpts) = &mut block.excerpts {
                for texts in [&mut excerpts.files, &mut excerpts.rules] {
                    let masked: Vec<String> = texts.iter().map(|text| self.mask(text).into_owned()).collect();
                    *texts = masked.iter().map(String::as_str).collect();
                }
                let has_part = |clause: &str| clause.split(' ').any(|word| self.has_part(word));
                excerpts.clauses = excerpts.clauses.iter().filter(|clause| !has_part(clause)).collect();
            }
            if block.keywords.iter().any(|word| self.has_part(word)) {
                block.keywords = block.keywords.iter().filter(|word| !self.has_part(word)).collect();
            }
        }
        for origin in origins {
            for text in [&mut origin.directory, &mut origin.branch] {
                *text = self.mask(text).into_owned();
            }
        }
        for row in rows {
            if let Some(Event::Title { text, .. }) = row.event.as_deref_mut() {
                *text = self.mask_start(text);
            }
        }
    }
}

impl Values {
    fn hits<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Secret> + 'a {
        self.automaton.find_iter(text).map(|hit| {
            let kind = self.forwards.get(hit.pattern().as_usize()).and_then(|value| self.kinds.get(value));
            Secret { range: hit.range(), kind: kind.copied().unwrap_or("named-secret") }
        })
    }

    fn has_part(&self, word: &[u8]) -> bool {
        let end = |&(value, start): &(u32, u32)| -> &[u8] {
            self.forwards.get(value as usize).and_then(|value| value.as_bytes().get(start as usize..)).unwrap_or_default()
        };
        let ends = self.ends.get_or_init(|| {
            let of_value = |(place, value): (usize, &String)| (0..value.len()).map(move |start| (place as u32, start as u32));
            let mut ends: Vec<(u32, u32)> = self.forwards.iter().enumerate().flat_map(of_value).collect();
            ends.sort_unstable_by(|a, b| end(a).cmp(end(b)));
            ends
        });
        ends.get(ends.partition_point(|place| end(place) < word)).is_some_and(|place| end(place).starts_with(word))
    }

    /// Returns the start of a value that ends at an offset.
    fn piece_before(&self, text: &[u8], end: usize) -> Option<Secret> {
        let word = text[..end].iter().rev().take(LONGEST_PIECE).take_while(|byte| byte.is_ascii_graphic()).count();
        let word = &text[end - word..end];
        (0..(word.len() + 1).saturating_sub(SHORTEST_PIECE)).find_map(|start| {
            let kind = self.kind_of_piece(&self.forwards, word[start..].to_ascii_lowercase(), |value| value.to_owned())?;
            Some(Secret { range: end - word.len() + start..end, kind })
        })
    }

    /// Returns the end of a value that starts at an offset.
    fn piece_behind(&self, text: &[u8], start: usize) -> Option<Secret> {
        let word = text[start..].iter().take(LONGEST_PIECE).take_while(|byte| byte.is_ascii_graphic()).count();
        (SHORTEST_PIECE..=word).rev().find_map(|length| {
            let piece: Vec<u8> = text[start..start + length].iter().rev().map(u8::to_ascii_lowercase).collect();
            let kind = self.kind_of_piece(&self.backwards, piece, |value| value.chars().rev().collect())?;
            Some(Secret { range: start..start + length, kind })
        })
    }

    fn kind_of_piece(&self, sorted: &[String], piece: Vec<u8>, value: impl Fn(&str) -> String) -> Option<&'static str> {
        let piece = String::from_utf8(piece).ok()?;
        let place = sorted.partition_point(|value| *value < piece);
        let whole = sorted.get(place).filter(|whole| whole.starts_with(&piece))?;
        self.kinds.get(&value(whole)).copied()
    }
}

/// Returns the parts of the found credentials that must be masked elsewhere as well: values that are only recognizable by their
/// context, and the lines of private keys.
fn find_named_values(text: &[u8], found: &[Secret]) -> Vec<(Range<usize>, &'static str)> {
    let mut named = Vec::new();
    for secret in found {
        let value = &text[secret.range.clone()];
        if secret.kind == super::PRIVATE_KEY_KIND {
            let mut start = secret.range.start;
            for line in value.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))) {
                let end = start + line.len();
                // In JSON, a line follows the letter of an escaped line feed.
                let escaped = text[..start].ends_with(b"\\") && matches!(line.first(), Some(b'n' | b'r' | b't'));
                let from = start + usize::from(escaped);
                if end - from >= SHORTEST_LINE {
                    named.push((from..end, secret.kind));
                }
                start = end + 1;
            }
        } else if KINDS.contains(&secret.kind) && is_distinct(value) {
            named.push((secret.range.clone(), secret.kind));
        }
    }
    named
}

/// The kind of a text that a person chose.
pub const CHOSEN_KIND: &str = "text";

/// Creates the set of texts that a person chose, also in the forms that they have in JSON and in JSON within JSON.
pub fn chosen<'a>(texts: impl IntoIterator<Item = &'a str>) -> Known {
    let escaped = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
    };
    let forms = texts.into_iter().flat_map(|text| [text.to_owned(), escaped(text), escaped(&escaped(text))]);
    Known::new(forms.map(|form| (form, CHOSEN_KIND)))
}

/// Returns the texts that a person chose, from the JSON of a value before and after they were replaced: by placeholders, or by
/// asterisks of the same length.
pub fn replaced_texts(before: &str, after: &str) -> Vec<String> {
    let placeholder = format!("[secret:{CHOSEN_KIND}]");
    let mut texts: Vec<&str> = Vec::new();
    if before.len() == after.len() && !after.contains(&placeholder) {
        let mut start = 0;
        for run in after.split_inclusive(|c| c != '*') {
            let stars = run.len() - run.trim_start_matches('*').len();
            texts.extend(
                before.get(start..start + stars).filter(|text| !text.is_empty() && text.bytes().any(|byte| byte != b'*')),
            );
            start += run.len();
        }
    } else {
        let mut pieces = after.split(placeholder.as_str());
        let mut rest = pieces.next().and_then(|first| before.strip_prefix(first)).unwrap_or_default();
        for piece in pieces {
            let end = if piece.is_empty() { Some(rest.len()) } else { rest.find(piece) };
            let Some(end) = end.filter(|end| *end > 0) else { break };
            texts.push(&rest[..end]);
            rest = &rest[end + piece.len()..];
        }
    }
    let plain = |text: &str| serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned());
    texts.into_iter().map(plain).collect()
}

/// Returns true if a value is not used as a word in ordinary text.
fn is_distinct(value: &[u8]) -> bool {
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    value.len() >= SHORTEST && digits && letters || value.len() >= 12 && super::values::is_mixed(value)
}

/// Returns true if a text has a word that could be marked as a credential elsewhere in the session.
pub fn could_be_named(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_graphic()).any(|word| is_distinct(word.as_bytes()) && !word.starts_with(MASKED))
}

/// Returns the positions of named credentials in a text. `row` and `block` identify the source of the text.
pub fn places(text: &str, found: &[Secret], row: u32, block: u32) -> Vec<SecretPlace> {
    let place = |(range, kind): (Range<usize>, &str)| SecretPlace {
        row,
        block,
        start: range.start as u32,
        length: range.len() as u32,
        kind: KINDS.iter().position(|known| *known == kind).unwrap_or_default() as u8,
        hash: XxHash3_64::oneshot(&text.as_bytes()[range]) as u32,
    };
    find_named_values(text.as_bytes(), found).into_iter().map(place).collect()
}

/// Returns the kind of the credential at a place.
pub fn kind_of(place: &SecretPlace) -> &'static str {
    KINDS.get(usize::from(place.kind)).copied().unwrap_or(KINDS[0])
}

/// Returns the values that a text marks as credentials.
pub fn named_in(text: &str) -> Vec<(String, &'static str)> {
    let value = |(range, kind): (Range<usize>, _)| Some((text.get(range)?.to_owned(), kind));
    find_named_values(text.as_bytes(), &find(text.as_bytes())).into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Known {
        Known::new(named_in(text))
    }

    #[track_caller]
    fn check(naming: &str, text: &str, expected: &str) {
        assert_eq!(known(naming).mask(text), expected);
    }

    #[test]
    fn a_named_value_is_masked_wherever_it_appears() {
        check("password: hunter2x7yz", "use hunter2x7yz, Hunter2X7YZ", "use [secret:password], [secret:password]");
        check("password: hunter2x7yz", "xhunter2x7yzz", "x[secret:password]z");
        check("nothing here", "use hunter2x7yz", "use hunter2x7yz");
        check("PGPASSWORD=hunter2x7yzQ==", "a hunter2x7yzQ b", "a [secret:password] b");
        check("PGPASSWORD=hunter2x7yz", "a hunter2x… b", "a [secret:password]… b");
        check("PGPASSWORD=hunter2x7yz", "a …ter2x7yz b", "a …[secret:password] b");
    }

    #[test]
    fn lines_of_a_private_key_are_masked_alone() {
        let line = "MIIEvq7Rz2mWk9TxB4lNvC8dFhGjPsYuEoIaDcXbZ1234567890+/";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----");
        check(&key, &format!("1→{line}"), "1→[secret:private-key]");
        let in_json = serde_json::Value::from(key).to_string();
        check(&in_json, &format!("1→{line}"), "1→[secret:private-key]");
        check(&serde_json::Value::from(in_json).to_string(), &format!("1→{line}"), "1→[secret:private-key]");
    }

    #[test]
    fn sets_are_joined() {
        let both = known("password: hunter2x7yz").with(&known("token = a1b2c3d4e5"));
        assert_eq!(both.mask("hunter2x7yz a1b2c3d4e5"), "[secret:password] [secret:named-token]");
        assert!(Known::default().with(&Known::default()).is_empty());
    }

    #[test]
    fn replaced_texts_are_known_again() {
        let check = |before: &str, after: &str, expected: &[&str]| assert_eq!(replaced_texts(before, after), expected);
        check(r#""a b\"c d e""#, r#""a [secret:text] d [secret:text]""#, &["b\"c", "e"]);
        check("\"say open1 now\"", "\"say ***** now\"", &["open1"]);
        check("\"other\"", "\"text\"", &[]);
        assert_eq!(chosen(["b\"c"]).find_values(br#"x b\"c y"#).len(), 1);
    }

    #[test]
    fn overlapping_values_are_one() {
        let text = "password: hunter2x7yz";
        assert_eq!(known(text).mask(text), "password: [secret:password]");
        check("password: hunter2x7yz", "https://u:hunter2x7yz@host", "https://u:[secret:password-in-address]@host");
    }
}
