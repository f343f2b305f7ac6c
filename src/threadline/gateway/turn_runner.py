"""Turn runner: a turn gets its request, room where it needs some, and an agent."""

from collections.abc import Callable

from threadline.core.agent import Agent, Request
from threadline.core.errors import ContextFull
from threadline.core.message import Role
from threadline.core.platform import PlatformDirectory
from threadline.core.session import Session
from threadline.core.turn import TurnState
from threadline.database.port import Database
from threadline.gateway.compaction import Compaction
from threadline.gateway.request import NOTHING_AROUND, make_request
from threadline.gateway.running_turn import RunningTurn
from threadline.gateway.turn_phase import TurnPhase
from threadline.store.usage import approve_spending


class TurnRunner:
    """Lets an agent answer turns; what goes wrong is raised."""

    def __init__(
        self,
        database: Database,
        agent: Agent,
        upkeep: Compaction,
        *,
        delivers: Callable[[Session], bool],
        surroundings: Callable[[], PlatformDirectory] | None = None,
    ) -> None:
        """Answer turns of a store; `delivers` tells whose answers are owed to a platform."""
        self._db = database
        self.agent = agent
        """Who answers from now on; whoever answers already goes on."""
        self._upkeep = upkeep
        self._delivers = delivers
        self._surroundings = surroundings

    async def answer(self, turn: RunningTurn) -> None:
        """Answer one turn to its end, or to a question.

        A conversation that the model cannot read at once is compacted, and asked about again: once,
        and only if nothing was said.
        """
        request = await self._make_request(turn)
        turn.delivers = self._delivers(request.session)
        await turn.outlast(lambda: approve_spending(self._db, turn.lease))
        if await self._upkeep.make_room(turn.turn, request.session):
            request = await self._make_request(turn)
        try:
            await turn.follow(self.agent.answer(request))
        except ContextFull:
            is_silent = turn.phase is TurnPhase.SILENT
            if not is_silent or not await self._upkeep.shrink(turn.turn, request.session):
                raise
            request = await self._make_request(turn)
            await turn.follow(self.agent.answer(request))
        if turn.state is TurnState.DONE:
            spoken = sum(line.role is Role.USER for line in request.history)
            self._upkeep.name(request.session, spoken)

    async def _make_request(self, turn: RunningTurn) -> Request:
        around = NOTHING_AROUND if self._surroundings is None else self._surroundings()
        request = await turn.outlast(lambda: make_request(self._db, turn.turn, turn, around))
        turn.last_seq = max((line.seq or 0 for line in request.history), default=0)
        return request
