//! Tests notes and folds in conversations of any shape.

use super::place::Place;
use super::*;
use crate::fsio::RealDisk;
use crate::model::OperationKind;
use crate::testing::law;
use crate::testing::medium::{compress, shrink_all};
use proptest::prelude::*;

/// A row: its parent (modulo the number of rows plus a missing one; the row itself for a root), its kind, and its second, which can
/// be in the future.
type Shape = (Option<u8>, u8, u8);

fn session(shape: &[Shape], noted: Option<u8>) -> String {
    let mut rows = String::new();
    for (place, (parent, kind, second)) in shape.iter().enumerate() {
        let parent = parent.map(|parent| parent as usize % (shape.len() + 1)).filter(|parent| *parent != place);
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"r{parent}\""));
        let year = if *second < 50 { 2026 } else { 2030 };
        let words = format!("word{place} ").repeat(200);
        let assistant = |content: String| {
            let message = format!(r#""id":"m{place}","type":"message","role":"assistant","model":"claude-opus-4-8""#);
            let usage = r#""usage":{"input_tokens":10,"output_tokens":3}"#;
            ("assistant", format!(r#""message":{{{message},"content":[{content}],{usage}}}"#))
        };
        let user = |content: String| ("user", format!(r#""message":{{"role":"user","content":{content}}}"#));
        let call = format!("toolu_{}", second % 5);
        let (kind, body) = match kind % 10 {
            6 | 7 => {
                assistant(format!(r#"{{"type":"tool_use","id":"{call}","name":"Read","input":{{"file_path":"/w/{place}.rs"}}}}"#))
            }
            8 | 9 => user(format!(r#"[{{"type":"tool_result","tool_use_id":"{call}","content":"{words}"}}]"#)),
            0 | 1 => user(format!(r#""prompt {place}""#)),
            2 | 3 => assistant(format!(r#"{{"type":"text","text":"answer {place}"}}"#)),
            4 => (
                "attachment",
                format!(
                    r#""attachment":{{"type":"session_context"}},"rendered":[{{"content":"context {place}"}}],"renderedRole":"user""#
                ),
            ),
            _ => ("system", r#""subtype":"local_command","content":"x","level":"info""#.to_owned()),
        };
        rows.push_str(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"r{place}","sessionId":"s","timestamp":"{year}-01-01T00:00:{:02}.000Z","version":"2.1.330",{body}}}"#,
            second % 50
        ));
        rows.push('\n');
    }
    if let Some(noted) = noted.filter(|_| !shape.is_empty()) {
        let leaf = noted as usize % shape.len();
        rows.push_str(&format!(r#"{{"type":"last-prompt","lastPrompt":"p","leafUuid":"r{leaf}","sessionId":"s"}}"#));
        rows.push('\n');
    }
    rows
}

/// Checks that a note at any leaf is sent or refused with a reason, and that its undo restores the exact bytes.
fn check(shape: &[Shape], noted: Option<u8>) {
    let bytes = session(shape, noted);
    let place = Place::new(bytes.as_bytes());
    let note = |draft: &mut Draft<'_>| {
        draft.note(NOTE, "remember the milk");
        Ok(())
    };
    match place.change(&RealDisk, OperationKind::Change, None, note) {
        Ok(_) => {}
        Err(error) => {
            // A note after a result without its call is not sent, nor one beside the only messages, if their rows are in a circle.
            let lost = shape.iter().any(|(_, kind, _)| kind % 10 >= 6) || has_circle(shape);
            let expected = match error.downcast_ref() {
                Some(PlanError::NoWay) => shape.is_empty(),
                Some(PlanError::Tangled(_)) => lost,
                _ => false,
            };
            assert!(expected, "{shape:?} {noted:?}: {error:#}");
        }
    }
    place.undo_all().unwrap();
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), bytes);
}

/// Returns true if a row is above itself.
fn has_circle(shape: &[Shape]) -> bool {
    let above = |place: &usize| shape.get(*place)?.0.map(|parent| parent as usize % (shape.len() + 1));
    (0..shape.len()).any(|place| std::iter::successors(above(&place), above).take(shape.len()).any(|other| other == place))
}

/// Checks that folding turns and folding the old part of a window succeed or are refused with a reason, and that undo restores the
/// exact bytes.
fn check_folds(shape: &[Shape], noted: Option<u8>) {
    let bytes = session(shape, noted);
    let place = Place::new(bytes.as_bytes());
    let handover = |draft: &mut Draft<'_>| compress(draft, engine::preset("handoff").unwrap());
    let done = |outcome: anyhow::Result<Option<u32>>| {
        let error = outcome.err();
        let refused = error.as_ref().is_none_or(|error| {
            !matches!(error.downcast_ref(), Some(PlanError::Unsafe(_))) && error.downcast_ref::<PlanError>().is_some()
        });
        assert!(refused, "{shape:?} {noted:?}: {:#}", error.unwrap());
    };
    for turns in [1..=1, 1..=2, 2..=2] {
        done(place.change(&RealDisk, OperationKind::Change, None, |draft| draft.fold(turns, "a summary")));
        place.undo_all().unwrap();
    }
    let budget = |draft: &mut Draft<'_>| {
        let budget = Aim::Tokens((draft.reading().price.total.value * 0.4) as u64);
        shrink_all(draft, budget)
    };
    let archived = |draft: &mut Draft<'_>| {
        let blocks: Vec<BlockNumber> = draft.reading().in_window().skip(1).map(|block| block.number).collect();
        archive(draft, &blocks, "done").map(drop)
    };
    done(place.change(&RealDisk, OperationKind::Change, None, handover));
    place.undo_all().unwrap();
    done(place.change(&RealDisk, OperationKind::Change, None, budget));
    place.undo_all().unwrap();
    done(place.change(&RealDisk, OperationKind::Change, None, archived));
    place.undo_all().unwrap();
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), bytes);
}

#[test]
fn a_note_is_refused_where_the_only_message_is_in_a_circle() {
    check(&[(None, 94, 0), (Some(190), 94, 40), (Some(53), 0, 0)], Some(33));
}

proptest! {
    #![proptest_config(law(40))]

    #[test]
    fn a_note_is_sent_in_a_conversation_of_any_shape(
        shape in prop::collection::vec((prop::option::weighted(0.8, any::<u8>()), any::<u8>(), 0..60u8), 0..7),
        noted in prop::option::of(any::<u8>()),
    ) {
        check(&shape, noted);
    }

    #[test]
    fn turns_are_folded_in_a_conversation_of_any_shape(
        shape in prop::collection::vec((prop::option::weighted(0.9, any::<u8>()), any::<u8>(), 0..60u8), 0..12),
        noted in prop::option::weighted(0.3, any::<u8>()),
    ) {
        check_folds(&shape, noted);
    }

    #[test]
    fn turns_are_folded_in_a_line_of_rows(kinds in prop::collection::vec((any::<u8>(), 0..50u8), 6..16)) {
        let shape: Vec<Shape> = kinds.iter().enumerate().map(|(place, (kind, call))| {
            (place.checked_sub(1).map(|above| above as u8), *kind, *call)
        }).collect();
        check_folds(&shape, None);
    }
}
