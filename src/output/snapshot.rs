use super::{Paint, Report, Style, age};
use crate::model::Snapshot;
use serde::Serialize;

/// A named point in the log.
#[derive(Clone, Debug, Serialize)]
pub struct SnapshotRow {
    /// The point.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// Operations since.
    pub operations_since: usize,
}

/// Named points in the log.
#[derive(Clone, Debug, Serialize)]
pub struct SnapshotReport {
    /// The points, the oldest first.
    pub snapshots: Vec<SnapshotRow>,
}

impl Report for SnapshotReport {
    fn schema(&self) -> &'static str {
        "aperture.snapshots/1"
    }

    fn text(&self, style: &Style) -> String {
        if self.snapshots.is_empty() {
            return "no snapshots\n".to_owned();
        }
        let line = |row: &SnapshotRow| {
            let name = style.paint(Paint::Name, &row.snapshot.name);
            let point = match row.snapshot.operation {
                0 => "the original".to_owned(),
                operation => format!("operation {operation}"),
            };
            let since = match row.operations_since {
                0 => String::new(),
                1 => ", 1 operation since".to_owned(),
                count => format!(", {count} operations since"),
            };
            format!("{name}  {point}, {}{since}\n", age(style.now, row.snapshot.time))
        };
        self.snapshots.iter().map(line).collect()
    }
}
