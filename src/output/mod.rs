//! Reports: the results of commands, as values, as text for people and as JSON.

pub mod advice;
pub mod bulk;
mod change;
mod diff;
mod error;
pub mod format;
mod gate;
pub mod json;
pub mod pending;
mod price;
mod style;
pub mod table;

pub use crate::engine::{bytes, impossible_bills, plural, unit};
pub use bulk::{BulkOutcome, BulkReport, BulkRow, BulkTotals};
pub use change::{ChangeDetail, ChangeReport, MarkedBlock};
pub use diff::DiffReport;
pub use error::ErrorReport;
pub use format::{
    age, ago, clip, clip_start, clock_time, days, line, numbered, padded, percent, printable, short_id, time, times_of_day,
    tokens, wrap,
};
pub use gate::{Clean, Gate};
pub use pending::PendingChanges;
pub use price::lines as price_lines;
pub use style::{Paint, Style};

pub use crate::engine::{amount, count};
use schemars::JsonSchema;
use serde::Serialize;

/// The form of the text of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
    /// Unmodified content, because the user explicitly requested it.
    Raw,
}

/// The result of a command.
pub trait Report: Serialize + JsonSchema {
    /// The name of the JSON form, such as `aperture.manifest/2`.
    const SCHEMA: &str;

    /// Returns the text for people, with a line feed at its end.
    fn text(&self, style: &Style) -> String;

    /// Returns the form of the text, which determines how it is cleaned.
    fn form(&self) -> Form {
        Form::Text
    }

    /// Returns the JSON form: one object, whose first key is `schema`.
    fn json(&self) -> String {
        json::indented(Self::SCHEMA, self)
    }
}
