-- name: enrol_gateway
-- Write down that a gateway serves this store.
INSERT INTO gateways (owner, host, pid, version, url, platforms, started_at, beat_at)
VALUES (:owner, :host, :pid, :version, :url, :platforms, :now, :now)
ON CONFLICT (owner) DO UPDATE
SET host = :host, pid = :pid, version = :version, url = :url, platforms = :platforms,
    started_at = :now, beat_at = :now

-- name: read_gateway_platforms
-- Read how the platforms of a gateway were when it was last heard of.
SELECT platforms FROM gateways WHERE owner = :owner

-- name: beat_gateway
-- Write down that a gateway still serves, and how its platforms are.
UPDATE gateways SET platforms = :platforms, beat_at = :now, places = :places, taken = :taken,
                    silent = :silent
WHERE owner = :owner
RETURNING owner

-- name: remove_gateway
-- Forget a gateway that serves no longer.
DELETE FROM gateways WHERE owner = :owner RETURNING owner

-- name: list_gateways
-- List the gateways that were enrolled, the oldest first.
SELECT owner, host, pid, version, url, platforms AS health, started_at, beat_at,
       places AS places_total, taken AS places_taken, silent AS places_silent
FROM gateways
ORDER BY started_at, owner

-- name: enter_follower
-- Let somebody who is told of everything begin at a place of the feed, unless they have begun.
INSERT INTO followers (name, cursor) VALUES (:name, :cursor)
ON CONFLICT (name) DO NOTHING

-- name: read_follower
-- Tell which process tells a follower, and until when.
SELECT owner, lease_until FROM followers WHERE name = :name

-- name: take_follower
-- Take over the telling, from whoever had it when somebody looked.
UPDATE followers SET owner = :owner, lease_until = :lease_until
WHERE name = :name AND (owner IS NULL OR owner = CAST(:from_owner AS TEXT))
RETURNING cursor

-- name: move_follower
-- Write down how far the telling has come, as long as it is ours.
UPDATE followers SET cursor = :cursor, lease_until = :lease_until
WHERE name = :name AND owner = :owner
RETURNING name

-- name: free_follower
-- Let another process go on with the telling, from where it has come to.
UPDATE followers SET owner = NULL, lease_until = NULL, cursor = coalesce(:cursor, cursor)
WHERE name = :name AND owner = :owner

-- name: read_lost_delivery
-- Read what somebody is told of a delivery that never arrived.
SELECT d.id, d.turn_id, d.state, d.attempts, d.owed_at, d.error, s.id AS session_id, a.platform
FROM deliveries d
JOIN addresses a ON a.key = d.address_key
LEFT JOIN sessions s ON s.key = d.session_key
WHERE d.id = :id

-- name: read_work
-- Count what there is to do, and measure the database.
SELECT (SELECT count(*) FROM turns WHERE state = 'queued') AS queued,
       (SELECT count(*) FROM turns WHERE state IN ('running', 'waiting')) AS running,
       (SELECT count(*) FROM deliveries WHERE state = 'pending') AS owed,
       (SELECT p.page_count * s.page_size -- sqlite
        FROM pragma_page_count() p, pragma_page_size() s) AS size -- sqlite
       pg_database_size(current_database()) AS size -- postgres

-- name: lock_service
-- Read on which machine a process last worked on the queue, and keep others from changing it.
SELECT boot, uptime FROM service
FOR UPDATE -- postgres

-- name: read_service
-- Read when a process last worked on the queue; if none ever did, when the first session began.
SELECT coalesce((SELECT served_at FROM service),
                (SELECT opened_at FROM sessions ORDER BY key LIMIT 1)) AS served_at

-- name: note_service
-- Record that a process works on the queue.
INSERT INTO service (key, served_at, boot, uptime) VALUES (1, :now, :boot, :uptime)
ON CONFLICT (key) DO UPDATE
SET served_at = excluded.served_at, boot = excluded.boot, uptime = excluded.uptime

-- name: add_outage
-- Record a span in which no process worked on the queue, or a platform could not be reached.
INSERT INTO outages (from_at, until_at, platform) VALUES (:from_at, :until_at, :platform)
ON CONFLICT (until_at, from_at, platform) DO NOTHING

-- name: extend_outage
-- Extend a span that ended when this one begins.
UPDATE outages SET until_at = :until_at WHERE until_at = :from_at AND platform = :platform
RETURNING from_at

-- name: list_outages
-- List the spans that ended after a time: of the queue, of a platform, and of the clock.
SELECT platform, from_at, until_at FROM outages
WHERE until_at > :since AND platform IN ('', CAST(:platform AS TEXT), CAST(:skipped AS TEXT))

-- name: drop_future_outages
-- Delete the outages that were recorded before the clock was set back.
DELETE FROM outages WHERE until_at > :after

-- name: drop_outages
-- Delete the outages that ended before a time.
DELETE FROM outages WHERE until_at < :before
