//! Plans changes to a session: pure values, computed from its analysis, its log, its rows and the stored originals.

mod addresses;
mod archive;
mod block_edits;
mod budget;
mod contents;
mod convert;
mod digest_fold;
mod draft;
mod error;
mod fold;
mod fork;
mod gate;
mod log_check;
mod marks;
mod originals;
mod parse;
mod points;
mod replay;
mod revision;
mod rows;
mod shorten;
mod splice;
#[cfg(test)]
mod tests;
mod thinking;
mod turn_numbers;
mod way;
mod window_change;

pub use addresses::Addresses;
pub use archive::archive;
pub use contents::{Content, contents};
pub use convert::{Conversion, ConversionSource, convert};
pub use digest_fold::{DigestFold, fold_into_digest};
pub use draft::{Draft, Drafted, ModelTexts, NOTE, Original, PlanSource, Redacted, Repaired, SkipReason, Thinking, uuid};
pub use error::PlanError;
pub use fork::{Fork, fork};
pub use log_check::{DriftKind, DriftedValue, LogCheck, LoggedSession};
pub use marks::{apply as apply_marks, is_bill_changed, logged_costs};
pub use originals::{OriginalError, Originals};
pub use parse::{EarlierRows, left_offsets, parse_changed, parse_chunk, parse_session};
pub use revision::Revision;
pub use rows::{MemoryRows, Rows, pass};
pub use shorten::{Aim, KeptBlocks, PlanCache, Scope, shorten, shrink};
pub use splice::{Splice, SpliceError, splice};
pub use turn_numbers::{keep_turn_numbers, moves_turns, turn_numbers};
pub use way::{Inexact, Undone};
