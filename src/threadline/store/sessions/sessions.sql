-- fragment: session_state
-- What a verb needs to know of a session that it changes or goes on from.
sessions.key, sessions.id, sessions.profile, sessions.platform, sessions.kind,
       sessions.address_key, sessions.sender_key,
       coalesce(sessions.root_key, sessions.key) AS root_key, sessions.revision,
       sessions.last_seq, sessions.last_activity_at, sessions.interruptions, sessions.ended_at,
       sessions.end_reason, sessions.suspended_at, sessions.notice, sessions.told_at,
       sessions.taken_at, sessions.origin, sessions.title, sessions.titled_by,
       sessions.busy_mode, sessions.summary

-- name: lock_session
-- Take a session for this transaction, and read its state.
SELECT
-- include: session_state
FROM sessions
WHERE id = :id
FOR NO KEY UPDATE -- postgres

-- name: lock_session_by_key
-- Take a session, of which only the key is known, for this transaction.
SELECT
-- include: session_state
FROM sessions
WHERE key = :key
FOR NO KEY UPDATE -- postgres

-- name: lock_bound_session
-- Take the session that a route is bound to, and the binding, for this transaction.
SELECT
-- include: session_state
FROM bindings b
JOIN sessions ON sessions.key = b.session_key
WHERE b.route = :route
FOR NO KEY UPDATE -- postgres

-- name: find_successor
-- Find the session that took the place of another one for a cause.
SELECT id FROM sessions WHERE parent_key = :key AND cause = :cause ORDER BY key DESC LIMIT 1

-- name: read_session_state
-- Read the state of a session.
SELECT
-- include: session_state
FROM sessions
WHERE id = :id

-- name: read_place
-- Read the address where a session is at home.
SELECT a.platform, a.account, a.kind, a.chat, nullif(a.thread, '') AS thread, a.alt_chat,
       a.parent, a.scope, a.chat_name, a.topic
FROM addresses a
WHERE a.key = :key

-- name: lock_binding
-- Take the binding of a route for this transaction.
SELECT session_key FROM bindings
WHERE route = :route
FOR NO KEY UPDATE -- postgres

-- name: read_seat
-- Read what the successor of a session inherits.
SELECT
-- include: session_state
FROM sessions
WHERE key = :key

-- name: open_session
-- Store a new session.
INSERT INTO sessions (id, profile, platform, kind, address_key, sender_key, parent_key, root_key,
                      cause, opened_at, last_activity_at, notice, title, titled_by)
VALUES (:id, :profile, :platform, :kind, :address_key, :sender_key, :parent_key, :root_key,
        :cause, :now, :now, :notice, :title, :titled_by)
RETURNING
-- include: session_state

-- name: close_writer
-- Write down how far a session has come.
UPDATE sessions
SET revision = :revision, last_seq = :last_seq, interruptions = :interruptions,
    user_messages = user_messages + :user_messages
WHERE key = :key

-- name: close_active_writer
-- Write down how far a session has come, and that it was active, which moves it in every list.
UPDATE sessions
SET revision = :revision, last_seq = :last_seq, interruptions = :interruptions,
    user_messages = user_messages + :user_messages, last_activity_at = :last_activity_at
WHERE key = :key

-- name: add_event
-- Add one fact to the feed.
INSERT INTO events (kind, session_key, revision, subject, at)
VALUES (:kind, :session_key, :revision, :subject, :at)

-- name: add_two_events
-- Add two facts to the feed, one after the other.
INSERT INTO events (kind, session_key, revision, subject, at)
VALUES (:kind, :session_key, :revision, :subject, :at),
       (:next_kind, :session_key, :revision + 1, :next_subject, :at)

-- name: end_session
-- Write down that a session is over, and why; whoever had taken it over has no more to answer.
UPDATE sessions SET ended_at = :now, end_reason = :reason, taken_at = NULL, taken_by = NULL
WHERE key = :key

-- name: set_end_reason
-- Say of a session that is over that it is so for another reason.
UPDATE sessions SET end_reason = :reason WHERE key = :key AND ended_at IS NOT NULL

-- name: reopen_session
-- Let a session go on.
UPDATE sessions SET ended_at = NULL, end_reason = NULL, suspended_at = NULL WHERE key = :key

-- name: take_over
-- Let a person answer in a session instead of the agent, if nobody does yet.
UPDATE sessions SET taken_at = :now, taken_by = :sender_key WHERE key = :key AND taken_at IS NULL
RETURNING key

-- name: hand_back
-- Let the agent answer in a session again, if it does not.
UPDATE sessions SET taken_at = NULL, taken_by = NULL WHERE key = :key AND taken_at IS NOT NULL
RETURNING key

-- name: suspend_session
-- Let a session rest until the next message, which begins a fresh one.
UPDATE sessions SET suspended_at = :now WHERE key = :key

-- name: mark_told
-- Remember that the person has been told why the session is new.
UPDATE sessions SET told_at = :now WHERE key = :key

-- name: set_title
-- Give a session its title, if it has not the same one from the same source.
UPDATE sessions SET title = :title, titled_by = :titled_by
WHERE key = :key AND (title IS DISTINCT FROM CAST(:title AS TEXT)
                      OR titled_by IS DISTINCT FROM CAST(:titled_by AS TEXT))
RETURNING key

-- name: read_titled_by
-- Tell who gave a session its title.
SELECT title, titled_by FROM sessions WHERE key = :key

-- name: set_summary
-- Keep what a session was about, for the one after it.
UPDATE sessions SET summary = :summary WHERE key = :key

-- name: set_model
-- Choose the model of a session, or leave it to the configuration, if that is not so already.
UPDATE sessions SET model = :model, provider = :provider, base_url = :base_url
WHERE key = :key AND (model IS DISTINCT FROM CAST(:model AS TEXT)
                      OR provider IS DISTINCT FROM CAST(:provider AS TEXT)
                      OR base_url IS DISTINCT FROM CAST(:base_url AS TEXT))
RETURNING key

-- name: set_busy_mode
-- Choose what becomes of messages that arrive while a turn of this session runs, if it is not so.
UPDATE sessions SET busy_mode = :busy_mode
WHERE key = :key AND busy_mode IS DISTINCT FROM CAST(:busy_mode AS TEXT)
RETURNING key

-- name: bind_route
-- Bind a route, and whoever speaks on it, to a session, wherever it was bound before.
INSERT INTO bindings (route, session_key, bound_at, sender_key)
VALUES (:route, :session_key, :now, :sender_key)
ON CONFLICT (route) DO UPDATE
SET session_key = excluded.session_key, bound_at = excluded.bound_at,
    sender_key = excluded.sender_key

-- name: bind_new_route
-- Bind a route that has never been bound; somebody else may just have done it.
INSERT INTO bindings (route, session_key, bound_at, sender_key)
VALUES (:route, :session_key, :now, :sender_key)

-- name: rebind_all
-- Let all routes of one session go on with another.
UPDATE bindings SET session_key = :to_key, bound_at = :now WHERE session_key = :from_key

-- name: list_routes
-- List the routes that are bound to a session.
SELECT route FROM bindings WHERE session_key = :session_key ORDER BY route

-- name: find_bound
-- Read what decides whether a message goes on in the session that its route is bound to.
SELECT
-- include: session_state
FROM bindings b
JOIN sessions ON sessions.key = b.session_key
WHERE b.route = :route

-- name: read_owner
-- Read whose a session is, and in which chat it was opened.
SELECT s.key, s.id, s.profile, s.kind, s.sender_key, s.address_key, a.platform, a.account, a.chat
FROM sessions s
JOIN addresses a ON a.key = s.address_key
WHERE s.id = :id

-- name: hold_session
-- Keep a session from expiring until a moment, or move that moment.
INSERT INTO holds (session_key, holder, held_until) VALUES (:session_key, :holder, :held_until)
ON CONFLICT (session_key, holder) DO UPDATE SET held_until = excluded.held_until

-- name: release_hold
-- Let go of a session.
DELETE FROM holds WHERE session_key = :session_key AND holder = :holder

-- name: find_hold
-- Tell whether anybody holds a session.
SELECT holder FROM holds WHERE session_key = :session_key AND held_until > :now LIMIT 1

-- name: list_open_kinds
-- List the platforms and kinds of chat in which sessions are open.
SELECT DISTINCT platform, kind FROM sessions WHERE ended_at IS NULL ORDER BY platform, kind

-- name: list_expired
-- List open sessions without activity since a time that nothing keeps open. A claim or a recovery
-- decides about unfinished turns first.
SELECT s.key, s.id
FROM sessions s
WHERE s.ended_at IS NULL AND s.platform = :platform AND s.kind = :kind
  AND s.last_activity_at < :before AND s.taken_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_key = s.key AND t.ended_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.session_key = s.key AND h.held_until > :now)
ORDER BY s.last_activity_at
LIMIT :most
