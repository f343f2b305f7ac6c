-- Kept answers go with what they tell of.

-- The session of which alone an answer tells; none: it may tell of anything. No reference: a session
-- that is deleted waits for nobody who has begun something and asks for it.
ALTER TABLE outcomes ADD COLUMN session_id TEXT;

CREATE INDEX outcomes_by_session ON outcomes (session_id) WHERE session_id IS NOT NULL;
-- Those that may tell of anything, and have not been emptied since.
CREATE INDEX outcomes_of_any ON outcomes (at) WHERE session_id IS NULL AND request_hash <> '';
