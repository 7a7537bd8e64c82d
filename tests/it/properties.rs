//! Laws over any bytes and any text; fuzz/ looks for what these cases miss.

use aperture::engine::{ReadSettings, Selector, read};
use aperture::model::{BlockNumber, Session};
use aperture::provider::PROVIDERS;
use aperture::workspace::parse_chunk;
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines as clients write them, with holes: `ID`, `PARENT` and `MESSAGE` are filled with a few names, so that rows meet.
/// The fuzz target `window` has the same.
const ROWS: &[&str] = &[
    r#"{"type":"user","uuid":"ID","parentUuid":"PARENT","sessionId":"s","timestamp":"2026-11-21T10:00:00.000Z","message":{"role":"user","content":"do MESSAGE"}}"#,
    r#"{"type":"user","uuid":"ID","parentUuid":null,"sessionId":"s","isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"MESSAGE"}]}}"#,
    r#"{"type":"assistant","uuid":"ID","parentUuid":"PARENT","sessionId":"s","message":{"id":"MESSAGE","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":3,"cache_read_input_tokens":100,"output_tokens":5}}}"#,
    r#"{"type":"assistant","uuid":"ID","parentUuid":"PARENT","sessionId":"s","message":{"id":"MESSAGE","role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2lnbmF0dXJl"}]}}"#,
    r#"{"type":"assistant","uuid":"ID","parentUuid":"PARENT","sessionId":"s","message":{"id":"MESSAGE","role":"assistant","content":[{"type":"tool_use","id":"toolu_MESSAGE","name":"Read","input":{"file_path":"/a/MESSAGE.rs"}}]}}"#,
    r#"{"type":"user","uuid":"ID","parentUuid":"PARENT","sessionId":"s","sourceToolAssistantUUID":"PARENT","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_MESSAGE","content":"fn main() {}"}]}}"#,
    r#"{"type":"user","uuid":"ID","parentUuid":"PARENT","isCompactSummary":true,"message":{"role":"user","content":"summary"}}"#,
    r#"{"type":"system","subtype":"compact_boundary","uuid":"ID","parentUuid":null,"logicalParentUuid":"PARENT","compactMetadata":{"preservedMessages":{"uuids":["PARENT"],"anchorUuid":"ID"}}}"#,
    r#"{"type":"attachment","uuid":"ID","parentUuid":"PARENT","attachment":{"type":"MESSAGE"},"rendered":[{"type":"text","text":"note"}]}"#,
    r#"{"type":"progress","uuid":"ID","parentUuid":"PARENT","toolUseID":"toolu_MESSAGE"}"#,
    r#"{"type":"last-prompt","leafUuid":"PARENT","lastPrompt":"x","sessionId":"s"}"#,
    r#"{"type":"system","subtype":"api_error","uuid":"ID","parentUuid":"PARENT","isSidechain":true}"#,
    r#"{"type":"user","uuid":"ID","parentUuid":"PARENT"}{"type":"user","uuid":"ID"}"#,
    r#"{"type":"user","uuid":"ID","message":{"role":"us"#,
    "",
];

/// A session of any bytes, read as the program reads it.
fn session(bytes: &[u8]) -> Session {
    let provider = PROVIDERS[0];
    Session::join(provider.name(), "s".into(), vec![parse_chunk(provider, &|_| Some(1), bytes, 0)])
}

/// A line of the table with its holes filled.
fn line() -> impl Strategy<Value = String> {
    (0..ROWS.len(), 0..8u8, 0..8u8, 0..4u8).prop_map(|(row, id, parent, message)| {
        let [id, parent, message] = [id, parent, message].map(|number| format!("n{number}"));
        ROWS[row].replace("ID", &id).replace("PARENT", &parent).replace("MESSAGE", &message)
    })
}

/// Bytes that are often nearly JSON.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => vec(any::<u8>(), 0..12),
        3 => line().prop_map(String::into_bytes),
        1 => Just(b"\n".to_vec()),
        1 => Just(br#"{"type":"user","message":{"content":["#.to_vec()),
        1 => Just(b"\"}]}".to_vec()),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes are rows: none is lost, none overlaps, and each block stands in one of them.
    #[test]
    fn any_bytes_are_rows(bytes in bytes()) {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        let session = session(&bytes);
        prop_assert_eq!(session.rows.len(), lines);
        for row in &session.rows {
            let range = row.offset as usize..row.offset as usize + row.length as usize;
            prop_assert!(!bytes[range.clone()].contains(&b'\n'));
            prop_assert!(range.end == bytes.len() || bytes[range.end] == b'\n');
        }
        for (place, block) in session.blocks.iter().enumerate() {
            prop_assert_eq!(block.number as usize, place + 1);
            prop_assert!((block.row as usize) < session.rows.len());
        }
    }

    /// Where the reading is cut into chunks changes nothing.
    #[test]
    fn chunks_are_joined_as_if_never_cut(lines in vec(line(), 0..20), cut in 0..20usize) {
        let text = lines.concat_lines();
        let at = lines.iter().take(cut).map(|line| line.len() + 1).sum::<usize>().min(text.len());
        let provider = PROVIDERS[0];
        let parse = |bytes: &[u8], offset| parse_chunk(provider, &|_| Some(1), bytes, offset);
        let parts = vec![parse(&text.as_bytes()[..at], 0), parse(&text.as_bytes()[at..], at as u64)];
        let joined = Session::join(provider.name(), "s".into(), parts);
        let whole = session(text.as_bytes());
        prop_assert_eq!(joined.blocks, whole.blocks);
        prop_assert_eq!(joined.rows.len(), whole.rows.len());
    }

    /// Whatever the rows say of each other, the window holds blocks of the session, each once, and messages send just those.
    #[test]
    fn any_rows_have_a_window(lines in vec(line(), 0..40)) {
        let session = session(lines.concat_lines().as_bytes());
        let window = PROVIDERS[0].window(&session);
        let mut seen: Vec<BlockNumber> = window.blocks.clone();
        seen.sort_unstable();
        prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "a block stands in the window twice: {:?}", window.blocks);
        prop_assert!(seen.iter().all(|number| (1..=session.blocks.len() as BlockNumber).contains(number)));
        let messages = PROVIDERS[0].messages(&session, &window);
        let sent: Vec<BlockNumber> =
            messages.iter().flat_map(|message| &message.parts).flat_map(|part| part.blocks()).collect();
        prop_assert_eq!(&window.blocks, &sent);
        let reading = read(session, window, &ReadSettings::default());
        prop_assert!(reading.percent() >= 0.0);
    }

    /// Any text is a selector or an error that says where.
    #[test]
    fn any_text_is_a_selector_or_an_error(text in any::<String>()) {
        if let Err(error) = Selector::parse(&text) {
            prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
    }

    /// What is put together of the words of the language is read without a panic, and selects blocks that exist.
    #[test]
    fn any_words_of_the_language_are_read(words in vec(prop::sample::select(WORDS.to_vec()), 0..12)) {
        let _ = Selector::parse(&words.concat());
        if let Ok(selector) = Selector::parse(&words.join(" ")) {
            let session = session(ROWS.join("\n").as_bytes());
            let window = PROVIDERS[0].window(&session);
            let reading = read(session, window, &ReadSettings::default());
            if let Ok(numbers) = selector.select(&reading) {
                prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(numbers.iter().all(|number| reading.block(*number).is_some()));
            }
        }
    }
}

const WORDS: &[&str] = &[
    "all",
    "stale",
    "recency",
    "12",
    "#3",
    "block-4",
    "1..5",
    "9..2",
    "..4",
    "2..",
    "tool(Read)",
    "path(\"src/**\")",
    "path([)",
    "kind(image)",
    "kind(x)",
    "turn(1..2)",
    "larger(2k)",
    "larger(-1)",
    "\"auth\"",
    "\"",
    "toolu_n0123",
    "&",
    "|",
    "~",
    "(",
    ")",
    "é",
    "0",
];

/// Lines with a line feed behind each.
trait ConcatLines {
    fn concat_lines(&self) -> String;
}

impl ConcatLines for Vec<String> {
    fn concat_lines(&self) -> String {
        self.iter().flat_map(|line| [line, "\n"]).collect()
    }
}
