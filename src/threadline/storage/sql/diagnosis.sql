-- name: find_by_prefix
-- Find the sessions whose id begins in a certain way.
SELECT id FROM sessions WHERE id LIKE :pattern ESCAPE '!' ORDER BY id LIMIT :most

-- name: read_engine
-- Tell which database this is, and its version.
SELECT 'SQLite ' || sqlite_version() AS engine -- sqlite
SELECT 'PostgreSQL ' || current_setting('server_version') AS engine -- postgres

-- name: read_schema
-- Tell which step of the schema was applied last.
SELECT max(number) AS number FROM migrations

-- name: count_sessions
-- Count the sessions, and those that are open.
SELECT count(*) AS number, count(CASE WHEN ended_at IS NULL THEN 1 END) AS still_open FROM sessions

-- name: count_unfinished
-- Count the turns that have not ended, by state, with the moment of the oldest.
SELECT state, count(*) AS number, min(queued_at) AS oldest_at
FROM turns
WHERE state IN ('queued', 'running', 'waiting', 'interrupted')
GROUP BY state

-- name: list_leases
-- List who runs which turn, and until when.
SELECT t.id, s.id AS session_id, t.owner, t.lease_until
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.state IN ('running', 'waiting') AND t.owner IS NOT NULL
ORDER BY t.id

-- name: count_owed
-- Count the replies that are owed, by state, with the moment of the oldest.
SELECT state, count(*) AS number, min(owed_at) AS oldest_at
FROM deliveries
WHERE state IN ('pending', 'sending')
GROUP BY state
