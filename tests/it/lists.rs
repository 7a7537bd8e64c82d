//! Lists of words in data files: no entry is repeated, and the reader of its list can meet each.

use crate::sandbox::{files_ending, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The way in which a list with phrases is searched: an entry that another one always precedes is never met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// Anywhere in a text.
    Part,
    /// Anywhere in a text, in whole words; ideographs have none.
    Words,
    /// At the start of a text, in whole words.
    Start,
    /// The number, the place or the length of what is found counts, so each entry is met.
    Each,
}

use Search::{Each, Part, Start, Words};

/// Files with their lists of phrases. The entries of all other lists are words.
const PHRASES: &[(&str, Search, &[&str])] = &[
    ("command_heads.txt", Each, &["PUBLISHING", "GROUPS", "LEAVES", "WRAPPER_VALUES", "SHOWS_TEXTS"]),
    ("turn.txt", Each, &["COURTESIES"]),
    ("turn.txt", Words, &["PASSING"]),
    ("rules.txt", Words, &["LASTING", "EXPLICIT_INNER", "HABITS", "MOMENTS", "INSTRUCTIONS", "INNER", "REPORTS"]),
    ("rules.txt", Start, &["RULE_STARTS", "EXPLICIT", "PROHIBITIONS"]),
    ("rules.txt", Each, &["ADVERBS"]),
    ("names.txt", Each, &["ENDINGS"]),
    ("danger.txt", Part, &["SWITCHES", "GRANTS", "UNASKED"]),
    ("open.txt", Start, &["HEADINGS", "STARTS", "ANNOUNCEMENTS"]),
    ("intent.txt", Each, &["INTROSPECTIVE", "PROCEDURAL", "OPERATIONAL", "FACTUAL"]),
    ("error_lines.txt", Part, &["FAILURE_WORDS", "ENVIRONMENT", "USAGE", "MISSING", "OWN_CODE"]),
    ("error_lines.txt", Start, &["ASIDES"]),
    (
        "grammar.txt",
        Words,
        &["REASONS", "STANCES", "ALTERNATIVES", "CONVENTIONS", "REQUESTS", "APPROVALS", "FAILURES", "MOMENTS"],
    ),
    ("grammar.txt", Start, &["OBLIGATIONS", "TASTES", "HEDGES"]),
    ("grammar.txt", Each, &["GENERALITIES"]),
    ("shape.txt", Words, &["TEXT_POINTERS", "SPEAKING", "OWN_LEADS", "OWN_MARKS", "ABOUT_OTHERS"]),
    ("shape.txt", Start, &["GREETINGS", "SIGNATURES", "ROLE_STARTS"]),
];

/// Lists, and those whose words their readers look up before.
const HIDDEN: &[(&str, &[&str])] = &[
    ("BREAKS", &["LIGHT_NOUNS", "TRAILERS", "STOP_WORDS", "FUNCTION_WORDS"]),
    ("EDGES", &["BREAKS", "TRAILERS", "STEPS", "REQUESTS"]),
    ("STOP_WORDS", &["FUNCTION_WORDS"]),
    ("TRIVIAL", &["WRAPPERS", "SHELL_STATE"]),
    ("COMMON", &["WRAPPERS", "SHELL_STATE", "TRIVIAL", "RUNS_TARGETS"]),
    ("SHOWS_TEXTS", &["TRIVIAL"]),
    ("LIGHT", &["NEGATIONS_BEFORE", "NEGATIONS_AROUND"]),
];

/// Returns the entries of all lists, each with the name of its file and of the list.
fn lists() -> BTreeMap<(String, String), Vec<String>> {
    let mut found: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for path in files_ending(&repository().join("src/core"), "txt") {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        for section in text.split("\n= ").skip(1) {
            let (name, lines) = section.split_once('\n').unwrap();
            let words = lines.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split(','));
            let words = words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
            assert!(found.insert((file.clone(), name.to_owned()), words).is_none(), "{file} has {name} twice");
        }
    }
    found
}

/// Returns true if a search for `first` finds it wherever `entry` is.
fn hides(search: Search, first: &str, entry: &str) -> bool {
    let has_words = first.chars().all(|c| c < '\u{2e80}');
    let is_border = |c: Option<char>| !has_words || c.is_none_or(|c| c == ' ');
    let is_whole = |at: usize| is_border(entry[..at].chars().next_back()) && is_border(entry[at + first.len()..].chars().next());
    let mut places = entry.match_indices(first).map(|(at, _)| at);
    first != entry
        && match search {
            Part => places.next().is_some(),
            Words => places.any(is_whole),
            Start => entry.starts_with(first) && is_whole(0),
            Each => false,
        }
}

#[test]
fn no_list_repeats_an_entry() {
    for ((file, name), words) in lists() {
        let mut known = BTreeSet::new();
        let repeated: Vec<&String> = words.iter().filter(|word| !known.insert(*word)).collect();
        assert!(repeated.is_empty(), "{file}, {name}: {repeated:?}");
    }
}

#[test]
fn each_entry_of_a_list_can_be_met() {
    let lists = lists();
    assert!(lists.len() > 100, "{}", lists.len());
    for (file, _, names) in PHRASES {
        assert!(names.iter().all(|name| lists.contains_key(&((*file).to_owned(), (*name).to_owned()))), "{file} lacks a list");
    }
    for ((file, name), words) in &lists {
        let search = PHRASES.iter().find(|(known, _, names)| known == file && names.contains(&&**name)).map(|known| known.1);
        let has_phrase = words.iter().find(|word| word.contains(' '));
        assert!(search.is_some() || has_phrase.is_none(), "{file}, {name}: a word has a space: {has_phrase:?}");
        let Some(search) = search else { continue };
        for entry in words {
            let first = words.iter().find(|first| hides(search, first, entry));
            assert_eq!(first, None, "{file}, {name}: it hides '{entry}'");
        }
    }
}

#[test]
fn no_entry_of_a_list_is_hidden_by_another_list() {
    let lists = lists();
    let list = |wanted: &str| lists.iter().filter(move |((_, name), _)| name == wanted).map(|(_, words)| words).next().unwrap();
    for (name, others) in HIDDEN {
        for other in *others {
            let hidden: Vec<&String> = list(name).iter().filter(|word| list(other).contains(word)).collect();
            assert!(hidden.is_empty(), "{other} hides words of {name}: {hidden:?}");
        }
    }
}
