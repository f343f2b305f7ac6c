"""Serving: gateway and web server in one loop, until a signal ends them."""

import asyncio
import ipaddress
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version

from threadline.assembly import open
from threadline.assembly.reloading import Reloading, prepare_reloading
from threadline.cli.opening import make_folder
from threadline.cli.screen import say
from threadline.cli.signals import Signals
from threadline.config import Config
from threadline.config.source import Source
from threadline.core.account import LINK_LASTS
from threadline.core.errors import ConfigError, ThreadlineError
from threadline.core.platform import Endpoint
from threadline.gateway.gateway import Gateway
from threadline.sessions.store import Store
from threadline.web.exposure import check_exposure, require_https
from threadline.web.login.links import make_link
from threadline.web.server import make_app, serve
from threadline.web.site import Site


async def run_server(source: Source, signals: Signals) -> bool:
    """Serve until a signal comes; False if it was ended at once, before everything was done."""
    signals.bind()
    config = source.load()
    require_https(config.server)
    make_folder(config)
    in_order = False
    try:
        await _serve(source, signals)
        in_order = True
    except asyncio.CancelledError:
        if not signals.were_two:
            raise
        return False
    finally:
        signals.close(in_order=in_order)
    say("Stopped.")
    return True


async def _serve(source: Source, signals: Signals) -> None:
    async with prepare_reloading(source) as reloading:
        config, gateway = reloading.config, reloading.gateway
        guard(signals, gateway, config)
        await check_exposure(config.server, gateway.store)
        site = Site(gateway, gateway.store, config, reloading=reloading)
        # The server is there first: it tells that we are not ready yet, and the port is ours.
        app = make_app(gateway, profiles=reloading.profiles, site=site)
        async with serve(app, config.server.host, config.server.port) as url, gateway:
            await gateway.enrol(url)
            introduce(gateway, config, url)
            await offer_login(gateway.store, config, url)
            say("Ctrl-C ends it.")
            with reloaded(reloading, signals):
                await wait_for_end(signals, gateway)
            say("Stopping: running answers may end. Once more ends it at once.")
            site.close()


def guard(signals: Signals, gateway: Gateway, config: Config) -> None:
    """Have the watchdog of the signals end the process in time, and store what agents had said."""
    where = config.database if config.is_server else config.path

    async def save() -> None:
        async with open(where, rules=gateway.store.rules) as store:
            await gateway.worker.save_last_words(store)

    signals.drain = lambda: gateway.settings.pace.drain
    signals.busy = lambda: gateway.worker.busy
    signals.save = save


async def offer_login(store: Store, config: Config, url: str) -> None:
    """Say how the owner logs in, by a link that does it once."""
    link = await make_link(store, await store.owner_account(), config.server, url)
    say(f"Log in once, within {LINK_LASTS.seconds // 60} minutes: {link}")


@contextmanager
def reloaded(reloading: Reloading, signals: Signals) -> Iterator[None]:
    """Read the settings again whenever SIGHUP comes, while this lasts."""
    tasks = set[asyncio.Task[None]]()

    def hear() -> None:
        task = asyncio.create_task(_reload(reloading), name="settings are read again")
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    try:
        with signals.calling(signal.SIGHUP, hear):
            yield
    finally:
        for task in tasks:
            task.cancel()


async def _reload(reloading: Reloading) -> None:
    try:
        came = await reloading.reload()
    except ThreadlineError as error:
        say(f"The settings stay as they were. {error}")
        return
    say("The settings were read again.")
    for key in came.restart:
        say(f"  {key} holds after a restart.")


def require_loopback(host: str) -> None:
    """Refuse to be reached from other machines."""
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host != "localhost":
        raise ConfigError(
            f"server.host cannot be {host!r}",
            hint="A demo is for this machine alone: 127.0.0.1, ::1 or localhost",
        )


def introduce(gateway: Gateway, config: Config, url: str) -> None:
    """Say what is up, a line for each thing."""
    say(f"Threadline {version('threadline')} serves {config.shown_database}")
    say(f"  {url}  (/api/docs, /healthz, /readyz, /metrics)")
    for name, platform in sorted(gateway.platforms.items()):
        is_called = isinstance(platform, Endpoint)
        say(f"  {name}  {url}/platforms/{name}/" if is_called else f"  {name}")
    if not any(platform.capabilities.receives for platform in gateway.platforms.values()):
        say("  No platform is set up: `threadline init` shows how.")


async def wait_for_end(signals: Signals, gateway: Gateway) -> None:
    """Wait for a signal, or for something that broke the gateway, which is raised."""
    waiting = {asyncio.create_task(signals.wait()), asyncio.create_task(gateway.wait())}
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waiting:
            task.cancel()
