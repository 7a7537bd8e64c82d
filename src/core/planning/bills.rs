//! Bills that changes of the log replaced, or made outdated.

use super::addresses::Addresses;
use crate::engine::Analysis;
use crate::model::{Address, Flags, History, LoggedEdit, RowAddress, Session, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

/// The least difference of an estimate that counts, in tokens: figures are rounded in the file.
const ROUNDING: f64 = 0.5;

/// A value of a slot, and its tokens.
type Valued = (Option<Address>, f64);

/// Returns the place of the last row with a bill.
pub(super) fn last_bill(session: &Session, rows: &[u32]) -> Option<usize> {
    rows.iter().rposition(|row| session.rows[*row as usize].usage.is_some_and(|usage| usage.sent() > 0))
}

/// Returns true if a row is the same as another one or belongs to the same response.
pub(super) fn is_same_response(session: &Session, one: u32, other: u32) -> bool {
    let message = session.rows[one as usize].message;
    one == other || message.is_some() && session.rows[other as usize].message == message
}

/// Returns true if the last bill of the window is still an estimate that a change wrote: the log says so, or the bill itself, as in a fork.
pub fn is_bill_changed(reading: &Analysis, history: &History) -> bool {
    let session = &reading.session;
    let Some(place) = last_bill(session, &reading.window.rows) else { return false };
    let last = reading.window.rows[place];
    let mut response = (0..session.rows.len() as u32).filter(|row| is_same_response(session, last, *row));
    if session.rows[last as usize].flags.any(Flags::ESTIMATED_BILL) {
        return true;
    }
    if history.operations.is_empty() {
        return false;
    }
    let addresses = Addresses::new(session);
    response.any(|row| {
        let edits = || history.edits().filter(|edit| edit.slot == Slot::Usage && Some(edit.row) == addresses.any(row));
        // The change is undone if the last value equals the one before the first edit.
        edits().next().map(|edit| edit.before) != edits().next_back().map(|edit| edit.after)
    })
}

/// Returns the row of the last bill among rows that are sent in this order, if changes of the log altered what is before it since it was
/// written, and none of them wrote an estimate in its place: after a rewind or in a fork, it counts what is no longer there.
pub fn outdated_bill(session: &Session, rows: &[u32], history: &History) -> Option<u32> {
    if history.operations.is_empty() {
        return None;
    }
    let place = last_bill(session, rows)?;
    let (last, addresses) = (rows[place], Addresses::new(session));
    let row = |edit: &LoggedEdit| addresses.row(edit.row);
    let settles =
        |edit: &LoggedEdit| edit.slot == Slot::Usage && row(edit).is_some_and(|row| is_same_response(session, last, row));
    let settled = history.operations.iter().rposition(|operation| operation.edits.iter().any(settles));
    let later = history.operations.iter().skip(settled.map_or(0, |place| place + 1)).filter(|operation| {
        let end = operation.last_row.and_then(|id| addresses.row_of(id));
        end.is_none_or(|end| end >= last)
    });
    let before: FxHashSet<u32> = rows[..place].iter().copied().collect();
    let alters = |edit: &&LoggedEdit| {
        let row = row(edit);
        match edit.slot {
            Slot::Parent => row.is_some_and(|row| row == last || before.contains(&row)),
            Slot::Line | Slot::Message => row.is_some_and(|row| before.contains(&row)),
            slot => slot.index().is_some() && row.is_some_and(|row| before.contains(&row)),
        }
    };
    // The value of each slot before and after these changes, and its tokens.
    let mut values: FxHashMap<(RowAddress, Slot), [Valued; 2]> = FxHashMap::default();
    for edit in later.flat_map(|operation| &operation.edits).filter(alters) {
        let [was, is] = edit.change.as_ref().map_or([0.0, f64::MAX], |change| [change.tokens_before, change.tokens_after]);
        let value = values.entry((edit.row, edit.slot)).or_insert([(edit.before, was), (edit.after, is)]);
        value[1] = (edit.after, is);
    }
    let differs = |[was, is]: &[Valued; 2]| was.0 != is.0 && (was.1 - is.1).abs() > ROUNDING;
    values.values().any(differs).then_some(last)
}
