-- The last row of the conversation when a prompt was last held because the cache was cold; zeros without one.
CREATE TABLE held_prompts (
    session INTEGER PRIMARY KEY REFERENCES sessions (id),
    after BLOB NOT NULL
);
