//! Memory: what sessions teach, the form of its files, what becomes of them when new candidates arrive, and the text for a new session.

mod compose;
pub mod danger;
pub mod export;
mod facts;
mod failures;
pub mod forgotten;
mod induce;
mod intent;
pub mod markdown;
pub mod merge;
mod open;
mod outcomes;
mod pages;
mod procedures;
mod project;
mod purpose;
mod statements;
pub mod topic;
pub mod words;
mod work;

pub use compose::{
    ComposeInput, Composition, HEADING, PINNED_TOKENS, about_prompt, compose, matching, may_be_told, order_by_worth,
    pinned_tokens,
};
pub use export::{SectionError, section, with_section};
pub use facts::SessionFacts;
pub use failures::error_lines::{Subject, call_error, lost_failure, missing_program};
pub use forgotten::{FORGOTTEN_FILE, Forgotten};
pub use induce::{induce, of_one_session};
pub use intent::{Intent, intent};
pub use markdown::{Document, DocumentError};
pub use merge::{Change, ChangeKind, MergeFacts, merge};
pub use open::is_left_to_do;
pub use outcomes::{Feedback, Outcome, outcomes};
pub use statements::{names_subject, own_sentences};
