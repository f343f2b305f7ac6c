-- name: add_ending
-- Remember that somebody has yet to be told of an ending.
INSERT INTO endings (session_key, reason, ended_at, state, due_at)
VALUES (:session_key, :reason, :now, 'pending', :now)

-- name: next_ending
-- Find the ending that is due first.
SELECT e.id, s.id AS session_id, e.reason, e.ended_at, e.attempts
FROM endings e
JOIN sessions s ON s.key = e.session_key
WHERE e.state IN ('pending', 'running')
  AND ((e.state = 'pending' AND e.due_at <= :now)
       OR (e.state = 'running' AND e.lease_until < :now))
ORDER BY e.due_at, e.id
LIMIT 1
FOR NO KEY UPDATE OF e SKIP LOCKED -- postgres

-- name: take_ending
-- Take an ending in order to tell of it.
UPDATE endings
SET state = 'running', attempts = attempts + 1, owner = :owner, lease_until = :lease_until
WHERE id = :id

-- name: renew_ending
-- Keep an ending while its hook runs.
UPDATE endings SET lease_until = :lease_until
WHERE id = :id AND owner = :owner AND state = 'running'

-- name: close_ending
-- Write down what came of telling.
UPDATE endings
SET state = :state, owner = NULL, lease_until = NULL, due_at = :due_at, error = :error
WHERE id = :id AND owner = :owner AND state = 'running'
RETURNING id

-- name: list_tellings
-- List the hooks that have been told of an ending.
SELECT hook FROM ending_tellings WHERE ending_id = :id

-- name: add_telling
-- Remember that a hook has been told of an ending, if that was not forgotten meanwhile.
INSERT INTO ending_tellings (ending_id, hook)
SELECT id, CAST(:hook AS TEXT) FROM endings WHERE id = :id
ON CONFLICT DO NOTHING

-- name: drop_tellings
-- Forget which hooks were told of an ending.
DELETE FROM ending_tellings WHERE ending_id = :id

-- name: free_endings
-- Let somebody else tell of the endings that a dead process had taken.
UPDATE endings SET lease_until = 0
WHERE state IN ('pending', 'running') AND state = 'running' AND owner = :owner
