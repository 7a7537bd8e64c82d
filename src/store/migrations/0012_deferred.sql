-- Operations that are logged before they are written to their file: 1 for such an operation, also after it was written. If the write of
-- such an operation is aborted, it is deferred again.
ALTER TABLE operations ADD COLUMN deferred INTEGER;
