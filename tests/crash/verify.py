"""Verification: compares a store with what was acknowledged, and with its own rules."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias

import apsw
import psycopg

from tests.crash.acknowledged import Ledger, Problem, Trouble
from threadline.core.event import Event

Value: TypeAlias = int | float | str | bytes | None


class Look(Protocol):
    """Reads a store past all our code, so that our code cannot hide anything."""

    def __call__(self, sql: str) -> Sequence[tuple[Value, ...]]:
        """Answer all rows of a query."""
        ...


@contextmanager
def looking(where: str) -> Iterator[Look]:
    """Look into a store directly, in one consistent state."""
    if where.startswith("postgresql:"):
        with psycopg.connect(where) as server:
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield lambda sql: server.execute(sql.encode()).fetchall()
        return
    file = apsw.Connection(where, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        file.execute("BEGIN")
        yield lambda sql: file.execute(sql).fetchall()
    finally:
        file.close()


_LAWS = (
    (
        Trouble.DISORDER,
        "sessions whose sequence numbers have a gap",
        """SELECT s.id, s.last_seq, m.placed, m.last FROM sessions s
           LEFT JOIN (SELECT session_key, count(seq) AS placed, max(seq) AS last FROM messages
                      GROUP BY session_key) m ON m.session_key = s.key
           WHERE coalesce(m.placed, 0) <> s.last_seq OR coalesce(m.last, 0) <> s.last_seq""",
    ),
    (
        Trouble.DISORDER,
        "sessions whose revisions have a gap",
        """SELECT s.id, s.revision, e.told, e.first, e.last FROM sessions s
           LEFT JOIN (SELECT session_key, count(DISTINCT revision) AS told, min(revision) AS first,
                             max(revision) AS last, count(*) AS rows_ FROM events
                      GROUP BY session_key) e ON e.session_key = s.key
           WHERE coalesce(e.rows_, 0) <> coalesce(e.told, 0)
              -- Where the clock jumped over a week, the feed was pruned.
              OR ((SELECT id FROM feed_floor) = 0
                  AND (coalesce(e.told, 0) <> s.revision OR coalesce(e.last, 0) <> s.revision
                       OR coalesce(e.first, 1) <> 1))""",
    ),
    (
        Trouble.DISORDER,
        "sessions with more than one turn under way",
        """SELECT session_key, count(*) FROM turns WHERE state IN ('running', 'waiting')
           GROUP BY session_key HAVING count(*) > 1""",
    ),
    (
        Trouble.DOUBLED,
        "messages of people that never arrived, or arrived twice",
        """SELECT m.key, m.text, count(a.message_id) FROM messages m
           LEFT JOIN arrivals a ON a.message_key = m.key AND a.kind = 'message'
           WHERE m.role = 'user' GROUP BY m.key, m.text HAVING count(a.message_id) <> 1""",
    ),
    (
        Trouble.DOUBLED,
        "texts that stand twice",
        """SELECT text, count(*) FROM messages WHERE role = 'user' AND deleted_at IS NULL
           GROUP BY text HAVING count(*) > 1""",
    ),
    (
        Trouble.LOST,
        "arrivals whose message is gone",
        """SELECT a.message_id FROM arrivals a LEFT JOIN messages m ON m.key = a.message_key
           WHERE a.kind = 'message' AND a.outcome NOT IN ('command', 'refused')
           AND m.key IS NULL""",
    ),
    (
        Trouble.LOST,
        "queued turns without a message",
        """SELECT t.id FROM turns t WHERE t.state = 'queued'
           AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn_id = t.id)""",
    ),
    (
        Trouble.LOST,
        "messages without a place although their turn is over",
        """SELECT m.key FROM messages m JOIN turns t ON t.id = m.turn_id
           WHERE m.seq IS NULL AND t.state IN ('running', 'waiting', 'done', 'failed')""",
    ),
    (
        Trouble.LOST,
        "streamed pieces of turns that are over",
        """SELECT c.turn_id FROM chunks c JOIN turns t ON t.id = c.turn_id
           WHERE t.state NOT IN ('running', 'waiting')""",
    ),
    (
        Trouble.DOUBLED,
        "turns of which a line is owed twice at one place",
        """SELECT d.turn_id, d.id FROM deliveries d JOIN deliveries e ON e.turn_id = d.turn_id
           AND e.address_key = d.address_key AND e.id <> d.id
           AND (e.part = d.part OR (e.part < d.part AND e.until_seq > d.after_seq))""",
    ),
)


def broken_laws(look: Look) -> list[Problem]:
    """Name what may never be so in any store."""
    return [
        Problem(trouble=trouble, what=f"{what}: {rows[:5]}")
        for trouble, what, sql in _LAWS
        if (rows := look(sql))
    ]


def broken_promises(look: Look, ledger: Ledger) -> list[Problem]:
    """Name what was acknowledged and is not there exactly once."""
    return [
        *_messages(look, ledger),
        *_lines(look, ledger),
        *_pieces(look, ledger),
        *_states(look, ledger),
    ]


def _messages(look: Look, ledger: Ledger) -> Iterator[Problem]:
    rows = look(
        """SELECT a.message_id, m.text, m.deleted_at FROM arrivals a
           JOIN messages m ON m.key = a.message_key WHERE a.kind = 'message'"""
    )
    found = defaultdict(list)
    for id, text, deleted_at in rows:
        found[str(id)].append((str(text), deleted_at))
    for id in ledger.messages.keys() | ledger.deleted:
        match found[id]:
            case []:
                yield Problem(trouble=Trouble.LOST, what=f"message {id}")
            case [(text, None)]:
                version = _version(text, id)
                if version < ledger.messages.get(id, 0) or id in ledger.deleted:
                    yield Problem(trouble=Trouble.LOST, what=f"change of {id}: {text[:40]!r}")
            case [_]:
                pass  # It is deleted, and the pipe may have missed that by a moment.
            case _:
                yield Problem(trouble=Trouble.DOUBLED, what=f"message {id}: {found[id]}")


def _version(text: str, id: str) -> int:
    words = text.split(" ")
    return int(words[1][1:]) if words[0] == id else -1


def _lines(look: Look, ledger: Ledger) -> Iterator[Problem]:
    rows = look(
        """SELECT s.id, m.seq, m.text FROM messages m JOIN sessions s ON s.key = m.session_key
           WHERE m.role IN ('assistant', 'system') AND m.seq IS NOT NULL"""
    )
    there = {(str(session), seq): str(text) for session, seq, text in rows}
    for session, seq, text in ledger.lines:
        if there.get((session, seq)) != text:
            yield Problem(trouble=Trouble.LOST, what=f"line {seq} of {session}: {text!r}")


def _pieces(look: Look, ledger: Ledger) -> Iterator[Problem]:
    said: dict[int, str] = defaultdict(str)
    sources = (
        "SELECT turn_id, text FROM messages WHERE role = 'assistant' AND turn_id IS NOT NULL",
        "SELECT turn_id, text FROM chunks",
    )
    for sql in sources:
        for turn, text in look(sql):
            assert isinstance(turn, int)
            said[turn] += str(text)
    for turn, pieces in ledger.pieces.items():
        for piece in pieces:
            times = said[turn].count(piece)
            if times != 1:
                trouble = Trouble.DOUBLED if times else Trouble.LOST
                yield Problem(trouble=trouble, what=f"piece {piece}, said {times} times")


def _states(look: Look, ledger: Ledger) -> Iterator[Problem]:
    turns = {id: state for id, state in look("SELECT id, state FROM turns")}  # noqa: C416 - typed
    for turn, state in ledger.ends.items():
        if turns.get(turn) != state:
            what = f"end of turn {turn}: {turns.get(turn)!r}, not {state}"
            yield Problem(trouble=Trouble.LOST, what=what)
    sent = {id for (id,) in look("SELECT id FROM deliveries WHERE state = 'sent'")}
    for delivery in ledger.sent - sent:
        yield Problem(trouble=Trouble.DOUBLED, what=f"delivery {delivery} would be sent again")
    ended = {id for (id,) in look("SELECT DISTINCT s.id FROM endings e JOIN sessions s "
                                  "ON s.key = e.session_key")}  # fmt: skip
    for session in ledger.left - ended:
        yield Problem(trouble=Trouble.LOST, what=f"end of session {session}")


def broken_feed(events: Sequence[Event], revisions: dict[str, int]) -> list[Problem]:
    """Name what a stretch of the feed lacks, given the revision of each session at its beginning.

    Afterwards the revisions are those at its end.
    """
    problems = []
    by_session: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.session_id is not None:
            by_session[event.session_id].append(event)
    for session, told in by_session.items():
        told.sort(key=lambda event: event.revision)
        before = revisions.get(session, 0)
        numbers = [event.revision for event in told]
        if numbers != list(range(before + 1, before + 1 + len(numbers))):
            what = f"feed of {session} after {before}: {numbers}"
            problems.append(Problem(trouble=Trouble.LOST, what=what))
        revisions[session] = numbers[-1]
        problems += _overlaps(session, told)
    return problems


def _overlaps(session: str, told: Sequence[Event]) -> Iterator[Problem]:
    """Name the turns of one session that began before another had let go."""
    held: int | None = None
    for event in told:
        if event.kind.noun != "turn":
            continue
        if event.kind.state in {"running", "waiting"}:
            if held not in {None, event.subject}:
                what = f"turns {held} and {event.subject} of {session} at once"
                yield Problem(trouble=Trouble.DISORDER, what=what)
            held = event.subject
        elif event.subject == held:
            held = None
