-- name: sum_usage
-- Add up what a session spent, by model and task.
SELECT provider, model, task, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
       CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens,
       max(prompt_tokens) AS prompt_tokens, CAST(sum(cost) AS BIGINT) AS cost,
       count(*) AS calls,
       sum(CASE cost_status WHEN 'exact' THEN 1 ELSE 0 END) AS exact
FROM usage
WHERE session_key = :session_key
GROUP BY provider, model, task
ORDER BY provider, model, task

-- name: sum_usage_by
-- Add up what was spent within a time, by what is asked for, the dearest first; by quarters of an
-- hour for days. What was spent on something forgotten counts, for nobody.
SELECT g.subject, max(g.name) AS name, count(*) AS calls, count(g.cost) AS priced,
       sum(CASE g.cost_status WHEN 'exact' THEN 1 ELSE 0 END) AS exact,
       CAST(sum(g.input_tokens) AS BIGINT) AS input_tokens,
       CAST(sum(g.output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(g.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(g.cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       CAST(sum(g.reasoning_tokens) AS BIGINT) AS reasoning_tokens,
       CAST(sum(g.cost) AS BIGINT) AS cost
FROM (SELECT coalesce(CASE CAST(:by AS TEXT)
                 WHEN 'turn' THEN CAST(u.turn_id AS TEXT)
                 WHEN 'session' THEN s.id
                 WHEN 'model' THEN u.provider || '/' || u.model
                 WHEN 'task' THEN u.task
                 WHEN 'person' THEN
                     CASE WHEN p.person_key IS NULL THEN p.platform || ':' || p.id
                          ELSE 'person ' || CAST(p.person_key AS TEXT) END
                 ELSE CAST(u.at / 900000000 AS TEXT) END, '') AS subject,
             CASE CAST(:by AS TEXT)
                 WHEN 'session' THEN s.title
                 WHEN 'person' THEN coalesce(h.name, p.name) END AS name,
             u.cost, u.cost_status, u.input_tokens, u.output_tokens, u.cache_read_tokens,
             u.cache_write_tokens, u.reasoning_tokens
      FROM (SELECT a.* FROM usage a
            WHERE CAST(:session_key AS BIGINT) IS NULL AND a.at >= :since AND a.at < :until
            UNION ALL
            SELECT b.* FROM usage b
            WHERE b.session_key = CAST(:session_key AS BIGINT) AND b.at >= :since
              AND b.at < :until) AS u
      LEFT JOIN sessions s ON s.key = u.session_key
      LEFT JOIN senders p ON p.key = u.sender_key
      LEFT JOIN persons h ON h.key = p.person_key
      WHERE coalesce(s.profile, '') <> '~importing'
        AND (CAST(:profile AS TEXT) IS NULL OR s.profile = CAST(:profile AS TEXT))
        AND (CAST(:sender_keys AS TEXT) IS NULL OR u.sender_key IN
             (SELECT value FROM json_each(:sender_keys))) -- sqlite
             (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
              CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j)) -- postgres
     ) AS g
GROUP BY g.subject
ORDER BY coalesce(sum(g.cost), 0) DESC, g.subject
LIMIT :most OFFSET :passed

-- name: find_spender
-- Find out who asked for a turn: whoever asked for it again, else the sender of its first message,
-- else the session's owner.
SELECT p.key AS sender_key, p.person_key
FROM senders p
WHERE p.key = coalesce((SELECT t.asked_by FROM turns t WHERE t.id = CAST(:turn_id AS BIGINT)),
                       (SELECT m.sender_key FROM turns t JOIN messages m
                        ON m.session_key = t.session_key AND m.seq >= t.first_seq
                           AND m.turn_id = t.id
                        WHERE t.id = CAST(:turn_id AS BIGINT) AND m.role = 'user'
                          AND m.sender_key IS NOT NULL
                        ORDER BY m.seq LIMIT 1),
                       (SELECT s.sender_key FROM sessions s WHERE s.key = :session_key))

-- name: sum_spent
-- Add up what was spent since a moment, by everybody or by some senders.
SELECT CAST(coalesce(sum(u.cost), 0) AS BIGINT) AS cost, count(*) - count(u.cost) AS unpriced
FROM usage u
WHERE u.at >= :since
  AND (CAST(:sender_keys AS TEXT) IS NULL OR u.sender_key IN
       (SELECT value FROM json_each(:sender_keys))) -- sqlite
       (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j)) -- postgres

-- name: sum_spent_in_session
-- Add up what a session has spent.
SELECT CAST(coalesce(sum(u.cost), 0) AS BIGINT) AS cost, count(*) - count(u.cost) AS unpriced
FROM usage u
WHERE u.session_key = :session_key

-- name: read_last_prompt
-- Read how long the last prompt of a session was; none if it was compacted since.
SELECT u.prompt_tokens FROM usage u
WHERE u.session_key = :session_key AND u.task = 'turn' AND u.prompt_tokens > 0
  AND NOT EXISTS (SELECT 1 FROM cuts c
                  WHERE c.session_key = u.session_key AND c.kind = 'compacted'
                    AND c.lifted_at IS NULL AND c.made_at >= u.at)
ORDER BY u.key DESC
LIMIT 1

-- name: read_meter
-- Read the same, and whether nothing was said or hidden since but what its own turn said.
SELECT u.prompt_tokens,
       CASE WHEN m.turn_id = u.turn_id
                 AND NOT EXISTS (SELECT 1 FROM cuts c
                                 WHERE c.session_key = u.session_key
                                   AND (c.made_at >= u.at OR c.lifted_at >= u.at))
            THEN 1 ELSE 0 END AS is_current
FROM usage u
JOIN sessions s ON s.key = u.session_key
LEFT JOIN messages m ON m.session_key = s.key AND m.seq = s.last_seq
WHERE u.session_key = :session_key AND u.task = 'turn' AND u.prompt_tokens > 0
  AND NOT EXISTS (SELECT 1 FROM cuts c
                  WHERE c.session_key = u.session_key AND c.kind = 'compacted'
                    AND c.lifted_at IS NULL AND c.made_at >= u.at)
ORDER BY u.key DESC
LIMIT 1

-- name: add_spend_warning
-- Remember that a warning was given; no row means that it had been given before.
INSERT INTO spend_warnings (cap, subject, period, told_at)
VALUES (:cap, :subject, :period, :now)
ON CONFLICT (cap, subject, period) DO NOTHING
RETURNING cap
