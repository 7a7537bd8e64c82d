//! Data of a session file that no request has.

use schemars::JsonSchema;
use serde::Serialize;

/// A kind of data that the client neither sends nor needs to resume a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unneeded {
    CompactedRows,
    /// Long texts in the copies of results that the client stores for its screen.
    DisplayCopies,
    /// Snapshots of files for a rewind to a row before the last compaction.
    FileSnapshots,
    /// Records of requests before the last compaction.
    RequestRecords,
}

/// An amount of data that left a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RemovedAmount")]
pub struct UnneededAmount {
    /// Number of rows, or of results.
    pub count: usize,
    /// Bytes in the file.
    pub bytes: u64,
}

/// Data that left a file although the window stays the same, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RemovedData")]
pub struct UnneededData {
    /// Rows before the last compaction, except each prompt and the last answer to it.
    pub compacted_rows: UnneededAmount,
    /// Long texts in the copies of results that the client stores for its screen.
    pub display_copies: UnneededAmount,
    /// Snapshots of files for a rewind to before the last compaction.
    pub file_snapshots: UnneededAmount,
    /// Records of requests before the last compaction.
    pub request_records: UnneededAmount,
}

impl UnneededData {
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

    pub fn bytes(&self) -> u64 {
        let amounts = [self.compacted_rows, self.display_copies, self.file_snapshots, self.request_records];
        amounts.iter().map(|amount| amount.bytes).sum()
    }
}
