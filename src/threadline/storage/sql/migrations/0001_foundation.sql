-- The foundation: where things are said, who says them, sessions, turns, messages,
-- deliveries, and the feed. Moments are microseconds since 1970 in UTC. There are no booleans:
-- a state, a cause or a moment tells more.
--
-- Written for SQLite. For PostgreSQL the types are translated when the file is read, and a line
-- that ends in "-- postgres" or "-- sqlite" is for that database alone.

CREATE TABLE addresses (
    key        INTEGER PRIMARY KEY,
    platform   TEXT NOT NULL,
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    chat       TEXT NOT NULL,
    thread     TEXT NOT NULL,
    alt_chat   TEXT,
    parent     TEXT,
    scope      TEXT,
    chat_name  TEXT,
    topic      TEXT,
    UNIQUE (platform, account, kind, chat, thread)
) STRICT;

CREATE TABLE senders (
    key           INTEGER PRIMARY KEY,
    platform      TEXT NOT NULL,
    id            TEXT NOT NULL,
    name          TEXT,
    first_seen_at INTEGER NOT NULL,
    UNIQUE (platform, id)
) STRICT;

CREATE TABLE sessions (
    key              INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    profile          TEXT NOT NULL,
    platform         TEXT NOT NULL,
    kind             TEXT NOT NULL,
    address_key      INTEGER NOT NULL REFERENCES addresses (key),
    -- Whose conversation it is; none: it belongs to everybody in its chat.
    sender_key       INTEGER REFERENCES senders (key),
    parent_key       INTEGER REFERENCES sessions (key),
    root_key         INTEGER REFERENCES sessions (key),
    cause            TEXT NOT NULL,
    opened_at        INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    ended_at         INTEGER,
    end_reason       TEXT,
    suspended_at     INTEGER,
    -- The cause that the person has yet to be told, and when that was done.
    notice           TEXT,
    told_at          INTEGER,
    title            TEXT,
    titled_by        TEXT,
    summary          TEXT,
    model            TEXT,
    provider         TEXT,
    base_url         TEXT,
    busy_mode        TEXT,
    last_seq         INTEGER NOT NULL DEFAULT 0,
    revision         INTEGER NOT NULL DEFAULT 0,
    -- Interruptions in a row; three suspend the session.
    interruptions    INTEGER NOT NULL DEFAULT 0,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CHECK ((title IS NULL) = (titled_by IS NULL))
) STRICT;

CREATE INDEX sessions_by_activity ON sessions (profile, last_activity_at DESC, key DESC);
CREATE INDEX sessions_open ON sessions (platform, kind, last_activity_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_of_sender ON sessions (sender_key);
CREATE INDEX sessions_of_address ON sessions (address_key);

CREATE TABLE bindings (
    route       TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    bound_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX bindings_of_session ON bindings (session_key);

CREATE TABLE turns (
    id             INTEGER PRIMARY KEY,
    session_key    INTEGER NOT NULL REFERENCES sessions (key),
    address_key    INTEGER NOT NULL REFERENCES addresses (key),
    state          TEXT NOT NULL CHECK (state IN
        ('queued', 'running', 'waiting', 'done', 'failed', 'stopped', 'interrupted')),
    -- The running turn that this one was meant to steer, and the one that took it up.
    steers         INTEGER,
    answered_by    INTEGER,
    attempts       INTEGER NOT NULL DEFAULT 0,
    fence          INTEGER NOT NULL DEFAULT 0,
    owner          TEXT,
    lease_until    INTEGER,
    queued_at      INTEGER NOT NULL,
    started_at     INTEGER,
    interrupted_at INTEGER,
    ended_at       INTEGER,
    first_seq      INTEGER,
    question       TEXT,
    asked_at       INTEGER,
    answer         TEXT,
    error          TEXT,
    CHECK ((owner IS NULL) = (lease_until IS NULL)),
    CHECK ((ended_at IS NULL) = (state IN ('queued', 'running', 'waiting', 'interrupted')))
) STRICT;

CREATE UNIQUE INDEX one_turn_at_a_time ON turns (session_key) WHERE state IN ('running', 'waiting');
CREATE INDEX turns_of_session ON turns (session_key, id);
CREATE INDEX turns_unfinished ON turns (session_key, id) WHERE ended_at IS NULL;
CREATE INDEX turns_queued ON turns (id) WHERE state = 'queued';

CREATE TABLE messages (
    key         INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    -- None while the message waits for its turn to begin.
    seq         INTEGER,
    turn_id     INTEGER,
    role        TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    sender_key  INTEGER REFERENCES senders (key),
    -- What a person reads and a search finds; the parts only where they are more than that.
    text        TEXT NOT NULL,
    parts       TEXT,
    at          INTEGER NOT NULL,
    changed_at  INTEGER,
    deleted_at  INTEGER,
    UNIQUE (session_key, seq)
) STRICT;

CREATE TABLE revisions (
    message_key INTEGER NOT NULL REFERENCES messages (key),
    version     INTEGER NOT NULL,
    text        TEXT NOT NULL,
    parts       TEXT,
    replaced_at INTEGER NOT NULL,
    PRIMARY KEY (message_key, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE arrivals (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    account     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    message_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    session_key INTEGER,
    turn_id     INTEGER,
    message_key INTEGER,
    PRIMARY KEY (profile, platform, account, chat, message_id, kind, version)
) STRICT, WITHOUT ROWID;

-- Edits and deletions that came before their message.
CREATE TABLE early_changes (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    account     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    message_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    text        TEXT NOT NULL,
    parts       TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (profile, platform, account, chat, message_id, kind, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
    turn_id INTEGER NOT NULL REFERENCES turns (id),
    n       INTEGER NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    key                INTEGER PRIMARY KEY,
    session_key        INTEGER NOT NULL REFERENCES sessions (key),
    turn_id            INTEGER,
    at                 INTEGER NOT NULL,
    task               TEXT NOT NULL,
    provider           TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    prompt_tokens      INTEGER NOT NULL,
    -- Billionths of a US dollar.
    cost               INTEGER,
    cost_status        TEXT NOT NULL
) STRICT;

CREATE INDEX usage_of_session ON usage (session_key, key);

CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    turn_id     INTEGER NOT NULL REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    state       TEXT NOT NULL CHECK (state IN
        ('pending', 'sending', 'sent', 'failed', 'abandoned')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER,
    owed_at     INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    sent_at     INTEGER,
    notice      TEXT,
    platform_id TEXT,
    repeated_at INTEGER,
    error       TEXT,
    UNIQUE (turn_id, address_key),
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT;

CREATE INDEX deliveries_owed ON deliveries (due_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_in_order ON deliveries (address_key, id)
    WHERE state IN ('pending', 'sending');

CREATE TABLE holds (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    holder      TEXT NOT NULL,
    held_until  INTEGER NOT NULL,
    PRIMARY KEY (session_key, holder)
) STRICT, WITHOUT ROWID;

-- Every ending of a session, until whoever wants to know of it has been told.
CREATE TABLE endings (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    reason      TEXT NOT NULL,
    ended_at    INTEGER NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    due_at      INTEGER NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    error       TEXT
) STRICT;

CREATE INDEX endings_untold ON endings (due_at, id) WHERE state IN ('pending', 'running');

CREATE TABLE blobs (
    hash      TEXT PRIMARY KEY,
    size      INTEGER NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_chunks (
    hash TEXT NOT NULL,
    n    INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (hash, n)
) STRICT;

CREATE TABLE blob_uses (
    hash        TEXT NOT NULL REFERENCES blobs (hash),
    message_key INTEGER NOT NULL REFERENCES messages (key),
    PRIMARY KEY (hash, message_key)
) STRICT, WITHOUT ROWID;

-- The newest event is never deleted, so that ids go on from it.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    xid         xid8 NOT NULL DEFAULT pg_current_xact_id(), -- postgres
    kind        TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    subject     INTEGER,
    at          INTEGER NOT NULL
) STRICT;

CREATE INDEX events_in_order ON events (xid, id); -- postgres

-- How far the feed has been pruned: a cursor before this place has missed something.
CREATE TABLE feed_floor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    xid xid8 NOT NULL DEFAULT '0', -- postgres
    id  INTEGER NOT NULL
) STRICT;

INSERT INTO feed_floor (one, id) VALUES (1, 0);
