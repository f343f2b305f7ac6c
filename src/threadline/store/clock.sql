-- name: read_clock
-- Read when the clock was last read, and since when it runs steadily.
SELECT seen_at, steady_since FROM clock WHERE id = 1

-- name: set_clock
-- Record that the clock was read.
INSERT INTO clock (id, seen_at, steady_since) VALUES (1, :seen_at, :steady_since)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, steady_since = excluded.steady_since

-- name: drop_future_pairings
-- Delete pairing codes that were shown before the clock was set back.
DELETE FROM pairings WHERE asked_at > :latest

-- name: redate_pairing_mistakes
-- Count wrong pairing codes from now that were given before the clock was set back.
UPDATE pairing_mistakes SET at = :now WHERE at > :latest

-- name: drop_future_codes
-- Delete link codes that were shown before the clock was set back.
DELETE FROM link_codes WHERE made_at > :latest

-- name: drop_future_login_links
-- Delete login links that were made before the clock was set back.
DELETE FROM login_links WHERE made_at > :latest

-- name: redate_login_mistakes
-- Count wrong passwords from now that were tried before the clock was set back.
UPDATE login_mistakes SET at = :now WHERE at > :latest

-- name: redate_endings
-- Tell of endings now that were put off before the clock was set back.
UPDATE endings SET due_at = :now
WHERE state IN ('pending', 'running') AND state = 'pending' AND due_at > :latest

-- name: free_future_endings
-- End the leases of endings that were taken before the clock was set back.
UPDATE endings SET lease_until = 0
WHERE state IN ('pending', 'running') AND state = 'running' AND lease_until > :latest

-- name: free_future_commands
-- End the leases of waiting commands that were begun before the clock was set back.
UPDATE waiting_commands SET lease_until = 0 WHERE lease_until > :latest

-- name: list_future_jobs
-- List jobs that ran before the clock was set back and are planned for later.
SELECT j.id FROM jobs j
WHERE j.paused_at IS NULL AND j.next_at > :latest
  AND EXISTS (SELECT 1 FROM job_runs r WHERE r.job_id = j.id AND r.started_at > :latest)
ORDER BY j.id
LIMIT :most
