"""Platform supervisor: runs the loop of one platform, restarts it, and knows its state."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

from threadline.core.command import Command
from threadline.core.delivery import LOCAL
from threadline.core.errors import StorageError, ThreadlineError, sentence_of
from threadline.core.gateway_status import PlatformHealth, PlatformState
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, MediaKind
from threadline.core.platform import Platform, Receiver, ReceiveResult, ReceiveStatus, TurnReply
from threadline.core.redaction import mask_secrets
from threadline.core.turn import TurnId
from threadline.gateway.background_tasks import log_failure

log = logging.getLogger("threadline.gateway")

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(minutes=5)
SETTLED = timedelta(seconds=1)
"""A platform that has run for so long is taken to be up."""
WELL = timedelta(minutes=1)
"""A platform that had run for so long is begun again without a long pause."""
PATIENCE = timedelta(seconds=30)
"""How long a platform may take to hear of our commands."""

_CAME_BACK = "It stopped by itself"


class PlatformSupervisor:
    """Runs one platform until it is closed; whatever the platform raises becomes its state.

    It is also the gate that the platform sees. When the gate is shut the platform is told that
    nothing can be kept just now, so that it brings again what it could not hand over.
    """

    def __init__(
        self,
        platform: Platform,
        gate: Receiver,
        *,
        now: Callable[[], datetime],
        changed: Callable[[], None] = lambda: None,
        first_pause: timedelta = FIRST_PAUSE,
        longest_pause: timedelta = LONGEST_PAUSE,
        secrets: Collection[str] = (),
        settled: timedelta = SETTLED,
    ) -> None:
        """Stand between a platform and a gate; `changed` is called when its state has changed."""
        self._platform = platform
        self._gate = gate
        self._now = now
        self._changed = changed
        self._first, self._longest, self._settled = first_pause, longest_pause, settled
        self.secrets = secrets
        self._is_shut = False
        self._down_at: float | None = None
        self._task: asyncio.Task[None] | None = None
        self.health = PlatformHealth(state=PlatformState.CONNECTING, since=now())

    @property
    def name(self) -> str:
        """How the platform is called."""
        return self._platform.name

    def open(self, commands: Sequence[Command]) -> None:
        """Begin to run the platform, and tell it which commands there are."""
        self._task = asyncio.create_task(self._run(commands), name=f"platform {self.name}")
        self._task.add_done_callback(log_failure)

    def shut(self) -> None:
        """Take in nothing more; what is to be sent can still be sent."""
        self._is_shut = True

    async def close(self, within: timedelta) -> None:
        """End the platform's loop; one that does not end is left to itself."""
        self.shut()
        if self._task is None:
            return
        self._task.cancel()
        _, running = await asyncio.wait({self._task}, timeout=within.total_seconds())
        if running:
            log.warning("The platform %s was cancelled and goes on", self.name)

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment."""
        self._require_open()
        return await self._gate.keep(data, media_type, kind, name)

    async def admits(self, inbound: Inbound) -> bool:
        """Tell whether somebody may speak."""
        self._require_open()
        return not self._pretends(inbound) and await self._gate.admits(inbound)

    async def take(self, inbound: Inbound) -> ReceiveResult:
        """Take in a message; whoever brings one is up."""
        self._require_open()
        self._become(PlatformState.UP)
        if self._pretends(inbound):
            log.warning("The platform %s brought a message of another platform", self.name)
            return ReceiveResult(reception=ReceiveStatus.REFUSED)
        return await self._gate.take(inbound)

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        """Wait for what a turn says, also while we are about to stop."""
        return await self._gate.answer_to(turn_id, within)

    def _pretends(self, inbound: object) -> bool:
        """Return whether a message claims to be from another platform, or from this machine."""
        if not isinstance(inbound, Inbound):
            return False
        return inbound.address.platform == LOCAL or inbound.address.platform != self.name

    def _require_open(self) -> None:
        if self._is_shut:
            raise StorageError("The gateway is about to stop", hint="Bring it again in a moment")

    def _become(self, state: PlatformState, error: str | None = None) -> None:
        if self.health.state is not state or error is not None:
            self._log_return(state)
            self.health = PlatformHealth(state=state, since=self._now(), error=error)
            self._changed()

    def _log_return(self, state: PlatformState) -> None:
        """Log that the platform is up again, and how long it was down."""
        now = asyncio.get_running_loop().time()
        if state is PlatformState.DOWN and self._down_at is None:
            self._down_at = now
        elif state is PlatformState.UP and self._down_at is not None:
            log.warning("Platform %s is up again after %.0f s", self.name, now - self._down_at)
            self._down_at = None

    async def _run(self, commands: Sequence[Command]) -> None:
        loop, pause = asyncio.get_running_loop(), self._first
        registering = asyncio.create_task(self._register(commands), name=f"menu of {self.name}")
        try:
            while True:
                began = loop.time()
                why = await self._run_once()
                if loop.time() - began >= WELL.total_seconds():
                    pause = self._first
                self._become(PlatformState.DOWN, why)
                seconds = pause.total_seconds()
                log.warning("Platform %s is down, next try in %g s: %s", self.name, seconds, why)
                await asyncio.sleep(seconds)
                pause = min(pause * 2, self._longest)
                self._become(PlatformState.CONNECTING)
        finally:
            registering.cancel()

    async def _run_once(self) -> str:
        """Run the platform until it ends, and answer why it did."""
        settling = asyncio.get_running_loop().call_later(
            self._settled.total_seconds(), self._become, PlatformState.UP
        )
        try:
            await self._platform.run(self)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return "It gave up: something that it waited for was cancelled"
        except Exception as error:
            is_told = isinstance(error, ThreadlineError)
            log.debug("Platform %s broke off", self.name, exc_info=not is_told)
            return self._told(error)
        finally:
            settling.cancel()
        return _CAME_BACK

    async def _register(self, commands: Sequence[Command]) -> None:
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await self._platform.register(commands)
        except Exception as error:  # noqa: BLE001 - a menu is a comfort: without it one types
            log.warning("Platform %s has no menu: %s", self.name, self._told(error))

    def _told(self, error: Exception) -> str:
        """Say what went wrong; an address in it may hold a token, and this is kept."""
        return mask_secrets(sentence_of(error), self.secrets)
