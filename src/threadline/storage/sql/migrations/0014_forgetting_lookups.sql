-- What a forgetting looks up: the arrivals of a session, and who sent an early edit.

-- A message sent into a session from elsewhere (the web app, an approval) arrives in another chat.
CREATE INDEX arrivals_of_session ON arrivals (session_key) WHERE session_key IS NOT NULL;

-- Without it the edits of everybody in a group went when one of its members was forgotten.
ALTER TABLE early_changes ADD COLUMN sender_id TEXT;
