-- name: list_segments
-- Read where the lines of a session stand: its own rows, then those of each session it shares.
WITH RECURSIVE chain (key, id, base_key, base_seq, base_revision, base_depth, upto, revision, step)
AS (
    SELECT s.key, s.id, s.base_key, s.base_seq, s.base_revision, s.base_depth, s.last_seq,
           CAST(NULL AS BIGINT), 0
    FROM sessions s WHERE s.id = :id
    UNION ALL
    SELECT b.key, b.id, b.base_key, b.base_seq, b.base_revision, b.base_depth, c.base_seq,
           c.base_revision, c.step + 1
    FROM chain c JOIN sessions b ON b.key = c.base_key
    WHERE c.step < :deepest
)
SELECT key AS segment_session_key, id AS segment_session_id,
       coalesce(base_seq, 0) + 1 AS segment_first, upto AS segment_last,
       base_depth AS segment_depth, revision AS segment_revision,
       CASE step WHEN 0 THEN (SELECT count(*) FROM cuts x
                              WHERE x.session_key = chain.key AND x.lifted_at IS NULL)
                 ELSE 0 END AS live_cuts,
       CASE WHEN EXISTS (SELECT 1 FROM turns o WHERE o.session_key = chain.key
                         AND o.observed_upto IS NOT NULL) THEN 1 ELSE 0 END AS segment_has_observed
FROM chain
ORDER BY step DESC

-- name: list_cuts
-- Read the cuts of a session that are in effect, oldest first.
SELECT key, kind, from_seq, to_seq, user_messages, summary, made_at
FROM cuts
WHERE session_key = :session_key AND lifted_at IS NULL
ORDER BY key

-- name: add_cut
-- Put a stretch of a transcript out of sight.
INSERT INTO cuts (session_key, from_seq, to_seq, kind, summary, user_messages, made_at)
VALUES (:session_key, :from_seq, :to_seq, :kind, :summary, :user_messages, :now)
RETURNING key

-- name: lift_cut
-- Let a cut have no effect any more.
UPDATE cuts SET lifted_at = :now WHERE key = :key

-- name: lift_compactions
-- Show again what was compacted beyond a place, because another cut begins there.
UPDATE cuts SET lifted_at = :now, lifted_by = :by
WHERE session_key = :session_key AND kind = 'compacted' AND lifted_at IS NULL
  AND to_seq >= :from_seq

-- name: restore_compactions
-- Put back the compactions that a cut had lifted.
UPDATE cuts SET lifted_at = NULL, lifted_by = NULL
WHERE session_key = :session_key AND lifted_by = :by
RETURNING from_seq

-- name: find_turn_in_the_way
-- Find an unfinished turn that stands on what is in the transcript already.
SELECT t.id, t.state FROM turns t
WHERE t.session_key = :session_key AND t.ended_at IS NULL
  AND NOT (t.state = 'queued' AND t.first_seq IS NULL
           AND EXISTS (SELECT 1 FROM messages m WHERE m.session_key = :session_key
                       AND m.seq IS NULL AND m.turn_id = t.id AND m.role = 'user'))
ORDER BY t.id
LIMIT 1

-- name: find_first_under_way
-- Tell where the first of the unfinished turns of a session begins in its transcript.
SELECT min(first_seq) AS first_seq FROM turns WHERE session_key = :session_key AND ended_at IS NULL

-- name: find_hiding_cut
-- Find a cut that keeps a line from the eyes of people.
SELECT key FROM cuts
WHERE session_key = :session_key AND lifted_at IS NULL AND kind <> 'compacted'
  AND from_seq <= :seq AND to_seq >= :seq
LIMIT 1

-- name: read_retry
-- Read where the last turn of a session was asked, or where the session is at home, and who wrote
-- the message that is answered again.
SELECT coalesce((SELECT t.address_key FROM turns t WHERE t.session_key = s.key
                 ORDER BY t.id DESC LIMIT 1), s.address_key) AS address_key,
       (SELECT m.sender_key FROM messages m WHERE m.key = :message_key) AS sender_key
FROM sessions s
WHERE s.key = :key

-- name: open_child
-- Store a session that goes on from another one and is at home where that one is.
INSERT INTO sessions (id, profile, platform, kind, address_key, sender_key, parent_key, root_key,
                      cause, opened_at, last_activity_at, title, titled_by, model, provider,
                      base_url, busy_mode, project_key, personality, tools, workspace, last_seq,
                      base_key, base_seq, base_revision, base_depth, user_messages)
SELECT CAST(:id AS TEXT), s.profile, s.platform, s.kind, s.address_key, s.sender_key, s.key,
       coalesce(s.root_key, s.key), CAST(:cause AS TEXT), CAST(:now AS BIGINT),
       CAST(:now AS BIGINT), coalesce(CAST(:title AS TEXT), s.title),
       CASE WHEN CAST(:title AS TEXT) IS NULL THEN s.titled_by ELSE 'person' END, s.model,
       s.provider, s.base_url, s.busy_mode, s.project_key, s.personality, s.tools, s.workspace,
       CAST(:last_seq AS BIGINT), CAST(:base_key AS BIGINT), CAST(:base_seq AS BIGINT),
       CAST(:base_revision AS BIGINT), CAST(:base_depth AS BIGINT),
       coalesce(CAST(:user_messages AS BIGINT), s.user_messages - CAST(:fewer AS BIGINT))
FROM sessions s
WHERE s.key = :parent_key
RETURNING
-- include: session_state

-- name: count_user_messages
-- Count what people wrote in a session between two places.
SELECT count(*) FROM messages
WHERE session_key = :session_key AND seq > :after AND seq < :before AND role = 'user'

-- name: copy_cuts
-- Give a branch the cuts that are in effect where it begins.
INSERT INTO cuts (session_key, from_seq, to_seq, kind, summary, user_messages, made_at)
SELECT CAST(:to_key AS BIGINT), c.from_seq, c.to_seq, c.kind, c.summary, c.user_messages, c.made_at
FROM cuts c
WHERE c.session_key = :from_key AND c.lifted_at IS NULL AND c.to_seq <= :upto
ORDER BY c.key

-- name: copy_lifted_compactions
-- Give a branch the compactions that come back when it takes back an undoing.
INSERT INTO cuts (session_key, from_seq, to_seq, kind, summary, user_messages, made_at, lifted_at,
                  lifted_by)
SELECT n.session_key, c.from_seq, c.to_seq, c.kind, c.summary, c.user_messages, c.made_at,
       c.lifted_at, n.key
FROM cuts c
JOIN cuts u ON u.key = c.lifted_by AND u.lifted_at IS NULL
JOIN cuts n ON n.session_key = :to_key AND n.from_seq = u.from_seq AND n.to_seq = u.to_seq
  AND n.kind = u.kind
WHERE c.session_key = :from_key AND c.lifted_at IS NOT NULL
ORDER BY c.key

-- name: copy_messages
-- Give a session rows of its own for lines of another one, as they were at a revision.
INSERT INTO messages (session_key, seq, turn_id, role, sender_key, text, parts, at, arrived_at,
                      changed_at, deleted_at)
SELECT CAST(:to_key AS BIGINT), m.seq, m.turn_id, m.role, m.sender_key,
       CASE WHEN r.version IS NULL THEN m.text ELSE r.text END,
       CASE WHEN r.version IS NULL THEN m.parts ELSE r.parts END, m.at, m.arrived_at,
       CASE WHEN r.version IS NULL THEN m.changed_at ELSE o.replaced_at END,
       CASE WHEN r.version IS NULL THEN m.deleted_at END
FROM messages m
LEFT JOIN revisions r ON r.message_key = m.key
  AND r.version = (SELECT min(v.version) FROM revisions v
                   WHERE v.message_key = m.key AND v.session_revision > :revision)
LEFT JOIN revisions o ON o.message_key = m.key AND o.version = r.version - 1
WHERE m.session_key = :from_key AND m.seq > :after AND m.seq < :before
ORDER BY m.seq

-- name: copy_blob_uses
-- Remember that copied lines need the blobs of those they were copied from.
INSERT INTO blob_uses (hash, message_key)
SELECT u.hash, n.key
FROM blob_uses u
JOIN messages m ON m.key = u.message_key
JOIN messages n ON n.session_key = :to_key AND n.seq = m.seq
WHERE m.session_key = :from_key AND m.seq > :after AND m.seq < :before
ON CONFLICT (hash, message_key) DO NOTHING

-- name: list_continued
-- Read the sessions that one goes on from as the same conversation; a circle ends by itself.
WITH RECURSIVE up (key) AS (
    SELECT s.key FROM sessions s WHERE s.id = :id
    UNION
    SELECT s.parent_key FROM up JOIN sessions s ON s.key = up.key
    WHERE s.cause = 'continued' AND s.parent_key IS NOT NULL
)
SELECT s.key, s.id, s.parent_key, s.cause, s.last_seq, s.opened_at
FROM up JOIN sessions s ON s.key = up.key

-- name: list_continuations
-- Read the sessions in which one goes on as the same conversation; a circle ends by itself.
WITH RECURSIVE down (key) AS (
    SELECT s.key FROM sessions s WHERE s.id = :id
    UNION
    SELECT c.key FROM down JOIN sessions c ON c.parent_key = down.key
    WHERE c.cause = 'continued'
)
SELECT s.key, s.id, s.parent_key, s.cause, s.last_seq, s.opened_at
FROM down JOIN sessions s ON s.key = down.key

-- name: read_kin
-- Read the root and the parent of a session, and count its children.
SELECT s.key, s.cause, p.id AS parent_id, coalesce(r.id, s.id) AS root_id,
       (SELECT count(*) FROM sessions c WHERE c.parent_key = s.key) AS children
FROM sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
WHERE s.id = :id

-- name: list_children
-- Read the newest sessions that began from another one.
SELECT c.id, c.cause, c.title, c.base_seq, c.opened_at FROM sessions c
WHERE c.parent_key = :key
ORDER BY c.opened_at DESC, c.key DESC
LIMIT :most

-- name: list_copied_notes
-- List the notes among the lines that a session was given copies of.
SELECT DISTINCT n.key, n.text, n.parts
FROM messages m
JOIN quotes q ON q.message_key = m.key
JOIN messages n ON n.session_key = :to_key AND n.seq = m.seq
WHERE m.session_key = :from_key AND m.seq > :after AND m.seq < :before

-- name: set_parts
-- Store the parts of a message whose text stays the same.
UPDATE messages SET parts = :parts WHERE key = :key
