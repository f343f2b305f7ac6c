"""Chat loop: a store, whoever answers, and somebody at a terminal or behind a pipe."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import timedelta

from msgspec.structs import replace

from threadline.assembly import gateway_settings, list_models, make_scribe, name_agent, open_agent
from threadline.cli.chat_session import Conversation
from threadline.cli.chat_view import Display
from threadline.cli.output import clean, complain
from threadline.cli.store_opener import Opened, open_store
from threadline.config import Config, output_folder
from threadline.core.errors import ThreadlineError
from threadline.gateway.compaction import Compaction
from threadline.gateway.gateway import Gateway, GatewayRole
from threadline.platforms.local import Local
from threadline.store import Store
from threadline.store.commands.context import Compress
from threadline.store.gateways import list_live_gateways

LINES_AHEAD = 100
"""Lines of a pipe that are read ahead; the program that writes them waits."""


async def talk(config: Config, *, is_terminal: bool) -> bool:
    """Talk until the person leaves; False if a piped line could not be taken in."""
    async with open_store(config, make=True) as opened:
        gateways = await list_live_gateways(opened.database)
        if gateways:
            who = f"gateway on {gateways[0].host}"
            return await _talk(config, opened, None, who if is_terminal else None)
        async with _make_gateway(config, opened.store) as gateway:
            who = name_agent(config, config.profile)
            return await _talk(config, opened, gateway, who if is_terminal else None)


async def _talk(config: Config, opened: Opened, gateway: Gateway | None, who: str | None) -> bool:
    """Talk at a terminal, which says who answers; without that, line by line."""
    if who is not None:
        await _talk_at_terminal(config, opened, gateway, f"{who} · {config.shown_database}")
        return True
    conversation = _sit_down(config, opened, gateway, PlainDisplay())
    async with conversation, gateway or nullcontext():
        try:
            return await _answer_lines(conversation)
        finally:
            conversation.view.is_leaving = True


def _sit_down(
    config: Config, opened: Opened, gateway: Gateway | None, display: Display
) -> Conversation:
    worker = None if gateway is None else gateway.worker

    async def make_room(errand: Compress) -> str:
        # A gateway that answers knows nothing of what is asked here, so this is done here, too.
        by = (
            worker.upkeep
            if worker
            else Compaction(opened.database, make_scribe(config, config.profile))
        )
        return await by.compress(errand.session_id, errand.focus)

    who = name_agent(config, config.profile)
    return Conversation(
        opened,
        worker,
        display,
        profile=config.profile,
        make_room=make_room,
        list_models=lambda: list_models(config),
        agent=who,
    )


@asynccontextmanager
async def _make_gateway(config: Config, store: Store) -> AsyncIterator[Gateway]:
    """Make a gateway of our own, where none serves this store."""
    settings = gateway_settings(config)
    # Whoever leaves is waited for here, so that they can see it and go at once if they like.
    settings = replace(settings, pace=replace(settings.pace, drain=timedelta(0)))
    async with open_agent(config) as (agent, scribe):
        gateway = Gateway(
            store,
            agent,
            [Local(output_folder())],
            settings=settings,
            scribe=scribe,
            role=GatewayRole.TERMINAL,
        )
        # What broke off before is seen when the conversation begins.
        await gateway.worker.keeper.recover()
        yield gateway


async def _talk_at_terminal(
    config: Config, opened: Opened, gateway: Gateway | None, title: str
) -> None:
    from threadline.cli.terminal import Terminal

    terminal, drain = Terminal(title), timedelta(seconds=config.drain_seconds)
    with terminal:
        conversation = _sit_down(config, opened, gateway, terminal)
        async with conversation, gateway or nullcontext():
            await terminal.run(conversation, drain=drain)
            conversation.view.is_leaving = True


class PlainDisplay:
    """A display for pipes: plain lines, nothing else."""

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._is_inside = False

    def quote(self, speaker: str, text: str) -> None:
        """Show something that was said earlier or elsewhere."""
        self._line(f"{speaker}: {text}")

    def stream(self, text: str) -> None:
        """Show some more of the answer that is just being given."""
        shown = clean(text)
        self._write(shown)
        self._is_inside = not shown.endswith("\n") if shown else self._is_inside

    def settle(self) -> None:
        """End the answer that was streamed, if there is one."""
        if self._is_inside:
            self._write("\n")
            self._is_inside = False

    def think(self, text: str) -> None:
        """Show no thoughts: what comes out of a pipe is the answer."""

    def note(self, text: str) -> None:
        """Show something that nobody said."""
        self._line(text)

    def mark(self, text: str) -> None:
        """Show that something went wrong."""
        self._line(f"[{text}]")

    def offer(self, text: str) -> None:
        """Offer nothing: what comes through a pipe is not changed any more."""

    def _line(self, text: str) -> None:
        self.settle()
        self._write(clean(text) + "\n")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


async def _answer_lines(conversation: Conversation) -> bool:
    """Answer one line after the other; one that cannot be taken in costs only itself."""
    is_well = True
    await conversation.rest()
    async for line in _lines(sys.stdin.buffer):
        try:
            await conversation.hear(line)
        except ThreadlineError as error:
            complain(error)
            is_well = False
        await conversation.rest()
    if not conversation.is_served:
        await conversation.view.beside.rest()
    return is_well


async def _lines(pipe: Iterable[bytes]) -> AsyncGenerator[str, None]:
    """Yield the lines of a pipe. A thread reads it, which never keeps the program from ending."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue(maxsize=LINES_AHEAD + 1)
    room = threading.Semaphore(LINES_AHEAD)

    def hand_over(line: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in pipe:
            # What is no UTF-8 becomes half characters, which are then refused by name.
            room.acquire()
            hand_over(line.decode("utf-8", "surrogateescape").rstrip("\r\n"))
        hand_over(None)

    threading.Thread(target=read, name="threadline-stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        room.release()
        yield line
