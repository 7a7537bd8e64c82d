//! Helpers of unit tests in several layers: the fixtures, samples of many cases, sessions in memory. The crate above has them too.
#![expect(clippy::disallowed_methods, reason = "tests read files and the environment")]

pub mod bodies;
pub mod medium;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The directories of the fixtures of clients whose sessions are only read.
const ONLY_READ: [&str; 2] = ["gemini", "opencode"];

/// Returns every session file of the fixtures that can be changed.
pub fn fixtures() -> Vec<PathBuf> {
    let mut files = fixtures_with(&["jsonl"]);
    files.retain(|path| !path.components().any(|part| ONLY_READ.iter().any(|name| part.as_os_str() == *name)));
    files
}

/// Returns every file of the fixtures whose name has one of these endings.
pub fn fixtures_with(endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let places = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|place| place.join("fixtures"));
    let mut directories: Vec<PathBuf> = places.filter(|place| place.is_dir()).take(1).collect();
    while let Some(directory) = directories.pop() {
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| endings.iter().any(|known| end == *known)) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 8);
    files
}

/// Parses a JSON value, which keeps its text.
pub fn raw(json: &str) -> &serde_json::value::RawValue {
    serde_json::from_str(json).unwrap()
}

/// Returns the entries of a table in JSON lines, without its comments.
pub fn entries<T: serde::de::DeserializeOwned>(table: &str) -> Vec<T> {
    table.lines().filter(|line| !line.starts_with("//")).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns `all` if every case is to be tested (`APERTURE_ALL_CASES`, which `.ci/run` sets), otherwise `usual`.
pub fn all_or<T>(all: T, usual: T) -> T {
    if std::env::var_os("APERTURE_ALL_CASES").is_some() { all } else { usual }
}

/// Returns every `stride`th case, beginning with the first; each of them if every case is to be tested. The first sample is reported.
pub fn sample<T>(cases: impl IntoIterator<Item = T>, stride: usize) -> impl Iterator<Item = T> {
    static REPORT: Once = Once::new();
    let stride = all_or(1, stride);
    if stride > 1 {
        let line = b"skipped: most cases of the laws over many; to run all: APERTURE_ALL_CASES=1\n";
        REPORT.call_once(|| std::io::stderr().write_all(line).unwrap());
    }
    cases.into_iter().step_by(stride)
}
