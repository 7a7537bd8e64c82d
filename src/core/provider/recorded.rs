//! The parts that formats have in common whose messages record their own model and bill. Their sessions are only read.

use super::codex::link::chain;
use super::json::{member, number};
use super::requests::models::vocabulary;
use super::turns::TurnScan;
use super::usage::{Bills, response_key};
use super::{ParsedRow, Scanner, Totals};
use crate::model::{
    BilledTokens, Event, FileUsage, OutputRule, ResponseUsage, Row, RowKind, Session, Vocabulary, most_tokens_sent,
};
use serde_json::value::RawValue;

/// Fills in the fields that follow from the order of the rows. Idempotent.
pub(super) fn link(session: &mut Session) {
    chain(session);
    let model = session.rows.iter().rev().find_map(|row| row.model.as_deref());
    session.vocabulary = model.map_or(Vocabulary::O200k, |model| vocabulary(model, Vocabulary::O200k));
}

/// Appends a line. A line feed can only be between the tokens of JSON.
pub(super) fn push(lines: &mut Vec<u8>, line: &str) {
    lines.extend(line.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
    lines.push(b'\n');
}

/// Returns the row that states how many turns the user left.
pub(super) fn left(turns: &RawValue) -> ParsedRow<'static> {
    let event = number(Some(turns)).map(|turns| Box::new(Event::RolledBack(turns as u32)));
    ParsedRow::new(Row { event, ..Row::new(RowKind::State) }, Vec::new())
}

/// Returns the id of a row as the row writes it.
pub(super) fn identity(row: &[u8]) -> Option<Vec<u8>> {
    let row: &RawValue = serde_json::from_slice(row).ok()?;
    Some(member(row, "id")?.get().as_bytes().to_vec())
}

/// Computes the totals of a session, and collects its bills: a row of the model has those of its response.
pub(super) struct RowScan {
    parse: fn(&[u8]) -> ParsedRow<'_>,
    /// Returns the cost in dollars that a row states.
    dollars: fn(&[u8]) -> Option<f64>,
    totals: Totals,
    bills: Bills,
    turns: TurnScan,
    /// The size of the rows so far.
    bytes: u64,
}

impl RowScan {
    pub fn new(parse: fn(&[u8]) -> ParsedRow<'_>, dollars: fn(&[u8]) -> Option<f64>) -> RowScan {
        RowScan { parse, dollars, totals: Totals::default(), bills: Bills::default(), turns: TurnScan::default(), bytes: 0 }
    }

    fn response(&mut self, row: &Row, tokens: BilledTokens, bytes: &[u8]) {
        if tokens.sent() == 0 {
            return;
        }
        let name = row.model.as_deref().unwrap_or_default();
        let is_impossible = tokens.is_impossible(most_tokens_sent(None, name, self.bytes));
        if !is_impossible {
            self.totals.window_tokens = tokens.total();
            self.totals.window.peak_tokens = self.totals.window.peak_tokens.max(tokens.sent());
        }
        self.totals.output_tokens = self.totals.output_tokens.saturating_add(tokens.output);
        self.totals.moved_on = is_impossible;
        let key = row.message.map(|key| response_key(&[&format!("{key:?}")]));
        let model = self.bills.usage.model(name);
        let time = row.timestamp.unwrap_or_default();
        let dollars = (self.dollars)(bytes);
        self.bills.add(ResponseUsage { key, time, model, tokens, dollars, is_impossible, ..ResponseUsage::default() });
    }
}

impl Scanner for RowScan {
    fn line(&mut self, bytes: &[u8]) {
        if bytes.trim_ascii().is_empty() {
            return;
        }
        self.bytes += bytes.len() as u64;
        let mut parsed = (self.parse)(bytes);
        let (row, totals) = (&parsed.row, &mut self.totals);
        totals.last_written = totals.last_written.max(row.timestamp);
        if let Some(directory) = parsed.origin[1].take().filter(|directory| totals.directory.is_empty() && !directory.is_empty())
        {
            totals.directory = (&*directory).into();
        }
        match row.event.as_deref() {
            Some(Event::Title { text, .. }) => totals.title.clone_from(text),
            Some(Event::RolledBack(turns)) => self.turns.rewound(*turns),
            _ => {}
        }
        match row.kind {
            RowKind::Assistant => {
                totals.steps += 1;
                self.turns.answer();
                totals.model = row.model.as_deref().unwrap_or(&totals.model).into();
                if let Some(usage) = row.usage {
                    self.response(row, usage, bytes);
                }
            }
            RowKind::User => {
                totals.moved_on = true;
                self.turns.row(&parsed);
            }
            RowKind::Boundary => {
                totals.compactions += 1;
                totals.moved_on = true;
                self.bills.usage.compactions.extend(row.timestamp);
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>, _rule: OutputRule) -> (Totals, FileUsage) {
        (self.totals.with_turns(&self.turns), self.bills.usage)
    }
}
