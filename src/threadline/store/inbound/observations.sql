-- name: add_observation
-- Store what was said between others, once. No number is given twice, also if it was deleted.
INSERT INTO observations (id, profile, address_key, sender_key, platform_id, text, at) -- sqlite
VALUES (1 + max(coalesce((SELECT max(o.id) FROM observations o), 0), -- sqlite
                coalesce((SELECT max(t.observed_upto) FROM turns t), 0)), -- sqlite
        :profile, :address_key, :sender_key, :platform_id, :text, :at) -- sqlite
INSERT INTO observations (profile, address_key, sender_key, platform_id, text, at) -- postgres
VALUES (:profile, :address_key, :sender_key, :platform_id, :text, :at) -- postgres
ON CONFLICT (profile, address_key, platform_id) DO NOTHING

-- name: change_observation
-- Change what was said between others.
UPDATE observations SET text = :text
WHERE profile = :profile AND platform_id = :message_id
  AND address_key IN (SELECT a.key FROM addresses a WHERE a.platform = :platform
                      AND a.account = :account AND a.chat = :chat)

-- name: drop_observation
-- Delete what was said between others, and taken back.
DELETE FROM observations
WHERE profile = :profile AND platform_id = :message_id
  AND address_key IN (SELECT a.key FROM addresses a WHERE a.platform = :platform
                      AND a.account = :account AND a.chat = :chat)

-- name: mark_observed
-- Let a turn show the latest of what was said in its chat since the turn before it.
UPDATE turns
SET (observed_from, observed_upto) = (
    SELECT min(n.id), max(n.id)
    FROM (SELECT o.id FROM observations o
          WHERE o.profile = :profile AND o.address_key = :address_key AND o.at >= :since
            AND o.id > coalesce((SELECT max(p.observed_upto) FROM turns p
                                 WHERE p.session_key = :session_key
                                   AND p.address_key = :address_key
                                   AND p.observed_upto IS NOT NULL), 0)
          ORDER BY o.id DESC
          LIMIT :most) AS n)
WHERE id = :turn_id
  AND EXISTS (SELECT 1 FROM observations o
              WHERE o.profile = :profile AND o.address_key = :address_key)

-- name: list_observed
-- List what the turns of a session, from one on, show of their chats, in order, as lines. These
-- have no rows, so that their keys are below zero.
SELECT -o.id AS key, CAST(:session_id AS TEXT) AS session_id, NULL AS seq, 'user' AS role, o.text,
       NULL AS parts, o.at, t.id AS turn_id, w.id AS sender_id, w.name AS sender_name
FROM turns t
JOIN sessions s ON s.key = t.session_key
JOIN observations o ON o.profile = s.profile AND o.address_key = t.address_key
     AND o.id BETWEEN t.observed_from AND t.observed_upto
LEFT JOIN senders w ON w.key = o.sender_key
WHERE t.session_key = :session_key AND t.observed_upto IS NOT NULL AND t.id >= :first_turn
ORDER BY t.id, o.id

-- name: drop_observations_of
-- Delete a slice of what a sender said between others.
DELETE FROM observations
WHERE id IN (SELECT o.id FROM observations o WHERE o.sender_key = :sender_key LIMIT :most)
RETURNING id

-- name: list_observed_places
-- List the chats where something was said between others.
SELECT a.key, a.platform, a.kind
FROM addresses a
WHERE EXISTS (SELECT 1 FROM observations o WHERE o.address_key = a.key)
ORDER BY a.key

-- name: drop_observations_before
-- Delete a slice of what was said in a chat before a moment, or before the latest ones.
DELETE FROM observations
WHERE id IN (SELECT o.id FROM observations o
             WHERE o.address_key = :address_key
               AND (o.at < :before
                    OR o.id <= (SELECT l.id FROM observations l
                                WHERE l.profile = o.profile AND l.address_key = o.address_key
                                ORDER BY l.id DESC LIMIT 1 OFFSET :kept))
             LIMIT :most)
RETURNING id
