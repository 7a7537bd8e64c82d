//! Texts as such: shell commands, sentences, names, JSON. Functions of strings; they know no session, no client and no disk.

pub mod clauses;
pub mod command_heads;
pub mod cut;
pub mod differences;
pub mod errors;
pub mod json;
pub mod lists;
pub mod names;
pub mod sentence;
pub mod shell;
pub mod stop_words;
pub mod words;
