"""Chat view: everything that happens in a conversation, shown once and in order."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import Protocol

from threadline.cli.background_status import AT_REST, BackgroundStatus
from threadline.cli.output import show_call, show_marker
from threadline.core.errors import NotFound, StorageError, ThreadlineError
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.message import Marker, Message, Part, Role, Text, ToolCall
from threadline.core.session import SessionId
from threadline.core.turn import UNFINISHED, Turn, TurnId, TurnState
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    MessageAdded,
    Missed,
    Thinking,
    TurnBegun,
    TurnClosed,
    TurnListener,
)
from threadline.gateway.worker import Worker
from threadline.store import Store, queries
from threadline.store.feed import follow
from threadline.store.queries import read_turn
from threadline.store.turns.turn_context import StreamedText, read_streaming

TAIL = 6
"""Lines of a conversation that are shown when it goes on."""

LOOK_AGAIN = timedelta(milliseconds=250)
"""How often it is looked what another process has stored of its answer."""

NEWS_AHEAD = 100
"""News that may wait to be shown; the feed and the worker are read no faster than that."""
_TAIL_PAGE = 40
_LEAVE = "/approve, /approve session, /approve always or /deny; or say what else to do."


class Display(Protocol):
    """Where a conversation is shown."""

    def quote(self, speaker: str, text: str) -> None:
        """Show something that was said earlier or elsewhere."""
        ...

    def stream(self, text: str) -> None:
        """Show some more of the answer that is just being given."""
        ...

    def think(self, text: str) -> None:
        """Show some more of what is being thought before an answer is given."""
        ...

    def settle(self) -> None:
        """End the answer or the thought that was streamed, if there is one."""
        ...

    def note(self, text: str) -> None:
        """Show something that nobody said: a notice, or the answer to a command."""
        ...

    def mark(self, text: str) -> None:
        """Show that something went wrong."""
        ...

    def offer(self, text: str) -> None:
        """Let the person change words that were taken back, and say them again."""
        ...


class ChatView:
    """Shows one session after another, live where this process answers, else from the store.

    The feed, the worker's live output and what other processes have stored of an answer meet in
    one queue, and one task shows what they bring, so that nothing is shown twice or out of order.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker | None,
        display: Display,
        *,
        profile: str,
        moved: Callable[[SessionId], Coroutine[object, object, None]],
        agent: str = "echo",
    ) -> None:
        """Begin without a session; `moved` is asked about each session that opens elsewhere.

        Without a worker everything is answered by other processes.
        """
        self.session_id: SessionId | None = None
        self.asking: TurnId | None = None
        """The turn that waits for an answer to its question."""
        self.is_leaving = False
        self.under_way: dict[TurnId, asyncio.Future[None]] = {}
        """Turns that are expected to end, or to ask."""
        self.beside = BackgroundStatus(store, profile=profile)
        """What is done in the background, of which the end is shown here too."""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Fails when nothing can be shown any more."""
        self._store = store
        self._worker = worker
        self._display = display
        self._agent = agent
        self._moved = moved
        self._shown = 0
        self._typed: set[TurnId] = set()
        self._live: set[TurnId] = set()
        self._ours: set[TurnId] = set()
        """Turns that this process has begun, of which the worker tells sooner than the feed."""
        self._speaking: TurnId | None = None
        self._said = ""
        """What of its next line has been shown."""
        self._is_elsewhere = asyncio.Event()
        """Set while another process may be answering here."""
        self._news: asyncio.Queue[Event | Happening | Missed | StreamedText | None]
        self._news = asyncio.Queue(maxsize=NEWS_AHEAD)
        self._told: Counter[TurnId] = Counter()
        """How many lines of a live turn were shown before they were read from the store."""
        self._ear = ExitStack()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, cursor: Cursor) -> None:
        """Begin to follow, from a place in the feed on."""
        works = (self._follow(cursor), self._hear_others(), self._show())
        self._tasks |= {self._spawn(work) for work in works}

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Let go of a task; what it failed of must reach whoever waits for something to show."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        for future in (self.over, *self.under_way.values()):
            if not future.done():
                future.set_exception(error)

    async def end(self) -> None:
        """Stop following."""
        self.is_leaving = True
        self._ear.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for future in (self.over, *self.under_way.values()):
            if future.done() and not future.cancelled():
                future.exception()  # has been seen, or came too late to matter

    def look_at(self, id: SessionId | None, *, shown: int = 0) -> None:
        """Turn to another session, of which so many lines need not be shown."""
        if id == self.session_id:
            return
        self._ear.close()
        self._settle()
        self.session_id, self._shown, self.asking = id, shown, None
        self._is_elsewhere.set()
        if id is not None and self._worker is not None:
            listener = self._ear.enter_context(self._worker.listen(id))
            hearing = self._spawn(self._hear_worker(listener))
            self._ear.callback(hearing.cancel)

    def expect(self, turn_id: TurnId, *, typed: bool = False) -> None:
        """Expect a turn to be answered; what was typed here need not be shown again."""
        if turn_id not in self.under_way:
            self.under_way[turn_id] = asyncio.get_running_loop().create_future()
        if typed:
            self._typed.add(turn_id)

    def ask(self, turn: Turn) -> None:
        """Show what a turn asks, and how it is answered."""
        if self.asking != turn.id:
            self.asking = turn.id
            how = _LEAVE if turn.asks else "Your next line is the answer."
            self._display.note(f"{turn.question or 'What now?'} ({how})")
        self._done(turn.id)

    async def show_tail(self, id: SessionId) -> int:
        """Show the last lines of a session; gives the number of the last one."""
        lines = await self._store.database.read(
            queries.transcript,
            id,
            most=_TAIL_PAGE,
        )
        talk = [
            line for line in lines if line.role in {Role.USER, Role.ASSISTANT} or _markers(line)
        ]
        for line in talk[-TAIL:]:
            if (words := _words(line.parts)) and line.deleted_at is None:
                self._display.quote("you" if line.role is Role.USER else self._agent, words)
            for marker in _markers(line):
                self._display.mark(marker)
        return (lines[-1].seq or 0) if lines else 0

    async def go_on_with(self, id: SessionId) -> None:
        """Turn to a session with a past, of which the last lines are shown."""
        # Only what came after these lines is news, whoever else catches up in the meantime.
        if id != self.session_id:
            self.look_at(id, shown=await self.show_tail(id))

    async def catch_up(self) -> None:
        """Show the lines of the transcript that came since the last look."""
        while (id := self.session_id) is not None:
            try:
                lines = await self._store.database.read(
                    queries.transcript,
                    id,
                    after=self._shown,
                    most=queries.PAGE,
                )
            except NotFound:  # it was forgotten
                self.look_at(None)
                return
            if not lines or id != self.session_id:
                return
            for line in lines:
                # Somebody else may have caught up while the lines were read.
                if (line.seq or 0) > self._shown:
                    self._shown = line.seq or 0
                    self._show_line(line)

    async def _follow(self, cursor: Cursor) -> None:
        async for event in follow(self._store.database, cursor):
            await self._news.put(event)

    async def _hear_worker(self, listener: TurnListener) -> None:
        async for happening in listener:
            await self._news.put(happening)
        await self._news.put(None)

    async def _hear_others(self) -> None:
        """Look every moment, while another process answers here, what it has stored of that."""
        while True:
            await self._is_elsewhere.wait()
            # Before it is looked, so that nothing is missed that begins meanwhile.
            self._is_elsewhere.clear()
            with suppress(NotFound):  # it was forgotten, of which the feed tells
                if self.session_id is not None:
                    await self._news.put(
                        await self._store.database.read(read_streaming, self.session_id)
                    )
            await asyncio.sleep(LOOK_AGAIN.total_seconds())

    async def _show(self) -> None:
        try:
            while True:
                news = await self._news.get()
                if isinstance(news, Event):
                    await self._take_event(news)
                elif isinstance(news, StreamedText):
                    await self._take_streaming(news)
                elif isinstance(news, Missed):
                    await self._make_up()
                elif news is not None:
                    await self._take_live(news)
                elif not self.is_leaving:
                    raise StorageError("The worker has stopped", hint="Start again")
        except ThreadlineError as error:
            self._give_up(error)

    async def _take_event(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.kind is EventKind.SESSION_OPENED and event.session_id != self.session_id:
            await self._moved(event.session_id)
        turn_id = TurnId(event.subject or 0) if event.kind.noun == "turn" else None
        if event.session_id == self.session_id and not self._live:
            await self.catch_up()
        if turn_id is None or turn_id in self._live:
            return
        if event.session_id != self.session_id:
            await self._show_beside(event, turn_id)
        if event.kind in AT_REST:
            self._done(turn_id)
        elif event.kind is EventKind.TURN_RUNNING and turn_id not in self._ours:
            self._is_elsewhere.set()
        elif event.kind is EventKind.TURN_WAITING and turn_id not in self._ours:
            await self._ask_for(turn_id)

    async def _show_beside(self, event: Event, turn_id: TurnId) -> None:
        """Show what came of something in the background, between the lines of the conversation."""
        for words in await self.beside.words_for(event):
            self._display.note(words)
        if event.kind in AT_REST or event.kind is EventKind.TURN_WAITING:
            self.beside.done(turn_id)

    async def _ask_for(self, turn_id: TurnId) -> None:
        """Show what a turn asks; it may have its answer by now."""
        turn = await self._store.database.read(read_turn, turn_id)
        if turn.session_id == self.session_id and turn.state is TurnState.WAITING:
            self.ask(turn)

    async def _take_streaming(self, streaming: StreamedText) -> None:
        """Show how far another process has come with its answer."""
        turn_id, text = streaming.turn_id, streaming.text
        if streaming.session_id != self.session_id or turn_id is None or turn_id in self._ours:
            return
        self._is_elsewhere.set()
        if streaming.last_seq > self._shown:
            await self.catch_up()
        said = self._said if self._speaking == turn_id else ""
        # What was read before a line came is in that line.
        if streaming.last_seq >= self._shown and text.startswith(said) and text != said:
            self._stream(turn_id, text.removeprefix(said))

    async def _take_live(self, happening: Happening) -> None:
        match happening:
            case TurnBegun(turn_id=turn_id):
                await self.catch_up()
                self._live.add(turn_id)
                self._ours.add(turn_id)
            case Delta(turn_id=turn_id, text=text) if turn_id in self._live:
                self._stream(turn_id, text)
            case Thinking(turn_id=turn_id, text=text) if turn_id in self._live:
                if self._speaking != turn_id:
                    self._settle()
                self._speaking = turn_id
                self._display.think(text)
            case MessageAdded(turn_id=turn_id, message=message) if turn_id in self._live:
                if message.role is Role.ASSISTANT:
                    self._told[turn_id] += 1
                    self._show_text(turn_id, message.parts)
                else:
                    self._settle()
            case TurnClosed():
                await self._close(happening)
            case _:
                pass  # said by a turn whose beginning was missed: it is shown when it ends

    async def _close(self, closed: TurnClosed) -> None:
        # The next turn may speak already when the worker tells of the end of a stopped one. One
        # whose beginning was missed has only shown what was stored by then: its line has the rest.
        if self._speaking == closed.turn_id and closed.turn_id in self._live:
            self._settle()
        await self.catch_up()
        if self._speaking == closed.turn_id:
            self._settle()
        self._live.discard(closed.turn_id)
        del self._told[closed.turn_id]
        if closed.state is TurnState.WAITING:
            await self._ask_for(closed.turn_id)
        elif closed.state not in UNFINISHED:
            self._done(closed.turn_id)

    def _show_line(self, line: Message) -> None:
        if line.role is Role.USER and line.turn_id not in self._typed:
            self._display.quote("you", line.text)
        if line.role is Role.ASSISTANT and not self._was_told(line.turn_id):
            self._show_text(line.turn_id, line.parts)
        for marker in _markers(line):
            self._display.mark(marker)

    def _was_told(self, turn_id: TurnId | None) -> bool:
        """Note that the next line of a turn was read; return whether the worker told it."""
        if turn_id is None or (turn_id not in self._live and self._told[turn_id] <= 0):
            return False
        self._told[turn_id] -= 1
        return True

    async def _make_up(self) -> None:
        """Show from the store what the worker told while this was too slow to listen.

        The rest of what these turns say is shown when they end.
        """
        turns, self._live = self._live | set(self.under_way), set()
        await self.catch_up()
        for turn_id in turns:
            with suppress(NotFound):
                state = (await self._store.database.read(read_turn, turn_id)).state
                if state is TurnState.WAITING:
                    await self._ask_for(turn_id)
                elif state not in UNFINISHED:
                    self._done(turn_id)

    def _stream(self, turn_id: TurnId, text: str) -> None:
        """Show some more of what a turn is saying."""
        if self._speaking != turn_id:
            self._settle()
        self._speaking = turn_id
        self._said += text
        self._display.stream(text)

    def _show_text(self, turn_id: TurnId | None, parts: Sequence[Part]) -> None:
        """Show a whole line, or the rest of it where it was seen as it grew."""
        words = _words(parts)
        if self._speaking is None or turn_id != self._speaking or not words.startswith(self._said):
            self._settle()
        if rest := words.removeprefix(self._said):
            self._display.stream(rest)
        self._settle()
        for part in parts:
            if isinstance(part, ToolCall):
                self._display.note(show_call(part))

    def _settle(self) -> None:
        """Let what comes next be something else than what is just being said."""
        self._display.settle()
        self._speaking, self._said = None, ""

    def _done(self, turn_id: TurnId) -> None:
        self.beside.done(turn_id)
        future = self.under_way.pop(turn_id, None)
        if future is not None and not future.done():
            future.set_result(None)


def _words(parts: Iterable[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _markers(line: Message) -> list[str]:
    return [show_marker(part) for part in line.parts if isinstance(part, Marker)]
