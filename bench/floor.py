"""The floor: the rows that the verbs write, written by the driver alone.

The same inserts and updates in the same number of durable commits, in a straight loop, with
prepared statements. Nothing is looked up, checked or decided, so nothing can be quicker and leave
the same rows. `tests/bench` holds the rows of both against each other.
"""

import time
from dataclasses import dataclass

from bench.bare import Bare
from bench.script import ANSWER, PLATFORM, QUESTION, USAGE, chat_of, new_name
from threadline.core.system_notes import greet
from threadline.database.port import SqlValue

_LEASE = 60_000_000
_GREETING = greet(installation=False).parts[0]
_COST = 2_100_000
_USAGE_COLUMNS = (
    "task, provider, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, "
    "reasoning_tokens, prompt_tokens, cost, cost_status"
)
_USAGE: tuple[SqlValue, ...] = (
    USAGE.task,
    USAGE.provider,
    USAGE.model,
    USAGE.input_tokens,
    USAGE.output_tokens,
    USAGE.cache_read_tokens,
    USAGE.cache_write_tokens,
    USAGE.reasoning_tokens,
    USAGE.prompt_tokens,
    _COST,
    USAGE.cost_status.value,
)

_QUEUE = (
    "INSERT INTO turns (session_key, address_key, state, queued_at) VALUES (?, ?, 'queued', ?) "
    "RETURNING id"
)
_KEEP = (
    "INSERT INTO messages (session_key, turn_id, role, sender_key, text, at, platform_id) "
    "VALUES (?, ?, 'user', ?, ?, ?, ?) RETURNING key"
)
_NOTE = "INSERT INTO messages (session_key, turn_id, role, text, at) VALUES (?, ?, 'system', ?, ?)"
_ARRIVAL = (
    "INSERT INTO arrivals (profile, platform, account, chat, message_id, kind, version, outcome, "
    "session_key, turn_id, message_key) "
    "VALUES ('main', ?, '', ?, ?, 'message', 0, 'queued', ?, ?, ?)"
)
_ADVANCE = (
    "UPDATE sessions SET revision = revision + ?, last_seq = last_seq + ?, last_activity_at = ?, "
    "interruptions = 0 WHERE key = ? RETURNING revision, last_seq"
)
_GO_ON = (
    "UPDATE sessions SET revision = revision + ?, last_seq = last_seq + ?, "
    "user_messages = user_messages + ?, interruptions = 0 "
    "WHERE key = ? RETURNING revision, last_seq"
)
_EVENT = "INSERT INTO events (kind, session_key, revision, subject, at) VALUES (?, ?, ?, ?, ?)"
_EVENTS = _EVENT + ", (?, ?, ?, ?, ?)"
_START = (
    "UPDATE turns SET state = 'running', fence = fence + 1, owner = ?, lease_until = ?, "
    "attempts = attempts + 1, started_at = ?, first_seq = ? WHERE id = ?"
)
_PLACE = "UPDATE messages SET seq = ? WHERE key = ?"
_RENEW = "UPDATE turns SET lease_until = ? WHERE id = ?"
_ANSWER = (
    "INSERT INTO messages (session_key, seq, turn_id, role, text, at) "
    "VALUES (?, ?, ?, 'assistant', ?, ?)"
)
_END = (
    "UPDATE turns SET state = 'done', ended_at = ?, owner = NULL, lease_until = NULL WHERE id = ?"
)
_SPEND = (
    f"INSERT INTO usage (session_key, turn_id, sender_key, at, {_USAGE_COLUMNS}) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_OWE = (
    "INSERT INTO deliveries (session_key, turn_id, address_key, state, owed_at, due_at, until_seq) "
    "VALUES (?, ?, ?, 'pending', ?, ?, ?) RETURNING id"
)
_ADDRESS = (
    "INSERT INTO addresses (platform, account, kind, chat, thread) VALUES (?, '', 'dm', ?, '') "
    "RETURNING key"
)
_SENDER = "INSERT INTO senders (platform, id, first_seen_at) VALUES (?, ?, ?) RETURNING key"
_SESSION = (
    "INSERT INTO sessions (id, profile, platform, kind, address_key, sender_key, cause, opened_at, "
    "last_activity_at, title, titled_by, revision) "
    "VALUES (?, 'main', ?, 'dm', ?, ?, 'first', ?, ?, ?, 'first_words', 2) RETURNING key"
)
_BINDING = "INSERT INTO bindings (route, session_key, sender_key, bound_at) VALUES (?, ?, ?, ?)"


@dataclass(slots=True)
class _Waiting:
    turn_id: SqlValue
    message_key: SqlValue


class Floor:
    """Writes by one bare connection what a caller of the store makes it write."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare
        self._owner = new_name()

    def arrive(self, number: int) -> _Waiting:
        """Queue a turn for a message in a filled conversation: one commit."""
        bare, key, now = self._bare, number + 1, _now()
        bare.begin()
        ((turn_id,),) = bare.ask(_QUEUE, (key, key, now))
        name = new_name()
        ((message_key,),) = bare.ask(_KEEP, (key, turn_id, key, QUESTION, now, name))
        arrival = (PLATFORM, chat_of(number), name, key, turn_id, message_key)
        bare.run(_ARRIVAL, arrival)
        ((revision, _),) = bare.ask(_ADVANCE, (1, 0, now, key))
        bare.run(_EVENT, ("turn.queued", key, revision, turn_id, now))
        bare.commit()
        return _Waiting(turn_id, message_key)

    def turn(self, number: int) -> None:
        """Write a whole turn: four commits."""
        waiting = self.arrive(number)
        self._claim(number + 1, waiting)
        self._append(number + 1, waiting.turn_id)
        self._finish(number + 1, waiting.turn_id)

    def _claim(self, key: int, waiting: _Waiting) -> None:
        bare, now = self._bare, _now()
        bare.begin()
        ((revision, seq),) = bare.ask(_GO_ON, (2, 1, 1, key))
        bare.run(_START, (self._owner, now + _LEASE, now, seq, waiting.turn_id))
        bare.run(_PLACE, (seq, waiting.message_key))
        self._two_events(
            key, revision, ("message.added", seq), ("turn.running", waiting.turn_id), now
        )
        bare.commit()

    def _append(self, key: int, turn_id: SqlValue) -> None:
        bare, now = self._bare, _now()
        bare.begin()
        ((revision, seq),) = bare.ask(_GO_ON, (1, 1, 0, key))
        bare.run(_RENEW, (now + _LEASE, turn_id))
        bare.run(_ANSWER, (key, seq, turn_id, ANSWER, now))
        bare.run(_EVENT, ("message.added", key, revision, seq, now))
        bare.commit()

    def _finish(self, key: int, turn_id: SqlValue) -> None:
        bare, now = self._bare, _now()
        bare.begin()
        ((revision, seq),) = bare.ask(_ADVANCE, (2, 0, now, key))
        bare.run(_END, (now, turn_id))
        bare.run(_SPEND, (key, turn_id, key, now, *_USAGE))
        ((delivery_id,),) = bare.ask(_OWE, (key, turn_id, key, now, now, seq))
        done, owed = ("turn.done", turn_id), ("delivery.pending", delivery_id)
        self._two_events(key, revision, done, owed, now)
        bare.commit()

    def _two_events(
        self,
        key: int,
        revision: SqlValue,
        first: tuple[str, SqlValue],
        second: tuple[str, SqlValue],
        now: int,
    ) -> None:
        last = int(revision or 0)
        one, two = (first[0], key, last - 1, first[1], now), (second[0], key, last, second[1], now)
        self._bare.run(_EVENTS, (*one, *two))

    def begin(self) -> None:
        """Write the first message of a new person: one commit."""
        bare, now, name = self._bare, _now(), new_name()
        bare.begin()
        ((address,),) = bare.ask(_ADDRESS, (PLATFORM, name))
        ((sender,),) = bare.ask(_SENDER, (PLATFORM, name, now))
        title = QUESTION[:64]
        session = (name, PLATFORM, address, sender, now, now, title)
        ((key,),) = bare.ask(_SESSION, session)
        bare.run(_BINDING, (f"main:{PLATFORM}:dm:{name}", key, sender, now))
        ((turn_id,),) = bare.ask(_QUEUE, (key, address, now))
        bare.run(_NOTE, (key, turn_id, getattr(_GREETING, "text", ""), now))
        ((message_key,),) = bare.ask(_KEEP, (key, turn_id, sender, QUESTION, now, name))
        bare.run(_ARRIVAL, (PLATFORM, name, name, key, turn_id, message_key))
        opened, queued = ("session.opened", None), ("turn.queued", turn_id)
        self._two_events(int(key or 0), 2, opened, queued, now)
        bare.commit()

    def close(self) -> None:
        """Let go of the connection."""
        self._bare.close()


def _now() -> int:
    return time.time_ns() // 1_000
