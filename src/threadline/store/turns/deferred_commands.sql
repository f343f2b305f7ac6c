-- fragment: asked_at_place
-- A turn that waits for an answer, and asked for it at a place.
w.state = 'waiting'
  AND (EXISTS (SELECT 1 FROM turn_targets g WHERE g.turn_id = w.id AND g.address_key = :address_key)
       OR (w.address_key = :address_key
           AND NOT EXISTS (SELECT 1 FROM turn_targets g WHERE g.turn_id = w.id)))

-- name: list_questions
-- List the turns that wait for an answer in a session, and then those that asked at a place.
SELECT w.id, w.session_key, 0 AS beside, w.asked_at, w.questions FROM turns w
WHERE w.session_key = :session_key AND w.state = 'waiting'
UNION ALL
SELECT w.id, w.session_key, 1 AS beside, w.asked_at, w.questions FROM turns w
WHERE w.session_key <> :session_key AND
-- include: asked_at_place
ORDER BY beside, asked_at DESC, id DESC

-- name: find_question_beside
-- Find the last question that a session asked at a place in which no conversation goes on.
SELECT w.id AS turn_id, w.session_key,
       (SELECT max(d.id) FROM deliveries d
        WHERE d.turn_id = w.id AND d.address_key = :address_key) AS delivery_id
FROM turns w
WHERE NOT EXISTS (SELECT 1 FROM bindings b WHERE b.session_key = w.session_key) AND
-- include: asked_at_place
ORDER BY w.asked_at DESC, w.id DESC
LIMIT 1

-- name: find_said_since
-- Tell whether anything was said at a place after a delivery.
SELECT id FROM deliveries WHERE address_key = :address_key AND id > :id LIMIT 1

-- name: take_back_command
-- Forget that a message was taken for a command, as it turns out to be something said.
DELETE FROM arrivals
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND message_id = :message_id AND kind = :kind AND version = :version AND outcome = 'command'

-- name: read_line
-- Tell which turn of a session was asked for last, and how much there is not over yet.
SELECT coalesce((SELECT max(t.id) FROM turns t WHERE t.session_key = :session_key), 0) AS newest,
       (SELECT count(*) FROM turns t WHERE t.session_key = :session_key AND t.ended_at IS NULL)
       + (SELECT count(*) FROM waiting_commands w WHERE w.session_key = :session_key) AS unfinished,
       (SELECT count(*) FROM waiting_commands w WHERE w.session_key = :session_key) AS commands

-- name: add_waiting_command
-- Keep a command until what was asked before it has been answered.
INSERT INTO waiting_commands (session_key, after_turn, rank, platform, sender_id, inbound, owner,
                              lease_until, queued_at)
VALUES (:session_key, :after_turn, :rank, :platform, :sender_id, :inbound, :owner, :lease_until,
        :now)
RETURNING id

-- name: list_due_commands
-- List the commands before which nothing is left to do in their sessions, and which nobody carries
-- out just now.
SELECT w.id FROM waiting_commands w
WHERE (w.owner IS NULL OR w.lease_until < :now OR w.owner IN
       (SELECT value FROM json_each(:dead))) -- sqlite
       (SELECT v FROM json_array_elements_text(CAST(CAST(:dead AS TEXT) AS JSON)) AS v)) -- postgres
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_key = w.session_key
                  AND t.ended_at IS NULL AND t.id <= w.after_turn)
  AND NOT EXISTS (SELECT 1 FROM waiting_commands e WHERE e.session_key = w.session_key
                  AND e.id < w.id)
ORDER BY w.id
LIMIT :most

-- name: find_joinable
-- Find a queued turn, unless a command waits behind it or its message arrived late.
SELECT t.queued_at FROM turns t
WHERE t.id = :turn_id AND t.written_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM waiting_commands c
                  WHERE c.session_key = :session_key AND c.after_turn >= t.id)

-- name: find_payer
-- Find who pays for an unfinished turn: whoever asked for it again, else the sender of its first
-- message.
SELECT p.key AS sender_key, p.person_key
FROM senders p
WHERE p.key = (SELECT coalesce(t.asked_by,
                               (SELECT m.sender_key FROM messages m
                                WHERE m.session_key = t.session_key AND m.turn_id = t.id
                                  AND m.role = 'user' AND m.sender_key IS NOT NULL
                                  AND (m.seq IS NULL OR m.seq >= t.first_seq)
                                ORDER BY m.key LIMIT 1))
               FROM turns t WHERE t.id = :turn_id)

-- name: read_waiting_command
-- Read a command that waits.
SELECT session_key, owner FROM waiting_commands WHERE id = :id

-- name: list_command_owners
-- List who carries out commands that take longer than a moment.
SELECT DISTINCT owner FROM waiting_commands WHERE owner IS NOT NULL

-- name: begin_waiting_command
-- Begin to carry out a command that nobody carries out, or whose owner was given up.
UPDATE waiting_commands SET owner = :owner, lease_until = :lease_until
WHERE id = :id
  AND (owner IS NULL OR lease_until < :now OR owner IN
       (SELECT value FROM json_each(:dead))) -- sqlite
       (SELECT v FROM json_array_elements_text(CAST(CAST(:dead AS TEXT) AS JSON)) AS v)) -- postgres
RETURNING rank, inbound, queued_at

-- name: end_waiting_command
-- Take a command out of the line that its owner has carried out.
DELETE FROM waiting_commands WHERE id = :id AND owner = :owner
RETURNING id

-- name: take_waiting_command
-- Take a command out of the line, as it is carried out now.
DELETE FROM waiting_commands
WHERE id = :id
RETURNING rank, inbound

-- name: take_waiting_commands_of
-- Take all commands that wait in a session.
DELETE FROM waiting_commands
WHERE session_key = :session_key
RETURNING id, inbound, owner

-- name: list_waiting_commands_by
-- List the commands that wait, wherever, and that somebody gave.
SELECT id, session_key FROM waiting_commands WHERE platform = :platform AND sender_id = :sender_id

-- name: find_next_turn
-- Find the turn that comes next in a session.
SELECT min(id) AS id FROM turns
WHERE session_key = :session_key AND ended_at IS NULL AND state = 'queued'

-- name: set_home
-- Let the unasked messages of a platform go to a place.
INSERT INTO homes (profile, platform, address_key, set_at)
VALUES (:profile, :platform, :address_key, :now)
ON CONFLICT (profile, platform) DO UPDATE
SET address_key = excluded.address_key, set_at = excluded.set_at

-- name: list_homes
-- List where the unasked messages of platforms go.
SELECT a.platform, a.account, a.kind, a.chat, nullif(a.thread, '') AS thread, a.alt_chat,
       a.parent, a.scope, a.chat_name, a.topic
FROM homes h
JOIN addresses a ON a.key = h.address_key
WHERE h.profile = :profile
ORDER BY h.platform

-- name: drop_homes_at
-- Let no unasked messages go to a place any more.
DELETE FROM homes WHERE address_key = :address_key RETURNING platform
