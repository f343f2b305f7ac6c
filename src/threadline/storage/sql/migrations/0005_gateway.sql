-- The gateway: what is owed outside of a turn and how far it was carried, who may speak, jobs,
-- commands that wait, and who serves.

-- A delivery carries a stretch of what its turn said, or words of its own: a question, the answer
-- to a command, something sent by hand. One that is streamed grows, and has no end yet.
ALTER TABLE deliveries ALTER COLUMN session_key DROP NOT NULL; -- postgres
ALTER TABLE deliveries ALTER COLUMN turn_id DROP NOT NULL; -- postgres
ALTER TABLE deliveries ADD COLUMN part INTEGER NOT NULL DEFAULT 0; -- postgres
ALTER TABLE deliveries ADD COLUMN after_seq INTEGER NOT NULL DEFAULT 0; -- postgres
ALTER TABLE deliveries ADD COLUMN until_seq INTEGER DEFAULT 9223372036854775807; -- postgres
ALTER TABLE deliveries ALTER COLUMN until_seq DROP DEFAULT; -- postgres
ALTER TABLE deliveries ADD COLUMN text TEXT; -- postgres
ALTER TABLE deliveries ADD COLUMN parts TEXT; -- postgres
ALTER TABLE deliveries ADD COLUMN sender_key INTEGER REFERENCES senders (key); -- postgres
ALTER TABLE deliveries ADD COLUMN streamed_by TEXT; -- postgres
ALTER TABLE deliveries DROP CONSTRAINT deliveries_turn_id_address_key_key; -- postgres
ALTER TABLE deliveries ADD UNIQUE (turn_id, address_key, part); -- postgres
CREATE TABLE deliveries_owed_anew ( -- sqlite
    id          INTEGER PRIMARY KEY, -- sqlite
    session_key INTEGER, -- sqlite
    turn_id     INTEGER REFERENCES turns (id), -- sqlite
    address_key INTEGER NOT NULL REFERENCES addresses (key), -- sqlite
    state       TEXT NOT NULL CHECK (state IN -- sqlite
        ('pending', 'sending', 'sent', 'failed', 'abandoned')), -- sqlite
    attempts    INTEGER NOT NULL DEFAULT 0, -- sqlite
    fence       INTEGER NOT NULL DEFAULT 0, -- sqlite
    owner       TEXT, -- sqlite
    lease_until INTEGER, -- sqlite
    owed_at     INTEGER NOT NULL, -- sqlite
    due_at      INTEGER NOT NULL, -- sqlite
    sent_at     INTEGER, -- sqlite
    notice      TEXT, -- sqlite
    platform_id TEXT, -- sqlite
    repeated_at INTEGER, -- sqlite
    error       TEXT, -- sqlite
    -- Which one of its turn at this address, counted from 0. -- sqlite
    part        INTEGER NOT NULL DEFAULT 0, -- sqlite
    -- The lines that it carries: after the first of these, up to the second. -- sqlite
    after_seq   INTEGER NOT NULL DEFAULT 0, -- sqlite
    until_seq   INTEGER, -- sqlite
    -- Words of its own, gone as soon as it has reached its end. -- sqlite
    text        TEXT, -- sqlite
    parts       TEXT, -- sqlite
    -- Whose command it answers, so that it is forgotten with them. -- sqlite
    sender_key  INTEGER REFERENCES senders (key), -- sqlite
    -- The process that streams it, or did: it carries it on before all others. -- sqlite
    streamed_by TEXT, -- sqlite
    UNIQUE (turn_id, address_key, part), -- sqlite
    CHECK ((owner IS NULL) = (lease_until IS NULL)) -- sqlite
) STRICT; -- sqlite
INSERT INTO deliveries_owed_anew -- sqlite
    SELECT id, session_key, turn_id, address_key, state, attempts, fence, owner, lease_until, -- sqlite
           owed_at, due_at, sent_at, notice, platform_id, repeated_at, error, -- sqlite
           0, 0, 9223372036854775807, NULL, NULL, NULL, NULL FROM deliveries; -- sqlite
DROP TABLE deliveries; -- sqlite
ALTER TABLE deliveries_owed_anew RENAME TO deliveries; -- sqlite
CREATE INDEX deliveries_owed ON deliveries (due_at, id) WHERE state = 'pending'; -- sqlite
CREATE INDEX deliveries_in_order ON deliveries (address_key, id) -- sqlite
    WHERE state IN ('pending', 'sending'); -- sqlite
CREATE INDEX deliveries_without_turn ON deliveries (address_key) WHERE turn_id IS NULL;
CREATE INDEX deliveries_of_session ON deliveries (session_key, id) WHERE turn_id IS NULL;
CREATE INDEX deliveries_undelivered ON deliveries (owed_at) WHERE state IN ('failed', 'abandoned');
CREATE INDEX deliveries_of_sender ON deliveries (sender_key) WHERE sender_key IS NOT NULL;
CREATE INDEX deliveries_streamed ON deliveries (streamed_by, id) WHERE streamed_by IS NOT NULL;

-- Every message that a platform has taken of a delivery, in order.
CREATE TABLE delivery_pieces (
    delivery_id INTEGER NOT NULL REFERENCES deliveries (id),
    n           INTEGER NOT NULL,
    platform_id TEXT,
    -- How many characters of the whole are in it.
    length      INTEGER NOT NULL,
    sent_at     INTEGER NOT NULL,
    PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;

-- Where an answer goes that does not go back to where it was asked: the targets of a job.
CREATE TABLE turn_targets (
    turn_id     INTEGER NOT NULL REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    PRIMARY KEY (turn_id, address_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX turns_waiting ON turns (id) WHERE state = 'waiting';

-- Since when nothing can be sent there, until something can again.
ALTER TABLE addresses ADD COLUMN dead_at INTEGER;
ALTER TABLE addresses ADD COLUMN dead_why TEXT;
CREATE INDEX addresses_dead ON addresses (dead_at, key) WHERE dead_at IS NOT NULL;

-- By what id the platform knows the message, and which one it answers.
ALTER TABLE messages ADD COLUMN platform_id TEXT;
ALTER TABLE messages ADD COLUMN reply_to TEXT;

-- Where a platform's unasked messages go.
CREATE TABLE homes (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (profile, platform)
) STRICT, WITHOUT ROWID;

-- Who was let in by the owner, beside those whom the settings name.
CREATE TABLE grants (
    profile    TEXT NOT NULL,
    platform   TEXT NOT NULL,
    sender_id  TEXT NOT NULL,
    name       TEXT,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (profile, platform, sender_id)
) STRICT, WITHOUT ROWID;

-- Who answers for a sender whom neither settings nor grants name, as of when they spoke last.
ALTER TABLE senders ADD COLUMN vouched_by TEXT CHECK (vouched_by IN ('role', 'relay'));

-- Who asked to be let in. The code itself is shown to them alone.
CREATE TABLE pairings (
    profile    TEXT NOT NULL,
    platform   TEXT NOT NULL,
    sender_id  TEXT NOT NULL,
    name       TEXT,
    code_hash  TEXT NOT NULL,
    asked_at   INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (profile, platform, sender_id)
) STRICT, WITHOUT ROWID;

-- Wrong codes that were given for approval.
CREATE TABLE pairing_mistakes (
    key      INTEGER PRIMARY KEY,
    profile  TEXT NOT NULL,
    platform TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;

CREATE INDEX pairing_mistakes_by_time ON pairing_mistakes (profile, platform, at);

-- Prompts that are asked by themselves.
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    name        TEXT NOT NULL,
    prompt      TEXT NOT NULL,
    -- A cron expression, an interval or a moment, as it was written.
    schedule    TEXT NOT NULL,
    timezone    TEXT NOT NULL,
    -- Where the answer goes, as it was written.
    target      TEXT NOT NULL,
    mirror      TEXT NOT NULL CHECK (mirror IN ('none', 'target')),
    -- Where it was made, and by whom; none: by the owner, elsewhere.
    address_key INTEGER REFERENCES addresses (key),
    sender_key  INTEGER REFERENCES senders (key),
    made_at     INTEGER NOT NULL,
    paused_at   INTEGER,
    -- When it is asked next; none: never again.
    next_at     INTEGER
) STRICT;

CREATE INDEX jobs_due ON jobs (next_at) WHERE paused_at IS NULL AND next_at IS NOT NULL;

-- Every time that a job was due.
CREATE TABLE job_runs (
    id          INTEGER PRIMARY KEY,
    job_id      INTEGER NOT NULL REFERENCES jobs (id),
    state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'skipped')),
    due_at      INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    session_key INTEGER,
    turn_id     INTEGER,
    -- Why it failed or was skipped, or which of its targets could not be had.
    why         TEXT,
    CHECK ((ended_at IS NULL) = (state = 'running'))
) STRICT;

CREATE INDEX job_runs_of_job ON job_runs (job_id, id);
CREATE UNIQUE INDEX job_runs_under_way ON job_runs (job_id) WHERE state = 'running';
CREATE INDEX job_runs_of_session ON job_runs (session_key) WHERE session_key IS NOT NULL;

-- Commands that wait until what was asked before them has been answered.
CREATE TABLE waiting_commands (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    -- The last turn that had been asked for when it came.
    after_turn  INTEGER NOT NULL,
    -- Who may what: the rank of the asker when it came.
    rank        TEXT NOT NULL,
    platform    TEXT NOT NULL,
    sender_id   TEXT,
    -- The whole message, as JSON.
    inbound     TEXT NOT NULL
) STRICT;

CREATE INDEX waiting_commands_of_session ON waiting_commands (session_key, id);
CREATE INDEX waiting_commands_of_sender ON waiting_commands (platform, sender_id);

-- The gateways that serve this store, and how their platforms are.
CREATE TABLE gateways (
    owner      TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    version    TEXT NOT NULL,
    url        TEXT,
    -- Their states, as a JSON object by name.
    platforms  TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which hooks have been told of an ending, while others have yet to be.
CREATE TABLE ending_tellings (
    ending_id INTEGER NOT NULL REFERENCES endings (id),
    hook      TEXT NOT NULL,
    PRIMARY KEY (ending_id, hook)
) STRICT, WITHOUT ROWID;

-- How far those who are told of everything have come, and which process tells them.
CREATE TABLE followers (
    name        TEXT PRIMARY KEY,
    cursor      TEXT NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT, WITHOUT ROWID;
