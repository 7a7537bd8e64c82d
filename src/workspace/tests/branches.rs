//! Notes in conversations of any shape.

use super::place::Place;
use super::*;
use crate::fsio::RealDisk;
use crate::model::OperationKind;
use proptest::prelude::*;

/// A row: which one it follows (modulo the rows and one that is not there; itself for a root), its kind, and its second, some of them to come.
type Shape = (Option<u8>, u8, u8);

fn session(shape: &[Shape], noted: Option<u8>) -> String {
    let mut rows = String::new();
    for (place, (parent, kind, second)) in shape.iter().enumerate() {
        let parent = parent.map(|parent| parent as usize % (shape.len() + 1)).filter(|parent| *parent != place);
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"r{parent}\""));
        let year = if *second < 50 { 2026 } else { 2030 };
        let (kind, body) = match kind % 6 {
            0 | 1 => ("user", format!(r#""message":{{"role":"user","content":"prompt {place}"}}"#)),
            2 | 3 => (
                "assistant",
                format!(
                    r#""message":{{"id":"m{place}","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"answer {place}"}}],"usage":{{"input_tokens":10,"output_tokens":3}}}}"#
                ),
            ),
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

/// A note is sent wherever the client would go on, or refused with a reason, and undone to the byte.
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
            assert!(matches!(error.downcast_ref(), Some(PlanError::NoWay)), "{shape:?} {noted:?}: {error:#}");
            assert!(shape.is_empty(), "{shape:?} {noted:?}: {error:#}");
        }
    }
    place.undo_all().unwrap();
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), bytes);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("APERTURE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_note_is_sent_in_a_conversation_of_any_shape(
        shape in prop::collection::vec((prop::option::weighted(0.8, any::<u8>()), any::<u8>(), 0..60u8), 0..7),
        noted in prop::option::of(any::<u8>()),
    ) {
        check(&shape, noted);
    }
}
