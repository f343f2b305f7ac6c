"""Serving: gateway and web server in one loop, and the signals that end them."""

import asyncio
import ipaddress
import signal
from contextlib import suppress
from importlib.metadata import version
from types import TracebackType
from typing import Self

from threadline.assembly import prepare_gateway
from threadline.cli.opening import make_folder
from threadline.cli.screen import say
from threadline.config import Config
from threadline.core.errors import ConfigError
from threadline.core.platform import Endpoint
from threadline.gateway.gateway import Gateway
from threadline.web.server import make_app, serve

_ENDING = (signal.SIGINT, signal.SIGTERM)


async def run_server(config: Config) -> bool:
    """Serve until a signal comes; False if it was ended at once, before everything was done."""
    require_loopback(config.server.host)
    make_folder(config)
    signals = Signals()
    try:
        with signals:
            await _serve(config, signals)
    except asyncio.CancelledError:
        if not signals.were_two:
            raise
        return False
    say("Stopped.")
    return True


async def _serve(config: Config, signals: "Signals") -> None:
    async with prepare_gateway(config) as gateway:
        # The server is there first: it tells that we are not ready yet, and the port is ours.
        app = make_app(gateway, profiles=config.known_profiles)
        address = (config.server.host, config.server.port)
        async with serve(app, *address) as url, gateway:
            await gateway.enrol(url)
            introduce(gateway, config, url)
            await wait_for_end(signals, gateway)
            say("Stopping: running answers may end. Once more ends it at once.")


def require_loopback(host: str) -> None:
    """Refuse to be reached from other machines as long as there is no login."""
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host != "localhost":
        raise ConfigError(
            f"server.host cannot be {host!r}",
            hint="As there is no login yet, it must be 127.0.0.1, ::1 or localhost; "
            "a reverse proxy can stand before it",
        )


def introduce(gateway: Gateway, config: Config, url: str) -> None:
    """Say what is up, a line for each thing."""
    say(f"Threadline {version('threadline')} serves {config.shown_database}")
    say(f"  {url}  (/healthz, /readyz, /metrics)")
    for name, platform in sorted(gateway.platforms.items()):
        is_called = isinstance(platform, Endpoint)
        say(f"  {name}  {url}/platforms/{name}/" if is_called else f"  {name}")
    if not any(platform.capabilities.receives for platform in gateway.platforms.values()):
        say("  No platform is set up: `threadline init` shows how.")
    say("Ctrl-C ends it.")


async def wait_for_end(signals: "Signals", gateway: Gateway) -> None:
    """Wait for a signal, or for something that broke the gateway, which is raised."""
    waiting = {asyncio.create_task(signals.wait()), asyncio.create_task(gateway.wait())}
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waiting:
            task.cancel()


class Signals:
    """Hears the signals that end a process: the first one asks, the second one does not wait."""

    def __init__(self) -> None:
        """Stop the task in which this is made."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._asked = asyncio.Event()
        self.were_two = False

    def __enter__(self) -> Self:
        """Begin to hear."""
        for one in _ENDING:
            self._loop.add_signal_handler(one, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the signals to the system again."""
        for one in _ENDING:
            self._loop.remove_signal_handler(one)

    async def wait(self) -> None:
        """Wait for the first one."""
        await self._asked.wait()

    def _hear(self) -> None:
        if self._asked.is_set() and not self.were_two and self._task is not None:
            self.were_two = True
            self._task.cancel()
        self._asked.set()
