//! The parts of a session whose file does not hold its rows as lines. [`Format::assemble`](super::Format::assemble) makes rows of them.

use std::path::PathBuf;

/// The place of the parts of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionParts {
    /// Each part is the content of a file. The first one is that of the session; a missing other one is an empty part.
    Files(Vec<PathBuf>),
    Database {
        path: PathBuf,
        id: String,
        queries: &'static Queries,
    },
}

/// The queries for the sessions in an SQLite database. Their parameter is the id of a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Queries {
    /// Selects each session, or that with the id if it is not null: its place below the database, without an extension; its size in bytes;
    /// the time of its last change in milliseconds since 1970, UTC.
    pub sessions: &'static str,
    /// Selects the parts of the session, each one text, in order.
    pub parts: &'static str,
}

/// The extension of the places of sessions in a database.
pub const IN_DATABASE: &str = "jsonl";
