-- name: add_allowance
-- Give leave for a tool, in a session or in a whole profile; what was given before stays.
INSERT INTO allowances (profile, session_key, tool, allowed_at, sender_key)
VALUES (:profile, :session_key, :tool, :now, :sender_key)
ON CONFLICT DO NOTHING

-- name: list_allowed
-- Name the tools that a session may use without asking.
SELECT a.tool FROM sessions s
JOIN allowances a ON a.session_key = s.key
WHERE s.id = :session_id
UNION
SELECT a.tool FROM sessions s
JOIN allowances a ON a.profile = s.profile AND a.session_key IS NULL
WHERE s.id = :session_id

-- fragment: allowance
-- Leave for a tool, where it holds and who gave it.
SELECT a.key, a.profile, a.tool, a.allowed_at, s.id AS session_id, p.platform AS by_platform,
       p.id AS by_id, p.name AS by_name
FROM allowances a
LEFT JOIN sessions s ON s.key = a.session_key
LEFT JOIN senders p ON p.key = a.sender_key

-- name: list_allowances
-- List what was allowed: in a profile or in all, or in one session.
-- include: allowance
WHERE (CAST(:profile AS TEXT) IS NULL OR a.profile = CAST(:profile AS TEXT))
  AND (CAST(:every AS BIGINT) = 1 OR a.session_key = :session_key)
ORDER BY CASE WHEN a.session_key IS NULL THEN 0 ELSE 1 END, a.profile, a.session_key, a.tool

-- name: read_allowance
-- Read leave that was given.
-- include: allowance
WHERE a.key = :key

-- name: find_session_of_allowance
-- Find the session in which leave holds; none: it holds in a whole profile.
SELECT session_key FROM allowances WHERE key = :key

-- name: drop_allowance
-- Take leave back.
DELETE FROM allowances WHERE key = :key

-- name: drop_allowances_of_session
-- Take back everything that was allowed in a session.
DELETE FROM allowances WHERE session_key = :session_key

-- name: disown_allowances
-- Forget that somebody gave leave.
UPDATE allowances SET sender_key = NULL WHERE sender_key = :sender_key
