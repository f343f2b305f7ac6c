-- The rest of the session layer: shared history and cuts, people, projects and marks, spending.

-- Shared history, apart from lineage: a branch shows its base up to a place, as the base was at
-- one of its revisions, and goes on from there with rows of its own.
ALTER TABLE sessions ADD COLUMN base_key INTEGER REFERENCES sessions (key);
ALTER TABLE sessions ADD COLUMN base_seq INTEGER;
ALTER TABLE sessions ADD COLUMN base_revision INTEGER;
ALTER TABLE sessions ADD COLUMN base_depth INTEGER NOT NULL DEFAULT 0;

-- Who began it: a person, a scheduled job, or another program whose history was brought in.
ALTER TABLE sessions ADD COLUMN origin TEXT NOT NULL DEFAULT 'person'
    CHECK (origin IN ('person', 'job', 'import'));
ALTER TABLE sessions ADD COLUMN native_source TEXT;
ALTER TABLE sessions ADD COLUMN native_id TEXT;
-- What a person wrote and still sees of it.
ALTER TABLE sessions ADD COLUMN user_messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
ALTER TABLE sessions ADD COLUMN personality TEXT;
-- The tools it may use, as a JSON list; none: those of its platform and profile.
ALTER TABLE sessions ADD COLUMN tools TEXT;
ALTER TABLE sessions ADD COLUMN workspace TEXT;
ALTER TABLE sessions ADD COLUMN worktree_path TEXT;
ALTER TABLE sessions ADD COLUMN worktree_branch TEXT;
ALTER TABLE sessions ADD COLUMN worktree_repository TEXT;
ALTER TABLE sessions ADD COLUMN worktree_at INTEGER;

UPDATE sessions SET user_messages =
    (SELECT count(*) FROM messages m
     WHERE m.session_key = sessions.key AND m.role = 'user' AND m.seq IS NOT NULL);

CREATE TABLE projects (
    key     INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    name    TEXT NOT NULL,
    color   TEXT NOT NULL,
    -- The one for scheduled runs is made by itself, once for each profile.
    kind    TEXT NOT NULL CHECK (kind IN ('own', 'scheduled')),
    made_at INTEGER NOT NULL,
    UNIQUE (profile, name)
) STRICT;

CREATE UNIQUE INDEX one_scheduled_project ON projects (profile) WHERE kind = 'scheduled';

ALTER TABLE sessions ADD COLUMN project_key INTEGER REFERENCES projects (key);

-- A session is either in the first of these or in the second.
DROP INDEX sessions_by_activity;
CREATE INDEX sessions_listed ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NULL AND origin <> 'job';
CREATE INDEX sessions_put_away ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE archived_at IS NOT NULL OR origin = 'job';
CREATE INDEX sessions_pinned ON sessions (profile, last_activity_at DESC, key DESC)
    WHERE pinned_at IS NOT NULL;
CREATE INDEX sessions_of_project ON sessions (project_key, last_activity_at DESC, key DESC)
    WHERE project_key IS NOT NULL;
CREATE INDEX sessions_of_parent ON sessions (parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX sessions_of_root ON sessions (root_key) WHERE root_key IS NOT NULL;
CREATE INDEX sessions_of_base ON sessions (base_key) WHERE base_key IS NOT NULL;
CREATE UNIQUE INDEX sessions_by_native_id ON sessions (profile, native_source, native_id)
    WHERE native_id IS NOT NULL;

-- Stretches of a transcript that the model is not shown. A lifted cut has no effect any more.
CREATE TABLE cuts (
    key         INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    from_seq    INTEGER NOT NULL,
    to_seq      INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('undone', 'retried', 'compacted')),
    -- What stands in the place of a stretch that was compacted.
    summary     TEXT,
    -- The user messages that it hides.
    user_messages INTEGER NOT NULL DEFAULT 0,
    made_at     INTEGER NOT NULL,
    lifted_at   INTEGER,
    -- The undoing that lifted a compaction, and that puts it back when it is taken back itself.
    lifted_by   INTEGER REFERENCES cuts (key),
    CHECK (from_seq <= to_seq),
    CHECK ((kind = 'compacted') = (summary IS NOT NULL))
) STRICT;

CREATE INDEX cuts_of_session ON cuts (session_key, key);

-- The revision of its session at which a message began to read differently, so that a branch
-- can show it as it was.
ALTER TABLE revisions ADD COLUMN session_revision INTEGER NOT NULL DEFAULT 0;

CREATE TABLE persons (
    key     INTEGER PRIMARY KEY,
    name    TEXT,
    made_at INTEGER NOT NULL
) STRICT;

ALTER TABLE senders ADD COLUMN person_key INTEGER REFERENCES persons (key);
-- Wrong link codes in a row, and since when.
ALTER TABLE senders ADD COLUMN wrong_codes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE senders ADD COLUMN wrong_since INTEGER;

CREATE INDEX senders_of_person ON senders (person_key) WHERE person_key IS NOT NULL;

-- Who speaks on a route, unless several do: when people part, each keeps their own routes.
ALTER TABLE bindings ADD COLUMN sender_key INTEGER REFERENCES senders (key);

UPDATE bindings SET sender_key =
    (SELECT s.sender_key FROM sessions s WHERE s.key = bindings.session_key);

CREATE INDEX bindings_of_sender ON bindings (sender_key) WHERE sender_key IS NOT NULL;

-- Other ids under which a platform knows a sender.
CREATE TABLE aliases (
    platform   TEXT NOT NULL,
    id         TEXT NOT NULL,
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (platform, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX aliases_of_sender ON aliases (sender_key);

-- One-time codes by which a person shows that two senders are theirs; only their hashes are kept.
CREATE TABLE link_codes (
    hash       TEXT PRIMARY KEY,
    sender_key INTEGER NOT NULL REFERENCES senders (key),
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX link_codes_of_sender ON link_codes (sender_key);

-- What somebody has begun to write, for each device; session 0 is the one that is not there yet.
CREATE TABLE drafts (
    profile     TEXT NOT NULL,
    device      TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    text        TEXT NOT NULL,
    changed_at  INTEGER NOT NULL,
    PRIMARY KEY (profile, device, session_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX drafts_of_session ON drafts (session_key);

-- How far somebody has read.
CREATE TABLE marks (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    reader      TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    marked_at   INTEGER NOT NULL,
    PRIMARY KEY (session_key, reader)
) STRICT, WITHOUT ROWID;

-- Who asked, so that spending can be added up by person and by day.
ALTER TABLE usage ADD COLUMN sender_key INTEGER REFERENCES senders (key);
CREATE INDEX usage_by_time ON usage (at, sender_key, cost);

-- Warnings about spending that were given, once for each cap, subject and period.
CREATE TABLE spend_warnings (
    cap      TEXT NOT NULL,
    subject  TEXT NOT NULL,
    period   TEXT NOT NULL,
    told_at  INTEGER NOT NULL,
    PRIMARY KEY (cap, subject, period)
) STRICT, WITHOUT ROWID;
