-- Operations on a session file that a client had open: the client continues with the copy in its memory until it reads the file again.
CREATE TABLE live_operations (
    session INTEGER NOT NULL REFERENCES sessions (id),
    operation INTEGER NOT NULL,
    -- The process of the client.
    process INTEGER NOT NULL,
    -- When the client was first known to have read the file since, in milliseconds since 1970; no value until then.
    loaded INTEGER,
    PRIMARY KEY (session, operation)
) WITHOUT ROWID;
