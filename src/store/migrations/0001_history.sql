-- What was done to sessions, and the bytes that undo it. Never deleted but by an explicit `gc`.

-- A session file, as it was when it was first changed.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    provider TEXT NOT NULL,
    session TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL
);
CREATE INDEX sessions_by_session ON sessions (session);

-- Values of rows by BLAKE3, compressed with zstd.
CREATE TABLE originals (
    address BLOB PRIMARY KEY,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
) WITHOUT ROWID;

-- What was done, numbered by session.
CREATE TABLE operations (
    session INTEGER NOT NULL REFERENCES sessions (id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    time INTEGER NOT NULL,
    command TEXT NOT NULL,
    actor TEXT NOT NULL,
    inverts INTEGER,
    tokens_before REAL NOT NULL,
    tokens_after REAL NOT NULL,
    last_row BLOB,
    after_bytes INTEGER,
    after_hash BLOB,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;

-- Values replaced by an operation; no value stands for no row.
CREATE TABLE edits (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    row BLOB NOT NULL,
    occurrence INTEGER NOT NULL,
    slot TEXT NOT NULL,
    before BLOB,
    after BLOB,
    change TEXT,
    PRIMARY KEY (session, operation, place)
) WITHOUT ROWID;

-- Marks put on or taken off by an operation.
CREATE TABLE marks (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    row BLOB NOT NULL,
    occurrence INTEGER NOT NULL,
    block INTEGER NOT NULL,
    content BLOB NOT NULL,
    kind TEXT NOT NULL,
    before TEXT,
    after TEXT,
    number INTEGER NOT NULL,
    PRIMARY KEY (session, operation, place)
) WITHOUT ROWID;

-- Named points in the log of a session.
CREATE TABLE snapshots (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    operation INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;
