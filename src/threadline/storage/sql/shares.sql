-- name: add_share
-- Keep a page that anybody can read who knows its address.
INSERT INTO shares (id, session_key, account_key, title, page, made_at)
VALUES (:id, :session_key, :account_key, :title, :page, :now)
ON CONFLICT DO NOTHING
RETURNING id

-- fragment: share
-- A page that is shared, without what it says.
SELECT h.id, h.title, h.made_at, h.revoked_at, length(h.page) AS size, h.session_key,
       s.id AS session_id
FROM shares h JOIN sessions s ON s.key = h.session_key

-- name: read_share
-- Read of which conversation a page is, and whether it can be seen.
-- include: share
WHERE h.id = :id

-- name: read_page
-- Read a page that is shared.
SELECT page FROM shares WHERE id = :id AND revoked_at IS NULL

-- name: list_shares
-- List the pages of a conversation, or of all, the newest first.
-- include: share
WHERE CAST(:session_key AS BIGINT) IS NULL OR h.session_key = CAST(:session_key AS BIGINT)
ORDER BY h.made_at DESC, h.id

-- name: revoke_share
-- Let nobody read a page any more, and keep nothing of what it said.
UPDATE shares SET revoked_at = :now, page = '' WHERE id = :id AND revoked_at IS NULL
RETURNING id

-- name: drop_shares_of_session
-- Delete the pages of a conversation.
DELETE FROM shares WHERE session_key = :session_key RETURNING id
