#![expect(clippy::disallowed_methods, reason = "tests read the fixtures")]

//! The laws of all reducers at all levels, over contents of the fixtures and generated ones.

use super::*;
use crate::engine::cost::tokens::estimate;
use crate::engine::reduce::{KeptPieces, SUMMARIZED_TOKENS, outline, rendered};
use crate::model::{Block, BlockKind, Image, Level, Role, Tool, ToolVerb};
use crate::testing::{all_or, sample};
use proptest::collection::vec;
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::fs;

const LEVELS: [Level; 3] = [Level::Trimmed, Level::Summarized, Level::Minimal];

fn block(kind: BlockKind, error: bool, images: &[Image], tool: Option<Tool>) -> Block {
    let role = match kind {
        BlockKind::ToolUse => Role::ToolUse,
        BlockKind::ToolResult => Role::ToolResult,
        _ => Role::Assistant,
    };
    let mut block = Block::new(kind, role);
    (block.number, block.error, block.media.images, block.tool) = (7, error, images.to_vec(), tool.map(Box::new));
    block
}

fn subject<'a>(block: &'a Block, content: &'a str, tokens: f64) -> Subject<'a> {
    let (label, why, conventions) = ("T".to_owned(), Why::default(), Default::default());
    let held = block.words.to_vec();
    Subject { block, conventions, content, tokens, label, why, newest: false, left: None, held, written: None }
}

/// Checks all properties for one content; returns the bytes of each level.
fn check_laws(block: &Block, content: &str) -> [Option<usize>; 3] {
    let subject = subject(block, content, if block.media.is_empty() { 100.0 } else { 1e4 });
    check_outline(&subject);
    let shown = FxHashSet::default();
    let context = Context { name: &|_| 0.01, line: 0.002, shown: &shown };
    assert_eq!(subject.at_level(Level::Original, &context), None);
    let mut lengths = [None; 3];
    let mut milder: Option<String> = None;
    for (place, level) in LEVELS.into_iter().enumerate() {
        let reduced = subject.at_level(level, &context);
        assert_eq!(reduced, subject.at_level(level, &context), "{level:?} says the same again");
        let Some(reduced) = reduced else { continue };
        lengths[place] = Some(reduced.len());
        let marker = [true, false].map(|bare| subject.marker(level, bare)).into_iter().find(|marker| reduced.starts_with(marker));
        match block.kind {
            BlockKind::ToolUse if serde_json::from_str::<Value>(content).is_ok_and(|value| value.is_object()) => {
                let keys = |text: &str| {
                    let value: Value = serde_json::from_str(text).unwrap();
                    value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
                };
                assert_eq!(keys(&reduced), keys(content));
                assert!(crate::engine::reduce::marker::find_in_input(&reduced).is_some(), "{reduced}");
            }
            _ => assert!(marker.is_some(), "{reduced}"),
        }
        if block.media.is_empty() {
            let (before, after) = (content.len(), reduced.len());
            assert!(after + 80 <= before && after * 10 < before * 9, "{level:?}: {before} to {after} bytes");
        }
        if level == Level::Summarized && block.kind != BlockKind::ToolUse {
            let rest = reduced.strip_prefix(&*marker.unwrap()).unwrap();
            assert!(estimate(rest.trim_start()) <= SUMMARIZED_TOKENS, "{} tokens: {reduced}", estimate(rest));
        }
        if let (Some(milder), false) = (&milder, block.kind == BlockKind::ToolUse) {
            // A line kept at a shorter level is also kept at a longer level.
            for line in reduced.lines().skip(1).filter(|line| !line.contains(['…', '[']) && line.len() > 3) {
                assert!(milder.contains(line.trim()), "{line:?} of {level:?} is not in {milder}");
            }
        }
        milder = Some(reduced);
    }
    lengths
}

/// Checks that pieces refer backwards, and that the rendering of all pieces contains every line.
fn check_outline(subject: &Subject<'_>) {
    let input = subject.input();
    let Some(outline) = outline(&input) else {
        assert!(matches!(subject.block.kind, BlockKind::Thinking | BlockKind::ToolUse));
        return;
    };
    for pieces in outline.texts() {
        assert!(
            pieces.iter().enumerate().all(|(place, piece)| piece.under.is_none_or(|under| under < place)),
            "{}",
            subject.content
        );
        let lines: usize = pieces.iter().map(|piece| piece.lines).sum();
        assert!(lines <= subject.content.len() + 1);
        let all = KeptPieces { pieces: vec![true; pieces.len()], ..KeptPieces::default() };
        assert!(subject.content.contains("[…") || !rendered(pieces, &all).contains("[…"), "{}", rendered(pieces, &all));
    }
    let hint = crate::engine::hint(&input, 38);
    let is_told = subject.block.kind != BlockKind::ToolUse;
    let most = crate::engine::marker::OUTCOME_CHARACTERS;
    assert!(!(hint.trim().is_empty() && is_told) && hint.chars().count() <= most, "{hint:?} of {:?}", subject.content);
    assert!(!hint.contains(['\n', '\r', '[', ']', '\u{1b}']), "{hint:?} of {:?}", subject.content);
}

/// Returns every content block of the fixtures: its kind, the content, and true if it is an error.
fn fixtures() -> Vec<(BlockKind, String, bool)> {
    let mut found = Vec::new();
    for file in crate::testing::fixtures_with(&["jsonl", "txt"]) {
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
    Tool::new("T", verb, target)
}

#[test]
fn the_contents_of_the_fixtures_keep_the_laws() {
    let (mut before, mut after) = (0, [0; 3]);
    for (kind, content, error) in sample(fixtures(), 3) {
        let lengths = check_laws(&block(kind, error, &[], None), &content);
        before += content.len();
        for (sum, length) in after.iter_mut().zip(lengths) {
            *sum += length.unwrap_or(content.len());
        }
    }
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
            let tools = [(ToolVerb::Read, "/a/b.md"), (ToolVerb::Read, "/a/b.rs"), (ToolVerb::Run, "cargo test")];
            for (verb, target) in sample(tools, 2) {
                let images = &[Image { width: 800, height: 600, bytes: 0, fault: None }][..usize::from(verb == ToolVerb::Run)];
                check_laws(&block(kind, false, images, Some(tool(verb, target))), &content);
            }
        }
    }
}

#[test]
fn a_long_output_has_every_level() {
    let content: String = (0..200).map(|line| format!("step_{line} of the build is done\n")).collect();
    for kind in [BlockKind::Text, BlockKind::ToolResult, BlockKind::Attachment, BlockKind::Document, BlockKind::Other] {
        let lengths = check_laws(&block(kind, false, &[], None), &content);
        assert!(lengths.iter().all(Option::is_some) && lengths.is_sorted_by(|a, b| a > b), "{kind:?}: {lengths:?}");
    }
    assert_eq!(check_laws(&block(BlockKind::Thinking, false, &[], None), &content), [None, None, None]);
}

#[test]
fn presets_are_named_once_and_get_shorter() {
    let worths: Vec<f32> = PRESETS.iter().map(|preset| preset.worth_millionths).collect();
    assert!(worths.is_sorted_by(|milder, stronger| milder < stronger), "{worths:?}");
    let names: FxHashSet<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    assert!(names.len() == PRESETS.len() && preset(DEFAULT_PRESET).is_some());
}

/// Text as printed by tools: words, numbers, colours, blanks, error keywords, any characters.
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

/// Checks that the words of a person are kept at each level and with each preset, byte for byte.
fn check_words(block: &Block, content: &str) -> usize {
    let subject = subject(block, content, 1e4);
    let shown = FxHashSet::default();
    let context = Context { name: &|_| 0.01, line: 0.002, shown: &shown };
    let mut shortened: Vec<String> = LEVELS.into_iter().filter_map(|level| subject.at_level(level, &context)).collect();
    shortened.extend(subject.at_level(Level::Archived, &context));
    let subjects = [subject];
    let outlined = Outlined::new(&subjects);
    let selection = outlined.weigh(&crate::engine::Analysis::default());
    for preset in PRESETS {
        let kept = selection.first(selection.worth_at_least(preset.worth()));
        shortened.extend(outlined.shortened(&kept).into_iter().map(|shortened| shortened.content));
    }
    for text in &shortened {
        for words in block.words_in(content) {
            assert!(text.contains(words), "{words:?} is not in {text:?}");
        }
    }
    shortened.len()
}

fn places(content: &str, texts: &[&str]) -> Box<[(u32, u32)]> {
    let place = |text: &&str| content.find(text).map(|at| (at as u32, (at + text.len()) as u32));
    texts.iter().filter_map(place).collect()
}

#[test]
fn words_of_a_person_stay_in_contents_of_every_kind() {
    let said = "no, the\n\n\n  other one\t, please  \u{1b}[1m!";
    let lines = |line: &str| (0..60).map(|number| line.replace('#', &number.to_string())).collect::<String>();
    let json = serde_json::json!({"a": lines("x#"), "said": [1, 2, 3]}).to_string();
    let contents = [
        format!("{}{said}{}", lines("step_# of the build is done\n"), lines("step # is done\n")),
        format!("{said}\n{}", lines("src/file_#.rs:12: let x = 3;\n")),
        format!("{}: {said}", lines("A sentence of some words. ")),
        format!("diff --git a/a b/a\n@@ -1 +1 @@\n{}{said}\n{}", lines("-old #\n"), lines("+new #\n")),
        format!("{json}{said}{json}"),
    ];
    for content in contents {
        for kind in [BlockKind::ToolResult, BlockKind::Text, BlockKind::Attachment, BlockKind::Other] {
            let mut block = block(kind, true, &[], None);
            block.words = places(&content, &[said]);
            assert!(check_words(&block, &content) >= 4, "{kind:?} {content}");
        }
    }
}

#[test]
fn invalid_ranges_of_a_content_are_empty() {
    let content = "é".repeat(300);
    for words in [&[(1, 2)][..], &[(0, 9999)], &[(9, 3)], &[(4, 8), (2, 6)], &[(0, 2), (2, 4), (598, 600)]] {
        let mut block = block(BlockKind::ToolResult, false, &[], None);
        block.words = words.into();
        check_outline(&subject(&block, &content, 100.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: all_or(64, 16), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_keeps_the_laws(content in content(), kind in 0..8usize, error: bool, images in 0..3usize, verb in 0..3usize) {
        let images = &[Image { width: 80, height: 60, bytes: 0, fault: None }, Image { width: 0, height: 0, bytes: 0, fault: None }][..images.min(2)];
        let tool = tool([ToolVerb::Read, ToolVerb::Run, ToolVerb::Other][verb], "/a/b.rs");
        check_laws(&block(BlockKind::ALL[kind], error, images, Some(tool)), &content);
    }

    #[test]
    fn words_stay_in_any_text(parts in vec((content(), "\\PC{1,60}|[a-z \n]{1,40}"), 1..4), kind in 0..8usize) {
        let mut text = String::new();
        let mut block = block(BlockKind::ALL[kind], false, &[], None);
        let mut words = Vec::new();
        for (between, said) in &parts {
            text.push_str(between);
            words.push((text.len() as u32, (text.len() + said.len()) as u32));
            text.push_str(said);
        }
        block.words = if block.kind == BlockKind::ToolUse { Default::default() } else { words.into() };
        check_words(&block, &text);
    }

    #[test]
    fn any_input_of_a_tool_keeps_the_laws(members in vec(("[a-z_]{0,8}|command|content|file_path", content()), 0..5)) {
        let members: serde_json::Map<String, Value> =
            members.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        let content = serde_json::json!({"edits": [members], "n": 1, "rest": members}).to_string();
        check_laws(&block(BlockKind::ToolUse, false, &[], None), &content);
        check_laws(&block(BlockKind::ToolUse, false, &[], None), &serde_json::to_string_pretty(&members).unwrap());
    }
}
