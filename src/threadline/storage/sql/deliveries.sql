-- name: owe_delivery
-- Owe what a turn said to the place where it was asked. No number is given twice.
INSERT INTO deliveries (id, session_key, turn_id, address_key, state, owed_at, due_at, notice) -- sqlite
VALUES (1 + max(coalesce((SELECT max(d.id) FROM deliveries d), 0), -- sqlite
                coalesce((SELECT max(f.last_delivery) FROM forgettings f), 0)), -- sqlite
        :session_key, :turn_id, :address_key, 'pending', :now, :now, :notice) -- sqlite
INSERT INTO deliveries (session_key, turn_id, address_key, state, owed_at, due_at, notice) -- postgres
VALUES (:session_key, :turn_id, :address_key, 'pending', :now, :now, :notice) -- postgres
RETURNING id

-- name: list_due
-- List deliveries whose time has come, the oldest of each address only, so that order is kept.
SELECT d.id, d.session_key FROM deliveries d
WHERE d.state = 'pending' AND d.due_at <= :now AND d.owed_at >= :owed_since
  AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.address_key = d.address_key
                  AND e.state IN ('pending', 'sending') AND e.id < d.id)
ORDER BY d.due_at, d.id
LIMIT :most

-- name: take_delivery
-- Take a delivery for sending.
UPDATE deliveries
SET state = 'sending', attempts = attempts + 1, fence = fence + 1, owner = :owner,
    lease_until = :lease_until
WHERE id = :id AND state = 'pending' AND due_at <= :now
RETURNING id

-- name: read_delivery
-- Read a delivery with the place it is owed to.
SELECT d.id, s.id AS session_id, d.session_key, d.turn_id, d.state, d.attempts, d.fence, d.owed_at,
       d.due_at, d.sent_at, d.notice, d.platform_id, d.repeated_at, d.error,
       a.platform, a.account, a.kind, a.chat, a.thread, a.alt_chat, a.parent, a.scope,
       a.chat_name, a.topic
FROM deliveries d
JOIN sessions s ON s.key = d.session_key
JOIN addresses a ON a.key = d.address_key
WHERE d.id = :id

-- name: finish_delivery
-- Write down that a delivery reached its end.
UPDATE deliveries
SET state = :state, owner = NULL, lease_until = NULL, sent_at = :sent_at,
    platform_id = :platform_id, error = :error
WHERE id = :id AND fence = :fence AND state = 'sending'
RETURNING id

-- name: retry_delivery
-- Owe a delivery again, later.
UPDATE deliveries
SET state = 'pending', owner = NULL, lease_until = NULL, fence = fence + 1, due_at = :due_at,
    repeated_at = :repeated_at, error = :error
WHERE id = :id AND fence = :fence AND state = 'sending'
RETURNING id

-- name: list_sending
-- List deliveries that somebody is sending.
SELECT id, session_key, fence, owner, lease_until FROM deliveries
WHERE state IN ('pending', 'sending') AND state = 'sending' AND owner IS NOT NULL
ORDER BY address_key, id

-- name: list_stale_deliveries
-- List deliveries that are owed for too long.
SELECT id, session_key FROM deliveries
WHERE state = 'pending' AND owed_at < :before ORDER BY due_at, id LIMIT :most

-- name: abandon_delivery
-- Give up a delivery.
UPDATE deliveries SET state = 'abandoned', error = :error
WHERE id = :id AND state = 'pending'
RETURNING id

-- name: list_reply
-- Read what a turn said to people, in order: of the system's lines only markers, which have parts.
SELECT m.key, m.seq, m.turn_id, m.role, m.text, m.parts, m.at, m.changed_at, m.deleted_at,
       NULL AS sender_id, NULL AS sender_name
FROM turns t
JOIN messages m ON m.session_key = t.session_key AND m.seq >= t.first_seq AND m.turn_id = t.id
WHERE t.id = :turn_id AND (m.role = 'assistant' OR (m.role = 'system' AND m.parts IS NOT NULL))
ORDER BY m.seq
