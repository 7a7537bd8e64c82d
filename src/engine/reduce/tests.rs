#![expect(clippy::disallowed_methods, reason = "tests read the fixtures")]

//! The laws of all reducers, over contents of the fixtures and generated ones.

use super::*;
use crate::model::ToolVerb;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;

const LEVELS: [Level; 3] = [Level::Trimmed, Level::Summarized, Level::Minimal];

/// Checks every law for one content with every reducer that fits it; returns the bytes of each level.
fn check_laws(input: &Reducible<'_>) -> [Option<usize>; 3] {
    check_hint(input);
    assert_eq!((reduce(input, Level::Original), reduce(input, Level::Archived)), (None, None));
    let fitting = REDUCERS.iter().filter(|reducer| reducer.fits(input));
    let mut lengths = [None; 3];
    for (place, reducer) in fitting.enumerate() {
        let name = reducer.name();
        let mut milder: Option<String> = None;
        for (index, level) in LEVELS.into_iter().enumerate() {
            let reduced = lawful(*reducer, input, level);
            if place == 0 {
                assert_eq!(
                    reduced,
                    reduce(input, level),
                    "{name} at {level:?}: the first that fits is taken, and says the same again"
                );
                lengths[index] = reduced.as_ref().map(String::len);
            }
            let Some(reduced) = reduced else { continue };
            assert!(!reduced.trim().is_empty(), "{name} at {level:?} leaves nothing of {:?}", input.content);
            if input.images.is_empty() && !is_placeholder(input) {
                let (before, after) = (input.content.len(), reduced.len());
                assert!(after + 40 <= before && after * 10 <= before * 9, "{name} at {level:?}: {before} to {after} bytes");
            }
            if level == Level::Summarized {
                assert!(estimate(&reduced) <= 120.0, "{name}: {} tokens: {reduced}", estimate(&reduced));
            }
            if level == Level::Minimal {
                assert!(estimate(&reduced) <= 40.0, "{name}: {} tokens: {reduced}", estimate(&reduced));
                assert!(!reduced.contains(['\n', '\r']), "{name}: {reduced}");
            }
            if let Some(milder) = milder {
                assert!(milder.len() >= reduced.len(), "{name} at {level:?} is longer than the level before: {reduced}");
            }
            milder = Some(reduced);
        }
    }
    lengths
}

fn check_hint(input: &Reducible<'_>) {
    let hint = hint(input);
    assert!(!hint.trim().is_empty() && hint.chars().count() <= 60, "{hint:?} of {:?}", input.content);
    assert!(hint.split_whitespace().count() <= 9, "{hint:?}");
    assert!(!hint.contains(['\n', '\r', '[', ']', '\u{1b}']), "{hint:?} of {:?}", input.content);
}

/// Checks every law for the input of a tool.
fn check_input_laws(content: &str, marker: &str) {
    let keys = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!((tool_input(content, Level::Original, marker), tool_input(content, Level::Archived, marker)), (None, None));
    let mut milder = usize::MAX;
    for level in LEVELS {
        let Some(shortened) = tool_input(content, level, marker) else { continue };
        assert_eq!(Some(&shortened), tool_input(content, level, marker).as_ref());
        assert_eq!(keys(&shortened), keys(content));
        assert!(shortened.len() + 40 <= content.len() && shortened.len() * 10 <= content.len() * 9, "{content}");
        assert!(shortened.len() <= milder, "{level:?} of {content}");
        assert_eq!(shortened.matches("[marker]").count(), 1 + content.matches("[marker]").count(), "{shortened}");
        milder = shortened.len();
    }
}

/// Every content block of the fixtures: its kind, the content, whether it is an error.
fn fixtures() -> Vec<(BlockKind, String, bool)> {
    let mut found = Vec::new();
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                directories.push(entry.path());
            } else if entry.path().extension().is_some_and(|end| end == "jsonl" || end == "txt") {
                files.push(entry.path());
            }
        }
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            blocks(&row["message"]["content"], &mut found);
            if row["attachment"].is_object() {
                found.push((BlockKind::Attachment, row["attachment"].to_string(), false));
            }
        }
        if file.extension().is_some_and(|end| end == "txt") {
            found.push((BlockKind::ToolResult, text, false));
        }
    }
    assert!(found.len() > 300);
    found
}

fn blocks(content: &Value, found: &mut Vec<(BlockKind, String, bool)>) {
    if let Some(text) = content.as_str() {
        found.push((BlockKind::Text, text.to_owned(), false));
    }
    for block in content.as_array().into_iter().flatten() {
        let text = |member: &Value| member.as_str().map_or_else(|| member.to_string(), str::to_owned);
        match block["type"].as_str() {
            Some("text") => found.push((BlockKind::Text, text(&block["text"]), false)),
            Some("tool_use") => found.push((BlockKind::ToolUse, text(&block["input"]), false)),
            Some("tool_result") => {
                found.push((BlockKind::ToolResult, text(&block["content"]), block["is_error"] == Value::Bool(true)));
            }
            _ => {}
        }
    }
}

fn tool(verb: ToolVerb, target: &str) -> Tool {
    Tool { name: "T".into(), verb, target: target.into(), scope: 0, whole: true, parameters: 1 }
}

#[test]
fn the_contents_of_the_fixtures_keep_the_laws() {
    let fixtures = fixtures();
    let mut later = LaterLines::default();
    let (mut reduced, mut before, mut after) = (0, 0, [0; 3]);
    for (kind, content, error) in fixtures.iter().rev() {
        if *kind == BlockKind::ToolUse {
            check_input_laws(content, "[marker]");
        }
        let repeated = |line: &str| later.contains(line);
        let input = Reducible { kind: *kind, tool: None, error: *error, images: &[], content, repeated: &repeated };
        let lengths = check_laws(&input);
        reduced += usize::from(lengths[2].is_some());
        before += content.len();
        for (sum, length) in after.iter_mut().zip(lengths) {
            *sum += length.unwrap_or(content.len());
        }
        if *kind == BlockKind::ToolResult {
            later.add(content);
        }
    }
    // Shown with --nocapture.
    println!("{reduced} of {} contents, {before} bytes: {after:?}", fixtures.len());
    assert!(reduced > 100, "{reduced}");
    assert!(after[0] < before && after[1] < after[0] && after[2] < after[1], "{before} {after:?}");
}

#[test]
fn traps_keep_the_laws() {
    let numbered = |lines: usize| (1..=lines).map(|line| format!("{line:6}→    call_{line}();\n")).collect::<String>();
    for content in [
        String::new(),
        "\n".repeat(500),
        "\r".repeat(500),
        "\u{1b}[2K".repeat(200),
        "\u{1b}".repeat(200),
        "\u{1b}]".repeat(200),
        "x".repeat(1 << 16),
        "語".repeat(5000),
        "👩‍👩‍👧".repeat(500),
        "e\u{301}".repeat(900),
        "ABC_".repeat(1000),
        " ".repeat(5000),
        "---\n".repeat(300),
        "10 %\r20 %\r".repeat(300),
        "10 %\r20 %\r\n".repeat(300),
        "a line of words\r\n".repeat(300),
        "error: the same thing again and again\n".repeat(300),
        (0..200).map(|line| format!("error[E{line}]: failure {line} of 200 in `src/file_{line}.rs`\n")).collect(),
        numbered(400),
        format!("{}{}", "\u{1b}[31mx\u{1b}[0m ".repeat(40), "[… 12 lines omitted]\n".repeat(90)),
        "{\"a\":[".repeat(5_000),
        "[image]\n".repeat(90),
        "[document]".to_owned(),
    ] {
        for kind in [BlockKind::ToolResult, BlockKind::Text, BlockKind::Image, BlockKind::Document, BlockKind::ToolUse] {
            for (verb, target) in [(ToolVerb::Read, "/a/b.md"), (ToolVerb::Read, "/a/b.rs"), (ToolVerb::Run, "cargo test")] {
                let images = &[Image { width: 800, height: 600 }][..usize::from(verb == ToolVerb::Run)];
                let tool = tool(verb, target);
                let repeated = |line: &str| line.len().is_multiple_of(3);
                check_laws(&Reducible { kind, tool: Some(&tool), error: false, images, content: &content, repeated: &repeated });
            }
        }
    }
}

#[test]
fn a_long_output_has_every_level() {
    let content: String = (0..200).map(|line| format!("step {line} of the build is done\n")).collect();
    for kind in [BlockKind::Text, BlockKind::ToolResult, BlockKind::Attachment, BlockKind::Document, BlockKind::Other] {
        let input = Reducible { kind, tool: None, error: false, images: &[], content: &content, repeated: &|_| false };
        let lengths = LEVELS.map(|level| reduce(&input, level).map(|text| text.len()));
        assert!(lengths.iter().all(Option::is_some) && lengths.is_sorted_by(|a, b| a > b), "{kind:?}: {lengths:?}");
    }
    for kind in [BlockKind::Thinking, BlockKind::ToolUse] {
        let input = Reducible { kind, tool: None, error: false, images: &[], content: &content, repeated: &|_| false };
        assert_eq!(LEVELS.map(|level| reduce(&input, level)), [None, None, None], "{kind:?}");
    }
}

#[test]
fn a_file_keeps_its_line_numbers() {
    let content: String = (1..=300).map(|line| format!("{line:6}→    let value_{line} = compute({line});\n")).collect();
    let input =
        Reducible { kind: BlockKind::ToolResult, tool: None, error: false, images: &[], content: &content, repeated: &|_| false };
    for level in [Level::Trimmed, Level::Summarized] {
        let reduced = reduce(&input, level).unwrap();
        for line in reduced.lines().filter(|line| !line.starts_with("[…")) {
            let line = line.trim_start_matches("… ").trim();
            assert!(content.contains(line) && line.contains('→'), "{line}");
        }
    }
}

/// Text as tools print it: words, numbers, colours, blanks, signs of errors, any characters.
fn content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z_A-Z]{1,12}( [a-z]{1,8}){0,12}",
        2 => "\\PC{0,40}",
        2 => Just("\n".to_owned()),
        1 => any::<String>(),
        1 => Just("\r".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => "\u{1b}\\[[0-9;]{0,4}[mK]",
        1 => "\nerror: [a-z ]{0,90}\n",
        1 => "\n {0,5}[0-9]{1,5}→(pub )?fn [a-z]{1,9}\\(",
        1 => "\n[0-9]{1,21} (passed|failed), ",
        1 => "\nExit code [0-9]{1,12}\n",
        1 => "[語é👩\u{301}]{1,400}",
    ];
    (vec(piece, 0..40), 1..12usize).prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_keeps_the_laws(content in content(), kind in 0..8usize, error: bool, images in 0..3usize, verb in 0..3usize) {
        let images = &[Image { width: 80, height: 60 }, Image { width: 0, height: 0 }][..images.min(2)];
        let tool = tool([ToolVerb::Read, ToolVerb::Run, ToolVerb::Other][verb], "/a/b.rs");
        let mut later = LaterLines::default();
        later.add(&content.lines().skip(3).collect::<Vec<_>>().join("\n"));
        let repeated = |line: &str| later.contains(line);
        let input =
            Reducible { kind: BlockKind::ALL[kind], tool: Some(&tool), error, images, content: &content, repeated: &repeated };
        check_laws(&input);
    }

    #[test]
    fn any_input_of_a_tool_keeps_the_laws(members in vec(("[a-z_]{0,8}|command|content|file_path", content()), 0..5)) {
        let members: serde_json::Map<String, Value> =
            members.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        let content = serde_json::json!({"edits": [members], "n": 1, "rest": members}).to_string();
        check_input_laws(&content, "[marker]");
        check_input_laws(&serde_json::to_string_pretty(&members).unwrap(), "[marker]");
        let input = Reducible {
            kind: BlockKind::ToolUse, tool: None, error: false, images: &[], content: &content, repeated: &|_| false,
        };
        check_laws(&input);
    }

    #[test]
    fn any_bytes_are_no_input_or_keep_the_laws(content in any::<String>()) {
        let input = Reducible {
            kind: BlockKind::ToolUse, tool: None, error: false, images: &[], content: &content, repeated: &|_| false,
        };
        check_laws(&input);
        prop_assert!(tool_input(&content, Level::Minimal, "").is_none());
    }
}
