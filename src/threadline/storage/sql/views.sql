-- name: read_session
-- Read a session.
SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id AS parent_id,
       coalesce(r.id, s.id) AS root_id, s.cause, s.opened_at, s.last_activity_at, s.ended_at,
       s.end_reason, s.suspended_at, s.title, s.titled_by, s.model, s.provider, s.base_url,
       s.last_seq, s.revision, b.id AS base_id, s.base_seq, s.origin, s.user_messages,
       s.project_key, s.pinned_at, s.archived_at, s.personality, s.tools, s.workspace,
       s.worktree_path, s.worktree_branch, s.worktree_repository, s.worktree_at
FROM sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
LEFT JOIN sessions b ON b.key = s.base_key
WHERE s.id = :id

-- name: list_sessions
-- Read a page of sessions, the latest activity first.
SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id AS parent_id,
       coalesce(r.id, s.id) AS root_id, s.cause, s.opened_at, s.last_activity_at, s.ended_at,
       s.end_reason, s.suspended_at, s.title, s.titled_by, s.model, s.provider, s.base_url,
       s.last_seq, s.revision, b.id AS base_id, s.base_seq, s.origin, s.user_messages,
       s.project_key, s.pinned_at, s.archived_at, s.personality, s.tools, s.workspace,
       s.worktree_path, s.worktree_branch, s.worktree_repository, s.worktree_at,
       (SELECT t.state FROM turns t WHERE t.session_key = s.key
        AND t.state IN ('running', 'waiting')) AS held_state
FROM sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
LEFT JOIN sessions b ON b.key = s.base_key
WHERE s.profile = :profile
  AND (s.last_activity_at < :before_at
       OR (s.last_activity_at = :before_at AND s.key < :before_key))
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most

-- name: list_sessions_of_asker
-- Read the latest sessions that are an asker's own, or everybody's in the asker's chat.
SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id AS parent_id,
       coalesce(r.id, s.id) AS root_id, s.cause, s.opened_at, s.last_activity_at, s.ended_at,
       s.end_reason, s.suspended_at, s.title, s.titled_by, s.model, s.provider, s.base_url,
       s.last_seq, s.revision, b.id AS base_id, s.base_seq, s.origin, s.user_messages,
       s.project_key, s.pinned_at, s.archived_at, s.personality, s.tools, s.workspace,
       s.worktree_path, s.worktree_branch, s.worktree_repository, s.worktree_at,
       (SELECT t.state FROM turns t WHERE t.session_key = s.key
        AND t.state IN ('running', 'waiting')) AS held_state
FROM (SELECT o.key FROM sessions o WHERE o.sender_key = :sender_key
      UNION
      SELECT c.key FROM addresses a CROSS JOIN sessions c
      WHERE c.address_key = a.key AND a.platform = :platform AND a.account = :account
        AND a.kind IN ('group', 'channel', 'thread') AND a.chat = :chat AND :kind <> 'dm'
        AND c.sender_key IS NULL) AS mine
CROSS JOIN sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
LEFT JOIN sessions b ON b.key = s.base_key
WHERE s.key = mine.key AND s.profile = :profile
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most

-- name: list_active
-- List the sessions with activity since a moment.
SELECT s.id FROM sessions s
WHERE s.profile = :profile AND s.last_activity_at >= :since
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most

-- name: list_turns
-- Read the turns of a session, the newest first.
SELECT t.id, s.id AS session_id, t.state, t.attempts, t.fence, t.queued_at, t.started_at,
       t.ended_at, t.first_seq, t.owner, t.lease_until, t.question, t.answer, t.error,
       t.answered_by
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.session_key = :session_key
ORDER BY t.id DESC
LIMIT :most

-- name: sum_usage
-- Add up what a session spent, by model and task.
SELECT provider, model, task, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
       CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens,
       max(prompt_tokens) AS prompt_tokens, CAST(sum(cost) AS BIGINT) AS cost,
       count(cost) AS priced, count(*) AS calls,
       sum(CASE cost_status WHEN 'exact' THEN 1 ELSE 0 END) AS exact
FROM usage
WHERE session_key = :session_key
GROUP BY provider, model, task
ORDER BY provider, model, task

-- name: glimpse_turns
-- Read the states of a session's turns.
SELECT id, state FROM turns WHERE session_key = :session_key ORDER BY id DESC LIMIT :most

-- name: glimpse_deliveries
-- Read the states of a session's deliveries.
SELECT d.id, d.state
FROM turns t
JOIN deliveries d ON d.turn_id = t.id
WHERE t.session_key = :session_key
ORDER BY t.id DESC
LIMIT :most
