-- name: read_session
-- Read a session.
SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id AS parent_id,
       coalesce(r.id, s.id) AS root_id, s.cause, s.opened_at, s.last_activity_at, s.ended_at,
       s.end_reason, s.suspended_at, s.title, s.titled_by, s.model, s.provider, s.base_url,
       s.last_seq, s.revision, b.id AS base_id, s.base_seq, s.origin, s.user_messages,
       s.project_key, s.pinned_at, s.archived_at, s.busy_mode, s.personality, s.tools, s.workspace,
       s.worktree_path, s.worktree_branch, s.worktree_repository, s.worktree_at,
       s.taken_at, k.name AS taken_by
FROM sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
LEFT JOIN sessions b ON b.key = s.base_key
LEFT JOIN senders k ON k.key = s.taken_by
WHERE s.id = :id

-- name: read_session_key
-- Read the key of a session.
SELECT key FROM sessions WHERE id = :id

-- name: list_sessions_of_asker
-- List the latest sessions that are an asker's own, or everybody's in the asker's chat, as far as
-- the sidebar would show them.
-- Nothing is told of a parent, root or base that became somebody else's when two people parted.
WITH own AS (SELECT w.key FROM senders w WHERE w.key = :sender_key
             UNION
             SELECT w.key FROM senders w WHERE w.person_key = :person_key)
SELECT s.key, p.id AS parent_id, coalesce(r.id, s.id) AS root_id, b.id AS base_id
FROM (SELECT o.key FROM sessions o WHERE o.sender_key IN (SELECT own.key FROM own)
      UNION
      SELECT c.key FROM addresses a CROSS JOIN sessions c
      WHERE c.address_key = a.key AND a.platform = :platform AND a.account = :account
        AND a.kind IN ('group', 'channel', 'thread') AND a.chat = :chat
        AND c.sender_key IS NULL AND c.kind <> 'dm') AS mine
CROSS JOIN sessions s
LEFT JOIN sessions p ON p.key = s.parent_key
     AND (p.sender_key IS NULL OR p.sender_key IN (SELECT own.key FROM own))
LEFT JOIN sessions r ON r.key = s.root_key
     AND (r.sender_key IS NULL OR r.sender_key IN (SELECT own.key FROM own))
LEFT JOIN sessions b ON b.key = s.base_key
     AND (b.sender_key IS NULL OR b.sender_key IN (SELECT own.key FROM own))
WHERE s.key = mine.key AND s.profile = :profile
  AND (CAST(:only_here AS BIGINT) = 0
       OR s.address_key IN (SELECT h.key FROM addresses h WHERE h.platform = :platform
                            AND h.account = :account AND h.kind IN ('group', 'channel', 'thread')
                            AND h.chat = :chat))
  AND
  -- include: in_sidebar
  AND
  -- include: has_content
  AND
  -- include: is_latest_link
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most

-- name: list_turns
-- Read the turns of a session before one of them, the newest first.
SELECT t.id, s.id AS session_id, t.state, t.attempts, t.fence, t.queued_at, t.started_at,
       t.ended_at, t.first_seq, t.owner, t.lease_until, t.question, t.asks, t.asked_at, t.answer,
       t.error, t.answered_by
FROM turns t
JOIN sessions s ON s.key = t.session_key
WHERE t.session_key = :session_key AND t.id < :before
ORDER BY t.id DESC
LIMIT :most

-- name: glimpse_turns
-- Read the states of a session's turns.
SELECT id, state FROM turns WHERE session_key = :session_key ORDER BY id DESC LIMIT :most

-- name: glimpse_deliveries
-- Read the states of a session's deliveries.
SELECT id, state FROM (
    SELECT d.id, d.state
    FROM turns t
    JOIN deliveries d ON d.turn_id = t.id
    WHERE t.session_key = :session_key
    ORDER BY t.id DESC, d.id DESC LIMIT :most) AS said
UNION ALL
SELECT id, state FROM (
    SELECT id, state FROM deliveries WHERE turn_id IS NULL AND session_key = :session_key
    ORDER BY id DESC LIMIT :most) AS words
ORDER BY id DESC
LIMIT :most

-- name: read_address_of
-- Read where a session was opened.
SELECT a.platform, a.account, a.kind, a.chat, a.thread, a.alt_chat, a.parent, a.scope, a.chat_name,
       a.topic
FROM sessions s
JOIN addresses a ON a.key = s.address_key
WHERE s.id = :id
