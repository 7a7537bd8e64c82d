//! Data for reports: the manifest, advice, explanations, checks, differences, events and summaries.

pub mod advice;
pub mod change_groups;
pub mod check;
pub mod damage;
pub mod diff;
pub mod events;
pub mod explain;
pub mod files;
pub mod housekeeping;
pub mod label;
pub mod manifest;
pub mod model_activity;
pub mod numbers;
pub mod requested_turns;
pub mod summary;
pub mod timeline;
pub mod topics;
pub mod usage;
