-- fragment: delivery_shown
-- A delivery with the place it is owed to, without what has to be said.
SELECT d.id, s.id AS session_id, d.turn_id, d.state, d.attempts, d.fence, d.owed_at, d.due_at,
       d.sent_at, d.notice, d.platform_id, d.repeated_at, d.unheard_at, d.repeats, d.error,
       d.part, CASE WHEN d.turn_id IS NULL THEN nullif(d.until_seq, 0) END AS seq,
       CASE WHEN d.until_seq IS NULL THEN 1 ELSE 0 END AS is_growing, a.dead_at,
       a.platform AS address_platform, a.account AS address_account, a.kind AS address_kind,
       a.chat AS address_chat, a.thread AS address_thread, a.alt_chat AS address_alt_chat,
       a.parent AS address_parent, a.scope AS address_scope, a.chat_name AS address_chat_name,
       a.topic AS address_topic
FROM deliveries d
LEFT JOIN sessions s ON s.key = d.session_key
JOIN addresses a ON a.key = d.address_key

-- name: list_deliveries_of_session
-- List what is or was owed for a session, the newest first: what its turns said, and other words;
-- all of it, or what is in one of some states.
-- include: delivery_shown
WHERE d.id < :before
  AND (CAST(:states AS TEXT) IS NULL OR d.state IN
       (SELECT value FROM json_each(:states))) -- sqlite
       (SELECT k FROM json_array_elements_text( -- postgres
        CAST(CAST(:states AS TEXT) AS JSON)) AS k)) -- postgres
  AND d.id IN (SELECT w.id FROM deliveries w
               WHERE w.session_key = :session_key AND w.turn_id IS NULL
               UNION
               SELECT w.id FROM turns t JOIN deliveries w ON w.turn_id = t.id
               WHERE t.session_key = :session_key)
ORDER BY d.id DESC
LIMIT :most

-- name: list_undelivered
-- List what never arrived, the newest first, from a place in that list on.
-- include: delivery_shown
WHERE d.state IN ('failed', 'abandoned')
  AND (d.owed_at < :owed_at OR (d.owed_at = :owed_at AND d.id < :before))
ORDER BY d.owed_at DESC, d.id DESC
LIMIT :most

-- name: list_senders
-- List everybody who is known on any platform, in the order in which they came, without what is
-- left of those who were forgotten.
-- include: known_senders
WHERE key > :after AND forgotten_at IS NULL
ORDER BY key
LIMIT :most

-- name: list_blob_uses_in
-- List the messages in the rows of one session that need a blob, up to a line of it. Those that wait
-- have no line yet.
SELECT m.text, m.parts
FROM blob_uses u
JOIN messages m ON m.key = u.message_key
WHERE u.hash = :hash AND m.session_key = :session_key AND m.deleted_at IS NULL
  AND (m.seq BETWEEN :first AND :last OR (m.seq IS NULL AND :last = :everything))
LIMIT 1

-- name: list_profiles
-- List the profiles in which there is any session, by stepping from one to the next.
WITH RECURSIVE found (profile) AS (
    SELECT min(profile) FROM sessions
    UNION ALL
    SELECT (SELECT min(s.profile) FROM sessions s WHERE s.profile > f.profile)
    FROM found f
    WHERE f.profile IS NOT NULL
)
SELECT profile FROM found WHERE profile IS NOT NULL
