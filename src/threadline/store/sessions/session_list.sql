-- fragment: in_sidebar
-- Lists show neither archived sessions nor runs of jobs, unless they are asked for.
s.archived_at IS NULL AND s.origin <> 'job'

-- fragment: has_content
-- A session without a title and without lines has nothing to show until something happens in it.
(s.title IS NOT NULL OR s.last_seq > 0 OR s.worktree_path IS NOT NULL
 OR coalesce((SELECT 0 FROM turns t WHERE t.session_key = s.key AND t.ended_at IS NULL
              LIMIT 1), 1) <> 1)

-- fragment: is_latest_link
-- The latest of several continuations stands for all of them.
-- PostgreSQL turns NOT EXISTS into a join over all sessions; coalesce keeps it a lookup per row.
coalesce((SELECT 1 FROM sessions n WHERE n.parent_key = s.key AND n.cause = 'continued'
          LIMIT 1), 0) <> 1

-- name: find_sessions
-- Find a page of what a list shows, the latest activity first; each part of it has its own index.
-- PostgreSQL walks along an index only if each part is ordered, and SQLite takes no such order.
SELECT s.key, s.last_activity_at
FROM (
      ( -- postgres
      SELECT a.* FROM sessions a
      WHERE CAST(:listed AS BIGINT) = 1 AND a.profile = :profile
        AND a.archived_at IS NULL AND a.origin <> 'job' AND a.pinned_at IS NULL
        AND (a.last_activity_at, a.key) < (:before_at, :before_key)
      ORDER BY a.last_activity_at DESC, a.key DESC) -- postgres
      UNION ALL
      ( -- postgres
      SELECT b.* FROM sessions b
      WHERE CAST(:put_away AS BIGINT) = 1 AND b.profile = :profile
        AND (b.archived_at IS NOT NULL OR b.origin = 'job') AND b.pinned_at IS NULL
        AND (b.last_activity_at, b.key) < (:before_at, :before_key)
      ORDER BY b.last_activity_at DESC, b.key DESC) -- postgres
      UNION ALL
      ( -- postgres
      SELECT c.* FROM sessions c
      WHERE CAST(:pinned AS BIGINT) = 1 AND c.profile = :profile
        AND c.pinned_at IS NOT NULL
        AND (c.last_activity_at, c.key) < (:before_at, :before_key)
      ORDER BY c.last_activity_at DESC, c.key DESC) -- postgres
      UNION ALL
      ( -- postgres
      SELECT d.* FROM sessions d
      WHERE CAST(:of_project AS BIGINT) = 1 AND d.profile = :profile
        AND d.project_key = CAST(:project_key AS BIGINT) AND d.pinned_at IS NULL
        AND (d.last_activity_at, d.key) < (:before_at, :before_key)
      ORDER BY d.last_activity_at DESC, d.key DESC) -- postgres
      UNION ALL
      ( -- postgres
      SELECT e.* FROM sessions e
      WHERE CAST(:of_senders AS BIGINT) = 1 AND e.profile = :profile AND e.pinned_at IS NULL
        AND e.sender_key IN
            (SELECT value FROM json_each(:sender_keys)) -- sqlite
            (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
             CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j) -- postgres
        AND (e.last_activity_at, e.key) < (:before_at, :before_key)
      ORDER BY e.last_activity_at DESC, e.key DESC) -- postgres
     ) AS s
WHERE CASE CAST(:shelf AS TEXT)
          WHEN 'sidebar' THEN
          -- include: in_sidebar
          WHEN 'archived' THEN s.archived_at IS NOT NULL
          WHEN 'scheduled' THEN s.archived_at IS NULL AND s.origin = 'job'
          ELSE s.key IS NOT NULL END
  AND (CAST(:platform AS TEXT) IS NULL OR s.platform = CAST(:platform AS TEXT))
  AND (CAST(:kind AS TEXT) IS NULL OR s.kind = CAST(:kind AS TEXT))
  AND (CAST(:origin AS TEXT) IS NULL OR s.origin = CAST(:origin AS TEXT))
  AND (CAST(:project_key AS BIGINT) IS NULL OR s.project_key = CAST(:project_key AS BIGINT))
  AND (CAST(:sender_keys AS TEXT) IS NULL OR s.sender_key IN
       (SELECT value FROM json_each(:sender_keys))) -- sqlite
       (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j)) -- postgres
  AND (CAST(:ended AS BIGINT) IS NULL
       OR CAST(:ended AS BIGINT) = CASE WHEN s.ended_at IS NULL THEN 0 ELSE 1 END)
  AND (CAST(:worktree AS BIGINT) IS NULL
       OR CAST(:worktree AS BIGINT) = CASE WHEN s.worktree_path IS NULL THEN 0 ELSE 1 END)
  AND (CAST(:since AS BIGINT) IS NULL OR s.last_activity_at >= CAST(:since AS BIGINT))
  AND (CAST(:words AS TEXT) IS NULL OR
       instr(lower(s.title), :words) > 0) -- sqlite
       position(CAST(:words AS TEXT) IN lower(s.title COLLATE "C")) > 0) -- postgres
  AND (CAST(:unread AS BIGINT) IS NULL OR CAST(:unread AS BIGINT) =
       CASE WHEN s.last_seq > coalesce((SELECT k.seq FROM marks k WHERE k.session_key = s.key
                                        AND k.reader = CAST(:reader AS TEXT)), 0)
            THEN 1 ELSE 0 END)
  AND (CAST(:empty AS BIGINT) = 1 OR
       -- include: has_content
       )
  AND
  -- include: is_latest_link
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most

-- name: find_owners
-- Find some sessions by their ids, with whose each is, and in which chat it was opened.
SELECT s.key, s.id, s.profile, s.kind, s.sender_key, s.address_key, a.platform, a.account, a.chat
FROM (SELECT value AS id FROM json_each(:ids)) AS i -- sqlite
FROM (SELECT v AS id FROM json_array_elements_text( -- postgres
      CAST(CAST(:ids AS TEXT) AS JSON)) AS v) AS i -- postgres
CROSS JOIN sessions s
CROSS JOIN addresses a
WHERE s.id = i.id AND a.key = s.address_key

-- name: read_session_rows
-- Read everything that a list shows of some sessions.
SELECT s.key, s.id AS session_id, s.profile AS session_profile, s.platform AS session_platform,
       s.kind AS session_kind, p.id AS session_parent_id,
       coalesce(r.id, s.id) AS session_root_id, s.cause AS session_cause,
       s.opened_at AS session_opened_at, s.last_activity_at AS session_last_activity_at,
       s.ended_at AS session_ended_at, s.end_reason AS session_end_reason,
       s.suspended_at AS session_suspended_at, s.title AS session_title,
       s.titled_by AS session_titled_by, s.model AS session_choice_model,
       s.provider AS session_choice_provider, s.base_url AS session_choice_base_url,
       s.last_seq AS session_last_seq, s.revision AS session_revision, b.id AS session_base_id,
       s.base_seq AS session_base_seq, s.origin AS session_origin,
       s.user_messages AS session_user_messages, s.project_key AS session_project,
       s.pinned_at AS session_pinned_at, s.archived_at AS session_archived_at,
       s.busy_mode AS session_busy_mode, s.personality AS session_personality,
       s.tools AS session_tools, s.workspace AS session_workspace,
       s.worktree_path AS session_worktree_path, s.worktree_branch AS session_worktree_branch,
       s.worktree_repository AS session_worktree_repository,
       s.worktree_at AS session_worktree_at, s.taken_at AS session_taken_at,
       h.name AS session_taken_by,
       a.chat, a.chat_name, a.topic, coalesce(o.name, o.id) AS owner_name,
       j.name AS project_name,
       (SELECT t.state FROM turns t WHERE t.session_key = s.key
        AND t.state IN ('running', 'waiting')) AS held_state,
       (SELECT count(*) FROM turns q WHERE q.session_key = s.key AND q.ended_at IS NULL
        AND q.state = 'queued') AS queued,
       coalesce((SELECT k.seq FROM marks k WHERE k.session_key = s.key
                 AND k.reader = :reader), 0) AS read_seq,
       (SELECT count(*) FROM drafts d WHERE d.profile = s.profile
        AND d.device = CAST(:device AS TEXT) AND d.session_key = s.key) AS drafts,
       CASE WHEN s.sender_key IS NULL THEN
       (SELECT json_group_array(n.name) -- sqlite
       (SELECT CAST(json_agg(n.name) AS TEXT) -- postgres
        FROM (SELECT coalesce(g.name, g.id) AS name, max(l.seq) AS latest
              FROM (SELECT m.sender_key, m.seq FROM messages m
                    WHERE m.session_key = s.key AND m.seq IS NOT NULL
                    ORDER BY m.seq DESC LIMIT :lines) AS l
              JOIN senders g ON g.key = l.sender_key
              GROUP BY g.key
              ORDER BY latest DESC) AS n) END AS speakers,
       -- What was undone at the end may be long, so it is skipped at once.
       (SELECT json_array(w.role, coalesce(f.name, f.id), -- sqlite
       (SELECT CAST(json_build_array(w.role, coalesce(f.name, f.id), -- postgres
                    substr(w.text, 1, :characters)) -- sqlite
                    substr(w.text, 1, :characters)) AS TEXT) -- postgres
        FROM messages w LEFT JOIN senders f ON f.key = w.sender_key
        WHERE w.session_key = s.key AND w.role IN ('user', 'assistant') AND w.text <> ''
          AND w.deleted_at IS NULL
          AND w.seq <= coalesce((SELECT min(e.from_seq) - 1 FROM cuts e
                                 WHERE e.session_key = s.key AND e.lifted_at IS NULL
                                   AND e.kind <> 'compacted' AND e.to_seq >= s.last_seq),
                                s.last_seq)
          AND NOT EXISTS (SELECT 1 FROM cuts c WHERE c.session_key = s.key
                          AND c.lifted_at IS NULL AND c.kind <> 'compacted'
                          AND w.seq BETWEEN c.from_seq AND c.to_seq)
        ORDER BY w.seq DESC LIMIT 1) AS last_said,
       (SELECT count(*) FROM deliveries v
        WHERE v.turn_id = (SELECT max(u.id) FROM turns u
                           WHERE u.session_key = s.key AND u.ended_at IS NOT NULL)
          AND v.state IN ('failed', 'abandoned'))
       -- Or what a person said in the agent's place, if that was later.
       + (SELECT count(*) FROM deliveries l
          WHERE l.id = (SELECT max(n.id) FROM deliveries n WHERE n.session_key = s.key
                        AND n.turn_id IS NULL AND n.until_seq > 0)
            AND l.state IN ('failed', 'abandoned')
            AND l.until_seq > coalesce((SELECT u.first_seq FROM turns u
                                        WHERE u.session_key = s.key AND u.ended_at IS NOT NULL
                                        ORDER BY u.id DESC LIMIT 1), 0)
         ) AS undelivered
FROM (SELECT value AS key FROM json_each(:keys)) AS i -- sqlite
FROM (SELECT CAST(v AS BIGINT) AS key FROM json_array_elements_text( -- postgres
      CAST(CAST(:keys AS TEXT) AS JSON)) AS v) AS i -- postgres
CROSS JOIN sessions s
CROSS JOIN addresses a
LEFT JOIN senders o ON o.key = s.sender_key
LEFT JOIN senders h ON h.key = s.taken_by
LEFT JOIN projects j ON j.key = s.project_key
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions r ON r.key = s.root_key
LEFT JOIN sessions b ON b.key = s.base_key
WHERE s.key = i.key AND a.key = s.address_key

-- name: count_listed
-- Count the sessions of the sidebar by platform and project.
SELECT s.platform, s.project_key, count(*) AS sessions, count(s.pinned_at) AS pinned,
       sum(CASE WHEN s.last_seq > coalesce((SELECT k.seq FROM marks k
                WHERE k.session_key = s.key AND k.reader = :reader), 0)
                THEN 1 ELSE 0 END) AS unread
FROM sessions s
WHERE s.profile = :profile AND
  -- include: in_sidebar
  AND
  -- include: has_content
  AND
  -- include: is_latest_link
GROUP BY s.platform, s.project_key
ORDER BY s.platform, s.project_key

-- name: count_put_away
-- Count the sessions that the sidebar does not show, as a list of them would show them.
SELECT count(s.archived_at) AS archived, count(*) - count(s.archived_at) AS scheduled
FROM sessions s
WHERE s.profile = :profile AND (s.archived_at IS NOT NULL OR s.origin = 'job')
  AND
  -- include: has_content
  AND
  -- include: is_latest_link

-- name: list_active
-- List the sessions with activity since a moment, archived and scheduled ones too.
SELECT s.id
FROM (SELECT a.* FROM sessions a
      WHERE a.profile = :profile AND a.archived_at IS NULL AND a.origin <> 'job'
      UNION ALL
      SELECT b.* FROM sessions b
      WHERE b.profile = :profile AND (b.archived_at IS NOT NULL OR b.origin = 'job')) AS s
WHERE s.last_activity_at >= :since
ORDER BY s.last_activity_at DESC, s.key DESC
LIMIT :most
