-- Requests to an API that pass a proxy. A session is named as the client names it; a line is '' for the main requests of a
-- session, or the id of a subagent.
CREATE TABLE wire_lines (
    session TEXT NOT NULL,
    line TEXT NOT NULL,
    -- The operation up to which the log was in force in the last request.
    point INTEGER NOT NULL,
    -- Hashes of the thinking that is no longer sent, 16 bytes each.
    dropped BLOB NOT NULL,
    -- The reason why requests are sent as the client writes them; no value if they are changed.
    observed TEXT,
    PRIMARY KEY (session, line)
) WITHOUT ROWID;

-- Texts that requests contain beside those of the client: after which content, each in every later request.
CREATE TABLE wire_insertions (
    session TEXT NOT NULL,
    line TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- Hash of the prompt that the text follows, and the number of equal prompts before it.
    anchor BLOB NOT NULL,
    occurrence INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- When it was inserted, in milliseconds since 1970.
    time INTEGER NOT NULL,
    PRIMARY KEY (session, line, number)
) WITHOUT ROWID;

-- Texts that wait for the next prompt of a session.
CREATE TABLE staged_texts (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    text TEXT NOT NULL,
    time INTEGER NOT NULL
);
CREATE INDEX staged_texts_by_session ON staged_texts (session);

-- The proxy through which the requests of a session went last.
CREATE TABLE wire_sessions (
    session TEXT PRIMARY KEY,
    process INTEGER NOT NULL
) WITHOUT ROWID;
