"""Laws: what must be true of what people saw, beside the store, after a kill and at the end."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.crash.acknowledged import Problem, Trouble
from tests.crash.gateway.chat_platform import Exchange, Shown
from tests.crash.verify import Look
from threadline.core.delivery import MAX_REPEATS
from threadline.core.message import Marker, MarkerKind, Part, Role, plain_text, unpack
from threadline.core.session import Cause
from threadline.core.system_notes import tell_person

Turns: TypeAlias = dict[str, list[tuple[int, str, int, int]]]
"""Text of a message → its turns: id, state, session, attempts."""

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


@dataclass(slots=True)
class Casualties:
    """What was under way at the moments of the kills: only that may end badly."""

    deliveries: Counter[int] = field(default_factory=Counter)
    sessions: Counter[int] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)

    def count(self, look: Look, owner: str | None = None) -> None:
        """Count what a dead owner has in hand; None: everything that is in anyone's hands."""
        whose = "IS NOT NULL" if owner is None else f"= '{owner}'"
        # One that is still streamed has no lease of its own.
        sending = (
            "SELECT id FROM deliveries "
            f"WHERE state = 'sending' AND coalesce(owner, streamed_by) {whose}"
        )
        running = f"SELECT id, session_key FROM turns WHERE owner {whose}"
        self.deliveries.update(_number(id) for (id,) in look(sending))
        for id, key in look(running):
            self.turns[_number(id)] += 1
            self.sessions[_number(key)] += 1


def broken_at_once(look: Look, exchange: Exchange) -> list[Problem]:
    """Name what is wrong at this moment, whatever is still to come."""
    turns, shown = _turns(look), _without_late_repeats(look, exchange.shown)
    return [
        *_lost(turns, exchange),
        *_unmarked(shown),
        *_disordered(turns, shown),
        *_taken_in_disorder(turns, exchange),
    ]


def broken_in_the_end(look: Look, exchange: Exchange, casualties: Casualties) -> list[Problem]:
    """Name what is wrong when everything has come to rest."""
    return [
        *broken_at_once(look, exchange),
        *_unrest(look),
        *_unanswered(look, exchange, casualties),
        *_untrue(look, _without_late_repeats(look, exchange.shown)),
    ]


def asked_again(look: Look, casualties: Casualties) -> list[Problem]:
    """Name the turns that an agent ran more often than processes died over them.

    Only for a gateway that keeps its leases: an agent whose answer was complete is not asked again.
    """
    problems = []
    for id, attempts in look("SELECT id, attempts FROM turns WHERE attempts > 1"):
        crashes = casualties.turns[_number(id)]
        if _number(attempts) > 1 + crashes:
            what = f"turn {_number(id)} was run {attempts!r} times over {crashes} crashes"
            problems.append(Problem(trouble=Trouble.DOUBLED, what=what))
    return problems


def is_at_rest(look: Look, exchange: Exchange) -> bool:
    """Tell whether nothing is under way any more."""
    return exchange.is_empty and not any(_unrest(look))


def _unrest(look: Look) -> Iterator[Problem]:
    for what, sql in _UNREST:
        if rows := look(sql):
            yield Problem(trouble=Trouble.LOST, what=f"{what}: {rows[:5]}")


def _lost(turns: Turns, exchange: Exchange) -> Iterator[Problem]:
    """Find what was acknowledged to the platform and has no turn."""
    for id in exchange.acknowledged:
        if not turns[id]:
            yield Problem(trouble=Trouble.LOST, what=f"message {id} was acknowledged, and is gone")


def _turns(look: Look) -> Turns:
    """List the turns of each message."""
    rows = look(
        """SELECT m.text, t.id, t.state, t.session_key, t.attempts FROM messages m
           JOIN turns t ON t.id = m.turn_id WHERE m.role = 'user'"""
    )
    turns = defaultdict(list)
    for text, id, state, session, attempts in rows:
        turns[str(text)].append((_number(id), str(state), _number(session), _number(attempts)))
    return turns


def late_repeats(look: Look, shown: Sequence[Shown]) -> list[Shown]:
    """List what no program can prevent: a process was stopped just before a write.

    It had begun to send the message while its lease held, and the message arrived after another
    process had taken over and sent the same, marked.
    """
    if not any(one.is_late for one in shown):
        return []
    recorded = {str(id) for (id,) in look("SELECT platform_id FROM delivery_pieces")}
    marked: dict[int, set[int]] = defaultdict(set)
    late = []
    for one in shown:
        if one.is_late and one.id not in recorded and marked[one.delivery] - {one.by}:
            late.append(one)
        if one.is_marked:
            marked[one.delivery].add(one.by)
    return late


def _without_late_repeats(look: Look, shown: Sequence[Shown]) -> list[Shown]:
    late = {one.id for one in late_repeats(look, shown)}
    return [one for one in shown if one.id not in late]


def _unmarked(shown: Sequence[Shown]) -> Iterator[Problem]:
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
                what += f"; sent by {one.by} and {shown[seen].by}, {one.age:.2f} s on its way"
                yield Problem(trouble=Trouble.UNMARKED, what=what)
                break


def _disordered(turns: Turns, shown: Sequence[Shown]) -> Iterator[Problem]:
    """Find answers that came before those to messages that had been taken in earlier."""
    last: dict[str, tuple[int, Shown]] = {}
    for one in shown:
        if not one.tokens:
            continue
        taken = [turn for turn, *_ in turns[_question_of(one)]]
        place = min(taken, default=0)
        before = last.get(one.chat)
        if before is not None and before[0] > place:
            what = (
                f"in {one.chat} of round {one.round} {one.key} {one.tokens[0]} "
                f"after {before[1].key} {before[1].tokens[0]} of round {before[1].round}"
            )
            yield Problem(trouble=Trouble.DISORDER, what=what)
        last[one.chat] = place, one


def _taken_in_disorder(turns: Turns, exchange: Exchange) -> Iterator[Problem]:
    """Find messages that were taken in before earlier ones, none of which had been refused."""
    last: dict[str, tuple[int, int]] = {}
    numbers = sorted(tuple(map(int, id.split("."))) for id in exchange.asked - exchange.refused)
    for conversation, question in numbers:
        for turn, *_ in turns[f"{conversation}.{question}"]:
            before = last.get(f"{conversation}")
            if before is not None and before[1] > turn:
                what = f"{conversation}.{before[0]} was taken in after {conversation}.{question}"
                yield Problem(trouble=Trouble.DISORDER, what=what)
            last[f"{conversation}"] = question, turn


def _question_of(one: Shown) -> str:
    conversation, question, _, _ = one.tokens[0]
    return f"{conversation}.{question}"


def _unanswered(look: Look, exchange: Exchange, casualties: Casualties) -> Iterator[Problem]:
    """Find questions without one turn that came to a good end and was carried to its end."""
    turns, owed = _turns(look), defaultdict(list)
    errors = {_number(id): error for id, error in look("SELECT id, error FROM turns")}
    for turn, id, state, error in look("SELECT turn_id, id, state, error FROM deliveries"):
        owed[turn].append((_number(id), str(state), error))
    for id in exchange.asked:
        match turns[id]:
            case []:
                yield Problem(trouble=Trouble.LOST, what=f"message {id} has no turn")
            case [(turn, state, session, attempts)]:
                why = errors.get(turn)
                interruptions = max(attempts, casualties.sessions[session])
                if state != "done" and not (state == "failed" and interruptions >= _HELD_OFTEN):
                    what = f"turn {turn} of {id} is {state} after {attempts} attempts: {why!r}"
                    yield Problem(trouble=Trouble.LOST, what=what)
                if not owed[turn]:
                    yield Problem(trouble=Trouble.LOST, what=f"nothing is owed for {id}")
                for delivery, state, error in owed[turn]:
                    in_doubt = casualties.deliveries[delivery] > MAX_REPEATS
                    if state != "sent" and not (state == "failed" and in_doubt):
                        crashes = casualties.deliveries[delivery]
                        what = f"delivery {delivery}, the answer to {id}, is {state}: {error!r}"
                        what += f" ({crashes} crashes while it was sent)"
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
    """Return the texts as people get them: only the first interruption is mentioned.

    One that stands alone is not mentioned where an answer follows.
    """
    last = max((n for n, (role, _) in enumerate(lines) if role is Role.ASSISTANT), default=-1)
    is_mentioned = False
    for n, (role, said) in enumerate(lines):
        match role, said:
            case Role.SYSTEM, [Marker(kind=MarkerKind.INTERRUPTED)] if n < last:
                continue
        yield plain_text([part for part in said if not (is_mentioned and _is_cut_off(part))])
        is_mentioned |= any(_is_cut_off(part) for part in said)


def _is_cut_off(part: Part) -> bool:
    return isinstance(part, Marker) and part.kind is MarkerKind.INTERRUPTED


def _bare(text: str) -> str:
    """Leave out where a text was cut, and what stands where nothing was left to say."""
    return "".join(text.replace("…", "").split())


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
