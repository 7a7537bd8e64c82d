//! The telling words of a text: code-aware, without the words that everybody uses.

use crate::model::limits::KEYWORDS_PER_BLOCK;
use crate::model::{Block, BlockKind, Role};
use rustc_hash::FxHashMap;

/// How much of a text is looked at, in bytes: a text says early what it is about.
const LOOK_BYTES: usize = 4096;
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=20;

/// English words, words of code and words of tools that tell nothing about a topic; sorted.
const STOP_WORDS: &[&str] = &[
    "able",
    "about",
    "above",
    "actually",
    "add",
    "added",
    "adding",
    "after",
    "again",
    "against",
    "all",
    "already",
    "also",
    "always",
    "and",
    "another",
    "any",
    "anything",
    "are",
    "around",
    "ask",
    "async",
    "available",
    "await",
    "back",
    "based",
    "because",
    "been",
    "before",
    "being",
    "below",
    "best",
    "better",
    "between",
    "bin",
    "bool",
    "both",
    "but",
    "call",
    "called",
    "can",
    "cannot",
    "case",
    "change",
    "changed",
    "changes",
    "check",
    "class",
    "code",
    "com",
    "command",
    "commands",
    "complete",
    "completed",
    "const",
    "content",
    "continue",
    "could",
    "create",
    "created",
    "current",
    "currently",
    "data",
    "def",
    "default",
    "description",
    "dev",
    "did",
    "different",
    "does",
    "doing",
    "don",
    "done",
    "down",
    "each",
    "edit",
    "either",
    "else",
    "ensure",
    "entire",
    "env",
    "err",
    "error",
    "etc",
    "even",
    "every",
    "everything",
    "exactly",
    "example",
    "existing",
    "exists",
    "exit",
    "expected",
    "export",
    "false",
    "few",
    "file",
    "files",
    "final",
    "find",
    "fine",
    "first",
    "fix",
    "fixed",
    "fmt",
    "following",
    "for",
    "found",
    "from",
    "full",
    "func",
    "function",
    "get",
    "gets",
    "getting",
    "github",
    "give",
    "given",
    "good",
    "got",
    "great",
    "had",
    "has",
    "have",
    "help",
    "her",
    "here",
    "him",
    "his",
    "home",
    "how",
    "however",
    "http",
    "https",
    "implement",
    "import",
    "include",
    "including",
    "information",
    "inside",
    "instead",
    "int",
    "into",
    "issue",
    "its",
    "just",
    "keep",
    "know",
    "last",
    "later",
    "let",
    "lib",
    "like",
    "line",
    "lines",
    "list",
    "local",
    "long",
    "look",
    "looking",
    "looks",
    "made",
    "main",
    "make",
    "makes",
    "making",
    "many",
    "may",
    "maybe",
    "mean",
    "means",
    "might",
    "mod",
    "more",
    "most",
    "much",
    "must",
    "name",
    "need",
    "needed",
    "needs",
    "never",
    "new",
    "next",
    "nil",
    "none",
    "not",
    "note",
    "nothing",
    "now",
    "null",
    "number",
    "object",
    "off",
    "okay",
    "old",
    "once",
    "one",
    "only",
    "open",
    "option",
    "options",
    "org",
    "other",
    "our",
    "out",
    "output",
    "over",
    "own",
    "package",
    "part",
    "path",
    "perfect",
    "please",
    "possible",
    "pre",
    "print",
    "private",
    "probably",
    "problem",
    "project",
    "proper",
    "properly",
    "pub",
    "public",
    "put",
    "read",
    "ready",
    "really",
    "reminder",
    "remove",
    "removed",
    "replace",
    "repo",
    "request",
    "result",
    "results",
    "return",
    "returns",
    "review",
    "right",
    "run",
    "running",
    "runs",
    "same",
    "say",
    "see",
    "self",
    "set",
    "should",
    "show",
    "shows",
    "side",
    "simple",
    "since",
    "single",
    "small",
    "some",
    "something",
    "src",
    "start",
    "started",
    "state",
    "static",
    "step",
    "still",
    "str",
    "string",
    "strings",
    "struct",
    "such",
    "sure",
    "system",
    "take",
    "task",
    "tasks",
    "tell",
    "text",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "through",
    "time",
    "tmp",
    "too",
    "tool",
    "tools",
    "true",
    "try",
    "trying",
    "turn",
    "two",
    "type",
    "under",
    "understand",
    "until",
    "update",
    "updated",
    "use",
    "used",
    "user",
    "users",
    "uses",
    "using",
    "usr",
    "value",
    "values",
    "var",
    "very",
    "via",
    "void",
    "want",
    "was",
    "way",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "work",
    "working",
    "works",
    "workspace",
    "would",
    "write",
    "written",
    "wrong",
    "yes",
    "yet",
    "you",
    "your",
];

/// The most telling words of a block, best first; none for thinking, pictures and what the client adds.
pub fn of_block(block: &Block, text: &str) -> Vec<Box<str>> {
    if matches!(block.kind, BlockKind::Thinking | BlockKind::Image | BlockKind::Attachment | BlockKind::Other) {
        return Vec::new();
    }
    let text = if block.role == Role::ToolUse { tail(block.target()) } else { text };
    let mut end = text.len().min(LOOK_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let prose = matches!(block.role, Role::User | Role::Assistant);
    let mut weights: FxHashMap<String, f32> = FxHashMap::default();
    for line in text.lines().filter(|line| !line.starts_with("<system-reminder>")) {
        let mut previous: Option<String> = None;
        for (word, plain) in words(line) {
            if prose
                && plain
                && let Some(first) = previous.take().filter(|first| *first != word)
            {
                *weights.entry(format!("{first} {word}")).or_default() += 1.2;
            }
            *weights.entry(word.clone()).or_default() += 1.0;
            previous = Some(word);
        }
    }
    let mut ranked: Vec<(String, f32)> = weights.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // A pair that was said once only hides its words.
    ranked.retain(|(word, weight)| !word.contains(' ') || *weight > 2.0);
    ranked.truncate(KEYWORDS_PER_BLOCK);
    ranked.into_iter().map(|(word, _)| word.into()).collect()
}

/// The end of a path, which is its own; its beginning is that of the whole project. Anything else as it is.
fn tail(target: &str) -> &str {
    let absolute = !target.contains(' ') && target.starts_with('/');
    target.rmatch_indices('/').nth(1).filter(|_| absolute).map_or(target, |(at, _)| &target[at..])
}

/// The words of a line, in lower case, identifiers and paths taken apart; and whether each follows the one before after a single space.
pub fn words(line: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut follows = false;
    for token in line.split(' ') {
        let whole = token.trim_matches(|c: char| !c.is_alphanumeric());
        let simple = !whole.is_empty() && whole.chars().all(char::is_alphabetic);
        // What mixes letters and many digits is an identifier of the moment: a hash, a key, a time.
        if whole.bytes().filter(u8::is_ascii_digit).count() > 3 {
            follows = false;
            continue;
        }
        for part in whole.split(|c: char| !c.is_alphabetic()).flat_map(humps) {
            let word = part.to_lowercase();
            if WORD_BYTES.contains(&word.len()) && STOP_WORDS.binary_search(&&*word).is_err() {
                words.push((word, follows && simple));
                follows = simple && token.ends_with(whole);
            } else {
                follows = false;
            }
        }
    }
    words
}

/// The parts of a camelCase name.
fn humps(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let characters: Vec<(usize, char)> = name.char_indices().collect();
    for place in 1..characters.len() {
        let (at, here) = characters[place];
        let before = characters[place - 1].1;
        let ends_acronym = characters.get(place + 1).is_some_and(|(_, after)| after.is_lowercase());
        if here.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && ends_acronym)) {
            parts.push(&name[start..at]);
            start = at;
        }
    }
    parts.push(&name[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        assert_eq!(words(line).into_iter().map(|(word, _)| word).collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn names_are_taken_apart() {
        check("parseHTTPHeader", &["parse", "header"]);
        check("snake_case_word", &["snake", "word"]);
        check("/src/engine/heat.rs", &["engine", "heat"]);
    }

    #[test]
    fn common_words_and_numbers_are_left_out() {
        check("please fix the file", &[]);
        check("commit 4f3a9b21c7 done", &["commit"]);
    }

    #[test]
    fn a_repeated_pair_is_one_keyword() {
        let block = Block::new(BlockKind::Text, Role::User);
        let keywords = of_block(&block, "database schema, then the database schema again");
        assert!(keywords.iter().any(|word| &**word == "database schema"), "{keywords:?}");
    }
}
