-- name: read_last_message
-- Tell the key of the newest message.
SELECT coalesce(max(key), 0) AS key FROM messages

-- name: scan_speech
-- Find the sessions in which somebody spoke, in a stretch of all messages.
SELECT DISTINCT session_key FROM messages
WHERE key > :after AND key <= :upto AND sender_key = :sender_key
ORDER BY session_key

-- name: list_owned
-- List the sessions that belong to a sender.
SELECT key, id FROM sessions WHERE sender_key = :sender_key ORDER BY key

-- name: list_turns_of_speech
-- List the turns of a session in which somebody who is forgotten spoke.
SELECT DISTINCT m.turn_id
FROM messages m
JOIN forgetting_tasks k ON k.forgetting_id = :forgetting_id AND k.step = 'sender'
     AND CAST(k.subject AS BIGINT) = m.sender_key
WHERE m.session_key = :session_key AND m.turn_id IS NOT NULL
ORDER BY m.turn_id

-- name: list_turns_after_speech
-- List the turns without a message of their own that answer again what such a person said.
SELECT t.id
FROM turns t
WHERE t.session_key = :session_key AND t.first_seq IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM messages o WHERE o.session_key = t.session_key
                  AND o.seq BETWEEN t.first_seq AND t.first_seq + 200
                  AND o.turn_id = t.id AND o.role = 'user')
  AND (SELECT m.sender_key FROM messages m WHERE m.session_key = t.session_key
       AND m.seq < t.first_seq AND m.role = 'user' ORDER BY m.seq DESC LIMIT 1)
      IN (SELECT CAST(k.subject AS BIGINT) FROM forgetting_tasks k
          WHERE k.forgetting_id = :forgetting_id AND k.step = 'sender')
ORDER BY t.id

-- name: find_first_speaker
-- Tell who said the first words in a session.
SELECT sender_key FROM messages
WHERE session_key = :session_key AND seq IS NOT NULL AND role = 'user'
ORDER BY seq
LIMIT 1

-- name: list_equal_titles
-- List the sessions of a family that have the same title, not given by a person.
SELECT key FROM sessions
WHERE (key = :root_key OR root_key = :root_key) AND title = :title AND titled_by <> 'person'
ORDER BY key

-- name: drop_title
-- Take a session's title away.
UPDATE sessions SET title = NULL, titled_by = NULL WHERE key = :key

-- name: read_turn_place
-- Tell where the lines of a turn begin, and where those of the next one do.
SELECT t.session_key, t.state, t.first_seq,
       (SELECT n.first_seq FROM turns n WHERE n.session_key = t.session_key AND n.id > t.id
        AND n.first_seq > t.first_seq ORDER BY n.id LIMIT 1) AS next_seq
FROM turns t
WHERE t.id = :id

-- name: list_answers
-- List a slice of what was answered in a turn, and is not yet empty.
SELECT key, seq FROM messages
WHERE session_key = :session_key AND seq >= :from_seq AND seq <= :to_seq AND turn_id = :turn_id
  AND role <> 'user' AND (text <> '' OR parts IS NOT NULL)
ORDER BY seq
LIMIT :most

-- name: strip_turn
-- Take the words out of a turn.
UPDATE turns SET question = NULL, answer = NULL, error = NULL, asks = NULL
WHERE id = :id AND coalesce(question, answer, error) IS NOT NULL
RETURNING id

-- name: list_owed_by_turn
-- List what a turn still owes.
SELECT id FROM deliveries WHERE turn_id = :turn_id AND state = 'pending' ORDER BY id

-- name: strip_deliveries
-- Take the words out of what a turn owed.
UPDATE deliveries SET error = NULL, platform_id = NULL, text = NULL, parts = NULL, choices = NULL
WHERE turn_id = :turn_id

-- name: strip_pieces
-- Forget by what ids a platform knows the answers of a turn.
UPDATE delivery_pieces SET platform_id = NULL
WHERE delivery_id IN (SELECT d.id FROM deliveries d WHERE d.turn_id = :turn_id)

-- name: list_speech
-- List a slice of what somebody who is forgotten said in a session.
SELECT m.key, m.seq
FROM messages m
JOIN forgetting_tasks k ON k.forgetting_id = :forgetting_id AND k.step = 'sender'
     AND CAST(k.subject AS BIGINT) = m.sender_key
WHERE m.session_key = :session_key
ORDER BY m.key
LIMIT :most

-- name: drop_covering_summaries
-- Forget the summaries in a session that cover an emptied line of it or of its base.
DELETE FROM cuts
WHERE session_key = :session_key AND kind = 'compacted'
  AND EXISTS (SELECT 1 FROM messages m WHERE m.session_key = :spoken_in
              AND m.seq BETWEEN cuts.from_seq AND cuts.to_seq AND m.seq <= :reach
              AND m.text = '' AND m.parts IS NULL AND m.deleted_at IS NOT NULL)
RETURNING key

-- name: drop_summary
-- Forget what a session was about.
UPDATE sessions SET summary = NULL WHERE key = :key AND summary IS NOT NULL

-- name: list_followers
-- List the sessions that came after one.
SELECT key FROM sessions WHERE parent_key = :key ORDER BY key

-- name: find_session_at
-- Tell whether an address is still needed.
SELECT key FROM sessions WHERE address_key = :address_key LIMIT 1

-- name: lock_address
-- Lock an address, so that no session opens there meanwhile.
SELECT key FROM addresses WHERE key = :key
FOR UPDATE -- postgres

-- name: list_forgotten_senders
-- List the senders that a forgetting removes.
SELECT s.platform, s.id FROM senders s
WHERE s.key IN (SELECT CAST(k.subject AS BIGINT) FROM forgetting_tasks k
                WHERE k.forgetting_id = :forgetting_id AND k.step = 'sender')
ORDER BY s.platform, s.id

-- name: empty_address
-- Leave of a direct chat only that there was one.
UPDATE addresses
SET chat = :chat, thread = '', alt_chat = NULL, parent = NULL, scope = NULL, chat_name = NULL,
    topic = NULL, dead_at = NULL, dead_why = NULL
WHERE key = :key AND kind = 'dm'

-- name: lock_sender
-- Take a sender for this transaction: whoever speaks for them now waits.
SELECT key, platform, id, person_key FROM senders WHERE key = :key
FOR UPDATE -- postgres

-- name: list_aliases_of
-- List the other ids of a sender.
SELECT platform, id FROM aliases WHERE sender_key = :sender_key ORDER BY platform, id

-- name: drop_aliases
-- Forget the other ids of a sender.
DELETE FROM aliases WHERE sender_key = :sender_key

-- name: drop_link_codes
-- Forget the link codes of a sender.
DELETE FROM link_codes WHERE sender_key = :sender_key OR claimed_by = :sender_key

-- name: anonymise_spending
-- Keep a slice of what a sender spent as mere numbers.
UPDATE usage SET sender_key = NULL
WHERE key IN (SELECT u.key FROM usage u WHERE u.sender_key = :sender_key LIMIT :most)
RETURNING key

-- name: empty_sender
-- Leave of a sender only that there was one.
UPDATE senders
SET id = :id, name = NULL, person_key = NULL, first_seen_at = 0, wrong_codes = 0,
    wrong_since = NULL, forgotten_at = :now
WHERE key = :key

-- name: drop_empty_person
-- Delete a person without senders.
DELETE FROM persons
WHERE key = :key AND NOT EXISTS (SELECT 1 FROM senders s WHERE s.person_key = persons.key)

-- name: find_task
-- Tell whether a forgetting still has something to remove.
SELECT subject FROM forgetting_tasks
WHERE forgetting_id = :forgetting_id AND step = :step AND subject = :subject

-- name: count_speech
-- Count what somebody said, by session, in a stretch of all messages.
SELECT s.id, s.sender_key AS owner_key, count(*) AS lines
FROM messages m
JOIN sessions s ON s.key = m.session_key
WHERE m.key > :after AND m.key <= :upto AND m.sender_key = :sender_key
GROUP BY s.id, s.sender_key
ORDER BY s.id
