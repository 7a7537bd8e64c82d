//! Compares statements: equal topics, opposites, and the facts that a newer statement must not lose.

use super::statements::is_function_word;
use crate::text::lists::word_lists;
use crate::text::stop_words::is_stop_word;
use crate::text::words::stem;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeSet;
use std::hash::BuildHasher as _;

/// The share of common words from which two statements have one topic.
const SAME: f64 = 0.6;
/// The share of the words of the older statement that a longer newer one must contain.
const CONTAINED: f64 = 0.8;
/// The minimum number of common words of one topic.
const COMMON_WORDS: usize = 3;
/// The minimum number of words that a statement shares with one that may contain it, and their share of its words.
const SHARED_WORDS: usize = 2;
const SHARED: f64 = 0.4;
/// The maximum number of facts that a newer statement takes over from an older one.
const CARRIED: usize = 3;
/// Content words that a negation applies to, at most.
const NEGATED_WORDS: usize = 4;

word_lists! { "topic.txt": NEGATIONS, WEAK, PRESENT, DIRECTIONS, VALUE_WORDS }

/// The relation of a newer statement to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Unrelated,
    Same,
    /// The opposite, or another value, where nearly all words agree otherwise.
    Opposite,
}

/// A word or a quoted span of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    written: String,
    plain: String,
    is_fact: bool,
    is_figure: bool,
    ends_clause: bool,
}

impl Token {
    /// Returns the words by which it says what a statement is about, or in which direction. A span of code is a name, but one of several
    /// words is what they are without its quotes.
    fn contents(&self) -> impl Iterator<Item = &str> {
        let is_phrase = self.plain.contains(' ');
        self.plain.split_whitespace().filter_map(move |word| {
            let is_name = self.is_fact && !is_phrase || word.contains(['-', '_', '/', '.']);
            let says = is_name || DIRECTIONS.contains(&word) || !is_function_word(word);
            says.then(|| if is_name { word } else { stem(word) })
        })
    }
}

/// A statement, prepared for comparisons.
#[derive(Default)]
pub struct Topic {
    tokens: Vec<Token>,
    positive: BTreeSet<String>,
    negative: BTreeSet<String>,
    /// The stems of its content words and its words of direction, in order, and whether a negation applies to each.
    said: Vec<(String, bool)>,
    /// True if it asks: it may favour what it negates, as `can't we use tabs?`.
    is_question: bool,
}

impl Topic {
    pub fn new(text: &str) -> Topic {
        let statement = split_context(text).0;
        let mut tokens = tokens(statement);
        tokens.retain(|token| !PRESENT.contains(&&*token.plain));
        Topic { is_question: statement.trim_end().ends_with(['?', '？']), ..Topic::of(tokens) }
    }

    fn of(tokens: Vec<Token>) -> Topic {
        let mut topic = Topic::default();
        let (mut negated, mut is_negated) = (0, false);
        for token in &tokens {
            if NEGATIONS.contains(&&*token.plain) {
                // `no, use tabs` negates what was said before.
                is_negated = !token.ends_clause;
                negated = if is_negated { NEGATED_WORDS } else { 0 };
                continue;
            }
            topic.said.extend(token.contents().map(|word| (word.to_owned(), is_negated)));
            if token.is_fact || !is_stop_word(&token.plain) {
                let words = if negated > 0 { &mut topic.negative } else { &mut topic.positive };
                words.insert(token.plain.clone());
                negated = negated.saturating_sub(1);
            }
            if token.ends_clause {
                (negated, is_negated) = (0, false);
            }
        }
        Topic { tokens, ..topic }
    }

    /// Returns true if one of two statements says all that the other says, in its order. A question does not tell what it is against.
    fn covers(&self, other: &Topic) -> bool {
        let (long, short) = if self.said.len() < other.said.len() { (other, self) } else { (self, other) };
        let asks = self.is_question || other.is_question;
        let mut rest = long.said.iter();
        short.said.iter().all(|(word, negated)| rest.any(|known| known.0 == *word && (asks || known.1 == *negated)))
    }

    /// Returns true if what one statement is for and another one against may be the same: in the same order, and not of two things.
    fn may_oppose(&self, other: &Topic) -> bool {
        let both = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            let common = |topic: &Topic| {
                let plain = topic.tokens.iter().map(|token| token.plain.clone());
                plain.filter(|word| a.contains(word) && b.contains(word)).collect::<Vec<_>>()
            };
            common(self) == common(other)
        };
        let has_own = |one: &Topic, other: &BTreeSet<&String>| {
            one.tokens.iter().any(|token| token.is_fact && !other.contains(&token.plain))
        };
        both(&self.positive, &other.negative)
            && both(&self.negative, &other.positive)
            && !(has_own(self, &other.words()) && has_own(other, &self.words()))
    }

    fn words(&self) -> BTreeSet<&String> {
        self.positive.union(&self.negative).collect()
    }

    /// Returns the keys of the statement without one of its values, for each of them. See [`gives_other_value`].
    fn with_other_values(&self) -> impl Iterator<Item = u64> {
        let plain: Vec<&str> = self.tokens.iter().map(|token| &*token.plain).collect();
        let values = (0..plain.len())
            .filter(|place| self.tokens[*place].is_fact && (self.tokens[*place].is_figure || follows_name(&self.tokens, *place)));
        values.map(move |place| FxBuildHasher.hash_one((&plain[..place], &plain[place + 1..])))
    }
}

/// Returns the key of a statement: equal for texts that say the same in the same order. Stable across runs.
pub fn statement_key(text: &str) -> u64 {
    let said = Topic::new(text).said;
    if said.is_empty() {
        return fnv(FNV_START, text.to_lowercase().as_bytes());
    }
    said.iter().fold(FNV_START, |hash, (word, negated)| fnv(fnv(hash, word.as_bytes()), &[u8::from(*negated)]))
}

/// Offset basis and prime of FNV-1a with 64 bits: keys are stored, so their hash must not depend on a library's version.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Continues the FNV-1a hash of bytes.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// Finds the statements that can be related to another one, by parts that each relation needs in common.
#[derive(Default)]
pub struct TopicIndex {
    places: FxHashMap<u64, Vec<usize>>,
    /// The number of statements with a word.
    frequencies: FxHashMap<String, u32>,
}

impl TopicIndex {
    /// Adds the statement at a place; one whose text changed is added again.
    pub fn insert(&mut self, place: usize, topic: &Topic) {
        let mut words: Vec<(u32, &String)> = Vec::new();
        for word in topic.words() {
            let frequency = self.frequencies.entry(word.clone()).or_default();
            *frequency += 1;
            words.push((*frequency, word));
        }
        words.sort_unstable();
        // Statements with one topic have at least the share `SAME` of these words in common, and so one of the rarest.
        let rarest = ((1.0 - SAME) * words.len() as f64 + f64::EPSILON * 100.0).floor() as usize + 1;
        let mut keys: Vec<u64> = words.iter().take(rarest).map(|(_, word)| FxBuildHasher.hash_one(word)).collect();
        keys.extend(topic.with_other_values());
        for key in keys {
            self.places.entry(key).or_default().push(place);
        }
    }

    /// Returns the places of the statements that can be related to one; that of any other is [`Relation::Unrelated`].
    pub fn near(&self, topic: &Topic) -> BTreeSet<usize> {
        let words = topic.words().into_iter().map(|word| FxBuildHasher.hash_one(word));
        let keys = words.chain(topic.with_other_values());
        keys.filter_map(|key| self.places.get(&key)).flatten().copied().collect()
    }
}

/// Returns the relation of a newer statement to an older one.
pub fn relation(old: &Topic, new: &Topic) -> Relation {
    let has = |word: &String| new.positive.contains(word) || new.negative.contains(word);
    if !old.positive.iter().chain(&old.negative).any(has) {
        return Relation::Unrelated;
    }
    let (old_words, new_words) = (old.words(), new.words());
    let common = old_words.intersection(&new_words).count();
    let union = old_words.union(&new_words).count();
    let (share, contained) = (common as f64 / union as f64, common as f64 / old_words.len() as f64);
    let strong = |words: &BTreeSet<String>, others: &BTreeSet<String>| {
        words.intersection(others).filter(|word| !WEAK.contains(&&***word)).count()
    };
    let opposed = strong(&old.positive, &new.negative) + strong(&old.negative, &new.positive);
    let agreed = strong(&old.positive, &new.positive) + strong(&old.negative, &new.negative);
    let asks = old.is_question || new.is_question;
    let is_opposite = opposed > 0 && opposed >= agreed && share >= SAME && old.may_oppose(new) || gives_other_value(old, new);
    if is_opposite && !asks {
        return Relation::Opposite;
    }
    let is_near = old_words == new_words
        || (common >= COMMON_WORDS && (share >= SAME || (contained >= CONTAINED && new_words.len() > old_words.len())));
    if is_near && old.covers(new) { Relation::Same } else { Relation::Unrelated }
}

/// Returns true if a statement may say nothing that another one does not say in other words: it shares enough words, has no critical fact
/// of its own, and is not against it.
pub fn may_be_contained(statement: &Topic, other: &Topic) -> bool {
    let (words, others) = (statement.words(), other.words());
    let common = words.intersection(&others).count();
    let has_fact = |token: &Token| other.tokens.iter().any(|known| known.is_fact && known.plain == token.plain);
    common >= SHARED_WORDS
        && common as f64 / words.len() as f64 >= SHARED
        && statement.tokens.iter().filter(|token| token.is_fact).all(has_fact)
        && relation(statement, other) != Relation::Opposite
}

/// Returns true if a newer statement has the words of an older one but for one value.
pub fn gives_other_value(old: &Topic, new: &Topic) -> bool {
    let (old, new) = (&old.tokens, &new.tokens);
    if old.len() != new.len() {
        return false;
    }
    let different: Vec<usize> = (0..old.len()).filter(|place| old[*place].plain != new[*place].plain).collect();
    let content = old.iter().filter(|token| token.is_fact || !is_stop_word(&token.plain)).count();
    let [place] = different.as_slice() else { return false };
    let (was, is) = (&old[*place], &new[*place]);
    content >= 2 && was.is_fact && is.is_fact && ((was.is_figure && is.is_figure) || follows_name(old, *place))
}

fn follows_name(tokens: &[Token], place: usize) -> bool {
    place.checked_sub(1).is_some_and(|before| VALUE_WORDS.contains(&&*tokens[before].plain))
}

/// Returns the newer statement with the critical facts of the older one that it lacks; `None` if it lacks so much that it cannot
/// replace the older one. Facts that it contradicts are not taken over.
pub fn carried_over(old: &str, new: &str) -> Option<String> {
    let missing = missing_facts(old, new);
    (missing.len() <= CARRIED).then(|| with_facts(new, &missing))
}

/// Returns the newer statement with all critical facts of the older one.
pub fn carried_over_all(old: &str, new: &str) -> String {
    with_facts(new, &missing_facts(old, new))
}

/// The start of the last line of a correction: what the agent had done before. It is not part of the statement.
pub const CONTEXT: &str = "(after ";

/// Returns a statement and its last line with the context, if it has one.
pub(super) fn split_context(text: &str) -> (&str, &str) {
    let context = text.rfind('\n').filter(|at| text[at + 1..].starts_with(CONTEXT));
    text.split_at(context.unwrap_or(text.len()))
}

fn missing_facts(old: &str, new: &str) -> Vec<String> {
    let [was, is] = [old, new].map(|text| Topic::of(tokens(split_context(text).0)));
    let is_opposed = |plain: &String| {
        (was.positive.contains(plain) && is.negative.contains(plain))
            || (was.negative.contains(plain) && is.positive.contains(plain))
    };
    let replaced = gives_other_value(&was, &is);
    let lower = new.to_lowercase();
    let mut missing: Vec<String> = Vec::new();
    for token in was.tokens.iter().filter(|token| token.is_fact) {
        let bare = token.plain.trim_matches('`');
        if !replaced && !lower.contains(bare) && !is_opposed(&token.plain) && !missing.contains(&token.written) {
            missing.push(token.written.clone());
        }
    }
    missing
}

fn with_facts(text: &str, facts: &[String]) -> String {
    if facts.is_empty() {
        return text.to_owned();
    }
    let (statement, context) = split_context(text);
    format!("{statement} (earlier: {}){context}", facts.join(", "))
}

/// Splits a text into words and spans of code.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut begins = true;
    for (place, part) in text.split('`').enumerate() {
        if place % 2 == 1 && !part.trim().is_empty() && !part.contains('\n') {
            let plain = part.trim().to_lowercase();
            let is_figure = plain.starts_with(|c: char| c.is_ascii_digit());
            found.push(Token { written: format!("`{}`", part.trim()), plain, is_fact: true, is_figure, ends_clause: false });
            begins = false;
            continue;
        }
        for (index, word) in part.split_whitespace().enumerate() {
            let trimmed = word.trim_matches(|c: char| ".,;:!?()[]{}\"'*„“”«»→…".contains(c));
            let ends_clause = word.ends_with([',', ';', '.', ':', '!', '?', ')']);
            if index == 0
                && ends_clause
                && trimmed.is_empty()
                && let Some(last) = found.last_mut()
            {
                // Punctuation directly after a span of code.
                let last: &mut Token = last;
                last.ends_clause = true;
            }
            if !trimmed.is_empty() {
                let is_figure = trimmed.trim_start_matches(['v', '$', '€', '£']).starts_with(|c: char| c.is_ascii_digit());
                let is_fact = is_figure || is_name(trimmed, begins);
                found.push(Token { written: trimmed.to_owned(), plain: trimmed.to_lowercase(), is_fact, is_figure, ends_clause });
            }
            begins = word.ends_with(['.', '!', '?', ':']);
        }
    }
    found
}

/// Returns true if a word is a path or a name; a capital letter at the beginning of a sentence is not a sign of one.
fn is_name(word: &str, begins: bool) -> bool {
    let inner = &word[word.chars().next().map_or(0, char::len_utf8)..];
    let is_path = word.len() > 2 && (word.contains('/') || word.contains('\\') || word.contains('_') || word.contains("::"));
    let has_ending = inner.split_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphanumeric));
    let has_capitals = inner.contains(char::is_uppercase);
    let is_capital = !begins && word.starts_with(char::is_uppercase) && word.chars().count() > 1;
    is_path || has_ending || has_capitals || is_capital
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of an older and a newer statement.
    const PAIRS: &[(&str, &str, Relation)] = &[
        ("use `pnpm`", "don't use `pnpm`", Relation::Opposite),
        ("Use pnpm, not npm.", "Use npm, not pnpm.", Relation::Opposite),
        ("Use pnpm, not npm.", "Don't use npm.", Relation::Unrelated),
        ("Use `pnpm`, not `npm`.", "use `pnpm`, never `npm`", Relation::Same),
        ("the API port is 3000", "the API port is 4000", Relation::Opposite),
        ("never spend more than $40", "never spend more than $70", Relation::Opposite),
        ("the default port is 8080", "the default port is 9090 now", Relation::Opposite),
        ("the default branch is `main`", "the default branch is `develop`", Relation::Opposite),
        ("use npm for the docs", "do not use npm in web/", Relation::Unrelated),
        ("run the tests in crates/a", "run the tests in crates/b", Relation::Unrelated),
        ("Commit messages are in English.", "Write commit messages in English, in the imperative.", Relation::Same),
        ("Prefer short functions", "The server needs a restart", Relation::Unrelated),
        ("we can go back to a tag", "if a run ends we go on to the next one as to a list, back home", Relation::Unrelated),
        ("Benutze nicht npm", "Benutze npm", Relation::Opposite),
        ("Use pnpm, not npm.", "use npm for the docs", Relation::Unrelated),
        ("never push to main", "on Fridays we push to main after lunch", Relation::Unrelated),
        ("never push to main", "we push to a fork of the project", Relation::Unrelated),
        ("Don't check this in.", "The tests check what is in the branch of the session, in each case.", Relation::Unrelated),
        ("no, do c", "we do all calls through the client", Relation::Unrelated),
        ("no, use tabs in web/", "use tabs in web/", Relation::Same),
        ("there is no prompt in this sequence", "a new prompt came before the stop", Relation::Unrelated),
        ("can't we use tabs here?", "use tabs here", Relation::Same),
        ("Never import the parser from the lexer.", "Never import the lexer from the parser.", Relation::Unrelated),
        ("Never import the parser from the lexer.", "Import the lexer from the parser.", Relation::Unrelated),
        ("Always use npm instead of pnpm here.", "Always use pnpm instead of npm here.", Relation::Opposite),
        (
            "Never show customer numbers in replies of the API.",
            "Never show customer numbers in replies of the CLI.",
            Relation::Unrelated,
        ),
        (
            "Never show customer numbers in replies of the API.",
            "Show customer numbers in replies of the CLI.",
            Relation::Unrelated,
        ),
        ("Run the slow tests before each push.", "Run the slow tests after each push.", Relation::Unrelated),
        ("Never edit the list of the release.", "Never create the list of the release.", Relation::Unrelated),
        ("Write all commit messages in English.", "Please write all the commit messages in English.", Relation::Same),
    ];

    #[test]
    fn a_key_is_that_of_all_content_words_in_their_order() {
        for (a, b, is_same) in [
            ("use pnpm, not npm", "please use `pnpm` instead of npm", true),
            ("use pnpm, not npm", "use npm, not pnpm", false),
            ("Never push to main", "we should never push to main!", true),
            ("tests live in tests/it", "the tests should live in tests/it", true),
            ("no, use tabs", "use tabs", true),
            ("Always run make check before you push.", "Always run `make check` before you push.", true),
            ("use pnpm", "use yarn", false),
            ("push to main", "never push to main", false),
            ("the cache is shared", "the cache is private", false),
            ("never touch src/a/b.rs", "never touch src/a/c.rs", false),
            ("the port is 3000", "the port is 4000", false),
        ] {
            assert_eq!(statement_key(a) == statement_key(b), is_same, "{a} / {b}");
        }
        for (a, b, relation) in PAIRS.iter().filter(|pair| pair.2 != Relation::Same) {
            assert_ne!(statement_key(a), statement_key(b), "{a} / {b} {relation:?}");
        }
    }

    #[test]
    fn a_statement_may_be_contained_if_it_has_no_fact_of_its_own_and_is_not_against_the_other() {
        for (statement, other, expected) in [
            ("Before a push, nextest runs the tests", "Run the tests with cargo nextest before every push to main", true),
            (
                "Before a push, run the tests of `crates/wire`",
                "Run the tests with cargo nextest before every push to main",
                false,
            ),
            ("Never run the tests before a push", "Run the tests before a push", false),
            ("The port of the database is 5433", "The port of the cache is 6379", false),
            ("Use tabs", "Run the tests before a push", false),
        ] {
            assert_eq!(may_be_contained(&Topic::new(statement), &Topic::new(other)), expected, "{statement}");
        }
    }

    #[test]
    fn statements_are_related() {
        for (old, new, expected) in PAIRS {
            assert_eq!(relation(&Topic::new(old), &Topic::new(new)), *expected, "{old} | {new}");
        }
    }

    #[test]
    fn every_related_statement_is_near_and_few_others_are() {
        let mut texts: Vec<String> = PAIRS.iter().flat_map(|(old, new, _)| [old.to_string(), new.to_string()]).collect();
        let words =
            ["use", "never", "`npm`", "pnpm", "the", "port", "is", "3000", "4000", "push", "to", "main", "Write", "tests,"];
        let mut seed = 7_usize;
        texts.extend((0..400).map(|place| {
            let word = |_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                words[(seed >> 33) % words.len()]
            };
            (0..1 + place % 9).map(word).collect::<Vec<_>>().join(" ")
        }));
        let topics: Vec<Topic> = texts.iter().map(|text| Topic::new(text)).collect();
        let mut index = TopicIndex::default();
        for (place, new) in topics.iter().enumerate() {
            let near = index.near(new);
            let related = (0..place).filter(|old| relation(&topics[*old], new) != Relation::Unrelated);
            let missed: Vec<&str> = related.filter(|old| !near.contains(old)).map(|old| &*texts[old]).collect();
            assert_eq!(missed, [""; 0], "{}", texts[place]);
            index.insert(place, new);
        }
        let mut index = TopicIndex::default();
        let topic = |place: usize| Topic::new(&format!("Always run task{place} before you publish pack{place}, never after it"));
        (0..100).for_each(|place| index.insert(place, &topic(place)));
        assert!(index.near(&topic(100)).len() < 10, "words that all statements have lead to few of them");
    }

    #[test]
    fn facts_are_code_paths_figures_and_names() {
        let found = tokens("Ask Anna before `cargo publish`; src/lib.rs needs 3 reviews by QA, see MyClass. The rest is free.");
        let found: Vec<String> = found.into_iter().filter(|token| token.is_fact).map(|token| token.written).collect();
        assert_eq!(found, ["Anna", "`cargo publish`", "src/lib.rs", "3", "QA", "MyClass"]);
    }

    #[test]
    fn missing_facts_are_carried_over() {
        for (old, new, expected) in [
            (
                "Deploy with `make ship` to eu-1.",
                "Deploy with `make ship` to eu-1 on Fridays.",
                Some("Deploy with `make ship` to eu-1 on Fridays."),
            ),
            (
                "Deploy `web` with `make ship`.",
                "Deploy with `make ship` only.",
                Some("Deploy with `make ship` only. (earlier: `web`)"),
            ),
            ("the port is 3000", "the port is 4000", Some("the port is 4000")),
            ("use `a`, `b`, `c` and `d`", "use `e`", None),
        ] {
            assert_eq!(carried_over(old, new).as_deref(), expected, "{old} | {new}");
        }
        let once = carried_over_all("use `a` and `b`", "use `c`");
        assert_eq!((carried_over_all(&once, "use `c`"), &*once), (once.clone(), "use `c` (earlier: `a`, `b`)"));
    }
}
