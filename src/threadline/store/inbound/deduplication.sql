-- name: claim_outcome
-- Begin a request that makes something, unless it was begun before.
INSERT INTO outcomes
    (account_key, idempotency_key, request_hash, session_id, claim, status, answer, at)
VALUES (:account_key, :idempotency_key, :request_hash, :session_id, :claim, 0, '', :now)
ON CONFLICT (account_key, idempotency_key) DO UPDATE
SET request_hash = excluded.request_hash, session_id = excluded.session_id,
    claim = excluded.claim, status = 0, answer = '', at = excluded.at
WHERE outcomes.at < :kept_since OR (outcomes.status = 0 AND outcomes.at < :begun_since)
RETURNING account_key

-- name: find_outcome
-- Read what came of a request, if that is still kept.
SELECT request_hash, status, answer, at FROM outcomes
WHERE account_key = :account_key AND idempotency_key = :idempotency_key AND at >= :kept_since

-- name: keep_outcome
-- Keep what came of a request, unless somebody else has begun it since.
UPDATE outcomes SET status = :status, answer = :answer, at = :now
WHERE account_key = :account_key AND idempotency_key = :idempotency_key
  AND claim = :claim AND status = 0

-- name: drop_outcome
-- Forget a request that was begun and came to nothing, unless somebody else has begun it since.
DELETE FROM outcomes
WHERE account_key = :account_key AND idempotency_key = :idempotency_key
  AND claim = :claim AND status = 0

-- name: hush_outcomes_of_session
-- Leave of requests whose answer tells of a session only that they came to something.
UPDATE outcomes SET request_hash = '', claim = '', answer = '', session_id = NULL
WHERE session_id = :session_id

-- name: hush_outcomes_of_any
-- Leave of requests whose answer may tell of anything only that they came to something.
UPDATE outcomes SET request_hash = '', claim = '', answer = ''
WHERE session_id IS NULL AND request_hash <> ''

-- name: sweep_outcomes
-- Forget what came of requests long ago.
DELETE FROM outcomes WHERE at < :before

-- name: drop_outcomes_of_account
-- Forget what came of the requests of an account.
DELETE FROM outcomes WHERE account_key = :account_key
