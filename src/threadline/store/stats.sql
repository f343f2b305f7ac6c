-- name: find_by_prefix
-- Find the sessions whose id begins in a certain way.
SELECT id FROM sessions
WHERE id LIKE :pattern ESCAPE '!' AND profile <> '~importing'
ORDER BY id
LIMIT :most

-- name: read_engine
-- Tell which database this is, and its version.
SELECT 'SQLite ' || sqlite_version() AS engine -- sqlite
SELECT 'PostgreSQL ' || current_setting('server_version') AS engine -- postgres

-- name: read_schema
-- Tell which step of the schema was applied last.
SELECT max(number) AS number FROM migrations

-- name: count_sessions
-- Count the sessions, and those that are open.
SELECT count(*) AS number, count(CASE WHEN ended_at IS NULL THEN 1 END) AS still_open
FROM sessions
WHERE profile <> '~importing'

-- name: count_unfinished
-- Count the turns that have not ended, by state, with the moment of the oldest.
SELECT state, count(*) AS tally_number, min(queued_at) AS tally_oldest_at
FROM turns
WHERE state IN ('queued', 'running', 'waiting', 'interrupted')
GROUP BY state

-- name: list_leases
-- List who runs which turn, and until when.
SELECT t.id AS turn_id, s.id AS session_id, t.owner, t.lease_until AS until
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.state IN ('running', 'waiting') AND t.owner IS NOT NULL
ORDER BY t.id

-- name: count_owed
-- Count the replies that are owed, by state, with the moment of the oldest.
SELECT state, count(*) AS tally_number, min(owed_at) AS tally_oldest_at
FROM deliveries
WHERE state IN ('pending', 'sending')
GROUP BY state

-- name: list_overdue
-- Count the work that should have begun before a certain time, with the time of the oldest: replies
-- by platform, turns that nothing keeps from running, and jobs.
SELECT 'delivery' AS kind, a.platform, count(*) AS number, min(d.due_at) AS since
FROM deliveries d
JOIN addresses a ON a.key = d.address_key
WHERE d.state = 'pending' AND (d.due_at < :before OR d.planned_at > :latest)
GROUP BY a.platform
UNION ALL
SELECT 'turn', NULL, count(*), min(t.queued_at)
FROM turns t
WHERE t.state = 'queued' AND t.queued_at < :before
  AND NOT EXISTS (SELECT 1 FROM turns h WHERE h.session_key = t.session_key
                  AND h.state IN ('running', 'waiting', 'interrupted'))
HAVING count(*) > 0
UNION ALL
SELECT 'job', NULL, count(*), min(j.next_at)
FROM jobs j
WHERE j.paused_at IS NULL AND j.next_at < :before
HAVING count(*) > 0
ORDER BY kind, platform

-- name: count_failed_endings
-- Count the endings of which a hook could not be told.
SELECT count(*) AS number FROM endings WHERE state = 'failed' AND ended_at >= :since

-- name: count_undelivered
-- Count the deliveries owed since a moment that never arrived.
SELECT count(*) AS number
FROM deliveries
WHERE state IN ('failed', 'abandoned') AND owed_at >= :since

-- name: find_gaps
-- Find sessions whose lines are not numbered without a gap, from where they go on.
-- One that just comes or goes has none of its lines, or only some.
SELECT s.id
FROM sessions s
LEFT JOIN (SELECT session_key, count(*) AS placed, min(seq) AS first, max(seq) AS last
           FROM messages WHERE seq IS NOT NULL GROUP BY session_key) AS m
     ON m.session_key = s.key
WHERE s.profile <> '~importing'
  AND s.key NOT IN (SELECT CAST(k.subject AS BIGINT) FROM forgetting_tasks k
                    WHERE k.step = 'session')
  AND (coalesce(m.last, s.base_seq, 0) <> s.last_seq
       OR m.placed <> m.last - m.first + 1
       OR (m.first <> coalesce(s.base_seq, 0) + 1
           AND NOT EXISTS (SELECT 1 FROM messages f WHERE f.session_key = s.key
                           AND f.seq = m.first AND f.role = 'system'
                           AND f.parts LIKE '%"kind": "forgotten"%')))
ORDER BY s.key
LIMIT :most

-- name: find_cuts_out_of_range
-- Find sessions with a cut where they have no line.
SELECT DISTINCT s.id
FROM cuts c
JOIN sessions s ON s.key = c.session_key
WHERE c.from_seq < 1 OR c.to_seq > s.last_seq
ORDER BY s.id
LIMIT :most

-- name: find_bad_bases
-- Find branches that share more than their base has, or not as it was at one moment.
SELECT s.id
FROM sessions s
JOIN sessions b ON b.key = s.base_key
WHERE s.base_seq IS NULL OR s.base_seq > b.last_seq OR s.last_seq < s.base_seq
   OR s.base_revision IS NULL OR s.base_revision > b.revision
ORDER BY s.key
LIMIT :most

-- name: find_base_cycles
-- Find branches whose bases lead nowhere, because they lead back.
WITH RECURSIVE chain (key, at, depth) AS (
    SELECT s.key, s.base_key, 1 FROM sessions s WHERE s.base_key IS NOT NULL
    UNION ALL
    SELECT c.key, s.base_key, c.depth + 1
    FROM chain c
    JOIN sessions s ON s.key = c.at
    WHERE s.base_key IS NOT NULL AND c.depth < 200
)
SELECT s.id
FROM chain c
JOIN sessions s ON s.key = c.key
WHERE c.depth = 200
ORDER BY s.key
LIMIT :most

-- name: find_bad_roots
-- Find sessions that name as root one that has a parent, or none of their profile.
SELECT s.id
FROM sessions s
JOIN sessions r ON r.key = s.root_key
WHERE r.root_key IS NOT NULL OR r.key = s.key OR r.profile <> s.profile OR s.parent_key = s.key
ORDER BY s.key
LIMIT :most

-- name: find_bad_turns
-- Find sessions with a turn that runs without anybody, or stands after the last line.
SELECT DISTINCT s.id
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE s.profile <> '~importing'
  AND ((t.state = 'running' AND t.owner IS NULL) OR t.first_seq > s.last_seq + 1)
ORDER BY s.id
LIMIT :most

-- name: find_bad_deliveries
-- Find replies that are owed in another session than they were made in.
SELECT CAST(d.id AS TEXT) AS id
FROM deliveries d
JOIN turns t ON t.id = d.turn_id
WHERE d.session_key <> t.session_key
ORDER BY d.id
LIMIT :most

-- name: find_bad_allowances
-- Find sessions in which tools are allowed under another profile than theirs.
SELECT DISTINCT s.id
FROM allowances a
JOIN sessions s ON s.key = a.session_key
WHERE a.profile <> s.profile
ORDER BY s.id
LIMIT :most

-- name: find_torn_blobs
-- Find attachments whose pieces are not as much as they should be.
SELECT b.hash AS id
FROM blobs b
WHERE b.size <> (SELECT coalesce(sum(octet_length(c.data)), 0) FROM blob_chunks c WHERE c.hash = b.hash)
ORDER BY b.hash
LIMIT :most

-- name: find_bad_feed
-- Find sessions of which the feed does not tell every revision that it should.
SELECT s.id
FROM (SELECT session_key, min(revision) AS first, max(revision) AS last, count(*) AS told
      FROM events WHERE session_key <> 0 GROUP BY session_key) AS e
JOIN sessions s ON s.key = e.session_key
WHERE e.last <> s.revision OR e.told <> e.last - e.first + 1
ORDER BY s.key
LIMIT :most

-- name: find_ghosts
-- Find what still names a session that is gone.
SELECT DISTINCT 'a draft on ' || d.device AS id
FROM drafts d
WHERE d.session_key <> 0 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = d.session_key)
UNION ALL
SELECT DISTINCT 'something that arrived on ' || k.platform AS id
FROM arrivals k
WHERE k.session_key IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = k.session_key)
UNION ALL
SELECT DISTINCT 'a run of job ' || r.job_id AS id
FROM job_runs r
WHERE r.session_key IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = r.session_key)
ORDER BY id
LIMIT :most

-- name: find_bad_logins
-- Find accounts that have ended while something still logs in with them.
SELECT 'account ' || a.key AS id
FROM accounts a
WHERE a.ended_at IS NOT NULL
  AND (EXISTS (SELECT 1 FROM logins l WHERE l.account_key = a.key AND l.ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM api_tokens t WHERE t.account_key = a.key AND t.ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM passkeys k WHERE k.account_key = a.key))
ORDER BY a.key
LIMIT :most

-- name: find_bad_shares
-- Find conversations of which a revoked page still says something.
SELECT DISTINCT s.id
FROM shares h
JOIN sessions s ON s.key = h.session_key
WHERE h.revoked_at IS NOT NULL AND h.page <> ''
ORDER BY s.id
LIMIT :most
