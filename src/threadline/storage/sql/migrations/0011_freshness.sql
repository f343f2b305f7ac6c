-- Freshness and crashes: when messages were written, when no process worked on the queue, and what
-- is known of turns that were cut off. Places: how many turns a gateway runs, and how many of them
-- have said nothing for long.

-- The time at which a message arrived, where that is later than `at`, the time of writing.
ALTER TABLE messages ADD COLUMN arrived_at INTEGER;

-- The time of writing of a message that arrived late; none: the turn is as old as `queued_at`.
ALTER TABLE turns ADD COLUMN written_at INTEGER;
-- When a turn was closed unanswered because its message was too old.
ALTER TABLE turns ADD COLUMN expired_at INTEGER;

-- The place of the last note to the agent that its turn was cut off.
ALTER TABLE turns ADD COLUMN cut_off_seq INTEGER;

ALTER TABLE waiting_commands ADD COLUMN queued_at INTEGER NOT NULL DEFAULT 0;

-- When a process last worked on the queue. The boot and its uptime measure the time since then even
-- if the clock was set meanwhile.
CREATE TABLE service (
    key       INTEGER PRIMARY KEY CHECK (key = 1),
    served_at INTEGER NOT NULL,
    boot      TEXT NOT NULL,
    uptime    INTEGER NOT NULL
) STRICT;

-- Spans in which no process worked on the queue, or in which a platform could not be reached.
CREATE TABLE outages (
    until_at INTEGER NOT NULL,
    from_at  INTEGER NOT NULL,
    -- Empty: no process worked on the queue.
    platform TEXT NOT NULL,
    PRIMARY KEY (until_at, from_at, platform)
) STRICT, WITHOUT ROWID;

ALTER TABLE gateways ADD COLUMN places INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gateways ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gateways ADD COLUMN silent INTEGER NOT NULL DEFAULT 0;
