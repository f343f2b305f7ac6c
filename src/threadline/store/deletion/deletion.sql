-- name: begin_forgetting
-- Write down that something is to be forgotten.
INSERT INTO forgettings (kind, state, asked_at, counts) VALUES (:kind, 'removing', :now, '{}')
RETURNING id

-- name: lock_forgetting
-- Take a forgetting for this transaction.
SELECT id, kind, state, asked_at, done_at, counts FROM forgettings WHERE id = :id
FOR NO KEY UPDATE -- postgres

-- name: read_forgetting
-- Read how far a forgetting has come.
SELECT id, kind, state, asked_at, done_at, counts FROM forgettings WHERE id = :id

-- name: list_forgettings
-- List the newest forgettings, or those before one of them.
SELECT id, kind, state, asked_at, done_at, counts FROM forgettings WHERE id < :before
ORDER BY id DESC LIMIT :most

-- name: list_unfinished_forgettings
-- List the forgettings that are under way, the oldest first.
SELECT id FROM forgettings WHERE state <> 'done' ORDER BY id

-- name: set_forgetting
-- Write down how far a forgetting has come.
UPDATE forgettings SET state = :state, counts = :counts, done_at = :done_at WHERE id = :id

-- name: add_task
-- Remember what a forgetting has to remove.
INSERT INTO forgetting_tasks (forgetting_id, step, subject)
VALUES (:forgetting_id, :step, :subject)
ON CONFLICT (forgetting_id, step, subject) DO NOTHING

-- name: next_task
-- Find the next thing to remove in one step of a forgetting.
SELECT subject, seen FROM forgetting_tasks
WHERE forgetting_id = :forgetting_id AND step = :step
ORDER BY subject
LIMIT 1

-- name: next_unseen_task
-- Find the next thing in one step of a forgetting for which a table was not yet looked through.
SELECT subject, seen FROM forgetting_tasks
WHERE forgetting_id = :forgetting_id AND step = :step AND seen < :end
ORDER BY subject
LIMIT 1

-- name: note_seen
-- Remember how far a table has been looked through.
UPDATE forgetting_tasks SET seen = :seen
WHERE forgetting_id = :forgetting_id AND step = :step AND subject = :subject

-- name: end_task
-- Remember that something is gone.
DELETE FROM forgetting_tasks
WHERE forgetting_id = :forgetting_id AND step = :step AND subject = :subject

-- name: list_local_pieces
-- List the files that a delivery to this machine is known to have become, and its state.
SELECT d.state, d.platform_id, p.platform_id AS piece
FROM deliveries d
JOIN addresses a ON a.key = d.address_key AND a.platform = 'local'
LEFT JOIN delivery_pieces p ON p.delivery_id = d.id
WHERE d.id = :id

-- name: add_output
-- Remember that files have to be deleted: those of a session, or of a delivery by their names.
INSERT INTO forgetting_outputs (forgetting_id, session_id) VALUES (:forgetting_id, :session_id)
ON CONFLICT (forgetting_id, session_id) DO NOTHING

-- name: list_outputs
-- List the sessions whose files have to be deleted.
SELECT session_id FROM forgetting_outputs
WHERE forgetting_id = :forgetting_id
ORDER BY session_id
LIMIT :most

-- name: end_output
-- Remember that the files of a session are gone.
DELETE FROM forgetting_outputs WHERE forgetting_id = :forgetting_id AND session_id = :session_id

-- name: add_tombstone
-- Keep the keyed hash of something that was forgotten.
INSERT INTO tombstones (hash, forgetting_id, at) VALUES (:hash, :forgetting_id, :now)
ON CONFLICT (hash) DO NOTHING

-- name: find_tombstone
-- Tell whether something was forgotten before.
SELECT at FROM tombstones WHERE hash = :hash

-- name: list_tombstones
-- List what a forgetting left behind.
SELECT hash FROM tombstones WHERE forgetting_id = :forgetting_id ORDER BY hash LIMIT :most

-- name: unbind_session
-- Let all routes of a session go.
DELETE FROM bindings WHERE session_key = :session_key

-- name: unbind_doomed
-- Release all routes of the sessions that a forgetting removes.
DELETE FROM bindings
WHERE session_key IN (SELECT CAST(k.subject AS BIGINT) FROM forgetting_tasks k
                      WHERE k.forgetting_id = :forgetting_id AND k.step = 'session')

-- name: lock_doomed
-- Lock the sessions that a forgetting removes, in the order of their keys.
SELECT s.key FROM sessions s
WHERE s.key IN (SELECT CAST(k.subject AS BIGINT) FROM forgetting_tasks k
                WHERE k.forgetting_id = :forgetting_id AND k.step = 'session')
ORDER BY s.key
FOR NO KEY UPDATE -- postgres

-- name: find_doomed
-- Return a row if a session is being forgotten. Ask under the session's lock.
SELECT k.forgetting_id FROM forgetting_tasks k WHERE k.step = 'session' AND k.subject = :subject
LIMIT 1

-- name: read_remains
-- Read what the forgetting of a session must know of it.
SELECT s.key, s.id, s.parent_key, s.root_key, s.base_key, s.base_seq, s.base_revision,
       s.base_depth, s.native_source, s.native_id, s.revision, s.sender_key, s.title, s.titled_by
FROM sessions s
WHERE s.key = :key

-- name: hush_session
-- Take the words out of a session's own row, and let nobody go on in it.
UPDATE sessions
SET title = NULL, titled_by = NULL, summary = NULL, notice = NULL, personality = NULL,
    workspace = NULL, worktree_path = NULL, worktree_branch = NULL, worktree_repository = NULL,
    worktree_at = NULL, tools = NULL, model = NULL, provider = NULL, base_url = NULL,
    memory = NULL,
    ended_at = coalesce(ended_at, :now), end_reason = coalesce(end_reason, 'closed')
WHERE key = :key
  AND (ended_at IS NULL OR coalesce(title, summary, notice, personality, workspace, worktree_path,
       worktree_branch, worktree_repository, tools, model, provider, base_url, memory) IS NOT NULL
       OR worktree_at IS NOT NULL)
RETURNING key

-- name: drop_holds
-- Forget who held a session.
DELETE FROM holds WHERE session_key = :session_key

-- name: drop_marks
-- Forget how far somebody had read in a session.
DELETE FROM marks WHERE session_key = :session_key

-- name: drop_drafts
-- Forget what was begun in a session and not sent.
DELETE FROM drafts WHERE session_key = :session_key

-- name: drop_tellings_of_session
-- Forget which hooks were told of the endings of a session.
DELETE FROM ending_tellings
WHERE ending_id IN (SELECT id FROM endings WHERE session_key = :session_key)

-- name: drop_endings
-- Forget the endings of a session.
DELETE FROM endings WHERE session_key = :session_key

-- name: next_heir
-- Find a session that shares history with one that goes.
SELECT key FROM sessions WHERE base_key = :key ORDER BY key LIMIT 1

-- name: list_turns_to_stop
-- List the turns of a session that have not ended.
SELECT id FROM turns WHERE session_key = :session_key AND ended_at IS NULL ORDER BY id

-- name: list_heirs
-- List a session and those that share history through it, each with how far they see into its base.
WITH RECURSIVE heirs (key, reach, depth) AS (
    SELECT s.key, s.base_seq, 1 FROM sessions s WHERE s.key = :key
    UNION ALL
    SELECT s.key, CASE WHEN s.base_seq < h.reach THEN s.base_seq ELSE h.reach END, h.depth + 1
    FROM heirs h
    JOIN sessions s ON s.base_key = h.key
    WHERE h.depth < 100
)
SELECT h.key, min(h.reach) AS reach, s.base_seq
FROM heirs h
JOIN sessions s ON s.key = h.key
GROUP BY h.key, s.base_seq
ORDER BY h.key

-- name: list_sharers
-- List the sessions that share history with one, each with how far they see into it.
WITH RECURSIVE heirs (key, reach, depth) AS (
    SELECT s.key, s.base_seq, 1 FROM sessions s WHERE s.base_key = :key
    UNION ALL
    SELECT s.key, CASE WHEN s.base_seq < h.reach THEN s.base_seq ELSE h.reach END, h.depth + 1
    FROM heirs h
    JOIN sessions s ON s.base_key = h.key
    WHERE h.depth < 100
)
SELECT h.key, min(h.reach) AS reach, s.id
FROM heirs h
JOIN sessions s ON s.key = h.key
GROUP BY h.key, s.id
ORDER BY h.key

-- name: count_lost
-- Count the user messages of a base that an heir shows and is about to lose.
SELECT count(*) AS lost
FROM messages m
WHERE m.session_key = :session_key AND m.role = 'user' AND m.seq BETWEEN :from_seq AND :to_seq
  AND NOT EXISTS (SELECT 1 FROM cuts c WHERE c.session_key = :heir_key AND c.lifted_at IS NULL
                  AND c.kind IN ('undone', 'retried') AND m.seq BETWEEN c.from_seq AND c.to_seq)

-- name: rebase_session
-- Let an heir share the history of another base, or none.
UPDATE sessions
SET base_key = :base_key, base_seq = :base_seq, base_revision = :base_revision,
    base_depth = :base_depth
WHERE key = :key

-- name: lower_user_messages
-- Count fewer user messages in a session.
UPDATE sessions
SET user_messages = CASE WHEN user_messages > :lost THEN user_messages - :lost ELSE 0 END
WHERE key = :key

-- name: free_cuts
-- Let no cut say any more that it was lifted by another that goes.
UPDATE cuts SET lifted_by = NULL
WHERE session_key = :session_key AND lifted_by IS NOT NULL
  AND lifted_by IN (SELECT c.key FROM cuts c WHERE c.session_key = :session_key
                    AND c.from_seq <= :to_seq AND c.to_seq >= :from_seq)

-- name: drop_cuts_inside
-- Forget the cuts that lie wholly in a stretch, and summaries of any part of it.
DELETE FROM cuts
WHERE session_key = :session_key AND from_seq <= :to_seq AND to_seq >= :from_seq
  AND (kind = 'compacted' OR (from_seq >= :from_seq AND to_seq <= :to_seq))
RETURNING key

-- name: clip_cuts
-- Let the cuts that begin in a stretch begin after it.
UPDATE cuts SET from_seq = :to_seq + 1
WHERE session_key = :session_key AND from_seq BETWEEN :from_seq AND :to_seq AND to_seq > :to_seq

-- name: list_family
-- List sessions of which another is the parent or the root.
SELECT key FROM sessions WHERE parent_key = :key
UNION
SELECT key FROM sessions WHERE root_key = :key
ORDER BY key
LIMIT :most

-- name: relink_session
-- Take a session that goes out of the lineage of another.
UPDATE sessions
SET parent_key = CASE WHEN parent_key = :gone THEN CAST(:parent_key AS BIGINT) ELSE parent_key END,
    root_key = CASE WHEN root_key <> :gone THEN root_key
                    WHEN key = :heir_key THEN NULL ELSE CAST(:heir_key AS BIGINT) END
WHERE key = :key

-- name: find_root_heir
-- Find the oldest session of a family whose root goes.
SELECT min(key) AS key FROM sessions WHERE root_key = :key

-- name: list_doomed
-- List a slice of a session's messages.
SELECT key, seq FROM messages WHERE session_key = :session_key ORDER BY seq LIMIT :most

-- name: list_used_blobs
-- List the attachments of a message.
SELECT hash FROM blob_uses WHERE message_key = :message_key

-- name: drop_blob_uses
-- Forget which attachments a message had.
DELETE FROM blob_uses WHERE message_key = :message_key

-- name: drop_revisions
-- Forget what a message said before.
DELETE FROM revisions WHERE message_key = :message_key

-- name: drop_message
-- Delete a message.
DELETE FROM messages WHERE key = :key

-- name: empty_message
-- Leave of a message only its place.
UPDATE messages
SET text = '', parts = NULL, sender_key = NULL, deleted_at = coalesce(deleted_at, :now),
    changed_at = :now, platform_id = NULL, reply_to = NULL
WHERE key = :key

-- name: list_places_of
-- List the places that a session belongs to, with the profile and everybody who spoke in it.
SELECT DISTINCT a.key, s.profile, a.platform AS address_platform, a.account AS address_account,
       a.kind AS address_kind, a.chat AS address_chat, a.thread AS address_thread,
       a.alt_chat AS address_alt_chat, a.parent AS address_parent, a.scope AS address_scope,
       a.chat_name AS address_chat_name, a.topic AS address_topic, p.id AS sender_id
FROM sessions s
JOIN addresses a ON a.key = s.address_key
     OR a.key IN (SELECT t.address_key FROM turns t WHERE t.session_key = s.key)
LEFT JOIN senders p ON p.key = s.sender_key
WHERE s.key = :key
ORDER BY a.key

-- name: loosen_arrivals
-- Remove from a slice of the arrivals of a session which session they came to.
UPDATE arrivals SET session_key = NULL, turn_id = NULL, message_key = NULL
WHERE session_key = :session_key
  AND message_id IN (SELECT k.message_id FROM arrivals k
                     WHERE k.session_key = :session_key
                     LIMIT :most)
RETURNING message_id

-- name: drop_arrivals
-- Delete a slice of the arrivals of a chat, except messages of other senders that are still stored.
DELETE FROM arrivals
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND message_id IN (SELECT k.message_id FROM arrivals k
                     WHERE k.profile = :profile AND k.platform = :platform
                       AND k.account = :account AND k.chat = :chat
                       AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.key = k.message_key
                                       AND m.sender_key <> CAST(:sender_key AS BIGINT))
                     LIMIT :most)
RETURNING message_id

-- name: drop_early_changes
-- Delete the edits of a sender that wait in a chat for their message, and those of unknown senders.
DELETE FROM early_changes
WHERE profile = :profile AND platform = :platform AND account = :account AND chat = :chat
  AND (sender_id IS NULL OR sender_id = CAST(:sender_id AS TEXT))

-- name: drop_early_changes_of
-- Delete the edits of a sender that wait for their message, in any chat.
DELETE FROM early_changes WHERE platform = :platform AND sender_id = :sender_id

-- name: list_doomed_turns
-- List a slice of a session's turns.
SELECT id FROM turns WHERE session_key = :session_key ORDER BY id LIMIT :most

-- name: drop_turn
-- Delete a turn.
DELETE FROM turns WHERE id = :id

-- name: anonymise_usage
-- Keep a slice of what a session spent as mere numbers.
UPDATE usage SET session_key = NULL, turn_id = NULL, sender_key = NULL
WHERE key IN (SELECT u.key FROM usage u WHERE u.session_key = :session_key LIMIT :most)
RETURNING key

-- name: read_feed_ends
-- Tell the oldest and the newest event.
SELECT (SELECT coalesce(min(id), 0) FROM events) AS oldest,
       (SELECT coalesce(max(id), 0) FROM events) AS newest

-- name: drop_events
-- Delete the events of a session in a stretch of the feed.
DELETE FROM events WHERE id > :after AND id <= :upto AND session_key = :session_key

-- name: tell_forgotten
-- Add to the feed that a session is gone, with its id, as its row cannot tell it any more.
INSERT INTO events (kind, session_key, session_id, revision, at)
VALUES ('session.forgotten', 0, :session_id, :revision, :at)

-- name: drop_session
-- Delete a session.
DELETE FROM sessions WHERE key = :key

-- name: drop_unused_blob
-- Delete an attachment that no message needs any more.
DELETE FROM blobs
WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.hash = blobs.hash)
RETURNING hash

-- name: drop_some_blob_chunks
-- Delete a slice of the pieces of an attachment that is gone.
DELETE FROM blob_chunks
WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = :hash)
  AND n IN (SELECT c.n FROM blob_chunks c WHERE c.hash = :hash ORDER BY c.n LIMIT :most)
RETURNING n

-- name: count_doomed
-- Count what goes with a session.
SELECT (SELECT count(*) FROM messages m WHERE m.session_key = :session_key) AS messages,
       (SELECT count(DISTINCT u.hash) FROM messages m JOIN blob_uses u ON u.message_key = m.key
        WHERE m.session_key = :session_key) AS attachments


-- name: reopen_forgetting
-- Let a forgetting go on with more.
UPDATE forgettings SET state = 'removing', done_at = NULL WHERE id = :id

-- name: drop_spend_warnings
-- Forget that somebody was warned of what they spent.
DELETE FROM spend_warnings WHERE cap = :cap AND subject = :subject

-- name: raise_last_numbers
-- Remember the highest numbers that went, so that they are not given again.
UPDATE forgettings
SET last_turn = CASE WHEN last_turn < :turn_id THEN :turn_id ELSE last_turn END,
    last_delivery = CASE WHEN last_delivery < :delivery_id THEN :delivery_id ELSE last_delivery END
WHERE id = :id

-- name: list_all_tombstones
-- List a page of all tombstones.
SELECT hash FROM tombstones WHERE hash > :after ORDER BY hash LIMIT :most

-- name: list_session_marks
-- List a page of all sessions, in order to look for their tombstones.
SELECT key, id FROM sessions WHERE key > :after ORDER BY key LIMIT :most

-- name: list_sender_marks
-- List a page of all senders, in order to look for their tombstones.
SELECT key, platform, id FROM senders WHERE key > :after ORDER BY key LIMIT :most
