-- fragment: selected_session
-- What decides whether, and how much of, a session is exported.
SELECT s.key, s.id, s.base_key, s.base_seq, s.base_revision, s.last_activity_at
FROM sessions s

-- name: list_all_exported
-- List a page of all sessions, in the order in which they were opened.
-- include: selected_session
WHERE s.key > :after AND s.profile <> '~importing'
ORDER BY s.key
LIMIT :most

-- name: list_profile_exported
-- List a page of the sessions of a profile, in the order in which they were opened.
-- include: selected_session
WHERE s.key > :after AND s.profile = :profile
ORDER BY s.key
LIMIT :most

-- name: list_project_exported
-- List a page of the sessions of a project, in the order in which they were opened.
-- include: selected_session
WHERE s.key > :after AND s.project_key = :project_key
ORDER BY s.key
LIMIT :most

-- name: list_person_exported
-- List a page of the sessions that these senders own.
-- include: selected_session
WHERE s.key > :after AND s.profile <> '~importing'
  AND s.sender_key IN
      (SELECT value FROM json_each(:sender_keys)) -- sqlite
      (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
       CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j) -- postgres
ORDER BY s.key
LIMIT :most

-- name: find_exported
-- Find a session by its id.
-- include: selected_session
WHERE s.id = :id

-- name: find_exported_by_key
-- Find the session whose history another one shares.
-- include: selected_session
WHERE s.key = :key

-- name: read_exported
-- Read a session with everything that an export says of it.
SELECT s.key, s.parent_key, s.project_key, s.address_key,
       (SELECT max(t.id) FROM turns t WHERE t.session_key = s.key) AS last_turn_id,
       s.id AS record_id, s.profile AS record_profile, s.cause AS record_cause,
       s.origin AS record_origin, s.native_source AS record_native_source,
       s.native_id AS record_native_id, s.opened_at AS record_opened_at,
       s.last_activity_at AS record_last_activity_at, s.ended_at AS record_ended_at,
       s.end_reason AS record_end_reason, s.suspended_at AS record_suspended_at,
       s.notice AS record_notice, s.told_at AS record_told_at, s.title AS record_title,
       s.titled_by AS record_titled_by, s.summary AS record_summary,
       s.model AS record_choice_model, s.provider AS record_choice_provider,
       s.base_url AS record_choice_base_url, s.busy_mode AS record_busy_mode,
       s.personality AS record_personality, s.tools AS record_tools,
       s.workspace AS record_workspace, s.worktree_path AS record_worktree_path,
       s.worktree_branch AS record_worktree_branch,
       s.worktree_repository AS record_worktree_repository, s.worktree_at AS record_worktree_at,
       j.name AS record_project, s.pinned_at AS record_pinned_at,
       s.archived_at AS record_archived_at, s.last_seq AS record_last_seq,
       s.user_messages AS record_user_messages, s.revision AS record_revision,
       s.interruptions AS record_interruptions, p.id AS record_parent,
       b.id AS record_base_session, s.base_seq AS record_base_seq,
       s.base_revision AS record_base_revision, o.platform AS record_owner_platform,
       o.id AS record_owner_id, a.platform AS record_place_platform,
       a.account AS record_place_account, a.kind AS record_place_kind, a.chat AS record_place_chat,
       nullif(a.thread, '') AS record_place_thread, a.alt_chat AS record_place_alt_chat,
       a.parent AS record_place_parent, a.scope AS record_place_scope,
       a.chat_name AS record_place_chat_name, a.topic AS record_place_topic
FROM sessions s
JOIN addresses a ON a.key = s.address_key
LEFT JOIN senders o ON o.key = s.sender_key
LEFT JOIN sessions p ON p.key = s.parent_key
LEFT JOIN sessions b ON b.key = s.base_key
LEFT JOIN projects j ON j.key = s.project_key
WHERE s.key = :key

-- name: list_exported_cuts
-- List all cuts of a session, the lifted ones too, in the order in which they were made.
SELECT c.key, c.from_seq, c.to_seq, c.kind, c.summary, c.user_messages, c.made_at, c.lifted_at,
       c.lifted_by
FROM cuts c
WHERE c.session_key = :session_key
ORDER BY c.key

-- name: list_exported_marks
-- List how far a session was read, and by whom.
SELECT m.reader, m.seq, m.marked_at AS at FROM marks m WHERE m.session_key = :session_key

-- name: list_exported_senders
-- List everybody who owns a session, speaks in it, or asked for what it spent.
SELECT p.key, p.platform, p.id, p.name, p.first_seen_at, p.person_key, n.name AS person_name,
       n.made_at AS person_made_at
FROM senders p
LEFT JOIN persons n ON n.key = p.person_key
WHERE p.key IN (SELECT s.sender_key FROM sessions s WHERE s.key = :session_key
                UNION
                SELECT m.sender_key FROM messages m WHERE m.session_key = :session_key
                UNION
                SELECT u.sender_key FROM usage u WHERE u.session_key = :session_key)

-- name: list_exported_aliases
-- List the other ids of a sender.
SELECT a.id, a.learned_at FROM aliases a WHERE a.sender_key = :sender_key

-- name: list_exported_person
-- List the senders that are one person.
SELECT p.platform, p.id FROM senders p WHERE p.person_key = :person_key

-- name: list_exported_turns
-- Read a page of the turns of a session, the oldest first.
SELECT t.id, t.state, t.steers, t.answered_by, t.attempts, t.queued_at, t.started_at,
       t.interrupted_at, t.ended_at, t.first_seq, t.question, t.asked_at, t.answer, t.error,
       t.address_key, a.platform AS place_platform, a.account AS place_account,
       a.kind AS place_kind, a.chat AS place_chat, nullif(a.thread, '') AS place_thread,
       a.alt_chat AS place_alt_chat, a.parent AS place_parent, a.scope AS place_scope,
       a.chat_name AS place_chat_name, a.topic AS place_topic
FROM turns t
JOIN addresses a ON a.key = t.address_key
WHERE t.session_key = :session_key AND t.id > :after AND t.id <= :last_id
ORDER BY t.id
LIMIT :most

-- name: list_exported_messages
-- Read a page of the lines of a session that are its own.
SELECT m.key, m.seq, m.turn_id, m.role, m.text, m.parts, m.at, m.arrived_at, m.changed_at,
       m.deleted_at, p.platform AS sender_platform, p.id AS sender_id
FROM messages m
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq > :after AND m.seq <= :upto
ORDER BY m.seq
LIMIT :most

-- name: list_exported_revisions
-- Read what the lines of a page said before, the oldest first.
SELECT r.message_key, r.version, r.text, r.parts, r.replaced_at, r.session_revision AS at_revision
FROM messages m
JOIN revisions r ON r.message_key = m.key
WHERE m.session_key = :session_key AND m.seq > :after AND m.seq <= :upto
ORDER BY r.message_key, r.version

-- name: list_exported_waiting
-- Read the messages of a session that have no place in the transcript yet.
SELECT m.key, m.seq, m.turn_id, m.role, m.text, m.parts, m.at, m.arrived_at, m.changed_at,
       m.deleted_at, p.platform AS sender_platform, p.id AS sender_id
FROM messages m
LEFT JOIN senders p ON p.key = m.sender_key
WHERE m.session_key = :session_key AND m.seq IS NULL
ORDER BY m.key

-- name: list_waiting_revisions
-- Read what the messages without a place said before, the oldest first.
SELECT r.message_key, r.version, r.text, r.parts, r.replaced_at, r.session_revision AS at_revision
FROM messages m
JOIN revisions r ON r.message_key = m.key
WHERE m.session_key = :session_key AND m.seq IS NULL
ORDER BY r.message_key, r.version

-- name: list_exported_usage
-- Read a page of what a session spent.
SELECT u.key, u.turn_id, u.at, u.task, u.provider, u.model, u.input_tokens, u.output_tokens,
       u.cache_read_tokens, u.cache_write_tokens, u.reasoning_tokens, u.prompt_tokens, u.cost,
       u.cost_status, p.platform AS sender_platform, p.id AS sender_id
FROM usage u
LEFT JOIN senders p ON p.key = u.sender_key
WHERE u.session_key = :session_key AND u.key > :after
ORDER BY u.key
LIMIT :most

-- name: list_exported_blobs
-- List the attachments that the lines of a session need, up to a place.
SELECT DISTINCT b.hash, b.size
FROM messages m
JOIN blob_uses u ON u.message_key = m.key
JOIN blobs b ON b.hash = u.hash
WHERE m.session_key = :session_key AND (m.seq IS NULL OR m.seq <= :upto)

-- fragment: exported_project
-- A project, and its key.
SELECT j.key, j.profile AS project_profile, j.name AS project_name, j.color AS project_color,
       j.kind AS project_kind, j.made_at AS project_made_at
FROM projects j

-- name: list_exported_projects
-- List all projects.
-- include: exported_project
ORDER BY j.key

-- name: read_exported_project
-- Read a project.
-- include: exported_project
WHERE j.key = :key

-- name: find_exported_project
-- Find a project by its name.
SELECT j.key FROM projects j WHERE j.profile = :profile AND j.name = :name

-- name: count_shared_lines
-- Count what a person wrote up to a place of a session, and tell when the last line was said.
SELECT count(CASE m.role WHEN 'user' THEN 1 END) AS user_messages, max(m.at) AS last_at
FROM messages m
WHERE m.session_key = :session_key AND m.seq <= :upto

-- name: remember_place
-- Make sure that a place is known.
INSERT INTO addresses (platform, account, kind, chat, thread, alt_chat, parent, scope, chat_name,
                       topic)
VALUES (:platform, :account, :kind, :chat, :thread, :alt_chat, :parent, :scope, :chat_name, :topic)
ON CONFLICT (platform, account, kind, chat, thread) DO NOTHING

-- name: remember_sender
-- Make sure that a sender is known; no row means that they were known before.
INSERT INTO senders (platform, id, name, first_seen_at)
VALUES (:platform, :id, :name, :first_seen_at)
ON CONFLICT (platform, id) DO NOTHING
RETURNING key

-- name: complete_sender
-- Add what an import knows of a sender, where the store knows less.
UPDATE senders
SET name = coalesce(name, CAST(:name AS TEXT)),
    first_seen_at = CASE WHEN first_seen_at < CAST(:first_seen_at AS BIGINT) THEN first_seen_at
                         ELSE CAST(:first_seen_at AS BIGINT) END
WHERE key = :key

-- name: find_alias
-- Find the sender whom the platform also knows by this id.
SELECT sender_key FROM aliases WHERE platform = :platform AND id = :id

-- name: bring_alias
-- Remember another id of a sender.
INSERT INTO aliases (platform, id, sender_key, learned_at)
VALUES (:platform, :id, :sender_key, :learned_at)
ON CONFLICT (platform, id) DO NOTHING

-- name: set_person_of_sender
-- Say who is behind a sender.
UPDATE senders SET person_key = :person_key WHERE key = :key AND person_key IS NULL

-- name: bring_project
-- Make sure that a project is there.
INSERT INTO projects (profile, name, color, kind, made_at)
VALUES (:profile, :name, :color, :kind, :made_at)
ON CONFLICT DO NOTHING

-- name: stage_session
-- Begin to store a session that nobody can see until all of it is there.
INSERT INTO sessions (id, profile, platform, kind, address_key, cause, origin, opened_at,
                      last_activity_at, ended_at, end_reason)
VALUES (:id, '~importing', :platform, :kind, :address_key, 'first', 'import', :now, :now, :now,
        'closed')
RETURNING key

-- name: list_staged
-- List sessions whose import was begun before a moment and never came to its end.
SELECT key FROM sessions
WHERE profile = '~importing' AND archived_at IS NULL AND origin <> 'job' AND opened_at < :before
LIMIT :most

-- name: find_staged
-- Tell whether a session is still one that nobody can see.
SELECT key FROM sessions WHERE key = :key AND profile = '~importing'

-- name: stage_turn
-- Store a turn that has ended.
INSERT INTO turns (session_key, address_key, state, attempts, queued_at, started_at,
                   interrupted_at, ended_at, first_seq, question, asked_at, answer, error)
VALUES (:session_key, :address_key, :state, :attempts, :queued_at, :started_at, :interrupted_at,
        :ended_at, :first_seq, :question, :asked_at, :answer, :error)
RETURNING id

-- name: join_turns
-- Remember which turn another one steered, and which one answered it.
UPDATE turns SET steers = :steers, answered_by = :answered_by WHERE id = :id

-- name: stage_message
-- Store a line with everything that is known of it.
INSERT INTO messages (session_key, seq, turn_id, role, sender_key, text, parts, at, arrived_at,
                      changed_at, deleted_at)
VALUES (:session_key, :seq, :turn_id, :role, :sender_key, :text, :parts, :at, :arrived_at,
        :changed_at, :deleted_at)
RETURNING key

-- name: stage_usage
-- Store what one call spent.
INSERT INTO usage (session_key, turn_id, sender_key, at, task, provider, model, input_tokens,
                   output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
                   prompt_tokens, cost, cost_status)
VALUES (:session_key, :turn_id, :sender_key, :at, :task, :provider, :model, :input_tokens,
        :output_tokens, :cache_read_tokens, :cache_write_tokens, :reasoning_tokens,
        :prompt_tokens, :cost, :cost_status)

-- name: stage_cut
-- Store a cut.
INSERT INTO cuts (session_key, from_seq, to_seq, kind, summary, user_messages, made_at, lifted_at)
VALUES (:session_key, :from_seq, :to_seq, :kind, :summary, :user_messages, :made_at, :lifted_at)
RETURNING key

-- name: join_cuts
-- Remember which cut lifted another one.
UPDATE cuts SET lifted_by = :lifted_by WHERE key = :key

-- name: stage_mark
-- Store how far somebody has read.
INSERT INTO marks (session_key, reader, seq, marked_at)
VALUES (:session_key, :reader, :seq, :marked_at)

-- name: find_relative
-- Read what a session must know of the one before it, or of the one whose history it shares.
SELECT key, coalesce(root_key, key) AS root_key, base_depth, last_seq, revision, profile
FROM sessions
WHERE id = :id

-- name: publish_session
-- Let everybody see a session whose import is complete.
UPDATE sessions
SET id = :id, profile = :profile, sender_key = :sender_key, parent_key = :parent_key,
    root_key = :root_key, base_key = :base_key, base_seq = :base_seq,
    base_revision = :base_revision, base_depth = :base_depth, cause = :cause, origin = :origin,
    native_source = :native_source, native_id = :native_id, opened_at = :opened_at,
    last_activity_at = :last_activity_at, ended_at = :ended_at, end_reason = :end_reason,
    suspended_at = :suspended_at, notice = :notice, told_at = :told_at, title = :title,
    titled_by = :titled_by, summary = :summary, model = :model, provider = :provider,
    base_url = :base_url, busy_mode = :busy_mode, personality = :personality, tools = :tools,
    workspace = :workspace, worktree_path = :worktree_path, worktree_branch = :worktree_branch,
    worktree_repository = :worktree_repository, worktree_at = :worktree_at,
    project_key = :project_key, pinned_at = :pinned_at, archived_at = :archived_at,
    last_seq = :last_seq, user_messages = :user_messages, revision = :revision,
    interruptions = :interruptions
WHERE key = :key

-- name: find_native
-- Find a session that was brought in from the same place.
SELECT id FROM sessions
WHERE profile = :profile AND native_source = :native_source AND native_id = :native_id

-- name: list_staged_messages
-- List a slice of the lines of a session.
SELECT key FROM messages WHERE session_key = :session_key LIMIT :most

-- name: drop_staged_usage
-- Delete what a session spent.
DELETE FROM usage WHERE session_key = :session_key

-- name: part_staged_cuts
-- Let the cuts of a session name each other no more.
UPDATE cuts SET lifted_by = NULL WHERE session_key = :session_key

-- name: drop_staged_cuts
-- Delete the cuts of a session.
DELETE FROM cuts WHERE session_key = :session_key

-- name: drop_staged_turns
-- Delete the turns of a session.
DELETE FROM turns WHERE session_key = :session_key

-- name: drop_staged_session
-- Delete a session whose import did not come to its end.
DELETE FROM sessions WHERE key = :key AND profile = '~importing'
