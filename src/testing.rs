//! Helpers of unit tests in several layers: those of the core, and faults of the disk.

use crate::fsio::failing::FailingDisk;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

/// Runs a step and returns its result; `None` if it was killed.
pub fn catch<T>(step: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(outcome) => Some(outcome),
        Err(cause) if cause.downcast_ref::<&str>() == Some(&"killed") => None,
        Err(cause) => resume_unwind(cause),
    }
}
