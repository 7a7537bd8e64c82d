use crate::model::Snapshot;
use crate::output::{Paint, Report, Style, age, clip, padded, plural, printable};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// A snapshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub struct SnapshotRow {
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// Number of operations since.
    pub operations_since: usize,
}

/// The snapshots of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotReport {
    /// Change of the list; null if it was only listed.
    pub done: Option<String>,
    /// Snapshots, the oldest first.
    pub snapshots: Vec<SnapshotRow>,
}

impl Report for SnapshotReport {
    const SCHEMA: &str = "aperture.snapshots/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            text.push_str(&style.paint(Paint::Heading, &clip(done, style.width)));
            text.push('\n');
        }
        if self.snapshots.is_empty() {
            text.push_str("no snapshots\n");
            return text;
        }
        let widest = self.snapshots.iter().map(|row| printable(&row.snapshot.name).width()).max().unwrap_or_default();
        for row in &self.snapshots {
            let name = style.paint(Paint::Name, &padded(&printable(&row.snapshot.name), widest));
            let point = match row.snapshot.operation {
                0 => "the original".to_owned(),
                operation => format!("operation {operation}"),
            };
            let since = match row.operations_since {
                0 => String::new(),
                count => format!(", {} since", plural(count, "operation")),
            };
            let saved = match age(style.now, row.snapshot.time).as_str() {
                "now" => "saved now".to_owned(),
                age => format!("saved {age} ago"),
            };
            text.push_str(&format!("{name}  {point}, {saved}{since}\n"));
        }
        text
    }
}
