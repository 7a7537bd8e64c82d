-- Changes of memory trees, numbered in one sequence, so that a number names one change in all trees of the user.
CREATE TABLE memory_operations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The canonical path of the tree.
    tree TEXT NOT NULL,
    state TEXT NOT NULL,
    time INTEGER NOT NULL,
    command TEXT NOT NULL,
    actor TEXT NOT NULL,
    inverts INTEGER
);
CREATE INDEX memory_operations_by_tree ON memory_operations (tree, number);

-- The files that an operation changed, with their bytes before and after; a file without an address does not exist.
CREATE TABLE memory_changes (
    operation INTEGER NOT NULL REFERENCES memory_operations (number),
    path TEXT NOT NULL,
    before BLOB,
    after BLOB,
    PRIMARY KEY (operation, path)
) WITHOUT ROWID;

-- These bytes by BLAKE3, compressed with zstd.
CREATE TABLE memory_contents (
    address BLOB PRIMARY KEY,
    content BLOB NOT NULL
) WITHOUT ROWID;
