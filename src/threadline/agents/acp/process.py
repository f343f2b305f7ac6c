"""Process: one program that speaks the protocol, and what we know of it."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from acp import PROTOCOL_VERSION, Client, RequestError, connect_to_agent
from acp.helpers import ContentBlock
from acp.schema import (
    AcpMcpServer,
    AuthMethodAgent,
    ClientCapabilities,
    EnvVarAuthMethod,
    EnvVariable,
    HttpHeader,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    McpCapabilities,
    McpServerStdio,
    PromptCapabilities,
    PromptResponse,
    SseMcpServer,
    TerminalAuthMethod,
)
from acp.transports import default_environment

from threadline.agents.acp.client import AcpClient
from threadline.agents.acp.ndjson import MESSAGE_LIMIT, NdjsonPipe
from threadline.agents.acp.updates import Replay
from threadline.agents.settings import AcpSettings, McpServer
from threadline.core.errors import AgentError
from threadline.core.message import MessageKey
from threadline.core.redaction import mask_secrets, redact_text
from threadline.core.validation import clean_title

log = logging.getLogger("threadline.agents.acp")

BEGINS_WITHIN = 60.0
"""Seconds that a program may take before it answers at all: it may have to be fetched first."""
ENDS_WITHIN = 2.0
REPLAY_PAUSE = 2.0
"""Seconds without an update after which the replay of a loaded session counts as complete."""
REPLAY_END = 0.2
"""The same, when everything that we know of was repeated."""
_LOG_LIMIT = 1_000
_LAST_WORDS = 300
_AUTH_REQUIRED = -32000
T = TypeVar("T")
Server: TypeAlias = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
AuthMethod: TypeAlias = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent


class ProgramEnded(AgentError):
    """The program of the agent ended while it was needed."""


class AgentLoginRequired(AgentError):
    """The agent is not logged in."""


class AgentProcess:
    """One program that works for one session of ours."""

    def __init__(self, settings: AcpSettings, folder: str) -> None:
        """Know how it is begun; nothing runs yet."""
        self.folder = folder
        self.ears = AcpClient()
        self.known: set[str] = set()
        """Its sessions that this very program has open."""
        self.heard: dict[str, set[tuple[MessageKey | None, datetime | None]]] = {}
        """The lines of each session that it began to reply to, by key and time of change."""
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._pipe: NdjsonPipe | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._introduction: InitializeResponse | None = None
        self._said = ""
        """The end of its standard error."""

    @property
    def program(self) -> str:
        """How the program is called."""
        return Path(self._settings.command[0]).name

    @property
    def is_alive(self) -> bool:
        """Whether it runs, and can still be heard: its end is seen a moment later."""
        is_running = self._process is not None and self._process.returncode is None
        return is_running and self._pipe is not None and not self._pipe.ended

    @property
    def takes(self) -> PromptCapabilities:
        """What can be shown to it beside words."""
        capabilities = self._introduction and self._introduction.agent_capabilities
        return (capabilities and capabilities.prompt_capabilities) or PromptCapabilities()

    @property
    def loads(self) -> bool:
        """Whether it can go on with a session of another run."""
        capabilities = self._introduction and self._introduction.agent_capabilities
        return bool(capabilities and capabilities.load_session)

    async def begin(self) -> None:
        """Start the program and exchange names."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._settings.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**default_environment(), **self._settings.environment},
                cwd=self.folder,
                limit=MESSAGE_LIMIT,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentError(
                f"The program of the agent cannot be run: {error.strerror}",
                id=self.program,
                hint="Look at `agent.command` and `agent.folder`",
            ) from error
        self._tasks = [asyncio.create_task(self._log_errors(), name=f"stderr of {self.program}")]
        ears = cast("Client", self.ears)  # Of what was not offered it need not hear.
        self._pipe = NdjsonPipe(self._process)
        self._agent = connect_to_agent(ears, self._pipe)
        self._introduction = await self._within(
            self._agent.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(),
                client_info=Implementation(name="threadline", title="Threadline", version="1"),
            )
        )

    async def open_session(self) -> str:
        """Start a new session of the program and return its id. Log in first if that is needed."""
        opened = await self._logged_in(
            lambda: self._agent.new_session(cwd=self.folder, mcp_servers=self._servers())
        )
        self.known.add(opened.session_id)
        return opened.session_id

    async def _logged_in(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Call the program, and once more after a login if it requires one."""
        try:
            return await self._within(call())
        except AgentLoginRequired:
            method = self._find_login()
            if method is None:
                raise
            try:
                await self._within(self._agent.authenticate(method_id=method.id))
            except ProgramEnded:
                raise
            except AgentError as error:
                raise self._not_logged_in() from error
            return await self._within(call())

    @property
    def _logins(self) -> list[AuthMethod]:
        return list((self._introduction and self._introduction.auth_methods) or ())

    def _find_login(self) -> AuthMethod | None:
        """Find a login for which the settings have what it needs: a key in the environment."""
        given = {name for name, value in self._settings.environment.items() if value}
        for method in self._logins:
            if isinstance(method, EnvVarAuthMethod):
                needed = {one.name for one in method.vars if not one.optional}
                if needed and needed <= given:
                    return method
            elif not isinstance(method, TerminalAuthMethod):
                about = f"{method.id} {method.name} {method.description or ''}"
                if {name for name in given if _names(about, name)}:
                    return method
        # Some say only that they take a key from the environment, and not from which variable.
        has_key = any(name.endswith("_API_KEY") for name in given)
        return next((one for one in self._logins if has_key and _takes_key(one)), None)

    def _not_logged_in(self) -> AgentLoginRequired:
        offered = "; ".join(_describe(method) for method in self._logins)
        hint = f"Run {self.program} in a terminal and log in there"
        if offered:
            hint += f", or set the key in `agent.environment`. It offers: {offered}"
        return AgentLoginRequired(id=self.program, hint=hint)

    async def load_session(self, name: str, replay: Replay) -> bool:
        """Load a session of an earlier run of the program. Return False if that fails.

        The program replays the session, some of them after they have answered. Wait until the
        replay is complete, or none comes any more.
        """
        self.ears.listen(name)
        try:
            await self._logged_in(
                lambda: self._agent.load_session(
                    cwd=self.folder, session_id=name, mcp_servers=self._servers()
                )
            )
            while True:
                # The agent may repeat more than we remember, also after our last text.
                pause = REPLAY_END if replay.is_over else REPLAY_PAUSE
                async with asyncio.timeout(pause):
                    replay.skip(await self.ears.heard.get())
        except TimeoutError:
            pass  # If more comes, it is recognised by the user's message that it begins with.
        except AgentError as error:
            log.info("%s cannot load its session: %s", self.program, error)
            return False
        finally:
            self.ears.listen(None)
        self.known.add(name)
        return True

    async def prompt(self, name: str, blocks: Sequence[ContentBlock]) -> PromptResponse:
        """Ask it something; it answers when it is done."""
        return await self._explained(self._agent.prompt(session_id=name, prompt=list(blocks)))

    async def cancel(self, name: str) -> None:
        """Ask it to stop what it does."""
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(ENDS_WITHIN / 2):
                await self._agent.cancel(session_id=name)

    async def end(self) -> None:
        """End the program: it is asked to, and after a moment it is made to."""
        process = self._process
        if process is None:
            return
        await self._agent.close()
        try:
            async with asyncio.timeout(ENDS_WITHIN):
                await process.wait()
        except TimeoutError:
            self.kill()
            await process.wait()
        self.kill()  # What it has begun itself, and left behind.
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def kill(self) -> None:
        """End the program and all that it has begun, at once."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _within(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(BEGINS_WITHIN):
                return await self._explained(work)
        except TimeoutError as error:
            raise AgentError("The program of the agent does not answer", id=self.program) from error

    async def _explained(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except RequestError as error:
            if error.code == _AUTH_REQUIRED:
                raise self._not_logged_in() from None
            # Its own words may hold anything, so they go no further than the log.
            log.warning("%s refused: %s", self.program, clean_title(str(error), _LOG_LIMIT))
            raise AgentError(f"The agent refused ({error.code})", id=self.program) from None
        except ConnectionError as error:
            raise ProgramEnded(id=self.program, hint=await self._last_words()) from error
        except ValueError as error:
            raise AgentError("The agent answered in an unknown way", id=self.program) from error

    async def _last_words(self) -> str:
        """Return what to do about a program that ended, with the end of its standard error."""
        await asyncio.wait(self._tasks, timeout=ENDS_WITHIN / 2)
        said = f" Its last words: {self._said}" if self._said else ""
        return f"The next message starts it again.{said}"

    async def _log_errors(self) -> None:
        async for line in self._errors():
            said = redact_text(mask_secrets(line.decode("utf-8", "replace"), self._secrets()))
            if text := clean_title(said, len(said)):
                self._said = text[-_LAST_WORDS:]
                log.info("%s says: %s", self.program, text[:_LOG_LIMIT])

    def _secrets(self) -> list[str]:
        """List what the program and its MCP servers were given, and nobody else shall read."""
        given = [self._settings.environment, *(one.environment for one in self._settings.servers)]
        given += [one.headers for one in self._settings.servers]
        return [value for values in given for value in values.values()]

    async def _errors(self) -> AsyncIterator[bytes]:
        """Give whole lines, so that no secret is in two parts; one without an end is cut."""
        stream, rest = self._process.stderr if self._process else None, b""
        while stream is not None and (data := await stream.read(_LOG_LIMIT * 4)):
            lines, end, rest = (rest + data).rpartition(b"\n")
            if end:
                yield lines
            elif len(rest) > _LOG_LIMIT * 16:
                yield rest
                rest = b""
        if rest:
            yield rest

    def _servers(self) -> list[Server]:
        """Return the MCP servers that the program is given: those whose transport it supports."""
        capabilities = self._introduction and self._introduction.agent_capabilities
        can = (capabilities and capabilities.mcp_capabilities) or McpCapabilities()
        given: list[Server] = []
        for server in self._settings.servers:
            if server.url is None or (can.sse if server.speaks_sse else can.http):
                given.append(_server(server))
            else:
                log.warning(
                    "%s gets no tools of the MCP server %s: it does not support %s",
                    self.program,
                    server.name,
                    "SSE" if server.speaks_sse else "streamable HTTP",
                )
        return given


def _names(text: str, variable: str) -> bool:
    """Return whether a text names an environment variable, as it is or as `openai-api-key`."""
    return variable in text or variable.lower().replace("_", "-") in text.lower()


def _takes_key(method: AuthMethod) -> bool:
    """Return whether a login takes a key from an environment variable that it does not name."""
    marks = {method.id, *(method.field_meta or {})}
    return isinstance(method, AuthMethodAgent) and "api-key" in marks


def _describe(method: AuthMethod) -> str:
    about = clean_title(f"{method.name} ({method.id})", _LAST_WORDS)
    if isinstance(method, EnvVarAuthMethod):
        return f"{about}: {', '.join(one.name for one in method.vars)}"
    return (
        f"{about}: {clean_title(method.description, _LAST_WORDS)}" if method.description else about
    )


def _server(server: McpServer) -> HttpMcpServer | SseMcpServer | McpServerStdio:
    if server.url is not None:
        headers = [HttpHeader(name=name, value=value) for name, value in server.headers.items()]
        if server.speaks_sse:
            return SseMcpServer(type="sse", name=server.name, url=server.url, headers=headers)
        return HttpMcpServer(type="http", name=server.name, url=server.url, headers=headers)
    program, *arguments = server.command
    given = [EnvVariable(name=name, value=value) for name, value in server.environment.items()]
    return McpServerStdio(name=server.name, command=program, args=arguments, env=given)
