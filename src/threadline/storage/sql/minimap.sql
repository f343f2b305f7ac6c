-- name: count_in_buckets
-- Count the lines of each role in stretches of equal length, and those that tell of a mishap.
-- Each stretch is read by itself, as sorting all lines into them would cost more than reading.
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
       (SELECT CAST(count(CASE m.role WHEN 'user' THEN 1 END) AS TEXT)
               || ' ' || CAST(count(CASE m.role WHEN 'assistant' THEN 1 END) AS TEXT)
               || ' ' || CAST(count(CASE m.role WHEN 'tool' THEN 1 END) AS TEXT)
               || ' ' || CAST(count(CASE m.role WHEN 'system' THEN 1 END) AS TEXT)
               || ' ' || CAST(count(CASE WHEN m.parts LIKE '%"type": "marker"%' THEN 1 END) AS TEXT)
        FROM messages m
        WHERE m.session_key = :session_key AND m.seq > s.after AND m.seq <= s.upto) AS counts
FROM stretch s
