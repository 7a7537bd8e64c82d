//! Texts as such: shell commands, sentences, words. Functions of strings; they know no session, no client and no disk.

pub mod sentence;
pub mod shell;
