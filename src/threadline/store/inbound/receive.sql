-- name: lock_arrival
-- Serialise arrivals of one message and its changes, and wait while its sender is being forgotten.
-- SQLite has one writer only.
SELECT 1 -- sqlite
SELECT CAST(pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), -- postgres
       CAST(:profile AS TEXT), CAST(:platform AS TEXT), CAST(:account AS TEXT), -- postgres
       CAST(:chat AS TEXT), CAST(:message_id AS TEXT)), 7)) AS TEXT) AS locked, -- postgres
       CAST(pg_advisory_xact_lock_shared(hashtextextended(concat_ws(chr(31), -- postgres
       CAST(:platform AS TEXT), CAST(:sender_id AS TEXT)), 13)) AS TEXT) AS speaking -- postgres

-- name: lock_arrivals_of_sender
-- Wait for every arrival of a sender that is under way, and hold off new ones.
SELECT 1 -- sqlite
SELECT CAST(pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), -- postgres
       CAST(:platform AS TEXT), CAST(:sender_id AS TEXT)), 13)) AS TEXT) AS locked -- postgres

-- name: find_for_arrival
-- Read what is known of an inbound message: the place, the sender, and whether it came before.
SELECT a.key AS address_key, a.alt_chat, a.parent, a.scope, a.chat_name, a.topic,
       p.key AS sender_key, p.name AS sender_name, p.person_key, p.first_seen_at, p.vouched_by,
       k.outcome, k.turn_id, k.message_key, ks.id AS session_id,
       (SELECT count(*) FROM early_changes e
        WHERE e.profile = :profile AND e.platform = :platform AND e.account = :account
          AND e.chat = :said_in AND e.message_id = CAST(:message_id AS TEXT)) AS early,
       (SELECT count(*) FROM turns w WHERE w.state = 'waiting'
          AND NOT EXISTS (SELECT 1 FROM bindings b WHERE b.session_key = w.session_key)) AS asked
FROM (SELECT 1 AS one) AS always
LEFT JOIN addresses a ON a.platform = :platform AND a.account = :account AND a.kind = :kind
     AND a.chat = :chat AND a.thread = :thread
LEFT JOIN senders p ON p.platform = :platform AND p.id = CAST(:sender_id AS TEXT)
LEFT JOIN arrivals k ON k.profile = :profile AND k.platform = :platform
     AND k.account = :account AND k.chat = :said_in AND k.message_id = CAST(:message_id AS TEXT) AND k.kind = 'message' AND k.version = 0
LEFT JOIN turns kt ON kt.id = k.turn_id
LEFT JOIN sessions ks ON ks.key = coalesce(kt.session_key, k.session_key)

-- name: add_address
-- Remember a place.
INSERT INTO addresses (platform, account, kind, chat, thread, alt_chat, parent, scope, chat_name,
                       topic)
VALUES (:platform, :account, :kind, :chat, :thread, :alt_chat, :parent, :scope, :chat_name, :topic)
RETURNING key

-- name: relabel_address
-- Remember what a place is called now.
UPDATE addresses
SET alt_chat = :alt_chat, parent = :parent, scope = :scope, chat_name = :chat_name, topic = :topic
WHERE key = :key

-- name: find_any_address
-- Tell whether anybody has ever spoken here.
SELECT key FROM addresses LIMIT 1

-- name: add_sender
-- Remember a sender.
INSERT INTO senders (platform, id, name, first_seen_at, vouched_by)
VALUES (:platform, :id, :name, :now, :vouched_by)
RETURNING key

-- name: greet_sender
-- Remember since when somebody speaks whom we knew by name only.
UPDATE senders SET first_seen_at = :now WHERE key = :key

-- name: rename_sender
-- Remember what a sender is called now, and who answers for them.
UPDATE senders SET name = :name, vouched_by = :vouched_by WHERE key = :key

-- name: vouch_sender
-- Remember who answers for a sender, unless that is known.
UPDATE senders SET vouched_by = :vouched_by
WHERE key = :key AND vouched_by IS DISTINCT FROM CAST(:vouched_by AS TEXT)

-- name: add_arrival
-- Remember that something arrived and what came of it; a second time is refused.
INSERT INTO arrivals (profile, platform, account, chat, message_id, kind, version, outcome, session_key,
                      turn_id, message_key)
VALUES (:profile, :platform, :account, :chat, :message_id, :kind, :version, :outcome,
        :session_key, :turn_id, :message_key)

-- name: find_arrival
-- Tell what came of something that arrived.
SELECT k.outcome, k.turn_id, k.message_key, s.id AS session_id
FROM arrivals k
LEFT JOIN turns t ON t.id = k.turn_id
LEFT JOIN sessions s ON s.key = coalesce(t.session_key, k.session_key)
WHERE k.profile = :profile AND k.platform = :platform AND k.account = :account
  AND k.chat = :chat AND k.message_id = :message_id AND k.kind = :kind AND k.version = :version

-- name: move_arrivals
-- Record that what was queued in a turn waits in another session.
UPDATE arrivals SET session_key = :session_key
WHERE session_key = :from_key AND turn_id = :turn_id

-- name: move_arrival
-- Record that a message waits for another turn in another session.
UPDATE arrivals SET session_key = :session_key, turn_id = :turn_id
WHERE session_key = :from_key AND message_key = :message_key

-- name: drop_refusal
-- Delete the note that something was refused, as it is received now.
DELETE FROM arrivals
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND message_id = :message_id AND kind = :kind AND version = :version AND outcome = 'refused'

-- name: find_newest_change
-- Tell the version of the newest edit or deletion of a message.
SELECT max(version) AS version FROM arrivals
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND message_id = :message_id
  AND kind <> 'message'

-- name: add_early_change
-- Keep an edit or deletion until its message comes.
INSERT INTO early_changes (profile, platform, account, chat, message_id, kind, version, text,
                           parts, at, sender_id)
VALUES (:profile, :platform, :account, :chat, :message_id, :kind, :version, :text, :parts, :at,
        :sender_id)

-- name: find_author
-- Find the sender of a message, or of what was said between others under this platform id.
SELECT p.id FROM messages m JOIN senders p ON p.key = m.sender_key
WHERE m.key = CAST(:message_key AS BIGINT)
UNION ALL
SELECT p.id
FROM addresses a
JOIN observations o ON o.profile = :profile AND o.address_key = a.key AND o.platform_id = :message_id
JOIN senders p ON p.key = o.sender_key
WHERE CAST(:message_key AS BIGINT) IS NULL AND a.platform = :platform AND a.account = :account
  AND a.chat = :chat
LIMIT 1

-- name: take_early_changes
-- Take the edits and deletions that waited for a message.
DELETE FROM early_changes
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND message_id = :message_id
RETURNING kind, version, text, parts, at, sender_id
