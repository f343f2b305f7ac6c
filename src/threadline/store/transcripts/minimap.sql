-- name: read_buckets
-- Write down the roles of all lines, in stretches of equal length; "!" follows on a mishap.
-- Each stretch is read by itself, as sorting all lines into them would cost more than reading;
-- and words are counted faster by whoever asks than lines are here, each in five ways.
WITH RECURSIVE bucket (n) AS (
    SELECT CAST(:first_bucket AS BIGINT)
    UNION ALL
    SELECT n + 1 FROM bucket WHERE n < CAST(:last_bucket AS BIGINT)
),
stretch (n, after, upto) AS (
    SELECT n,
           CASE WHEN n * :width < :first THEN :first - 1 ELSE n * :width END,
           CASE WHEN (n + 1) * :width > :last THEN :last ELSE (n + 1) * :width END
    FROM bucket
)
SELECT s.n AS bucket,
       (SELECT string_agg(CASE WHEN m.parts IS NULL THEN m.role
                               WHEN m.parts LIKE '%"type":"marker"%' THEN m.role || '!'
                               ELSE m.role END, '')
        FROM messages m
        WHERE m.session_key = :session_key AND m.seq > s.after AND m.seq <= s.upto) AS lines
FROM stretch s
