-- name: read_load
-- Tell what a session has to do: the turn under way, and what waits.
SELECT (SELECT id FROM turns WHERE session_key = :session_key
        AND state IN ('running', 'waiting')) AS held_id,
       (SELECT state FROM turns WHERE session_key = :session_key
        AND state IN ('running', 'waiting')) AS held_state,
       (SELECT max(t.id) FROM turns t WHERE t.session_key = :session_key
        AND t.ended_at IS NULL AND t.state = 'queued') AS queued_id,
       (SELECT max(t.queued_at) FROM turns t WHERE t.session_key = :session_key
        AND t.ended_at IS NULL AND t.state IN ('queued', 'interrupted')) AS queued_at,
       (SELECT count(*) FROM messages m JOIN turns t ON t.id = m.turn_id
        WHERE m.session_key = :session_key AND m.seq IS NULL AND m.role = 'user'
          AND t.state = 'queued') AS waiting

-- name: queue_turn
-- Put a turn into the line. No number is given twice, also if its turn was forgotten.
INSERT INTO turns (id, session_key, address_key, state, steers, queued_at, written_at, asked_by) -- sqlite
VALUES (1 + max(coalesce((SELECT max(t.id) FROM turns t), 0), -- sqlite
                coalesce((SELECT max(f.last_turn) FROM forgettings f), 0)), -- sqlite
        :session_key, :address_key, 'queued', :steers, :now, :written_at, :asked_by) -- sqlite
INSERT INTO turns (session_key, address_key, state, steers, queued_at, written_at, asked_by) -- postgres
VALUES (:session_key, :address_key, 'queued', :steers, :now, :written_at, :asked_by) -- postgres
RETURNING id

-- fragment: claimable
-- A turn that waits for nothing: no turn under way or cut off, no command, no full profile.
-- Nor does its asker (a person, a sender linked to nobody, or a shared chat) crowd others out. One
-- that was cut off so often that the next time is the last runs only if its process runs no other
-- such turn: a crash then shows which of them caused it.
t.state = 'queued'
  AND instr(:full, ' ' || s.profile || ' ') = 0 -- sqlite
  AND s.profile <> ALL (string_to_array(CAST(:full AS TEXT), ' ')) -- postgres
  AND (CAST(:crowding AS TEXT) = '' OR
       instr(:crowding, '|' || -- sqlite
       strpos(CAST(:crowding AS TEXT), '|' || -- postgres
       coalesce('person ' || (SELECT p.person_key FROM senders p WHERE p.key = s.sender_key),
                'sender ' || s.sender_key, 'chat ' || s.address_key) || '|') = 0)
  AND NOT EXISTS (SELECT 1 FROM turns h WHERE h.session_key = t.session_key
                  AND h.state IN ('running', 'waiting'))
  AND NOT EXISTS (SELECT 1 FROM turns i WHERE i.session_key = t.session_key
                  AND i.ended_at IS NULL AND i.state = 'interrupted')
  AND NOT EXISTS (SELECT 1 FROM waiting_commands c WHERE c.session_key = t.session_key
                  AND c.after_turn < t.id)
  AND ((t.attempts < :last AND s.interruptions < :last)
       OR NOT EXISTS (SELECT 1 FROM turns r JOIN sessions q ON q.key = r.session_key
                      WHERE r.state IN ('running', 'waiting') AND r.state = 'running'
                        AND r.owner = :owner
                        AND (r.attempts > :last OR q.interruptions >= :last)))

-- name: lock_next_session
-- Take the session in which a turn has waited longest, among those that nobody else just holds.
SELECT s.key, s.id, s.profile, s.platform, s.kind, s.address_key, s.sender_key,
       coalesce(s.root_key, s.key) AS root_key, s.revision, s.last_seq, s.last_activity_at,
       s.interruptions, s.ended_at, s.end_reason, s.suspended_at, s.notice, s.told_at, s.taken_at,
       s.origin, s.title, s.titled_by, s.busy_mode, s.summary,
       coalesce('person ' || (SELECT p.person_key FROM senders p WHERE p.key = s.sender_key),
                'sender ' || s.sender_key, 'chat ' || s.address_key) AS asker
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE
-- include: claimable
ORDER BY t.id
LIMIT 1
FOR NO KEY UPDATE OF s, t SKIP LOCKED -- postgres

-- name: find_passed_session
-- Tell which session was passed over because somebody else holds it. On SQLite nobody can.
SELECT t.session_key AS key,
       coalesce('person ' || (SELECT p.person_key FROM senders p WHERE p.key = s.sender_key),
                'sender ' || s.sender_key, 'chat ' || s.address_key) AS asker
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE 1 = 0 AND -- sqlite
WHERE -- postgres
-- include: claimable
ORDER BY t.id
LIMIT 1

-- name: start_turn
-- Begin the turn that has waited longest in a session under a lease, unless one is under way or
-- cut off, or a command comes before it. One that arrived late or waited during an outage begins
-- only as `checked`.
UPDATE turns
SET state = 'running', fence = fence + 1, owner = :owner, lease_until = :lease_until,
    attempts = attempts + 1, started_at = coalesce(started_at, :now),
    first_seq = coalesce(first_seq, :first_seq)
WHERE id = (SELECT min(w.id) FROM turns w WHERE w.session_key = :session_key
            AND w.ended_at IS NULL AND w.state = 'queued')
  AND NOT EXISTS (SELECT 1 FROM turns h WHERE h.session_key = :session_key
                  AND h.state IN ('running', 'waiting'))
  AND NOT EXISTS (SELECT 1 FROM turns i WHERE i.session_key = :session_key
                  AND i.ended_at IS NULL AND i.state = 'interrupted')
  AND NOT EXISTS (SELECT 1 FROM waiting_commands c WHERE c.session_key = :session_key
                  AND c.after_turn < turns.id)
  AND ((turns.attempts < :last AND CAST(:interruptions AS BIGINT) < :last)
       OR NOT EXISTS (SELECT 1 FROM turns r JOIN sessions q ON q.key = r.session_key
                      WHERE r.state IN ('running', 'waiting') AND r.state = 'running'
                        AND r.owner = :owner
                        AND (r.attempts > :last OR q.interruptions >= :last)))
  AND (turns.id = :checked
       OR (turns.written_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM outages o WHERE o.until_at > turns.queued_at
                           AND o.platform = '')))
RETURNING fence, id AS turn_id, CAST(:session_id AS TEXT) AS turn_session_id,
          state AS turn_state, attempts AS turn_attempts, queued_at AS turn_queued_at,
          started_at AS turn_started_at, ended_at AS turn_ended_at, first_seq AS turn_first_seq,
          owner AS turn_owner, lease_until AS turn_lease_until, question AS turn_question,
          answer AS turn_answer, error AS turn_error, answered_by AS turn_answered_by,
          asked_at AS turn_asked_at

-- name: list_next_turns
-- List the queued turns of a session that wait for nothing but a worker, in their order.
SELECT t.id, t.queued_at, t.written_at FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.session_key = :session_key AND t.ended_at IS NULL AND
-- include: claimable
ORDER BY t.id

-- name: find_last_expiry
-- Tell when the last turn of a session that has ended expired, if it did.
SELECT expired_at FROM turns
WHERE session_key = :session_key AND ended_at IS NOT NULL AND expired_at IS NOT NULL
  AND id = (SELECT max(l.id) FROM turns l WHERE l.session_key = :session_key
            AND l.ended_at IS NOT NULL)

-- name: place_messages
-- Give the messages of a turn, and notes without one, their places in the transcript.
UPDATE messages
SET seq = :last_seq + placed.n
FROM (SELECT key, row_number() OVER
             (ORDER BY CASE role WHEN 'system' THEN 0 ELSE 1 END, key) AS n
      FROM messages
      WHERE session_key = :session_key AND seq IS NULL
        AND (turn_id = :turn_id OR turn_id IS NULL)) AS placed
WHERE messages.key = placed.key
RETURNING messages.role

-- name: prove_lease
-- Renew the lease of a running turn; no row means that it is lost.
UPDATE turns SET lease_until = :lease_until
WHERE id = :id AND fence = :fence AND state = 'running'
RETURNING session_key, (SELECT count(*) FROM chunks c WHERE c.turn_id = turns.id) AS chunks

-- name: renew_lease
-- Renew the lease of a turn that runs or waits for an answer; no row means that it is lost.
UPDATE turns SET lease_until = :lease_until
WHERE id = :id AND fence = :fence AND state IN ('running', 'waiting') AND owner IS NOT NULL
RETURNING id

-- name: give_back
-- Put a claimed turn back into the line as if it had never been claimed.
UPDATE turns
SET state = 'queued', owner = NULL, lease_until = NULL, attempts = attempts - 1
WHERE id = :id AND fence = :fence AND state = 'running'
RETURNING session_key

-- name: end_turn
-- End a running turn whose lease holds.
UPDATE turns
SET state = :state, ended_at = :now, owner = NULL, lease_until = NULL, error = :error
WHERE id = :id AND session_key = :session_key AND fence = :fence AND state = 'running'
RETURNING address_key,
          (SELECT a.platform FROM addresses a WHERE a.key = turns.address_key) AS platform,
          (SELECT count(*) FROM chunks c WHERE c.turn_id = turns.id) AS chunks,
          (SELECT count(*) FROM turn_targets g WHERE g.turn_id = turns.id) AS targets,
          (SELECT count(*) FROM deliveries d WHERE d.turn_id = turns.id) AS owed

-- name: wait_turn
-- Let a running turn wait for an answer, with or without its lease. The moment tells its questions
-- apart, so that no later one has that of an earlier one, whatever the clock does.
UPDATE turns
SET state = 'waiting', question = :question, asks = :asks, answer = NULL,
    questions = questions + 1,
    asked_at = CASE WHEN asked_at >= :now THEN asked_at + 1 ELSE :now END,
    owner = :owner, lease_until = :lease_until
WHERE id = :id AND session_key = :session_key AND fence = :fence AND state = 'running'
RETURNING address_key,
          (SELECT a.platform FROM addresses a WHERE a.key = turns.address_key) AS platform,
          (SELECT count(*) FROM turn_targets g WHERE g.turn_id = turns.id) AS targets,
          (SELECT count(*) FROM deliveries d WHERE d.turn_id = turns.id) AS owed

-- name: read_turn_address_key
-- Read the key of the address where a turn was asked for.
SELECT address_key FROM turns WHERE id = :id

-- name: read_turn_state
-- Read the state of a turn.
SELECT state FROM turns WHERE id = :id

-- name: read_fence
-- Read the fencing token of the last lease of a turn.
SELECT fence FROM turns WHERE id = :id

-- name: find_waiting_turn
-- Read what an answer to the question of a turn depends on.
SELECT session_key, state, owner, asked_at FROM turns WHERE id = :id

-- name: count_questions
-- Tell how many questions a turn has asked.
SELECT questions FROM turns WHERE id = :id

-- name: answer_turn
-- Give a waiting turn its answer. To be claimed anew after that is no second attempt.
UPDATE turns SET state = :state, answer = :answer, asks = NULL,
       attempts = CASE WHEN owner IS NULL THEN attempts - 1 ELSE attempts END,
       queued_at = CASE WHEN owner IS NULL THEN :now ELSE queued_at END, written_at = NULL
WHERE id = :id AND state = 'waiting' AND asked_at < :asked_before
RETURNING id

-- name: list_stale_questions
-- List waiting turns that nobody answered since a moment.
SELECT id, session_key, address_key FROM turns
WHERE state IN ('running', 'waiting') AND state = 'waiting' AND asked_at < :before
ORDER BY session_key
LIMIT :most

-- name: list_owners
-- List who holds a lease.
SELECT DISTINCT owner FROM turns
WHERE state IN ('running', 'waiting') AND owner IS NOT NULL
UNION
SELECT DISTINCT owner FROM deliveries
WHERE state IN ('pending', 'sending') AND state = 'sending' AND owner IS NOT NULL
UNION
SELECT DISTINCT streamed_by FROM deliveries WHERE streamed_by IS NOT NULL
UNION
SELECT DISTINCT owner FROM endings
WHERE state IN ('pending', 'running') AND state = 'running' AND owner IS NOT NULL

-- name: list_held
-- List the turns that somebody holds under a lease.
SELECT id, session_key, state, owner, lease_until FROM turns
WHERE state IN ('running', 'waiting') AND owner IS NOT NULL
ORDER BY session_key

-- name: interrupt_turn
-- Take a turn from an owner who is gone.
UPDATE turns
SET state = 'interrupted', interrupted_at = :interrupted_at, owner = NULL, lease_until = NULL,
    fence = fence + 1, asks = NULL,
    attempts = CASE WHEN state = 'waiting' THEN attempts - 1 ELSE attempts END
WHERE id = :id AND state IN ('running', 'waiting') AND owner = :owner
  AND lease_until = :lease_until
RETURNING cut_off_seq,
          (SELECT count(*) FROM chunks c WHERE c.turn_id = turns.id)
          + (SELECT count(*) FROM messages m WHERE m.session_key = turns.session_key
           AND m.turn_id = turns.id AND m.seq > turns.cut_off_seq) AS said_since

-- name: list_interrupted
-- List the turns that were cut off.
SELECT id, session_key, attempts, interrupted_at FROM turns
WHERE state = 'interrupted' AND ended_at IS NULL ORDER BY session_key, id LIMIT :most

-- name: requeue_turn
-- Put an interrupted turn back into the line.
UPDATE turns SET state = 'queued', queued_at = :now, written_at = NULL
WHERE id = :id AND state = 'interrupted'
RETURNING cut_off_seq,
          (SELECT count(*) FROM messages m WHERE m.session_key = turns.session_key
           AND m.turn_id = turns.id AND m.seq > turns.cut_off_seq) AS said_since

-- name: set_cut_off
-- Remember where the agent was told that its turn was cut off.
UPDATE turns SET cut_off_seq = :seq WHERE id = :id

-- name: close_turn
-- End a turn that nobody runs, or take it from whoever does.
UPDATE turns
SET state = :state, ended_at = :now, owner = NULL, lease_until = NULL, fence = fence + 1,
    error = :error, answered_by = :answered_by, asks = NULL,
    first_seq = coalesce(first_seq, CAST(:first_seq AS BIGINT)), expired_at = :expired_at
WHERE id = :id AND state IN ('queued', 'running', 'waiting', 'interrupted')
RETURNING address_key,
          (SELECT a.platform FROM addresses a WHERE a.key = turns.address_key) AS platform,
          (SELECT count(*) FROM turn_targets g WHERE g.turn_id = turns.id) AS targets,
          (SELECT count(*) FROM deliveries d WHERE d.turn_id = turns.id) AS owed

-- name: list_unfinished
-- List the unfinished turns of a session.
SELECT id, state, first_seq, queued_at FROM turns
WHERE session_key = :session_key AND ended_at IS NULL
ORDER BY id

-- name: move_turn
-- Let a queued turn wait in another session.
UPDATE turns SET session_key = :session_key
WHERE id = :id AND state = 'queued'

-- name: move_messages
-- Take the messages of a queued turn along to another session.
UPDATE messages SET session_key = :session_key WHERE turn_id = :turn_id AND session_key = :from_key
  AND seq IS NULL

-- name: find_lease_end
-- Return the earliest time, not before :now, at which a lease of another process ends.
SELECT min(l.lease_until) AS at
FROM (SELECT t.owner, t.lease_until FROM turns t WHERE t.state IN ('running', 'waiting')
      UNION ALL
      SELECT d.owner, d.lease_until FROM deliveries d
      WHERE d.state IN ('pending', 'sending') AND d.state = 'sending') AS l
WHERE l.owner <> :owner AND l.lease_until >= :now

-- name: list_steering
-- List the queued turns that are meant for the running one.
SELECT id FROM turns
WHERE session_key = :session_key AND ended_at IS NULL AND state = 'queued' AND steers = :turn_id
ORDER BY id

-- name: adopt_messages
-- Make the messages of one turn part of another.
UPDATE messages SET turn_id = :to_turn
WHERE session_key = :session_key AND seq IS NULL AND turn_id = :from_turn

-- name: add_chunk
-- Keep a piece of streamed output.
INSERT INTO chunks (turn_id, n, text)
SELECT :turn_id, coalesce(max(n), 0) + 1, CAST(:text AS TEXT) FROM chunks WHERE turn_id = :turn_id

-- name: list_chunks
-- Read the streamed output that is not yet in a message.
SELECT text FROM chunks WHERE turn_id = :turn_id ORDER BY n

-- name: drop_chunks
-- Forget streamed output that a message now holds.
DELETE FROM chunks WHERE turn_id = :turn_id

-- name: add_usage
-- Record what a model spent, and who had asked for it.
INSERT INTO usage (session_key, turn_id, at, task, provider, model, input_tokens, output_tokens,
                   cache_read_tokens, cache_write_tokens, reasoning_tokens, prompt_tokens, cost,
                   cost_status, sender_key)
VALUES (:session_key, :turn_id, :at, :task, :provider, :model, :input_tokens, :output_tokens,
        :cache_read_tokens, :cache_write_tokens, :reasoning_tokens, :prompt_tokens, :cost,
        :cost_status,
        coalesce((SELECT t.asked_by FROM turns t WHERE t.id = CAST(:turn_id AS BIGINT)),
                 (SELECT m.sender_key FROM turns t JOIN messages m
                  ON m.session_key = t.session_key AND m.seq >= t.first_seq AND m.turn_id = t.id
                  WHERE t.id = CAST(:turn_id AS BIGINT) AND m.role = 'user'
                    AND m.sender_key IS NOT NULL
                  ORDER BY m.seq LIMIT 1),
                 (SELECT s.sender_key FROM sessions s WHERE s.key = :session_key)))
