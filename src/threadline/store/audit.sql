-- name: add_audit_entry
-- Write an administrative act down.
INSERT INTO audit (at, account_key, token_key, act, subject, detail, times)
VALUES (:now, :account_key, :token_key, :act, :subject, :detail, :times)
RETURNING id

-- name: count_failed_login
-- Count failed logins in the entry of the current period, if there is one.
UPDATE audit SET times = times + :times
WHERE id = (SELECT max(u.id) FROM audit u
            WHERE u.act = 'login.failed' AND u.subject = :subject AND u.detail = :detail
              AND u.at > :since)
RETURNING id

-- name: list_audit
-- Read administrative acts, the latest first.
SELECT u.id, u.at, u.act, u.subject, u.detail, u.token_key AS token, u.times,
       coalesce(a.name, '') AS account
FROM audit u LEFT JOIN accounts a ON a.key = u.account_key
WHERE u.id < :before
ORDER BY u.id DESC
LIMIT :most

-- name: hush_audit_about
-- Leave of acts about somebody who is forgotten, or by them, only that there were some.
UPDATE audit SET subject = '', detail = '' WHERE subject = :subject OR detail = :subject

-- name: hush_audit_of_account
-- Leave of what an account did, and of what was done to it, only that it was.
UPDATE audit SET subject = '', detail = ''
WHERE account_key = :account_key
   OR (subject LIKE :pattern
       AND (act LIKE 'account.%' OR act LIKE 'link.%' OR act LIKE 'password.%' OR act LIKE 'login.%'))
