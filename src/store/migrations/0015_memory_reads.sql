-- The memories that sessions received, each with the last time.
CREATE TABLE memory_reads (
    -- The canonical path of the tree.
    tree TEXT NOT NULL,
    memory INTEGER NOT NULL,
    session TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (tree, memory, session)
) WITHOUT ROWID;
