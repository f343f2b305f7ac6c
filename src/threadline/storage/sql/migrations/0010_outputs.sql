-- Files that were written of sessions go with them, also if that is cut off.

-- Of which sessions a forgetting still has to delete the files; no reference: they may be gone.
CREATE TABLE forgetting_outputs (
    forgetting_id INTEGER NOT NULL REFERENCES forgettings (id),
    session_id    TEXT NOT NULL,
    PRIMARY KEY (forgetting_id, session_id)
) STRICT, WITHOUT ROWID;
