-- name: add_account
-- Make an account, unless another one has this name.
INSERT INTO accounts (name, role, profile, made_at)
VALUES (:name, :role, :profile, :now)
ON CONFLICT DO NOTHING
RETURNING key

-- fragment: account
-- Whoever may use the web app.
SELECT a.key, a.name, a.role, a.profile, a.made_at, a.ended_at,
       CASE WHEN a.password_hash IS NULL THEN 0 ELSE 1 END AS has_password

-- name: read_account
-- Read an account.
-- include: account
FROM accounts a WHERE a.key = :key

-- name: lock_account
-- Take an account for this transaction, so that nobody logs in with it meanwhile.
-- include: account
FROM accounts a WHERE a.key = :key
FOR UPDATE -- postgres

-- name: share_account
-- Keep an account from being ended until somebody has logged in with it.
-- include: account
FROM accounts a WHERE a.key = :key AND a.ended_at IS NULL
FOR SHARE -- postgres

-- name: find_owner_account
-- Find the account of the owner.
-- include: account
FROM accounts a WHERE a.role = 'owner' AND a.ended_at IS NULL ORDER BY a.key LIMIT 1

-- name: list_accounts
-- List all accounts, the owner's first.
-- include: account
FROM accounts a WHERE a.ended_at IS NULL
ORDER BY CASE a.role WHEN 'owner' THEN 0 ELSE 1 END, a.name, a.key

-- name: list_accounts_after
-- List accounts in the order in which they came, from behind one of them on.
-- include: account
FROM accounts a WHERE a.ended_at IS NULL AND a.key > :after
ORDER BY a.key
LIMIT :most

-- name: find_password
-- Find the account of a name that has a password, and what that has to match.
SELECT key, password_hash FROM accounts
WHERE name = :name AND ended_at IS NULL AND password_hash IS NOT NULL

-- name: find_account_name
-- Tell whether an account has this name.
SELECT key FROM accounts WHERE name = :name AND ended_at IS NULL

-- name: rename_account
-- Give an account another name.
UPDATE accounts SET name = :name WHERE key = :key

-- name: set_password
-- Keep what a password has to match; none: nobody logs in by password.
UPDATE accounts SET password_hash = :password_hash WHERE key = :key

-- name: end_account
-- Let nobody use an account any more.
UPDATE accounts SET ended_at = :now, password_hash = NULL WHERE key = :key
