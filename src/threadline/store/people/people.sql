-- name: find_sender
-- Find a sender, and the person they belong to.
SELECT key, person_key FROM senders WHERE platform = :platform AND id = :id

-- name: list_senders_like
-- List everybody who is the same person as a sender, the sender included; any of their ids will do.
SELECT s.key, s.platform, s.id, s.name, s.person_key
FROM senders s
WHERE s.key IN (SELECT f.key FROM senders f WHERE f.platform = :platform AND f.id = :id
                UNION
                SELECT a.sender_key FROM aliases a WHERE a.platform = :platform AND a.id = :id)
   OR s.person_key IN (SELECT f.person_key FROM senders f
                       WHERE f.platform = :platform AND f.id = :id
                       UNION
                       SELECT f.person_key FROM aliases a JOIN senders f ON f.key = a.sender_key
                       WHERE a.platform = :platform AND a.id = :id)
ORDER BY s.key


-- name: find_session_of_turn
-- Find the session that a turn belongs to now.
SELECT s.id FROM turns t JOIN sessions s ON s.key = t.session_key WHERE t.id = :turn_id

-- name: list_sender_keys
-- List everybody who is one person.
SELECT key FROM senders WHERE person_key = :person_key ORDER BY key

-- name: find_aliases
-- Find the ids that we go by for those under which a platform brought a sender and a chat.
SELECT a.id, s.id AS known_as
FROM aliases a
JOIN senders s ON s.key = a.sender_key
WHERE a.platform = :platform AND a.id IN (CAST(:sender_id AS TEXT), CAST(:chat AS TEXT))

-- name: find_known_form
-- Find the other name of a chat under which a message, or a change of it, arrived before.
SELECT k.chat
FROM senders s
CROSS JOIN aliases a
CROSS JOIN arrivals k
WHERE s.platform = :platform AND s.id = :chat AND a.sender_key = s.key
  AND k.chat = a.id AND k.profile = :profile
  AND k.platform = :platform AND k.account = :account AND k.message_id = :message_id
LIMIT 1

-- name: lock_person
-- Take a person for this transaction, so that nobody else moves their conversations meanwhile.
SELECT key, name, made_at FROM persons WHERE key = :key
FOR NO KEY UPDATE -- postgres

-- name: find_binding
-- Tell which session a route is bound to, and the person who speaks on it.
SELECT b.session_key, w.person_key
FROM bindings b
LEFT JOIN senders w ON w.key = b.sender_key
WHERE b.route = :route

-- name: list_routes_of_person
-- List the routes on which a person speaks, with their own sessions that these are bound to.
SELECT b.route, b.sender_key, s.key AS session_key, s.last_activity_at, s.ended_at, s.end_reason
FROM senders w
JOIN bindings b ON b.sender_key = w.key
JOIN sessions s ON s.key = b.session_key
JOIN senders o ON o.key = s.sender_key
WHERE w.person_key = :person_key AND o.person_key = :person_key AND s.profile = :profile
ORDER BY b.route

-- name: list_persons
-- List persons, from behind one of them on.
SELECT key, name, made_at FROM persons WHERE key > :after ORDER BY key LIMIT :most

-- name: read_person
-- Read a person.
SELECT key, name, made_at FROM persons WHERE key = :key

-- fragment: known_senders
-- The senders that the store knows, and the persons that they are.
SELECT key, person_key AS person, platform AS sender_identity_platform, id AS sender_identity_id,
       name AS sender_name, nullif(first_seen_at, 0) AS sender_first_seen_at
FROM senders

-- name: list_linked_senders
-- List the senders of persons from one to another, each person's first one who spoke first.
-- include: known_senders
WHERE person_key > :after AND person_key <= :last
ORDER BY person_key, CASE first_seen_at WHEN 0 THEN 1 ELSE 0 END, first_seen_at, key

-- name: list_senders_of_person
-- List the senders of a person, the first one who spoke first; who has not spoken yet comes last.
-- include: known_senders
WHERE person_key = :person_key
ORDER BY CASE first_seen_at WHEN 0 THEN 1 ELSE 0 END, first_seen_at, key

-- name: take_sender
-- Take a sender for this transaction.
SELECT key, person_key, wrong_codes, wrong_since FROM senders WHERE key = :key
FOR NO KEY UPDATE -- postgres

-- name: add_person
-- Make a person.
INSERT INTO persons (name, made_at) VALUES (:name, :now) RETURNING key

-- name: name_person
-- Call a person by a name.
UPDATE persons SET name = :name WHERE key = :key

-- name: set_person
-- Say which person a sender is, or that they are nobody's.
UPDATE senders SET person_key = :person_key WHERE key = :key

-- name: merge_persons
-- Let all senders of one person be another one.
UPDATE senders SET person_key = :to_key WHERE person_key = :from_key

-- name: drop_person
-- Forget a person who has no senders any more.
DELETE FROM persons WHERE key = :key

-- name: list_codes
-- List the link codes that were made for a sender, the newest first.
SELECT hash FROM link_codes WHERE sender_key = :sender_key ORDER BY made_at DESC, hash

-- name: find_code
-- Tell whether a link code is in use.
SELECT hash FROM link_codes WHERE hash = :hash

-- name: add_code
-- Keep the hash of a link code.
INSERT INTO link_codes (hash, sender_key, made_at, expires_at)
VALUES (:hash, :sender_key, :now, :expires_at)

-- name: read_sender
-- Read who a sender is.
SELECT platform AS identity_platform, id AS identity_id, name FROM senders WHERE key = :key

-- name: claim_code
-- Let a link code wait for a confirmation by who sent it, unless another sender did.
UPDATE link_codes SET claimed_by = :sender_key, state = 'claimed'
WHERE hash = :hash AND expires_at > :now AND sender_key <> :sender_key
  AND (claimed_by IS NULL OR claimed_by = :sender_key)
RETURNING sender_key

-- name: drop_claims
-- Delete the link codes that a sender has sent and not confirmed to the end, except one.
DELETE FROM link_codes WHERE claimed_by = :sender_key AND hash <> :hash

-- name: find_claim
-- Find the link that a sender can confirm: one that they sent, else one that was made for them.
SELECT hash, sender_key, claimed_by, state FROM link_codes
WHERE expires_at > :now
  AND ((claimed_by = :sender_key AND state = 'claimed')
       OR (sender_key = :sender_key AND state IN ('confirmed', 'shown')))
ORDER BY CASE WHEN claimed_by = :sender_key THEN 0 ELSE 1 END, made_at DESC, hash
LIMIT 1
FOR UPDATE -- postgres

-- name: set_code_state
-- Record how far a link is confirmed.
UPDATE link_codes SET state = :state WHERE hash = :hash

-- name: drop_code
-- Take back a link code.
DELETE FROM link_codes WHERE hash = :hash

-- name: drop_stale_codes
-- Forget the link codes that are no longer valid.
DELETE FROM link_codes WHERE expires_at <= :now

-- name: count_wrong_codes
-- Write down how many wrong link codes somebody sent, and since when.
UPDATE senders SET wrong_codes = :count, wrong_since = :since WHERE key = :key

-- name: list_alias_senders
-- List who else spoke under another id of a sender.
SELECT s.key
FROM aliases a
JOIN senders s ON s.platform = a.platform AND s.id = a.id
WHERE a.sender_key = :sender_key
ORDER BY s.key

-- name: list_bindings_of_person
-- List the routes of a person, and whose session each of them is bound to.
SELECT b.route, b.sender_key, b.session_key, o.key AS owner_key
FROM senders w
JOIN bindings b ON b.sender_key = w.key
JOIN sessions s ON s.key = b.session_key
JOIN senders o ON o.key = s.sender_key
WHERE w.person_key = :person_key AND o.person_key = :person_key
ORDER BY b.route

-- name: list_unanswered_of_person
-- List what a person's senders wrote in that person's sessions and whose turn has not ended.
SELECT s.key AS session_key, s.profile, o.key AS owner_key, w.key AS sender_key,
       w.id AS sender_id, t.id AS turn_id, m.key AS message_key, m.text
FROM senders o
CROSS JOIN sessions s
CROSS JOIN turns t
CROSS JOIN messages m
CROSS JOIN senders w
WHERE o.person_key = :person_key AND s.sender_key = o.key
  AND t.session_key = s.key AND t.ended_at IS NULL
  AND m.session_key = s.key AND m.turn_id = t.id AND m.seq IS NULL
  AND w.key = m.sender_key AND w.person_key = :person_key
UNION ALL
SELECT s.key, s.profile, o.key, w.key, w.id, t.id, m.key, m.text
FROM senders o
CROSS JOIN sessions s
CROSS JOIN turns t
CROSS JOIN messages m
CROSS JOIN senders w
WHERE o.person_key = :person_key AND s.sender_key = o.key
  AND t.session_key = s.key AND t.ended_at IS NULL
  AND m.session_key = s.key AND m.turn_id = t.id AND m.seq >= t.first_seq
  AND w.key = m.sender_key AND w.person_key = :person_key
ORDER BY turn_id, message_key

-- name: drop_binding
-- Let a route be bound to nothing.
DELETE FROM bindings WHERE route = :route

-- name: drop_bindings_of_sender
-- Let all routes on which a sender speaks be bound to nothing.
DELETE FROM bindings WHERE sender_key = :sender_key

-- name: count_companions
-- Count what others wrote in the same turn.
SELECT count(*) AS count
FROM turns t
JOIN messages m ON m.session_key = t.session_key AND m.turn_id = t.id
WHERE t.id = :turn_id AND m.seq IS NULL AND m.role = 'user'
  AND (m.sender_key IS NULL OR m.sender_key <> :sender_key)

-- name: move_message
-- Let a message wait for another turn in another session.
UPDATE messages SET session_key = :session_key, turn_id = :turn_id
WHERE key = :key AND seq IS NULL

-- name: leave_notes
-- Keep the notes of a turn that went away, for the next turn of the session they are about.
UPDATE messages SET turn_id = NULL
WHERE turn_id = :turn_id AND session_key = :session_key AND seq IS NULL

-- name: find_address
-- Find a place.
SELECT key FROM addresses
WHERE platform = :platform AND account = :account AND kind = :kind AND chat = :chat
  AND thread = :thread

-- name: read_address
-- Read a place.
SELECT platform, account, kind, chat, thread, alt_chat, parent, scope, chat_name, topic
FROM addresses WHERE key = :key

-- name: lock_aliases
-- Let nobody else learn of aliases on a platform meanwhile. SQLite has one writer only.
SELECT 1 -- sqlite
SELECT CAST(pg_advisory_xact_lock(hashtextextended(CAST(:platform AS TEXT), 11)) AS TEXT) AS locked -- postgres

-- name: add_alias
-- Remember by whom else an id is meant.
INSERT INTO aliases (platform, id, sender_key, learned_at)
VALUES (:platform, :id, :sender_key, :now)
ON CONFLICT (platform, id) DO UPDATE
SET sender_key = excluded.sender_key, learned_at = excluded.learned_at

-- name: repoint_aliases
-- Let all aliases of one sender be those of another.
UPDATE aliases SET sender_key = :to_key WHERE sender_key = :from_key

-- name: list_bindings_of_sender
-- List the routes on which a sender speaks.
SELECT route, session_key FROM bindings WHERE sender_key = :sender_key ORDER BY route

-- name: find_bound_key
-- Find the session that a route is bound to.
SELECT session_key FROM bindings WHERE route = :route

-- name: read_liveliness
-- Read what decides which of two sessions goes on.
SELECT key, CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END AS is_open, last_activity_at
FROM sessions WHERE key = :key

-- name: read_turn_to_move
-- Read whether a turn has begun, and where it was asked for.
SELECT state, first_seq, address_key FROM turns WHERE id = :id

-- name: list_crossing_notes
-- List the sessions of a person's senders with notes that quote a session of another of them.
SELECT DISTINCT s.key, s.sender_key, o.id AS quoted_id, o.sender_key AS quoted_sender_key
FROM senders b
JOIN sessions o ON o.sender_key = b.key
JOIN quotes q ON q.session_id = o.id
JOIN messages n ON n.key = q.message_key
JOIN sessions s ON s.key = n.session_key
JOIN senders a ON a.key = s.sender_key
WHERE a.person_key = :person_key AND b.person_key = :person_key AND o.sender_key <> s.sender_key
ORDER BY s.key, o.id
