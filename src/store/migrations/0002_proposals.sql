-- What the model asked for in its texts, and what became of it. Who carried something out stands in `operations.actor`.

-- A command that the model wrote. Its place is unique in all sessions: a fork of a session keeps the identities of its rows.
CREATE TABLE proposals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (id),
    row BLOB NOT NULL,
    block INTEGER NOT NULL,
    place INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    command TEXT NOT NULL,
    blocks TEXT NOT NULL,
    status TEXT NOT NULL,
    answer TEXT NOT NULL,
    told INTEGER NOT NULL,
    operation INTEGER,
    count INTEGER NOT NULL,
    time INTEGER NOT NULL,
    UNIQUE (row, block, place)
);
CREATE INDEX proposals_by_session ON proposals (session, number);

-- The first turn of a session of which not every command was looked at: what the model wrote before it does not count.
CREATE TABLE obeyed (
    session INTEGER PRIMARY KEY REFERENCES sessions (id),
    turn INTEGER NOT NULL
);
