DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS turns;
DROP TABLE IF EXISTS segments;
DROP TABLE IF EXISTS words;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    identity BLOB NOT NULL,
    stamp INTEGER NOT NULL,
    state BLOB NOT NULL,
    fingerprint INTEGER NOT NULL
);
CREATE INDEX fingerprints ON files (fingerprint);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    number INTEGER NOT NULL,
    continues INTEGER,
    block INTEGER NOT NULL,
    time INTEGER NOT NULL,
    start INTEGER NOT NULL,
    content BLOB NOT NULL,
    is_left INTEGER NOT NULL
);
CREATE INDEX turns_of_file ON turns (file, number);
CREATE INDEX continued_turns ON turns (id, continues) WHERE continues IS NOT NULL;
CREATE TABLE segments (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE words (segment INTEGER NOT NULL, word TEXT NOT NULL, postings BLOB NOT NULL, PRIMARY KEY (segment, word)) WITHOUT ROWID;
