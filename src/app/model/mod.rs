//! Requests of the model: found in its text or called as tools, decided by the policy, executed or kept for the user.

pub mod ask;
pub mod inbox;
pub mod obey;
pub mod proposing;
pub mod reported;
