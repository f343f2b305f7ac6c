-- name: add_login_link
-- Make a link that logs in once.
INSERT INTO login_links (secret_hash, account_key, made_at, expires_at)
VALUES (:secret_hash, :account_key, :now, :expires_at)

-- name: use_login_link
-- Use a link up, if it still can be.
UPDATE login_links SET used_at = :now
WHERE secret_hash = :secret_hash AND used_at IS NULL AND expires_at > :now
RETURNING account_key

-- name: find_link_account
-- Find the account of a link, whether or not it can still be used.
-- include: account
FROM accounts a JOIN login_links l ON l.account_key = a.key WHERE l.secret_hash = :secret_hash

-- name: drop_stale_links
-- Delete links that log nobody in any more.
DELETE FROM login_links WHERE expires_at <= :now

-- name: drop_links_of_account
-- Delete the links of an account.
DELETE FROM login_links WHERE account_key = :account_key

-- name: add_login
-- Remember a browser that is logged in.
INSERT INTO logins (account_key, secret_hash, device, made_at, seen_at, expires_at, proven_at)
VALUES (:account_key, :secret_hash, :device, :now, :now, :expires_at, :now)
RETURNING key

-- fragment: login
-- A browser that is logged in, and with which account.
SELECT a.key AS account_key, a.name AS account_name, a.role AS account_role,
       a.profile AS account_profile, a.made_at AS account_made_at,
       a.ended_at AS account_ended_at,
       CASE WHEN a.password_hash IS NULL THEN 0 ELSE 1 END AS account_has_password,
       l.key, l.device, l.made_at, l.seen_at, l.expires_at, l.proven_at
FROM logins l JOIN accounts a ON a.key = l.account_key

-- name: find_login
-- Find the browser that knows a secret, if it is still logged in.
-- include: login
WHERE l.secret_hash = :secret_hash AND l.ended_at IS NULL AND l.expires_at > :now
  AND a.ended_at IS NULL

-- name: read_login
-- Read a browser that has just been logged in.
-- include: login
WHERE l.key = :key

-- name: read_live_login
-- Read a login by its key, if its browser is still logged in.
-- include: login
WHERE l.key = :key AND l.account_key = :account_key AND l.ended_at IS NULL AND l.expires_at > :now
  AND a.ended_at IS NULL

-- name: list_logins
-- List the browsers that are logged in with an account, the last seen first.
-- include: login
WHERE l.account_key = :account_key AND l.ended_at IS NULL AND l.expires_at > :now
ORDER BY l.seen_at DESC, l.key DESC

-- name: renew_login
-- Remember that a browser was there, so that it stays logged in.
UPDATE logins SET seen_at = :now, expires_at = :expires_at
WHERE key = :key AND ended_at IS NULL AND seen_at < :now

-- name: prove_login
-- Record that the user of a browser proved again who they are.
UPDATE logins SET proven_at = :now
WHERE key = :key AND account_key = :account_key AND ended_at IS NULL
RETURNING key

-- name: end_login
-- Log one browser of an account out.
UPDATE logins SET ended_at = :now
WHERE key = :key AND account_key = :account_key AND ended_at IS NULL
RETURNING key

-- name: end_logins
-- Log all browsers of an account out, or all but one.
UPDATE logins SET ended_at = :now
WHERE account_key = :account_key AND ended_at IS NULL AND key <> :but
RETURNING key

-- name: end_oldest_logins
-- Log those browsers of an account out that were not seen for longest, beyond a number.
UPDATE logins SET ended_at = :now
WHERE ended_at IS NULL AND key IN (
    SELECT l.key FROM logins l
    WHERE l.account_key = :account_key AND l.ended_at IS NULL
    ORDER BY l.seen_at DESC, l.key DESC
    LIMIT 1000 OFFSET :most)

-- name: drop_devices
-- Delete how the browsers of an account call themselves.
UPDATE logins SET device = '' WHERE account_key = :account_key

-- name: drop_token_names
-- Delete how the tokens of an account are called.
UPDATE api_tokens SET name = '' WHERE account_key = :account_key

-- name: drop_stale_logins
-- Delete what is known of browsers that were logged out, or stayed away, long ago.
DELETE FROM logins WHERE ended_at < :before OR expires_at < :before

-- name: add_token
-- Remember a token of the HTTP API.
INSERT INTO api_tokens (account_key, secret_hash, name, scopes, made_at, expires_at, parent_key)
VALUES (:account_key, :secret_hash, :name, :scopes, :now, :expires_at, :parent_key)
RETURNING key

-- fragment: token
-- A token of the HTTP API, and whose it is.
SELECT a.key AS account_key, a.name AS account_name, a.role AS account_role,
       a.profile AS account_profile, a.made_at AS account_made_at,
       a.ended_at AS account_ended_at,
       CASE WHEN a.password_hash IS NULL THEN 0 ELSE 1 END AS account_has_password,
       t.key, t.name, t.scopes, t.made_at, t.used_at, t.expires_at
FROM api_tokens t JOIN accounts a ON a.key = t.account_key

-- name: find_token
-- Find the token of a secret, if it is still worth something.
-- include: token
WHERE t.secret_hash = :secret_hash AND t.ended_at IS NULL AND a.ended_at IS NULL
  AND (t.expires_at IS NULL OR t.expires_at > :now)

-- name: read_live_token
-- Read a token by its key, if it is still valid.
-- include: token
WHERE t.key = :key AND t.account_key = :account_key AND t.ended_at IS NULL AND a.ended_at IS NULL
  AND (t.expires_at IS NULL OR t.expires_at > :now)

-- name: find_any_token
-- Find the key of a token by its secret, whether or not it is still valid.
SELECT key FROM api_tokens WHERE secret_hash = :secret_hash

-- name: read_token
-- Read a token that has just been made.
-- include: token
WHERE t.key = :key

-- name: list_tokens
-- List the tokens of an account, the newest first; those whose time is over stay to be seen.
-- include: token
WHERE t.account_key = :account_key AND t.ended_at IS NULL
ORDER BY t.key DESC

-- name: note_token_use
-- Remember that a token was shown.
UPDATE api_tokens SET used_at = :now
WHERE key = :key AND ended_at IS NULL AND (used_at IS NULL OR used_at < :now)

-- name: end_token
-- Revoke a token of an account, and the tokens that were created with it.
WITH RECURSIVE family (key) AS (
    SELECT t.key FROM api_tokens t
    WHERE t.key = :key AND t.account_key = :account_key AND t.ended_at IS NULL
    UNION ALL
    SELECT c.key FROM api_tokens c JOIN family f ON c.parent_key = f.key)
UPDATE api_tokens SET ended_at = :now
WHERE key IN (SELECT f.key FROM family f) AND ended_at IS NULL
RETURNING key

-- name: end_tokens
-- Let all tokens of an account be worth nothing any more.
UPDATE api_tokens SET ended_at = :now WHERE account_key = :account_key AND ended_at IS NULL
RETURNING key

-- name: add_passkey
-- Remember a key that lies on somebody's device, unless it is known.
INSERT INTO passkeys (account_key, name, credential, public_key, sign_count, made_at)
VALUES (:account_key, :name, :credential, :public_key, :sign_count, :now)
ON CONFLICT DO NOTHING
RETURNING key

-- fragment: passkey
-- A key that lies on somebody's device, and whose it is.
SELECT a.key AS account_key, a.name AS account_name, a.role AS account_role,
       a.profile AS account_profile, a.made_at AS account_made_at,
       a.ended_at AS account_ended_at,
       CASE WHEN a.password_hash IS NULL THEN 0 ELSE 1 END AS account_has_password,
       k.key, k.name, k.credential, k.public_key, k.sign_count, k.made_at, k.used_at
FROM passkeys k JOIN accounts a ON a.key = k.account_key

-- name: find_passkey
-- Find a key by what a browser calls it.
-- include: passkey
WHERE k.credential = :credential AND a.ended_at IS NULL

-- name: read_passkey
-- Read a key that has just been added.
-- include: passkey
WHERE k.key = :key

-- name: list_passkeys
-- List the keys of an account, the newest first.
-- include: passkey
WHERE k.account_key = :account_key
ORDER BY k.key DESC

-- name: use_passkey
-- Remember how often a key was used, unless a later count is known: then it was copied.
UPDATE passkeys SET sign_count = :sign_count, used_at = :now
WHERE key = :key AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
RETURNING key

-- name: drop_passkey
-- Forget a key of an account.
DELETE FROM passkeys WHERE key = :key AND account_key = :account_key RETURNING key

-- name: drop_passkeys
-- Forget all keys of an account.
DELETE FROM passkeys WHERE account_key = :account_key

-- name: lock_guesser
-- Let nobody else count a try of somebody meanwhile. SQLite has one writer only.
SELECT 1 -- sqlite
SELECT CAST(pg_advisory_xact_lock(hashtextextended(CAST(:who AS TEXT), 13)) AS TEXT) AS locked -- postgres

-- name: add_login_mistake
-- Remember that somebody guessed wrong.
INSERT INTO login_mistakes (who, at) VALUES (:who, :now) RETURNING key

-- name: count_login_mistakes
-- Count how often somebody guessed wrong since a moment.
SELECT count(*) AS number FROM login_mistakes WHERE who = :who AND at > :after

-- name: forgive_login_mistake
-- Forget a try that was right.
DELETE FROM login_mistakes WHERE key = :key AND who = :who

-- name: forgive_login_mistakes
-- Forget what somebody guessed wrong.
DELETE FROM login_mistakes WHERE who = :who

-- name: drop_old_login_mistakes
-- Delete some mistakes that count no more.
DELETE FROM login_mistakes
WHERE key IN (SELECT m.key FROM login_mistakes m WHERE m.at < :before ORDER BY m.key LIMIT :most)
