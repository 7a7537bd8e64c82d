//! An index that grew with its files finds what a new one finds.
#![expect(clippy::disallowed_methods, reason = "tests write files")]

use super::{Filter, Searched, Source, find, related, update};
use crate::engine::search::{MatchTier, Query};
use crate::engine::{ReadSettings, outline};
use crate::fsio::{Disk, RealDisk};
use crate::provider::{PROVIDERS, by_name};
use crate::store::{Cache, Seal, SearchIndex};
use crate::workspace::{Found, TracePosition, load};
use rustc_hash::FxHashMap;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

fn row(id: u32, parent: u32, role: &str, content: serde_json::Value) -> String {
    let uuid = |id: u32| format!("00000000-0000-4000-8000-{id:012}");
    let time = format!("2026-11-20T10:{:02}:{:02}.000Z", id / 60, id % 60);
    let message = json!({"role": role, "content": content, "id": format!("m{id}"), "model": "claude-opus-4-8"});
    json!({"type": role, "uuid": uuid(id), "parentUuid": uuid(parent), "sessionId": "s", "timestamp": time, "message": message})
        .to_string()
        + "\n"
}

fn prompt(id: u32, parent: u32, text: &str) -> String {
    row(id, parent, "user", text.into())
}

fn answer(id: u32, text: &str) -> String {
    row(id, id - 1, "assistant", json!([{"type": "text", "text": text}]))
}

fn source(path: &Path) -> Source {
    source_of("claude-code", path)
}

fn source_of(client: &str, path: &Path) -> Source {
    let provider = by_name(client).unwrap();
    let found = Found { provider, path: path.to_owned(), location: provider.locate(path).unwrap() };
    Source::new(found, RealDisk.identify(path).unwrap())
}

fn project() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("projects/-w");
    fs::create_dir_all(&place).unwrap();
    (directory, place)
}

/// Searches an index: the turn, the tier and the line of each match.
fn search(index: &mut SearchIndex, paths: &[PathBuf], query: &str) -> Vec<(usize, u32, MatchTier, String)> {
    search_in(index, paths, &|_| true, query)
}

fn search_in(
    index: &mut SearchIndex,
    paths: &[PathBuf],
    is_wanted: &dyn Fn(usize) -> bool,
    query: &str,
) -> Vec<(usize, u32, MatchTier, String)> {
    let sources: Vec<Source> = paths.iter().filter(|path| path.exists()).map(|path| source(path)).collect();
    let indexed = update(&RealDisk, index, &sources, true, &|_, _| {}, &mut |path, error| panic!("{path:?}: {error}")).unwrap();
    let session_of = |source: usize| source.to_string();
    let query = Query::parse(query).unwrap();
    let (sources, session_of) = (&sources[..], &session_of);
    let searched = Searched { disk: &RealDisk, sources, index, indexed: &indexed, session_of, is_wanted, adjust: None, now: 0 };
    let hits = find(&searched, query, &Filter::default()).unwrap();
    hits.turns.into_iter().map(|turn| (turn.source, turn.turn.number, turn.found.tier, turn.found.excerpt.line)).collect()
}

const QUERIES: [&str; 6] = ["flaky login", "retry limit", "parse_rows", "migrations", "\"the retry\"", "hunter22"];

#[test]
fn an_index_that_grew_finds_what_a_new_one_finds() {
    let (directory, place) = project();
    let paths = [place.join("aaaa1111.jsonl"), place.join("bbbb2222.jsonl")];
    let mut grown = SearchIndex::open(directory.path(), &Seal::default()).unwrap();
    let mut contents = [String::new(), String::new()];
    let steps = [
        (0, prompt(1, 0, "fix the flaky login test")),
        (0, answer(2, "The login test waits for a retry of hunter22.")),
        (1, prompt(3, 0, "what is the retry limit?")),
        (0, answer(4, "parse_rows was slow; the flaky part is the retry limit")),
        (0, prompt(5, 4, "my password is hunter22, now run the migration")),
        (1, answer(6, "The retry limit is 3: see parseRows and hunter22.")),
        // Another prompt in the place of the last one: the user left that turn.
        (0, prompt(7, 4, "undo the migration")),
        (1, prompt(8, 6, "make the limit 5 for login")),
    ];
    let all: Vec<(usize, String)> =
        steps.into_iter().chain((9..40).map(|id| (1, answer(id, &format!("step {id}: retry"))))).collect();
    for (file, text) in all {
        contents[file].push_str(&text);
        fs::write(&paths[file], &contents[file]).unwrap();
        for query in QUERIES {
            let new = search(&mut SearchIndex::in_memory().unwrap(), &paths, query);
            let old = search(&mut grown, &paths, query);
            let key = |found: &Vec<(usize, u32, MatchTier, String)>| {
                let mut found = found.clone();
                found.sort();
                found
            };
            assert_eq!(key(&old), key(&new), "{query} after {text}");
        }
    }
    let found = search(&mut grown, &paths, "flaky login");
    assert_eq!((found[0].1, found[0].2), (1, MatchTier::Exact), "{found:?}");
    let found = search(&mut grown, &paths, "migration");
    assert_eq!(found.iter().map(|found| found.1).collect::<Vec<_>>(), [3, 2], "the turn that was left is last: {found:?}");
    // A credential that the file names is not indexed, wherever it is.
    assert!(search(&mut grown, &paths[..1], "hunter22").iter().all(|(.., tier, _)| *tier == MatchTier::Nearest));
    // A file that was replaced, and one that is gone.
    fs::write(&paths[0], prompt(1, 0, "something else")).unwrap();
    assert!(search(&mut grown, &paths, "flaky login").iter().all(|(source, ..)| *source == 1));
    fs::remove_file(&paths[1]).unwrap();
    assert_eq!(search(&mut grown, &paths, "retry limit"), []);
    assert_eq!(search(&mut grown, &paths, "something").len(), 1);
}

#[test]
fn only_wanted_sources_are_found_be_they_few_or_most() {
    let (_directory, place) = project();
    let paths: Vec<PathBuf> = (0..7).map(|number| place.join(format!("{number}.jsonl"))).collect();
    for (number, path) in (0..).zip(&paths) {
        fs::write(path, prompt(number, 0, &format!("login number {number}"))).unwrap();
    }
    let mut index = SearchIndex::in_memory().unwrap();
    for wanted in [vec![], vec![3], vec![0, 1, 2, 4, 5, 6], (0..7).collect()] {
        let found = search_in(&mut index, &paths, &|source| wanted.contains(&source), "login");
        let mut found: Vec<usize> = found.into_iter().map(|(source, ..)| source).collect();
        found.sort_unstable();
        assert_eq!(found, wanted);
    }
}

/// The turn of each block is that of the analysis, also where a command opens it.
#[test]
fn turns_have_the_numbers_of_the_analysis() {
    for path in crate::testing::fixtures() {
        let Some(found) = PROVIDERS
            .iter()
            .find_map(|provider| Some(Found { provider: *provider, path: path.clone(), location: provider.locate(&path)? }))
        else {
            continue;
        };
        let (provider, id) = (found.provider, found.location.id.clone());
        let session = load(&RealDisk, &Cache::default(), provider, &path, id).unwrap();
        if session.inherited_rows() > 0 {
            // The rows of the session that it continues are in another file.
            continue;
        }
        let reading = outline(session, |session| provider.window(session), &ReadSettings::default(), &FxHashMap::default());
        let source = Source::new(found, RealDisk.identify(&path).unwrap());
        source
            .read(&RealDisk, &mut TracePosition::default(), &mut |_, event| {
                let block = &reading.session.blocks[event.block as usize - 1];
                // In the analysis, rows before the first prompt belong to the first turn.
                assert_eq!(event.turn.max(1), block.position.turn.max(1), "{path:?} {}", event.block);
            })
            .unwrap();
    }
}

/// A client that does not name its rows has their lines in the file, also where a turn is read by itself.
#[test]
fn related_turns_have_the_rows_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions/rollout-2026-01-02T10-00-00-66666666-0000-7000-8000-000000000001.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let row = |second: usize, kind: &str, payload: serde_json::Value| {
        json!({"timestamp": format!("2026-01-02T10:00:{second:02}.000Z"), "type": kind, "payload": payload}).to_string() + "\n"
    };
    let message = |second: usize, role: &str, kind: &str, text: &str| {
        row(second, "response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let mut rows = row(0, "session_meta", json!({"id": "66666666-0000-7000-8000-000000000001", "cwd": "/w"}));
    for second in [1, 3, 5] {
        rows += &message(second, "user", "input_text", &format!("the login, part {second}"));
        rows += &message(second + 1, "assistant", "output_text", "The login works.");
    }
    fs::write(&path, rows).unwrap();
    let sources = [source_of("codex", &path)];
    let mut expected = Vec::new();
    sources[0].read(&RealDisk, &mut TracePosition::default(), &mut |_, event| expected.push((event.block, event.row))).unwrap();
    assert_eq!(expected.iter().map(|(_, row)| row.as_str()).collect::<Vec<_>>(), ["L2", "L3", "L4", "L5", "L6", "L7"]);
    let mut index = SearchIndex::in_memory().unwrap();
    let indexed =
        update(&RealDisk, &mut index, &sources, true, &|_, _| {}, &mut |path, error| panic!("{path:?}: {error}")).unwrap();
    let session_of = |source: usize| source.to_string();
    let (disk, is_wanted) = (&RealDisk, &|_| true);
    let (sources, index, indexed, session_of) = (&sources[..], &index, &indexed, &session_of);
    let searched = Searched { disk, sources, index, indexed, session_of, is_wanted, adjust: None, now: 0 };
    let turns = related(&searched, &Query::of_text("login")).unwrap();
    let found: Vec<(u32, String)> =
        turns.into_iter().flat_map(|turn| turn.events).map(|event| (event.block, event.row)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_search_of_sessions_does_not_answer_one() {
    let (_directory, place) = project();
    let path = place.join("aaaa1111.jsonl");
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "aperture search flaky login"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "the flaky login test"}]);
    let rows = [prompt(1, 0, "look it up"), row(2, 1, "assistant", call), row(3, 2, "user", result)].concat();
    fs::write(&path, rows).unwrap();
    assert_eq!(search(&mut SearchIndex::in_memory().unwrap(), &[path], "flaky login"), []);
}
