//! Tables of runs that several machines play. The columns are described in docs/guide/scale.md.

/// Tables of the queue, in the order of their references. They refer to `runs` and extend `calls`.
pub(super) const QUEUE_TABLES: &str = "
CREATE TABLE contents (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE queues (
    run     BIGINT PRIMARY KEY REFERENCES runs (run) ON DELETE CASCADE,
    state   TEXT NOT NULL CHECK (state IN ('open', 'paused', 'closed')),
    program TEXT NOT NULL,
    files   TEXT NOT NULL,
    claim_before BIGINT,
    note    TEXT
);

CREATE TABLE workers (
    worker   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run      BIGINT NOT NULL REFERENCES queues (run) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    program  TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('live', 'left', 'lost', 'dismissed')),
    subjects BIGINT[] NOT NULL,
    unable   TEXT NOT NULL,
    lease_s  DOUBLE PRECISION NOT NULL,
    expires  TIMESTAMPTZ NOT NULL,
    finished BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX workers_of_run ON workers (run);

CREATE TABLE jobs (
    run     BIGINT NOT NULL,
    n       BIGINT NOT NULL,
    subject BIGINT NOT NULL,
    worker  BIGINT,
    attempt BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (run, n)
) WITH (fillfactor = 70);

CREATE TABLE budgets (
    run        BIGINT PRIMARY KEY REFERENCES queues (run) ON DELETE CASCADE,
    cap        BIGINT,
    spent      BIGINT NOT NULL,
    reserved   BIGINT NOT NULL,
    unreadable BIGINT NOT NULL DEFAULT 0,
    impossible BIGINT NOT NULL DEFAULT 0,
    cheapest_refused BIGINT
) WITH (fillfactor = 50);

CREATE TABLE vendors (
    vendor       TEXT PRIMARY KEY,
    at_once      DOUBLE PRECISION,
    paused_until TIMESTAMPTZ,
    strikes      BIGINT NOT NULL DEFAULT 0,
    halvings     BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

ALTER TABLE calls ADD COLUMN worker BIGINT, ADD COLUMN vendor TEXT;
CREATE INDEX calls_open ON calls (run, worker) WHERE state = 'reserved';
CREATE INDEX calls_by_vendor ON calls (vendor) WHERE state = 'reserved';
";
