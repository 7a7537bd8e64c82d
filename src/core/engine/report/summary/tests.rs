//! Properties of summaries: limits are observed, nothing is invented, the output is deterministic, and no text causes a panic.

use super::*;
use crate::engine::{ReadSettings, o200k, read};
use crate::model::{Conventions, Key, PlanNames, Row, RowKind, Session, Tool, Window};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Conventions of a client whose texts occur in [`text`].
static CONVENTIONS: LazyLock<Conventions> = LazyLock::new(|| Conventions {
    inserted_tags: vec!["system-reminder", "command-name"],
    typed_commands: vec!["<command-"],
    plans: PlanNames {
        lists: vec!["todos"],
        texts: vec!["content"],
        statuses: vec!["status"],
        done: vec!["completed"],
        current: vec!["in_progress"],
        ..PlanNames::default()
    },
    ..Conventions::default()
});

fn session(blocks: &[(Role, &str, bool)]) -> (Analysis, Contents) {
    let mut session = Session { conventions: &CONVENTIONS, ..Session::default() };
    let mut contents = Contents::default();
    for (place, (role, text, error)) in blocks.iter().enumerate() {
        let number = place as u32 + 1;
        let (kind, row) = match role {
            Role::User => (BlockKind::Text, RowKind::User),
            Role::ToolResult => (BlockKind::ToolResult, RowKind::User),
            Role::ToolUse => (BlockKind::ToolUse, RowKind::Assistant),
            _ => (BlockKind::Text, RowKind::Assistant),
        };
        let mut row = Row::new(row);
        (row.prompt, row.timestamp) = (*role == Role::User, Some(i64::from(number) * 60_000));
        row.message = (row.kind == RowKind::Assistant).then_some(Key(u128::from(number)));
        let mut block = Block { error: *error, ..Block::new(kind, *role) };
        if matches!(role, Role::ToolUse | Role::ToolResult) {
            // Calls alternate between edits, plans and runs.
            let verb = [ToolVerb::Edit, ToolVerb::Plan, ToolVerb::Run][place % 3];
            let target = if verb == ToolVerb::Run { "cargo test".to_owned() } else { text.chars().take(60).collect::<String>() };
            block.tool = Some(Box::new(Tool::new("T", verb, &target)));
        }
        block.preview = crate::engine::preview(text).into();
        session.add(row, [block]);
        contents.insert(number, (*text).to_owned());
    }
    let window =
        Window { blocks: (1..=blocks.len() as u32).collect(), rows: (0..blocks.len() as u32).collect(), ..Window::default() };
    (read(session, |_| window, &ReadSettings::default(), &Default::default()), contents)
}

/// Gives each result the tool call of a command.
fn set_commands<'a>(reading: &mut Analysis, mut command: impl FnMut(&Block) -> &'a str) {
    for block in reading.session.blocks.iter_mut().filter(|block| block.kind == BlockKind::ToolResult) {
        block.tool = Some(Box::new(Tool::new("Bash", ToolVerb::Run, command(block))));
    }
}

/// Returns the text of the first point of a kind.
fn told(summary: &Summary, kind: PointKind) -> Option<String> {
    summary.points.iter().find(|point| point.kind == kind).map(Point::text)
}

/// Returns the summary of the first turn.
fn first_turn(reading: &Analysis, contents: &Contents) -> Summary {
    summarize(reading, contents, &|_| String::new()).0.swap_remove(0).summary
}

/// Returns the summary of the session.
fn whole(reading: &Analysis, contents: &Contents) -> Summary {
    summarize(reading, contents, &|_| String::new()).1.summary
}

/// Returns only the letters and digits of a sentence.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn check(reading: &Analysis, contents: &Contents) {
    let clock = |moment: i64| format!("{:02}:{:02}", moment / 3_600_000 % 24, moment / 60_000 % 60);
    let (turns, current) = summarize(reading, contents, &clock);
    assert_eq!((&turns, &current), (&summarize(reading, contents, &clock).0, &summarize(reading, contents, &clock).1));
    assert_eq!(turns.len(), reading.turns.len());
    for turn in &turns {
        assert!(o200k(&turn.header.text) <= HEADER_TOKENS && turn.header.tokens <= HEADER_TOKENS, "{:?}", turn.header);
        assert!(o200k(&turn.summary.text) <= TURN_TOKENS, "{:?}", turn.summary);
        assert!(!turn.header.text.contains('\n'));
    }
    assert!(o200k(&current.summary.text) <= SESSION_TOKENS, "{:?}", current.summary);
    // The text of a part with one block occurs in that block: in its content, its target or its first words.
    let points = turns.iter().flat_map(|turn| &turn.summary.points).chain(&current.summary.points);
    for point in points.filter(|point| !matches!(point.kind, PointKind::Tests | PointKind::State)) {
        for part in &point.parts {
            let Some(block) = part.block.and_then(|number| reading.block(number)) else { continue };
            // A very long word is cut completely; only the label before it remains.
            if matches!(part.text.as_str(), "first…" | "now…") {
                continue;
            }
            let text = part.text.strip_prefix("first: ").or_else(|| part.text.strip_prefix("now: ")).unwrap_or(&part.text);
            let text = text.strip_prefix("(to: ").map_or(text, |offer| offer.trim_end_matches(')'));
            let text = text.rsplit_once(" (").filter(|(_, end)| end.ends_with(" edits)")).map_or(text, |(text, _)| text);
            let content = contents.get(&block.number).map_or("", String::as_str);
            let whole = format!("{} {} {}", bare(content), bare(block.target()), bare(&block.preview));
            let escaped = format!("{} {}", bare(&content.replace("\\n", " ").replace("\\t", " ")), whole);
            let is_path = matches!(point.kind, PointKind::Changed | PointKind::Files);
            for piece in text.split("[secret:").map(|piece| piece.split_once(']').map_or(piece, |(_, rest)| rest)) {
                // The middle of a long path is left out.
                let ends = piece.split_once("/…/").filter(|_| is_path).map(|(root, end)| (bare(root), bare(end)));
                let is_around =
                    || ends.is_some_and(|(root, end)| whole.split_once(&root).is_some_and(|(_, rest)| rest.contains(&end)));
                let piece = bare(piece);
                // A short question has the sentence before it, and code or a tag may be between them.
                let is_joined = || {
                    (1..piece.len())
                        .any(|at| piece.is_char_boundary(at) && escaped.contains(&piece[..at]) && escaped.contains(&piece[at..]))
                };
                let occurs = escaped.contains(&piece) || text.ends_with(['?', '？']) && is_joined() || is_around();
                assert!(occurs, "{:?}: {piece:?} is not in {content:?}", point.kind);
            }
        }
    }
}

#[test]
fn a_session_is_summarized_from_its_content() {
    let (reading, contents) = session(&[
        (Role::User, "Fix the rounding of the tax. It is off by a cent.", false),
        (Role::Assistant, "Let me look at it.\n\nThe root cause is that `net` is rounded twice.", false),
        (Role::ToolResult, "test result: FAILED. 3 passed; 1 failed", true),
        (Role::ToolUse, "{}", false),
        (Role::ToolResult, "{\"todos\":[]}", false),
        (Role::ToolResult, "test result: ok. 4 passed; 0 failed\n[main 1a2b3c4] Round once", false),
        (Role::Assistant, "The tax is rounded once now, at the end of the sum.\n\nShall I commit it?", false),
    ]);
    check(&reading, &contents);
    let (turns, current) = summarize(&reading, &contents, &|_| "21:05".to_owned());
    let expected = "asked: Fix the rounding of the tax. It is off by a cent.
decided: The root cause is that `net` is rounded twice.
tests: 4 passed
fixed: test result: FAILED. 3 passed; 1 failed
said: The tax is rounded once now, at the end of the sum.
open: Shall I commit it?";
    assert_eq!(turns[0].summary.text, expected);
    assert_eq!(turns[0].header.text, "Fix the rounding of the tax · 4 passed, asks");
    assert!(current.summary.text.contains("next: Shall I commit it?"), "{}", current.summary.text);
}

#[test]
fn a_short_question_has_the_sentence_before_it_though_a_tag_is_between() {
    let text = "- item one\n<command-name>/x</command-name>Why? - item one\n";
    let (reading, contents) = session(&[(Role::User, "", false), (Role::Assistant, text, false)]);
    check(&reading, &contents);
}

#[test]
fn an_empty_session_has_an_empty_summary() {
    let (turns, current) = summarize(&Analysis::default(), &Contents::default(), &|_| String::new());
    assert!(turns.is_empty() && current.summary.text.is_empty() && current.needs.is_empty());
}

/// Texts of people and models, including difficult ones.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "It is fixed. ",
        "Why? ",
        "because of it ",
        "```\ncode\n```\n",
        "<system-reminder>",
        "</system-reminder>",
        "- item one\n",
        "修好了。",
        "🔧 ",
        "…",
        "error: no ",
        "password=hunter2hunter2 ",
        "\n\n",
        "e.g. ",
        "12 passed, 3 failed\n",
        "[main 1a2b3c4] x\n",
        "{\"todos\":[{\"content\":\"write it\",\"status\":\"pending\"}]}",
        "word ",
        "\u{1b}[31m",
        "<command-name>/x</command-name>",
        "**",
        ": ",
    ];
    let piece = prop_oneof![6 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    let repeated = (piece, prop_oneof![9 => Just(1usize), 1 => 1..300usize]).prop_map(|(piece, count)| piece.repeat(count));
    prop::collection::vec(repeated, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// The properties hold for any session.
    #[test]
    fn any_session_has_a_summary(blocks in prop::collection::vec((0..4usize, text(), any::<bool>()), 0..14)) {
        let roles = [Role::User, Role::Assistant, Role::ToolUse, Role::ToolResult];
        let blocks: Vec<(Role, &str, bool)> = blocks.iter().map(|(role, text, error)| (roles[*role], text.as_str(), *error)).collect();
        let (reading, contents) = session(&blocks);
        check(&reading, &contents);
    }
}

#[test]
fn a_lookup_that_found_nothing_is_no_open_error_once_the_agent_continued() {
    let open = |target: &str, after: &[(Role, &'static str, bool)]| {
        let blocks = [(Role::User, "Please repair the parser", false), (Role::ToolUse, "", false)];
        let failed = [(Role::ToolResult, "rg: src/config.rs: No such file or directory", true)];
        let (mut reading, contents) = session(&[&blocks[..], &failed, after].concat());
        set_commands(&mut reading, |_| target);
        told(&first_turn(&reading, &contents), PointKind::Open).is_some()
    };
    let answer = [(Role::Assistant, "The parser skips comments now.", false)];
    for (target, is_open) in [
        ("cd src && rg -n daemon config.rs | head -5", false),
        ("sed -n '1,9p' src/config.rs", false),
        ("sed -i s/a/b/ src/config.rs", true),
        ("cargo build 2>&1 | head", true),
    ] {
        assert_eq!(open(target, &answer), is_open, "{target}");
        assert!(open(target, &[]), "{target}: nothing followed");
    }
}

#[test]
fn an_error_that_was_left_behind_is_not_open() {
    let failed = (Role::ToolResult, "error: no such target", true);
    let (call, done) = ((Role::ToolUse, "{}", false), (Role::ToolResult, "done", false));
    let (passed, failing) = ("test result: ok. 4 passed; 0 failed", "test result: FAILED. 3 passed; 1 failed");
    for (name, after, is_open) in [
        ("nothing", vec![], true),
        ("a call without a result", vec![call], false),
        ("a result", vec![call, done], false),
        ("a failed call", vec![call, (Role::ToolResult, "error: no such file", true)], true),
        ("a failed test", vec![call, (Role::ToolResult, failing, false)], true),
        ("passed tests", vec![call, (Role::ToolResult, passed, false)], false),
        ("a commit", vec![call, (Role::ToolResult, "[main 1a2b3c4] Round once", false)], false),
    ] {
        let answer = Some((Role::Assistant, "The target is renamed now.", false)).filter(|_| name != "a call without a result");
        let before = vec![(Role::User, "Please rename the target", false), call, failed];
        let blocks: Vec<_> = [before, after].concat().into_iter().chain(answer).collect();
        let (mut reading, contents) = session(&blocks);
        set_commands(&mut reading, |block| match &contents[&block.number] {
            _ if block.error => "make all",
            text if text.starts_with('[') => "git commit -m x",
            _ => "cargo test 2>&1 | tail",
        });
        assert_eq!(told(&first_turn(&reading, &contents), PointKind::Open).is_some(), is_open, "{name}");
    }
}

#[test]
fn a_long_path_is_told_without_its_middle() {
    let path = format!("/root/{}/lib/src/a.rs", "道".repeat(20));
    let call = (Role::ToolUse, "{}", false);
    let (reading, contents) = session(&[(Role::User, "Please edit it", false), call, call, (Role::ToolResult, &path, false)]);
    check(&reading, &contents);
    let text = first_turn(&reading, &contents).text;
    assert!(text.contains("changed: /root/…/lib/src/a.rs"), "{text}");
}

#[test]
fn an_amended_commit_is_told_once() {
    let commit = |text| [(Role::ToolUse, "{}", false), (Role::ToolResult, text, false)];
    let prompt = |text| [(Role::User, text, false)];
    let blocks = [
        &prompt("Please round the tax once")[..],
        &commit("[main 1a2b3c4] Round"),
        &commit("[main 2a2b3c4] Round once"),
        &prompt("Please name the sum in the message"),
        &commit("[main 3a2b3c4] Round the sum once"),
    ];
    let (mut reading, contents) = session(&blocks.concat());
    set_commands(&mut reading, |block| if block.number == 3 { "git commit -m x" } else { "git commit --amend -m x" });
    let text = whole(&reading, &contents).text;
    assert!(text.contains("done: Round the sum once") && !text.contains("Round once"), "{text}");
}

#[test]
fn a_sentence_of_several_prompts_is_no_topic() {
    let template = "You MUST consider the user input before proceeding. ";
    let prompts =
        ["Write the plan of the importer.", "List the tasks of the exporter."].map(|asked| format!("{template}{asked}"));
    let answer = (Role::Assistant, "It is written.", false);
    let (reading, contents) = session(&[(Role::User, &prompts[0], false), answer, (Role::User, &prompts[1], false), answer]);
    let headers: Vec<String> =
        summarize(&reading, &contents, &|_| String::new()).0.into_iter().map(|turn| turn.header.text).collect();
    assert!(headers[0].starts_with("Write the plan") && headers[1].starts_with("List the tasks"), "{headers:?}");
}

#[test]
fn a_goal_that_points_to_something_has_the_sentence_about_it() {
    for (prompt, expected) in [
        ("Fix the rounding of the net tax.", "Fix the rounding of the net tax."),
        (
            "The sum of the taxes is subtle now. Let's add a few tests.",
            "The sum of the taxes is subtle now.; Let's add a few tests.",
        ),
        (
            "The remote has a new name. What is the command to do that?",
            "The remote has a new name.; What is the command to do that?",
        ),
        ("Can you take a look at:\n\nthe rounding of the net tax", "Can you take a look at:; the rounding of the net tax"),
        ("Name the parts of it in the readme. Keep it short.", "Name the parts of it in the readme.; Keep it short."),
        (
            "I like the new one. Please name the parts of the sum in the readme.",
            "Please name the parts of the sum in the readme.",
        ),
        (
            "[lint:c] linter has version 2.1.4 from 8f3b0c7e on 2026-03-22\n[lint:c] x/main.c:45:9: bad (wrap)",
            "[lint:c] linter has version 2.1.4 from 8f3b0c7e on 2026-03-22",
        ),
        ("<command-name>/x</command-name>", "/x"),
    ] {
        let (mut reading, contents) = session(&[(Role::User, prompt, false), (Role::Assistant, "It is done.", false)]);
        if prompt.starts_with('<') {
            reading.session.blocks[0].preview = "/x".into();
        }
        assert_eq!(told(&whole(&reading, &contents), PointKind::Objective).unwrap_or_default(), expected, "{prompt}");
    }
}

#[test]
fn an_error_that_repeats_is_open_once() {
    let failed = |text| [(Role::ToolUse, "{}", false), (Role::ToolResult, text, true)];
    let prompt = (Role::User, "Please repair the pipeline", false);
    let errors = ["error: no such target", "error: no such file", "error: no such target"].map(failed).concat();
    let (mut reading, contents) = session(&[&[prompt], &*errors, &[(Role::Assistant, "Both remain.", false)]].concat());
    set_commands(&mut reading, |_| "make all");
    let open = told(&first_turn(&reading, &contents), PointKind::Open);
    assert_eq!(open.as_deref(), Some("error: no such target; error: no such file"));
}

#[test]
fn the_last_item_of_a_plan_is_not_next_behind_an_answer() {
    let next = |statuses: [&str; 2], answer: &str| {
        let items = ["Round each amount", "Run the tests"].into_iter().zip(statuses);
        let items: Vec<_> = items.map(|(text, status)| serde_json::json!({"content": text, "status": status})).collect();
        let plan = serde_json::json!({"todos": items}).to_string();
        let (mut reading, contents) = session(&[
            (Role::User, "Please round the tax once", false),
            (Role::ToolUse, &plan, false),
            (Role::ToolResult, "done", false),
            (Role::Assistant, answer, false),
        ]);
        reading.session.blocks[1].tool = Some(Box::new(Tool::new("T", ToolVerb::Plan, "")));
        told(&whole(&reading, &contents), PointKind::Next).unwrap_or_default()
    };
    let (done, asks) = ("The till rounds once now, and all tests pass.", "Shall the till round up?");
    assert_eq!(next(["completed", "in_progress"], done), "");
    assert_eq!(next(["completed", "pending"], done), "Run the tests");
    assert_eq!(next(["in_progress", "pending"], done), "Round each amount; Run the tests");
    assert_eq!(next(["completed", "in_progress"], asks), "Run the tests; Shall the till round up?");
}

#[test]
fn the_story_has_no_state_that_later_turns_end() {
    let story = |first: &str| {
        let (reading, contents) = session(&[
            (Role::User, "Please round the tax once", false),
            (Role::Assistant, first, false),
            (Role::User, "Please name the sum", false),
            (Role::Assistant, "The sum of the taxes is still missing in `till.rs`.", false),
        ]);
        told(&whole(&reading, &contents), PointKind::Narrative).unwrap_or_default()
    };
    let newest = "The sum of the taxes is still missing in `till.rs`.";
    for passed in ["The tests of the till are still red in `sum.rs`.", "Which rounding should the till use for `sum.rs`?"] {
        assert_eq!(story(passed), newest, "{passed}");
    }
    assert_eq!(story("If you want, I can round each of the taxes in `sum.rs`."), newest);
    let kept = "The till rounds the sum of all taxes once in `sum.rs`.";
    assert_eq!(story(kept), format!("{kept} {newest}"));
    let mixed = "The problem is that `till.rs` is still red because of the tax.";
    assert_eq!(story(&format!("{mixed} {kept}")), newest);
}

#[test]
fn the_notice_with_which_a_session_stopped_is_told() {
    let notice = "The limit of this month is reached.";
    let (mut reading, contents) = session(&[(Role::User, "Please round the tax", false), (Role::Assistant, notice, false)]);
    assert!(!whole(&reading, &contents).text.contains("stopped"));
    reading.session.rows[1].flags = Flags::API_ERROR | Flags::SYNTHETIC;
    let text = whole(&reading, &contents).text;
    assert!(text.contains(&format!("state: last turn: open, stopped: {notice}")), "{text}");
}
