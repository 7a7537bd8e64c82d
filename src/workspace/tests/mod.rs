//! Tests reading and changing sessions with failing disks, concurrent writers and malformed input.
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

mod block_edits;
mod branches;
mod counting;
mod faults;
mod forks;
mod laws;
mod listing;
mod meanwhile;
mod place;
mod plans;
mod projects;
mod reading;
mod sessions;
mod thinking;

use super::*;
