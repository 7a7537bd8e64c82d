//! Words without information about the topic of a text.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// English words, words of code and words of tools without information about a topic; sorted. Selected manually for agent contents;
/// not a published list.
const STOP_WORDS: &[&str] = &[
    "able", "about", "above", "actually", "add", "added", "adding", "after", "again", "against", "all", "already", "also",
    "always", "and", "another", "any", "anything", "are", "around", "ask", "async", "available", "await", "back", "based",
    "because", "been", "before", "being", "below", "best", "better", "between", "bin", "bool", "both", "but", "call", "called",
    "can", "cannot", "case", "change", "changed", "changes", "check", "class", "code", "com", "command", "commands", "complete",
    "completed", "const", "content", "continue", "could", "create", "created", "current", "currently", "data", "def", "default",
    "description", "dev", "did", "different", "does", "doing", "don", "done", "down", "each", "edit", "either", "else", "ensure",
    "entire", "env", "err", "error", "etc", "even", "every", "everything", "exactly", "example", "existing", "exists", "exit",
    "expected", "export", "false", "few", "file", "files", "final", "find", "fine", "first", "fix", "fixed", "fmt", "following",
    "for", "found", "from", "full", "func", "function", "get", "gets", "getting", "github", "give", "given", "good", "got",
    "great", "had", "has", "have", "help", "her", "here", "him", "his", "home", "how", "however", "http", "https", "implement",
    "import", "include", "including", "information", "inside", "instead", "int", "into", "issue", "its", "just", "keep", "know",
    "last", "later", "let", "lib", "like", "line", "lines", "list", "local", "long", "look", "looking", "looks", "made", "main",
    "make", "makes", "making", "many", "may", "maybe", "mean", "means", "might", "mod", "more", "most", "much", "must", "name",
    "need", "needed", "needs", "never", "new", "next", "nil", "none", "not", "note", "nothing", "now", "null", "number",
    "object", "off", "okay", "old", "once", "one", "only", "open", "option", "options", "org", "other", "our", "out", "output",
    "over", "own", "package", "part", "path", "perfect", "please", "possible", "pre", "print", "private", "probably", "problem",
    "project", "proper", "properly", "pub", "public", "put", "read", "ready", "really", "reminder", "remove", "removed",
    "replace", "repo", "request", "result", "results", "return", "returns", "review", "right", "run", "running", "runs", "same",
    "say", "see", "self", "set", "should", "show", "shows", "side", "simple", "since", "single", "small", "some", "something",
    "src", "start", "started", "state", "static", "step", "still", "str", "string", "strings", "struct", "such", "sure",
    "system", "take", "task", "tasks", "tell", "text", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "thing", "things", "think", "this", "those", "through", "time", "tmp", "too", "tool", "tools", "true", "try", "trying",
    "turn", "two", "type", "under", "understand", "until", "update", "updated", "use", "used", "user", "users", "uses", "using",
    "usr", "value", "values", "var", "very", "via", "void", "want", "was", "way", "well", "were", "what", "when", "where",
    "whether", "which", "while", "who", "why", "will", "with", "within", "without", "work", "working", "works", "workspace",
    "would", "write", "written", "wrong", "yes", "yet", "you", "your",
];

/// English words that nearly every sentence has; sorted. A part of a query only if it has no others.
const FUNCTION_WORDS: &[&str] = &[
    "a", "all", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "did", "do", "does", "for",
    "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "my",
    "not", "of", "on", "or", "our", "she", "should", "so", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
    "would", "you", "your",
];

/// Returns true if nearly every English sentence has a lowercase word.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Returns true if a lowercase word carries no information about the topic of a text.
pub fn is_stop_word(word: &str) -> bool {
    static KNOWN: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| STOP_WORDS.iter().copied().collect());
    KNOWN.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted() && FUNCTION_WORDS.is_sorted());
    }
}
