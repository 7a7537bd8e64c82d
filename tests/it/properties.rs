//! Properties for any bytes and any text; fuzz/ covers further cases.

use aperture::engine::{ReadSettings, Selector, read};
use aperture::fsio::RealDisk;
use aperture::model::{Actor, BlockKind, BlockNumber, Edit, Fault, Key, OperationKind, Plan, RowAddress, Segment, Session, Slot};
use aperture::provider::{PROVIDERS, ProviderAdapter, conventions};
use aperture::store::Store;
use aperture::workspace::{EarlierRows, parse_changed, parse_chunk};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

/// Lines as clients write them, with holes: `ID`, `PARENT` and `MESSAGE` are filled with a few names, so that rows meet.
/// One table for each provider.
const ROWS: [&str; 4] = [
    include_str!("rows.jsonl"),
    include_str!("rows-codex.jsonl"),
    include_str!("rows-opencode.jsonl"),
    include_str!("rows-gemini.jsonl"),
];

/// A session of any bytes, read as the program reads it.
fn session(provider: &dyn ProviderAdapter, bytes: &[u8]) -> Session {
    join(provider, vec![parse_chunk(provider, &|_| Some(1), bytes, 0)])
}

fn join(provider: &dyn ProviderAdapter, parts: Vec<Segment>) -> Session {
    let mut session = Session::join(provider.name(), conventions(), "s".into(), parts);
    provider.link(&mut session);
    session
}

/// A line of the table with its holes filled.
fn line() -> impl Strategy<Value = String> {
    let rows: Vec<&str> = ROWS.iter().flat_map(|rows| rows.lines()).collect();
    (0..rows.len(), 0..8u8, 0..8u8, 0..4u8).prop_map(move |(row, id, parent, message)| {
        let [id, parent, message] = [id, parent, message].map(|number| format!("n{number}"));
        rows[row].replace("ID", &id).replace("PARENT", &parent).replace("MESSAGE", &message)
    })
}

/// Lines of one client.
fn lines(count: usize) -> impl Strategy<Value = (usize, Vec<String>)> {
    let line = |rows: Vec<&'static str>| {
        (0..rows.len(), 0..8u8, 0..8u8, 0..4u8).prop_map(move |(row, id, parent, message)| {
            let [id, parent, message] = [id, parent, message].map(|number| format!("n{number}"));
            rows[row].replace("ID", &id).replace("PARENT", &parent).replace("MESSAGE", &message)
        })
    };
    (0..ROWS.len()).prop_flat_map(move |client| (Just(client), vec(line(ROWS[client].lines().collect()), 0..count)))
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

/// Replaces a block of a row by a text, checks the result, and restores the original.
fn replace(provider: &dyn ProviderAdapter, line: &[u8], index: u32, text: &str) {
    let before = provider.parse(line);
    let Some(block) = before.blocks.get(index as usize) else { return };
    let Some(slot) = provider.slot(line, index) else { return };
    let range = provider.locate_slot(line, slot).expect("a slot is somewhere");
    let content =
        if block.block.kind == BlockKind::ToolUse { format!("{{\"a\":{}}}", serde_json::json!(text)) } else { text.into() };
    let value = provider.encode(slot, block.block.kind, &content).expect("a text is a value");
    let changed = [&line[..range.start], &value, &line[range.end..]].concat();
    let after = provider.parse(&changed);
    assert_eq!(after.blocks.len(), before.blocks.len());
    assert_eq!((after.row.id, after.row.parent, after.row.kind), (before.row.id, before.row.parent, before.row.kind));
    for (place, (new, old)) in after.blocks.iter().zip(&before.blocks).enumerate() {
        if place == index as usize {
            assert_eq!(new.content, content);
        } else {
            assert_eq!(new.content, old.content);
        }
    }
    let again = provider.locate_slot(&changed, slot).expect("the slot is still there");
    assert_eq!(&changed[again.clone()], &value);
    assert_eq!([&changed[..again.start], &line[range], &changed[again.end..]].concat(), line);
}

/// Settles a prepared operation that wrote `after` and took a row out, against a file.
fn settle(after: &[u8], file: &[u8], removed: Option<&str>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap().join("s.jsonl");
    fs::write(&path, file).unwrap();
    let store = Store::open(directory.path()).unwrap();
    let key = store.register("claude-code", "s", &path, "p").unwrap();
    let row = RowAddress { id: Key::from_text("x"), occurrence: 0 };
    let edits = removed.map(|line| Edit {
        row,
        slot: Slot::Line,
        before: Some([line.as_bytes(), b"\n"].concat()),
        after: None,
        change: None,
    });
    // Before, the row that is removed was the last one.
    let base = [after, removed.unwrap_or_default().as_bytes()].concat();
    let plan = Plan {
        kind: OperationKind::Undo,
        command: String::new(),
        actor: Actor::User,
        inverts: None,
        edits: edits.into_iter().collect(),
        block_edits: Vec::new(),
        window: None,
        reversal: None,
        marks: Vec::new(),
        companions: Vec::new(),
        base_bytes: base.len() as u64,
        base_hash: *blake3::hash(&base).as_bytes(),
        tokens_before: 0.0,
        tokens_after: 0.0,
        last_row: None,
    };
    store.prepare(key, &plan, 0, std::iter::empty(), Some((after.len() as u64, *blake3::hash(after).as_bytes())), None).unwrap();
    aperture::workspace::settle(&RealDisk, &store, &path).unwrap();
    assert_eq!(store.prepared(key).unwrap(), []);
    let done = file.starts_with(after) && (removed.is_none() || !file.starts_with(&base));
    assert_eq!(store.history(key).unwrap().operations.len(), usize::from(done));
    assert_eq!(fs::read(&path).unwrap(), file);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::sandbox::all_or(256, 64), failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes are parsed as rows: none is lost, none overlaps, and each block belongs to one of them.
    #[test]
    fn any_bytes_are_rows(bytes in bytes()) {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        for provider in PROVIDERS {
            let session = session(*provider, &bytes);
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
    }

    /// The position of chunk boundaries does not change the result.
    #[test]
    fn chunks_are_joined_as_if_never_cut((client, lines) in lines(20), cut in 0..20usize) {
        let text = lines.concat_lines();
        let at = lines.iter().take(cut).map(|line| line.len() + 1).sum::<usize>().min(text.len());
        let provider = PROVIDERS[client];
        let parse = |bytes: &[u8], offset| parse_chunk(provider, &|_| Some(1), bytes, offset);
        let parts = vec![parse(&text.as_bytes()[..at], 0), parse(&text.as_bytes()[at..], at as u64)];
        let joined = join(provider, parts);
        let whole = session(provider, text.as_bytes());
        prop_assert_eq!(joined.blocks, whole.blocks);
        prop_assert_eq!(joined.rows.len(), whole.rows.len());
    }

    /// A changed file is read as if it were new, whatever was known of it before.
    #[test]
    fn a_changed_file_is_read_as_if_it_were_new((client, lines) in lines(20), cut in 0..20usize, (_, others) in lines(3)) {
        let provider = PROVIDERS[client];
        let before = parse_chunk(provider, &|_| Some(1), lines.concat_lines().as_bytes(), 0);
        let (first, last) = lines.split_at(cut.min(lines.len()));
        let changed = [last, &others[..], first].concat().concat_lines();
        let parsed = parse_changed(provider, &|_| Some(1), Some(&EarlierRows::new(&before)), changed.as_bytes(), 0);
        prop_assert_eq!(join(provider, vec![parsed]), session(provider, changed.as_bytes()));
    }

    /// For any relations between rows, the window holds blocks of the session, each once, and the messages send exactly those.
    #[test]
    fn any_rows_have_a_window((client, lines) in lines(40)) {
        let provider = PROVIDERS[client];
        let session = session(provider, lines.concat_lines().as_bytes());
        let mut again = session.clone();
        provider.link(&mut again);
        prop_assert!(again == session, "what was linked is linked no other way");
        let window = provider.window(&session);
        let mut seen: Vec<BlockNumber> = window.blocks.clone();
        seen.sort_unstable();
        prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "a block stands in the window twice: {:?}", window.blocks);
        prop_assert!(seen.iter().all(|number| (1..=session.blocks.len() as BlockNumber).contains(number)));
        let messages = provider.messages(&session, &window);
        let sent: Vec<BlockNumber> =
            messages.iter().flat_map(|message| &message.parts).flat_map(|part| part.blocks()).collect();
        prop_assert_eq!(&window.blocks, &sent);
        let reading = read(session, |_| window, &ReadSettings::default(), &Default::default());
        prop_assert!(reading.percent() >= 0.0);
    }

    /// Another value in the place of a block leaves the rest of its row as it was, whatever the row, and goes again.
    #[test]
    fn any_row_takes_another_value(bytes in bytes(), index in 0..4u32, text in any::<String>()) {
        for (provider, line) in PROVIDERS.iter().flat_map(|provider| {
            bytes.split(|byte| *byte == b'\n').map(move |line| (*provider, line))
        }) {
            replace(provider, line, index, &format!("x{text}"));
        }
    }

    /// Settling commits or aborts a prepared operation for any state of the file, and does not change the file.
    #[test]
    fn any_file_settles_an_operation(
        after in bytes(), file in bytes(), removed in prop::option::of(line()), starts in any::<bool>(), stays in any::<bool>()
    ) {
        let mut file = file;
        if let (Some(line), true) = (&removed, stays) {
            file.splice(0..0, [line.as_bytes(), b"\n"].concat());
        }
        if starts {
            file.splice(0..0, after.iter().copied());
        }
        settle(&after, &file, removed.as_deref());
    }

    /// Any text is a selector or an error with a position.
    #[test]
    fn any_text_is_a_selector_or_an_error(text in any::<String>()) {
        if let Err(error) = Selector::parse(&text) {
            prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
    }

    /// Any sequence of words of the selector language is parsed without a panic, and selects only existing blocks.
    #[test]
    fn any_words_of_the_language_are_read(words in vec(prop::sample::select(WORDS.to_vec()), 0..12)) {
        let _ = Selector::parse(&words.concat());
        if let Ok(selector) = Selector::parse(&words.join(" ")) {
            for (provider, rows) in PROVIDERS.iter().zip(ROWS) {
                let session = session(*provider, rows.as_bytes());
                let window = provider.window(&session);
                let reading = read(session, |_| window, &ReadSettings::default(), &Default::default());
                if let Ok(numbers) = selector.select(&reading) {
                    prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
                    prop_assert!(numbers.iter().all(|number| reading.block(*number).is_some()));
                }
            }
        }
    }
}

/// The templates are valid, so that the properties above are not vacuous.
#[test]
fn the_templates_make_a_session() {
    let kinds = ["attachment", "image", "other", "text", "thinking", "tool_result", "tool_use"];
    assert_eq!(PROVIDERS.len(), ROWS.len());
    let of_opencode = ["attachment", "document", "image", "text", "thinking", "tool_result", "tool_use"];
    let all = [&["attachment", "text", "thinking", "tool_result", "tool_use"][..], &kinds, &of_opencode, &kinds];
    for ((provider, rows), kinds) in PROVIDERS.iter().zip(ROWS).zip(all) {
        let text = rows.replace("ID", "n1").replace("PARENT", "n1").replace("MESSAGE", "n1");
        let session = session(*provider, text.as_bytes());
        let found: BTreeSet<&str> = session.blocks.iter().map(|block| block.kind.name()).collect();
        assert_eq!(found, kinds.iter().copied().collect());
        assert_eq!(session.damage.keys().copied().collect::<Vec<_>>(), [Fault::NotJson, Fault::Glued]);
    }
    let chain = ROWS[0].lines().take(6).enumerate().map(|(place, row)| {
        let [id, parent] = [place + 1, place].map(|number| format!("n{number}"));
        row.replace("ID", &id).replace("PARENT", &parent).replace("MESSAGE", "m") + "\n"
    });
    let session = session(PROVIDERS[0], chain.collect::<String>().as_bytes());
    assert!(PROVIDERS[0].window(&session).blocks.len() > 2);
}

const WORDS: &[&str] = &[
    "all", "stale", "recency", "12", "#3", "block-4", "1..5", "9..2", "..4", "2..", "tool(Read)", "path(\"src/**\")", "path([)",
    "kind(image)", "kind(x)", "turn(1..2)", "larger(2k)", "larger(-1)", "\"auth\"", "\"", "toolu_n0123", "&", "|", "~", "(", ")",
    "é", "0",
];

/// Joins lines, with a line feed after each.
trait ConcatLines {
    fn concat_lines(&self) -> String;
}

impl ConcatLines for [String] {
    fn concat_lines(&self) -> String {
        self.iter().flat_map(|line| [line, "\n"]).collect()
    }
}
