use super::{Paint, Report, Style, bytes, plural};

/// The result of an export.
#[derive(Clone, Debug)]
pub struct ExportReport {
    /// The session's id.
    pub session: String,
    /// The file that was written.
    pub file: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of operations in the log.
    pub operations: usize,
    /// Number of values in the log.
    pub values: usize,
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
            super::printable(&self.file),
            bytes(self.bytes),
            style.paint(Paint::Dim, note)
        )
    }
}
