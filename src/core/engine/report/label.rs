//! Short names of blocks, for lists.

use crate::engine::reduce::described;
use crate::engine::reduce::marker::LABEL_CHARACTERS;
use crate::model::limits::PREVIEW_CHARACTERS;
use crate::model::paths::is_absolute;
use crate::model::{Block, BlockKind, Tool};
use crate::text::cut::ended;
use crate::text::names::{file_name, last_components};

/// Number of path components in a label: enough to identify the file.
const PATH_PARTS: usize = 2;

/// Returns a short name of a block: the tool and its target, the kind of an attachment, or its first words in quotes.
pub fn label(block: &Block) -> String {
    let tool = block.tool.as_deref();
    match (block.kind, tool) {
        (BlockKind::ToolUse | BlockKind::ToolResult, Some(tool)) => {
            let target = first_text(short_target(&tool.target, tool.verb.names_file()));
            if target.is_empty() { tool.name.to_string() } else { format!("{} {target}{}", tool.name, lines(tool)) }
        }
        (BlockKind::Attachment, _) if !block.label.is_empty() => block.label.replace('_', " "),
        (BlockKind::Thinking, _) if block.preview.is_empty() => "(withheld)".to_owned(),
        (BlockKind::Image, _) => described(block.kind, &block.media),
        (BlockKind::Document, _) if !block.media.documents.is_empty() => described(block.kind, &block.media),
        _ => format!("\"{}\"", without_marker(block)),
    }
}

/// Returns the first text with a letter in a list or an object, which can be cut; empty if there is none. Other targets are returned
/// unchanged.
fn first_text(target: &str) -> &str {
    if !target.starts_with(['[', '{']) {
        return target;
    }
    let texts = target.split(":\"").skip(1).map(|text| text.split('"').next().unwrap_or_default());
    texts.into_iter().find(|text| text.contains(char::is_alphabetic)).unwrap_or_default()
}

/// Returns the start of the text of a block up to the end of a word, without the marker line of a shortened block.
fn without_marker(block: &Block) -> String {
    let preview = ended(&block.preview, PREVIEW_CHARACTERS);
    let Some((_, rest)) = block.marker.and_then(|_| preview.split_once("] ")) else { return preview };
    rest.strip_prefix("[…").and_then(|gap| gap.split_once("] ")).map_or(rest, |(_, rest)| rest).to_owned()
}

/// Returns the label for the line that replaces a result or an attachment: a path is reduced to its last component, an address to its
/// host. Messages are identified by their own words, and the input of a tool remains in the call.
pub fn placeholder_label(block: &Block) -> String {
    match (block.kind, block.tool.as_deref()) {
        (BlockKind::ToolResult, Some(tool)) => {
            // For a tool without a target, the start of its input is not informative.
            let target = match tool.verb.names_file() {
                // Codex puts the directory before the command.
                true if tool.target.contains("{\"") || tool.target.contains("[\"") => String::new(),
                true => file_name(&tool.target).to_owned(),
                false => host(short_target(&tool.target, false)).to_owned(),
            };
            let (label, lines) = (format!("{} {target}", tool.name), lines(tool));
            match () {
                () if target.is_empty() || target.starts_with(['{', '[']) => tool.name.to_string(),
                // The lines of a file say that it was read.
                () if !lines.is_empty() && label.len() + lines.len() > LABEL_CHARACTERS => target + &lines,
                () => label + &lines,
            }
        }
        (BlockKind::Attachment, _) => label(block),
        _ => String::new(),
    }
}

/// Returns the host of an address; any other target as it is.
fn host(target: &str) -> &str {
    let address = target.strip_prefix("https://").or_else(|| target.strip_prefix("http://"));
    address.map_or(target, |address| address.split(['/', '?']).next().unwrap_or(address))
}

/// Returns the lines that a read took, after a colon.
fn lines(tool: &Tool) -> String {
    if tool.lines.is_empty() { String::new() } else { format!(":{}", tool.lines) }
}

/// Divides a command into a leading change of directory and the rest, which has the commands; a change alone is the rest.
pub fn split_directory(command: &str) -> (&str, &str) {
    let is_end = |(at, end): &(usize, char)| match end {
        ';' | '\n' => true,
        '&' => command[at + 1..].starts_with('&'),
        // A script can be one line: its next command follows a plain directory.
        ' ' if *at > 3 && !command[3..*at].contains([' ', '"', '\'', '(', '\\']) => {
            command[at + 1..].starts_with(char::is_alphabetic)
        }
        _ => false,
    };
    let end = command.starts_with("cd ").then(|| command.char_indices().find(is_end)).flatten().map_or(0, |(at, _)| at);
    let (change, rest) = command.split_at(end);
    let rest = rest.trim_start_matches(['&', ';', ' ', '\n']);
    if rest.is_empty() { ("", command) } else { (change.trim_end(), rest) }
}

/// Returns the last components of an absolute path, and of a command what follows a leading `cd`; other targets are returned unchanged.
/// Only the path of a file can have spaces.
pub fn short_target(target: &str, is_file: bool) -> &str {
    let (_, target) = split_directory(target);
    let is_path = is_absolute(target) && (is_file || !target.contains(char::is_whitespace));
    if is_path { last_components(target, PATH_PARTS) } else { target }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Level, Marker, Role, ToolVerb};

    #[test]
    fn a_placeholder_shortens_files_and_nothing_else() {
        for (name, verb, target, expected) in [
            ("Read", ToolVerb::Read, "/home/me/shop/src/a.rs", "Read a.rs"),
            ("Edit", ToolVerb::Edit, "C:\\x\\y\\z.rs", "Edit z.rs"),
            ("Read", ToolVerb::Read, "src/a file.rs", "Read a file.rs"),
            ("Read", ToolVerb::Read, "docs/", "Read docs"),
            ("Read", ToolVerb::Read, "", "Read"),
            ("Read", ToolVerb::Read, "{\"files\":[\"/a/bb/one.rs\",\"/c/dd/two.rs\"]}", "Read"),
            ("read", ToolVerb::Read, "/home/me/{\"files\":[\"/a/bb/one.rs\"]}", "read"),
            ("Grep", ToolVerb::Search, "\\bfoo\\b", "Grep \\bfoo\\b"),
            ("Glob", ToolVerb::Search, "src/**/*.rs", "Glob src/**/*.rs"),
            ("WebFetch", ToolVerb::Other, "https://docs.rs/serde/", "WebFetch docs.rs"),
            ("Bash", ToolVerb::Run, "cd /home/me && cargo test a/b", "Bash cargo test a/b"),
            ("Bash", ToolVerb::Run, "echo '{\"a\":1}' | jq .a", "Bash echo '{\"a\":1}' | jq .a"),
            ("lookup", ToolVerb::Other, "{\"id\":7}", "lookup"),
            ("lookup", ToolVerb::Other, "", "lookup"),
        ] {
            let tool = Tool::new(name, verb, target);
            let block = Block { tool: Some(Box::new(tool)), ..Block::new(BlockKind::ToolResult, Role::User) };
            assert_eq!(placeholder_label(&block), expected);
        }
    }

    #[test]
    fn a_read_of_a_part_is_labelled_by_its_lines() {
        for (name, lines, whole, expected) in [
            ("Read", "1-9", "Read config/mod.rs:1-9", "Read mod.rs:1-9"),
            ("exec_command", "60-1095", "exec_command config/mod.rs:60-1095", "mod.rs:60-1095"),
            ("Read", "", "Read config/mod.rs", "Read mod.rs"),
        ] {
            let tool = Tool { lines: lines.into(), ..Tool::new(name, ToolVerb::Read, "/w/src/config/mod.rs") };
            let block = Block { tool: Some(Box::new(tool)), ..Block::new(BlockKind::ToolResult, Role::User) };
            assert_eq!((label(&block), placeholder_label(&block)), (whole.to_owned(), expected.to_owned()));
        }
    }

    #[test]
    fn texts_are_labelled_by_their_words_also_when_shortened() {
        let marker = Marker { number: 7, level: Level::Trimmed, tokens: 199.0 };
        for (preview, marker, expected) in [
            ("[@7 | trimmed from 199] The cloud is gone.", Some(marker), "\"The cloud is gone.\""),
            ("[@7 | archived from 199 | 3 lines]", Some(marker), "\"[@7 | archived from 199 | 3 lines]\""),
            ("[@7 | trimmed from 199] [… 9 lines] Then it went.", Some(marker), "\"Then it went.\""),
            ("[see] this", None, "\"[see] this\""),
        ] {
            let block = Block { marker, preview: preview.into(), ..Block::new(BlockKind::Text, Role::Assistant) };
            assert_eq!(label(&block), expected);
        }
    }

    #[test]
    fn a_path_is_shown_by_its_end() {
        for (target, short) in [
            ("/home/me/shop/src/a.rs", "src/a.rs"),
            ("C:\\x\\y\\z.rs", "y\\z.rs"),
            ("C:\\Users\\Ana María\\mi tienda\\z.rs", "mi tienda\\z.rs"),
            ("c:/x/y/z.rs", "y/z.rs"),
            ("cargo test -q", "cargo test -q"),
            ("/a", "a"),
            ("", ""),
        ] {
            assert_eq!(short_target(target, true), short);
        }
        for (command, short) in [
            ("/usr/bin/env make all", "/usr/bin/env make all"),
            ("cd shop; make all", "make all"),
            ("cd shop make all; make docs", "make all; make docs"),
            ("cd \"the shop\" && make all", "make all"),
            ("cd /home/ann/project", "cd /home/ann/project"),
            ("cd /home/ann 2>&1 | head -1", "cd /home/ann 2>&1 | head -1"),
            ("cd /home/ann 2>&1 && make", "make"),
            ("cd shop & make", "cd shop & make"),
        ] {
            assert_eq!(short_target(command, false), short);
        }
    }
}
