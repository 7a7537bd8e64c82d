use super::*;
use crate::model::limits::DAY_MILLISECONDS;
use proptest::prelude::*;

const FILE: MemoryFile = MemoryFile::UserPrefs;

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), FILE, MemoryScope::Project).unwrap()
}

fn memory(id: MemoryId, text: &str) -> Memory {
    Memory {
        id,
        kind: MemoryKind::Correction,
        first_seen: parse_date("2026-11-02").unwrap(),
        last_seen: parse_date("2026-11-20").unwrap(),
        sightings: 3,
        sessions: 2,
        evidence: vec![
            Sighting { session: "6666abcd".to_owned(), block: 12, row: String::new(), time: 0 },
            Sighting { session: "019a1b2c-3d4e".to_owned(), block: 4, row: String::new(), time: 0 },
        ],
        helpful: 1,
        key: 0x9f3a,
        is_edited: false,
        ..by_hand(&FILE, MemoryScope::Project, text.to_owned(), false)
    }
}

fn nth(document: &Document, place: usize) -> Memory {
    document.memories().nth(place).unwrap().clone()
}

const ENTRY: &str = "- Use `pnpm`, not `npm`.\n  <!-- memory-12 active · correction · 2026-11-02 to 2026-11-20 · 3 sightings in 2 sessions · 6666abcd#12 019a1b2c-3d4e#4 · helpful 1 harmful 0 · key 0000000000009f3a · text ";

fn entry() -> String {
    format!("{ENTRY}{:08x} -->\n", checksum("Use `pnpm`, not `npm`."))
}

#[test]
fn a_new_file_has_a_title_and_its_entries() {
    let mut document = Document::new(FILE, MemoryScope::Project);
    assert!(document.is_empty());
    document.set(&memory(12, "Use `pnpm`, not `npm`."));
    assert_eq!(document.print(), format!("# User preferences\n\n{}", entry()));
    assert_eq!(parse(&document.print()).memories().collect::<Vec<_>>(), [&memory(12, "Use `pnpm`, not `npm`.")]);
    document.set(&memory(13, "Two\n\nlines\n  - with\n  - a list"));
    document.set(&Memory { state: MemoryState::Archived, ..memory(14, "old") });
    document.set(&memory(15, "new"));
    let text = document.print();
    assert_eq!(parse(&text), document);
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("<!--")).collect();
    let expected =
        "# User preferences||- Use `pnpm`, not `npm`.|- Two||  lines|    - with|    - a list|- new||## Archived||- old";
    assert_eq!(lines.join("|"), expected);
    // Retired and back.
    document.set(&Memory { state: MemoryState::Superseded, superseded_by: Some(15), ..memory(12, "Use `pnpm`, not `npm`.") });
    assert!(document.print().contains("memory-12 superseded") && document.print().contains("· by memory-15 ·"));
    document.set(&memory(14, "old"));
    let texts: Vec<_> = document.memories().map(|memory| memory.id).collect();
    assert_eq!(texts, [13, 15, 14, 12]);
    assert!(document.remove(13) && !document.remove(13) && !document.remove(0));
    assert_eq!(document.highest_id(), 15);
}

#[test]
fn a_changed_entry_changes_only_its_own_lines() {
    let foreign = "\u{feff}# Mine\n\n* my own bullet\n  in two lines\n\nprose `x`  \n```\n- not an entry\n```\n<!-- a\n- comment -->\n1. one\n";
    for feed in ["\n", "\r\n"] {
        let text = format!("{foreign}{}- last\n", entry()).replace('\n', feed);
        let mut document = parse(&text);
        assert_eq!(document.print(), text);
        let shown: Vec<_> = document.memories().map(|memory| (memory.id, &*memory.text)).collect();
        assert_eq!(shown, [(0, "my own bullet\nin two lines"), (12, "Use `pnpm`, not `npm`."), (0, "last")]);
        let known = nth(&document, 1);
        document.set(&Memory { helpful: 2, ..known });
        assert_eq!(document.print(), text.replace("helpful 1", "helpful 2"));
        let known = nth(&document, 1);
        document.set(&Memory { text: "Use `bun`.".to_owned(), ..known });
        let sum = |text: &str| format!("{:08x}", checksum(text));
        let expected = text.replace("helpful 1", "helpful 2").replace("Use `pnpm`, not `npm`.", "Use `bun`.");
        assert_eq!(document.print(), expected.replace(&sum("Use `pnpm`, not `npm`."), &sum("Use `bun`.")));
        document.remove(12);
        assert_eq!(document.print(), format!("{foreign}- last\n").replace('\n', feed));
    }
}

#[test]
fn texts_of_a_person_are_detected() {
    let edited = |text: &str| parse(text).memories().next().unwrap().is_edited;
    assert!(!edited(&entry()));
    assert!(!edited(&entry().replace("pnpm`, not", "pnpm`,\n    not")), "a formatter wrapped the line");
    assert!(edited(&entry().replace("not `npm`", "never `npm`")));
    let mut document = parse(&entry().replace("not `npm`", "never `npm`"));
    let known = nth(&document, 0);
    document.set(&Memory { sightings: 4, ..known });
    assert!(document.print().starts_with("- Use `pnpm`, never `npm`.\n  <!-- memory-12 active") && edited(&document.print()));
}

#[test]
fn invalid_metadata_is_an_entry_of_a_person() {
    for comment in [
        "<!-- memory-12 -->",
        "<!-- memory-12 busy · correction -->",
        "<!-- memory-0 active · correction -->",
        "<!-- memory-99999999999 active · correction -->",
        "<!-- memory-12 active · correction · yesterday -->",
        "<!-- memory-12 active · wish · key 1 -->",
        "<!-- memory-12 active · correction · key xyz -->",
    ] {
        let text = format!("- a\n  {comment}\n- b\n");
        let document = parse(&text);
        assert_eq!((document.print(), document.invalid), (text.clone(), 1), "{comment}");
        let shown: Vec<_> = document.memories().map(|memory| (memory.id, &*memory.text)).collect();
        assert_eq!(shown, [(0, "a"), (0, "b")], "{comment}");
    }
    let newer = parse("- a\n<!-- memory-3 active · fact · mood good today -->\n");
    assert_eq!((newer.memories().next().unwrap().id, newer.invalid), (3, 0));
}

#[test]
fn merge_conflicts_are_text() {
    let entry = entry();
    let text = format!(
        "{entry}<<<<<<< HEAD\n- ours\n  <!-- memory-40 active · fact -->\n=======\n- theirs\n>>>>>>> other\n- b\n<<<<<<< HEAD\n- open"
    );
    let document = parse(&text);
    assert_eq!((document.print(), document.conflicts, document.highest_id()), (text, 2, 40));
    assert_eq!(document.memories().map(|memory| memory.id).collect::<Vec<_>>(), [12, 0]);
}

#[test]
fn long_and_binary_files_are_refused() {
    let read = |bytes: &[u8]| Document::parse(bytes, FILE, MemoryScope::User).map(|_| ()).map_err(|error| error.to_string());
    let long = "- a\n".repeat(3 << 20);
    assert_eq!(read(long.as_bytes()).unwrap_err(), "it has 12582912 bytes, and a memory file has at most 1048576");
    assert_eq!(read(b"- a\0b"), Err("it is not UTF-8 text".to_owned()));
    assert_eq!(read(&[0xff, 0xfe]), Err("it is not UTF-8 text".to_owned()));
    assert_eq!(read(&[b'\n'; LONGEST_FILE]), Ok(()));
}

fn any_memory() -> impl Strategy<Value = Memory> {
    let text = "([a-zA-Z`.é語<>!#*-]{1,8}| |\n|\n\n|```|- |## ){1,12}x";
    let sighting =
        ("[a-f0-9]{8}", 1u32..9999).prop_map(|(session, block)| Sighting { session, block, row: String::new(), time: 0 });
    let evidence = proptest::collection::vec(sighting, 0..=EVIDENCE);
    let counts = (0u32..9, 0u32..9, 0u32..3, 0u32..3);
    let days = (0i64..30_000, 0i64..900);
    (1u32..99, text, 0usize..12, 0usize..4, evidence, counts, days, any::<(bool, u64, bool, bool)>()).prop_map(
        |(
            id,
            text,
            kind,
            state,
            evidence,
            (sightings, sessions, helpful, harmful),
            (day, more),
            (is_edited, key, linked, is_by_model),
        )| Memory {
            id,
            scope: MemoryScope::Project,
            file: FILE,
            kind: MemoryKind::ALL[kind],
            state: MemoryState::ALL[state],
            text: normalized(&text),
            key: key.max(1),
            first_seen: day * DAY_MILLISECONDS,
            last_seen: (day + more) * DAY_MILLISECONDS,
            sightings,
            sessions: if sightings == 0 { 0 } else { sessions },
            evidence,
            helpful,
            harmful,
            superseded_by: linked.then_some(7),
            contradicts: (!linked).then_some(8),
            is_edited,
            is_by_model,
            is_pinned: is_edited && linked,
        },
    )
}

proptest! {
    #[test]
    fn entries_are_read_as_they_were_written(memories in proptest::collection::vec(any_memory(), 1..6), crlf in any::<bool>()) {
        let mut document = Document::new(FILE, MemoryScope::Project);
        if crlf {
            document = parse(&document.print().replace('\n', "\r\n"));
        }
        for (place, memory) in memories.iter().enumerate() {
            document.set(&Memory { id: place as u32 + 1, ..memory.clone() });
        }
        let again = parse(&document.print());
        prop_assert_eq!(again.print(), document.print());
        let mut read: Vec<Memory> = again.memories().cloned().collect();
        read.sort_by_key(|memory| memory.id);
        let expected: Vec<Memory> = memories.iter().enumerate().map(|(place, memory)| Memory { id: place as u32 + 1, ..memory.clone() }).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_text_is_kept(text in "(- |\\* |## |  |\n|\r\n|<!-- memory-3 active · fact -->|<!-- user-2 x -->|<!--|-->|```|<<<<<<< a\n|>>>>>>> b\n|\\PC|\t|## Archived\n){0,30}", memory in any_memory()) {
        let document = parse(&text);
        prop_assert_eq!(document.print(), &*text);
        // Another entry is added without a change of the other lines.
        let mut changed = document.clone();
        changed.set(&Memory { id: 1000, ..memory });
        let printed = changed.print();
        let mut rest = &*printed;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let found = rest.find(line);
            prop_assert!(found.is_some(), "{:?} is missing in {:?}", line, printed);
            rest = &rest[found.unwrap_or_default() + line.len()..];
        }
        changed.remove(1000);
        prop_assert_eq!(changed.memories().collect::<Vec<_>>(), document.memories().collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_a_file_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = Document::parse(&bytes, FILE, MemoryScope::User) {
            prop_assert_eq!(document.print().into_bytes(), bytes);
        }
    }
}
