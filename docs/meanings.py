# ruff: noqa: INP001 - the documents are no package
"""What the reference says beyond the code: a sentence for each setting, error, event and table."""

SETTINGS = {
    "database": "Where everything is kept.",
    "profile": "Which namespace the terminal speaks in; profiles never meet.",
    "reset.default.mode": "What ends a session by itself: see `ResetMode` in [values](values.md).",
    "reset.default.idle_minutes": "How long a silence ends a session, where the mode asks for it.",
    "reset.default.at_hour": "The hour at which a day turns.",
    "reset.default.timezone": "Whose clock says when a day turns; without it, this machine's.",
    "reset.default.notify": "Whether the person is told, with the next reply, why it is new.",
    "reset.default.carry": "What goes over into the new session.",
    "reset.kinds": "Policies by kind of place, each with the same six settings as the default.",
    "reset.platforms": "Policies by platform, with the same six settings; they win over kinds.",
    "sharing.groups": "Whether each member of a group has an own conversation, or all share one.",
    "sharing.threads": "The same inside threads.",
    "sharing.platforms": "The same two by platform; what is left out is as everywhere.",
    "busy.default": "What becomes of a message that arrives while a turn runs: see `BusyMode`.",
    "busy.platforms": "The same by platform.",
    "edits": "What an edit does to a turn that has begun: a note for the agent, or a new run.",
    "freshness_seconds": "How long after an interruption a turn may still be resumed by itself.",
    "lease_seconds": "How long a worker that falls silent keeps its turn.",
    "drain_seconds": "How long running turns may go on when the program is asked to end.",
}

ADVICE = {
    "ThreadlineError": "Catch this one to catch them all.",
    "NotFound": "Check the id. What somebody may not see is not found either.",
    "Conflict": "Read the state again; then decide whether to repeat.",
    "LeaseLost": "Let go of the turn or delivery at once, and write nothing more for it.",
    "Refused": "Do not repeat it.",
    "QueueFull": "Tell the sender; repeat after the next answer.",
    "Invalid": "Correct the value; the hint says what it must be.",
    "PlatformError": "Repeat later.",
    "AgentError": "Look at the agent; the turn has failed visibly.",
    "StorageError": "Nothing was stored, unless it says that this is unknown. Read the hint.",
    "ConfigError": "Correct the setting; the error names key, origin and wish.",
    "FeedLost": "Load a snapshot, and follow from there.",
}

_SESSION, _LINE, _TURN, _DELIVERY = "none", "sequence number", "turn id", "delivery id"
EVENTS = {
    "session.opened": (_SESSION, "A session began, or was reopened."),
    "session.changed": (
        _SESSION,
        "Its title, summary, model or busy mode changed, or a route left it.",
    ),
    "session.suspended": (
        _SESSION,
        "It was cut off too often in a row; the next message begins a new one.",
    ),
    "session.ended": (_SESSION, "It ended."),
    "message.added": (
        _LINE,
        "One or more lines were added to the transcript; this is the last one.",
    ),
    "message.changed": (
        "sequence number, or none while it waits",
        "A message reads differently now, or is gone.",
    ),
    "transcript.changed": (
        "first sequence number",
        "From this line on something was hidden or shown again.",
    ),
    "turn.queued": (
        _TURN,
        "A turn waits: new, joined by a message, given back, answered, or resumed.",
    ),
    "turn.running": (_TURN, "A worker has it, or goes on with it after an answer."),
    "turn.waiting": (_TURN, "It waits for a person's answer."),
    "turn.done": (_TURN, "It ended well, or was taken up by a running turn."),
    "turn.failed": (_TURN, "It went wrong, or nobody answered it in time."),
    "turn.stopped": (_TURN, "A person, or what a person did, stopped it."),
    "turn.interrupted": (_TURN, "Its worker is gone."),
    "turn.moved": (
        _TURN,
        "It waits in another session from now on, because this one is suspended.",
    ),
    "delivery.pending": (_DELIVERY, "A reply is owed, or will be tried again."),
    "delivery.sending": (_DELIVERY, "A sender has it."),
    "delivery.sent": (_DELIVERY, "It has reached its platform."),
    "delivery.failed": (_DELIVERY, "It cannot be sent."),
    "delivery.abandoned": (_DELIVERY, "It could not be sent for a whole day."),
}

TABLES = {
    "addresses": "Every place where something was said, with its present labels.",
    "senders": "Everybody who spoke, by platform.",
    "sessions": "Every session: whose, why it began and ended, and how far it has come.",
    "projects": "Groups of sessions, with a name and a colour.",
    "cuts": "Stretches of transcripts that are hidden: undone, retried, or compacted.",
    "persons": "People who speak under several senders.",
    "aliases": "Other ids under which a platform knows a sender.",
    "link_codes": "Hashes of the codes by which two senders are joined.",
    "drafts": "What was begun and not sent, by device.",
    "marks": "How far each reader has read.",
    "spend_warnings": "Which warnings about spending were given.",
    "bindings": "Which session each route goes on with.",
    "turns": "Every request and where it stands; one at a time is under way in a session.",
    "messages": "Every line of every transcript, and those that wait for their turn.",
    "revisions": "What a message said before it was edited or deleted.",
    "arrivals": "What came of each thing that arrived, so that it comes only once.",
    "early_changes": "Edits and deletions that came before their message.",
    "chunks": "Streamed text that no message holds yet.",
    "usage": "What models spent, by turn and task.",
    "deliveries": "Every reply owed, until it was sent, failed, or was given up.",
    "holds": "Who keeps which session from expiring, and until when.",
    "endings": "Every ending of a session, until the hook has been told.",
    "blobs": "Attachments that are wholly stored.",
    "blob_chunks": "Their content, in pieces.",
    "blob_uses": "Which messages need them.",
    "events": "The feed.",
    "feed_floor": "Up to where the feed has been pruned.",
}

LIMITS = {
    "threadline.core.text.TEXT_LIMIT": ("characters", "in one text part of a message"),
    "threadline.core.message.PARTS_LIMIT": ("parts", "in one message"),
    "threadline.core.text.ID_LIMIT": (
        "bytes in UTF-8",
        "in an id, a platform's message id included",
    ),
    "threadline.core.text.TITLE_LIMIT": ("characters", "in a title; the rest is cut off"),
    "threadline.core.notice.QUOTE_LIMIT": ("characters", "of a message that a note quotes"),
    "threadline.sessions.blobs.BLOB_LIMIT": ("bytes", "in an attachment"),
    "threadline.sessions.blobs.CHUNK_BYTES": ("bytes", "in one piece of it"),
    "threadline.sessions.blobs.UNUSED_AFTER": (
        "",
        "until an attachment without a message is deleted",
    ),
    "threadline.core.turn.QUEUE_CAP": ("messages", "that may wait in one session"),
    "threadline.core.turn.LEASE": ("", "until a silent worker loses its turn (`lease_seconds`)"),
    "threadline.core.turn.FRESHNESS": ("", "in which a turn may be resumed (`freshness_seconds`)"),
    "threadline.core.turn.MAX_ATTEMPTS": (
        "times",
        "that a turn is begun, and interruptions in a row that suspend a session",
    ),
    "threadline.core.turn.ANSWER_WITHIN": ("", "until a question that nobody answered is denied"),
    "threadline.core.delivery.MAX_DELIVERY_ATTEMPTS": ("times", "that sending a reply is tried"),
    "threadline.core.delivery.STALE_AFTER": ("", "until a reply that cannot be sent is given up"),
    "threadline.sessions.endings.RETELLINGS": (
        "times",
        "that a failing hook is told again of an ending",
    ),
    "threadline.sessions.feed.KEEP_EVENTS": ("", "for which the feed is kept"),
    "threadline.core.policy.CARRY_LIMIT": ("messages", "that may be carried over"),
    "threadline.sessions.views.LARGEST_PAGE": ("rows", "in one page of a list or transcript"),
    "threadline.sessions.views.PAGE": ("rows", "in one page, where nothing is said"),
    "threadline.gateway.worker.CONCURRENCY": ("turns", "that a worker runs at a time"),
    "threadline.gateway.pace.Pace.checkpoint": ("", "between two checkpoints of streamed text"),
    "threadline.gateway.pace.Pace.recover": ("", "between two looks for dead workers"),
    "threadline.gateway.pace.Pace.sweep": ("", "between two sweeps of what is over"),
    "threadline.gateway.pace.Pace.drain": (
        "",
        "for running turns when a worker stops (`drain_seconds`)",
    ),
    "threadline.storage.sqlite.database.WRITE_DEADLINE_SECONDS": (
        "seconds",
        "that a write on SQLite waits for its beginning",
    ),
    "threadline.storage.sqlite.writer.BATCH_VERBS": ("verbs", "in one commit on SQLite"),
    "threadline.storage.sqlite.writer.BATCH_SECONDS": ("seconds", "for collecting them"),
    "threadline.storage.sqlite.readers.READERS": ("threads", "that read from SQLite"),
    "threadline.storage.sqlite.sentinel.LOOK_EVERY": (
        "seconds",
        "until another process's commit on SQLite is noticed",
    ),
    "threadline.storage.postgres.database.DEADLINE_SECONDS": (
        "seconds",
        "that a call on PostgreSQL waits for its beginning, or for a lock",
    ),
    "threadline.storage.postgres.workers.WORKERS": (
        "connections",
        "of a process to PostgreSQL, and one more to listen",
    ),
    "threadline.storage.postgres.listener.NOTIFY_EVERY": (
        "seconds",
        "between two notices to other processes",
    ),
    "threadline.storage.postgres.check.LONG_SECONDS": (
        "seconds",
        "after which `doctor` names a transaction that holds the feed back",
    ),
}
