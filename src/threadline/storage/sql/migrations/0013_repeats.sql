-- How often a reply was interrupted while it was sent, and which doubts are the platform's.

-- How often the sending process stopped since the platform last took a message of this delivery.
ALTER TABLE deliveries ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;

-- When the platform did not answer an attempt to send. `repeated_at` also covers crashes.
ALTER TABLE deliveries ADD COLUMN unheard_at INTEGER;
UPDATE deliveries SET unheard_at = repeated_at WHERE state = 'pending' AND attempts > 0;

-- When `due_at` was decided: if that is in the future, the clock was set back since.
ALTER TABLE deliveries ADD COLUMN planned_at INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET planned_at = owed_at;

-- When gateways last read the clock, and since when it has run without a jump or a long pause.
CREATE TABLE clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at      INTEGER NOT NULL,
    steady_since INTEGER NOT NULL
) STRICT;
