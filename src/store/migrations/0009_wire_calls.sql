-- The tool of aperture in requests that pass a proxy: if the requests of a line offer it, decided with the first one of the
-- conversation.
CREATE TABLE wire_tools (
    session TEXT NOT NULL,
    line TEXT NOT NULL,
    offered INTEGER NOT NULL,
    PRIMARY KEY (session, line)
) WITHOUT ROWID;

-- Responses with calls of that tool, which the client did not receive. Later requests contain the calls and their results.
CREATE TABLE wire_calls (
    session TEXT NOT NULL,
    line TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- The content blocks as a JSON array: a string is the hash of a block that the client received, an object is a withheld block.
    parts TEXT NOT NULL,
    -- The results as a JSON array.
    results TEXT NOT NULL,
    -- Hash of the first block that the model wrote after it; no value if the results follow with the next message of the client.
    next BLOB,
    -- When it was stored, in milliseconds since 1970.
    time INTEGER NOT NULL,
    PRIMARY KEY (session, line, number)
) WITHOUT ROWID;
