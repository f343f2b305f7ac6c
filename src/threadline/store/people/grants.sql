-- name: lock_access
-- Let nobody else change who may speak in a profile meanwhile. SQLite has one writer only.
SELECT 1 -- sqlite
SELECT CAST(pg_advisory_xact_lock(hashtextextended(CAST(:profile AS TEXT), 12)) AS TEXT) AS locked -- postgres

-- name: list_ids_like
-- List every id under which a platform knows whoever has this one, the id that we go by included.
SELECT s.id FROM senders s
WHERE s.key IN (SELECT f.key FROM senders f WHERE f.platform = :platform AND f.id = :id
                UNION
                SELECT a.sender_key FROM aliases a WHERE a.platform = :platform AND a.id = :id)
UNION
SELECT b.id FROM aliases b
WHERE b.sender_key IN (SELECT f.key FROM senders f WHERE f.platform = :platform AND f.id = :id
                       UNION
                       SELECT a.sender_key FROM aliases a
                       WHERE a.platform = :platform AND a.id = :id)

-- name: find_grant
-- Tell whether somebody was let in.
SELECT platform AS identity_platform, sender_id AS identity_id, name, granted_at FROM grants
WHERE profile = :profile AND platform = :platform AND sender_id = :sender_id

-- name: add_grant
-- Let somebody in; who is in already stays so since when they are.
INSERT INTO grants (profile, platform, sender_id, name, granted_at)
VALUES (:profile, :platform, :sender_id, :name, :now)
ON CONFLICT (profile, platform, sender_id) DO UPDATE
SET name = coalesce(excluded.name, grants.name)

-- name: list_grants
-- List everybody who was let in, the first one first.
SELECT platform AS identity_platform, sender_id AS identity_id, name, granted_at FROM grants
WHERE profile = :profile ORDER BY granted_at, platform, sender_id

-- name: drop_grant
-- Let somebody in no longer.
DELETE FROM grants
WHERE profile = :profile AND platform = :platform AND sender_id = :sender_id
RETURNING sender_id

-- name: drop_grants_of
-- Let somebody in no longer, in no profile.
DELETE FROM grants WHERE platform = :platform AND sender_id = :sender_id RETURNING profile

-- name: list_pairings
-- List those who wait to be let in, whoever asked first first.
SELECT platform AS identity_platform, sender_id AS identity_id, name, asked_at, expires_at
FROM pairings
WHERE profile = :profile AND expires_at > :now
ORDER BY asked_at, platform, sender_id

-- name: put_pairing
-- Keep the hash of a code that somebody was just shown; an older one of theirs is worth nothing.
INSERT INTO pairings (profile, platform, sender_id, name, code_hash, asked_at, expires_at)
VALUES (:profile, :platform, :sender_id, :name, :code_hash, :now, :expires_at)
ON CONFLICT (profile, platform, sender_id) DO UPDATE
SET name = excluded.name, code_hash = excluded.code_hash, asked_at = excluded.asked_at,
    expires_at = excluded.expires_at

-- name: find_pairing
-- Tell who was shown a code, while it is valid.
SELECT platform AS identity_platform, sender_id AS identity_id, name FROM pairings
WHERE profile = :profile AND platform = :platform AND code_hash = :code_hash AND expires_at > :now

-- name: drop_pairing
-- Forget that somebody asked to be let in.
DELETE FROM pairings
WHERE profile = :profile AND platform = :platform AND sender_id = :sender_id
RETURNING sender_id

-- name: drop_pairings_of
-- Forget that somebody asked to be let in, in any profile.
DELETE FROM pairings WHERE platform = :platform AND sender_id = :sender_id RETURNING profile

-- name: drop_stale_pairings
-- Forget whoever was not let in in time.
DELETE FROM pairings WHERE profile = :profile AND expires_at <= :now

-- name: sweep_pairings
-- Forget whoever was not let in in time, in any profile.
DELETE FROM pairings WHERE expires_at <= :now

-- name: list_mistakes
-- List the latest wrong codes for a platform, the newest first.
SELECT at FROM pairing_mistakes
WHERE profile = :profile AND platform = :platform
ORDER BY at DESC
LIMIT :most

-- name: add_mistake
-- Write down that a wrong code was given.
INSERT INTO pairing_mistakes (profile, platform, at) VALUES (:profile, :platform, :now)

-- name: drop_old_mistakes
-- Forget the wrong codes that lock nothing any more.
DELETE FROM pairing_mistakes
WHERE profile = :profile AND platform = :platform AND at < :before

-- fragment: asked_turn
-- Who asked for a turn, where, in which profile, and how they were let in there.
SELECT DISTINCT t.id AS turn_id, x.profile, w.platform AS sender_platform, w.id AS sender_id,
       w.name AS sender_name, w.vouched_by AS voucher,
       CASE WHEN g.sender_id IS NULL THEN 0 ELSE 1 END AS is_granted,
       a.platform AS address_platform, a.account AS address_account, a.kind AS address_kind,
       a.chat AS address_chat, a.thread AS address_thread, a.alt_chat AS address_alt_chat,
       a.parent AS address_parent, a.scope AS address_scope, a.chat_name AS address_chat_name,
       a.topic AS address_topic

-- fragment: words_of_asked_turn
-- The senders of the messages of a turn, or whoever asked for the same words again.
JOIN sessions x ON x.key = t.session_key
JOIN addresses a ON a.key = t.address_key
LEFT JOIN messages m ON m.session_key = t.session_key AND m.seq >= t.first_seq
                    AND m.turn_id = t.id AND m.role = 'user'
JOIN senders w ON w.key = coalesce(m.sender_key, t.asked_by, x.sender_key)
LEFT JOIN grants g ON g.profile = x.profile AND g.platform = w.platform AND g.sender_id = w.id

-- name: list_requesters
-- List the senders whose messages a turn answers.
-- include: asked_turn
FROM turns t
-- include: words_of_asked_turn
WHERE t.id = :turn_id
ORDER BY t.id, w.id

-- name: find_direct_chat
-- Find the direct chat in which a sender last spoke.
SELECT a.platform, a.account, a.kind, a.chat, a.thread, a.alt_chat, a.parent, a.scope,
       a.chat_name, a.topic
FROM senders w
JOIN sessions s ON s.sender_key = w.key
JOIN addresses a ON a.key = s.address_key
WHERE w.platform = :platform AND w.id = :id AND a.platform = w.platform
  AND s.profile = :profile AND a.kind = 'dm'
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT 1

-- name: list_interrupted_askers
-- List who asked for some turns that were cut off.
-- include: asked_turn
FROM (SELECT id, session_key, address_key, first_seq, asked_by FROM turns
      WHERE ended_at IS NULL AND state = 'interrupted' AND id IN
            (SELECT value FROM json_each(:ids))) t -- sqlite
            (SELECT CAST(v AS BIGINT) FROM json_array_elements_text(CAST(CAST(:ids AS TEXT) AS JSON)) AS v)) t -- postgres
-- include: words_of_asked_turn
ORDER BY t.id, w.id

-- name: list_askers
-- List whose words a turn that has begun answers, and which persons they are.
SELECT DISTINCT m.sender_key, w.person_key
FROM turns t
JOIN messages m ON m.session_key = t.session_key AND m.seq >= t.first_seq
               AND m.turn_id = t.id AND m.role = 'user'
JOIN senders w ON w.key = m.sender_key
WHERE t.id = :turn_id

-- name: find_asker_before
-- Find whose words were the last before those of a turn, and which person that is.
SELECT m.sender_key, w.person_key
FROM turns t
JOIN messages m ON m.session_key = t.session_key AND m.seq < t.first_seq AND m.role = 'user'
JOIN senders w ON w.key = m.sender_key
WHERE t.id = :turn_id
ORDER BY m.seq DESC
LIMIT 1
