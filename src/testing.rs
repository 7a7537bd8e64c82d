//! Helpers of unit tests in several layers: those of the core, and faults of the disk.

use crate::fsio::failing::FailingDisk;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// Runs a step and returns its result; `None` if it was killed.
pub fn catch<T>(step: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(outcome) => Some(outcome),
        Err(cause) if cause.downcast_ref::<&str>() == Some(&"killed") => None,
        Err(cause) => resume_unwind(cause),
    }
}
