//! Rows by their address, and back.

use crate::model::{Key, RowAddress, Session};
use rustc_hash::FxHashMap;

/// The identity of rows that have none: they are told apart by their order, which no client changes.
const NAMELESS: Key = Key(0);

/// Which row has which address.
pub struct Addresses {
    by_row: Vec<RowAddress>,
    rows: FxHashMap<RowAddress, u32>,
}

impl Addresses {
    /// The addresses of the rows of a session; a row without an identity has none.
    pub fn new(session: &Session) -> Addresses {
        let mut seen: FxHashMap<Key, u32> = FxHashMap::default();
        let mut rows = FxHashMap::default();
        let by_row = session.rows.iter().zip(0u32..).map(|(row, place)| {
            let id = row.id.unwrap_or(NAMELESS);
            let occurrence = seen.entry(id).or_default();
            let address = RowAddress { id, occurrence: *occurrence };
            *occurrence += 1;
            rows.insert(address, place);
            address
        });
        Addresses { by_row: by_row.collect(), rows }
    }

    /// The address of a row that has an identity.
    pub fn of(&self, row: u32) -> Option<RowAddress> {
        self.any(row).filter(|address| address.id != NAMELESS)
    }

    /// The address of a row, whether it has an identity or only a place among those that have none.
    pub fn any(&self, row: u32) -> Option<RowAddress> {
        self.by_row.get(row as usize).copied()
    }

    /// The row with an address.
    pub fn row(&self, address: RowAddress) -> Option<u32> {
        self.rows.get(&address).copied()
    }

    /// The first row with an identity.
    pub fn row_of(&self, id: Key) -> Option<u32> {
        self.row(RowAddress { id, occurrence: 0 })
    }
}
