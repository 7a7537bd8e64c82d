//! The window as it was estimated before each response of a session, against the bill of the response.

use super::{bills, calls::calls, count_window};
use crate::model::{RowKind, Session, Window};

/// The largest number of plain cuts of one session; of more, some are measured at equal distances.
const PLAIN: usize = 60;

/// The last event before a response that matters for the base of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutKind {
    /// The response continues the one before it.
    Plain,
    /// A compaction.
    Compaction,
    /// A model other than that of the response before.
    Model,
    /// A rewind: the response follows an earlier one.
    Rewind,
    /// A row before the response is not in the file. The client that wrote the response had it; a resume has not.
    Gap,
}

impl CutKind {
    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            CutKind::Plain => "in the course of the work",
            CutKind::Compaction => "after a compaction",
            CutKind::Model => "after a change of the model",
            CutKind::Rewind => "after a rewind",
            CutKind::Gap => "after a missing row",
        }
    }
}

/// A moment of a session: all rows before a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The event before the response.
    pub kind: CutKind,
    /// Number of rows before it.
    pub rows: u32,
    /// The window at that moment, as estimated then.
    pub estimated: f64,
    /// The input tokens of the response, as billed.
    pub billed: u64,
}

impl Cut {
    /// Returns the error of the estimate, relative to the bill.
    pub fn error(&self) -> f64 {
        (self.estimated - self.billed as f64).abs() / self.billed as f64
    }
}

/// Cuts an analyzed session before each billed response. `window` comes from the provider.
pub fn cuts(session: &Session, window: &(dyn Fn(&Session) -> Window + Sync)) -> Vec<Cut> {
    let calls = calls(session);
    let mut found: Vec<(CutKind, u32, u64)> = Vec::new();
    let mut boundary =
        session.rows.iter().enumerate().filter(|(_, row)| row.kind == RowKind::Boundary).map(|(row, _)| row as u32).peekable();
    let mut before: Option<&super::Call> = None;
    for call in &calls[..calls.len().saturating_sub(1)] {
        let Some(row) = call.response.first().map(|place| session.blocks[*place].row) else { continue };
        let mut compacted = false;
        while boundary.next_if(|boundary| *boundary < row).is_some() {
            compacted = true;
        }
        let kind = match before {
            _ if compacted => CutKind::Compaction,
            _ if call.severed => CutKind::Gap,
            Some(before) if before.model != call.model => CutKind::Model,
            Some(_) if !call.continues => CutKind::Rewind,
            _ => CutKind::Plain,
        };
        if before.is_some() && call.usage.sent() > 0 {
            found.push((kind, row, call.usage.sent()));
        }
        before = Some(call);
    }
    let plain = found.iter().filter(|(kind, ..)| *kind == CutKind::Plain).count();
    let distance = plain.div_ceil(PLAIN).max(1);
    let mut number = 0;
    found.retain(|(kind, ..)| {
        number += usize::from(*kind == CutKind::Plain);
        *kind != CutKind::Plain || number % distance == 0
    });
    let measure = |(kind, rows, billed)| Cut { kind, rows, estimated: estimated(session, rows, window), billed };
    found.into_iter().map(measure).collect()
}

/// Returns the tokens of the window after the first rows of a session.
fn estimated(session: &Session, rows: u32, window: &dyn Fn(&Session) -> Window) -> f64 {
    let mut cut = session.clone();
    cut.rows.truncate(rows as usize);
    cut.blocks.truncate(session.blocks.partition_point(|block| block.row < rows));
    let model = cut.rows.iter().rev().find_map(|row| row.model.as_deref()).unwrap_or_default().to_owned();
    let window = window(&cut);
    let bills = bills(&cut, &model);
    count_window(&mut cut, &window, bills).total.value
}
