-- What each operation did to the bytes of its file, so that it is inverted and replayed without a decision. Operations of
-- earlier versions have no delta.

-- The file before the operation: its length and the BLAKE3 of its bytes.
ALTER TABLE operations ADD COLUMN base_bytes INTEGER;
ALTER TABLE operations ADD COLUMN base_hash BLOB;
-- For an exact undo, redo or restore: the operation after which the file had the same state, 0 for the original.
ALTER TABLE operations ADD COLUMN point INTEGER;

-- Bytes that an operation replaced, in file order; the offset counts from the beginning of the file before the operation.
-- No address stands for no bytes.
CREATE TABLE hunks (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    before BLOB,
    after BLOB,
    PRIMARY KEY (session, operation, place)
) WITHOUT ROWID;
