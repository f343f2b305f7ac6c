-- What is said in groups between others, where each member has a conversation of their own.

-- Once for each chat. A turn that is asked there shows the agent what was said since the last one.
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

-- The first and the last observation that a turn shows; no reference: they may be gone.
ALTER TABLE turns ADD COLUMN observed_from INTEGER;
ALTER TABLE turns ADD COLUMN observed_upto INTEGER;
CREATE INDEX turns_with_observations ON turns (session_key, address_key, observed_upto)
    WHERE observed_upto IS NOT NULL;
CREATE INDEX turns_by_observation ON turns (observed_upto) WHERE observed_upto IS NOT NULL;
