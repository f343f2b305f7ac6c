-- The web: who may use it, how they prove it, what they did, and pages that are shared.

-- Who may use the web app and the HTTP API.
CREATE TABLE accounts (
    key           INTEGER PRIMARY KEY,
    name          TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    -- The profile that it belongs to; none: all of them.
    profile       TEXT,
    -- Argon2id, with its own salt and costs.
    password_hash TEXT,
    made_at       INTEGER NOT NULL,
    ended_at      INTEGER
) STRICT;

CREATE UNIQUE INDEX accounts_by_name ON accounts (name) WHERE ended_at IS NULL;

-- Links that log in once. Of the secret only a hash is kept, here and below.
CREATE TABLE login_links (
    secret_hash TEXT PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    made_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;

-- Browsers that are logged in.
CREATE TABLE logins (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    secret_hash TEXT NOT NULL UNIQUE,
    device      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

CREATE INDEX logins_of_account ON logins (account_key, key) WHERE ended_at IS NULL;

CREATE TABLE passkeys (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    name        TEXT NOT NULL,
    -- Base64, as the browser names and shows them.
    credential  TEXT NOT NULL UNIQUE,
    public_key  TEXT NOT NULL,
    sign_count  INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER
) STRICT;

CREATE INDEX passkeys_of_account ON passkeys (account_key, key);

CREATE TABLE api_tokens (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    secret_hash TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    -- A JSON list.
    scopes      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER,
    expires_at  INTEGER,
    ended_at    INTEGER
) STRICT;

CREATE INDEX api_tokens_of_account ON api_tokens (account_key, key) WHERE ended_at IS NULL;

-- Wrong passwords and links: whoever guesses has to wait.
CREATE TABLE login_mistakes (
    key INTEGER PRIMARY KEY,
    -- The account's name, or where the guess came from, as a keyed hash.
    who TEXT NOT NULL,
    at  INTEGER NOT NULL
) STRICT;

CREATE INDEX login_mistakes_by_time ON login_mistakes (who, at);

-- Administrative acts.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    account_key INTEGER REFERENCES accounts (key),
    act         TEXT NOT NULL,
    subject     TEXT NOT NULL,
    detail      TEXT NOT NULL
) STRICT;

-- How many questions a turn has asked: a button names one of them, and answers no later one.
ALTER TABLE turns ADD COLUMN questions INTEGER NOT NULL DEFAULT 0;

-- What came of requests that make something, so that the same one again makes nothing new.
CREATE TABLE outcomes (
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    idempotency_key TEXT NOT NULL,
    -- What was asked, as a hash: the same key for something else is a mistake.
    request_hash TEXT NOT NULL,
    -- Who is at it; of two who began it one after the other only the later one may end it.
    claim       TEXT NOT NULL,
    -- 0: it is under way.
    status      INTEGER NOT NULL,
    answer      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (account_key, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX outcomes_by_time ON outcomes (at);

-- Pages that are shared: redacted, written once, never changed.
CREATE TABLE shares (
    id          TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    account_key INTEGER REFERENCES accounts (key),
    title       TEXT NOT NULL,
    page        TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX shares_of_session ON shares (session_key);

CREATE INDEX shares_by_time ON shares (made_at, id);
