"""Ears: what an agent's program tells and asks us while it works."""

import asyncio
from dataclasses import dataclass
from typing import Any, NoReturn

from acp import RequestError
from acp.schema import PermissionOption, RequestPermissionResponse, ToolCallUpdate

from threadline.agents.acp.permissions import withdraw


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent asks leave for something, and waits."""

    call: ToolCallUpdate
    options: list[PermissionOption]
    answer: "asyncio.Future[RequestPermissionResponse]"


class Ears:
    """Hears one program; what it tells while nobody listens is not heard.

    It offers neither files nor terminals: what the agent does on this machine it does by itself.
    """

    def __init__(self) -> None:
        """Listen to nothing yet."""
        self.heard: asyncio.Queue[object] = asyncio.Queue()
        self._session: str | None = None
        self._asked: set[asyncio.Future[RequestPermissionResponse]] = set()

    def listen(self, session: str | None) -> None:
        """Listen to one session of the program and to no other; None: to none."""
        self._session = session
        self.heard = asyncio.Queue()
        for answer in self._asked:
            if not answer.done():
                answer.set_result(withdraw())

    async def session_update(self, session_id: str, update: object, **_: Any) -> None:
        """Hear what the agent does."""
        if session_id == self._session:
            self.heard.put_nowait(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Hear what the agent asks leave for, and answer it when somebody has decided."""
        if session_id != self._session:
            return withdraw()
        answer: asyncio.Future[RequestPermissionResponse]
        answer = asyncio.get_running_loop().create_future()
        self._asked.add(answer)
        try:
            self.heard.put_nowait(Asked(tool_call, options, answer))
            return await answer
        finally:
            self._asked.discard(answer)

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
