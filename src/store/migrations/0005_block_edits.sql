-- The changes of blocks of each operation by their contents, apart from the rows and the format of its file: a JSON array,
-- compressed by zstd. Operations of earlier versions, and those that restore exact bytes, have none.
CREATE TABLE block_edits (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (session, operation)
) WITHOUT ROWID;
