//! The purpose of a file or a folder in its own words: its heading, its first comment, or the comment of the declaration with its name.

use super::danger::{is_dangerous, speaks_to_agent};
use crate::engine::find_secrets;
use crate::engine::reduce::{numbered, without_number};
use crate::text::cut::one_line;
use crate::text::names::file_name;
use crate::text::sentence::sentences;
use crate::text::stop_words::is_stop_word;

/// Lines of a file that are searched, lines before them that a client adds, and lines of a comment.
const SEARCHED_LINES: usize = 150;
const ADDED_LINES: usize = 8;
const COMMENT_LINES: usize = 4;
/// Characters of a purpose, which is never cut, and the least number of words.
const CHARACTERS: usize = 160;
const WORDS: usize = 3;
/// Words of a path that a title repeats, and the number of other words from which on it tells something all the same.
const REPEATED_WORDS: usize = 2;
const NEW_WORDS: usize = 2;
/// The folder of the project itself.
pub const ROOT: &str = "./";
/// Characters of the name of a file from which on a declaration of this name tells what the file is for.
const NAME_CHARACTERS: usize = 4;
/// Words at the start of a declaration, with its name.
const DECLARED: usize = 3;
/// Characters of a line of a comment below which a capital on the next line starts another sentence.
const SHORT_LINE: usize = 60;
const FOLDER_FILES: &[&str] = &["__init__.py", "doc.go", "index.js", "index.ts", "lib.rs", "mod.rs", "README.md", "readme.md"];
/// Words of comments that are for lawyers or programs.
const NOTICES: &[&str] = &[
    "+build", "@ts-", "code generated", "copyright", "coding:", "eslint", "license", "nolint", "prettier", "renovate:",
    "shellcheck", "spdx", "todo", "vim:",
];

/// Returns a file or a folder (`a/b/`) and its purpose, from the text of the file as a tool returned it; `None` if it states none.
pub fn purpose(path: &str, text: &str) -> Option<(String, String)> {
    let all: Vec<&str> = text.lines().take(SEARCHED_LINES).collect();
    let start = all.iter().take(ADDED_LINES).position(|line| numbered(line).is_some_and(|(number, _)| number == 1));
    let lines: Vec<&str> = all[start.unwrap_or_default()..].iter().map(|line| without_number(line).trim_end()).collect();
    let name = file_name(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let folder = &path[..path.len() - name.len()];
    let found = match ending {
        "md" => start.and_then(|_| lines.iter().take(ADDED_LINES).find_map(|line| line.strip_prefix("# ")))?.to_owned(),
        "yml" | "yaml" => start.and_then(|_| lines.iter().find_map(|line| line.strip_prefix("name:")))?.trim().to_owned(),
        _ => comments(&lines).find_map(|(at, comment, next)| {
            // In a part of a file, only these comments are about the whole file.
            let is_of_file = comment.starts_with("Package ") || lines[at].starts_with("//!");
            let is_first = start.is_some() && lines[..at].iter().all(|line| line.is_empty() || line.starts_with("#!"));
            let is_declared = || {
                stem.len() >= NAME_CHARACTERS
                    && plain(next.split('(').next().unwrap_or_default()).take(DECLARED).any(|word| word == joined(stem))
                    && !next.starts_with("func (")
            };
            (is_of_file || is_first && !is_notice(&comment) || is_declared()).then_some(comment)
        })?,
    };
    let is_of_folder = found.starts_with("Package ") || FOLDER_FILES.contains(&name);
    let words = found.strip_prefix("Package ").and_then(|rest| rest.split_once(' ')).map_or(&*found, |(_, rest)| rest);
    let sentence = sentences(words).next().map_or(words, |range| &words[range]);
    let told = one_line(sentence.strip_prefix(name).unwrap_or(sentence)).replace('`', "'").replace(": ", " – ");
    let told = told.trim_matches(|c: char| c.is_whitespace() || ".:\"'-–=*#".contains(c));
    let is_short = told.split_whitespace().count() < if ending.is_empty() || is_of_folder { 2 } else { WORDS };
    let is_unfit = is_short
        || told.chars().count() > CHARACTERS
        || repeats(path, told)
        || is_notice(told)
        || is_dangerous(told)
        || speaks_to_agent(told);
    let place = match (is_of_folder, folder) {
        // The title of the project itself says nothing about the files beside it.
        (true, "") if found.starts_with("Package ") => ROOT,
        (true, folder) => folder,
        _ => path,
    };
    (!is_unfit && !place.is_empty() && find_secrets(told.as_bytes()).is_empty()).then(|| (place.to_owned(), told.to_owned()))
}

/// Returns true if a text says little but the words of a path, as the title of `rewrite-issue-list.md` does.
fn repeats(path: &str, text: &str) -> bool {
    let parts: Vec<String> = path.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 2).map(joined).collect();
    let is_known = |word: &String| parts.iter().any(|part| part.starts_with(&**word) || word.starts_with(&**part));
    let words = text.split_whitespace().map(joined).filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    let (known, new): (Vec<String>, Vec<String>) = words.partition(is_known);
    known.len() >= REPEATED_WORDS && new.iter().filter(|word| !is_stop_word(word)).count() < NEW_WORDS
}

/// Returns true for a comment that is for lawyers or programs; a directive starts with the name of its program: `go:generate …`.
fn is_notice(text: &str) -> bool {
    let lower = text.to_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    first.trim_end_matches(':').contains(':') || NOTICES.iter().any(|notice| lower.contains(notice))
}

/// Returns the comments in lines: the index of the first line, the text, and the line behind the comment.
fn comments<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = (usize, String, &'a str)> {
    let is_start = |at: &usize| comment(lines[*at]).is_some() && (*at == 0 || comment(lines[at - 1]).is_none());
    (0..lines.len()).filter(is_start).map(|at| {
        let count = lines[at..].iter().take_while(|line| comment(line).is_some()).count();
        let words = lines[at..at + count].iter().filter_map(|line| comment(line)).skip_while(|words| words.is_empty());
        let mut text = String::new();
        for words in words.take_while(|words| !words.is_empty()).take(COMMENT_LINES) {
            if !text.is_empty() && text.len() < SHORT_LINE && words.starts_with(char::is_uppercase) {
                break;
            }
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(words);
        }
        (at, text, lines.get(at + count).copied().unwrap_or_default())
    })
}

/// Returns the words of a line of a comment; `None` for other lines.
fn comment(line: &str) -> Option<&str> {
    if line.starts_with("#[") || line.starts_with("#!") || line.starts_with("#include") || line.starts_with("#define") {
        return None;
    }
    let marks = ["//!", "///", "//", "/**", "/*", "*/", "\"\"\"", "* ", "# ", "-- "];
    let rest = marks.iter().find_map(|mark| line.strip_prefix(mark)).or_else(|| ["*", "#"].contains(&line).then_some(""))?;
    Some(rest.trim().trim_end_matches("*/").trim_end_matches("\"\"\"").trim())
}

/// Returns the words of a line of code, without capitals and separators.
fn plain(line: &str) -> impl Iterator<Item = String> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words.filter(|word| !word.is_empty()).map(joined)
}

fn joined(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_what_it_is_for() {
        let check = |path: &str, text: &str, expected: &str| {
            let found = purpose(path, text).map_or(String::new(), |(place, told)| format!("{place} {told}"));
            assert_eq!(found, expected, "{text}");
        };
        check(
            "a/cart/cart.go",
            "1\t// Package cart adds up the prices of items.\n2\tpackage cart",
            "a/cart/ adds up the prices of items",
        );
        check("a/total.rs", "//! Adds up prices. Never rounds.\n\nuse x;", "a/total.rs Adds up prices");
        check(
            "a/shopCart.ts",
            "1\timport x\n2\t\n3\t/** Holds the items of an order. */\n4\texport class ShopCart {",
            "a/shopCart.ts Holds the items of an order",
        );
        check("cart.go", "1\t// Package cart adds up the prices of items.\n2\tpackage cart", "./ adds up the prices of items");
        check("a/cart.go", "1\t//go:generate go run gen.go\n2\t\n3\tpackage a", "");
        check(
            "a/cart.go",
            "1\t// cart.go contains the items of an order.\n2\tpackage a",
            "a/cart.go contains the items of an order",
        );
        check("a/cart.go", "1\tpackage a\n2\t\n3\t// sum adds up the prices\n4\tfunc sum(cart []Item) int {", "");
        check("a/total.rs", &format!("//! Adds up {}", "prices and other sums ".repeat(9)), "");
        check("a/x.ts", "1\t// Copyright 2026 Ada, all rights\n2\timport x", "");
        check("docs/plan.md", "     1→# Plan of the new cart\n", "docs/plan.md Plan of the new cart");
        check("docs/rewrite-issue-list.md", "     1→# shop-cart Rewrite Issue List\n", "");
        check("plans/blue-heat-v1.md", "     1→# Blue Heat - Work Plan v1.0\n", "");
        check("docs/plan.md", "    40→# A part of the plan\n", "");
        check("ci/build.yml", "1\tname: Build and publish images\n", "ci/build.yml Build and publish images");
        check("run.sh", "1\t#!/bin/sh\n2\t# Starts the shop for a demo\n", "run.sh Starts the shop for a demo");
        check("a/total.go", "1\tpackage a\n2\t\n3\tfunc x() {\n4\t\t// the sum of all\n5\t\ttotal := 0", "");
        check("a/x.go", "200\t// helper for the rest of it\n201\tfunc y() {}", "");
    }
}
