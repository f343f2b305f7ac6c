-- The whole schema, one section for each noun. Later changes are files of their own: 0002_….sql.
--
-- Times are microseconds since 1970 in UTC. There are no booleans: a column holds a state, a cause
-- or a time. A `key` is internal; an `id` is also shown to users and other programs. `owner` and
-- `lease_until` are a lease: the process that works on a row, and until when.
--
-- Written for SQLite. For PostgreSQL the types are translated when the file is read, and a line
-- that ends in "-- postgres" or "-- sqlite" is for that database alone.


-- People and places ------------------------------------------------------------------------------

-- Users who write from several accounts, which are linked.
CREATE TABLE persons (
    key     INTEGER PRIMARY KEY,
    name    TEXT,
    made_at INTEGER NOT NULL
) STRICT;

-- Everyone who sent a message: one row for each account on a platform.
CREATE TABLE senders (
    key           INTEGER PRIMARY KEY,
    platform      TEXT NOT NULL,
    id            TEXT NOT NULL,
    name          TEXT,
    -- NULL: not linked to another sender.
    person_key    INTEGER REFERENCES persons (key),
    first_seen_at INTEGER NOT NULL,
    -- What admitted a sender whom neither the settings nor a grant name, at the last message.
    vouched_by    TEXT CHECK (vouched_by IN ('role', 'relay')),
    -- Wrong link codes in a row, and the time of the first.
    wrong_codes   INTEGER NOT NULL DEFAULT 0,
    wrong_since   INTEGER,
    -- When the sender was deleted; only this row is left.
    forgotten_at  INTEGER,
    UNIQUE (platform, id)
) STRICT;

CREATE INDEX senders_of_person ON senders (person_key) WHERE person_key IS NOT NULL;

-- Other ids that a platform uses for a sender.
CREATE TABLE aliases (
    platform   TEXT NOT NULL,
    id         TEXT NOT NULL,
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (platform, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX aliases_of_sender ON aliases (sender_key);

-- One-time codes with which a user links two senders. Only their hashes are stored.
CREATE TABLE link_codes (
    hash       TEXT PRIMARY KEY,
    -- The sender who requested the code, and the sender who sent it.
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    claimed_by INTEGER REFERENCES senders (key),
    -- 'made'; 'claimed': the other sender sent the code; 'confirmed': and confirmed the link;
    -- 'shown': the sender who requested it was asked for the last confirmation.
    state      TEXT NOT NULL DEFAULT 'made',
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX link_codes_of_sender ON link_codes (sender_key);

-- Places where messages are sent and received: chats and threads in them.
CREATE TABLE addresses (
    key        INTEGER PRIMARY KEY,
    platform   TEXT NOT NULL,
    -- Which of our accounts on the platform; empty: the only one.
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    chat       TEXT NOT NULL,
    -- Empty: the chat itself.
    thread     TEXT NOT NULL,
    -- Another id of the same chat, never used for routing.
    alt_chat   TEXT,
    -- The chat that this one belongs to.
    parent     TEXT,
    -- The guild, workspace or server around the chat.
    scope      TEXT,
    chat_name  TEXT,
    topic      TEXT,
    -- Since when nothing can be sent there, and the platform's reason.
    dead_at    INTEGER,
    dead_why   TEXT,
    UNIQUE (platform, account, kind, chat, thread)
) STRICT;

CREATE INDEX addresses_dead ON addresses (dead_at, key) WHERE dead_at IS NOT NULL;

-- The address of each platform to which scheduled and unprompted messages go.
CREATE TABLE homes (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (profile, platform)
) STRICT, WITHOUT ROWID;


-- Access -----------------------------------------------------------------------------------------

-- Senders whom the owner admitted, in addition to those in the settings.
CREATE TABLE grants (
    profile    TEXT NOT NULL,
    platform   TEXT NOT NULL,
    sender_id  TEXT NOT NULL,
    name       TEXT,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (profile, platform, sender_id)
) STRICT, WITHOUT ROWID;

-- Unknown senders who asked for access, with a keyed hash of the code that they were shown.
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

-- Times at which a wrong pairing code was entered, to limit guessing.
CREATE TABLE pairing_mistakes (
    key      INTEGER PRIMARY KEY,
    profile  TEXT NOT NULL,
    platform TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;

CREATE INDEX pairing_mistakes_by_time ON pairing_mistakes (profile, platform, at);


-- Sessions ---------------------------------------------------------------------------------------

-- Groups of sessions with a name and a colour.
CREATE TABLE projects (
    key     INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    name    TEXT NOT NULL,
    color   TEXT NOT NULL,
    -- 'scheduled': the project for runs of jobs, created automatically.
    kind    TEXT NOT NULL CHECK (kind IN ('own', 'scheduled')),
    made_at INTEGER NOT NULL,
    UNIQUE (profile, name)
) STRICT;

CREATE UNIQUE INDEX one_scheduled_project ON projects (profile) WHERE kind = 'scheduled';

-- Stretches of conversation, each with one context.
CREATE TABLE sessions (
    key                 INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    profile             TEXT NOT NULL,
    platform            TEXT NOT NULL,
    kind                TEXT NOT NULL,
    address_key         INTEGER NOT NULL REFERENCES addresses (key),
    -- The sender who owns the session; NULL: it is shared by everyone in the chat.
    sender_key          INTEGER REFERENCES senders (key),
    -- Who began it: a user, a scheduled job, or an import.
    origin              TEXT NOT NULL DEFAULT 'person'
        CHECK (origin IN ('person', 'job', 'import')),
    -- Of an imported session: the program it came from, and its id there.
    native_source       TEXT,
    native_id           TEXT,
    -- The session before this one, and the first of all; NULL: this is the first.
    parent_key          INTEGER REFERENCES sessions (key),
    root_key            INTEGER REFERENCES sessions (key),
    -- A branch shows the history of its base up to `base_seq`, as it was at `base_revision`.
    base_key            INTEGER REFERENCES sessions (key),
    base_seq            INTEGER,
    base_revision       INTEGER,
    -- How many bases are below this session.
    base_depth          INTEGER NOT NULL DEFAULT 0,
    -- Why it began.
    cause               TEXT NOT NULL,
    opened_at           INTEGER NOT NULL,
    last_activity_at    INTEGER NOT NULL,
    ended_at            INTEGER,
    end_reason          TEXT,
    -- Since when it is suspended; the next message begins a new session.
    suspended_at        INTEGER,
    -- Interruptions in a row; three suspend the session.
    interruptions       INTEGER NOT NULL DEFAULT 0,
    -- The cause that the next reply explains to the user, and when one did.
    notice              TEXT,
    told_at             INTEGER,
    -- Since when a user replies instead of the agent, and who.
    taken_at            INTEGER,
    taken_by            INTEGER REFERENCES senders (key),
    -- The last place in the transcript, and the number of the last event.
    last_seq            INTEGER NOT NULL DEFAULT 0,
    revision            INTEGER NOT NULL DEFAULT 0,
    -- Messages of users that are neither deleted nor hidden by a cut.
    user_messages       INTEGER NOT NULL DEFAULT 0,
    -- What the search index covers: messages up to this place, and this title.
    indexed_seq         INTEGER NOT NULL DEFAULT 0,
    indexed_title       TEXT,
    title               TEXT,
    titled_by           TEXT,
    project_key         INTEGER REFERENCES projects (key),
    pinned_at           INTEGER,
    archived_at         INTEGER,
    -- What the user chose for this session; NULL: as configured.
    model               TEXT,
    provider            TEXT,
    base_url            TEXT,
    busy_mode           TEXT,
    personality         TEXT,
    -- A JSON list of the tools that the agent may use.
    tools               TEXT,
    workspace           TEXT,
    worktree_path       TEXT,
    worktree_branch     TEXT,
    worktree_repository TEXT,
    worktree_at         INTEGER,
    -- A summary of this session, for the agent in the next one.
    summary             TEXT,
    -- What the agent stored for its next turn; not part of the transcript.
    memory              TEXT,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CHECK ((title IS NULL) = (titled_by IS NULL))
) STRICT;

-- Every session is in one of the first two.
CREATE INDEX sessions_listed ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NULL AND origin <> 'job';
CREATE INDEX sessions_put_away ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NOT NULL OR origin = 'job';
CREATE INDEX sessions_pinned ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE pinned_at IS NOT NULL;
CREATE INDEX sessions_of_project ON sessions (project_key, last_activity_at DESC, key DESC)
    WHERE project_key IS NOT NULL;
CREATE INDEX sessions_open ON sessions (platform, kind, last_activity_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_of_sender ON sessions (sender_key);
CREATE INDEX sessions_of_address ON sessions (address_key);
CREATE INDEX sessions_of_parent ON sessions (parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX sessions_of_root ON sessions (root_key) WHERE root_key IS NOT NULL;
CREATE INDEX sessions_of_base ON sessions (base_key) WHERE base_key IS NOT NULL;
CREATE UNIQUE INDEX sessions_by_native_id ON sessions (profile, native_source, native_id)
    WHERE native_id IS NOT NULL;
CREATE INDEX sessions_unindexed ON sessions (key)
    WHERE indexed_seq < last_seq OR title IS DISTINCT FROM indexed_title;

-- The session that each route is bound to.
CREATE TABLE bindings (
    route       TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    -- The only sender on this route, who takes the route along when unlinked; NULL: several.
    sender_key  INTEGER REFERENCES senders (key),
    bound_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX bindings_of_session ON bindings (session_key);
CREATE INDEX bindings_of_sender ON bindings (sender_key) WHERE sender_key IS NOT NULL;

-- Reasons why a session does not expire before a time.
CREATE TABLE holds (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    holder      TEXT NOT NULL,
    held_until  INTEGER NOT NULL,
    PRIMARY KEY (session_key, holder)
) STRICT, WITHOUT ROWID;

-- Ends of sessions for which hooks are still to be called, or were.
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
CREATE INDEX endings_of_session ON endings (session_key);

-- Hooks that were called for an end while others are still to be called.
CREATE TABLE ending_tellings (
    ending_id INTEGER NOT NULL REFERENCES endings (id),
    hook      TEXT NOT NULL,
    PRIMARY KEY (ending_id, hook)
) STRICT, WITHOUT ROWID;

-- Unsent texts in the web app, by device.
CREATE TABLE drafts (
    profile     TEXT NOT NULL,
    device      TEXT NOT NULL,
    -- 0: a session that is not created yet.
    session_key INTEGER NOT NULL,
    text        TEXT NOT NULL,
    changed_at  INTEGER NOT NULL,
    PRIMARY KEY (profile, device, session_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX drafts_of_session ON drafts (session_key);

-- The last message that each reader has read.
CREATE TABLE marks (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    reader      TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    marked_at   INTEGER NOT NULL,
    PRIMARY KEY (session_key, reader)
) STRICT, WITHOUT ROWID;


-- Turns ------------------------------------------------------------------------------------------

-- Requests to an agent, in the order in which they are answered.
CREATE TABLE turns (
    id             INTEGER PRIMARY KEY,
    session_key    INTEGER NOT NULL REFERENCES sessions (key),
    -- Where the request came from; the reply goes there, unless `turn_targets` has rows.
    address_key    INTEGER NOT NULL REFERENCES addresses (key),
    state          TEXT NOT NULL CHECK (state IN
        ('queued', 'running', 'waiting', 'done', 'failed', 'stopped', 'interrupted')),
    -- The sender who requested a turn that has no message: a retry, or a rerun after an edit.
    asked_by       INTEGER REFERENCES senders (key),
    -- The running turn that this one should be added to, and the one that it was added to.
    steers         INTEGER,
    answered_by    INTEGER,
    attempts       INTEGER NOT NULL DEFAULT 0,
    -- Rises whenever another process takes the turn; a write with an older number is refused.
    fence          INTEGER NOT NULL DEFAULT 0,
    owner          TEXT,
    lease_until    INTEGER,
    queued_at      INTEGER NOT NULL,
    -- When the message was written, if that was long before it arrived.
    written_at     INTEGER,
    started_at     INTEGER,
    interrupted_at INTEGER,
    ended_at       INTEGER,
    -- When it was ended without a reply because its message was too old.
    expired_at     INTEGER,
    -- The place of its first message in the transcript.
    first_seq      INTEGER,
    -- The place of the last note to the agent that this turn was interrupted.
    cut_off_seq    INTEGER,
    -- The first and last observation shown to the agent; not references, as they are pruned.
    observed_from  INTEGER,
    observed_upto  INTEGER,
    -- How many questions it has asked the user. A button belongs to one of them.
    questions      INTEGER NOT NULL DEFAULT 0,
    question       TEXT,
    -- The tools that the question asks permission for, as a JSON list.
    asks           TEXT,
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
CREATE INDEX turns_waiting ON turns (id) WHERE state = 'waiting';
CREATE INDEX turns_with_observations ON turns (session_key, address_key, observed_upto)
    WHERE observed_upto IS NOT NULL;
CREATE INDEX turns_by_observation ON turns (observed_upto) WHERE observed_upto IS NOT NULL;

-- Where the reply of a turn goes instead of back to its address: the targets of a job.
CREATE TABLE turn_targets (
    turn_id     INTEGER NOT NULL REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    PRIMARY KEY (turn_id, address_key)
) STRICT, WITHOUT ROWID;

-- Streamed text of a running turn that is not in a message yet.
CREATE TABLE chunks (
    turn_id INTEGER NOT NULL REFERENCES turns (id),
    n       INTEGER NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;

-- Tools that an agent may use without asking.
CREATE TABLE allowances (
    key         INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    -- NULL: in every session of the profile.
    session_key INTEGER REFERENCES sessions (key),
    tool        TEXT NOT NULL,
    allowed_at  INTEGER NOT NULL,
    -- Who gave permission; NULL: the owner, on the machine itself.
    sender_key  INTEGER REFERENCES senders (key)
) STRICT;

CREATE UNIQUE INDEX allowances_of_session ON allowances (session_key, tool)
    WHERE session_key IS NOT NULL;
CREATE UNIQUE INDEX allowances_for_always ON allowances (profile, tool) WHERE session_key IS NULL;
CREATE INDEX allowances_by_sender ON allowances (sender_key) WHERE sender_key IS NOT NULL;


-- Transcripts ------------------------------------------------------------------------------------

-- Messages of all transcripts, and those that wait for their turn to begin.
CREATE TABLE messages (
    key         INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    -- The place in the transcript; NULL: the turn of this message has not begun.
    seq         INTEGER,
    turn_id     INTEGER,
    role        TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    sender_key  INTEGER REFERENCES senders (key),
    -- The platform's id of the message, and of the message that it replies to.
    platform_id TEXT,
    reply_to    TEXT,
    -- When it was written, and when it arrived if that was later.
    at          INTEGER NOT NULL,
    arrived_at  INTEGER,
    changed_at  INTEGER,
    deleted_at  INTEGER,
    -- The plain text, which is searched; the parts, as JSON, if they hold more than the text.
    text        TEXT NOT NULL,
    parts       TEXT,
    UNIQUE (session_key, seq)
) STRICT;

-- Earlier versions of messages that were edited or deleted.
CREATE TABLE revisions (
    message_key      INTEGER NOT NULL REFERENCES messages (key),
    version          INTEGER NOT NULL,
    -- The revision of the session from which on the message differs, for branches from before.
    session_revision INTEGER NOT NULL DEFAULT 0,
    replaced_at      INTEGER NOT NULL,
    text             TEXT NOT NULL,
    parts            TEXT,
    PRIMARY KEY (message_key, version)
) STRICT, WITHOUT ROWID;

-- The messages and sessions that notes for an agent quote. A session id and a sequence number survive
-- export and import, and stay when the quoted rows are gone; so the reference is no foreign key.
CREATE TABLE quotes (
    key         INTEGER PRIMARY KEY,
    message_key INTEGER NOT NULL REFERENCES messages (key),
    session_id  TEXT NOT NULL,
    -- NULL: the session as a whole.
    seq         INTEGER
) STRICT;

CREATE INDEX quotes_of_message ON quotes (message_key);
CREATE INDEX quotes_by_session ON quotes (session_id, seq);

-- Ranges of a transcript that are hidden from the model.
CREATE TABLE cuts (
    key           INTEGER PRIMARY KEY,
    session_key   INTEGER NOT NULL REFERENCES sessions (key),
    from_seq      INTEGER NOT NULL,
    to_seq        INTEGER NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('undone', 'retried', 'compacted')),
    -- What the model reads instead of a compacted range.
    summary       TEXT,
    -- How many messages of users it hides.
    user_messages INTEGER NOT NULL DEFAULT 0,
    made_at       INTEGER NOT NULL,
    -- When the cut lost its effect.
    lifted_at     INTEGER,
    -- The undo that lifted this compaction; its redo restores the compaction.
    lifted_by     INTEGER REFERENCES cuts (key),
    CHECK (from_seq <= to_seq),
    CHECK ((kind = 'compacted') = (summary IS NOT NULL))
) STRICT;

CREATE INDEX cuts_of_session ON cuts (session_key, key);

-- Attachments that are stored completely, by the hash of their content.
CREATE TABLE blobs (
    hash      TEXT PRIMARY KEY,
    size      INTEGER NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The content of attachments, in pieces.
CREATE TABLE blob_chunks (
    hash TEXT NOT NULL,
    n    INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (hash, n)
) STRICT;

-- Which messages use which attachments.
CREATE TABLE blob_uses (
    hash        TEXT NOT NULL REFERENCES blobs (hash),
    message_key INTEGER NOT NULL REFERENCES messages (key),
    PRIMARY KEY (hash, message_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_uses_of_message ON blob_uses (message_key);


-- Inbound messages -------------------------------------------------------------------------------

-- The outcome of everything that arrived, so that a repeated message is recognised.
CREATE TABLE arrivals (
    profile     TEXT NOT NULL,
    platform    TEXT NOT NULL,
    account     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    message_id  TEXT NOT NULL,
    -- A message, an edit or a deletion.
    kind        TEXT NOT NULL,
    -- The platform's number of an edit.
    version     INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    session_key INTEGER,
    turn_id     INTEGER,
    message_key INTEGER,
    PRIMARY KEY (profile, platform, account, chat, message_id, kind, version)
) STRICT, WITHOUT ROWID;

-- For messages that were sent into a session from elsewhere, such as the web app.
CREATE INDEX arrivals_of_session ON arrivals (session_key) WHERE session_key IS NOT NULL;

-- Edits and deletions that arrived before their message.
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

-- Messages between members of a group in which every member has a session: stored once for each
-- chat. A turn shows the agent those since the last turn.
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

CREATE INDEX observations_in_order ON observations (profile, address_key, id);
CREATE INDEX observations_of_sender ON observations (sender_key);
CREATE INDEX observations_at_place ON observations (address_key, at);

-- Commands that wait for earlier turns, and those that take long, until they are done.
CREATE TABLE waiting_commands (
    id          INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    -- The newest turn of the session when the command arrived.
    after_turn  INTEGER NOT NULL,
    -- The rank of the sender when the command arrived.
    rank        TEXT NOT NULL,
    platform    TEXT NOT NULL,
    sender_id   TEXT,
    queued_at   INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER,
    -- The whole message, as JSON.
    inbound     TEXT NOT NULL
) STRICT;

CREATE INDEX waiting_commands_of_session ON waiting_commands (session_key, id);
CREATE INDEX waiting_commands_of_sender ON waiting_commands (platform, sender_id);


-- Deliveries -------------------------------------------------------------------------------------

-- Everything that is sent: a range of a turn's messages, or a text of its own, such as a question
-- or the reply to a command.
CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    -- No reference to the session: that would need an index on every delivery.
    session_key INTEGER,
    turn_id     INTEGER REFERENCES turns (id),
    address_key INTEGER NOT NULL REFERENCES addresses (key),
    -- The number of this delivery among those of its turn to this address, from 0.
    part        INTEGER NOT NULL DEFAULT 0,
    state       TEXT NOT NULL CHECK (state IN
        ('pending', 'sending', 'sent', 'failed', 'abandoned')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    -- Rises whenever another process takes the delivery; a write with an older number is refused.
    fence       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER,
    -- The process that streams it, which is the first to continue it.
    streamed_by TEXT,
    owed_at     INTEGER NOT NULL,
    -- When the next attempt is due, and when that was decided: a decision in the future was made
    -- before the clock was set back.
    due_at      INTEGER NOT NULL,
    planned_at  INTEGER NOT NULL DEFAULT 0,
    sent_at     INTEGER,
    -- When it became unknown whether an attempt arrived: for any reason, and because the platform
    -- did not respond.
    repeated_at INTEGER,
    unheard_at  INTEGER,
    -- How often the sending process stopped since the platform last accepted a message of it.
    repeats     INTEGER NOT NULL DEFAULT 0,
    -- The platform's id of the last message.
    platform_id TEXT,
    error       TEXT,
    -- The cause that it explains to the user: why the session is new.
    notice      TEXT,
    -- The messages that it carries: after the first place, up to the second (NULL: still streamed).
    after_seq   INTEGER NOT NULL DEFAULT 0,
    until_seq   INTEGER,
    -- A text of its own, as text, JSON parts and JSON buttons; deleted once it is sent or given up.
    text        TEXT,
    parts       TEXT,
    choices     TEXT,
    -- The sender whose command it replies to, for deletion.
    sender_key  INTEGER REFERENCES senders (key),
    UNIQUE (turn_id, address_key, part),
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT;

CREATE INDEX deliveries_owed ON deliveries (due_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_in_order ON deliveries (address_key, id)
    WHERE state IN ('pending', 'sending');
CREATE INDEX deliveries_undelivered ON deliveries (owed_at) WHERE state IN ('failed', 'abandoned');
CREATE INDEX deliveries_streamed ON deliveries (streamed_by, id) WHERE streamed_by IS NOT NULL;
CREATE INDEX deliveries_without_turn ON deliveries (address_key) WHERE turn_id IS NULL;
CREATE INDEX deliveries_of_session ON deliveries (session_key, id) WHERE turn_id IS NULL;
-- Messages of a user who replies instead of the agent.
CREATE INDEX deliveries_of_lines ON deliveries (session_key, id)
    WHERE turn_id IS NULL AND until_seq > 0;
CREATE INDEX deliveries_of_sender ON deliveries (sender_key) WHERE sender_key IS NOT NULL;

-- The messages of a delivery that its platform accepted, in order.
CREATE TABLE delivery_pieces (
    delivery_id INTEGER NOT NULL REFERENCES deliveries (id),
    n           INTEGER NOT NULL,
    platform_id TEXT,
    -- How many characters of the delivery are in it; negative: it is still streamed.
    length      INTEGER NOT NULL,
    sent_at     INTEGER NOT NULL,
    PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;


-- Jobs -------------------------------------------------------------------------------------------

-- Prompts that run on a schedule.
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    name        TEXT NOT NULL,
    prompt      TEXT NOT NULL,
    -- A cron expression, an interval or a time, as the user wrote it.
    schedule    TEXT NOT NULL,
    timezone    TEXT NOT NULL,
    -- Where the reply goes, as the user wrote it.
    target      TEXT NOT NULL,
    mirror      TEXT NOT NULL CHECK (mirror IN ('none', 'target')),
    -- Where and by whom it was created; NULL: by the owner, outside of any chat.
    address_key INTEGER REFERENCES addresses (key),
    sender_key  INTEGER REFERENCES senders (key),
    made_at     INTEGER NOT NULL,
    paused_at   INTEGER,
    -- NULL: it never runs again.
    next_at     INTEGER
) STRICT;

CREATE INDEX jobs_due ON jobs (next_at) WHERE paused_at IS NULL AND next_at IS NOT NULL;

-- Every time that a job was due, and the outcome.
CREATE TABLE job_runs (
    id          INTEGER PRIMARY KEY,
    job_id      INTEGER NOT NULL REFERENCES jobs (id),
    state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'skipped')),
    due_at      INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    session_key INTEGER,
    turn_id     INTEGER,
    -- Why it failed or was skipped, or which of its targets were not found.
    why         TEXT,
    CHECK ((ended_at IS NULL) = (state = 'running'))
) STRICT;

CREATE INDEX job_runs_of_job ON job_runs (job_id, id);
CREATE UNIQUE INDEX job_runs_under_way ON job_runs (job_id) WHERE state = 'running';
CREATE INDEX job_runs_of_session ON job_runs (session_key) WHERE session_key IS NOT NULL;


-- Usage ------------------------------------------------------------------------------------------

-- Tokens and costs of calls to models. They still count when session and sender are deleted.
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
    -- Billionths of a US dollar; NULL: unknown.
    cost               INTEGER,
    cost_status        TEXT NOT NULL
) STRICT;

CREATE INDEX usage_of_session ON usage (session_key, key);
CREATE INDEX usage_by_time ON usage (at, sender_key, cost);

-- Spending warnings that were sent, once for each limit, subject and period.
CREATE TABLE spend_warnings (
    cap      TEXT NOT NULL,
    subject  TEXT NOT NULL,
    period   TEXT NOT NULL,
    told_at  INTEGER NOT NULL,
    PRIMARY KEY (cap, subject, period)
) STRICT, WITHOUT ROWID;


-- Search -----------------------------------------------------------------------------------------
-- The index is derived and follows behind: see `indexed_seq` and `indexed_title` in `sessions`.
-- Threadline splits texts into words itself. The index holds positions of words, but no text.

-- The words of each message.
CREATE VIRTUAL TABLE message_words USING fts5 ( -- sqlite
    words, content = '', tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite
CREATE TABLE message_words ( -- postgres
    message_key INTEGER PRIMARY KEY, -- postgres
    words       tsvector NOT NULL -- postgres
); -- postgres

-- The sequences of three characters in these words, to find parts of words.
CREATE VIRTUAL TABLE message_grams USING fts5 ( -- sqlite
    grams, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite
CREATE TABLE message_grams ( -- postgres
    message_key INTEGER PRIMARY KEY, -- postgres
    grams       int4[] NOT NULL -- postgres
); -- postgres

-- The words of the title of each session.
CREATE VIRTUAL TABLE title_words USING fts5 ( -- sqlite
    words, content = '', tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite
CREATE TABLE title_words ( -- postgres
    session_key INTEGER PRIMARY KEY, -- postgres
    words       tsvector NOT NULL -- postgres
); -- postgres

-- New rows wait in a list that every search reads, so the list is short (kB).
CREATE INDEX message_words_by_word ON message_words USING gin (words) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres
CREATE INDEX message_grams_by_gram ON message_grams USING gin (grams) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres
CREATE INDEX title_words_by_word ON title_words USING gin (words) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres

-- Deleted rows leave no bytes in the index.
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1); -- sqlite
INSERT INTO message_grams (message_grams, rank) VALUES ('secure-delete', 1); -- sqlite
INSERT INTO title_words (title_words, rank) VALUES ('secure-delete', 1); -- sqlite

-- Views into the index, with which a check reads it.
CREATE VIRTUAL TABLE message_word_counts USING fts5vocab (message_words, row); -- sqlite
CREATE VIRTUAL TABLE message_gram_counts USING fts5vocab (message_grams, row); -- sqlite
CREATE VIRTUAL TABLE title_word_counts USING fts5vocab (title_words, row); -- sqlite


-- Feed -------------------------------------------------------------------------------------------

-- What changed, in order. The newest event is never deleted, so that ids continue from it.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    -- The transaction of the event, which orders events of concurrent transactions. -- postgres
    xid         xid8 NOT NULL DEFAULT pg_current_xact_id(), -- postgres
    kind        TEXT NOT NULL,
    -- 0: the event belongs to no session.
    session_key INTEGER NOT NULL,
    -- The id of a deleted session, which has no row any more.
    session_id  TEXT,
    revision    INTEGER NOT NULL,
    -- The id, place or key of what changed, depending on the kind.
    subject     INTEGER,
    at          INTEGER NOT NULL
) STRICT;

CREATE INDEX events_in_order ON events (xid, id); -- postgres

-- Up to where events were pruned: a reader that is behind has missed some.
CREATE TABLE feed_floor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    xid xid8 NOT NULL DEFAULT '0', -- postgres
    id  INTEGER NOT NULL
) STRICT;

INSERT INTO feed_floor (one, id) VALUES (1, 0);

-- How far each hook has read the feed, and the process that calls it.
CREATE TABLE followers (
    name        TEXT PRIMARY KEY,
    cursor      TEXT NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT, WITHOUT ROWID;


-- Accounts ---------------------------------------------------------------------------------------
-- Of passwords and secrets only hashes are stored.

-- Users of the web app and the HTTP API.
CREATE TABLE accounts (
    key           INTEGER PRIMARY KEY,
    name          TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    -- NULL: all profiles.
    profile       TEXT,
    -- Argon2id with its salt and costs.
    password_hash TEXT,
    made_at       INTEGER NOT NULL,
    ended_at      INTEGER
) STRICT;

CREATE UNIQUE INDEX accounts_by_name ON accounts (name) WHERE ended_at IS NULL;

-- Links that log in once.
CREATE TABLE login_links (
    secret_hash TEXT PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    made_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;

-- Browsers that are logged in, by the hash of their cookie.
CREATE TABLE logins (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    secret_hash TEXT NOT NULL UNIQUE,
    device      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    -- When a password, passkey or login link was last used in this browser.
    proven_at   INTEGER NOT NULL DEFAULT 0,
    expires_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

CREATE INDEX logins_of_account ON logins (account_key, key) WHERE ended_at IS NULL;

-- Passkeys of users' devices.
CREATE TABLE passkeys (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    name        TEXT NOT NULL,
    -- Base64, as browsers send them.
    credential  TEXT NOT NULL UNIQUE,
    public_key  TEXT NOT NULL,
    sign_count  INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER
) STRICT;

CREATE INDEX passkeys_of_account ON passkeys (account_key, key);

-- Tokens with which programs use the API.
CREATE TABLE api_tokens (
    key         INTEGER PRIMARY KEY,
    account_key INTEGER NOT NULL REFERENCES accounts (key),
    -- The token that created this one; both are revoked together.
    parent_key  INTEGER REFERENCES api_tokens (key),
    secret_hash TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    -- What it may do, as a JSON list.
    scopes      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    used_at     INTEGER,
    expires_at  INTEGER,
    ended_at    INTEGER
) STRICT;

CREATE INDEX api_tokens_of_account ON api_tokens (account_key, key) WHERE ended_at IS NULL;
CREATE INDEX api_tokens_of_parent ON api_tokens (parent_key) WHERE parent_key IS NOT NULL;

-- Times of failed logins, to limit guessing.
CREATE TABLE login_mistakes (
    key INTEGER PRIMARY KEY,
    -- A keyed hash of the account's name or of the address of the client.
    who TEXT NOT NULL,
    at  INTEGER NOT NULL
) STRICT;

CREATE INDEX login_mistakes_by_time ON login_mistakes (who, at);

-- The audit log: administrative actions.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    account_key INTEGER REFERENCES accounts (key),
    -- The API token that was used; NULL: a browser, a chat, or the command line.
    token_key   INTEGER REFERENCES api_tokens (key),
    act         TEXT NOT NULL,
    subject     TEXT NOT NULL,
    detail      TEXT NOT NULL,
    -- How often: failed logins within one period are one entry.
    times       INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX audit_failed_logins ON audit (subject, detail, at) WHERE act = 'login.failed';

-- Responses to requests with an idempotency key, so that a repeated request runs once.
CREATE TABLE outcomes (
    account_key     INTEGER NOT NULL REFERENCES accounts (key),
    idempotency_key TEXT NOT NULL,
    -- A hash of the request: the same key with another request is an error.
    request_hash    TEXT NOT NULL,
    -- The session that the response is about; NULL: it may be about several. Not a reference, so
    -- that deleting the session does not wait for a request that still runs.
    session_id      TEXT,
    -- Identifies the run that may store the response; a later run replaces it.
    claim           TEXT NOT NULL,
    -- The HTTP status; 0: still running.
    status          INTEGER NOT NULL,
    answer          TEXT NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (account_key, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX outcomes_by_time ON outcomes (at);
CREATE INDEX outcomes_by_session ON outcomes (session_id) WHERE session_id IS NOT NULL;
-- Responses that may be about any session and still have their content.
CREATE INDEX outcomes_of_any ON outcomes (at) WHERE session_id IS NULL AND request_hash <> '';

-- Shared pages of sessions: redacted, written once, never changed.
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


-- Deletion ---------------------------------------------------------------------------------------

-- Deletions of sessions and people: in progress, or done, with what was removed.
CREATE TABLE forgettings (
    id            INTEGER PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('session', 'person', 'retention')),
    state         TEXT NOT NULL CHECK (state IN ('removing', 'wiping', 'done')),
    asked_at      INTEGER NOT NULL,
    done_at       INTEGER,
    -- What was removed, as a JSON object of numbers.
    counts        TEXT NOT NULL,
    -- The highest deleted ids: SQLite would use them again while a process may still hold them.
    last_turn     INTEGER NOT NULL DEFAULT 0,
    last_delivery INTEGER NOT NULL DEFAULT 0,
    CHECK ((done_at IS NULL) = (state <> 'done'))
) STRICT;

CREATE INDEX forgettings_under_way ON forgettings (id) WHERE state <> 'done';
CREATE INDEX forgettings_by_turn ON forgettings (last_turn);
CREATE INDEX forgettings_by_delivery ON forgettings (last_delivery);

-- What a deletion still has to remove.
CREATE TABLE forgetting_tasks (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    step          TEXT NOT NULL CHECK (step IN
        ('session', 'speech', 'turn', 'lines', 'notes', 'blob', 'address', 'sender')),
    -- The key of a row, or the hash of an attachment.
    subject       TEXT NOT NULL,
    -- How far a long table has been searched.
    seen          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (forgetting_id, step, subject)
) STRICT, WITHOUT ROWID;

-- Sessions whose exported files a deletion still has to remove; no references: they may be gone.
CREATE TABLE forgetting_outputs (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    session_id    TEXT NOT NULL,
    PRIMARY KEY (forgetting_id, session_id)
) STRICT, WITHOUT ROWID;

-- Keyed hashes of what was deleted, so that no import brings it back.
CREATE TABLE tombstones (
    hash          TEXT PRIMARY KEY,
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    at            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstones_of_forgetting ON tombstones (forgetting_id);


-- Processes --------------------------------------------------------------------------------------

-- Gateways that serve this database.
CREATE TABLE gateways (
    owner      TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    version    TEXT NOT NULL,
    url        TEXT,
    -- The states of its platforms, as a JSON object by name.
    platforms  TEXT NOT NULL,
    -- How many turns it can run, how many it runs, and how many of those have been silent for long.
    places     INTEGER NOT NULL DEFAULT 0,
    taken      INTEGER NOT NULL DEFAULT 0,
    silent     INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When a process last worked on the queue. Boot id and uptime measure the time since then, even if
-- the clock was set.
CREATE TABLE service (
    key       INTEGER PRIMARY KEY CHECK (key = 1),
    served_at INTEGER NOT NULL,
    boot      TEXT NOT NULL,
    uptime    INTEGER NOT NULL
) STRICT;

-- Periods in which no process worked on the queue, or a platform was not reachable.
CREATE TABLE outages (
    until_at INTEGER NOT NULL,
    from_at  INTEGER NOT NULL,
    -- Empty: no process worked on the queue.
    platform TEXT NOT NULL,
    PRIMARY KEY (until_at, from_at, platform)
) STRICT, WITHOUT ROWID;

-- When gateways last read the clock, and since when it has run without a jump or a long pause.
CREATE TABLE clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at      INTEGER NOT NULL,
    steady_since INTEGER NOT NULL
) STRICT;
