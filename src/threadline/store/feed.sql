-- name: read_feed
-- Read the facts after a place in the feed, up to where nothing can slip in between any more.
SELECT '0.' || e.id AS cursor, -- sqlite
SELECT CAST(e.xid AS TEXT) || '.' || e.id AS cursor, -- postgres
       e.kind, e.revision, e.subject, e.at, coalesce(s.id, e.session_id) AS session_id
FROM events e
LEFT JOIN sessions s ON s.key = e.session_key
WHERE e.id > :id -- sqlite
WHERE e.xid < pg_snapshot_xmin(pg_current_snapshot()) -- postgres
  AND (e.xid, e.id) > (CAST(CAST(:xid AS TEXT) AS xid8), CAST(:id AS BIGINT)) -- postgres
  AND (s.id IS NOT NULL OR e.session_key = 0)
ORDER BY e.id -- sqlite
ORDER BY e.xid, e.id -- postgres
LIMIT :most

-- name: read_feed_end
-- Tell where the feed stands: everything a snapshot shows came before, or comes again.
SELECT 0 AS xid, max(f.id, coalesce((SELECT max(id) FROM events), 0)) AS id, -- sqlite
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS xid, -- postgres
       CAST(0 AS BIGINT) AS id, -- postgres
       0 AS behind -- sqlite
       (SELECT count(*) FROM (SELECT 1 FROM events -- postgres
        WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1) AS b) AS behind -- postgres
FROM feed_floor f

-- name: read_feed_floor
-- Tell up to where the feed has been pruned.
SELECT 0 AS xid, id FROM feed_floor -- sqlite
SELECT CAST(CAST(xid AS TEXT) AS BIGINT) AS xid, id FROM feed_floor -- postgres

-- name: list_old_events
-- List the oldest facts that nobody needs any more.
SELECT xid, id
FROM (SELECT 0 AS xid, id, at FROM events ORDER BY id LIMIT :most) AS oldest -- sqlite
FROM (SELECT CAST(CAST(e.xid AS TEXT) AS BIGINT) AS xid, e.id, e.at FROM events e -- postgres
      ORDER BY e.xid, e.id LIMIT :most) AS oldest -- postgres
WHERE at < :before AND id < (SELECT max(id) FROM events)
ORDER BY xid, id

-- name: drop_event
-- Delete one fact.
DELETE FROM events WHERE id = :id

-- name: raise_feed_floor
-- Remember up to where the feed has been pruned.
UPDATE feed_floor SET id = :id WHERE id < :id -- sqlite
UPDATE feed_floor SET xid = CAST(CAST(:xid AS TEXT) AS xid8), id = :id -- postgres
WHERE (xid, id) < (CAST(CAST(:xid AS TEXT) AS xid8), CAST(:id AS BIGINT)) -- postgres
