-- The contents that each operation adds to the requests of its session, removes from them or joins differently: a JSON object,
-- compressed by zstd. Operations of earlier versions, and those that restore exact bytes, have none.
CREATE TABLE window_changes (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (session, operation)
) WITHOUT ROWID;
