//! Requests of the model, in its text or as tool calls: decided by the policy, then executed or held for approval.

mod ask;
pub mod called;
mod from_model;
mod instructions;
pub mod proposing;
pub mod reported;

pub use ask::{CallOutcome, ask, refuse_open};
pub use from_model::ModelAction;
pub use instructions::InstructionsReport;
