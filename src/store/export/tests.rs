use super::*;
use crate::model::{
    Actor, BlockAddress, BlockChange, BlockEdit, Delta, Key, Level, LoggedEdit, LoggedHunk, Mark, MarkAddress, MarkKind,
    NewContent, OperationKind, OperationState, Role, RowAddress, SentContent, Slot, WindowChange, WindowHunk, Words,
};

fn export() -> Export {
    let (before, after) = (b"\"a\"".to_vec(), b"not \xff text".to_vec());
    let hash = |value: &[u8]| *blake3::hash(value).as_bytes();
    let row = RowAddress { id: Key(7), occurrence: 1 };
    let change = BlockChange {
        redacted: false,
        named_credentials: false,
        number: 3,
        label: "Read a.rs".to_owned(),
        level_before: Level::Original,
        level_after: Level::Archived,
        tokens_before: 12.5,
        tokens_after: 3.0,
        reason: String::new(),
    };
    let edit =
        LoggedEdit { row, slot: Slot::Content(2), before: Some(hash(&before)), after: Some(hash(&after)), change: Some(change) };
    let mark = Mark {
        address: MarkAddress { row, index: 0, content: Key(9) },
        kind: MarkKind::Pin,
        before: None,
        after: Some("top".to_owned()),
        number: 3,
    };
    let block_edit =
        BlockEdit { content: Key(8), occurrence: 0, text: "a".to_owned(), level: Level::Trimmed, reason: String::new() };
    let content = SentContent { role: Role::User, sent: Key(u128::MAX), block: Key(7), rendered: None };
    let contents = vec![NewContent::Kept(content), NewContent::Changed(content, "b".to_owned())];
    let text = NewContent::Text(Role::System, "digest \u{0}".to_owned());
    let hunk = WindowHunk {
        anchor: Some(content),
        before: vec![content],
        occurrence: 1,
        lead: vec![content],
        trail: Vec::new(),
        after: contents,
        announced: vec![content],
        is_last: true,
        words: vec![Words { content: 1, range: (0, 1), of: content, reminder: Some(1), between: None }],
    };
    let window = WindowChange {
        hunks: vec![hunk, WindowHunk { after: vec![text], ..WindowHunk::default() }],
        removed: vec![BlockAddress { content: Key(9), occurrence: 3 }],
        restored: Vec::new(),
    };
    let operation = Operation {
        id: 2,
        kind: OperationKind::Change,
        state: OperationState::Committed,
        time: 5,
        command: "archive 3".to_owned(),
        actor: Actor::User,
        inverts: None,
        edits: vec![edit],
        marks: vec![mark],
        tokens_before: 100.0,
        tokens_after: 90.5,
        last_row: Some(Key(u128::MAX)),
        after_bytes: Some(77),
        after_hash: Some(hash(b"file")),
        delta: Some(Delta {
            base_bytes: 80,
            base_hash: hash(b"base"),
            hunks: vec![
                LoggedHunk { offset: 9, before: Some(hash(&before)), after: Some(hash(&after)) },
                LoggedHunk { offset: 80, before: None, after: Some(hash(&after)) },
            ],
        }),
        point: Some(0),
    };
    let (path, addresses) = ("S/tool-results/a.txt".into(), (hash(&before), hash(&after)));
    let companion = LoggedCompanion { operation: 2, path, before: addresses.0, after: addresses.1 };
    let snapshots = vec![Snapshot { name: "before".to_owned(), operation: 0, time: 4 }];
    Export {
        provider: "claude-code".to_owned(),
        session: "S".to_owned(),
        project: "-p".to_owned(),
        path: "/p/S.jsonl".to_owned(),
        history: History { operations: vec![operation], snapshots, turns: vec![(Key(7), 1), (Key(8), 4)], ..History::default() },
        effects: [(2, Effects { block_edits: vec![block_edit], window: Some(window), companions: vec![companion] })].into(),
        values: [before, after].into_iter().map(|value| (hash(&value), value)).collect(),
    }
}

#[test]
fn an_export_is_read_as_it_was_written() {
    assert_eq!(Export::unpack(&export().pack().unwrap()).unwrap(), export());
}

#[test]
fn an_export_names_no_file_outside_of_the_directory_of_the_session() {
    for path in ["../a.txt", "/etc/a.txt", "S/../../a.txt", "a.jsonl", ""] {
        let mut outside = export();
        outside.effects.get_mut(&2).unwrap().companions[0].path = path.into();
        assert!(Export::unpack(&outside.pack().unwrap()).is_err(), "{path}");
    }
}

#[test]
fn an_import_writes_into_the_directory_of_the_session_and_keeps_the_numbers_of_turns() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let key = store.register("claude-code", "S", Path::new("/home/p/S.jsonl"), "-p").unwrap();
    for path in ["S/tool-results/a.txt", "memory/tool-results/a.txt"] {
        let mut export = export();
        export.path = "/p/memory.jsonl".to_owned();
        export.effects.get_mut(&2).unwrap().companions[0].path = path.into();
        store.take_over(key, &export).unwrap();
        let paths: Vec<PathBuf> = store.companions(key).unwrap().into_iter().map(|logged| logged.path).collect();
        assert_eq!(paths, [Path::new("/home/p/S/tool-results/a.txt")]);
        assert_eq!(store.history(key).unwrap().turns, export.history.turns);
    }
    // An export of an earlier version has no numbers of turns.
    let mut earlier = export();
    earlier.history.turns.clear();
    store.take_over(key, &earlier).unwrap();
    assert_eq!(store.history(key).unwrap().turns, export().history.turns);
}

#[test]
fn every_cut_and_every_flipped_byte_is_noticed() {
    let file = export().pack().unwrap();
    for length in 0..file.len() {
        assert!(Export::unpack(&file[..length]).is_err(), "{length} bytes");
    }
    for place in 0..file.len() {
        let mut broken = file.clone();
        broken[place] ^= 1;
        assert!(Export::unpack(&broken).is_err(), "byte {place}");
    }
}

#[test]
fn damaged_exports_name_their_fault() {
    let file = export().pack().unwrap();
    let check = |file: &[u8], expected: &str| assert_eq!(Export::unpack(file).unwrap_err().to_string(), expected);
    check(b"", "it is not an aperture export");
    check(b"{\"type\":\"user\"}", "it is not an aperture export");
    check(b"aperture export 2\nwhatever", "it was written by a newer aperture (format 2, this version reads up to 1)");
    check(b"aperture export 1\n", "it is damaged: its heading is unreadable");
    let heading = file.split_inclusive(|byte| *byte == b'\n').take(3).map(<[u8]>::len).sum::<usize>();
    let expected = file.len() - heading;
    check(&file[..heading + 9], &format!("it is truncated (9 of {expected} bytes)"));
    check(&[&file[..], b"x"].concat(), "it is damaged: checksum mismatch");
    let mut lacking = export();
    let address = *lacking.values.keys().next().unwrap();
    lacking.values.remove(&address);
    let text = format!("it is damaged: the value {} is missing", hexadecimal(&address));
    check(&lacking.pack().unwrap(), &text);
    let mut repeated = export();
    repeated.history.operations.push(repeated.history.operations[0].clone());
    check(&repeated.pack().unwrap(), "it is damaged: operation 2 is out of order");
    let mut ahead = export();
    ahead.history.snapshots[0].operation = 3;
    check(&ahead.pack().unwrap(), "it is damaged: operation 3 is missing");
}

#[test]
fn an_unreadable_line_is_named_by_its_number() {
    let file = |text: &str| {
        let body = zstd::encode_all(text.as_bytes(), ZSTD_LEVEL).unwrap();
        let heading = format!("{MAGIC}{FORMAT}\nblake3 {}\nbytes {}\n", blake3::hash(&body).to_hex(), body.len());
        [heading.into_bytes(), body].concat()
    };
    let check = |lines: &str, expected: &str| {
        let error = Export::unpack(&file(lines)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    let value = "{\"value\":{\"text\":\"a\"}}\n";
    check(&format!("{value}{{\n"), "it is damaged: line 2 is unreadable (EOF while parsing");
    check(&format!("{value}{value}{{\"value\":{{\"base64\":\"?\"}}}}\n"), "it is damaged: line 3 is unreadable (Invalid");
    check(value, "it is damaged: it names no session");
}

#[test]
fn logs_are_distinguished() {
    let one = export().history;
    let mut two = one.clone();
    two.operations.push(Operation { id: 3, ..one.operations[0].clone() });
    let mut other = one.clone();
    other.operations[0].time += 1;
    let check = |known: &History, exported: &History, expected| assert_eq!(relation(known, exported), expected);
    check(&History::default(), &one, Relation::New);
    check(&one, &one, Relation::Same);
    check(&one, &two, Relation::Newer);
    check(&two, &one, Relation::Older);
    check(&one, &other, Relation::Other);
    check(&one, &History::default(), Relation::Older);
}
