//! Memory that outlives sessions: reads what sessions teach, and keeps it.

mod reading;
mod sessions;

pub use sessions::{LearnedSession, documents, learn_sessions};
