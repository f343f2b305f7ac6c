"""Server process: gateway and web server in one loop, until a signal ends them."""

import asyncio
import ipaddress
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version

from threadline.assembly import open
from threadline.assembly.reload import Reloader, prepare_reloading
from threadline.cli.output import show_text
from threadline.cli.signals import Signals
from threadline.cli.store_opener import make_folder
from threadline.config import Config
from threadline.config.config_source import Source
from threadline.core.account import LINK_LASTS, Actor
from threadline.core.errors import ConfigError, ThreadlineError
from threadline.core.platform import Endpoint
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.store.accounts.accounts import get_owner_account
from threadline.web.app import WebApp
from threadline.web.auth.login_links import create_login_url
from threadline.web.bind_policy import check_exposure, require_https
from threadline.web.server import make_app, serve


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
    show_text("Stopped.")
    return True


async def _serve(source: Source, signals: Signals) -> None:
    async with prepare_reloading(source) as reloading:
        config, gateway = reloading.config, reloading.gateway
        guard(signals, gateway, config)
        await check_exposure(config.server, gateway.store)
        site = WebApp(gateway, gateway.store, config, reloading=reloading)
        # The server is there first: it tells that we are not ready yet, and the port is ours.
        app = make_app(gateway, profiles=reloading.profiles, site=site)
        async with serve(app, config.server.host, config.server.port) as url, gateway:
            await gateway.enrol(url)
            show_start(gateway, config, url)
            await offer_login(gateway.store, config, url)
            show_text("Ctrl-C ends it.")
            with reloaded(reloading, signals):
                await wait_for_shutdown(signals, gateway)
            show_text("Stopping: running answers may end. Once more ends it at once.")
            site.close()


def guard(signals: Signals, gateway: Gateway, config: Config) -> None:
    """Have the watchdog of the signals end the process in time, and store what agents had said."""
    where = config.database if config.is_server else config.path

    async def save() -> None:
        async with open(where, rules=gateway.store.rules) as store:
            await gateway.worker.save_last_words(store.database)

    signals.drain = lambda: gateway.settings.pace.drain
    signals.busy = lambda: gateway.worker.busy
    signals.save = save


async def offer_login(store: Store, config: Config, url: str) -> None:
    """Say how the owner logs in, by a link that does it once."""
    link = await create_login_url(
        store, await get_owner_account(store.database), config.server, url, by=Actor()
    )
    show_text(f"Log in once, within {LINK_LASTS.seconds // 60} minutes: {link}")


@contextmanager
def reloaded(reloading: Reloader, signals: Signals) -> Iterator[None]:
    """Read the settings again whenever SIGHUP comes, while this lasts."""
    tasks = set[asyncio.Task[None]]()

    def hear() -> None:
        task = asyncio.create_task(_reload(reloading), name="settings are read again")
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(log_failure)

    try:
        with signals.calling(signal.SIGHUP, hear):
            yield
    finally:
        for task in tasks:
            task.cancel()


async def _reload(reloading: Reloader) -> None:
    try:
        came = await reloading.reload()
    except ThreadlineError as error:
        show_text(f"The settings stay as they were. {error}")
        return
    show_text("The settings were read again.")
    for key in came.restart:
        show_text(f"  {key} holds after a restart.")


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


def show_start(gateway: Gateway, config: Config, url: str) -> None:
    """Say what is up, a line for each thing."""
    show_text(f"Threadline {version('threadline')} serves {config.shown_database}")
    show_text(f"  {url}  (/api/docs, /healthz, /readyz, /metrics)")
    for name, platform in sorted(gateway.platforms.items()):
        is_called = isinstance(platform, Endpoint)
        show_text(f"  {name}  {url}/platforms/{name}/" if is_called else f"  {name}")
    if not any(platform.capabilities.receives for platform in gateway.platforms.values()):
        show_text("  No platform is set up: `threadline init` shows how.")


async def wait_for_shutdown(signals: Signals, gateway: Gateway) -> None:
    """Wait for a signal, or for something that broke the gateway, which is raised."""
    waiting = {asyncio.create_task(signals.wait()), asyncio.create_task(gateway.wait())}
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waiting:
            task.cancel()
