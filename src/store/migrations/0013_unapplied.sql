-- The operations whose contents the last request of a line did not have, as numbers of 4 bytes each.
ALTER TABLE wire_lines ADD COLUMN unapplied BLOB NOT NULL DEFAULT x'';
-- 1 after a hook has reported to the person that requests are no longer changed.
ALTER TABLE wire_lines ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;
