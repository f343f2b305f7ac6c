-- People who speak in the agent's place.

-- What they said, each line owed by itself.
CREATE INDEX deliveries_of_lines ON deliveries (session_key, id)
    WHERE turn_id IS NULL AND until_seq > 0;

-- Since when a person answers in a session instead of the agent, and who that is.
ALTER TABLE sessions ADD COLUMN taken_at INTEGER;
ALTER TABLE sessions ADD COLUMN taken_by INTEGER REFERENCES senders (key);
