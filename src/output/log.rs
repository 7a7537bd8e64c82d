use super::{Paint, Report, Style, age, amount, clip};
use crate::model::{BlockNumber, History, Operation, OperationId, OperationKind, Snapshot};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// An operation in the log.
#[derive(Clone, Debug, Serialize)]
pub struct LogRow {
    /// Its number.
    pub id: OperationId,
    /// What it is.
    pub kind: OperationKind,
    /// When, in milliseconds since 1970, UTC.
    pub time: i64,
    /// The command as it was given.
    pub command: String,
    /// Who gave it.
    pub actor: String,
    /// The blocks that it changed or marked.
    pub blocks: Vec<BlockNumber>,
    /// Rows that it added.
    pub rows_added: usize,
    /// Tokens of the window before.
    pub tokens_before: f64,
    /// Tokens of the window after.
    pub tokens_after: f64,
    /// The operation that it took back.
    pub inverts: Option<OperationId>,
    /// The operation that took it back.
    pub undone_by: Option<OperationId>,
}

impl LogRow {
    /// The operation as it stands in the log.
    pub fn new(operation: &Operation, history: &History) -> LogRow {
        let changed = operation.edits.iter().filter_map(|edit| edit.change.as_ref()).map(|change| change.number);
        LogRow {
            id: operation.id,
            kind: operation.kind,
            time: operation.time,
            command: operation.command.clone(),
            actor: operation.actor.clone(),
            blocks: changed.chain(operation.marks.iter().map(|mark| mark.number)).collect(),
            rows_added: operation.edits.iter().filter(|edit| edit.before.is_none()).count(),
            tokens_before: operation.tokens_before,
            tokens_after: operation.tokens_after,
            inverts: operation.inverts,
            undone_by: history.undone_by(operation.id),
        }
    }
}

/// What was done to a session.
#[derive(Clone, Debug, Serialize)]
pub struct LogReport {
    /// The operations, the newest first.
    pub operations: Vec<LogRow>,
    /// Named points, the oldest first.
    pub snapshots: Vec<Snapshot>,
}

impl Report for LogReport {
    fn schema(&self) -> &'static str {
        "aperture.log/1"
    }

    fn text(&self, style: &Style) -> String {
        if self.operations.is_empty() {
            return "nothing was done to this session\n".to_owned();
        }
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["#", "WHEN", "BLOCKS", "TOKENS", "COMMAND"].map(|name| style.paint(Paint::Dim, name)));
        for row in &self.operations {
            let names: Vec<&str> = self
                .snapshots
                .iter()
                .filter(|snapshot| snapshot.operation == row.id)
                .map(|snapshot| snapshot.name.as_str())
                .collect();
            let mut command = clip(&row.command, style.width.saturating_sub(46).max(20));
            if let Some(by) = row.undone_by {
                command = style.paint(Paint::Dim, &format!("{command} (undone by {by})"));
            }
            if !names.is_empty() {
                command = format!("{command} {}", style.paint(Paint::Good, &format!("[{}]", names.join(", "))));
            }
            let (before, after) = (amount(row.tokens_before.round() as u64), amount(row.tokens_after.round() as u64));
            let tokens = if before == after { before } else { format!("{before} → {after}") };
            table.add_row([
                style.paint(Paint::Name, &row.id.to_string()),
                age(style.now, row.time),
                row.blocks.len().to_string(),
                tokens,
                command,
            ]);
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if matches!(place, 0 | 2) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}
