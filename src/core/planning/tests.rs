//! Tests of plans for sessions that are held in memory.

mod bodies;

use super::*;
use crate::engine::{self, Analysis, ReadSettings};
use crate::model::{Address, History, Level, OperationKind, Plan};
use crate::provider::Format;
use crate::provider::claude_code::ClaudeCode;
use crate::testing::medium::Medium;
use std::collections::BTreeMap;

const ROWS: &str = concat!(
    r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"begin"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a long answer"}]}}"#,
    "\n",
    r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"S","message":{"role":"user","content":"end"}}"#,
);

fn reading(bytes: &[u8]) -> Analysis {
    let session = parse_session(&ClaudeCode, "S".to_owned(), bytes);
    engine::read(session, |session| ClaudeCode.window(session), &ReadSettings::default(), &Default::default())
}

/// Applies a plan to a session in memory and returns the resulting bytes.
fn planned(bytes: &[u8], plan: &Plan) -> Vec<u8> {
    Medium::new(&ClaudeCode, bytes.to_vec()).after(plan).bytes
}

#[test]
fn a_session_in_memory_is_changed() {
    let reading = reading(ROWS.as_bytes());
    let (history, originals) = (History::default(), BTreeMap::<Address, Vec<u8>>::new());
    let source = PlanSource { provider: &ClaudeCode, reading: &reading, history: &history };
    let mut draft = Draft::new(source, Box::new(MemoryRows(ROWS.as_bytes())), Some(&originals), 0).unwrap();
    assert_eq!(draft.original(2).unwrap().content, "a long answer");
    draft.replace(2, Level::Trimmed, "an answer", "").unwrap();
    draft.note("note", "a note");
    let drafted = draft.finish(OperationKind::Change, "", None, &|_| None, false).unwrap();
    let after = planned(ROWS.as_bytes(), &drafted.plan);
    let lines: Vec<&str> = std::str::from_utf8(&after).unwrap().lines().collect();
    assert_eq!(lines[..3].join("\n"), ROWS.replace("a long answer", "an answer"));
    assert!(lines.len() == 4 && lines[3].contains("a note"));
    let session = parse_session(&ClaudeCode, "S".to_owned(), &after);
    let hashes = |blocks: &[crate::model::Block]| blocks.iter().map(|block| block.hash).collect::<Vec<_>>();
    assert_eq!(hashes(&session.blocks), hashes(&drafted.revision.session.blocks));
}

#[test]
fn the_newest_prompt_and_a_rejection_are_shortened_at_no_level() {
    let log: String = (0..600).map(|line| format!("line {line} of a log that was pasted\\n")).collect();
    let declined = format!("The user declined. {}Not in this way.", "It is too slow.\\n".repeat(100));
    let row = |id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","sessionId":"S","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let call = r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"S","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#;
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"{declined}"}}]"#);
    let log = format!("\"{log}\"");
    let rows =
        [row("z", "", "\"go on\""), row("a", "z", &log), call.to_owned(), row("c", "b", &result), row("d", "c", &log)].join("\n");
    let reading = reading(rows.as_bytes());
    let (history, originals) = (History::default(), BTreeMap::<Address, Vec<u8>>::new());
    let source = PlanSource { provider: &ClaudeCode, reading: &reading, history: &history };
    for level in [Level::Trimmed, Level::Summarized, Level::Minimal] {
        let mut draft = Draft::new(source, Box::new(MemoryRows(rows.as_bytes())), Some(&originals), 0).unwrap();
        shorten(&mut draft, &BTreeMap::from([(2, level), (4, level), (5, level)]), "", None).unwrap();
        let drafted = draft.finish(OperationKind::Change, "compress", None, &|_| None, false).unwrap();
        let changed: Vec<u32> = drafted.plan.changes().map(|change| change.number).collect();
        assert_eq!(changed, [2], "{level:?}: only an older prompt");
    }
}

#[test]
fn a_list_of_tasks_keeps_its_entries_or_goes_and_the_one_in_force_stays() {
    let entry = |task: &str, status: &str| {
        format!(r#"{{"content":"Round the {task} once, at the end","status":"{status}","activeForm":"Rounding the {task}"}}"#)
    };
    let list = ["price", "tax", "total", "discount"].map(|task| entry(task, "pending")).join(",");
    let call = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","sessionId":"S","message":{{"id":"m{id}","role":"assistant","content":[{{"type":"tool_use","id":"t{id}","name":"TodoWrite","input":{{"todos":[{list}]}}}}]}}}}"#
        )
    };
    let result = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","sessionId":"S","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{parent}","content":"ok"}}]}}}}"#
        )
    };
    let begin = ROWS.lines().next().unwrap().to_owned();
    let rows = [begin, call("b", "a"), result("c", "b"), call("d", "c"), result("e", "d")].join("\n");
    let reading = reading(rows.as_bytes());
    let (history, originals) = (History::default(), BTreeMap::<Address, Vec<u8>>::new());
    let source = PlanSource { provider: &ClaudeCode, reading: &reading, history: &history };
    let mut draft = Draft::new(source, Box::new(MemoryRows(rows.as_bytes())), Some(&originals), 0).unwrap();
    let kept = shorten(&mut draft, &BTreeMap::from([(2, Level::Minimal), (4, Level::Minimal)]), "", None).unwrap();
    assert_eq!(kept, SkippedBlocks::from([(SkipReason::PlanInForce, vec![4])]));
    let drafted = draft.finish(OperationKind::Change, "compress", None, &|_| None, false).unwrap();
    let after = String::from_utf8(planned(rows.as_bytes(), &drafted.plan)).unwrap();
    let entry =
        |content: &str| format!(r#""todos":[{{"content":"{content}","status":"pending","activeForm":"Rounding the price"}}]"#);
    let line = after.lines().nth(1).unwrap();
    assert!(line.contains(&entry("[@2 | minimal from 161 | 4 lines: Round the price once, at the…]")), "{line}");
}

#[test]
fn rows_in_memory_that_are_too_few_are_refused() {
    let reading = reading(ROWS.as_bytes());
    let history = History::default();
    let source = PlanSource { provider: &ClaudeCode, reading: &reading, history: &history };
    let draft = Draft::new(source, Box::new(MemoryRows(&ROWS.as_bytes()[1..])), None, 0);
    assert!(matches!(draft, Err(PlanError::Moved)));
}

#[test]
fn a_plan_that_the_client_adds_to_a_call_is_not_counted() {
    let counts = |version: &str, input: &str| {
        let content = format!(r#"[{{"type":"tool_use","id":"t","name":"ExitPlanMode","input":{input}}}]"#);
        let row = format!(
            r#"{{"type":"assistant","uuid":"a","parentUuid":null,"version":"{version}","message":{{"id":"m","content":{content}}}}}"#
        );
        let session = parse_session(&ClaudeCode, "S".to_owned(), row.as_bytes());
        assert_eq!(session.blocks[0].bytes, input.len() as u64);
        session.blocks[0].counts
    };
    let plan = format!(r#""plan":"{}","planFilePath":"/p/plan.md""#, "one step after the other; ".repeat(40));
    let added = format!(r#"{{"allowed":["run tests"],{plan}}}"#);
    assert_eq!(counts("2.1.33", &added), counts("2.1.33", r#"{"allowed":["run tests"]}"#));
    assert_eq!(counts("2.1.33", &format!("{{{plan}}}")), counts("2.1.33", "{}"));
    // Before plans were files, the model wrote them into the call.
    assert!(counts("2.0.14", &added).o200k > counts("2.1.33", &added).o200k + 200);
}
