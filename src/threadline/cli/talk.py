"""Talk: a store, a worker with the echo agent, and somebody at a terminal or behind a pipe."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

from threadline.agents.echo import Echo
from threadline.cli.conversation import Conversation
from threadline.cli.opening import open_store
from threadline.cli.screen import clean, complain
from threadline.config import Config
from threadline.core.errors import ThreadlineError
from threadline.gateway.pace import Pace
from threadline.gateway.worker import Worker


async def talk(config: Config, *, is_terminal: bool) -> bool:
    """Talk until the person leaves; False if a piped line could not be taken in."""
    drain = timedelta(seconds=config.drain_seconds)
    async with open_store(config, make=True) as opened:
        # Whoever leaves is waited for here, so that they can see it and go at once if they like.
        worker = Worker(opened.store, Echo(), pace=Pace(drain=timedelta(0)))
        await worker.keeper.recover()
        if is_terminal:
            from threadline.cli.terminal import Terminal

            terminal = Terminal(config.shown_database)
            with terminal:
                conversation = Conversation(opened, worker, terminal, profile=config.profile)
                async with conversation, worker:
                    await terminal.run(conversation, drain=drain)
                    conversation.view.is_leaving = True
            return True
        conversation = Conversation(opened, worker, Plain(), profile=config.profile)
        async with conversation, worker:
            try:
                return await _answer_lines(conversation)
            finally:
                conversation.view.is_leaving = True


class Plain:
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
    async for line in _lines():
        try:
            await conversation.hear(line)
        except ThreadlineError as error:
            complain(error)
            is_well = False
        await conversation.rest()
    return is_well


async def _lines() -> AsyncIterator[str]:
    """Read standard input on a thread of its own, which never keeps the program from ending."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def hand_over(line: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin.buffer:
            # What is no UTF-8 becomes half characters, which are then refused by name.
            hand_over(line.decode("utf-8", "surrogateescape").rstrip("\r\n"))
        hand_over(None)

    threading.Thread(target=read, name="threadline-stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line
