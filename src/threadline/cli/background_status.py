"""Background status: what is done in the background, shown where it was asked for."""

import asyncio

from threadline.cli.output import show_marker
from threadline.core.delivery import LOCAL
from threadline.core.errors import NotFound
from threadline.core.event import Event, EventKind
from threadline.core.message import Marker, Message, Role, Text
from threadline.core.session import Cause, Session
from threadline.core.turn import TurnId, TurnState
from threadline.store import Store, queries
from threadline.store.formatting import name
from threadline.store.queries import read_turn

AT_REST = frozenset({EventKind.TURN_DONE, EventKind.TURN_FAILED, EventKind.TURN_STOPPED})
"""The events that tell of a turn's end."""


class BackgroundStatus:
    """Tells how the turns in the background end that were begun at a terminal of a profile."""

    def __init__(self, store: Store, *, profile: str) -> None:
        """Begin with nothing under way."""
        self._store = store
        self._profile = profile
        self._under_way: set[TurnId] = set()
        self._shown: set[TurnId] = set()
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    @property
    def is_busy(self) -> bool:
        """Whether something that was begun here is under way."""
        return bool(self._under_way)

    def expect(self, turn_id: TurnId) -> None:
        """Expect a turn to end, or to ask, unless that was quicker."""
        if turn_id not in self._shown:
            self._under_way.add(turn_id)
            self._at_rest.clear()

    async def rest(self) -> None:
        """Wait until everything that is expected has ended or asks something."""
        await self._at_rest.wait()

    async def words_for(self, event: Event) -> list[str]:
        """Say what a turn in the background came to; nothing, if the event tells of no such."""
        if event.session_id is None or event.kind not in AT_REST | {EventKind.TURN_WAITING}:
            return []
        try:
            session = await self._store.database.read(queries.read_session, event.session_id)
            if self._is_ours(session):
                self._shown.add(TurnId(event.subject or 0))
                return await self._words(session, TurnId(event.subject or 0))
        except NotFound:  # it was forgotten
            pass
        return []

    def done(self, turn_id: TurnId) -> None:
        """Wait for a turn no longer: what it came to has been shown."""
        self._under_way.discard(turn_id)
        if not self._under_way:
            self._at_rest.set()

    def _is_ours(self, session: Session) -> bool:
        is_here = (session.platform, session.profile) == (LOCAL, self._profile)
        return is_here and session.cause is Cause.BACKGROUND

    async def _words(self, session: Session, turn_id: TurnId) -> list[str]:
        turn = await self._store.database.read(read_turn, turn_id)
        if turn.state is TurnState.WAITING:
            asked = turn.question or "What now?"
            return [f"{name(session)} asks: {asked} (/resume {session.id}, then answer.)"]
        lines = await self._store.database.read(
            queries.transcript,
            session.id,
            most=queries.PAGE,
        )
        return [
            f"{name(session)}: {words}"
            for line in lines
            if line.turn_id == turn_id
            for words in _said(line)
        ]


def _said(line: Message) -> list[str]:
    said = "\n".join(part.text for part in line.parts if isinstance(part, Text))
    text = [said] if said and line.role is Role.ASSISTANT else []
    return text + [show_marker(part) for part in line.parts if isinstance(part, Marker)]
