//! Tests of forks.

use super::place::Place;
use super::reading::{fresh, provider};
use super::sessions::small;
use super::*;
use crate::fsio::RealDisk;
use crate::model::{BlockKind, BlockNumber, RowKind};
use crate::testing::{Fault, all_or, each_fault, fixtures, sample};
use std::fs;
use std::path::Path;

const ID: &str = "5f0c0000-0000-4000-8000-000000000001";
const LEAF: &str = "5f0c0000-0000-4000-8000-000000000002";

/// Returns the names of the files in a directory, without those of the store.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".jsonl") || name.ends_with(".aperture")).collect();
    names.sort();
    names
}

#[test]
fn a_fork_at_any_block_of_any_fixture_has_the_window_up_to_it() {
    let mut forks = 0;
    for fixture in fixtures() {
        let bytes = fs::read(&fixture).unwrap();
        let place = Place::new(&bytes);
        let workspace = place.open(&RealDisk).unwrap();
        let reading = &workspace.reading;
        let numbers: Vec<BlockNumber> = sample(reading.window.blocks.iter().copied().step_by(2), 64).collect();
        for number in numbers {
            let case = format!("{} block {number}", fixture.display());
            let fork = workspace.fork(number, ID, LEAF).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(fork.last >= number, "{case}");
            let path = place.directory.path().join("fork.jsonl");
            fs::write(&path, &fork.bytes).unwrap();
            let session = fresh(&path);
            let window = provider(&bytes).window(&session).blocks;
            // The same contents, before the first compaction that the fork does not have.
            let hashes = |numbers: &[BlockNumber], session: &Session| -> Vec<_> {
                // The client moves texts of its own, by the messages that follow: the order can differ at the end.
                let mut hashes: Vec<_> = numbers.iter().map(|number| session.blocks[*number as usize - 1].hash).collect();
                hashes.sort();
                hashes
            };
            let compacted = reading.session.rows.iter().any(|row| row.kind == RowKind::Boundary);
            let before: Vec<BlockNumber> = reading.window.blocks.iter().copied().filter(|kept| *kept <= fork.last).collect();
            if !compacted {
                assert_eq!(hashes(&window, &session), hashes(&before, &reading.session), "{case}");
            }
            let calls = |kind: BlockKind| {
                let blocks = window.iter().map(|number| &session.blocks[*number as usize - 1]);
                let mut calls: Vec<_> = blocks.filter(|block| block.kind == kind).filter_map(|block| block.call).collect();
                calls.sort();
                calls
            };
            let all = |kind: BlockKind| reading.session.blocks.iter().filter(|block| block.kind == kind).count();
            if all(BlockKind::ToolUse) == all(BlockKind::ToolResult) {
                assert_eq!(calls(BlockKind::ToolUse), calls(BlockKind::ToolResult), "{case}");
            }
            forks += 1;
        }
        assert_eq!(place.bytes(), bytes);
    }
    assert!(forks >= all_or(100, fixtures().len()), "only {forks}");
}

#[test]
fn a_fault_at_any_call_leaves_no_fork_or_all_of_it() {
    let bytes = small("2.1.330").into_bytes();
    let calls = each_fault(&[Fault::Once, Fault::Lasting], 1, |fault, disk, case| {
        let place = Place::new(&bytes);
        let directory = place.path.parent().unwrap();
        let workspace = place.open(&RealDisk).unwrap();
        let last = *workspace.reading.window.blocks.last().unwrap();
        let fork = workspace.fork(last, ID, LEAF).unwrap();
        let path = place.path.with_file_name(format!("{ID}.jsonl"));
        let written = write_fork(disk, &place.path, &path, &fork.bytes);
        assert_eq!(place.bytes(), bytes, "{case}");
        match fs::read(&path) {
            Ok(found) => assert!(found == fork.bytes, "{case}"),
            Err(_) => assert!(written.is_err(), "{case}"),
        }
        if matches!(fault, Fault::Once) {
            assert!(names(directory).iter().all(|name| !name.ends_with(".aperture")), "{case}");
        }
        written.is_ok()
    });
    assert!(calls > 4, "only {calls}");
}

#[cfg(unix)]
#[test]
fn a_fork_has_the_mode_of_its_source_and_replaces_no_file() {
    use std::os::unix::fs::PermissionsExt;
    let bytes = small("2.1.330").into_bytes();
    let place = Place::new(&bytes);
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o600)).unwrap();
    let workspace = place.open(&RealDisk).unwrap();
    let fork = workspace.fork(3, ID, LEAF).unwrap();
    let path = place.path.with_file_name(format!("{ID}.jsonl"));
    write_fork(&RealDisk, &place.path, &path, &fork.bytes).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&path, "other").unwrap();
    assert_eq!(write_fork(&RealDisk, &place.path, &path, &fork.bytes).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"other");
}
