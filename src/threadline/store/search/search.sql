-- name: list_unindexed
-- Take some sessions with lines or a title that the index does not know yet.
SELECT key, sender_key, address_key, indexed_seq, last_seq, title, indexed_title
FROM sessions
WHERE indexed_seq < last_seq OR title IS DISTINCT FROM indexed_title
ORDER BY key
LIMIT :most
FOR NO KEY UPDATE SKIP LOCKED -- postgres

-- name: count_unindexed
-- Tell about how many lines and titles the index does not know yet.
SELECT count(*) AS sessions,
       CAST(coalesce(sum(u.last_seq - u.indexed_seq), 0) AS BIGINT) AS lines
FROM (SELECT last_seq, indexed_seq FROM sessions
      WHERE indexed_seq < last_seq OR title IS DISTINCT FROM indexed_title
      LIMIT :most) AS u

-- name: read_unindexed_lines
-- Read lines of a session that the index does not know yet.
SELECT key, seq, text FROM messages
WHERE session_key = :session_key AND seq > :after
ORDER BY seq
LIMIT :most

-- name: set_indexed
-- Write down how far the index has come with a session.
UPDATE sessions SET indexed_seq = :indexed_seq, indexed_title = :title WHERE key = :key

-- name: add_words
-- Put the words of a line into the index.
INSERT INTO message_words (rowid, words) VALUES (:key, :words) -- sqlite
INSERT INTO message_words (message_key, words) -- postgres
SELECT CAST(:key AS BIGINT), -- postgres
       CAST(string_agg(quote_literal(u.word) || ':' || u.place, ' ') AS tsvector) -- postgres
FROM unnest(string_to_array(CAST(:words AS TEXT), ' ')) -- postgres
WITH ORDINALITY AS u (word, place) -- postgres

-- name: drop_words
-- Take the words of a line out of the index; on SQLite they must be those that were put in.
INSERT INTO message_words (message_words, rowid, words) VALUES ('delete', :key, :words) -- sqlite
DELETE FROM message_words WHERE message_key = :key -- postgres

-- name: add_grams
-- Put the parts of the words of a line into the index.
INSERT INTO message_grams (rowid, grams) VALUES (:key, :grams) -- sqlite
INSERT INTO message_grams (message_key, grams) -- postgres
VALUES (:key, -- postgres
        (SELECT array_agg(DISTINCT CAST((CAST(ascii(u.gram) AS BIGINT) * 2654435761 -- postgres
              + CAST(ascii(substr(u.gram, 2)) AS BIGINT) * 40503 -- postgres
              + ascii(substr(u.gram, 3))) % 2147483647 AS int4)) -- postgres
         FROM unnest(string_to_array(CAST(:grams AS TEXT), ' ')) AS u (gram) -- postgres
         WHERE u.gram NOT LIKE '@%')) -- postgres

-- name: drop_grams
-- Take the parts of the words of a line out of the index, as they were put in.
INSERT INTO message_grams (message_grams, rowid, grams) VALUES ('delete', :key, :grams) -- sqlite
DELETE FROM message_grams WHERE message_key = :key -- postgres

-- name: add_title_words
-- Put the words of a title into the index.
INSERT INTO title_words (rowid, words) VALUES (:key, :words) -- sqlite
INSERT INTO title_words (session_key, words) -- postgres
SELECT CAST(:key AS BIGINT), -- postgres
       CAST(string_agg(quote_literal(u.word) || ':' || u.place, ' ') AS tsvector) -- postgres
FROM unnest(string_to_array(CAST(:words AS TEXT), ' ')) -- postgres
WITH ORDINALITY AS u (word, place) -- postgres

-- name: drop_title_words
-- Take the words of a title out of the index, as they were put in.
INSERT INTO title_words (title_words, rowid, words) VALUES ('delete', :key, :words) -- sqlite
DELETE FROM title_words WHERE session_key = :key -- postgres

-- name: read_indexed_line
-- Read what the index knows of a line, if it knows it.
SELECT m.key, m.text, s.sender_key, s.address_key
FROM messages m
JOIN sessions s ON s.key = m.session_key
WHERE m.key = :key AND m.seq <= s.indexed_seq

-- name: read_indexed_title
-- Read what the index knows of a title.
SELECT key, sender_key, address_key, indexed_seq, indexed_title FROM sessions WHERE key = :key

-- name: list_chat_addresses
-- List the places of a chat that is no dm.
SELECT key FROM addresses
WHERE platform = :platform AND account = :account AND kind IN ('group', 'channel', 'thread')
  AND chat = :chat
LIMIT :most

-- fragment: line_columns
-- What a hit tells of a line, and of the session or branch in which it can be seen.
SELECT m.key, m.seq, m.role, m.at, m.text, coalesce(v.id, s.id) AS session_id,
       CASE WHEN v.key IS NULL THEN s.title ELSE v.title END AS title

-- fragment: branch_in_sight
-- Find a branch that still shows a line which its own session hides.
LEFT JOIN sessions v ON v.key =
    (SELECT min(b.key) FROM cuts c JOIN sessions b ON b.base_key = c.session_key
     WHERE c.session_key = m.session_key AND c.lifted_at IS NULL
       AND c.kind IN ('undone', 'retried') AND m.seq BETWEEN c.from_seq AND c.to_seq
       AND b.base_seq >= m.seq
       AND NOT EXISTS (SELECT 1 FROM cuts d WHERE d.session_key = b.key AND d.lifted_at IS NULL
                       AND d.kind IN ('undone', 'retried')
                       AND m.seq BETWEEN d.from_seq AND d.to_seq)
       AND NOT EXISTS (SELECT 1 FROM revisions r WHERE r.message_key = m.key
                       AND r.session_revision > b.base_revision))

-- fragment: session_asked
-- Choose sessions that the asker may see and asked for.
  AND s.profile = :profile
  AND (CAST(:sees_all AS BIGINT) = 1
       OR s.sender_key IN
          (SELECT value FROM json_each(:sender_keys)) -- sqlite
          (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
           CAST(CAST(:sender_keys AS TEXT) AS JSON)) AS j) -- postgres
       OR (s.sender_key IS NULL AND s.kind <> 'dm' AND EXISTS
           (SELECT 1 FROM addresses a WHERE a.key = s.address_key AND a.platform = :chat_platform
            AND a.account = :chat_account AND a.chat = :chat)))
  AND (CAST(:session_key AS BIGINT) IS NULL OR s.key = CAST(:session_key AS BIGINT))
  AND (CAST(:platform AS TEXT) IS NULL OR s.platform = CAST(:platform AS TEXT))
  AND (CAST(:kind AS TEXT) IS NULL OR s.kind = CAST(:kind AS TEXT))
  AND (CAST(:project_key AS BIGINT) IS NULL OR s.project_key = CAST(:project_key AS BIGINT))
  AND (CAST(:archived AS BIGINT) IS NULL
       OR CAST(:archived AS BIGINT) = CASE WHEN s.archived_at IS NULL THEN 0 ELSE 1 END)

-- fragment: line_asked
-- Choose lines that were asked for and are in sight.
  AND CAST(:roles AS TEXT) LIKE '%,' || m.role || ',%'
  AND m.at >= :since AND m.at < :until
  AND (CAST(:whose AS TEXT) IS NULL
       OR m.sender_key IN
          (SELECT value FROM json_each(:whose)) -- sqlite
          (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
           CAST(CAST(:whose AS TEXT) AS JSON)) AS j) -- postgres
       OR s.sender_key IN
          (SELECT value FROM json_each(:whose))) -- sqlite
          (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
           CAST(CAST(:whose AS TEXT) AS JSON)) AS j)) -- postgres
  AND m.deleted_at IS NULL
  AND (v.key IS NOT NULL OR NOT EXISTS
       (SELECT 1 FROM cuts c WHERE c.session_key = m.session_key AND c.lifted_at IS NULL
        AND c.kind IN ('undone', 'retried') AND m.seq BETWEEN c.from_seq AND c.to_seq))

-- fragment: title_asked
-- Choose titles by time and by whose they are.
  AND s.last_activity_at >= :since AND s.last_activity_at < :until
  AND (CAST(:whose AS TEXT) IS NULL OR s.sender_key IN
       (SELECT value FROM json_each(:whose))) -- sqlite
       (SELECT CAST(j AS BIGINT) FROM json_array_elements_text( -- postgres
        CAST(CAST(:whose AS TEXT) AS JSON)) AS j)) -- postgres

-- name: search_words
-- Find lines by their words, the best first.
-- include: line_columns
FROM message_words w
CROSS JOIN messages m -- sqlite
CROSS JOIN sessions s -- sqlite
JOIN messages m ON m.key = w.message_key -- postgres
JOIN sessions s ON s.key = m.session_key -- postgres
-- include: branch_in_sight
WHERE w.message_words MATCH :matching -- sqlite
  AND m.key = w.rowid AND s.key = m.session_key -- sqlite
  AND (:grams IS NULL OR m.key IN -- sqlite
       (SELECT g.rowid FROM message_grams g WHERE g.message_grams MATCH :grams)) -- sqlite
WHERE w.words @@ CAST(CAST(:tsquery AS TEXT) AS tsquery) -- postgres
  AND (CAST(:gram_list AS TEXT) IS NULL OR EXISTS -- postgres
       (SELECT 1 FROM message_grams g WHERE g.message_key = m.key AND g.grams @> -- postgres
        (SELECT array_agg(DISTINCT CAST((CAST(ascii(u.gram) AS BIGINT) * 2654435761 -- postgres
              + CAST(ascii(substr(u.gram, 2)) AS BIGINT) * 40503 -- postgres
              + ascii(substr(u.gram, 3))) % 2147483647 AS int4)) -- postgres
         FROM unnest(string_to_array(CAST(:gram_list AS TEXT), ' ')) AS u (gram) -- postgres
         WHERE u.gram NOT LIKE '@%'))) -- postgres
-- include: session_asked
-- include: line_asked
ORDER BY w.rank -- sqlite
ORDER BY ts_rank(w.words, CAST(CAST(:tsquery AS TEXT) AS tsquery)) DESC, m.key DESC -- postgres
LIMIT :most OFFSET :skip

-- name: search_grams
-- Find lines that may hold parts of words, the newest first.
-- include: line_columns
FROM message_grams g
CROSS JOIN messages m -- sqlite
CROSS JOIN sessions s -- sqlite
JOIN messages m ON m.key = g.message_key -- postgres
JOIN sessions s ON s.key = m.session_key -- postgres
-- include: branch_in_sight
WHERE g.message_grams MATCH :grams AND m.key = g.rowid AND s.key = m.session_key -- sqlite
WHERE g.grams @> -- postgres
        (SELECT array_agg(DISTINCT CAST((CAST(ascii(u.gram) AS BIGINT) * 2654435761 -- postgres
              + CAST(ascii(substr(u.gram, 2)) AS BIGINT) * 40503 -- postgres
              + ascii(substr(u.gram, 3))) % 2147483647 AS int4)) -- postgres
         FROM unnest(string_to_array(CAST(:gram_list AS TEXT), ' ')) AS u (gram) -- postgres
         WHERE u.gram NOT LIKE '@%') -- postgres
-- include: session_asked
-- include: line_asked
ORDER BY g.rowid DESC -- sqlite
ORDER BY m.key DESC -- postgres
LIMIT :most OFFSET :skip

-- name: search_unindexed
-- Read the lines that the index does not know yet, the newest first.
-- include: line_columns
FROM sessions s
CROSS JOIN messages m
-- include: branch_in_sight
WHERE (s.indexed_seq < s.last_seq OR s.title IS DISTINCT FROM s.indexed_title)
  AND m.session_key = s.key AND m.seq > s.indexed_seq
-- include: session_asked
-- include: line_asked
ORDER BY m.key DESC
LIMIT :most

-- name: search_titles
-- Find sessions by the words of their titles, the best first.
SELECT s.id, s.title, s.last_activity_at
FROM title_words w
CROSS JOIN sessions s -- sqlite
WHERE w.title_words MATCH :matching AND s.key = w.rowid -- sqlite
JOIN sessions s ON s.key = w.session_key -- postgres
WHERE w.words @@ CAST(CAST(:tsquery AS TEXT) AS tsquery) -- postgres
  AND s.title IS NOT DISTINCT FROM s.indexed_title
-- include: session_asked
-- include: title_asked
ORDER BY w.rank -- sqlite
ORDER BY ts_rank(w.words, CAST(CAST(:tsquery AS TEXT) AS tsquery)) DESC, s.key DESC -- postgres
LIMIT :most

-- name: search_unindexed_titles
-- Read the titles that the index does not know yet.
SELECT s.id, s.title, s.last_activity_at
FROM sessions s
WHERE (s.indexed_seq < s.last_seq OR s.title IS DISTINCT FROM s.indexed_title)
  AND s.title IS DISTINCT FROM s.indexed_title AND s.title IS NOT NULL
-- include: session_asked
-- include: title_asked
ORDER BY s.key DESC
LIMIT :most

-- name: read_indexed_lines
-- Read lines that the index should know, in the order of their keys.
SELECT m.key, m.text, s.sender_key, s.address_key
FROM messages m
JOIN sessions s ON s.key = m.session_key
WHERE m.key > :after AND m.seq <= s.indexed_seq
ORDER BY m.key
LIMIT :most

-- name: read_indexed_titles
-- Read titles that the index should know, in the order of their sessions.
SELECT key, indexed_title, sender_key, address_key FROM sessions
WHERE key > :after AND indexed_title IS NOT NULL
ORDER BY key
LIMIT :most

-- name: find_words
-- Tell whether the index knows these words of a line.
SELECT rowid AS key FROM message_words -- sqlite
WHERE message_words MATCH :matching AND rowid = :key -- sqlite
SELECT message_key AS key FROM message_words -- postgres
WHERE message_key = :key AND words = -- postgres
    (SELECT CAST(string_agg(quote_literal(u.word) || ':' || u.place, ' ') AS tsvector) -- postgres
     FROM unnest(string_to_array(CAST(:words AS TEXT), ' ')) -- postgres
     WITH ORDINALITY AS u (word, place)) -- postgres

-- name: find_grams
-- Tell whether the index knows these parts of the words of a line.
SELECT rowid AS key FROM message_grams -- sqlite
WHERE message_grams MATCH :matching AND rowid = :key -- sqlite
SELECT message_key AS key FROM message_grams -- postgres
WHERE message_key = :key AND grams = -- postgres
        (SELECT array_agg(DISTINCT CAST((CAST(ascii(u.gram) AS BIGINT) * 2654435761 -- postgres
              + CAST(ascii(substr(u.gram, 2)) AS BIGINT) * 40503 -- postgres
              + ascii(substr(u.gram, 3))) % 2147483647 AS int4)) -- postgres
         FROM unnest(string_to_array(CAST(:words AS TEXT), ' ')) AS u (gram) -- postgres
         WHERE u.gram NOT LIKE '@%') -- postgres

-- name: find_title_words
-- Tell whether the index knows these words of a title.
SELECT rowid AS key FROM title_words WHERE title_words MATCH :matching AND rowid = :key -- sqlite
SELECT session_key AS key FROM title_words -- postgres
WHERE session_key = :key AND words = -- postgres
    (SELECT CAST(string_agg(quote_literal(u.word) || ':' || u.place, ' ') AS tsvector) -- postgres
     FROM unnest(string_to_array(CAST(:words AS TEXT), ' ')) -- postgres
     WITH ORDINALITY AS u (word, place)) -- postgres

-- name: count_index
-- Count what the index holds: on SQLite each word of each line, on PostgreSQL each line.
SELECT (SELECT coalesce(sum(doc), 0) FROM message_word_counts) AS words, -- sqlite
       (SELECT coalesce(sum(doc), 0) FROM message_gram_counts) AS grams, -- sqlite
       (SELECT coalesce(sum(doc), 0) FROM title_word_counts) AS titles -- sqlite
SELECT (SELECT count(*) FROM message_words) AS words, -- postgres
       (SELECT count(*) FROM message_grams) AS grams, -- postgres
       (SELECT count(*) FROM title_words) AS titles -- postgres

-- name: empty_words
-- Let the index forget all words of lines.
INSERT INTO message_words (message_words) VALUES ('delete-all') -- sqlite
DELETE FROM message_words -- postgres

-- name: empty_grams
-- Let the index forget all parts of words of lines.
INSERT INTO message_grams (message_grams) VALUES ('delete-all') -- sqlite
DELETE FROM message_grams -- postgres

-- name: empty_title_words
-- Let the index forget all words of titles.
INSERT INTO title_words (title_words) VALUES ('delete-all') -- sqlite
DELETE FROM title_words -- postgres

-- name: forget_indexed
-- Let every session be indexed anew.
UPDATE sessions SET indexed_seq = 0, indexed_title = NULL
WHERE indexed_seq > 0 OR indexed_title IS NOT NULL
