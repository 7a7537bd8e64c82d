#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::*;
use crate::fsio::RealDisk;
use crate::model::{BlockEdit, Key, Level, MessageId, Plan, ReplyPart, ReportedMessage, Snapshot, WindowChange, WithheldReply};
use crate::store::{Insertion, LoggedRequest, Moment, NewProposal, RequestLog, Store, WireLine};
use crate::testing::{Fault, all_or, catch, each_fault, files_below};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use zeroize::Zeroizing;

fn seal(current: Option<u8>, previous: Option<u8>) -> Seal {
    let [current, previous] = [current, previous].map(|byte| byte.map(|byte| Zeroizing::new([byte; 32])));
    Seal::new(current.as_ref(), previous.as_ref(), true)
}

/// A copy of a data directory with a row in every table, and kept files.
fn filled() -> tempfile::TempDir {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let directory = tempfile::tempdir().unwrap();
    let made = MADE.get_or_init(fill).path();
    for (path, bytes) in files_below(made) {
        let copy = directory.path().join(path.strip_prefix(made).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, bytes).unwrap();
    }
    directory
}

fn fill() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let key = store.register("claude-code", "an id", Path::new("/a path"), "a project").unwrap();
    let edit = BlockEdit { content: Key(1), occurrence: 0, text: "a text".into(), level: Level::Trimmed, reason: "long".into() };
    let plan =
        Plan { block_edits: vec![edit], command: "a command".into(), window: Some(WindowChange::default()), ..Plan::default() };
    for number in 0..3u64 {
        let hunks = [(7, format!("before {number}").into_bytes().into(), Vec::new().into())];
        store.prepare(key, &plan, 5, hunks.into_iter(), Some((number, [9; 32])), None).unwrap();
    }
    store.save_snapshot(key, &Snapshot { name: "a name".into(), operation: 1, time: 2 }).unwrap();
    let proposal = NewProposal {
        place: crate::model::CommandPlace { row: Key(3), block: 0, offset: 1 },
        turn: 1,
        command: "@archive 1",
        blocks: "1",
        request: Some("{}"),
    };
    store.propose(key, &proposal, 3).unwrap();
    let message = ReportedMessage { after: None, prompts: 1, content: [4; 32] };
    let _: Option<MessageId> = store.record_message(key, &message, 1, &[(0, "@pin 1")], 3).unwrap();
    store.record_moment(Moment::ManifestTold, key, Some(Key(5))).unwrap();
    store.record_turn_numbers(key, &[(Key(6), 1)]).unwrap();
    let line = WireLine { point: 1, dropped: vec![Key(7)], observed: Some("a reason".into()), unapplied: vec![1] };
    store.save_wire_line("an id", "", &line).unwrap();
    store.stage("an id", "a staged text", 1).unwrap();
    store.insert_text("an id", "", &Insertion { anchor: Key(8), occurrence: 0, text: "inserted".into() }, &[], &[], 2).unwrap();
    store.record_proxy("an id", 7).unwrap();
    store.save_offer("an id", "", true).unwrap();
    let reply = WithheldReply { parts: vec![ReplyPart::Passed(Key(9))], results: vec!["{}".into()], next: Some(Key(10)) };
    store.add_withheld_replies("an id", "", &[reply], 1).unwrap();
    let request = LoggedRequest { time: 1, number: 1, content: "{}".into() };
    RequestLog::open(directory.path(), &Seal::default()).unwrap().add(&[request]).unwrap();
    for (name, content) in [("client/p/s.jsonl.zst", "a session"), ("client/p/s/notes.txt", "beside it"), ("older/x", "old")] {
        let path = directory.path().join("kept").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

/// Returns every row of every table, opened with the keys of the database, and every file.
fn dump(directory: &Path, seal: &Seal) -> (Vec<String>, BTreeMap<PathBuf, Vec<u8>>) {
    let mut rows = Vec::new();
    for file in DATABASES {
        let connection = Connection::open(directory.join(file)).unwrap();
        let (version, id) = format(&connection).unwrap();
        seal.of_database(id).unwrap().register(&connection).unwrap();
        rows.push(format!("{file} {version}"));
        let all = "SELECT name, coalesce(sql, '') FROM sqlite_master ORDER BY name";
        let tables: Vec<(String, String)> = connection.rows(all, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        for (table, sql) in tables {
            rows.push(format!("{table}: {sql}"));
            if !sql.starts_with("CREATE TABLE") {
                continue;
            }
            let columns = "SELECT name, type IN ('TEXT', 'BLOB') FROM pragma_table_info(?1)";
            let columns: Vec<(String, bool)> = connection.rows(columns, [&table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let opened = columns.iter().map(|(column, is_text)| match (column.as_str(), CONTENTS.contains(&table.as_str())) {
                ("content", true) => "open(content, open(address))".to_owned(),
                _ if *is_text && !CLEAR.contains(&(&table, column)) && table != "sqlite_sequence" => format!("open({column})"),
                _ => column.clone(),
            });
            let select = format!("SELECT {} FROM {table}", opened.collect::<Vec<_>>().join(", "));
            let values = |row: &rusqlite::Row<'_>| {
                let count = row.as_ref().column_count();
                Ok(format!("{:?}", (0..count).map(|at| row.get::<_, Value>(at).unwrap()).collect::<Vec<_>>()))
            };
            let mut found: Vec<String> = connection.rows(&select, [], values).unwrap();
            found.sort();
            rows.extend(found);
        }
    }
    let folder = directory.join("kept");
    let opened = |(path, content): (PathBuf, Vec<u8>)| {
        let below = path.strip_prefix(&folder).unwrap();
        let known = opened_path(seal, below).or_else(|| opened_path(&seal.before(), below));
        (known.unwrap_or_else(|| below.to_owned()), seal.open_file(content).unwrap())
    };
    let mut files: BTreeMap<PathBuf, Vec<u8>> = files_below(&folder).into_iter().map(opened).collect();
    files.retain(|path, _| path.extension().is_none_or(|extension| extension != CONVERTING));
    (rows, files)
}

fn convert(disk: &dyn Disk, directory: &Path, seal: &Seal) -> Result<(), StoreError> {
    for file in DATABASES {
        convert_database(disk, directory, file, seal, Duration::ZERO, &|_| ())?;
    }
    let failed = |cause| StoreError::Unreadable { path: directory.to_owned(), cause };
    convert_folder(disk, &directory.join("kept"), seal, &|path, _| path.with_extension("older")).map(drop).map_err(failed)
}

/// Returns the columns of texts and bytes that hold something other than sealed values.
fn unsealed(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in DATABASES {
        let connection = Connection::open(directory.join(file)).unwrap();
        let sql = "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                   WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.type NOT IN ('INTEGER', 'REAL')";
        let columns: Vec<(String, String)> = connection.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        for (table, column) in columns.into_iter().filter(|(table, column)| !CLEAR.contains(&(table, column))) {
            let clear =
                format!("SELECT count(*) FROM {table} WHERE typeof({column}) NOT IN ('blob', 'null') OR length({column}) < 25");
            let rows: i64 = connection.query_row(&clear, [], |row| row.get(0)).unwrap();
            found.extend((rows > 0).then(|| format!("{table}.{column}")));
        }
    }
    found
}

#[test]
fn a_conversion_and_its_inverse_change_nothing() {
    let directory = filled();
    let before = dump(directory.path(), &Seal::default());
    let mut now = None;
    for (current, previous) in [(Some(1), None), (Some(1), None), (Some(2), Some(1)), (None, Some(2)), (None, None)] {
        let seal = seal(current, previous);
        convert(&RealDisk, directory.path(), &seal).unwrap();
        assert!(dump(directory.path(), &seal) == before, "{current:?}");
        assert_eq!(unsealed(directory.path()).is_empty(), current.is_some(), "{:?}", unsealed(directory.path()));
        let other = seal.of_database(Seal::new(Some(&Zeroizing::new([77; 32])), None, false).id());
        assert!(matches!(other, Err(StoreError::OtherKey)));
        now = current;
    }
    assert_eq!(now, None);
}

#[test]
fn a_fault_or_a_kill_at_any_call_of_the_disk_loses_nothing() {
    for (from, to) in [((None, None), (Some(1), None)), ((Some(1), None), (Some(2), Some(1))), ((Some(1), None), (None, Some(1)))]
    {
        each_fault(&[Fault::Once, Fault::Killed], all_or(1, 4), |_, disk, case| {
            let directory = filled();
            let before = dump(directory.path(), &Seal::default());
            convert(&RealDisk, directory.path(), &seal(from.0, from.1)).unwrap();
            let to = seal(to.0, to.1);
            let done = catch(|| convert(disk, directory.path(), &to).is_ok());
            let case = format!("{case}, {done:?}");
            assert!(dump(directory.path(), &to) == before, "{case}");
            convert(&RealDisk, directory.path(), &to).unwrap();
            assert!(dump(directory.path(), &to) == before, "{case}, continued");
            let left = std::fs::read_dir(directory.path()).unwrap().filter(|file| {
                file.as_ref().unwrap().path().extension().is_some_and(|extension| extension != "db" && extension != "lock")
            });
            assert_eq!(left.count(), 0, "{case}");
            done == Some(true)
        });
    }
}

#[test]
fn a_store_that_is_in_use_is_not_converted() {
    let directory = filled();
    let store = Store::open(directory.path()).unwrap();
    let seal = seal(Some(1), None);
    let refused = convert(&RealDisk, directory.path(), &seal);
    assert!(matches!(refused, Err(StoreError::InUse)), "{refused:?}");
    store.stage("an id", "later", 9).unwrap();
    drop(store);
    convert(&RealDisk, directory.path(), &seal).unwrap();
    let store = Store::open_within(directory.path(), Duration::ZERO, &seal).unwrap();
    assert_eq!(store.staged("an id").unwrap().len(), 2);
    assert!(matches!(Store::open(directory.path()), Err(StoreError::OtherKey)));
}
