-- Messages of the model that a client reported in a hook before it wrote their rows.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (id),
    -- The last row of the user side in the file at that time; zeros without one.
    after BLOB NOT NULL,
    -- How many prompts can come between that row and the message.
    prompts INTEGER NOT NULL,
    -- The BLAKE3 of the text.
    content BLOB NOT NULL,
    -- The row of the message, as soon as the file has it.
    row BLOB,
    UNIQUE (session, after, content)
);

-- The message that a command was found in, if it was found before the row. Until then, (row, block, place) is (a key made of the
-- message's id, 0, the offset in its text); from then on it is the place in the file.
ALTER TABLE proposals ADD COLUMN message INTEGER REFERENCES messages (id);
CREATE INDEX proposals_by_message ON proposals (message) WHERE message IS NOT NULL;

-- The last row of the conversation when the model was last told the manifest of a session; zeros without one.
CREATE TABLE manifests (
    session INTEGER PRIMARY KEY REFERENCES sessions (id),
    after BLOB NOT NULL
);
