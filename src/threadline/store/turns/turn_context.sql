-- name: read_scene
-- Read where a session was opened and whose it is, where a turn was asked, and the home channels.
SELECT 'opened' AS what, a.platform AS address_platform, a.account AS address_account,
       a.kind AS address_kind, a.chat AS address_chat, nullif(a.thread, '') AS address_thread,
       a.alt_chat AS address_alt_chat, a.parent AS address_parent, a.scope AS address_scope,
       a.chat_name AS address_chat_name, a.topic AS address_topic, p.id AS owner_id,
       p.name AS owner_name, s.memory
FROM sessions s
JOIN addresses a ON a.key = s.address_key
LEFT JOIN senders p ON p.key = s.sender_key
WHERE s.id = :session_id
UNION ALL
SELECT 'here', a.platform, a.account, a.kind, a.chat, nullif(a.thread, ''), a.alt_chat, a.parent,
       a.scope, a.chat_name, a.topic, NULL, NULL, NULL
FROM turns t
JOIN addresses a ON a.key = t.address_key
WHERE t.id = :turn_id
UNION ALL
SELECT 'home', a.platform, a.account, a.kind, a.chat, nullif(a.thread, ''), a.alt_chat, a.parent,
       a.scope, a.chat_name, a.topic, NULL, NULL, NULL
FROM sessions s
JOIN homes h ON h.profile = s.profile
JOIN addresses a ON a.key = h.address_key
WHERE s.id = :session_id

-- name: list_addresses_of_platform
-- Read a page of the places of a platform, in the order in which they came to be known.
SELECT a.key, a.platform AS address_platform, a.account AS address_account,
       a.kind AS address_kind, a.chat AS address_chat, nullif(a.thread, '') AS address_thread,
       a.alt_chat AS address_alt_chat, a.parent AS address_parent, a.scope AS address_scope,
       a.chat_name AS address_chat_name, a.topic AS address_topic
FROM addresses a
WHERE a.platform = :platform AND a.key > :after
ORDER BY a.key
LIMIT :most

-- name: read_streaming
-- Read how far the turn under way of a session has come, beside the lines that are stored.
SELECT s.last_seq, t.id AS turn_id, c.text
FROM sessions s
LEFT JOIN turns t ON t.session_key = s.key AND t.state = 'running'
LEFT JOIN chunks c ON c.turn_id = t.id
WHERE s.id = :id
ORDER BY c.n

-- name: drop_memory
-- Forget what an agent wanted to be given back in a session.
UPDATE sessions SET memory = NULL WHERE key = :key AND memory IS NOT NULL

-- name: set_memory
-- Keep what an agent wants to be given back in a session.
UPDATE sessions SET memory = :memory WHERE key = :key
