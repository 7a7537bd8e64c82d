//! Requests of the model, in its text or as tool calls: decided by the policy, then executed or held for approval.

pub mod ask;
pub mod called;
pub mod inbox;
pub mod obey;
pub mod proposing;
pub mod reported;
