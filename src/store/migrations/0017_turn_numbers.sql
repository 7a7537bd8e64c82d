-- The numbers of turns before an operation added or removed rows: `turn` is the identity of the first row of the turn.
CREATE TABLE turn_numbers (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    turn BLOB NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
