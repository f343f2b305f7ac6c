"""Client: what an agent's program tells and asks us while it works."""

import asyncio
from typing import Any, NoReturn

from acp import RequestError
from acp.schema import (
    PermissionOption,
    RequestPermissionResponse,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)
from msgspec import Struct, field
from msgspec.structs import replace

from threadline.agents.acp.permissions import is_changed, merge, withdraw
from threadline.core.errors import AgentError

HEARD_MOST = 10_000
"""Updates and questions that may wait to be read. A program that sends more fails its turn."""
UPDATES_MOST = 1_000
"""Updates of one call that may come while a person is asked about it; more count as a change."""


class PermissionRequest(Struct, frozen=True, eq=False):
    """The agent asks leave for something, and waits."""

    call: ToolCallUpdate
    options: list[PermissionOption]
    answer: "asyncio.Future[RequestPermissionResponse]"
    updates: list[ToolCallStart | ToolCallProgress] = field(default_factory=list)
    """What it told of this call since it asked."""

    def of(self, call: ToolCallUpdate) -> "PermissionRequest":
        """Return the request with all that is known of its call, the updates so far included."""
        if len(self.updates) < UPDATES_MOST:
            for update in self.updates:
                call = merge(call, update)
            self.updates.clear()
        return replace(self, call=call)

    @property
    def has_changed(self) -> bool:
        """Whether it made another call of the one that a person is asked about."""
        return len(self.updates) >= UPDATES_MOST or any(
            is_changed(self.call, update) for update in self.updates
        )


class AcpClient:
    """Hears one program; what it tells while nobody listens is not heard.

    It offers neither files nor terminals: what the agent does on this machine it does by itself.
    """

    def __init__(self) -> None:
        """Listen to nothing yet."""
        self.heard = _empty_queue()
        self._session: str | None = None
        self._asked: list[PermissionRequest] = []

    def listen(self, session: str | None) -> None:
        """Listen to one session of the program and to no other; None: to none."""
        self._session = session
        self.heard = _empty_queue()
        for asked in self._asked:
            if not asked.answer.done():
                asked.answer.set_result(withdraw())

    async def session_update(self, session_id: str, update: object, **_: Any) -> None:
        """Hear what the agent does."""
        if session_id != self._session or not self._put(update):
            return
        if isinstance(update, ToolCallStart | ToolCallProgress):
            for asked in self._asked:
                is_same = asked.call.tool_call_id == update.tool_call_id
                if is_same and len(asked.updates) < UPDATES_MOST:
                    asked.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Hear what the agent asks leave for, and answer it when somebody has decided."""
        if session_id != self._session:
            return withdraw()
        answer: asyncio.Future[RequestPermissionResponse]
        answer = asyncio.get_running_loop().create_future()
        asked = PermissionRequest(tool_call, options, answer)
        self._asked.append(asked)
        try:
            return await answer if self._put(asked) else withdraw()
        finally:
            self._asked.remove(asked)

    def _put(self, heard: object) -> bool:
        """Queue what the program told; once too much waits, queue an error and drop the rest."""
        if self.heard.qsize() < HEARD_MOST:
            self.heard.put_nowait(heard)
            return True
        if not self.heard.full():
            error = AgentError(f"The agent sent more than {HEARD_MOST:,} updates at once")
            self.heard.put_nowait(error)
        return False

    async def read_text_file(self, **_: Any) -> NoReturn:
        """Refuse: it was never offered."""
        raise RequestError.method_not_found("fs/read_text_file")

    async def write_text_file(self, **_: Any) -> NoReturn:
        """Refuse: it was never offered."""
        raise RequestError.method_not_found("fs/write_text_file")

    async def create_terminal(self, **_: Any) -> NoReturn:
        """Refuse: it was never offered."""
        raise RequestError.method_not_found("terminal/create")

    async def ext_method(self, method: str, params: dict[str, Any]) -> NoReturn:
        """Refuse what is in no protocol."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Hear nothing of what is in no protocol."""


def _empty_queue() -> asyncio.Queue[object]:
    """Make a queue with room for the error that follows the last update."""
    return asyncio.Queue(maxsize=HEARD_MOST + 1)
