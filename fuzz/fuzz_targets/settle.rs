//! Settling commits or aborts a prepared operation for any state of the file, and does not change the file.
#![no_main]

use aperture::fsio::RealDisk;
use aperture::model::{Actor, Edit, Key, OperationKind, Plan, RowAddress, Slot};
use aperture::store::Store;
use aperture::workspace::settle;
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::fs;
use tempfile::TempDir;

thread_local! {
    static STORE: OnceCell<(TempDir, Store)> = const { OnceCell::new() };
}

fuzz_target!(|input: (&[u8], &[u8], &[u8], bool)| {
    let (after, rest, removed, starts) = input;
    let file = if starts { [after, rest].concat() } else { rest.to_vec() };
    let removed = removed.trim_ascii();
    STORE.with(|store| {
        let (directory, store) = store.get_or_init(|| {
            let directory = tempfile::tempdir().expect("a directory");
            let store = Store::open(directory.path()).expect("a store");
            (directory, store)
        });
        let path = directory.path().canonicalize().expect("it is there").join("s.jsonl");
        fs::write(&path, &file).expect("it is written");
        let key = store.register("claude-code", "s", &path, "p").expect("it is registered");
        let edit = Edit {
            row: RowAddress { id: Key(1), occurrence: 0 },
            slot: Slot::Line,
            before: Some([removed, b"\n"].concat()),
            after: None,
            change: None,
        };
        // Before, the row that is removed was the last one.
        let base = [after, removed].concat();
        let plan = Plan {
            kind: OperationKind::Undo,
            command: String::new(),
            actor: Actor::User,
            inverts: None,
            edits: if removed.is_empty() { Vec::new() } else { vec![edit] },
            block_edits: Vec::new(),
            reversal: None,
            marks: Vec::new(),
            companions: Vec::new(),
            base_bytes: base.len() as u64,
            base_hash: *blake3::hash(&base).as_bytes(),
            tokens_before: 0.0,
            tokens_after: 0.0,
            last_row: None,
        };
        let expected = (after.len() as u64, *blake3::hash(after).as_bytes());
        store.prepare(key, &plan, 0, std::iter::empty(), Some(expected), None).expect("it is logged");
        settle(&RealDisk, store, &path).expect("it is settled");
        assert!(store.prepared(key).expect("it is read").is_empty());
        let done = file.starts_with(after) && (removed.is_empty() || !file.starts_with(&base));
        assert_eq!(store.history(key).expect("it is read").operations.len(), usize::from(done));
        assert_eq!(fs::read(&path).expect("it is there"), file);
        store.forget(key).expect("it is forgotten");
    });
});
