//! The judgement of responses, and the texts that they are about. `tests/it/sidecar_checks.rs` measures the checks.

use super::*;
use crate::model::{Block, BlockKind, Role};

const SOURCE: &str = "User: Please fix the rounding in src/tax.rs\n\nAgent: The function round truncated amounts, so invoices were wrong by \
                      one cent. It does not touch stored amounts. All 42 tests pass now.";

fn judged(response: &str) -> Result<AnswerTexts, AnswerFault> {
    SidecarTask::Turn.row().judge(SOURCE, response, ResponseEnd::default(), 180)
}

/// Returns the judged text of a task with one field.
fn judged_text(task: SidecarTask, source: &str, text: &str) -> Result<String, AnswerFault> {
    let name = task.row().fields[0].name;
    let texts = task.row().judge(source, &json!({name: text}).to_string(), ResponseEnd::default(), 180);
    texts.map(|mut texts| texts.remove(name).unwrap())
}

#[test]
fn every_task_is_in_its_row() {
    for (row, task) in TASKS.iter().zip(SidecarTask::ALL) {
        assert_eq!((row.task, task.row().task), (task, task));
        assert_eq!(row.prompt.is_empty(), row.fields.is_empty());
        assert!(row.fields.iter().all(|field| row.prompt.contains(&format!("\"{}\"", field.name))), "{task}");
    }
}

#[test]
fn a_response_is_an_object_with_true_texts() {
    let good = "{\"header\": \"rounding in src/tax.rs\", \"summary\": \"All 42 tests\\n pass.\"}";
    let texts = judged(&format!("Sure {{x}}: {good} Bye")).unwrap();
    assert_eq!((&*texts["header"], &*texts["summary"]), ("rounding in src/tax.rs", "All 42 tests pass."));
    let header = |header: &str| judged(&json!({"header": header, "summary": "All 42 tests pass."}).to_string()).err();
    for (text, fault) in [
        ("rounding in src/tex.rs", AnswerFault::Path),
        ("41 tests pass", AnswerFault::Number),
        ("It does touch stored amounts", AnswerFault::Negation),
        ("", AnswerFault::Empty),
        ("All tests pass now, and invoices were wrong by one cent, so the function truncated amounts", AnswerFault::Length),
        ("[@3 | archived from 9 tests]", AnswerFault::Form),
        ("42 tests pass", AnswerFault::Poor),
        ("src/tax.rs 42", AnswerFault::Poor),
    ] {
        assert_eq!(header(text), Some(fault), "{text}");
    }
    assert_eq!(judged("{\"header\": \"rounding in src/tax.rs\"}"), Err(AnswerFault::Form));
    assert_eq!(judged("All 42 tests pass."), Err(AnswerFault::Form));
    let cut = |end| SidecarTask::Turn.row().judge(SOURCE, good, end, 20).err();
    assert_eq!(cut(ResponseEnd { is_cut: true, tokens: None }), Some(AnswerFault::Length));
    assert_eq!(cut(ResponseEnd { is_cut: false, tokens: Some(21) }), Some(AnswerFault::Length));
    assert_eq!(cut(ResponseEnd { is_cut: false, tokens: Some(20) }), None);
}

#[test]
fn a_loss_is_in_the_old_note_only() {
    let source = comparison("Use cargo test. The port is 5433.", "Use cargo test with nextest.");
    let lost = |text: &str| judged_text(SidecarTask::Memory, &source, text);
    assert_eq!(lost("The port is 5433."), Ok("The port is 5433.".to_owned()));
    assert_eq!(lost(""), Ok(String::new()));
    assert_eq!(lost("Use cargo test."), Err(AnswerFault::Words));
    assert_eq!(lost("The port is 5434."), Err(AnswerFault::Number));
}

#[test]
fn a_result_is_repeated_only_if_the_newer_one_has_each_fact_of_it() {
    let judged = |newer: &str, lost: &str| {
        judged_text(SidecarTask::Duplicate, &comparison("src/a.rs: 3 warnings\nsrc/b.rs: compiled", newer), lost)
    };
    assert_eq!(judged("3 warnings in src/a.rs, compiled src/b.rs, 1 in src/c.rs", ""), Ok(String::new()));
    assert_eq!(judged("2 warnings in src/a.rs, compiled src/b.rs", ""), Err(AnswerFault::Lost));
    assert_eq!(judged("3 warnings in src/a.rs", "src/b.rs: compiled"), Ok("src/b.rs: compiled".to_owned()));
    assert!(is_alike(&comparison("one two three four five", "zero one two three four six five")));
    assert!(!is_alike(&comparison("one two three four five", "five four three two one")));
    assert!(!is_alike(&comparison("one two", "one two")), "no shingle is shared");
}

#[test]
fn an_excerpt_has_the_start_and_the_end() {
    assert_eq!(excerpt("short", 100), "short");
    let text: String = (0..100).map(|line| format!("line number {line}\n")).collect();
    let part = excerpt(&text, 300);
    assert!(part.chars().count() <= 300 && part.starts_with("line number 0\n") && part.ends_with("line number 99\n"), "{part}");
    assert!(part.contains("\n…\n") && !part.contains("number 50"));
    assert!(excerpt(&"é".repeat(1_000), 90).chars().count() <= 90);
}

#[test]
fn errors_and_words_of_a_person_stay_beside_a_text() {
    let content = "building\nerror: no such file a.rs\nwarning: unused\nerror: no such file a.rs\nplease use tabs\n";
    let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
    let start = content.find("please").unwrap() as u32;
    block.words = [(start, start + 15)].into();
    assert_eq!(kept_lines(&block, content, "The build failed."), ["please use tabs", "error: no such file a.rs"]);
    assert_eq!(kept_lines(&block, content, "error: no such file a.rs; please use tabs"), [""; 0]);
}

#[test]
fn a_model_is_stopped_after_enough_refusals() {
    for (answers, refused, is_stopped) in [(19, 19, false), (20, 1, false), (20, 2, true), (100, 5, false), (100, 6, true)] {
        assert_eq!(is_unreliable(answers, refused), is_stopped, "{refused} of {answers}");
    }
    assert_eq!([1, 2, 3, 20].map(retry_after), [2_000, 4_000, 8_000, 600_000]);
    assert!((cosine(&[1.0, 0.0], &[2.0, 0.0]) - 1.0).abs() < 1e-6 && cosine(&[1.0], &[1.0, 2.0]) == 0.0);
}

#[test]
fn a_choice_is_one_of_the_words_and_about_a_prompt_that_says_something() {
    let judged = |asks: &str, task: &str| {
        let source = boundary_text("Please fix the rounding in src/tax.rs", "It rounds half up now.", asks);
        judged_text(SidecarTask::Boundary, &source, task)
    };
    let asks = "Write a page about the release process";
    assert_eq!(judged(asks, "new"), Ok("new".to_owned()));
    assert_eq!(judged(asks, "Same"), Ok("same".to_owned()));
    assert_eq!(judged(asks, "other"), Err(AnswerFault::Form));
    assert_eq!(judged("yes, continue", "new"), Err(AnswerFault::Poor));
}

#[test]
fn an_echo_names_results_that_share_words_with_the_answer() {
    let results =
        ["The lease of a worker ends after ninety seconds", "warning: unused import in the parser", "Every list is empty"];
    let source =
        echo_text("A worker that is killed keeps its lease for ninety seconds, so tasks wait.", &results.map(str::to_owned));
    let judged = |texts: &str| judged_text(SidecarTask::Echo, &source, texts);
    assert_eq!(judged("1"), Ok("1".to_owned()));
    assert_eq!(judged("1, 1"), Ok("1".to_owned()));
    assert_eq!(judged(""), Ok(String::new()));
    assert_eq!(judged("2"), Err(AnswerFault::Poor));
    assert_eq!(judged("4"), Err(AnswerFault::Number));
    assert_eq!(judged("0"), Err(AnswerFault::Number));
    assert_eq!(judged("the first"), Err(AnswerFault::Number));
}
