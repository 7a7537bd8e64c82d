//! Laws of the four parts of a provider, each over the whole table and every row of the fixtures.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

use super::*;
use crate::model::{Block, BlockKind, Event, RowKind, Segment, Session, Slot};
use crate::testing::bodies::{body, chat_body};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let files = crate::testing::fixtures().into_iter().map(|path| fs::read(path).unwrap());
    let session = |bytes: Vec<u8>| match sniff(&bytes) {
        FileKind::Session(name) => Some((by_name(name).unwrap(), bytes)),
        _ => None,
    };
    files.filter_map(session).chain(only_read()).collect()
}

/// The rows of the sessions of clients whose sessions are only read, as they are put together.
fn only_read() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let mut sessions = Vec::new();
    for path in crate::testing::fixtures_with(&["jsonl", "sql"]) {
        for provider in PROVIDERS {
            if let Some(queries) = provider.database(&path.with_extension("db")) {
                let database = rusqlite::Connection::open_in_memory().unwrap();
                database.execute_batch(&fs::read_to_string(&path).unwrap()).unwrap();
                let mut ids = database.prepare("SELECT id FROM session").unwrap();
                for id in ids.query_map([], |row| row.get::<_, String>(0)).unwrap() {
                    let mut parts = database.prepare(queries.parts).unwrap();
                    let parts = parts.query_map([id.unwrap()], |row| row.get::<_, String>(0)).unwrap();
                    let parts: Vec<Vec<u8>> = parts.map(|part| part.unwrap().into_bytes()).collect();
                    sessions.push((*provider, provider.assemble(&parts)));
                }
            }
            if let Some(SessionParts::Files(files)) = provider.parts(&path) {
                let parts: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
                sessions.push((*provider, provider.assemble(&parts)));
            }
        }
    }
    sessions
}

/// The providers whose sessions are changed.
fn changeable() -> impl Iterator<Item = &'static dyn ProviderAdapter> {
    PROVIDERS.iter().copied().filter(|provider| provider.read_only().is_none())
}

fn rows() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let mut rows = Vec::new();
    for (provider, bytes) in files() {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        rows.extend(lines.map(|line| (provider, line.to_vec())));
    }
    for provider in PROVIDERS {
        assert!(rows.iter().any(|(other, _)| other.name() == provider.name()), "no fixture of {}", provider.name());
    }
    rows
}

/// A session with its rows and blocks, which are not measured.
pub(super) fn session(provider: &dyn ProviderAdapter, bytes: &[u8]) -> Session {
    let mut segment = Segment::default();
    for range in provider.framing().rows(bytes) {
        let mut parsed = provider.parse(&bytes[range.clone()]);
        (parsed.row.offset, parsed.row.length) = (range.start as u64, range.len() as u32);
        let row = segment.rows.len() as u32;
        segment.blocks.extend(parsed.blocks.into_iter().map(|block| Block { row, ..block.block }));
        segment.rows.push(parsed.row);
    }
    let mut session = Session::join(provider.name(), conventions(), "s".to_owned(), vec![segment]);
    provider.link(&mut session);
    session
}

/// The requests that would resume the sessions of the fixtures, each with its format.
fn bodies() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let of_file = |(provider, bytes): (&'static dyn ProviderAdapter, Vec<u8>)| {
        let session = session(provider, &bytes);
        let chat = (provider.name() == claude_code::NAME).then(|| chat_body(&session, &bytes));
        [body(&session, &bytes)].into_iter().chain(chat)
    };
    files().into_iter().flat_map(of_file).collect()
}

fn elements() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let of_body = |(format, body): (&'static dyn ProviderAdapter, Vec<u8>)| {
        let rows = format.framing().rows(&body).into_iter();
        rows.map(|row| (format, body[row].to_vec())).collect::<Vec<_>>()
    };
    bodies().into_iter().flat_map(of_body).collect()
}

fn places() -> Places {
    Places { home: "/home/me".into(), ..Places::default() }
}

/// A row of this provider that others can follow, and the values of one that follows it.
fn new_row<'a>(provider: &dyn ProviderAdapter, like: &'a [u8]) -> NewRow<'a> {
    NewRow {
        like,
        parent: provider.identity(like).unwrap(),
        id: "0b6f4c1e-0000-4000-8000-000000000001".to_owned(),
        timestamp: "2026-01-02T03:04:05.678Z".to_owned(),
        sidechain: false,
        ordinal: provider.ordinal(like).map(|ordinal| ordinal + 1),
    }
}

/// The first row of each provider with a text of a person or of the model.
fn spoken() -> Vec<(&'static dyn ProviderAdapter, Vec<u8>)> {
    let rows = rows();
    let first = |provider: &&'static dyn ProviderAdapter| {
        let speaks = |line: &[u8]| provider.parse(line).blocks.iter().any(|block| block.block.kind == BlockKind::Text);
        rows.iter().find(|(other, line)| other.name() == provider.name() && speaks(line)).cloned().unwrap()
    };
    changeable().map(|provider| first(&provider)).collect()
}

#[test]
fn format_a_row_has_one_identity() {
    let mut stated = BTreeSet::new();
    for (provider, line) in rows() {
        let half = &line[..line.len() / 2];
        for other in
            [&line[..], half, &[half, &line].concat(), &[&line, half].concat(), &[b"\xef\xbb\xbf", &line[..], b"\xff"].concat()]
        {
            assert_eq!(provider.row_id(other), provider.parse(other).row.id, "{}", String::from_utf8_lossy(other));
        }
        let parsed = provider.parse(&line).identity.map(|identity| identity.as_bytes().to_vec());
        let written = provider.identity(&line).filter(|identity| memchr::memmem::find(&line, identity).is_some());
        assert_eq!(parsed, written, "{}", String::from_utf8_lossy(&line));
        stated.extend(written.map(|_| provider.name()));
    }
    assert!(stated.len() > 2, "{stated:?}");
}

#[test]
fn format_every_slot_of_a_block_is_located_and_takes_a_text() {
    let mut changed = BTreeSet::new();
    for (provider, line) in rows().into_iter().chain(elements()) {
        let blocks = provider.parse(&line).blocks;
        for (index, block) in (0..).zip(&blocks).filter(|(_, block)| block.block.kind == BlockKind::Text) {
            let Some(slot) = provider.slot(&line, index) else { continue };
            let range = provider.locate_slot(&line, slot).expect("a slot has a place");
            let value = provider.encode(slot, block.block.kind, "another \"text\"\n").expect("a text has a form");
            let new = [&line[..range.start], &value, &line[range.end..]].concat();
            let after = provider.parse(&new).blocks;
            assert_eq!(after[index as usize].text(), "another \"text\"\n");
            assert_eq!(provider.decode(&value).trim_end(), "another \"text\"");
            assert_eq!(provider.stub(&new), provider.stub(&line), "links stay");
            changed.insert(provider.name());
        }
    }
    assert_eq!(changed.len(), changeable().count() + REQUESTS.len());
}

#[test]
fn format_an_ordinal_is_replaced_and_nothing_else() {
    let mut numbered = 0;
    for (provider, line) in rows() {
        let Some(ordinal) = provider.ordinal(&line) else {
            assert_eq!(provider.with_ordinal(&line, 7), None);
            continue;
        };
        let other = provider.with_ordinal(&line, ordinal + 1_000).unwrap();
        assert_eq!(provider.ordinal(&other), Some(ordinal + 1_000));
        assert_eq!(provider.with_ordinal(&other, ordinal), Some(line));
        numbered += 1;
    }
    assert!(numbered > 0);
}

#[test]
fn format_each_row_is_recognized_by_its_own_provider_only() {
    for (provider, line) in rows() {
        let others = PROVIDERS.iter().filter(|other| other.name() != provider.name());
        assert!(!others.into_iter().any(|other| other.recognizes(&line)));
    }
}

#[test]
fn format_a_request_is_recognized_by_its_own_format_and_sends_each_block_once() {
    for (format, body) in bodies() {
        let formats = PROVIDERS.iter().chain(REQUESTS).filter(|other| other.recognizes(&body));
        assert_eq!(sniff(&body), FileKind::Session(format.name()));
        assert_eq!(formats.map(|other| other.name()).collect::<Vec<_>>(), [format.name()]);
        let session = session(format, &body);
        let window = format.window(&session);
        let messages = format.messages(&session, &window);
        let sent = messages.iter().flat_map(|message| &message.parts).flat_map(Part::blocks);
        assert_eq!(window.blocks, sent.collect::<Vec<_>>());
        let mut blocks = window.blocks;
        blocks.sort_unstable();
        assert!(blocks.into_iter().eq(1..=session.blocks.len() as u32));
    }
}

#[test]
fn format_files_without_a_client_are_found_by_their_path_only() {
    for provider in REQUESTS.iter().chain(MEDIA) {
        assert!(provider.roots(&places()).is_empty() && provider.locate(Path::new("/home/me/body.json")).is_none());
        assert_eq!(by_name(provider.name()).unwrap().name(), provider.name());
    }
    let names: BTreeSet<&str> = PROVIDERS.iter().chain(REQUESTS).chain(MEDIA).map(|provider| provider.name()).collect();
    assert_eq!(names.len(), PROVIDERS.len() + REQUESTS.len() + MEDIA.len());
}

#[test]
fn format_a_log_of_requests_has_the_rows_of_its_last_request() {
    for (format, body) in bodies() {
        let name = format.name().trim_end_matches("-messages");
        let log = by_name(&format!("{name}-log")).unwrap();
        assert!(log.read_only().is_some(), "{name}");
        let value: &serde_json::value::RawValue = serde_json::from_slice(&body).unwrap();
        let old = r#"{"request":{"messages":[{"role":"user","content":"old"}],"input":[{"role":"user"}]}}"#;
        let line = value.get().replace('\n', "");
        let file = format!("{old}\n{{\"time\":1,\"request\":{{\"body\":{line}}},\"response\":null}}\n");
        let rows = |format: &dyn ProviderAdapter, bytes: &[u8]| -> Vec<Vec<u8>> {
            format.framing().rows(bytes).into_iter().map(|row| bytes[row].to_vec()).collect()
        };
        assert_eq!(rows(log, file.as_bytes()), rows(format, line.as_bytes()), "{name}");
    }
}

#[test]
fn client_places_are_below_the_home_and_hold_the_sessions_that_are_located() {
    for provider in PROVIDERS {
        let roots = provider.roots(&places());
        assert!(!roots.is_empty() && roots.iter().all(|root| root.starts_with("/home/me")), "{}", provider.name());
        assert!(provider.registries(&places()).iter().all(|registry| registry.starts_with("/home/me")));
        let directory = provider.project_directory(&roots[0], Path::new("/work/shop"));
        assert!(directory.is_none_or(|directory| directory.starts_with(&roots[0]) && directory != roots[0]));
        for odd in ["", "/", "/tmp/notes.txt", "/home/me/.claude/projects"] {
            assert_eq!(provider.locate(Path::new(odd)), None, "{odd}");
        }
    }
    let id = "0b6f4c1e-0000-4000-8000-000000000001";
    let paths = [
        format!("projects/-work-shop/{id}.jsonl"),
        format!("2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl"),
        "ses_0b6f4c1e.jsonl".to_owned(),
        "shop/chats/session-2026-01-02T03-04-0b6f4c1e.jsonl".to_owned(),
    ];
    for (provider, path) in PROVIDERS.iter().zip(paths) {
        let root: PathBuf = provider.roots(&places()).remove(0);
        let root = if root.ends_with("projects") { root.parent().unwrap().to_owned() } else { root };
        let located = provider.locate(&root.join(path)).map(|location| location.id).unwrap();
        assert!(id.starts_with(located.trim_start_matches("ses_")), "{located}");
    }
}

#[test]
fn format_a_session_that_is_put_together_sends_each_block_once_and_has_its_bills() {
    let sessions = only_read();
    let names: BTreeSet<&str> = sessions.iter().map(|(provider, _)| provider.name()).collect();
    assert_eq!(names.len(), PROVIDERS.len() - changeable().count());
    for (provider, bytes) in sessions {
        let session = session(provider, &bytes);
        assert!(session.rows.iter().all(|row| !matches!(row.kind, RowKind::Broken | RowKind::Foreign)), "{}", provider.name());
        let window = provider.window(&session);
        let sent: BTreeSet<u32> = window.blocks.iter().copied().collect();
        assert_eq!(sent.len(), window.blocks.len());
        assert_eq!(sent.len() + window.hidden.total() as usize, session.blocks.len());
        let mut scanner = provider.scanner();
        bytes.split(|byte| *byte == b'\n').for_each(|line| scanner.line(line));
        let (totals, bills) = scanner.finish(|_, _, _| None);
        let billed: u64 = session.rows.iter().filter_map(|row| row.usage).map(|usage| usage.sent() + usage.output).sum();
        assert_eq!(bills.responses.iter().map(|bill| bill.tokens.total()).sum::<u64>(), billed);
        assert!(billed > 0 && totals.turns > 0 && &*totals.directory == "/home/dev/shop", "{totals:?}");
        for cut in (0..bytes.len()).step_by(97) {
            let parts = [bytes[..cut].to_vec(), bytes[cut..].to_vec()];
            provider.assemble(&parts).split(|byte| *byte == b'\n').for_each(|line| drop(provider.parse(line)));
        }
    }
}

#[test]
fn format_a_text_about_a_call_is_no_call() {
    let message = json!([{"type": "input_text", "text": "a tool_call \"type\": \"function_call\""}]);
    let text = json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": message}});
    let call = json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c"}});
    let is_call = |row: &Value| by_name("codex").unwrap().is_call(row.to_string().as_bytes());
    assert_eq!((is_call(&text), is_call(&call)), (false, true));
}

#[test]
fn format_a_session_that_another_program_wrote_with_spaces_has_the_same_totals() {
    let spaced = |line: &[u8]| {
        let (mut spaced, mut in_text, mut is_escaped) = (Vec::new(), false, false);
        for byte in line {
            spaced.push(*byte);
            in_text ^= *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            if !in_text && matches!(byte, b',' | b':') {
                spaced.push(b' ');
            }
        }
        spaced
    };
    for (path, medium) in crate::testing::medium::fixtures() {
        let totals = |rewrite: &dyn Fn(&[u8]) -> Vec<u8>| {
            let mut scanner = medium.provider.scanner();
            medium.bytes.split(|byte| *byte == b'\n').for_each(|line| scanner.line(&rewrite(line)));
            format!("{:?}", scanner.finish(|_, _, _| None))
        };
        assert_eq!(totals(&spaced), totals(&<[u8]>::to_vec), "{}", path.display());
        let is_call = |line: &[u8]| medium.provider.is_call(line);
        assert!(
            medium.bytes.split(|byte| *byte == b'\n').all(|line| is_call(line) == is_call(&spaced(line))),
            "{}",
            path.display()
        );
    }
}

#[test]
fn client_registries_take_any_bytes() {
    for provider in PROVIDERS {
        for odd in ["", "{", "[]", "null", "{\"pid\":-1}", "{\"pid\":\"x\",\"sessionId\":3}"] {
            assert_eq!(provider.registered(odd.as_bytes()), None, "{odd}");
        }
    }
}

#[test]
fn client_names_and_addresses_are_its_own() {
    let names: BTreeSet<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
    let agents: BTreeSet<&str> = PROVIDERS.iter().map(|provider| provider.agent()).collect();
    let addresses: BTreeSet<&str> = PROVIDERS.iter().map(|provider| provider.api_base_url()).collect();
    assert_eq!([names.len(), agents.len(), addresses.len()], [PROVIDERS.len(); 3]);
    assert!(addresses.iter().all(|address| address.starts_with("https://") && !address.ends_with('/')));
    assert!(PROVIDERS.iter().all(|provider| by_name(provider.name()).unwrap().name() == provider.name()));
}

#[test]
fn rewriter_a_note_is_a_block_that_follows_its_parent() {
    for (provider, like) in spoken() {
        let new = new_row(provider, &like);
        let line = provider.note(&new, "note", "first\n\"second\"").unwrap();
        let parsed = provider.parse(&line);
        assert!(parsed.blocks.iter().any(|block| block.content.contains("second")), "{}", provider.name());
        assert_eq!(provider.ordinal(&line), new.ordinal);
        if provider.branches() {
            assert_eq!(provider.locate_slot(&line, Slot::Parent).map(|at| line[at].to_vec()), Some(new.parent));
        }
    }
}

#[test]
fn rewriter_a_conversation_is_cut_by_links_or_by_a_restart() {
    for (provider, like) in spoken() {
        let new = new_row(provider, &like);
        let restart = provider.restart(&new, &[], "a digest", &[like.as_slice().into()]);
        assert_eq!(provider.branches(), restart.is_none(), "{}", provider.name());
        assert_eq!(provider.branches(), provider.leaf(&new).is_some());
        if let Some(line) = restart {
            assert!(provider.parse(&line).blocks.iter().any(|block| block.content.contains("a digest")));
        }
    }
}

#[test]
fn rewriter_thinking_is_stripped_where_the_api_binds_it() {
    let rows = rows();
    for provider in changeable() {
        let answers = |line: &[u8]| provider.parse(line).row.kind == RowKind::Assistant;
        let (_, like) = rows.iter().find(|(other, line)| other.name() == provider.name() && answers(line)).unwrap();
        let stripped = provider.strip_thinking(&new_row(provider, like), like, 0);
        assert_eq!(provider.binds_thinking(), stripped.is_some(), "{}", provider.name());
        if let Some(line) = stripped {
            assert!(matches!(provider.parse(&line).row.event.as_deref(), Some(Event::ThinkingStripped(_))));
        }
    }
}

#[test]
fn billing_a_written_figure_is_the_one_that_is_read() {
    let mut written = BTreeSet::new();
    for (provider, line) in rows() {
        let Some(range) = provider.locate_slot(&line, Slot::Usage) else { continue };
        let value = &line[range.clone()];
        assert!(provider.same_bills(value, value));
        assert!(provider.cache_milliseconds(value) >= 300_000);
        let read = |line: &[u8]| provider.parse(line).row.usage.map_or(0, |usage| usage.sent());
        if read(&line) == 0 {
            continue;
        }
        let Some(new) = provider.usage(value, 54_321, &line) else { continue };
        assert_eq!(read(&[&line[..range.start], &new, &line[range.end..]].concat()), 54_321);
        written.insert(provider.name());
    }
    assert_eq!(written.len(), changeable().count());
}
