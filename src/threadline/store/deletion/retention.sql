-- name: list_prunable
-- List a page of the sessions that nothing protects.
SELECT s.key, s.id, s.platform, s.kind, s.origin, s.last_activity_at
FROM sessions s
WHERE s.key > :after AND s.profile <> '~importing'
  AND s.pinned_at IS NULL AND s.suspended_at IS NULL AND s.taken_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_key = s.key AND t.ended_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.session_key = s.key AND h.held_until > :now)
  AND NOT EXISTS (SELECT 1 FROM sessions b WHERE b.base_key = s.key)
ORDER BY s.key
LIMIT :most

-- name: find_unprotected
-- Tell whether nothing protects a session, and nothing happened in it since it was found.
SELECT s.key
FROM sessions s
WHERE s.key = :key AND s.last_activity_at = :last_activity_at AND s.profile <> '~importing'
  AND s.pinned_at IS NULL AND s.suspended_at IS NULL AND s.taken_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_key = s.key AND t.ended_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.session_key = s.key AND h.held_until > :now)
  AND NOT EXISTS (SELECT 1 FROM sessions b WHERE b.base_key = s.key)

-- name: sum_bytes
-- Add up what the messages in a stretch hold.
SELECT CAST(coalesce(sum(octet_length(text) + coalesce(octet_length(parts), 0)), 0) AS BIGINT) AS bytes
FROM messages
WHERE key > :after AND key <= :upto

-- name: sum_blobs
-- Add up what the attachments hold.
SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM blobs

-- name: sum_session_bytes
-- Add up what a session holds.
SELECT (SELECT CAST(coalesce(sum(octet_length(m.text) + coalesce(octet_length(m.parts), 0)), 0)
                    AS BIGINT)
        FROM messages m WHERE m.session_key = :session_key)
     + (SELECT CAST(coalesce(sum(b.size), 0) AS BIGINT)
        FROM messages m
        JOIN blob_uses u ON u.message_key = m.key
        JOIN blobs b ON b.hash = u.hash
        WHERE m.session_key = :session_key) AS bytes

-- name: list_idle_bound
-- List sessions with routes that have been silent since a moment, and that nothing protects.
SELECT DISTINCT s.key
FROM bindings b
JOIN sessions s ON s.key = b.session_key
WHERE s.last_activity_at < :before AND s.suspended_at IS NULL AND s.taken_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_key = s.key AND t.ended_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.session_key = s.key AND h.held_until > :now)
ORDER BY s.key
LIMIT :most

-- name: lock_routes
-- Take the routes of a session for this transaction: whoever speaks there now waits.
SELECT route FROM bindings WHERE session_key = :session_key ORDER BY route
FOR NO KEY UPDATE -- postgres

-- name: unbind_if_idle
-- Let the routes of a session go, unless somebody spoke there meanwhile.
DELETE FROM bindings
WHERE session_key = :session_key
  AND EXISTS (SELECT 1 FROM sessions s WHERE s.key = bindings.session_key
              AND s.last_activity_at < :before AND s.taken_at IS NULL)
RETURNING route

-- name: list_stray_pieces
-- List attachments of which only pieces are stored.
SELECT DISTINCT c.hash
FROM blob_chunks c
WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = c.hash)
LIMIT :most
