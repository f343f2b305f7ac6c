-- name: list_waiting_turns
-- List the turns of a profile that wait for an answer and may be seen, the latest first, from
-- behind one of them on, and whose sessions they belong to.
SELECT t.id, s.id AS session_id, t.state, t.attempts, t.queued_at, t.started_at, t.ended_at,
       t.first_seq, t.owner, t.lease_until, t.question, t.asks, t.asked_at, t.answer, t.error,
       t.answered_by, s.profile, s.kind, s.sender_key, s.address_key, a.platform, a.account, a.chat
FROM turns t
JOIN sessions s ON s.key = t.session_key
JOIN addresses a ON a.key = s.address_key
WHERE t.state = 'waiting' AND s.profile = :profile
  AND (t.asked_at, t.id) < (CAST(:before_at AS BIGINT), CAST(:before_id AS BIGINT))
  AND (CAST(:sender_keys AS TEXT) IS NULL OR s.sender_key IN
       (SELECT value FROM json_each(:sender_keys)) -- sqlite
       (SELECT CAST(k AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS k) -- postgres
       OR (s.sender_key IS NULL AND s.kind <> 'dm' AND a.platform = CAST(:platform AS TEXT)
           AND a.account = CAST(:account AS TEXT) AND a.chat = CAST(:chat AS TEXT)))
ORDER BY t.asked_at DESC, t.id DESC
LIMIT :most

-- name: list_unfinished_states
-- List the states of the turns of a session that have not ended.
SELECT DISTINCT state FROM turns WHERE session_key = :session_key AND ended_at IS NULL

-- name: read_question_of_turn
-- Read to which session a turn belongs, and how many questions it has asked.
SELECT session_key, questions FROM turns WHERE id = :turn_id

-- name: find_asking_turn
-- Find a turn of a profile that asks leave for tools, by the number of its question.
SELECT t.id AS turn_id, t.questions AS nth, t.asked_at FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.id = :id AND t.state = 'waiting' AND t.questions = :nth AND t.asks IS NOT NULL
  AND s.profile = :profile
