use crate::output::{Paint, Report, Style, bytes, plural};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of an export.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExportReport {
    /// Session id.
    pub session: String,
    /// File that was written.
    pub file: String,
    /// Size of the file.
    #[schemars(extend("unit" = "bytes"))]
    pub bytes: u64,
    /// Number of operations.
    pub operations: usize,
    /// Number of values.
    pub values: usize,
    /// Number of snapshots.
    pub snapshots: usize,
}

impl Report for ExportReport {
    const SCHEMA: &str = "aperture.export/1";

    fn text(&self, style: &Style) -> String {
        let (operations, values) = (plural(self.operations, "operation"), plural(self.values, "value"));
        let note = "it contains the archived originals, secrets included; to read it: aperture import FILE";
        format!(
            "exported {operations} and {values} of {} to {} ({})\n{}\n",
            self.session,
            crate::output::printable(&self.file),
            bytes(self.bytes),
            style.paint(Paint::Dim, note)
        )
    }
}
