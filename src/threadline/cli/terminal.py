"""The terminal: a prompt that stays while answers stream above it."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from threadline.cli.autocomplete import Commands
from threadline.cli.chat_session import Conversation
from threadline.cli.output import clean
from threadline.cli.terminal_markdown import Markup
from threadline.cli.text_wrap import wrap
from threadline.core.errors import ThreadlineError

PROMPT = "› "
LINES_AHEAD = 100
"""Lines that may be typed before the first of them was taken in."""
_DIM, _WARM, _COOL, _PLAIN = "\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[0m"


class Terminal:
    """A display whose last line is a prompt; the line that is being said stands right above it."""

    def __init__(self, title: str) -> None:
        """Prepare the prompt, below a line that says who answers, and where."""
        self._title = title
        self._begun = ""
        self._thought = ""
        self._markup = Markup()
        self._has_offer = False
        self._has_color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._app: Application[None] | None = None
        self._typed: asyncio.Queue[str] = asyncio.Queue(maxsize=LINES_AHEAD)
        self._is_leaving = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        """Take the screen."""
        self._line(f"Threadline · {self._title}", _DIM)
        self._line("Ctrl-C stops an answer, Ctrl-D leaves, /help lists the commands.", _DIM)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the screen back."""
        self.settle()

    def quote(self, speaker: str, text: str) -> None:
        """Show something that was said earlier or elsewhere."""
        self.settle()
        if speaker == "you":
            self._echo(text)
        else:
            self.stream(text)
            self.settle()

    def stream(self, text: str) -> None:
        """Show some more of the answer that is just being given."""
        self._end_thought()
        *whole, self._begun = (self._begun + clean(text)).split("\n")
        for line in whole:
            self._say(line)
        self._redraw()

    def think(self, text: str) -> None:
        """Show some more of what is being thought, more quietly than what is said."""
        if self._begun:
            self.settle()
        *whole, self._thought = (self._thought + clean(text)).split("\n")
        for line in whole:
            self._line(line, _DIM)
        self._redraw()

    def _end_thought(self) -> None:
        if self._thought:
            line, self._thought = self._thought, ""
            self._line(line, _DIM)

    def settle(self) -> None:
        """End the answer or the thought that was streamed, if there is one."""
        self._end_thought()
        if self._begun:
            line, self._begun = self._begun, ""
            self._say(line)
            self._redraw()
        self._markup = Markup()

    def note(self, text: str) -> None:
        """Show something that nobody said; an answer that is just being given goes on below it."""
        self._end_thought()
        self._line(text, _DIM, columns=True)

    def mark(self, text: str) -> None:
        """Show that something went wrong."""
        self.settle()
        self._line(f"⚠ {text}", _WARM)

    def offer(self, text: str) -> None:
        """Put words that were taken back into the line, unless something is being typed there.

        Whoever goes on with a command instead need not clear the line first.
        """
        line = None if self._app is None else self._app.current_buffer
        if line is not None and not line.text:
            line.insert_text(clean(text))
            self._has_offer = True

    async def run(self, conversation: Conversation, *, drain: timedelta) -> None:
        """Prompt until the person leaves, or nothing can be shown any more."""
        # One prompt for the whole conversation: between two of them keys would be lost.
        prompt: PromptSession[None] = PromptSession(
            self._message,
            completer=Commands(conversation),
            complete_while_typing=True,
            reserve_space_for_menu=4,
            erase_when_done=True,
            history=InMemoryHistory(await conversation.last_words()),
            key_bindings=self._keys(conversation, drain),
        )
        prompt.default_buffer.on_text_changed += self._forget_offer
        self._app = prompt.app
        self._spawn(self._hear_all(conversation))
        if conversation.is_served:
            self._spawn(self._watch(conversation))
        prompting = asyncio.create_task(prompt.prompt_async())
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._exit)
        try:
            await asyncio.wait(
                {prompting, conversation.view.over}, return_when=asyncio.FIRST_COMPLETED
            )
            if conversation.view.over.done():
                conversation.view.over.result()
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            self._exit()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(prompting, *self._tasks, return_exceptions=True)
            self._app = None
        if self._failure is not None:
            raise self._failure
        with suppress(EOFError):  # the terminal itself is gone
            prompting.result()

    def _forget_offer(self, line: Buffer) -> None:
        self._has_offer = False

    def _is_offer(self) -> bool:
        """Tell whether the line is as it was offered, and nothing has been done to it."""
        line = None if self._app is None else self._app.current_buffer
        return self._has_offer and line is not None and line.document.is_cursor_at_the_end

    def _accept(self, buffer: Buffer) -> None:
        """Take a line that was typed; the prompt stays, and is empty again."""
        text = buffer.text
        if self._typed.full():
            self.note("Too many lines wait. Try again in a moment.")
            return
        buffer.reset(append_to_history=True)
        if text.strip():
            self._echo(text)
            self._typed.put_nowait(text)

    async def _hear_all(self, conversation: Conversation) -> None:
        """Say what was typed, line by line."""
        while True:
            text = await self._typed.get()
            try:
                await conversation.hear(text)
            except ThreadlineError as error:
                self.mark(str(error))
            finally:
                self._typed.task_done()

    async def _watch(self, conversation: Conversation) -> None:
        try:
            await conversation.watch_gateway()
        except ThreadlineError as error:
            self.mark(str(error))

    async def _leave(self, conversation: Conversation, drain: timedelta) -> None:
        """Let the answer end before the prompt goes, unless it comes without us."""
        with suppress(TimeoutError):
            async with asyncio.timeout(drain.total_seconds()):
                await self._typed.join()
                if conversation.is_busy and not conversation.is_served:
                    self.note("Waiting for the answer. Ctrl-C stops it, Ctrl-D leaves at once.")
                    await conversation.rest()
                if conversation.view.beside.is_busy and not conversation.is_served:
                    self.note("Waiting for what is done in the background. Ctrl-D leaves at once.")
                    await conversation.view.beside.rest()
        self._exit()

    def _exit(self) -> None:
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._app.exit()

    def _message(self) -> ANSI:
        arrow = self._colored(PROMPT, _COOL)
        begun = self._begun or self._colored(self._thought, _DIM)
        return ANSI(f"{begun}\n{arrow}" if begun else arrow)

    def _keys(self, conversation: Conversation, drain: timedelta) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            """Say what was typed, without ending the prompt."""
            self._accept(event.current_buffer)

        @keys.add("/", filter=Condition(self._is_offer))
        def _(event: KeyPressEvent) -> None:
            """Begin a command in the place of what was offered; the arrow up brings that back."""
            event.current_buffer.reset()
            event.current_buffer.insert_text("/")

        @keys.add("<sigint>")
        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            """Stop the answer; else clear the line; else say how to leave."""
            if conversation.is_busy:
                self._spawn(self._stop(conversation, event.current_buffer))
            else:
                self._drop_line(event.current_buffer)

        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            """Leave, when the line is empty; whoever insists leaves at once."""
            if event.current_buffer.text:
                event.current_buffer.delete()
            elif self._is_leaving:
                self._exit()
            else:
                self._is_leaving = True
                self._spawn(self._leave(conversation, drain))

        return keys

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._take_end)

    def _take_end(self, task: asyncio.Task[None]) -> None:
        """Leave the conversation if a task failed of something unexpected."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failure = self._failure or error
            self._exit()

    async def _stop(self, conversation: Conversation, line: Buffer) -> None:
        try:
            if not await conversation.stop():  # it had just come to its end
                self._drop_line(line)
        except ThreadlineError as error:
            self.mark(str(error))

    def _drop_line(self, line: Buffer) -> None:
        if line.text:
            line.reset()
            self._redraw()
        else:
            self.note("Ctrl-D leaves.")

    def _echo(self, text: str) -> None:
        first, *more = wrap(clean(text), shutil.get_terminal_size().columns - len(PROMPT))
        arrow = self._colored(PROMPT, _COOL)
        self._write("\n".join([arrow + first, *("  " + line for line in more)]))

    def _say(self, line: str) -> None:
        """Show a whole line of an answer, with its emphasis where there are colours."""
        if not self._has_color:
            self._line(line, "")
        elif shown := self._markup.lines(line, shutil.get_terminal_size().columns):
            self._write("\n".join(shown))

    def _line(self, text: str, color: str, *, columns: bool = False) -> None:
        """Show a text, whoever wrote it; only its colour and its breaks are ours."""
        lines = wrap(clean(text), shutil.get_terminal_size().columns, columns=columns)
        self._write(self._colored("\n".join(lines), color))

    def _write(self, text: str) -> None:
        shown = text + "\n"
        if self._app is None or not self._app.is_running:
            sys.stdout.write(shown)
            sys.stdout.flush()
            return
        # Right above the prompt, and without leaving raw mode, so that no key is ever lost.
        self._app.renderer.erase()
        self._app.output.write_raw(shown.replace("\n", "\r\n"))
        self._app.output.flush()
        self._app.invalidate()

    def _colored(self, text: str, color: str) -> str:
        return f"{color}{text}{_PLAIN}" if color and self._has_color else text

    def _redraw(self) -> None:
        if self._app is not None:
            self._app.invalidate()
