//! Helpers of unit tests in several layers: those of the core, and faults of the disk.

use crate::fsio::failing::FailingDisk;
use proptest::test_runner::Config as ProptestConfig;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

#[expect(dead_code, reason = "tests of the core use the rest")]
#[path = "core/testing/mod.rs"]
mod core;

pub use core::bodies;
pub use core::medium;
pub use core::{all_or, fixtures, sample};

/// A kind of failure of a disk call.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    Once,
    /// One call and all later ones fail.
    Lasting,
    /// The program ends at the call.
    Killed,
}

impl Fault {
    pub fn disk(self, call: usize) -> FailingDisk {
        match self {
            Fault::Once => FailingDisk::new(call, false),
            Fault::Lasting => FailingDisk::new(call, true),
            Fault::Killed => FailingDisk::killed(call),
        }
    }
}

/// Runs a step with a fault of each kind at every `stride`th call of the disk, until it has none. `run` gets the kind, the disk and a name
/// of the case, and returns true if the step succeeded, which it must without a fault. Returns the number of calls of a step.
pub fn each_fault(ways: &[Fault], stride: usize, mut run: impl FnMut(Fault, &FailingDisk, &str) -> bool) -> usize {
    let mut calls = usize::MAX;
    for (offset, fault) in ways.iter().enumerate() {
        for call in (offset % stride..).step_by(stride) {
            let (disk, case) = (fault.disk(call), format!("call {call} {fault:?}"));
            let has_succeeded = run(*fault, &disk, &case);
            if disk.calls.load(Ordering::SeqCst) <= call {
                assert!(has_succeeded, "{case}: no call failed");
                calls = calls.min(call);
                break;
            }
        }
    }
    calls
}

/// Returns the files in a directory and below it, each with its bytes; none if it does not exist.
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
pub fn files_below(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// Returns the configuration of a law, with a number of cases unless `APERTURE_CASES` gives another one.
#[expect(clippy::disallowed_methods, reason = "tests read the environment")]
pub fn law(cases: u32) -> ProptestConfig {
    let cases = std::env::var("APERTURE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() }
}

/// Runs a step and returns its result; `None` if it was killed.
pub fn catch<T>(step: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(outcome) => Some(outcome),
        Err(cause) if cause.downcast_ref::<&str>() == Some(&"killed") => None,
        Err(cause) => resume_unwind(cause),
    }
}
