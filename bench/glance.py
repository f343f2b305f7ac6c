"""The floor of the reads: the queries by themselves, every row fetched and nothing made of it."""

from bench.bare import Bare

_PAGE = (
    "SELECT m.key, m.seq, m.turn_id, m.role, m.text, m.parts, m.at, m.changed_at, m.deleted_at, "
    "p.id, p.name FROM messages m LEFT JOIN senders p ON p.key = m.sender_key "
    "WHERE m.session_key = ? AND m.seq IS NOT NULL ORDER BY m.seq DESC LIMIT 50"
)
_LIST = (
    "SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id, coalesce(r.id, s.id), s.cause, "
    "s.opened_at, s.last_activity_at, s.ended_at, s.end_reason, s.suspended_at, s.title, "
    "s.titled_by, s.model, s.provider, s.base_url, s.last_seq, s.revision, "
    "(SELECT t.state FROM turns t WHERE t.session_key = s.key "
    "AND t.state IN ('running', 'waiting')) "
    "FROM sessions s LEFT JOIN sessions p ON p.key = s.parent_key "
    "LEFT JOIN sessions r ON r.key = s.root_key "
    "WHERE s.profile = 'main' ORDER BY s.last_activity_at DESC, s.key DESC LIMIT 51"
)


class Glance:
    """Reads by one bare connection what a caller of the store asks for."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare

    def transcript(self, key: int) -> None:
        """Read the last 50 messages of a session."""
        if len(self._bare.ask(_PAGE, (key,))) != 50:
            raise ValueError("The long transcript is not there")

    def sessions(self) -> None:
        """Read the first page of the list."""
        if not self._bare.ask(_LIST):
            raise ValueError("The list is empty")
