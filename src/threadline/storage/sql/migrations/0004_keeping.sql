-- Keeping and deleting: what is being forgotten, what was, and what may not come back.

-- A forgetting is under way until nothing of it is left; then its certificate says what was done.
CREATE TABLE forgettings (
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('session', 'person', 'retention')),
    state       TEXT NOT NULL CHECK (state IN ('removing', 'wiping', 'done')),
    asked_at    INTEGER NOT NULL,
    done_at     INTEGER,
    -- What was removed, as a JSON object of numbers.
    counts      TEXT NOT NULL,
    -- The highest numbers that went: on SQLite they would be given again, and somebody who still
    -- holds one would meet a stranger.
    last_turn     INTEGER NOT NULL DEFAULT 0,
    last_delivery INTEGER NOT NULL DEFAULT 0,
    CHECK ((done_at IS NULL) = (state <> 'done'))
) STRICT;

CREATE INDEX forgettings_under_way ON forgettings (id) WHERE state <> 'done';
CREATE INDEX forgettings_by_turn ON forgettings (last_turn);
CREATE INDEX forgettings_by_delivery ON forgettings (last_delivery);

-- What a forgetting still has to remove: each subject is the key of a row, or a content hash.
CREATE TABLE forgetting_tasks (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    step          TEXT NOT NULL CHECK (step IN
        ('session', 'speech', 'turn', 'lines', 'blob', 'address', 'sender')),
    subject       TEXT NOT NULL,
    -- How far a long table has been looked through for it.
    seen          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (forgetting_id, step, subject)
) STRICT, WITHOUT ROWID;

-- Keyed hashes of what was forgotten, so that it is not brought in again.
CREATE TABLE tombstones (
    hash          TEXT PRIMARY KEY,
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    at            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstones_of_forgetting ON tombstones (forgetting_id);

-- Only in the news that a session was forgotten: its own row cannot tell its id any more.
ALTER TABLE events ADD COLUMN session_id TEXT;

-- By these a session and its messages are deleted without reading whole tables.
CREATE INDEX blob_uses_of_message ON blob_uses (message_key);
CREATE INDEX endings_of_session ON endings (session_key);

-- What was spent is still counted when nobody can tell any more by whom and on what.
ALTER TABLE usage ALTER COLUMN session_key DROP NOT NULL; -- postgres
CREATE TABLE usage_kept ( -- sqlite
    key                INTEGER PRIMARY KEY, -- sqlite
    session_key        INTEGER REFERENCES sessions (key), -- sqlite
    turn_id            INTEGER, -- sqlite
    at                 INTEGER NOT NULL, -- sqlite
    task               TEXT NOT NULL, -- sqlite
    provider           TEXT NOT NULL, -- sqlite
    model              TEXT NOT NULL, -- sqlite
    input_tokens       INTEGER NOT NULL, -- sqlite
    output_tokens      INTEGER NOT NULL, -- sqlite
    cache_read_tokens  INTEGER NOT NULL, -- sqlite
    cache_write_tokens INTEGER NOT NULL, -- sqlite
    reasoning_tokens   INTEGER NOT NULL, -- sqlite
    prompt_tokens      INTEGER NOT NULL, -- sqlite
    cost               INTEGER, -- sqlite
    cost_status        TEXT NOT NULL, -- sqlite
    sender_key         INTEGER REFERENCES senders (key) -- sqlite
) STRICT; -- sqlite
INSERT INTO usage_kept -- sqlite
    SELECT key, session_key, turn_id, at, task, provider, model, input_tokens, output_tokens, -- sqlite
           cache_read_tokens, cache_write_tokens, reasoning_tokens, prompt_tokens, cost, -- sqlite
           cost_status, sender_key FROM usage; -- sqlite
DROP TABLE usage; -- sqlite
ALTER TABLE usage_kept RENAME TO usage; -- sqlite
CREATE INDEX usage_of_session ON usage (session_key, key); -- sqlite
CREATE INDEX usage_by_time ON usage (at, sender_key, cost); -- sqlite

-- A delivery belongs to its turn, which belongs to a session: a second tie would need an index
-- that every turn pays for.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_session_key_fkey; -- postgres
CREATE TABLE deliveries_kept ( -- sqlite
    id          INTEGER PRIMARY KEY, -- sqlite
    session_key INTEGER NOT NULL, -- sqlite
    turn_id     INTEGER NOT NULL REFERENCES turns (id), -- sqlite
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
    UNIQUE (turn_id, address_key), -- sqlite
    CHECK ((owner IS NULL) = (lease_until IS NULL)) -- sqlite
) STRICT; -- sqlite
INSERT INTO deliveries_kept -- sqlite
    SELECT id, session_key, turn_id, address_key, state, attempts, fence, owner, lease_until, -- sqlite
           owed_at, due_at, sent_at, notice, platform_id, repeated_at, error FROM deliveries; -- sqlite
DROP TABLE deliveries; -- sqlite
ALTER TABLE deliveries_kept RENAME TO deliveries; -- sqlite
CREATE INDEX deliveries_owed ON deliveries (due_at, id) WHERE state = 'pending'; -- sqlite
CREATE INDEX deliveries_in_order ON deliveries (address_key, id) -- sqlite
    WHERE state IN ('pending', 'sending'); -- sqlite
