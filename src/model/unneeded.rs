//! Data of a session file that no request has.

/// A kind of data that the client neither sends nor needs to resume a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unneeded {
    /// Rows before the last compaction.
    CompactedRows,
    /// Long texts in the copies of results that the client stores for its screen.
    DisplayCopies,
    /// Snapshots of files for a rewind to a row before the last compaction.
    FileSnapshots,
    /// Records of requests before the last compaction.
    RequestRecords,
}

/// An amount of such data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnneededAmount {
    /// The number of rows, or of values in rows.
    pub count: usize,
    /// Their bytes in the file.
    pub bytes: u64,
}

/// The amount of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnneededData {
    /// Of [`Unneeded::CompactedRows`].
    pub compacted_rows: UnneededAmount,
    /// Of [`Unneeded::DisplayCopies`].
    pub display_copies: UnneededAmount,
    /// Of [`Unneeded::FileSnapshots`].
    pub file_snapshots: UnneededAmount,
    /// Of [`Unneeded::RequestRecords`].
    pub request_records: UnneededAmount,
}

impl UnneededData {
    /// Adds a row or a value.
    pub fn add(&mut self, kind: Unneeded, bytes: u64) {
        let amount = match kind {
            Unneeded::CompactedRows => &mut self.compacted_rows,
            Unneeded::DisplayCopies => &mut self.display_copies,
            Unneeded::FileSnapshots => &mut self.file_snapshots,
            Unneeded::RequestRecords => &mut self.request_records,
        };
        amount.count += 1;
        amount.bytes += bytes;
    }

    /// Returns the bytes of all kinds.
    pub fn bytes(&self) -> u64 {
        [self.compacted_rows, self.display_copies, self.file_snapshots, self.request_records]
            .map(|amount| amount.bytes)
            .iter()
            .sum()
    }
}
