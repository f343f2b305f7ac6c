-- name: list_waiting_turns
-- List the turns of a profile that wait for an answer, and whose sessions they belong to.
SELECT t.id, s.id AS session_id, t.state, t.attempts, t.queued_at, t.started_at, t.ended_at,
       t.first_seq, t.owner, t.lease_until, t.question, t.asks, t.asked_at, t.answer, t.error,
       t.answered_by, s.profile, s.kind, s.sender_key, s.address_key, a.platform, a.account, a.chat
FROM turns t
JOIN sessions s ON s.key = t.session_key
JOIN addresses a ON a.key = s.address_key
WHERE t.state = 'waiting' AND s.profile = :profile
ORDER BY t.asked_at DESC, t.id DESC
LIMIT :most
