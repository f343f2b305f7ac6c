-- name: owe_delivery
-- Owe something to a place. No number is given twice.
INSERT INTO deliveries (id, session_key, turn_id, address_key, state, owed_at, due_at, planned_at, notice, -- sqlite
                        part, after_seq, until_seq, text, parts, choices, sender_key, streamed_by) -- sqlite
VALUES (1 + max(coalesce((SELECT max(d.id) FROM deliveries d), 0), -- sqlite
                coalesce((SELECT max(f.last_delivery) FROM forgettings f), 0)), -- sqlite
        :session_key, :turn_id, :address_key, :state, :now, :now, :now, :notice, -- sqlite
        :part, :after_seq, :until_seq, :text, :parts, :choices, :sender_key, :streamed_by) -- sqlite
INSERT INTO deliveries (session_key, turn_id, address_key, state, owed_at, due_at, planned_at, notice, -- postgres
                        part, after_seq, until_seq, text, parts, choices, sender_key, streamed_by) -- postgres
VALUES (:session_key, :turn_id, :address_key, :state, :now, :now, :now, :notice, -- postgres
        :part, :after_seq, :until_seq, :text, :parts, :choices, :sender_key, :streamed_by) -- postgres
RETURNING id

-- name: list_targets
-- List where the answer of a turn goes that does not go back to where it was asked.
SELECT address_key FROM turn_targets WHERE turn_id = :turn_id ORDER BY address_key

-- name: read_last_part
-- Read how far a turn was carried to a place.
SELECT id, part, until_seq FROM deliveries
WHERE turn_id = :turn_id AND address_key = :address_key
ORDER BY part DESC
LIMIT 1

-- name: complete_streams
-- Set the end of a turn's streamed deliveries: whatever is missing on the platform is owed now.
-- Only the process that streamed one knows whether a message is still on its way: for all others it
-- is due later, and a possible repeat.
UPDATE deliveries
SET state = 'pending', until_seq = :until_seq, text = :text, choices = :choices, owed_at = :now,
    planned_at = :now,
    due_at = CASE WHEN streamed_by IS NULL THEN CAST(:now AS BIGINT)
                  ELSE CAST(:held_until AS BIGINT) END,
    repeated_at = coalesce(repeated_at, :now), fence = fence + 1
WHERE turn_id = :turn_id AND until_seq IS NULL
RETURNING id, address_key

-- name: read_stream_place
-- Read where a running turn may stream its answer: nowhere, if it goes elsewhere or is read in the
-- store. What was owed there before it began to grow comes first.
SELECT t.address_key,
       (SELECT count(*) FROM deliveries d WHERE d.address_key = t.address_key
        AND d.state IN ('pending', 'sending') AND (d.state = 'pending' OR d.owner IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.turn_id = t.id
                        AND o.until_seq IS NULL AND o.id < d.id)) AS before
FROM turns t
WHERE t.id = :turn_id
  AND NOT EXISTS (SELECT 1 FROM turn_targets g WHERE g.turn_id = t.id)
  AND NOT EXISTS (SELECT 1 FROM addresses a WHERE a.key = t.address_key AND a.platform = 'local')

-- name: reopen_stream
-- Go on with an answer that was being streamed when its turn was cut off; nobody knows how far.
UPDATE deliveries SET fence = fence + 1, repeated_at = :now, streamed_by = :streamed_by
WHERE id = :id AND until_seq IS NULL
RETURNING id

-- name: leave_streams
-- Let nobody stream what a turn says any more, as whoever ran it is gone.
UPDATE deliveries SET streamed_by = NULL WHERE turn_id = :turn_id AND until_seq IS NULL

-- name: find_kept
-- Find a delivery that is still kept for the process that streamed it, or that it carries itself.
SELECT id FROM deliveries
WHERE id = :id AND ((streamed_by = :owner AND state = 'pending' AND due_at > :now)
                    OR (owner = :owner AND state = 'sending'))

-- name: list_held_back
-- List what is owed, and kept for the process that streamed it.
SELECT id, session_key, streamed_by FROM deliveries
WHERE streamed_by IS NOT NULL AND state = 'pending'

-- name: release_delivery
-- Let anybody carry what was kept for the process that streamed it.
UPDATE deliveries SET streamed_by = NULL, due_at = :now, planned_at = :now
WHERE id = :id AND state = 'pending' AND streamed_by IS NOT NULL
RETURNING id

-- name: doubt_stream
-- Record that the platform did not say whether it took a message of a streamed answer.
UPDATE deliveries SET repeated_at = :now, unheard_at = :now
WHERE id = :id AND fence = :fence AND until_seq IS NULL
RETURNING id

-- fragment: of_platforms
-- One that is owed on some platforms, or on any.
(CAST(:platforms AS TEXT) IS NULL OR d.address_key IN
       (SELECT a.key FROM addresses a WHERE a.platform IN
       (SELECT value FROM json_each(:platforms)))) -- sqlite
       (SELECT v FROM json_array_elements_text(CAST(:platforms AS JSON)) AS v))) -- postgres

-- fragment: next_in_order
-- The oldest of its address: order is kept there. What still grows holds nothing up.
NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.address_key = d.address_key
            AND e.state IN ('pending', 'sending') AND e.id < d.id
            AND (e.state = 'pending' OR e.owner IS NOT NULL))

-- name: list_due
-- List deliveries whose time has come, the oldest of each address only; first what a process has
-- streamed itself. One that was planned in the future is due: the clock was set back since.
SELECT o.id, o.session_key FROM (
SELECT d.id, d.session_key FROM deliveries d
WHERE d.state = 'pending' AND d.streamed_by = :owner
  AND
-- include: next_in_order
  AND
-- include: of_platforms
ORDER BY d.id
LIMIT :most) o
UNION ALL
SELECT o.id, o.session_key FROM (
SELECT d.id, d.session_key FROM deliveries d
WHERE d.state = 'pending' AND d.due_at <= :now
  AND
-- include: next_in_order
  AND
-- include: of_platforms
ORDER BY d.due_at, d.id
LIMIT :most) o
UNION ALL
SELECT o.id, o.session_key FROM (
SELECT d.id, d.session_key FROM deliveries d
WHERE d.state = 'pending' AND d.due_at > :now AND d.planned_at > :latest
  AND d.streamed_by IS DISTINCT FROM :owner -- postgres
  AND d.streamed_by IS NOT :owner -- sqlite
  AND
-- include: next_in_order
  AND
-- include: of_platforms
ORDER BY d.id
LIMIT :most) o
LIMIT :most

-- name: find_next_due
-- Tell when the next delivery is due, or since when; what a process has streamed itself is due to
-- it as soon as it is owed.
SELECT min(o.due_at) AS due_at FROM (
SELECT min(d.owed_at) AS due_at FROM deliveries d
WHERE d.state = 'pending' AND d.streamed_by = :owner
  AND
-- include: next_in_order
  AND
-- include: of_platforms
UNION ALL
SELECT min(CASE WHEN d.planned_at > :latest THEN CAST(:now AS BIGINT) ELSE d.due_at END)
FROM deliveries d
WHERE d.state = 'pending'
  AND
-- include: next_in_order
  AND
-- include: of_platforms
) o

-- name: take_delivery
-- Take a delivery for sending.
UPDATE deliveries
SET state = 'sending', attempts = attempts + 1, fence = fence + 1, owner = :owner,
    lease_until = :lease_until, streamed_by = NULL,
    due_at = CASE WHEN due_at > :now THEN :now ELSE due_at END
WHERE id = :id AND state = 'pending'
  AND (due_at <= :now OR streamed_by = :owner OR planned_at > :latest)
RETURNING id

-- name: give_back_delivery
-- Owe a delivery again as if it had never been taken.
UPDATE deliveries
SET state = 'pending', attempts = attempts - 1, owner = NULL, lease_until = NULL
WHERE id = :id AND fence = :fence AND state = 'sending' AND owner IS NOT NULL
RETURNING id

-- name: renew_delivery
-- Renew the lease of a delivery that is being sent; no row means that it is lost.
UPDATE deliveries SET lease_until = :lease_until
WHERE id = :id AND fence = :fence AND state = 'sending' AND owner IS NOT NULL
RETURNING id

-- name: read_delivery
-- Read a delivery with the place it is owed to. Among others the first part of an answer shows
-- which message it replies to: the last of its turn.
SELECT d.id AS delivery_id, s.id AS delivery_session_id, d.turn_id AS delivery_turn_id,
       d.state AS delivery_state, d.attempts AS delivery_attempts, d.fence AS delivery_fence,
       d.owed_at AS delivery_owed_at, d.due_at AS delivery_due_at, d.sent_at AS delivery_sent_at,
       d.notice AS delivery_notice, d.platform_id AS delivery_platform_id,
       d.repeated_at AS delivery_repeated_at, d.unheard_at AS delivery_unheard_at,
       d.repeats AS delivery_repeats, d.error AS delivery_error, d.part AS delivery_part,
       CASE WHEN d.turn_id IS NULL THEN nullif(d.until_seq, 0) END AS delivery_seq,
       CASE WHEN d.until_seq IS NULL THEN 1 ELSE 0 END AS delivery_is_growing,
       a.dead_at AS delivery_dead_at, a.platform AS delivery_address_platform,
       a.account AS delivery_address_account, a.kind AS delivery_address_kind,
       a.chat AS delivery_address_chat, nullif(a.thread, '') AS delivery_address_thread,
       a.alt_chat AS delivery_address_alt_chat, a.parent AS delivery_address_parent,
       a.scope AS delivery_address_scope, a.chat_name AS delivery_address_chat_name,
       a.topic AS delivery_address_topic,
       d.session_key, d.address_key, d.after_seq, d.until_seq, d.text, d.parts, d.choices,
       (SELECT count(*) FROM delivery_pieces p WHERE p.delivery_id = d.id) AS pieces,
       CASE WHEN d.part = 0 AND a.kind <> 'dm' THEN
           (SELECT m.platform_id FROM turns t
            JOIN messages m ON m.session_key = t.session_key AND m.seq >= t.first_seq
                           AND m.turn_id = t.id AND m.role = 'user' AND m.deleted_at IS NULL
            WHERE t.id = d.turn_id AND t.address_key = d.address_key
            ORDER BY m.seq DESC
            LIMIT 1) END AS reply_to
FROM deliveries d
LEFT JOIN sessions s ON s.key = d.session_key
JOIN addresses a ON a.key = d.address_key
WHERE d.id = :id

-- name: find_delivery
-- Find a delivery, and the session it belongs to.
SELECT id, session_key FROM deliveries WHERE id = :id

-- name: list_pieces
-- List the messages of a delivery that its platform has taken.
SELECT n, platform_id, length FROM delivery_pieces WHERE delivery_id = :id ORDER BY n

-- name: note_piece
-- Write down a message that a platform has taken or is about to get, or how long it has become.
INSERT INTO delivery_pieces (delivery_id, n, platform_id, length, sent_at)
VALUES (:id, :n, :platform_id, :length, :now)
ON CONFLICT (delivery_id, n) DO UPDATE
SET platform_id = excluded.platform_id, length = excluded.length

-- name: withdraw_pieces
-- Delete the messages from a number on that were about to be sent, and were not.
DELETE FROM delivery_pieces WHERE delivery_id = :id AND n >= :first

-- name: note_progress
-- Record that the platform has taken something; no row means that the lease is lost. Attempts are
-- counted from the last change that is complete, doubts and repeats from the last new message.
UPDATE deliveries
SET attempts = CASE WHEN :is_complete = 0 THEN attempts WHEN owner IS NULL THEN 0 ELSE 1 END,
    repeats = CASE WHEN :is_new = 0 THEN repeats ELSE 0 END,
    repeated_at = CASE WHEN :is_new = 0 THEN repeated_at END,
    unheard_at = CASE WHEN :is_new = 0 THEN unheard_at END
WHERE id = :id AND fence = :fence AND state = 'sending'
RETURNING id

-- name: finish_delivery
-- Write down that a delivery reached its end, and forget the words that were its own.
UPDATE deliveries
SET state = :state, owner = NULL, lease_until = NULL, sent_at = :sent_at,
    platform_id = :platform_id, error = :error, repeated_at = coalesce(:doubted_at, repeated_at),
    text = NULL, parts = NULL, choices = NULL
WHERE id = :id AND fence = :fence AND state = 'sending' AND owner IS NOT NULL
RETURNING id

-- name: retry_delivery
-- Owe a delivery again, later; an attempt that is spared does not count.
UPDATE deliveries
SET state = 'pending', owner = NULL, lease_until = NULL, fence = fence + 1, due_at = :due_at,
    planned_at = :now, repeated_at = :repeated_at, unheard_at = :unheard_at, repeats = :repeats, error = :error,
    attempts = attempts - :spared
WHERE id = :id AND fence = :fence AND state = 'sending' AND owner IS NOT NULL
RETURNING id

-- name: owe_again
-- Owe once more what was given up, with all attempts; what was taken of it stays taken.
UPDATE deliveries
SET state = 'pending', attempts = 0, repeats = 0, unheard_at = NULL, fence = fence + 1,
    owed_at = :now, due_at = :now, planned_at = :now, error = NULL
WHERE id = :id AND state IN ('failed', 'abandoned')
RETURNING id

-- name: bury_address
-- Remember that nothing can be sent to a place.
UPDATE addresses SET dead_at = coalesce(dead_at, :now), dead_why = :why WHERE key = :key

-- name: revive_address
-- Remember that a place can be reached again.
UPDATE addresses SET dead_at = NULL, dead_why = NULL WHERE key = :key

-- name: list_dead_addresses
-- List the places to which nothing can be sent, the latest first, from behind one of them on.
SELECT key, platform AS address_platform, account AS address_account, kind AS address_kind,
       chat AS address_chat, nullif(thread, '') AS address_thread, alt_chat AS address_alt_chat,
       parent AS address_parent, scope AS address_scope, chat_name AS address_chat_name,
       topic AS address_topic, dead_at, dead_why AS why
FROM addresses
WHERE dead_at IS NOT NULL AND (dead_at, key) < (CAST(:before_at AS BIGINT), CAST(:before_key AS BIGINT))
ORDER BY dead_at DESC, key DESC
LIMIT :most

-- name: list_sending
-- List deliveries that somebody is sending.
SELECT id, session_key, fence, owner, lease_until FROM deliveries
WHERE state IN ('pending', 'sending') AND state = 'sending' AND owner IS NOT NULL
ORDER BY address_key, id

-- name: list_stale_deliveries
-- List deliveries that are owed for too long, or since before the clock was set back.
SELECT id, session_key FROM deliveries
WHERE state = 'pending' AND (owed_at < :before OR owed_at > :latest) ORDER BY due_at, id LIMIT :most

-- name: abandon_delivery
-- Give up a delivery, and forget the words that were its own.
UPDATE deliveries SET state = 'abandoned', error = :error, text = NULL, parts = NULL, choices = NULL
WHERE id = :id AND state = 'pending'
RETURNING id

-- name: list_old_words
-- List deliveries of no session that reached their end long ago; the newest of all is kept.
SELECT id FROM deliveries
WHERE turn_id IS NULL AND session_key IS NULL AND state IN ('sent', 'failed', 'abandoned') AND owed_at < :before
  AND id < (SELECT max(id) FROM deliveries)
LIMIT :most

-- name: drop_delivery
-- Delete a delivery.
DELETE FROM deliveries WHERE id = :id

-- name: drop_pieces
-- Delete what is known of the messages of a delivery.
DELETE FROM delivery_pieces WHERE delivery_id = :id

-- name: list_words_of_session
-- List what is owed in a session without a turn.
SELECT id, coalesce(text, '') AS text, parts FROM deliveries
WHERE turn_id IS NULL AND session_key = :session_key
ORDER BY id

-- name: list_words_at
-- List what is owed to a place without a turn.
SELECT id, coalesce(text, '') AS text, parts FROM deliveries
WHERE turn_id IS NULL AND address_key = :address_key
ORDER BY id

-- name: list_words_for
-- List what is owed, or was, because somebody asked for it with a command.
SELECT id, session_key, coalesce(text, '') AS text, parts FROM deliveries WHERE sender_key = :sender_key
ORDER BY session_key, id
LIMIT :most

-- name: find_owed_now
-- Find what is owed of a turn since this moment.
SELECT id FROM deliveries WHERE turn_id = :turn_id AND state = 'pending' AND owed_at = :now

-- name: list_deliveries_of_turn
-- List everything that a turn owed.
SELECT id FROM deliveries WHERE turn_id = :turn_id ORDER BY id

-- name: read_turn_address
-- Read where a turn was asked for.
SELECT a.platform, a.account, a.kind, a.chat, nullif(a.thread, '') AS thread, a.alt_chat,
       a.parent, a.scope, a.chat_name, a.topic
FROM turns t
JOIN addresses a ON a.key = t.address_key
WHERE t.id = :id

-- name: read_owed_line
-- Read a line that a person said in the agent's place.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role, m.text, m.parts,
       m.at, m.arrived_at, m.changed_at, m.deleted_at
FROM messages m
WHERE m.session_key = :session_key AND m.seq = :seq AND m.deleted_at IS NULL

-- name: list_reply
-- Read what a turn said to people, in order: of the system's lines only markers.
SELECT m.key, CAST(:session_id AS TEXT) AS session_id, m.seq, m.turn_id, m.role, m.text, m.parts,
       m.at, m.arrived_at, m.changed_at, m.deleted_at
FROM turns t
JOIN messages m ON m.session_key = t.session_key AND m.seq >= t.first_seq AND m.turn_id = t.id
WHERE t.id = :turn_id AND (m.role = 'assistant' OR (m.role = 'system'
       AND m.parts LIKE '%"type":"marker"%'))
  AND m.seq > :after_seq AND m.seq <= :until_seq
ORDER BY m.seq
