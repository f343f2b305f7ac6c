-- name: add_project
-- Make a project, unless the profile has one of this name.
INSERT INTO projects (profile, name, color, kind, made_at)
VALUES (:profile, :name, :color, :kind, :now)
ON CONFLICT DO NOTHING
RETURNING key

-- name: read_project
-- Read a project.
SELECT key, profile, name, color, kind, made_at FROM projects WHERE key = :key

-- name: lock_project
-- Take a project for this transaction: no session can be moved into it meanwhile.
SELECT key, profile, name, color, kind, made_at FROM projects WHERE key = :key
FOR UPDATE -- postgres

-- name: share_project
-- Keep a project from being deleted until a session has been moved into it.
SELECT profile FROM projects WHERE key = :key
FOR KEY SHARE -- postgres

-- name: find_project
-- Find a project of a profile by its name.
SELECT key, profile, name, color, kind, made_at FROM projects
WHERE profile = :profile AND name = :name

-- name: find_project_of_runs
-- Find the project of a profile's scheduled runs.
SELECT key, profile, name, color, kind, made_at FROM projects
WHERE profile = :profile AND kind = 'scheduled'

-- name: list_projects
-- List the projects of a profile by name, and how many sessions that are not archived each has.
SELECT j.key AS project_key, j.profile AS project_profile, j.name AS project_name,
       j.color AS project_color, j.kind AS project_kind, j.made_at AS project_made_at,
       (SELECT count(*) FROM sessions s
        WHERE s.project_key = j.key AND s.archived_at IS NULL) AS sessions
FROM projects j
WHERE j.profile = :profile
ORDER BY j.name

-- name: change_project
-- Give a project another name and colour.
UPDATE projects SET name = :name, color = :color WHERE key = :key

-- name: list_keys_of_project
-- List some sessions of a project, by their keys.
SELECT key FROM sessions WHERE project_key = :project_key ORDER BY key LIMIT :most

-- name: drop_project
-- Delete a project that no session is in.
DELETE FROM projects WHERE key = :key

-- name: move_session
-- Put a session into a project, or out of it, if it is not there already.
UPDATE sessions SET project_key = :project_key
WHERE key = :key AND coalesce(project_key, 0) <> coalesce(CAST(:project_key AS BIGINT), 0)
RETURNING key

-- name: find_session_keys
-- Find the keys of some sessions, in their order.
SELECT s.key, s.id
FROM (SELECT value AS id FROM json_each(:ids)) AS i -- sqlite
FROM (SELECT v AS id FROM json_array_elements_text( -- postgres
      CAST(CAST(:ids AS TEXT) AS JSON)) AS v) AS i -- postgres
CROSS JOIN sessions s
WHERE s.id = i.id
ORDER BY s.key

-- name: pin_session
-- Pin a session, if it is not pinned.
UPDATE sessions SET pinned_at = :now WHERE key = :key AND pinned_at IS NULL RETURNING key

-- name: unpin_session
-- Let go of a pinned session.
UPDATE sessions SET pinned_at = NULL WHERE key = :key AND pinned_at IS NOT NULL RETURNING key

-- name: archive_session
-- Put a session into the archive, if it is not there.
UPDATE sessions SET archived_at = :now WHERE key = :key AND archived_at IS NULL RETURNING key

-- name: unarchive_session
-- Take a session out of the archive.
UPDATE sessions SET archived_at = NULL WHERE key = :key AND archived_at IS NOT NULL RETURNING key

-- name: set_personality
-- Choose who the agent is in a session, if it is not so already.
UPDATE sessions SET personality = :personality
WHERE key = :key AND personality IS DISTINCT FROM CAST(:personality AS TEXT)
RETURNING key

-- name: set_tools
-- Choose the tools that a session may use, if it may not use the same already.
UPDATE sessions SET tools = :tools
WHERE key = :key AND tools IS DISTINCT FROM CAST(:tools AS TEXT)
RETURNING key

-- name: set_workspace
-- Choose the folder in which a session works, if it does not already.
UPDATE sessions SET workspace = :workspace
WHERE key = :key AND workspace IS DISTINCT FROM CAST(:workspace AS TEXT)
RETURNING key

-- name: set_worktree
-- Remember the working copy that a session has for itself.
UPDATE sessions
SET worktree_path = :path, worktree_branch = :branch, worktree_repository = :repository,
    worktree_at = :at
WHERE key = :key

-- name: find_last_workspace
-- Find the folder in which the latest sessions of a profile worked.
SELECT w.workspace
FROM (SELECT s.workspace, s.last_activity_at, s.key FROM sessions s
      WHERE s.profile = :profile AND s.archived_at IS NULL AND s.origin <> 'job'
      ORDER BY s.last_activity_at DESC, s.key DESC
      LIMIT :most) AS w
WHERE w.workspace IS NOT NULL
ORDER BY w.last_activity_at DESC, w.key DESC
LIMIT 1

-- name: put_draft
-- Keep what somebody has begun to write on a device.
INSERT INTO drafts (profile, device, session_key, text, changed_at)
VALUES (:profile, :device, :session_key, :text, :now)
ON CONFLICT (profile, device, session_key)
DO UPDATE SET text = excluded.text, changed_at = excluded.changed_at

-- name: drop_draft
-- Forget what somebody has begun to write.
DELETE FROM drafts
WHERE profile = :profile AND device = :device AND session_key = :session_key

-- name: list_drafts
-- List what somebody has begun to write on a device, the latest first.
SELECT d.text, d.changed_at, s.id AS session_id
FROM drafts d
LEFT JOIN sessions s ON s.key = d.session_key
WHERE d.profile = :profile AND d.device = :device
ORDER BY d.changed_at DESC, d.session_key DESC
LIMIT :most

-- name: read_draft
-- Read what somebody has begun to write in one place.
SELECT d.text, d.changed_at, s.id AS session_id
FROM drafts d
LEFT JOIN sessions s ON s.key = d.session_key
WHERE d.profile = :profile AND d.device = :device AND d.session_key = :session_key

-- name: read_mark
-- Tell how far somebody has read.
SELECT seq FROM marks WHERE session_key = :session_key AND reader = :reader

-- name: put_mark
-- Remember how far somebody has read.
INSERT INTO marks (session_key, reader, seq, marked_at)
VALUES (:session_key, :reader, :seq, :now)
ON CONFLICT (session_key, reader) DO UPDATE SET seq = excluded.seq, marked_at = excluded.marked_at
