-- name: add_share
-- Keep a page that anybody can read who knows its address.
INSERT INTO shares (id, session_key, account_key, title, page, made_at)
VALUES (:id, :session_key, :account_key, :title, :page, :now)
ON CONFLICT DO NOTHING
RETURNING id

-- fragment: share
-- A page that is shared, without what it says; how long that is stands beside it.
SELECT h.id, h.title, h.made_at, h.revoked_at, octet_length(h.page) AS size, s.id AS session_id
FROM shares h JOIN sessions s ON s.key = h.session_key

-- name: read_share
-- Read of which conversation a page is, and whether it can be seen.
-- include: share
WHERE h.id = :id

-- name: find_session_of_share
-- Find the conversation that a page is of.
SELECT session_key FROM shares WHERE id = :id

-- name: read_title
-- Read the title of a conversation.
SELECT title FROM sessions WHERE key = :key

-- name: read_page
-- Read a page that is shared.
SELECT page FROM shares WHERE id = :id AND revoked_at IS NULL

-- name: list_shares
-- List pages of a conversation, of those of some senders, or of all, the newest first.
-- include: share
WHERE (CAST(:session_key AS BIGINT) IS NULL OR h.session_key = CAST(:session_key AS BIGINT))
  AND (CAST(:profile AS TEXT) IS NULL OR s.profile = CAST(:profile AS TEXT))
  AND (CAST(:sender_keys AS TEXT) IS NULL OR s.sender_key IN
       (SELECT value FROM json_each(:sender_keys))) -- sqlite
       (SELECT CAST(k AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS k)) -- postgres
  AND (h.made_at, h.id) < (CAST(:before_at AS BIGINT), CAST(:before_id AS TEXT))
ORDER BY h.made_at DESC, h.id DESC
LIMIT :most

-- name: count_shares
-- Count the pages of a conversation.
SELECT count(*) AS shares FROM shares WHERE session_key = :session_key

-- name: revoke_share
-- Let nobody read a page any more, and keep nothing of what it said.
UPDATE shares SET revoked_at = :now, page = '' WHERE id = :id AND revoked_at IS NULL
RETURNING id

-- name: drop_shares_of_session
-- Delete the pages of a conversation.
DELETE FROM shares WHERE session_key = :session_key RETURNING id
