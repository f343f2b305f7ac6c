"""Laws: what must be true of what people saw, beside the store, after a kill and at the end."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.crash.gateway.exchange import Exchange, Shown
from tests.crash.ledger import Problem, Trouble
from tests.crash.verify import Look
from threadline.core.message import Marker, MarkerKind, Part, Role, plain_text, unpack
from threadline.core.notice import tell_person
from threadline.core.session import Cause

_UNREST = (
    (
        "turns that nobody runs any more",
        """SELECT id, state FROM turns WHERE state IN ('queued', 'running', 'waiting',
                                                      'interrupted')""",
    ),
    (
        "deliveries that nobody carries any more",
        "SELECT id, state FROM deliveries WHERE state IN ('pending', 'sending')",
    ),
)
_HELD_OFTEN = 3
"""A session that was cut off so often lets its turn fail, and says so."""
_IN_DOUBT_TWICE = 2
"""What may have been seen is sent again once; then nobody tries any more."""


@dataclass(slots=True)
class Casualties:
    """What was under way at the moments of the kills: only that may end badly."""

    deliveries: Counter[int] = field(default_factory=Counter)
    sessions: Counter[int] = field(default_factory=Counter)

    def count(self, look: Look) -> None:
        """Count what a dead owner has in hand."""
        sending = "SELECT id FROM deliveries WHERE state = 'sending'"
        running = "SELECT session_key FROM turns WHERE owner IS NOT NULL"
        self.deliveries.update(_number(id) for (id,) in look(sending))
        self.sessions.update(_number(key) for (key,) in look(running))


def broken_at_once(look: Look, exchange: Exchange) -> list[Problem]:
    """Name what is wrong at this moment, whatever is still to come."""
    return [*_lost(look, exchange), *_doubled(exchange.shown), *_disordered(exchange.shown)]


def broken_in_the_end(look: Look, exchange: Exchange, casualties: Casualties) -> list[Problem]:
    """Name what is wrong when everything has come to rest."""
    return [
        *broken_at_once(look, exchange),
        *_unrest(look),
        *_unanswered(look, exchange, casualties),
        *_untrue(look, exchange.shown),
    ]


def is_at_rest(look: Look, exchange: Exchange) -> bool:
    """Tell whether nothing is under way any more."""
    return exchange.is_empty and not any(_unrest(look))


def _unrest(look: Look) -> Iterator[Problem]:
    for what, sql in _UNREST:
        if rows := look(sql):
            yield Problem(trouble=Trouble.LOST, what=f"{what}: {rows[:5]}")


def _lost(look: Look, exchange: Exchange) -> Iterator[Problem]:
    """Find what was acknowledged to the platform and has no turn."""
    turns = _turns(look)
    for id in exchange.acknowledged:
        if not turns[id]:
            yield Problem(trouble=Trouble.LOST, what=f"message {id} was acknowledged, and is gone")


def _turns(look: Look) -> dict[str, list[tuple[int, str, int]]]:
    """List the turns of each message: id, state, session."""
    rows = look(
        """SELECT m.text, t.id, t.state, t.session_key FROM messages m
           JOIN turns t ON t.id = m.turn_id WHERE m.role = 'user'"""
    )
    turns = defaultdict(list)
    for text, id, state, session in rows:
        turns[str(text)].append((_number(id), str(state), _number(session)))
    return turns


def _doubled(shown: Sequence[Shown]) -> Iterator[Problem]:
    """Find words that were shown twice; the second time needs a marker before it."""
    first: dict[tuple[int, int, int, int], int] = {}
    marked: dict[int, int] = {}
    for at, one in enumerate(shown):
        if one.is_marked:
            marked[one.delivery] = at
        for token in one.tokens:
            seen = first.setdefault(token, at)
            if seen != at and marked.get(one.delivery, -1) <= seen:
                what = f"{token} in {one.id} ({one.key}), which had been seen in {shown[seen].id}"
                yield Problem(trouble=Trouble.DOUBLED, what=what)
                break


def _disordered(shown: Sequence[Shown]) -> Iterator[Problem]:
    """Find answers that came before those to earlier questions were complete."""
    last: dict[str, Shown] = {}
    for one in shown:
        if not one.tokens:
            continue
        before = last.get(one.chat)
        if before is not None and before.tokens[0][:2] > one.tokens[0][:2]:
            what = (
                f"in {one.chat} of round {one.round} {one.key} {one.tokens[0]} "
                f"after {before.key} {before.tokens[0]} of round {before.round}"
            )
            yield Problem(trouble=Trouble.DISORDER, what=what)
        last[one.chat] = one


def _unanswered(look: Look, exchange: Exchange, casualties: Casualties) -> Iterator[Problem]:
    """Find questions without one turn that came to a good end and was carried to its end."""
    turns, owed = _turns(look), defaultdict(list)
    for turn, id, state in look("SELECT turn_id, id, state FROM deliveries"):
        owed[turn].append((_number(id), str(state)))
    for id in exchange.asked:
        match turns[id]:
            case []:
                yield Problem(trouble=Trouble.LOST, what=f"message {id} has no turn")
            case [(turn, state, session)]:
                if state != "done" and not (
                    state == "failed" and casualties.sessions[session] >= _HELD_OFTEN
                ):
                    yield Problem(trouble=Trouble.LOST, what=f"the turn of {id} is {state}")
                if not owed[turn]:
                    yield Problem(trouble=Trouble.LOST, what=f"nothing is owed for {id}")
                for delivery, state in owed[turn]:
                    in_doubt = casualties.deliveries[delivery] >= _IN_DOUBT_TWICE
                    if state != "sent" and not (state == "failed" and in_doubt):
                        what = f"the answer to {id} is {state}"
                        yield Problem(trouble=Trouble.LOST, what=what)
            case several:
                yield Problem(trouble=Trouble.DOUBLED, what=f"turns of {id}: {several}")


def _untrue(look: Look, shown: Sequence[Shown]) -> Iterator[Problem]:
    """Find answers that do not read on their platform as they stand in the store."""
    seen: dict[int, dict[int, Shown]] = defaultdict(dict)
    for one in shown:
        seen[one.delivery][one.n] = one
    for id, text in _answers(look):
        pieces = [one.words for _, one in sorted(seen[id].items())]
        is_frayed = any(piece != piece.strip() for piece in pieces)
        if is_frayed or _bare("".join(pieces)) != _bare(text):
            what = f"delivery {id} reads {pieces!r}, not {text!r}"
            yield Problem(trouble=Trouble.LOST, what=what)


def _answers(look: Look) -> Iterator[tuple[int, str]]:
    """Read what was to be said, of all that was sent."""
    lines = defaultdict(list)
    for turn, seq, role, text, parts in look(
        """SELECT turn_id, seq, role, text, parts FROM messages WHERE role = 'assistant'
           OR (role = 'system' AND parts IS NOT NULL) ORDER BY seq"""
    ):
        said = unpack(str(text), None if parts is None else str(parts))
        lines[turn].append((seq, Role(str(role)), said))
    for id, turn, notice, after, until in look(
        """SELECT id, turn_id, notice, after_seq, until_seq FROM deliveries
           WHERE state = 'sent' AND turn_id IS NOT NULL"""
    ):
        why = None if notice is None else tell_person(Cause(str(notice)))
        stretch = [
            (role, said) for seq, role, said in lines[turn]
            if seq is not None and _number(after) < _number(seq) <= _number(until)
        ]  # fmt: skip
        yield _number(id), "\n\n".join(filter(None, [why, *_told(stretch)]))


def _told(lines: Sequence[tuple[Role, Sequence[Part]]]) -> Iterator[str]:
    """Give the lines as people get them: that it was cut off is not said where an answer follows.

    Where part of an answer had been said by then, that stands in the same line, and is told.
    """
    last = max((n for n, (role, _) in enumerate(lines) if role is Role.ASSISTANT), default=-1)
    for n, (role, said) in enumerate(lines):
        match role, said:
            case Role.SYSTEM, [Marker(kind=MarkerKind.INTERRUPTED)] if n < last:
                continue
        yield plain_text(said)


def _bare(text: str) -> str:
    """Leave out where a text was cut, and what stands where nothing was left to say."""
    return "".join(text.replace("…", "").split())


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
