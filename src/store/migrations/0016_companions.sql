-- Files beside a session that an operation changed, as a whole before and after.
CREATE TABLE companions (
    session INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    path TEXT NOT NULL,
    before BLOB NOT NULL,
    after BLOB NOT NULL,
    PRIMARY KEY (session, operation, place)
) WITHOUT ROWID;
