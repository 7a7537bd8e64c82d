//! The window as it was estimated before each response of a session, against the bill of the response.

use super::calls::calls;
use super::{bills, count_window};
use crate::model::{RowKind, Session, Window, words};

words! {
    /// The last event before a response that matters for the base of an estimate.
    #[derive(PartialOrd, Ord)]
    pub enum CutKind {
        /// The response continues the one before it.
        Plain = "in the course of the work",
        Compaction = "after a compaction",
        /// A model other than that of the response before.
        Model = "after a change of the model",
        /// A rewind: the response follows an earlier one.
        Rewind = "after a rewind",
        /// A row of its branch is not in the file. The client that wrote the response had it; a resume has not.
        Gap = "behind a missing row",
    }
}

/// A moment of a session: all rows before a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The event before the response.
    pub kind: CutKind,
    pub rows: u32,
    /// The model of the response, and the version of the client.
    pub model: String,
    pub version: String,
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
    let mut found: Vec<Cut> = Vec::new();
    let mut boundary =
        session.rows.iter().enumerate().filter(|(_, row)| row.kind == RowKind::Boundary).map(|(row, _)| row as u32).peekable();
    let mut before: Option<&super::Call> = None;
    let mut severed: Vec<bool> = Vec::new();
    for call in &calls[..calls.len().saturating_sub(1)] {
        severed.push(call.severed || call.follows.is_some_and(|before| severed[before]));
        let Some(row) = call.response.first().map(|place| session.blocks[*place].row) else { continue };
        let mut compacted = false;
        while boundary.next_if(|boundary| *boundary < row).is_some() {
            compacted = true;
        }
        let kind = match before {
            _ if compacted => CutKind::Compaction,
            _ if severed.last() == Some(&true) => CutKind::Gap,
            Some(before) if before.model != call.model => CutKind::Model,
            Some(_) if !call.continues => CutKind::Rewind,
            _ => CutKind::Plain,
        };
        if before.is_some() && call.usage.sent() > 0 {
            let origin = session.origins.get(session.rows[row as usize].origin as usize);
            let version = origin.map(|origin| origin.version.to_string()).unwrap_or_default();
            let (model, estimated) = (call.model.clone(), estimated(session, row, window));
            found.push(Cut { kind, rows: row, model, version, estimated, billed: call.usage.sent() });
        }
        before = Some(call);
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BilledTokens, Block, BlockKind, Key, Role, Row};

    /// Returns a session from rows given as kind, identity, parent and, of a response, the billed input and the model. Each row has a block
    /// of 500 tokens.
    fn session(rows: &[(RowKind, u128, u128, u64, &str)]) -> Session {
        let mut session = Session::default();
        for (kind, id, parent, input, model) in rows {
            let mut row = Row::new(*kind);
            (row.id, row.parent) = (Some(Key(*id)), (*parent > 0).then_some(Key(*parent)));
            if *input > 0 {
                row.usage = Some(BilledTokens { input: *input, output: 500, ..BilledTokens::default() });
                (row.message, row.model, row.finished) = (Some(Key(*id)), Some((*model).into()), true);
            }
            let mut block = Block::new(BlockKind::Text, if *input > 0 { Role::Assistant } else { Role::User });
            block.counts.o200k = 877;
            session.add(row, [block]);
        }
        session
    }

    /// Returns the window of a session whose last row continues its first ones, without a compaction.
    fn whole(session: &Session) -> Window {
        let rows: Vec<u32> = (0..session.rows.len() as u32).collect();
        Window { blocks: rows.iter().map(|row| row + 1).collect(), chain: rows.clone(), rows, ..Window::default() }
    }

    #[test]
    fn a_cut_is_before_each_response_but_the_first_and_has_its_cause() {
        use RowKind::{Assistant, Boundary, User};
        const OPUS: &str = "claude-opus-4-5";
        let begin = [(User, 1, 0, 0, ""), (Assistant, 2, 1, 10_000, OPUS), (User, 3, 2, 0, "")];
        for (last, kind) in [
            (vec![(Assistant, 4, 3, 11_000, OPUS)], CutKind::Plain),
            (vec![(Assistant, 4, 3, 11_000, "claude-opus-4-7")], CutKind::Model),
            (vec![(User, 4, 1, 0, ""), (Assistant, 5, 4, 11_000, OPUS)], CutKind::Rewind),
            (vec![(User, 5, 4, 0, ""), (Assistant, 6, 5, 11_000, OPUS)], CutKind::Gap),
            (vec![(User, 5, 4, 0, ""), (Assistant, 6, 5, 0, OPUS), (Assistant, 7, 6, 11_000, OPUS)], CutKind::Gap),
            (vec![(Boundary, 4, 0, 0, ""), (User, 5, 4, 0, ""), (Assistant, 6, 5, 11_000, OPUS)], CutKind::Compaction),
        ] {
            let session = session(&[&begin[..], &last].concat());
            let found = cuts(&session, &whole);
            let facts: Vec<_> = found.iter().map(|cut| (cut.kind, cut.rows as usize, cut.billed)).collect();
            assert_eq!(facts, [(kind, session.rows.len() - 1, 11_000)]);
        }
    }

    #[test]
    fn a_cut_is_estimated_from_the_rows_before_it() {
        use RowKind::{Assistant, User};
        let rows = |billed| {
            session(&[
                (User, 1, 0, 0, ""),
                (Assistant, 2, 1, 10_000, "claude-opus-4-5"),
                (User, 3, 2, 0, ""),
                (Assistant, 4, 3, billed, "claude-opus-4-5"),
            ])
        };
        let estimated = |billed| cuts(&rows(billed), &whole)[0].estimated;
        // The last bill, its output, and the prompt after it; the bill that is estimated has no part in it.
        assert!((estimated(11_000) - 11_000.0).abs() < 50.0, "{}", estimated(11_000));
        assert_eq!(estimated(11_000), estimated(90_000));
        assert_eq!(cuts(&rows(22_000), &whole)[0].error(), (22_000.0 - estimated(11_000)) / 22_000.0);
    }
}
