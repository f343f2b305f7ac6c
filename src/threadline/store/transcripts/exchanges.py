"""Exchanges: what a person said in one go, and whether it was answered."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import takewhile

from msgspec import Struct

from threadline.core.message import Message, Role
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.core.validation import checked_moment
from threadline.database.port import Transaction
from threadline.store.transcripts.history import backwards
from threadline.store.transcripts.segments import layout_of


class Run(Struct, frozen=True, kw_only=True):
    """Lines of people that nobody answered in between, in order."""

    lines: tuple[Message, ...]
    is_answered: bool

    @property
    def first(self) -> int:
        """The sequence number of the first line."""
        return self.lines[0].seq or 0

    @property
    def last(self) -> int:
        """The sequence number of the last line."""
        return self.lines[-1].seq or 0


def group_user_lines(newest_first: Iterable[Message]) -> Iterator[Run]:
    """Gather the lines of people into runs, the newest first.

    An answer or a tool parts two runs, and so do two turns; a line of the system does not.
    """
    lines: list[Message] = []
    turn_id: TurnId | None = None
    is_answered = False
    for line in newest_first:
        if line.role is Role.SYSTEM:
            continue
        is_other_turn = None not in {turn_id, line.turn_id} and turn_id != line.turn_id
        if lines and (line.role is not Role.USER or is_other_turn):
            yield Run(lines=tuple(reversed(lines)), is_answered=is_answered)
            lines, turn_id, is_answered = [], None, False
        if line.role is Role.USER:
            lines.append(line)
            turn_id = line.turn_id or turn_id
        else:
            is_answered = is_answered or line.role is Role.ASSISTANT
    if lines:
        yield Run(lines=tuple(reversed(lines)), is_answered=is_answered)


def count_rounds(tx: Transaction, id: SessionId, *, since: datetime | None = None) -> int:
    """Count what people said and got an answer to, counting back to a moment if there is one."""
    layout = layout_of(tx, id)
    lines: Iterator[Message] = backwards(tx, layout, layout.hidden())
    if since is not None:
        moment = checked_moment(since, "moment")
        lines = takewhile(lambda line: (line.arrived_at or line.at) >= moment, lines)
    return sum(run.is_answered for run in group_user_lines(lines))
