-- Contents in rows of their own, found by an index of addresses. In a tree that is ordered by address, SQLite read whole contents to
-- compare addresses.
CREATE TABLE new_originals (
    address BLOB PRIMARY KEY NOT NULL,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
);
INSERT INTO new_originals SELECT address, bytes, content FROM originals;
DROP TABLE originals;
ALTER TABLE new_originals RENAME TO originals;

CREATE TABLE new_memory_contents (
    address BLOB PRIMARY KEY NOT NULL,
    content BLOB NOT NULL
);
INSERT INTO new_memory_contents SELECT address, content FROM memory_contents;
DROP TABLE memory_contents;
ALTER TABLE new_memory_contents RENAME TO memory_contents;
