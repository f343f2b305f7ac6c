"""`threadline serve --demo`: the whole product with made-up people, and no account needed."""

import asyncio
import fcntl
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from threadline.assembly import open, prepare_gateway
from threadline.cli.demo_script import DemoPlatforms, DemoScript, Narrator, make_world
from threadline.cli.logs import logged
from threadline.cli.output import fitted, show_text
from threadline.cli.server_process import guard, offer_login, require_loopback, wait_for_shutdown
from threadline.cli.signals import Signals
from threadline.cli.store_opener import make_private
from threadline.config import DEFAULT, Config, data_folder, load_config, parse_config
from threadline.config.gateway_section import LogSettings
from threadline.core.database_url import is_server
from threadline.core.errors import Conflict
from threadline.core.platform import Platform
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.gateway import Gateway
from threadline.gateway.health import GatewayHealth
from threadline.gateway.metrics import Metrics
from threadline.web.app import WebApp
from threadline.web.server import make_app, serve

PAUSE = timedelta(seconds=0.7)
"""How long a line of the story stands before the next one."""

_FILE = "demo.db"
_BESIDE = ("", "-wal", "-shm")
_SETTINGS = """
database = {database}
drain_seconds = 5

[access]
allow = ["telegram:alice", "discord:bob", "discord:carol", "slack:dan", "matrix:erin"]
messages_per_minute = 0

[server]
host = {host}
port = {port}
"""


def run_demo(options: Mapping[str, str | None], *, keep: bool) -> None:
    """Play the demo in a store of its own, made anew unless it shall be kept, and stay up."""
    config = choose_folder(options, keep=keep)
    with _logged(options), Signals() as signals:
        asyncio.run(_run(config, Narrator(pause=PAUSE), signals))


@contextmanager
def _logged(options: Mapping[str, str | None]) -> Iterator[None]:
    """Log what somebody asked for. Else nothing: the story itself tells what goes wrong."""
    known = _around(options)
    if all(known.origin_of(f"logs.{name}") == DEFAULT for name in LogSettings.model_fields):
        ours = logging.getLogger("threadline")
        ours.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            ours.setLevel(logging.NOTSET)
        return
    with logged(known.logs):
        yield


def choose_folder(options: Mapping[str, str | None], *, keep: bool) -> Config:
    """Choose where the demo happens, and clear the place if it is our own."""
    given = options.get("database")
    if given and not keep and (is_server(given) or Path(given).expanduser().exists()):
        raise Conflict(
            "The demo deletes nothing that it has not made",
            id=given,
            hint="Say --keep to play in this database, or name a file that is not there",
        )
    where = given or str(data_folder() / _FILE)
    if not given:
        make_private(data_folder())
        if not keep:
            _clear(Path(where))
    server = _around(options).server
    text = _SETTINGS.format(
        database=json.dumps(where), host=json.dumps(server.host), port=server.port
    )
    return parse_config(text, "the demo")


def _around(options: Mapping[str, str | None]) -> Config:
    """Read what the settings say of the server and the log; nothing else of them counts here."""
    return load_config({name: one for name, one in options.items() if name != "database"})


async def _run(config: Config, narrator: Narrator, signals: Signals) -> None:
    require_loopback(config.server.host)
    signals.bind()
    playing = asyncio.create_task(_play_and_stay(config, narrator, signals))
    ending = asyncio.create_task(signals.wait())
    try:
        await asyncio.wait({playing, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not playing.done() and not signals.were_two:
            playing.cancel()
        await asyncio.wait({playing})
    finally:
        playing.cancel()
        ending.cancel()
        signals.close(in_order=not signals.were_two)
    if not playing.cancelled():
        playing.result()
    show_text("Stopped.")


async def _play_and_stay(config: Config, narrator: Narrator, signals: Signals) -> None:
    async with play(config, narrator) as (gateway, url):
        guard(signals, gateway, config)
        _show_around(config, url)
        await offer_login(gateway.store, config, url)
        show_text("Ctrl-C ends it.")
        await wait_for_shutdown(signals, gateway)


@asynccontextmanager
async def play(config: Config, narrator: Narrator) -> AsyncIterator[tuple[Gateway, str]]:
    """Play the story; gives the gateway that is up in the end, and its URL."""
    world = make_world()
    story = DemoScript(world, narrator)
    where = config.database if config.is_server else config.path
    async with AsyncExitStack() as house:
        # The site outlives the gateway that crashes, so it has a store of its own.
        store = await house.enter_async_context(open(where, rules=config.rules()))
        async with prepare_gateway(config, world.all) as gateway:
            front = DemoGateway(gateway)
            site = WebApp(front, store, config)
            url = await house.enter_async_context(
                serve(make_app(front, site=site), config.server.host, config.server.port)
            )
            house.callback(site.close)
            _introduce(config, world, url)
            await offer_login(store, config, url)
            try:
                await gateway.__aenter__()
                await story.play_first_part(gateway.store)
            finally:
                await gateway.halt()
        await story.tell_of_the_crash()
        async with prepare_gateway(config, world.all) as gateway, gateway:
            front.gateway = gateway
            await gateway.enrol(url)
            await story.play_second_part()
            watching = asyncio.create_task(story.watch(), name="watch the story")
            watching.add_done_callback(log_failure)
            try:
                yield gateway, url
            finally:
                watching.cancel()
                await asyncio.wait({watching})


class DemoGateway:
    """What the web server shows: the gateway that is there now."""

    def __init__(self, gateway: Gateway) -> None:
        """Begin with the first one."""
        self.gateway = gateway

    @property
    def meters(self) -> Metrics:
        """What it counts."""
        return self.gateway.meters

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """The platforms that it serves."""
        return self.gateway.platforms

    def health(self) -> GatewayHealth:
        """Tell how everything is."""
        return self.gateway.health()


def _introduce(config: Config, world: DemoPlatforms, url: str) -> None:
    names = ", ".join(one.name.capitalize() for one in world.all)
    for sentence in (
        f"A demo: {names} are simulated, and so are their people. The rest is real.",
        f"It is kept in {config.shown_database}, and served at {url}.",
    ):
        show_text("\n".join(fitted(sentence, sys.stdout)))


def _show_around(config: Config, url: str) -> None:
    database = config.shown_database
    show_text()
    show_text("That was it. The gateway stays up; look around from another terminal:")
    show_text(f"  threadline sessions list -d {database}")
    show_text(f"  threadline search mountains -d {database}")
    show_text(f"  threadline chat -d {database}")
    show_text(f"  threadline send telegram:alice 'Dinner is ready' -d {database}")
    show_text(f"  curl {url}/readyz")
    show_text(f"  curl {url}/metrics")


def _clear(path: Path) -> None:
    """Delete the store of the last demo, unless somebody has it open."""
    owners = path.with_name(f"{path.name}-owners")
    if owners.is_dir() and any(_is_alive(file) for file in owners.iterdir()):
        raise Conflict(
            "Somebody has the store of the last demo open", id=str(path), hint="End that first"
        )
    for suffix in _BESIDE:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_alive(file: Path) -> bool:
    """Tell whether the process that a lock file belongs to still holds it."""
    try:
        with file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
