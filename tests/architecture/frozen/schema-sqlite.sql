CREATE TABLE accounts (
    key           INTEGER PRIMARY KEY,
    name          TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    profile       TEXT,
    password_hash TEXT,
    made_at       INTEGER NOT NULL,
    ended_at      INTEGER
) STRICT;
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
    dead_at    INTEGER,
    dead_why   TEXT,
    UNIQUE (platform, account, kind, chat, thread)
) STRICT;
CREATE TABLE aliases (
    platform   TEXT NOT NULL,
    id         TEXT NOT NULL,
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (platform, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE allowances (
    key         INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    session_key INTEGER REFERENCES sessions (key),
    tool        TEXT NOT NULL,
    allowed_at  INTEGER NOT NULL,
    sender_key  INTEGER REFERENCES senders (key)
) STRICT;
CREATE TABLE api_tokens (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    parent_key  INTEGER REFERENCES api_tokens (key),
    secret_hash TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    scopes      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER,
    expires_at  INTEGER,
    ended_at    INTEGER
) STRICT;
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
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    account_key INTEGER REFERENCES accounts (key),
    token_key   INTEGER REFERENCES api_tokens (key),
    act         TEXT NOT NULL,
    subject     TEXT NOT NULL,
    detail      TEXT NOT NULL,
    times       INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE bindings (
    route       TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    sender_key  INTEGER REFERENCES senders (key),
    bound_at    INTEGER NOT NULL
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
CREATE TABLE blobs (
    hash      TEXT PRIMARY KEY,
    size      INTEGER NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
    turn_id INTEGER NOT NULL REFERENCES turns (id),
    n       INTEGER NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at      INTEGER NOT NULL,
    steady_since INTEGER NOT NULL
) STRICT;
CREATE TABLE cuts (
    key           INTEGER PRIMARY KEY,
    session_key   INTEGER NOT NULL REFERENCES sessions (key),
    from_seq      INTEGER NOT NULL,
    to_seq        INTEGER NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('undone', 'retried', 'compacted')),
    summary       TEXT,
    user_messages INTEGER NOT NULL DEFAULT 0,
    made_at       INTEGER NOT NULL,
    lifted_at     INTEGER,
    lifted_by     INTEGER REFERENCES cuts (key),
    CHECK (from_seq <= to_seq),
    CHECK ((kind = 'compacted') = (summary IS NOT NULL))
) STRICT;
CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER,
    turn_id     INTEGER REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    part        INTEGER NOT NULL DEFAULT 0,
    state       TEXT NOT NULL CHECK (state IN
        ('pending', 'sending', 'sent', 'failed', 'abandoned')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER,
    streamed_by TEXT,
    owed_at     INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    planned_at  INTEGER NOT NULL DEFAULT 0,
    sent_at     INTEGER,
    repeated_at INTEGER,
    unheard_at  INTEGER,
    repeats     INTEGER NOT NULL DEFAULT 0,
    platform_id TEXT,
    error       TEXT,
    notice      TEXT,
    after_seq   INTEGER NOT NULL DEFAULT 0,
    until_seq   INTEGER,
    text        TEXT,
    parts       TEXT,
    choices     TEXT,
    sender_key  INTEGER REFERENCES senders (key),
    UNIQUE (turn_id, address_key, part),
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE TABLE delivery_pieces (
    delivery_id INTEGER NOT NULL REFERENCES deliveries (id),
    n           INTEGER NOT NULL,
    platform_id TEXT,
    length      INTEGER NOT NULL,
    sent_at     INTEGER NOT NULL,
    PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE drafts (
    profile     TEXT NOT NULL,
    device      TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    text        TEXT NOT NULL,
    changed_at  INTEGER NOT NULL,
    PRIMARY KEY (profile, device, session_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE early_changes (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    account     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    message_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    sender_id   TEXT,
    at          INTEGER NOT NULL,
    text        TEXT NOT NULL,
    parts       TEXT,
    PRIMARY KEY (profile, platform, account, chat, message_id, kind, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE ending_tellings (
    ending_id INTEGER NOT NULL REFERENCES endings (id),
    hook      TEXT NOT NULL,
    PRIMARY KEY (ending_id, hook)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    session_id  TEXT,
    revision    INTEGER NOT NULL,
    subject     INTEGER,
    at          INTEGER NOT NULL
) STRICT;
CREATE TABLE feed_floor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  INTEGER NOT NULL
) STRICT;
CREATE TABLE followers (
    name        TEXT PRIMARY KEY,
    cursor      TEXT NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE forgetting_outputs (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    session_id    TEXT NOT NULL,
    PRIMARY KEY (forgetting_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE forgetting_tasks (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    step          TEXT NOT NULL CHECK (step IN
        ('session', 'speech', 'turn', 'lines', 'notes', 'blob', 'address', 'sender')),
    subject       TEXT NOT NULL,
    seen          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (forgetting_id, step, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE forgettings (
    id            INTEGER PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('session', 'person', 'retention')),
    state         TEXT NOT NULL CHECK (state IN ('removing', 'wiping', 'done')),
    asked_at      INTEGER NOT NULL,
    done_at       INTEGER,
    counts        TEXT NOT NULL,
    last_turn     INTEGER NOT NULL DEFAULT 0,
    last_delivery INTEGER NOT NULL DEFAULT 0,
    CHECK ((done_at IS NULL) = (state <> 'done'))
) STRICT;
CREATE TABLE gateways (
    owner      TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    version    TEXT NOT NULL,
    url        TEXT,
    platforms  TEXT NOT NULL,
    places     INTEGER NOT NULL DEFAULT 0,
    taken      INTEGER NOT NULL DEFAULT 0,
    silent     INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
    profile    TEXT NOT NULL,
    platform   TEXT NOT NULL,
    sender_id  TEXT NOT NULL,
    name       TEXT,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (profile, platform, sender_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE holds (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    holder      TEXT NOT NULL,
    held_until  INTEGER NOT NULL,
    PRIMARY KEY (session_key, holder)
) STRICT, WITHOUT ROWID;
CREATE TABLE homes (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (profile, platform)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_runs (
    id          INTEGER PRIMARY KEY,
    job_id      INTEGER NOT NULL REFERENCES jobs (id),
    state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'skipped')),
    due_at      INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    session_key INTEGER,
    turn_id     INTEGER,
    why         TEXT,
    CHECK ((ended_at IS NULL) = (state = 'running'))
) STRICT;
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    name        TEXT NOT NULL,
    prompt      TEXT NOT NULL,
    schedule    TEXT NOT NULL,
    timezone    TEXT NOT NULL,
    target      TEXT NOT NULL,
    mirror      TEXT NOT NULL CHECK (mirror IN ('none', 'target')),
    address_key INTEGER REFERENCES addresses (key),
    sender_key  INTEGER REFERENCES senders (key),
    made_at     INTEGER NOT NULL,
    paused_at   INTEGER,
    next_at     INTEGER
) STRICT;
CREATE TABLE link_codes (
    hash       TEXT PRIMARY KEY,
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    claimed_by INTEGER REFERENCES senders (key),
    state      TEXT NOT NULL DEFAULT 'made',
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE login_links (
    secret_hash TEXT PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    made_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE login_mistakes (
    key INTEGER PRIMARY KEY,
    who TEXT NOT NULL,
    at  INTEGER NOT NULL
) STRICT;
CREATE TABLE logins (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    secret_hash TEXT NOT NULL UNIQUE,
    device      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    proven_at   INTEGER NOT NULL DEFAULT 0,
    expires_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;
CREATE TABLE marks (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    reader      TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    marked_at   INTEGER NOT NULL,
    PRIMARY KEY (session_key, reader)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE message_gram_counts USING fts5vocab (message_grams, row);
CREATE VIRTUAL TABLE message_grams USING fts5 (
    grams, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '@~'"
);
CREATE TABLE 'message_grams_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'message_grams_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'message_grams_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE VIRTUAL TABLE message_word_counts USING fts5vocab (message_words, row);
CREATE VIRTUAL TABLE message_words USING fts5 (
    words, content = '', tokenize = "ascii tokenchars '@~'"
);
CREATE TABLE 'message_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'message_words_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'message_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'message_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE messages (
    key         INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    seq         INTEGER,
    turn_id     INTEGER,
    role        TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    sender_key  INTEGER REFERENCES senders (key),
    platform_id TEXT,
    reply_to    TEXT,
    at          INTEGER NOT NULL,
    arrived_at  INTEGER,
    changed_at  INTEGER,
    deleted_at  INTEGER,
    text        TEXT NOT NULL,
    parts       TEXT,
    UNIQUE (session_key, seq)
) STRICT;
CREATE TABLE migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at BIGINT NOT NULL
);
CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    sender_key  INTEGER REFERENCES senders (key),
    platform_id TEXT,
    text        TEXT NOT NULL,
    at          INTEGER NOT NULL,
    UNIQUE (profile, address_key, platform_id)
) STRICT;
CREATE TABLE outages (
    until_at INTEGER NOT NULL,
    from_at  INTEGER NOT NULL,
    platform TEXT NOT NULL,
    PRIMARY KEY (until_at, from_at, platform)
) STRICT, WITHOUT ROWID;
CREATE TABLE outcomes (
    account_key     INTEGER NOT NULL REFERENCES accounts (key),
    idempotency_key TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    session_id      TEXT,
    claim           TEXT NOT NULL,
    status          INTEGER NOT NULL,
    answer          TEXT NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (account_key, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE pairing_mistakes (
    key      INTEGER PRIMARY KEY,
    profile  TEXT NOT NULL,
    platform TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
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
CREATE TABLE passkeys (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    name        TEXT NOT NULL,
    credential  TEXT NOT NULL UNIQUE,
    public_key  TEXT NOT NULL,
    sign_count  INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER
) STRICT;
CREATE TABLE persons (
    key     INTEGER PRIMARY KEY,
    name    TEXT,
    made_at INTEGER NOT NULL
) STRICT;
CREATE TABLE projects (
    key     INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    name    TEXT NOT NULL,
    color   TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('own', 'scheduled')),
    made_at INTEGER NOT NULL,
    UNIQUE (profile, name)
) STRICT;
CREATE TABLE quotes (
    key         INTEGER PRIMARY KEY,
    message_key INTEGER NOT NULL REFERENCES messages (key),
    session_id  TEXT NOT NULL,
    seq         INTEGER
) STRICT;
CREATE TABLE revisions (
    message_key      INTEGER NOT NULL REFERENCES messages (key),
    version          INTEGER NOT NULL,
    session_revision INTEGER NOT NULL DEFAULT 0,
    replaced_at      INTEGER NOT NULL,
    text             TEXT NOT NULL,
    parts            TEXT,
    PRIMARY KEY (message_key, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE senders (
    key           INTEGER PRIMARY KEY,
    platform      TEXT NOT NULL,
    id            TEXT NOT NULL,
    name          TEXT,
    person_key    INTEGER REFERENCES persons (key),
    first_seen_at INTEGER NOT NULL,
    vouched_by    TEXT CHECK (vouched_by IN ('role', 'relay')),
    wrong_codes   INTEGER NOT NULL DEFAULT 0,
    wrong_since   INTEGER,
    forgotten_at  INTEGER,
    UNIQUE (platform, id)
) STRICT;
CREATE TABLE service (
    key       INTEGER PRIMARY KEY CHECK (key = 1),
    served_at INTEGER NOT NULL,
    boot      TEXT NOT NULL,
    uptime    INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
    key                 INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    profile             TEXT NOT NULL,
    platform            TEXT NOT NULL,
    kind                TEXT NOT NULL,
    address_key         INTEGER NOT NULL REFERENCES addresses (key),
    sender_key          INTEGER REFERENCES senders (key),
    origin              TEXT NOT NULL DEFAULT 'person'
        CHECK (origin IN ('person', 'job', 'import')),
    native_source       TEXT,
    native_id           TEXT,
    parent_key          INTEGER REFERENCES sessions (key),
    root_key            INTEGER REFERENCES sessions (key),
    base_key            INTEGER REFERENCES sessions (key),
    base_seq            INTEGER,
    base_revision       INTEGER,
    base_depth          INTEGER NOT NULL DEFAULT 0,
    cause               TEXT NOT NULL,
    opened_at           INTEGER NOT NULL,
    last_activity_at    INTEGER NOT NULL,
    ended_at            INTEGER,
    end_reason          TEXT,
    suspended_at        INTEGER,
    interruptions       INTEGER NOT NULL DEFAULT 0,
    notice              TEXT,
    told_at             INTEGER,
    taken_at            INTEGER,
    taken_by            INTEGER REFERENCES senders (key),
    last_seq            INTEGER NOT NULL DEFAULT 0,
    revision            INTEGER NOT NULL DEFAULT 0,
    user_messages       INTEGER NOT NULL DEFAULT 0,
    indexed_seq         INTEGER NOT NULL DEFAULT 0,
    indexed_title       TEXT,
    title               TEXT,
    titled_by           TEXT,
    project_key         INTEGER REFERENCES projects (key),
    pinned_at           INTEGER,
    archived_at         INTEGER,
    model               TEXT,
    provider            TEXT,
    base_url            TEXT,
    busy_mode           TEXT,
    personality         TEXT,
    tools               TEXT,
    workspace           TEXT,
    worktree_path       TEXT,
    worktree_branch     TEXT,
    worktree_repository TEXT,
    worktree_at         INTEGER,
    summary             TEXT,
    memory              TEXT,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CHECK ((title IS NULL) = (titled_by IS NULL))
) STRICT;
CREATE TABLE shares (
    id          TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    account_key INTEGER REFERENCES accounts (key),
    title       TEXT NOT NULL,
    page        TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    revoked_at  INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE spend_warnings (
    cap      TEXT NOT NULL,
    subject  TEXT NOT NULL,
    period   TEXT NOT NULL,
    told_at  INTEGER NOT NULL,
    PRIMARY KEY (cap, subject, period)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE title_word_counts USING fts5vocab (title_words, row);
CREATE VIRTUAL TABLE title_words USING fts5 (
    words, content = '', tokenize = "ascii tokenchars '@~'"
);
CREATE TABLE 'title_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'title_words_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'title_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'title_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE tombstones (
    hash          TEXT PRIMARY KEY,
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    at            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE turn_targets (
    turn_id     INTEGER NOT NULL REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    PRIMARY KEY (turn_id, address_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE turns (
    id             INTEGER PRIMARY KEY,
    session_key    INTEGER NOT NULL REFERENCES sessions (key),
    address_key    INTEGER NOT NULL REFERENCES addresses (key),
    state          TEXT NOT NULL CHECK (state IN
        ('queued', 'running', 'waiting', 'done', 'failed', 'stopped', 'interrupted')),
    asked_by       INTEGER REFERENCES senders (key),
    steers         INTEGER,
    answered_by    INTEGER,
    attempts       INTEGER NOT NULL DEFAULT 0,
    fence          INTEGER NOT NULL DEFAULT 0,
    owner          TEXT,
    lease_until    INTEGER,
    queued_at      INTEGER NOT NULL,
    written_at     INTEGER,
    started_at     INTEGER,
    interrupted_at INTEGER,
    ended_at       INTEGER,
    expired_at     INTEGER,
    first_seq      INTEGER,
    cut_off_seq    INTEGER,
    observed_from  INTEGER,
    observed_upto  INTEGER,
    questions      INTEGER NOT NULL DEFAULT 0,
    question       TEXT,
    asks           TEXT,
    asked_at       INTEGER,
    answer         TEXT,
    error          TEXT,
    CHECK ((owner IS NULL) = (lease_until IS NULL)),
    CHECK ((ended_at IS NULL) = (state IN ('queued', 'running', 'waiting', 'interrupted')))
) STRICT;
CREATE TABLE usage (
    key                INTEGER PRIMARY KEY,
    session_key        INTEGER REFERENCES sessions (key),
    turn_id            INTEGER,
    sender_key         INTEGER REFERENCES senders (key),
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
    cost               INTEGER,
    cost_status        TEXT NOT NULL
) STRICT;
CREATE TABLE waiting_commands (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    after_turn  INTEGER NOT NULL,
    rank        TEXT NOT NULL,
    platform    TEXT NOT NULL,
    sender_id   TEXT,
    queued_at   INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER,
    inbound     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX accounts_by_name ON accounts (name) WHERE ended_at IS NULL;
CREATE INDEX addresses_dead ON addresses (dead_at, key) WHERE dead_at IS NOT NULL;
CREATE INDEX aliases_of_sender ON aliases (sender_key);
CREATE INDEX allowances_by_sender ON allowances (sender_key) WHERE sender_key IS NOT NULL;
CREATE UNIQUE INDEX allowances_for_always ON allowances (profile, tool) WHERE session_key IS NULL;
CREATE UNIQUE INDEX allowances_of_session ON allowances (session_key, tool)
    WHERE session_key IS NOT NULL;
CREATE INDEX api_tokens_of_account ON api_tokens (account_key, key) WHERE ended_at IS NULL;
CREATE INDEX api_tokens_of_parent ON api_tokens (parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX arrivals_of_session ON arrivals (session_key) WHERE session_key IS NOT NULL;
CREATE INDEX audit_failed_logins ON audit (subject, detail, at) WHERE act = 'login.failed';
CREATE INDEX bindings_of_sender ON bindings (sender_key) WHERE sender_key IS NOT NULL;
CREATE INDEX bindings_of_session ON bindings (session_key);
CREATE INDEX blob_uses_of_message ON blob_uses (message_key);
CREATE INDEX cuts_of_session ON cuts (session_key, key);
CREATE INDEX deliveries_in_order ON deliveries (address_key, id)
    WHERE state IN ('pending', 'sending');
CREATE INDEX deliveries_of_lines ON deliveries (session_key, id)
    WHERE turn_id IS NULL AND until_seq > 0;
CREATE INDEX deliveries_of_sender ON deliveries (sender_key) WHERE sender_key IS NOT NULL;
CREATE INDEX deliveries_of_session ON deliveries (session_key, id) WHERE turn_id IS NULL;
CREATE INDEX deliveries_owed ON deliveries (due_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_streamed ON deliveries (streamed_by, id) WHERE streamed_by IS NOT NULL;
CREATE INDEX deliveries_undelivered ON deliveries (owed_at) WHERE state IN ('failed', 'abandoned');
CREATE INDEX deliveries_without_turn ON deliveries (address_key) WHERE turn_id IS NULL;
CREATE INDEX drafts_of_session ON drafts (session_key);
CREATE INDEX endings_of_session ON endings (session_key);
CREATE INDEX endings_untold ON endings (due_at, id) WHERE state IN ('pending', 'running');
CREATE INDEX forgettings_by_delivery ON forgettings (last_delivery);
CREATE INDEX forgettings_by_turn ON forgettings (last_turn);
CREATE INDEX forgettings_under_way ON forgettings (id) WHERE state <> 'done';
CREATE INDEX job_runs_of_job ON job_runs (job_id, id);
CREATE INDEX job_runs_of_session ON job_runs (session_key) WHERE session_key IS NOT NULL;
CREATE UNIQUE INDEX job_runs_under_way ON job_runs (job_id) WHERE state = 'running';
CREATE INDEX jobs_due ON jobs (next_at) WHERE paused_at IS NULL AND next_at IS NOT NULL;
CREATE INDEX link_codes_of_sender ON link_codes (sender_key);
CREATE INDEX login_mistakes_by_time ON login_mistakes (who, at);
CREATE INDEX logins_of_account ON logins (account_key, key) WHERE ended_at IS NULL;
CREATE INDEX observations_at_place ON observations (address_key, at);
CREATE INDEX observations_in_order ON observations (profile, address_key, id);
CREATE INDEX observations_of_sender ON observations (sender_key);
CREATE UNIQUE INDEX one_scheduled_project ON projects (profile) WHERE kind = 'scheduled';
CREATE UNIQUE INDEX one_turn_at_a_time ON turns (session_key) WHERE state IN ('running', 'waiting');
CREATE INDEX outcomes_by_session ON outcomes (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX outcomes_by_time ON outcomes (at);
CREATE INDEX outcomes_of_any ON outcomes (at) WHERE session_id IS NULL AND request_hash <> '';
CREATE INDEX pairing_mistakes_by_time ON pairing_mistakes (profile, platform, at);
CREATE INDEX passkeys_of_account ON passkeys (account_key, key);
CREATE INDEX quotes_by_session ON quotes (session_id, seq);
CREATE INDEX quotes_of_message ON quotes (message_key);
CREATE INDEX senders_of_person ON senders (person_key) WHERE person_key IS NOT NULL;
CREATE UNIQUE INDEX sessions_by_native_id ON sessions (profile, native_source, native_id)
    WHERE native_id IS NOT NULL;
CREATE INDEX sessions_listed ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NULL AND origin <> 'job';
CREATE INDEX sessions_of_address ON sessions (address_key);
CREATE INDEX sessions_of_base ON sessions (base_key) WHERE base_key IS NOT NULL;
CREATE INDEX sessions_of_parent ON sessions (parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX sessions_of_project ON sessions (project_key, last_activity_at DESC, key DESC)
    WHERE project_key IS NOT NULL;
CREATE INDEX sessions_of_root ON sessions (root_key) WHERE root_key IS NOT NULL;
CREATE INDEX sessions_of_sender ON sessions (sender_key);
CREATE INDEX sessions_open ON sessions (platform, kind, last_activity_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_pinned ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE pinned_at IS NOT NULL;
CREATE INDEX sessions_put_away ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NOT NULL OR origin = 'job';
CREATE INDEX sessions_unindexed ON sessions (key)
    WHERE indexed_seq < last_seq OR title IS DISTINCT FROM indexed_title;
CREATE INDEX shares_by_time ON shares (made_at, id);
CREATE INDEX shares_of_session ON shares (session_key);
CREATE INDEX tombstones_of_forgetting ON tombstones (forgetting_id);
CREATE INDEX turns_by_observation ON turns (observed_upto) WHERE observed_upto IS NOT NULL;
CREATE INDEX turns_of_session ON turns (session_key, id);
CREATE INDEX turns_queued ON turns (id) WHERE state = 'queued';
CREATE INDEX turns_unfinished ON turns (session_key, id) WHERE ended_at IS NULL;
CREATE INDEX turns_waiting ON turns (id) WHERE state = 'waiting';
CREATE INDEX turns_with_observations ON turns (session_key, address_key, observed_upto)
    WHERE observed_upto IS NOT NULL;
CREATE INDEX usage_by_time ON usage (at, sender_key, cost);
CREATE INDEX usage_of_session ON usage (session_key, key);
CREATE INDEX waiting_commands_of_sender ON waiting_commands (platform, sender_id);
CREATE INDEX waiting_commands_of_session ON waiting_commands (session_key, id);
