-- Agents: what they ask leave for, what they were allowed, and what they want to know again.

-- The tools that a waiting turn asks leave for, as a JSON list.
ALTER TABLE turns ADD COLUMN asks TEXT;

-- What the agent wants to be given back with the next request; no part of the transcript.
ALTER TABLE sessions ADD COLUMN memory TEXT;

-- What can be pressed under words that belong to no turn: a JSON list of labels and what they say.
ALTER TABLE deliveries ADD COLUMN choices TEXT;

-- Who carries out a command that takes longer than a moment, and until when they may be waited for:
-- so long it keeps its place in the line.
ALTER TABLE waiting_commands ADD COLUMN owner TEXT;
ALTER TABLE waiting_commands ADD COLUMN lease_until INTEGER;

-- Tools that may be used without asking: in one session, or (without one) in a whole profile.
CREATE TABLE allowances (
    key         INTEGER PRIMARY KEY,
    profile     TEXT NOT NULL,
    session_key INTEGER REFERENCES sessions (key),
    tool        TEXT NOT NULL,
    allowed_at  INTEGER NOT NULL,
    -- Who gave leave; none: it was done on the machine itself.
    sender_key  INTEGER REFERENCES senders (key)
) STRICT;

CREATE UNIQUE INDEX allowances_of_session ON allowances (session_key, tool)
    WHERE session_key IS NOT NULL;
CREATE UNIQUE INDEX allowances_for_always ON allowances (profile, tool) WHERE session_key IS NULL;
CREATE INDEX allowances_by_sender ON allowances (sender_key) WHERE sender_key IS NOT NULL;
