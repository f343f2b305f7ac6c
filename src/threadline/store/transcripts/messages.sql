-- name: add_message
-- Store a message; without a sequence number it waits for its turn.
INSERT INTO messages (session_key, seq, turn_id, role, sender_key, text, parts, at, arrived_at,
                      platform_id, reply_to)
VALUES (:session_key, :seq, :turn_id, :role, :sender_key, :text, :parts, :at, :arrived_at,
        :platform_id, :reply_to)
RETURNING key

-- name: add_placed_message
-- Store a message at its place in the transcript.
INSERT INTO messages (session_key, seq, turn_id, role, text, parts, at)
VALUES (:session_key, :seq, :turn_id, :role, :text, :parts, :at)

-- name: read_message
-- Read what an edit or deletion must know of a message.
SELECT m.key, m.session_key, m.seq, m.turn_id, m.text, m.parts, m.deleted_at, t.state,
       t.first_seq, m.sender_key,
       (SELECT coalesce(max(r.version), 0) FROM revisions r WHERE r.message_key = m.key) AS versions,
       (SELECT max(l.id) FROM turns l WHERE l.session_key = m.session_key) AS last_turn_id,
       (SELECT count(*) FROM messages o WHERE o.session_key = m.session_key AND o.seq IS NULL
        AND o.turn_id = m.turn_id AND o.role = 'user' AND o.deleted_at IS NULL) AS companions
FROM messages m
LEFT JOIN turns t ON t.id = m.turn_id
WHERE m.key = :key

-- name: add_revision
-- Keep what a message said before it was changed.
INSERT INTO revisions (message_key, version, text, parts, replaced_at, session_revision)
VALUES (:message_key, :version, :text, :parts, :now, :session_revision)

-- name: change_message
-- Let a message read differently from now on.
UPDATE messages
SET text = :text, parts = :parts, changed_at = :now, deleted_at = :deleted_at
WHERE key = :key

-- name: list_revisions
-- Read what a message said before, oldest first.
SELECT r.version, r.text, r.parts, r.replaced_at FROM revisions r
WHERE r.message_key = :message_key ORDER BY r.version

-- name: read_page_before
-- Read the lines of a session between two places, newest first.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role, m.text, m.parts,
       m.at, m.arrived_at, m.changed_at, m.deleted_at, m.platform_id, m.reply_to,
       p.id AS sender_id, p.name AS sender_name
FROM messages m
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq > :after AND m.seq < :before
ORDER BY m.seq DESC
LIMIT :most

-- name: read_page_after
-- Read the lines of a session between two places, oldest first.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role, m.text, m.parts,
       m.at, m.arrived_at, m.changed_at, m.deleted_at, m.platform_id, m.reply_to,
       p.id AS sender_id, p.name AS sender_name
FROM messages m
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq > :after AND m.seq < :before
ORDER BY m.seq
LIMIT :most

-- fragment: shared_lines
-- Read the lines of a session between two places as they were at a revision.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role,
       CASE WHEN r.version IS NULL THEN m.text ELSE r.text END AS text,
       CASE WHEN r.version IS NULL THEN m.parts ELSE r.parts END AS parts, m.at, m.arrived_at,
       CASE WHEN r.version IS NULL THEN m.changed_at ELSE o.replaced_at END AS changed_at,
       CASE WHEN r.version IS NULL THEN m.deleted_at END AS deleted_at,
       m.platform_id, m.reply_to, p.id AS sender_id, p.name AS sender_name
FROM messages m
LEFT JOIN revisions r ON r.message_key = m.key
  AND r.version = (SELECT min(v.version) FROM revisions v
                   WHERE v.message_key = m.key AND v.session_revision > :revision)
LEFT JOIN revisions o ON o.message_key = m.key AND o.version = r.version - 1
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq > :after AND m.seq < :before

-- name: read_shared_before
-- Read the lines of a session between two places as they were at a revision, newest first.
-- include: shared_lines
ORDER BY m.seq DESC
LIMIT :most

-- name: read_shared_after
-- Read the lines of a session between two places as they were at a revision, oldest first.
-- include: shared_lines
ORDER BY m.seq
LIMIT :most

-- name: list_waiting_messages
-- Read the messages of a session that wait for their turn.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role, m.text, m.parts,
       m.at, m.arrived_at, m.changed_at, m.deleted_at, m.platform_id, m.reply_to,
       p.id AS sender_id, p.name AS sender_name
FROM messages m
JOIN turns t ON t.id = m.turn_id AND t.state = 'queued'
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq IS NULL AND m.role = 'user'
  AND m.deleted_at IS NULL
ORDER BY m.turn_id, m.key

-- name: find_own_waiting
-- Tell whether a sender wrote a message in the session where it waits.
SELECT m.key FROM messages m
JOIN senders p ON p.key = m.sender_key
WHERE m.key = :key AND m.platform_id IS NOT NULL
  AND p.platform = :platform AND p.id = :sender_id

-- name: add_quote
-- Store what a note quotes: a message, or without a sequence number a session as a whole.
INSERT INTO quotes (message_key, session_id, seq) VALUES (:message_key, :session_id, :seq)

-- name: list_notes
-- List the notes that quote a session, or one message of it, or with 0 only the session as a whole;
-- in all sessions, or in one.
SELECT n.key, n.session_key, n.seq, n.text, n.parts
FROM messages n
WHERE n.key IN (SELECT q.message_key FROM quotes q WHERE q.session_id = :session_id
                AND (CAST(:seq AS BIGINT) IS NULL OR coalesce(q.seq, 0) = CAST(:seq AS BIGINT)))
  AND (CAST(:within AS BIGINT) IS NULL OR n.session_key = CAST(:within AS BIGINT))
ORDER BY n.session_key, n.key
LIMIT :most

-- name: list_quoted_sessions
-- List the sessions that the notes of a session quote.
SELECT DISTINCT q.session_id
FROM messages n
JOIN quotes q ON q.message_key = n.key
WHERE n.session_key = :session_key

-- name: list_notes_on
-- List the sessions with notes that quote a message, and what these refer to the message by.
SELECT DISTINCT q.session_id, q.seq, n.session_key
FROM messages m
JOIN sessions s ON s.key = m.session_key
JOIN quotes q ON q.session_id = s.id AND q.seq = m.seq
JOIN messages n ON n.key = q.message_key
WHERE m.key = :message_key
ORDER BY n.session_key

-- name: list_waiting_notes
-- List the notes of a session that were not given to the agent yet and quote lines from a place on.
SELECT DISTINCT n.key
FROM quotes q
JOIN messages n ON n.key = q.message_key
WHERE q.session_id = :session_id AND q.seq >= :from_seq
  AND n.session_key = :session_key AND n.seq IS NULL AND n.turn_id IS NULL

-- name: drop_quotes
-- Delete what a message quotes.
DELETE FROM quotes WHERE message_key = :message_key

-- name: use_blob
-- Remember that a message needs a blob.
INSERT INTO blob_uses (hash, message_key) VALUES (:hash, :message_key)
ON CONFLICT (hash, message_key) DO NOTHING

-- name: find_blob
-- Return the size of a blob that is wholly stored.
SELECT size FROM blobs WHERE hash = :hash

-- name: count_blob_chunks
-- Count the pieces of a blob.
SELECT count(*) AS pieces FROM blob_chunks WHERE hash = :hash

-- name: add_blob
-- Declare a blob wholly stored.
INSERT INTO blobs (hash, size, stored_at) VALUES (:hash, :size, :now)
ON CONFLICT (hash) DO UPDATE SET stored_at = excluded.stored_at

-- name: add_blob_chunk
-- Store a piece of a blob.
INSERT INTO blob_chunks (hash, n, data) VALUES (:hash, :n, :data)
ON CONFLICT (hash, n) DO NOTHING

-- name: read_blob_chunk
-- Read a piece of a blob.
SELECT data FROM blob_chunks WHERE hash = :hash AND n = :n

-- name: list_unused_blobs
-- List blobs that no message needs, if they are older than a moment.
SELECT b.hash FROM blobs b
WHERE b.stored_at < :before AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.hash = b.hash)
LIMIT :most

-- name: drop_blob
-- Delete a blob, unless somebody has come to need it.
DELETE FROM blobs
WHERE hash = :hash AND stored_at < :before
  AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.hash = blobs.hash)
RETURNING hash

-- name: drop_blob_chunks
-- Delete the pieces of a blob.
DELETE FROM blob_chunks WHERE hash = :hash
