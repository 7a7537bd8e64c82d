//! Maps rows to addresses and addresses to rows.

use crate::model::{AddressCounter, BlockAddress, Key, RowAddress, Session};
use rustc_hash::FxHashMap;

/// The placeholder identity of rows without one. Such rows are distinguished by their order, which no client changes.
pub const NAMELESS: Key = Key(0);

/// The two-way mapping between rows and addresses.
pub struct Addresses {
    by_row: Vec<RowAddress>,
    rows: FxHashMap<RowAddress, u32>,
}

impl Addresses {
    /// Creates the mapping for the rows of a session.
    pub fn new(session: &Session) -> Addresses {
        let mut counter = AddressCounter::default();
        let mut rows = FxHashMap::default();
        let by_row = session.rows.iter().zip(0u32..).map(|(row, place)| {
            let BlockAddress { content: id, occurrence } = counter.next(row.id.unwrap_or(NAMELESS));
            let address = RowAddress { id, occurrence };
            rows.insert(address, place);
            address
        });
        Addresses { by_row: by_row.collect(), rows }
    }

    pub fn address(&self, row: u32) -> Option<RowAddress> {
        self.any(row).filter(|address| address.id != NAMELESS)
    }

    /// Returns the address of a row, including rows without an identity, which are addressed by their order.
    pub fn any(&self, row: u32) -> Option<RowAddress> {
        self.by_row.get(row as usize).copied()
    }

    pub fn row(&self, address: RowAddress) -> Option<u32> {
        self.rows.get(&address).copied()
    }

    /// Returns the first row with an identity.
    pub fn row_of(&self, id: Key) -> Option<u32> {
        self.row(RowAddress { id, occurrence: 0 })
    }
}
