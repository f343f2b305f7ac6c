-- fragment: job_columns
-- What is read of a job, where it was made, by whom, and how its last run went.
SELECT j.id, j.profile, j.name, j.prompt, j.schedule, j.timezone, j.target, j.mirror,
       j.made_at, j.paused_at, j.next_at,
       a.platform AS address_platform, a.account AS address_account, a.kind AS address_kind,
       a.chat AS address_chat, a.thread AS address_thread, a.alt_chat AS address_alt_chat,
       a.parent AS address_parent, a.scope AS address_scope, a.chat_name AS address_chat_name,
       a.topic AS address_topic,
       p.platform AS maker_platform, p.id AS maker_id, p.vouched_by AS voucher,
       r.id AS last_run_id, r.state AS last_run_state, r.due_at AS last_run_due_at,
       r.started_at AS last_run_started_at, r.ended_at AS last_run_ended_at,
       s.id AS last_run_session_id, r.turn_id AS last_run_turn_id, r.why AS last_run_why,
       t.state AS last_run_turn_state
FROM jobs j
LEFT JOIN addresses a ON a.key = j.address_key
LEFT JOIN senders p ON p.key = j.sender_key
LEFT JOIN job_runs r ON r.id = (SELECT max(l.id) FROM job_runs l WHERE l.job_id = j.id)
LEFT JOIN sessions s ON s.key = r.session_key
LEFT JOIN turns t ON t.id = r.turn_id

-- name: read_job
-- Read a job.
-- include: job_columns
WHERE j.id = :id

-- name: read_sender_of_job
-- Read in whose name a job runs.
SELECT sender_key FROM jobs WHERE id = :id

-- name: lock_job
-- Take a job for this transaction: nobody else starts, changes or deletes it meanwhile.
SELECT id FROM jobs WHERE id = :id
FOR UPDATE -- postgres

-- name: list_jobs
-- List jobs of a profile, of anybody or of some senders, from behind one of them on.
-- include: job_columns
WHERE j.profile = :profile
  AND (CAST(:sender_keys AS TEXT) IS NULL OR j.sender_key IN
       (SELECT value FROM json_each(:sender_keys))) -- sqlite
       (SELECT CAST(k AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS k)) -- postgres
  AND j.id > :after
ORDER BY j.id
LIMIT :most

-- name: find_makers
-- Read whose some jobs are.
SELECT id, profile, sender_key FROM jobs WHERE id IN
       (SELECT value FROM json_each(:ids)) -- sqlite
       (SELECT CAST(v AS BIGINT) FROM json_array_elements_text(CAST(CAST(:ids AS TEXT) AS JSON)) AS v) -- postgres

-- name: count_jobs
-- Count the jobs of a profile, and those of one sender.
SELECT count(*) AS jobs,
       count(CASE WHEN sender_key = CAST(:sender_key AS BIGINT) THEN 1 END) AS own
FROM jobs WHERE profile = :profile

-- name: add_job
-- Make a job.
INSERT INTO jobs (profile, name, prompt, schedule, timezone, target, mirror, address_key,
                  sender_key, made_at, next_at)
VALUES (:profile, :name, :prompt, :schedule, :timezone, :target, :mirror, :address_key,
        :sender_key, :now, :next_at)
RETURNING id

-- name: change_job
-- Let a job ask something else, at other times, or for others.
UPDATE jobs
SET name = :name, prompt = :prompt, schedule = :schedule, timezone = :timezone, target = :target,
    mirror = :mirror, sender_key = :sender_key, next_at = :next_at
WHERE id = :id

-- name: pause_job
-- Let a job rest, if it does not yet.
UPDATE jobs SET paused_at = :now WHERE id = :id AND paused_at IS NULL RETURNING id

-- name: resume_job
-- Let a job go on, if it rests.
UPDATE jobs SET paused_at = NULL, next_at = :next_at
WHERE id = :id AND paused_at IS NOT NULL
RETURNING id

-- name: set_next_time
-- Write down when a job is asked next.
UPDATE jobs SET next_at = :next_at WHERE id = :id

-- name: drop_runs_of_job
-- Forget when a job was asked.
DELETE FROM job_runs WHERE job_id = :job_id

-- name: drop_job
-- Delete a job.
DELETE FROM jobs WHERE id = :id

-- name: list_jobs_of_sender
-- List the jobs that somebody made.
SELECT id FROM jobs WHERE sender_key = :sender_key ORDER BY id

-- name: read_next_job
-- Tell when the next job is due.
SELECT min(next_at) AS next_at FROM jobs WHERE paused_at IS NULL AND next_at IS NOT NULL

-- name: list_due_jobs
-- List jobs whose time has come.
SELECT id FROM jobs
WHERE paused_at IS NULL AND next_at IS NOT NULL AND next_at <= :now
ORDER BY next_at, id
LIMIT :most

-- name: add_job_run
-- Write down that a job was due, and what came of it.
INSERT INTO job_runs (job_id, state, due_at, started_at, ended_at, session_key, turn_id, why)
VALUES (:job_id, :state, :due_at, :now, :ended_at, :session_key, :turn_id, :why)
RETURNING id

-- name: find_running_run
-- Find the run of a job that is not over.
SELECT id FROM job_runs WHERE job_id = :job_id AND state = 'running' ORDER BY id LIMIT 1

-- name: list_job_runs
-- List the latest runs of a job, with how far the turn of each is.
SELECT r.id, r.state, r.due_at, r.started_at, r.ended_at, s.id AS session_id, r.turn_id, r.why,
       t.state AS turn_state
FROM job_runs r
LEFT JOIN sessions s ON s.key = r.session_key
LEFT JOIN turns t ON t.id = r.turn_id
WHERE r.job_id = :job_id AND r.id < :before
ORDER BY r.id DESC
LIMIT :most

-- name: prune_job_runs
-- Forget the oldest runs of a job, so that so many are left.
DELETE FROM job_runs
WHERE job_id = :job_id AND state <> 'running'
  AND id < (SELECT min(k.id) FROM (SELECT r.id FROM job_runs r WHERE r.job_id = :job_id
                                   ORDER BY r.id DESC LIMIT :keep) AS k)

-- name: list_runs_to_close
-- List runs that are under way, of which the turn is over or gone.
SELECT r.id FROM job_runs r
LEFT JOIN turns t ON t.id = r.turn_id
WHERE r.state = 'running' AND (t.id IS NULL OR t.ended_at IS NOT NULL)
ORDER BY r.id
LIMIT :most

-- name: list_running_runs
-- List the turns of runs that are under way.
SELECT turn_id FROM job_runs WHERE state = 'running' AND turn_id IS NOT NULL ORDER BY turn_id

-- name: read_run_end
-- Read how a run that is under way has ended, if it has.
SELECT r.job_id, r.turn_id, r.session_key, r.why, t.state, t.error, t.ended_at
FROM job_runs r
LEFT JOIN turns t ON t.id = r.turn_id
WHERE r.id = :id AND r.state = 'running'

-- name: end_job_run
-- Write down how a run ended, once.
UPDATE job_runs SET state = :state, ended_at = :now, why = :why
WHERE id = :id AND state = 'running'
RETURNING id

-- name: loosen_job_runs
-- Let no run say any more which session it had.
UPDATE job_runs SET session_key = NULL, turn_id = NULL WHERE session_key = :session_key

-- name: make_scheduled
-- Let a session be that of a run, in the project of runs.
UPDATE sessions SET origin = 'job', project_key = :project_key WHERE key = :key

-- name: add_turn_target
-- Let what a turn says go to a place.
INSERT INTO turn_targets (turn_id, address_key) VALUES (:turn_id, :address_key)
ON CONFLICT DO NOTHING

-- name: list_turn_targets
-- List where what a turn says goes.
SELECT a.platform, a.account, a.kind, a.chat, a.thread, a.alt_chat, a.parent, a.scope,
       a.chat_name, a.topic
FROM turn_targets t
JOIN addresses a ON a.key = t.address_key
WHERE t.turn_id = :turn_id
ORDER BY a.key

-- name: drop_turn_targets
-- Forget where what a turn said went.
DELETE FROM turn_targets WHERE turn_id = :turn_id

-- name: list_said
-- Read what a turn answered.
SELECT m.text, m.parts FROM messages m
WHERE m.session_key = :session_key AND m.turn_id = :turn_id AND m.role = 'assistant'
  AND m.deleted_at IS NULL
ORDER BY m.seq

-- name: find_places
-- Find a chat that we have heard of, whatever sort of place it is; first where somebody spoke.
SELECT platform, account, kind, chat, nullif(thread, '') AS thread, alt_chat, parent, scope,
       chat_name, topic
FROM addresses a
WHERE platform = :platform AND account = :account
  AND kind IN ('dm', 'group', 'channel', 'thread') AND chat = :chat AND thread = :thread
ORDER BY CASE WHEN EXISTS (SELECT 1 FROM sessions s WHERE s.address_key = a.key) THEN 0 ELSE 1 END,
         key

-- name: read_death
-- Tell why nothing can be sent to a place any more.
SELECT coalesce(dead_why, '') AS why FROM addresses
WHERE platform = :platform AND account = :account AND kind = :kind AND chat = :chat
  AND thread = :thread AND dead_at IS NOT NULL

-- name: list_heard_platforms
-- List the platforms of all places that anybody has heard of.
WITH RECURSIVE heard (platform) AS (
    SELECT min(platform) FROM addresses
    UNION ALL
    -- From one to the next, instead of past every place.
    SELECT (SELECT min(a.platform) FROM addresses a WHERE a.platform > heard.platform)
    FROM heard WHERE heard.platform IS NOT NULL)
SELECT platform FROM heard WHERE platform IS NOT NULL
