-- The search index. It follows behind: the lines of a session above its indexed_seq, and a title
-- other than its indexed_title, are not in it yet.

ALTER TABLE sessions ADD COLUMN indexed_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN indexed_title TEXT;

CREATE INDEX sessions_unindexed ON sessions (key)
    WHERE indexed_seq < last_seq OR title IS DISTINCT FROM indexed_title;

-- The words are ours already, with blanks between them, so that nothing is left to be taken apart.
-- No text is kept in these tables, only where each word stands.
CREATE VIRTUAL TABLE message_words USING fts5 ( -- sqlite
    words, content = '', tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite
CREATE VIRTUAL TABLE message_grams USING fts5 ( -- sqlite
    grams, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite
CREATE VIRTUAL TABLE title_words USING fts5 ( -- sqlite
    words, content = '', tokenize = "ascii tokenchars '@~'" -- sqlite
); -- sqlite

-- These hold nothing; they let a check look into the index.
CREATE VIRTUAL TABLE message_word_counts USING fts5vocab (message_words, row); -- sqlite
CREATE VIRTUAL TABLE message_gram_counts USING fts5vocab (message_grams, row); -- sqlite
CREATE VIRTUAL TABLE title_word_counts USING fts5vocab (title_words, row); -- sqlite

-- What leaves the index leaves no trace in it.
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1); -- sqlite
INSERT INTO message_grams (message_grams, rank) VALUES ('secure-delete', 1); -- sqlite
INSERT INTO title_words (title_words, rank) VALUES ('secure-delete', 1); -- sqlite

CREATE TABLE message_words ( -- postgres
    message_key INTEGER PRIMARY KEY, -- postgres
    words       tsvector NOT NULL -- postgres
); -- postgres
CREATE TABLE message_grams ( -- postgres
    message_key INTEGER PRIMARY KEY, -- postgres
    grams       int4[] NOT NULL -- postgres
); -- postgres
CREATE TABLE title_words ( -- postgres
    session_key INTEGER PRIMARY KEY, -- postgres
    words       tsvector NOT NULL -- postgres
); -- postgres

-- What was indexed last waits in a list that every search reads, so the list is kept short (kB).
CREATE INDEX message_words_by_word ON message_words USING gin (words) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres
CREATE INDEX message_grams_by_gram ON message_grams USING gin (grams) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres
CREATE INDEX title_words_by_word ON title_words USING gin (words) -- postgres
    WITH (gin_pending_list_limit = 512); -- postgres
