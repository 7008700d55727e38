//! Tables and views of a SQLite file. The columns are described in docs/guide/store.md.

/// Schema version, stored as `PRAGMA user_version`.
pub(crate) const SCHEMA_VERSION: i64 = 3;

/// Table added in version 3.
pub(crate) const AGENT_OUTPUT: &str = "
CREATE TABLE agent_output (
    run          INTEGER NOT NULL REFERENCES runs (run),
    n            INTEGER NOT NULL,
    stdout_bytes INTEGER NOT NULL,
    stderr       TEXT NOT NULL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
";

/// Tables and views but for [`AGENT_OUTPUT`].
pub(crate) const SCHEMA: &str = "
CREATE TABLE runs (
    run       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    started   TEXT NOT NULL,
    ended     TEXT,
    format    INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    claim     TEXT NOT NULL,
    settings  TEXT NOT NULL,
    plan      TEXT,
    planned   INTEGER NOT NULL,
    budget    INTEGER,
    record    TEXT,
    verdicts  TEXT
) STRICT;

CREATE TABLE trials (
    run     INTEGER NOT NULL REFERENCES runs (run),
    n       INTEGER NOT NULL,
    trial   TEXT NOT NULL,
    case_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    seed    INTEGER NOT NULL,
    passed  INTEGER,
    content TEXT NOT NULL,
    wall_us INTEGER NOT NULL,
    how     TEXT NOT NULL,
    ending  TEXT GENERATED ALWAYS AS (how ->> 'ending') VIRTUAL,
    scores  TEXT NOT NULL,
    events  TEXT NOT NULL,
    PRIMARY KEY (run, n)
) STRICT;

CREATE TABLE calls (
    run      INTEGER NOT NULL REFERENCES runs (run),
    trial    TEXT NOT NULL,
    role     TEXT NOT NULL,
    n        INTEGER NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'failed')),
    attempts INTEGER NOT NULL,
    ceiling  INTEGER NOT NULL,
    cost     INTEGER NOT NULL,
    lost     INTEGER NOT NULL,
    waited_us INTEGER,
    why      TEXT,
    reply    TEXT,
    PRIMARY KEY (run, trial, role, n)
) STRICT;

CREATE TABLE cache (
    key   TEXT PRIMARY KEY,
    at    INTEGER NOT NULL,
    reply TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry (
    run  INTEGER NOT NULL REFERENCES runs (run),
    what TEXT NOT NULL,
    n    INTEGER NOT NULL,
    PRIMARY KEY (run, what)
) STRICT, WITHOUT ROWID;

CREATE VIEW transcripts AS
    SELECT run, n, trial, case_id, subject, how, events FROM trials;

CREATE VIEW events AS
    SELECT trials.run, trials.n AS trial_n, trials.trial, trials.case_id, json_extract(value, '$.n') AS n,
           json_extract(value, '$.at_ms') AS at_ms, json_extract(value, '$.by') AS by, json_extract(value, '$.happened') AS happened
    FROM trials, json_each(trials.events);

CREATE VIEW scores AS
    SELECT trials.run, trials.n, trials.trial, trials.case_id, trials.subject, json_extract(value, '$.scorer') AS scorer,
           json_extract(value, '$.reading.tally.hit') AS hit, json_extract(value, '$.reading.tally.of') AS of,
           json_extract(value, '$.reading.level') AS level, json_extract(value, '$.reading.unscorable.why') AS unscorable,
           json_extract(value, '$.because') AS because
    FROM trials, json_each(trials.scores);
";
