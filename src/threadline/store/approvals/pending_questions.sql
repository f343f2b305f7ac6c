-- name: list_waiting_turns
-- List the turns of a profile that wait for an answer and may be seen, the latest first, from
-- behind one of them on, and whose sessions they belong to.
SELECT t.id AS turn_id, s.id AS turn_session_id, t.state AS turn_state,
       t.attempts AS turn_attempts, t.queued_at AS turn_queued_at, t.started_at AS turn_started_at,
       t.ended_at AS turn_ended_at, t.first_seq AS turn_first_seq, t.owner AS turn_owner,
       t.lease_until AS turn_lease_until, t.question AS turn_question, t.asked_at AS turn_asked_at,
       t.answer AS turn_answer, t.error AS turn_error, t.answered_by AS turn_answered_by,
       CASE WHEN t.asks LIKE '{%' THEN t.asks -> 'tools' ELSE t.asks END AS turn_asks, -- sqlite
       CASE WHEN t.asks LIKE '{%' THEN t.asks ->> 'awaits' END AS turn_awaits, -- sqlite
       CASE WHEN t.asks LIKE '{%' -- postgres
            THEN CAST(CAST(t.asks AS JSON) -> 'tools' AS TEXT) ELSE t.asks END AS turn_asks, -- postgres
       CASE WHEN t.asks LIKE '{%' THEN CAST(t.asks AS JSON) ->> 'awaits' END AS turn_awaits, -- postgres
       s.key AS session_key, s.id AS session_id, s.profile AS session_profile,
       s.kind AS session_kind, s.sender_key AS session_sender_key,
       s.address_key AS session_address_key, a.platform AS session_platform,
       a.account AS session_account, a.chat AS session_chat
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
